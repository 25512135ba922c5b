// Contacts of shapes with distance grids, against closed forms; rest and friction on captured floors.
#include "tests/physics/captured.h"

#include <stdio.h>

// ---- surfaces whose distance is known

static const double slope = 0.2; // rad, about y

static double flat(const double at[3])
{
    return at[2];
}

static double tilted(const double at[3])
{
    return sin(slope) * at[0] + cos(slope) * at[2];
}

static double ball(const double at[3])
{
    return sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]) - 0.5;
}

static double block(const double at[3])
{
    double outside = 0.0, inside = -1e300;
    for (int k = 0; k < 3; k++) {
        double over = fabs(at[k]) - 0.4;
        outside += over > 0.0 ? over * over : 0.0;
        inside = fmax(inside, over);
    }
    return outside > 0.0 ? sqrt(outside) : inside;
}

static double pillar(const double at[3]) // a cylinder without ends, along y
{
    return sqrt(at[0] * at[0] + at[2] * at[2]) - 0.5;
}

static double bumpy(const double at[3]) // nearly a distance: slopes up to 0.15
{
    return at[2] - 0.03 * sin(5.0 * at[0]) * cos(4.0 * at[1]);
}

// A plate of some thickness, the upper side at z = 0.
static double plate_thickness;

static double plate(const double at[3])
{
    return fabs(at[2] + 0.5 * plate_thickness) - 0.5 * plate_thickness;
}

// A table with sharp edges, its top at z = 0.
static double table_min[2], table_max[2];

static double table(const double at[3])
{
    const double over[3] = {fmax(table_min[0] - at[0], at[0] - table_max[0]),
                            fmax(table_min[1] - at[1], at[1] - table_max[1]), fmax(at[2], -0.3 - at[2])};
    double outside = 0.0, inside = -1e300;
    for (int k = 0; k < 3; k++) {
        outside += over[k] > 0.0 ? over[k] * over[k] : 0.0;
        inside = fmax(inside, over[k]);
    }
    return outside > 0.0 ? sqrt(outside) : inside;
}

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) {
        fail_msg("%.9g: expected %.9g within %g", a, b, tolerance);
    }
}

// ---- distances and normals

// Shapes as points of their surface, in their frame: the least distance is found among them.
typedef struct shape {
    const char *geom;
    int type;
    double size[3];
} shape;

static const shape shapes[] = {
    {"type='sphere' size='0.1'", ORR_GEOM_SPHERE, {0.1, 0.0, 0.0}},
    {"type='sphere' size='0.3'", ORR_GEOM_SPHERE, {0.3, 0.0, 0.0}},
    {"type='capsule' size='0.05 0.1'", ORR_GEOM_CAPSULE, {0.05, 0.1, 0.0}},
    {"type='ellipsoid' size='0.1 0.15 0.05'", ORR_GEOM_ELLIPSOID, {0.1, 0.15, 0.05}},
    {"type='cylinder' size='0.08 0.1'", ORR_GEOM_CYLINDER, {0.08, 0.1, 0.0}},
    {"type='box' size='0.1 0.08 0.06'", ORR_GEOM_BOX, {0.1, 0.08, 0.06}},
    {"type='mesh' mesh='box'", ORR_GEOM_BOX, {0.1, 0.08, 0.06}},
};

static void to_world(const double qpos[7], const double local[3], double at[3])
{
    double w = qpos[3], x = qpos[4], y = qpos[5], z = qpos[6];
    const double matrix[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                              2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                              2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    for (int k = 0; k < 3; k++) {
        at[k] =
            qpos[k] + matrix[3 * k] * local[0] + matrix[3 * k + 1] * local[1] + matrix[3 * k + 2] * local[2];
    }
}

// The least distance of the shape's surface (of its axis or centre, less the radius, where it is round).
static double least_distance(const shape *s, const double qpos[7], surface *distance)
{
    enum { STEPS = 40 };
    double least = 1e300;
    for (int i = 0; i <= STEPS; i++) {
        for (int j = 0; j <= STEPS; j++) {
            for (int k = 0; k <= STEPS; k++) {
                double u = 2.0 * i / STEPS - 1.0, v = 2.0 * j / STEPS - 1.0, w = 2.0 * k / STEPS - 1.0;
                double local[3] = {u * s->size[0], v * s->size[1], w * s->size[2]}, radius = 0.0, at[3];
                bool used = true;
                if (s->type == ORR_GEOM_SPHERE || s->type == ORR_GEOM_CAPSULE) {
                    local[0] = local[1] = 0.0;
                    local[2] = w * s->size[1];
                    radius = s->size[0];
                    used = i == 0 && j == 0;
                } else if (s->type == ORR_GEOM_BOX) {
                    used = i % STEPS == 0 || j % STEPS == 0 || k % STEPS == 0;
                } else if (s->type == ORR_GEOM_CYLINDER) {
                    double angle = 3.14159265358979 * u, out = 0.5 * (1.0 + v);
                    local[0] = out * s->size[0] * cos(angle), local[1] = out * s->size[0] * sin(angle);
                    local[2] = w * s->size[1];
                    used = j == STEPS || k % STEPS == 0;
                } else {
                    double angle = 3.14159265358979 * u, out = sqrt(1.0 - v * v);
                    local[0] = s->size[0] * out * cos(angle), local[1] = s->size[1] * out * sin(angle);
                    local[2] = s->size[2] * v;
                    used = k == 0;
                }
                if (used) {
                    to_world(qpos, local, at);
                    least = fmin(least, distance(at) - radius);
                }
            }
        }
    }
    return least;
}

static void surface_normal(surface *distance, const double at[3], double normal[3])
{
    for (int k = 0; k < 3; k++) {
        double ahead[3], behind[3];
        memcpy(ahead, at, sizeof ahead);
        memcpy(behind, at, sizeof behind);
        ahead[k] += 1e-6;
        behind[k] -= 1e-6;
        normal[k] = (distance(ahead) - distance(behind)) / 2e-6;
    }
}

// Puts the shape so that its least distance is -depth [m], at a turn and a direction that depend on `seed`.
static void place(const shape *s, int seed, surface *distance, double depth, double qpos[7])
{
    double n[3], length = 0.0, direction[3] = {sin(1.0 + seed), cos(2.3 * seed), 1.1 + sin(0.7 * seed)};
    for (int k = 0; k < 4; k++) {
        qpos[3 + k] = sin(1.0 + 1.7 * seed + 2.1 * k);
        length += qpos[3 + k] * qpos[3 + k];
    }
    for (int k = 0; k < 4; k++) {
        qpos[3 + k] /= sqrt(length);
    }
    for (int k = 0; k < 3; k++) {
        qpos[k] = 0.45 * direction[k];
    }
    for (int i = 0; i < 4; i++) {
        double gap = least_distance(s, qpos, distance) + depth;
        surface_normal(distance, qpos, n);
        for (int k = 0; k < 3; k++) {
            qpos[k] -= gap * n[k];
        }
    }
}

typedef struct errors {
    double distance, angle; // worst: cells, rad
} errors;

static errors measure(const shape *s, surface *distance, double cell, double depth, bool double_precision)
{
    enum { WORLDS = 19 };
    char text[1024];
    snprintf(text, sizeof text,
             "<mujoco><asset><mesh name='box' vertex='-.1 -.08 -.06 .1 -.08 -.06 -.1 .08 -.06 .1 .08 -.06 "
             "-.1 -.08 .06 .1 -.08 .06 -.1 .08 .06 .1 .08 .06'/></asset>"
             "<worldbody><geom name='ground' type='sphere' size='1'/><body><freejoint/><geom %s/></body>"
             "</worldbody></mujoco>",
             s->geom);
    bench b = set_up(text, capture(distance, cell, 1.0, 1.0), WORLDS, double_precision);
    errors worst = {0.0, 0.0};
    double qpos[WORLDS][7];
    for (int w = 0; w < WORLDS; w++) {
        place(s, w, distance, depth * cell, qpos[w]);
        orr_physics_set(b.physics, ORR_PHYSICS_QPOS, w, qpos[w]);
    }
    for (int w = 0; w < WORLDS; w++) {
        orr_physics_contact c[8];
        int count = orr_physics_contacts(b.physics, w, c, 8), deepest = 0;
        if (count < 1 || count > 4) {
            fail_msg("%s: world %d has %d contacts", s->geom, w, count);
        }
        for (int i = 0; i < count; i++) {
            double n[3], on[3], dot = 0.0;
            for (int k = 0; k < 3; k++) { // the normal is from the shape into the ground
                on[k] = c[i].pos[k] + 0.5 * c[i].dist * c[i].frame[k];
            }
            surface_normal(distance, on, n);
            for (int k = 0; k < 3; k++) {
                dot -= n[k] * c[i].frame[k];
            }
            worst.angle = fmax(worst.angle, acos(fmin(1.0, dot)));
            deepest = c[i].dist < c[deepest].dist ? i : deepest;
        }
        double expected = least_distance(s, qpos[w], distance);
        worst.distance = fmax(worst.distance, fabs(c[deepest].dist - expected) / cell);
    }
    tear_down(&b);
    return worst;
}

static void contacts_are_as_deep_and_point_as_the_exact_surface(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        surface *distance;
        double depth, error, angle; // cells; bounds: cells, rad
        size_t shapes;              // the first of `shapes` that are compared
    } surfaces[] = {
        {"plane", tilted, 0.2, 0.02, 0.001, 7},
        {"sphere", ball, 0.2, 0.12, 0.001, 7},
        {"cylinder", pillar, 0.2, 0.25, 0.001, 7},
        {"box", block, 1.0, 0.6, 4.0, 3}, // edges are rounded by half a cell, and have no one normal
    };
    for (size_t i = 0; i < sizeof surfaces / sizeof surfaces[0]; i++) {
        for (size_t k = 0; k < surfaces[i].shapes; k++) {
            for (int precision = 0; precision < 2; precision++) {
                errors e = measure(&shapes[k], surfaces[i].distance, 0.02, surfaces[i].depth, precision == 1);
                print_message("%s on a %s, %s: %.4f cells, %.5f rad\n", shapes[k].geom, surfaces[i].name,
                              precision ? "f64" : "f32", e.distance, e.angle);
                assert_true(e.distance < surfaces[i].error);
                assert_true(e.angle < surfaces[i].angle);
            }
        }
    }
}

// ---- rest

static void step_for(bench *b, double seconds)
{
    orr_physics_step(b->physics, (int)lrint(seconds / b->model->opt.timestep));
}

static const char *const resting[] = {"type='box' size='.1 .08 .06'",
                                      "type='sphere' size='.1'",
                                      "type='capsule' size='.05 .1' quat='1 0 1 0'",
                                      "type='cylinder' size='.08 .1'",
                                      "type='ellipsoid' size='.1 .1 .1'",
                                      "type='mesh' mesh='box'"};

static const char *const scene =
    "<mujoco><option%s/><asset><mesh name='box' vertex='-.1 -.08 -.06 .1 -.08 -.06 -.1 .08 -.06 .1 .08 -.06 "
    "-.1 -.08 .06 .1 -.08 .06 -.1 .08 .06 .1 .08 .06'/></asset><worldbody><geom name='ground' type='sphere' "
    "size='1'/><body pos='0.05 0.03 %g' quat='%g 0 %g 0'><freejoint/><geom condim='%d' mass='1' "
    "friction='%g .1 .01' %s/></body></worldbody></mujoco>";

// Forces of the contacts carry the weight, and nothing moves.
static void shapes_rest_on_a_captured_floor(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof resting / sizeof resting[0]; i++) {
        for (int precision = 0; precision < 2; precision++) {
            char text[1024];
            snprintf(text, sizeof text, scene, "", 0.11, 1.0, 0.0, 6, 1.0, resting[i]);
            bench b = set_up(text, capture(flat, 0.02, 1.0, 0.5), 3, precision == 1);
            step_for(&b, 3.0);
            double before[7], qpos[7], qvel[6], up = 0.0;
            orr_physics_get(b.physics, ORR_PHYSICS_QPOS, 1, before);
            step_for(&b, 1.0);
            orr_physics_get(b.physics, ORR_PHYSICS_QPOS, 1, qpos);
            orr_physics_get(b.physics, ORR_PHYSICS_QVEL, 1, qvel);
            orr_physics_contact c[8];
            int count = orr_physics_contacts(b.physics, 1, c, 8);
            for (int k = 0; k < count; k++) {
                up -= c[k].force[0] * c[k].frame[2];
            }
            print_message("%s, %s: %d contacts, %.6f N, speed %.2g\n", resting[i], precision ? "f64" : "f32",
                          count, up, fabs(qvel[2]));
            assert_near(up, 9.81, precision ? 1e-3 : 1e-2); // f32: where the solver stops
            for (int k = 0; k < 7; k++) {
                assert_near(qpos[k], before[k], 1e-4);
            }
            tear_down(&b);
        }
    }
}

// Below the friction angle a box stays for 10 s as well as on a plane that is given as such.
static void a_box_holds_on_a_captured_slope(void **state)
{
    (void)state;
    char text[1024];
    snprintf(text, sizeof text, scene, " cone='elliptic' impratio='100'",
             0.06 / cos(slope) - 0.05 * tan(slope), cos(0.5 * slope), sin(0.5 * slope), 3, 0.6, resting[0]);
    for (int precision = 0; precision < 2; precision++) {
        bench b = set_up(text, capture(tilted, 0.02, 1.0, 0.5), 3, precision == 1);
        step_for(&b, 1.0);
        double before[7], qpos[7];
        orr_physics_get(b.physics, ORR_PHYSICS_QPOS, 1, before);
        step_for(&b, 10.0);
        orr_physics_get(b.physics, ORR_PHYSICS_QPOS, 1, qpos);
        double moved = hypot(hypot(qpos[0] - before[0], qpos[1] - before[1]), qpos[2] - before[2]);
        print_message("a box on a slope moves %.2g m in 10 s, %s\n", moved, precision ? "f64" : "f32");
        assert_true(moved < 2e-3);
        tear_down(&b);
    }
}

// What overhangs a table by up to 40 %, in one direction, at a corner, or all around a post, stays, as its
// centre is above the table. It lies at (0.05, 0.03).
static void shapes_overhang_a_captured_table(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double min[2], max[2];
        size_t shapes; // of those that rest
    } tables[] = {{"edge", {-1.0, -1.0}, {0.07, 1.0}, 4},
                  {"corner", {-1.0, -1.0}, {0.075, 0.055}, 1},
                  {"post", {0.0, -0.02}, {0.1, 0.08}, 1}};
    static const char *const lying[] = {"type='box' size='.1 .08 .06'", "type='mesh' mesh='box'",
                                        "type='cylinder' size='.1 .06'",
                                        "type='capsule' size='.06 .1' quat='1 0 1 0'"};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        memcpy(table_min, tables[i].min, sizeof table_min);
        memcpy(table_max, tables[i].max, sizeof table_max);
        for (size_t k = 0; k < tables[i].shapes; k++) {
            char text[1024];
            snprintf(text, sizeof text, scene, "", 0.061, 1.0, 0.0, 6, 1.0, lying[k]);
            bench b = set_up(text, capture(table, 0.01, 0.5, 0.5), 1, false);
            step_for(&b, 3.0);
            double qpos[7];
            orr_physics_get(b.physics, ORR_PHYSICS_QPOS, 0, qpos);
            print_message("%s, %s: at (%.4f, %.4f, %.4f), upright %.5f\n", tables[i].name, lying[k], qpos[0],
                          qpos[1], qpos[2], qpos[3]);
            assert_near(qpos[0], 0.05, 5e-3); // a capsule creeps 1 mm/s, on the edge that cells round
            assert_near(qpos[1], 0.03, 1e-3);
            assert_near(qpos[2], 0.06, 1e-3);
            tear_down(&b);
        }
    }
}

// ---- what must not happen

// Dropped on bumps, shapes neither fall through nor gain energy.
static void nothing_falls_through_bumps(void **state)
{
    (void)state;
    enum { WORLDS = 9 };
    for (size_t i = 0; i < sizeof resting / sizeof resting[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text, scene, "><flag energy='enable'/></option><option", 0.6, 1.0, 0.0, 6, 0.7,
                 resting[i]);
        bench b = set_up(text, capture(bumpy, 0.02, 1.5, 0.5), WORLDS, false);
        double start[WORLDS], energy[2];
        for (int w = 0; w < WORLDS; w++) {
            const double qvel[6] = {0.4 * sin(w), 0.4 * cos(w), -1.0, 3.0 * sin(2.0 * w), 2.0, 3.0 * cos(w)};
            orr_physics_set(b.physics, ORR_PHYSICS_QVEL, w, qvel);
            orr_physics_read(b.physics, ORR_PHYSICS_ENERGY, w, energy);
            start[w] = energy[0] + energy[1];
        }
        for (int part = 0; part < 60; part++) {
            step_for(&b, 0.05);
            for (int w = 0; w < WORLDS; w++) {
                double qpos[7];
                orr_physics_get(b.physics, ORR_PHYSICS_QPOS, w, qpos);
                orr_physics_read(b.physics, ORR_PHYSICS_ENERGY, w, energy);
                assert_true(bumpy(qpos) > 0.03);
                assert_true(energy[0] + energy[1] < start[w] * 1.01);
            }
        }
        tear_down(&b);
    }
}

// A ball stays on a plate of three cells that it hits at a cell per step; balls and capsules of ten cells
// stay on one that they hit at two.
static void a_plate_of_three_cells_is_not_passed_by_what_is_round(void **state)
{
    (void)state;
    static const struct {
        double cell, speed; // m, cells per step
        const char *shape;
    } hits[] = {{0.02, 1.0, "type='sphere' size='.1'"},
                {0.01, 2.0, "type='sphere' size='.1'"},
                {0.01, 2.0, "type='capsule' size='.1 .05' quat='1 0 1 0'"},
                {0.01, 2.0, "type='capsule' size='.1 .05'"}};
    for (size_t i = 0; i < sizeof hits / sizeof hits[0]; i++) {
        char text[1024];
        plate_thickness = 3.0 * hits[i].cell;
        snprintf(text, sizeof text, scene, "", 0.3, 1.0, 0.0, 3, 1.0, hits[i].shape);
        bench b = set_up(text, capture(plate, hits[i].cell, 0.25, 0.25), 1, false);
        const double qvel[6] = {0.0, 0.0, -hits[i].speed * hits[i].cell / b.model->opt.timestep};
        orr_physics_set(b.physics, ORR_PHYSICS_QVEL, 0, qvel);
        step_for(&b, 0.5);
        double qpos[7];
        orr_physics_get(b.physics, ORR_PHYSICS_QPOS, 0, qpos);
        assert_true(qpos[2] > 0.05);
        tear_down(&b);
    }
}

// ---- the compiler

// A captured ball falls with the mass and inertia of a ball.
static void a_moving_grid_has_the_inertia_of_what_it_captures(void **state)
{
    (void)state;
    const char *text = "<mujoco><worldbody><body><freejoint/><geom name='ground' type='sphere' size='1' "
                       "density='1000' pos='0.3 0 0'/></body></worldbody></mujoco>";
    orr_distance_grid *grid = capture(ball, 0.02, 0.6, 0.6);
    orr_model *model;
    assert_ok(compile(text, grid, 2.0, &model, &error));
    double mass = 1000.0 * 4.0 / 3.0 * 3.14159265358979; // radius 0.5, twice as large
    assert_near(model->body_mass[1], mass, 2e-3 * mass);
    assert_near(model->body_ipos[3], 0.3, 1e-4);
    assert_near(model->body_inertia[3], 0.4 * mass, 2e-3 * mass);
    assert_near(model->body_inertia[5], 0.4 * mass, 2e-3 * mass);
    orr_model_destroy(model);
    orr_distance_grid_destroy(grid);
}

static void bad_grids_are_refused(void **state)
{
    (void)state;
    const char *text = "<mujoco><worldbody><geom name='ground' type='sphere' size='1'/></worldbody></mujoco>";
    orr_distance_grid *grid = capture(flat, 0.1, 0.8, 0.8);
    orr_model *model;
    orr_error error;
    assert_int_not_equal(compile(text, grid, 0.0, &model, &error), ORR_OK);
    assert_int_equal(error.code, ORR_CODE_MODEL_FILE);
    assert_non_null(strstr(error.message, "scale: expected a positive number"));
    grid->cell = 0.0;
    assert_int_not_equal(compile(text, grid, 1.0, &model, &error), ORR_OK);
    assert_non_null(strstr(error.message, "a cell > 0"));
    orr_distance_grid_destroy(grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contacts_are_as_deep_and_point_as_the_exact_surface),
        cmocka_unit_test(shapes_rest_on_a_captured_floor),
        cmocka_unit_test(a_box_holds_on_a_captured_slope),
        cmocka_unit_test(shapes_overhang_a_captured_table),
        cmocka_unit_test(nothing_falls_through_bumps),
        cmocka_unit_test(a_plate_of_three_cells_is_not_passed_by_what_is_round),
        cmocka_unit_test(a_moving_grid_has_the_inertia_of_what_it_captures),
        cmocka_unit_test(bad_grids_are_refused),
    };
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
