// The signed distance from a mesh: that of its nearest triangle, with the sign of the side on which the point
// is by the normal of the nearest face, edge or vertex; those of vertices are weighted by angles (Baerentzen
// and Aanaes, "Signed distance computation using the angle weighted pseudonormal", 2005). Corners at the same
// place are one vertex. The mesh should be closed.
#pragma once

#include "engine/core/result.h"
#include "physics/model/compile.h"

typedef struct triangle_normals {
    const double *vertices; // x 3
    const int32_t *faces;   // x 3
    double *normal; // of each face: its own, of its edges from corner k to k + 1, of its corners: x 7 x 3
} triangle_normals;

// Refers to the exact vertices and the triangles of `mesh`. normals_free frees it, also when this fails.
orr_result normals_build(const mesh_data *mesh, triangle_normals *normals, orr_error *error);
void normals_free(triangle_normals *normals);

// The point of a mesh that is nearest to another, as far as triangles have been looked at.
typedef struct nearest_triangle {
    int face; // -1: none
    double square, weight[3];
} nearest_triangle;

// Becomes the nearest point of the triangle if that is nearer.
void nearest_of_face(const triangle_normals *normals, int face, const double p[3], nearest_triangle *nearest);
// The distance of p [m], negative inside. A face must have been found.
double nearest_signed(const triangle_normals *normals, const double p[3], const nearest_triangle *nearest);
