#include "samples/orrery/train/train_samples.h"

#include "neural/fields/draw.h"

enum { CORNER_VIEW_SIDE = 256 };

struct learner {
    const sample_truth *kind;
    orr_jobs *jobs;
    void *truth;
    orr_field *field;
    orr_field_trainer *trainer;
    orr_arena arena;
};

static void destroy(learner *l)
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

static orr_result open(learner *l, const train_options *options, orr_error *error)
{
    l->truth = orr_alloc_zero(1, l->kind->size);
    if (!l->truth) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", options->data);
    }
    orr_field_desc field = {.kind = options->kind->field};
    ORR_TRY(l->kind->open(l->truth, options, &field, error));
    ORR_TRY(train_field(options, field, l->kind->config, &l->field, error));
    const orr_field_trainer_desc desc = {.field = l->field,
                                         .jobs = options->jobs,
                                         .source = l->kind->source(l->truth),
                                         .batch_size = options->batch ? options->batch : l->kind->batch,
                                         .cuda = options->cuda};
    ORR_TRY(orr_field_trainer_create(&desc, &l->trainer, error));
    return options->resume ? orr_field_trainer_state_load(l->trainer, options->resume->state.data,
                                                          options->resume->state.size, error)
                           : ORR_OK;
}

static orr_result create(const train_options *options, learner **made, orr_error *error)
{
    learner *l = orr_alloc_zero(1, sizeof *l);
    if (!l) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", options->data);
    }
    l->kind = options->kind->truth;
    l->jobs = options->jobs;
    orr_result result = open(l, options, error);
    if (result != ORR_OK) {
        destroy(l);
        return result;
    }
    *made = l;
    return ORR_OK;
}

static orr_result step(learner *l, double share, double *loss, int64_t *samples, orr_error *error)
{
    (void)share;
    *samples = orr_field_trainer_batch_size(l->trainer);
    return orr_field_trainer_step(l->trainer, loss, error);
}

static orr_result score(learner *l, double *score, orr_error *error)
{
    ORR_TRY(orr_field_trainer_refresh(l->trainer, error));
    return l->kind->score(l->truth, l->field, l->jobs, score, error);
}

static orr_result draw_from_corner(learner *l, const int size[2], float *rgba, orr_error *error)
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

static orr_result picture(learner *l, int size[2], float **rgba, orr_error *error)
{
    size[0] = size[1] = CORNER_VIEW_SIDE;
    if (l->kind->picture_size) {
        l->kind->picture_size(l->truth, size);
    }
    orr_arena_reset(&l->arena);
    *rgba = orr_arena_take(&l->arena, (size_t)size[0] * (size_t)size[1] * 4, sizeof(float));
    if (!*rgba) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a picture");
    }
    return l->kind->picture_size
               ? orr_field_picture(l->field, l->jobs, &l->arena, size[0], size[1], *rgba, error)
               : draw_from_corner(l, size, *rgba, error);
}

static orr_result describe(learner *l, orr_field_model *model, orr_error *error)
{
    ORR_TRY(orr_field_trainer_refresh(l->trainer, error));
    if (l->kind->set_bounds) {
        l->kind->set_bounds(l->truth, model);
    }
    model->field = l->field;
    model->steps = orr_field_trainer_steps(l->trainer);
    model->state.size = orr_field_trainer_state_size(l->trainer);
    ORR_ALLOC(model->state.data, model->state.size, "the state of a training", error);
    return orr_field_trainer_state_save(l->trainer, model->state.data, error);
}

static orr_result report(learner *l, const orr_nerf_stop *stop, cJSON *json, orr_error *error)
{
    if (stop->asked(stop->context)) {
        return ORR_OK;
    }
    return l->kind->report(l->truth, l->field, l->jobs, json, error);
}

static const orr_profile *profile(learner *l)
{
    return orr_field_trainer_profile(l->trainer);
}

const learner_functions learner_of_samples = {.create = create,
                                              .step = step,
                                              .score = score,
                                              .picture = picture,
                                              .describe = describe,
                                              .report = report,
                                              .profile = profile,
                                              .destroy = destroy};
