// Round surfaces in place of the meshes that approximate them: which ones, and where in the picture they are.
#include "render/cpu/mesh_raster_stages.h"

#include <math.h>
#include <string.h>

static bool has_texture(const mesh_surface *surface)
{
    bool any = false;
    for (int use = 0; use < ORR_TEXTURE_USES; use++) {
        any |= surface->textures[use].image != NULL;
    }
    return any;
}

// Edges, rays and fragments are those of triangles, and only what is seen from outside is convex.
bool orr_mesh_is_round(const mesh_raster *raster, const orr_draw_mesh *item, const mesh_surface *surface,
                       mesh_instance *instance)
{
    const orr_mesh_material *material = surface->material;
    const bool is_round = item->round && instance->mesh->part_count == 1 && !raster->picture.edges &&
                          !raster->rays.trees && !instance->backdrop && !instance->ends &&
                          !surface->blended && !surface->two_sided && !material->neural &&
                          !(material->alpha_cutoff > 0.0f) &&
                          (item->round->how != ORR_ROUND_BARE || !has_texture(surface)) &&
                          orr_affine_invert(instance->to_camera, instance->from_camera, NULL) == ORR_OK;
    instance->round = is_round ? item->round : NULL;
    return is_round;
}

// The part of one axis of the picture that something covers [px].
typedef struct extent {
    double low, high;
} extent;

// Of an ellipsoid in front of the near plane. centre: in the camera's space; half: its half axes there. A
// plane through the eye and the points where x = s z touches it where (c_x - s c_z)^2 is the sum of (h_x - s
// h_z)^2 over its half axes h.
static extent ellipsoid_extent(const orr_lens *lens, int axis, const double centre[3],
                               const double half[3][3])
{
    double xx = 0.0, xz = 0.0, zz = 0.0;
    for (int k = 0; k < 3; k++) {
        xx += half[k][axis] * half[k][axis];
        xz += half[k][axis] * half[k][2];
        zz += half[k][2] * half[k][2];
    }
    const double focal = (double)lens->focal[axis], middle = (double)lens->centre[axis];
    double slope = centre[axis], reach = sqrt(xx);
    if (!lens->orthographic) {
        const double a = centre[2] * centre[2] - zz, b = centre[axis] * centre[2] - xz;
        slope = b / a;
        reach = sqrt(fmax(b * b - a * (centre[axis] * centre[axis] - xx), 0.0)) / a;
    }
    return (extent){focal * (slope - reach) + middle, focal * (slope + reach) + middle};
}

// An ellipsoid, the two balls of a capsule's ends or the discs of a cylinder's, which span it: their middles,
// and half of their axes, which they share.
typedef struct round_parts {
    int count;
    double centre[2][3], half[3][3];
} round_parts;

static round_parts parts_of(const mesh_instance *instance)
{
    const orr_round *r = instance->round;
    const float *m = instance->to_camera;
    round_parts s = {.count = r->kind == ORR_ROUND_ELLIPSOID ? 1 : 2};
    for (int k = 0; k < 3; k++) {
        const double along[3] = {(double)m[4 * k], (double)m[4 * k + 1], (double)m[4 * k + 2]};
        const double end = r->kind == ORR_ROUND_ELLIPSOID ? 0.0 : (double)r->size[2],
                     up = r->kind == ORR_ROUND_ELLIPSOID ? (double)r->size[2]
                          : r->kind == ORR_ROUND_CAPSULE ? (double)r->size[0]
                                                         : 0.0;
        s.half[0][k] = along[0] * (double)r->size[0];
        s.half[1][k] = along[1] * (double)r->size[1];
        s.half[2][k] = along[2] * up;
        s.centre[0][k] = (double)m[4 * k + 3] + along[2] * end;
        s.centre[1][k] = (double)m[4 * k + 3] - along[2] * end;
    }
    return s;
}

static int32_t in_subpixels(double at, int size)
{
    return (int32_t)(fmin(fmax(at, -1.0), size + 1.0) * MESH_SUBPIXELS);
}

// Where the surface is on an axis of the picture; all of it where some of the surface may be too near.
static extent extent_of(const orr_lens *lens, const round_parts *s, int axis)
{
    const double rounding = 1.0 / 64.0; // [px] of floats, more than enough
    const int size = axis == 0 ? lens->width : lens->height;
    double deep = 0.0;
    for (int k = 0; k < 3; k++) {
        deep += s->half[k][2] * s->half[k][2];
    }
    extent e = {INFINITY, -INFINITY};
    for (int i = 0; i < s->count; i++) {
        if (!(s->centre[i][2] - sqrt(deep) > (double)lens->near_plane)) {
            return (extent){0.0, size};
        }
        const extent part = ellipsoid_extent(lens, axis, s->centre[i], s->half);
        e.low = fmin(e.low, part.low - rounding);
        e.high = fmax(e.high, part.high + rounding);
    }
    return e;
}

void orr_mesh_set_up_round(const mesh_raster *raster, mesh_chunk *chunk)
{
    const orr_lens *lens = &raster->lens;
    const round_parts s = parts_of(raster->surfaces[chunk->surface].instance);
    const extent x = extent_of(lens, &s, 0), y = extent_of(lens, &s, 1);
    const int32_t left = in_subpixels(x.low, lens->width), right = in_subpixels(x.high, lens->width),
                  top = in_subpixels(y.low, lens->height), bottom = in_subpixels(y.high, lens->height);
    const mesh_record record = {
        .x = {left, right, right}, .y = {top, top, bottom}, .surface = chunk->surface};
    const mesh_box box = mesh_box_of(record.x, record.y, lens->width, lens->height, false);
    chunk->record_count = chunk->bin_first = 0;
    if (box.left <= box.right && box.top <= box.bottom) {
        raster->records[chunk->record_first] = record;
        chunk->record_count = 1;
    }
}
