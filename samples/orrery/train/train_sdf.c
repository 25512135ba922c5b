// A mesh becomes a small network that knows the distance to it.
#include "neural/training/sdf_samples.h"

#include "render/mesh.h"
#include "samples/orrery/train/train_samples.h"

#include <stdio.h>

enum { SCORE_POINTS = 1 << 12, REPORT_POINTS = 1 << 16, BATCH = 1 << 15 };

static orr_result open(void *shape, const train_options *options, orr_field_desc *desc, orr_error *error)
{
    (void)desc;
    orr_mesh *mesh;
    ORR_TRY(orr_mesh_load(options->data, &mesh, error));
    orr_triangle_view triangles = orr_mesh_for_sdf(mesh);
    orr_result result = orr_sdf_shape_create(&triangles, options->data, options->seed, shape, error);
    orr_mesh_destroy(mesh);
    const orr_sdf_shape *made = shape;
    if (result == ORR_OK && made->open_edges > 0) {
        fprintf(stderr,
                "orrery: warning: %s: %lld edges are open, or their triangles face apart: winding numbers "
                "say what is inside\n",
                options->data, (long long)made->open_edges);
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

static orr_result score(const void *shape, const orr_field *field, orr_jobs *jobs, double *iou,
                        orr_error *error)
{
    orr_sdf_quality quality;
    ORR_TRY(orr_sdf_evaluate(field, shape, jobs, SCORE_POINTS, &quality, error));
    *iou = quality.iou;
    return ORR_OK;
}

static orr_result report(const void *truth, const orr_field *field, orr_jobs *jobs, cJSON *json,
                         orr_error *error)
{
    const orr_sdf_shape *shape = truth;
    orr_sdf_quality quality;
    ORR_TRY(orr_sdf_evaluate(field, shape, jobs, REPORT_POINTS, &quality, error));
    train_figure(json, "IoU", quality.iou, "");
    train_figure(json, "normal error", quality.normal_degrees, "degrees");
    train_figure(json, "smooth normal error", quality.smooth_normal_degrees, "degrees");
    train_figure(json, "surface error", quality.surface_error * (double)shape->size, "units of the mesh");
    return ORR_OK;
}

static void set_bounds(const void *truth, orr_field_model *model)
{
    const orr_sdf_shape *shape = truth;
    for (int k = 0; k < 3; k++) {
        model->origin[k] = (double)shape->origin[k];
    }
    model->size = (double)shape->size;
}

const sample_truth truth_sdf = {.size = sizeof(orr_sdf_shape),
                                .batch = BATCH,
                                .config = orr_sdf_training_config,
                                .open = open,
                                .close = close,
                                .source = source,
                                .score = score,
                                .report = report,
                                .set_bounds = set_bounds};
