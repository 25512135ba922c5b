// Soft bodies that push rigid ones: forces, momentum, and mass ratios.
#include "physics/soft/contact_rows.h"
#include "physics/soft/coupling.h"
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

enum { MOST = 100 };

// A cube whose lower side is held, and which sags: of a material and a tolerance.
static orr_soft *open_held(const orr_soft_mesh *mesh, double young, double tolerance, orr_soft_model **model)
{
    int32_t pin[VERTICES];
    int pins = 0;
    for (int i = 0; i < mesh->vertices; i++) {
        if (mesh->vertex[i * 3 + 2] < 1e-9 - 0.5 * side) {
            pin[pins++] = i;
        }
    }
    const orr_soft_spec spec = {.name = "block",
                                .vertices = mesh->vertices,
                                .vertex = mesh->vertex,
                                .tets = mesh->tets,
                                .tet = mesh->tet,
                                .pins = pins,
                                .pin = pin,
                                .solid = {125.0, young, 0.3, 0.01}};
    const orr_soft_desc desc = {.time_step = time_step,
                                .iterations = MOST,
                                .gravity = {0.0, 0.0, -9.81},
                                .chebyshev = 0.5,
                                .tolerance = tolerance,
                                .double_precision = true};
    orr_soft *soft;
    assert_ok(orr_soft_model_create(&spec, model, &error));
    assert_ok(orr_soft_create(&desc, *model, jobs, &soft, &error));
    return soft;
}

// In a few iterations a body comes to where all of them take it. One beside it that needs more, and does not
// touch it, changes no bit of it.
static void iterations_end_where_they_converge(void **state)
{
    (void)state;
    enum { FULL, SOFT, BESIDE, STIFF, BODIES, STEPS = 10 };
    static const double young[BODIES] = {1e3, 1e3, 1e3, 3e5}, tolerance[BODIES] = {0.0, 1e-6, 1e-6, 1e-6};
    const int cells[3] = {CELLS, CELLS, CELLS};
    const double size[3] = {side, side, side};
    static double x[BODIES][VERTICES * 3];
    const orr_soft_contacts nothing = {0};
    orr_soft_mesh mesh;
    orr_soft_model *model[BODIES];
    orr_soft *soft[BODIES];
    orr_soft_coupling *coupling;
    int used[3] = {0};
    assert_ok(orr_soft_box(cells, size, &mesh, &error));
    assert_ok(orr_soft_coupling_create(&coupling, &error));
    for (int i = 0; i < BODIES; i++) {
        soft[i] = open_held(&mesh, young[i], tolerance[i], &model[i]);
    }
    for (int i = 0; i < STEPS; i++) {
        for (int k = 0; k < 3; k++) { // the last two together
            assert_ok(orr_soft_step_together(coupling, soft + k, k == 2 ? 2 : 1, &nothing, &error));
            used[k] += coupling->iterations;
        }
    }
    for (int i = 0; i < BODIES; i++) {
        orr_soft_get(soft[i], 0, x[i], NULL);
    }
    double off = 0.0, sunk = 0.0;
    for (int i = 0; i < VERTICES * 3; i++) {
        off = fmax(off, fabs(x[SOFT][i] - x[FULL][i]));
        sunk = fmax(sunk, fabs(x[FULL][i] - mesh.vertex[i]));
    }
    print_message("    %d, %d and %d iterations of %d steps; off by %.1e of %.1e m\n", used[0], used[1],
                  used[2], STEPS, off, sunk);
    assert_int_equal(used[FULL], STEPS * MOST);
    assert_true(used[SOFT] < STEPS * MOST / 4 && used[BESIDE] > 2 * used[SOFT]);
    assert_true(off < 1e-5 * sunk);
    assert_memory_equal(x[BESIDE], x[SOFT], sizeof x[SOFT]);
    for (int i = 0; i < BODIES; i++) {
        orr_soft_destroy(soft[i]);
        orr_soft_model_destroy(model[i]);
    }
    orr_soft_coupling_destroy(coupling);
    orr_soft_mesh_destroy(&mesh);
}

// A soft cube falls by 1 cm on a floor that is an obstacle, while a rigid one falls elsewhere; and alone.
static void obstacles_hold_what_steps_together(void **state)
{
    (void)state;
    static const orr_soft_obstacle floor = {
        ORR_SOFT_PLANE, {0.0, 0.0, -0.11}, {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, {0.0}, 0.5};
    const orr_soft_desc desc = {.time_step = time_step,
                                .iterations = 20,
                                .gravity = {0.0, 0.0, -9.81},
                                .obstacles = 1,
                                .obstacle = &floor,
                                .double_precision = true};
    double mean[2] = {0.0}, fastest[2] = {0.0};
    for (int together = 0; together < 2; together++) {
        pile p;
        open_pile(&p, 1.0, -9.81, 100.0, false);
        orr_soft_destroy(p.soft);
        assert_ok(orr_soft_create(&desc, p.model, jobs, &p.soft, &error));
        for (int n = 0; n < 120; n++) {
            if (together) {
                step(&p);
            } else {
                orr_soft_step(p.soft, 1);
            }
        }
        orr_soft_get(p.soft, 0, p.position, p.velocity);
        for (int i = 0; i < VERTICES; i++) {
            mean[together] += p.position[i * 3 + 2] / VERTICES;
            fastest[together] = fmax(fastest[together], fabs(p.velocity[i * 3 + 2]));
        }
        close_pile(&p);
    }
    print_message("at %g and %g m, at most %g and %g m/s\n", mean[0], mean[1], fastest[0], fastest[1]);
    assert_true(fabs(mean[1] - mean[0]) < 1e-4);
    assert_true(fastest[1] < 5e-3);
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

// A particle in contact: the step's acceleration is that of MuJoCo's constraint, whose rows together pull
// it with e times its inertia towards -b v - k d r at the step's end.
static void contacts_yield_as_mujocos(void **state)
{
    (void)state;
    static const struct {
        double r, v, impedance;
        int stands_for, condim, rows;
        bool elliptic;
        double share; // of the inertia of one row without friction
    } cases[] = {
        // impedances of 0.9 to 0.95 within 1 mm; an edge of a pyramid weighs 2 mu^2 (1 + mu^2) = 0.625
        {-0.002, -0.3, 0.95, 1, 1, 1, false, 1.0},         {-0.002, 0.0, 0.95, 4, 1, 1, false, 1.0},
        {-0.00025, -0.1, 0.90625, 4, 1, 1, false, 1.0},    {-0.002, -0.3, 0.95, 2, 3, 4, false, 4.0 / 0.625},
        {-0.002, -0.3, 0.95, 2, 4, 5, false, 6.0 / 0.625}, {-0.002, -0.3, 0.95, 2, 6, 5, false, 10.0 / 0.625},
        {-0.002, -0.3, 0.95, 2, 6, 1, true, 1.0},
    };
    const double mass = 0.3, h = 0.004, g = -9.81, k = 1.0 / (0.95 * 0.95 * 4e-4), b = 2.0 / (0.95 * 0.02);
    const double normal[3] = {0.0, 0.6, 0.8};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        const orr_soft_law law = {.solref = {0.02, 1.0},
                                  .solimp = {0.9, 0.95, 0.001, 0.5, 2.0},
                                  .friction = 0.5,
                                  .mu = 0.5,
                                  .margin = 0.001,
                                  .condim = cases[n].condim,
                                  .elliptic = cases[n].elliptic};
        const double velocity[3] = {0.0, 0.6 * cases[n].v, 0.8 * cases[n].v};
        const double late = 0.5 + 0.5 / cases[n].stands_for;
        orr_soft_row row[ORR_SOFT_ROWS_MAX];
        const int rows = orr_soft_contact_rows(&law, cases[n].r + law.margin, normal, velocity, 1.0 / mass, h,
                                               cases[n].stands_for, row);
        assert_int_equal(rows, cases[n].rows);
        double stiffness = 0.0, push = 0.0; // force = push - stiffness x way
        for (int i = 0; i < rows; i++) {
            const double *u = row[i].direction;
            assert_true(fabs(u[0] * normal[0] + u[1] * normal[1] + u[2] * normal[2] - 1.0) < 1e-12);
            stiffness += row[i].stiffness, push -= row[i].stiffness * row[i].distance;
        }
        const double free_way = h * cases[n].v + late * h * h * (g + push / mass);
        const double way = free_way / (1.0 + late * h * h * stiffness / mass);
        const double a = (way - h * cases[n].v) / (late * h * h), d = cases[n].impedance;
        const double target = -b * (cases[n].v + h * a) - k * d * (cases[n].r + way);
        const double e = cases[n].share * d / (1.0 - d), expected = (g + e * target) / (1.0 + e);
        if (!(fabs(a - expected) < 1e-9 * fabs(expected))) {
            fail_msg("case %d: %.12g m/s^2: expected %.12g", (int)n, a, expected);
        }
        assert_true(row[0].friction == (cases[n].elliptic ? 0.5 : 0.0));
        // above the margin: not unless it comes there in the step
        assert_int_equal(
            orr_soft_contact_rows(&law, 0.0015, normal, (double[]){0.0, -0.06, -0.08}, 1.0 / mass, h, 1, row),
            0);
        assert_int_equal(
            orr_soft_contact_rows(&law, 0.0015, normal, (double[]){0.0, -0.12, -0.16}, 1.0 / mass, h, 1, row),
            cases[n].rows);
    }
}

// Rows of little friction, and of none, stay within what float solves beside those of inertia.
static void narrow_pyramids_are_one_row(void **state)
{
    (void)state;
    static const double frictions[] = {1e-5, 0.01, 0.049};
    const double normal[3] = {0.0, 0.0, 1.0}, velocity[3] = {0.1, 0.0, -0.2}, mass = 0.3, h = 0.004;
    for (int i = 0; i < 3; i++) {
        const orr_soft_law law = {.solref = {0.02, 1.0},
                                  .solimp = {0.9, 0.95, 0.001, 0.5, 2.0},
                                  .friction = frictions[i],
                                  .mu = frictions[i],
                                  .condim = 3};
        orr_soft_row row[ORR_SOFT_ROWS_MAX];
        assert_int_equal(orr_soft_contact_rows(&law, -1e-3, normal, velocity, 1.0 / mass, h, 1, row), 1);
        assert_true(row[0].friction == frictions[i] && row[0].stiffness > 1e3 * mass / (h * h));
        assert_true(row[0].stiffness < 1e4 * mass / (h * h));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_rests_with_its_weight),
        cmocka_unit_test(iterations_end_where_they_converge),
        cmocka_unit_test(obstacles_hold_what_steps_together),
        cmocka_unit_test(momentum_is_kept),
        cmocka_unit_test(ties_carry),
        cmocka_unit_test(contacts_yield_as_mujocos),
        cmocka_unit_test(narrow_pyramids_are_one_row),
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
