#define ORR_SCALAR
#include "render/shadow/self_shadow.h"

#include "engine/core/memory.h"
#include "engine/maths/camera.h"
#include "engine/maths/rotation.h"
#include "render/reference/gaussians.h"

#include <math.h>
#include <string.h>

enum { SIDE = ORR_SELF_SHADOW_SIZE, RIM = 4 }; // [texels] around the clouds
static const float BIAS = 4.0f;                // [texels]
static const float ENOUGH = 0.5f;              // of the light is kept off by what shadows others

typedef struct build {
    const orr_gaussians *clouds;
    const orr_gaussian_walk *walk;
    float from_light[12];
    float focal;
    float *found; // SIDE x SIDE, before texels take those around them
    float *depths;
} build;

// ---- texels ----

static float depth_on(const build *b, const orr_ray *ray)
{
    orr_gaussian_met met[ORR_GAUSSIANS_MET], last;
    float passes = 1.0f;
    int count = b->walk->first(b->clouds, ray, NULL, met);
    while (count > 0) {
        for (int i = 0; i < count; i++) {
            passes *= 1.0f - met[i].alpha;
            if (passes < ENOUGH) {
                return met[i].distance;
            }
        }
        last = met[count - 1];
        count = count == ORR_GAUSSIANS_MET ? b->walk->first(b->clouds, ray, &last, met) : 0;
    }
    return INFINITY;
}

static void find_row(void *context, int row, int worker)
{
    (void)worker;
    const build *b = context;
    for (int column = 0; column < SIDE; column++) {
        const float at[3] = {((float)column + 0.5f - 0.5f * SIDE) / b->focal,
                             ((float)row + 0.5f - 0.5f * SIDE) / b->focal, 0.0f};
        static const float along[3] = {0.0f, 0.0f, 1.0f};
        orr_ray ray = {.near_end = 0.0f, .far_end = INFINITY};
        affine_apply_to_point(b->from_light, at, ray.origin);
        affine_apply_to_direction(b->from_light, along, ray.direction);
        b->found[row * SIDE + column] = depth_on(b, &ray);
    }
}

static void widen_row(void *context, int row, int worker)
{
    (void)worker;
    const build *b = context;
    for (int column = 0; column < SIDE; column++) {
        float farthest = 0.0f;
        for (int k = 0; k < 9; k++) {
            const int x = column + k % 3 - 1, y = row + k / 3 - 1;
            const bool inside = x >= 0 && x < SIDE && y >= 0 && y < SIDE;
            farthest = fmaxf(farthest, inside ? b->found[y * SIDE + x] : INFINITY);
        }
        b->depths[row * SIDE + column] = farthest + BIAS / b->focal;
    }
}

// ---- the map ----

// A square map of the ball around the box that the clouds are in.
static void fit(const orr_gaussians *clouds, const float direction[3], orr_self_shadow *map)
{
    const double along[3] = {-(double)direction[0], -(double)direction[1], -(double)direction[2]};
    float low[3], high[3], centre[3], square = 0.0f;
    double quat[4], matrix[9];
    orr_bvh_node_bounds(&clouds->bvh.nodes[0], low, high);
    for (int k = 0; k < 3; k++) {
        centre[k] = 0.5f * (low[k] + high[k]);
        square += 0.25f * (high[k] - low[k]) * (high[k] - low[k]);
    }
    const float radius = fmaxf(sqrtf(square), 1e-12f);
    map->focal = 0.5f * (float)(SIDE - 2 * RIM) / radius;
    quat_from_z(along, quat);
    quat_matrix(quat, matrix);
    for (int r = 0; r < 3; r++) {
        float *row = &map->to_light[4 * r];
        for (int k = 0; k < 3; k++) {
            row[k] = (float)matrix[3 * k + r];
        }
        row[3] = (r == 2 ? radius + (float)RIM / map->focal : 0.0f) -
                 (row[0] * centre[0] + row[1] * centre[1] + row[2] * centre[2]);
    }
}

static orr_result find_depths(orr_jobs *jobs, build *b, orr_self_shadow *map, orr_error *error)
{
    ORR_TRY(orr_affine_invert(map->to_light, b->from_light, error));
    ORR_ALLOC(b->found, SIDE * SIDE, "a map of shadows", error);
    if (!map->depths) {
        ORR_ALLOC(map->depths, SIDE * SIDE, "a map of shadows", error);
    }
    b->focal = map->focal;
    b->depths = map->depths;
    orr_jobs_for(jobs, SIDE, find_row, b);
    orr_jobs_for(jobs, SIDE, widen_row, b);
    return ORR_OK;
}

orr_result orr_self_shadow_build(orr_jobs *jobs, orr_isa isa, const orr_draw_splats *clouds, int count,
                                 const float direction[3], orr_self_shadow *map, orr_error *error)
{
    orr_gaussians gaussians;
    ORR_TRY(orr_gaussians_build(clouds, count, &gaussians, error));
    if (gaussians.bvh.block_count == 0) {
        orr_self_shadow_free(map);
        orr_gaussians_free(&gaussians);
        return ORR_OK;
    }
    build b = {.clouds = &gaussians, .walk = orr_gaussian_walk_of(isa)};
    fit(&gaussians, direction, map);
    const orr_result result = find_depths(jobs, &b, map, error);
    orr_free(b.found);
    orr_gaussians_free(&gaussians);
    return result;
}

orr_result orr_self_shadow_copy(const orr_self_shadow *from, orr_self_shadow *to, orr_error *error)
{
    float *depths = to->depths;
    if (!depths) {
        ORR_ALLOC(depths, SIDE * SIDE, "a map of shadows", error);
    }
    *to = *from;
    to->depths = depths;
    memcpy(depths, from->depths, sizeof(float[SIDE * SIDE]));
    return ORR_OK;
}

void orr_self_shadow_free(orr_self_shadow *map)
{
    orr_free(map->depths);
    *map = (orr_self_shadow){0};
}

orr_shadow_values orr_self_shadow_values(const orr_self_shadow *map, const float view[12])
{
    orr_shadow_values values = {.size = 0.0f};
    float from_camera[12];
    if (map && orr_affine_invert(view, from_camera, NULL) == ORR_OK) {
        const float middle = 0.5f * SIDE;
        values = (orr_shadow_values){
            .focal = map->focal, .centre = {middle, middle}, .size = (float)SIDE, .orthographic = 1.0f};
        orr_affine_multiply(map->to_light, from_camera, values.to_light);
    }
    return values;
}
