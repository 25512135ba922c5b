// A field learns from samples of a truth (truth.h): images, signed distances and volumes.
#include "engine/training/truth.h"

#include "neural/fields/draw.h"
#include "neural/training/field_trainer.h"

enum { CORNER_VIEW_SIDE = 256 };

struct orr_learner {
    const orr_sample_truth *kind;
    orr_jobs *jobs;
    void *truth;
    orr_field *field;
    orr_field_trainer *trainer;
    orr_arena arena;
};

static void destroy(orr_learner *l)
{
    orr_field_trainer_destroy(l->trainer);
    orr_field_destroy(l->field);
    if (l->truth) {
        l->kind->close(l->truth);
        orr_free(l->truth);
    }
    orr_arena_destroy(&l->arena);
    orr_free(l);
}

static orr_result open(orr_learner *l, const orr_learner_setup *setup, orr_error *error)
{
    l->truth = orr_alloc_zero(1, l->kind->size);
    if (!l->truth) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", setup->desc->data);
    }
    orr_field_desc field = {.kind = setup->kind->field};
    ORR_TRY(l->kind->open(l->truth, setup, &field, error));
    ORR_TRY(orr_learner_field(setup, field, l->kind->config, &l->field, error));
    const orr_field_trainer_desc desc = {.field = l->field,
                                         .jobs = setup->jobs,
                                         .source = l->kind->source(l->truth),
                                         .batch_size =
                                             setup->choices.batch ? setup->choices.batch : l->kind->batch,
                                         .cuda = setup->cuda};
    ORR_TRY(orr_field_trainer_create(&desc, &l->trainer, error));
    return setup->resume ? orr_field_trainer_state_load(l->trainer, setup->resume->state.data,
                                                        setup->resume->state.size, error)
                         : ORR_OK;
}

static orr_result create(const orr_learner_setup *setup, orr_learner **made, orr_error *error)
{
    orr_learner *l = orr_alloc_zero(1, sizeof *l);
    if (!l) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", setup->desc->data);
    }
    l->kind = setup->kind->truth;
    l->jobs = setup->jobs;
    orr_result result = open(l, setup, error);
    if (result != ORR_OK) {
        destroy(l);
        return result;
    }
    *made = l;
    return ORR_OK;
}

static orr_result step(orr_learner *l, double share, orr_learner_step *step, orr_error *error)
{
    (void)share;
    step->samples = orr_field_trainer_batch_size(l->trainer);
    return orr_field_trainer_step(l->trainer, &step->loss, error);
}

static void past(const orr_learner *l, int64_t *steps, double *share)
{
    *steps = orr_field_trainer_steps(l->trainer);
    *share = 0.0;
}

static int64_t count(const orr_learner *l)
{
    return orr_field_parameter_count(l->field);
}

static orr_result measure(orr_learner *l, orr_train_quality *quality, orr_error *error)
{
    return l->kind->measure(l->truth, l->field, l->jobs, quality, error);
}

static orr_result draw_from_corner(orr_learner *l, const int size[2], float *rgba, orr_error *error)
{
    const float eye[3] = {1.5f, 1.1f, 1.9f}, target[3] = {0.5f, 0.5f, 0.5f}, up[3] = {0.0f, 1.0f, 0.0f};
    const orr_camera camera = orr_camera_look_at(eye, target, up, 0.6f, size[0], size[1]);
    orr_lens lens;
    ORR_TRY(orr_camera_resolve(&camera, &lens, error));
    const orr_field_draw_desc desc = {.lens = &lens,
                                      .to_world = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                                      .to_sun = {0.48f, 0.8f, 0.36f},
                                      .rgba = rgba};
    return orr_field_draw(l->field, l->jobs, &l->arena, &desc, error);
}

static orr_result picture(orr_learner *l, int size[2], const float **rgba, orr_error *error)
{
    size[0] = size[1] = CORNER_VIEW_SIDE;
    if (l->kind->picture_size) {
        l->kind->picture_size(l->truth, size);
    }
    orr_arena_reset(&l->arena);
    float *pixels = orr_arena_take(&l->arena, (size_t)size[0] * (size_t)size[1] * 4, sizeof(float));
    if (!pixels) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a picture");
    }
    *rgba = pixels;
    return l->kind->picture_size
               ? orr_field_picture(l->field, l->jobs, &l->arena, size[0], size[1], pixels, error)
               : draw_from_corner(l, size, pixels, error);
}

static orr_result evaluate(orr_learner *l, int index, const orr_nerf_stop *stop, orr_train_quality *quality,
                           orr_error *error)
{
    (void)index, (void)stop; // it takes seconds at most
    return l->kind->evaluate(l->truth, l->field, l->jobs, quality, error);
}

static const orr_photo_set *photos(const orr_learner *l)
{
    (void)l;
    return NULL;
}

static orr_result refresh(orr_learner *l, orr_error *error)
{
    return orr_field_trainer_refresh(l->trainer, error);
}

static const orr_occupancy *describe(orr_learner *l, orr_field_model *model)
{
    if (l->kind->set_bounds) {
        l->kind->set_bounds(l->truth, model);
    }
    model->field = l->field;
    model->steps = orr_field_trainer_steps(l->trainer);
    return NULL;
}

static size_t state_size(const orr_learner *l)
{
    return orr_field_trainer_state_size(l->trainer);
}

static orr_result state_save(orr_learner *l, void *state, orr_error *error)
{
    return orr_field_trainer_state_save(l->trainer, state, error);
}

static const orr_profile *profile(orr_learner *l)
{
    return orr_field_trainer_profile(l->trainer);
}

const orr_learner_functions orr_learner_of_samples = {.create = create,
                                                      .step = step,
                                                      .past = past,
                                                      .count = count,
                                                      .measure = measure,
                                                      .picture = picture,
                                                      .evaluate = evaluate,
                                                      .photos = photos,
                                                      .refresh = refresh,
                                                      .describe = describe,
                                                      .state_size = state_size,
                                                      .state_save = state_save,
                                                      .profile = profile,
                                                      .destroy = destroy};
