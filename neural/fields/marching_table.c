#include "neural/fields/marching_table.h"

#include <assert.h>
#include <stdbool.h>

// The table is made, not typed in: on each face the surface runs from the edge where a walk around the face
// enters inside corners to the edge where it leaves them, which cuts ambiguous faces alike from both sides.
// The runs of six faces join to loops, and each loop becomes a fan of triangles.

enum { CORNERS = 8, FACES = 6, FACE_CORNERS = 4 };

int orr_cell_edge_corner(int edge)
{
    int axis = edge / 4, k = edge % 4;
    return (k & 1) << (axis + 1) % 3 | (k >> 1) << (axis + 2) % 3;
}

static int edge_between(int a, int b)
{
    int low = a & b, axis = (a ^ b) >> 1; // 1, 2, 4 become 0, 1, 2
    int u = low >> (axis + 1) % 3 & 1, v = low >> (axis + 2) % 3 & 1;
    return 4 * axis + 2 * v + u;
}

// Corner i of a face, counter-clockwise seen from outside the cell. Face: 2 axis + side.
static int face_corner(int face, int i)
{
    int axis = face / 2, side = face % 2;
    int step = (side ? i : FACE_CORNERS - i) % FACE_CORNERS;
    int u = step == 1 || step == 2, v = step == 2 || step == 3;
    return side << axis | u << (axis + 1) % 3 | v << (axis + 2) % 3;
}

static bool share_face(int a, int b)
{
    for (int face = 0; face < FACES; face++) {
        bool has_a = false, has_b = false;
        for (int i = 0; i < FACE_CORNERS; i++) {
            int edge = edge_between(face_corner(face, i), face_corner(face, (i + 1) % FACE_CORNERS));
            has_a |= edge == a;
            has_b |= edge == b;
        }
        if (has_a && has_b) {
            return true;
        }
    }
    return false;
}

// next[e]: the edge that the surface runs to from edge e, or -1
static void join_edges(int inside, int8_t next[ORR_CELL_EDGES])
{
    for (int e = 0; e < ORR_CELL_EDGES; e++) {
        next[e] = -1;
    }
    for (int face = 0; face < FACES; face++) {
        for (int i = 0; i < FACE_CORNERS; i++) {
            int before = face_corner(face, i), first = face_corner(face, (i + 1) % FACE_CORNERS);
            if ((inside >> before & 1) || !(inside >> first & 1)) {
                continue;
            }
            int last = (i + 1) % FACE_CORNERS;
            while (inside >> face_corner(face, (last + 1) % FACE_CORNERS) & 1) {
                last = (last + 1) % FACE_CORNERS;
            }
            int leave = edge_between(face_corner(face, last), face_corner(face, (last + 1) % FACE_CORNERS));
            next[edge_between(before, first)] = (int8_t)leave;
        }
    }
}

// A diagonal between two edges of one face could be the neighbour's diagonal too; every loop has a corner
// that sees the others without one.
static int fan_apex(const int8_t *loop, int length)
{
    for (int apex = 0;; apex++) {
        assert(apex < length);
        bool clear = true;
        for (int i = 2; i < length - 1; i++) {
            clear &= !share_face(loop[apex], loop[(apex + i) % length]);
        }
        if (clear) {
            return apex;
        }
    }
}

static void add_fan(orr_cell_triangles *cell, const int8_t *loop, int length)
{
    int apex = fan_apex(loop, length);
    for (int i = 1; i + 1 < length; i++) {
        int8_t *triangle = cell->edges[cell->count++];
        triangle[0] = loop[apex];
        triangle[1] = loop[(apex + i) % length];
        triangle[2] = loop[(apex + i + 1) % length];
    }
}

void orr_marching_table(orr_cell_triangles cases[256])
{
    for (int inside = 0; inside < 1 << CORNERS; inside++) {
        int8_t next[ORR_CELL_EDGES];
        join_edges(inside, next);
        cases[inside].count = 0;
        for (int e = 0; e < ORR_CELL_EDGES; e++) {
            int8_t loop[ORR_CELL_EDGES];
            int length = 0;
            for (int at = e; next[at] >= 0;) { // each edge is left once
                loop[length++] = (int8_t)at;
                int to = next[at];
                next[at] = -1;
                at = to;
            }
            if (length > 0) {
                add_fan(&cases[inside], loop, length);
            }
        }
    }
}
