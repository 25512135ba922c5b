#include "samples/orrery/view/view_training.h"

#include "neural/capture/views.h"

#include "engine/core/memory.h"
#include "engine/loop/engine.h"
#include "engine/scene/camera_file.h"
#include "samples/orrery/train/train.h"

#include <string.h>

static orr_result create_field(const orr_engine *engine, uint32_t seed, view_training *t, orr_error *error)
{
    orr_field_desc desc = {
        .kind = ORR_FIELD_NERF, .aabb_scale = t->capture->aabb_scale, .seed = seed, .isa = engine->isa};
    ORR_TRY(orr_mlp_machine_choose(engine->isa, &desc.machine, error));
    ORR_TRY(orr_nerf_training_config(&desc.config, error));
    orr_result result = orr_field_create(&desc, &t->field, error);
    orr_field_config_free(&desc.config);
    return result;
}

static orr_result create_trainer(const orr_engine *engine, uint32_t seed, view_training *t, orr_error *error)
{
    ORR_TRY(create_field(engine, seed, t, error));
    ORR_ALLOC(t->images, t->capture->count, "the photos", error);
    const orr_nerf_trainer_desc desc = {.capture = t->capture,
                                        .images = t->images,
                                        .image_count = orr_capture_split(t->capture->count, 0, t->images),
                                        .jobs = engine->jobs,
                                        .seed = seed};
    return orr_nerf_trainer_create(t->field, &desc, &t->trainer, error);
}

static orr_result take_cameras(orr_scene *scene, const orr_capture *capture, orr_error *error)
{
    ORR_TRY(orr_camera_list_reserve(&scene->cameras, capture->count, error));
    for (int i = 0; i < capture->count; i++) {
        const orr_capture_image *image = &capture->images[i];
        orr_camera camera = {.width = image->width, .height = image->height};
        memcpy(camera.pose, image->pose, sizeof camera.pose);
        memcpy(camera.focal, image->focal, sizeof camera.focal);
        memcpy(camera.centre, image->centre, sizeof camera.centre);
        memcpy(camera.radial, image->radial, sizeof camera.radial);
        memcpy(camera.tangential, image->tangential, sizeof camera.tangential);
        ORR_TRY(orr_camera_list_append(&scene->cameras, &camera, orr_path_name(image->path), error));
    }
    return ORR_OK;
}

static orr_result open(orr_engine *engine, const char *path, uint32_t seed, orr_scene *scene,
                       view_training *t, orr_error *error)
{
    ORR_TRY(orr_capture_load(path, engine->jobs, command_log(), &t->capture, error));
    ORR_TRY(orr_capture_check_views(t->capture, path, false, command_log(), error));
    ORR_TRY(create_trainer(engine, seed, t, error));
    ORR_TRY(take_cameras(scene, t->capture, error));
    orr_layer_data layer = {.kind = ORR_LAYER_FIELD, .visible = true};
    ORR_TRY(orr_field_layer_borrow(t->field, orr_nerf_trainer_occupancy(t->trainer), t->capture->to_unit,
                                   engine->jobs, &layer.field, error));
    ORR_TRY(orr_scene_append(scene, layer, "radiance field", NULL, error));
    t->layer = orr_scene_layer(scene, scene->layer_count - 1);
    return ORR_OK;
}

orr_result view_training_open(orr_engine *engine, const char *path, uint32_t seed, orr_scene **out,
                              view_training **training, orr_error *error)
{
    *training = NULL;
    *out = NULL;
    orr_scene *scene;
    ORR_TRY(orr_scene_create(engine, &scene, error));
    view_training *t = orr_alloc_zero(1, sizeof *t);
    orr_result result = t ? open(engine, path, seed, scene, t, error)
                          : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
    if (result != ORR_OK) {
        orr_scene_destroy(scene);
        view_training_close(t);
        return result;
    }
    *out = scene;
    *training = t;
    return ORR_OK;
}

void view_training_close(view_training *t)
{
    if (t) {
        background_finish(&t->step);
        orr_nerf_trainer_destroy(t->trainer);
        orr_field_destroy(t->field);
        orr_capture_destroy(t->capture);
        orr_free(t->images);
        orr_free(t);
    }
}

static void take_step(void *context)
{
    view_training *t = context;
    uint64_t start = orr_clock_nanoseconds();
    orr_nerf_trainer_step(t->trainer, &t->report, NULL); // the CPU, which takes these steps, does not fail
    t->step_seconds = (double)(orr_clock_nanoseconds() - start) * 1e-9;
}

bool view_training_is_busy(const view_training *t)
{
    return background_is_busy(&t->step);
}

void view_training_wait(view_training *t)
{
    if (t && background_finish(&t->step)) {
        training_pace_step(&t->pace, 1e3 * t->step_seconds);
        training_figures_add(&t->figures, t->report.loss, t->report.evaluated, t->step_seconds);
        t->ahead = true;
    }
}

bool view_training_begin_step(view_training *t, bool moving)
{
    view_training_wait(t);
    if (!t->in_turn) {
        training_pace_turn(&t->pace, moving);
    }
    t->in_turn = training_pace_allows_step(&t->pace);
    if (t->in_turn) {
        background_start(&t->step, take_step, t, t->step_ended);
    }
    return t->in_turn;
}

bool view_training_picture_due(const view_training *t, double now)
{
    return t->ahead && training_pace_picture_due(&t->pace, now);
}

void view_training_refresh(view_training *t)
{
    if (t->ahead) {
        orr_nerf_trainer_refresh(t->trainer, NULL);
        t->ahead = false;
    }
}

orr_result view_training_save(view_training *t, const char *path, orr_error *error)
{
    orr_field_model model = {.size = 1.0, .loss = t->figures.loss};
    ORR_TRY(train_describe_nerf(t->trainer, t->field, t->capture, &model, error));
    t->ahead = false; // describing refreshes
    orr_result result = orr_field_model_save(&model, path, error);
    orr_free(model.state.data);
    return result;
}
