#define ORR_SCALAR
#include "render/reference/field_rays.h"

#include "neural/fields/field_formula.h"

#include <math.h>
#include <stdatomic.h>

struct orr_field_rays {
    orr_field_layer_rays *layers; // layer_count
    int layer_count;
    atomic_flag *taken; // worker_count: whose scratch is in use
    int worker_count;
};

orr_result orr_field_rays_create(orr_jobs *jobs, orr_arena *arena, const orr_draw_list *list,
                                 orr_field_rays **fields, orr_error *error)
{
    orr_field_rays *f = orr_arena_take(arena, 1, sizeof *f);
    const int workers = orr_jobs_workers(jobs);
    atomic_flag *taken = orr_arena_take(arena, (size_t)workers, sizeof *taken);
    orr_field_layer_rays *layers = orr_arena_take(arena, (size_t)list->field_count, sizeof *layers);
    if (!f || !taken || !layers) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: fields that rays meet");
    }
    *f = (orr_field_rays){layers, list->field_count, taken, workers};
    for (int i = 0; i < workers; i++) {
        atomic_flag_clear(&taken[i]);
    }
    for (int i = 0; i < list->field_count; i++) {
        const orr_draw_field *field = &list->fields[i];
        ORR_TRY(orr_field_layer_rays_begin(field->layer, jobs, arena, field->model, list->sun.direction,
                                           &layers[i], error));
    }
    *fields = f;
    return ORR_OK;
}

// Bodies of jobs that run at the same time are no more than there are workers, so that one is always free.
static int take_worker(orr_field_rays *f)
{
    int worker = 0;
    while (atomic_flag_test_and_set_explicit(&f->taken[worker], memory_order_acquire)) {
        worker = (worker + 1) % f->worker_count;
    }
    return worker;
}

static field_pixel pixel_of(const orr_field_seen *seen)
{
    const float *c = seen->rgba;
    return (field_pixel){c[0], c[1], c[2], c[3], c[3] > 0.0f ? seen->depth : INFINITY};
}

void orr_field_rays_meet(orr_field_rays *f, const orr_ray *rays, int count, orr_field_seen *seen)
{
    assert(count <= ORR_FIELD_RAYS);
    orr_field_ray followed[ORR_FIELD_RAYS];
    orr_field_seen layer[ORR_FIELD_RAYS];
    for (int i = 0; i < count; i++) {
        const orr_ray *r = &rays[i];
        followed[i] =
            (orr_field_ray){.ray = {.origin = {r->origin[0], r->origin[1], r->origin[2]},
                                    .direction = {r->direction[0], r->direction[1], r->direction[2]},
                                    .depth = 1.0f},
                            .near_depth = r->near_end,
                            .far_depth = r->far_end};
        seen[i] = (orr_field_seen){.depth = INFINITY};
    }
    const int worker = take_worker(f);
    for (int k = 0; k < f->layer_count; k++) {
        orr_field_layer_follow(&f->layers[k], worker, followed, count, layer);
        for (int i = 0; i < count; i++) {
            const field_pixel drawn = pixel_of(&layer[i]),
                              p = k == 0 ? drawn : field_merge(pixel_of(&seen[i]), drawn);
            seen[i] = (orr_field_seen){{p.red, p.green, p.blue, p.alpha}, p.depth};
        }
    }
    atomic_flag_clear_explicit(&f->taken[worker], memory_order_release);
}

static void add_splats_between(const orr_gaussians *splats, const orr_gaussian_walk *walk, const orr_ray *ray,
                               float near_end, float far_end, orr_veil *veil)
{
    orr_ray part = *ray;
    part.near_end = near_end;
    part.far_end = far_end;
    orr_gaussians_veil(splats, walk, &part, veil);
}

orr_veil orr_field_rays_veil(const orr_gaussians *splats, const orr_gaussian_walk *walk, const orr_ray *ray,
                             const orr_field_seen *seen)
{
    orr_veil veil = orr_veil_begin();
    if (!(seen->rgba[3] > 0.0f)) {
        orr_gaussians_veil(splats, walk, ray, &veil);
        return veil;
    }
    const float at = fminf(seen->depth, ray->far_end);
    add_splats_between(splats, walk, ray, ray->near_end, at, &veil);
    orr_veil_add(&veil, seen->rgba, seen->rgba[3], at, -1);
    add_splats_between(splats, walk, ray, nextafterf(at, INFINITY), ray->far_end, &veil);
    return veil;
}
