// orrery bench physics: soft boxes of tetrahedra on a floor, one of many tets and many worlds of one.
#include "samples/orrery/bench/bench.h"

#include "engine/core/clock.h"
#include "physics/soft/mesh/box_mesh.h"
#include "physics/soft/soft.h"

#include <time.h>

static const double seconds_per_case = 2.0;

// CPU time of a core; on CUDA, which works while the host waits, time that passes.
static double now(const orr_cuda *cuda)
{
    return cuda ? 1e-9 * (double)orr_clock_nanoseconds() : (double)clock() / CLOCKS_PER_SEC;
}

static orr_result measure(const bench_run *run, orr_soft *soft, const orr_cuda *cuda, int tets, int worlds,
                          cJSON *list, orr_error *error)
{
    enum { ITERATIONS = 10 };
    const int at_once = cuda && !run->tiny ? 16 : 1; // steps of a call: a device is not waited for in between
    int steps = 0;
    double seconds = 0.0;
    orr_soft_step(soft, 1);
    ORR_TRY(orr_soft_check(soft, error));
    const double start = now(cuda);
    for (; steps == 0 || (!run->tiny && seconds < seconds_per_case); steps += at_once) {
        orr_soft_step(soft, at_once);
        ORR_TRY(orr_soft_check(soft, error));
        seconds = now(cuda) - start;
    }
    double step = seconds / steps, rate = (double)tets * worlds * ITERATIONS / step;
    fprintf(run->out,
            "  %6d tets %6d worlds %10.3f ms per step of %d iterations, %6.1f M tet-iterations/s "
            "%s\n",
            tets, worlds, 1e3 * step, ITERATIONS, 1e-6 * rate, cuda ? "on CUDA" : "per core");
    if (list) {
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddItemToArray(list, entry);
        cJSON_AddNumberToObject(entry, "tets", tets);
        cJSON_AddNumberToObject(entry, "worlds", worlds);
        cJSON_AddStringToObject(entry, "device", cuda ? orr_cuda_describe(cuda)->name : "cpu");
        cJSON_AddNumberToObject(entry, cuda ? "seconds_per_step" : "cpu_seconds_per_step", step);
        cJSON_AddNumberToObject(
            entry, cuda ? "tet_iterations_per_second" : "tet_iterations_per_second_per_core", rate);
    }
    return ORR_OK;
}

static orr_result bench_case(const bench_run *run, orr_jobs *jobs, orr_cuda *cuda, int side, int worlds,
                             cJSON *list, orr_error *error)
{
    const int cells[3] = {side, side, side};
    const double size[3] = {0.2, 0.2, 0.2};
    const orr_soft_obstacle floor = {ORR_SOFT_PLANE, {0.0, 0.0, -0.1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {0}, 0.5};
    const orr_soft_desc desc = {
        .worlds = worlds, .gravity = {0.0, 0.0, -9.81}, .obstacles = 1, .obstacle = &floor, .cuda = cuda};
    orr_soft_mesh mesh;
    orr_soft_model *model = NULL;
    orr_soft *soft = NULL;
    ORR_TRY(orr_soft_box(cells, size, &mesh, error));
    orr_soft_spec spec = {.name = "box",
                          .vertices = mesh.vertices,
                          .vertex = mesh.vertex,
                          .tets = mesh.tets,
                          .tet = mesh.tet,
                          .solid = {1000.0, 1e5, 0.4, 0.0}};
    orr_result result = orr_soft_model_create(&spec, &model, error);
    if (result == ORR_OK) {
        result = orr_soft_create(&desc, model, jobs, &soft, error);
    }
    if (result == ORR_OK) {
        result = measure(run, soft, cuda, mesh.tets, worlds, list, error);
    }
    orr_soft_destroy(soft);
    orr_soft_model_destroy(model);
    orr_soft_mesh_destroy(&mesh);
    return result;
}

orr_result bench_soft(const bench_run *run, orr_jobs *jobs, orr_cuda *cuda, orr_error *error)
{
    cJSON *list = run->json ? cJSON_AddArrayToObject(run->json, "soft") : NULL;
    fprintf(run->out, "\nsoft boxes on a floor\n");
    for (int i = 0; i < (cuda ? 2 : 1); i++) {
        orr_cuda *on = i == 0 ? NULL : cuda;
        const int many = on ? 1024 : 64;
        ORR_TRY(bench_case(run, jobs, on, run->tiny ? 2 : 6, 1, list, error));  // 1,296 tets
        ORR_TRY(bench_case(run, jobs, on, run->tiny ? 2 : 15, 1, list, error)); // 20,250 tets
        ORR_TRY(bench_case(run, jobs, on, run->tiny ? 1 : 6, run->tiny ? 17 : many, list, error));
    }
    return ORR_OK;
}
