// What a frame draws: the interface between the frame loop, which has scenes and worlds, and the drawing
// machines, which see only draw lists.
//
// A machine draws opaque meshes first (their depth bounds the rest), then blends splats, fields and what is
// transparent of the meshes over them, by depth, and composes all over the background.
#pragma once

#include "engine/core/profile.h"
#include "engine/maths/affine_piece.h"
#include "engine/maths/camera.h"
#include "engine/maths/vector.h"
#include "render/bsdf_table.h"
#include "render/environment/environment.h"
#include "render/field_layer.h"
#include "render/glass/glass_film.h"
#include "render/mesh.h"
#include "render/round.h"
#include "render/splat/splat_cloud.h"

// How a cloud is deformed in this frame: affinely in pieces, as the tetrahedra of a cage are. The projection
// of each machine applies it (deform_formula.h); what it moves is in the space that `model` starts from.
typedef struct orr_draw_deformation {
    const int32_t *piece_of; // of each splat of the pack (blocks x 16), constant under its key; NULL: none
    const orr_affine_piece *pieces; // piece_count
    int32_t piece_count;
} orr_draw_deformation;

typedef struct orr_draw_splats {
    const orr_splat_pack *pack;
    uint64_t key;    // the same for the same pack contents: machines keep uploaded copies under it
    float model[12]; // layer to world, a similarity
    orr_draw_deformation deformation;
    bool antialias;
    bool casts_shadow; // where the list has shadows, on all but itself (render/cloud_shadow)
    // Nullable, for the CPU and CUDA, of the same pack: merged splats are drawn where their standard
    // deviation is at most `merged_size` on the screen (render/splat_detail)
    const struct orr_splat_detail *detail;
    float merged_size; // [px]
} orr_draw_splats;

// Poses of the bodies of one simulated world, in memory of the device that draws: physics writes them and
// drawing reads them, both in the device's stream, without the host. Number k of body b: position[(3 b + k)
// stride] and rotation[(4 b + k) stride]; floats, or doubles.
typedef struct orr_draw_bodies {
    const void *position; // metres, in the frame of the robot's layer
    const void *rotation; // unit quaternions, w x y z
    int32_t stride;
    bool double_precision;
} orr_draw_bodies;

typedef struct orr_draw_mesh {
    const orr_mesh *mesh;
    uint64_t key;    // the same for the same mesh; 0: of this list alone, for the CPU
    int32_t variant; // of meshes under one key; CUDA keeps copies of each
    float model[12]; // layer to world, a similarity
    // Nullable, for CUDA alone: the mesh moves with a body, and `model` is the robot's: mesh to world is
    // model x body x at
    const orr_draw_bodies *bodies;
    int32_t body;
    float at[12];
    int32_t environment; // 1 + the index of what lights it in place of the list's ambient light; 0: nothing
    bool endless;        // lies in the list's haze.plane, and ends where haze does
    bool closed;         // the whole surface of a body: from outside, its fronts hide its backs
    // Nullable, for the CPU: the surface that the mesh approximates; rays are cast at it where that can be
    // (cpu/mesh_round.c)
    const orr_round *round;
} orr_draw_mesh;

typedef struct orr_draw_field {
    const orr_field_layer *layer;
    uint64_t key;    // as of clouds; a field in training keeps its key
    float model[12]; // layer to world, a similarity
} orr_draw_field;

// Signed distances are lit from its direction, meshes by all of it.
typedef struct orr_draw_sun {
    float direction[3]; // towards the sun, unit, world
    float colour[3];    // linear radiance of a white surface that faces it
    float ambient[3];   // linear, from everywhere
    float radius;       // [rad] of its disc, for the edges of shadows; 0: they are hard
} orr_draw_sun;

// Meshes keep light from all around off surfaces near them (occlusion_formula.h).
typedef struct orr_draw_occlusion {
    float radius;   // how far [scene units]; 0: they do not
    float strength; // 0 .. 1: how much of it
    float up[3];    // unit, world: the normal of captured surfaces, on which it falls too
} orr_draw_occlusion;

enum { ORR_DRAW_LIGHTS = 16 }; // of a frame, besides the sun

// A light on meshes, as OpenGL's fixed functions have them.
typedef struct orr_draw_light {
    bool directional;     // infinitely far away: position, attenuation and cone have no effect
    float position[3];    // world
    float direction[3];   // of its beam, unit, world
    float attenuation[3]; // divides the light by [0] + [1] d + [2] d^2 at distance d
    float cutoff;         // [degrees] between the axis and the rim of its cone; 180: shines everywhere
    float exponent;       // the light falls off with cos^exponent of the angle to the axis
    float ambient[3], diffuse[3], specular[3]; // linear radiance of a white surface
    bool casts_shadows;                        // where the list has shadows (render/shadow/shadow.h)
    float range;                               // distance at which it ends smoothly; 0: nowhere
    bool fades;                                // the cone fades from `inner` to the cutoff
    float inner;                               // [degrees]
    float radius; // for the edges of shadows; of a directional light [rad]; 0: they are hard
    // a rectangle around the position, half of its edges, that shines into `direction`: `diffuse` and
    // `specular` are its radiance, and attenuation, cutoff and exponent those of a point that is it from afar
    bool area;
    float right[3], up[3]; // world
    bool lights_captured;  // clouds and fields, too, whose colours have the light of the capture in them
} orr_draw_light;

// The same, or the sun, in the camera's space: light_source of light_formula.h as plain floats, for files
// without lanes.
typedef struct orr_light_values {
    float position[3]; // camera space; of a directional light: unit vector towards it
    float directional;
    float axis[3];
    float cutoff; // cosine
    float exponent;
    float attenuation[3];
    float ambient[3], diffuse[3], specular[3];
    float inverse_range;
    float cone_scale, cone_offset;
    float area; // 1: a rectangle
    float right[3], up[3];
} orr_light_values;

// The lamps of a list that light what is captured, in the camera's space. A rectangle is a point that is not
// brighter than a disc of its area.
typedef struct orr_captured_lamps {
    float white[3]; // linear radiance that white surfaces had in the light of the capture
    int32_t count;
    int32_t numbers[ORR_DRAW_LIGHTS];        // count: of orr_draw_light_up
    orr_light_values lamps[ORR_DRAW_LIGHTS]; // count
} orr_captured_lamps;

enum { ORR_DRAW_ENVIRONMENTS = 5 }; // of a frame: one that is infinitely far away, and probes

// Light from all around, or what a probe sees.
typedef struct orr_draw_environment {
    const orr_environment *map;
    uint64_t key;          // the same for the same map
    float to_map[12];      // world to the map's space, a rotation and a translation
    float low[3], high[3]; // box in the map's space that a probe's surfaces are taken for; empty: far away
    float strength;        // factor of its radiance
} orr_draw_environment;

// The same as the camera sees it: environment_view of environment_formula.h as plain floats, for files
// without lanes.
typedef struct orr_environment_values {
    float to_map[12];
    float low[3], high[3];
    float strength;
    float first, sharp, rough;
    float diffuse_strength;
    float points[3], grid_low[3], grid_step[3], grid_offset;
    float harmonics[3][9];
} orr_environment_values;

// Haze over an endless plane, and fog (haze_formula.h), of meshes and the backdrop. Colours are display
// colours.
typedef struct orr_draw_haze {
    float plane[4]; // unit normal, world, and its product with the points of the plane
    float reach;    // where the plane ends, from the camera's foot on it; 0: there is no haze
    float part;     // of the reach, that is hazy
    float colour[3];
    float fog_start, fog_end; // depths at which fog begins and is dense; the latter 0: there is no fog
    float fog_colour[3];
    float sky_distance; // of the backdrop, for fog; its up is the list's sky's
} orr_draw_haze;

// The same as the camera sees it: haze_view of haze_formula.h as plain floats, for files without lanes.
typedef struct orr_haze_values {
    float inverse_focal[2], centre[2];
    float up[3], reach_over_height, reach, part;
    float colour[3];
    float fog_start, fog_inverse_width, fog_colour[3];
    float sky[3], sky_distance;
} orr_haze_values;

// All lights of a frame, what highlights reflect of light from everywhere, and what is before surfaces.
typedef struct orr_draw_lighting {
    orr_bsdf_table integrals;
    float exposure, tone; // tone_curve of tone_formula.h
    float ambient[3];
    int32_t count;
    orr_light_values lights[ORR_DRAW_LIGHTS + 1]; // count
    // of the list, as if the texels of all maps were behind one another
    orr_environment_values environments[ORR_DRAW_ENVIRONMENTS];
    orr_haze_values haze;
} orr_draw_lighting;

// What one transparent surface shows in one pixel.
typedef struct orr_fragment {
    float depth;   // along the camera's axis
    float rgba[4]; // premultiplied
} orr_fragment;

// Those of a picture, pixel by pixel, each pixel's from front to back.
typedef struct orr_fragment_lists {
    const uint32_t *starts; // height x width + 1; NULL: there are none
    const orr_fragment *fragments;
} orr_fragment_lists;

// What opaque meshes show in a pixel that has an edge (edge_formula.h).
typedef struct orr_edge_sample {
    float depth;  // along the camera's axis; infinity: no surface, or the backdrop
    float rgb[3]; // of the surface or the backdrop; 0 where there is neither
} orr_edge_sample;

typedef struct orr_edge_pixel {
    orr_edge_sample samples[4]; // from front to back
    float centre_depth;         // of the pixel's centre, likewise
} orr_edge_pixel;

// Those of a picture, whose rows are divided into words of 64 pixels.
typedef struct orr_edge_list {
    const uint64_t *bits;         // height x words: pixels with an edge; NULL: there are none
    const uint32_t *firsts;       // height x words: number of the first such pixel of the word, or after it
    const orr_edge_pixel *pixels; // in the order of the bits
    int words;                    // of a row
} orr_edge_list;

// Display colours behind everything, by the height of the view; all three alike: one colour.
typedef struct orr_draw_sky {
    float up[3]; // unit, world
    float high[3], level[3], low[3];
} orr_draw_sky;

// The same in the camera's space: sky_view of sky_formula.h as plain floats, for files without lanes.
typedef struct orr_sky_values {
    float up[3], inverse_focal[2], centre[2];
    float high[3], level[3], low[3];
} orr_sky_values;

typedef struct orr_draw_list {
    orr_lens lens;
    const orr_draw_splats *splats; // splat_count
    const orr_draw_mesh *meshes;   // mesh_count
    const orr_draw_field *fields;  // field_count
    int splat_count;
    int mesh_count;
    int field_count; // the CPU marches them (render/field_pass.h), except those that CUDA draws
    orr_draw_sun sun;
    orr_draw_light lights[ORR_DRAW_LIGHTS]; // light_count
    int light_count;
    orr_draw_environment environments[ORR_DRAW_ENVIRONMENTS]; // environment_count
    int environment_count;
    bool environment_behind; // the first is behind everything that is opaque, in place of backdrop and sky
    bool shadows;            // of opaque meshes and clouds: the sun casts them, and the lights that say so
    bool mirrors;            // materials with reflectance mirror (render/mirror/mirror.h)
    struct orr_ray_trees
        *rays; // what rays of smooth surfaces walk, for the CPU (render/cpu/rays); NULL: none
    // where left_out_mesh is not 0, this part of mesh left_out_mesh - 1 is not drawn: the mirror that is
    // looked through
    int left_out_mesh, left_out_part;
    float captured_white[3]; // of orr_captured_lamps
    float umbra; // how bright splats and fields are in full shadow, 0 .. 1, in linear light; 1: as before
    // nullable: where the sun did not reach captured surfaces past one another (shadow/self_shadow.h)
    const struct orr_self_shadow *self_shadow;
    orr_draw_occlusion occlusion; // of opaque meshes
    float exposure;               // [EV] meshes' light is multiplied by 2^exposure
    orr_tone tone;                // of meshes' light
    bool only_solid;              // transparent surfaces of meshes are not drawn
    bool only_casters;            // only what casts shadows is drawn
    bool
        only_traced; // for the CPU: of meshes, only surfaces that start rays have colours (cpu/rays/traced.h)
    bool smooth;     // edges of opaque meshes are anti-aliased
    bool no_reuse;   // nothing is taken over from earlier frames (cpu/kept/kept_view.h)
    orr_draw_mesh backdrop; // unlit, infinitely far and before the sky (perspective views); NULL mesh: none
    orr_draw_haze haze;
    bool opaque; // false: transparent behind everything, sky ignored
    orr_draw_sky sky;
    const struct orr_draw_seen *seen; // nullable, for CUDA: what pixels show besides (seen/draw_seen.h)
} orr_draw_list;

// Is a part of an item, which is one of the list's meshes or its backdrop, left out?
static inline bool orr_draw_leaves_out(const orr_draw_list *list, const orr_draw_mesh *item, int part)
{
    const orr_mesh_material *material = &item->mesh->materials[item->mesh->parts[part].material];
    const bool mirror = list->left_out_mesh > 0 && item == &list->meshes[list->left_out_mesh - 1] &&
                        part == list->left_out_part;
    const bool blended = !list->only_casters && orr_glass_is_blended(material, list->rays != NULL);
    return mirror || ((list->only_solid || list->only_traced) && blended) ||
           (list->only_casters && !orr_glass_casts(material));
}

// The lights of a list in its camera's space; the sun, if it shines, is the first of them. Its environments
// and its haze.
void orr_draw_light_up(const orr_draw_list *list, orr_draw_lighting *lighting);
void orr_draw_captured_lamps(const orr_draw_list *list, orr_captured_lamps *lamps);
// Is the light whose shadows fall on what is captured such a lamp? It has no part in colours of fields, which
// have its shadows from where they are lit by it.
bool orr_draw_captured_by_lamp(const orr_draw_list *list);

// Has a mesh transparent parts? rays: those of smooth surfaces are drawn
static inline bool orr_mesh_is_blended(const orr_mesh *mesh, bool rays)
{
    for (int i = 0; i < mesh->part_count; i++) {
        if (orr_glass_is_blended(&mesh->materials[mesh->parts[i].material], rays)) {
            return true;
        }
    }
    return false;
}

static inline orr_draw_sky orr_sky_of_one_colour(const float rgb[3])
{
    return (orr_draw_sky){.up = {0.0f, 0.0f, 1.0f},
                          .high = {rgb[0], rgb[1], rgb[2]},
                          .level = {rgb[0], rgb[1], rgb[2]},
                          .low = {rgb[0], rgb[1], rgb[2]}};
}

static inline orr_sky_values orr_sky_as_seen(const orr_draw_sky *sky, const orr_lens *lens)
{
    orr_sky_values seen = {.centre = {lens->centre[0], lens->centre[1]}};
    affine_apply_to_direction(lens->view, sky->up, seen.up);
    for (int i = 0; i < 3; i++) {
        seen.high[i] = sky->high[i];
        seen.level[i] = sky->level[i];
        seen.low[i] = sky->low[i];
        if (i < 2) {
            seen.inverse_focal[i] = lens->orthographic ? 0.0f : 1.0f / lens->focal[i];
        }
    }
    return seen;
}
