// The parts of the Collada reader.
#pragma once

#include "engine/mesh/mesh_dae_tree.h"

typedef struct orr_dae_array { // of an element <float_array>
    float *values;
    int count;
} orr_dae_array;

typedef struct orr_dae {
    orr_mesh_reader *reader;
    orr_dae_tree tree;
    orr_dae_array *arrays; // of each node; values NULL: not read
    int *materials;        // of each node that is an <effect>: index into the mesh's; -1: not read
    uint32_t *corners;     // of a polygon
    int corner_room;
} orr_dae;

// "FILE: line N: <ELEMENT>: expected ..."
orr_result orr_dae_fail(orr_dae *d, int node, const char *expected);
// Fails when the file has made the reader go too long a way, for its size.
orr_result orr_dae_check_steps(orr_dae *d, int node);
// A geometry, placed by an instance, which also names its materials.
orr_result orr_dae_add_geometry(orr_dae *d, int geometry, int instance, const float pose[12]);
// The material that an instance gives to a symbol; -1: none.
orr_result orr_dae_material(orr_dae *d, int instance, const char *symbol, int *material);
