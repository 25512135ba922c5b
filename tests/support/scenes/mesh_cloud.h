// Splat clouds of meshes: flat discs at random points of the triangles. For tests that know the geometry.
#pragma once

#include "engine/core/jobs.h"
#include "engine/mesh/mesh_file.h"
#include "render/splat/splat_cloud.h"

typedef struct mesh_cloud_desc {
    int64_t count;
    float flatness; // thickness over size of a disc; 1: balls
    float noise;    // standard deviation of positions along the normal, in sizes of a disc
    int floaters;   // single splats in a box three times as large
    uint64_t seed;
} mesh_cloud_desc;

// Fails the test where it cannot be made.
orr_splat_pack *mesh_cloud(const float *positions, const uint32_t *indices, int64_t triangle_count,
                           const mesh_cloud_desc *desc, orr_jobs *jobs);
