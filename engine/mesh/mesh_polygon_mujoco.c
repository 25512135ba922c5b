// Polygons to triangles as MuJoCo's reader of .obj files does it (tinyobjloader 2.0, the facts of which these
// are). The inertia of a mesh follows from its triangles.
#include "engine/mesh/mesh_reader.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { CLIPPED_MAX = 256 }; // corners, as in mesh_polygon.c

typedef struct polygon {
    const orr_mesh_file *mesh;
    uint32_t left[CLIPPED_MAX]; // corners that are not cut off yet
    int count;
    int axis[2]; // the plane in which ears are looked for
} polygon;

static const float *corner(const polygon *p, int i)
{
    return p->mesh->vertices[p->left[i % p->count]].position;
}

// The plane that the first corner faces most that is no straight line.
static void find_plane(polygon *p)
{
    p->axis[0] = 1;
    p->axis[1] = 2;
    for (int i = 0; i < p->count; i++) {
        const float *a = corner(p, i), *b = corner(p, i + 1), *c = corner(p, i + 2);
        float normal[3];
        for (int k = 0; k < 3; k++) {
            int u = (k + 1) % 3, v = (k + 2) % 3;
            normal[k] = fabsf((b[u] - a[u]) * (c[v] - b[v]) - (b[v] - a[v]) * (c[u] - b[u]));
        }
        if (normal[0] > FLT_EPSILON || normal[1] > FLT_EPSILON || normal[2] > FLT_EPSILON) {
            if (!(normal[0] > normal[1] && normal[0] > normal[2])) {
                p->axis[0] = 0;
                p->axis[1] = normal[2] > normal[0] && normal[2] > normal[1] ? 1 : 2;
            }
            return;
        }
    }
}

// Does a ray from a point leave the triangle as often as it enters it?
static bool is_outside(const float x[3], const float y[3], float at_x, float at_y)
{
    bool outside = true;
    for (int i = 0, j = 2; i < 3; j = i++) {
        if ((y[i] > at_y) != (y[j] > at_y) && at_x < (x[j] - x[i]) * (at_y - y[i]) / (y[j] - y[i]) + x[i]) {
            outside = !outside;
        }
    }
    return outside;
}

// May the corner behind `first` be cut off? It must turn like the triangle of the first edge and the origin,
// which is MuJoCo's flaw: it should be like the whole polygon. No other corner may be in its triangle.
static bool is_ear(const polygon *p, int first)
{
    float x[3], y[3];
    for (int k = 0; k < 3; k++) {
        x[k] = corner(p, first + k)[p->axis[0]];
        y[k] = corner(p, first + k)[p->axis[1]];
    }
    float turn = (x[1] - x[0]) * (y[2] - y[1]) - (y[1] - y[0]) * (x[2] - x[1]);
    float area = (x[0] * y[1] - y[0] * x[1]) * 0.5f;
    bool ear = !(turn * area < 0.0f);
    for (int k = 3; k < p->count && ear; k++) {
        const float *other = corner(p, first + k);
        ear = is_outside(x, y, other[p->axis[0]], other[p->axis[1]]);
    }
    return ear;
}

static orr_result add_ears(orr_mesh_reader *reader, polygon *p)
{
    int first = 0, tries = p->count;
    while (p->count > 3 && tries > 0) {
        first %= p->count;
        tries--;
        if (!is_ear(p, first)) {
            first++;
            continue;
        }
        int cut = (first + 1) % p->count;
        ORR_TRY(orr_mesh_add_triangle(reader, p->left[first], p->left[cut], p->left[(first + 2) % p->count]));
        memmove(p->left + cut, p->left + cut + 1, (size_t)(p->count - cut - 1) * sizeof *p->left);
        p->count--;
        tries = p->count + 1;
    }
    // of a polygon without an ear the rest is left out
    return p->count == 3 ? orr_mesh_add_triangle(reader, p->left[0], p->left[1], p->left[2]) : ORR_OK;
}

orr_result orr_mesh_add_polygon_mujoco(orr_mesh_reader *reader, const uint32_t *corners, int count)
{
    if (count == 4) {
        int a = orr_mesh_shorter_diagonal(reader->mesh, corners);
        ORR_TRY(orr_mesh_add_triangle(reader, corners[a], corners[a + 1], corners[a + 2]));
        return orr_mesh_add_triangle(reader, corners[a], corners[a + 2], corners[(a + 3) % 4]);
    }
    if (count < 5 || count > CLIPPED_MAX) {
        return orr_mesh_add_polygon(reader, corners, count);
    }
    polygon p = {.mesh = reader->mesh, .count = count};
    memcpy(p.left, corners, (size_t)count * sizeof *corners);
    find_plane(&p);
    return add_ears(reader, &p);
}
