// Scenes of a few meshes, path-traced. The camera is at the origin and looks along +z.
#pragma once

#include "render/reference/path_tracer.h"
#include "tests/support/scenes/small_mesh.h"

static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

#define assert_close(value, expected, tolerance)                                                             \
    do {                                                                                                     \
        double close_value = (value), close_expected = (expected);                                           \
        if (!(fabs(close_value - close_expected) <= (tolerance))) {                                          \
            fail_msg("%s is %.6g, expected %.6g", #value, close_value, close_expected);                      \
        }                                                                                                    \
    } while (0)

enum { SIDE = 24, MESHES = 7, VERTICES = 2000, INDICES = 7000 };

typedef struct stage {
    orr_jobs *jobs;
    small_mesh meshes[MESHES];
    orr_mesh_vertex *vertices;
    uint32_t *indices;
    int mesh_count;
    orr_draw_mesh drawn[MESHES];
    orr_draw_list list;
    float rgba[SIDE * SIDE * 4], depth[SIDE * SIDE];
    orr_path_statistics statistics;
} stage;

// focal [px]: a picture of SIDE x SIDE
stage *open_stage(float focal, int threads);
void close_stage(stage *s);
orr_mesh_vertex vertex(const float p[3], const float n[3]);
orr_mesh_material *add_mesh(stage *s, int vertex_count, int index_count);
// Corners counter-clockwise seen from the side of the normal.
orr_mesh_material *add_quad(stage *s, float corners[4][3]);
// Across the view at a depth, facing the camera.
orr_mesh_material *add_wall(stage *s, float half, float depth);
// flat: without normals; facets then keep all light, which interpolated normals do not.
orr_mesh_material *add_sphere(stage *s, const float centre[3], float radius, bool flat);
void trace(stage *s, int samples, uint32_t seed);
void set_ambient(stage *s, float radiance);
// The mean of a channel over the pixels, less `border` at each side.
double mean_of(const stage *s, int channel, int border);
