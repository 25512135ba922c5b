#define ORR_SCALAR
#include "neural/nerf/draw.h"

#include "engine/core/memory.h"

#include <math.h>

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
    float open_min;
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
            float start, end;
            if (!orr_nerf_model_range(task->model, &ray, &start, &end)) {
                continue;
            }
            float far_depth = camera->far_plane;
            if (task->desc->far_depth) {
                far_depth = fminf(far_depth, task->desc->far_depth[pixel]);
            }
            start = fmaxf(start, camera->near_plane / ray.depth);
            end = fminf(end, far_depth / ray.depth);
            if (start < end) {
                pixels[rays->count] = pixel;
                depth[rays->count] = ray.depth;
                orr_nerf_model_begin(task->model, rays, &ray, start, end, 0.5f);
            }
        }
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
    orr_nerf_march(task->model, bundle, task->open_min, (float)NERF_WEIGHT_MIN);
    orr_nerf_colour(task->model, bundle);
    const orr_nerf_samples *s = &bundle->samples;
    for (int i = 0; i < s->count; i++) {
        const float *colour = s->colours + i / ORR_SAMPLES * 3 * ORR_SAMPLES + i % ORR_SAMPLES;
        float *rgba = task->desc->rgba + 4 * pixels[s->ray[i]];
        for (int c = 0; c < 3; c++) {
            rgba[c] += s->weight[i] * colour[c * ORR_SAMPLES];
        }
        rgba[3] += s->weight[i];
        if (task->desc->depth) {
            task->desc->depth[pixels[s->ray[i]]] += s->weight[i] * s->distance[i] * per_distance[s->ray[i]];
        }
    }
    for (int r = 0; r < bundle->rays.count; r++) {
        float *rgba = task->desc->rgba + 4 * pixels[r];
        float weight = rgba[3];
        if (weight > 0.0f && task->desc->depth) {
            task->desc->depth[pixels[r]] /= weight;
        }
        float fill = nerf_fill(weight, bundle->rays.open[r], task->open_min);
        for (int c = 0; c < 4; c++) {
            rgba[c] *= fill;
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
                      .open_min = desc->open_min > 0.0f ? desc->open_min : (float)NERF_OPEN_MIN};
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
