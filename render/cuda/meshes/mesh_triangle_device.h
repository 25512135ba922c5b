// The triangle that a pixel shows.
#pragma once

#include "engine/device/cuda_kernel.h"
#include "render/cuda/meshes/mesh_stages.h"
#include "render/formula_inputs.h"

// The triangle of a pixel.
typedef struct shaded_triangle {
    const orr_mesh_vertex *a, *b, *c;
    const uint32_t *corners; // their numbers
    mesh_triangle plane;
} shaded_triangle;

static __device__ real3 position_of_point(const mesh_point *point)
{
    return make_real3(point->x, point->y, point->z);
}

static __device__ shaded_triangle find_triangle(const orr_cuda_mesh_scene *s,
                                                const orr_cuda_mesh_surface *surface, uint32_t triangle)
{
    const orr_cuda_mesh_instance *instance = &s->instances[surface->instance];
    const uint32_t *index = surface->indices + 3 * (size_t)triangle;
    const mesh_point *points = s->points + s->point_firsts[surface->instance];
    shaded_triangle t;
    t.corners = index;
    t.a = instance->vertices + index[0];
    t.b = instance->vertices + index[1];
    t.c = instance->vertices + index[2];
    t.plane = mesh_triangle_of(position_of_point(&points[index[0]]), position_of_point(&points[index[1]]),
                               position_of_point(&points[index[2]]));
    return t;
}

// The normal that its vertices have there, in the camera's space, of any length. w: weights
static __device__ real3 normal_at(const orr_cuda_mesh_scene *s, const orr_cuda_mesh_surface *surface,
                                  const shaded_triangle *t, real2 w)
{
    const float *a = t->a->normal, *b = t->b->normal, *c = t->c->normal;
    return affine_direction(affine_of(s->to_camera + 12 * surface->instance),
                            make_real3(mesh_interpolate(w, a[0], b[0], c[0]),
                                       mesh_interpolate(w, a[1], b[1], c[1]),
                                       mesh_interpolate(w, a[2], b[2], c[2])));
}
