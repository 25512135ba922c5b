// Tests of engine/scene/camera_path: smooth flight through keys, and turns.
#include "engine/scene/camera_path.h"
#include "tests/support/support.h"

#include <math.h>

static orr_camera look(float x, float y, float z, float focal)
{
    const float eye[3] = {x, y, z}, target[3] = {0.2f, 0.1f, 0.0f}, up[3] = {0.0f, -1.0f, 0.0f};
    orr_camera camera = orr_camera_look_at(eye, target, up, 0.8f, 64, 48);
    camera.focal[0] = camera.focal[1] = focal;
    return camera;
}

enum { KEYS = 9 };

// more than a full circle, so that quaternions change sign on the way
static void make_keys(orr_camera keys[KEYS])
{
    for (int i = 0; i < KEYS; i++) {
        double angle = 0.9 * i;
        keys[i] = look((float)(3.0 * sin(angle)), 0.3f * (float)i, (float)(3.0 * cos(angle)),
                       50.0f + 10.0f * (float)i);
    }
}

static double pose_distance(const orr_camera *a, const orr_camera *b)
{
    return largest_difference(a->pose, b->pose, 12);
}

static void a_path_goes_through_its_keys(void **state)
{
    (void)state;
    orr_camera keys[KEYS];
    make_keys(keys);
    for (int i = 0; i < KEYS; i++) {
        orr_camera camera = orr_camera_path_at(keys, KEYS, i);
        assert_memory_equal(&camera, &keys[i], sizeof camera);
        // and arrives there: 1e-6 of a segment is at most 4e-6 units
        orr_camera before = orr_camera_path_at(keys, KEYS, i ? i - 1e-6 : 1e-6);
        assert_true(pose_distance(&before, &keys[i]) < 1e-5);
    }
    orr_camera alone = orr_camera_path_at(keys, 1, 0.0);
    assert_memory_equal(&alone, &keys[0], sizeof alone);
}

static void rotations_on_a_path_are_rotations(void **state)
{
    (void)state;
    orr_camera keys[KEYS];
    make_keys(keys);
    for (double t = 0.0; t <= KEYS - 1; t += 0.05) {
        orr_camera camera = orr_camera_path_at(keys, KEYS, fmin(t, KEYS - 1));
        for (int i = 0; i < 3; i++) {
            for (int j = i; j < 3; j++) {
                float dot = 0.0f;
                for (int k = 0; k < 3; k++) {
                    dot += camera.pose[4 * k + i] * camera.pose[4 * k + j];
                }
                assert_true(fabsf(dot - (float)(i == j)) < 1e-5f); // float rounding
            }
        }
        assert_true(camera.focal[0] > 49.0f && camera.focal[0] < 131.0f);
    }
}

static void rotations_go_the_short_way(void **state)
{
    (void)state;
    orr_camera keys[KEYS];
    make_keys(keys);
    for (int i = 0; i < KEYS - 1; i++) {
        orr_camera middle = orr_camera_path_at(keys, KEYS, i + 0.5);
        float before = 0.0f, after = 0.0f;
        for (int k = 0; k < 3; k++) {
            before += middle.pose[4 * k + 2] * keys[i].pose[4 * k + 2];
            after += middle.pose[4 * k + 2] * keys[i + 1].pose[4 * k + 2];
        }
        assert_true(before > 0.7f && after > 0.7f); // half of at most 1.2 radians to each side
    }
}

// A third of a turn between keys: two keys on, the quaternion that is nearer is the other one.
static void the_middle_of_an_even_turn_is_half_way(void **state)
{
    (void)state;
    enum { COUNT = 7 };
    const float centre[3] = {0.0f, 0.0f, 0.0f}, up[3] = {0.0f, -1.0f, 0.0f};
    orr_camera start = look(0.2f, 0.1f, -3.0f, 50.0f), keys[COUNT];
    for (int i = 0; i < COUNT; i++) {
        keys[i] = orr_camera_turn(&start, centre, up, 2.0 * i);
    }
    for (int i = 1; i < COUNT - 2; i++) {
        orr_camera middle = orr_camera_path_at(keys, COUNT, i + 0.5);
        orr_camera half_way = orr_camera_turn(&start, centre, up, 2.0 * i + 1.0);
        for (int k = 0; k < 3; k++) { // positions cut the corner
            assert_float_equal(middle.pose[4 * k + 2], half_way.pose[4 * k + 2], 1e-5);
        }
    }
}

static void velocity_on_a_path_has_no_jumps(void **state)
{
    (void)state;
    orr_camera keys[KEYS];
    make_keys(keys);
    const double h = 1e-2;
    for (int i = 1; i < KEYS - 1; i++) {
        orr_camera before = orr_camera_path_at(keys, KEYS, i - h),
                   after = orr_camera_path_at(keys, KEYS, i + h);
        for (int k = 0; k < 12; k++) {
            double left = (double)(keys[i].pose[k] - before.pose[k]) / h;
            double right = (double)(after.pose[k] - keys[i].pose[k]) / h;
            // the acceleration here is below 10 units per segment squared, so 2 h of it is 0.2; straight
            // lines between the keys would jump by 1 and more
            assert_true(fabs(left - right) < 0.2);
        }
    }
}

static void centres_are_mixed_as_pixels(void **state)
{
    (void)state;
    orr_camera keys[2] = {look(1.0f, 0.0f, 2.0f, 50.0f), look(1.0f, 0.0f, 2.0f, 50.0f)};
    keys[1].centre[0] = 40.0f; // the other's 0, 0 means 32, 24
    keys[1].centre[1] = 20.0f;
    orr_camera middle = orr_camera_path_at(keys, 2, 0.5);
    assert_true(fabsf(middle.centre[0] - 36.0f) < 1e-4f);
    assert_true(fabsf(middle.centre[1] - 22.0f) < 1e-4f);
}

static float height(const orr_camera *camera, const float up[3])
{
    return camera->pose[3] * up[0] + camera->pose[7] * up[1] + camera->pose[11] * up[2];
}

static void a_turn_keeps_the_centre_in_its_place_in_the_picture(void **state)
{
    (void)state;
    static const float ups[][3] = {
        {0.0f, -1.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}, {0.48f, 0.6f, -0.64f}};
    const float centre[3] = {0.5f, -1.0f, 2.0f};
    orr_camera start = look(3.0f, 1.0f, -2.0f, 50.0f);
    for (int k = 0; k < 8 * 4; k++) {
        const float *up = ups[k / 8];
        orr_camera camera = orr_camera_turn(&start, centre, up, 0.785398163 * (k % 8));
        for (int column = 0; column < 3; column++) { // the centre in camera axes
            float seen[2] = {0.0f, 0.0f};
            for (int i = 0; i < 3; i++) {
                seen[0] += start.pose[4 * i + column] * (centre[i] - start.pose[4 * i + 3]);
                seen[1] += camera.pose[4 * i + column] * (centre[i] - camera.pose[4 * i + 3]);
            }
            assert_true(fabsf(seen[0] - seen[1]) < 1e-5f);
        }
        if (k % 8 == 0) {
            assert_true(pose_distance(&camera, &start) < 1e-6);
        } else {
            assert_true(pose_distance(&camera, &start) > 0.5);
        }
        assert_float_equal(height(&camera, up), height(&start, up), 1e-6); // around the vertical
    }
    const float origin[3] = {0}, up[3] = {0.0f, 0.0f, 1.0f};
    start.pose[3] = 1.0f;
    start.pose[7] = 0.0f;
    const orr_camera quarter = orr_camera_turn(&start, origin, up, 1.570796327);
    assert_float_equal(quarter.pose[7], -1.0, 1e-6); // clockwise from above
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_goes_through_its_keys),
        cmocka_unit_test(rotations_on_a_path_are_rotations),
        cmocka_unit_test(rotations_go_the_short_way),
        cmocka_unit_test(the_middle_of_an_even_turn_is_half_way),
        cmocka_unit_test(velocity_on_a_path_has_no_jumps),
        cmocka_unit_test(centres_are_mixed_as_pixels),
        cmocka_unit_test(a_turn_keeps_the_centre_in_its_place_in_the_picture),
    };
    return cmocka_run_group_tests_name("camera_path", tests, NULL, NULL);
}
