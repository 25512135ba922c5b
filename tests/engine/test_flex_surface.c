// The surface of soft bodies that nodes move: its points against MuJoCo's
// (tests/golden/record_flex_nodes.py), and that every picture of every copy shows it where its nodes are.
#include "engine/maths/rotation.h"
#include "tests/physics/golden_numbers.h"
#include "tests/support/engine.h"

#include <math.h>
#include <string.h>

enum { NUMBERS_MAX = 256, POINTS_MAX = 128, COPIES = 3 };

static orr_layer layer_named(const orr_scene *scene, const char *name)
{
    for (int i = 0; i < orr_scene_layer_count(scene); i++) {
        orr_layer_info info;
        assert_ok(orr_scene_layer_info(scene, orr_scene_layer(scene, i), &info, &error));
        if (strcmp(info.name, name) == 0) {
            return orr_scene_layer(scene, i);
        }
    }
    fail_msg("no layer %s", name);
    return (orr_layer){0};
}

typedef struct stage {
    orr_scene *scene;
    orr_world *world;
    orr_layer robot, surface;
} stage;

static stage open_stage(const char *path, const char *name, const char *flex)
{
    stage s;
    char part[64];
    snprintf(part, sizeof part, "%s/%s", name, flex);
    assert_ok(orr_scene_load(engine, path, &s.scene, &error));
    assert_int_equal(orr_scene_layer_count(s.scene), 2);
    s.robot = layer_named(s.scene, name);
    s.surface = layer_named(s.scene, part);
    assert_ok(orr_world_create(s.scene, COPIES, &s.world, &error));
    return s;
}

static void close_stage(stage *s)
{
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
}

// The farthest that numbers are from MuJoCo's, moved by a transform; of velocities turned alone.
static double farthest(const double *got, const double *expected, int points, const orr_transform *t,
                       bool velocities)
{
    double most = 0.0, quat[4];
    for (int k = 0; k < 4; k++) {
        quat[k] = t ? (double)t->rotation[k] : k == 0;
    }
    quat_normalise(quat);
    for (int i = 0; i < points; i++) {
        double at[3];
        quat_apply(quat, expected + 3 * (ptrdiff_t)i, at);
        for (int k = 0; k < 3; k++) {
            at[k] = t ? at[k] * (double)t->scale + (velocities ? 0.0 : (double)t->position[k]) : at[k];
            const double off = fabs(got[3 * i + k] - at[k]);
            most = fmax(most, isfinite(off) ? off : INFINITY);
        }
    }
    return most;
}

static void points_are_mujocos(void **state)
{
    (void)state;
    static const char *const models[] = {"beam", "block", "wedge", "ball"};
    const orr_transform placed = {
        .position = {0.5f, -2.0f, 1.0f}, .rotation = {0.8f, 0.0f, 0.6f, 0.0f}, .scale = 2.0f};
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        char name[64], path[1024];
        double x[3 * POINTS_MAX], v[3 * POINTS_MAX], worst[2] = {0.0, 0.0};
        snprintf(name, sizeof name, "%s.xml", models[i]);
        snprintf(path, sizeof path, "%s", source_path("tests/golden/flex_nodes/%s", name));
        stage s = open_stage(path, name, models[i]);
        snprintf(name, sizeof name, "flex_nodes/%s_points", models[i]);
        golden_numbers g = golden_numbers_load(name);
        double *numbers = g.numbers;
        const double *sizes = golden_numbers_take(&g, 4);
        const int points = (int)sizes[2];
        orr_soft_info info;
        assert_ok(orr_scene_soft_info(s.scene, s.surface, &info, &error));
        assert_true(points == info.vertex_count && points <= POINTS_MAX);
        assert_ok(orr_world_set_transform(s.world, 2, s.robot, &placed, &error));
        for (int k = 0; k < (int)sizes[3]; k++) {
            const double *qpos = golden_numbers_take(&g, (int)sizes[0]),
                         *qvel = golden_numbers_take(&g, (int)sizes[1]),
                         *points_at = golden_numbers_take(&g, 3 * points),
                         *moving = golden_numbers_take(&g, 3 * points);
            for (int copy = 1; copy < COPIES; copy++) {
                const orr_transform *t = copy == 2 ? &placed : NULL;
                assert_ok(orr_world_set_robot(s.world, copy, s.robot, ORR_ROBOT_QPOS, qpos, &error));
                assert_ok(orr_world_set_robot(s.world, copy, s.robot, ORR_ROBOT_QVEL, qvel, &error));
                assert_ok(orr_world_get_soft(s.world, copy, s.surface, x, v, &error));
                worst[0] = fmax(worst[0], farthest(x, points_at, points, t, false));
                worst[1] = fmax(worst[1], farthest(v, moving, points, t, true));
            }
        }
        print_message("%s: points %.1e m, velocities %.1e m/s\n", models[i], worst[0], worst[1]);
        assert_ptr_equal(g.next, g.behind);
        // bodies are drawn in float, at up to 5 m, and physics is in float
        assert_true(worst[0] < 3e-6 && worst[1] < 1e-5);
        assert_ok(orr_world_get_soft(s.world, 0, s.surface, x, v, &error)); // a copy that nothing has moved
        for (int k = 0; k < 3 * points; k++) {
            assert_true(v[k] == 0.0);
        }
        close_stage(&s);
        orr_free(numbers);
    }
}

static const char arm[] =
    "<mujoco><worldbody><body name='p' pos='0 0 1'><joint type='hinge' axis='0 1 0'/><geom size='.05'/>"
    "<flexcomp name='f' dim='3' count='4 3 3' spacing='.1 .1 .1' pos='.2 0 0' dof='trilinear' cellcount='2 1 "
    "1' mass='1'><contact contype='0' conaffinity='0'/><elasticity young='1e4'/><pin gridrange='0 0 0 0 1 "
    "1'/>"
    "</flexcomp></body></worldbody></mujoco>";

// A body that turns holds some of the nodes, and the others are in it: velocities are slopes of positions.
static void a_body_takes_its_nodes_along(void **state)
{
    (void)state;
    enum { DOFS = 1 + 3 * 8, POINTS = 36 };
    const double step = 0.01; // s
    stage s = open_stage(written("arm.xml", arm), "arm.xml", "f");
    double x[3][3 * POINTS], v[3 * POINTS], qpos[DOFS], qvel[DOFS], worst = 0.0, fastest = 0.0;
    orr_robot_info info;
    orr_soft_info soft;
    assert_ok(orr_scene_robot_info(s.scene, s.robot, &info, &error));
    assert_ok(orr_scene_soft_info(s.scene, s.surface, &soft, &error));
    assert_true(info.qpos_count == DOFS && soft.vertex_count == POINTS);
    for (int i = 0; i < DOFS; i++) {
        qvel[i] = i == 0 ? 2.0 : sin(1.3 * i);
    }
    assert_ok(orr_world_set_robot(s.world, 1, s.robot, ORR_ROBOT_QVEL, qvel, &error));
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < DOFS; i++) {
            qpos[i] = 0.02 * i + (k - 1) * step * qvel[i];
        }
        assert_ok(orr_world_set_robot(s.world, 1, s.robot, ORR_ROBOT_QPOS, qpos, &error));
        assert_ok(orr_world_get_soft(s.world, 1, s.surface, x[k], k == 1 ? v : NULL, &error));
    }
    for (int i = 0; i < 3 * POINTS; i++) {
        worst = fmax(worst, fabs((x[2][i] - x[0][i]) / (2.0 * step) - v[i]));
        fastest = fmax(fastest, fabs(v[i]));
    }
    print_message("velocities %.1e of %.1e m/s\n", worst, fastest);
    // step^2 / 6 of a third derivative of some 20 m/s^3, as it turns by 2 rad/s; floats of 1 m over 2 step
    assert_true(fastest > 0.5 && worst < 1e-3);
    close_stage(&s);
}

enum { SIDE = 48, PIXELS = SIDE * SIDE };

typedef struct pictures {
    float depth[COPIES][PIXELS], flow[COPIES][PIXELS][2];
    int32_t seen[COPIES][PIXELS][2];
} pictures;

static pictures shown;

static void draw(orr_eyes *eyes)
{
    assert_ok(orr_eyes_draw(eyes, NULL,
                            &(orr_eyes_pictures){.depth = &shown.depth[0][0],
                                                 .segmentation = &shown.seen[0][0][0],
                                                 .flow = &shown.flow[0][0][0]},
                            &error));
}

// Pixels that show the surface, their middle and mean depth.
typedef struct patch {
    int count;
    double right, down, depth;
} patch;

static patch patch_of(int copy)
{
    patch p = {0};
    for (int i = 0; i < PIXELS; i++) {
        if (shown.seen[copy][i][0] == 1) {
            p.count++, p.right += i % SIDE, p.down += i / SIDE;
            p.depth += (double)shown.depth[copy][i];
        }
    }
    const double by = p.count > 0 ? 1.0 / p.count : 0.0;
    return (patch){p.count, p.right * by, p.down * by, p.depth * by};
}

static const char cube[] =
    "<mujoco><option timestep='.001'/><worldbody><body name='p' pos='0 0 1'>"
    "<flexcomp name='f' dim='3' count='4 4 4' spacing='.1 .1 .1' dof='trilinear' mass='1'>"
    "<contact contype='0' conaffinity='0'/><elasticity young='1e4' poisson='.3' damping='.01'/>"
    "</flexcomp></body></worldbody></mujoco>";

// A cube of 0.3 m seen from 2 m: copy 0 rests, in copy 1 all of its nodes are 0.3 m to the right and in copy
// 2 those above are 0.2 m nearer.
static void pictures_follow_the_nodes(void **state)
{
    (void)state;
    enum { NODES = 8 };
    stage s = open_stage(written("cube.xml", cube), "cube.xml", "f");
    orr_eyes *eyes;
    const orr_camera camera = orr_camera_look_at((float[]){0.0f, -2.0f, 1.0f}, (float[]){0.0f, 0.0f, 1.0f},
                                                 (float[]){0.0f, 0.0f, 1.0f}, 0.8f, SIDE, SIDE);
    const orr_eyes_desc desc = {
        .views = &camera, .view_count = 1, .width = SIDE, .height = SIDE, .flow = true};
    assert_ok(orr_eyes_create(s.world, &desc, &eyes, &error));
    draw(eyes);
    const patch rest = patch_of(0);
    const double pixel = (double)camera.focal[0] / 1.85; // px for each metre in the front face
    assert_true(fabs(rest.count - pow(0.3 * pixel, 2.0)) < 4.0 * 0.3 * pixel); // all but a rim of pixels
    assert_true(fabs(rest.depth - 1.85) < 1e-3);
    for (int copy = 1; copy < COPIES; copy++) {
        double qpos[3 * NODES] = {0.0};
        for (int i = 0; i < NODES; i++) {
            qpos[3 * i] = copy == 1 ? 0.3 : 0.0;
            qpos[3 * i + 1] = copy == 2 && i % 2 == 1 ? -0.2 : 0.0;
        }
        assert_ok(orr_world_set_robot(s.world, copy, s.robot, ORR_ROBOT_QPOS, qpos, &error));
    }
    draw(eyes);
    const patch still = patch_of(0), right = patch_of(1), bent = patch_of(2);
    assert_true(still.count == rest.count && still.right == rest.right);
    assert_true(fabs(right.right - rest.right - 0.3 * pixel) < 1.0 && fabs(right.down - rest.down) < 0.5);
    assert_true(fabs(bent.depth - 1.75) < 0.01); // the middle of the face: it slopes by 0.2 m
    double flow[2] = {0.0, 0.0}, most = 0.0;
    for (int i = 0; i < PIXELS; i++) {
        if (shown.seen[1][i][0] == 1) {
            flow[0] += (double)shown.flow[1][i][0] / right.count;
            flow[1] += (double)shown.flow[1][i][1] / right.count;
        }
        most = fmax(most, fabs((double)shown.flow[0][i][0]));
    }
    assert_true(fabs(flow[0] - 0.3 * pixel) < 0.5 && fabs(flow[1]) < 0.1 && most < 1e-4);
    // copy 1 is reset by a mask, and falls: 100 steps of 1 ms; the others stay as they are
    assert_ok(orr_world_reset_masked(s.world, (const uint8_t[]){0, 1, 0}, &error));
    draw(eyes);
    assert_true(patch_of(1).right == rest.right && patch_of(2).depth == bent.depth);
    assert_ok(orr_world_step_masked(s.world, 100, (const uint8_t[]){0, 1, 0}, &error));
    draw(eyes);
    const double fallen = 0.5 * 9.81 * 0.1 * 0.101;
    assert_true(fabs(patch_of(1).down - rest.down - fallen * pixel) < 0.5 && patch_of(0).down == rest.down);
    orr_eyes_destroy(eyes);
    close_stage(&s);
}

// A frame, whose pose is that of the viewer, of every copy.
static void frames_follow_the_nodes(void **state)
{
    (void)state;
    stage s = open_stage(written("cube.xml", cube), "cube.xml", "f");
    double qpos[24] = {0.0};
    for (int i = 0; i < 8; i++) {
        qpos[3 * i + 2] = 5.0; // out of the picture
    }
    assert_ok(orr_world_set_robot(s.world, 1, s.robot, ORR_ROBOT_QPOS, qpos, &error));
    for (int copy = 0; copy < 2; copy++) {
        orr_hit hit;
        const orr_view view = {.camera = orr_camera_look_at((float[]){0.0f, -2.0f, 1.0f},
                                                            (float[]){0.0f, 0.0f, 1.0f},
                                                            (float[]){0.0f, 0.0f, 1.0f}, 0.8f, SIDE, SIDE),
                               .world = copy};
        assert_ok(orr_world_pick(s.world, &view, 0.5f * SIDE, 0.5f * SIDE, &hit, &error));
        assert_true((hit.layer.slot == s.surface.slot) == (copy == 0));
        assert_true(copy == 1 || fabs(hit.depth - 1.85) < 1e-4);
    }
    close_stage(&s);
}

// MuJoCo takes tetrahedra of any order of their points, and so does what draws them.
static void tetrahedra_may_be_turned_over(void **state)
{
    (void)state;
    static const char *const elements[] = {"0 1 2 3", "0 2 1 3"};
    int32_t tet[2][4];
    for (int i = 0; i < 2; i++) {
        char text[512];
        orr_soft_info info;
        snprintf(text, sizeof text,
                 "<mujoco><worldbody><body name='p'><flexcomp name='f' dim='3' type='direct' dof='trilinear' "
                 "point='0 0 0 1 0 0 0 1 0 0 0 1' element='%s'><contact contype='0' conaffinity='0'/>"
                 "</flexcomp></body></worldbody></mujoco>",
                 elements[i]);
        stage s = open_stage(written("turned.xml", text), "turned.xml", "f");
        assert_ok(orr_scene_soft_info(s.scene, s.surface, &info, &error));
        assert_true(info.tet_count == 1 && info.vertex_count == 4);
        memcpy(tet[i], info.tets, sizeof tet[i]);
        close_stage(&s);
    }
    assert_memory_equal(tet[0], ((const int32_t[]){0, 1, 2, 3}), sizeof tet[0]);
    assert_memory_equal(tet[1], ((const int32_t[]){0, 2, 3, 1}), sizeof tet[1]);
}

// What has no state of its own is not set; its robot says whether it diverged, and takes it along when it
// goes.
static void its_state_is_the_robots(void **state)
{
    (void)state;
    stage s = open_stage(written("cube.xml", cube), "cube.xml", "f");
    double x[3 * 64] = {0.0}, qvel[24];
    orr_error why;
    bool diverged;
    assert_int_equal(orr_world_set_soft(s.world, 0, s.surface, x, NULL, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(
        strstr(why.message, "cube.xml/f: nodes move it: expected the QPOS and QVEL of its robot"));
    assert_int_equal(orr_world_get_soft(s.world, COPIES, s.surface, x, NULL, &why), ORR_ERROR_ARGUMENT);
    assert_ok(orr_world_robot_diverged(s.world, 1, s.surface, &diverged, &error));
    assert_false(diverged);
    for (int i = 0; i < 24; i++) {
        qvel[i] = 1e30;
    }
    assert_ok(orr_world_set_robot(s.world, 1, s.robot, ORR_ROBOT_QVEL, qvel, &error));
    assert_ok(orr_world_step(s.world, 3, &error));
    assert_ok(orr_world_robot_diverged(s.world, 1, s.surface, &diverged, &error));
    assert_true(diverged);
    assert_ok(orr_world_robot_diverged(s.world, 0, s.surface, &diverged, &error));
    assert_false(diverged);
    assert_ok(orr_scene_remove(s.scene, s.robot, &error));
    assert_int_equal(orr_scene_layer_count(s.scene), 0);
    assert_ok(orr_world_step(s.world, 1, &error));
    close_stage(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_mujocos),
        cmocka_unit_test(a_body_takes_its_nodes_along),
        cmocka_unit_test(pictures_follow_the_nodes),
        cmocka_unit_test(frames_follow_the_nodes),
        cmocka_unit_test(tetrahedra_may_be_turned_over),
        cmocka_unit_test(its_state_is_the_robots),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
