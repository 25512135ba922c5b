// One thread's pixel of a surface: corners, weights, texture, light. The CPU's turn of it is mesh_shade_cpu.h.
#pragma once

#include "engine/device/cuda_kernel.h"
#include "render/cuda/mesh_stages.h"
#include "render/mesh_formula.h"

// The triangle of a pixel.
typedef struct shaded_triangle {
    const orr_mesh_vertex *a, *b, *c;
    real3 place, ab, ac, normal; // camera space: corner a, edges, normal on the front side
} shaded_triangle;

static __device__ real3 place_of_point(const mesh_point *point)
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
    t.a = instance->vertices + index[0];
    t.b = instance->vertices + index[1];
    t.c = instance->vertices + index[2];
    t.place = place_of_point(&points[index[0]]);
    t.ab = subtract3(place_of_point(&points[index[1]]), t.place);
    t.ac = subtract3(place_of_point(&points[index[2]]), t.place);
    t.normal = cross3(t.ab, t.ac);
    return t;
}

// x, y: [px]
static __device__ real2 weights_at(const orr_lens *lens, const shaded_triangle *t, float x, float y)
{
    x = (x - lens->centre[0]) * (1.0f / lens->focal[0]);
    y = (y - lens->centre[1]) * (1.0f / lens->focal[1]);
    bool orthographic = lens->orthographic;
    real3 origin = orthographic ? make_real3(x, y, 0.0f) : make_real3(0.0f, 0.0f, 0.0f);
    real3 direction = orthographic ? make_real3(0.0f, 0.0f, 1.0f) : make_real3(x, y, 1.0f);
    return mesh_ray_weights(origin, direction, t->place, t->ab, t->ac, t->normal);
}

// A number of the three corners, weighed.
static __device__ float weigh(real2 w, float a, float b, float c)
{
    return fma_(w.x, b - a, fma_(w.y, c - a, a));
}

// --- texture ----------------------------------------------------------------------------------------------------------

// The filtered texel of one level of the mip chain: linear colour, alpha.
static __device__ real4 sample_level(const orr_cuda_mesh_surface *surface, const float *linear,
                                     const float uv[2], int32_t level)
{
    int32_t width = max(surface->width >> level, 1), height = max(surface->height >> level, 1);
    float x = uv[0] * (float)width - 0.5f, y = uv[1] * (float)height - 0.5f;
    float floor_x = floor_(x), floor_y = floor_(y), right = x - floor_x, down = y - floor_y;
    int32_t x0 = (int32_t)floor_x, y0 = (int32_t)floor_y, x1 = x0 + 1, y1 = y0 + 1;
    x0 = x0 < 0 ? width - 1 : x0;
    y0 = y0 < 0 ? height - 1 : y0;
    x1 = x1 >= width ? 0 : x1;
    y1 = y1 >= height ? 0 : y1;
    int32_t first = surface->level_first[level];
    const int32_t places[4] = {first + y0 * width + x0, first + y0 * width + x1, first + y1 * width + x0,
                               first + y1 * width + x1};
    const float shares[4] = {(1.0f - right) * (1.0f - down), right * (1.0f - down), (1.0f - right) * down,
                             right * down};
    real4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int i = 0; i < 4; i++) {
        uint32_t texel = __ldg(surface->texels + places[i]);
        sum.x = fma_(shares[i], __ldg(linear + (texel & 255u)), sum.x);
        sum.y = fma_(shares[i], __ldg(linear + (texel >> 8 & 255u)), sum.y);
        sum.z = fma_(shares[i], __ldg(linear + (texel >> 16 & 255u)), sum.z);
        sum.w = fma_(shares[i], (float)(texel >> 24) * (1.0f / 255.0f), sum.w);
    }
    return sum;
}

// The texture under the pixel centre x, y [px]: trilinear.
static __device__ real4 sample_texture(const orr_cuda_mesh_scene *s, const orr_cuda_mesh_surface *surface,
                                       const shaded_triangle *t, real2 w, float x, float y)
{
    real2 across = weights_at(&s->lens, t, x + 1.0f, y), down = weights_at(&s->lens, t, x, y + 1.0f);
    const float size[2] = {(float)surface->width, (float)surface->height};
    float uv[2], step_across[2], step_down[2];
    for (int i = 0; i < 2; i++) {
        float a = t->a->uv[i], b = t->b->uv[i] - a, c = t->c->uv[i] - a;
        step_across[i] = ((across.x - w.x) * b + (across.y - w.y) * c) * size[i];
        step_down[i] = ((down.x - w.x) * b + (down.y - w.y) * c) * size[i];
        float at = min_(max_(fma_(w.x, b, fma_(w.y, c, a)), -1e6f), 1e6f);
        uv[i] = at - floor_(at);
    }
    int32_t last = surface->level_count - 1;
    real2 longest_across = {step_across[0], step_across[1]}, longest_down = {step_down[0], step_down[1]};
    float level = mesh_texture_level(longest_across, longest_down, (float)last);
    float whole = floor_(level), part = level - whole;
    int32_t fine = (int32_t)whole;
    real4 texel = sample_level(surface, s->linear, uv, fine);
    if (part > 0.0f) {
        real4 next = sample_level(surface, s->linear, uv, min(fine + 1, last));
        texel.x = fma_(part, next.x - texel.x, texel.x);
        texel.y = fma_(part, next.y - texel.y, texel.y);
        texel.z = fma_(part, next.z - texel.z, texel.z);
        texel.w = fma_(part, next.w - texel.w, texel.w);
    }
    return texel;
}

// Has the surface no hole there? x, y: [px]
static __device__ bool is_opaque_at(const orr_cuda_mesh_scene *s, const orr_cuda_mesh_surface *surface,
                                    uint32_t triangle, float x, float y)
{
    float alpha = surface->material.base_colour[3];
    if (surface->texels) {
        shaded_triangle t = find_triangle(s, surface, triangle);
        alpha = alpha * sample_texture(s, surface, &t, weights_at(&s->lens, &t, x, y), x, y).w;
    }
    return alpha >= surface->material.alpha_cutoff;
}

// --- light ------------------------------------------------------------------------------------------------------------

static __device__ mesh_light to_light(const orr_light_values *v)
{
    mesh_light light;
    static_assert(sizeof light == sizeof *v, "the same members in the same order");
    memcpy(&light, v, sizeof light);
    return light;
}

// Display colour of a surface by all lights. p: in the camera's space; normal: unit.
static __device__ real3 light_up(const orr_cuda_mesh_scene *s, const orr_mesh_material *material,
                                 real3 base_colour, real3 p, real3 normal)
{
    const orr_draw_lighting *lighting = s->lighting;
    const float *ambient = lighting->ambient;
    real3 diffuse = make_real3(ambient[0] + material->emission, ambient[1] + material->emission,
                               ambient[2] + material->emission);
    real3 highlight = make_real3(0.0f, 0.0f, 0.0f);
    real3 to_eye =
        s->lens.orthographic ? make_real3(0.0f, 0.0f, -1.0f) : normalised3(make_real3(-p.x, -p.y, -p.z));
    for (int32_t i = 0; i < lighting->count; i++) {
        mesh_light light = to_light(&lighting->lights[i]);
        mesh_incidence from = light.directional > 0.5f ? mesh_from_afar(light) : mesh_from_lamp(light, p);
        diffuse = mesh_add_diffuse(diffuse, light, from, normal);
        if (material->specular > 0.0f) {
            highlight =
                mesh_add_highlight(highlight, light, from, normal, to_eye, 128.0f * material->shininess);
        }
    }
    return mesh_shade(base_colour, diffuse, highlight, material->specular);
}

// Vertex colours, decoded and interpolated, times `colour`.
static __device__ real3 times_vertex_colour(const float *linear, const shaded_triangle *t, real2 w,
                                            real3 colour)
{
    float rgb[3];
    for (int i = 0; i < 3; i++) {
        rgb[i] = weigh(w, __ldg(linear + t->a->colour[i]), __ldg(linear + t->b->colour[i]),
                       __ldg(linear + t->c->colour[i]));
    }
    return make_real3(colour.x * rgb[0], colour.y * rgb[1], colour.z * rgb[2]);
}

static __device__ real3 turn(const float m[12], real3 v)
{
    return make_real3(m[0] * v.x + m[1] * v.y + m[2] * v.z, m[4] * v.x + m[5] * v.y + m[6] * v.z,
                      m[8] * v.x + m[9] * v.y + m[10] * v.z);
}

// Display colour of a record at the pixel centre x, y [px], and how opaque it is there.
static __device__ real4 shade_record(const orr_cuda_mesh_scene *s, const mesh_record *record, float x,
                                     float y)
{
    const orr_cuda_mesh_surface *surface = &s->surfaces[record->surface];
    shaded_triangle t = find_triangle(s, surface, record->triangle);
    real2 exact = weights_at(&s->lens, &t, x, y), w;
    // a pixel centre inside the snapped triangle may be outside the exact one by 1/256 pixel
    w.x = min_(max_(exact.x, 0.0f), 1.0f);
    w.y = min_(max_(exact.y, 0.0f), 1.0f - w.x);
    const float *factor = surface->material.base_colour;
    real3 colour = make_real3(factor[0], factor[1], factor[2]);
    float alpha = factor[3];
    if (surface->texels) {
        real4 texel = sample_texture(s, surface, &t, exact, x, y);
        colour = make_real3(colour.x * texel.x, colour.y * texel.y, colour.z * texel.z);
        alpha = alpha * texel.w;
    }
    if (s->instances[surface->instance].backdrop) {
        colour = make_real3(linear_to_srgb(colour.x), linear_to_srgb(colour.y), linear_to_srgb(colour.z));
    } else {
        colour = times_vertex_colour(s->linear, &t, w, colour);
        const float *a = t.a->normal, *b = t.b->normal, *c = t.c->normal;
        real3 normal = turn(
            s->to_camera + 12 * surface->instance,
            make_real3(weigh(w, a[0], b[0], c[0]), weigh(w, a[1], b[1], c[1]), weigh(w, a[2], b[2], c[2])));
        // the side that is seen faces the eye, which is at -z of the camera's space in an orthographic view
        real3 to_surface = s->lens.orthographic ? make_real3(0.0f, 0.0f, 1.0f) : t.place;
        real3 place = make_real3(fma_(w.x, t.ab.x, fma_(w.y, t.ac.x, t.place.x)),
                                 fma_(w.x, t.ab.y, fma_(w.y, t.ac.y, t.place.y)),
                                 fma_(w.x, t.ab.z, fma_(w.y, t.ac.z, t.place.z)));
        colour = light_up(s, &surface->material, colour, place,
                          mesh_seen_normal(normal, mesh_outward(t.normal, to_surface)));
    }
    real4 shaded = {colour.x, colour.y, colour.z, alpha};
    return shaded;
}
