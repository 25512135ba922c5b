// A mesh becomes a small network that knows the distance to it.
#include "neural/training/sdf_samples.h"

#include "engine/training/truth.h"
#include "render/mesh.h"

enum { SCORE_POINTS = 1 << 12, REPORT_POINTS = 1 << 16, BATCH = 1 << 15 };

static orr_result open(void *shape, const orr_learner_setup *setup, orr_field_desc *field, orr_error *error)
{
    (void)field;
    orr_mesh *mesh;
    ORR_TRY(orr_mesh_load(setup->desc->data, &mesh, error));
    orr_triangle_view triangles = orr_mesh_for_sdf(mesh);
    orr_result result =
        orr_sdf_shape_create(&triangles, setup->desc->data, setup->choices.seed, setup->jobs, shape, error);
    orr_mesh_destroy(mesh);
    const orr_sdf_shape *made = shape;
    if (result == ORR_OK && made->open_edges > 0) {
        orr_log_line(setup->log, ORR_LOG_WARNING, ORR_CODE_MESH_FILE,
                     "%s: %lld edges are open, or their triangles have opposite orientations: winding "
                     "numbers tell the inside",
                     setup->desc->data, (long long)made->open_edges);
    }
    return result;
}

static void close(void *shape)
{
    orr_sdf_shape_free(shape);
}

static orr_sample_source source(void *shape)
{
    return orr_sdf_source(shape);
}

static orr_result compare(const orr_sdf_shape *shape, const orr_field *field, orr_jobs *jobs, int points,
                          orr_train_quality *quality, orr_error *error)
{
    orr_sdf_quality found;
    ORR_TRY(orr_sdf_evaluate(field, shape, jobs, points, &found, error));
    quality->iou = found.iou;
    quality->normal_degrees = found.normal_degrees;
    quality->smooth_normal_degrees = found.smooth_normal_degrees;
    quality->surface_error = found.surface_error * (double)shape->size;
    return ORR_OK;
}

static orr_result measure(const void *shape, const orr_field *field, orr_jobs *jobs,
                          orr_train_quality *quality, orr_error *error)
{
    return compare(shape, field, jobs, SCORE_POINTS, quality, error);
}

static orr_result evaluate(const void *shape, const orr_field *field, orr_jobs *jobs,
                           orr_train_quality *quality, orr_error *error)
{
    return compare(shape, field, jobs, REPORT_POINTS, quality, error);
}

static void set_bounds(const void *truth, orr_field_model *model)
{
    const orr_sdf_shape *shape = truth;
    for (int k = 0; k < 3; k++) {
        model->origin[k] = (double)shape->origin[k];
    }
    model->size = (double)shape->size;
}

const orr_sample_truth orr_truth_sdf = {.size = sizeof(orr_sdf_shape),
                                        .batch = BATCH,
                                        .config = orr_sdf_training_config,
                                        .open = open,
                                        .close = close,
                                        .source = source,
                                        .measure = measure,
                                        .evaluate = evaluate,
                                        .set_bounds = set_bounds};
