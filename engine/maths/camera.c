#include "engine/maths/camera.h"

#include "engine/core/entry.h"
#include "engine/maths/vector.h"

#include <math.h>
#include <string.h>

orr_camera orr_camera_look_at(const float eye[3], const float target[3], const float up[3],
                              float field_of_view, int width, int height)
{
    ORR_ENTER;
    if (!eye || !target || !up) {
        return (orr_camera){0};
    }
    const double upwards[3] = {(double)up[0], (double)up[1], (double)up[2]};
    double forward[3], right[3], down[3];
    for (int i = 0; i < 3; i++) {
        forward[i] = (double)target[i] - (double)eye[i];
    }
    if (!(vec3_normalise(forward) > 0.0)) {
        forward[0] = forward[1] = 0.0;
        forward[2] = 1.0;
    }
    vec3_cross(forward, upwards, right);
    if (vec3_dot(right, right) < 1e-20) { // looking straight along `up`: any right will do
        int axis = fabs(forward[0]) < 0.9 ? 0 : 1;
        double along = forward[axis];
        for (int i = 0; i < 3; i++) {
            right[i] = (i == axis) - along * forward[i];
        }
    }
    vec3_normalise(right);
    vec3_cross(forward, right, down);
    orr_camera camera = {.width = width, .height = height};
    float focal = (float)(0.5 * height / tan(0.5 * (double)field_of_view));
    camera.focal[0] = camera.focal[1] = focal;
    for (int i = 0; i < 3; i++) {
        camera.pose[4 * i] = (float)right[i];
        camera.pose[4 * i + 1] = (float)down[i];
        camera.pose[4 * i + 2] = (float)forward[i];
        camera.pose[4 * i + 3] = eye[i];
    }
    return camera;
}

void orr_affine_multiply(const float a[12], const float b[12], float out[12])
{
    double wide_a[12], wide_b[12], product[12];
    affine_widen(a, wide_a);
    affine_widen(b, wide_b);
    affine_product(wide_a, wide_b, product);
    for (int i = 0; i < 12; i++) {
        out[i] = (float)product[i];
    }
}

orr_result orr_affine_invert(const float m[12], float out[12], orr_error *error)
{
    double cofactor[3][3];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            cofactor[i][j] =
                (double)m[4 * a + c] * (double)m[4 * b + d] - (double)m[4 * a + d] * (double)m[4 * b + c];
        }
    }
    double determinant = 0.0;
    for (int j = 0; j < 3; j++) {
        determinant += (double)m[j] * cofactor[0][j];
    }
    if (!isfinite(determinant) || fabs(determinant) < 1e-30) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "a transform with determinant %g: expected one that can be inverted", determinant);
    }
    float r[12];
    for (int i = 0; i < 3; i++) {
        double translation = 0.0;
        for (int j = 0; j < 3; j++) {
            double value = cofactor[j][i] / determinant;
            r[4 * i + j] = (float)value;
            translation -= value * (double)m[4 * j + 3];
        }
        r[4 * i + 3] = (float)translation;
    }
    memcpy(out, r, sizeof r);
    return ORR_OK;
}

orr_result orr_affine_from_transform(const orr_transform *transform, float out[12], orr_error *error)
{
    orr_transform t = transform ? *transform : (orr_transform){0};
    double q[4], length = 0.0;
    double scale = t.scale == 0.0f ? 1.0 : (double)t.scale;
    bool finite = isfinite(scale);
    for (int i = 0; i < 4; i++) {
        q[i] = (double)t.rotation[i];
        length += q[i] * q[i];
    }
    for (int i = 0; i < 3; i++) {
        finite = finite && isfinite(t.position[i]);
    }
    if (!finite || !isfinite(length) || scale < 0.0) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "a transform with scale %g: expected finite numbers and scale > 0", scale);
    }
    if (length == 0.0) {
        q[0] = length = 1.0;
    }
    double rotation[9];
    quaternion_to_matrix(q, 2.0 / length, rotation);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            out[4 * i + j] = (float)(scale * rotation[3 * i + j]);
        }
        out[4 * i + 3] = t.position[i];
    }
    return ORR_OK;
}

static bool is_rotation(const float m[12])
{
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            float dot = 0.0f;
            for (int k = 0; k < 3; k++) {
                dot += m[4 * k + i] * m[4 * k + j];
            }
            // written so that NaN fails; pose files hold rotations to four digits or so
            if (!(fabsf(dot - (i == j ? 1.0f : 0.0f)) < 1e-2f)) {
                return false;
            }
        }
    }
    return isfinite(m[3]) && isfinite(m[7]) && isfinite(m[11]);
}

orr_result orr_camera_resolve(const orr_camera *camera, orr_lens *lens, orr_error *error)
{
    enum { SIDE_MAX = 16384 };
    if (camera->width < 1 || camera->width > SIDE_MAX || camera->height < 1 || camera->height > SIDE_MAX) {
        return orr_fail(error, ORR_CODE_CAMERA, "camera: size %d x %d: expected sides of 1 to %d",
                        camera->width, camera->height, SIDE_MAX);
    }
    if (camera->model != ORR_CAMERA_PERSPECTIVE && camera->model != ORR_CAMERA_ORTHOGRAPHIC &&
        camera->model != ORR_CAMERA_FISHEYE) {
        return orr_fail(error, ORR_CODE_CAMERA, "camera: model %d: expected one of orr_camera_model",
                        (int)camera->model);
    }
    if (!(camera->focal[0] > 0.0f) || !(camera->focal[1] > 0.0f) || !isfinite(camera->focal[0]) ||
        !isfinite(camera->focal[1])) {
        return orr_fail(error, ORR_CODE_CAMERA, "camera: focal %g, %g: expected positive numbers",
                        (double)camera->focal[0], (double)camera->focal[1]);
    }
    if (!is_rotation(camera->pose)) {
        return orr_fail(error, ORR_CODE_CAMERA, "camera: pose: expected a rotation and a finite position");
    }
    if (!isfinite(camera->centre[0]) || !isfinite(camera->centre[1])) {
        return orr_fail(error, ORR_CODE_CAMERA, "camera: centre: expected finite numbers");
    }
    float distortion[6];
    memcpy(distortion, camera->radial, sizeof camera->radial);
    memcpy(distortion + 4, camera->tangential, sizeof camera->tangential);
    bool distorted = false, finite = true;
    for (int i = 0; i < 6; i++) {
        distorted = distorted || distortion[i] != 0.0f;
        finite = finite && isfinite(distortion[i]);
    }
    if (!finite) {
        return orr_fail(error, ORR_CODE_CAMERA, "camera: distortion: expected finite numbers");
    }
    const bool fisheye = camera->model == ORR_CAMERA_FISHEYE;
    if (fisheye && (camera->tangential[0] != 0.0f || camera->tangential[1] != 0.0f)) {
        return orr_fail(error, ORR_CODE_CAMERA,
                        "camera: tangential %g, %g: expected 0, 0 of a fisheye, which has radial alone",
                        (double)camera->tangential[0], (double)camera->tangential[1]);
    }
    *lens = (orr_lens){.width = camera->width,
                       .height = camera->height,
                       .near_plane = camera->near_plane == 0.0f ? 0.01f : camera->near_plane,
                       .far_plane = camera->far_plane == 0.0f ? 1e10f : camera->far_plane,
                       .orthographic = camera->model == ORR_CAMERA_ORTHOGRAPHIC};
    lens->distorted = fisheye || (distorted && !lens->orthographic);
    lens->fisheye = fisheye;
    memcpy(lens->radial, camera->radial, sizeof lens->radial);
    memcpy(lens->tangential, camera->tangential, sizeof lens->tangential);
    if (!(lens->near_plane > 0.0f) || !(lens->far_plane > lens->near_plane)) {
        return orr_fail(error, ORR_CODE_CAMERA, "camera: planes %g, %g: expected 0 < near < far",
                        (double)lens->near_plane, (double)lens->far_plane);
    }
    bool centred = camera->centre[0] == 0.0f && camera->centre[1] == 0.0f;
    const int size[2] = {camera->width, camera->height};
    for (int i = 0; i < 2; i++) {
        lens->focal[i] = camera->focal[i];
        lens->centre[i] = centred ? 0.5f * (float)size[i] : camera->centre[i];
        // the picture's edges and 30 % of half its width beyond them
        float margin = 0.15f * (float)size[i];
        lens->slope_low[i] = -(lens->centre[i] + margin) / lens->focal[i];
        lens->slope_high[i] = ((float)size[i] - lens->centre[i] + margin) / lens->focal[i];
    }
    for (int i = 0; i < 3; i++) {
        lens->position[i] = camera->pose[4 * i + 3];
    }
    return orr_affine_invert(camera->pose, lens->view, error);
}
