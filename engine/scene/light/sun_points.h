// The splats of a scene, and points of its radiance fields, by which its sun is estimated, in clusters of one
// material.
#pragma once

#include "engine/scene/scene.h"

typedef struct orr_sun_point {
    float position[3], normal[3]; // scene
    float radius;                 // of its shadow
    float brightness;             // logarithm
    float colour[3];              // linear
    bool flat;                    // has a normal, and belongs to a cluster
    int cluster;
    uint64_t key; // of the cluster
} orr_sun_point;

typedef struct orr_sun_points {
    const orr_scene *scene;
    orr_sun_point *points; // count
    int capacity;
    int64_t count, clusters;
    double variance; // sum of squares of brightness within clusters
    float low[3], high[3];
    double centre[3], reach; // of a ball around all points
} orr_sun_points;

// ORR_ERROR_ARGUMENT: the scene has neither a cloud nor a radiance field. On failure too: free with
// orr_sun_points_free.
orr_result orr_sun_points_gather(const orr_scene *scene, orr_sun_points *points, orr_error *error);
void orr_sun_points_free(orr_sun_points *points);
// Of a value for each point, within clusters: the sum of squares without each cluster's mean; `means` is
// scratch of two numbers for each cluster.
double orr_sun_points_squares(const orr_sun_points *points, const float *values, double *means);
// Adds those of the surface of a radiance field where it stands in the scene, about as many as its surface
// has cells of a 96th of the longest side of its bounds; none where nothing in it is opaque.
orr_result orr_sun_points_add_field(orr_sun_points *points, const orr_layer_data *layer, orr_error *error);
// Fills in colour and brightness; what is too dark belongs to no cluster.
void orr_sun_point_colour(orr_sun_point *point, const float display[3]);
