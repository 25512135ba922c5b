// Lanes over the pixels of one surface: corners, weights, texture, light. Part of mesh_raster_cpu.c.
#pragma once

#include "render/cpu/mesh_raster_stages.h"
#include "render/mesh_formula.h"

// What the lanes' pixels need of their triangles; all of one surface.
typedef struct lane_corners {
    sint a, b, c;                // vertices
    real3 place, ab, ac, normal; // camera space: corner a, edges, normal on the front side
} lane_corners;

FN sint int_gather(const void *p, sint index)
{
    return (sint)real_gather(p, index);
}

// Member of vertices as the camera sees them, by its place in the struct.
FN real point_member(const mesh_instance *instance, sint vertex, size_t offset)
{
    return real_gather((const float *)((const char *)instance->points + offset),
                       vertex * I(sizeof(mesh_point) / 4));
}

FN real3 gather_place(const mesh_instance *instance, sint vertex)
{
    return make_real3(point_member(instance, vertex, offsetof(mesh_point, x)),
                      point_member(instance, vertex, offsetof(mesh_point, y)),
                      point_member(instance, vertex, offsetof(mesh_point, z)));
}

FN lane_corners gather_corners(const mesh_surface *surface, sint triangle)
{
    const mesh_instance *instance = surface->instance;
    lane_corners t;
    sint first = triangle * I(3);
    t.a = int_gather(instance->mesh->indices, first);
    t.b = int_gather(instance->mesh->indices, first + I(1));
    t.c = int_gather(instance->mesh->indices, first + I(2));
    t.place = gather_place(instance, t.a);
    t.ab = subtract3(gather_place(instance, t.b), t.place);
    t.ac = subtract3(gather_place(instance, t.c), t.place);
    t.normal = cross3(t.ab, t.ac);
    return t;
}

// x, y: [px]
FN real2 weights_at(const orr_lens *lens, const lane_corners *t, real x, real y)
{
    x = (x - R(lens->centre[0])) * R(1.0f / lens->focal[0]);
    y = (y - R(lens->centre[1])) * R(1.0f / lens->focal[1]);
    bool orthographic = lens->orthographic;
    real3 origin = orthographic ? make_real3(x, y, R(0.0)) : make_real3(R(0.0), R(0.0), R(0.0));
    real3 direction = orthographic ? make_real3(R(0.0), R(0.0), R(1.0)) : make_real3(x, y, R(1.0));
    return mesh_ray_weights(origin, direction, t->place, t->ab, t->ac, t->normal);
}

// Member `k` (in floats) of the three vertices, weighed.
FN real interpolate(const orr_mesh_vertex *vertices, const lane_corners *t, real2 w, int k)
{
    const float *p = (const float *)vertices + k;
    real a = real_gather(p, t->a * I(9)), b = real_gather(p, t->b * I(9)), c = real_gather(p, t->c * I(9));
    return fma_(w.x, b - a, fma_(w.y, c - a, a));
}

// The filtered texel of one level of the mip chain: linear colour, alpha.
FN real4 sample_level(const mesh_surface *surface, const float *linear, real2 uv, sint level)
{
    sint width = I(surface->texture->width) >> level, height = I(surface->texture->height) >> level;
    width = sel_int(width > I(1), width, I(1));
    height = sel_int(height > I(1), height, I(1));
    real x = uv.x * to_real(width) - R(0.5), y = uv.y * to_real(height) - R(0.5);
    real floor_x = floor_(x), floor_y = floor_(y);
    real right = x - floor_x, down = y - floor_y;
    sint x0 = to_int(floor_x), y0 = to_int(floor_y);
    sint x1 = x0 + I(1), y1 = y0 + I(1);
    x0 = sel_int(x0 < I(0), width - I(1), x0);
    y0 = sel_int(y0 < I(0), height - I(1), y0);
    x1 = sel_int(x1 >= width, I(0), x1);
    y1 = sel_int(y1 >= height, I(0), y1);
    sint first = int_gather(surface->level_first, level);
    const sint places[4] = {first + y0 * width + x0, first + y0 * width + x1, first + y1 * width + x0,
                            first + y1 * width + x1};
    const real shares[4] = {(R(1.0) - right) * (R(1.0) - down), right * (R(1.0) - down),
                            (R(1.0) - right) * down, right * down};
    real4 sum = {R(0.0), R(0.0), R(0.0), R(0.0)};
    for (int i = 0; i < 4; i++) {
        sint texel = int_gather(surface->texture->rgba, places[i]);
        sum.x = fma_(shares[i], real_gather(linear, texel & I(255)), sum.x);
        sum.y = fma_(shares[i], real_gather(linear, (texel >> 8) & I(255)), sum.y);
        sum.z = fma_(shares[i], real_gather(linear, (texel >> 16) & I(255)), sum.z);
        sum.w = fma_(shares[i], to_real((texel >> 24) & I(255)) * R(1.0 / 255.0), sum.w);
    }
    return sum;
}

// The texture under the pixel centres x, y [px]: trilinear, the level by the longer of the two steps that one
// pixel makes in the texture.
FN real4 sample_texture(const mesh_raster *raster, const mesh_surface *surface, const lane_corners *t,
                        real2 w, real x, real y)
{
    const orr_mesh_vertex *vertices = surface->instance->mesh->vertices;
    real2 across = weights_at(&raster->lens, t, x + R(1.0), y),
          down = weights_at(&raster->lens, t, x, y + R(1.0));
    real uv[2], step_across[2], step_down[2];
    const float size[2] = {(float)surface->texture->width, (float)surface->texture->height};
    for (int i = 0; i < 2; i++) {
        const float *p = (const float *)vertices + 6 + i;
        real a = real_gather(p, t->a * I(9));
        real b = real_gather(p, t->b * I(9)) - a, c = real_gather(p, t->c * I(9)) - a;
        step_across[i] = ((across.x - w.x) * b + (across.y - w.y) * c) * R(size[i]);
        step_down[i] = ((down.x - w.x) * b + (down.y - w.y) * c) * R(size[i]);
        real at = min_(max_(fma_(w.x, b, fma_(w.y, c, a)), R(-1e6)), R(1e6));
        uv[i] = at - floor_(at);
    }
    real level = mesh_texture_level((real2){step_across[0], step_across[1]},
                                    (real2){step_down[0], step_down[1]}, (float)(surface->level_count - 1));
    real whole = floor_(level);
    real part = level - whole;
    sint fine = to_int(whole);
    real4 texel = sample_level(surface, raster->linear, (real2){uv[0], uv[1]}, fine);
    if (any(part > R(0.0))) {
        sint last = I(surface->level_count - 1);
        sint coarse = sel_int(fine < last, fine + I(1), last);
        real4 next = sample_level(surface, raster->linear, (real2){uv[0], uv[1]}, coarse);
        texel.x = fma_(part, next.x - texel.x, texel.x);
        texel.y = fma_(part, next.y - texel.y, texel.y);
        texel.z = fma_(part, next.z - texel.z, texel.z);
        texel.w = fma_(part, next.w - texel.w, texel.w);
    }
    return texel;
}

// Where the surface has no hole. x, y: [px]
FN mask opaque_at(const mesh_raster *raster, const mesh_surface *surface, sint triangle, real x, real y)
{
    real alpha = R(surface->material->base_colour[3]);
    if (surface->texture) {
        lane_corners t = gather_corners(surface, triangle);
        real2 w = weights_at(&raster->lens, &t, x, y);
        alpha = alpha * sample_texture(raster, surface, &t, w, x, y).w;
    }
    return alpha >= R(surface->material->alpha_cutoff);
}

// Vertex colours, decoded and interpolated, times `colour`.
FN real3 times_vertex_colour(const mesh_raster *raster, const orr_mesh_vertex *vertices,
                             const lane_corners *t, real2 w, real3 colour)
{
    const float *p = (const float *)vertices + 8;
    sint a = int_gather(p, t->a * I(9)), b = int_gather(p, t->b * I(9)), c = int_gather(p, t->c * I(9));
    if (all((a & b & c) == I(-1))) {
        return colour;
    }
    real rgb[3];
    for (int i = 0; i < 3; i++) {
        real at_a = real_gather(raster->linear, (a >> (8 * i)) & I(255));
        real at_b = real_gather(raster->linear, (b >> (8 * i)) & I(255));
        real at_c = real_gather(raster->linear, (c >> (8 * i)) & I(255));
        rgb[i] = fma_(w.x, at_b - at_a, fma_(w.y, at_c - at_a, at_a));
    }
    return make_real3(colour.x * rgb[0], colour.y * rgb[1], colour.z * rgb[2]);
}

FN real3 turn(const float m[12], real3 v)
{
    return make_real3(m[0] * v.x + m[1] * v.y + m[2] * v.z, m[4] * v.x + m[5] * v.y + m[6] * v.z,
                      m[8] * v.x + m[9] * v.y + m[10] * v.z);
}

FN mesh_light to_light(const orr_light_values *v)
{
    mesh_light light;
    _Static_assert(sizeof light == sizeof *v, "the same members in the same order");
    memcpy(&light, v, sizeof light);
    return light;
}

// Display colour of a surface by all lights. p: in the camera's space; normal: unit.
FN real3 light_up(const mesh_raster *raster, const orr_mesh_material *material, real3 base_colour, real3 p,
                  real3 normal)
{
    const orr_draw_lighting *lighting = &raster->lighting;
    const float *ambient = lighting->ambient;
    real3 diffuse = make_real3(R(ambient[0] + material->emission), R(ambient[1] + material->emission),
                               R(ambient[2] + material->emission));
    real3 highlight = make_real3(R(0.0), R(0.0), R(0.0));
    real3 to_eye = raster->lens.orthographic ? make_real3(R(0.0), R(0.0), R(-1.0))
                                             : normalised3(make_real3(-p.x, -p.y, -p.z));
    for (int i = 0; i < lighting->count; i++) {
        mesh_light light = to_light(&lighting->lights[i]);
        mesh_incidence from =
            lighting->lights[i].directional > 0.5f ? mesh_from_afar(light) : mesh_from_lamp(light, p);
        diffuse = mesh_add_diffuse(diffuse, light, from, normal);
        if (material->specular > 0.0f) {
            highlight =
                mesh_add_highlight(highlight, light, from, normal, to_eye, 128.0f * material->shininess);
        }
    }
    return mesh_shade(base_colour, diffuse, highlight, material->specular);
}

// The place of corner a, and from there by the weights.
FN real3 place_at(const lane_corners *t, real2 w)
{
    return make_real3(fma_(w.x, t->ab.x, fma_(w.y, t->ac.x, t->place.x)),
                      fma_(w.x, t->ab.y, fma_(w.y, t->ac.y, t->place.y)),
                      fma_(w.x, t->ab.z, fma_(w.y, t->ac.z, t->place.z)));
}

// Display colour of the surface's triangles at the pixel centres x, y [px], and how opaque they are there.
FN real4 shade_pixels(const mesh_raster *raster, const mesh_surface *surface, sint triangle, real x, real y)
{
    const orr_mesh_vertex *vertices = surface->instance->mesh->vertices;
    lane_corners t = gather_corners(surface, triangle);
    real2 exact = weights_at(&raster->lens, &t, x, y);
    // a pixel centre inside the snapped triangle may be outside the exact one by 1/256 pixel
    real2 w;
    w.x = min_(max_(exact.x, R(0.0)), R(1.0));
    w.y = min_(max_(exact.y, R(0.0)), R(1.0) - w.x);
    const float *factor = surface->material->base_colour;
    real3 colour = make_real3(R(factor[0]), R(factor[1]), R(factor[2]));
    real alpha = R(factor[3]);
    if (surface->texture) {
        real4 texel = sample_texture(raster, surface, &t, exact, x, y);
        colour = make_real3(colour.x * texel.x, colour.y * texel.y, colour.z * texel.z);
        alpha = alpha * texel.w;
    }
    if (surface->instance->backdrop) {
        return (real4){linear_to_srgb(colour.x), linear_to_srgb(colour.y), linear_to_srgb(colour.z), alpha};
    }
    colour = times_vertex_colour(raster, vertices, &t, w, colour);
    real3 normal = turn(surface->instance->to_camera,
                        make_real3(interpolate(vertices, &t, w, 3), interpolate(vertices, &t, w, 4),
                                   interpolate(vertices, &t, w, 5)));
    // the side that is seen faces the eye, which is at -z of the camera's space in an orthographic view
    real3 to_surface = raster->lens.orthographic ? make_real3(R(0.0), R(0.0), R(1.0)) : t.place;
    colour = light_up(raster, surface->material, colour, place_at(&t, w),
                      mesh_seen_normal(normal, mesh_outward(t.normal, to_surface)));
    return (real4){colour.x, colour.y, colour.z, alpha};
}
