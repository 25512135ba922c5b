// The inner edges of cloth, across which it bends.
#include "engine/core/memory.h"
#include "physics/soft/model.h"

#include <stdlib.h>

typedef struct side { // of a triangle
    int32_t low, high, opposite, triangle;
    bool forward; // the triangle goes from low to high
} side;

static int by_vertices(const void *a, const void *b)
{
    const side *x = a, *y = b;
    if (x->low != y->low) {
        return x->low < y->low ? -1 : 1;
    }
    if (x->high != y->high) {
        return x->high < y->high ? -1 : 1;
    }
    return (x->triangle > y->triangle) - (x->triangle < y->triangle);
}

static orr_result join_sides(orr_soft_model *m, const side *sides, int count, const char *name,
                             orr_error *error)
{
    int agreeing = 0;
    for (int i = 0; i + 1 < count; i++) {
        const side *a = &sides[i], *b = &sides[i + 1];
        if (a->low != b->low || a->high != b->high) {
            continue;
        }
        if (i + 2 < count && b->low == sides[i + 2].low && b->high == sides[i + 2].high) {
            return orr_fail(
                error, ORR_CODE_ARGUMENT,
                "%s: triangle %d: expected at most two triangles at the edge of vertices %d and %d", name,
                sides[i + 2].triangle, a->low, a->high);
        }
        const int32_t corner[4] = {a->low, a->high, a->opposite, b->opposite};
        for (int k = 0; k < 4; k++) {
            m->hinge[m->hinges * 4 + k] = corner[k];
        }
        m->hinges++;
        agreeing += a->forward != b->forward;
    }
    m->closed = m->triangles > 0 && 2 * agreeing == count;
    return ORR_OK;
}

orr_result orr_soft_find_hinges(orr_soft_model *m, const char *name, orr_error *error)
{
    int count = 3 * m->triangles;
    side *sides;
    ORR_ALLOC(m->hinge, (size_t)count * 2 + 1, "hinges of cloth", error); // two sides make one hinge of four
    ORR_ALLOC(sides, count, "edges of cloth", error);
    for (int i = 0; i < count; i++) {
        const int32_t *corner = m->triangle + i / 3 * 3;
        int32_t a = corner[i % 3], b = corner[(i + 1) % 3];
        sides[i] = (side){a < b ? a : b, a < b ? b : a, corner[(i + 2) % 3], i / 3, a < b};
    }
    qsort(sides, (size_t)count, sizeof *sides, by_vertices);
    orr_result result = join_sides(m, sides, count, name, error);
    orr_free(sides);
    return result;
}
