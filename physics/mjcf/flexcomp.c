// <flexcomp>: a soft body made of a shape (flexcomp_points.c), with its material and its pins.
#include "physics/mjcf/mjcf.h"

#include <string.h>

enum { CONTACT_FRICTIONS = 3 }; // sliding, torsional, rolling; the last two have no effect

static orr_result pin_point(const mjcf_node *node, mjcf_flexcomp *f, double index, orr_error *error)
{
    if (!(index >= 0.0 && index < f->flex.points) || index != rint(index)) {
        return mjcf_fail(node, error, "expected points from 0 to %d, not %g", f->flex.points - 1, index);
    }
    f->flex.pinned[(int)index] = 1;
    return ORR_OK;
}

// Points of a grid from `low` to `high`, both with as many coordinates as it has axes.
static orr_result pin_grid(const mjcf_node *node, mjcf_flexcomp *f, const double *low, const double *high,
                           orr_error *error)
{
    int from[3] = {0}, to[3] = {0};
    for (int k = 0; k < f->flex.dim; k++) {
        if (!(low[k] >= 0.0 && low[k] <= high[k] && high[k] < f->count[k]) || low[k] != rint(low[k]) ||
            high[k] != rint(high[k])) {
            return mjcf_fail(node, error, "axis %d of a grid: expected 0 to %d, not %g to %g", k,
                             f->count[k] - 1, low[k], high[k]);
        }
        from[k] = (int)low[k], to[k] = (int)high[k];
    }
    for (int x = from[0]; x <= to[0]; x++) {
        for (int y = from[1]; y <= to[1]; y++) {
            for (int z = from[2]; z <= to[2]; z++) {
                f->flex.pinned[z + f->count[2] * (y + f->count[1] * x)] = 1;
            }
        }
    }
    return ORR_OK;
}

static orr_result read_pin(mjcf_reader *reader, const mjcf_node *node, mjcf_flexcomp *f)
{
    mjcf_flex_pin pin = {0};
    const int dim = f->flex.dim;
    ORR_TRY(mjcf_no_children(node, reader->error));
    ORR_TRY(mjcf_read(node, mjcf_flex_pin_members, NULL, &pin, reader->spec, reader->error));
    const bool grid = pin.grid.count > 0 || pin.gridrange.count > 0;
    if ((grid && f->type != MJCF_FLEX_GRID) || pin.range.count % 2 || pin.grid.count % dim ||
        pin.gridrange.count % (2 * dim)) {
        return mjcf_fail(
            node, reader->error,
            "expected range in pairs of points, and for a grid of %d axes as many numbers in grid "
            "and twice as many in gridrange",
            dim);
    }
    for (int i = 0; i < pin.id.count; i++) {
        ORR_TRY(pin_point(node, f, pin.id.values[i], reader->error));
    }
    for (int i = 0; i < pin.range.count; i += 2) {
        ORR_TRY(pin_point(node, f, pin.range.values[i + 1], reader->error));
        for (double p = pin.range.values[i]; p < pin.range.values[i + 1]; p += 1.0) {
            ORR_TRY(pin_point(node, f, p, reader->error));
        }
    }
    for (int i = 0; i < pin.grid.count; i += dim) {
        ORR_TRY(pin_grid(node, f, pin.grid.values + i, pin.grid.values + i, reader->error));
    }
    for (int i = 0; i < pin.gridrange.count; i += 2 * dim) {
        ORR_TRY(pin_grid(node, f, pin.gridrange.values + i, pin.gridrange.values + i + dim, reader->error));
    }
    return ORR_OK;
}

static orr_result read_child(mjcf_reader *reader, const mjcf_node *node, const mjcf_node *parent,
                             mjcf_flexcomp *f)
{
    static const struct {
        const char *name;
        const mjcf_member *members;
    } children[] = {{"contact", mjcf_flex_contact_members},
                    {"edge", mjcf_flex_edge_members},
                    {"elasticity", mjcf_flex_elasticity_members}};
    static const char *const own[] = {"friction", NULL};
    for (size_t i = 0; i < sizeof children / sizeof children[0]; i++) {
        if (!mjcf_is(node, children[i].name)) {
            continue;
        }
        double friction[CONTACT_FRICTIONS] = {f->flex.friction};
        int count = 0;
        ORR_TRY(mjcf_no_children(node, reader->error));
        ORR_TRY(mjcf_read(node, children[i].members, i == 0 ? own : NULL, f, reader->spec, reader->error));
        if (i == 0) {
            ORR_TRY(
                mjcf_read_numbers(node, "friction", 1, CONTACT_FRICTIONS, friction, &count, reader->error));
            f->flex.friction = friction[0];
        }
        return ORR_OK;
    }
    return mjcf_is(node, "pin") ? ORR_OK : mjcf_unknown(node, parent, reader->error);
}

static orr_result check_material(mjcf_reader *reader, const mjcf_node *node, const spec_flex *flex)
{
    const struct {
        const char *name;
        double value;
        double least;
    } numbers[] = {{"mass", flex->mass, 1e-15},
                   {"radius", flex->radius, 0.0},
                   {"friction", flex->friction, 0.0},
                   {"young", flex->young, 0.0},
                   {"poisson", flex->poisson, 0.0},
                   {"damping", flex->damping, 0.0},
                   {"edge stiffness", flex->edge_stiffness, 0.0},
                   {"edge damping", flex->edge_damping, 0.0}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (!(numbers[i].value >= numbers[i].least)) {
            return mjcf_fail(node, reader->error, "%s: expected at least %g, not %g", numbers[i].name,
                             numbers[i].least, numbers[i].value);
        }
    }
    if (flex->poisson >= 0.5) {
        return mjcf_fail(node, reader->error, "poisson: expected less than 0.5, not %g", flex->poisson);
    }
    if (flex->edge_stiffness > 0.0 && flex->dim != 1) {
        return mjcf_fail(node, reader->error, "edge stiffness: expected dim 1; others have <elasticity>");
    }
    if (flex->dim == 2 && flex->elastic2d != ORR_ELASTIC_NONE && !(flex->thickness > 0.0)) {
        return mjcf_fail(node, reader->error, "elastic2d: expected a thickness above 0");
    }
    return ORR_OK;
}

orr_result mjcf_read_flexcomp(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at)
{
    mjcf_flexcomp f = {.count = {10, 10, 10},
                       .spacing = {0.02, 0.02, 0.02},
                       .scale = {1.0, 1.0, 1.0},
                       .origin = {(double)NAN},
                       .contype = 1,
                       .conaffinity = 1,
                       .flex = {.dim = 2,
                                .mass = 1.0,
                                .radius = 0.005,
                                .friction = 1.0,
                                .thickness = -1.0,
                                .rgba = {0.5f, 0.5f, 0.5f, 1.0f}}};
    mjcf_orientation_init(&f.flex.orientation);
    ORR_TRY(mjcf_head(reader, node, &f.flex.head));
    ORR_TRY(mjcf_read(node, mjcf_flexcomp_members, NULL, &f, reader->spec, reader->error));
    f.flex.body = at->body;
    if (!f.flex.head.name || f.flex.dim < 1 || f.flex.dim > 3) {
        return mjcf_fail(node, reader->error, "expected a name, and a dim of 1 to 3");
    }
    for (const mjcf_node *child = node->children; child; child = child->next) {
        ORR_TRY(read_child(reader, child, node, &f));
    }
    ORR_TRY(mjcf_flexcomp_shape(reader, node, &f));
    ORR_TRY(check_material(reader, node, &f.flex));
    f.flex.collides = f.contype != 0 || f.conaffinity != 0;
    f.flex.pinned = orr_arena_take(&reader->spec->arena, (size_t)f.flex.points, 1);
    if (!f.flex.pinned) {
        return spec_memory_fail(reader->error);
    }
    memset(f.flex.pinned, f.rigid ? 1 : 0, (size_t)f.flex.points);
    for (const mjcf_node *child = node->children; child; child = child->next) {
        if (mjcf_is(child, "pin")) {
            ORR_TRY(read_pin(reader, child, &f));
        }
    }
    if (!node->plain && f.type >= MJCF_FLEX_MESH) { // pins are numbers of the points as they were given
        ORR_TRY(mjcf_flexcomp_drop_unused(reader, &f));
    }
    if (f.dof != 0) {
        spec_note(reader->spec, node->file, node->line,
                  "<flexcomp>: dof: every point moves by itself and pins name points, as with dof=\"full\"");
    }
    ORR_TRY(mjcf_read_pose(reader, node, at, f.flex.pos, &f.flex.orientation));
    spec_flex *flex = SPEC_APPEND(reader->spec, flexes);
    if (!flex) {
        return spec_memory_fail(reader->error);
    }
    *flex = f.flex;
    return ORR_OK;
}
