#define ORR_SCALAR
#include "render/shadow/self_shadow.h"

#include "engine/core/memory.h"
#include "engine/maths/camera.h"
#include "engine/maths/rotation.h"
#include "render/reference/field_rays.h"

#include <math.h>
#include <string.h>

enum { SIDE = ORR_SELF_SHADOW_SIZE, RIM = 4 }; // [texels] around what is captured
_Static_assert((int)SIDE % (int)ORR_FIELD_RAYS == 0, "a row is a whole number of bundles");
static const float BIAS = 4.0f;   // [texels]
static const float ENOUGH = 0.5f; // of the light is kept off by what shadows others

typedef struct build {
    const orr_gaussians *clouds;
    const orr_gaussian_walk *walk;
    orr_field_rays *fields; // NULL: there are none
    float from_light[12];
    float focal;
    float *found; // SIDE x SIDE, before texels take those around them
    float *depths;
} build;

// ---- texels ----

// What fields show is among the splats, as in frames.
static float depth_on(const build *b, const orr_ray *ray, const orr_field_seen *field)
{
    orr_gaussian_met met[ORR_GAUSSIANS_MET], last;
    const float alpha = field->rgba[3];
    bool before = alpha > 0.0f; // the field is still ahead
    float passes = 1.0f;
    int count = b->clouds->bvh.block_count > 0 ? b->walk->first(b->clouds, ray, NULL, met) : 0;
    while (count > 0) {
        for (int i = 0; i < count; i++) {
            if (before && field->depth <= met[i].distance) {
                before = false;
                passes *= 1.0f - alpha;
                if (passes < ENOUGH) {
                    return field->depth;
                }
            }
            passes *= 1.0f - met[i].alpha;
            if (passes < ENOUGH) {
                return met[i].distance;
            }
        }
        last = met[count - 1];
        count = count == ORR_GAUSSIANS_MET ? b->walk->first(b->clouds, ray, &last, met) : 0;
    }
    return before && passes * (1.0f - alpha) < ENOUGH ? field->depth : INFINITY;
}

static orr_ray ray_of(const build *b, int column, int row)
{
    const float at[3] = {((float)column + 0.5f - 0.5f * SIDE) / b->focal,
                         ((float)row + 0.5f - 0.5f * SIDE) / b->focal, 0.0f};
    static const float along[3] = {0.0f, 0.0f, 1.0f};
    orr_ray ray = {.near_end = 0.0f, .far_end = INFINITY};
    affine_apply_to_point(b->from_light, at, ray.origin);
    affine_apply_to_direction(b->from_light, along, ray.direction);
    return ray;
}

static void find_row(void *context, int row, int worker)
{
    (void)worker;
    const build *b = context;
    for (int first = 0; first < SIDE; first += ORR_FIELD_RAYS) {
        orr_ray rays[ORR_FIELD_RAYS];
        orr_field_seen seen[ORR_FIELD_RAYS] = {{.depth = INFINITY}};
        for (int i = 0; i < ORR_FIELD_RAYS; i++) {
            rays[i] = ray_of(b, first + i, row);
        }
        if (b->fields) {
            orr_field_rays_meet(b->fields, rays, ORR_FIELD_RAYS, seen);
        }
        for (int i = 0; i < ORR_FIELD_RAYS; i++) {
            b->found[row * SIDE + first + i] = depth_on(b, &rays[i], &seen[i]);
        }
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

typedef struct box {
    float low[3], high[3];
} box;

static void add_point(box *around, const float p[3])
{
    for (int k = 0; k < 3; k++) {
        around->low[k] = fminf(around->low[k], p[k]);
        around->high[k] = fmaxf(around->high[k], p[k]);
    }
}

static void add_field(box *around, const orr_draw_field *field)
{
    float ends[2][3];
    orr_field_layer_bounds(field->layer, ends[0], ends[1]);
    for (int corner = 0; corner < 8; corner++) {
        float at[3], p[3];
        for (int k = 0; k < 3; k++) {
            at[k] = ends[corner >> k & 1][k];
        }
        affine_apply_to_point(field->model, at, p);
        add_point(around, p);
    }
}

static box box_around(const orr_gaussians *clouds, const orr_self_shadow_of *of)
{
    box around = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    if (clouds->bvh.block_count > 0) {
        orr_bvh_node_bounds(&clouds->bvh.nodes[0], around.low, around.high);
    }
    for (int i = 0; i < of->field_count; i++) {
        add_field(&around, &of->fields[i]);
    }
    return around;
}

// A square map of the ball around the box.
static void fit(const box *around, const float direction[3], orr_self_shadow *map)
{
    const double along[3] = {-(double)direction[0], -(double)direction[1], -(double)direction[2]};
    float centre[3], square = 0.0f;
    double quat[4], matrix[9];
    for (int k = 0; k < 3; k++) {
        const float length = around->high[k] - around->low[k];
        centre[k] = 0.5f * (around->low[k] + around->high[k]);
        square += 0.25f * length * length;
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

static orr_result build_map(orr_jobs *jobs, build *b, orr_arena *arena, const orr_self_shadow_of *of,
                            const float direction[3], orr_self_shadow *map, orr_error *error)
{
    orr_draw_list list = {.fields = of->fields, .field_count = of->field_count};
    memcpy(list.sun.direction, direction, sizeof list.sun.direction);
    if (of->field_count > 0) {
        ORR_TRY(orr_field_rays_create(jobs, arena, &list, &b->fields, error));
    }
    const box around = box_around(b->clouds, of);
    fit(&around, direction, map);
    ORR_TRY(orr_affine_invert(map->to_light, b->from_light, error));
    ORR_ALLOC(b->found, SIDE * SIDE, "a map of shadows", error);
    ORR_ALLOC(map->depths, SIDE * SIDE, "a map of shadows", error);
    b->focal = map->focal;
    b->depths = map->depths;
    orr_jobs_for(jobs, SIDE, find_row, b);
    orr_jobs_for(jobs, SIDE, widen_row, b);
    return ORR_OK;
}

static orr_result make(orr_jobs *jobs, build *b, const orr_self_shadow_of *of, const float direction[3],
                       orr_self_shadow **map, orr_error *error)
{
    if (b->clouds->bvh.block_count == 0 && of->field_count == 0) {
        return ORR_OK;
    }
    *map = orr_alloc_zero(1, sizeof **map);
    if (!*map) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a map of shadows");
    }
    (*map)->holders = 1;
    orr_arena arena = {0};
    const orr_result result = build_map(jobs, b, &arena, of, direction, *map, error);
    orr_free(b->found);
    orr_arena_destroy(&arena);
    return result;
}

orr_result orr_self_shadow_build(orr_jobs *jobs, orr_isa isa, const orr_self_shadow_of *of,
                                 const float direction[3], orr_self_shadow **map, orr_error *error)
{
    orr_gaussians gaussians;
    *map = NULL;
    ORR_TRY(orr_gaussians_build(of->clouds, of->cloud_count, &gaussians, error));
    build b = {.clouds = &gaussians, .walk = orr_gaussian_walk_of(isa)};
    const orr_result result = make(jobs, &b, of, direction, map, error);
    orr_gaussians_free(&gaussians);
    if (result != ORR_OK) {
        orr_self_shadow_release(*map);
        *map = NULL;
    }
    return result;
}

orr_self_shadow *orr_self_shadow_hold(orr_self_shadow *map)
{
    if (map) {
        map->holders++;
    }
    return map;
}

void orr_self_shadow_release(orr_self_shadow *map)
{
    if (map && --map->holders == 0) {
        orr_free(map->depths);
        orr_free(map);
    }
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
