// Training a signed distance field from a mesh.
#pragma once

#include "neural/fields/field.h"
#include "neural/fields/mesh_distance.h"
#include "neural/fields/triangle_view.h"
#include "neural/training/sample_source.h"

// A mesh in the unit cube, its longest side 0.9 of it: world = origin + size x position.
typedef struct orr_sdf_shape {
    orr_mesh_distance *mesh;
    float origin[3], size;
    int64_t triangle_count;
    // per triangle, positions in the unit cube and the mesh's normals there; a mesh turned inside out is
    // turned back
    float (*corners)[9], (*normals)[9];
    double *area_below; // per triangle, of it and those before it
    int64_t open_edges; // that no triangle has in the opposite direction; 0: the mesh is closed
    uint32_t seed;
} orr_sdf_shape;

// `name` is for messages. The shape keeps nothing of the mesh.
orr_result orr_sdf_shape_create(const orr_triangle_view *mesh, const char *name, uint32_t seed,
                                orr_jobs *jobs, orr_sdf_shape *shape, orr_error *error);
void orr_sdf_shape_free(orr_sdf_shape *shape);

// Pairs of positions close together: three quarters of them very near the surface, an eighth further off, an
// eighth anywhere. `shape` is borrowed.
orr_sample_source orr_sdf_source(orr_sdf_shape *shape);

// The configuration that learns a shape fastest on a few cores: instant-ngp's base with wider entries in
// fewer levels that end at 256 vertices a side, and a learning rate that begins higher and has fallen when a
// minute on two cores is over.
orr_result orr_sdf_training_config(orr_field_config *config, orr_error *error);

// How well a field knows the shape.
typedef struct orr_sdf_quality {
    double iou; // volume inside both / inside either, by points in the shape's box
    // mean angle, over the surface, between the field's gradient (the derivative itself, not differences) and
    // the normal of the triangle there, which is the gradient of the distance that was learnt
    double normal_degrees;
    // the same with the mesh's vertex normals, interpolated. A perfect field keeps the angle between the two
    // kinds of normals: 5.8 degrees for the Armadillo of 100 000 triangles.
    double smooth_normal_degrees;
    double surface_error; // mean |field| on the surface [sides of the unit cube]
} orr_sdf_quality;
// points: of each kind; more are slower and surer (IoU to about 1 / sqrt(points)). Same bits for any number
// of threads.
orr_result orr_sdf_evaluate(const orr_field *field, const orr_sdf_shape *shape, orr_jobs *jobs, int points,
                            orr_sdf_quality *quality, orr_error *error);
