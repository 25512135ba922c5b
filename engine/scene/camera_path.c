#include "engine/scene/camera_path.h"

#include "engine/maths/rotation.h"

#include <math.h>

// What is interpolated of a camera, each number by itself: position, quaternion, logarithm of the focal
// lengths (they stay positive and a zoom has an even speed), centre.
typedef struct key_values {
    double value[11];
} key_values;
enum { POSITION = 0, QUATERNION = 3, FOCAL = 7, CENTRE = 9, VALUES = 11 };

static void rotation_of(const float m[12], double q[4])
{
    const double axes[3][3] = {{(double)m[0], (double)m[4], (double)m[8]},
                               {(double)m[1], (double)m[5], (double)m[9]},
                               {(double)m[2], (double)m[6], (double)m[10]}};
    quat_from_axes(axes[0], axes[1], axes[2], q);
}

static void rotate_to(const double q[4], float m[12])
{
    double rotation[9];
    quaternion_to_matrix(q, 2.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), rotation);
    for (int i = 0; i < 9; i++) {
        m[4 * (i / 3) + i % 3] = (float)rotation[i];
    }
}

static key_values values_of(const orr_camera *camera)
{
    key_values k;
    bool centred = camera->centre[0] == 0.0f && camera->centre[1] == 0.0f;
    const int size[2] = {camera->width, camera->height};
    for (int i = 0; i < 3; i++) {
        k.value[POSITION + i] = (double)camera->pose[4 * i + 3];
    }
    rotation_of(camera->pose, k.value + QUATERNION);
    for (int i = 0; i < 2; i++) {
        k.value[FOCAL + i] = log((double)camera->focal[i]);
        k.value[CENTRE + i] = centred ? 0.5 * size[i] : (double)camera->centre[i];
    }
    return k;
}

// q and -q are the same rotation: the one nearer to `reference` is meant
static void align(key_values *k, const key_values *reference)
{
    double dot = 0.0;
    for (int i = QUATERNION; i < FOCAL; i++) {
        dot += k->value[i] * reference->value[i];
    }
    for (int i = QUATERNION; i < FOCAL && dot < 0.0; i++) {
        k->value[i] = -k->value[i];
    }
}

// A Catmull-Rom segment from b to c at x in 0 .. 1; the curve's velocity at b is (c - a) / 2.
static double catmull_rom(double a, double b, double c, double d, double x)
{
    return b + 0.5 * x * (c - a + x * (2.0 * a - 5.0 * b + 4.0 * c - d + x * (3.0 * (b - c) + d - a)));
}

orr_camera orr_camera_path_at(const orr_camera *keys, int count, double t)
{
    assert(count >= 1 && t >= 0.0 && t <= count - 1);
    int at = (int)t;
    double x = t - at;
    if (x == 0.0) {
        return keys[at];
    }
    // the keys around the segment; beyond the ends, the next-to-last key mirrored at the last
    key_values k[4];
    for (int i = 0; i < 4; i++) {
        int key = at - 1 + i;
        k[i] = values_of(&keys[key < 0 ? 0 : key >= count ? count - 1 : key]);
    }
    align(&k[2], &k[1]);
    align(&k[0], &k[1]);
    align(&k[3], &k[2]);
    double value[VALUES];
    for (int i = 0; i < VALUES; i++) {
        double first = at > 0 ? k[0].value[i] : 2.0 * k[1].value[i] - k[2].value[i];
        double last = at + 2 < count ? k[3].value[i] : 2.0 * k[2].value[i] - k[1].value[i];
        value[i] = catmull_rom(first, k[1].value[i], k[2].value[i], last, x);
    }
    orr_camera camera = keys[at];
    rotate_to(value + QUATERNION, camera.pose);
    for (int i = 0; i < 3; i++) {
        camera.pose[4 * i + 3] = (float)value[POSITION + i];
    }
    for (int i = 0; i < 2; i++) {
        camera.focal[i] = (float)exp(value[FOCAL + i]);
        camera.centre[i] = (float)value[CENTRE + i];
    }
    return camera;
}

orr_camera orr_camera_turn(const orr_camera *camera, const float centre[3], const float up[3], double angle)
{
    const double cosine = cos(angle), sine = sin(angle);
    orr_camera turned = *camera;
    for (int column = 0; column < 4; column++) {
        // directions turn about the origin, the position about the centre
        double origin[3], across[3], height = 0.0;
        for (int i = 0; i < 3; i++) {
            origin[i] = column == 3 ? (double)centre[i] : 0.0;
            across[i] = (double)camera->pose[4 * i + column] - origin[i];
            height += across[i] * (double)up[i];
        }
        for (int i = 0; i < 3; i++) {
            across[i] -= height * (double)up[i];
        }
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            const double aside = across[j] * (double)up[k] - across[k] * (double)up[j];
            turned.pose[4 * i + column] =
                (float)(origin[i] + height * (double)up[i] + cosine * across[i] + sine * aside);
        }
    }
    return turned;
}
