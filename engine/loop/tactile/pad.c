// A pad's taxels, and which geoms can press it.
#include "engine/loop/tactile/pad.h"

#include "engine/core/memory.h"
#include "engine/loop/world/geom_distance.h"
#include "engine/maths/rotation.h"
#include "engine/maths/vector.h"

#include <math.h>
#include <string.h>

enum { SIDE_MAX = 1024, STEPS = 256 };
static const double inset = 0.003;    // m: of the grid from the geom's sides, where no size is given
static const double tolerance = 1e-9; // of the geom's size: how near a taxel is to its surface

// ---- the pad's frame ----

static int longest(const double v[3])
{
    int axis = 0;
    for (int k = 1; k < 3; k++) {
        axis = fabs(v[k]) > fabs(v[axis]) ? k : axis;
    }
    return axis;
}

// z: the normal; x: what of `across` is at a right angle to it.
static orr_result find_axes(const orr_tactile_desc *desc, double axes[9], orr_error *error)
{
    double *x = axes, *y = axes + 3, *z = axes + 6;
    memcpy(z, desc->normal, 3 * sizeof *z);
    memcpy(x, desc->across, 3 * sizeof *x);
    if (vec3_normalise(z) == 0.0) {
        z[2] = 1.0;
    }
    if (vec3_normalise(x) == 0.0) {
        x[(longest(z) + 1) % 3] = 1.0;
    }
    const double along = vec3_dot(x, z);
    for (int k = 0; k < 3; k++) {
        x[k] -= along * z[k];
    }
    if (!(vec3_normalise(x) > 1e-6)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "a tactile pad's across: expected another direction than normal");
    }
    vec3_cross(z, x, y);
    return ORR_OK;
}

// Half the length of the box around the geom in a direction of the geom's frame.
static double half_extent(const double box[6], const double direction[3])
{
    double half = 0.0;
    for (int k = 0; k < 3; k++) {
        half += fabs(direction[k]) * box[3 + k];
    }
    return half;
}

// ---- taxels ----

// The pad's surface below (x, y, top), by steps of its distance. Returns whether there is one.
static bool find_surface(const orr_model *m, const orr_tactile_pad *pad, double x, double y, double top,
                         double bottom, double *z)
{
    *z = top;
    for (int i = 0; i < STEPS && *z >= bottom; i++) {
        const double at[3] = {x, y, *z};
        double p[3];
        mat_apply_transposed(pad->axes, at, p);
        for (int k = 0; k < 3; k++) {
            p[k] += pad->centre[k];
        }
        const double distance = orr_geom_distance_at(m, pad->geom, p).distance;
        if (fabs(distance) < tolerance * (top - bottom)) {
            return true;
        }
        *z -= distance;
    }
    return false;
}

static orr_result place_taxels(const orr_model *m, orr_tactile_pad *pad, const double size[2],
                               orr_error *error)
{
    const double *box = m->geom_aabb + (ptrdiff_t)pad->geom * 6;
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, from[3];
    for (int k = 0; k < 3; k++) {
        from[k] = box[k] - pad->centre[k];
    }
    const double half = half_extent(box, pad->axes + 6), middle = vec3_dot(from, pad->axes + 6);
    ORR_ALLOC(pad->taxel, (int64_t)pad->rows * pad->columns * 3, "a tactile pad", error);
    for (int i = 0; i < pad->rows * pad->columns; i++) {
        const int row = i / pad->columns, column = i % pad->columns;
        double *at = pad->taxel + (ptrdiff_t)i * 3;
        at[0] = pad->columns > 1 ? size[0] * (column / (pad->columns - 1.0) - 0.5) : 0.0;
        at[1] = pad->rows > 1 ? size[1] * (row / (pad->rows - 1.0) - 0.5) : 0.0;
        if (!find_surface(m, pad, at[0], at[1], middle + 1.5 * half, middle - 1.5 * half, &at[2])) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "a tactile pad of %g x %g m: row %d, column %d is beside its geom", size[0],
                            size[1], row, column);
        }
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], at[k]), high[k] = fmax(high[k], at[k]);
        }
    }
    low[2] -= pad->thickness;
    double reach[3];
    for (int k = 0; k < 3; k++) {
        pad->middle[k] = 0.5 * (low[k] + high[k]), reach[k] = 0.5 * (high[k] - low[k]);
    }
    pad->radius = vec3_length(reach);
    return ORR_OK;
}

// ---- what presses ----

// As rigid contact has it, but for the bits, which only say whether a geom collides with anything: those of a
// pad may be 0, for a soft one that bodies sink into.
static bool presses(const orr_model *m, int pad, int other)
{
    const int body1 = m->geom_bodyid[pad], body2 = m->geom_bodyid[other];
    const int weld1 = m->body_weldid[body1], weld2 = m->body_weldid[body2];
    if (weld1 == weld2 || (m->geom_contype[other] | m->geom_conaffinity[other]) == 0) {
        return false;
    }
    const int above1 = m->body_weldid[m->body_parentid[weld1]],
              above2 = m->body_weldid[m->body_parentid[weld2]];
    const bool filter = !(m->opt.disableflags & ORR_DISABLE_FILTERPARENT);
    if (filter && weld1 != 0 && weld2 != 0 && (weld1 == above2 || weld2 == above1)) {
        return false;
    }
    for (int i = 0; i < m->nexclude; i++) {
        const int a = m->exclude_signature[i] / 65536, b = m->exclude_signature[i] % 65536;
        if ((a == body1 && b == body2) || (a == body2 && b == body1)) {
            return false;
        }
    }
    return true;
}

static orr_result find_others(const orr_model *m, orr_tactile_pad *pad, orr_error *error)
{
    ORR_ALLOC(pad->other, m->ngeom, "a tactile pad", error);
    for (int i = 0; i < m->ngeom; i++) {
        if (presses(m, pad->geom, i)) {
            pad->other[pad->other_count++] = i;
        }
    }
    return ORR_OK;
}

// ---- the desc ----

static orr_result check(const orr_tactile_desc *desc, orr_error *error)
{
    const struct {
        const char *name;
        double value, least;
    } number[] = {{"normal[0]", desc->normal[0], -INFINITY}, {"normal[1]", desc->normal[1], -INFINITY},
                  {"normal[2]", desc->normal[2], -INFINITY}, {"across[0]", desc->across[0], -INFINITY},
                  {"across[1]", desc->across[1], -INFINITY}, {"across[2]", desc->across[2], -INFINITY},
                  {"centre[0]", desc->centre[0], -INFINITY}, {"centre[1]", desc->centre[1], -INFINITY},
                  {"centre[2]", desc->centre[2], -INFINITY}, {"size[0]", desc->size[0], 0.0},
                  {"size[1]", desc->size[1], 0.0},           {"stiffness", desc->stiffness, 0.0},
                  {"damping", desc->damping, 0.0},           {"friction", desc->friction, 0.0},
                  {"thickness", desc->thickness, 0.0}};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        if (!(isfinite(number[i].value) && number[i].value >= number[i].least)) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "a tactile pad's %s of %g: expected %s", number[i].name,
                            number[i].value, number[i].least == 0.0 ? "0 or more" : "a finite number");
        }
    }
    if (desc->rows < 0 || desc->columns < 0 || desc->rows > SIDE_MAX || desc->columns > SIDE_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "a tactile pad of %d x %d taxels: expected 0 to %d each",
                        desc->rows, desc->columns, SIDE_MAX);
    }
    return ORR_OK;
}

static orr_result open_pad(orr_tactile_pad *pad, const orr_model *m, const orr_tactile_desc *desc,
                           orr_error *error)
{
    if (m->geom_type[pad->geom] == ORR_GEOM_PLANE) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "a tactile pad on a plane: expected a geom that ends");
    }
    ORR_TRY(check(desc, error));
    ORR_TRY(find_axes(desc, pad->axes, error));
    double size[2];
    for (int k = 0; k < 2; k++) {
        const double whole = 2.0 * half_extent(m->geom_aabb + (ptrdiff_t)pad->geom * 6, pad->axes + 3 * k);
        size[k] = desc->size[k] > 0.0 ? desc->size[k] : whole - 2.0 * inset;
        if (!(size[k] > 0.0)) {
            return orr_fail(error, ORR_CODE_ARGUMENT,
                            "a tactile pad on a geom of %g m: expected its size, or a geom of more than %g m",
                            whole, 2.0 * inset);
        }
    }
    ORR_TRY(place_taxels(m, pad, size, error));
    return find_others(m, pad, error);
}

orr_result orr_tactile_pad_open(orr_tactile_pad *pad, const orr_model *m, int geom,
                                const orr_tactile_desc *desc, orr_error *error)
{
    *pad = (orr_tactile_pad){.geom = geom,
                             .rows = desc->rows ? desc->rows : 20,
                             .columns = desc->columns ? desc->columns : 25,
                             .stiffness = desc->stiffness > 0.0 ? desc->stiffness : 1.0,
                             .damping = desc->damping > 0.0 ? desc->damping : 0.1,
                             .friction = desc->friction > 0.0 ? desc->friction : 2.0,
                             .thickness = desc->thickness > 0.0 ? desc->thickness : 0.004};
    for (int k = 0; k < 3; k++) {
        pad->centre[k] = m->geom_aabb[(ptrdiff_t)geom * 6 + k] + desc->centre[k];
    }
    const orr_result result = open_pad(pad, m, desc, error);
    if (result != ORR_OK) {
        orr_tactile_pad_clear(pad);
    }
    return result;
}

void orr_tactile_pad_clear(orr_tactile_pad *pad)
{
    orr_free(pad->taxel);
    orr_free(pad->other);
    *pad = (orr_tactile_pad){.geom = -1};
}
