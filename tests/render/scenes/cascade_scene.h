// A scene for tests of cascades: a floor at z = 0, 48 x 48, with a cube of side 1 at each corner, the cube of
// shadow_scene.h above its middle, and a beam; seen by a camera that is near the middle.
#pragma once

#include "tests/render/scenes/shadow_scene.h"

typedef struct cascade_scene {
    shadow_scene base;
    small_mesh beam;
    orr_mesh_vertex beam_vertices[24];
    orr_draw_mesh items[7]; // floor, cube in the middle, corners, beam
    orr_draw_list list;
} cascade_scene;

enum { CASCADE_SCENE_BEAM = 6 }; // number of its item

// Not to be copied: it points into itself. The sun is that of shadow_scene.h. The beam is at x = -3 .. 20,
// y = 1.2 .. 2.2, z = 2.9 .. 3: its shadow has straight edges at y = 1.2 and 2.2, x = -0.75 .. 22.175.
void cascade_scene_make(cascade_scene *scene);
// A camera of 256 x 256 pixels with a view of 53 degrees at `from`, that looks at `to`.
orr_lens cascade_scene_lens(const float from[3], const float to[3]);
