// Path-traced pictures (engine/orrery.h): a view's draw list, posed as for a frame, for the path tracer.
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/loop/engine.h"
#include "engine/loop/light/frame_relight.h"
#include "engine/loop/light/frame_self_shadow.h"
#include "render/reference/path_tracer.h"

struct orr_reference {
    orr_engine *engine;
    orr_frame_slot slot;
    orr_frame_self_shadow self_shadow;
    orr_path_tracer *tracer;
};

static orr_result check(const orr_reference *reference, orr_error *error)
{
    ORR_REQUIRE(reference, error);
    return orr_engine_check(reference->engine, error);
}

static orr_result create(orr_reference *r, const orr_scene *scene, const orr_world *world,
                         const orr_view *view, uint32_t seed, orr_error *error)
{
    if (view->exposure != 0.0f || view->tone != ORR_TONE_NONE) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "exposure and tone: path-traced pictures take neither");
    }
    ORR_TRY(orr_frame_pose(&r->slot, scene, world, view, false, error));
    ORR_TRY(orr_frame_relight(&r->slot, scene, error));
    ORR_TRY(orr_frame_self_shadow_update(&r->self_shadow, &r->slot, scene, false, error));
    orr_lens *lens = &r->slot.list.lens;
    lens->distorted = lens->distorted && !lens->fisheye;
    return orr_path_tracer_create(r->engine->jobs, r->engine->isa, &r->slot.list, seed, &r->tracer, error);
}

orr_result orr_reference_create_sized(const orr_scene *scene, const orr_world *world, const orr_view *view,
                                      size_t view_size, uint32_t seed, orr_reference **reference,
                                      orr_error *error)
{
    ORR_ENTER;
    orr_view own;
    ORR_REQUIRE(reference, error);
    *reference = NULL;
    ORR_TRY(orr_scene_check(scene, error));
    ORR_TRY(orr_world_check(world, error));
    ORR_TRY(orr_sized_read(&own, sizeof own, view, view_size, "orr_view", error));
    if (world->scene != scene) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "the world is of another scene");
    }
    orr_reference *r = orr_alloc_zero(1, sizeof *r);
    if (!r) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a reference");
    }
    r->engine = scene->context.engine;
    orr_result result = create(r, scene, world, &own, seed, error);
    if (result != ORR_OK) {
        orr_reference_destroy(r);
        return result;
    }
    *reference = r;
    return ORR_OK;
}

orr_result orr_reference_advance(orr_reference *reference, int samples, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(check(reference, error));
    if (samples < 1) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%d samples: expected 1 or more", samples);
    }
    orr_path_tracer_advance(reference->tracer, samples);
    return ORR_OK;
}

orr_result orr_reference_describe_sized(const orr_reference *reference, orr_reference_info *info,
                                        size_t info_size, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(info, error);
    ORR_TRY(check(reference, error));
    orr_path_statistics s;
    orr_path_tracer_statistics(reference->tracer, &s);
    orr_reference_info own = {.samples = s.samples,
                              .error = s.error,
                              .rays = s.rays,
                              .triangles = s.triangles,
                              .left_out = s.left_out};
    orr_sized_write(&own, sizeof own, info, info_size);
    return ORR_OK;
}

orr_result orr_reference_picture_sized(const orr_reference *reference, bool linear,
                                       const orr_picture *picture, size_t picture_size, orr_error *error)
{
    ORR_ENTER;
    orr_picture own;
    ORR_REQUIRE(picture, error);
    ORR_TRY(check(reference, error));
    ORR_TRY(orr_sized_read(&own, sizeof own, picture, picture_size, "orr_picture", error));
    orr_path_tracer_picture(reference->tracer, linear, &own);
    return ORR_OK;
}

void orr_reference_destroy(orr_reference *reference)
{
    ORR_ENTER;
    if (!reference || !orr_jobs_here(reference->engine->jobs)) {
        return;
    }
    orr_path_tracer_destroy(reference->tracer);
    orr_frame_slot_close(&reference->slot);
    orr_frame_self_shadow_close(&reference->self_shadow);
    orr_free(reference);
}
