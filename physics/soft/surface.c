// What of a soft body others can touch: the outer triangles of its tetrahedra, and its cloth.
#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "physics/soft/sides.h"

#include <stdlib.h>
#include <string.h>

typedef struct face { // of a tet; corners seen from outside against the clock
    int32_t corner[3], sorted[3], tet;
} face;

static int by_corners(const void *a, const void *b)
{
    return memcmp(((const face *)a)->sorted, ((const face *)b)->sorted, sizeof((const face *)a)->sorted);
}

static void sort3(int32_t v[3])
{
    for (int i = 0; i < 3; i++) {
        int k = i % 2;
        if (v[k] > v[k + 1]) {
            int32_t larger = v[k];
            v[k] = v[k + 1], v[k + 1] = larger;
        }
    }
}

static void list_faces(const orr_soft_model *m, face *faces)
{
    static const int corners[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    for (int i = 0; i < m->tets * 4; i++) {
        faces[i].tet = i / 4;
        for (int k = 0; k < 3; k++) {
            faces[i].corner[k] = faces[i].sorted[k] = m->tet[i / 4 * 4 + corners[i % 4][k]];
        }
        sort3(faces[i].sorted);
    }
}

// ---- edges that stick out

static int by_ends(const void *a, const void *b)
{
    const orr_soft_side *x = a, *y = b;
    const int32_t d[] = {x->low - y->low, x->high - y->high, x->triangle - y->triangle};
    const int32_t first = d[0] != 0 ? d[0] : d[1] != 0 ? d[1] : d[2];
    return (first > 0) - (first < 0);
}

void orr_soft_list_sides(const orr_soft_model *m, orr_soft_side *sides)
{
    for (int i = 0; i < m->surfaces * 3; i++) {
        const int32_t a = m->surface[i], b = m->surface[i / 3 * 3 + (i + 1) % 3];
        sides[i] = (orr_soft_side){a < b ? a : b, a < b ? b : a, i / 3};
    }
    qsort(sides, (size_t)m->surfaces * 3, sizeof *sides, by_ends);
}

void orr_soft_wall_normal(const orr_soft_model *m, const double *position, int triangle, double normal[3])
{
    const int32_t *corner = m->surface + (ptrdiff_t)triangle * 3;
    double e[2][3];
    for (int k = 0; k < 3; k++) {
        const double from = position[(ptrdiff_t)corner[0] * 3 + k];
        e[0][k] = position[(ptrdiff_t)corner[1] * 3 + k] - from;
        e[1][k] = position[(ptrdiff_t)corner[2] * 3 + k] - from;
    }
    vec3_cross(e[0], e[1], normal);
    vec3_normalise(normal);
}

// Two triangles of a solid bend outwards by more than 20 degrees.
static bool is_sharp(const orr_soft_model *m, const orr_soft_side *a, const orr_soft_side *b)
{
    static const double cosine = 0.94;
    double n[2][3], way[3] = {0.0, 0.0, 0.0}; // from the middle of the first to that of the second
    orr_soft_wall_normal(m, m->rest, a->triangle, n[0]);
    orr_soft_wall_normal(m, m->rest, b->triangle, n[1]);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            way[k] += m->rest[(ptrdiff_t)m->surface[b->triangle * 3 + i] * 3 + k] -
                      m->rest[(ptrdiff_t)m->surface[a->triangle * 3 + i] * 3 + k];
        }
    }
    return vec3_dot(n[0], n[1]) < cosine && vec3_dot(n[0], way) < 0.0;
}

static orr_result find_rims(orr_soft_model *m, orr_error *error)
{
    const char *what = "the surface of a soft body";
    const int count = m->surfaces * 3;
    orr_soft_side *sides;
    ORR_ALLOC(m->rim, (size_t)count * 4, what, error);
    ORR_ALLOC(sides, count, what, error);
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        const int32_t a = m->surface[i], b = m->surface[i / 3 * 3 + (i + 1) % 3];
        double d[3];
        for (int k = 0; k < 3; k++) {
            d[k] = m->rest[(ptrdiff_t)b * 3 + k] - m->rest[(ptrdiff_t)a * 3 + k];
        }
        sum += vec3_length(d);
    }
    m->spacing = count > 0 ? sum / count : 0.0;
    orr_soft_list_sides(m, sides);
    for (int i = 0, next; i < count; i = next) {
        next = orr_soft_next_edge(sides, count, i);
        const bool solid = sides[i].triangle < m->walls, shared = next == i + 2;
        if (solid ? shared && is_sharp(m, &sides[i], &sides[i + 1]) : next == i + 1) {
            const int32_t rim[4] = {sides[i].low, sides[i].high, sides[i].triangle,
                                    shared ? sides[i + 1].triangle : -1};
            memcpy(m->rim + (ptrdiff_t)m->rims++ * 4, rim, sizeof rim);
        }
    }
    orr_free(sides);
    return ORR_OK;
}

orr_result orr_soft_find_surface(orr_soft_model *m, orr_error *error)
{
    const char *what = "the surface of a soft body";
    const int count = m->tets * 4;
    face *faces;
    ORR_ALLOC(faces, count, what, error);
    list_faces(m, faces);
    qsort(faces, (size_t)count, sizeof *faces, by_corners);
    int outer = 0; // those of one tet
    for (int i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && by_corners(&faces[i], &faces[next]) == 0; next++) {
        }
        if (next == i + 1) {
            faces[outer++] = faces[i];
        }
    }
    m->walls = outer, m->surfaces = outer + m->triangles;
    m->surface = orr_alloc((size_t)m->surfaces * 3, sizeof *m->surface);
    m->surface_of = orr_alloc((size_t)m->surfaces, sizeof *m->surface_of);
    m->touchable = orr_alloc_zero((size_t)m->vertices, 1);
    for (int i = 0; i < outer && m->surface && m->surface_of; i++) {
        memcpy(m->surface + (size_t)i * 3, faces[i].corner, sizeof faces[i].corner);
        m->surface_of[i] = faces[i].tet;
    }
    orr_free(faces);
    if (!m->surface || !m->surface_of || !m->touchable) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", what);
    }
    for (int i = 0; i < m->triangles * 3; i++) {
        m->surface[outer * 3 + i] = m->triangle[i];
        m->surface_of[outer + i / 3] = i / 3;
    }
    for (int i = 0; i < m->surfaces * 3; i++) {
        m->touchable[m->surface[i]] = 1;
    }
    for (int i = 0; i < m->edges * 2; i++) {
        m->touchable[m->edge[i]] = 1;
    }
    return find_rims(m, error);
}

int orr_soft_walls(const orr_soft_model *m)
{
    const bool closed = m->tets == 0 && m->closed && orr_soft_volume(m, m->rest) > 0.0;
    return closed ? m->surfaces : m->walls;
}
