// A scene for tests of shadows: a floor at z = 0, 8 x 8, and a cube of side 1 above it whose bottom is at
// z = 1, seen from above.
#pragma once

#include "engine/core/jobs.h"
#include "render/shadow/self_shadow.h"
#include "tests/support/scenes/small_mesh.h"

enum { SHADOW_SCENE_SIDE = 256 }; // [px] of the picture

typedef struct shadow_scene {
    orr_mesh_vertex floor_vertices[4], box_vertices[24];
    uint32_t floor_indices[6], box_indices[36];
    small_mesh floor, box;
    orr_draw_mesh items[2];
    orr_draw_splats layer;
    orr_splats *splats; // NULL: the floor is a mesh
    orr_splat_pack *pack;
    orr_self_shadow *self; // of the captured wall
    orr_draw_list list;
} shadow_scene;

// Not to be copied: it points into itself. The sun comes from -x at a slope of 3 : 4, so that what is h high
// throws its shadow 3/4 h towards +x.
void shadow_scene_make(shadow_scene *scene);
// Adds a spot, a point of light, and one that the cube encloses, all of which cast shadows.
void shadow_scene_add_lamps(shadow_scene *scene);
// Gives the sun and the lamps a size.
void shadow_scene_soften(shadow_scene *scene);
// Makes the floor a cloud of grey discs instead, with haze at z = 3 of which a quarter is seen: 0.25 of it is
// black. In full shadow 0.4 of the light is left.
void shadow_scene_make_captured(shadow_scene *scene, orr_jobs *jobs);
// Makes the floor a cloud without haze, on which a wall of the cloud stands at x = 0.75, y = 0 .. 3, 2 high:
// the colours have its shadow in them, x = 0.75 .. 2.25.
void shadow_scene_make_walled(shadow_scene *scene, orr_jobs *jobs);
void shadow_scene_free(shadow_scene *scene);
// An orthographic camera that looks down at (x, y): x to the right, y upwards in the picture, `pixels` per
// unit.
orr_lens shadow_scene_lens(float x, float y, float pixels);
// The same camera above the cube, turned by 0.3 radians about its axis, so that no edge lies along pixels.
orr_lens shadow_scene_turned_lens(int side, float pixels);
