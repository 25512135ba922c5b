// The surface of a soft body cut into patches of neighbouring triangles, for the search for contacts: a patch
// and one beside it do not touch each other while they are about flat (Volino and Magnenat-Thalmann 1994).
#include "engine/core/memory.h"
#include "physics/soft/sides.h"

#include <string.h>

static const char what[] = "patches of a soft body";

typedef struct builder {
    orr_soft_model *m;
    int32_t *beside;   // surfaces x 3: the triangle across each side; -1: none
    int32_t *patch_of; // surfaces
    int32_t *owner;    // vertices: the patch that searches for them; -1: none
    int32_t *seen;     // vertices: the last patch that lists them
} builder;

static void join(const builder *b, int32_t triangle, int32_t other)
{
    int32_t *slot = b->beside + (ptrdiff_t)triangle * 3;
    while (*slot >= 0) { // each side of a triangle joins it to one at most
        slot++;
    }
    *slot = other;
}

static orr_result find_neighbours(const builder *b, orr_error *error)
{
    const int count = b->m->surfaces * 3;
    orr_soft_side *sides;
    ORR_ALLOC(sides, count, what, error);
    orr_soft_list_sides(b->m, sides);
    for (int i = 0; i < count; i++) {
        b->beside[i] = -1;
    }
    for (int i = 0, next; i < count; i = next) {
        next = orr_soft_next_edge(sides, count, i);
        if (next == i + 2) {
            join(b, sides[i].triangle, sides[i + 1].triangle);
            join(b, sides[i + 1].triangle, sides[i].triangle);
        }
    }
    orr_free(sides);
    return ORR_OK;
}

// A patch grows around a triangle, side by side, and takes the vertices that no other one has yet.
static void grow(const builder *b, int32_t seed)
{
    orr_soft_model *m = b->m;
    const int32_t number = m->patches++;
    orr_soft_patch *p = &m->patch[number];
    *p = (orr_soft_patch){.triangle = number > 0 ? p[-1].triangle + p[-1].triangles : 0, .triangles = 1};
    int32_t *list = m->patch_triangle + p->triangle;
    list[0] = seed, b->patch_of[seed] = number;
    for (int i = 0; i < p->triangles; i++) {
        for (int k = 0; k < 3 && p->triangles < SOFT_PATCH_TRIANGLES; k++) {
            const int32_t other = b->beside[3 * (ptrdiff_t)list[i] + k];
            if (other >= 0 && b->patch_of[other] < 0) {
                b->patch_of[other] = number;
                list[p->triangles++] = other;
            }
        }
    }
}

static void list_vertex(const builder *b, int32_t number, int32_t vertex, bool own)
{
    orr_soft_patch *p = &b->m->patch[number];
    if (b->seen[vertex] != number && own == (b->owner[vertex] < 0)) {
        b->seen[vertex] = number;
        b->m->patch_vertex[p->vertex + p->vertices++] = vertex;
    }
}

// The vertices of a patch: its own ones first.
static void list_vertices(const builder *b, int32_t number)
{
    orr_soft_model *m = b->m;
    orr_soft_patch *p = &m->patch[number];
    p->vertex = number > 0 ? p[-1].vertex + p[-1].vertices : 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 3 * p->triangles; i++) {
            list_vertex(b, number, m->surface[3 * (ptrdiff_t)m->patch_triangle[p->triangle + i / 3] + i % 3],
                        pass == 0);
        }
        for (int i = 0; i < p->vertices && pass == 0; i++) {
            b->owner[m->patch_vertex[p->vertex + i]] = number;
        }
        p->own = pass == 0 ? p->vertices : p->own;
    }
}

// Vertices that can be touched but are of no triangle, those of ropes: one patch after the other.
static void list_others(const builder *b)
{
    orr_soft_model *m = b->m;
    const int first = m->patches;
    for (int32_t v = 0; v < m->vertices; v++) {
        if (!m->touchable[v] || b->owner[v] >= 0) {
            continue;
        }
        orr_soft_patch *p = &m->patch[m->patches - 1];
        if (m->patches == first || p->own == SOFT_PATCH_TRIANGLES) {
            p = &m->patch[m->patches++];
            *p = (orr_soft_patch){.vertex = m->patches > 1 ? p[-1].vertex + p[-1].vertices : 0};
        }
        m->patch_vertex[p->vertex + p->vertices++] = v;
        p->own++;
    }
}

static bool is_beside(const orr_soft_patch *p, int32_t other)
{
    bool known = false;
    for (int i = 0; i < p->neighbours; i++) {
        known |= p->neighbour[i] == other;
    }
    return known;
}

// Patches that share a side of a triangle. Those that do not fit in the list count as far apart.
static void list_neighbours(const builder *b, int32_t number)
{
    orr_soft_patch *p = &b->m->patch[number];
    for (int i = 0; i < 3 * p->triangles; i++) {
        const int32_t other = b->beside[3 * (ptrdiff_t)b->m->patch_triangle[p->triangle + i / 3] + i % 3];
        const int32_t patch = other >= 0 ? b->patch_of[other] : number;
        if (patch != number && p->neighbours < SOFT_PATCH_NEIGHBOURS && !is_beside(p, patch)) {
            p->neighbour[p->neighbours++] = patch;
        }
    }
}

static orr_result build(builder *b, orr_error *error)
{
    orr_soft_model *m = b->m;
    const size_t vertices = (size_t)m->vertices, surfaces = (size_t)m->surfaces;
    ORR_ALLOC(m->patch, surfaces + vertices, what, error);
    ORR_ALLOC(m->patch_triangle, surfaces + 1, what, error);
    ORR_ALLOC(m->patch_vertex, 3 * surfaces + vertices, what, error);
    ORR_ALLOC(b->beside, 3 * surfaces + 1, what, error);
    ORR_ALLOC(b->patch_of, surfaces + 1, what, error);
    ORR_ALLOC(b->owner, vertices, what, error);
    ORR_ALLOC(b->seen, vertices, what, error);
    memset(b->patch_of, -1, surfaces * sizeof *b->patch_of);
    memset(b->owner, -1, vertices * sizeof *b->owner);
    memset(b->seen, -1, vertices * sizeof *b->seen);
    ORR_TRY(find_neighbours(b, error));
    for (int32_t t = 0; t < m->surfaces; t++) {
        if (b->patch_of[t] < 0) {
            grow(b, t);
        }
    }
    for (int32_t i = 0; i < m->patches; i++) {
        list_vertices(b, i);
        list_neighbours(b, i);
    }
    list_others(b);
    return ORR_OK;
}

orr_result orr_soft_find_patches(orr_soft_model *m, orr_error *error)
{
    builder b = {.m = m};
    orr_result result = build(&b, error);
    orr_free(b.beside);
    orr_free(b.patch_of);
    orr_free(b.owner);
    orr_free(b.seen);
    return result;
}
