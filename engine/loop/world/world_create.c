#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/loop/world/world_soft.h"

enum { WORLDS_MAX = 65536 };

orr_result orr_world_create(const orr_scene *scene, int count, orr_world **out, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(out, error);
    *out = NULL;
    ORR_TRY(orr_scene_check(scene, error));
    if (count < 1 || count > WORLDS_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%d worlds: expected 1 to %d", count, WORLDS_MAX);
    }
    orr_world *world = orr_alloc(1, sizeof *world);
    if (!world) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a world");
    }
    // no states until something is set: every copy is as the scene was built
    *world = (orr_world){.scene = scene, .count = count};
    orr_result result = orr_world_robots_create(count, scene->context.engine, &world->robots, error);
    if (result == ORR_OK) {
        result = orr_world_softs_create(&world->softs, error);
    }
    if (result == ORR_OK) {
        result = orr_world_step(world, 0, error); // reports now what is wrong with a robot
        // one that needs what the dynamics do not have is drawn at rest
        result = result == ORR_ERROR_UNSUPPORTED ? ORR_OK : result;
    }
    if (result != ORR_OK) {
        orr_world_destroy(world);
        return result;
    }
    *out = world;
    return ORR_OK;
}

void orr_world_destroy(orr_world *world)
{
    if (!world || orr_world_check(world, NULL) != ORR_OK) {
        return;
    }
    orr_world_robots_destroy(world->robots);
    orr_world_softs_destroy(world->softs, world->count);
    orr_free(world->states);
    orr_free(world);
}
