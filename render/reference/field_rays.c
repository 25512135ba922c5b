#define ORR_SCALAR
#include "render/reference/field_rays.h"

#include "neural/fields/field_formula.h"
#include "render/field_light/captured_light_formula.h"
#include "render/formula_inputs.h"
#include "render/reference/bsdf.h"
#include "render/reference/surfaces.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

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

// ---- how it lies ----

enum { BESIDE = 4, TOGETHER = ORR_FIELD_RAYS / BESIDE };

static const real aside[BESIDE][2] = {{(real)CAPTURED_SPAN, 0.0f},
                                      {-(real)CAPTURED_SPAN, 0.0f},
                                      {0.0f, (real)CAPTURED_SPAN},
                                      {0.0f, -(real)CAPTURED_SPAN}};

static real cosine_aside(void)
{
    return 1.0f / sqrtf(1.0f + (real)CAPTURED_SPAN * (real)CAPTURED_SPAN);
}

static orr_ray turned_aside(const orr_ray *ray, int i)
{
    const real cosine = cosine_aside();
    const real3 local = make_real3(aside[i][0] * cosine, aside[i][1] * cosine, cosine),
                d = frame_out(of_three(ray->direction), local);
    orr_ray turned = *ray;
    turned.direction[0] = d.x, turned.direction[1] = d.y, turned.direction[2] = d.z;
    return turned;
}

static void find_normal(const orr_ray *ray, float depth, const orr_field_seen beside[BESIDE], float normal[4])
{
    const mask perspective = 0;
    captured_slope slope = captured_beside(captured_begin(0.0f), 0.0f, 0.0f, depth, depth, perspective);
    for (int i = 0; i < BESIDE; i++) {
        const real there = beside[i].rgba[3] > 0.0f ? beside[i].depth * cosine_aside() : INFINITY;
        slope = captured_beside(slope, aside[i][0], aside[i][1], there, depth, perspective);
    }
    const captured_surface found = captured_fit(slope, 0.0f, 0.0f, depth, perspective);
    const real3 n = frame_out(of_three(ray->direction), found.normal);
    normal[0] = n.x, normal[1] = n.y, normal[2] = n.z, normal[3] = found.known;
}

void orr_field_rays_normals(orr_field_rays *f, const orr_ray *rays, int count, const orr_field_seen *seen,
                            float (*normals)[4])
{
    orr_ray beside[ORR_FIELD_RAYS];
    orr_field_seen shows[ORR_FIELD_RAYS];
    int held[TOGETHER], waiting = 0;
    for (int i = 0; i < count; i++) {
        memset(normals[i], 0, sizeof normals[i]);
        if (seen[i].rgba[3] >= (float)CAPTURED_ALPHA) {
            for (int k = 0; k < BESIDE; k++) {
                beside[BESIDE * waiting + k] = turned_aside(&rays[i], k);
            }
            held[waiting++] = i;
        }
        if (waiting == TOGETHER || (i == count - 1 && waiting > 0)) {
            orr_field_rays_meet(f, beside, BESIDE * waiting, shows);
            for (int k = 0; k < waiting; k++) {
                find_normal(&rays[held[k]], seen[held[k]].depth, shows + BESIDE * k, normals[held[k]]);
            }
            waiting = 0;
        }
    }
}

// ---- among splats ----

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
