// Solids that yield (plastic_inline.h) on the CPU. A tet's plastic strain becomes a part of its rest shape,
// which each world therefore has for itself.
#include "engine/core/memory.h"
#include "physics/soft/plastic_inline.h"
#include "physics/soft/simulation.h"

#include <string.h>

static void write_tet(const orr_soft *soft, const orr_soft_group *g, int tet)
{
    for (int corner = 0; corner < 4; corner++) {
        const ptrdiff_t at = soft->tables.tet_at[(ptrdiff_t)tet * 4 + corner];
        double rows[9], now[9];
        orr_soft_tet_rows(soft->model, tet, corner, rows);
        plastic_rows(rows, g->plastic + (ptrdiff_t)tet * 9, now);
        for (int k = 0; k < 9 && at >= 0; k++) {
            orr_soft_set_number(soft, g->number, at + (ptrdiff_t)k * soft->tables.lanes, now[k]);
        }
    }
}

void orr_soft_plastic_set(const orr_soft *soft, const orr_soft_group *g, const double *strain)
{
    memcpy(g->plastic, strain, (size_t)soft->model->tets * 9 * sizeof *strain);
    for (int tet = 0; tet < soft->model->tets; tet++) {
        write_tet(soft, g, tet);
    }
}

void orr_soft_plastic_clear(const orr_soft *soft, const orr_soft_group *g)
{
    for (int tet = 0; tet < soft->model->tets; tet++) {
        for (int k = 0; k < 9; k++) {
            g->plastic[(ptrdiff_t)tet * 9 + k] = k % 4 == 0;
        }
        write_tet(soft, g, tet);
    }
}

orr_result orr_soft_plastic_create(const orr_soft *soft, orr_soft_group *g, orr_error *error)
{
    const size_t size = soft->tables.number_count * orr_soft_number_size(soft);
    ORR_ALLOC(g->plastic, (size_t)soft->model->tets * 9, "a solid that yields", error);
    g->number = orr_alloc(size, 1);
    if (!g->number) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a solid that yields");
    }
    memcpy(g->number, soft->tables.number, size);
    orr_soft_plastic_clear(soft, g);
    return ORR_OK;
}

void orr_soft_plastic_destroy(orr_soft_group *g)
{
    if (g->plastic) {
        orr_free(g->number);
        orr_free(g->plastic);
    }
}

void orr_soft_plastic_flow(const orr_soft *soft, const orr_soft_group *g)
{
    const plastic_law law = plastic_law_of(&soft->constants);
    for (int tet = 0; tet < soft->model->tets && g->plastic; tet++) {
        const int32_t *v = soft->model->tet + (ptrdiff_t)tet * 4;
        double *plastic = g->plastic + (ptrdiff_t)tet * 9;
        double side[9], fe[9], j;
        for (int i = 0; i < 9; i++) {
            side[i] = orr_soft_number(soft, g->position, (ptrdiff_t)v[i / 3 + 1] * 3 + i % 3) -
                      orr_soft_number(soft, g->position, (ptrdiff_t)v[0] * 3 + i % 3);
        }
        plastic_elastic(side, soft->model->tet_inverse + (ptrdiff_t)tet * 9, plastic, fe);
        if (plastic_yields(&law, fe, &j)) {
            plastic_flow(&law, fe, j, plastic);
            write_tet(soft, g, tet);
        }
    }
}
