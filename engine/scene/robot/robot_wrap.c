#include "engine/scene/robot/robot_wrap.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"

#include <math.h>
#include <string.h>

static const float two_pi = 6.28318530718f;

// The coordinates of a point of a side with this normal: of the picture's middle at the side's, upright.
static void lay_side(const orr_mesh *mesh, const float normal[3], const float p[3], float uv[2])
{
    const int axis = fabsf(normal[2]) > 0.7f ? 2 : fabsf(normal[0]) > 0.7f ? 0 : 1;
    const int wide = axis == 0 ? 1 : 0, high = axis == 2 ? 1 : 2;
    const bool turned = normal[axis] < 0.0f;
    // to the right of who looks at it: +y on +x, -x on +y, +x on +z; on the other sides the reverse, but +x
    // on -z, whose up is -y
    const float right = axis == 2 ? 1.0f : (axis == 0) != turned ? 1.0f : -1.0f;
    const float up = axis == 2 && turned ? -1.0f : 1.0f;
    uv[0] = 0.5f + right * p[wide] / fmaxf(mesh->high[wide] - mesh->low[wide], 1e-9f);
    uv[1] = 0.5f - up * p[high] / fmaxf(mesh->high[high] - mesh->low[high], 1e-9f);
}

static bool is_pole(const orr_mesh *mesh, const float p[3])
{
    return fabsf(p[0]) + fabsf(p[1]) <= 1e-5f * (mesh->high[0] - mesh->low[0]);
}

// The corners of a triangle, all on one side of the seam; a pole is between the other two.
static void lay_around(const orr_mesh *mesh, orr_mesh_vertex corners[3])
{
    float sum = 0.0f, first = 0.0f;
    int count = 0;
    for (int i = 0; i < 3; i++) {
        const float *p = corners[i].position;
        corners[i].uv[1] = (mesh->high[2] - p[2]) / fmaxf(mesh->high[2] - mesh->low[2], 1e-9f);
        if (!is_pole(mesh, p)) {
            float u = 0.5f + atan2f(p[1], p[0]) / two_pi;
            first = count == 0 ? u : first;
            corners[i].uv[0] = u - roundf(u - first);
            sum += corners[i].uv[0];
            count++;
        }
    }
    for (int i = 0; i < 3; i++) {
        corners[i].uv[0] =
            is_pole(mesh, corners[i].position) ? sum / (float)(count > 0 ? count : 1) : corners[i].uv[0];
    }
}

orr_result orr_robot_wrap(orr_mesh *mesh, bool box, bool flat_caps, orr_error *error)
{
    orr_mesh_vertex *vertices;
    ORR_ALLOC(vertices, mesh->index_count, "texture coordinates", error);
    for (int64_t i = 0; i < mesh->index_count; i += 3) {
        orr_mesh_vertex *corners = vertices + i;
        for (int k = 0; k < 3; k++) {
            corners[k] = mesh->vertices[mesh->indices[i + k]];
            mesh->indices[i + k] = (uint32_t)(i + k);
        }
        const bool cap = flat_caps && fabsf(corners[0].normal[2]) > 0.99f;
        for (int k = 0; k < 3 && (box || cap); k++) {
            lay_side(mesh, corners[k].normal, corners[k].position, corners[k].uv);
        }
        if (!box && !cap) {
            lay_around(mesh, corners);
        }
    }
    orr_free(mesh->vertices);
    mesh->vertices = vertices;
    mesh->vertex_count = mesh->index_count;
    return ORR_OK;
}
