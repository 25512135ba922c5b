// Soft bodies of any stiffness under what comes at random: they stay finite, and recover.
#include "engine/core/isa.h"
#include "physics/soft/mesh/box_mesh.h"
#include "physics/soft/soft.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { WORLDS = 16, VERTICES = 27, NUMBERS = 3 * VERTICES, BETWEEN = 25 }; // BETWEEN: steps

static const double side = 0.2, time_step = 1.0 / 240.0;

static orr_jobs *jobs;
static uint32_t random_bits;

static int start_jobs(void **state)
{
    (void)state;
    return orr_jobs_create(2, NULL, NULL, &jobs, NULL) == ORR_OK ? 0 : -1;
}

static int stop_jobs(void **state)
{
    (void)state;
    orr_jobs_destroy(jobs);
    return 0;
}

static double random_between(double low, double high)
{
    random_bits = random_bits * 1664525u + 1013904223u;
    return low + (high - low) * (double)(random_bits >> 8) / 16777216.0;
}

static orr_soft_model *make_cube(double young, double poisson, orr_soft_mesh *mesh)
{
    orr_soft_model *model;
    assert_ok(orr_soft_box((int[]){2, 2, 2}, (double[]){side, side, side}, mesh, &error));
    assert_int_equal(mesh->vertices, VERTICES);
    const orr_soft_spec spec = {.name = "cube",
                                .vertices = VERTICES,
                                .vertex = mesh->vertex,
                                .tets = mesh->tets,
                                .tet = mesh->tet,
                                .solid = {1000.0, young, poisson, 1e-3}};
    assert_ok(orr_soft_model_create(&spec, &model, &error));
    return model;
}

static void check_finite(const orr_soft *soft, int world, double young, double poisson)
{
    double x[NUMBERS], v[NUMBERS];
    orr_soft_get(soft, world, x, v);
    for (int i = 0; i < NUMBERS; i++) {
        if (!isfinite(x[i]) || !isfinite(v[i])) {
            fail_msg("%g Pa, Poisson's ratio %g, world %d: number %d: position %g, velocity %g", young,
                     poisson, world, i, x[i], v[i]);
        }
    }
}

// Pushes every vertex by up to 20 m/s; or drops the cube, or throws it between jaws that are half as far
// apart as it is wide, at up to 10 m/s; or puts its vertices anywhere, so that tets are inside out.
static void disturb(orr_soft *soft, int world, const orr_soft_mesh *mesh)
{
    double x[NUMBERS], v[NUMBERS];
    const int kind = (int)random_between(0.0, 4.0);
    const double height = random_between(-0.1, 0.5), fall = random_between(-10.0, 0.0);
    orr_soft_get(soft, world, x, v);
    for (int i = 0; i < NUMBERS; i++) {
        const double along = i % 3 == 2 ? 1.0 : 0.0;
        if (kind == 0) {
            v[i] += random_between(-20.0, 20.0);
        } else if (kind == 1 || kind == 2) { // beside the jaws, or between them
            x[i] = mesh->vertex[i] + (i % 3 == 2 ? height : i % 3 == 1 && kind == 1 ? 1.0 : 0.0);
            v[i] = along * fall;
        } else {
            x[i] = mesh->vertex[i] + random_between(-side, side);
            v[i] = random_between(-20.0, 20.0);
        }
    }
    orr_soft_set(soft, world, x, v);
}

// After all that, in every world: it lands and swings a little.
static void check_recovery(orr_soft *soft, const orr_soft_mesh *mesh, double young, double poisson)
{
    double x[NUMBERS], v[NUMBERS] = {0.0}, fastest = 0.0;
    for (int i = 0; i < NUMBERS; i++) {
        x[i] = mesh->vertex[i] + (i % 3 == 1 ? 1.0 : 0.0);
    }
    for (int w = 0; w < WORLDS; w++) {
        orr_soft_set(soft, w, x, v);
    }
    orr_soft_step(soft, 240);
    for (int w = 0; w < WORLDS; w++) {
        orr_soft_get(soft, w, x, v);
        for (int i = 0; i < NUMBERS; i++) {
            fastest = fmax(fastest, fabs(v[i]));
        }
    }
    if (!(fastest < (young < 1e4 ? 2.0 : 1.0))) { // its weight flattens what has 1 kPa
        fail_msg("%g Pa, Poisson's ratio %g: %g m/s a second after it was dropped", young, poisson, fastest);
    }
}

static void ten_thousand_random_steps_leave_no_nan(double young, double poisson)
{
    static const double turned[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    orr_soft_obstacle obstacle[3] = {{ORR_SOFT_PLANE, {0.0, 0.0, -0.12}, {0.0}, {0.0}, 0.5},
                                     {ORR_SOFT_BOX, {-0.1, 0.0, 0.0}, {0.0}, {0.05, 0.3, 0.2}, 0.8},
                                     {ORR_SOFT_BOX, {0.1, 0.0, 0.0}, {0.0}, {0.05, 0.3, 0.2}, 0.8}};
    orr_soft_mesh mesh;
    orr_soft *soft;
    for (int i = 0; i < 3; i++) {
        memcpy(obstacle[i].axis, turned, sizeof turned);
    }
    orr_soft_model *model = make_cube(young, poisson, &mesh);
    const orr_soft_desc desc = {
        .worlds = WORLDS, .gravity = {0.0, 0.0, -9.81}, .obstacles = 3, .obstacle = obstacle};
    assert_ok(orr_soft_create(&desc, model, jobs, &soft, &error));
    random_bits = 1;
    for (int step = 0; step * WORLDS < 10000; step += BETWEEN) {
        for (int w = 0; w < WORLDS; w++) {
            disturb(soft, w, &mesh);
        }
        orr_soft_step(soft, BETWEEN);
        for (int w = 0; w < WORLDS; w++) {
            check_finite(soft, w, young, poisson);
        }
    }
    check_recovery(soft, &mesh, young, poisson);
    orr_soft_destroy(soft);
    orr_soft_model_destroy(model);
    orr_soft_mesh_destroy(&mesh);
}

static void no_stiffness_makes_nan(void **state)
{
    (void)state;
    if (is_left_to_best_isa()) {
        return;
    }
    for (double young = 1e3; young < 2e8; young *= 10.0) {
        ten_thousand_random_steps_leave_no_nan(young, 0.2);
        ten_thousand_random_steps_leave_no_nan(young, 0.49);
    }
}

// Two plates of a gripper, from a thousandth to a thousand times as heavy as the cube, that forces of up to
// 300 times its weight drive at random, down to a tenth of its width.
static void squeeze(double young, double ratio)
{
    const double mass = 1000.0 * side * side * side;
    orr_soft_mesh mesh;
    orr_soft *soft;
    orr_soft_coupling *coupling;
    orr_soft_body body[2];
    double drive[2] = {0.0, 0.0};
    orr_soft_model *model = make_cube(young, 0.49, &mesh);
    const orr_soft_desc desc = {.gravity = {0.0, 0.0, -9.81}};
    assert_ok(orr_soft_create(&desc, model, NULL, &soft, &error));
    assert_ok(orr_soft_coupling_create(&coupling, &error));
    for (int b = 0; b < 2; b++) {
        const double inertia = 0.01 * ratio * mass;
        body[b] = (orr_soft_body){.centre = {b ? 0.11 : -0.11, 0.0, 0.0},
                                  .mass = ratio * mass,
                                  .inertia = {inertia, 0.0, 0.0, 0.0, inertia, 0.0, 0.0, 0.0, inertia}};
    }
    for (int step = 0; step < 600; step++) {
        double x[NUMBERS];
        orr_soft_touch touch[3 * VERTICES];
        int count = 0;
        orr_soft_get(soft, 0, x, NULL);
        for (int i = 0; i < VERTICES; i++) {
            const double gap[2] = {x[3 * i] - body[0].centre[0], body[1].centre[0] - x[3 * i]};
            for (int b = 0; b < 2; b++) {
                if (gap[b] < 0.05) {
                    touch[count++] = (orr_soft_touch){.vertex = i,
                                                      .body = b,
                                                      .normal = {b ? -1.0 : 1.0, 0.0, 0.0},
                                                      .distance = gap[b],
                                                      .friction = 0.8};
                }
            }
        }
        const bool closed = body[1].centre[0] - body[0].centre[0] < 0.1 * side;
        for (int b = 0; b < 2; b++) {
            if (step % BETWEEN == 0) {
                drive[b] = (b ? -1.0 : 1.0) * random_between(-300.0, 2000.0) * 9.81 * mass / 10.0;
            }
            body[b].velocity[0] = closed ? 0.0 : body[b].velocity[0] + time_step * drive[b] / body[b].mass;
            body[b].velocity[0] = fmin(fmax(body[b].velocity[0], -10.0), 10.0);
        }
        const orr_soft_contacts contacts = {.touches = count, .touch = touch, .bodies = 2, .body = body};
        assert_ok(orr_soft_step_together(coupling, &soft, 1, &contacts, &error));
        check_finite(soft, 0, young, 0.49);
        for (int b = 0; b < 2; b++) {
            assert_true(isfinite(body[b].force[0]) && isfinite(body[b].torque[1]));
            body[b].velocity[0] += time_step * body[b].force[0] / body[b].mass;
            body[b].centre[0] += time_step * body[b].velocity[0];
            if (!(fabs(body[b].centre[0]) < 0.3)) { // it opens no farther
                body[b].centre[0] = b ? 0.15 : -0.15;
                body[b].velocity[0] = 0.0;
            }
        }
    }
    orr_soft_coupling_destroy(coupling);
    orr_soft_destroy(soft);
    orr_soft_model_destroy(model);
    orr_soft_mesh_destroy(&mesh);
}

static void no_squeeze_makes_nan(void **state)
{
    (void)state;
    random_bits = 1;
    for (double young = 1e3; young < 2e8; young *= 10.0) {
        for (double ratio = 1e-3; ratio < 2e3; ratio *= 1e3) {
            squeeze(young, ratio);
        }
    }
}

int main(void)
{
    orr_error error = {0};
    orr_isa isa;
    if (orr_isa_choose(&isa, &error) != ORR_OK) {
        print_message("%s\n", error.message);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_stiffness_makes_nan),
        cmocka_unit_test(no_squeeze_makes_nan),
    };
    return cmocka_run_group_tests(tests, start_jobs, stop_jobs);
}
