// <replicate>: copies of its contents, each transformed once more by the offset and the angles, with the
// number of the copy appended to each name. Elements outside of the tree of bodies that refer to such a name
// are copied as often. All this is done in the XML tree, where a copy remains as a frame with its number.
#include "physics/mjcf/mjcf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COPIES_MAX = 4096, // of one
    NODE_WORK = 8,     // for an element; one more for each copy before it
    WORK_MAX = 1 << 23
};

typedef struct replicated { // a name inside of a <replicate>
    const char *kind, *name;
    struct replicated *next;
} replicated;

typedef struct copier {
    mjcf_node *root;
    orr_arena *arena;
    replicated *names;
    char ending[64]; // added to the names of one copy
    int work;        // taken so far
    orr_error *error;
} copier;

// The kind of object that an attribute names, or NULL.
static const char *reference_kind(const mjcf_node *node, const char *attribute)
{
    static const char *const kinds[][2] = {
        {"body", "body"},     {"body1", "body"},     {"body2", "body"},     {"target", "body"},
        {"joint", "joint"},   {"joint1", "joint"},   {"joint2", "joint"},   {"jointinparent", "joint"},
        {"geom", "geom"},     {"geom1", "geom"},     {"geom2", "geom"},     {"site", "site"},
        {"site1", "site"},    {"site2", "site"},     {"refsite", "site"},   {"sidesite", "site"},
        {"tendon", "tendon"}, {"tendon1", "tendon"}, {"tendon2", "tendon"}, {"actuator", "actuator"},
        {"subtree1", "body"}, {"subtree2", "body"},  {"cranksite", "site"}, {"slidersite", "site"},
        {"camera", "camera"}};
    if (mjcf_is(node, "attach")) {
        return NULL; // its body is another model's
    }
    bool object = strcmp(attribute, "objname") == 0;
    if (object || strcmp(attribute, "refname") == 0) {
        const char *kind = mjcf_find(node, object ? "objtype" : "reftype");
        return kind && strcmp(kind, "xbody") == 0 ? "body" : kind;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i][0], attribute) == 0) {
            return kinds[i][1];
        }
    }
    return NULL;
}

static bool is_replicated(const copier *c, const mjcf_node *node, const mjcf_attribute *a)
{
    const char *kind = reference_kind(node, a->name);
    const replicated *name = kind ? c->names : NULL;
    while (name && (strcmp(name->kind, kind) != 0 || strcmp(name->name, a->value) != 0)) {
        name = name->next;
    }
    return name != NULL;
}

static bool refers(const copier *c, const mjcf_node *node)
{
    for (const mjcf_attribute *a = node->attributes; a; a = a->next) {
        if (is_replicated(c, node, a)) {
            return true;
        }
    }
    for (const mjcf_node *child = node->children; child; child = child->next) {
        if (refers(c, child)) {
            return true;
        }
    }
    return false;
}

static orr_result add_name(copier *c, const char *kind, const mjcf_node *node)
{
    const char *name = mjcf_find(node, "name");
    if (name && name[0]) {
        replicated *entry = orr_arena_take(c->arena, 1, sizeof *entry);
        if (!entry) {
            return spec_memory_fail(c->error);
        }
        *entry = (replicated){strcmp(kind, "freejoint") == 0 ? "joint" : kind, name, c->names};
        c->names = entry;
    }
    return ORR_OK;
}

static orr_result collect_names(copier *c, const mjcf_node *node)
{
    for (const mjcf_node *child = node->children; child; child = child->next) {
        ORR_TRY(add_name(c, child->name, child));
        ORR_TRY(collect_names(c, child));
    }
    return ORR_OK;
}

static orr_result spend(copier *c, const mjcf_node *node, int work)
{
    c->work += work;
    return c->work <= WORK_MAX
               ? ORR_OK
               : mjcf_fail(node, c->error, "expected up to %d elements in all copies by <replicate>",
                           WORK_MAX / NODE_WORK);
}

static orr_result join_texts(copier *c, const char *first, const char *second, const char **joined)
{
    size_t size = strlen(first) + strlen(second) + 1;
    char *text = orr_arena_take(c->arena, size, 1);
    if (!text) {
        return spec_memory_fail(c->error);
    }
    snprintf(text, size, "%s%s", first, second);
    *joined = text;
    return ORR_OK;
}

static orr_result copy_attributes(copier *c, const mjcf_node *node, mjcf_attribute **copies)
{
    for (const mjcf_attribute *a = node->attributes; a; a = a->next) {
        mjcf_attribute *copy = orr_arena_take(c->arena, 1, sizeof *copy);
        if (!copy) {
            return spec_memory_fail(c->error);
        }
        *copy = (mjcf_attribute){a->name, a->value, NULL};
        if ((strcmp(a->name, "name") == 0 && a->value[0]) || is_replicated(c, node, a)) {
            ORR_TRY(join_texts(c, a->value, c->ending, &copy->value));
        }
        *copies = copy;
        copies = &copy->next;
    }
    return ORR_OK;
}

static orr_result copy_node(copier *c, const mjcf_node *node, mjcf_node **copy);

static orr_result copy_children(copier *c, const mjcf_node *node, mjcf_node **copies)
{
    for (const mjcf_node *child = node->children; child; child = child->next) {
        ORR_TRY(copy_node(c, child, copies));
        copies = &(*copies)->next;
    }
    return ORR_OK;
}

static orr_result copy_node(copier *c, const mjcf_node *node, mjcf_node **copy)
{
    ORR_TRY(spend(c, node, NODE_WORK + node->repeat));
    *copy = orr_arena_take(c->arena, 1, sizeof **copy);
    if (!*copy) {
        return spec_memory_fail(c->error);
    }
    **copy = *node;
    (*copy)->attributes = NULL;
    (*copy)->children = (*copy)->next = NULL;
    ORR_TRY(copy_attributes(c, node, &(*copy)->attributes));
    if (mjcf_is(node, "attach")) {
        ORR_TRY(join_texts(c, node->ending ? node->ending : "", c->ending, &(*copy)->ending));
    }
    return copy_children(c, node, &(*copy)->children);
}

// After the separator: "2" of 3 copies, "02" of 12.
static void begin_copy(copier *c, const mjcf_node *node, int index, int count)
{
    const char *separator = mjcf_find(node, "sep");
    int width = snprintf(NULL, 0, "%d", count);
    snprintf(c->ending, sizeof c->ending, "%.32s%0*d", separator ? separator : "", width, index);
}

// Elements of a section that refer to replicated names are removed; their copies follow at its end, copy by
// copy.
static orr_result copy_references(copier *c, const mjcf_node *node, const char *section, int count)
{
    mjcf_node *taken = NULL, **last = &taken, *end = NULL;
    for (mjcf_node *s = c->root->children; s; s = s->next) {
        if (!mjcf_is(s, section)) {
            continue;
        }
        end = s;
        for (mjcf_node **link = &s->children; *link;) {
            mjcf_node *element = *link;
            if (!refers(c, element)) {
                link = &element->next;
                continue;
            }
            ORR_TRY(add_name(c, section, element));
            *link = element->next;
            element->next = NULL;
            *last = element;
            last = &element->next;
        }
    }
    mjcf_node **next = end ? &end->children : NULL;
    while (next && *next) {
        next = &(*next)->next;
    }
    for (int i = 0; taken && i < count; i++) {
        begin_copy(c, node, i, count);
        for (const mjcf_node *element = taken; element; element = element->next) {
            ORR_TRY(copy_node(c, element, next));
            next = &(*next)->next;
        }
    }
    return ORR_OK;
}

// The list of copies that replaces one <replicate>; each is read as a frame.
static orr_result replicate(copier *c, const mjcf_node *node, mjcf_node **copies)
{
    // what refers to a copy may itself be referred to: tendons, then actuators, then sensors
    static const char *const sections[] = {"tendon", "actuator", "sensor", "contact", "equality", "custom"};
    double count = 0.0;
    int found;
    ORR_TRY(mjcf_read_numbers(node, "count", 1, 1, &count, &found, c->error));
    if (!found || !(count >= 0.0 && count <= COPIES_MAX) || count != (int)count) {
        return mjcf_fail(node, c->error, "count: expected an integer of 0 to %d", COPIES_MAX);
    }
    c->names = NULL;
    ORR_TRY(collect_names(c, node));
    for (int i = 0; i < (int)count; i++) {
        mjcf_node *copy = orr_arena_take(c->arena, 1, sizeof *copy);
        if (!copy) {
            return spec_memory_fail(c->error);
        }
        *copy = *node;
        copy->repeat = i;
        ORR_TRY(spend(c, node, NODE_WORK + i));
        copy->children = copy->next = NULL;
        begin_copy(c, node, i, (int)count);
        ORR_TRY(copy_children(c, node, &copy->children));
        *copies = copy;
        copies = &copy->next;
    }
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        ORR_TRY(copy_references(c, node, sections[i], (int)count));
    }
    return ORR_OK;
}

static orr_result expand(copier *c, mjcf_node *parent)
{
    for (mjcf_node **link = &parent->children; *link;) {
        mjcf_node *child = *link, *first = NULL, **last = &first;
        ORR_TRY(expand(c, child)); // those inside first
        if (!mjcf_is(child, "replicate")) {
            link = &child->next;
            continue;
        }
        ORR_TRY(replicate(c, child, &first));
        while (*last) {
            last = &(*last)->next;
        }
        *last = child->next;
        *link = first;
        link = last == &first ? link : last; // an empty list leaves no last node
    }
    return ORR_OK;
}

orr_result mjcf_replicate(mjcf_node *root, orr_arena *arena, orr_error *error)
{
    copier c = {.root = root, .arena = arena, .error = error};
    for (mjcf_node *section = root->children; section; section = section->next) {
        if (mjcf_is(section, "worldbody")) {
            ORR_TRY(expand(&c, section));
        }
    }
    return ORR_OK;
}
