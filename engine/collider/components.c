#include "engine/collider/components.h"

#include "engine/core/memory.h"

#include <limits.h>
#include <string.h>

// The run that names the component; paths are halved on the way.
static uint32_t find_root(orr_run *runs, uint32_t run)
{
    while (runs[run].component != run) {
        runs[run].component = runs[runs[run].component].component;
        run = runs[run].component;
    }
    return run;
}

static void join(orr_run *runs, uint32_t a, uint32_t b)
{
    a = find_root(runs, a);
    b = find_root(runs, b);
    runs[a > b ? a : b].component = a > b ? b : a; // the first run names the component
}

// Joins the runs of two rows that overlap.
static void join_rows(orr_components *c, size_t row, size_t other)
{
    uint32_t i = c->rows[row], j = c->rows[other];
    while (i < c->rows[row + 1] && j < c->rows[other + 1]) {
        const orr_run *a = &c->runs[i], *b = &c->runs[j];
        if (a->first < b->end && b->first < a->end) {
            join(c->runs, i, j);
        }
        if (a->end < b->end) {
            i++;
        } else {
            j++;
        }
    }
}

static orr_result find_runs(orr_components *c, const orr_lattice *l, const uint8_t *mask, orr_error *error)
{
    size_t rows = (size_t)l->points[1] * (size_t)l->points[2];
    int capacity = 0;
    ORR_ALLOC(c->rows, rows + 1, "rows of a lattice", error);
    c->rows[0] = 0;
    for (size_t row = 0; row < rows; row++) {
        const uint8_t *at = mask + row * (size_t)l->points[0];
        for (int32_t x = 0; x < l->points[0]; x++) {
            if (at[x] == 0) {
                int32_t first = x;
                for (x++; x < l->points[0] && at[x] == 0; x++) {
                }
                if (c->run_count == INT_MAX) {
                    return orr_fail(error, ORR_CODE_CAPACITY,
                                    "a collider: expected fewer pieces: use larger "
                                    "cells");
                }
                ORR_GROW(c->runs, capacity, (int)c->run_count + 1, "runs of a lattice", error);
                c->runs[c->run_count] = (orr_run){first, x, c->run_count};
                c->run_count++;
            }
        }
        c->rows[row + 1] = c->run_count;
    }
    return ORR_OK;
}

orr_result orr_components_find(const orr_lattice *l, const uint8_t *mask, orr_components *c, orr_error *error)
{
    *c = (orr_components){0};
    orr_result result = find_runs(c, l, mask, error);
    if (result == ORR_OK) {
        c->sizes = orr_alloc_zero((size_t)c->run_count + 1, sizeof *c->sizes);
        if (!c->sizes) {
            result = orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: components of a lattice");
        }
    }
    if (result != ORR_OK) {
        orr_components_free(c);
        return result;
    }
    size_t ny = (size_t)l->points[1], rows = ny * (size_t)l->points[2];
    for (size_t row = 0; row < rows; row++) {
        if (row % ny > 0) {
            join_rows(c, row, row - 1);
        }
        if (row >= ny) {
            join_rows(c, row, row - ny);
        }
    }
    for (uint32_t i = 0; i < c->run_count; i++) {
        c->runs[i].component = find_root(c->runs, i);
        c->sizes[c->runs[i].component] += c->runs[i].end - c->runs[i].first;
    }
    return ORR_OK;
}

void orr_components_free(orr_components *c)
{
    orr_free(c->runs);
    orr_free(c->rows);
    orr_free(c->sizes);
    *c = (orr_components){0};
}

uint32_t orr_components_at(const orr_components *c, const orr_lattice *l, const int point[3])
{
    size_t row = (size_t)point[2] * (size_t)l->points[1] + (size_t)point[1];
    for (uint32_t i = c->rows[row]; i < c->rows[row + 1]; i++) {
        if (point[0] >= c->runs[i].first && point[0] < c->runs[i].end) {
            return c->runs[i].component;
        }
    }
    return UINT32_MAX;
}
