#include "assets/rays.h"

#include "engine/core/memory.h"

// The walk of this folder's own instruction set (CMakeLists.txt), so that a shape has the same bits on every
// machine, and where the library has no walk for all of them.
extern const orr_triangle_walk orr_triangle_walk_asset;

// The corners of all triangles but those of a material, and their numbers in the shape. Returns their count.
static int gather(const shape_mesh *s, int skip, float *corners, int *order)
{
    int count = 0;
    for (int i = 0; i < s->count; i++) {
        const shape_triangle *t = &s->triangles[i];
        if (t->material == skip) {
            continue;
        }
        for (int k = 0; k < 3; k++) {
            float *corner = &corners[9 * count + 3 * k];
            corner[0] = t->position[k].x;
            corner[1] = t->position[k].y;
            corner[2] = t->position[k].z;
        }
        order[count++] = i;
    }
    return count;
}

orr_result rays_build(const shape_mesh *s, int skip, ray_tree *tree, orr_error *error)
{
    const size_t most = (size_t)s->count;
    *tree = (ray_tree){.shape = s};
    tree->order = orr_alloc(most, sizeof *tree->order);
    float *corners = orr_alloc(most, 9 * sizeof *corners);
    uint8_t *flags = orr_alloc_zero(most, sizeof *flags);
    orr_result result;
    if (tree->order && corners && flags) {
        const int count = gather(s, skip, corners, tree->order);
        result = orr_triangle_tree_build(corners, flags, count, &tree->triangles, error);
    } else {
        result = orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the ray tree");
    }
    orr_free(flags);
    orr_free(corners);
    return result;
}

void rays_destroy(ray_tree *tree)
{
    orr_triangle_tree_free(&tree->triangles);
    orr_free(tree->order);
    *tree = (ray_tree){0};
}

static orr_ray ray_of(real3 origin, real3 direction, float reach)
{
    return (orr_ray){.origin = {origin.x, origin.y, origin.z},
                     .direction = {direction.x, direction.y, direction.z},
                     .far_end = reach};
}

ray_hit rays_trace(const ray_tree *tree, real3 origin, real3 direction, float reach)
{
    const orr_ray ray = ray_of(origin, direction, reach);
    orr_ray_hit hit;
    if (!orr_triangle_walk_asset.nearest(&tree->triangles, &ray, false, NULL, &hit)) {
        return (ray_hit){.distance = reach, .triangle = -1};
    }
    return (ray_hit){hit.distance, tree->order[hit.triangle], hit.b, hit.c};
}

bool rays_clear(const ray_tree *tree, real3 origin, real3 direction, float reach)
{
    const orr_ray ray = ray_of(origin, direction, reach);
    return !orr_triangle_walk_asset.any(&tree->triangles, &ray, NULL);
}
