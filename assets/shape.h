// A triangle soup that is built from turned, swept and extruded parts. y is up.
#pragma once

#include "assets/vector.h"
#include "engine/core/result.h"

typedef struct shape_triangle {
    real3 position[3]; // counter-clockwise seen from outside
    real3 normal[3];   // unit, outwards
    int material;      // enum material (assets/material.h)
    float spacing;     // target distance between samples [scene units, before the common factor]
    int neighbour[3];  // triangle across the edge from corner i to i + 1; -1: the edge is sharp, or a border
} shape_triangle;

typedef struct shape_mesh {
    shape_triangle *triangles;
    int count, capacity;
    bool out_of_memory; // sticky: parts that did not fit are missing

    // what the next parts get
    affine frame; // part to scene, a rotation and a translation
    int material;
    float spacing;
} shape_mesh;

void shape_destroy(shape_mesh *s);

// Frame of the next parts: at `origin`, their y axis up, their x axis turned by `yaw` about it [rad].
void shape_set_frame(shape_mesh *s, real3 origin, float yaw);
// ... and then their y axis tilted by `tilt` about their x axis.
void shape_set_frame_tilted(shape_mesh *s, real3 origin, float yaw, float tilt);
void shape_finish(shape_mesh *s, int material, float spacing);

// Turns a profile of (radius, y) points about the y axis; the outside is on the right, going from the
// first point to the last. Corners sharper than 40 degrees stay sharp.
void shape_lathe(shape_mesh *s, const real2 *profile, int count, int sides);
void shape_sphere(shape_mesh *s, real3 centre, float radius, int sides);
// A round bar along a path, with its own radius at each point and flat ends.
void shape_tube(shape_mesh *s, const real3 *path, const float *radius, int count, int sides);
// Corners in order around it.
void shape_rectangle(shape_mesh *s, const real3 corner[4], real3 normal);
// A prism along x: from x0 to x1, half as wide as w0 and w1 there, between heights y0 and y1.
void shape_bar(shape_mesh *s, float x0, float x1, float w0, float w1, float y0, float y1);
// A spur wheel about the y axis with its underside at y = 0. The first tooth is on the x axis when phase is
// 0, and one tooth further on at phase 1.
void shape_gear(shape_mesh *s, int teeth, float module, float thickness, float hub, int spokes, float phase);

// Finds the neighbours; call when all parts are there.
orr_result shape_find_neighbours(shape_mesh *s, orr_error *error);
