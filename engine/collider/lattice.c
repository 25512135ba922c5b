#include "engine/collider/lattice.h"

#include "engine/core/memory.h"

#include <math.h>
#include <string.h>

double orr_lattice_count(const double low[3], const double high[3], double cell, int margin, double points[3])
{
    double count = 1.0;
    for (int k = 0; k < 3; k++) {
        points[k] = ceil((high[k] - low[k]) / cell) + 1.0 + 2.0 * margin;
        count *= points[k];
    }
    return count;
}

orr_result orr_lattice_create(orr_lattice *lattice, const double low[3], const double high[3], double cell,
                              int margin, const char *name, orr_error *error)
{
    *lattice = (orr_lattice){.cell = cell, .per_cell = 1};
    double points[3], count = orr_lattice_count(low, high, cell, margin, points);
    for (int k = 0; k < 3; k++) {
        lattice->origin[k] = low[k] - margin * cell;
    }
    double longest = fmax(fmax(points[0], points[1]), points[2]);
    if (!(count <= ORR_LATTICE_MAX) || longest > ORR_MARCHING_RESOLUTION_MAX) {
        return orr_fail(error, ORR_CODE_CAPACITY,
                        "%s: %.0f x %.0f x %.0f cells of %g: expected at most %d in all and %d along a side: "
                        "use larger cells",
                        name, points[0], points[1], points[2], cell, ORR_LATTICE_MAX,
                        ORR_MARCHING_RESOLUTION_MAX);
    }
    for (int k = 0; k < 3; k++) {
        lattice->points[k] = (int32_t)points[k];
    }
    size_t size = orr_lattice_size(lattice);
    ORR_ALLOC(lattice->label, size, name, error);
    ORR_ALLOC(lattice->value, size, name, error);
    memset(lattice->label, ORR_POINT_OPEN, size);
    return ORR_OK;
}

void orr_lattice_destroy(orr_lattice *lattice)
{
    orr_free(lattice->label);
    orr_free(lattice->value);
    *lattice = (orr_lattice){0};
}

typedef struct walk {
    const orr_lattice *lattice;
    float scale; // cells along the longest side that marching cubes walks over
} walk;

static void values(void *context, int worker, const float *points, float *out)
{
    (void)worker;
    const walk *w = context;
    const orr_lattice *l = w->lattice;
    for (int i = 0; i < ORR_SAMPLES; i++) {
        int at[3];
        bool within = true;
        for (int k = 0; k < 3; k++) {
            at[k] = (int)lrintf(points[k * ORR_SAMPLES + i] * w->scale);
            within = within && at[k] < l->points[k];
        }
        float value = within ? (float)l->value[orr_lattice_index(l, at[0], at[1], at[2])] : 0.0f;
        out[i] = !within ? (float)ORR_LATTICE_STEPS : l->enclosed ? -value : value;
    }
}

orr_result orr_lattice_surface(const orr_lattice *lattice, orr_jobs *jobs, orr_surface *surface,
                               orr_error *error)
{
    int longest = 0;
    for (int k = 0; k < 3; k++) {
        longest = lattice->points[k] > longest ? lattice->points[k] : longest;
    }
    int cells[3]; // one more than there is, but along the longest: what is beyond closes the surface
    for (int k = 0; k < 3; k++) {
        cells[k] = lattice->points[k] < longest ? lattice->points[k] : longest - 1;
    }
    walk w = {.lattice = lattice, .scale = (float)(longest - 1)};
    const orr_marching_function function = {.context = &w, .values = values};
    ORR_TRY(orr_marching_cubes(&function, jobs, cells, surface, error));
    const float place[12] = {w.scale, 0, 0, 0, 0, w.scale, 0, 0, 0, 0, w.scale, 0};
    orr_surface_transform(surface, place);
    return ORR_OK;
}
