#define ORR_SCALAR
#include "neural/nerf/draw.h"

#include "engine/core/memory.h"
#include "neural/fields/field_formula.h"

#include <math.h>
#include <string.h>

enum { TILE = ORR_FIELD_TILE };
_Static_assert(TILE *TILE == ORR_NERF_RAYS, "a tile is a bundle");

struct orr_nerf_drawer {
    const orr_field *field;
    orr_jobs *jobs;
    orr_nerf_bundle **bundles; // one per worker
};

typedef struct draw_task {
    const orr_nerf_drawer *drawer;
    const orr_nerf_model *model;
    const orr_nerf_draw_desc *desc;
    int columns;
    float transmittance_min;
} draw_task;

orr_result orr_nerf_drawer_create(const orr_field *field, orr_jobs *jobs, orr_nerf_drawer **drawer,
                                  orr_error *error)
{
    *drawer = NULL;
    orr_nerf_drawer *d = orr_alloc_zero(1, sizeof *d);
    if (!d) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a drawer of radiance fields");
    }
    d->field = field;
    d->jobs = jobs;
    d->bundles = orr_alloc_zero((size_t)orr_jobs_workers(jobs), sizeof *d->bundles);
    if (!d->bundles) {
        orr_nerf_drawer_destroy(d);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a drawer of radiance fields");
    }
    for (int i = 0; i < orr_jobs_workers(jobs); i++) {
        orr_result result = orr_nerf_bundle_create(field, false, &d->bundles[i], error);
        if (result != ORR_OK) {
            orr_nerf_drawer_destroy(d);
            return result;
        }
    }
    *drawer = d;
    return ORR_OK;
}

void orr_nerf_drawer_destroy(orr_nerf_drawer *drawer)
{
    if (!drawer) {
        return;
    }
    for (int i = 0; drawer->bundles && i < orr_jobs_workers(drawer->jobs); i++) {
        orr_nerf_bundle_destroy(drawer->bundles[i]);
    }
    orr_free(drawer->bundles);
    orr_free(drawer);
}

// Puts the part of a ray that may show something into the bundle; false: there is none.
static bool begin_ray(const orr_nerf_model *model, orr_nerf_rays *rays, const orr_camera_ray *ray,
                      float near_depth, float far_depth)
{
    float start, end;
    if (!orr_nerf_model_range(model, ray, &start, &end)) {
        return false;
    }
    const real2 between = ray_depth_range(near_depth, far_depth, ray->depth);
    start = fmaxf(start, between.x);
    end = fminf(end, between.y);
    if (!(start < end)) {
        return false;
    }
    orr_nerf_model_begin(model, rays, ray, start, end, 0.5f);
    return true;
}

// Begins the rays of a tile; pixel[i]: where ray i belongs, depth[i]: its depth per distance.
static void begin_rays(const draw_task *task, int tile, orr_nerf_rays *rays, int64_t *pixels, float *depth)
{
    const orr_ray_camera *camera = &task->desc->camera;
    int left = tile % task->columns * TILE, top = tile / task->columns * TILE;
    rays->count = 0;
    for (int y = top; y < top + TILE && y < camera->height; y++) {
        for (int x = left; x < left + TILE && x < camera->width; x++) {
            int64_t pixel = (int64_t)y * camera->width + x;
            for (int c = 0; c < 4; c++) {
                task->desc->rgba[4 * pixel + c] = 0.0f;
            }
            if (task->desc->depth) {
                task->desc->depth[pixel] = 0.0f;
            }
            orr_camera_ray ray = orr_ray_camera_ray(camera, (float)x + 0.5f, (float)y + 0.5f);
            float near_depth = camera->near_plane, far_depth = camera->far_plane;
            if (task->desc->near_depth) {
                near_depth = fmaxf(near_depth, task->desc->near_depth[pixel]);
            }
            if (task->desc->far_depth) {
                far_depth = fminf(far_depth, task->desc->far_depth[pixel]);
            }
            pixels[rays->count] = pixel;
            depth[rays->count] = ray.depth;
            begin_ray(task->model, rays, &ray, near_depth, far_depth);
        }
    }
}

// What the rays of a bundle show; per_distance: depth of each.
static void follow_rays(const orr_nerf_model *model, orr_nerf_bundle *bundle, float transmittance_min,
                        const float *per_distance, field_pixel *pixels)
{
    orr_nerf_march(model, bundle, transmittance_min, (float)RADIANCE_WEIGHT_MIN);
    orr_nerf_colour(model, bundle);
    const orr_nerf_samples *s = &bundle->samples;
    field_pixel light[ORR_NERF_RAYS]; // sums over samples; depth: of depths
    for (int r = 0; r < bundle->rays.count; r++) {
        light[r] = field_nothing(0.0f);
    }
    for (int i = 0; i < s->count; i++) {
        const float *c = s->colours + orr_block_index(i, 3);
        real3 colour = make_real3(c[0], c[ORR_SAMPLES], c[2 * ORR_SAMPLES]);
        field_pixel *sums = &light[s->ray[i]];
        *sums = field_add(*sums, s->weight[i], colour, s->distance[i], per_distance[s->ray[i]]);
    }
    for (int r = 0; r < bundle->rays.count; r++) {
        pixels[r] = field_resolve_radiance(light[r], bundle->rays.transmittance[r], transmittance_min);
    }
}

static void draw_tile(void *context, int job, int worker)
{
    const draw_task *task = context;
    int tile = task->desc->first_tile + job;
    orr_nerf_bundle *bundle = task->drawer->bundles[worker];
    int64_t pixels[ORR_NERF_RAYS];
    float per_distance[ORR_NERF_RAYS];
    begin_rays(task, tile, &bundle->rays, pixels, per_distance);
    field_pixel light[ORR_NERF_RAYS];
    follow_rays(task->model, bundle, task->transmittance_min, per_distance, light);
    for (int r = 0; r < bundle->rays.count; r++) {
        const field_pixel p = light[r];
        const float rgba[4] = {p.red, p.green, p.blue, p.alpha};
        memcpy(task->desc->rgba + 4 * pixels[r], rgba, sizeof rgba);
        if (task->desc->depth) {
            task->desc->depth[pixels[r]] = p.depth;
        }
    }
}

int64_t orr_nerf_draw(orr_nerf_drawer *drawer, const orr_occupancy *grid, const orr_nerf_draw_desc *desc)
{
    orr_nerf_model model = orr_nerf_model_of(drawer->field, grid);
    draw_task task = {.drawer = drawer,
                      .model = &model,
                      .desc = desc,
                      .columns = orr_blocks(desc->camera.width, TILE),
                      .transmittance_min = desc->transmittance_min > 0.0f
                                               ? desc->transmittance_min
                                               : (float)RADIANCE_TRANSMITTANCE_MIN};
    int tiles = desc->tile_count > 0 ? desc->tile_count
                                     : orr_field_tile_count(desc->camera.width, desc->camera.height);
    int64_t before = 0, after = 0;
    for (int i = 0; i < orr_jobs_workers(drawer->jobs); i++) {
        before += drawer->bundles[i]->evaluated;
    }
    orr_jobs_for(drawer->jobs, tiles, draw_tile, &task);
    for (int i = 0; i < orr_jobs_workers(drawer->jobs); i++) {
        after += drawer->bundles[i]->evaluated;
    }
    return after - before;
}

void orr_nerf_follow(const orr_nerf_drawer *drawer, const orr_occupancy *grid, int worker,
                     const orr_field_ray *rays, int count, orr_field_seen *seen)
{
    assert(count <= ORR_NERF_RAYS);
    const orr_nerf_model model = orr_nerf_model_of(drawer->field, grid);
    orr_nerf_bundle *bundle = drawer->bundles[worker];
    int of_ray[ORR_NERF_RAYS];
    float per_distance[ORR_NERF_RAYS];
    field_pixel light[ORR_NERF_RAYS];
    bundle->rays.count = 0;
    for (int i = 0; i < count; i++) {
        const int at = bundle->rays.count;
        seen[i] = (orr_field_seen){0};
        if (begin_ray(&model, &bundle->rays, &rays[i].ray, rays[i].near_depth, rays[i].far_depth)) {
            of_ray[at] = i;
            per_distance[at] = rays[i].ray.depth;
        }
    }
    follow_rays(&model, bundle, (float)RADIANCE_TRANSMITTANCE_MIN, per_distance, light);
    for (int r = 0; r < bundle->rays.count; r++) {
        const field_pixel p = light[r];
        seen[of_ray[r]] = (orr_field_seen){{p.red, p.green, p.blue, p.alpha}, p.depth};
    }
}
