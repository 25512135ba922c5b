// Soft pads (orr_world_get_tactile): forces of taxels against TacSL's formula in double, heights against
// closed forms; every copy as if it were alone, for any number of threads.
#include "engine/maths/rotation.h"
#include "engine/maths/vector.h"
#include "tests/support/engine.h"
#include "tests/support/refused.h"
#include "tests/support/robots.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COPIES = 13, ROWS = 20, COLUMNS = 25, TAXELS = ROWS * COLUMNS };

static const double half[3] = {0.03, 0.02, 0.01}; // m: of the pad
static const double radius = 0.02, deep = 0.0015; // m: of the ball, and how far it is in the pad

// A plate on a body that flies, its face a pad, and a ball. The plate's neighbours, on its body, under it and
// excluded, are in the pad and do not press.
static const char plate[] =
    "<mujoco><option timestep='0.002' gravity='0 0 0'/><worldbody>"
    "<body name='hand'><freejoint/><geom name='palm' type='sphere' size='.03' pos='0 0 .02' mass='1'/>"
    "<geom name='pad' type='box' size='.03 .02 .01' mass='.1'/>"
    "<body name='link'><joint axis='1 0 0'/><geom type='sphere' size='.05' mass='.1'/></body></body>"
    "<body name='ghost'><freejoint/><geom type='sphere' size='.05' mass='.1'/></body>"
    "<body name='ball'><freejoint/><geom name='skin' type='sphere' size='.02' mass='.1'/></body></worldbody>"
    "<contact><exclude body1='hand' body2='ghost'/></contact></mujoco>";
enum { HAND = 0, GHOST = 8, BALL = 15, NQ = 22, HAND_V = 0, BALL_V = 13, NV = 19 };

typedef struct stage {
    orr_scene *scene;
    orr_world *world;
    orr_layer robot;
    int pad;
} stage;

static stage stage_on(orr_engine *with, const char *text, int copies, bool others)
{
    stage s;
    const orr_transform far = {.position = {50.0f, 0.0f, 0.0f}, .rotation = {1.0f}, .scale = 1.0f};
    const orr_world_desc desc = {.count = copies, .precision = ORR_PRECISION_F64};
    assert_ok(orr_scene_create(with, &s.scene, &error));
    if (others) {
        orr_layer other;
        assert_ok(orr_scene_add_file(s.scene, written("other.xml", plate), &far, &other, &error));
    }
    assert_ok(orr_scene_add_file(s.scene, written("plate.xml", text), NULL, &s.robot, &error));
    assert_ok(orr_world_create_with(s.scene, &desc, &s.world, &error));
    s.pad = orr_scene_robot_find(s.scene, s.robot, ORR_ROBOT_OBJECT_GEOM, "pad");
    assert_true(s.pad >= 0);
    return s;
}

static void stage_close(stage *s)
{
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
}

// Where plate and ball are in copy i, and how they move: 0.3 m/s and 3 rad/s at most. slow: in even copies.
static void numbers_of(int i, double qpos[NQ], double qvel[NV])
{
    double middle[3] = {0.004 * sin(i), 0.003 * cos(3.0 * i), half[2] + radius - deep}, up[3];
    double quat[4] = {1.0 + i, sin(2.0 + i), cos(i), 0.5 * sin(5.0 * i)};
    const double length = sqrt(quat[0] * quat[0] + vec3_dot(quat + 1, quat + 1));
    memset(qpos, 0, NQ * sizeof *qpos);
    memset(qvel, 0, NV * sizeof *qvel);
    for (int k = 0; k < 4; k++) {
        qpos[HAND + 3 + k] = quat[k] / length;
        qpos[BALL + 3 + k] = k == (i & 3);
        qpos[GHOST + 3 + k] = k == 0;
    }
    quat_apply(qpos + HAND + 3, middle, up);
    for (int k = 0; k < 3; k++) {
        qpos[HAND + k] = 0.1 * i + 0.05 * k;
        qpos[GHOST + k] = qpos[HAND + k];
        qpos[BALL + k] = qpos[HAND + k] + up[k];
    }
    const double speed = i % 2 ? 0.3 : 3e-4; // m/s: more than friction allows, and less
    for (int k = 0; k < 6; k++) {
        qvel[HAND_V + k] = speed * (k < 3 ? 1.0 : 10.0) * sin(1.0 + 7.0 * i + k);
        qvel[BALL_V + k] = speed * (k < 3 ? 1.0 : 10.0) * cos(2.0 + 5.0 * i + k);
    }
}

static void put(const stage *s, int copies, int first)
{
    double *qpos = malloc((size_t)copies * NQ * sizeof *qpos),
           *qvel = malloc((size_t)copies * NV * sizeof *qvel);
    assert_true(qpos && qvel);
    for (int i = 0; i < copies; i++) {
        numbers_of(first + i, qpos + (ptrdiff_t)i * NQ, qvel + (ptrdiff_t)i * NV);
    }
    assert_ok(orr_world_set_robots(s->world, s->robot, ORR_ROBOT_QPOS, NULL, ORR_NUMBER_F64, qpos, &error));
    assert_ok(orr_world_set_robots(s->world, s->robot, ORR_ROBOT_QVEL, NULL, ORR_NUMBER_F64, qvel, &error));
    free(qpos);
    free(qvel);
}

// The velocity of a point of a free body.
static void velocity_of(const double *qpos, const double *qvel, const double point[3], double velocity[3])
{
    double spin[3], arm[3];
    quat_apply(qpos + 3, qvel + 3, spin);
    for (int k = 0; k < 3; k++) {
        arm[k] = point[k] - qpos[k];
    }
    vec3_cross(spin, arm, velocity);
    for (int k = 0; k < 3; k++) {
        velocity[k] += qvel[k];
    }
}

// TacSL's formula for a ball of a radius at a taxel (x, y) of the plate's upper face, whose normal is the
// frame's z. Returns the height that the ball reaches below the face there.
static double expected(int i, double size, double x, double y, double force[3])
{
    const double stiffness = 1.0, damping = 0.1, friction = 2.0;
    double qpos[NQ], qvel[NV], taxel[3] = {x, y, half[2]}, there[3], normal[3], nearest[3], u[3], v[3], f[3],
                               back[4], middle[3];
    numbers_of(i, qpos, qvel);
    const double *ball = qpos + BALL;
    quat_apply(qpos + HAND + 3, taxel, there);
    quat_conjugate(qpos + HAND + 3, back);
    for (int k = 0; k < 3; k++) {
        there[k] += qpos[HAND + k];
        normal[k] = there[k] - ball[k];
        middle[k] = ball[k] - qpos[HAND + k];
    }
    const double depth = size - vec3_normalise(normal);
    for (int k = 0; k < 3; k++) {
        nearest[k] = ball[k] + size * normal[k];
    }
    velocity_of(qpos + HAND, qvel + HAND_V, there, u);
    velocity_of(ball, qvel + BALL_V, nearest, v);
    for (int k = 0; k < 3; k++) {
        u[k] -= v[k];
    }
    const double along = vec3_dot(u, normal);
    for (int k = 0; k < 3; k++) {
        u[k] -= along * normal[k];
    }
    const double speed = vec3_length(u), drag = fmin(damping * speed, friction * stiffness * depth);
    for (int k = 0; k < 3; k++) {
        f[k] = depth > 0.0 ? stiffness * depth * normal[k] - drag * u[k] / speed : 0.0;
    }
    quat_apply(back, f, f);
    force[0] = -f[2], force[1] = f[0], force[2] = f[1];
    quat_apply(back, middle, middle);
    const double across = (x - middle[0]) * (x - middle[0]) + (y - middle[1]) * (y - middle[1]);
    return across < size * size ? fmax(half[2] - middle[2] + sqrt(size * size - across), 0.0) : 0.0;
}

static float *forces, *heights, *more_forces, *more_heights; // COPIES x TAXELS x 3, COPIES x TAXELS

static int open_all(void **state)
{
    forces = calloc((size_t)COPIES * TAXELS * 3, sizeof *forces);
    heights = calloc((size_t)COPIES * TAXELS, sizeof *heights);
    more_forces = calloc((size_t)COPIES * TAXELS * 3, sizeof *more_forces);
    more_heights = calloc((size_t)COPIES * TAXELS, sizeof *more_heights);
    return forces && heights && more_forces && more_heights ? open_engine(state) : -1;
}

static int close_all(void **state)
{
    free(forces);
    free(heights);
    free(more_forces);
    free(more_heights);
    return close_engine(state);
}

// Returns how many taxels are pressed, and of these, how many slide at the limit of friction.
static int compare(int copies, const double *sizes, int *sliding)
{
    int pressed = 0;
    *sliding = 0;
    for (int i = 0; i < copies * TAXELS; i++) {
        const int row = i % TAXELS / COLUMNS, column = i % COLUMNS;
        const double x = (2.0 * half[0] - 0.006) * (column / (COLUMNS - 1.0) - 0.5);
        const double y = (2.0 * half[1] - 0.006) * (row / (ROWS - 1.0) - 0.5);
        const float *f = forces + (ptrdiff_t)i * 3;
        double wanted[3];
        const double size = sizes ? sizes[i / TAXELS] : radius;
        const double height = fmin(expected(i / TAXELS, size, x, y, wanted), 0.004);
        // of a float, of the largest force, in the pad's plane friction times as large
        const double tolerance = 1e-6 * 2.0 * deep;
        for (int k = 0; k < 3; k++) {
            if (!(fabs(f[k] - wanted[k]) <= tolerance)) {
                fail_msg("copy %d, row %d, column %d, force %d: %.9g, expected %.9g", i / TAXELS, row, column,
                         k, f[k], wanted[k]);
            }
        }
        // a ray ends 1e-6 of the thickness from what it meets, and the ball is never steeper than 30 degrees
        if (!(fabs(heights[i] - height) <= 1e-8)) {
            fail_msg("copy %d, row %d, column %d: height %.9g, expected %.9g", i / TAXELS, row, column,
                     heights[i], height);
        }
        pressed += f[0] != 0.0f;
        *sliding += f[0] > 0.0f && hypot(f[1], f[2]) > 1.2 * f[0];
    }
    return pressed;
}

static void a_ball_presses_as_the_formula_says(void **state)
{
    (void)state;
    for (int others = 0; others < 2; others++) {
        stage s = stage_on(engine, plate, COPIES, others != 0);
        const orr_tactile_desc desc = {.geom = s.pad};
        int sliding;
        put(&s, COPIES, 0);
        assert_ok(orr_world_get_tactile(s.world, s.robot, &desc, NULL, forces, heights, &error));
        const int pressed = compare(COPIES, NULL, &sliding);
        // a disk of radius sqrt(2 R deep) among taxels 2.25 x 1.79 mm apart
        assert_true(fabs((double)pressed / COPIES - 3.14159 * 2.0 * radius * deep / (2.25e-3 * 1.79e-3)) <
                    6.0);
        assert_true(sliding > pressed / 4 && sliding < pressed * 3 / 4);
        stage_close(&s);
    }
}

// A ball of another size in each copy: what is pressed is what rigid contact would be.
static void sizes_of_geoms_are_those_of_the_copy(void **state)
{
    (void)state;
    stage s = stage_on(engine, plate, COPIES, true);
    const orr_tactile_desc desc = {.geom = s.pad};
    const int ball = orr_scene_robot_find(s.scene, s.robot, ORR_ROBOT_OBJECT_GEOM, "skin");
    int count, sliding;
    assert_ok(orr_world_parameter_numbers(s.world, s.robot, ORR_PARAMETER_GEOM_SIZE, &count, &error));
    double *all = malloc((size_t)COPIES * (size_t)count * sizeof *all), sizes[COPIES];
    assert_non_null(all);
    assert_ok(orr_world_get_parameters(s.world, s.robot, ORR_PARAMETER_GEOM_SIZE, NULL, all, &error));
    for (int i = 0; i < COPIES; i++) {
        sizes[i] = radius - 1e-4 * (i - 6);
        all[i * count + 3 * ball] = sizes[i];
    }
    assert_ok(orr_world_set_parameters(s.world, s.robot, ORR_PARAMETER_GEOM_SIZE, NULL, all, &error));
    put(&s, COPIES, 0);
    assert_ok(orr_world_get_tactile(s.world, s.robot, &desc, NULL, forces, heights, &error));
    assert_true(compare(COPIES, sizes, &sliding) > 0);
    free(all);
    stage_close(&s);
}

static void a_copy_is_as_it_is_alone(void **state)
{
    (void)state;
    orr_engine *three;
    assert_ok(orr_engine_create(&(orr_engine_desc){.threads = 3, .device = ORR_DEVICE_CPU}, &three, &error));
    stage s = stage_on(engine, plate, COPIES, false), t = stage_on(three, plate, COPIES, false),
          alone = stage_on(engine, plate, 1, false);
    const orr_tactile_desc desc = {.geom = s.pad};
    put(&s, COPIES, 0);
    put(&t, COPIES, 0);
    assert_ok(orr_world_get_tactile(s.world, s.robot, &desc, NULL, forces, heights, &error));
    assert_ok(orr_world_get_tactile(t.world, t.robot, &desc, NULL, more_forces, more_heights, &error));
    assert_memory_equal(forces, more_forces, (size_t)COPIES * TAXELS * 3 * sizeof *forces);
    assert_memory_equal(heights, more_heights, (size_t)COPIES * TAXELS * sizeof *heights);
    for (int i = 0; i < COPIES; i++) {
        put(&alone, 1, i);
        assert_ok(
            orr_world_get_tactile(alone.world, alone.robot, &desc, NULL, more_forces, more_heights, &error));
        assert_memory_equal(forces + (ptrdiff_t)i * TAXELS * 3, more_forces, TAXELS * 3 * sizeof *forces);
        assert_memory_equal(heights + (ptrdiff_t)i * TAXELS, more_heights, TAXELS * sizeof *heights);
    }
    // of some copies, and of one kind of number
    const uint8_t chosen[COPIES] = {[2] = 1, [11] = 1};
    for (int i = 0; i < COPIES * TAXELS * 3; i++) {
        more_forces[i] = 7.0f;
    }
    assert_ok(orr_world_get_tactile(t.world, t.robot, &desc, chosen, more_forces, NULL, &error));
    for (int i = 0; i < COPIES * TAXELS * 3; i++) {
        assert_true(more_forces[i] == (chosen[i / (TAXELS * 3)] ? forces[i] : 7.0f));
    }
    stage_close(&s);
    stage_close(&t);
    stage_close(&alone);
    orr_engine_destroy(three);
}

// Shapes at rest on the -x side of a box, whose columns go along y and rows along -z.
static void shapes_leave_their_prints(void **state)
{
    (void)state;
    static const char format[] =
        "<mujoco><option gravity='0 0 0'/><asset><mesh name='cube' vertex='-.006 -.006 -.006 .006 -.006 "
        "-.006 "
        "-.006 .006 -.006 .006 .006 -.006 -.006 -.006 .006 .006 -.006 .006 -.006 .006 .006 .006 .006 .006'/>"
        "</asset><worldbody><body pos='1 2 3'><geom name='pad' type='box' size='.01 .02 "
        ".03'/><freejoint/></body>"
        "<body pos='.979 2.004 3.002'><geom type='%s'/><freejoint/></body></worldbody></mujoco>";
    const struct {
        const char *geom;
        double edge; // m: of the print the part that this near its edge is not compared
        double y, z; // m: half sizes of its rectangle; z 0: a disk of radius y
        double a, b,
            c; // m: half axes of an ellipsoid along x, y and z that has the shape's surface; 0: it is flat
    } shape[] = {{"box' size='.012 .005 .009", 0.001, 0.005, 0.009, 0.0, 0.0, 0.0},
                 {"cylinder' size='.007 .012' euler='0 90 0", 0.001, 0.007, 0.0, 0.0, 0.0, 0.0},
                 {"mesh' mesh='cube' pos='.006 0 0", 0.001, 0.006, 0.006, 0.0, 0.0, 0.0},
                 {"capsule' size='.004 .008' euler='0 90 0", 0.0, 0.0, 0.0, 0.004, 0.004, 0.004},
                 {"ellipsoid' size='.012 .03 .02", 0.0, 0.0, 0.0, 0.012, 0.03, 0.02}};
    const double deepest = 0.001; // m: of all of them
    for (size_t n = 0; n < sizeof shape / sizeof *shape; n++) {
        char text[2048];
        snprintf(text, sizeof text, format, shape[n].geom);
        stage s = stage_on(engine, text, 1, false);
        const orr_tactile_desc desc = {.geom = s.pad,
                                       .normal = {-2.0, 0.0, 0.0},
                                       .rows = 41,
                                       .columns = 11,
                                       .size = {0.03, 0.05},
                                       .stiffness = 300.0,
                                       .thickness = 0.003};
        assert_ok(orr_world_get_tactile(s.world, s.robot, &desc, NULL, forces, heights, &error));
        int pressed = 0;
        for (int i = 0; i < 41 * 11; i++) {
            const double y = 0.003 * (i % 11 - 5) - 0.004, z = 0.00125 * (20 - i / 11) - 0.002;
            const bool flat = shape[n].a == 0.0, disk = shape[n].z == 0.0;
            const double beyond =
                disk ? hypot(y, z) - shape[n].y : fmax(fabs(y) - shape[n].y, fabs(z) - shape[n].z);
            if (flat && fabs(beyond) < shape[n].edge + 1e-9) {
                continue; // the nearest face is another one
            }
            double wanted = beyond < 0.0 ? deepest : 0.0;
            if (!flat) {
                const double v = y / shape[n].b, w = z / shape[n].c, square = 1.0 - v * v - w * w;
                wanted = fmax(deepest - shape[n].a * (1.0 - sqrt(fmax(square, 0.0))), 0.0);
            }
            if (!(fabs(heights[i] - wanted) < 1e-8) ||
                (flat && !(fabs(forces[3 * i] - 300.0 * wanted) < 1e-6))) {
                fail_msg("%s, y %g, z %g: height %g, force %g, expected %g", shape[n].geom, y, z, heights[i],
                         forces[3 * i], wanted);
            }
            pressed += heights[i] > 0.0f;
        }
        assert_true(pressed > 5 && pressed < 41 * 11 - 5);
        stage_close(&s);
    }
}

// A ball beside the pad that reaches only the last taxel, along the line from the middle of all.
static void a_corner_is_felt(void **state)
{
    (void)state;
    stage s = stage_on(engine, plate, COPIES, false);
    const orr_tactile_desc desc = {.geom = s.pad};
    double qpos[COPIES * NQ];
    put(&s, COPIES, 0);
    assert_ok(orr_world_get_robots(s.world, s.robot, ORR_ROBOT_QPOS, NULL, ORR_NUMBER_F64, qpos, &error));
    for (int i = 0; i < COPIES; i++) {
        double *q = qpos + (ptrdiff_t)i * NQ, out[3] = {half[0] - 0.003, half[1] - 0.003, 0.002}, up[3];
        vec3_normalise(out);
        for (int k = 0; k < 3; k++) {
            const double corner = k < 2 ? half[k] - 0.003 : half[k];
            out[k] = corner + (radius - 2e-4) * out[k];
        }
        quat_apply(q + HAND + 3, out, up);
        for (int k = 0; k < 3; k++) {
            q[BALL + k] = q[HAND + k] + up[k];
        }
    }
    assert_ok(orr_world_set_robots(s.world, s.robot, ORR_ROBOT_QPOS, NULL, ORR_NUMBER_F64, qpos, &error));
    assert_ok(orr_world_get_tactile(s.world, s.robot, &desc, NULL, forces, NULL, &error));
    for (int i = 0; i < COPIES * TAXELS; i++) {
        const float *f = forces + (ptrdiff_t)i * 3;
        assert_true((vec3f_dot(f, f) > 0.0f) == (i % TAXELS == TAXELS - 1));
    }
    stage_close(&s);
}

// Two balls that overlap: the deeper one counts, whichever comes first.
static void the_deepest_counts(void **state)
{
    (void)state;
    static const char both[] =
        "<mujoco><option gravity='0 0 0'/><worldbody><geom name='pad' type='box' size='.03 .03 .01'/>"
        "<body pos='-.006 0 .029'><freejoint/><geom size='.02'/></body>"
        "<body pos='.006 .001 .0285'><freejoint/><geom size='.02'/></body></worldbody></mujoco>";
    const double ball[2][3] = {{-0.006, 0.0, 0.029}, {0.006, 0.001, 0.0285}};
    stage s = stage_on(engine, both, 1, false);
    const orr_tactile_desc desc = {.geom = s.pad, .size = {0.048, 0.038}};
    int first = 0, second = 0;
    assert_ok(orr_world_get_tactile(s.world, s.robot, &desc, NULL, forces, heights, &error));
    for (int i = 0; i < TAXELS; i++) {
        const double x = 0.002 * (i % COLUMNS - 12), y = 0.002 * (i / COLUMNS) - 0.019;
        double depth[2], pressure[2];
        for (int k = 0; k < 2; k++) {
            const double d[3] = {x - ball[k][0], y - ball[k][1], half[2] - ball[k][2]};
            depth[k] = fmax(0.02 - vec3_length(d), 0.0);
            pressure[k] = -depth[k] * d[2] / vec3_length(d);
        }
        const int deeper = depth[1] > depth[0];
        assert_true(fabs(forces[3 * i] - pressure[deeper]) < 1e-8);
        first += depth[0] > depth[1];
        second += deeper;
    }
    assert_true(first > 3 && second > 3);
    stage_close(&s);
}

// A ball under a weight sinks into a pad whose contact is soft, and the taxels feel it.
static void a_weight_is_felt(void **state)
{
    (void)state;
    static const char table[] =
        "<mujoco><option timestep='0.002'/><worldbody><geom name='pad' type='box' size='.03 .03 .01'/>"
        "<body pos='0 0 .0301'><freejoint/><geom type='sphere' size='.02' mass='.2' solref='-300 -8' "
        "solimp='.0001 .0001 .001'/></body></worldbody></mujoco>";
    stage s = stage_on(engine, table, 1, false);
    const orr_tactile_desc desc = {.geom = s.pad};
    double total[3] = {0.0};
    assert_ok(orr_world_get_tactile(s.world, s.robot, &desc, NULL, forces, heights, &error));
    for (int i = 0; i < TAXELS; i++) {
        assert_true(forces[3 * i] == 0.0f && heights[i] == 0.0f);
    }
    assert_ok(orr_world_step(s.world, 1500, &error));
    assert_ok(orr_world_get_tactile(s.world, s.robot, &desc, NULL, forces, heights, &error));
    for (int i = 0; i < TAXELS * 3; i++) {
        total[i % 3] += forces[i];
    }
    assert_true(total[0] > 0.0);
    assert_true(hypot(total[1], total[2]) < 0.02 * total[0]); // it rests in the middle
    stage_close(&s);
}

static void what_is_refused(void **state)
{
    (void)state;
    stage s = stage_on(engine, plate, 1, false);
    const struct {
        orr_tactile_desc desc;
        const char *words;
    } wrong[] = {{{.geom = -1}, "geom -1: expected 0 to 4"},
                 {{.geom = 5}, "geom 5: expected 0 to 4"},
                 {{.geom = s.pad, .rows = 1025}, "1025 x 0 taxels"},
                 {{.geom = s.pad, .columns = -1}, "0 x -1 taxels"},
                 {{.geom = s.pad, .size = {0.07}}, "row 0, column 0 is beside its geom"},
                 {{.geom = s.pad, .centre = {0.0, 0.005}}, "is beside its geom"},
                 {{.geom = s.pad, .friction = -1.0}, "friction of -1: expected 0 or more"},
                 {{.geom = s.pad, .stiffness = NAN}, "stiffness of nan: expected 0 or more"},
                 {{.geom = s.pad, .normal = {INFINITY}}, "normal[0] of inf: expected a finite number"},
                 {{.geom = s.pad, .normal = {1.0}, .across = {-2.0}}, "another direction than normal"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_argument_refused(
            orr_world_get_tactile(s.world, s.robot, &wrong[i].desc, NULL, forces, heights, &why),
            wrong[i].words);
    }
    stage_close(&s);
    static const char floor[] =
        "<mujoco><worldbody><geom name='pad' type='plane' size='1 1 1'/><body><freejoint/>"
        "<geom size='.002'/></body></worldbody></mujoco>";
    s = stage_on(engine, floor, 1, false);
    assert_argument_refused(orr_world_get_tactile(s.world, s.robot, &(orr_tactile_desc){.geom = s.pad}, NULL,
                                                  forces, heights, &why),
                            "on a plane");
    assert_argument_refused(orr_world_get_tactile(s.world, s.robot, &(orr_tactile_desc){.geom = 1 - s.pad},
                                                  NULL, forces, heights, &why),
                            "on a geom of 0.004 m: expected its size, or a geom of more than 0.006 m");
    stage_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_presses_as_the_formula_says),
        cmocka_unit_test(sizes_of_geoms_are_those_of_the_copy),
        cmocka_unit_test(a_copy_is_as_it_is_alone),
        cmocka_unit_test(shapes_leave_their_prints),
        cmocka_unit_test(a_corner_is_felt),
        cmocka_unit_test(the_deepest_counts),
        cmocka_unit_test(a_weight_is_felt),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
