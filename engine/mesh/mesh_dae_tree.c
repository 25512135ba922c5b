#define _GNU_SOURCE // qsort_r
#include "engine/mesh/mesh_dae_tree.h"

#include "engine/core/memory.h"

#include <expat.h>
#include <stdlib.h>
#include <string.h>

typedef struct parsing {
    orr_mesh_reader *reader;
    orr_dae_tree *tree;
    XML_Parser parser;
    int open; // node; -1: none
    orr_result result;
} parsing;

static void stop(parsing *p, orr_result result)
{
    if (result != ORR_OK && p->result == ORR_OK) {
        p->result = result;
        XML_StopParser(p->parser, XML_FALSE);
    }
}

static orr_result add_text(parsing *p, const char *text, int length)
{
    orr_dae_tree *tree = p->tree;
    if (length > INT32_MAX - 1 - tree->text_count) {
        return orr_mesh_fail(p->reader, "expected less than 2 GB of text");
    }
    ORR_GROW(tree->text, tree->text_room, tree->text_count + length, "text of a mesh file", p->reader->error);
    memcpy(tree->text + tree->text_count, text, (size_t)length);
    tree->text_count += length;
    return ORR_OK;
}

static orr_result add_string(parsing *p, const char *text, int *at)
{
    *at = p->tree->text_count;
    return add_text(p, text, (int)strlen(text) + 1);
}

// What was read of the open element's content ends with a zero byte.
static orr_result end_content(parsing *p)
{
    bool has = p->open >= 0 && p->tree->nodes[p->open].content_size > 0;
    bool last =
        has && p->tree->nodes[p->open].content + p->tree->nodes[p->open].content_size == p->tree->text_count;
    return last ? add_text(p, "", 1) : ORR_OK;
}

static orr_result add_element(parsing *p, const char *name, const char **attributes)
{
    orr_dae_tree *tree = p->tree;
    ORR_TRY(end_content(p));
    if (tree->node_count == INT32_MAX) {
        return orr_mesh_fail(p->reader, "expected fewer elements");
    }
    ORR_GROW(tree->nodes, tree->node_room, tree->node_count + 1, "elements of a mesh file", p->reader->error);
    int index = tree->node_count++;
    orr_dae_node *node = &tree->nodes[index];
    *node = (orr_dae_node){.first_attribute = tree->attribute_count,
                           .parent = p->open,
                           .first_child = -1,
                           .last_child = -1,
                           .next = -1,
                           .line = (int)XML_GetCurrentLineNumber(p->parser)};
    if (p->open >= 0) {
        orr_dae_node *parent = &tree->nodes[p->open];
        *(parent->last_child >= 0 ? &tree->nodes[parent->last_child].next : &parent->first_child) = index;
        parent->last_child = index;
    }
    p->open = index;
    const char *colon = strchr(name, ':'); // of a namespace
    ORR_TRY(add_string(p, colon ? colon + 1 : name, &node->name));
    for (; attributes[0]; attributes += 2) {
        orr_dae_attribute attribute;
        ORR_TRY(add_string(p, attributes[0], &attribute.name));
        ORR_TRY(add_string(p, attributes[1], &attribute.value));
        ORR_GROW(tree->attributes, tree->attribute_room, tree->attribute_count + 1, "elements of a mesh file",
                 p->reader->error);
        tree->attributes[tree->attribute_count++] = attribute;
        node->attribute_count++;
    }
    return ORR_OK;
}

static void begin_element(void *user, const XML_Char *name, const XML_Char **attributes)
{
    parsing *p = user;
    if (p->result == ORR_OK) {
        stop(p, add_element(p, name, attributes));
    }
}

static void end_element(void *user, const XML_Char *name)
{
    (void)name;
    parsing *p = user;
    if (p->result != ORR_OK) {
        return; // expat may still report the end of an element that was refused
    }
    stop(p, end_content(p));
    p->open = p->tree->nodes[p->open].parent;
}

static void read_content(void *user, const XML_Char *text, int length)
{
    parsing *p = user;
    if (p->result != ORR_OK) {
        return;
    }
    orr_dae_node *node = &p->tree->nodes[p->open];
    if (node->content_size == 0) {
        for (; length > 0 && (unsigned char)*text <= ' '; text++) {
            length--;
        }
        node->content = p->tree->text_count;
    }
    if (length > 0 && node->content + node->content_size == p->tree->text_count) {
        stop(p, add_text(p, text, length));
        node->content_size += p->result == ORR_OK ? length : 0;
    }
}

// Entities could make a small file large.
static void refuse_entity(void *user, const XML_Char *name, int parameter, const XML_Char *value, int length,
                          const XML_Char *base, const XML_Char *system, const XML_Char *public,
                          const XML_Char *notation)
{
    (void)name, (void)parameter, (void)value, (void)length, (void)base, (void)system, (void)public,
        (void)notation;
    parsing *p = user;
    stop(p,
         orr_mesh_fail(p->reader, "line %d: expected no entities", (int)XML_GetCurrentLineNumber(p->parser)));
}

static int compare_ids(const void *left, const void *right, void *user)
{
    const orr_dae_tree *tree = user;
    const int *a = left, *b = right;
    int order = strcmp(orr_dae_attribute_of(tree, *a, "id"), orr_dae_attribute_of(tree, *b, "id"));
    return order ? order : *a - *b;
}

static orr_result sort_ids(orr_mesh_reader *reader, orr_dae_tree *tree)
{
    ORR_ALLOC(tree->by_id, tree->node_count, "elements of a mesh file", reader->error);
    for (int i = 0; i < tree->node_count; i++) {
        if (orr_dae_attribute_of(tree, i, "id")) {
            tree->by_id[tree->id_count++] = i;
        }
    }
    qsort_r(tree->by_id, (size_t)tree->id_count, sizeof *tree->by_id, compare_ids, tree);
    return ORR_OK;
}

orr_result orr_dae_parse(orr_mesh_reader *reader, orr_dae_tree *tree)
{
    parsing p = {.reader = reader, .tree = tree, .open = -1};
    if (reader->bytes.size > INT32_MAX) {
        return orr_mesh_fail(reader, "expected less than 2 GB");
    }
    p.parser = XML_ParserCreate(NULL);
    if (!p.parser) {
        return orr_fail(reader->error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a reader of XML");
    }
    XML_SetUserData(p.parser, &p);
    XML_SetElementHandler(p.parser, begin_element, end_element);
    XML_SetCharacterDataHandler(p.parser, read_content);
    XML_SetEntityDeclHandler(p.parser, refuse_entity);
    enum XML_Status status =
        XML_Parse(p.parser, (const char *)reader->bytes.data, (int)reader->bytes.size, XML_TRUE);
    if (status != XML_STATUS_OK && p.result == ORR_OK) {
        enum XML_Error code = XML_GetErrorCode(p.parser);
        p.result = code == XML_ERROR_NO_MEMORY
                       ? orr_fail(reader->error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a mesh file")
                       : orr_mesh_fail(reader, "line %d: not a mesh: expected XML: %s",
                                       (int)XML_GetCurrentLineNumber(p.parser), XML_ErrorString(code));
    }
    XML_ParserFree(p.parser);
    ORR_TRY(p.result);
    return sort_ids(reader, tree);
}

void orr_dae_free(orr_dae_tree *tree)
{
    orr_free(tree->nodes);
    orr_free(tree->attributes);
    orr_free(tree->text);
    orr_free(tree->by_id);
}

bool orr_dae_is(const orr_dae_tree *tree, int node, const char *name)
{
    return strcmp(tree->text + tree->nodes[node].name, name) == 0;
}

int orr_dae_first(orr_dae_tree *tree, int node)
{
    tree->steps++;
    return node >= 0 ? tree->nodes[node].first_child : -1;
}

int orr_dae_sibling(orr_dae_tree *tree, int node)
{
    tree->steps++;
    return tree->nodes[node].next;
}

static int first_named(orr_dae_tree *tree, int node, const char *name)
{
    while (node >= 0 && !orr_dae_is(tree, node, name)) {
        node = orr_dae_sibling(tree, node);
    }
    return node;
}

int orr_dae_child(orr_dae_tree *tree, int node, const char *name)
{
    return first_named(tree, orr_dae_first(tree, node), name);
}

int orr_dae_next(orr_dae_tree *tree, int child, const char *name)
{
    return first_named(tree, orr_dae_sibling(tree, child), name);
}

const char *orr_dae_attribute_of(const orr_dae_tree *tree, int node, const char *name)
{
    const orr_dae_node *n = &tree->nodes[node];
    for (int i = 0; i < n->attribute_count; i++) {
        const orr_dae_attribute *attribute = &tree->attributes[n->first_attribute + i];
        if (strcmp(tree->text + attribute->name, name) == 0) {
            return tree->text + attribute->value;
        }
    }
    return NULL;
}

// Where in by_id the first of that id stands that is `node` or behind it, or would stand.
static int place_of(const orr_dae_tree *tree, const char *id, int node)
{
    int low = 0, high = tree->id_count;
    while (low < high) {
        int middle = low + (high - low) / 2, at = tree->by_id[middle];
        int order = strcmp(orr_dae_attribute_of(tree, at, "id"), id);
        bool before = order < 0 || (order == 0 && at < node);
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low;
}

static bool has_id(const orr_dae_tree *tree, int place, const char *id)
{
    return place >= 0 && place < tree->id_count &&
           strcmp(orr_dae_attribute_of(tree, tree->by_id[place], "id"), id) == 0;
}

int orr_dae_by_id(const orr_dae_tree *tree, const char *id)
{
    int place = place_of(tree, id, 0);
    return has_id(tree, place, id) ? tree->by_id[place] : -1;
}

int orr_dae_reference(const orr_dae_tree *tree, int node, const char *attribute)
{
    const char *value = node >= 0 ? orr_dae_attribute_of(tree, node, attribute) : NULL;
    if (!value || value[0] != '#') {
        return -1;
    }
    int behind = place_of(tree, value + 1, node);
    return has_id(tree, behind - 1, value + 1) ? tree->by_id[behind - 1] : orr_dae_by_id(tree, value + 1);
}

orr_mesh_text orr_dae_content(const orr_dae_tree *tree, int node)
{
    static const char empty[] = "";
    const orr_dae_node *n = node >= 0 ? &tree->nodes[node] : NULL;
    const char *text = n && n->content_size > 0 ? tree->text + n->content : empty;
    return (orr_mesh_text){text, text + (n ? n->content_size : 0), n ? n->line : 0};
}

int orr_dae_numbers(const orr_dae_tree *tree, int node, float *values, int count)
{
    orr_mesh_text text = orr_dae_content(tree, node);
    int got = 0;
    for (double value; got < count && orr_mesh_text_any_number(&text, &value); got++) {
        values[got] = (float)value;
    }
    return got;
}
