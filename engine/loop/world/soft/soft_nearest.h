// The point of a triangle of a soft body that is nearest to a geom.
#pragma once

#include "engine/loop/world/geom_distance.h"
#include "engine/loop/world/soft/soft_contact.h"

typedef struct orr_soft_side { // a triangle of a soft body
    const int32_t *vertex;
    const double *position, *velocity; // of the body's vertices
    int soft, vertices;                // vertices: of the body
    double margin, friction, time_step;
    double middle[3], radius, longest; // m: radius: around its middle; its longest edge
} orr_soft_side;

typedef struct orr_soft_nearest {
    double weight[3], point[3], distance, normal[3]; // in the geom's frame
} orr_soft_nearest;

// Writes its longest edge; its middle and the radius around it.
void orr_soft_side_measure_edges(orr_soft_side *side);
void orr_soft_side_measure_middle(orr_soft_side *side);
// The side's corners, in the geom's frame.
void orr_soft_side_bring(const orr_soft_near *geom, const orr_soft_side *side, double corners[3][3]);
// The point of the side that has these weights, m, and its velocity, m/s, in the scene; how far it is.
orr_geom_distance orr_soft_side_at(const orr_soft_side *side, const orr_soft_nearest *at, double point[3],
                                   double velocity[3]);
// The distance and normal of the point of these corners that has the weights.
void orr_soft_nearest_evaluate(const orr_model *model, int geom, const double (*corners)[3],
                               orr_soft_nearest *at);
// The nearest point of a triangle, sought from its middle; and from the nearest of its corners and its
// middle, so that on a flat face a corner is found at once.
orr_soft_nearest orr_soft_nearest_find(const orr_model *model, int geom, const double (*corners)[3],
                                       double longest);
orr_soft_nearest orr_soft_nearest_from_corners(const orr_model *model, int geom, const double (*corners)[3],
                                               double longest);
