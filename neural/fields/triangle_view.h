// Triangles as arrays that belong to somebody else.
#pragma once

#include <stddef.h>
#include <stdint.h>

// Vertex v has its position and unit normal at [v x stride].
typedef struct orr_triangle_view {
    const float *positions, *normals; // 3 floats each
    size_t stride;                    // floats from one vertex to the next
    int64_t vertex_count;
    const uint32_t *indices; // three per triangle
    int64_t index_count;
    float low[3], high[3]; // bounds
} orr_triangle_view;
