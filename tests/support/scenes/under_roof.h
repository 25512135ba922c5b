// What a roof that keeps all sun off does to the picture of a captured room (lit_cloud.h): to what lay in the
// sun, and to what has a shadow of the room in its colours already.
#pragma once

#include "engine/orrery.h"

enum { UNDER_ROOF_SIDE = 96, UNDER_ROOF_PIXELS = UNDER_ROOF_SIDE * UNDER_ROOF_SIDE };

// How the pixels are, of what they are without the roof: left alone, dark, or between.
typedef struct under_roof {
    int alone, dark, between;
    double lit, shadowed; // mean brightness of those that are dark, and alone, without the roof
} under_roof;

// Adds the roof, and a sun in the direction, to a scene of the room. eyes_on: on the CPU or CUDA, eyes see it
// too: with the bits of a frame there, and where the light is turned, which is then not that of the capture,
// all of it darker; AUTO: none.
under_roof under_roof_look(orr_scene *scene, const float towards_sun[3], orr_device_kind eyes_on);

// A room under the roof, in a frame of its own.
typedef struct under_roof_stage {
    orr_splats *splats;
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
} under_roof_stage;

under_roof_stage under_roof_open(orr_splats *room, const float towards_sun[3]); // which owns the room
void under_roof_set_sun(orr_scene *scene, const float towards_sun[3]);
// UNDER_ROOF_PIXELS x 4, as for a window or to be read.
void under_roof_draw(under_roof_stage *stage, bool for_window, float *rgba);
void under_roof_close(under_roof_stage *stage);
