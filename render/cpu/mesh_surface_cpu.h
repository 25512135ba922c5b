// Lanes over points of one surface: corners, weights, textures, normals. Part of the files mesh_*_cpu.c.
#pragma once

#include "render/cpu/mesh_neural_cpu.h"
#include "render/cpu/mesh_round_cpu.h"
#include "render/texture_formula.h"

// The lanes' triangles; all of one surface.
typedef struct lane_triangle {
    sint a, b, c; // vertices
    bool one;     // the same for all lanes, so that what is read of it is one load instead of a gather
    bool white;   // by the colours of its corners
    bool flat;    // `one`, whose corners have the same normal, or `round`:
    real3 normal; // in the camera's space
    bool round;   // none of the mesh, but touches what it approximates where the lanes' points show that:
    real2 uv[3];  // of its corners, where the surface has textures
    mesh_triangle plane;
} lane_triangle;

// p[index] of an index that may be the same in all lanes (`one`).
FN real gather_of(const float *p, sint index, bool one)
{
    return one ? R(p[index[0]]) : real_gather(p, index);
}

// Float k of a vertex of the lanes' triangles, as the mesh has it.
FN real corner_member(const orr_mesh_vertex *vertices, const lane_triangle *t, sint corner, int k)
{
    return gather_of((const float *)vertices + k, corner * I(sizeof(orr_mesh_vertex) / 4), t->one);
}

// A member of vertices as the camera sees them, by its offset in mesh_point [bytes].
FN real point_member(const mesh_instance *instance, sint vertex, size_t offset)
{
    return real_gather((const float *)((const char *)instance->points + offset),
                       vertex * I(sizeof(mesh_point) / 4));
}

// Three floats that stand together, and another after them, in structs of `stride` floats.
FN real3 gather_three(const float *first, sint index, int stride, bool one)
{
#if ORR_LANES_AVX512 || ORR_LANES_AVX2
    if (!one) { // a load for each lane instead of three gathers
        uint32_t at[ORR_LANES];
        real quad[4];
        sint_store((int32_t *)at, index);
        real_gather_quads(first, at, (uint32_t)stride, quad);
        return make_real3(quad[0], quad[1], quad[2]);
    }
#endif
    const sint at = index * I(stride);
    return make_real3(gather_of(first, at, one), gather_of(first + 1, at, one),
                      gather_of(first + 2, at, one));
}

FN real3 gather_position(const mesh_instance *instance, sint vertex, bool one)
{
    return gather_three(&instance->points->x, vertex, sizeof(mesh_point) / 4, one);
}

FN real3 corner_normal(const orr_mesh_vertex *vertices, const lane_triangle *t, sint corner)
{
    return gather_three(vertices->normal, corner, sizeof(orr_mesh_vertex) / 4, t->one);
}

// In the camera's space, of any length, on the side that the file says.
FN real3 interpolated_normal(const mesh_surface *surface, const lane_triangle *t, real2 w)
{
    if (t->flat) {
        return t->normal;
    }
    const orr_mesh_vertex *vertices = surface->instance->mesh->vertices;
    const real3 a = corner_normal(vertices, t, t->a), b = corner_normal(vertices, t, t->b),
                c = corner_normal(vertices, t, t->c);
    const real3 normal = make_real3(mesh_interpolate(w, a.x, b.x, c.x), mesh_interpolate(w, a.y, b.y, c.y),
                                    mesh_interpolate(w, a.z, b.z, c.z));
    return affine_direction(affine_of(surface->instance->to_camera), normal);
}

FN bool is_flat(const orr_mesh_vertex *a, const orr_mesh_vertex *b, const orr_mesh_vertex *c)
{
    return memcmp(a->normal, b->normal, sizeof a->normal) == 0 &&
           memcmp(a->normal, c->normal, sizeof a->normal) == 0;
}

FN lane_triangle gather_triangle(const mesh_surface *surface, sint triangle)
{
    const mesh_instance *instance = surface->instance;
    const orr_mesh_vertex *vertices = instance->mesh->vertices;
    const float *indices = (const float *)instance->mesh->indices; // whose bits are whole numbers
    lane_triangle t;
    t.one = all(triangle == I(triangle[0]));
    sint first = triangle * I(3);
    t.a = (sint)gather_of(indices, first, t.one);
    t.b = (sint)gather_of(indices + 1, first, t.one);
    t.c = (sint)gather_of(indices + 2, first, t.one);
    t.plane = mesh_triangle_of(gather_position(instance, t.a, t.one), gather_position(instance, t.b, t.one),
                               gather_position(instance, t.c, t.one));
    t.round = false;
    t.white = all(((sint)corner_member(vertices, &t, t.a, 8) & (sint)corner_member(vertices, &t, t.b, 8) &
                   (sint)corner_member(vertices, &t, t.c, 8)) == I(-1));
    t.flat = false;
    if (t.one && is_flat(&vertices[t.a[0]], &vertices[t.b[0]], &vertices[t.c[0]])) {
        t.normal = interpolated_normal(surface, &t, make_real2(R(0.0), R(0.0)));
        t.flat = true;
    }
    return t;
}

// The triangles that touch a round surface at the points x, y [px].
FN lane_triangle touch_round(const mesh_raster *raster, const mesh_surface *surface, real x, real y)
{
    const round_point at =
        round_point_at(raster, surface->instance, x, y, surface->instance->round->how != ORR_ROUND_BARE);
    lane_triangle t = {.a = I(0),
                       .b = I(0),
                       .c = I(0),
                       .one = false,
                       .white = true,
                       .flat = true,
                       .normal = at.normal,
                       .round = true,
                       .plane = at.touching};
    for (int k = 0; k < 3; k++) {
        t.uv[k] = at.uv[k];
    }
    return t;
}

// ---- texture ----

// A texture's coordinates at the corners of the lanes' triangles.
typedef struct corner_uv {
    real2 a, b, c;
} corner_uv;

FN real2 corner_coordinates(const mesh_texture *texture, const lane_triangle *t, sint corner)
{
    const float *first = texture->coordinates.first;
    const sint at = corner * I(texture->coordinates.stride);
    return make_real2(gather_of(first, at, t->one), gather_of(first + 1, at, t->one));
}

FN corner_uv coordinates_of(const mesh_texture *texture, const lane_triangle *t)
{
    if (t->round) {
        return (corner_uv){t->uv[0], t->uv[1], t->uv[2]};
    }
    return (corner_uv){corner_coordinates(texture, t, t->a), corner_coordinates(texture, t, t->b),
                       corner_coordinates(texture, t, t->c)};
}

// Linear colour and alpha of texels.
FN real4 decode_texel(const float *linear, sint texel)
{
    return (real4){real_gather(linear, texel & I(255)), real_gather(linear, (texel >> 8) & I(255)),
                   real_gather(linear, (texel >> 16) & I(255)),
                   to_real((texel >> 24) & I(255)) * R(1.0 / 255.0)};
}

// The same of one texel for all lanes.
FN real4 decode_one(const float *linear, uint32_t texel)
{
    return (real4){R(linear[texel & 255]), R(linear[texel >> 8 & 255]), R(linear[texel >> 16 & 255]),
                   R((float)(texel >> 24)) * R(1.0 / 255.0)};
}

// The four texels around the lanes' points, by `weight`. Decoding them one by one is most of the work: where
// the lanes see one or two colours, as in the fields of a checker, each is decoded once.
FN real4 mix_texels(const float *linear, const sint texel[4], const real weight[4])
{
    const real4 none = {R(0.0), R(0.0), R(0.0), R(0.0)};
    const sint one = I(texel[0][0]);
    mask is_one[4], other = I(0);
    sint far = one;
    for (int k = 0; k < 4; k++) {
        is_one[k] = texel[k] == one;
        other |= ~is_one[k];
        far = sel_int(is_one[k], far, texel[k]);
    }
    const real4 colour = decode_one(linear, (uint32_t)one[0]);
    real4 sum = none;
    if (!any(other)) {
        for (int k = 0; k < 4; k++) {
            sum = texture_add(sum, weight[k], colour);
        }
        return sum;
    }
    const sint two = I(far[__builtin_ctz(mask_bits(other))]);
    mask more = I(0);
    for (int k = 0; k < 4; k++) {
        more |= ~is_one[k] & (texel[k] != two);
    }
    if (any(more)) {
        const real4 first = decode_texel(linear, texel[0]);
        for (int k = 0; k < 4; k++) {
            const bool same = all(texel[k] == texel[0]);
            sum = texture_add(sum, weight[k], same ? first : decode_texel(linear, texel[k]));
        }
        return sum;
    }
    const real4 second = decode_one(linear, (uint32_t)two[0]);
    for (int k = 0; k < 4; k++) {
        sum = texture_add(sum, weight[k],
                          (real4){sel(is_one[k], colour.x, second.x), sel(is_one[k], colour.y, second.y),
                                  sel(is_one[k], colour.z, second.z), sel(is_one[k], colour.w, second.w)});
    }
    return sum;
}

// The four texels of a square, of rows that begin with number `top` and `bottom`.
FN void gather_texels(const uint8_t *texels, const texture_square *s, sint top, sint bottom, sint texel[4])
{
    const sint left = to_int(s->left), right = to_int(s->right);
#if ORR_LANES_AVX512 || ORR_LANES_AVX2
    if (all(right == left + I(1))) { // a load for two texels instead of two gathers
        uint32_t at[2][ORR_LANES];
        real pair[4];
        sint_store((int32_t *)at[0], top + left);
        sint_store((int32_t *)at[1], bottom + left);
        real_gather_pairs((const float *)texels, at[0], 1, pair); // whose bits are whole numbers
        real_gather_pairs((const float *)texels, at[1], 1, pair + 2);
        for (int k = 0; k < 4; k++) {
            texel[k] = (sint)pair[k];
        }
        return;
    }
#endif
    texel[0] = int_gather(texels, top + left);
    texel[1] = int_gather(texels, top + right);
    texel[2] = int_gather(texels, bottom + left);
    texel[3] = int_gather(texels, bottom + right);
}

// Within one level of the mip chain. is_small: as texture_is_small
FN real4 sample_level(const mesh_texture *texture, const float *linear, real2 uv, sint level, mask is_small)
{
    sint width = I(texture->image->width) >> level, height = I(texture->image->height) >> level;
    width = sel_int(width > I(1), width, I(1));
    height = sel_int(height > I(1), height, I(1));
    const texture_square s =
        texture_around(uv, to_real(width), to_real(height), texture_sampler_of(&texture->sampler), is_small);
    const bool one = all(level == I(level[0]));
    const sint first = one ? I(texture->level_first[level[0]]) : int_gather(texture->level_first, level);
    const real weight[4] = {s.left_top, s.right_top, s.left_bottom, s.right_bottom};
    sint texel[4];
    gather_texels(texture->image->rgba, &s, first + to_int(s.top) * width, first + to_int(s.bottom) * width,
                  texel);
    return mix_texels(linear, texel, weight);
}

// Between two levels of the mip chain.
FN real4 sample_place(const mesh_texture *texture, const float *linear, real2 uv, real level, mask is_small)
{
    real whole = floor_(level), part = level - whole;
    sint fine = to_int(whole);
    real4 texel = sample_level(texture, linear, uv, fine, is_small);
    if (any(part > R(0.0))) {
        sint last = I(texture->level_count - 1);
        sint coarse = sel_int(fine < last, fine + I(1), last);
        texel = texture_mix(texel, sample_level(texture, linear, uv, coarse, is_small), part);
    }
    return texel;
}

// A texture at the pixel centres x, y [px]. w: weights there
LARGE_FN real4 sample_texture(const mesh_raster *raster, const mesh_texture *texture, const lane_triangle *t,
                              real2 w, real x, real y)
{
    const corner_uv corners = coordinates_of(texture, t);
    const mesh_view view = mesh_view_of(&raster->lens);
    real2 w_across = mesh_weights(view, t->plane, x + R(1.0), y),
          w_down = mesh_weights(view, t->plane, x, y + R(1.0));
    real uv[2], across[2], down[2];
    const float size[2] = {(float)texture->image->width, (float)texture->image->height};
    const texture_sampler how = texture_sampler_of(&texture->sampler);
    for (int i = 0; i < 2; i++) {
        const real a = i ? corners.a.y : corners.a.x, b = i ? corners.b.y : corners.b.x,
                   c = i ? corners.c.y : corners.c.x;
        across[i] = mesh_texture_step(w, w_across, a, b, c, size[i]);
        down[i] = mesh_texture_step(w, w_down, a, b, c, size[i]);
        uv[i] = texture_centre(mesh_interpolate(w, a, b, c), i ? how.wrap_v : how.wrap_u);
    }
    const texture_footprint f = texture_cover(make_real2(across[0], across[1]), make_real2(down[0], down[1]),
                                              (float)(texture->level_count - 1));
    const real x_step = f.axis.x * R(1.0f / size[0]), y_step = f.axis.y * R(1.0f / size[1]);
    const mask is_small = texture_is_small(f);
    const real level = texture_level(f.level, how.nearest_mip);
    real4 sum = sample_place(texture, raster->linear, texture_settled(uv[0], uv[1], how), level, is_small);
    for (int k = 1; k <= TEXTURE_SIDES && any(f.sides > R(k - 1)); k++) {
        const real weight = texture_weight(f, (float)k), place = texture_place(weight, (float)k);
        for (int side = -1; side <= 1; side += 2) {
            const real away = place * R(side);
            const real2 at = texture_wrapped(fma_(away, x_step, uv[0]), fma_(away, y_step, uv[1]), how);
            sum = texture_add(sum, weight, sample_place(texture, raster->linear, at, level, is_small));
        }
    }
    const real4 none = {R(0.0), R(0.0), R(0.0), R(0.0)};
    return texture_add(none, R(1.0) / (R(1.0) + R(2.0) * f.sides), sum);
}

// The interpolated alpha of vertex colours.
FN real vertex_alpha(const orr_mesh_vertex *vertices, const lane_triangle *t, real2 w)
{
    if (t->white) {
        return R(1.0);
    }
    real alpha[3];
    const sint corners[3] = {t->a, t->b, t->c};
    for (int i = 0; i < 3; i++) {
        alpha[i] = to_real(((sint)corner_member(vertices, t, corners[i], 8) >> 24) & I(255));
    }
    return mesh_interpolate(w, alpha[0], alpha[1], alpha[2]) * R(1.0 / 255.0);
}

// Where the surface has no hole. x, y: [px]
FN mask solid_at(const mesh_raster *raster, const mesh_surface *surface, sint triangle, real x, real y)
{
    real alpha = R(surface->material->base_colour[3]);
    if (surface->material->alpha_cutoff > 0.0f) {
        const mesh_texture *texture = &surface->textures[ORR_TEXTURE_BASE];
        lane_triangle t = gather_triangle(surface, triangle);
        real2 w = mesh_weights(mesh_view_of(&raster->lens), t.plane, x, y);
        alpha = alpha * vertex_alpha(surface->instance->mesh->vertices, &t, mesh_weights_inside(w));
        if (texture->image) {
            alpha = alpha * sample_texture(raster, texture, &t, w, x, y).w;
        }
    }
    const mask solid = mesh_is_solid(alpha, surface->material->alpha_cutoff);
    return surface->instance->ends ? solid & haze_leaves(haze_of(&raster->lighting), x, y) : solid;
}

// ---- light ----

// Vertex colours, decoded and interpolated, times `colour`.
FN real3 times_vertex_colour(const mesh_raster *raster, const orr_mesh_vertex *vertices,
                             const lane_triangle *t, real2 w, real3 colour)
{
    if (t->white) {
        return colour;
    }
    sint a = (sint)corner_member(vertices, t, t->a, 8), b = (sint)corner_member(vertices, t, t->b, 8),
         c = (sint)corner_member(vertices, t, t->c, 8);
    real rgb[3];
    for (int i = 0; i < 3; i++) {
        rgb[i] = mesh_interpolate(w, real_gather(raster->linear, (a >> (8 * i)) & I(255)),
                                  real_gather(raster->linear, (b >> (8 * i)) & I(255)),
                                  real_gather(raster->linear, (c >> (8 * i)) & I(255)));
    }
    return make_real3(colour.x * rgb[0], colour.y * rgb[1], colour.z * rgb[2]);
}

FN real4 times_texel(real4 a, real4 b)
{
    return make_real4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w);
}

// The texel of a factor; white where there is no texture.
FN real4 sample_factors(const mesh_raster *raster, const mesh_surface *surface, orr_texture_use use,
                        const lane_triangle *t, real2 w, real x, real y)
{
    if (!surface->textures[use].image) {
        return make_real4(R(1.0), R(1.0), R(1.0), R(1.0));
    }
    return sample_texture(raster, &surface->textures[use], t, w, x, y);
}

FN real3 sample_factor(const mesh_raster *raster, const mesh_surface *surface, orr_texture_use use,
                       const lane_triangle *t, real2 w, real x, real y)
{
    const real4 texel = sample_factors(raster, surface, use, t, w, x, y);
    return make_real3(texel.x, texel.y, texel.z);
}

// Those of factors of occlusion, roughness, metallic and transmission.
FN real4 sample_surface(const mesh_raster *raster, const mesh_surface *surface, const lane_triangle *t,
                        real2 w, real x, real y)
{
    const real4 first = sample_factors(raster, surface, ORR_TEXTURE_SURFACE, t, w, x, y);
    if (!surface->textures[ORR_TEXTURE_SECOND_SURFACE].image) {
        return first;
    }
    return times_texel(first, sample_factors(raster, surface, ORR_TEXTURE_SECOND_SURFACE, t, w, x, y));
}

FN mesh_tangents tangents_of(const mesh_texture *texture, const lane_triangle *t)
{
    const corner_uv at = coordinates_of(texture, t);
    const real2 uv_ab = make_real2(at.b.x - at.a.x, at.b.y - at.a.y),
                uv_ac = make_real2(at.c.x - at.a.x, at.c.y - at.a.y);
    return mesh_tangents_of(t->plane.ab, t->plane.ac, uv_ab, uv_ac);
}

// The normal by a texture of normals of the surface, if it has one; seen, normal: as mesh_bend takes them.
FN real3 bent_normal(const mesh_raster *raster, const mesh_surface *surface, orr_texture_use use, real3 seen,
                     real3 normal, const lane_triangle *t, real2 w, real x, real y)
{
    if (!surface->textures[use].image) {
        return seen;
    }
    return mesh_bend(seen, normal, tangents_of(&surface->textures[use], t),
                     sample_factor(raster, surface, use, t, w, x, y));
}

// ---- pixels of several surfaces ----

// Member of the lanes' records, at word `offset` of the struct.
FN sint record_member(const mesh_raster *raster, sint id, size_t offset)
{
    return int_gather((const char *)raster->records + offset, id * I(sizeof(mesh_record) / 4));
}

// Those of `left` that are of the same surface as the first of them; *surface becomes it.
FN mask same_surface(const mesh_raster *raster, mask left, sint id, const mesh_surface **surface)
{
    const int number = raster->records[id[__builtin_ctz(mask_bits(left))]].surface;
    *surface = &raster->surfaces[number];
    return left & (record_member(raster, id, offsetof(mesh_record, surface)) == I(number));
}

// Triangles of the lanes' records; in the lanes beyond `same` one of the others.
FN sint triangles_of(const mesh_raster *raster, mask same, sint id)
{
    const sint first = I(id[__builtin_ctz(mask_bits(same))]);
    return record_member(raster, sel_int(same, id, first), offsetof(mesh_record, triangle));
}

// The lanes' triangles at x, y [px]; as triangles_of has them.
FN lane_triangle triangles_at(const mesh_raster *raster, const mesh_surface *surface, mask same, sint id,
                              real x, real y)
{
    return surface->instance->round ? touch_round(raster, surface, x, y)
                                    : gather_triangle(surface, triangles_of(raster, same, id));
}

// Points of the picture [px], and the record that each shows; -1: none.
typedef struct shade_points {
    sint id;
    real x, y;
    real part; // of a pixel's width, that rays from there are wide
    sint *met; // nullable: becomes a key of what their rays meet, one after the other; 0: they have none
} shade_points;

// The triangle of the points that were shaded last: neighbours show the same.
typedef struct shade_last {
    int32_t id; // record; -1: none, or not the same for all lanes
    const mesh_surface *surface;
    lane_triangle triangle;
} shade_last;

// Colour and alpha of the points; 0 where there is none. Of mesh_shade_cpu.c: the compiler works on its text,
// which is large, once for all stages. By pointers, because lanes wider than an instruction set's registers
// have no calling convention that compilers agree on.
void ORR_ISA_NAME(orr_mesh_shade)(const mesh_raster *raster, const shade_points *at, shade_last *last,
                                  real4 *shaded);

// part, met: as in shade_points
FN real4 shade_records(const mesh_raster *raster, shade_last *last, sint id, real x, real y, real part,
                       sint *met)
{
    const shade_points at = {id, x, y, part, met};
    real4 shaded;
    ORR_ISA_NAME(orr_mesh_shade)(raster, &at, last, &shaded);
    return shaded;
}
