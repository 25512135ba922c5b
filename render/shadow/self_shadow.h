// Where the sun of a capture did not reach its surfaces past one another: their colours have that shadow in
// them, and what a mesh keeps off them there is nothing. A shadow map of clouds and fields at rest, found by
// rays once for a sun and what was captured in it, and looked up by shadow_formula.h like one of meshes.
#pragma once

#include "engine/core/isa.h"
#include "engine/core/jobs.h"
#include "render/shadow/shadow.h"

enum { ORR_SELF_SHADOW_SIZE = 512 }; // a side of the map [texels]

// Constant once it is made, and shared: frames in flight hold it while others are made.
typedef struct orr_self_shadow {
    // ORR_SELF_SHADOW_SIZE a side: the depth along the light at which less than half of it is left, and the
    // bias; infinity: more is left behind all of them
    float *depths;
    float to_light[12]; // world to the light's space: z along the light
    float focal;        // [texels per unit]
    uint64_t key;       // the same for the same map, for devices
    int holders;        // of one thread
} orr_self_shadow;

// What was captured in one sun, at rest.
typedef struct orr_self_shadow_of {
    const orr_draw_splats *clouds; // cloud_count
    const orr_draw_field *fields;  // field_count; nothing else draws them while the map is made
    int cloud_count, field_count;
} orr_self_shadow_of;

// In sunlight from `direction` (towards the sun, unit, world). Of a ray a field is one layer, at its mean
// depth, and what is farther out than its bounds (its surroundings) casts nothing. The bias is four texels,
// and texels show the farthest depth of those around them, so that a surface of any slope up to 76 degrees
// does not shadow itself; what is narrower than three texels has no shadow. Of nothing there is no map: NULL.
// The key is left to the caller, who releases the map. ORR_ERROR_MEMORY.
orr_result orr_self_shadow_build(orr_jobs *jobs, orr_isa isa, const orr_self_shadow_of *of,
                                 const float direction[3], orr_self_shadow **map, orr_error *error);
orr_self_shadow *orr_self_shadow_hold(orr_self_shadow *map); // one holder more; NULL is allowed
void orr_self_shadow_release(orr_self_shadow *map);          // one fewer; without any it is freed
// For lookups from the camera's space of a view; NULL map: of size 0, nothing is looked up.
orr_shadow_values orr_self_shadow_values(const orr_self_shadow *map, const float view[12]);
// Of what devices keep of a map; 0: none
static inline int64_t orr_self_shadow_texels(const orr_self_shadow *map)
{
    return map ? (int64_t)ORR_SELF_SHADOW_SIZE * ORR_SELF_SHADOW_SIZE : 0;
}
