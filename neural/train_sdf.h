// Training a signed distance field from a mesh.
#pragma once

#include "neural/mesh_distance.h"
#include "neural/trainer.h"
#include "render/mesh.h"

// A mesh in the unit cube, its longest side 0.9 of it: world = origin + size x place.
typedef struct orr_sdf_shape {
    orr_mesh_distance *mesh;
    float origin[3], size;
    double *area_below; // per triangle, of it and those before it
    uint32_t seed;
} orr_sdf_shape;

// Reads what orr_mesh_load reads.
orr_result orr_sdf_shape_load(const char *path, uint32_t seed, orr_sdf_shape *shape, orr_error *error);
orr_result orr_sdf_shape_create(const orr_mesh *mesh, const char *name, uint32_t seed, orr_sdf_shape *shape,
                                orr_error *error);
void orr_sdf_shape_free(orr_sdf_shape *shape);

// Half of the places are on the surface or very near, some at two greater distances, an eighth anywhere. `shape` is
// borrowed.
orr_sample_source orr_sdf_source(orr_sdf_shape *shape);

// The configuration that learns a shape fastest on a few cores: instant-ngp's base with wider entries in fewer levels that
// end at 128 vertices a side (finer ones learn noise before they learn the shape: normals are off by 27 degrees where
// these are off by 8 after as many steps), and a learning rate that begins higher and falls early.
orr_result orr_sdf_train_config(orr_field_config *config, orr_error *error);

// How well a field knows the shape.
typedef struct orr_sdf_quality {
    double iou;            // volume inside both / inside either, by points in the shape's box
    double normal_degrees; // mean angle between the field's gradient and the triangle, over the surface
    double surface_error;  // mean |field| on the surface [sides of the unit cube]
} orr_sdf_quality;
// points: of each kind; more are slower and surer (IoU to about 1 / sqrt(points)). Same bits for any number of threads.
orr_result orr_sdf_evaluate(const orr_field *field, const orr_sdf_shape *shape, orr_jobs *jobs, int points,
                            orr_sdf_quality *quality, orr_error *error);
