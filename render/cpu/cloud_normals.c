// Normals of clouds, from the depth that is drawn of them.
#include "render/cpu/splats_cpu.h"

#include <math.h>

typedef struct point {
    float at[3];
} point;

// What a pixel shows, in the camera's space.
static point point_of(const orr_lens *lens, const float *depth, int x, int y)
{
    const float z = depth[(size_t)y * (size_t)lens->width + (size_t)x], reach = lens->orthographic ? 1.0f : z;
    return (point){{((float)x + 0.5f - lens->centre[0]) / lens->focal[0] * reach,
                    ((float)y + 0.5f - lens->centre[1]) / lens->focal[1] * reach, z}};
}

// The step to the next pixel of the same cloud along an axis; of two, the one that changes the depth less.
static bool step_along(const orr_lens *lens, const float *depth, const int32_t *items, int x, int y, int axis,
                       float step[3])
{
    const int32_t item = items[(size_t)y * (size_t)lens->width + (size_t)x];
    const point here = point_of(lens, depth, x, y);
    bool found = false;
    for (int side = -1; side <= 1; side += 2) {
        const int column = x + (axis == 0 ? side : 0), row = y + (axis == 1 ? side : 0);
        if (column < 0 || row < 0 || column >= lens->width || row >= lens->height ||
            items[(size_t)row * (size_t)lens->width + (size_t)column] != item) {
            continue;
        }
        const point there = point_of(lens, depth, column, row);
        if (!found || fabsf(there.at[2] - here.at[2]) < fabsf(step[2])) {
            for (int k = 0; k < 3; k++) {
                step[k] = (float)side * (there.at[k] - here.at[k]);
            }
            found = true;
        }
    }
    return found;
}

void orr_cloud_normals(const orr_lens *lens, const float *depth, const orr_seen *seen)
{
    for (int y = 0; y < lens->height; y++) {
        for (int x = 0; x < lens->width; x++) {
            const size_t pixel = (size_t)y * (size_t)lens->width + (size_t)x;
            float right[3], down[3], n[3] = {0};
            if (seen->items[pixel] >= -1) {
                continue;
            }
            if (step_along(lens, depth, seen->items, x, y, 0, right) &&
                step_along(lens, depth, seen->items, x, y, 1, down)) {
                vec3f_cross(right, down, n);
            }
            const point at = point_of(lens, depth, x, y);
            const float away = lens->orthographic ? n[2] : vec3f_dot(n, at.at);
            const float length = sqrtf(vec3f_dot(n, n));
            for (int k = 0; k < 3; k++) {
                seen->normals[3 * pixel + (size_t)k] =
                    length > 0.0f ? n[k] / (away > 0.0f ? -length : length) : 0.0f;
            }
        }
    }
}
