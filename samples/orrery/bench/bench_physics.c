// orrery bench physics: steps per second of a robot in many worlds with random controls, and in one;
// without a robot, of many free bodies and of soft bodies.
#include "samples/orrery/bench/bench.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/core/profile.h"
#include "engine/image/plot.h"
#include "engine/maths/rng.h"
#include "physics/load/load.h"
#include "physics/model/range.h"
#include "physics/simulation/world.h"

#include <math.h>
#include <time.h>

static const double seconds_per_case = 2.0;

// Controls inside their ranges, others in -1 .. 1; new ones for each case.
static orr_result randomise(orr_physics *physics, const orr_model *model, orr_error *error)
{
    double *ctrl;
    ORR_ALLOC(ctrl, model->nu, "controls", error);
    for (int world = 0; world < orr_physics_worlds(physics); world++) {
        orr_rng rng = {.seed = 1, .stream = (uint32_t)world};
        for (int i = 0; i < model->nu; i++) {
            double ends[2];
            orr_model_range(model->actuator_ctrllimited[i], model->actuator_ctrlrange + 2 * (ptrdiff_t)i, 1.0,
                            ends);
            ctrl[i] = (double)orr_rng_range(&rng, (float)ends[0], (float)ends[1]);
        }
        orr_physics_set(physics, ORR_PHYSICS_CTRL, world, ctrl);
    }
    orr_free(ctrl);
    return ORR_OK;
}

typedef struct bench_point {
    double rate, bytes; // steps per second per core; per world
} bench_point;

// What a robot is measured on.
typedef struct machines {
    orr_jobs *all, *one;
    orr_cuda *cuda; // NULL: the CPU
} machines;

typedef struct bench_speed {
    double steps_per_second; // of all worlds together, by the clock on the wall
    double steps_per_core;   // by the CPU's: other work on the machine changes it little
} bench_speed;

static orr_result measure(const bench_run *run, orr_physics *physics, const orr_model *model, bool cuda,
                          bench_speed *speed, orr_error *error)
{
    ORR_TRY(randomise(physics, model, error));
    orr_physics_step(physics, run->tiny ? 1 : 100); // until contacts are as they will be
    ORR_TRY(orr_physics_check(physics, error));
    int steps = 0, worlds = orr_physics_worlds(physics);
    uint64_t start = orr_clock_nanoseconds();
    clock_t cpu_start = clock();
    double seconds = 0.0;
    const int chunk = run->tiny ? 1 : worlds < 64 ? 64 : cuda ? 16 : 4;
    for (; steps == 0 || (!run->tiny && seconds < seconds_per_case); steps += chunk) {
        orr_physics_step(physics, chunk);
        ORR_TRY(orr_physics_check(physics, error)); // a device has done it then
        seconds = (double)(orr_clock_nanoseconds() - start) * 1e-9;
    }
    *speed = (bench_speed){(double)steps * worlds / seconds,
                           (double)steps * worlds * CLOCKS_PER_SEC / (double)(clock() - cpu_start)};
    return ORR_OK;
}

// team: of threads for a world, 0 is what physics chooses. point: nullable
static orr_result bench_case(const bench_run *run, const char *robot, const orr_model *model,
                             const machines *on, int worlds, bool double_precision, int team, cJSON *list,
                             bench_point *point, orr_error *error)
{
    orr_physics *physics;
    const orr_physics_desc desc = {.worlds = worlds,
                                   .double_precision = double_precision,
                                   .single_precision = !double_precision,
                                   .cuda = on->cuda,
                                   .team = team};
    ORR_TRY(orr_physics_create(&desc, model, worlds == 1 ? on->one : on->all, &physics, error));
    team = orr_physics_team(physics);
    bench_speed speed;
    orr_result result = measure(run, physics, model, on->cuda != NULL, &speed, error);
    size_t bytes = orr_physics_world_bytes(physics);
    orr_physics_destroy(physics);
    ORR_TRY(result);
    const char *precision = double_precision ? "f64" : "f32";
    fprintf(run->out, "  %6d worlds %s %12.0f steps/s%s, %zu bytes per world", worlds, precision,
            on->cuda ? speed.steps_per_second : speed.steps_per_core, on->cuda ? "" : " per core", bytes);
    if (on->cuda) {
        fprintf(run->out, ", a team of %d", team);
    }
    fputc('\n', run->out);
    if (list) {
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddItemToArray(list, entry);
        cJSON_AddStringToObject(entry, "robot", robot);
        cJSON_AddStringToObject(entry, "device", on->cuda ? orr_cuda_describe(on->cuda)->name : "cpu");
        cJSON_AddNumberToObject(entry, "worlds", worlds);
        cJSON_AddStringToObject(entry, "precision", precision);
        cJSON_AddNumberToObject(entry, "steps_per_second", speed.steps_per_second);
        if (on->cuda) {
            cJSON_AddNumberToObject(entry, "team", team);
        } else {
            cJSON_AddNumberToObject(entry, "steps_per_second_per_core", speed.steps_per_core);
        }
        cJSON_AddNumberToObject(entry, "world_bytes", (double)bytes);
    }
    if (point) {
        *point = (bench_point){speed.steps_per_core, (double)bytes};
    }
    return ORR_OK;
}

// From one world to ten thousand, for the chart: what is lost while a block of lanes is not full, and where
// the worlds no longer fit into the caches.
static orr_result bench_chart(const bench_run *run, const char *robot, const orr_model *model,
                              const machines *on, cJSON *list, orr_error *error)
{
    static const int worlds[] = {1, 10, 100, 1000, 10000};
    enum { CASES = sizeof worlds / sizeof worlds[0] };
    double x[CASES], rate[CASES];
    bench_point point = {0};
    for (int i = 0; i < CASES; i++) {
        ORR_TRY(bench_case(run, robot, model, on, worlds[i], false, 0, list, &point, error));
        x[i] = log10(worlds[i]);
        rate[i] = point.rate;
    }
    char title[256];
    snprintf(title, sizeof title, "%s: %.0f bytes per world", robot, point.bytes);
    const orr_plot_line line = {
        .name = "steps/s per core", .x = x, .y = rate, .count = CASES, .logarithmic = true};
    return orr_plot_save(run->plot, title, "log10 of worlds", &line, 1, error);
}

static orr_result bench_model(const bench_run *run, const char *robot, const orr_model *model,
                              const machines *on, cJSON *list, orr_error *error)
{
    if (run->plot) {
        return bench_chart(run, robot, model, on, list, error);
    }
    static const int worlds[3][3] = {{10, 1024, 10000}, {1024, 8192, 32768}, {1, 2, 33}};
    const int *list_of = worlds[run->tiny ? 2 : on->cuda != NULL];
    fprintf(run->out, "\n%s: nq %d, nv %d, nu %d\n", robot, model->nq, model->nv, model->nu);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < (on->cuda ? 4 : 1); k++) { // a world on the CPU has one thread
            ORR_TRY(bench_case(run, robot, model, on, list_of[i], false, 1 << k, list, NULL, error));
        }
    }
    if (on->cuda) {
        return bench_case(run, robot, model, on, list_of[1], true, 0, list, NULL, error);
    }
    ORR_TRY(bench_case(run, robot, model, on, 1, false, 0, list, NULL, error));
    return bench_case(run, robot, model, on, 1, true, 0, list, NULL, error);
}

static orr_result bench_robot(const bench_run *run, const char *path, const machines *on, cJSON *list,
                              orr_error *error)
{
    orr_model *model;
    ORR_TRY(orr_model_load(path, &model, error));
    orr_result result = bench_model(run, orr_path_name(path), model, on, list, error);
    orr_model_destroy(model);
    return result;
}

// A file; or a folder with Gymnasium's robots, of which four are moved.
static orr_result bench_robots(const bench_run *run, const machines *on, orr_error *error)
{
    cJSON *list = run->json ? cJSON_AddArrayToObject(run->json, "physics") : NULL;
    if (orr_path_has_ending(run->robot, ".xml") || orr_path_has_ending(run->robot, ".urdf")) {
        return bench_robot(run, run->robot, on, list, error);
    }
    if (run->plot) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "--plot: expected one robot's file for --robot, not a folder");
    }
    static const char *const names[] = {"humanoid.xml", "ant.xml", "half_cheetah.xml", "hopper.xml"};
    for (int i = 0; i < 4; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", run->robot, names[i]);
        ORR_TRY(bench_robot(run, path, on, list, error));
    }
    return ORR_OK;
}

orr_result bench_physics(const bench_run *run, orr_error *error)
{
    machines on = {0};
    orr_result result = orr_jobs_create(run->limits.workers, NULL, NULL, &on.all, error);
    if (result == ORR_OK) {
        result = orr_jobs_create(1, NULL, NULL, &on.one, error);
    }
    if (result == ORR_OK && orr_engine_device(run->engine) == ORR_DEVICE_CUDA) {
        result = orr_cuda_create(NULL, &on.cuda, error);
    }
    if (result == ORR_OK && run->robot) {
        result = bench_robots(run, &on, error);
    } else if (result == ORR_OK) {
        fprintf(run->out, "\nphysics: no robot; name one, or a folder of Gymnasium's, with --robot PATH\n");
        result = bench_bodies(run, on.one, error);
        if (result == ORR_OK) {
            result = bench_soft(run, on.one, on.cuda, error);
        }
        if (result == ORR_OK) {
            result = bench_cloth(run, on.one, error);
        }
        if (result == ORR_OK) {
            result = bench_follow(run, on.one, error);
        }
    }
    orr_cuda_destroy(on.cuda);
    orr_jobs_destroy(on.one);
    orr_jobs_destroy(on.all);
    return result;
}
