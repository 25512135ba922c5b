// A URDF file: links and joints in any order into a tree of bodies.
#include "physics/urdf/urdf.h"
#include "engine/maths/rotation.h"

#include "engine/core/memory.h"

#include <stdlib.h>
#include <string.h>

static const char OPTENV[] = "$(optenv "; // of ROS: urdf_numbers reads it

static bool listed(const char *const *names, const char *name)
{
    for (; names && *names; names++) {
        if (strcmp(*names, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_namespaced(const char *name)
{
    return strchr(name, ':') || strcmp(name, "xmlns") == 0;
}

// What URDF does not have is for other programs, or a mistake: noted, as MuJoCo ignores all that it does not
// read.
static void note_unknown(const urdf_reader *reader, const mjcf_node *node, const char *kind, const char *name)
{
    spec_note(reader->spec, node->file, node->line, "<%.32s>: %s '%.64s': unknown", node->name, kind, name);
}

orr_result urdf_check(const urdf_reader *reader, const mjcf_node *node, const char *const *attributes,
                      const char *const *children)
{
    for (const mjcf_attribute *a = node->attributes; a; a = a->next) {
        if (!is_namespaced(a->name) && !listed(attributes, a->name)) {
            note_unknown(reader, node, "attribute", a->name);
        }
        const bool found = strncmp(a->value, "$(find ", 7) == 0 || // urdf_find_file reads it
                           strncmp(a->value, OPTENV, sizeof OPTENV - 1) == 0;
        if (strstr(a->value, "${") || (strstr(a->value, "$(") && !found)) {
            return mjcf_fail(node, reader->error, "%s: expected plain URDF, not xacro: expand it first",
                             a->name);
        }
    }
    for (const mjcf_node *child = node->children; child; child = child->next) {
        if (strncmp(child->name, "xacro:", 6) == 0) {
            return mjcf_fail(child, reader->error, "expected plain URDF, not xacro: expand it first");
        }
        if (!is_namespaced(child->name) && !listed(children, child->name)) {
            note_unknown(reader, child, "element in", node->name);
        }
    }
    if (node->text_line) {
        mjcf_note_text(reader->spec, node);
    }
    return ORR_OK;
}

const mjcf_node *urdf_child(const mjcf_node *node, const char *name)
{
    const mjcf_node *child = node->children;
    while (child && !mjcf_is(child, name)) {
        child = child->next;
    }
    return child;
}

orr_result urdf_required_child(const urdf_reader *reader, const mjcf_node *node, const char *name,
                               const mjcf_node **child)
{
    *child = urdf_child(node, name);
    return *child ? ORR_OK : mjcf_fail(node, reader->error, "expected <%s> in it", name);
}

// The same element with numbers as they are meant: commas, which other readers skip, become spaces. NULL: out
// of memory.
static const mjcf_node *with_plain_numbers(const urdf_reader *reader, const mjcf_node *node, const char *name)
{
    const char *given = mjcf_find(node, name);
    const bool variable = given && strncmp(given, OPTENV, sizeof OPTENV - 1) == 0;
    if (!given || !(variable || strchr(given, ','))) {
        return node;
    }
    // ROS puts DEFAULT in place of "$(optenv NAME DEFAULT)" where there is no such variable
    const char *from = variable ? given + sizeof OPTENV - 1 : given;
    from += variable ? strcspn(from, " )") : 0;
    const size_t bytes = strlen(from) + 1;
    char *text = orr_arena_take(&reader->spec->arena, bytes, 1);
    mjcf_attribute *attribute = orr_arena_take(&reader->spec->arena, 1, sizeof *attribute);
    mjcf_node *copy = orr_arena_take(&reader->spec->arena, 1, sizeof *copy);
    if (!text || !attribute || !copy) {
        return NULL;
    }
    for (size_t i = 0; i < bytes; i++) {
        text[i] = from[i] == ',' || (variable && from[i] == ')') ? ' ' : from[i];
    }
    *attribute = (mjcf_attribute){.name = name, .value = text};
    *copy = *node;
    copy->attributes = attribute;
    spec_note(reader->spec, node->file, node->line, "<%.32s>: %.32s: read as '%.64s'", node->name, name,
              text);
    return copy;
}

orr_result urdf_numbers(const urdf_reader *reader, const mjcf_node *node, const char *name, int count,
                        bool required, double *values)
{
    int found;
    const mjcf_node *plain = with_plain_numbers(reader, node, name);
    if (!plain) {
        return spec_memory_fail(reader->error);
    }
    ORR_TRY(mjcf_read_numbers(plain, name, count, count, values, &found, reader->error));
    return found == count || !required ? ORR_OK
                                       : mjcf_fail(node, reader->error, "%s: expected %d number%s", name,
                                                   count, count == 1 ? "" : "s");
}

orr_result urdf_origin(const urdf_reader *reader, const mjcf_node *node, double pos[3], double quat[4])
{
    static const char *const attributes[] = {"xyz", "rpy", NULL};
    const mjcf_node *origin = urdf_child(node, "origin");
    double angles[3] = {0.0, 0.0, 0.0};
    pos[0] = pos[1] = pos[2] = 0.0;
    quat[0] = 1.0, quat[1] = quat[2] = quat[3] = 0.0;
    if (!origin) {
        return ORR_OK;
    }
    ORR_TRY(urdf_check(reader, origin, attributes, NULL));
    ORR_TRY(urdf_numbers(reader, origin, "xyz", 3, false, pos));
    ORR_TRY(urdf_numbers(reader, origin, "rpy", 3, false, angles));
    mjcf_euler_quaternion("XYZ", angles, quat);
    quat_normalise(quat);
    return ORR_OK;
}

// <mujoco>: MuJoCo's extensions of URDF.
static orr_result read_mujoco(urdf_reader *reader, const mjcf_node *root)
{
    static const char *const sections[] = {"compiler", "option", "size", NULL};
    spec_compiler *compiler = &reader->spec->compiler;
    compiler->fusestatic = compiler->discardvisual = 1;
    mjcf_reader settings = {.spec = reader->spec, .error = reader->error};
    for (const mjcf_node *node = root->children; node; node = node->next) {
        if (!mjcf_is(node, "mujoco")) {
            continue;
        }
        ORR_TRY(urdf_check(reader, node, NULL, sections));
        for (const mjcf_node *section = node->children; section; section = section->next) {
            if (!listed(sections, section->name)) { // it is noted: MuJoCo ignores it too
                continue;
            }
            ORR_TRY(mjcf_read_settings(&settings, section));
            reader->hides_visuals =
                mjcf_find(section, "discardvisual") ? compiler->discardvisual != 0 : reader->hides_visuals;
        }
    }
    compiler->degree = 0;
    return ORR_OK;
}

static int compare_links(const void *a, const void *b)
{
    return strcmp((*(const urdf_link *const *)a)->name, (*(const urdf_link *const *)b)->name);
}

static orr_result read_links(urdf_reader *reader, const mjcf_node *root, const urdf_link **by_name)
{
    int count = 0;
    for (const mjcf_node *node = root->children; node; node = node->next) {
        if (!mjcf_is(node, "link")) {
            continue;
        }
        const char *name = mjcf_find(node, "name");
        if (!name || !name[0]) {
            return mjcf_fail(node, reader->error, "name: expected one");
        }
        by_name[count] = &reader->links[count];
        reader->links[count++] = (urdf_link){.name = name,
                                             .node = node,
                                             .parent = -1,
                                             .child = -1,
                                             .last_child = -1,
                                             .sibling = -1,
                                             .body = -1};
    }
    qsort(by_name, (size_t)count, sizeof(urdf_link *), compare_links);
    for (int i = 1; i < count; i++) {
        if (compare_links(&by_name[i - 1], &by_name[i]) == 0) {
            const urdf_link *later = by_name[i] > by_name[i - 1] ? by_name[i] : by_name[i - 1];
            return mjcf_fail(later->node, reader->error, "name '%.64s' is taken already", later->name);
        }
    }
    return count > 0 ? ORR_OK : mjcf_fail(root, reader->error, "expected at least one <link>");
}

static orr_result find_link(const urdf_reader *reader, const mjcf_node *joint, const char *role,
                            const urdf_link *const *by_name, urdf_link **link)
{
    static const char *const attributes[] = {"link", NULL};
    const mjcf_node *node;
    ORR_TRY(urdf_required_child(reader, joint, role, &node));
    ORR_TRY(urdf_check(reader, node, attributes, NULL));
    const urdf_link searched = {.name = mjcf_find(node, "link")}, *key = &searched;
    const urdf_link *const *found =
        searched.name ? bsearch(&key, by_name, (size_t)reader->link_count, sizeof(urdf_link *), compare_links)
                      : NULL;
    if (!found) {
        return searched.name ? mjcf_fail(node, reader->error, "there is no link '%.64s'", searched.name)
                             : mjcf_fail(node, reader->error, "link: expected the name of one");
    }
    *link = &reader->links[*found - reader->links];
    return ORR_OK;
}

static orr_result connect(urdf_reader *reader, const mjcf_node *root, const urdf_link *const *by_name)
{
    for (const mjcf_node *node = root->children; node; node = node->next) {
        urdf_link *parent, *child;
        if (!mjcf_is(node, "joint")) {
            continue;
        }
        ORR_TRY(find_link(reader, node, "parent", by_name, &parent));
        ORR_TRY(find_link(reader, node, "child", by_name, &child));
        if (child->joint) {
            return mjcf_fail(node, reader->error,
                             "child '%.64s' is the child of the joint in line %d already: expected a tree",
                             child->name, child->joint->line);
        }
        if (strcmp(child->name, "world") == 0) {
            return mjcf_fail(node, reader->error, "child: the world cannot be the child of a joint");
        }
        int index = (int)(child - reader->links);
        child->joint = node;
        child->parent = (int)(parent - reader->links);
        if (parent->child < 0) {
            parent->child = index;
        } else {
            reader->links[parent->last_child].sibling = index;
        }
        parent->last_child = index;
    }
    return ORR_OK;
}

// A link becomes a body, a first link named world the world. Joints and geoms are added body by body.
static orr_result add_link(urdf_reader *reader, urdf_link *link)
{
    orr_spec *spec = reader->spec;
    if (link->parent < 0 && strcmp(link->name, "world") == 0) {
        link->body = 0;
        return urdf_read_link(reader, link);
    }
    link->body = spec->bodies_count;
    spec_body *body = SPEC_APPEND(spec, bodies);
    if (!body) {
        return spec_memory_fail(reader->error);
    }
    *body = (spec_body){.head = {mjcf_location(link->node), link->name},
                        .parent = link->parent < 0 ? 0 : reader->links[link->parent].body,
                        .full_inertia = {(double)NAN}};
    mjcf_orientation_init(&body->orientation);
    if (link->joint) {
        ORR_TRY(urdf_read_joint(reader, link));
    }
    body = &spec->bodies[link->body];
    memcpy(body->own_pos, body->pos, sizeof body->own_pos);
    memcpy(body->own_quat, body->orientation.quat, sizeof body->own_quat);
    return urdf_read_link(reader, link);
}

// Depth first, children in the order of their joints.
static orr_result add_tree(urdf_reader *reader, int top)
{
    urdf_link *links = reader->links;
    for (int at = top; at >= 0;) {
        ORR_TRY(add_link(reader, &links[at]));
        int next = links[at].child;
        while (next < 0 && at != top) {
            next = links[at].sibling;
            at = links[at].parent;
        }
        at = next;
    }
    return ORR_OK;
}

static orr_result read_tree(urdf_reader *reader, const mjcf_node *root)
{
    int count = 0;
    for (const mjcf_node *node = root->children; node; node = node->next) {
        count += mjcf_is(node, "link");
    }
    reader->link_count = count;
    reader->links = orr_arena_take(&reader->spec->arena, (size_t)count, sizeof *reader->links);
    const urdf_link **by_name = orr_arena_take(&reader->spec->arena, (size_t)count, sizeof(urdf_link *));
    spec_body *world = SPEC_APPEND(reader->spec, bodies);
    if (!reader->links || !by_name || !world) {
        return spec_memory_fail(reader->error);
    }
    *world = (spec_body){.head = {mjcf_location(root), "world"}, .full_inertia = {(double)NAN}};
    mjcf_orientation_init(&world->orientation);
    ORR_TRY(read_links(reader, root, by_name));
    ORR_TRY(connect(reader, root, by_name));
    for (int i = 0; i < count; i++) {
        if (reader->links[i].parent < 0) {
            ORR_TRY(add_tree(reader, i));
        }
    }
    for (int i = 0; i < count; i++) {
        if (reader->links[i].body < 0) {
            return mjcf_fail(reader->links[i].joint, reader->error,
                             "link '%.64s' is its own ancestor: expected a tree", reader->links[i].name);
        }
    }
    return ORR_OK;
}

orr_result urdf_read(orr_spec *spec, const mjcf_node *root, orr_error *error)
{
    // those after <mujoco> are for other programs and do not change masses or joints
    static const char *const sections[] = {"link",   "joint",        "material", "mujoco", "transmission",
                                           "gazebo", "ros2_control", "sensor",   NULL};
    static const char *const attributes[] = {"name", "version", NULL};
    mjcf_class *defaults = orr_arena_take(&spec->arena, 1, sizeof *defaults);
    if (!defaults) {
        return spec_memory_fail(error);
    }
    mjcf_class_init(defaults);
    urdf_reader reader = {.spec = spec, .defaults = defaults, .error = error};
    ORR_TRY(urdf_check(&reader, root, attributes, sections));
    spec_set_name(spec, mjcf_find(root, "name"));
    ORR_TRY(read_mujoco(&reader, root));
    ORR_TRY(urdf_read_materials(&reader, root));
    ORR_TRY(read_tree(&reader, root));
    urdf_settle_mimics(&reader);
    const spec_compiler *compiler = &spec->compiler;
    return compiler->boundmass > 0.0 && compiler->boundinertia > 0.0 ? ORR_OK : urdf_give_masses(&reader);
}
