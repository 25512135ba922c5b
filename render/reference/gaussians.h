// Splats that rays meet: Gaussians in space, in a bounding volume hierarchy over their boxes. A splat covers
// a ray by its opacity times the largest density along it (Moenne-Loccoz et al. 2024, "3D Gaussian ray
// tracing"), with the least and the largest coverage of the rasteriser. The walks are compiled once per
// instruction set.
#pragma once

#include "engine/core/isa.h"
#include "render/draw.h"
#include "render/reference/bvh.h"

enum { ORR_GAUSSIANS_MET = 32 };

typedef struct orr_gaussian_block {
    float mean[3][ORR_BVH_WIDTH];
    float unit[9][ORR_BVH_WIDTH]; // from the world to where the Gaussian is the unit one, row-major
    float opacity[ORR_BVH_WIDTH]; // 0 where there is none
    uint32_t splat[ORR_BVH_WIDTH];
} orr_gaussian_block;

typedef struct orr_gaussians {
    orr_bvh bvh;
    orr_gaussian_block *blocks;    // bvh.block_count
    const orr_draw_splats *layers; // layer_count
    float (*to_layer)[12];         // layer_count: from the world
    int64_t *firsts;               // layer_count: the number of a layer's first splat
    int layer_count;
} orr_gaussians;

// The layers must outlive it.
orr_result orr_gaussians_build(const orr_draw_splats *layers, int count, orr_gaussians *gaussians,
                               orr_error *error);
void orr_gaussians_free(orr_gaussians *gaussians);
// The display colour of a splat in a direction.
void orr_gaussian_colour(const orr_gaussians *gaussians, uint32_t splat, const float direction[3],
                         float colour[3]);

typedef struct orr_gaussian_met {
    float distance; // where the ray meets it most
    float alpha;
    uint32_t splat;
} orr_gaussian_met;

typedef struct orr_gaussian_walk {
    // The first splats between the ray's ends, at most ORR_GAUSSIANS_MET, from front to back; those at equal
    // distance by their number. after NULL: from the near end; otherwise those behind that one.
    int (*first)(const orr_gaussians *gaussians, const orr_ray *ray, const orr_gaussian_met *after,
                 orr_gaussian_met met[ORR_GAUSSIANS_MET]);
    // The part of the light that passes all of them.
    float (*transmittance)(const orr_gaussians *gaussians, const orr_ray *ray);
} orr_gaussian_walk;

const orr_gaussian_walk *orr_gaussian_walk_of(orr_isa isa);

// What splats show between the ends of a ray, and how much of what is behind them passes.
typedef struct orr_veil {
    float display[3]; // as they are blended, premultiplied
    float passes;     // below 1e-4, as when drawing, 0
    float depth;      // distances times weights
    float receiver;   // distance of the surface that shadows fall on, as when drawing; infinity: none
    int32_t owner;    // number of the layer that it is of; -1: of none
    int walks;        // rays through the hierarchy that it took
} orr_veil;

orr_veil orr_veil_begin(void);
// Adds a layer of the colour, premultiplied, at a distance behind what the veil has; owner: of the layer.
void orr_veil_add(orr_veil *veil, const float rgb[3], float alpha, float distance, int32_t owner);
// Adds the splats between the ray's ends, which are behind what the veil has.
void orr_gaussians_veil(const orr_gaussians *gaussians, const orr_gaussian_walk *walk, const orr_ray *ray,
                        orr_veil *veil);
// Its light, linear and premultiplied: captured colours are blended as displayed, and decoded as a whole.
void orr_veil_light(const orr_veil *veil, float light[3]);

#define ORR_GAUSSIAN_WALK(isa) extern const orr_gaussian_walk orr_gaussian_walk_##isa;
ORR_GAUSSIAN_WALK(baseline)
ORR_GAUSSIAN_WALK(avx2)
ORR_GAUSSIAN_WALK(avx512)
