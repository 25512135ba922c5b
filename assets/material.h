// What the orrery is made of.
#pragma once

#include "assets/vector.h"

typedef enum material {
    MATERIAL_BRASS,
    MATERIAL_GOLD_BRASS, // lacquered, lighter
    MATERIAL_STEEL,      // blued
    MATERIAL_WALNUT,
    MATERIAL_ENAMEL,
    MATERIAL_INK,
    MATERIAL_TABLE,
    MATERIAL_SUN,
    MATERIAL_MERCURY,
    MATERIAL_VENUS,
    MATERIAL_EARTH,
    MATERIAL_MOON,
    MATERIAL_MARS,
    MATERIAL_JUPITER,
    MATERIAL_SATURN,
    MATERIAL_RING,
    MATERIAL_URANUS,
    MATERIAL_COUNT
} material;

typedef struct material_properties {
    const char *name;
    real3 colour;    // linear; diffuse albedo, or the reflectance of a metal
    float metal;     // 1: reflects in its colour and has no diffuse part
    float coat;      // reflectance of the lacquer at normal incidence
    float roughness; // how far soft-box edges blur in it [rad]
    bool patterned;  // the colour changes over the surface
} material_properties;

const material_properties *material_find(int m);

// The colour at a point; `normal` places patterns on planets, `point` grain in wood.
real3 material_colour(int m, real3 point, real3 normal);
