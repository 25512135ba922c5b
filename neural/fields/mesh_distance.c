#include "neural/fields/mesh_distance.h"

#include "neural/fields/mesh_tree.h"

#include <math.h>
#include <string.h>

static const float SLACK = 1.0f + 1e-5f; // of squares: a bound is rounded too

// `bound` as for orr_mesh_distance_to. `leaf`: the leaf with the nearest triangle, or one that may have it,
// or -1.
static float find_nearest(const orr_mesh_distance *m, const float point[3], float bound, int32_t *leaf)
{
    return sqrtf(m->find_nearest(&m->nearest, point, bound * bound * SLACK + 1e-12f, leaf));
}

float orr_mesh_distance_to(const orr_mesh_distance *m, const float point[3], float bound)
{
    int32_t leaf = -1;
    return find_nearest(m, point, bound, &leaf);
}

void orr_mesh_distance_signed(const orr_mesh_distance *mesh, const float *points, int count, float *distances)
{
    float before[3], bound = INFINITY;
    int32_t leaf = -1;
    for (int i = 0; i < count; i++) {
        const float point[3] = {points[i], points[count + i], points[2 * count + i]};
        bound = distances[i] =
            find_nearest(mesh, point, i > 0 ? bound + orr_tree_step(before, point) : INFINITY, &leaf);
        memcpy(before, point, sizeof before);
    }
    orr_tree_signs(mesh, points, count, distances);
}
