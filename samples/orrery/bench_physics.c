// orrery bench physics: steps per second of a robot in 1024 worlds with random controls, and in one.
#include "bench.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/core/profile.h"
#include "engine/core/rng.h"
#include "physics/world.h"

#include <math.h>

static const double seconds_per_case = 2.0;

// Controls inside their ranges, others in -1 .. 1; new ones for each case.
static orr_result randomise(orr_physics *physics, const orr_model *model, orr_error *error)
{
    double *ctrl;
    ORR_ALLOC(ctrl, model->nu, "controls", error);
    for (int world = 0; world < orr_physics_worlds(physics); world++) {
        orr_rng rng = {.seed = 1, .stream = (uint32_t)world};
        for (int i = 0; i < model->nu; i++) {
            bool limited = model->actuator_ctrllimited[i];
            float low = limited ? (float)model->actuator_ctrlrange[2 * i] : -1.0f;
            float high = limited ? (float)model->actuator_ctrlrange[2 * i + 1] : 1.0f;
            ctrl[i] = (double)orr_rng_range(&rng, low, high);
        }
        orr_physics_set(physics, ORR_PHYSICS_CTRL, world, ctrl);
    }
    orr_free(ctrl);
    return ORR_OK;
}

static orr_result bench_case(const bench_run *run, const orr_model *model, orr_jobs *jobs, int worlds,
                             bool double_precision, cJSON *list, orr_error *error)
{
    orr_physics *physics;
    const orr_physics_desc desc = {.worlds = worlds, .double_precision = double_precision};
    ORR_TRY(orr_physics_create(&desc, model, jobs, &physics, error));
    orr_result result = randomise(physics, model, error);
    if (result != ORR_OK) {
        orr_physics_destroy(physics);
        return result;
    }
    orr_physics_step(physics, 100); // until contacts are as they will be
    int steps = 0;
    uint64_t start = orr_clock_nanoseconds();
    double seconds = 0.0;
    for (int chunk = worlds < 64 ? 64 : 4; seconds < seconds_per_case; steps += chunk) {
        orr_physics_step(physics, chunk);
        seconds = (double)(orr_clock_nanoseconds() - start) * 1e-9;
    }
    double rate = (double)steps * worlds / seconds / orr_jobs_workers(jobs);
    size_t bytes = orr_physics_world_bytes(physics);
    const char *precision = double_precision ? "f64" : "f32";
    fprintf(run->out, "  %6d worlds %s %12.0f steps/s per core, %zu bytes per world\n", worlds, precision,
            rate, bytes);
    if (list) {
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddItemToArray(list, entry);
        cJSON_AddNumberToObject(entry, "worlds", worlds);
        cJSON_AddStringToObject(entry, "precision", precision);
        cJSON_AddNumberToObject(entry, "steps_per_second_per_core", rate);
        cJSON_AddNumberToObject(entry, "world_bytes", (double)bytes);
    }
    orr_physics_destroy(physics);
    return ORR_OK;
}

static orr_result bench_model(const bench_run *run, const orr_model *model, orr_error *error)
{
    orr_jobs *all, *one;
    ORR_TRY(orr_jobs_create(run->limits.workers, NULL, NULL, &all, error));
    orr_result result = orr_jobs_create(1, NULL, NULL, &one, error);
    if (result != ORR_OK) {
        orr_jobs_destroy(all);
        return result;
    }
    fprintf(run->out, "\n%s: nq %d, nv %d, nu %d\n", orr_path_name(run->robot), model->nq, model->nv,
            model->nu);
    cJSON *list = run->json ? cJSON_AddArrayToObject(run->json, "physics") : NULL;
    static const int worlds[] = {10, 1024, 10000};
    for (int i = 0; i < 3 && result == ORR_OK; i++) {
        result = bench_case(run, model, all, worlds[i], false, list, error);
    }
    if (result == ORR_OK) {
        result = bench_case(run, model, one, 1, true, list, error);
    }
    orr_jobs_destroy(all);
    orr_jobs_destroy(one);
    return result;
}

orr_result bench_physics(const bench_run *run, orr_error *error)
{
    if (!run->robot) {
        fprintf(run->out, "\nphysics: no robot; name one with --robot FILE.xml\n");
        return ORR_OK;
    }
    orr_model *model;
    ORR_TRY(orr_model_load(run->robot, &model, error));
    orr_result result = bench_model(run, model, error);
    orr_model_destroy(model);
    return result;
}
