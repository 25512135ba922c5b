#include "tests/support/typical_job.h"

#include "engine/core/result.h"

enum { SPLATS = 400, STEPS = 20 };

typedef struct job {
    orr_engine *engine;
    orr_splats *splats;
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
} job;

// Of numbers that are exact in every rounding mode.
static orr_result make_splats(orr_splats **splats, orr_error *error)
{
    ORR_TRY(orr_splats_create(SPLATS, 1, splats, error));
    const orr_splats_view d = orr_splats_data(*splats);
    for (int i = 0; i < SPLATS; i++) {
        for (int k = 0; k < 3; k++) {
            d.position[3 * i + k] = (float)((37 * i + 101 * k * i) % 256) / 128.0f - 1.0f;
            d.log_scale[3 * i + k] = -3.0f + 0.25f * (float)k;
            d.colour[3 * i + k] = (float)((i + k) % 8) / 4.0f - 1.0f;
            d.harmonics[9 * i + k] = 0.125f * (float)k;
        }
        d.rotation[4 * i + 1] = (float)i / 256.0f;
        d.opacity[i] = 1.0f;
    }
    return ORR_OK;
}

static orr_result run(job *j, const char *robot, const orr_engine_desc *desc, typical_result *out,
                      orr_error *error)
{
    orr_engine_desc d = desc ? *desc : (orr_engine_desc){.threads = 2};
    orr_layer layer;
    d.device = ORR_DEVICE_CPU;
    ORR_TRY(orr_engine_create(&d, &j->engine, error));
    ORR_TRY(make_splats(&j->splats, error));
    ORR_TRY(orr_scene_create(j->engine, &j->scene, error));
    ORR_TRY(orr_scene_add_file(j->scene, robot, NULL, &layer, error));
    ORR_TRY(orr_scene_add_splats(j->scene, NULL, j->splats, NULL, NULL, error));
    ORR_TRY(orr_world_create(j->scene, 3, &j->world, error));
    ORR_TRY(orr_world_step(j->world, STEPS, error));
    ORR_TRY(orr_world_get_robot(j->world, 2, layer, ORR_ROBOT_QPOS, out->qpos, error));
    ORR_TRY(orr_frame_create(j->engine, NULL, &j->frame, error));
    const orr_view view = {.camera = orr_scene_default_camera(j->scene, JOB_WIDTH, JOB_HEIGHT), .world = 2};
    ORR_TRY(orr_frame_submit(j->frame, j->scene, j->world, &view, error));
    return orr_frame_finish(j->frame, &(orr_picture){.rgba = out->rgba, .depth = out->depth}, error);
}

orr_result run_typical_job(const char *robot, const orr_engine_desc *desc, typical_result *out,
                           orr_error *error)
{
    job j = {0};
    *out = (typical_result){0};
    orr_result result = run(&j, robot, desc, out, error);
    orr_frame_destroy(j.frame);
    orr_world_destroy(j.world);
    orr_scene_destroy(j.scene);
    orr_splats_destroy(j.splats);
    orr_engine_destroy(j.engine);
    return result;
}
