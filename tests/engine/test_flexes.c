// Soft bodies of MJCF against MuJoCo's (tests/golden/record_flexes.py), and as layers of scenes.
#include "engine/maths/rotation.h"
#include "engine/maths/vector.h"
#include "physics/load/load.h"
#include "physics/pose/rest_pose.h"
#include "physics/soft/mesh/embed.h"
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define assert_near(value, expected, tolerance)                                                              \
    do {                                                                                                     \
        const double assert_near_ = (value);                                                                 \
        if (!(fabs(assert_near_ - (expected)) <= (tolerance))) {                                             \
            fail_msg(#value " is %.9g: expected %.9g", assert_near_, (double)(expected));                    \
        }                                                                                                    \
    } while (0)

static int by_number(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

// A flex of the recording: points, pins and, whatever the turn of each, elements.
static void compare_flex(FILE *file, const orr_model *m, const double *xpos, const double *xquat)
{
    char name[64];
    int dim, points, elements, pinned_count = 0;
    double mass;
    assert_int_equal(fscanf(file, " flex %63s %d %d %d %lf", name, &dim, &points, &elements, &mass), 5);
    const int flex = orr_model_find(m, ORR_OBJECT_FLEX, name);
    assert_true(flex >= 0);
    assert_int_equal(m->flex_dim[flex], dim);
    assert_int_equal(m->flex_vertnum[flex], points);
    assert_int_equal(m->flex_elemnum[flex], elements);
    const int body = m->flex_bodyid[flex], first = m->flex_vertadr[flex];
    for (int i = 0; i < points; i++) {
        double p[3], at[3];
        int pinned;
        assert_int_equal(fscanf(file, "%lf %lf %lf %d", &p[0], &p[1], &p[2], &pinned), 4);
        quat_apply(xquat + 4 * body, m->flex_vert + 3 * (first + i), at);
        for (int k = 0; k < 3; k++) {
            assert_near(at[k] + xpos[3 * body + k], p[k], 1e-7);
        }
        assert_int_equal(m->flex_pinned[first + i], pinned);
        pinned_count += pinned;
    }
    assert_near(m->flex_mass[flex] * (points - pinned_count), mass, 1e-7);
    const int32_t *element = m->flex_elem + m->flex_elemdataadr[flex];
    for (int i = 0; i < elements; i++, element += dim + 1) {
        int expected[4] = {0}, own[4] = {0};
        for (int k = 0; k <= dim; k++) {
            assert_int_equal(fscanf(file, "%d", &expected[k]), 1);
            own[k] = element[k];
        }
        qsort(expected, (size_t)dim + 1, sizeof(int), by_number);
        qsort(own, (size_t)dim + 1, sizeof(int), by_number);
        if (memcmp(own, expected, ((size_t)dim + 1) * sizeof(int)) != 0) {
            fail_msg("%s: element %d: %d %d %d %d: expected %d %d %d %d", name, i, own[0], own[1], own[2],
                     own[3], expected[0], expected[1], expected[2], expected[3]);
        }
    }
}

static void shapes_are_mujocos(void **state)
{
    (void)state;
    orr_model *m;
    assert_ok(orr_model_load(source_path("tests/golden/flexes/shapes.xml"), &m, &error));
    double *xpos = malloc(7 * (size_t)m->nbody * sizeof *xpos), *xquat = xpos + 3 * (ptrdiff_t)m->nbody;
    assert_ok(orr_model_rest_pose(m, xpos, xquat, &error));
    FILE *file = fopen(source_path("tests/golden/flexes/shapes.txt"), "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "# mujoco %*s"), 0);
    assert_int_equal(m->nflex, 26);
    for (int i = 0; i < m->nflex; i++) {
        compare_flex(file, m, xpos, xquat);
    }
    fclose(file);
    free(xpos);
    orr_model_destroy(m);
}

static orr_scene *load_scene(const char *path)
{
    orr_scene *scene;
    assert_ok(orr_scene_load(engine, path, &scene, &error));
    return scene;
}

// How far points of a soft layer are at most from those of the file, and how far they have gone, of its size.
static void compare_layer(const orr_scene *scene, const orr_world *world, orr_layer layer,
                          const double *start, FILE *file, double *off, double *moved)
{
    orr_soft_info info;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, size = 0.0;
    assert_ok(orr_scene_soft_info(scene, layer, &info, &error));
    double *x = malloc(3 * (size_t)info.vertex_count * sizeof *x);
    assert_ok(orr_world_get_soft(world, 0, layer, x, NULL, &error));
    for (int i = 0; i < 3 * info.vertex_count; i++) {
        low[i % 3] = fmin(low[i % 3], info.rest[i]), high[i % 3] = fmax(high[i % 3], info.rest[i]);
        size = fmax(size, high[i % 3] - low[i % 3]);
    }
    for (int i = 0; i < info.vertex_count; i++) {
        double p[3], apart[3], way[3];
        assert_int_equal(fscanf(file, "%lf %lf %lf", &p[0], &p[1], &p[2]), 3);
        for (int k = 0; k < 3; k++) {
            apart[k] = p[k] - x[3 * i + k], way[k] = p[k] - start[3 * i + k];
        }
        *off = fmax(*off, vec3_length(apart) / size);
        *moved = fmax(*moved, vec3_length(way) / size);
    }
    free(x);
}

// After a second, each point is within 2 % of the body's size of where MuJoCo has it, of most much nearer.
static void bodies_move_as_mujocos(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double tolerance; // of its size
    } models[] = {{"bar", 0.02},    {"beam", 0.02},   {"flag", 0.02},       {"jelly", 0.002},
                  {"rope", 0.02},   {"strip", 0.02},  {"trampoline", 0.02}, // those below touch
                  {"bounce", 0.01}, {"bridge", 0.01}, {"cushion", 0.01},    {"gripper", 0.02},
                  {"load", 0.005},  {"roller", 0.01}, {"caught", 0.02},     {"slope", 0.006},
                  {"stack", 0.01}};
    enum { LAYERS = 4, NUMBERS = 3 * 256 };
    static double start[LAYERS][NUMBERS];
    for (size_t n = 0; n < sizeof models / sizeof models[0]; n++) {
        orr_scene *scene = load_scene(source_path("tests/golden/flexes/%s.xml", models[n].name));
        orr_world *world;
        assert_ok(orr_world_create(scene, 1, &world, &error));
        const int layers = orr_scene_layer_count(scene);
        assert_true(layers >= 2 && layers <= LAYERS);
        for (int i = 1; i < layers; i++) {
            orr_soft_info info;
            assert_ok(orr_scene_soft_info(scene, orr_scene_layer(scene, i), &info, &error));
            assert_true(3 * info.vertex_count <= NUMBERS);
            assert_ok(orr_world_get_soft(world, 0, orr_scene_layer(scene, i), start[i], NULL, &error));
        }
        assert_ok(orr_world_advance(world, 1.0, &error));
        FILE *file = fopen(source_path("tests/golden/flexes/%s.txt", models[n].name), "r");
        assert_non_null(file);
        assert_int_equal(fscanf(file, "# mujoco %*s"), 0);
        double off = 0.0, moved = 0.0;
        for (int i = 1; i < layers; i++) {
            compare_layer(scene, world, orr_scene_layer(scene, i), start[i], file, &off, &moved);
        }
        fclose(file);
        print_message("%s: %.2g of its size off, %.2g moved\n", models[n].name, off, moved);
        assert_true(off < models[n].tolerance && moved > 0.02);
        orr_world_destroy(world);
        orr_scene_destroy(scene);
    }
}

static const char carried[] =
    "<mujoco><option timestep='0.004'/><worldbody><geom type='plane' size='0 0 1' contype='0' "
    "conaffinity='0'/>"
    "<body name='rail' pos='0 0 1'><joint name='j' type='slide' axis='1 0 0'/><geom type='box' size='.05 .3 "
    ".02' mass='5'/>"
    "<flexcomp name='cloth' count='4 6 1' spacing='.05 .05 .05' pos='.1 0 0' mass='.2' rgba='1 0 0 1'"
    "><contact contype='0' conaffinity='0'/><elasticity young='1e5' thickness='.002' damping='.02'"
    " elastic2d='both'/><pin gridrange='0 0 0 5'/></flexcomp></body>"
    "<flexcomp name='rope' dim='1' type='grid' count='5 1 1' spacing='.1 .1 .1' pos='0 1 1' radius='.02'>"
    "<edge equality='true' damping='.5'/><pin id='0'/></flexcomp>"
    "<flexcomp name='ghost' dim='3' count='2 2 2' spacing='.1 .1 .1' pos='2 0 1' group='4'><contact "
    "contype='0'"
    " conaffinity='0'/><elasticity young='1e4'/></flexcomp>"
    "</worldbody><actuator><motor joint='j' gear='1'/></actuator></mujoco>";

static orr_layer layer_named(const orr_scene *scene, const char *name, orr_layer_info *info)
{
    for (int i = 0; i < orr_scene_layer_count(scene); i++) {
        assert_ok(orr_scene_layer_info(scene, orr_scene_layer(scene, i), info, &error));
        if (strcmp(info->name, name) == 0) {
            return orr_scene_layer(scene, i);
        }
    }
    fail_msg("no layer %s", name);
    return (orr_layer){0};
}

// Two cloths fall, one of which its bits let through the floor; and two pairs of triangles, of which one does
// not touch itself.
static void bits_decide_what_touches(void **state)
{
    (void)state;
    static const char text[] =
        "<mujoco><worldbody><geom type='plane' size='0 0 1'/>"
        "<flexcomp name='stays' count='3 3 1' spacing='.1 .1 .1' pos='0 0 .1'><edge equality='true'/>"
        "</flexcomp><flexcomp name='passes' count='3 3 1' spacing='.1 .1 .1' pos='1 0 .1'>"
        "<contact contype='2' conaffinity='2'/><edge equality='true'/></flexcomp>"
        "<flexcomp name='closed' type='direct' dim='2' pos='2 0 .1' point='0 0 0 .2 0 0 0 .2 0 0 0 .1 .2 0 "
        ".1 0 .2 .1' element='0 1 2 3 4 5' radius='.02'><elasticity young='1e4' thickness='.01' "
        "elastic2d='both'/></flexcomp><flexcomp name='open' type='direct' dim='2' pos='3 0 .1' point='0 0 0 "
        ".2 0 0 0 .2 0 0 0 .1 .2 0 .1 0 .2 .1' element='0 1 2 3 4 5' radius='.02'><contact "
        "selfcollide='none'/><elasticity young='1e4' thickness='.01' elastic2d='both'/></flexcomp>"
        "</worldbody></mujoco>";
    orr_scene *scene = load_scene(written("bits.xml", text));
    orr_world *world;
    orr_layer_info info;
    double x[4][27];
    static const char *const names[] = {"bits.xml/stays", "bits.xml/passes", "bits.xml/closed",
                                        "bits.xml/open"};
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_world_advance(world, 0.6, &error));
    for (int i = 0; i < 4; i++) {
        assert_ok(orr_world_get_soft(world, 0, layer_named(scene, names[i], &info), x[i], NULL, &error));
    }
    print_message("floor: %g and %g m; itself: %g and %g m\n", x[0][2], x[1][2], x[2][11] - x[2][2],
                  x[3][11] - x[3][2]);
    assert_near(x[0][2], 0.005, 1e-3);
    assert_true(x[1][2] < -1.0);
    assert_true(x[2][11] - x[2][2] > 0.02 && fabs(x[3][11] - x[3][2]) < 0.015);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

// Cloth on a cart, a rope on the world, and a block that touches nothing: two copies, one of which is pushed.
static void a_robot_carries_its_cloth(void **state)
{
    (void)state;
    enum { VERTICES = 24 };
    orr_scene *scene = load_scene(written("cart.xml", carried));
    assert_int_equal(orr_scene_layer_count(scene), 4);
    orr_layer_info mesh;
    orr_soft_info soft;
    const orr_layer cart = layer_named(scene, "cart.xml", &mesh);
    const orr_layer cloth = layer_named(scene, "cart.xml/cloth", &mesh);
    assert_int_equal(mesh.count, 2 * 3 * 5);
    assert_ok(orr_scene_soft_info(scene, cloth, &soft, &error));
    assert_int_equal(soft.vertex_count, VERTICES);
    assert_near(soft.mass[0], 0.2 / VERTICES, 1e-12);
    const orr_layer rope = layer_named(scene, "cart.xml/rope", &mesh);
    const orr_layer ghost = layer_named(scene, "cart.xml/ghost", &mesh);
    orr_world *world;
    assert_ok(orr_world_create(scene, 2, &world, &error));
    const double pull = -10.0;
    double q, x[3 * VERTICES], other[3 * VERTICES], r[15], g[24];
    assert_ok(orr_world_set_robot(world, 1, cart, ORR_ROBOT_CTRL, &pull, &error));
    assert_ok(orr_world_advance(world, 0.4, &error));
    assert_ok(orr_world_get_soft(world, 0, cloth, other, NULL, &error));
    assert_ok(orr_world_get_soft(world, 1, cloth, x, NULL, &error));
    assert_ok(orr_world_get_robot(world, 1, cart, ORR_ROBOT_QPOS, &q, &error));
    print_message("cart at %g, alone at %g\n", q, 0.5 * pull / 5.0 * 0.4 * 0.404);
    assert_true(q < -0.1 && q > 0.99 * 0.5 * pull / 5.0 * 0.4 * 0.404); // it pulls the cloth, too
    for (int i = 0; i < 6; i++) { // the pinned row follows the cart, the last falls
        assert_near(x[3 * i] - q, 0.1 - 0.075, 5e-3);
        assert_near(x[3 * i + 2], 1.0, 5e-3);
        assert_true(x[3 * (18 + i) + 2] < 0.96 && other[3 * (18 + i) + 2] < 0.96);
        assert_near(other[3 * i], 0.1 - 0.075, 2e-2);
    }
    assert_ok(orr_world_get_soft(world, 0, rope, r, NULL, &error));
    assert_ok(orr_scene_soft_info(scene, rope, &soft, &error));
    assert_true(soft.edge_count == 4 && soft.edges[7] == 4 && soft.triangle_count == 0);
    assert_near(r[0], -0.2, 1e-6);
    for (int i = 1; i < 5; i++) { // it swings down, and keeps its length
        double d[3] = {r[3 * i] - r[3 * i - 3], r[3 * i + 1] - r[3 * i - 2], r[3 * i + 2] - r[3 * i - 1]};
        // as in MuJoCo they are 2 to 8 % longer: rows yield, and do not resist that they turn
        const double length = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        assert_true(length > 0.1 && length < 0.113);
    }
    assert_true(r[14] < 0.9);
    assert_ok(orr_world_advance(world, 0.4, &error));
    assert_ok(orr_world_get_soft(world, 0, ghost, g, NULL, &error));
    assert_true(g[2] < -0.5); // through the floor
    assert_ok(orr_scene_remove(scene, cart, &error));
    assert_int_equal(orr_scene_layer_count(scene), 0); // its soft bodies go with it
    assert_ok(orr_world_advance(world, 0.1, &error));
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

// What is drawn around an edge turns and stretches with it.
static void links_follow_their_edge(void **state)
{
    (void)state;
    static const double now[][3] = {{2.0, 0.0, 0.0}, {0.3, -0.4, 0.1}, {0.0, 0.0, 1.0}, {0.0, 0.0, -0.5}};
    double rest[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 1.0};
    int32_t ends[2] = {0, 1};
    const orr_soft_cage cage = {.vertices = 2, .vertex = rest, .edges = 1, .edge = ends};
    orr_jobs *jobs;
    assert_int_equal(orr_soft_pieces(&cage), 1);
    assert_ok(orr_jobs_create(1, NULL, NULL, &jobs, &error));
    for (size_t n = 0; n < sizeof now / sizeof now[0]; n++) {
        const double position[6] = {5.0, 6.0, 7.0, 5.0 + now[n][0], 6.0 + now[n][1], 7.0 + now[n][2]};
        const double length = sqrt(vec3_dot(now[n], now[n]));
        static const float points[2][3] = {{0.1f, 0.0f, 0.25f}, {0.06f, -0.08f, 0.75f}};
        orr_affine_piece piece;
        orr_soft_affines(&cage, position, 1.0, jobs, &piece);
        for (int i = 0; i < 2; i++) {
            double off[3], along = 0.0;
            for (int k = 0; k < 3; k++) {
                const float *row = piece.matrix + 3 * k;
                off[k] = (double)(row[0] * points[i][0] + row[1] * points[i][1] + row[2] * points[i][2]) +
                         (double)piece.offset[k] - position[k];
                along += off[k] * now[n][k] / length;
            }
            assert_near(along, (i == 0 ? 0.25 : 0.75) * length, 1e-5);
            assert_near(sqrt(vec3_dot(off, off) - along * along), 0.1, 1e-4);
        }
    }
    orr_jobs_destroy(jobs);
}

static void mistakes_name_the_body(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected;
    } wrong[] = {
        {"<mujoco><worldbody><flexcomp name='f' dim='3' type='direct' point='0 0 0 1 0 0 0 1 0 1 1 0' "
         "element='0 1 "
         "2 3'><elasticity young='1'/></flexcomp></worldbody></mujoco>",
         "flex.xml:1: <flexcomp>: element 0 (points 0 1 2 3): expected a volume above 0"},
        {"<mujoco><worldbody><flexcomp name='f' dim='2' type='direct' point='0 0 0 1 0 0 2 0 0' element='0 1 "
         "2'/></worldbody></mujoco>",
         "flex.xml:1: <flexcomp>: element 0 (points 0 1 2): expected an area above 0"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        orr_scene *scene;
        orr_error why = {0};
        assert_int_not_equal(orr_scene_load(engine, written("flex.xml", wrong[i].text), &scene, &why),
                             ORR_OK);
        if (!strstr(why.message, wrong[i].expected)) {
            fail_msg("%s: expected %s", why.message, wrong[i].expected);
        }
    }
}

// A block that falls without being bent: its nodes are bodies of the robot, which its surface follows.
static void nodes_are_bodies_of_the_robot(void **state)
{
    (void)state;
    enum { NODES = 27 };
    orr_scene *scene = load_scene(source_path("tests/golden/flex_nodes/block.xml"));
    orr_robot_info info;
    assert_int_equal(orr_scene_layer_count(scene), 2);
    const orr_layer robot = orr_scene_layer(scene, 0);
    assert_ok(orr_scene_robot_info(scene, robot, &info, &error));
    assert_true(info.soft_count == 0 && info.body_count == 3 + NODES && info.qpos_count == 3 * NODES + 1);
    orr_world *world;
    double qpos[3 * NODES + 1];
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_world_advance(world, 0.2, &error));
    assert_ok(orr_world_get_robot(world, 0, robot, ORR_ROBOT_QPOS, qpos, &error));
    for (int i = 0; i < 3 * NODES; i++) { // of 200 steps of 1 ms; rounding of floats at 2 m
        assert_near(qpos[i], i % 3 == 2 ? -0.5 * 9.81 * 0.2 * 0.201 : 0.0, 2e-5);
    }
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_mujocos),
        cmocka_unit_test(bodies_move_as_mujocos),
        cmocka_unit_test(bits_decide_what_touches),
        cmocka_unit_test(a_robot_carries_its_cloth),
        cmocka_unit_test(links_follow_their_edge),
        cmocka_unit_test(mistakes_name_the_body),
        cmocka_unit_test(nodes_are_bodies_of_the_robot),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
