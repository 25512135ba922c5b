// The splats of a pack, and how they are deformed, for lanes.
#pragma once

#include "render/draw.h"
#include "render/splat/deform_formula.h"

#include <string.h>

// How the splats of the pack from number `first` on are deformed.
FN splat_deformation splat_deformation_at(const orr_draw_deformation *deformation, int64_t first)
{
    enum { NUMBERS = sizeof(orr_affine_piece) / sizeof(float) };
    real m[NUMBERS];
    splat_deformation d;
    real_gather_row((const float *)deformation->pieces, (const uint32_t *)deformation->piece_of + first,
                    NUMBERS, m);
    _Static_assert(sizeof d == sizeof m, "the same members in the same order");
    memcpy(&d, m, sizeof d);
    return d;
}

// The splats' geometry as a pack has it. opacity: as splat_project takes it; of merged splats their density
// (merged_splat)
typedef struct packed_splats {
    real3 mean;
    splat_axes axes;
    real opacity;
} packed_splats;

// g: at the first of them
FN packed_splats packed_splats_at(const float *g)
{
    real m[ORR_PACK_GEOMETRY];
    for (int k = 0; k < ORR_PACK_GEOMETRY; k++) {
        m[k] = real_load(g + k * ORR_PACK_BLOCK);
    }
    return (packed_splats){
        {m[0], m[1], m[2]}, {{m[3], m[4], m[5]}, {m[6], m[7], m[8]}, {m[9], m[10], m[11]}}, m[12]};
}
