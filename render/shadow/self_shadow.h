// Where the sun of a capture did not reach its surfaces past one another: their colours have that shadow in
// them, and what a mesh keeps off them there is nothing. A shadow map of the clouds at rest, found by rays
// once for a sun and its clouds, and looked up by shadow_formula.h like one of meshes.
#pragma once

#include "engine/core/isa.h"
#include "engine/core/jobs.h"
#include "render/shadow/shadow.h"

enum { ORR_SELF_SHADOW_SIZE = 512 }; // a side of the map [texels]

// Zero is empty.
typedef struct orr_self_shadow {
    // ORR_SELF_SHADOW_SIZE a side: the depth along the light at which less than half of it is left, and the
    // bias; infinity: more is left behind all clouds
    float *depths;
    float to_light[12]; // world to the light's space: z along the light
    float focal;        // [texels per unit]
    uint64_t key;       // the same for the same map, for devices
} orr_self_shadow;

// Of the clouds in sunlight from `direction` (towards the sun, unit, world), into what is empty or was built
// before. The bias is four texels, and texels show the farthest depth of those around them, so that a surface
// of any slope up to 76 degrees does not shadow itself; what is narrower than three texels has no shadow.
// Without a cloud in it there are no depths. The key is left to the caller. ORR_ERROR_MEMORY.
orr_result orr_self_shadow_build(orr_jobs *jobs, orr_isa isa, const orr_draw_splats *clouds, int count,
                                 const float direction[3], orr_self_shadow *map, orr_error *error);
// A copy, for a frame that is drawn while the map changes.
orr_result orr_self_shadow_copy(const orr_self_shadow *from, orr_self_shadow *to, orr_error *error);
void orr_self_shadow_free(orr_self_shadow *map);
// For lookups from the camera's space of a view; NULL map: of size 0, nothing is looked up.
orr_shadow_values orr_self_shadow_values(const orr_self_shadow *map, const float view[12]);
// Of what devices keep of a map; 0: none
static inline int64_t orr_self_shadow_texels(const orr_self_shadow *map)
{
    return map ? (int64_t)ORR_SELF_SHADOW_SIZE * ORR_SELF_SHADOW_SIZE : 0;
}
