// Meshes of Gmsh (.msh, formats 4.1 and 2.2 of its reference manual, text and binary) that are made of
// triangles or of tetrahedra: what a <flexcomp> of MJCF reads. MuJoCo's own .msh is another format.
#pragma once

#include "engine/core/file.h"

typedef struct orr_gmsh {
    int dim;          // 2: triangles; 3: tetrahedra
    int points;       // 1 or more
    int elements;     // 1 or more
    double *point;    // points x 3, finite, in the units of the file
    int32_t *element; // elements x (dim + 1): points, turned as in the file
} orr_gmsh;

// Points in the order of the file, with those that no element has. `name` is what messages say; one zero byte
// follows the last of `bytes`, as in what orr_file_read gives.
// Format 4.1 may have one block of nodes and one of elements, and both formats may have elements of one kind
// alone: a mesh that Gmsh saves with the edges and corners of its geometry does not say which are meant.
// Fails with ORR_ERROR_FORMAT on these, and on what is damaged, with the line or the byte; the mesh is then
// empty. Free with orr_gmsh_free.
orr_result orr_gmsh_read(const char *name, const orr_bytes *bytes, orr_gmsh *mesh, orr_error *error);
void orr_gmsh_free(orr_gmsh *mesh);
