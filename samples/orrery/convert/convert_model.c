// orrery convert: from a model to a mesh, or to a model without the state of its training.
#include "samples/orrery/convert/convert_model.h"

#include "engine/core/file.h"
#include "engine/core/jobs.h"
#include "engine/core/memory.h"
#include "engine/core/profile.h"
#include "neural/fields/mesh.h"
#include "neural/fields/surface_file.h"
#include "neural/ingp/ingp.h"
#include "samples/orrery/interrupt.h"

#include <stdio.h>

static orr_result mesh_of_model(const model_conversion *c, const orr_field_model *model, orr_jobs *jobs,
                                orr_surface *surface, orr_error *error)
{
    orr_field_mesh_desc desc = {.field = model->field,
                                .density_grid = model->density_grid,
                                .density_cells = model->density_cells,
                                .resolution = c->resolution,
                                .threshold = c->threshold};
    ORR_TRY(orr_field_model_to_world(model, desc.to_world, error));
    return orr_field_mesh(&desc, jobs, surface, error);
}

static orr_result mesh_of_file(const model_conversion *c, orr_jobs *jobs, orr_surface *surface,
                               orr_error *error)
{
    orr_isa isa;
    orr_mlp_machine machine;
    ORR_TRY(orr_isa_choose(&isa, error));
    ORR_TRY(orr_mlp_machine_choose(isa, &machine, error));
    orr_field_model model;
    ORR_TRY(orr_field_model_load(c->from, isa, machine, &model, error));
    orr_result result = mesh_of_model(c, &model, jobs, surface, error);
    orr_field_model_free(&model);
    return result;
}

// The model as it is, without the state of its training.
static orr_result drop_state(const model_conversion *c, cJSON *json, orr_error *error)
{
    orr_field_model model;
    ORR_TRY(orr_field_model_load(c->from, orr_isa_best(), ORR_MLP_FP32, &model, error)); // not evaluated
    int64_t state = (int64_t)model.state.size;
    orr_free(model.state.data);
    model.state = (orr_bytes){0};
    orr_result result = orr_field_model_save(&model, c->to, error);
    orr_field_model_free(&model);
    if (result == ORR_OK) {
        fprintf(stderr, "%s: without %.1f MB of training state\n", c->to, (double)state * 1e-6);
        cJSON_AddStringToObject(json, "file", c->to);
        cJSON_AddNumberToObject(json, "dropped_bytes", (double)state);
    }
    return result;
}

orr_result convert_model(const model_conversion *c, cJSON *json, orr_error *error)
{
    if (orr_field_model_readable(c->to)) {
        return drop_state(c, json, error);
    }
    if (!orr_surface_writable(c->to)) {
        return orr_fail(error, ORR_CODE_FILE_TYPE,
                        "%s: expected a name that ends in .ply, .obj, .glb, .ingp or .msgpack", c->to);
    }
    ORR_TRY(orr_file_try(c->to, error));
    uint64_t start = orr_clock_nanoseconds();
    orr_jobs *jobs;
    ORR_TRY(orr_jobs_create(c->threads, NULL, NULL, &jobs, error));
    orr_surface surface;
    orr_result result = mesh_of_file(c, jobs, &surface, error);
    orr_jobs_destroy(jobs);
    ORR_TRY(result);
    interrupt_begin(); // Ctrl-C waits for the file to be whole
    result = orr_surface_save(&surface, c->to, error);
    double seconds = (double)(orr_clock_nanoseconds() - start) * 1e-9;
    if (result == ORR_OK) {
        fprintf(stderr, "%s: %lld vertices, %lld triangles, %.2f s\n", c->to, (long long)surface.vertex_count,
                (long long)surface.triangle_count, seconds);
        cJSON_AddStringToObject(json, "file", c->to);
        cJSON_AddNumberToObject(json, "vertices", (double)surface.vertex_count);
        cJSON_AddNumberToObject(json, "triangles", (double)surface.triangle_count);
        cJSON_AddNumberToObject(json, "seconds", seconds);
    }
    orr_surface_free(&surface);
    return result;
}
