#define ORR_SCALAR
#include "render/reference/gaussians.h"

#include "engine/core/memory.h"
#include "engine/maths/camera.h"
#include "engine/maths/colour_formula.h"
#include "engine/maths/vector.h"
#include "render/shadow/shadow_formula.h"
#include "render/splat/deform_inputs.h"
#include "render/splat/splat_formula.h"

#include <string.h>

#define VEIL_OPAQUE 1e-4f // what passes less is covered, as when drawing
#define THINNEST 1e-3     // of the longest axis: thinner ones lose their digits along a ray

#define WALK(isa) &orr_gaussian_walk_##isa
static const orr_gaussian_walk *const walks[ORR_ISA_COUNT] = ORR_ISA_TABLE(WALK);

const orr_gaussian_walk *orr_gaussian_walk_of(orr_isa isa)
{
    return walks[isa];
}

// A splat in the world.
typedef struct gaussian {
    double mean[3], axes[3][3]; // axes: each scaled by its standard deviation
    float opacity;
} gaussian;

static float member(const orr_splat_pack *pack, int64_t splat, int k)
{
    return pack->geometry[((splat / ORR_PACK_BLOCK) * ORR_PACK_GEOMETRY + k) * ORR_PACK_BLOCK +
                          splat % ORR_PACK_BLOCK];
}

static gaussian gaussian_of(const orr_draw_splats *layer, int64_t splat)
{
    gaussian g = {.opacity = member(layer->pack, splat, 12)};
    real3 parts[4]; // the mean, then the axes
    for (int k = 0; k < 4; k++) {
        parts[k] = make_real3(member(layer->pack, splat, 3 * k), member(layer->pack, splat, 3 * k + 1),
                              member(layer->pack, splat, 3 * k + 2));
    }
    if (layer->deformation.piece_of) {
        const splat_deformation d = splat_deformation_of(&layer->deformation, splat);
        parts[0] = deform_mean(d, parts[0]);
        for (int k = 1; k < 4; k++) {
            parts[k] = deform_axis(d, parts[k]);
        }
    }
    for (int i = 0; i < 3; i++) {
        const float *row = layer->model + 4 * i;
        for (int k = 0; k < 4; k++) {
            double *to = k == 0 ? &g.mean[i] : &g.axes[k - 1][i];
            *to = (double)row[0] * (double)parts[k].x + (double)row[1] * (double)parts[k].y +
                  (double)row[2] * (double)parts[k].z;
        }
        g.mean[i] += (double)row[3];
    }
    return g;
}

static void swap_axes(double a[3], double b[3])
{
    double kept[3];
    memcpy(kept, a, sizeof kept);
    memcpy(a, b, sizeof kept);
    memcpy(b, kept, sizeof kept);
}

static void set_perpendicular(const double a[3], const double b[3], double length, double out[3])
{
    vec3_cross(a, b, out);
    vec3_normalise(out);
    for (int k = 0; k < 3; k++) {
        out[k] *= length;
    }
}

// Makes discs and needles a little thick. False: a point, which no ray meets.
static bool thicken(gaussian *g)
{
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++) {
            if (vec3_length(g->axes[k]) < vec3_length(g->axes[k + 1])) {
                swap_axes(g->axes[k], g->axes[k + 1]);
            }
        }
    }
    double thinnest = THINNEST * vec3_length(g->axes[0]);
    if (!(thinnest > 0.0) || !isfinite(thinnest)) {
        return false;
    }
    if (vec3_length(g->axes[1]) < thinnest) {
        double other[3] = {0};
        int smallest = 0;
        for (int k = 1; k < 3; k++) {
            smallest = fabs(g->axes[0][k]) < fabs(g->axes[0][smallest]) ? k : smallest;
        }
        other[smallest] = 1.0;
        set_perpendicular(g->axes[0], other, thinnest, g->axes[1]);
    }
    if (vec3_length(g->axes[2]) < thinnest) {
        set_perpendicular(g->axes[0], g->axes[1], thinnest, g->axes[2]);
    }
    return true;
}

// The box of where it covers 1/255 or more; false: it nowhere does.
static bool box_of(const orr_draw_splats *layer, int64_t splat, uint32_t number, orr_bvh_box *box)
{
    gaussian g = gaussian_of(layer, splat);
    *box = (orr_bvh_box){.primitive = number};
    if (!((double)g.opacity >= SPLAT_ALPHA_MIN) || !thicken(&g)) {
        return false;
    }
    double reach = sqrt(2.0 * log((double)g.opacity / SPLAT_ALPHA_MIN)) * (1.0 + 1e-5);
    bool finite = true;
    for (int k = 0; k < 3; k++) {
        double half = reach * sqrt(g.axes[0][k] * g.axes[0][k] + g.axes[1][k] * g.axes[1][k] +
                                   g.axes[2][k] * g.axes[2][k]);
        box->low[k] = (float)(g.mean[k] - half);
        box->high[k] = (float)(g.mean[k] + half);
        finite &= isfinite(box->low[k]) && isfinite(box->high[k]);
    }
    return finite;
}

static int layer_of(const orr_gaussians *g, uint32_t splat)
{
    int layer = g->layer_count - 1;
    while (g->firsts[layer] > (int64_t)splat) {
        layer--;
    }
    return layer;
}

static void fill_block(const orr_gaussians *all, const uint32_t *primitives, orr_gaussian_block *block)
{
    *block = (orr_gaussian_block){0};
    for (int i = 0; i < ORR_BVH_WIDTH && primitives[i] != ORR_BVH_NONE; i++) {
        int layer = layer_of(all, primitives[i]);
        gaussian g = gaussian_of(&all->layers[layer], (int64_t)primitives[i] - all->firsts[layer]);
        thicken(&g);
        double volume = 0.0, rows[3][3];
        for (int k = 0; k < 3; k++) {
            vec3_cross(g.axes[(k + 1) % 3], g.axes[(k + 2) % 3], rows[k]);
        }
        volume = vec3_dot(g.axes[0], rows[0]);
        block->splat[i] = primitives[i];
        block->opacity[i] = g.opacity;
        for (int k = 0; k < 9; k++) {
            block->unit[k][i] = (float)(rows[k / 3][k % 3] / volume);
            block->mean[k % 3][i] = (float)g.mean[k % 3];
        }
    }
}

static orr_result build(orr_gaussians *g, orr_bvh_box *boxes, orr_error *error)
{
    int64_t kept = 0;
    for (int i = 0; i < g->layer_count; i++) {
        const orr_draw_splats *layer = &g->layers[i];
        for (int64_t k = 0; k < layer->pack->count; k++) {
            kept += box_of(layer, k, (uint32_t)(g->firsts[i] + k), &boxes[kept]);
        }
        ORR_TRY(orr_affine_invert(layer->model, g->to_layer[i], error));
    }
    ORR_TRY(orr_bvh_build(boxes, kept, &g->bvh, error));
    ORR_ALLOC(g->blocks, g->bvh.block_count, "splats of a bounding volume hierarchy", error);
    for (int i = 0; i < g->bvh.block_count; i++) {
        fill_block(g, g->bvh.primitives + (size_t)i * ORR_BVH_WIDTH, &g->blocks[i]);
    }
    return ORR_OK;
}

orr_result orr_gaussians_build(const orr_draw_splats *layers, int count, orr_gaussians *g, orr_error *error)
{
    *g = (orr_gaussians){.layers = layers, .layer_count = count};
    int64_t splats = 0;
    g->firsts = orr_alloc((size_t)count, sizeof *g->firsts);
    g->to_layer = orr_alloc((size_t)count, sizeof *g->to_layer);
    for (int i = 0; i < count && g->firsts; i++) {
        g->firsts[i] = splats;
        splats += layers[i].pack->count;
    }
    orr_bvh_box *boxes = orr_alloc((size_t)splats, sizeof *boxes);
    orr_result result = boxes && g->firsts && g->to_layer
                            ? build(g, boxes, error)
                            : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: boxes of %lld splats",
                                       (long long)splats);
    orr_free(boxes);
    if (result != ORR_OK) {
        orr_gaussians_free(g);
    }
    return result;
}

void orr_gaussians_free(orr_gaussians *g)
{
    orr_bvh_free(&g->bvh);
    orr_free(g->blocks);
    orr_free(g->firsts);
    orr_free(g->to_layer);
    *g = (orr_gaussians){0};
}

// ---- colour ----

// Coefficient k, of red, green and blue.
static real3 coefficient(const orr_splat_pack *pack, int64_t splat, int k)
{
    const int members = 3 * (orr_sh_rest(pack->sh_degree) + 1);
    const float *c = pack->harmonics + ((splat / ORR_PACK_BLOCK) * members + 3 * k) * ORR_PACK_BLOCK +
                     splat % ORR_PACK_BLOCK;
    return make_real3(c[0], c[ORR_PACK_BLOCK], c[2 * ORR_PACK_BLOCK]);
}

void orr_gaussian_colour(const orr_gaussians *g, uint32_t number, const float direction[3], float colour[3])
{
    int layer = layer_of(g, number);
    const orr_draw_splats *drawn = &g->layers[layer];
    const orr_splat_pack *pack = drawn->pack;
    int64_t splat = (int64_t)number - g->firsts[layer];
    real3 c[16], sum;
    float local[3];
    for (int k = 0; k <= orr_sh_rest(pack->sh_degree); k++) {
        c[k] = coefficient(pack, splat, k);
    }
    sum = sh_sum0(c[0]);
    if (pack->sh_degree > 0) {
        affine_apply_to_direction(g->to_layer[layer], direction, local);
        real3 d = normalise3(make_real3(local[0], local[1], local[2]));
        if (drawn->deformation.piece_of) {
            const splat_deformation moved = splat_deformation_of(&drawn->deformation, splat);
            d = rotate_inverse(unit_quaternion_matrix(moved.turn), d);
        }
        sum = sh_sum1(sum, d, c[1], c[2], c[3]);
        sum = pack->sh_degree > 1 ? sh_sum2(sum, d, c[4], c[5], c[6], c[7], c[8]) : sum;
        sum = pack->sh_degree > 2 ? sh_sum3(sum, d, c[9], c[10], c[11], c[12], c[13], c[14], c[15]) : sum;
    }
    sum = sh_clamped(sum);
    memcpy(colour, &sum, 3 * sizeof *colour);
}

orr_veil orr_veil_begin(void)
{
    return (orr_veil){.passes = 1.0f, .receiver = INFINITY, .owner = -1};
}

void orr_veil_add(orr_veil *v, const float rgb[3], float alpha, float distance, int32_t owner)
{
    const real before = v->passes, after = before * (1.0f - alpha);
    for (int k = 0; k < 3; k++) {
        v->display[k] += before * rgb[k];
    }
    v->depth += before * alpha * distance;
    v->receiver = shadow_receiver(v->receiver, before, after, distance);
    v->owner = (int32_t)shadow_receiver((real)v->owner, before, after, (real)owner);
    v->passes = after;
}

void orr_gaussians_veil(const orr_gaussians *g, const orr_gaussian_walk *walk, const orr_ray *ray,
                        orr_veil *v)
{
    orr_gaussian_met met[ORR_GAUSSIANS_MET], last;
    int count = 0;
    if (g->bvh.block_count == 0) {
        return;
    }
    do {
        count = walk->first(g, ray, count ? &last : NULL, met);
        v->walks++;
        for (int i = 0; i < count && v->passes > VEIL_OPAQUE; i++) {
            float colour[3];
            orr_gaussian_colour(g, met[i].splat, ray->direction, colour);
            for (int k = 0; k < 3; k++) {
                colour[k] *= met[i].alpha;
            }
            orr_veil_add(v, colour, met[i].alpha, met[i].distance, layer_of(g, met[i].splat));
            last = met[i];
        }
    } while (count == ORR_GAUSSIANS_MET && v->passes > VEIL_OPAQUE);
    v->passes = v->passes > VEIL_OPAQUE ? v->passes : 0.0f;
}

void orr_veil_light(const orr_veil *v, float light[3])
{
    const real covers = 1.0f - v->passes;
    for (int k = 0; k < 3; k++) {
        light[k] = covers > 0.0f ? srgb_to_linear(v->display[k] * (1.0f / covers)) * covers : 0.0f;
    }
}
