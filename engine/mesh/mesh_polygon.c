// Polygons become triangles.
#include "engine/mesh/mesh_reader.h"

#include <math.h>
#include <string.h>

enum { CLIPPED_MAX = 256 }; // corners; cutting ears takes a time that grows with the square

typedef struct polygon {
    const uint32_t *corners;
    int count;
    double at[CLIPPED_MAX][2]; // in the plane that the polygon faces most
    double turn;               // sign of its winding there
} polygon;

// Onto the two axes across the largest component of the area vector (Newell's method).
static void project(const orr_mesh_file *mesh, polygon *p)
{
    double normal[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < p->count; i++) {
        const float *a = mesh->vertices[p->corners[i]].position;
        const float *b = mesh->vertices[p->corners[(i + 1) % p->count]].position;
        for (int k = 0; k < 3; k++) {
            int u = (k + 1) % 3, v = (k + 2) % 3;
            normal[k] += ((double)a[u] - (double)b[u]) * ((double)a[v] + (double)b[v]);
        }
    }
    int axis = 0;
    for (int k = 1; k < 3; k++) {
        axis = fabs(normal[k]) > fabs(normal[axis]) ? k : axis;
    }
    p->turn = normal[axis] < 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < p->count; i++) {
        const float *a = mesh->vertices[p->corners[i]].position;
        p->at[i][0] = (double)a[(axis + 1) % 3];
        p->at[i][1] = (double)a[(axis + 2) % 3];
    }
}

// Twice the area of three corners, positive where they turn as the polygon does.
static double area(const polygon *p, int a, int b, int c)
{
    const double *o = p->at[a], *u = p->at[b], *v = p->at[c];
    return p->turn * ((u[0] - o[0]) * (v[1] - o[1]) - (v[0] - o[0]) * (u[1] - o[1]));
}

static bool is_ear(const polygon *p, const int *left, int count, int i)
{
    int a = left[(i + count - 1) % count], b = left[i], c = left[(i + 1) % count];
    if (!(area(p, a, b, c) > 0.0)) {
        return false;
    }
    for (int k = 0; k < count; k++) {
        int d = left[k];
        if (d == a || d == b || d == c) {
            continue;
        }
        if (area(p, a, b, d) >= 0.0 && area(p, b, c, d) >= 0.0 && area(p, c, a, d) >= 0.0) {
            return false;
        }
    }
    return true;
}

static bool is_fan(const polygon *p, int first)
{
    bool good = true;
    for (int i = 1; i + 1 < p->count && good; i++) {
        good = area(p, first, (first + i) % p->count, (first + i + 1) % p->count) >= 0.0;
    }
    return good;
}

static float squared_distance(const orr_mesh_file *mesh, uint32_t a, uint32_t b)
{
    const float *p = mesh->vertices[a].position, *q = mesh->vertices[b].position;
    const float x = q[0] - p[0], y = q[1] - p[1], z = q[2] - p[2];
    return x * x + y * y + z * z;
}

int orr_mesh_shorter_diagonal(const orr_mesh_file *mesh, const uint32_t *corners)
{
    return squared_distance(mesh, corners[0], corners[2]) < squared_distance(mesh, corners[1], corners[3])
               ? 0
               : 1;
}

// The corner from which all triangles of a fan turn as the polygon does: of a quad an end of the shorter
// diagonal, then of the other, of others the first; -1: none.
static int fan_start(const orr_mesh_file *mesh, const polygon *p)
{
    if (p->count != 4) {
        return is_fan(p, 0) ? 0 : -1;
    }
    int start = orr_mesh_shorter_diagonal(mesh, p->corners);
    return is_fan(p, start) ? start : is_fan(p, 1 - start) ? 1 - start : -1;
}

static orr_result add_fan(orr_mesh_reader *reader, const uint32_t *corners, int count, int first)
{
    for (int i = 1; i + 1 < count; i++) {
        ORR_TRY(orr_mesh_add_triangle(reader, corners[first], corners[(first + i) % count],
                                      corners[(first + i + 1) % count]));
    }
    return ORR_OK;
}

orr_result orr_mesh_add_polygon(orr_mesh_reader *reader, const uint32_t *corners, int count)
{
    if (count <= 3) {
        return count == 3 ? orr_mesh_add_triangle(reader, corners[0], corners[1], corners[2]) : ORR_OK;
    }
    if (count > CLIPPED_MAX) {
        orr_mesh_note(reader, "hollows of polygons of more than 256 corners");
        return add_fan(reader, corners, count, 0);
    }
    polygon p;
    p.corners = corners;
    p.count = count;
    project(reader->mesh, &p);
    int first = fan_start(reader->mesh, &p);
    if (first >= 0) {
        return add_fan(reader, corners, count, first);
    }
    int left[CLIPPED_MAX];
    for (int i = 0; i < count; i++) {
        left[i] = i;
    }
    for (int start = 0; count > 3;) {
        int i = start, tried = 0;
        while (tried < count && !is_ear(&p, left, count, i)) {
            i = (i + 1) % count;
            tried++;
        }
        // without an ear it crosses itself: any corner will do
        ORR_TRY(orr_mesh_add_triangle(reader, corners[left[(i + count - 1) % count]], corners[left[i]],
                                      corners[left[(i + 1) % count]]));
        memmove(left + i, left + i + 1, (size_t)(--count - i) * sizeof *left);
        start = i % count;
    }
    return orr_mesh_add_triangle(reader, corners[left[0]], corners[left[1]], corners[left[2]]);
}
