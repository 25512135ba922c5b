// A mesh becomes a small network that knows the distance to it.
#include "neural/train_sdf.h"
#include "engine/core/image.h"
#include "engine/core/memory.h"
#include "neural/field_draw.h"
#include "render/mesh.h"
#include "train.h"

#include <math.h>

enum { PREVIEW_SIDE = 256, SCORE_POINTS = 1 << 12, REPORT_POINTS = 1 << 16, BATCH = 1 << 15 };

struct learner {
    orr_jobs *jobs;
    orr_sdf_shape shape;
    orr_field *field;
    orr_trainer *trainer;
    orr_arena arena;
};

static void destroy(learner *l)
{
    orr_trainer_destroy(l->trainer);
    orr_field_destroy(l->field);
    orr_sdf_shape_free(&l->shape);
    orr_arena_destroy(&l->arena);
    orr_free(l);
}

static orr_result open(const train_options *options, learner *l, orr_error *error)
{
    orr_mesh *mesh;
    ORR_TRY(orr_mesh_load(options->data, &mesh, error));
    orr_sdf_mesh triangles = orr_mesh_for_sdf(mesh);
    orr_result shaped = orr_sdf_shape_create(&triangles, options->data, options->seed, &l->shape, error);
    orr_mesh_destroy(mesh);
    ORR_TRY(shaped);
    const orr_field_desc desc = {.kind = ORR_FIELD_SDF};
    ORR_TRY(train_field(options, desc, orr_sdf_train_config, &l->field, error));
    return train_trainer(options, l->field, orr_sdf_source(&l->shape), BATCH, &l->trainer, error);
}

static orr_result create(const train_options *options, learner **made, orr_error *error)
{
    learner *l = orr_alloc_zero(1, sizeof *l);
    if (!l) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", options->data);
    }
    l->jobs = options->jobs;
    orr_result result = open(options, l, error);
    if (result != ORR_OK) {
        destroy(l);
        return result;
    }
    *made = l;
    return ORR_OK;
}

static orr_result step(learner *l, double *loss, int64_t *samples, orr_error *error)
{
    *samples = orr_trainer_batch_size(l->trainer);
    return orr_trainer_step(l->trainer, loss, error);
}

static orr_result score(learner *l, double *iou, orr_error *error)
{
    orr_sdf_quality quality;
    orr_trainer_refresh(l->trainer);
    ORR_TRY(orr_sdf_evaluate(l->field, &l->shape, l->jobs, SCORE_POINTS, &quality, error));
    *iou = quality.iou;
    return ORR_OK;
}

static orr_result preview(learner *l, const char *path, orr_error *error)
{
    orr_arena_reset(&l->arena);
    return train_draw(l->field, l->jobs, &l->arena, PREVIEW_SIDE, path, error);
}

static orr_result describe(learner *l, orr_field_model *model, orr_error *error)
{
    for (int k = 0; k < 3; k++) {
        model->origin[k] = (double)l->shape.origin[k];
    }
    model->size = (double)l->shape.size;
    return train_describe(l->trainer, l->field, model, error);
}

static orr_result report(learner *l, cJSON *json, orr_error *error)
{
    orr_sdf_quality quality;
    ORR_TRY(orr_sdf_evaluate(l->field, &l->shape, l->jobs, REPORT_POINTS, &quality, error));
    train_figure(json, "IoU", quality.iou, "");
    train_figure(json, "normal error", quality.normal_degrees, "degrees");
    train_figure(json, "smooth normal error", quality.smooth_normal_degrees, "degrees");
    train_figure(json, "surface error", quality.surface_error * (double)l->shape.size, "units of the mesh");
    return ORR_OK;
}

static const orr_profile *profile(learner *l)
{
    return orr_trainer_profile(l->trainer);
}

const learner_kind learner_sdf = {.name = "sdf",
                                  .score_name = "IoU",
                                  .seconds = 60.0,
                                  .create = create,
                                  .step = step,
                                  .score = score,
                                  .preview = preview,
                                  .describe = describe,
                                  .report = report,
                                  .profile = profile,
                                  .destroy = destroy};
