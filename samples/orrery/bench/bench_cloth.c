// orrery bench physics: a cloth of 100 x 100 vertices that hangs by two corners and swings, touching itself.
#include "samples/orrery/bench/bench.h"

#include "physics/soft/collide/collide.h"
#include "physics/soft/mesh/box_mesh.h"

#include <stdlib.h>
#include <time.h>

enum { RATE = 240, ITERATIONS = 12 }; // steps per second, as worlds of a scene have them

typedef struct cloth {
    orr_soft_mesh mesh;
    orr_soft_model *model;
    orr_soft *soft;
    orr_soft_coupling *coupling;
    orr_soft_collisions *collisions;
    double *state; // positions, then velocities
} cloth;

static orr_result open_cloth(cloth *c, orr_jobs *jobs, int side, orr_error *error)
{
    const orr_soft_desc desc = {
        .time_step = 1.0 / RATE, .iterations = ITERATIONS, .gravity = {0.0, -9.81, 0.0}, .chebyshev = 0.9};
    ORR_TRY(orr_soft_sheet((int[]){side - 1, side - 1}, (double[]){1.0, 1.0}, &c->mesh, error));
    const int32_t pin[2] = {0, side - 1};
    const orr_soft_spec spec = {.name = "cloth",
                                .vertices = c->mesh.vertices,
                                .vertex = c->mesh.vertex,
                                .triangles = c->mesh.triangles,
                                .triangle = c->mesh.triangle,
                                .pins = 2,
                                .pin = pin,
                                .cloth_thickness = 4e-3,
                                .cloth = {300.0, 1e6, 0.3, 0.005}};
    ORR_TRY(orr_soft_model_create(&spec, &c->model, error));
    ORR_TRY(orr_soft_create(&desc, c->model, jobs, &c->soft, error));
    ORR_TRY(orr_soft_coupling_create(&c->coupling, error));
    ORR_TRY(orr_soft_collisions_create(&c->collisions, error));
    c->state = calloc((size_t)c->mesh.vertices * 6, sizeof *c->state);
    return c->state ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a cloth");
}

static orr_result step_cloth(cloth *c, orr_jobs *jobs, orr_error *error)
{
    double *velocity = c->state + (size_t)c->mesh.vertices * 3;
    orr_soft_contacts contacts = {0};
    orr_soft_get(c->soft, 0, c->state, velocity);
    const orr_soft_collider collider = {.model = c->model,
                                        .position = c->state,
                                        .velocity = velocity,
                                        .margin = -2e-3,
                                        .friction = 0.5,
                                        .with_itself = true};
    ORR_TRY(orr_soft_collide(c->collisions, &collider, 1, 1.0 / RATE, jobs, &contacts.pair, &contacts.pairs,
                             error));
    return orr_soft_step_together(c->coupling, &c->soft, 1, &contacts, error);
}

static orr_result measure(const bench_run *run, cloth *c, orr_jobs *jobs, int side, orr_error *error)
{
    const int steps = run->tiny ? 2 : RATE;
    const clock_t start = clock();
    for (int i = 0; i < steps; i++) {
        ORR_TRY(step_cloth(c, jobs, error));
    }
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    fprintf(run->out,
            "\na cloth of %d x %d vertices with self-contact, its first second\n  %.2f ms of CPU time per "
            "step (%d steps of %d iterations), %.2f s in all\n",
            side, side, 1e3 * seconds / steps, steps, ITERATIONS, seconds / steps * RATE);
    if (run->json) {
        cJSON *entry = cJSON_AddObjectToObject(run->json, "cloth");
        cJSON_AddNumberToObject(entry, "vertices", c->mesh.vertices);
        cJSON_AddNumberToObject(entry, "cpu_seconds_per_second", seconds / steps * RATE);
    }
    return ORR_OK;
}

orr_result bench_cloth(const bench_run *run, orr_jobs *jobs, orr_error *error)
{
    const int side = run->tiny ? 4 : 100;
    cloth c = {0};
    orr_result result = open_cloth(&c, jobs, side, error);
    result = result == ORR_OK ? measure(run, &c, jobs, side, error) : result;
    free(c.state);
    orr_soft_collisions_destroy(c.collisions);
    orr_soft_coupling_destroy(c.coupling);
    orr_soft_destroy(c.soft);
    orr_soft_model_destroy(c.model);
    orr_soft_mesh_destroy(&c.mesh);
    return result;
}
