#define ORR_SCALAR
#include "neural/training/nerf_cull.h"

#include "engine/core/memory.h"

#include <math.h>

enum { PATCH = 4 }; // pixels per side of a patch of alpha

// Sums over all patches above and to the left, so that any rectangle's count of patches that are not fully
// transparent takes four reads.
typedef struct coverage {
    int columns, rows;
    int32_t *sums; // (rows + 1) x (columns + 1); NULL: an opaque photo
    float widest;  // of a fisheye: the angle of the corner farthest from its axis [rad]
} coverage;

typedef struct seen_context {
    const orr_capture *capture;
    const int *images;
    int image_count;
    const orr_ray_camera *cameras;
    coverage *coverages;
} seen_context;

static bool patch_covered(const orr_capture_image *image, int column, int row)
{
    for (int y = row * PATCH; y < (row + 1) * PATCH && y < image->height; y++) {
        for (int x = column * PATCH; x < (column + 1) * PATCH && x < image->width; x++) {
            int64_t pixel = (int64_t)y * image->width + x;
            // what is masked out may hide anything
            if (image->pixels[pixel * 4 + 3] != 0 || (image->mask && image->mask[pixel] == 0)) {
                return true;
            }
        }
    }
    return false;
}

static void sum_coverage(void *context, int i, int worker)
{
    (void)worker;
    const seen_context *seen = context;
    const orr_capture_image *image = &seen->capture->images[seen->images[i]];
    coverage *c = &seen->coverages[i];
    if (!c->sums) {
        return;
    }
    int stride = c->columns + 1;
    for (int row = 0; row < c->rows; row++) {
        for (int column = 0; column < c->columns; column++) {
            const int32_t *above = c->sums + row * stride + column;
            c->sums[(row + 1) * stride + column + 1] =
                (int32_t)patch_covered(image, column, row) + above[1] + above[stride] - above[0];
        }
    }
}

static int32_t covered_patches(const coverage *c, int x0, int y0, int x1, int y1)
{
    int stride = c->columns + 1;
    const int32_t *top = c->sums + y0 * stride, *bottom = c->sums + (y1 + 1) * stride;
    return bottom[x1 + 1] - bottom[x0] - top[x1 + 1] + top[x0];
}

// An angle without its sign, of a unit vector's part along another.
static float angle_along(float part)
{
    return acosf(fminf(fmaxf(part, -1.0f), 1.0f));
}

static float widest_angle(const orr_ray_camera *camera)
{
    float widest = 0.0f;
    for (int corner = 0; corner < 4; corner++) {
        const orr_camera_ray ray = orr_ray_camera_ray(camera, corner % 2 ? (float)camera->width : 0.0f,
                                                      corner / 2 ? (float)camera->height : 0.0f);
        const float *d = ray.direction, *forward = camera->axes[2];
        widest = fmaxf(widest, angle_along(d[0] * forward[0] + d[1] * forward[1] + d[2] * forward[2]));
    }
    return widest;
}

// Does a part of the ball lie within the angle of the farthest corner?
static bool fisheye_sees(const orr_ray_camera *camera, float widest, const float centre[3], float radius)
{
    float squared = 0.0f, along = 0.0f;
    for (int k = 0; k < 3; k++) {
        const float to = centre[k] - camera->origin[k];
        squared += to * to;
        along += to * camera->axes[2][k];
    }
    const float distance = sqrtf(squared);
    return distance <= radius || angle_along(along / distance) - asinf(radius / distance) <= widest;
}

// Is the ball around a cell in the picture, and if all of it: is there anything in front of which it lies?
static void project_ball(const orr_ray_camera *camera, const coverage *c, const float centre[3], float radius,
                         bool *seen, bool *empty)
{
    float pixel[2], depth;
    if (camera->lens.fisheye_limit > 0.0f) {
        *seen |= fisheye_sees(camera, c->widest, centre, radius);
        return;
    }
    if (!orr_ray_camera_project(camera, centre, pixel, &depth) || depth < radius * 1.01f) {
        *seen |= depth > -radius; // the camera may be in the ball
        return;
    }
    // the ball's outline stays within this of its centre, wherever in the picture it is
    float x = fabsf(pixel[0] - camera->lens.centre_x) / camera->lens.focal_x;
    float y = fabsf(pixel[1] - camera->lens.centre_y) / camera->lens.focal_y;
    float nearest = depth - radius;
    float reach_x = camera->lens.focal_x * radius * (1.0f + x) / nearest + 1.0f;
    float reach_y = camera->lens.focal_y * radius * (1.0f + y) / nearest + 1.0f;
    float x0 = pixel[0] - reach_x, x1 = pixel[0] + reach_x, y0 = pixel[1] - reach_y, y1 = pixel[1] + reach_y;
    *seen |= x1 > 0.0f && y1 > 0.0f && x0 < (float)camera->width && y0 < (float)camera->height;
    bool inside = x0 >= 0.0f && y0 >= 0.0f && x1 < (float)camera->width && y1 < (float)camera->height;
    // a distorted lens may fold what is outside the picture into it
    if (inside && c->sums && !camera->distorted) {
        *empty |= covered_patches(c, (int)x0 / PATCH, (int)y0 / PATCH, (int)x1 / PATCH, (int)y1 / PATCH) == 0;
    }
}

static bool keep_cell(const void *context, const float low[3], float side)
{
    const seen_context *seen = context;
    float centre[3] = {low[0] + 0.5f * side, low[1] + 0.5f * side, low[2] + 0.5f * side};
    float radius = 0.8660254f * side;
    bool in_picture = false, empty = false;
    for (int i = 0; i < seen->image_count && !empty; i++) {
        const coverage *c = &seen->coverages[i];
        if (!in_picture || c->sums) {
            project_ball(&seen->cameras[i], c, centre, radius, &in_picture, &empty);
        }
    }
    return in_picture && !empty;
}

static orr_result allocate(seen_context *seen, orr_error *error)
{
    for (int i = 0; i < seen->image_count; i++) {
        const orr_capture_image *image = &seen->capture->images[seen->images[i]];
        coverage *c = &seen->coverages[i];
        c->columns = orr_blocks(image->width, PATCH);
        c->rows = orr_blocks(image->height, PATCH);
        c->widest = image->fisheye ? widest_angle(&seen->cameras[i]) : 0.0f;
        if (image->channels == 4) {
            c->sums = orr_alloc_zero((size_t)(c->columns + 1) * (size_t)(c->rows + 1), sizeof *c->sums);
            if (!c->sums) {
                return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: what photo %d covers", i);
            }
        }
    }
    return ORR_OK;
}

orr_result orr_nerf_cull_unseen(orr_occupancy *grid, orr_jobs *jobs, const orr_capture *capture,
                                const int *images, int image_count, const orr_ray_camera *cameras,
                                orr_error *error)
{
    seen_context seen = {
        .capture = capture, .images = images, .image_count = image_count, .cameras = cameras};
    seen.coverages = orr_alloc_zero((size_t)image_count, sizeof *seen.coverages);
    if (!seen.coverages) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: what %d photos cover", image_count);
    }
    orr_result result = allocate(&seen, error);
    if (result == ORR_OK) {
        orr_jobs_for(jobs, image_count, sum_coverage, &seen);
        orr_occupancy_cull(grid, jobs, keep_cell, &seen);
    }
    for (int i = 0; i < image_count; i++) {
        orr_free(seen.coverages[i].sums);
    }
    orr_free(seen.coverages);
    return result;
}
