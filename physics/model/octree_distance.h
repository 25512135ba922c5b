// The distance from a mesh by an octree, as MuJoCo's type sdf has it: a leaf has the distances of its eight
// corners, between which they are trilinear. The tree is made by model/mesh/mesh_octree.c.
//
// In double, for one point: the routines of one lane (lanes/collision) and soft bodies use it.
#pragma once

#include "physics/model/distance_function.h"

// The octree of one mesh, in the mesh's frame.
#define OCTREE_INSET 1e-6 // m inside of the root is the place that stands for one outside, as in MuJoCo

typedef struct octree_view {
    const int32_t *child;      // of a node the first of eight, which follow each other; -1: a leaf
    const uniform_real *coeff; // m, 8 per node; bits of a corner's index: is it at the far side of x, y, z?
    double centre[3], half[3]; // m, of the box of the root
} octree_view;

// The leaf of a place u in the root, 0 to 1 along each side. u becomes the place in the leaf; size: its share
// of the root.
FN int octree_leaf(const octree_view *t, double u[3], double *size)
{
    int node = 0;
    for (*size = 1.0; t->child[node] >= 0; *size *= 0.5) {
        int corner = 0;
        for (int k = 0; k < 3; k++) {
            int far = u[k] >= 0.5;
            u[k] = 2.0 * u[k] - far;
            corner |= far << k;
        }
        node = t->child[node] + corner;
    }
    return node;
}

// Outside of the root: the distance from it, and that at the nearest point of it.
FN distance_at octree_distance(const octree_view *t, const double p[3])
{
    double u[3], out[3], slope[3] = {0.0, 0.0, 0.0}, square = 0.0, distance = 0.0, size;
    for (int k = 0; k < 3; k++) {
        double from = p[k] - t->centre[k], over = fabs(from) - t->half[k];
        out[k] = over > 0.0 ? (from < 0.0 ? -over : over) : 0.0;
        square += out[k] * out[k];
        double inside = over > 0.0 ? t->half[k] - OCTREE_INSET : fabs(from);
        u[k] = 0.5 + 0.5 * (from < 0.0 ? -inside : inside) / t->half[k];
    }
    int leaf = octree_leaf(t, u, &size);
    for (int corner = 0; corner < 8; corner++) {
        double weight[3], sign[3], value = (double)t->coeff[8 * leaf + corner];
        for (int k = 0; k < 3; k++) {
            int far = corner >> k & 1;
            weight[k] = far ? u[k] : 1.0 - u[k];
            sign[k] = far ? 1.0 : -1.0;
        }
        distance += weight[0] * weight[1] * weight[2] * value;
        slope[0] += sign[0] * weight[1] * weight[2] * value;
        slope[1] += weight[0] * sign[1] * weight[2] * value;
        slope[2] += weight[0] * weight[1] * sign[2] * value;
    }
    double length = sqrt(square);
    for (int k = 0; k < 3; k++) {
        slope[k] = out[k] != 0.0 ? out[k] / length : slope[k] / (2.0 * t->half[k] * size);
    }
    return make_distance(distance + length, slope[0], slope[1], slope[2]);
}
