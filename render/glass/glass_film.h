// Which materials are drawn as films over what is behind them (glass_film_formula.h), and what those are.
#pragma once

#include "engine/mesh/mesh_file.h"

// From this transmission on a material casts no shadow; below it that of an opaque one.
#define ORR_GLASS_SHADOWLESS 0.5f

// Is it a film? Light goes through it, and no rays follow that.
static inline bool orr_glass_is_film(const orr_mesh_material *material, bool rays)
{
    return !rays && orr_material_transmits(material);
}

// Is what is behind it blended with it?
static inline bool orr_glass_is_blended(const orr_mesh_material *material, bool rays)
{
    return material->blended || orr_glass_is_film(material, rays);
}

// Are its triangles drawn from either side? Of a closed film the front stands for both faces.
static inline bool orr_glass_two_sided(const orr_mesh_material *material, bool rays)
{
    return material->two_sided && !(material->closed && orr_glass_is_film(material, rays));
}

// Does it cast a shadow?
static inline bool orr_glass_casts(const orr_mesh_material *material)
{
    const bool clear = orr_material_transmits(material) && material->transmission >= ORR_GLASS_SHADOWLESS;
    return !material->blended && !material->no_shadow && !clear;
}

// glass_look of the formula.
typedef struct orr_glass_look {
    float transmission, ior;
    float closed;
    float absorbed[3];
} orr_glass_look;

static inline orr_glass_look orr_glass_look_of(const orr_mesh_material *material)
{
    orr_glass_look look = {.transmission = material->transmission,
                           .ior = material->ior,
                           .closed = material->closed ? 1.0f : 0.0f};
    for (int k = 0; k < 3 && material->closed; k++) {
        look.absorbed[k] = material->absorption[k] * material->thickness;
    }
    return look;
}
