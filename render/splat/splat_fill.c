#include "render/splat/splat_fill.h"

#include "engine/core/memory.h"
#include "engine/maths/rotation.h"

#include <math.h>
#include <string.h>

enum {
    CELLS_MAX = 128, // along a side of the grid
    SWEEPS = 400,    // enough for 128 cells with OVERSHOOT
    VALUES = 4       // height above the face, colour
};
static const double OVERSHOOT = 1.9; // of successive over-relaxation
static const float SOLID = 0.0f;     // logit of opacity from which a splat is a part of a surface

// A face of the box and its surroundings, in cells. Points are in the box's frame.
typedef struct face {
    int axis;         // of its normal
    double sign;      // of its normal
    double height;    // of its plane, along the normal
    double half[2];   // of the face, along the two other axes
    double corner[2]; // of the grid
    double cell;
    int n[2];
    double *value;  // n[0] x n[1] x VALUES
    double *weight; // n[0] x n[1]: splats in it; 0: nothing was captured
} face;

static void to_box(const orr_region *r, const double back[4], const float position[3], double out[3])
{
    double from[3];
    for (int k = 0; k < 3; k++) {
        from[k] = (double)position[k] - (double)r->centre[k];
    }
    quat_apply(back, from, out);
}

static bool is_in_box(const orr_region *r, const double p[3])
{
    return fabs(p[0]) < 0.5 * (double)r->size[0] && fabs(p[1]) < 0.5 * (double)r->size[1] &&
           fabs(p[2]) < 0.5 * (double)r->size[2];
}

// The splat's place in the face's surroundings: along the other axes, and above the face; false: elsewhere.
static bool place_in(const face *f, double rim, const double p[3], double at[2], double *height)
{
    at[0] = p[(f->axis + 1) % 3], at[1] = p[(f->axis + 2) % 3];
    *height = f->sign * p[f->axis] - f->height;
    return fabs(*height) <= rim && fabs(at[0]) <= f->half[0] + rim && fabs(at[1]) <= f->half[1] + rim;
}

static int cell_of(const face *f, const double at[2])
{
    int index[2];
    for (int k = 0; k < 2; k++) {
        const int i = (int)((at[k] - f->corner[k]) / f->cell);
        index[k] = i < 0 ? 0 : i < f->n[k] ? i : f->n[k] - 1;
    }
    return index[1] * f->n[0] + index[0];
}

static bool is_in_face(const face *f, int cell)
{
    const int index[2] = {cell % f->n[0], cell / f->n[0]};
    for (int k = 0; k < 2; k++) {
        if (fabs(f->corner[k] + (index[k] + 0.5) * f->cell) > f->half[k]) {
            return false;
        }
    }
    return true;
}

// Sums up what was captured of each cell; without memory only counts it.
static int64_t gather(const orr_splats_view *s, const orr_region *r, const double back[4], const face *f)
{
    int64_t count = 0;
    for (int64_t i = 0; i < s->count; i++) {
        double p[3], at[2], height;
        to_box(r, back, s->position + 3 * i, p);
        if (s->opacity[i] < SOLID || is_in_box(r, p) || !place_in(f, (double)r->rim, p, at, &height)) {
            continue;
        }
        count++;
        if (f->weight) {
            const int cell = cell_of(f, at);
            double *value = f->value + (ptrdiff_t)VALUES * cell;
            f->weight[cell] += 1.0;
            value[0] += height;
            for (int k = 0; k < 3; k++) {
                value[1 + k] += (double)s->colour[3 * i + k];
            }
        }
    }
    return count;
}

// Has enough of what surrounds the face been captured?
static bool is_surrounded(const face *f)
{
    int around = 0, captured = 0;
    for (int i = 0; i < f->n[0] * f->n[1]; i++) {
        if (!is_in_face(f, i)) {
            around++;
            captured += f->weight[i] > 0.0;
        }
    }
    return 2 * captured >= around && captured > 0;
}

static void relax(const face *f, int cell)
{
    const int x = cell % f->n[0], y = cell / f->n[0];
    const int beside[4] = {x > 0 ? cell - 1 : -1, x + 1 < f->n[0] ? cell + 1 : -1,
                           y > 0 ? cell - f->n[0] : -1, y + 1 < f->n[1] ? cell + f->n[0] : -1};
    for (int k = 0; k < VALUES; k++) {
        double sum = 0.0, count = 0.0, *value = &f->value[(ptrdiff_t)VALUES * cell + k];
        for (int i = 0; i < 4; i++) {
            if (beside[i] >= 0) {
                sum += f->value[(ptrdiff_t)VALUES * beside[i] + k];
                count += 1.0;
            }
        }
        *value += OVERSHOOT * (sum / count - *value);
    }
}

// Means of the captured cells; the others begin with the mean of all, and go where their neighbours are.
static void solve(const face *f)
{
    const int cells = f->n[0] * f->n[1];
    double mean[VALUES] = {0.0}, total = 0.0;
    for (int i = 0; i < cells; i++) {
        for (int k = 0; k < VALUES; k++) {
            mean[k] += f->value[(ptrdiff_t)VALUES * i + k];
        }
        total += f->weight[i];
    }
    for (int i = 0; i < cells; i++) {
        for (int k = 0; k < VALUES; k++) {
            double *value = &f->value[(ptrdiff_t)VALUES * i + k];
            *value = f->weight[i] > 0.0 ? *value / f->weight[i] : mean[k] / total;
        }
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (int i = 0; i < cells; i++) {
            if (!(f->weight[i] > 0.0)) {
                relax(f, i);
            }
        }
    }
}

static void set_patch(const orr_region *r, const double back[4], const face *f, int cell,
                      orr_splat_patch *out)
{
    const double *value = f->value + (ptrdiff_t)VALUES * cell;
    double p[3], world[3], forth[4];
    const int axis[3] = {f->axis, (f->axis + 1) % 3, (f->axis + 2) % 3};
    p[axis[0]] = f->sign * (f->height + value[0]);
    p[axis[1]] = f->corner[0] + (cell % f->n[0] + 0.5) * f->cell;
    p[axis[2]] = f->corner[1] + (cell / f->n[0] + 0.5) * f->cell;
    quat_conjugate(back, forth);
    quat_apply(forth, p, world);
    for (int k = 0; k < 3; k++) {
        out->position[k] = (float)(world[k] + (double)r->centre[k]);
        out->colour[k] = (float)value[1 + k];
        // wide enough to leave no gaps, and thin
        out->log_scale[axis[k]] = (float)log(f->cell * (k == 0 ? 0.1 : 0.8));
    }
}

// Cells as large as hold about two splats where the surroundings have been captured.
static void choose_cells(const orr_region *r, int64_t splats, face *f)
{
    const double rim = (double)r->rim, wide = 2.0 * (f->half[0] + rim), high = 2.0 * (f->half[1] + rim);
    const double around = wide * high - 4.0 * f->half[0] * f->half[1];
    f->cell = fmax(fmin(sqrt(2.0 * around / (double)splats), rim), fmax(wide, high) / CELLS_MAX);
    for (int k = 0; k < 2; k++) {
        f->n[k] = (int)ceil(2.0 * (f->half[k] + rim) / f->cell - 1e-9);
        f->corner[k] = -0.5 * f->n[k] * f->cell;
    }
}

static orr_result fill_face(const orr_splats_view *s, const orr_region *r, const double back[4], face *f,
                            orr_splat_patch **patches, int *capacity, int *count, orr_error *error)
{
    const int64_t splats = gather(s, r, back, f);
    if (splats == 0) {
        return ORR_OK;
    }
    choose_cells(r, splats, f);
    const int cells = f->n[0] * f->n[1];
    f->value = orr_alloc_zero((size_t)cells, (VALUES + 1) * sizeof *f->value);
    if (!f->value) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the hole of a region");
    }
    f->weight = f->value + (ptrdiff_t)VALUES * cells;
    gather(s, r, back, f);
    if (is_surrounded(f)) {
        solve(f);
        ORR_GROW(*patches, *capacity, *count + cells, "the hole of a region", error);
        for (int i = 0; i < cells; i++) {
            if (is_in_face(f, i) && !(f->weight[i] > 0.0)) {
                set_patch(r, back, f, i, &(*patches)[(*count)++]);
            }
        }
    }
    return ORR_OK;
}

orr_result orr_splat_fill(const orr_splats_view *splats, const orr_region *region, const double back[4],
                          orr_splat_patch **patches, int *count, orr_error *error)
{
    int capacity = 0;
    orr_result result = ORR_OK;
    *patches = NULL;
    *count = 0;
    for (int i = 0; i < 6 && result == ORR_OK; i++) {
        const int axis = i % 3;
        face f = {
            .axis = axis,
            .sign = i < 3 ? -1.0 : 1.0,
            .height = 0.5 * (double)region->size[axis],
            .half = {0.5 * (double)region->size[(axis + 1) % 3], 0.5 * (double)region->size[(axis + 2) % 3]}};
        result = fill_face(splats, region, back, &f, patches, &capacity, count, error);
        orr_free(f.value);
    }
    if (result != ORR_OK) {
        orr_free(*patches);
        *patches = NULL;
    }
    return result;
}
