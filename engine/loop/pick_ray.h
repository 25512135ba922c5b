// The ray of a point of a picture, and where it meets the triangles of a mesh, in double.
#pragma once

#include "engine/maths/camera.h"
#include "render/mesh.h"

typedef struct orr_pick_ray {
    double origin[3], direction[3]; // scene; direction: unit
    double depth;                   // along the camera's axis, per distance
} orr_pick_ray;

// pose: of the lens's camera. (x, y) [px]: the centre of the first pixel is (0.5, 0.5).
orr_pick_ray orr_pick_ray_through(const orr_lens *lens, const float pose[12], float x, float y);
void orr_pick_ray_point(const orr_pick_ray *ray, double depth, float point[3]);
// The first triangle that the ray meets from near_depth on and before *depth, which becomes that of the hit;
// -1: none. Backs of materials that are not two-sided are left out, as when drawing; holes of textures are
// not. model: of the mesh, to the scene.
int64_t orr_pick_ray_mesh(const orr_pick_ray *ray, const orr_mesh *mesh, const float model[12],
                          double near_depth, double *depth);
