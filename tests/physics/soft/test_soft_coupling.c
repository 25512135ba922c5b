// Soft bodies that push rigid ones: forces, momentum, and mass ratios.
#include "physics/soft/mesh/box_mesh.h"
#include "physics/soft/soft.h"
#include "tests/support/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 4, VERTICES = (CELLS + 1) * (CELLS + 1) * (CELLS + 1) };

static const double side = 0.2, half = 0.05, time_step = 1.0 / 240.0;

typedef struct pile { // a rigid cube above a soft one of 0.2 m
    orr_soft_mesh mesh;
    orr_soft_model *model;
    orr_soft *soft;
    orr_soft_coupling *coupling;
    orr_soft_body body;
    double gravity, mass; // mass: of the soft cube
    double position[VERTICES * 3], velocity[VERTICES * 3];
} pile;

static void open_pile(pile *p, double mass, double gravity, double drop, bool held)
{
    const int cells[3] = {CELLS, CELLS, CELLS};
    const double size[3] = {side, side, side};
    int32_t pin[VERTICES];
    int pins = 0;
    *p = (pile){.gravity = gravity};
    assert_ok(orr_soft_box(cells, size, &p->mesh, &error));
    for (int i = 0; i < p->mesh.vertices; i++) {
        if (held && p->mesh.vertex[i * 3 + 2] < 1e-9 - 0.5 * side) {
            pin[pins++] = i;
        }
    }
    orr_soft_spec spec = {.name = "block",
                          .vertices = p->mesh.vertices,
                          .vertex = p->mesh.vertex,
                          .tets = p->mesh.tets,
                          .tet = p->mesh.tet,
                          .pins = pins,
                          .pin = pin,
                          .solid = {125.0, 1e5, 0.3, 0.01}};
    assert_ok(orr_soft_model_create(&spec, &p->model, &error));
    for (int i = 0; i < VERTICES; i++) {
        p->mass += orr_soft_masses(p->model)[i];
    }
    orr_soft_desc desc = {.time_step = time_step,
                          .iterations = 20,
                          .gravity = {0.0, 0.0, gravity},
                          .double_precision = !cuda,
                          .cuda = cuda};
    assert_ok(orr_soft_create(&desc, p->model, jobs, &p->soft, &error));
    assert_ok(orr_soft_coupling_create(&p->coupling, &error));
    p->body = (orr_soft_body){.centre = {0.0, 0.0, 0.5 * side + half + drop}, .mass = mass};
    for (int k = 0; k < 3; k++) {
        p->body.inertia[k * 4] = mass * half * half * 2.0 / 3.0;
    }
}

static void close_pile(pile *p)
{
    orr_soft_coupling_destroy(p->coupling);
    orr_soft_destroy(p->soft);
    orr_soft_model_destroy(p->model);
    orr_soft_mesh_destroy(&p->mesh);
}

// The lower face of the rigid cube touches the upper vertices that are below it. The body moves as the force
// says, without the step's own opinion of where it went.
static void step(pile *p)
{
    orr_soft_touch touch[VERTICES];
    int count = 0;
    orr_soft_get(p->soft, 0, p->position, NULL);
    for (int i = 0; i < VERTICES; i++) {
        const double *x = p->position + i * 3;
        bool below =
            fabs(x[0] - p->body.centre[0]) < half + 1e-3 && fabs(x[1] - p->body.centre[1]) < half + 1e-3;
        if (p->mesh.vertex[i * 3 + 2] > 0.5 * side - 1e-9 && below) {
            touch[count++] = (orr_soft_touch){.vertex = i,
                                              .normal = {0.0, 0.0, -1.0},
                                              .distance = p->body.centre[2] - half - x[2],
                                              .friction = 0.5};
        }
    }
    p->body.velocity[2] += time_step * p->gravity;
    const orr_soft_contacts contacts = {.touches = count, .touch = touch, .bodies = 1, .body = &p->body};
    assert_ok(orr_soft_step_together(p->coupling, &p->soft, 1, &contacts, &error));
    for (int k = 0; k < 3; k++) {
        p->body.velocity[k] += time_step * p->body.force[k] / p->body.mass;
        p->body.centre[k] += time_step * p->body.velocity[k];
    }
}

static void a_body_rests_with_its_weight(void **state)
{
    (void)state;
    pile p;
    open_pile(&p, 1.0, -9.81, 0.01, true);
    for (int i = 0; i < 300; i++) {
        step(&p);
    }
    double mean = 0.0;
    for (int i = 0; i < 24; i++) {
        step(&p);
        mean += p.body.force[2] / 24.0;
    }
    assert_true(fabs(mean - 9.81) < 0.01 * 9.81);
    assert_true(fabs(p.body.velocity[2]) < 5e-3);
    close_pile(&p);
}

// They meet at 2 m/s in free space.
static void momentum_is_kept(void **state)
{
    (void)state;
    for (int i = 0; i < (cuda ? 1 : 3); i++) { // an emulated device is slow
        const double masses[3] = {1e-3, 1.0, 1e3};
        pile p;
        open_pile(&p, masses[i], 0.0, 0.005, false);
        p.body.velocity[2] = -2.0;
        double before = p.body.mass * p.body.velocity[2], after = 0.0, fastest = 0.0;
        for (int n = 0; n < 30; n++) {
            step(&p);
            fastest = fmax(fastest, fabs(p.body.velocity[2]));
        }
        orr_soft_get(p.soft, 0, NULL, p.velocity);
        for (int v = 0; v < VERTICES; v++) {
            after += orr_soft_masses(p.model)[v] * p.velocity[v * 3 + 2];
        }
        double pushed = after;
        after += p.body.mass * p.body.velocity[2];
        assert_true(pushed < 0.0 && fastest <= 2.0 + 1e-9); // it was pushed, and nothing gains energy
        // on CUDA in float, roundings of positions over the step
        assert_true(fabs(after - before) < (cuda ? 2e-4 : 1e-5) * fabs(pushed));
        close_pile(&p);
    }
}

// The upper vertices are tied to the body, which gravity draws upwards: it hangs by them.
static void ties_carry(void **state)
{
    (void)state;
    pile p;
    double offset[VERTICES * 3], mean = 0.0;
    open_pile(&p, 1.0, 9.81, 0.0, true);
    for (int k = 0; k < 3; k++) {
        p.body.inertia[k * 4] = 1e6; // it does not turn
    }
    for (int i = 0; i < VERTICES * 3; i++) {
        offset[i] = p.mesh.vertex[i] - p.body.centre[i % 3];
    }
    for (int n = 0; n < 400; n++) {
        orr_soft_tie tie[VERTICES];
        int count = 0;
        orr_soft_get(p.soft, 0, p.position, NULL);
        for (int i = 0; i < VERTICES; i++) {
            if (p.mesh.vertex[i * 3 + 2] > 0.5 * side - 1e-9) {
                tie[count] = (orr_soft_tie){.vertex = i};
                for (int k = 0; k < 3; k++) {
                    tie[count].gap[k] = p.position[i * 3 + k] - p.body.centre[k] - offset[i * 3 + k];
                    assert_true(fabs(tie[count].gap[k]) < 2e-3);
                }
                count++;
            }
        }
        const orr_soft_contacts contacts = {.ties = count, .tie = tie, .bodies = 1, .body = &p.body};
        p.body.velocity[2] += time_step * p.gravity;
        assert_ok(orr_soft_step_together(p.coupling, &p.soft, 1, &contacts, &error));
        for (int k = 0; k < 3; k++) {
            p.body.velocity[k] += time_step * p.body.force[k] / p.body.mass;
            p.body.centre[k] += time_step * p.body.velocity[k];
        }
        mean += n >= 376 ? p.body.force[2] / 24.0 : 0.0;
    }
    assert_true(fabs(mean + 9.81) < 0.01 * 9.81);
    close_pile(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_rests_with_its_weight),
        cmocka_unit_test(momentum_is_kept),
        cmocka_unit_test(ties_carry),
    };
    const struct CMUnitTest on_cuda[] = {
        cmocka_unit_test(momentum_is_kept),
        cmocka_unit_test(ties_carry),
    };
    const char *device = getenv("ORR_TEST_DEVICE");
    if (device && strcmp(device, "cuda") == 0) {
        return cmocka_run_group_tests(on_cuda, open_machine, close_machine);
    }
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
