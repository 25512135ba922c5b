// Lanes over pixels: which way surfaces face, and how they have moved in the picture. Part of
// mesh_raster_cpu.c.
#pragma once

#include "render/cpu/mesh_surface_cpu.h"
#include "render/seen/seen_inputs.h"

// As orr_seen says; 0 where there is no surface.
typedef struct seen_values {
    real3 normal;
    real2 flow;
} seen_values;

// Where a vertex was, in the camera's space of the picture before.
FN real3 corner_before(const mesh_instance *instance, sint vertex)
{
    const float *p = (const float *)instance->vertices_before;
    const sint at = vertex * I(sizeof(orr_mesh_vertex) / 4);
    return affine_point(affine_of(instance->to_camera_before),
                        make_real3(real_gather(p, at), real_gather(p + 1, at), real_gather(p + 2, at)));
}

// Where a point of the lanes' triangles was, likewise. w: its weights
FN real3 point_before(const mesh_instance *instance, const lane_triangle *t, real2 w)
{
    if (t->round) { // which does not change
        return affine_point(affine_of(instance->to_camera_before),
                            affine_point(affine_of(instance->from_camera), mesh_position(t->plane, w)));
    }
    return mesh_position(mesh_triangle_of(corner_before(instance, t->a), corner_before(instance, t->b),
                                          corner_before(instance, t->c)),
                         w);
}

FN real2 flow_of(const mesh_raster *raster, const mesh_instance *instance, const lane_triangle *t, real2 w)
{
    return seen_flow(seen_lens_of(&raster->lens), mesh_position(t->plane, w),
                     seen_lens_of(&raster->picture.before->lens), point_before(instance, t, w));
}

// Of the pixels whose records are `id`. x, y: [px]
FN seen_values see_records(const mesh_raster *raster, sint id, real x, real y)
{
    const mesh_view view = mesh_view_of(&raster->lens);
    seen_values seen = {make_real3(R(0.0), R(0.0), R(0.0)), make_real2(R(0.0), R(0.0))};
    mask left = id >= I(0);
    const sint safe = sel_int(left, id, I(0));
    while (any(left)) {
        const mesh_surface *surface;
        const mask same = same_surface(raster, left, safe, &surface);
        left &= ~same;
        if (surface->instance->backdrop) {
            continue;
        }
        const lane_triangle t = triangles_at(raster, surface, same, safe, x, y);
        const real2 w = mesh_weights_inside(mesh_weights(view, t.plane, x, y));
        if (raster->picture.normals) {
            const real3 n = mesh_light_point(view.orthographic, mesh_position(t.plane, w),
                                             interpolated_normal(surface, &t, w), t.plane.a, t.plane.normal)
                                .normal;
            seen.normal = make_real3(sel(same, n.x, seen.normal.x), sel(same, n.y, seen.normal.y),
                                     sel(same, n.z, seen.normal.z));
        }
        if (raster->picture.flow && surface->instance->vertices_before) {
            const real2 flow = flow_of(raster, surface->instance, &t, w);
            seen.flow = make_real2(sel(same, flow.x, seen.flow.x), sel(same, flow.y, seen.flow.y));
        }
    }
    return seen;
}
