// <composite>, of which MuJoCo has cables alone: in the XML tree it becomes a chain of bodies, each with a
// geom from its origin along x to the next one's, with the names, excludes and text that MuJoCo gives them.
#include "engine/maths/rotation.h"
#include "physics/mjcf/mjcf.h"

#include <stdio.h>
#include <string.h>

enum { BODIES_MAX = 1 << 14 }; // a short file could make more than memory holds

typedef enum passing { COPIED, WITHOUT_EFFECT, ONLY_ON_BALLS } passing;

typedef struct passed_attribute { // to the joints, geoms and sites of a cable; ends with NULL
    const char *name;
    passing how;
} passed_attribute;

typedef struct cable {
    mjcf_composite c;
    orr_spec *spec;
    mjcf_node *contact;                            // of the excludes
    const mjcf_node *node;                         // <composite>
    const mjcf_node *geom, *joint, *site, *plugin; // inside; all but the geom are Nullable
    const char *prefix, *instance;                 // instance: of the plugin
    orr_error *error;
} cable;

// where: the element of the file that it comes from; NULL: the <composite>.
static mjcf_node *add_child(const cable *c, mjcf_node *parent, const char *name, const mjcf_node *where)
{
    mjcf_node *child = mjcf_add_child(&c->spec->arena, parent, name, where ? where : c->node);
    if (child) {
        child->plain = true;
    }
    return child;
}

#define PRINT(node, name, ...)                                                                               \
    ORR_TRY(mjcf_print_attribute(&c->spec->arena, node, name, c->error, __VA_ARGS__))

// `from` is Nullable.
static orr_result pass(const cable *c, const mjcf_node *from, const passed_attribute *known, bool is_free,
                       mjcf_node *to)
{
    for (const mjcf_attribute *a = from ? from->attributes : NULL; a; a = a->next) {
        const passed_attribute *k = known;
        while (k->name && strcmp(k->name, a->name) != 0) {
            k++;
        }
        if (!k->name) {
            return mjcf_fail(from, c->error, "unknown attribute '%.64s'", a->name);
        }
        if (k->how == COPIED || (k->how == ONLY_ON_BALLS && !is_free)) {
            ORR_TRY(mjcf_set_attribute(&c->spec->arena, to, a->name, a->value, c->error));
        }
    }
    return ORR_OK;
}

// "PREFIXB_first", "PREFIXB_1" ... "PREFIXB_last"
static orr_result name_part(const cable *c, mjcf_node *node, const char *attribute, const char *kind, int i)
{
    const int last = c->c.points - 2;
    if (i == 0 || i == last) {
        PRINT(node, attribute, "%s%s_%s", c->prefix, kind, i == 0 ? "first" : "last");
    } else {
        PRINT(node, attribute, "%s%s_%d", c->prefix, kind, i);
    }
    return ORR_OK;
}

static orr_result add_joint(const cable *c, mjcf_node *body, int i)
{
    static const passed_attribute known[] = {{"kind", WITHOUT_EFFECT},
                                             {"type", WITHOUT_EFFECT},
                                             {"axis", WITHOUT_EFFECT},
                                             {"limited", WITHOUT_EFFECT},
                                             {"solreffix", WITHOUT_EFFECT},
                                             {"solimpfix", WITHOUT_EFFECT},
                                             {"group", COPIED},
                                             {"solreflimit", COPIED},
                                             {"solimplimit", COPIED},
                                             {"solreffriction", COPIED},
                                             {"solimpfriction", COPIED},
                                             {"stiffness", COPIED},
                                             {"range", COPIED},
                                             {"margin", COPIED},
                                             {"armature", ONLY_ON_BALLS},
                                             {"frictionloss", ONLY_ON_BALLS},
                                             {"damping", ONLY_ON_BALLS},
                                             {NULL, COPIED}};
    bool is_free = i == 0 && c->c.initial == ORR_JOINT_FREE;
    if (i == 0 && c->c.initial == MJCF_NO_JOINT) {
        return ORR_OK;
    }
    mjcf_node *joint = add_child(c, body, "joint", c->joint);
    if (!joint) {
        return spec_memory_fail(c->error);
    }
    PRINT(joint, "type", "%s", is_free ? "free" : "ball");
    PRINT(joint, "group", "3");
    ORR_TRY(pass(c, c->joint, known, is_free, joint));
    return name_part(c, joint, "name", "J", i);
}

static orr_result add_geom(const cable *c, mjcf_node *body, int i, double length)
{
    static const passed_attribute known[] = {
        {"type", COPIED},    {"size", COPIED},       {"contype", COPIED},  {"conaffinity", COPIED},
        {"condim", COPIED},  {"group", COPIED},      {"priority", COPIED}, {"friction", COPIED},
        {"solmix", COPIED},  {"solref", COPIED},     {"solimp", COPIED},   {"margin", COPIED},
        {"gap", COPIED},     {"material", COPIED},   {"rgba", COPIED},     {"mass", COPIED},
        {"density", COPIED}, {"surfacevel", COPIED}, {"adhesion", COPIED}, {NULL, COPIED}};
    mjcf_node *geom = add_child(c, body, "geom", c->geom);
    if (!geom) {
        return spec_memory_fail(c->error);
    }
    ORR_TRY(pass(c, c->geom, known, false, geom));
    if (strcmp(mjcf_find(c->geom, "type"), "box") == 0) {
        double size[3] = {0.0, 0.0, 0.0};
        int count;
        ORR_TRY(mjcf_read_numbers(c->geom, "size", 1, 3, size, &count, c->error));
        PRINT(geom, "size", "%.17g %.17g %.17g", 0.5 * length, size[1], size[2]);
        PRINT(geom, "pos", "%.17g 0 0", 0.5 * length);
    } else {
        PRINT(geom, "fromto", "0 0 0 %.17g 0 0", length);
    }
    PRINT(geom, "name", "%sG%d", c->prefix, i);
    return ORR_OK;
}

// At both ends of the cable.
static orr_result add_site(const cable *c, mjcf_node *body, int i, double length)
{
    static const passed_attribute known[] = {
        {"size", COPIED}, {"group", COPIED}, {"material", COPIED}, {"rgba", COPIED}, {NULL, COPIED}};
    bool last = i == c->c.points - 2;
    if (i > 0 && !last) {
        return ORR_OK;
    }
    mjcf_node *site = add_child(c, body, "site", c->site);
    if (!site) {
        return spec_memory_fail(c->error);
    }
    PRINT(site, "pos", "%.17g 0 0", last ? length : 0.0);
    PRINT(site, "group", "3");
    ORR_TRY(pass(c, c->site, known, false, site));
    return name_part(c, site, "name", "S", i);
}

static orr_result add_plugin(const cable *c, mjcf_node *body)
{
    if (!c->plugin) {
        return ORR_OK;
    }
    mjcf_node *plugin = add_child(c, body, "plugin", c->plugin);
    if (!plugin) {
        return spec_memory_fail(c->error);
    }
    PRINT(plugin, "plugin", "%s", mjcf_cable);
    PRINT(plugin, "instance", "%s", c->instance);
    return ORR_OK;
}

static orr_result place_body(const cable *c, mjcf_node *body, int i, const mjcf_segment *segment,
                             const mjcf_segment *before)
{
    const float *point = c->c.point;
    double pos[3] = {before ? before->length : 0.0, 0.0, 0.0}, quat[4];
    memcpy(quat, segment->quat, sizeof quat);
    if (before) {
        double inverse[4];
        quat_conjugate(before->quat, inverse);
        quat_multiply(inverse, quat, quat);
    }
    for (int k = 0; k < 3 && !before; k++) {
        pos[k] = c->c.offset[k] + (double)point[k];
    }
    PRINT(body, "pos", "%.17g %.17g %.17g", pos[0], pos[1], pos[2]);
    PRINT(body, "quat", "%.17g %.17g %.17g %.17g", quat[0], quat[1], quat[2], quat[3]);
    return name_part(c, body, "name", "B", i);
}

static orr_result exclude_next(const cable *c, int i)
{
    mjcf_node *exclude = add_child(c, c->contact, "exclude", NULL);
    if (!exclude) {
        return spec_memory_fail(c->error);
    }
    ORR_TRY(name_part(c, exclude, "body1", "B", i));
    return name_part(c, exclude, "body2", "B", i + 1);
}

static orr_result add_bodies(const cable *c, mjcf_node *parent)
{
    mjcf_segment before = {0};
    for (int i = 0; i + 1 < c->c.points; i++) {
        const mjcf_segment *last = i > 0 ? &before : NULL, segment = mjcf_cable_segment(&c->c, i, last);
        mjcf_node *body = add_child(c, parent, "body", NULL);
        if (!body) {
            return spec_memory_fail(c->error);
        }
        ORR_TRY(place_body(c, body, i, &segment, last));
        ORR_TRY(add_joint(c, body, i));
        ORR_TRY(add_geom(c, body, i, segment.length));
        ORR_TRY(add_site(c, body, i, segment.length));
        ORR_TRY(add_plugin(c, body));
        ORR_TRY(i + 2 < c->c.points ? exclude_next(c, i) : ORR_OK);
        before = segment;
        parent = body;
    }
    return ORR_OK;
}

static orr_result read_children(cable *c)
{
    for (const mjcf_node *child = c->node->children; child; child = child->next) {
        if (mjcf_is(child, "skin")) {
            spec_note(c->spec, child->file, child->line, "<skin>: expected geoms alone, it is not drawn");
            continue;
        }
        const mjcf_node **place = mjcf_is(child, "joint")    ? &c->joint
                                  : mjcf_is(child, "geom")   ? &c->geom
                                  : mjcf_is(child, "site")   ? &c->site
                                  : mjcf_is(child, "plugin") ? &c->plugin
                                                             : NULL;
        if (!place) {
            return mjcf_unknown(child, c->node, c->error);
        }
        if (*place) {
            return mjcf_fail(child, c->error, "expected once in a <composite>");
        }
        ORR_TRY(place == &c->plugin ? ORR_OK : mjcf_no_children(child, c->error));
        *place = child;
    }
    const char *kind = c->joint ? mjcf_find(c->joint, "kind") : "main";
    if (!kind || strcmp(kind, "main") != 0) {
        return mjcf_fail(c->joint, c->error, "kind: expected main");
    }
    const char *type = c->geom ? mjcf_find(c->geom, "type") : NULL;
    return type && (strcmp(type, "capsule") == 0 || strcmp(type, "cylinder") == 0 || strcmp(type, "box") == 0)
               ? ORR_OK
               : mjcf_fail(c->geom ? c->geom : c->node, c->error,
                           "expected a <geom> of the type capsule, cylinder or box");
}

// The instance of the plugin that all bodies share: the one that it names, or one of its own numbers, as
// MuJoCo names it.
static orr_result find_instance(cable *c, const mjcf_node *root)
{
    static const char *const known[] = {"plugin", "instance", NULL};
    const mjcf_node *plugin = c->plugin;
    if (!plugin) {
        return ORR_OK;
    }
    const char *name = mjcf_find(plugin, "plugin");
    mjcf_node *declared = mjcf_declared_plugin(root, mjcf_cable);
    c->instance = mjcf_find(plugin, "instance");
    ORR_TRY(mjcf_check_attributes(plugin, known, c->error));
    if (name ? strcmp(name, mjcf_cable) != 0 : !c->instance) {
        return mjcf_fail(plugin, c->error, "plugin: expected %s", mjcf_cable);
    }
    if (c->instance) {
        return plugin->children ? mjcf_fail(plugin, c->error, "instance: expected no <config> with it")
                                : ORR_OK;
    }
    if (!declared) {
        return mjcf_fail(plugin, c->error, "plugin: expected an <extension> with it");
    }
    mjcf_node *instance = mjcf_add_child(&c->spec->arena, declared, "instance", plugin);
    if (!instance) {
        return spec_memory_fail(c->error);
    }
    instance->children = plugin->children;
    PRINT(instance, "name", "composite%s", c->prefix);
    c->instance = mjcf_find(instance, "name");
    return ORR_OK;
}

typedef struct expansion { // of all composites of a file
    orr_spec *spec;
    mjcf_node *root;
    int bodies; // so far
    orr_error *error;
} expansion;

// Puts the bodies in the place of the <composite>, and the rest to the end of the file.
static orr_result replace(expansion *e, mjcf_node **link)
{
    orr_spec *spec = e->spec;
    mjcf_node *root = e->root;
    orr_error *error = e->error;
    static const char *const own[] = {"prefix", NULL};
    mjcf_node *node = *link, holder = {0};
    cable whole = {.spec = spec, .node = node, .error = error, .prefix = mjcf_find(node, "prefix")},
          *c = &whole;
    c->c = (mjcf_composite){
        .count = {1, 1, 1}, .initial = ORR_JOINT_BALL, .size = {1.0, 0.0, 0.0}, .quat = {1.0, 0.0, 0.0, 0.0}};
    c->prefix = c->prefix ? c->prefix : "";
    if (!mjcf_find(node, "type")) {
        return mjcf_fail(node, error, "type: expected cable");
    }
    ORR_TRY(mjcf_read(node, mjcf_composite_members, own, &c->c, spec, error));
    ORR_TRY(read_children(c));
    ORR_TRY(find_instance(c, root));
    ORR_TRY(mjcf_cable_points(node, &c->c, spec, error));
    e->bodies += c->c.points - 1;
    if (e->bodies > BODIES_MAX) {
        return mjcf_fail(node, error, "expected up to %d bodies in all composites", BODIES_MAX);
    }
    c->contact = mjcf_add_child(&spec->arena, root, "contact", node);
    mjcf_node *custom = mjcf_add_child(&spec->arena, root, "custom", node);
    mjcf_node *text = custom ? mjcf_add_child(&spec->arena, custom, "text", node) : NULL;
    if (!c->contact || !text) {
        return spec_memory_fail(error);
    }
    PRINT(text, "name", "composite_%s", c->prefix);
    PRINT(text, "data", "rope_%s", c->prefix);
    ORR_TRY(add_bodies(c, &holder));
    holder.children->next = node->next;
    *link = holder.children;
    return ORR_OK;
}

static orr_result expand(expansion *e, mjcf_node *parent)
{
    for (mjcf_node **link = &parent->children; *link; link = &(*link)->next) {
        ORR_TRY(mjcf_is(*link, "composite") ? replace(e, link) : expand(e, *link));
    }
    return ORR_OK;
}

orr_result mjcf_composites(orr_spec *spec, mjcf_node *root, orr_error *error)
{
    expansion e = {.spec = spec, .root = root, .error = error};
    for (mjcf_node *section = root->children; section; section = section->next) {
        if (mjcf_is(section, "worldbody")) {
            ORR_TRY(expand(&e, section));
        }
    }
    return ORR_OK;
}
