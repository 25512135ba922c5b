// Lanes are over the children of a node, and over the triangles of a leaf. No sum is fused, so that distances
// have the same bits with every instruction set.
#include "neural/fields/nearest_cpu.h"

#include "engine/maths/lanes.h"

enum { STACK = 8 * ORR_NEAREST_WIDE }; // 16^8 leaves

static const float SLACK = 1.0f + 1e-5f; // of squares, for rounding

FN real square_to_boxes(const orr_nearest_node *n, int i, const float p[3])
{
    real outside[3];
    for (int k = 0; k < 3; k++) {
        const real at = real_splat(&p[k]);
        outside[k] = max_(max_(real_load(n->low[k] + i) - at, at - real_load(n->high[k] + i)), R(0.0));
    }
    return outside[0] * outside[0] + outside[1] * outside[1] + outside[2] * outside[2];
}

FN real dot(const real a[3], const real b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// The nearest point of a triangle is a + (v ab + w ac) / below.
typedef struct place {
    real v, w, below;
} place;

FN void choose(mask here, real v, real w, real below, place *p)
{
    p->v = sel(here, v, p->v);
    p->w = sel(here, w, p->w);
    p->below = sel(here, below, p->below);
}

// By the regions around a triangle (Ericson, "Real-time collision detection", 5.1.5); the first region that
// fits counts: they are chosen from the last to the first.
FN real square_to_triangles(const orr_nearest_leaf *l, int i, const float p[3])
{
    const real none = R(0.0), one = R(1.0);
    real ab[3], ac[3], ap[3], bp[3], cp[3];
    for (int k = 0; k < 3; k++) {
        const real a = real_load(l->corner[k] + i), b = real_load(l->corner[3 + k] + i),
                   c = real_load(l->corner[6 + k] + i), at = real_splat(&p[k]);
        ab[k] = b - a, ac[k] = c - a, ap[k] = at - a, bp[k] = at - b, cp[k] = at - c;
    }
    const real d1 = dot(ab, ap), d2 = dot(ac, ap), d3 = dot(ab, bp), d4 = dot(ac, bp), d5 = dot(ab, cp),
               d6 = dot(ac, cp);
    const real va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    const mask on_bc = (va <= none) & (d4 - d3 >= none) & (d5 - d6 >= none),
               on_ac = (vb <= none) & (d2 >= none) & (d6 <= none),
               on_ab = (vc <= none) & (d1 >= none) & (d3 <= none), at_c = (d6 >= none) & (d5 <= d6),
               at_b = (d3 >= none) & (d4 <= d3), at_a = (d1 <= none) & (d2 <= none);
    place q = {vb, vc, va + vb + vc};
    choose(on_bc, none, d4 - d3, d4 - d3 + d5 - d6, &q);
    choose(on_ac, none, d2, d2 - d6, &q);
    choose(on_ab, d1, none, d1 - d3, &q);
    choose(at_c, none, one, one, &q);
    choose(at_b, one, none, one, &q);
    choose(at_a, none, none, one, &q);
    const real w = q.w / q.below,
               v = sel(on_bc & ~(on_ac | on_ab | at_c | at_b | at_a), one - w, q.v / q.below);
    real square = none;
    for (int k = 0; k < 3; k++) {
        const real away = ap[k] - v * ab[k] - w * ac[k];
        square += away * away;
    }
    return square;
}

static float take_leaf(const orr_nearest_tree *tree, int32_t index, const float p[3], float best,
                       int32_t *leaf)
{
    for (int i = 0; i < ORR_NEAREST_WIDE; i += ORR_LANES) {
        const real square = square_to_triangles(&tree->leaves[index], i, p);
        if (!any(square < real_splat(&best))) {
            continue;
        }
        float squares[ORR_LANES];
        real_store(squares, square);
        for (int lane = 0; lane < ORR_LANES; lane++) {
            best = squares[lane] < best ? squares[lane] : best;
        }
        *leaf = index;
    }
    return best;
}

typedef struct stack {
    int32_t child[STACK];
    float square[STACK];
    int depth;
} stack;

// The children that may have a nearer triangle; the nearest comes off the stack first.
static void push_children(const orr_nearest_node *n, const float p[3], float best, stack *s)
{
    const int before = s->depth;
    // boxes are not left out by rounding, so that the distance does not depend on where a search began
    const float most = best * SLACK;
    for (int i = 0; i < n->count; i += ORR_LANES) {
        const real square = square_to_boxes(n, i, p);
        float squares[ORR_LANES];
        real_store(squares, square);
        uint32_t bits = mask_bits((square <= real_splat(&most)) & lanes_below(n->count - i));
        for (; bits; bits &= bits - 1) {
            const int lane = __builtin_ctz(bits);
            int at = s->depth++;
            for (; at > before && s->square[at - 1] < squares[lane]; at--) {
                s->square[at] = s->square[at - 1];
                s->child[at] = s->child[at - 1];
            }
            s->square[at] = squares[lane];
            s->child[at] = n->child[i + lane];
        }
    }
}

float ORR_ISA_NAME(orr_nearest_square)(const orr_nearest_tree *tree, const float point[3], float square,
                                       int32_t *leaf)
{
    float best = *leaf >= 0 ? take_leaf(tree, *leaf, point, square, leaf) : square;
    stack s;
    s.depth = 0;
    push_children(&tree->nodes[0], point, best, &s);
    while (s.depth > 0) {
        const int32_t child = s.child[--s.depth];
        if (s.square[s.depth] > best * SLACK) {
            continue;
        }
        if (child < 0) {
            best = take_leaf(tree, -1 - child, point, best, leaf);
        } else {
            push_children(&tree->nodes[child], point, best, &s);
        }
    }
    return best;
}
