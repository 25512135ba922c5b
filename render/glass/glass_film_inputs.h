// A film's plain struct as the formula's type, for lanes and kernels.
#pragma once

#include "render/glass/glass_film.h"
#include "render/glass/glass_film_formula.h"

#include <string.h>

FN glass_look glass_look_of(const orr_glass_look *values)
{
    glass_look look;
    _Static_assert(sizeof look == sizeof *values, "the same members in the same order");
    memcpy(&look, values, sizeof look);
    return look;
}
