// A sphere in the file of a mesh, and pictures of scenes with it.
#pragma once

#include "engine/orrery.h"

enum { SIDE = 48, PIXELS = SIDE * SIDE }; // of the pictures

// Writes a sphere of radius 1 at the origin, as a file of glTF, and returns its path. base: its colour, grey.
const char *write_sphere(float metallic, float roughness, float base);

// Two threads, and a device; NULL where there is none of that kind.
orr_engine *open_engine_on(orr_device_kind device);
orr_view look(void); // from the front, a little from above; hard edges
// Pictures of PIXELS x 4.
void draw_world(orr_engine *engine, const orr_scene *scene, const orr_world *world, const orr_view *view,
                float *rgba);
void draw(orr_engine *engine, const orr_scene *scene, const orr_view *view, float *rgba);
// Path-traced.
void trace(const orr_scene *scene, const orr_view *view, int samples, float *rgba);
// With hard edges: the mean of 16 pixels of a larger picture for each, of what a screen shows (at most 1).
void draw_fine(orr_engine *engine, const orr_scene *scene, const orr_view *view, float *mean);
// By how much two pictures differ in the sphere's middle, where it covers the picture: root of the mean
// square of the colours.
double middle_error(const float *a, const float *b);
