// Normals and flow of clouds, from the depth that is drawn of them.
#define ORR_SCALAR 1
#include "engine/maths/vector.h"
#include "render/cpu/seen.h"
#include "render/seen/seen_inputs.h"

// What a pixel shows.
static real3 point_of(const orr_lens *lens, const float *depth, int x, int y)
{
    return seen_point(seen_lens_of(lens), (float)x + 0.5f, (float)y + 0.5f,
                      depth[(size_t)y * (size_t)lens->width + (size_t)x]);
}

// The step to the next pixel of the same cloud along an axis.
static seen_step step_along(const orr_lens *lens, const float *depth, const int32_t *items, int x, int y,
                            int axis)
{
    const int32_t item = items[(size_t)y * (size_t)lens->width + (size_t)x];
    const real3 here = point_of(lens, depth, x, y);
    seen_step step = seen_no_step();
    for (int side = -1; side <= 1; side += 2) {
        const int column = x + (axis == 0 ? side : 0), row = y + (axis == 1 ? side : 0);
        if (column >= 0 && row >= 0 && column < lens->width && row < lens->height) {
            const bool same = items[(size_t)row * (size_t)lens->width + (size_t)column] == item;
            step = seen_step_to(step, same, (float)side, here, point_of(lens, depth, column, row));
        }
    }
    return step;
}

void orr_cloud_normals(const orr_lens *lens, const float *depth, const orr_seen *seen)
{
    for (int y = 0; y < lens->height; y++) {
        for (int x = 0; x < lens->width; x++) {
            const size_t pixel = (size_t)y * (size_t)lens->width + (size_t)x;
            if (seen->items[pixel] < -1) {
                const real3 n = seen_cloud_normal(
                    seen_lens_of(lens), step_along(lens, depth, seen->items, x, y, 0),
                    step_along(lens, depth, seen->items, x, y, 1), point_of(lens, depth, x, y));
                seen->normals[3 * pixel] = n.x;
                seen->normals[3 * pixel + 1] = n.y;
                seen->normals[3 * pixel + 2] = n.z;
            }
        }
    }
}

void orr_cloud_flow(const orr_draw_list *list, const float *depth, const orr_seen *seen)
{
    const orr_lens *lens = &list->lens;
    for (int cloud = 0; cloud < list->splat_count; cloud++) {
        float matrix[12];
        const bool known = seen->before && orr_seen_cloud_before(list, seen->before, cloud, matrix);
        for (int y = 0; y < lens->height; y++) {
            for (int x = 0; x < lens->width; x++) {
                const size_t pixel = (size_t)y * (size_t)lens->width + (size_t)x;
                real2 flow = {0.0f, 0.0f};
                if (seen->items[pixel] != ORR_ITEM_OF_CLOUD(cloud)) {
                    continue;
                }
                if (known) {
                    const real3 now = point_of(lens, depth, x, y);
                    const float at[3] = {now.x, now.y, now.z};
                    float then[3];
                    affine_apply_to_point(matrix, at, then);
                    flow = seen_flow(seen_lens_of(lens), now, seen_lens_of(&seen->before->lens),
                                     make_real3(then[0], then[1], then[2]));
                }
                seen->flow[2 * pixel] = flow.x;
                seen->flow[2 * pixel + 1] = flow.y;
            }
        }
    }
}
