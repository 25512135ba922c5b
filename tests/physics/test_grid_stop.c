// What moves fast does not pass captured surfaces, which are shells of little more than two cells.
#include "tests/physics/captured.h"

#include <stdio.h>

// A shell, captured on its upper side, which is turned about y.
typedef struct shell {
    double cell, slope; // m, rad
} shell;

static shell given;

static double above_shell(const double at[3])
{
    return sin(given.slope) * at[0] + cos(given.slope) * at[2];
}

static double shell_distance(const double at[3])
{
    double half = 0.5 * 2.25 * given.cell;
    return fabs(above_shell(at) + half) - half;
}

static orr_distance_grid *capture_shell(double cell, double slope)
{
    given = (shell){cell, slope};
    return capture(shell_distance, cell, 1.0, slope > 0.0 ? 1.0 : 0.3);
}

static const char *const fast_shapes[] = {
    "type='box' size='.1 .08 .06'",    "type='box' size='.03 .03 .03'",      "type='sphere' size='.05'",
    "type='sphere' size='.02'",        "type='capsule' size='.03 .1'",       "type='cylinder' size='.08 .1'",
    "type='cylinder' size='.06 .015'", "type='ellipsoid' size='.1 .06 .04'", "type='mesh' mesh='rock'",
};
enum { FAST_SHAPES = sizeof fast_shapes / sizeof fast_shapes[0], DROPS = 16 };

static bench set_up_drop(const char *geom, double cell, double slope, double step, const char *options,
                         bool double_precision)
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "<mujoco><option timestep='%g' %s/><asset><mesh name='rock' vertex='-.1 -.08 -.06 .1 -.06 -.04 -.09 "
        ".07 -.05 .08 .08 -.06 -.06 -.07 .06 .1 -.02 .07 -.03 .08 .06 0 0 .1'/></asset><worldbody>"
        "<geom name='ground' type='sphere' size='1'/><body><freejoint/><geom mass='1' %s/></body>"
        "</worldbody></mujoco>",
        step, options, geom);
    return set_up(text, capture_shell(cell, slope), DROPS, double_precision);
}

// Throws a shape at the shell, turned and spun differently in each world.
static void throw_all(const bench *b, double speed)
{
    for (int w = 0; w < DROPS; w++) {
        double qpos[7], qvel[6] = {0}, length = 0.0, up = 0.2 + 0.011 * w;
        const double normal[3] = {sin(given.slope), 0.0, cos(given.slope)};
        for (int k = 0; k < 3; k++) {
            qpos[k] = up * normal[k];
            qvel[k] = -speed * normal[k];
            qvel[3 + k] = w % 3 == 1 ? 10.0 * sin(w + 2.0 * k) : 0.0;
        }
        for (int k = 0; k < 4; k++) {
            qpos[3 + k] = w % 4 == 0 ? k == 0 : w % 4 == 1 ? k % 2 == 0 : sin(1.0 + 1.7 * w + 2.1 * k);
            length += qpos[3 + k] * qpos[3 + k];
        }
        for (int k = 3; k < 7; k++) {
            qpos[k] /= sqrt(length);
        }
        qvel[1] += w % 5 == 2 ? 2.0 : 0.0;
        orr_physics_set(b->physics, ORR_PHYSICS_QPOS, w, qpos);
        orr_physics_set(b->physics, ORR_PHYSICS_QVEL, w, qvel);
    }
}

// In how many worlds the first shape has passed the shell after some seconds.
static int count_passed(const bench *b, int worlds, double seconds)
{
    int passed = 0;
    orr_physics_step(b->physics, (int)lrint(seconds / b->model->opt.timestep));
    for (int w = 0; w < worlds; w++) {
        double qpos[40 * 7];
        orr_physics_get(b->physics, ORR_PHYSICS_QPOS, w, qpos);
        passed += !(above_shell(qpos) > 0.0);
    }
    return passed;
}

static void expect_none_passes(const char *geom, double cell, double slope, double step, double speed,
                               const char *options, bool double_precision)
{
    bench b = set_up_drop(geom, cell, slope, step, options, double_precision);
    throw_all(&b, speed);
    int passed = count_passed(&b, DROPS, 0.2);
    if (passed > 0) {
        fail_msg("%s: %d of %d at %g m/s pass cells of %g turned by %g within steps of %g, %s, %s", geom,
                 passed, DROPS, speed, cell, slope, step, options, double_precision ? "f64" : "f32");
    }
    tear_down(&b);
}

static void nothing_passes_a_captured_shell(void **state)
{
    (void)state;
    static const struct {
        double cell, slope, step, speed; // m, rad, s, m/s
    } throws[] = {{0.01, 0.0, 0.002, 10.0}, {0.02, 0.5, 1.0 / 60.0, 20.0}, {0.05, 1.5707963, 0.002, 20.0}};
    for (int i = 0; i < FAST_SHAPES; i++) {
        for (int k = 0; k < 3; k++) {
            expect_none_passes(fast_shapes[i], throws[k].cell, throws[k].slope, throws[k].step,
                               throws[k].speed, "", (i + k) % 2 == 0);
        }
    }
}

// The stages of RK4 within a step are elsewhere; the implicit integrators and cones have rows of their own.
static void nothing_passes_with_any_integrator(void **state)
{
    (void)state;
    static const char *const options[] = {"integrator='RK4'", "integrator='RK4' cone='elliptic'",
                                          "integrator='implicitfast' cone='elliptic' impratio='10'"};
    for (int i = 0; i < 3; i++) {
        for (int k = i; k < FAST_SHAPES; k += 3) {
            expect_none_passes(fast_shapes[k], 0.01, 0.5, 1.0 / 60.0, 10.0, options[i], i == 1);
        }
    }
}

// A light foot on a damped slide below a body: the damping, which integrators take implicitly, pushes the
// foot through when it is to stop.
static void damped_feet_do_not_pass(void **state)
{
    (void)state;
    static const char *const integrators[] = {"Euler", "implicitfast", "implicit"};
    for (int i = 0; i < 3; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "<mujoco><option timestep='0.0166667' integrator='%s'/><worldbody>"
                 "<geom name='ground' type='sphere' size='1'/><body pos='0 0 0.6'><freejoint/>"
                 "<geom type='box' size='.1 .1 .02' mass='2'/><body pos='0 0 -.2'>"
                 "<joint type='slide' axis='0 0 1' damping='20'/><geom type='sphere' size='.02' mass='.05'/>"
                 "</body></body></worldbody></mujoco>",
                 integrators[i]);
        bench b = set_up(text, capture_shell(0.01, 0.0), 1, i == 1);
        const double fall[7] = {0.0, 0.0, -5.0};
        double foot[9];
        orr_physics_set(b.physics, ORR_PHYSICS_QVEL, 0, fall);
        for (int k = 0; k < 12; k++) {
            orr_physics_step(b.physics, 1);
            orr_physics_read(b.physics, ORR_PHYSICS_GEOM_XPOS, 0, foot);
            if (!(foot[8] > 0.0)) {
                fail_msg("%s: the foot is at %g after step %d", integrators[i], foot[8], k);
            }
        }
        tear_down(&b);
    }
}

// Contacts that swing throw back what a captured floor has to stop, as far as their damping lets them: the
// ratio is 0.05. MuJoCo returns 88 % of the speed on a plane.
static void what_bounces_returns(void **state)
{
    (void)state;
    static const char *const shapes[] = {"type='sphere' size='.02' solref='-10000 -10'",
                                         "type='box' size='.03 .03 .03' solref='-10000 -10'"};
    static const char *const options[] = {"", "integrator='implicitfast' cone='elliptic'"};
    for (int i = 0; i < 2; i++) {
        bench b = set_up_drop(shapes[i], 0.01, 0.0, 0.002, options[i], i == 1);
        const double qpos[7] = {0.0, 0.0, 0.1, 1.0}, fall[6] = {0.0, 0.0, -5.0};
        double most = 0.0;
        orr_physics_set(b.physics, ORR_PHYSICS_QPOS, 0, qpos);
        orr_physics_set(b.physics, ORR_PHYSICS_QVEL, 0, fall);
        for (int step = 0; step < 40; step++) {
            double qvel[6];
            orr_physics_step(b.physics, 1);
            orr_physics_get(b.physics, ORR_PHYSICS_QVEL, 0, qvel);
            most = fmax(most, qvel[2]);
        }
        if (!(most > 0.8 * 5.0 && most < 0.9 * 5.0)) { // exp(-0.05 pi / sqrt(1 - 0.05^2)) = 0.855
            fail_msg("%s, %s: what falls at 5 m/s returns with %g", shapes[i], options[i], most);
        }
        tear_down(&b);
    }
}

// A box whose lower corners are beyond the middle of the shell comes back to its surface.
static void what_has_sunk_in_comes_back(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        bench b = set_up_drop(fast_shapes[0], 0.01, 0.0, 0.002, "", i == 1);
        double qpos[7] = {0.0, 0.0, 0.045, 1.0, 0.0, 0.0, 0.0};
        orr_physics_set(b.physics, ORR_PHYSICS_QPOS, 0, qpos);
        orr_physics_step(b.physics, 250);
        orr_physics_get(b.physics, ORR_PHYSICS_QPOS, 0, qpos);
        if (!(fabs(qpos[2] - 0.06) < 0.001)) {
            fail_msg("a box of 6 cm that has sunk in rests at %g", qpos[2]);
        }
        tear_down(&b);
    }
}

// Balls above the corner of a small shell, which one step takes through the sphere around it; many of them
// are found by boxes.
static void the_corner_of_a_shell_is_found(void **state)
{
    (void)state;
    static const int counts[] = {1, 40};
    for (int i = 0; i < 2; i++) {
        char text[16384] =
            "<mujoco><option timestep='0.0166667'/><worldbody><geom name='ground' type='sphere' "
            "size='1'/>";
        size_t length = strlen(text);
        for (int k = 0; k < counts[i]; k++) {
            length += (size_t)snprintf(text + length, sizeof text - length,
                                       "<body pos='0.22 0.22 %g'><freejoint/><geom type='sphere' size='.02'/>"
                                       "</body>",
                                       0.44 + 0.5 * k);
        }
        snprintf(text + length, sizeof text - length, "</worldbody></mujoco>");
        given = (shell){0.01, 0.0};
        bench b = set_up(text, capture(shell_distance, 0.01, 0.25, 0.1), 1, false);
        double qvel[40 * 6] = {0.0};
        for (int k = 0; k < counts[i]; k++) {
            qvel[6 * k + 2] = k == 0 ? -30.0 : 0.0;
        }
        orr_physics_set(b.physics, ORR_PHYSICS_QVEL, 0, qvel);
        assert_int_equal(count_passed(&b, 1, 0.1), 0);
        tear_down(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_passes_a_captured_shell),
        cmocka_unit_test(nothing_passes_with_any_integrator),
        cmocka_unit_test(damped_feet_do_not_pass),
        cmocka_unit_test(what_bounces_returns),
        cmocka_unit_test(what_has_sunk_in_comes_back),
        cmocka_unit_test(the_corner_of_a_shell_is_found),
    };
    return cmocka_run_group_tests(tests, open_machine, close_machine);
}
