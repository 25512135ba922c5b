// A step of vertex block descent on one group of worlds: compiled once per instruction set;
// program_double.c compiles it in plain double. Lanes are the vertices of a block, of one world, or the
// worlds of a group, vertex by vertex.
#include "engine/core/isa.h"
#include "physics/soft/program_inline.h"

static void relax(const orr_soft_group *g, int first, int end)
{
    soft_numbers numbers;
    fill_numbers(g->constants, &numbers);
    for (int i = first; i < end; i++) {
        const orr_soft_block *block = &g->tables->block[i];
        if (g->worlds > 1) {
            for (int lane = 0; lane < block->vertices; lane++) {
                relax_vertex((reader){1, lane}, &numbers, g, block);
            }
        } else {
            relax_vertex((reader){0, 0}, &numbers, g, block);
        }
    }
}

static void begin(const orr_soft_group *g, int first, int end)
{
    soft_numbers numbers;
    fill_numbers(g->constants, &numbers);
    for (int v = first; v < end; v++) {
        const ptrdiff_t at = (ptrdiff_t)v * 3 * g->worlds;
        for (ptrdiff_t i = at; i < at + g->worlds; i++) {
            begin_vertex(&numbers, g, i, g->pinned[v]);
        }
    }
}

static void accelerate(const orr_soft_group *g, double omega, int first, int end)
{
    const ptrdiff_t worlds = g->worlds;
    const number *touch = g->touch;
    for (int v = first; v < end; v++) {
        for (ptrdiff_t i = 0; i < worlds; i++) {
            const bool free = !g->pinned[v] && !(touch[v * worlds + i] > (number)0);
            accelerate_vertex(g, (number)omega, (ptrdiff_t)v * 3 * worlds + i, free);
        }
    }
}

static void finish(const orr_soft_group *g, int first, int end)
{
    soft_numbers numbers;
    fill_numbers(g->constants, &numbers);
    for (int v = first; v < end; v++) {
        for (int c = 0; c < 3; c++) {
            const ptrdiff_t at = ((ptrdiff_t)v * 3 + c) * g->worlds;
            for (ptrdiff_t i = at; i < at + g->worlds; i++) {
                finish_number(&numbers, g, i, c, g->pinned[v]);
            }
        }
    }
}

// The largest |a - b|, in any order: the same for any number of lanes.
static double largest_of(const number *a, const number *b, int count)
{
    number most = 0;
    int i = 0;
#ifndef ORR_SCALAR
    real wide = R(0.0);
    for (; i + ORR_LANES <= count; i += ORR_LANES) {
        wide = max_(wide, abs_(real_load(a + i) - real_load(b + i)));
    }
    most = real_most(wide);
#endif
    for (; i < count; i++) {
        const number d = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
        most = d > most ? d : most;
    }
    return (double)most;
}

static void progress(const orr_soft_group *g, double *moved, double *way)
{
    *moved = largest_of(g->position, g->previous, 3 * g->vertices);
    *way = largest_of(g->position, g->start, 3 * g->vertices);
}

static void pull(const orr_soft_group *g, const double *mass, double sum[3])
{
    const number *position = g->position, *target = g->target;
    double x = 0.0, y = 0.0, z = 0.0;
    for (int v = 0; v < g->vertices; v++, position += 3, target += 3) {
        x += mass[v] * ((double)target[0] - (double)position[0]);
        y += mass[v] * ((double)target[1] - (double)position[1]);
        z += mass[v] * ((double)target[2] - (double)position[2]);
    }
    sum[0] = x, sum[1] = y, sum[2] = z;
}

static void translate(const orr_soft_group *g, const double by[3])
{
    number *const iterate[] = {g->position, g->previous, g->before_previous};
    for (int i = 0; i < 3 && iterate[i]; i++) { // what acceleration extrapolates is without it
        for (int v = 0; v < 3 * g->vertices; v++) {
            iterate[i][v] = (number)((double)iterate[i][v] + by[v % 3]);
        }
    }
}

const orr_soft_program *ORR_ISA_NAME(orr_soft_program)(void)
{
    static const orr_soft_program program = {.lanes = ORR_LANES,
                                             .in_double = sizeof(number) == sizeof(double),
                                             .begin = begin,
                                             .relax = relax,
                                             .accelerate = accelerate,
                                             .finish = finish,
                                             .progress = progress,
                                             .pull = pull,
                                             .translate = translate};
    return &program;
}
