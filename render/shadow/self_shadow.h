// What clouds and fields at rest keep off of lights that stand still. Where the sun of a capture did not
// reach its surfaces past one another, their colours have that shadow in them, and what a mesh keeps off
// there is nothing; and a mesh is not lit by what is behind a captured wall. Shadow maps of clouds and
// fields, found by rays once for a light and what is around it, and looked up by shadow_formula.h like those
// of meshes.
#pragma once

#include "engine/core/isa.h"
#include "engine/core/jobs.h"
#include "render/shadow/shadow.h"

enum {
    ORR_SELF_SHADOW_SIZE = 512, // a side of the map [texels]
    ORR_SELF_SHADOW_FACE = 256  // of each of a cube's
};

// A light of orr_draw_light_up: the sun, a spot, or a point.
typedef struct orr_self_light {
    int number; // among them
    bool sun;
    bool captured;      // captured surfaces are taken for lit by it: the first that casts shadows
    float position[3];  // of the others
    float direction[3]; // into which it shines, unit
    float cutoff;       // [degrees], of the others: above 80 it has a cube of maps
} orr_self_light;

typedef struct orr_self_map {
    int number; // of its light
    bool sun, captured;
    float to_light[12]; // world to the light's space: z along the light; of a cube a translation
    float focal;        // [texels per unit], of a spot or a cube [texels]
    int size;           // texels a side
    int faces;          // 1, or 6 of a cube
    int32_t first;      // texel
} orr_self_map;

// Constant once it is made, and shared: frames in flight hold it while others are made.
typedef struct orr_self_shadow {
    // of each map's faces in turn: the depth along the light at which less than half of it is left, and the
    // bias; infinity: more is left behind all of them
    float *depths; // texels
    int64_t texels;
    orr_self_map maps[ORR_SHADOW_LIGHTS]; // map_count
    int map_count;
    uint64_t key; // the same for the same maps, for devices
    int holders;  // of one thread
} orr_self_shadow;

// What keeps light off, at rest, and which.
typedef struct orr_self_shadow_of {
    const orr_draw_splats *clouds; // cloud_count
    const orr_draw_field *fields;  // field_count; nothing else draws them while the maps are made
    int cloud_count, field_count;
    orr_self_light lights[ORR_SHADOW_LIGHTS]; // light_count
    int light_count;
} orr_self_shadow_of;

// Of a ray a field is one layer, at its mean depth; of the sun's, what is farther out than the bounds of what
// there is (the surroundings of fields) casts nothing. The bias is four texels, and texels show the farthest
// depth of those around them, so that a surface of any slope up to 76 degrees does not shadow itself; what is
// narrower than three texels has no shadow. Of nothing, and without lights, there are no maps: NULL. The key
// is left to the caller, who releases them. ORR_ERROR_MEMORY.
orr_result orr_self_shadow_build(orr_jobs *jobs, orr_isa isa, const orr_self_shadow_of *of,
                                 orr_self_shadow **maps, orr_error *error);
orr_self_shadow *orr_self_shadow_hold(orr_self_shadow *map); // one holder more; NULL is allowed
void orr_self_shadow_release(orr_self_shadow *map);          // one fewer; without any it is freed
// The map of the light that captured surfaces are taken for lit by, which is the first of them, or of light
// `number`; NULL: there is none. `maps` is nullable.
const orr_self_map *orr_self_shadow_of_capture(const orr_self_shadow *maps);
const orr_self_map *orr_self_shadow_of_light(const orr_self_shadow *maps, int number);
// For lookups from the camera's space of a view; NULL map: of size 0, nothing is looked up.
orr_shadow_values orr_self_shadow_values(const orr_self_map *map, const float view[12]);
