// The inner edges of cloth, across which it bends.
#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "physics/soft/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// rad: a hinge that is less bent at rest counts as flat. Rounding of positions is less; a cloth of cells of
// 1 cm that has it in every hinge is bent by a radius of 50 m.
static const double flat = 2e-4;

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

// ---- how they bend

static void difference(const orr_soft_model *m, int32_t a, int32_t b, double d[3]) // b - a, at rest
{
    for (int c = 0; c < 3; c++) {
        d[c] = m->rest[3 * (ptrdiff_t)b + c] - m->rest[3 * (ptrdiff_t)a + c];
    }
}

typedef struct bend { // two vertices of one
    int32_t low, high;
    double stiffness;
} bend;

static int by_ends(const void *a, const void *b)
{
    const bend *x = a, *y = b;
    return x->low != y->low ? (x->low > y->low) - (x->low < y->low)
                            : (x->high > y->high) - (x->high < y->high);
}

// Where two triangles meet in one plane the angle between them is |sum of weight x position|, the sum of the
// unit vectors that lead away from the edge: as energies are squares of it, each pair of the four vertices
// has a stiffness of its own (Bergou et al. 2006). Returns how many pairs.
static int bends_of(const int32_t corner[4], double stiffness, const double e[3], const double a[3],
                    const double b[3], double height_a, double height_b, bend *out)
{
    const double square = vec3_dot(e, e), along_a = vec3_dot(a, e) / square,
                 along_b = vec3_dot(b, e) / square;
    const double weight[4] = {-(1.0 - along_a) / height_a - (1.0 - along_b) / height_b,
                              -along_a / height_a - along_b / height_b, 1.0 / height_a, 1.0 / height_b};
    int count = 0;
    for (int i = 0; i < 4; i++) {
        for (int k = i + 1; k < 4; k++) {
            const bool turned = corner[i] > corner[k];
            out[count++] =
                (bend){corner[turned ? k : i], corner[turned ? i : k], -stiffness * weight[i] * weight[k]};
        }
    }
    return count;
}

// Those of the same vertices become one.
static orr_result join_bends(orr_soft_model *m, bend *bends, int count, orr_error *error)
{
    ORR_ALLOC(m->bend, 2 * (size_t)count + 1, "bending of cloth", error);
    ORR_ALLOC(m->bend_stiffness, (size_t)count + 1, "bending of cloth", error);
    qsort(bends, (size_t)count, sizeof *bends, by_ends);
    for (int i = 0; i < count; i++) {
        if (i == 0 || by_ends(&bends[i - 1], &bends[i]) != 0) {
            m->bend[2 * m->bends] = bends[i].low, m->bend[2 * m->bends + 1] = bends[i].high;
            m->bend_stiffness[m->bends++] = 0.0;
        }
        m->bend_stiffness[m->bends - 1] += bends[i].stiffness;
    }
    return ORR_OK;
}

orr_result orr_soft_find_bends(orr_soft_model *m, double plate, orr_error *error)
{
    bend *bends;
    int count = 0, bent = 0;
    ORR_ALLOC(m->hinge_stiffness, (size_t)m->hinges + 1, "bending of cloth", error);
    ORR_ALLOC(m->hinge_angle, (size_t)m->hinges + 1, "bending of cloth", error);
    ORR_ALLOC(bends, 6 * (size_t)m->hinges + 1, "bending of cloth", error);
    for (int i = 0; i < m->hinges && plate > 0.0; i++) {
        const int32_t *corner = m->hinge + (ptrdiff_t)i * 4;
        double e[3], a[3], b[3], n1[3], n2[3], n12[3];
        difference(m, corner[0], corner[1], e);
        difference(m, corner[0], corner[2], a);
        difference(m, corner[0], corner[3], b);
        vec3_cross(e, a, n1);
        vec3_cross(b, e, n2);
        vec3_cross(n1, n2, n12);
        const double edge = vec3_length(e), area_a = 0.5 * vec3_length(n1), area_b = 0.5 * vec3_length(n2);
        const double angle = atan2(vec3_dot(n12, e) / edge, vec3_dot(n1, n2));
        // a plate's energy, 1/2 plate curvature^2 per area, of a lattice of equilateral triangles (Seung and
        // Nelson 1988), and of squares along their sides
        const double stiffness = plate * edge * edge / (area_a + area_b);
        if (fabs(angle) < flat) {
            count +=
                bends_of(corner, stiffness, e, a, b, 2.0 * area_a / edge, 2.0 * area_b / edge, bends + count);
            continue;
        }
        memmove(m->hinge + (ptrdiff_t)bent * 4, corner, 4 * sizeof *corner);
        m->hinge_stiffness[bent] = stiffness, m->hinge_angle[bent++] = angle;
    }
    m->hinges = bent;
    orr_result result = join_bends(m, bends, count, error);
    orr_free(bends);
    return result;
}
