// Soft bodies on soft pads (orr_world_get_tactile): a cube whose vertices move as a rigid box does gives that
// box's image, and one that is deformed gives TacSL's formula of where its surface is.
#include "engine/loop/world/soft/world_soft.h"
#include "engine/maths/rotation.h"
#include "engine/maths/vector.h"
#include "tests/support/engine.h"
#include "tests/support/scenes/soft_meshes.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COPIES = 8, ROWS = 20, COLUMNS = 25, TAXELS = ROWS * COLUMNS, MOST = 3 * 125, RING = 21 };

static const double half[3] = {0.03, 0.02, 0.01}; // m: of the pad
static const double side = 0.02, deep = 0.0015;   // m: half the cube's, and how far it is in the pad

// A plate that flies, its face a pad, and a cube: soft, its surface where its vertices are, or rigid.
static const char soft_cube[] =
    "<mujoco><option timestep='0.002' gravity='0 0 0'/><worldbody>"
    "<body name='hand'><freejoint/><geom name='pad' type='box' size='.03 .02 .01' mass='1'/></body>"
    "<flexcomp name='cube' type='grid' dim='3' count='5 5 5' spacing='.01 .01 .01' radius='1e-9' mass='.1'>"
    "<elasticity young='1e6' poisson='.3'/></flexcomp></worldbody></mujoco>";
static const char rigid_cube[] =
    "<mujoco><option timestep='0.002' gravity='0 0 0'/><worldbody>"
    "<body name='hand'><freejoint/><geom name='pad' type='box' size='.03 .02 .01' mass='1'/></body>"
    "<body><freejoint/><geom type='box' size='.02 .02 .02' mass='.1'/></body></worldbody></mujoco>";

typedef struct stage {
    orr_scene *scene;
    orr_world *world;
    orr_layer robot;
    int pad;
} stage;

static stage stage_on(const char *text, const orr_transform *at, int copies)
{
    stage s;
    const orr_world_desc desc = {.count = copies, .precision = ORR_PRECISION_F64};
    assert_ok(orr_scene_create(engine, &s.scene, &error));
    assert_ok(orr_scene_add_file(s.scene, written("cube.xml", text), at, &s.robot, &error));
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

static float forces[2][COPIES * TAXELS * 3], heights[2][COPIES * TAXELS];

// ---- as a rigid box

// The pad's qpos and qvel, and the cube's, in copy i: flat, tilted a little, on an edge and on a corner.
static void numbers_of(int i, double qpos[14], double qvel[12])
{
    const double axis[3] = {cos(i), sin(i), 0.0}, x[3] = {1.0, 0.0, 0.0}, y[3] = {0.0, 1.0, 0.0};
    double quat[4] = {1.0 + i, sin(2.0 + i), cos(i), 0.5 * sin(5.0 * i)}, turn[4], more[4];
    double middle[3] = {0.004 * sin(i), 0.003 * cos(3.0 * i), half[2] + side - deep}, up[3];
    quat_normalise(quat);
    quat_axis_angle(axis, i < 4 ? 0.02 * i : 0.0, turn);
    if (i >= 4) {
        quat_axis_angle(x, 0.25 * 3.14159265358979 + 0.05 * (i - 4), turn);
        middle[2] = half[2] + sqrt(2.0) * side - 2.0 * deep;
    }
    if (i >= 6) {
        quat_axis_angle(y, 0.6154797 - 0.05 * (i - 6), more); // then a corner is lowest
        quat_multiply(more, turn, turn);
        middle[2] = half[2] + sqrt(3.0) * side - 4.0 * deep;
    }
    quat_apply(quat, middle, up);
    for (int k = 0; k < 3; k++) {
        qpos[k] = 0.02 * i + 0.05 * k;
        qpos[7 + k] = qpos[k] + up[k];
    }
    memcpy(qpos + 3, quat, sizeof quat);
    quat_multiply(quat, turn, qpos + 10);
    const double speed = i % 2 ? 0.3 : 3e-3; // m/s: more than friction allows, and less
    for (int k = 0; k < 12; k++) {
        qvel[k] = speed * (k % 6 < 3 ? 1.0 : 10.0) * sin(1.0 + 7.0 * i + k);
    }
}

static void put(const stage *s, int numbers, const double *qpos, const double *qvel)
{
    double q[COPIES * 14], v[COPIES * 12];
    const int nq = numbers, nv = numbers / 7 * 6;
    for (int i = 0; i < COPIES; i++) {
        memcpy(q + (ptrdiff_t)i * nq, qpos + (ptrdiff_t)i * 14, (size_t)nq * sizeof *q);
        memcpy(v + (ptrdiff_t)i * nv, qvel + (ptrdiff_t)i * 12, (size_t)nv * sizeof *v);
    }
    assert_ok(orr_world_set_robots(s->world, s->robot, ORR_ROBOT_QPOS, NULL, ORR_NUMBER_F64, q, &error));
    assert_ok(orr_world_set_robots(s->world, s->robot, ORR_ROBOT_QVEL, NULL, ORR_NUMBER_F64, v, &error));
}

// The cube's vertices as a body with these numbers has them. frame: of the robot in the scene.
static void put_cube(const stage *s, const orr_transform *frame, const double *qpos, const double *qvel)
{
    const orr_layer layer = orr_scene_layer(s->scene, 1);
    orr_soft_info info;
    double rest[MOST], x[MOST], v[MOST], centre[3] = {0.0}, quat[4];
    assert_ok(orr_scene_soft_info(s->scene, layer, &info, &error));
    assert_int_equal(info.vertex_count * 3, MOST);
    assert_ok(orr_world_get_soft(s->world, 0, layer, rest, NULL, &error));
    for (int k = 0; k < 4; k++) {
        quat[k] = (double)frame->rotation[k];
    }
    for (int i = 0; i < MOST; i++) {
        centre[i % 3] += rest[i] / 125.0;
    }
    quat_conjugate(quat, quat);
    for (int i = 0; i < MOST; i += 3) {
        for (int k = 0; k < 3; k++) {
            rest[i + k] -= centre[k];
        }
        quat_apply(quat, rest + i, rest + i);
    }
    quat_conjugate(quat, quat);
    for (int copy = 0; copy < COPIES; copy++, qpos += 14, qvel += 12) {
        double spin[3];
        quat_apply(qpos + 10, qvel + 9, spin);
        for (int i = 0; i < MOST; i += 3) {
            double arm[3];
            quat_apply(qpos + 10, rest + i, arm);
            vec3_cross(spin, arm, v + i);
            for (int k = 0; k < 3; k++) {
                x[i + k] = qpos[7 + k] + arm[k];
                v[i + k] += qvel[6 + k];
            }
            quat_apply(quat, x + i, x + i);
            quat_apply(quat, v + i, v + i);
            for (int k = 0; k < 3; k++) {
                x[i + k] += (double)frame->position[k];
            }
        }
        assert_ok(orr_world_set_soft(s->world, copy, layer, x, v, &error));
    }
}

// Velocities of soft bodies are floats, the cube's surface is 1e-9 m outside of its vertices, and a ray ends
// 4e-9 m from what it meets, along the ray as much more as the surface is steep: 3e-8 N of 3 mN, 3e-8 m.
static void a_stiff_cube_presses_as_a_rigid_box(void **state)
{
    (void)state;
    const orr_transform frame = {
        .position = {0.25f, 0.125f, 0.0625f}, .rotation = {0.5f, 0.5f, 0.5f, 0.5f}, .scale = 1.0f};
    double qpos[COPIES * 14], qvel[COPIES * 12];
    stage soft = stage_on(soft_cube, &frame, COPIES), rigid = stage_on(rigid_cube, &frame, COPIES);
    for (int i = 0; i < COPIES; i++) {
        numbers_of(i, qpos + (ptrdiff_t)i * 14, qvel + (ptrdiff_t)i * 12);
    }
    put(&soft, 7, qpos, qvel);
    put(&rigid, 14, qpos, qvel);
    put_cube(&soft, &frame, qpos, qvel);
    const orr_tactile_desc desc = {.geom = soft.pad};
    assert_int_equal(soft.pad, rigid.pad);
    assert_ok(orr_world_get_tactile(soft.world, soft.robot, &desc, NULL, forces[0], heights[0], &error));
    assert_ok(orr_world_get_tactile(rigid.world, rigid.robot, &desc, NULL, forces[1], heights[1], &error));
    double most = 0.0, highest = 0.0;
    for (int copy = 0; copy < COPIES; copy++) {
        int pressed = 0, sliding = 0;
        for (int i = copy * TAXELS; i < (copy + 1) * TAXELS; i++) {
            const float *f = forces[1] + (ptrdiff_t)i * 3;
            pressed += f[0] != 0.0f;
            sliding += f[0] > 0.0f && hypotf(f[1], f[2]) > 1.2f * f[0];
            for (int k = 0; k < 3; k++) {
                most = fmax(most, fabs((double)forces[0][i * 3 + k] - (double)f[k]));
            }
            highest = fmax(highest, fabs((double)heights[0][i] - (double)heights[1][i]));
        }
        print_message("copy %d: %d taxels pressed, %d slide\n", copy, pressed, sliding);
        assert_true(pressed > (copy < 4 ? 100 : 10));
        assert_true(copy % 2 == 0 || sliding > pressed / 4);
    }
    print_message("off by %.2g N and %.2g m\n", most, highest);
    assert_true(most < 3e-8);
    assert_true(highest < 3e-8);
    stage_close(&soft);
    stage_close(&rigid);
}

// ---- deformed

// The distance of a point from a triangle: of its projection, where that is inside, or of the nearest side.
static double distance_from(const double p[3], double (*c)[3], double weight[3])
{
    double e[3][3], n[3], to[3], best = INFINITY;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            e[i][k] = c[(i + 1) % 3][k] - c[i][k];
        }
    }
    vec3_cross(e[0], e[1], n);
    const double area = vec3_dot(n, n);
    double part[3];
    bool inside = true;
    for (int i = 0; i < 3; i++) { // weight of corner i: by the side across from it
        double m[3];
        for (int k = 0; k < 3; k++) {
            to[k] = p[k] - c[(i + 1) % 3][k];
        }
        vec3_cross(e[(i + 1) % 3], to, m);
        part[i] = vec3_dot(m, n) / area;
        inside &= part[i] >= 0.0;
    }
    if (inside) {
        memcpy(weight, part, sizeof part);
        for (int k = 0; k < 3; k++) {
            to[k] = p[k] - c[0][k];
        }
        return fabs(vec3_dot(to, n)) / sqrt(area);
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            to[k] = p[k] - c[i][k];
        }
        const double t = fmin(fmax(vec3_dot(to, e[i]) / vec3_dot(e[i], e[i]), 0.0), 1.0);
        for (int k = 0; k < 3; k++) {
            to[k] -= t * e[i][k];
        }
        if (vec3_length(to) < best) {
            best = vec3_length(to);
            weight[i] = 1.0 - t, weight[(i + 1) % 3] = t, weight[(i + 2) % 3] = 0.0;
        }
    }
    return best;
}

// The solid angle of a triangle from a point (van Oosterom and Strackee 1983); over a closed surface 4 pi
// inside and 0 outside.
static double solid_angle(const double p[3], double (*c)[3])
{
    double r[3][3], length[3], n[3];
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            r[i][k] = c[i][k] - p[k];
        }
        length[i] = vec3_length(r[i]);
    }
    vec3_cross(r[1], r[2], n);
    return 2.0 *
           atan2(vec3_dot(r[0], n), length[0] * length[1] * length[2] + vec3_dot(r[0], r[1]) * length[2] +
                                        vec3_dot(r[1], r[2]) * length[0] + vec3_dot(r[2], r[0]) * length[1]);
}

// TacSL's force on a taxel that stands still, as the door writes it. Soft bodies are felt as deep as `reach`.
static void formula(const int32_t *triangle, int triangles, const double *x, const double *v, double reach,
                    const double p[3], double out[3])
{
    double best = INFINITY, around = 0.0, near[3] = {0.0}, speed[3] = {0.0};
    for (int i = 0; i < triangles; i++) {
        double c[3][3], weight[3];
        for (int k = 0; k < 9; k++) {
            c[k / 3][k % 3] = x[triangle[i * 3 + k / 3] * 3 + k % 3];
        }
        const double distance = distance_from(p, c, weight);
        around += solid_angle(p, c);
        for (int k = 0; k < 3 && distance < best; k++) {
            near[k] = speed[k] = 0.0;
            for (int j = 0; j < 3; j++) {
                near[k] += weight[j] * c[j][k];
                speed[k] += weight[j] * v[triangle[i * 3 + j] * 3 + k];
            }
        }
        best = fmin(best, distance);
    }
    memset(out, 0, 3 * sizeof *out);
    if (around > 6.0 && best < reach) { // of 4 pi
        double n[3], slide[3], f[3];
        for (int k = 0; k < 3; k++) {
            n[k] = (near[k] - p[k]) / best;
        }
        const double along = -vec3_dot(speed, n);
        for (int k = 0; k < 3; k++) {
            slide[k] = -speed[k] - along * n[k];
        }
        const double fast = vec3_length(slide), drag = fmin(0.1 * fast, 2.0 * best);
        for (int k = 0; k < 3; k++) {
            f[k] = best * n[k] - (fast > 0.0 ? drag * slide[k] / fast : 0.0);
        }
        out[0] = -f[2], out[1] = f[0], out[2] = f[1];
    }
}

// A cube of jelly over a pad that it sinks into, as far as the plate under that lets it.
static const char table[] =
    "<mujoco><option timestep='0.004'/><worldbody>"
    "<geom name='pad' type='box' size='.03 .02 .01' contype='0' conaffinity='0'/>"
    "<geom type='box' size='.03 .02 .0085'/>"
    "<flexcomp name='cube' type='grid' dim='3' count='5 5 5' spacing='.01 .01 .01' radius='1e-9' mass='.1'"
    " pos='-.005 0 .0301'><elasticity young='2e4' poisson='.3' damping='.005'/></flexcomp>"
    "</worldbody></mujoco>";

// How far its image is from the formula's, in double, of the positions and velocities that it has. What the
// formula and the engine have in common are the triangles.
static double off_by(const stage *s, double x[MOST], int *pressed)
{
    const orr_tactile_desc desc = {.geom = s->pad};
    const double reach = sqrt(0.027 * 0.027 + 0.017 * 0.017 + 0.002 * 0.002); // m: to all of the pad
    const orr_layer layer = orr_scene_layer(s->scene, 1);
    const orr_world_soft *soft;
    double v[MOST], worst = 0.0;
    int triangles;
    assert_ok(orr_world_soft_open(s->world, 0, layer, &soft, &error));
    const int32_t *triangle = orr_soft_surface(soft->layer->model, &triangles);
    assert_true(triangles == 6 * 4 * 4 * 2 || triangles == 2 * RING);
    assert_ok(orr_world_get_tactile(s->world, s->robot, &desc, NULL, forces[0], heights[0], &error));
    assert_ok(orr_world_get_soft(s->world, 0, layer, x, v, &error));
    for (int i = 0; i < TAXELS; i++) {
        const double p[3] = {0.054 * (i % COLUMNS / (COLUMNS - 1.0) - 0.5),
                             0.034 * (i / COLUMNS / (ROWS - 1.0) - 0.5), 0.01};
        double wanted[3];
        formula(triangle, triangles, x, v, reach, p, wanted);
        for (int k = 0; k < 3; k++) {
            worst = fmax(worst, fabs((double)forces[0][i * 3 + k] - wanted[k]));
        }
        *pressed += forces[0][i * 3] > 0.0f;
    }
    return worst;
}

// It is thrown along the pad. Forces are floats of up to 4 mN, of which 1e-6 is 4e-9.
static void a_deformed_cube_presses_as_the_formula_says(void **state)
{
    (void)state;
    stage s = stage_on(table, NULL, 1);
    const orr_layer layer = orr_scene_layer(s.scene, 1);
    double x[MOST], v[MOST], worst = 0.0, bent = 0.0;
    int pressed = 0;
    assert_ok(orr_world_get_soft(s.world, 0, layer, x, v, &error));
    for (int i = 0; i < MOST; i += 3) {
        v[i] = 0.2, v[i + 1] = -0.1;
    }
    assert_ok(orr_world_set_soft(s.world, 0, layer, x, v, &error));
    for (int frame = 0; frame < 8; frame++) {
        assert_ok(orr_world_step(s.world, 5, &error));
        worst = fmax(worst, off_by(&s, x, &pressed));
        bent = fmax(bent, fabs(x[124 * 3 + 2] - x[120 * 3 + 2] - 2.0 * side)); // an edge along z
    }
    print_message("%d taxels pressed, off by %.2g N; an edge is shorter by %.2g m\n", pressed, worst, bent);
    assert_true(pressed > 8 * 100);
    assert_true(bent > 2e-4);
    assert_true(worst < 4e-9);
    stage_close(&s);
}

// The cube is sheared until its edges are as sharp as 20 degrees, turned, and put so that its lowest point is
// 5 mm in the pad: beside such edges the nearest triangle alone does not tell inside from outside.
static void sharp_edges_press_as_the_formula_says(void **state)
{
    (void)state;
    enum { TURNS = 60 };
    stage s = stage_on(table, NULL, 1);
    const orr_layer layer = orr_scene_layer(s.scene, 1);
    double rest[MOST], x[MOST], v[MOST] = {0.0}, worst = 0.0;
    int pressed = 0;
    assert_ok(orr_world_get_soft(s.world, 0, layer, rest, NULL, &error));
    for (int turn = 0; turn < TURNS; turn++) {
        double quat[4] = {cos(turn), sin(2.0 * turn), sin(1.0 + 3.0 * turn), 0.5 * cos(5.0 * turn)};
        double low[3] = {0.0, 0.0, INFINITY};
        quat_normalise(quat);
        for (int i = 0; i < MOST; i += 3) {
            const double *r = rest + i, up = r[2] - 0.0301;
            const double sheared[3] = {r[0] + 0.005 + 1.8 * up, r[1] - 1.6 * up, up};
            quat_apply(quat, sheared, x + i);
            if (x[i + 2] < low[2]) {
                memcpy(low, x + i, sizeof low);
            }
        }
        for (int i = 0; i < MOST; i++) {
            x[i] += (i % 3 == 2 ? 0.005 : 0.0) - low[i % 3];
            v[i] = i % 3 == 0 ? 0.1 : 0.0;
        }
        assert_ok(orr_world_set_soft(s.world, 0, layer, x, v, &error));
        worst = fmax(worst, off_by(&s, x, &pressed));
    }
    print_message("%d taxels pressed, off by %.2g N\n", pressed, worst);
    assert_true(pressed > 5 * TURNS);
    assert_true(worst < 1e-8); // of floats of up to 11 mN
    stage_close(&s);
}

// A sharp spike of three sides, of which two are slivers that meet in its tip: the sum of their normals alone
// would call inside what is before the third. The tip is 1 mm over the pad, and then 8 mm in it.
static void tips_of_slivers_press_as_the_formula_says(void **state)
{
    (void)state;
    enum { TURNS = 12 };
    char text[4096], points[1600] = "0 0 0 0 0 .03", tetrahedra[600] = "";
    for (int i = 0; i < RING; i++) { // corners are 0, 1 and 11
        const int from = i == 0 ? 0 : i < 11 ? 1 : 2;
        const double t = i == 0 ? 0.0 : (i - (i < 11 ? 1 : 11)) / 10.0, turn = 2.0943951023931953;
        const double x = 0.012 * ((1.0 - t) * cos(turn * from) + t * cos(turn * (from + 1)));
        const double y = 0.012 * ((1.0 - t) * sin(turn * from) + t * sin(turn * (from + 1)));
        snprintf(points + strlen(points), sizeof points - strlen(points), " %.9g %.9g .03", x, y);
        snprintf(tetrahedra + strlen(tetrahedra), sizeof tetrahedra - strlen(tetrahedra), " 0 1 %d %d", 2 + i,
                 2 + (i + 1) % RING);
    }
    snprintf(text, sizeof text,
             "<mujoco><worldbody><geom name='pad' type='box' size='.03 .02 .01' contype='0' conaffinity='0'/>"
             "<flexcomp name='spike' dim='3' type='direct' radius='1e-9' mass='.1' point='%s' element='%s'>"
             "<elasticity young='2e4' poisson='.3'/></flexcomp></worldbody></mujoco>",
             points, tetrahedra);
    stage s = stage_on(text, NULL, 1);
    const orr_layer layer = orr_scene_layer(s.scene, 1);
    double rest[MOST], x[MOST] = {0.0}, v[MOST] = {0.0}, worst = 0.0;
    int pressed = 0, before = 0;
    assert_ok(orr_world_get_soft(s.world, 0, layer, rest, NULL, &error));
    for (int turn = 0; turn < TURNS; turn++) {
        const double axis[3] = {cos(turn), sin(turn), 0.3};
        double quat[4];
        quat_axis_angle(axis, 0.04 * turn, quat);
        for (int i = 0; i < (2 + RING) * 3; i += 3) {
            const double arm[3] = {rest[i] - rest[0], rest[i + 1] - rest[1], rest[i + 2] - rest[2]};
            quat_apply(quat, arm, x + i);
            x[i] += 0.0004 * turn, x[i + 1] -= 0.0003 * turn;
            x[i + 2] += 0.01 + (turn < TURNS / 2 ? 0.001 : -0.008);
            v[i] = 0.1 + x[i + 2], v[i + 1] = 3.0 * x[i];
        }
        assert_ok(orr_world_set_soft(s.world, 0, layer, x, v, &error));
        worst = fmax(worst, off_by(&s, x, &pressed));
        before = turn < TURNS / 2 ? pressed : before;
    }
    print_message("%d taxels pressed, off by %.2g N\n", pressed, worst);
    assert_true(before == 0 && pressed >= TURNS / 2);
    assert_true(worst < 1e-8); // of floats of up to 8 mN
    stage_close(&s);
}

// The pad is in the middle of a cube that is much larger, and is felt as deep as the pad's sphere goes.
static void deep_pads_are_felt_to_their_reach(void **state)
{
    (void)state;
    enum { TURNS = 40 };
    stage s = stage_on(table, NULL, 1);
    const orr_layer layer = orr_scene_layer(s.scene, 1);
    double rest[MOST], x[MOST], v[MOST], worst = 0.0;
    int pressed = 0, none = 0, all = 0;
    assert_ok(orr_world_get_soft(s.world, 0, layer, rest, NULL, &error));
    for (int turn = 0; turn < TURNS; turn++) {
        // one of its sides is `far` from the middle of the pad, on the way that x of the cube has
        const double far = 0.012 + 0.0012 * turn;
        double quat[4] = {cos(turn), sin(2.0 * turn), sin(1.0 + 3.0 * turn), 0.5 * cos(5.0 * turn)};
        quat_normalise(quat);
        for (int i = 0; i < MOST; i += 3) {
            const double arm[3] = {5.0 * (rest[i] + 0.005) + 0.1 - far, 5.0 * rest[i + 1],
                                   5.0 * (rest[i + 2] - 0.0301)};
            quat_apply(quat, arm, x + i);
            x[i + 2] += 0.01;
            v[i] = 0.02 * turn - arm[1], v[i + 1] = 2.0 * arm[2], v[i + 2] = arm[0];
        }
        assert_ok(orr_world_set_soft(s.world, 0, layer, x, v, &error));
        const int before = pressed;
        worst = fmax(worst, off_by(&s, x, &pressed));
        none += pressed == before, all += pressed == before + TAXELS;
    }
    print_message("%d taxels pressed, off by %.2g N; %d times none, %d times all\n", pressed, worst, none,
                  all);
    assert_true(none >= 2 && all >= 1 && none + all < TURNS / 2);
    assert_true(worst < 2e-8); // of floats of up to 90 mN
    stage_close(&s);
}

// A closed shell of cloth presses, by half its thickness more; one that is open does not.
static void closed_cloth_presses(void **state)
{
    (void)state;
    static const char plate[] = "<mujoco><option gravity='0 0 0'/><worldbody><body><freejoint/>"
                                "<geom name='pad' type='box' size='.03 .02 .01' mass='1'/></body>"
                                "</worldbody></mujoco>";
    const orr_body_desc shell = {
        .soft = true, .density = 1000.0, .young = 1e5, .poisson = 0.3, .cloth = 1e-3};
    for (int triangles = 12; triangles >= 10; triangles -= 2) {
        const orr_transform at = {.position = {0.0f, 0.0f, 0.0285f}, .rotation = {1.0f}, .scale = 1.0f};
        stage s = stage_on(plate, NULL, 1);
        const orr_tactile_desc desc = {.geom = s.pad};
        const orr_layer layer = add_block(s.scene, (const float[3]){0.02f, 0.02f, 0.02f}, &at, triangles);
        assert_ok(orr_scene_set_physics(s.scene, layer, &shell, &error));
        assert_ok(orr_world_get_tactile(s.world, s.robot, &desc, NULL, forces[0], heights[0], &error));
        const float middle = forces[0][(ROWS / 2 * COLUMNS + COLUMNS / 2) * 3];
        print_message("%d triangles: %.6g N\n", triangles, (double)middle);
        assert_true(fabs((double)middle - (triangles == 12 ? 2e-3 : 0.0)) < 1e-8);
        stage_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stiff_cube_presses_as_a_rigid_box),
        cmocka_unit_test(a_deformed_cube_presses_as_the_formula_says),
        cmocka_unit_test(sharp_edges_press_as_the_formula_says),
        cmocka_unit_test(tips_of_slivers_press_as_the_formula_says),
        cmocka_unit_test(deep_pads_are_felt_to_their_reach),
        cmocka_unit_test(closed_cloth_presses),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
