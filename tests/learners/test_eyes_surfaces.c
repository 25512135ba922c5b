// Tests of what eyes say about surfaces besides how they look: normals against closed forms.
#include "engine/core/file.h"
#include "engine/maths/camera.h"
#include "render/cpu/splats_cpu.h"
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { SIDE = 120, PIXELS = SIDE * SIDE };

static const float FIELD = 0.8f, DISTANCE = 5.0f;

typedef struct stage {
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    orr_layer robot;
    orr_camera camera;
} stage;

static float normals[PIXELS][3];
static int32_t segmentation[PIXELS][2];

static stage stage_make(const char *model)
{
    stage s = {0};
    assert_ok(
        orr_engine_create(&(orr_engine_desc){.device = ORR_DEVICE_CPU, .threads = 2}, &s.engine, &error));
    assert_ok(orr_scene_create(s.engine, &s.scene, &error));
    if (model) {
        const char *path = scratch_path("surfaces.xml");
        assert_ok(orr_file_write(path, model, strlen(model), &error));
        assert_ok(orr_scene_add_file(s.scene, path, NULL, &s.robot, &error));
    }
    s.camera = orr_camera_look_at((float[]){0.0f, -DISTANCE, 0.0f}, (float[]){0, 0, 0}, (float[]){0, 0, 1},
                                  FIELD, SIDE, SIDE);
    return s;
}

static void stage_free(stage *s)
{
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
    orr_engine_destroy(s->engine);
}

static void look(stage *s)
{
    orr_eyes *eyes;
    const orr_eyes_desc desc = {.views = &s->camera, .view_count = 1, .width = SIDE, .height = SIDE};
    if (!s->world) {
        assert_ok(orr_world_create(s->scene, 1, &s->world, &error));
    }
    assert_ok(orr_eyes_create(s->world, &desc, &eyes, &error));
    assert_ok(orr_eyes_draw(
        eyes, NULL, &(orr_eyes_pictures){.normals = &normals[0][0], .segmentation = &segmentation[0][0]},
        &error));
    orr_eyes_destroy(eyes);
}

static double dot(const double a[3], const float b[3])
{
    return a[0] * (double)b[0] + a[1] * (double)b[1] + a[2] * (double)b[2];
}

// Direction of the ray through a pixel's centre, in the camera's axes, of depth 1.
static void ray_of(const stage *s, int pixel, double ray[3])
{
    ray[0] = (pixel % SIDE + 0.5 - 0.5 * SIDE) / (double)s->camera.focal[0];
    ray[1] = (pixel / SIDE + 0.5 - 0.5 * SIDE) / (double)s->camera.focal[1];
    ray[2] = 1.0;
}

// A ball of half a metre in the middle of the picture: the ray's first point less the centre. The facets lie
// up to 0.5 % of the radius inside the ball, which moves what a ray meets by that over the cosine at which it
// grazes it.
static void normals_of_a_ball_point_from_its_centre(void **state)
{
    (void)state;
    const double radius = 0.5, distance = (double)DISTANCE;
    stage s = stage_make("<mujoco><worldbody><geom type='sphere' size='0.5'/></worldbody></mujoco>");
    int seen = 0;
    look(&s);
    for (int i = 0; i < PIXELS; i++) {
        const float *normal = normals[i];
        double ray[3], from_centre[3];
        ray_of(&s, i, ray);
        if (segmentation[i][0] < 0) {
            assert_true(normal[0] == 0.0f && normal[1] == 0.0f && normal[2] == 0.0f);
            continue;
        }
        const double square = ray[0] * ray[0] + ray[1] * ray[1] + 1.0,
                     inside = distance * distance - square * (distance * distance - radius * radius),
                     t = (distance - sqrt(fmax(inside, 0.0))) / square;
        for (int k = 0; k < 3; k++) {
            from_centre[k] = (t * ray[k] - (k == 2 ? distance : 0.0)) / radius;
        }
        const double length = hypot(hypot((double)normal[0], (double)normal[1]), (double)normal[2]),
                     off = acos(fmin(dot(from_centre, normal), 1.0)),
                     cosine = -dot(ray, normal) / sqrt(square);
        assert_true(fabs(length - 1.0) < 1e-6);
        assert_true(off * cosine < 0.01); // measured: 0.008
        seen++;
    }
    // the outline's circle has a radius of 14.3 pixels
    const double outline = 0.5 * SIDE / tan(0.5 * (double)FIELD) * tan(asin(radius / distance));
    assert_true(fabs(seen / (3.14159265 * outline * outline) - 1.0) < 0.03);
    stage_free(&s);
}

// A box that stands askew: each normal is that of one of its sides, the one that the ray meets first.
static void check_box(bool orthographic)
{
    const double half = 0.6, angle = 0.5, axis[3] = {0.6, 0.0, 0.8};
    stage s = stage_make("<mujoco><worldbody><body><freejoint/><geom type='box' size='.6 .6 .6'/>"
                         "</body></worldbody></mujoco>");
    const double sine = sin(0.5 * angle);
    const double qpos[7] = {0.1, 0.2, -0.1, cos(0.5 * angle), sine * axis[0], sine * axis[1], sine * axis[2]};
    int counts[6] = {0};
    if (orthographic) {
        s.camera.model = ORR_CAMERA_ORTHOGRAPHIC;
        s.camera.focal[0] = s.camera.focal[1] = 40.0f;
    }
    assert_ok(orr_world_create(s.scene, 1, &s.world, &error));
    assert_ok(orr_world_set_robot(s.world, 0, s.robot, ORR_ROBOT_QPOS, qpos, &error));
    look(&s);
    // the box's axes in the camera's: right is x, down is -z, forward is y
    double side[3][3], centre[3] = {qpos[0], -qpos[2], (double)DISTANCE + qpos[1]};
    for (int k = 0; k < 3; k++) { // Rodrigues' formula
        double e[3] = {k == 0, k == 1, k == 2}, world[3];
        for (int j = 0; j < 3; j++) {
            const double cross = axis[(j + 1) % 3] * e[(j + 2) % 3] - axis[(j + 2) % 3] * e[(j + 1) % 3];
            world[j] = e[j] * cos(angle) + cross * sin(angle) + axis[j] * axis[k] * (1.0 - cos(angle));
        }
        side[k][0] = world[0], side[k][1] = -world[2], side[k][2] = world[1];
    }
    for (int i = 0; i < PIXELS; i++) {
        double from[3] = {0}, ray[3], enter = -INFINITY, leave = INFINITY, margin = INFINITY;
        int first = 0;
        ray_of(&s, i, ray);
        for (int j = 0; j < 2 && orthographic; j++) {
            from[j] = ray[j], ray[j] = 0.0;
        }
        for (int k = 0; k < 3; k++) { // slabs
            double at = 0.0, along = 0.0;
            for (int j = 0; j < 3; j++) {
                at += side[k][j] * (from[j] - centre[j]), along += side[k][j] * ray[j];
            }
            const double near = (-copysign(half, along) - at) / along,
                         far = (copysign(half, along) - at) / along;
            margin = fmin(margin, fabs(near - enter));
            if (near > enter) {
                enter = near;
                first = 2 * k + (along > 0.0);
            }
            leave = fmin(leave, far);
        }
        if (segmentation[i][0] < 0 || margin < 0.02 || leave - enter < 0.02) { // not at edges
            continue;
        }
        counts[first]++;
        const double sign = first % 2 ? -1.0 : 1.0;
        for (int j = 0; j < 3; j++) {
            assert_true(fabs(sign * side[first / 2][j] - (double)normals[i][j]) < 1e-5);
        }
    }
    int sides = 0;
    for (int k = 0; k < 6; k++) {
        sides += counts[k] > 30;
    }
    assert_int_equal(sides, 3);
    stage_free(&s);
}

static void normals_of_a_box_are_those_of_its_sides(void **state)
{
    (void)state;
    check_box(false);
    check_box(true);
}

// A wall of dense flat splats that leans by half a radian.
static void normals_of_a_cloud_are_estimated_from_its_depth(void **state)
{
    (void)state;
    enum { ROW = 81 };
    stage s = stage_make(NULL);
    orr_splats *splats;
    assert_ok(orr_splats_create(ROW * ROW, 0, &splats, &error));
    orr_splats_view data = orr_splats_data(splats);
    const float lean = 0.5f;
    for (int i = 0; i < ROW * ROW; i++) {
        const float u = 0.05f * (float)(i % ROW - ROW / 2), v = 0.05f * (float)(i / ROW - ROW / 2);
        data.position[3 * i] = u * cosf(lean);
        data.position[3 * i + 1] = u * sinf(lean);
        data.position[3 * i + 2] = v;
        data.opacity[i] = 3.0f;
        for (int k = 0; k < 3; k++) {
            data.log_scale[3 * i + k] = logf(k == 1 ? 0.002f : 0.05f);
            data.colour[3 * i + k] = 1.0f;
        }
        data.rotation[4 * i] = cosf(0.5f * lean);
        data.rotation[4 * i + 1] = data.rotation[4 * i + 2] = 0.0f;
        data.rotation[4 * i + 3] = sinf(0.5f * lean);
    }
    orr_layer layer;
    assert_ok(orr_scene_add_splats(s.scene, "wall", splats, NULL, &layer, &error));
    orr_splats_destroy(splats);
    look(&s);
    // in the scene (sin, -cos, 0) faces the camera
    const double expected[3] = {sin((double)lean), 0.0, -cos((double)lean)};
    double sum = 0.0;
    int seen = 0;
    for (int i = 0; i < PIXELS; i++) {
        double ray[3];
        ray_of(&s, i, ray);
        if (segmentation[i][0] < 0) {
            assert_true(normals[i][2] == 0.0f);
            continue;
        }
        assert_true(dot(ray, normals[i]) < 0.0);
        sum += acos(fmin(dot(expected, normals[i]), 1.0));
        seen++;
    }
    assert_true(seen > PIXELS / 4 && sum / seen < 0.03); // [rad] measured: 0.016
    stage_free(&s);
}

// A leaning plane of one cloud with a step in the middle: no normal is taken across it. A column of another
// cloud has no neighbours beside it, and a row of a mesh keeps what it has.
static void normals_of_clouds_are_not_taken_across_steps(void **state)
{
    (void)state;
    enum { COLUMN = 20, ROW = 30 };
    static float depth[PIXELS];
    static int32_t items[PIXELS];
    const stage s = {.camera = {.model = ORR_CAMERA_PERSPECTIVE,
                                .pose = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                                .focal = {100.0f, 100.0f},
                                .width = SIDE,
                                .height = SIDE}};
    const float plane[3] = {0.48f, -0.36f, -0.8f};
    orr_lens lens;
    assert_ok(orr_camera_resolve(&s.camera, &lens, &error));
    for (int i = 0; i < PIXELS; i++) {
        double ray[3];
        ray_of(&s, i, ray);
        depth[i] = (float)((i % SIDE < SIDE / 2 ? -4.0 : -6.0) / dot(ray, plane));
        items[i] = i / SIDE == ROW ? 0 : ORR_ITEM_OF_CLOUD(i % SIDE == COLUMN ? 1 : 0);
        normals[i][0] = 2.0f;
    }
    orr_cloud_normals(&lens, depth, &(orr_seen){.items = items, .normals = &normals[0][0]});
    for (int i = 0; i < PIXELS; i++) {
        if (i / SIDE == ROW) {
            assert_true(normals[i][0] == 2.0f);
            continue;
        }
        for (int k = 0; k < 3; k++) {
            assert_true(i % SIDE == COLUMN ? normals[i][k] == 0.0f : fabsf(normals[i][k] - plane[k]) < 1e-3f);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normals_of_a_ball_point_from_its_centre),
        cmocka_unit_test(normals_of_a_box_are_those_of_its_sides),
        cmocka_unit_test(normals_of_a_cloud_are_estimated_from_its_depth),
        cmocka_unit_test(normals_of_clouds_are_not_taken_across_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
