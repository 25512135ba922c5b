// The deformation of a splat of a draw list, for plain C (ORR_SCALAR; lanes: pack_inputs.h).
#pragma once

#include "render/draw.h"
#include "render/splat/deform_formula.h"

#include <string.h>

FN splat_deformation splat_deformation_of(const orr_draw_deformation *deformation, int64_t splat)
{
    splat_deformation d;
    _Static_assert(sizeof d == sizeof *deformation->pieces, "the same members in the same order");
    memcpy(&d, &deformation->pieces[deformation->piece_of[splat]], sizeof d);
    return d;
}
