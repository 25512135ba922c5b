// The lens of a photo that splats learn from: its plain struct of floats as the formulas' own.
#pragma once

#include "render/splat/splat_lens.h"
#include "render/splat/splat_unscented_formula.h"

#include <string.h>

FN splat_photo_lens splat_photo_of(const splat_photo_values *values)
{
    splat_photo_lens photo;
    _Static_assert(sizeof photo == sizeof *values, "the same members in the same order");
    memcpy(&photo, values, sizeof photo);
    return photo;
}
