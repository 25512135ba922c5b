// Tests of the optical flow of eyes: points of known motion, projected into both pictures.
#include "engine/core/file.h"
#include "engine/maths/rotation.h"
#include "tests/support/engine.h"
#include "tests/support/scenes/soft_meshes.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { COPIES = 3, VIEWS = 3, SIDE = 48, PIXELS = SIDE * SIDE, ROBOT = 0, CLOUD = 1 };

static const float FIELD = 0.8f;

// A box that stands, one that moves freely and carries a camera, and room for a cloud on the right.
static const char *const model = "<mujoco><worldbody>"
                                 "<geom name='still' type='box' size='.4 .2 .4' pos='-1.2 0 0'/>"
                                 "<body><freejoint/><geom name='free' type='box' size='.5 .5 .5'/><camera "
                                 "name='eye' pos='.1 .2 4'/></body>"
                                 "</worldbody></mujoco>";

typedef struct stage {
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    orr_layer robot, cloud;
    orr_camera views[2]; // after the camera that the box carries
    orr_eyes *eyes;
} stage;

typedef struct pictures {
    float depth[COPIES][VIEWS][PIXELS];
    int32_t segmentation[COPIES][VIEWS][PIXELS][2];
    float flow[COPIES][VIEWS][PIXELS][2];
    orr_camera cameras[COPIES][VIEWS]; // that they are drawn by
} pictures;

static pictures first, second, other;

static orr_layer add_cloud(orr_scene *scene)
{
    enum { ROW = 17 };
    orr_splats *splats;
    orr_layer layer;
    assert_ok(orr_splats_create(ROW * ROW, 0, &splats, &error));
    orr_splats_view data = orr_splats_data(splats);
    for (int i = 0; i < ROW * ROW; i++) {
        data.position[3 * i] = 0.05f * (float)(i % ROW - ROW / 2);
        data.position[3 * i + 2] = 0.05f * (float)(i / ROW - ROW / 2);
        data.opacity[i] = 3.0f;
        for (int k = 0; k < 3; k++) {
            data.log_scale[3 * i + k] = logf(0.05f);
        }
    }
    assert_ok(orr_scene_add_splats(scene, "cloud", splats, &(orr_transform){.position = {1.55f, 0.0f, 0.0f}},
                                   &layer, &error));
    orr_splats_destroy(splats);
    return layer;
}

static stage stage_make(int threads)
{
    stage s = {0};
    const int camera = 0;
    const char *path = scratch_path("flow.xml");
    assert_ok(orr_file_write(path, model, strlen(model), &error));
    assert_ok(orr_engine_create(&(orr_engine_desc){.device = ORR_DEVICE_CPU, .threads = threads}, &s.engine,
                                &error));
    assert_ok(orr_scene_create(s.engine, &s.scene, &error));
    assert_ok(orr_scene_add_file(s.scene, path, NULL, &s.robot, &error));
    s.cloud = add_cloud(s.scene);
    assert_ok(orr_world_create(s.scene, COPIES, &s.world, &error));
    for (int i = 0; i < 2; i++) {
        s.views[i] = orr_camera_look_at((float[]){0.3f, -5.0f, 0.4f}, (float[]){0, 0, 0}, (float[]){0, 0, 1},
                                        FIELD, SIDE, SIDE);
    }
    s.views[1].model = ORR_CAMERA_ORTHOGRAPHIC;
    s.views[1].focal[0] = s.views[1].focal[1] = 12.0f;
    const orr_eyes_desc desc = {.cameras = &camera,
                                .camera_count = 1,
                                .views = s.views,
                                .view_count = 2,
                                .width = SIDE,
                                .height = SIDE,
                                .flow = true};
    assert_ok(orr_eyes_create(s.world, &desc, &s.eyes, &error));
    return s;
}

static void stage_free(stage *s)
{
    orr_eyes_destroy(s->eyes);
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
    orr_engine_destroy(s->engine);
}

static void draw(const stage *s, const uint8_t *mask, pictures *to)
{
    for (int copy = 0; copy < COPIES; copy++) {
        assert_ok(orr_world_camera(s->world, copy, 0, SIDE, SIDE, &to->cameras[copy][0], &error));
        to->cameras[copy][1] = s->views[0];
        to->cameras[copy][2] = s->views[1];
    }
    memset(to->flow, 0x5a, sizeof to->flow);
    assert_ok(orr_eyes_draw(s->eyes, mask,
                            &(orr_eyes_pictures){.depth = &to->depth[0][0][0],
                                                 .segmentation = &to->segmentation[0][0][0][0],
                                                 .flow = &to->flow[0][0][0][0]},
                            &error));
}

// From a frame to the scene: rotation p + position.
typedef struct frame {
    double rotation[9], position[3];
} frame;

static frame frame_of(const double qpos[7])
{
    frame f;
    memcpy(f.position, qpos, sizeof f.position);
    quat_matrix(qpos + 3, f.rotation);
    return f;
}

static frame frame_of_camera(const orr_camera *camera)
{
    frame f;
    for (int i = 0; i < 9; i++) {
        f.rotation[i] = (double)camera->pose[i / 3 * 4 + i % 3];
    }
    for (int row = 0; row < 3; row++) {
        f.position[row] = (double)camera->pose[4 * row + 3];
    }
    return f;
}

static void to_scene(const frame *f, const double from[3], double to[3])
{
    mat_apply(f->rotation, from, to);
    for (int k = 0; k < 3; k++) {
        to[k] += f->position[k];
    }
}

static void from_scene(const frame *f, const double from[3], double to[3])
{
    for (int k = 0; k < 3; k++) {
        to[k] = from[k] - f->position[k];
    }
    mat_apply_transposed(f->rotation, to, to);
}

// What a pixel shows, in the scene.
static void point_of(const orr_camera *camera, int pixel, float depth, double point[3])
{
    const frame f = frame_of_camera(camera);
    const double reach = camera->model == ORR_CAMERA_ORTHOGRAPHIC ? 1.0 : (double)depth;
    const double seen[3] = {(pixel % SIDE + 0.5 - 0.5 * SIDE) / (double)camera->focal[0] * reach,
                            (pixel / SIDE + 0.5 - 0.5 * SIDE) / (double)camera->focal[1] * reach,
                            (double)depth};
    to_scene(&f, seen, point);
}

// Asserts that a pixel's point was at `before` in the scene.
static void check_flow(const orr_camera *camera_before, int pixel, const double before[3],
                       const float flow[2])
{
    const frame f = frame_of_camera(camera_before);
    double p[3];
    from_scene(&f, before, p);
    const double reach = camera_before->model == ORR_CAMERA_ORTHOGRAPHIC ? 1.0 : p[2];
    const int at[2] = {pixel % SIDE, pixel / SIDE};
    for (int k = 0; k < 2; k++) {
        const double was = (double)camera_before->focal[k] * p[k] / reach + 0.5 * SIDE;
        assert_true(fabs(at[k] + 0.5 - was - (double)flow[k]) < 1e-3);
    }
}

static void set_pose(const stage *s, int copy, const double qpos[7])
{
    assert_ok(orr_world_set_robot(s->world, copy, s->robot, ORR_ROBOT_QPOS, qpos, &error));
}

// The poses of the free box in a copy, before and after.
static void poses(int copy, double from[7], double to[7])
{
    const double axis[3] = {0.6, 0.0, 0.8};
    for (int i = 0; i < 2; i++) {
        double *pose = i ? to : from;
        const double angle = 0.2 + 0.15 * i * copy;
        pose[0] = 0.1 + 0.1 * i * copy;
        pose[1] = 0.05 * i;
        pose[2] = -0.1 + 0.05 * i * copy;
        pose[3] = cos(0.5 * angle);
        for (int k = 0; k < 3; k++) {
            pose[4 + k] = sin(0.5 * angle) * axis[k];
        }
    }
}

static const float PUSH = 0.2f; // of the cloud, upwards, times the copy

static void move_to(const stage *s, bool second_pose)
{
    for (int copy = 0; copy < COPIES; copy++) {
        double pose[2][7];
        poses(copy, pose[0], pose[1]);
        set_pose(s, copy, pose[second_pose]);
        const orr_transform at = {.position = {1.55f, 0.0f, second_pose ? PUSH * (float)copy : 0.0f}};
        assert_ok(orr_world_set_transform(s->world, copy, s->cloud, &at, &error));
    }
}

static void assert_zero(const float *flow, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_true(flow[i] == 0.0f);
    }
}

// Each copy's box and cloud move in their own way, as the camera on the box does; the other two stand still.
static void flow_is_that_of_moved_points(void **state)
{
    (void)state;
    stage s = stage_make(2);
    move_to(&s, false);
    draw(&s, NULL, &first);
    assert_zero(&first.flow[0][0][0][0], sizeof first.flow / sizeof(float));
    move_to(&s, true);
    draw(&s, NULL, &second);
    int seen[3] = {0}; // still, free, cloud
    double largest = 0.0;
    for (int i = 0; i < COPIES * VIEWS * PIXELS; i++) {
        const int copy = i / (VIEWS * PIXELS), view = i / PIXELS % VIEWS, pixel = i % PIXELS;
        const int32_t *item = second.segmentation[copy][view][pixel];
        const float *flow = second.flow[copy][view][pixel];
        double qpos[2][7], point[3];
        if (item[0] < 0) {
            assert_zero(flow, 2);
            continue;
        }
        poses(copy, qpos[0], qpos[1]);
        const frame from = frame_of(qpos[0]), to = frame_of(qpos[1]);
        point_of(&second.cameras[copy][view], pixel, second.depth[copy][view][pixel], point);
        if (item[0] == CLOUD) {
            point[2] -= (double)PUSH * copy;
        } else if (item[1] == 1) {
            from_scene(&to, point, point);
            to_scene(&from, point, point);
        } else if (view > 0) {
            assert_zero(flow, 2);
        }
        seen[item[0] == CLOUD ? 2 : item[1]]++;
        largest = fmax(largest, hypot((double)flow[0], (double)flow[1]));
        check_flow(&first.cameras[copy][view], pixel, point, flow);
    }
    assert_true(seen[0] > 100 && seen[1] > 500 && seen[2] > 500 && largest > 5.0);
    draw(&s, NULL, &second); // nothing has moved
    assert_zero(&second.flow[0][0][0][0], sizeof second.flow / sizeof(float));
    stage_free(&s);
}

// The camera of a copy that is turned and moved by its look.
static orr_camera looked(const orr_camera *camera, const orr_eyes_look *look)
{
    const frame own = frame_of_camera(camera);
    double axis[3], offset[3], quat[4], turn[9], position[3];
    orr_camera out = *camera;
    for (int k = 0; k < 3; k++) {
        axis[k] = (double)look->camera_turn[k];
        offset[k] = (double)look->camera_offset[k];
    }
    const double angle = vec3_normalise(axis);
    quat_axis_angle(axis, angle, quat);
    quat_matrix(quat, turn);
    to_scene(&own, offset, position);
    for (int row = 0; row < 3; row++) {
        double rotated[3];
        mat_apply_transposed(turn, own.rotation + 3 * row, rotated); // a row of own x turn
        for (int k = 0; k < 3; k++) {
            out.pose[4 * row + k] = (float)rotated[k];
        }
        out.pose[4 * row + 3] = (float)position[row];
    }
    return out;
}

// Cameras turn, each copy's in its own way, and one moves too. Where they only turn, depth does not matter.
static void flow_is_that_of_turned_cameras(void **state)
{
    (void)state;
    stage s = stage_make(2);
    const orr_eyes_look looks[COPIES] = {
        {.camera_turn = {0.0f, 0.1f, 0.0f}},
        {.camera_turn = {0.05f, -0.1f, 0.3f}},
        {.camera_turn = {0.05f, 0.0f, 0.0f}, .camera_offset = {0.2f, 0, 0.3f}}};
    move_to(&s, false);
    draw(&s, NULL, &first);
    assert_ok(orr_eyes_set_looks(s.eyes, NULL, looks, &error));
    draw(&s, NULL, &second);
    int seen = 0;
    for (int i = 0; i < COPIES * VIEWS * PIXELS; i++) {
        const int copy = i / (VIEWS * PIXELS), view = i / PIXELS % VIEWS, pixel = i % PIXELS;
        if (second.segmentation[copy][view][pixel][0] >= 0) {
            const orr_camera now = looked(&second.cameras[copy][view], &looks[copy]);
            const bool far_off = copy < 2 && now.model == ORR_CAMERA_PERSPECTIVE;
            double point[3];
            point_of(&now, pixel, far_off ? 1e3f : second.depth[copy][view][pixel], point);
            check_flow(&first.cameras[copy][view], pixel, point, second.flow[copy][view][pixel]);
            seen++;
        }
    }
    assert_true(seen > 3000);
    stage_free(&s);
}

// The view moves while all that is seen stands still.
static void flow_is_that_of_moved_views(void **state)
{
    (void)state;
    stage s = stage_make(2);
    move_to(&s, false);
    draw(&s, NULL, &first);
    s.views[0] = orr_camera_look_at((float[]){-0.2f, -4.5f, 0.9f}, (float[]){0.2f, 0, 0}, (float[]){0, 0, 1},
                                    1.1f * FIELD, SIDE, SIDE);
    assert_ok(orr_eyes_set_views(s.eyes, s.views, &error));
    draw(&s, NULL, &second);
    int seen = 0;
    for (int i = 0; i < COPIES * PIXELS; i++) {
        const int copy = i / PIXELS, pixel = i % PIXELS;
        if (second.segmentation[copy][1][pixel][0] >= 0) {
            double point[3];
            point_of(&second.cameras[copy][1], pixel, second.depth[copy][1][pixel], point);
            check_flow(&first.cameras[copy][1], pixel, point, second.flow[copy][1][pixel]);
            seen++;
        }
        assert_zero(second.flow[copy][2][pixel], 2);
    }
    assert_true(seen > 1000);
    stage_free(&s);
}

// Of copies that are drawn less often, flow is since their own last pictures. The bits are those of any
// number of threads and of each copy alone. What is forgotten has no flow.
static void flow_does_not_depend_on_threads_or_other_copies(void **state)
{
    (void)state;
    stage one = stage_make(1), three = stage_make(3);
    const uint8_t last[COPIES] = {0, 0, 1}, some[COPIES] = {1, 0, 1};
    const size_t numbers = sizeof first.flow[0];
    move_to(&one, false);
    move_to(&three, false);
    draw(&one, NULL, &first);
    draw(&three, last, &other);
    move_to(&one, true);
    move_to(&three, true);
    draw(&one, some, &first);
    draw(&three, last, &other);
    assert_memory_equal(first.flow[2], other.flow[2], numbers);
    assert_true(memcmp(&first.flow[1][0][0][0], "ZZZZ", 4) == 0); // not drawn
    move_to(&three, false);
    draw(&three, NULL, &other); // the others for the first time
    assert_zero(&other.flow[0][0][0][0], 2 * numbers / sizeof(float));
    draw(&one, NULL, &second); // the second copy has moved since its first picture
    move_to(&three, true);
    draw(&three, NULL, &other);
    assert_memory_equal(second.flow[1], other.flow[1], numbers);
    assert_zero(&second.flow[2][0][0][0], numbers / sizeof(float));
    move_to(&one, false);
    assert_ok(orr_eyes_forget(one.eyes, last, &error));
    draw(&one, NULL, &second);
    assert_zero(&second.flow[2][0][0][0], numbers / sizeof(float));
    assert_true(memcmp(second.flow[1], other.flow[1], numbers) != 0);
    stage_free(&one);
    stage_free(&three);
}

static void flow_is_refused_by_eyes_without_it(void **state)
{
    (void)state;
    stage s = stage_make(1);
    orr_eyes *eyes;
    orr_error why;
    const orr_eyes_desc desc = {.views = s.views, .view_count = 1, .width = SIDE, .height = SIDE};
    assert_ok(orr_eyes_create(s.world, &desc, &eyes, &error));
    assert_int_equal(orr_eyes_draw(eyes, NULL, &(orr_eyes_pictures){.flow = &first.flow[0][0][0][0]}, &why),
                     ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "flow"));
    assert_ok(orr_eyes_forget(eyes, NULL, &error));
    orr_eyes_destroy(eyes);
    stage_free(&s);
}

// A soft block that is moved and stretched by a third, which moves its vertices affinely.
static void flow_of_a_soft_mesh_is_that_of_its_vertices(void **state)
{
    (void)state;
    enum { MOST = 4096 };
    static const double stretch[3] = {4.0 / 3.0, 1.0, 0.9}, shift[3] = {0.1, 0.2, -0.05};
    static double positions[3 * MOST];
    static float flow[PIXELS][2], depth[PIXELS];
    stage s = {0};
    orr_soft_info info;
    assert_ok(
        orr_engine_create(&(orr_engine_desc){.device = ORR_DEVICE_CPU, .threads = 2}, &s.engine, &error));
    assert_ok(orr_scene_create(s.engine, &s.scene, &error));
    const orr_layer block = add_block(s.scene, (float[]){0.5f, 0.5f, 0.5f}, NULL, 12);
    const orr_body_desc jelly = {
        .soft = true, .resolution = 4, .density = 100.0, .young = 3e4, .poisson = 0.3};
    assert_ok(orr_scene_set_physics(s.scene, block, &jelly, &error));
    assert_ok(orr_scene_soft_info(s.scene, block, &info, &error));
    assert_true(info.vertex_count <= MOST);
    assert_ok(orr_world_create(s.scene, 1, &s.world, &error));
    const orr_camera camera = orr_camera_look_at((float[]){0.5f, -4.0f, 0.8f}, (float[]){0, 0, 0},
                                                 (float[]){0, 0, 1}, FIELD, SIDE, SIDE);
    const orr_eyes_desc desc = {
        .views = &camera, .view_count = 1, .width = SIDE, .height = SIDE, .flow = true};
    assert_ok(orr_eyes_create(s.world, &desc, &s.eyes, &error));
    const orr_eyes_pictures planes = {.flow = &flow[0][0], .depth = depth};
    assert_ok(orr_eyes_draw(s.eyes, NULL, &planes, &error));
    assert_ok(orr_eyes_draw(s.eyes, NULL, &planes, &error));
    assert_zero(&flow[0][0], sizeof flow / sizeof(float));
    assert_ok(orr_world_get_soft(s.world, 0, block, positions, NULL, &error));
    for (int i = 0; i < 3 * info.vertex_count; i++) {
        positions[i] = positions[i] * stretch[i % 3] + shift[i % 3];
    }
    assert_ok(orr_world_set_soft(s.world, 0, block, positions, NULL, &error));
    assert_ok(orr_eyes_draw(s.eyes, NULL, &planes, &error));
    int seen = 0;
    for (int i = 0; i < PIXELS; i++) {
        double point[3];
        if (depth[i] > 0.0f) {
            point_of(&camera, i, depth[i], point);
            for (int k = 0; k < 3; k++) {
                point[k] = (point[k] - shift[k]) / stretch[k];
            }
            check_flow(&camera, i, point, flow[i]);
            seen++;
        }
    }
    assert_true(seen > 200);
    stage_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flow_is_that_of_moved_points),
        cmocka_unit_test(flow_is_that_of_turned_cameras),
        cmocka_unit_test(flow_is_that_of_moved_views),
        cmocka_unit_test(flow_does_not_depend_on_threads_or_other_copies),
        cmocka_unit_test(flow_is_refused_by_eyes_without_it),
        cmocka_unit_test(flow_of_a_soft_mesh_is_that_of_its_vertices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
