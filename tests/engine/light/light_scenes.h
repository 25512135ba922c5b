// Six scenes in which light passes between meshes, robots, soft bodies and captured worlds: those by which
// pictures in real time are held against path-traced ones.
#pragma once

#include "engine/orrery.h"

enum { LIGHT_SCENES = 6 };
extern const char *const light_scene_names[LIGHT_SCENES];

typedef struct light_scene {
    orr_scene *scene;
    orr_world *world;
    orr_view view;
} light_scene;

// Of the size [px]. Fails the test where it cannot be made.
light_scene light_scene_make(orr_engine *engine, int index, int width, int height);
void light_scene_free(light_scene *s);
// Pictures of width x height x 4, as displayed: in real time, and path-traced.
void light_scene_draw(orr_engine *engine, const light_scene *s, float *rgba);
void light_scene_trace(const light_scene *s, int samples, float *rgba);
