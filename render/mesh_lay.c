#include "render/mesh_lay.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"

#include <math.h>
#include <string.h>

bool orr_mesh_has_coordinates(const orr_mesh *mesh)
{
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        if (mesh->vertices[i].uv[0] != 0.0f || mesh->vertices[i].uv[1] != 0.0f) {
            return true;
        }
    }
    return false;
}

// Which way a triangle faces: 2 axis, 1 more against it.
static int side_of(const orr_mesh_vertex corners[3])
{
    float ab[3], ac[3], n[3];
    for (int k = 0; k < 3; k++) {
        ab[k] = corners[1].position[k] - corners[0].position[k];
        ac[k] = corners[2].position[k] - corners[0].position[k];
    }
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        n[k] = ab[i] * ac[j] - ab[j] * ac[i];
    }
    const float x = fabsf(n[0]), y = fabsf(n[1]), z = fabsf(n[2]);
    const int axis = z >= x && z >= y ? 2 : x >= y ? 0 : 1;
    return 2 * axis + (n[axis] < 0.0f);
}

static void lay(orr_mesh_vertex *vertex, int side, const float centre[3], const float period[3])
{
    // the axis to the right, which is turned round on every other side, and the axis upwards
    static const int right[3] = {1, 0, 0}, up[3] = {2, 2, 1};
    const int axis = side / 2, r = right[axis], u = up[axis];
    const bool turned = (side % 2 == 1) != (axis == 1);
    const float across = (vertex->position[r] - centre[r]) / period[r];
    vertex->uv[0] = (turned ? -across : across) + 0.5f;
    vertex->uv[1] = (centre[u] - vertex->position[u]) / period[u] + 0.5f;
}

orr_result orr_mesh_lay(const orr_mesh *mesh, const float centre[3], const float period[3], orr_mesh **out,
                        orr_error *error)
{
    *out = NULL;
    if (mesh->index_count > ORR_MESH_VERTEX_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "a texture on %lld triangles: expected at most %d",
                        (long long)(mesh->index_count / 3), ORR_MESH_VERTEX_MAX / 3);
    }
    orr_mesh *laid = orr_alloc_zero(1, sizeof *laid);
    const size_t count = (size_t)mesh->index_count;
    if (laid) {
        laid->vertices = orr_alloc(count, sizeof *laid->vertices);
        laid->indices = orr_alloc(count, sizeof *laid->indices);
    }
    if (!laid || !laid->vertices || !laid->indices) {
        orr_mesh_destroy(laid);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %zu corners under a texture", count);
    }
    laid->vertex_count = laid->index_count = mesh->index_count;
    for (size_t i = 0; i < count; i += 3) {
        orr_mesh_vertex *corners = laid->vertices + i;
        for (size_t k = 0; k < 3; k++) {
            corners[k] = mesh->vertices[mesh->indices[i + k]];
            laid->indices[i + k] = (uint32_t)(i + k);
        }
        const int side = side_of(corners);
        for (int k = 0; k < 3; k++) {
            lay(&corners[k], side, centre, period);
        }
    }
    *out = laid;
    return ORR_OK;
}
