// <flex>: a soft body whose points are bodies with three slide joints, as MuJoCo writes a <flexcomp>. In the
// XML tree it becomes a <flexcomp> of the type direct beside these bodies, which it replaces; the equality
// constraint <flex> becomes its edges'.
#include "physics/mjcf/flex_reader.h"

#include <stdio.h>
#include <string.h>

void *flex_reader_take(flex_reader *r, size_t count, size_t size)
{
    return orr_arena_take(&r->spec->arena, count, size);
}

orr_result flex_reader_open(flex_reader *r)
{
    const size_t points = (size_t)r->points;
    r->point = flex_reader_take(r, points + 1, sizeof *r->point);
    r->at = flex_reader_take(r, points * 3 + 1, sizeof *r->at);
    r->moves = flex_reader_take(r, points + 1, 1);
    if (!r->point || !r->at || !r->moves) {
        return spec_memory_fail(r->error);
    }
    memset(r->at, 0, 3 * points * sizeof *r->at);
    return ORR_OK;
}

static orr_result set_attribute(flex_reader *r, mjcf_node *node, const char *name, const char *value)
{
    return mjcf_set_attribute(&r->spec->arena, node, name, value, r->error);
}

static bool find_body(mjcf_node *node, const char *name, size_t length, flex_point *found)
{
    for (mjcf_node *child = node->children; child; child = child->next) {
        const char *own = mjcf_is(child, "body") ? mjcf_find(child, "name") : NULL;
        if (own && strlen(own) == length && memcmp(own, name, length) == 0) {
            *found = (flex_point){child, node};
            return true;
        }
        if (find_body(child, name, length, found)) {
            return true;
        }
    }
    return false;
}

orr_result flex_reader_find_bodies(flex_reader *r, const char *attribute, const char *names)
{
    static const char space[] = " \t\r\n";
    int count = 0;
    for (const char *p = names + strspn(names, space); *p; p += strspn(p, space), count++) {
        const size_t length = strcspn(p, space);
        flex_point found = {NULL, NULL};
        for (mjcf_node *section = r->root->children; section && !found.body; section = section->next) {
            if (mjcf_is(section, "worldbody")) {
                if (length == 5 && memcmp(p, "world", length) == 0) {
                    found = (flex_point){section, r->root};
                } else {
                    find_body(section, p, length, &found);
                }
            }
        }
        if (!found.body) {
            return mjcf_fail(r->node, r->error, "%s: '%.*s': expected the name of a body", attribute,
                             length < 64 ? (int)length : 64, p);
        }
        if (count < r->points) {
            r->point[count] = found;
        }
        p += length;
    }
    if (count != r->points && count != 1) {
        return mjcf_fail(r->node, r->error, "%s: expected one name, or %d, as there are %s, not %d",
                         attribute, r->points, strcmp(attribute, "node") == 0 ? "nodes" : "vertices", count);
    }
    for (int i = 1; i < r->points && count == 1; i++) {
        r->point[i] = r->point[0];
    }
    return ORR_OK;
}

static bool only(const mjcf_node *node, const char *const *attributes)
{
    for (const mjcf_attribute *a = node->attributes; a; a = a->next) {
        int i = 0;
        while (attributes[i] && strcmp(attributes[i], a->name) != 0) {
            i++;
        }
        if (!attributes[i]) {
            return false;
        }
    }
    return true;
}

bool flex_is_point(const mjcf_node *body)
{
    static const char *const of_body[] = {"name", "pos", NULL}, *const of_joint[] = {"name", "type", "axis",
                                                                                     "pos", NULL};
    int slides = 0, inertias = 0;
    for (const mjcf_node *child = body->children; child; child = child->next) {
        const char *type = mjcf_find(child, "type");
        const bool slide = mjcf_is(child, "joint") && type && strcmp(type, "slide") == 0;
        if (!(slide && only(child, of_joint)) && !mjcf_is(child, "inertial")) {
            return false;
        }
        slides += slide;
        inertias += !slide;
    }
    return slides == 3 && inertias == 1 && mjcf_is(body, "body") && only(body, of_body);
}

static orr_result add_mass(flex_reader *r, const mjcf_node *body)
{
    double mass = 0.0;
    int count;
    for (const mjcf_node *child = body->children; child; child = child->next) {
        if (mjcf_is(child, "inertial")) {
            ORR_TRY(mjcf_read_numbers(child, "mass", 1, 1, &mass, &count, r->error));
        }
    }
    if (!(mass > 0.0) || (r->mass > 0.0 && fabs(mass - r->mass) > 1e-5 * r->mass)) {
        return mjcf_fail(body, r->error,
                         "a point of a flex: expected the mass that all its points have, not %g", mass);
    }
    r->mass = mass;
    return ORR_OK;
}

static orr_result place_points(flex_reader *r)
{
    for (int i = 0; i < r->points; i++) {
        const flex_point *p = &r->point[i];
        r->moves[i] = flex_is_point(p->body);
        if (r->moves[i]) {
            double pos[3] = {0.0};
            int count;
            ORR_TRY(mjcf_read_numbers(p->body, "pos", 3, 3, pos, &count, r->error));
            ORR_TRY(add_mass(r, p->body));
            for (int k = 0; k < 3; k++) {
                r->at[3 * i + k] += pos[k];
            }
        }
        // what holds points is the body of those that move
        mjcf_node *parent = r->moves[i] ? p->parent : p->body;
        if (r->parent && r->parent != parent) {
            return mjcf_fail(
                r->node, r->error,
                "vertex %d: expected a body with an inertia and three slide joints alone beside those "
                "of the other vertices, or the body that these are in",
                i);
        }
        r->parent = parent;
    }
    return ORR_OK;
}

orr_result flex_reader_write_numbers(flex_reader *r, bool pins, const char **text)
{
    const size_t size = (size_t)r->points * 3 * 26 + 1;
    char *out = flex_reader_take(r, size, 1);
    size_t used = 0;
    if (!out) {
        return spec_memory_fail(r->error);
    }
    out[0] = 0;
    for (int i = 0; i < r->points; i++) {
        if (!pins) {
            used += (size_t)snprintf(out + used, size - used, "%.17g %.17g %.17g ", r->at[3 * i],
                                     r->at[3 * i + 1], r->at[3 * i + 2]);
        } else if (!r->moves[i]) {
            used += (size_t)snprintf(out + used, size - used, "%d ", i);
        }
    }
    *text = out;
    return ORR_OK;
}

static mjcf_node *add_child(flex_reader *r, mjcf_node *parent, const char *name, const mjcf_node *where)
{
    return mjcf_add_child(&r->spec->arena, parent, name, where);
}

static void unlink_node(mjcf_node *parent, const mjcf_node *node)
{
    for (mjcf_node **link = &parent->children; *link; link = &(*link)->next) {
        if (*link == node) {
            *link = node->next;
            return;
        }
    }
}

// Takes the bodies of points that move out of the tree; returns whether there are any.
static bool unlink_points(flex_reader *r)
{
    bool any = false;
    for (int i = 0; i < r->points; i++) {
        if (r->moves[i]) {
            unlink_node(r->point[i].parent, r->point[i].body);
            any = true;
        }
    }
    return any;
}

orr_result flex_reader_add_flexcomp(flex_reader *r, mjcf_node *parent, const char *const *left_out,
                                    mjcf_node **out)
{
    mjcf_node *made = *out = add_child(r, parent, "flexcomp", r->node);
    if (!made) {
        return spec_memory_fail(r->error);
    }
    made->plain = true;
    made->children = r->node->children;
    for (const mjcf_attribute *a = r->node->attributes; a; a = a->next) {
        bool copied = true;
        for (int i = 0; left_out[i]; i++) {
            copied &= strcmp(a->name, left_out[i]) != 0;
        }
        if (copied) {
            ORR_TRY(set_attribute(r, made, a->name, a->value));
        }
    }
    return set_attribute(r, made, "type", "direct");
}

// Replaces the bodies of the points by a <flexcomp> with the attributes and the children of the flex.
static orr_result replace(flex_reader *r)
{
    static const char *const left_out[] = {"body", "vertex", NULL};
    const char *points, *pins;
    mjcf_node *made;
    ORR_TRY(flex_reader_write_numbers(r, false, &points));
    ORR_TRY(flex_reader_write_numbers(r, true, &pins));
    const bool rigid = !unlink_points(r);
    ORR_TRY(flex_reader_add_flexcomp(r, r->parent, left_out, &made));
    ORR_TRY(set_attribute(r, made, "point", points));
    if (rigid) {
        ORR_TRY(set_attribute(r, made, "rigid", "true"));
    } else {
        ORR_TRY(mjcf_print_attribute(&r->spec->arena, made, "mass", r->error, "%.17g", r->mass * r->points));
    }
    if (pins[0] && !rigid) {
        mjcf_node *pin = add_child(r, made, "pin", r->node);
        return pin ? set_attribute(r, pin, "id", pins) : spec_memory_fail(r->error);
    }
    return ORR_OK;
}

static orr_result read_flex(orr_spec *spec, mjcf_node *root, mjcf_node *node, orr_error *error)
{
    flex_reader r = {.spec = spec, .root = root, .node = node, .error = error};
    mjcf_flex_vertices v = {{0}};
    const char *names = mjcf_find(node, "body");
    const char *dof = mjcf_find(node, "dof");
    const bool nodes = mjcf_find(node, "node") || (dof && strcmp(dof, "full") != 0);
    if (!names) {
        return mjcf_fail(node, error, "body: expected the bodies of its vertices");
    }
    static const char *const own[] = {
        "name",  "dim",      "radius", "body", "element",   "material",     "rgba",      "texcoord",
        "group", "flatskin", "node",   "dof",  "nodecoord", "elemtexcoord", "cellcount", NULL};
    ORR_TRY(mjcf_read(node, mjcf_flex_members, own, &v, spec, error));
    static const char space[] = " \t\r\n";
    for (const char *p = names + strspn(names, space); *p; p += strspn(p, space)) {
        p += strcspn(p, space);
        r.points++;
    }
    if (v.vertex.count % 3 != 0 || (v.vertex.count > 0 && r.points != 1 && v.vertex.count != 3 * r.points)) {
        return mjcf_fail(node, error, "vertex: expected three numbers for each of %d vertices, not %d",
                         r.points, v.vertex.count);
    }
    r.points = v.vertex.count > 0 ? v.vertex.count / 3 : r.points;
    ORR_TRY(flex_reader_open(&r));
    for (int i = 0; i < 3 * r.points; i++) {
        r.at[i] = v.vertex.count > 0 ? v.vertex.values[i] : 0.0;
    }
    ORR_TRY(flex_reader_find_bodies(&r, "body", names));
    if (nodes) {
        return mjcf_flex_of_nodes(&r);
    }
    ORR_TRY(place_points(&r));
    return replace(&r);
}

static mjcf_node *find_flexcomp(mjcf_node *node, const char *name)
{
    for (mjcf_node *child = node->children; child; child = child->next) {
        const char *own = mjcf_is(child, "flexcomp") ? mjcf_find(child, "name") : NULL;
        mjcf_node *found = own && strcmp(own, name) == 0 ? child : find_flexcomp(child, name);
        if (found) {
            return found;
        }
    }
    return NULL;
}

// The flex of a <flexstrain>, which is read with the other equalities.
static orr_result mark_strained(mjcf_node *root, const mjcf_node *node, orr_error *error)
{
    const char *name = mjcf_find(node, "flex");
    mjcf_node *flex = name ? find_flexcomp(root, name) : NULL;
    if (!flex) {
        return mjcf_fail(node, error, "flex: '%.64s': expected the name of a flex", name ? name : "");
    }
    flex->strained = true;
    return ORR_OK;
}

// Edges of a flex that keep their length.
static orr_result read_equality(orr_spec *spec, mjcf_node *root, mjcf_node *node, orr_error *error)
{
    static const char *const own[] = {"flex", "name", "class", "active", "solref", "solimp", NULL};
    flex_reader r = {.spec = spec, .error = error};
    const char *name = mjcf_find(node, "flex"), *active = mjcf_find(node, "active");
    ORR_TRY(mjcf_no_children(node, error));
    ORR_TRY(mjcf_read(node, mjcf_no_members, own, NULL, spec, error));
    mjcf_node *flex = name ? find_flexcomp(root, name) : NULL, *edge = flex ? flex->children : NULL;
    if (!flex) {
        return mjcf_fail(node, error, "flex: '%.64s': expected the name of a flex", name ? name : "");
    }
    if (active && strcmp(active, "false") == 0) {
        return ORR_OK;
    }
    while (edge && !mjcf_is(edge, "edge")) {
        edge = edge->next;
    }
    edge = edge ? edge : add_child(&r, flex, "edge", node);
    if (!edge) {
        return spec_memory_fail(error);
    }
    for (int i = 4; own[i]; i++) { // solref, solimp
        const char *numbers = mjcf_find(node, own[i]);
        ORR_TRY(numbers ? set_attribute(&r, edge, own[i], numbers) : ORR_OK);
    }
    return set_attribute(&r, edge, "equality", "true");
}

orr_result mjcf_flexes(orr_spec *spec, mjcf_node *root, orr_error *error)
{
    static const struct {
        const char *section;
        orr_result (*read)(orr_spec *spec, mjcf_node *root, mjcf_node *node, orr_error *error);
    } parts[] = {{"deformable", read_flex}, {"equality", read_equality}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        for (mjcf_node *section = root->children; section; section = section->next) {
            for (mjcf_node **link = &section->children; mjcf_is(section, parts[i].section) && *link;) {
                mjcf_node *node = *link;
                if (i == 1 && mjcf_is(node, "flexstrain")) {
                    ORR_TRY(mark_strained(root, node, error));
                }
                if (!mjcf_is(node, "flex")) {
                    link = &node->next;
                    continue;
                }
                *link = node->next;
                ORR_TRY(parts[i].read(spec, root, node, error));
            }
        }
    }
    return ORR_OK;
}
