// <flexcomp> with dof trilinear or quadratic: nodes on a grid around the body, each a body with three slide
// joints, by the names and in the order of MuJoCo's.
#include "engine/maths/rotation.h"
#include "physics/mjcf/mjcf.h"

#include <string.h>

enum { NODES_MAX = 1 << 14, CELL_NUMBERS_MAX = 1 << 26 }; // of all cells' stiffness

// MuJoCo's, of the material whose modes strain equalities hold.
static const double strain_young = 10.0, strain_poisson = 0.3;

orr_result mjcf_flexcomp_plan_nodes(mjcf_reader *reader, const mjcf_node *node, mjcf_flexcomp *f)
{
    spec_flex *flex = &f->flex;
    spec_flex_nodes *nodes = orr_arena_take(&reader->spec->arena, 1, sizeof *nodes);
    if (!nodes) {
        return spec_memory_fail(reader->error);
    }
    *nodes = (spec_flex_nodes){.cells = {.order = f->dof == MJCF_FLEX_QUADRATIC ? 2 : 1}};
    if (flex->dim == 1 || flex->elastic2d != ORR_ELASTIC_NONE) {
        return mjcf_fail(
            node, reader->error,
            "dof: expected a solid (dim 3, or dim 2 around it) without elastic2d for nodes to move");
    }
    double count = 1.0, numbers = 1.0;
    for (int k = 0; k < 3; k++) {
        const int cells = f->cellcount[k];
        if (cells < 1 || cells > NODES_MAX) {
            return mjcf_fail(node, reader->error, "cellcount: expected 1 to %d, not %d", NODES_MAX, cells);
        }
        nodes->cells.count[k] = cells;
        count *= flex_nodes_along(&nodes->cells, k), numbers *= cells;
    }
    numbers *= 9.0 * pow(flex_nodes_of_cell(&nodes->cells), 2.0);
    if (count > NODES_MAX || numbers > CELL_NUMBERS_MAX) {
        return mjcf_fail(node, reader->error, "cellcount: expected at most %d nodes, not %g", NODES_MAX,
                         count);
    }
    nodes->count = flex_node_count(&nodes->cells);
    nodes->held = orr_arena_take(&reader->spec->arena, (size_t)nodes->count, 1);
    if (!nodes->held) {
        return spec_memory_fail(reader->error);
    }
    memset(nodes->held, 0, (size_t)nodes->count);
    flex->nodes = f->nodes = nodes;
    return ORR_OK;
}

// Moves the points into the frame of the body, in whose axes the box of the cells is.
static void pose_points(spec_flex *flex)
{
    for (int i = 0; i < flex->points; i++) {
        double *p = flex->point + 3 * (ptrdiff_t)i;
        quat_apply(flex->orientation.quat, p, p);
        for (int k = 0; k < 3; k++) {
            p[k] += flex->pos[k];
        }
    }
    memset(flex->pos, 0, sizeof flex->pos);
    memcpy(flex->orientation.quat, (double[4]){1.0, 0.0, 0.0, 0.0}, sizeof flex->orientation.quat);
}

static orr_result find_box(mjcf_reader *reader, const mjcf_node *node, const spec_flex *flex,
                           flex_cells *cells)
{
    double high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) {
        cells->low[k] = INFINITY;
        for (int i = 0; i < flex->points; i++) {
            cells->low[k] = fmin(cells->low[k], flex->point[3 * (ptrdiff_t)i + k]);
            high[k] = fmax(high[k], flex->point[3 * (ptrdiff_t)i + k]);
        }
        cells->size[k] = high[k] - cells->low[k];
        if (!(cells->size[k] > 1e-9)) {
            return mjcf_fail(node, reader->error, "dof: expected points that are not in one plane");
        }
    }
    return ORR_OK;
}

// Those that belong to empty cells alone stay where they are, as in MuJoCo.
static void hold_unused(spec_flex_nodes *nodes)
{
    const flex_cells *c = &nodes->cells;
    for (int i = 0; i < nodes->count; i++) {
        nodes->held[i] |= 2;
    }
    for (int cell = 0; cell < flex_cell_count(c); cell++) {
        int32_t node[FLEX_CELL_NODES_MAX];
        flex_nodes_in_cell(c, cell, node);
        for (int i = 0; i < flex_nodes_of_cell(c) && !nodes->empty[cell]; i++) {
            nodes->held[node[i]] &= 1;
        }
    }
    for (int i = 0; i < nodes->count; i++) {
        nodes->held[i] = nodes->held[i] != 0;
    }
}

// Those of a <flex>, whose nodes have masses of their own.
static orr_result read_masses(mjcf_reader *reader, const mjcf_node *node, const spec_flex_nodes *nodes)
{
    int count;
    ORR_TRY(
        mjcf_read_numbers(node, "nodemass", nodes->count, nodes->count, nodes->mass, &count, reader->error));
    for (int i = 0; i < count; i++) {
        if (nodes->held[i] != (nodes->mass[i] == 0.0)) {
            return mjcf_fail(node, reader->error,
                             "node %d: expected the body of the vertices, as nothing is in its cells", i);
        }
    }
    return ORR_OK;
}

orr_result mjcf_flexcomp_make_nodes(mjcf_reader *reader, const mjcf_node *node, mjcf_flexcomp *f)
{
    spec_flex *flex = &f->flex;
    spec_flex_nodes *nodes = f->nodes;
    flex_cells *c = &nodes->cells;
    orr_arena *arena = &reader->spec->arena;
    const int cells = flex_cell_count(c), of_cell = flex_nodes_of_cell(c);
    const size_t numbers = (size_t)cells * 9 * (size_t)(of_cell * of_cell);
    pose_points(flex);
    ORR_TRY(find_box(reader, node, flex, c));
    c->young = flex->strain ? strain_young : flex->young;
    c->poisson = flex->strain ? strain_poisson : flex->poisson;
    nodes->point = orr_arena_take(arena, 3 * (size_t)nodes->count, sizeof *nodes->point);
    nodes->mass = orr_arena_take(arena, (size_t)nodes->count, sizeof *nodes->mass);
    nodes->stiffness = orr_arena_take(arena, numbers, sizeof *nodes->stiffness);
    nodes->empty = orr_arena_take(arena, (size_t)cells, 1);
    if (!nodes->point || !nodes->mass || !nodes->stiffness || !nodes->empty) {
        return spec_memory_fail(reader->error);
    }
    memset(nodes->mass, 0, (size_t)nodes->count * sizeof *nodes->mass);
    memset(nodes->stiffness, 0, numbers * sizeof *nodes->stiffness);
    const char *why;
    ORR_TRY(flex_fill_cells(c, flex->point, flex->element, flex->elements, flex->dim, nodes->mass,
                            nodes->stiffness, nodes->empty, &why, reader->error));
    if (why) {
        return mjcf_fail(node, reader->error, "dof: %s", why);
    }
    hold_unused(nodes);
    double sum = 0.0;
    const int ny = flex_nodes_along(c, 1), nz = flex_nodes_along(c, 2);
    for (int i = 0; i < nodes->count; i++) {
        const int at[3] = {i / (ny * nz), i / nz % ny, i % nz};
        for (int k = 0; k < 3; k++) {
            nodes->point[3 * i + k] = c->low[k] + c->size[k] * at[k] / (flex_nodes_along(c, k) - 1);
        }
        sum += nodes->held[i] ? 0.0 : nodes->mass[i];
    }
    for (int i = 0; i < nodes->count; i++) {
        nodes->mass[i] = nodes->held[i] ? 0.0 : nodes->mass[i] * flex->mass / sum;
    }
    return read_masses(reader, node, nodes);
}

static orr_result add_body(mjcf_reader *reader, const mjcf_node *flexcomp, const spec_flex *flex, int i,
                           mjcf_node *holder)
{
    static const char *const axes[3] = {"1 0 0", "0 1 0", "0 0 1"};
    const spec_flex_nodes *nodes = flex->nodes;
    const int ny = flex_nodes_along(&nodes->cells, 1), nz = flex_nodes_along(&nodes->cells, 2);
    const double *at = nodes->point + 3 * (ptrdiff_t)i, mass = nodes->mass[i];
    const double inertia = mass * 2.0 / 3.0 * flex->inertiabox * flex->inertiabox;
    orr_arena *arena = &reader->spec->arena;
    mjcf_node *body = mjcf_add_child(arena, holder, "body", flexcomp);
    mjcf_node *inertial = body ? mjcf_add_child(arena, body, "inertial", flexcomp) : NULL;
    if (!inertial) {
        return spec_memory_fail(reader->error);
    }
    ORR_TRY(mjcf_print_attribute(arena, body, "name", reader->error, "%s_%d_%d_%d", flex->head.name,
                                 i / (ny * nz), i / nz % ny, i % nz));
    ORR_TRY(
        mjcf_print_attribute(arena, body, "pos", reader->error, "%.17g %.17g %.17g", at[0], at[1], at[2]));
    ORR_TRY(mjcf_print_attribute(arena, inertial, "pos", reader->error, "0 0 0"));
    ORR_TRY(mjcf_print_attribute(arena, inertial, "mass", reader->error, "%.17g", mass));
    ORR_TRY(mjcf_print_attribute(arena, inertial, "diaginertia", reader->error, "%.17g %.17g %.17g", inertia,
                                 inertia, inertia));
    for (int k = 0; k < 3; k++) {
        mjcf_node *joint = mjcf_add_child(arena, body, "joint", flexcomp);
        if (!joint) {
            return spec_memory_fail(reader->error);
        }
        ORR_TRY(mjcf_print_attribute(arena, joint, "type", reader->error, "slide"));
        ORR_TRY(mjcf_print_attribute(arena, joint, "axis", reader->error, "%s", axes[k]));
    }
    return ORR_OK;
}

orr_result mjcf_flexcomp_bodies(mjcf_reader *reader, const mjcf_node *node, int body, mjcf_node **holder,
                                const spec_flex_nodes **nodes)
{
    const char *name = mjcf_find(node, "name");
    *holder = NULL;
    for (int i = 0; i < reader->spec->flexes_count; i++) {
        const spec_flex *flex = &reader->spec->flexes[i];
        if (!flex->nodes || flex->body != body || strcmp(flex->head.name, name) != 0) {
            continue;
        }
        *nodes = flex->nodes;
        *holder = orr_arena_take(&reader->spec->arena, 1, sizeof **holder);
        if (!*holder) {
            return spec_memory_fail(reader->error);
        }
        memset(*holder, 0, sizeof **holder);
        for (int k = 0; k < flex->nodes->count; k++) {
            if (!flex->nodes->held[k]) {
                ORR_TRY(add_body(reader, node, flex, k, *holder));
            }
        }
    }
    return ORR_OK;
}

orr_result mjcf_strain_equalities(mjcf_reader *reader)
{
    const orr_spec *spec = reader->spec;
    for (int i = 0; i < spec->flexes_count; i++) {
        spec_flex *flex = &spec->flexes[i];
        const int cells = flex->strain_cells ? flex_cell_count(&flex->nodes->cells) : 0;
        for (int cell = 0; cell < cells; cell++) {
            spec_equality *e = flex->nodes->empty[cell] ? NULL : SPEC_APPEND(reader->spec, equalities);
            if (flex->nodes->empty[cell]) {
                continue;
            }
            if (!e) {
                return spec_memory_fail(reader->error);
            }
            *e = (spec_equality){
                .head = flex->head, .type = ORR_EQUALITY_FLEXSTRAIN, .active = 1, .object1 = flex->head.name};
            e->head.name = NULL;
            flex_cell_place(&flex->nodes->cells, cell, e->cell);
            memcpy(e->solref, flex->strain_solref, sizeof e->solref);
            memcpy(e->solimp, flex->strain_solimp, sizeof e->solimp);
        }
        flex->strain_cells = 0;
    }
    return ORR_OK;
}
