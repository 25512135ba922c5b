// What the files share that make the shape of a <flexcomp>: points and elements in MuJoCo's order.
#pragma once

#include "physics/mjcf/mjcf.h"

enum { MJCF_SHAPE_POINTS_MAX = 1 << 20 };

typedef struct mjcf_shaping {
    mjcf_reader *reader;
    const mjcf_node *node;
    mjcf_flexcomp *f;
    int32_t *number; // of points on the sides of a box; -1: none yet
} mjcf_shaping;

// Memory for that many, of which there are none yet.
orr_result mjcf_shape_take(const mjcf_shaping *s, int points, int elements);
void mjcf_shape_point(spec_flex *flex, double x, double y, double z);
// a, b, c, d: the fourth of a tetrahedron is not used by triangles.
void mjcf_shape_element(spec_flex *flex, int a, int b, int c, int d);
// Fails where the dim is not from low to high.
orr_result mjcf_shape_dim(const mjcf_shaping *s, int low, int high);

orr_result mjcf_shape_of_mesh(const mjcf_shaping *s);
orr_result mjcf_shape_of_gmsh(const mjcf_shaping *s);
orr_result mjcf_shape_of_direct(const mjcf_shaping *s);
