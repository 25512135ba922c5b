// The shadow maps of a frame: which lights cast shadows, and what their maps show. Machines draw the maps as
// they draw meshes, only depth, through the lenses given here, and look points up by shadow_formula.h.
#pragma once

#include "render/draw.h"

enum {
    ORR_SHADOW_MAPS = 4, // of a frame
    // a side of a map [texels] is a power of two: the largest that the longer side of the picture has pixels
    // for, within these
    ORR_SHADOW_SIZE_MIN = 128,
    ORR_SHADOW_SIZE_MAX = 2048,
};

// shadow_view of shadow_formula.h as plain floats, for files without lanes.
typedef struct orr_shadow_values {
    float to_light[12];
    float focal;
    float centre[2], size;
    float orthographic;
} orr_shadow_values;

// shadow_eye, likewise.
typedef struct orr_shadow_eye {
    float inverse_focal[2], centre[2];
    float orthographic;
    float umbra;
} orr_shadow_eye;

static inline orr_shadow_eye orr_shadow_eye_of(const orr_lens *lens, float umbra)
{
    return (orr_shadow_eye){.inverse_focal = {1.0f / lens->focal[0], 1.0f / lens->focal[1]},
                            .centre = {lens->centre[0], lens->centre[1]},
                            .orthographic = lens->orthographic ? 1.0f : 0.0f,
                            .umbra = umbra};
}

typedef struct orr_shadow_plan {
    int32_t size;                        // of each map [texels]
    int32_t count;                       // of maps
    int32_t map_of[ORR_DRAW_LIGHTS + 1]; // of the lights of orr_draw_light_up; -1: it casts no shadow
    orr_shadow_values values[ORR_SHADOW_MAPS];
    orr_lens lenses[ORR_SHADOW_MAPS]; // what draws them
} orr_shadow_plan;

// Fits a map to each of the first ORR_SHADOW_MAPS lights that cast shadows: around all meshes of the list
// that may cast one, except those whose poses only a device has. A map depends on the meshes and the light
// but not on the camera, and its texels keep their places in the world while what it shows moves, so that
// edges of shadows do not crawl.
void orr_shadow_plan_make(const orr_draw_list *list, orr_shadow_plan *plan);
// The list whose depth is map `index`.
orr_draw_list orr_shadow_list(const orr_draw_list *list, const orr_shadow_plan *plan, int index);
