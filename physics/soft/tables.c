#include "physics/soft/tables.h"

#include "engine/core/memory.h"

#include <string.h>

static const int others[SOFT_KINDS] = {SOFT_TET_OTHERS, SOFT_TRIANGLE_OTHERS, SOFT_HINGE_OTHERS,
                                       SOFT_BEND_OTHERS, SOFT_EDGE_OTHERS};
static const int numbers[SOFT_KINDS] = {SOFT_TET_NUMBERS, SOFT_TRIANGLE_NUMBERS, SOFT_HINGE_NUMBERS,
                                        SOFT_BEND_NUMBERS, SOFT_EDGE_NUMBERS};

typedef struct builder {
    const orr_soft_model *m;
    int lanes;
    orr_soft_incidence incidence[SOFT_KINDS];
    int32_t *order; // vertices by colour, those of many elements first; pinned ones left out
    orr_soft_tables *tables;
    double *number;
} builder;

static int uses(const builder *b, int kind, int32_t v)
{
    return b->incidence[kind].first[v + 1] - b->incidence[kind].first[v];
}

// What a vertex costs: tets count most.
static int cost_of(const builder *b, int32_t v)
{
    return uses(b, SOFT_TET, v) * 4 + uses(b, SOFT_TRIANGLE, v) + uses(b, SOFT_HINGE, v) +
           uses(b, SOFT_BEND, v) + uses(b, SOFT_EDGE, v);
}

// Vertices by colour, and by cost within one, so that those of a block need nearly as many slots; those of
// one cost keep their order. Returns how many of each colour there are.
static orr_result sort_vertices(builder *b, int *count, orr_error *error)
{
    const orr_soft_model *m = b->m;
    int most = 0, placed = 0;
    ORR_ALLOC(b->order, m->vertices, "the order of vertices", error);
    for (int32_t v = 0; v < m->vertices; v++) {
        int cost = cost_of(b, v);
        most = cost > most ? cost : most;
    }
    int32_t *first; // of each cost
    ORR_ALLOC(first, most + 2, "the order of vertices", error);
    for (int colour = 0; colour < m->colours; colour++) {
        memset(first, 0, (size_t)(most + 2) * sizeof *first);
        for (int32_t v = 0; v < m->vertices; v++) {
            first[most - cost_of(b, v) + 1] += m->colour[v] == colour && !m->pinned[v];
        }
        for (int i = 0; i <= most; i++) {
            first[i + 1] += first[i];
        }
        count[colour] = first[most + 1];
        for (int32_t v = 0; v < m->vertices; v++) {
            if (m->colour[v] == colour && !m->pinned[v]) {
                b->order[placed + first[most - cost_of(b, v)]++] = v;
            }
        }
        placed += count[colour];
    }
    orr_free(first);
    return ORR_OK;
}

// Cuts the vertices into blocks; returns how many numbers they need.
static orr_result cut_blocks(builder *b, size_t *number_count, size_t *index_count, orr_error *error)
{
    const orr_soft_model *m = b->m;
    orr_soft_tables *t = b->tables;
    size_t lanes = (size_t)b->lanes;
    int blocks = 0;
    ORR_ALLOC(t->block, m->vertices / b->lanes + m->colours, "blocks of vertices", error);
    ORR_ALLOC(t->colour_block, m->colours + 1, "blocks of vertices", error);
    ORR_TRY(sort_vertices(b, t->colour_block + 1, error));
    t->colour_block[0] = 0;
    const int32_t *order = b->order;
    for (int colour = 0; colour < m->colours; colour++) {
        for (int left = t->colour_block[colour + 1]; left > 0; left -= b->lanes) {
            orr_soft_block *block = &t->block[blocks++];
            *block = (orr_soft_block){.vertices = left < b->lanes ? left : b->lanes};
            for (int i = 0; i < block->vertices; i++, order++) {
                for (int kind = 0; kind < SOFT_KINDS; kind++) {
                    int used = uses(b, kind, *order);
                    block->slots[kind] = used > block->slots[kind] ? used : block->slots[kind];
                }
            }
        }
        t->colour_block[colour + 1] = blocks;
    }
    t->colours = m->colours, t->lanes = b->lanes;
    for (int i = 0; i < blocks; i++) {
        orr_soft_block *block = &t->block[i];
        block->index = *index_count, block->number = *number_count;
        *index_count += lanes, *number_count += lanes;
        for (int kind = 0; kind < SOFT_KINDS; kind++) {
            *index_count += lanes * (size_t)(block->slots[kind] * others[kind]);
            *number_count += lanes * (size_t)(block->slots[kind] * numbers[kind]);
        }
    }
    return ORR_OK;
}

// What a vertex sees of an element: its other vertices and its numbers. use: element x corners + corner.
static void see_element(const orr_soft_model *m, int kind, int use, int32_t other[4], double number[10])
{
    const int32_t *element;
    int corners = orr_soft_corners(kind), i = use / corners, corner = use % corners;
    orr_soft_elements(m, kind, &element);
    element += (size_t)i * (size_t)corners;
    switch (kind) {
    case SOFT_TET:
        orr_soft_tet_rows(m, i, corner, number);
        number[9] = m->tet_volume[i];
        for (int k = 0; k < 3; k++) {
            other[k] = element[orr_soft_tet_order[corner][k + 1]];
        }
        break;
    case SOFT_TRIANGLE:
        orr_soft_triangle_rows(m, i, corner, number);
        number[4] = m->triangle_area[i];
        other[0] = element[(corner + 1) % 3], other[1] = element[(corner + 2) % 3];
        break;
    case SOFT_HINGE:
        for (int k = 0; k < 4; k++) {
            other[k] = element[k];
            number[k] = k == corner ? 1.0 : 0.0;
        }
        number[4] = m->hinge_stiffness[i], number[5] = m->hinge_angle[i];
        break;
    case SOFT_BEND:
        other[0] = element[1 - corner];
        number[0] = m->bend_stiffness[i];
        break;
    default:
        other[0] = element[1 - corner];
        number[0] = m->edges_held ? m->mass[element[0]] : m->edge_stiffness[i];
        number[1] = m->edge_length[i], number[2] = m->edge_viscosity[i];
        break;
    }
}

// v < 0: the lane is empty; then it repeats the vertex `instead`, and its result is not stored.
static void fill_lane(const builder *b, const orr_soft_block *block, int lane, int32_t v, int32_t instead)
{
    const orr_soft_model *m = b->m;
    int32_t own = v < 0 ? instead : v, *index = b->tables->index + block->index + lane;
    double *number = b->number + block->number + lane;
    *index = own, *number = m->mass[own];
    index += b->lanes, number += b->lanes;
    for (int kind = 0; kind < SOFT_KINDS; kind++) {
        for (int slot = 0; slot < block->slots[kind]; slot++) {
            int32_t other[4] = {own, own, own, own};
            double values[10] = {0};
            if (v >= 0 && slot < uses(b, kind, v)) {
                const orr_soft_incidence *incidence = &b->incidence[kind];
                const int32_t use = incidence->use[incidence->first[v] + slot];
                see_element(m, kind, use, other, values);
                if (kind == SOFT_TET && b->tables->tet_at) {
                    b->tables->tet_at[use] = number - b->number;
                }
            }
            for (int k = 0; k < others[kind]; k++, index += b->lanes) {
                *index = other[k];
            }
            for (int k = 0; k < numbers[kind]; k++, number += b->lanes) {
                *number = values[k];
            }
        }
    }
}

static orr_result build(builder *b, bool in_double, orr_error *error)
{
    orr_soft_tables *t = b->tables;
    size_t number_count = 0, index_count = 0;
    for (int kind = 0; kind < SOFT_KINDS; kind++) {
        ORR_TRY(orr_soft_incidence_create(b->m, kind, &b->incidence[kind], error));
    }
    ORR_TRY(cut_blocks(b, &number_count, &index_count, error));
    ORR_ALLOC(t->index, index_count, "indices of a soft body", error);
    ORR_ALLOC(b->number, number_count, "numbers of a soft body", error);
    t->index_count = index_count, t->number_count = number_count;
    if (b->m->yield_stress > 0.0) {
        ORR_ALLOC(t->tet_at, (size_t)b->m->tets * 4, "numbers of a soft body", error);
        memset(t->tet_at, -1, (size_t)b->m->tets * 4 * sizeof *t->tet_at);
    }
    const int32_t *order = b->order;
    for (int i = 0; i < t->colour_block[t->colours]; i++) {
        for (int lane = 0; lane < b->lanes; lane++) {
            fill_lane(b, &t->block[i], lane, lane < t->block[i].vertices ? order[lane] : -1, order[0]);
        }
        order += t->block[i].vertices;
    }
    if (in_double) {
        t->number = b->number;
        b->number = NULL;
        return ORR_OK;
    }
    float *single;
    ORR_ALLOC(single, number_count, "numbers of a soft body", error);
    for (size_t i = 0; i < number_count; i++) {
        single[i] = (float)b->number[i];
    }
    t->number = single;
    return ORR_OK;
}

orr_result orr_soft_tables_create(const orr_soft_model *model, int lanes, bool in_double,
                                  orr_soft_tables *tables, orr_error *error)
{
    memset(tables, 0, sizeof *tables);
    builder b = {.m = model, .lanes = lanes, .tables = tables};
    orr_result result = build(&b, in_double, error);
    for (int kind = 0; kind < SOFT_KINDS; kind++) {
        orr_soft_incidence_destroy(&b.incidence[kind]);
    }
    orr_free(b.order);
    orr_free(b.number);
    return result;
}

void orr_soft_tables_destroy(orr_soft_tables *tables)
{
    orr_free(tables->colour_block);
    orr_free(tables->block);
    orr_free(tables->index);
    orr_free(tables->number);
    orr_free(tables->tet_at);
}
