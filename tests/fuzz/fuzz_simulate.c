// What a robot's file says, moved for a few steps: sizes, gains and geometry of any kind reach the dynamics.
#include "engine/core/jobs.h"
#include "engine/core/memory.h"
#include "physics/load/load.h"
#include "physics/simulation/world.h"
#include "tests/fuzz/fuzz_target.h"

// Meshes of more triangles take seconds with sanitizers, and show nothing that smaller ones do not.
#define MOST_TRIANGLES 20000

static void simulate(const orr_model *model, bool double_precision)
{
    static orr_jobs *jobs;
    orr_error error = {0};
    if (!jobs && orr_jobs_create(1, NULL, NULL, &jobs, &error) != ORR_OK) {
        abort();
    }
    const orr_physics_desc desc = {.worlds = 2, .double_precision = double_precision};
    orr_physics *physics = NULL;
    orr_result result = orr_physics_create(&desc, model, jobs, &physics, &error);
    fuzz_expect(result, physics != NULL, &error);
    if (!physics) {
        return;
    }
    orr_physics_step(physics, 3);
    const orr_physics_quantity read = ORR_PHYSICS_SENSORDATA;
    size_t size = (size_t)orr_physics_size(physics, read);
    double *values = orr_alloc(2 * size, sizeof *values);
    if (values) {
        orr_physics_read_all(physics, &read, 1, values);
    }
    orr_free(values);
    orr_physics_destroy(physics);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    orr_model *model = NULL;
    orr_error error = {0};
    if (orr_model_parse((const char *)data, size, "/nowhere/fuzz.xml", &model, &error) == ORR_OK) {
        if (model->nmeshface <= MOST_TRIANGLES) {
            simulate(model, false);
            simulate(model, true);
        }
        orr_model_destroy(model);
    }
    return 0;
}
