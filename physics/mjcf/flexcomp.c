// <flexcomp>: a soft body made of a shape (flexcomp_points.c), with its material and its pins.
#include "physics/mjcf/mjcf.h"

#include <string.h>

enum { CONTACT_FRICTIONS = 3 }; // sliding, torsional, rolling; of points the last two have no effect

typedef struct pinning { // what pins name: points, or nodes
    uint8_t *pinned;
    int count, along[3], dim; // along: of a grid
    bool grid;
} pinning;

static orr_result pin_point(const mjcf_node *node, const pinning *p, double index, orr_error *error)
{
    if (!(index >= 0.0 && index < p->count) || index != rint(index)) {
        return mjcf_fail(node, error, "expected points from 0 to %d, not %g", p->count - 1, index);
    }
    p->pinned[(int)index] = 1;
    return ORR_OK;
}

// Points of a grid from `low` to `high`, both with as many coordinates as it has axes.
static orr_result pin_grid(const mjcf_node *node, const pinning *p, const double *low, const double *high,
                           orr_error *error)
{
    int from[3] = {0}, to[3] = {0};
    for (int k = 0; k < p->dim; k++) {
        if (!(low[k] >= 0.0 && low[k] <= high[k] && high[k] < p->along[k]) || low[k] != rint(low[k]) ||
            high[k] != rint(high[k])) {
            return mjcf_fail(node, error, "axis %d of a grid: expected 0 to %d, not %g to %g", k,
                             p->along[k] - 1, low[k], high[k]);
        }
        from[k] = (int)low[k], to[k] = (int)high[k];
    }
    for (int x = from[0]; x <= to[0]; x++) {
        for (int y = from[1]; y <= to[1]; y++) {
            for (int z = from[2]; z <= to[2]; z++) {
                p->pinned[z + p->along[2] * (y + p->along[1] * x)] = 1;
            }
        }
    }
    return ORR_OK;
}

static orr_result read_pin(mjcf_reader *reader, const mjcf_node *node, const pinning *p)
{
    mjcf_flex_pin pin = {0};
    const int dim = p->dim;
    ORR_TRY(mjcf_no_children(node, reader->error));
    ORR_TRY(mjcf_read(node, mjcf_flex_pin_members, NULL, &pin, reader->spec, reader->error));
    const bool grid = pin.grid.count > 0 || pin.gridrange.count > 0;
    if ((grid && !p->grid) || pin.range.count % 2 || pin.grid.count % dim ||
        pin.gridrange.count % (2 * dim)) {
        return mjcf_fail(
            node, reader->error,
            "expected range in pairs of points, and for a grid of %d axes as many numbers in grid "
            "and twice as many in gridrange",
            dim);
    }
    for (int i = 0; i < pin.id.count; i++) {
        ORR_TRY(pin_point(node, p, pin.id.values[i], reader->error));
    }
    for (int i = 0; i < pin.range.count; i += 2) {
        ORR_TRY(pin_point(node, p, pin.range.values[i + 1], reader->error));
        for (double at = pin.range.values[i]; at < pin.range.values[i + 1]; at += 1.0) {
            ORR_TRY(pin_point(node, p, at, reader->error));
        }
    }
    for (int i = 0; i < pin.grid.count; i += dim) {
        ORR_TRY(pin_grid(node, p, pin.grid.values + i, pin.grid.values + i, reader->error));
    }
    for (int i = 0; i < pin.gridrange.count; i += 2 * dim) {
        ORR_TRY(pin_grid(node, p, pin.gridrange.values + i, pin.gridrange.values + i + dim, reader->error));
    }
    return ORR_OK;
}

static orr_result read_pins(mjcf_reader *reader, const mjcf_node *node, const mjcf_flexcomp *f)
{
    pinning p = {.pinned = f->flex.pinned,
                 .count = f->flex.points,
                 .along = {f->count[0], f->count[1], f->count[2]},
                 .dim = f->flex.dim,
                 .grid = f->type == MJCF_FLEX_GRID};
    if (f->nodes) {
        p.pinned = f->nodes->held, p.count = f->nodes->count;
        p.dim = 3, p.grid = true;
        for (int k = 0; k < 3; k++) {
            p.along[k] = flex_nodes_along(&f->nodes->cells, k);
        }
    }
    for (const mjcf_node *child = node->children; child; child = child->next) {
        if (mjcf_is(child, "pin")) {
            ORR_TRY(read_pin(reader, child, &p));
        }
    }
    return ORR_OK;
}

// Do nodes move it?
static bool has_nodes(const mjcf_reader *reader, const mjcf_flexcomp *f)
{
    const bool asks = f->dof == MJCF_FLEX_TRILINEAR || f->dof == MJCF_FLEX_QUADRATIC;
    return asks && !f->rigid && !(f->flex.collides && spec_flexes_touch_by_points(reader->spec));
}

// What MuJoCo would do and is left out.
static void note_contact(const mjcf_reader *reader, const mjcf_node *node)
{
    static const char *const names[] = {"internal", "passive"};
    static const char *const texts[] = {
        "<contact>: internal: vertices do not touch the faces of their own tetrahedra, which resist to be "
        "turned inside out",
        "<contact>: passive: contacts are constraints with friction, not penalties"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = mjcf_find(node, names[i]);
        if (value && strcmp(value, "true") == 0) {
            spec_note(reader->spec, node->file, node->line, "%s", texts[i]);
        }
    }
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
        const char *equality = mjcf_find(node, "equality");
        const mjcf_member *members = i == 0 && has_nodes(reader, f) ? mjcf_flex_touch_members
                                     : i == 1 && equality && !strcmp(equality, "strain")
                                         ? mjcf_flex_strain_members
                                         : children[i].members;
        int count = 0;
        ORR_TRY(mjcf_no_children(node, reader->error));
        ORR_TRY(mjcf_read(node, members, i == 0 ? own : NULL, f, reader->spec, reader->error));
        if (i == 0) {
            note_contact(reader, node);
        }
        return i == 0 ? mjcf_read_numbers(node, "friction", 1, CONTACT_FRICTIONS, f->flex.touch.friction,
                                          &count, reader->error)
                      : ORR_OK;
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
                   {"inertiabox", flex->inertiabox, 1e-15},
                   {"radius", flex->radius, 0.0},
                   {"friction", flex->touch.friction[0], 0.0},
                   {"torsional friction", flex->touch.friction[1], 0.0},
                   {"rolling friction", flex->touch.friction[2], 0.0},
                   {"solmix", flex->touch.solmix, 0.0},
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
    const int condim = flex->touch.condim;
    if (condim != 1 && condim != 3 && condim != 4 && condim != 6) {
        return mjcf_fail(node, reader->error, "condim: expected 1, 3, 4 or 6, not %d", condim);
    }
    if (flex->edge_stiffness > 0.0 && flex->dim != 1) {
        return mjcf_fail(node, reader->error, "edge stiffness: expected dim 1; others have <elasticity>");
    }
    if (flex->dim == 2 && flex->elastic2d != ORR_ELASTIC_NONE && !(flex->thickness > 0.0)) {
        return mjcf_fail(node, reader->error, "elastic2d: expected a thickness above 0");
    }
    return ORR_OK;
}

// Before its nodes are planned.
static orr_result check_equality(mjcf_reader *reader, const mjcf_node *node, mjcf_flexcomp *f)
{
    const bool nodes = has_nodes(reader, f), strain = f->equality == MJCF_FLEX_STRAIN || node->strained;
    if (strain && !nodes) {
        return mjcf_fail(
            node, reader->error,
            "equality: strain: expected dof trilinear or quadratic, and that it cannot touch what "
            "does not move nodes");
    }
    if (strain && f->flex.young > 0.0) {
        return mjcf_fail(node, reader->error,
                         "young: expected none with strain equalities, which give the stiffness");
    }
    if (nodes && f->equality == MJCF_FLEX_EDGES) {
        spec_note(reader->spec, node->file, node->line,
                  "<edge>: equality: has no effect, as in MuJoCo, where nodes move the edges");
    }
    f->flex.strain = strain;
    f->flex.edge_equality = f->equality == MJCF_FLEX_EDGES && !nodes;
    return ORR_OK;
}

static orr_result choose_dof(mjcf_reader *reader, const mjcf_node *node, mjcf_flexcomp *f)
{
    switch ((mjcf_flex_dof)f->dof) {
    case MJCF_FLEX_FULL:
        break;
    case MJCF_FLEX_RADIAL:
    case MJCF_FLEX_2D:
        return mjcf_fail(node, reader->error,
                         "dof: expected full, trilinear or quadratic: points on lines or in planes are not "
                         "supported");
    case MJCF_FLEX_TRILINEAR:
    case MJCF_FLEX_QUADRATIC:
        if (f->rigid) { // of one body anyway
            break;
        }
        if (has_nodes(reader, f)) {
            orr_spec *main = reader->spec;
            while (main->parent) {
                main = main->parent;
            }
            main->touch_by_nodes |= f->flex.collides;
            return mjcf_flexcomp_plan_nodes(reader, node, f);
        }
        if (node->plain) { // its nodes are bodies of the file
            return mjcf_fail(
                node, reader->error,
                "node: expected that it cannot touch height fields, distance grids, other "
                "flexes or, with dim 2, any but planes, by contype and conaffinity: contact with "
                "these does not move nodes");
        }
        spec_note(reader->spec, node->file, node->line,
                  "<flexcomp>: dof: as contact with height fields, distance grids, other flexes or, with dim "
                  "2, any "
                  "but planes does not move nodes, every point moves by itself and pins name points, as with "
                  "dof=\"full\"; for nodes keep it from these by contype and conaffinity");
    }
    return ORR_OK;
}

orr_result mjcf_read_flexcomp(mjcf_reader *reader, const mjcf_node *node, const mjcf_frame *at)
{
    mjcf_flexcomp f = {.count = {10, 10, 10},
                       .spacing = {0.02, 0.02, 0.02},
                       .scale = {1.0, 1.0, 1.0},
                       .origin = {(double)NAN},
                       .cellcount = {1, 1, 1},
                       .flex = {.dim = 2,
                                .mass = 1.0,
                                .radius = 0.005,
                                .touch = {.contype = 1,
                                          .conaffinity = 1,
                                          .condim = 3,
                                          .selfcollide = 1,
                                          .layers = 1,
                                          .friction = {1.0, 0.005, 0.0001},
                                          .solmix = 1.0,
                                          .solref = {0.02, 1.0},
                                          .solimp = {0.9, 0.95, 0.001, 0.5, 2.0}},
                                .thickness = -1.0,
                                .strain_solref = {0.02, 1.0},
                                .strain_solimp = {0.9, 0.95, 0.001, 0.5, 2.0},
                                .inertiabox = 0.005,
                                .rgba = {0.5f, 0.5f, 0.5f, 1.0f}}};
    static const char *const of_flex[] = {"nodemass", NULL}; // which mjcf_flexcomp_make_nodes reads
    mjcf_orientation_init(&f.flex.orientation);
    ORR_TRY(mjcf_head(reader, node, &f.flex.head));
    ORR_TRY(mjcf_read(node, mjcf_flexcomp_members, node->plain ? of_flex : NULL, &f, reader->spec,
                      reader->error));
    f.flex.body = at->body;
    if (!f.flex.head.name || f.flex.dim < 1 || f.flex.dim > 3) {
        return mjcf_fail(node, reader->error, "expected a name, and a dim of 1 to 3");
    }
    for (const mjcf_node *child = node->children; child; child = child->next) {
        ORR_TRY(read_child(reader, child, node, &f));
    }
    f.flex.collides = f.flex.touch.contype != 0 || f.flex.touch.conaffinity != 0;
    f.type = f.mesh && !mjcf_find(node, "type") ? MJCF_FLEX_MESH : f.type;
    if (f.mesh && f.type != MJCF_FLEX_MESH) {
        return mjcf_fail(node, reader->error, "mesh: expected the type mesh");
    }
    ORR_TRY(mjcf_flexcomp_shape(reader, node, &f));
    ORR_TRY(check_material(reader, node, &f.flex));
    ORR_TRY(check_equality(reader, node, &f));
    f.flex.pinned = orr_arena_take(&reader->spec->arena, (size_t)f.flex.points, 1);
    if (!f.flex.pinned) {
        return spec_memory_fail(reader->error);
    }
    memset(f.flex.pinned, f.rigid ? 1 : 0, (size_t)f.flex.points);
    ORR_TRY(choose_dof(reader, node, &f));
    ORR_TRY(read_pins(reader, node, &f));
    ORR_TRY(mjcf_read_pose(reader, node, at, f.flex.pos, &f.flex.orientation));
    if (f.nodes) {
        ORR_TRY(mjcf_flexcomp_make_nodes(reader, node, &f));
    }
    if (!node->plain && f.type >= MJCF_FLEX_MESH) { // pins are numbers of the points as they were given
        ORR_TRY(mjcf_flexcomp_drop_unused(reader, &f));
    }
    spec_flex *flex = SPEC_APPEND(reader->spec, flexes);
    if (!flex) {
        return spec_memory_fail(reader->error);
    }
    *flex = f.flex;
    flex->strain_cells = f.equality == MJCF_FLEX_STRAIN;
    return ORR_OK;
}
