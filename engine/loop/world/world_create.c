#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/loop/world/soft/world_soft.h"

static orr_result check_desc(const orr_world_desc *desc, orr_error *error)
{
    const int team = desc->team;
    if (desc->count < 1 || desc->count > ORR_WORLD_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%d worlds: expected 1 to %d", desc->count, ORR_WORLD_MAX);
    }
    if ((unsigned)desc->precision > ORR_PRECISION_F64) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "precision %d: expected one of orr_precision",
                        (int)desc->precision);
    }
    if (desc->contact_capacity < 0 || (team != 0 && team != 1 && team != 2 && team != 4 && team != 8)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%d contacts, %d threads for each world: expected 0 or more, and 1, 2, 4, 8 or 0",
                        desc->contact_capacity, team);
    }
    return ORR_OK;
}

static orr_result create(const orr_scene *scene, const orr_world_desc *desc, bool as_of_many, orr_world **out,
                         orr_error *error)
{
    orr_world *world = orr_alloc(1, sizeof *world);
    if (!world) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a world");
    }
    // no states until something is set: every copy is as the scene was built
    *world = (orr_world){.scene = scene, .count = desc->count};
    orr_result result = orr_world_robots_create(desc, scene->context.engine, &world->robots, error);
    if (result == ORR_OK) {
        result = orr_world_softs_create(&world->softs, error);
    }
    if (result == ORR_OK) { // refuses a device that is not there
        world->robots->as_of_many = as_of_many;
        world->robots->cuda_or_fail = desc->device == ORR_DEVICE_CUDA;
        result = orr_world_set_device(world, desc->device, error);
    }
    if (result == ORR_OK) {
        result = orr_world_step(world, 0, error); // reports now what is wrong with a robot
        world->robots->cuda_or_fail = false;
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

orr_result orr_world_create_with_sized(const orr_scene *scene, const orr_world_desc *given, size_t size,
                                       orr_world **out, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(out, error);
    *out = NULL;
    ORR_TRY(orr_scene_check(scene, error));
    orr_world_desc desc;
    ORR_TRY(orr_sized_read(&desc, sizeof desc, given, size, "orr_world_desc", error));
    desc.count = desc.count == 0 ? 1 : desc.count;
    ORR_TRY(check_desc(&desc, error));
    return create(scene, &desc, false, out, error);
}

orr_result orr_world_create_as_of_many(const orr_scene *scene, const orr_world_desc *desc, orr_world **out,
                                       orr_error *error)
{
    *out = NULL;
    ORR_TRY(check_desc(desc, error));
    return create(scene, desc, true, out, error);
}

orr_result orr_world_create(const orr_scene *scene, int count, orr_world **out, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(out, error);
    *out = NULL;
    ORR_TRY(orr_scene_check(scene, error));
    const orr_world_desc desc = {.count = count};
    ORR_TRY(check_desc(&desc, error));
    return create(scene, &desc, false, out, error);
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
