// Scenes of an engine: what it lends them.
#include "engine/core/entry.h"
#include "engine/loop/engine.h"
#include "engine/scene/scene.h"

orr_result orr_scene_create(orr_engine *engine, orr_scene **scene, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(scene, error);
    *scene = NULL;
    ORR_TRY(orr_engine_check(engine, error));
    const orr_scene_context context = {
        .engine = engine,
        .jobs = engine->jobs,
        .isa = engine->isa,
        .log = engine->log,
        .no_pictures = engine->desc.no_pictures,
        .progress = {.report = engine->desc.progress, .user = engine->desc.progress_user, .to = 1.0},
        .next_key = &engine->next_key};
    return orr_scene_open(&context, scene, error);
}

orr_result orr_scene_load(orr_engine *engine, const char *path, orr_scene **out, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(out, error);
    *out = NULL;
    ORR_REQUIRE(path, error);
    orr_scene *scene;
    ORR_TRY(orr_scene_create(engine, &scene, error));
    orr_result result = orr_scene_read(scene, path, error);
    if (result != ORR_OK) {
        orr_scene_destroy(scene);
        return result;
    }
    *out = scene;
    return ORR_OK;
}
