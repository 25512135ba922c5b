#define ORR_SCALAR
#include "engine/collider/radiance.h"

#include "engine/collider/free_space.h"
#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "neural/fields/occupancy_formula.h"
#include "neural/fields/radiance_formula.h"

#include <math.h>
#include <string.h>

enum { MARGIN = 4 };

typedef struct radiance_work {
    const orr_field *field;
    const orr_occupancy *grid; // NULL: the field is unbounded
    orr_lattice *lattice;
    float to_unit[12]; // from the lattice's cells
    float thickness;   // optical thickness of a cell at the surface
    float cell;        // in the field's space
    float *scratch;    // per worker: the field's, then outputs of a block
    size_t scratch_floats, field_floats;
} radiance_work;

// Does the field's space have density at a point at all?
static bool is_marched(const radiance_work *w, const float p[3])
{
    float reach = fmaxf(fmaxf(fabsf(p[0] - 0.5f), fabsf(p[1] - 0.5f)), fabsf(p[2] - 0.5f));
    if (!w->grid) {
        return reach <= 0.5f; // of an unbounded scene only the unit cube is not folded
    }
    float last = (float)(w->grid->cascades - 1);
    if (reach > 0.5f * exp2f(last)) {
        return false;
    }
    float cascade = occupancy_cascade(make_real3(p[0], p[1], p[2]), (float)OCCUPANCY_STEP, last);
    size_t cell = occupancy_index(occupancy_cell(make_real3(p[0], p[1], p[2]), exp2f(-cascade)), cascade);
    return w->grid->bits[cell / 32] >> cell % 32 & 1;
}

// Values of a block of points: the distance to the surface, if the density were linear [cells].
static void evaluate(const radiance_work *w, int worker, const float *points, const size_t *at, int count)
{
    float *scratch = w->scratch + (size_t)worker * w->scratch_floats, *outputs = scratch + w->field_floats;
    orr_field_values(w->field, points, scratch, outputs);
    for (int i = 0; i < count; i++) {
        float thickness = radiance_density(outputs[i]) * w->cell;
        w->lattice->value[at[i]] = orr_lattice_value((w->thickness - thickness) / w->thickness);
        w->lattice->label[at[i]] = thickness >= w->thickness ? ORR_POINT_SURFACE : ORR_POINT_OPEN;
    }
}

static void evaluate_slice(void *context, int z, int worker)
{
    const radiance_work *w = context;
    const orr_lattice *l = w->lattice;
    float side = (float)orr_field_describe(w->field)->aabb_scale;
    _Alignas(ORR_ALIGNMENT) float points[3 * ORR_SAMPLES] = {0};
    size_t at[ORR_SAMPLES];
    int count = 0;
    for (int y = 0; y < l->points[1]; y++) {
        for (int x = 0; x < l->points[0]; x++) {
            float p[3];
            for (int k = 0; k < 3; k++) {
                const float *row = w->to_unit + 4 * k;
                p[k] = row[0] * (float)x + row[1] * (float)y + row[2] * (float)z + row[3];
            }
            at[count] = orr_lattice_index(l, x, y, z);
            w->lattice->value[at[count]] = orr_lattice_value(1.0f);
            if (!is_marched(w, p)) {
                continue;
            }
            for (int k = 0; k < 3; k++) { // the encoding covers the cube of side aabb_scale
                points[k * ORR_SAMPLES + count] = (p[k] - 0.5f) / side + 0.5f;
            }
            if (++count == ORR_SAMPLES) {
                evaluate(w, worker, points, at, count);
                count = 0;
            }
        }
    }
    evaluate(w, worker, points, at, count); // what is behind the count are finite points of before
}

static orr_result fill(radiance_work *w, const orr_collider_desc *desc, int radius, const char *name,
                       orr_jobs *jobs, const orr_progress *progress, orr_collider_report *report,
                       orr_error *error)
{
    orr_lattice *l = w->lattice;
    int outputs = orr_field_parts_of(w->field)->network.output_dims;
    w->field_floats = (orr_field_scratch_floats(w->field) + 15) / 16 * 16;
    w->scratch_floats = w->field_floats + (size_t)outputs * ORR_SAMPLES;
    ORR_ALLOC(w->scratch, (size_t)orr_jobs_workers(jobs) * w->scratch_floats, name, error);
    ORR_TRY(orr_progress_at(progress, "density", 0.0, error));
    orr_jobs_for(jobs, l->points[2], evaluate_slice, w);
    ORR_TRY(orr_progress_at(progress, "free space", 0.4, error));
    size_t size = orr_lattice_size(l);
    int8_t *density = orr_alloc(size, 1); // free_space.h uses the values' memory
    if (!density) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", name);
    }
    memcpy(density, l->value, size);
    orr_result result = orr_free_space_find(l, desc, radius, name, jobs, report, error);
    for (size_t i = 0; i < size; i++) {
        // densities decide where free space ends; closed gaps, and what is behind a surface, are solid
        l->value[i] = l->label[i] == ORR_POINT_OPEN ? orr_lattice_value(-1.0f) : density[i];
    }
    orr_free(density);
    return result;
}

orr_result orr_collider_of_radiance(const orr_field_layer *field, const orr_collider_desc *desc,
                                    const char *name, orr_jobs *jobs, const orr_progress *progress,
                                    orr_lattice *lattice, orr_collider_report *report, orr_error *error)
{
    *lattice = (orr_lattice){0};
    const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    float low[3], high[3], to_unit[12];
    double bounds[2][3];
    radiance_work w = {.field = orr_field_layer_field(field),
                       .grid = orr_field_layer_grid(field),
                       .lattice = lattice,
                       .thickness = (float)-log1p(-desc->opacity)};
    if (orr_field_describe(w.field)->unbounded) {
        w.grid = NULL;
    }
    orr_field_layer_bounds(field, low, high);
    for (int k = 0; k < 3; k++) {
        bounds[0][k] = (double)low[k];
        bounds[1][k] = (double)high[k];
    }
    ORR_TRY(orr_field_layer_to_unit(field, identity, to_unit, error));
    int radius = (int)fmin(ceil(0.5 * desc->gap / desc->cell), ORR_GAP_RADIUS_MAX);
    ORR_TRY(orr_lattice_create(lattice, bounds[0], bounds[1], desc->cell, MARGIN + radius, name, error));
    for (int row = 0; row < 3; row++) {
        double offset = (double)to_unit[4 * row + 3];
        for (int k = 0; k < 3; k++) {
            offset += (double)to_unit[4 * row + k] * lattice->origin[k];
            w.to_unit[4 * row + k] = (float)((double)to_unit[4 * row + k] * desc->cell);
        }
        w.to_unit[4 * row + 3] = (float)offset;
    }
    w.cell = sqrtf(vec3f_dot(w.to_unit, w.to_unit));
    orr_result result = fill(&w, desc, radius, name, jobs, progress, report, error);
    orr_free(w.scratch);
    if (result != ORR_OK) {
        orr_lattice_destroy(lattice);
    }
    return result;
}
