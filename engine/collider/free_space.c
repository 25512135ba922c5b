#include "engine/collider/free_space.h"

#include "engine/collider/components.h"
#include "engine/core/memory.h"

#include <math.h>
#include <string.h>

// An enclosed space that is so many times what the bounds hold of the space outside is a room. A ball's is
// 1.1 times, that of an L-shaped room 3 times.
static const double ROOM_RATIO = 2.0;

// ---- small pieces ----

static orr_result remove_islands(orr_lattice *l, uint8_t *blocked, double share, const char *name,
                                 int64_t *removed, orr_error *error)
{
    size_t size = orr_lattice_size(l);
    for (size_t i = 0; i < size; i++) {
        blocked[i] = l->label[i] != ORR_POINT_SURFACE;
    }
    orr_components pieces;
    ORR_TRY(orr_components_find(l, blocked, &pieces, error));
    int64_t largest = 0;
    for (uint32_t i = 0; i < pieces.run_count; i++) {
        largest = pieces.sizes[i] > largest ? pieces.sizes[i] : largest;
    }
    for (uint32_t i = 0; i < pieces.run_count; i++) {
        *removed += pieces.sizes[i] > 0 && (double)pieces.sizes[i] < share * (double)largest;
    }
    size_t rows = (size_t)l->points[1] * (size_t)l->points[2];
    for (size_t row = 0; row < rows; row++) {
        for (uint32_t i = pieces.rows[row]; i < pieces.rows[row + 1]; i++) {
            const orr_run *run = &pieces.runs[i];
            if ((double)pieces.sizes[run->component] < share * (double)largest) {
                memset(l->label + row * (size_t)l->points[0] + run->first, ORR_POINT_OPEN,
                       (size_t)(run->end - run->first));
            }
        }
    }
    orr_components_free(&pieces);
    return largest > 0 ? ORR_OK
                       : orr_fail(error, ORR_CODE_ARGUMENT,
                                  "%s: expected a surface: nothing is opaque enough for a collider", name);
}

// ---- balls ----

// Squares of distances up to radius + 1, in three passes along x, y and z.
typedef struct dilation {
    const orr_lattice *lattice;
    uint8_t *square; // in: 0 where the balls' middles are, 255 elsewhere; out: squared distances, capped
    uint8_t *lines;  // per worker
    size_t line_bytes;
    int radius, axis;
} dilation;

typedef uint8_t sixteen __attribute__((vector_size(16)));

// The least of what `out` holds and the squares of points that are `away` from it, which stay within a byte.
static void lower(uint8_t *out, const uint8_t *in, size_t count, size_t away)
{
    if (away * away >= UINT8_MAX) {
        return;
    }
    const uint8_t more = (uint8_t)(away * away);
    size_t j = 0;
    for (; j + sizeof(sixteen) <= count; j += sizeof(sixteen)) {
        sixteen from, least;
        memcpy(&from, in + j, sizeof from);
        memcpy(&least, out + j, sizeof least);
        const sixteen sum = from + more, far = sum | (sixteen)(sum < from); // 255 where it wraps around
        const sixteen less = (sixteen)(far < least);
        least = (less & far) | (~less & least);
        memcpy(out + j, &least, sizeof least);
    }
    for (; j < count; j++) {
        const uint8_t sum = (uint8_t)(in[j] + more), far = sum < in[j] ? UINT8_MAX : sum;
        out[j] = far < out[j] ? far : out[j];
    }
}

static void dilate_slice(void *context, int slice, int worker)
{
    const dilation *d = context;
    const orr_lattice *l = d->lattice;
    size_t nx = (size_t)l->points[0], ny = (size_t)l->points[1];
    uint8_t *base = d->square + (d->axis == 2 ? (size_t)slice * nx : (size_t)slice * nx * ny);
    uint8_t *copy = d->lines + (size_t)worker * d->line_bytes;
    if (d->axis == 0) { // within each row
        for (size_t row = 0; row < ny; row++, base += nx) {
            memcpy(copy, base, nx);
            for (size_t away = 1; away <= (size_t)d->radius && away < nx; away++) {
                lower(base + away, copy, nx - away, away);
                lower(base, copy + away, nx - away, away);
            }
        }
        return;
    }
    // `count` rows, `stride` apart
    size_t count = (size_t)l->points[d->axis], stride = d->axis == 1 ? nx : nx * ny;
    for (size_t i = 0; i < count; i++) {
        memcpy(copy + i * nx, base + i * stride, nx);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t away = 1; away <= (size_t)d->radius; away++) {
            if (i >= away) {
                lower(base + i * stride, copy + (i - away) * nx, nx, away);
            }
            if (i + away < count) {
                lower(base + i * stride, copy + (i + away) * nx, nx, away);
            }
        }
    }
}

static orr_result find_squares(const orr_lattice *l, uint8_t *square, int radius, orr_jobs *jobs,
                               orr_error *error)
{
    dilation d = {.lattice = l, .square = square, .radius = radius};
    int most = l->points[1] > l->points[2] ? l->points[1] : l->points[2];
    most = most > l->points[0] ? most : l->points[0];
    d.line_bytes = ((size_t)l->points[0] * (size_t)most + 63) / 64 * 64;
    ORR_ALLOC(d.lines, (size_t)orr_jobs_workers(jobs) * d.line_bytes, "slices of a lattice", error);
    for (d.axis = 0; d.axis < 3; d.axis++) {
        orr_jobs_for(jobs, l->points[d.axis == 2 ? 1 : 2], dilate_slice, &d);
    }
    orr_free(d.lines);
    return ORR_OK;
}

// ---- which space is free ----

static uint32_t component_of_eyes(const orr_components *spaces, const orr_lattice *l,
                                  const orr_collider_desc *desc)
{
    for (int i = 0; i < desc->eye_count; i++) {
        int point[3];
        bool within = true, beyond = false;
        for (int k = 0; k < 3; k++) {
            double at = round(((double)desc->eyes[3 * i + k] - l->origin[k]) / l->cell);
            within = within && at >= 0.0 && at < (double)l->points[k];
            beyond = beyond || at < 0.0 || at >= (double)l->points[k];
            point[k] = within ? (int)at : 0;
        }
        if (beyond) {
            return orr_components_at(spaces, l, (const int[3]){0, 0, 0});
        }
        uint32_t found = within ? orr_components_at(spaces, l, point) : UINT32_MAX;
        if (found != UINT32_MAX) {
            return found;
        }
    }
    return UINT32_MAX;
}

// The largest space but the one outside; UINT32_MAX: there is none.
static uint32_t largest_inside(const orr_components *spaces, uint32_t outside)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < spaces->run_count; i++) {
        if (i != outside && spaces->sizes[i] > 0 &&
            (best == UINT32_MAX || spaces->sizes[i] > spaces->sizes[best])) {
            best = i;
        }
    }
    return best;
}

// Points of a space within the bounds of the surfaces.
static int64_t count_bounded(const orr_lattice *l, const orr_components *spaces, uint32_t space)
{
    int low[3] = {l->points[0], l->points[1], l->points[2]}, high[3] = {0, 0, 0};
    for (int z = 0; z < l->points[2]; z++) {
        for (int y = 0; y < l->points[1]; y++) {
            const uint8_t *row = l->label + orr_lattice_index(l, 0, y, z);
            for (int x = 0; x < l->points[0]; x++) {
                const int at[3] = {x, y, z};
                for (int k = 0; k < 3 && row[x] == ORR_POINT_SURFACE; k++) {
                    low[k] = at[k] < low[k] ? at[k] : low[k];
                    high[k] = at[k] > high[k] ? at[k] : high[k];
                }
            }
        }
    }
    int64_t count = 0;
    for (int z = low[2]; z <= high[2]; z++) {
        for (int y = low[1]; y <= high[1]; y++) {
            size_t row = (size_t)z * (size_t)l->points[1] + (size_t)y;
            for (uint32_t i = spaces->rows[row]; i < spaces->rows[row + 1]; i++) {
                const orr_run *run = &spaces->runs[i];
                int first = run->first > low[0] ? run->first : low[0],
                    last = run->end - 1 < high[0] ? run->end - 1 : high[0];
                count += run->component == space && first <= last ? last - first + 1 : 0;
            }
        }
    }
    return count;
}

static orr_result choose_space(orr_lattice *l, const orr_components *spaces, const orr_collider_desc *desc,
                               const char *name, uint32_t *chosen, orr_error *error)
{
    uint32_t outside = orr_components_at(spaces, l, (const int[3]){0, 0, 0}); // the margin is empty
    uint32_t inside = largest_inside(spaces, outside);
    *chosen = desc->side == ORR_COLLIDER_AUTO ? component_of_eyes(spaces, l, desc) : UINT32_MAX;
    if (*chosen == UINT32_MAX) {
        double enclosed = inside == UINT32_MAX ? 0.0 : (double)spaces->sizes[inside];
        bool room = desc->side == ORR_COLLIDER_INSIDE ||
                    (desc->side == ORR_COLLIDER_AUTO &&
                     enclosed > ROOM_RATIO * (double)count_bounded(l, spaces, outside));
        *chosen = room ? inside : outside;
    }
    l->enclosed = *chosen != outside;
    return *chosen != UINT32_MAX ? ORR_OK
                                 : orr_fail(error, ORR_CODE_ARGUMENT,
                                            "%s: expected surfaces that enclose a space: with a wider gap "
                                            "to close, or free space outside",
                                            name);
}

// ---- back to the surfaces ----

typedef struct growth {
    orr_lattice *lattice;
    int parity;
} growth;

enum { POINT_REACHED = 3 }; // free after this step

// Open points beside free ones, in every second slice, so that no slice that is read is written.
static void grow_slice(void *context, int pair, int worker)
{
    (void)worker;
    const growth *g = context;
    orr_lattice *l = g->lattice;
    int z = 2 * pair + g->parity;
    ptrdiff_t nx = l->points[0], slice = nx * l->points[1];
    for (int y = 1; z > 0 && z < l->points[2] - 1 && y < l->points[1] - 1; y++) {
        uint8_t *row = l->label + orr_lattice_index(l, 0, y, z);
        for (ptrdiff_t x = 1; x < nx - 1; x++) {
            if (row[x] == ORR_POINT_OPEN &&
                (row[x - 1] == ORR_POINT_FREE || row[x + 1] == ORR_POINT_FREE ||
                 row[x - nx] == ORR_POINT_FREE || row[x + nx] == ORR_POINT_FREE ||
                 row[x - slice] == ORR_POINT_FREE || row[x + slice] == ORR_POINT_FREE)) {
                row[x] = POINT_REACHED;
            }
        }
    }
}

static void grow_free(orr_lattice *l, int steps, orr_jobs *jobs)
{
    size_t size = orr_lattice_size(l);
    for (int step = 0; step < steps; step++) {
        for (int parity = 0; parity < 2; parity++) {
            growth g = {l, parity};
            orr_jobs_for(jobs, (l->points[2] + 1) / 2, grow_slice, &g);
        }
        for (size_t i = 0; i < size; i++) {
            l->label[i] = l->label[i] == POINT_REACHED ? ORR_POINT_FREE : l->label[i];
        }
    }
}

// The space that a ball of the radius reaches: spaces of its middle, then the ball around it.
static orr_result flood(orr_lattice *l, uint8_t *blocked, const orr_collider_desc *desc, int radius,
                        const char *name, orr_jobs *jobs, orr_error *error)
{
    size_t size = orr_lattice_size(l);
    for (size_t i = 0; i < size; i++) {
        blocked[i] = l->label[i] == ORR_POINT_SURFACE ? 0 : 255;
    }
    ORR_TRY(find_squares(l, blocked, radius, jobs, error));
    for (size_t i = 0; i < size; i++) {
        blocked[i] = blocked[i] <= radius * radius;
    }
    orr_components spaces;
    ORR_TRY(orr_components_find(l, blocked, &spaces, error));
    uint32_t chosen;
    orr_result result = choose_space(l, &spaces, desc, name, &chosen, error);
    memset(blocked, 255, size);
    size_t rows = (size_t)l->points[1] * (size_t)l->points[2];
    for (size_t row = 0; row < rows && result == ORR_OK; row++) {
        for (uint32_t i = spaces.rows[row]; i < spaces.rows[row + 1]; i++) {
            const orr_run *run = &spaces.runs[i];
            if (run->component == chosen) {
                memset(blocked + row * (size_t)l->points[0] + run->first, 0, (size_t)(run->end - run->first));
            }
        }
    }
    orr_components_free(&spaces);
    ORR_TRY(result);
    ORR_TRY(find_squares(l, blocked, radius, jobs, error));
    for (size_t i = 0; i < size; i++) {
        bool reached = blocked[i] <= radius * radius && l->label[i] == ORR_POINT_OPEN;
        l->label[i] = reached ? ORR_POINT_FREE : l->label[i];
    }
    return ORR_OK;
}

orr_result orr_free_space_find(orr_lattice *lattice, const orr_collider_desc *desc, int radius,
                               const char *name, orr_jobs *jobs, orr_collider_report *report,
                               orr_error *error)
{
    uint8_t *blocked = (uint8_t *)lattice->value; // values come later
    ORR_TRY(remove_islands(lattice, blocked, desc->island, name, &report->islands, error));
    ORR_TRY(flood(lattice, blocked, desc, radius, name, jobs, error));
    grow_free(lattice, radius, jobs); // into corners that are narrower than the ball
    report->side = lattice->enclosed ? ORR_COLLIDER_INSIDE : ORR_COLLIDER_OUTSIDE;
    return ORR_OK;
}
