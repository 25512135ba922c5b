// Normals and flow of clouds, from the depth that is drawn of them.
#include "render/cpu/seen.h"

#include <math.h>
#include <string.h>

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

// From the camera's space to that of the picture before, by a cloud. False: not known.
static bool matrix_before(const orr_draw_list *list, const orr_before *before, int cloud, float matrix[12])
{
    const orr_draw_splats *splats = &list->splats[cloud];
    float to_camera[12], from_camera[12], to_camera_before[12];
    if (!before->clouds[cloud].known || splats->deformation.piece_of) {
        return false;
    }
    orr_affine_multiply(list->lens.view, splats->model, to_camera);
    orr_affine_multiply(before->lens.view, before->clouds[cloud].model, to_camera_before);
    if (memcmp(to_camera, to_camera_before, sizeof to_camera) == 0) {
        const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
        memcpy(matrix, identity, sizeof identity);
        return true;
    }
    if (orr_affine_invert(to_camera, from_camera, NULL) != ORR_OK) {
        return false;
    }
    orr_affine_multiply(to_camera_before, from_camera, matrix);
    return true;
}

static void flow_of(const orr_lens *lens, const orr_lens *before, const float matrix[12], point now,
                    float flow[2])
{
    float then[3];
    affine_apply_to_point(matrix, now.at, then);
    for (int k = 0; k < 2; k++) {
        const float reach = lens->orthographic ? 1.0f : now.at[2],
                    reach_then = before->orthographic ? 1.0f : then[2];
        flow[k] = then[2] < before->near_plane
                      ? 0.0f
                      : lens->focal[k] * now.at[k] / reach + lens->centre[k] -
                            (before->focal[k] * then[k] / reach_then + before->centre[k]);
    }
}

void orr_cloud_flow(const orr_draw_list *list, const float *depth, const orr_seen *seen)
{
    const orr_lens *lens = &list->lens;
    for (int cloud = 0; cloud < list->splat_count; cloud++) {
        float matrix[12];
        const bool known = seen->before && matrix_before(list, seen->before, cloud, matrix);
        for (int y = 0; y < lens->height; y++) {
            for (int x = 0; x < lens->width; x++) {
                const size_t pixel = (size_t)y * (size_t)lens->width + (size_t)x;
                float *flow = seen->flow + 2 * pixel;
                if (seen->items[pixel] != ORR_ITEM_OF_CLOUD(cloud)) {
                    continue;
                }
                flow[0] = flow[1] = 0.0f;
                if (known) {
                    flow_of(lens, &seen->before->lens, matrix, point_of(lens, depth, x, y), flow);
                }
            }
        }
    }
}
