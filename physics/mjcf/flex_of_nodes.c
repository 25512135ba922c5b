// <flex> with nodes, as MuJoCo writes a <flexcomp> with dof trilinear or quadratic: the nodes are bodies with
// three slide joints on a grid around the vertices. It becomes such a <flexcomp> again, with the masses of
// these bodies, which it replaces by others of the same names.
#include "physics/mjcf/flex_reader.h"

#include <stdio.h>
#include <string.h>

static const double apart_most = 1e-4;    // of the size of the box: what the six digits of a file leave
static const double nodes_most = 1 << 14; // as of a <flexcomp>

// The grid from the attributes dof and cellcount, around the vertices.
static orr_result read_cells(const flex_reader *r, flex_cells *cells)
{
    const char *dof = mjcf_find(r->node, "dof");
    double count[3] = {1.0, 1.0, 1.0}, high[3], nodes = 1.0;
    int given;
    if (!mjcf_find(r->node, "node") || r->points == 0) {
        return mjcf_fail(r->node, r->error, "node: expected the bodies of its nodes, and vertices");
    }
    if (!dof || (strcmp(dof, "trilinear") != 0 && strcmp(dof, "quadratic") != 0)) {
        return mjcf_fail(r->node, r->error, "dof: expected trilinear or quadratic for nodes to move it");
    }
    ORR_TRY(mjcf_read_numbers(r->node, "cellcount", 3, 3, count, &given, r->error));
    *cells = (flex_cells){.order = strcmp(dof, "quadratic") == 0 ? 2 : 1};
    for (int k = 0; k < 3; k++) {
        if (!(count[k] >= 1.0 && count[k] <= nodes_most) || count[k] != rint(count[k])) {
            return mjcf_fail(r->node, r->error, "cellcount: expected 1 to %g, not %g", nodes_most, count[k]);
        }
        cells->count[k] = (int)count[k];
        cells->low[k] = INFINITY, high[k] = -INFINITY;
        for (int i = 0; i < r->points; i++) {
            cells->low[k] = fmin(cells->low[k], r->at[3 * i + k]);
            high[k] = fmax(high[k], r->at[3 * i + k]);
        }
        cells->size[k] = high[k] - cells->low[k];
        nodes *= cells->order * count[k] + 1.0;
    }
    return nodes <= nodes_most ? ORR_OK
                               : mjcf_fail(r->node, r->error, "cellcount: expected at most %g nodes, not %g",
                                           nodes_most, nodes);
}

// Are the joints of a node along x, y and z?
static orr_result check_axes(const flex_reader *n, int i)
{
    int joints = 0;
    bool along = true;
    for (const mjcf_node *child = n->point[i].body->children; child; child = child->next) {
        double axis[3] = {0.0, 0.0, 1.0};
        int count;
        if (!mjcf_is(child, "joint")) {
            continue;
        }
        ORR_TRY(mjcf_read_numbers(child, "axis", 3, 3, axis, &count, n->error));
        along &= axis[joints] > 0.0 && axis[(joints + 1) % 3] == 0.0 && axis[(joints + 2) % 3] == 0.0;
        joints++;
    }
    return along
               ? ORR_OK
               : mjcf_fail(n->point[i].body, n->error, "a node of a flex: expected slides along x, y and z");
}

static orr_result read_inertia(const flex_reader *n, int i, double *mass, double *box)
{
    for (const mjcf_node *child = n->point[i].body->children; child; child = child->next) {
        double inertia[3] = {0.0};
        int count;
        if (!mjcf_is(child, "inertial")) {
            continue;
        }
        ORR_TRY(mjcf_read_numbers(child, "mass", 1, 1, mass, &count, n->error));
        ORR_TRY(mjcf_read_numbers(child, "diaginertia", 3, 3, inertia, &count, n->error));
        *box = sqrt(1.5 * inertia[0] / *mass);
    }
    return *mass > 0.0 ? ORR_OK
                       : mjcf_fail(n->point[i].body, n->error,
                                   "a node of a flex: expected a mass above 0, not %g", *mass);
}

// A node that moves is in the body `holder`, by the name that a <flexcomp> gives it; others are that body.
static orr_result check_node(flex_reader *n, const flex_cells *cells, const mjcf_node *holder, int i)
{
    const int ny = flex_nodes_along(cells, 1), nz = flex_nodes_along(cells, 2);
    const int of[3] = {i / (ny * nz), i / nz % ny, i % nz};
    const char *flex = mjcf_find(n->node, "name");
    mjcf_node *body = n->point[i].body;
    char name[256];
    n->moves[i] = body != holder;
    if (n->moves[i]) {
        double pos[3] = {0.0};
        int count;
        snprintf(name, sizeof name, "%s_%d_%d_%d", flex ? flex : "", of[0], of[1], of[2]);
        if (!flex_is_point(body) || n->point[i].parent != holder ||
            strcmp(mjcf_find(body, "name"), name) != 0) {
            return mjcf_fail(
                n->node, n->error,
                "node %d: expected %s, with an inertia and three slide joints alone in the body of "
                "the vertices, or that body",
                i, name);
        }
        ORR_TRY(check_axes(n, i));
        ORR_TRY(mjcf_read_numbers(body, "pos", 3, 3, pos, &count, n->error));
        for (int k = 0; k < 3; k++) {
            n->at[3 * i + k] += pos[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        const double at = cells->low[k] + cells->size[k] * of[k] / (flex_nodes_along(cells, k) - 1);
        if (!(fabs(n->at[3 * i + k] - at) <= apart_most * cells->size[k])) {
            return mjcf_fail(n->node, n->error,
                             "node %d: expected it on the grid around the vertices, at %g on axis %d, not %g",
                             i, at, k, n->at[3 * i + k]);
        }
    }
    return ORR_OK;
}

// Writes the masses of the nodes, 0 of those that are held, their sum and the box of their inertia.
static orr_result write_masses(flex_reader *n, mjcf_node *made)
{
    const size_t size = (size_t)n->points * 26 + 1;
    char *text = flex_reader_take(n, size, 1);
    double sum = 0.0, box = 0.0;
    size_t used = 0;
    if (!text) {
        return spec_memory_fail(n->error);
    }
    for (int i = 0; i < n->points; i++) {
        double mass = 0.0;
        if (n->moves[i]) {
            ORR_TRY(read_inertia(n, i, &mass, &box));
        }
        used += (size_t)snprintf(text + used, size - used, "%.17g ", mass);
        sum += mass;
    }
    orr_arena *arena = &n->spec->arena;
    if (box > 0.0) {
        ORR_TRY(mjcf_print_attribute(arena, made, "inertiabox", n->error, "%.17g", box));
    }
    ORR_TRY(mjcf_print_attribute(arena, made, "mass", n->error, "%.17g", sum));
    return mjcf_set_attribute(arena, made, "nodemass", text, n->error);
}

// Puts what replaces them in the place of the bodies, so that coordinates keep their order. False: the bodies
// do not follow each other.
static bool put_in_place(flex_reader *n, mjcf_node *holder, mjcf_node *made)
{
    mjcf_node **link = &holder->children;
    int i = 0;
    while (i < n->points && !n->moves[i]) {
        i++;
    }
    while (*link && (i == n->points || *link != n->point[i].body)) {
        link = &(*link)->next;
    }
    made->next = *link;
    *link = made;
    for (link = &made->next; i < n->points; i++) {
        if (n->moves[i] && *link != n->point[i].body) {
            return false;
        }
        *link = n->moves[i] ? (*link)->next : *link;
    }
    return true;
}

orr_result mjcf_flex_of_nodes(flex_reader *r)
{
    static const char *const left_out[] = {"body", "vertex", "node", "nodecoord", NULL};
    orr_arena *arena = &r->spec->arena;
    mjcf_node *holder = r->point[0].body, *made, nowhere = {0};
    flex_cells cells;
    int count;
    ORR_TRY(read_cells(r, &cells));
    flex_reader n = {.spec = r->spec, .root = r->root, .node = r->node, .error = r->error};
    n.points = flex_node_count(&cells);
    ORR_TRY(flex_reader_open(&n));
    for (int i = 1; i < r->points; i++) {
        if (r->point[i].body != holder) {
            return mjcf_fail(r->node, r->error,
                             "body: expected one for all vertices, in which the nodes are");
        }
    }
    const char *names = mjcf_find(r->node, "node");
    ORR_TRY(flex_reader_find_bodies(&n, "node", names ? names : ""));
    ORR_TRY(mjcf_read_numbers(r->node, "nodecoord", 3 * n.points, 3 * n.points, n.at, &count, r->error));
    for (int i = 0; i < n.points; i++) {
        ORR_TRY(check_node(&n, &cells, holder, i));
    }
    const char *points, *pins;
    ORR_TRY(flex_reader_write_numbers(r, false, &points));
    ORR_TRY(flex_reader_write_numbers(&n, true, &pins));
    ORR_TRY(flex_reader_add_flexcomp(r, &nowhere, left_out, &made));
    ORR_TRY(mjcf_set_attribute(arena, made, "point", points, r->error));
    ORR_TRY(write_masses(&n, made));
    if (pins[0]) {
        mjcf_node *pin = mjcf_add_child(arena, made, "pin", r->node);
        if (!pin) {
            return spec_memory_fail(r->error);
        }
        ORR_TRY(mjcf_set_attribute(arena, pin, "id", pins, r->error));
    }
    return put_in_place(&n, holder, made)
               ? ORR_OK
               : mjcf_fail(r->node, r->error,
                           "node: expected their bodies one after the other, in the order of the grid");
}
