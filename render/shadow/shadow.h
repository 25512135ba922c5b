// The shadow maps of a frame: which lights cast shadows, and what their maps show. Directional lights have a
// map of everything and up to three finer ones near the camera (shadow_cascades.h), narrow spots one map,
// points of light and wide spots a cube of up to six. Machines draw the maps as they draw meshes, only depth,
// through the lenses given here, and look points up by shadow_formula.h and cascade_formula.h.
#pragma once

#include "render/shadow/shadow_casters.h"

enum {
    ORR_SHADOW_LIGHTS = 4, // of a frame, that cast shadows
    ORR_SHADOW_FACES = 6,  // of a cube
    ORR_SHADOW_MAPS = ORR_SHADOW_LIGHTS * ORR_SHADOW_FACES,
    ORR_SHADOW_CASCADES = 3,     // of a directional light, besides its map of everything
    ORR_SHADOW_CASCADES_MAX = 6, // of a frame
    // a side of a map [texels] is a power of two: the largest that the longer side of the picture has pixels
    // for, within these
    ORR_SHADOW_SIZE_MIN = 128,
    ORR_SHADOW_SIZE_MAX = 2048,
    ORR_SHADOW_FACE_MAX = 1024, // of a cube's map
};

// shadow_view of shadow_formula.h as plain floats, for files without lanes.
typedef struct orr_shadow_values {
    float to_light[12];
    float focal;
    float centre[2], size;
    float orthographic;
    float cube;
    float slots[ORR_SHADOW_FACES];
    float spread, nearest, reach;
} orr_shadow_values;

// shadow_cascade of cascade_formula.h, likewise.
typedef struct orr_cascade_values {
    orr_shadow_values map;
    float middle, extent;
} orr_cascade_values;

// shadow_eye, likewise.
typedef struct orr_shadow_eye {
    float inverse_focal[2], centre[2];
    float orthographic;
    float umbra;
    float lamp;
} orr_shadow_eye;

// lamp: of orr_draw_captured_by_lamp
static inline orr_shadow_eye orr_shadow_eye_of(const orr_lens *lens, float umbra, bool lamp)
{
    return (orr_shadow_eye){.inverse_focal = {1.0f / lens->focal[0], 1.0f / lens->focal[1]},
                            .centre = {lens->centre[0], lens->centre[1]},
                            .orthographic = lens->orthographic ? 1.0f : 0.0f,
                            .umbra = umbra,
                            .lamp = lamp ? 1.0f : 0.0f};
}

// What draws a map, and where its texels are: in memory, maps are behind one another; in an image of
// width `columns` and height `rows`, lights are below one another, and the maps of a light two in a row.
typedef struct orr_shadow_map {
    orr_lens lens;
    int32_t first;     // texel
    int32_t left, top; // in the image
} orr_shadow_map;

typedef struct orr_shadow_plan {
    int32_t size;        // of each map, but of a cube's at most ORR_SHADOW_FACE_MAX [texels]
    int32_t light_count; // that cast shadows
    int32_t light_of[ORR_DRAW_LIGHTS + 1]; // of the lights of orr_draw_light_up; -1: it casts no shadow
    orr_shadow_values values[ORR_SHADOW_LIGHTS];
    int32_t firsts[ORR_SHADOW_LIGHTS]; // texel at which the light's maps begin
    int32_t tops[ORR_SHADOW_LIGHTS];   // row of the image at which they begin
    int32_t map_count;
    orr_shadow_map maps[ORR_SHADOW_MAPS]; // the lights' in turn, each light's by their slots
    int32_t texels, columns, rows;        // of all
    // of each light, the finest first; their slots follow that of the map of everything, 0
    int32_t cascade_firsts[ORR_SHADOW_LIGHTS], cascade_counts[ORR_SHADOW_LIGHTS];
    int32_t cascade_used; // of all lights
    // of each light, what the list's self_shadow keeps off meshes, and where its texels begin; size 0: none
    orr_shadow_values captured[ORR_SHADOW_LIGHTS];
    int32_t captured_firsts[ORR_SHADOW_LIGHTS];
    orr_cascade_values cascades[ORR_SHADOW_CASCADES_MAX];
} orr_shadow_plan;

// Fits maps to each of the first ORR_SHADOW_LIGHTS lights that cast shadows: around all meshes of the list
// that may cast one, except those whose poses only a device has. A map depends on the meshes and the light
// but not on the camera, cascades excepted, and its texels keep their places in the world while what it shows
// moves, so that edges of shadows do not crawl. Of a cube only those maps are drawn in which a mesh may be
// seen.
void orr_shadow_plan_make(const orr_draw_list *list, orr_shadow_plan *plan);
// The same, around what is in a box of the world alone, whatever meshes there are; of at most size_max texels
// a side, no cascades. Lights that are near look at the box, so that it takes most of one map, unless they
// are in it.
void orr_shadow_plan_make_around(const orr_draw_list *list, const orr_caster_span *box, int size_max,
                                 orr_shadow_plan *plan);
// The first light, of orr_draw_light_up, that has maps; -1: none has.
int orr_shadow_first_light(const orr_shadow_plan *plan);
// The list whose depth is map `index`.
orr_draw_list orr_shadow_list(const orr_draw_list *list, const orr_shadow_plan *plan, int index);
