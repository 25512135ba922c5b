// orrery bench physics: soft boxes of tetrahedra on a floor, one of many tets and many worlds of one.
#include "samples/orrery/bench/bench.h"

#include "physics/soft/box_mesh.h"
#include "physics/soft/soft.h"

#include <time.h>

static const double seconds_per_case = 2.0;

static void measure(const bench_run *run, orr_soft *soft, int tets, int worlds, cJSON *list)
{
    enum { ITERATIONS = 10 };
    int steps = 0;
    double seconds = 0.0;
    orr_soft_step(soft, 1);
    clock_t start = clock();
    for (; steps == 0 || (!run->tiny && seconds < seconds_per_case); steps++) {
        orr_soft_step(soft, 1);
        seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    }
    double step = seconds / steps, rate = (double)tets * worlds * ITERATIONS / step;
    fprintf(run->out,
            "  %6d tets %6d worlds %10.3f ms per step of %d iterations, %6.1f M tet-iterations/s "
            "per core\n",
            tets, worlds, 1e3 * step, ITERATIONS, 1e-6 * rate);
    if (list) {
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddItemToArray(list, entry);
        cJSON_AddNumberToObject(entry, "tets", tets);
        cJSON_AddNumberToObject(entry, "worlds", worlds);
        cJSON_AddNumberToObject(entry, "cpu_seconds_per_step", step);
        cJSON_AddNumberToObject(entry, "tet_iterations_per_second_per_core", rate);
    }
}

static orr_result bench_case(const bench_run *run, orr_jobs *jobs, int side, int worlds, cJSON *list,
                             orr_error *error)
{
    const int cells[3] = {side, side, side};
    const double size[3] = {0.2, 0.2, 0.2};
    const orr_soft_obstacle floor = {ORR_SOFT_PLANE, {0.0, 0.0, -0.1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {0}, 0.5};
    const orr_soft_desc desc = {
        .worlds = worlds, .gravity = {0.0, 0.0, -9.81}, .obstacles = 1, .obstacle = &floor};
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
        measure(run, soft, mesh.tets, worlds, list);
    }
    orr_soft_destroy(soft);
    orr_soft_model_destroy(model);
    orr_soft_mesh_destroy(&mesh);
    return result;
}

orr_result bench_soft(const bench_run *run, orr_jobs *jobs, orr_error *error)
{
    cJSON *list = run->json ? cJSON_AddArrayToObject(run->json, "soft") : NULL;
    fprintf(run->out, "\nsoft boxes on a floor\n");
    ORR_TRY(bench_case(run, jobs, run->tiny ? 2 : 6, 1, list, error));  // 1,296 tets
    ORR_TRY(bench_case(run, jobs, run->tiny ? 2 : 15, 1, list, error)); // 20,250 tets
    return bench_case(run, jobs, run->tiny ? 1 : 6, run->tiny ? 17 : 64, list, error);
}
