// A cloud cut by a plane as large as the picture, whose depth and colour are known in closed form: splats
// before the plane cover it, and it covers those behind. Every device that draws meshes together with splats
// is tested with it.
#pragma once

#include "tests/support/drawn.h"
#include "tests/support/scenes/small_mesh.h"

typedef struct cut_cloud {
    orr_draw_list list;
    orr_draw_splats layer;
    orr_draw_mesh plane;
    orr_splats *splats;
    orr_splat_pack *pack;
    small_mesh mesh;
    orr_mesh_vertex vertices[4];
    uint32_t indices[6];
    drawn expected; // by brute force in double precision
} cut_cloud;

void cut_cloud_make(cut_cloud *c, orr_jobs *jobs, bool orthographic);
// Fails when a picture differs from the expected one by more than rounding explains.
void cut_cloud_check(const cut_cloud *c, const drawn *d);
void cut_cloud_free(cut_cloud *c);
