// The elements of a Collada file, as arrays that refer to each other by index.
#pragma once

#include "engine/mesh/mesh_reader.h"
#include "engine/mesh/mesh_text.h"

typedef struct orr_dae_node {
    int name;                  // here and below: into `text`
    int content, content_size; // characters before its first child, without leading blanks
    int first_attribute, attribute_count;
    int parent, first_child, last_child, next; // nodes; -1: none
    int line;
} orr_dae_node;

typedef struct orr_dae_attribute {
    int name, value;
} orr_dae_attribute;

typedef struct orr_dae_tree {
    orr_dae_node *nodes; // 0 is the root
    orr_dae_attribute *attributes;
    char *text;
    int *by_id;    // nodes that have an id, in its order
    int64_t steps; // from sibling to sibling: what a small file can repeat
    int node_count, node_room, attribute_count, attribute_room, text_count, text_room, id_count;
} orr_dae_tree;

// On failure too the tree is to be freed.
orr_result orr_dae_parse(orr_mesh_reader *reader, orr_dae_tree *tree);
void orr_dae_free(orr_dae_tree *tree);

bool orr_dae_is(const orr_dae_tree *tree, int node, const char *name);
// The first child of that name, or the next one behind a child; -1: none, also of node -1.
int orr_dae_child(orr_dae_tree *tree, int node, const char *name);
int orr_dae_next(orr_dae_tree *tree, int child, const char *name);
// Of any name.
int orr_dae_first(orr_dae_tree *tree, int node);
int orr_dae_sibling(orr_dae_tree *tree, int node);
// NULL: none.
const char *orr_dae_attribute_of(const orr_dae_tree *tree, int node, const char *name);
// The element that an attribute ("#id") refers to; -1: none. Of several with that id, which some programs
// write for each geometry anew, the last one before the node, or else the first.
int orr_dae_reference(const orr_dae_tree *tree, int node, const char *attribute);
int orr_dae_by_id(const orr_dae_tree *tree, const char *id);
orr_mesh_text orr_dae_content(const orr_dae_tree *tree, int node); // its lines are those of the file, about
// Up to `count` numbers of the content; how many there are.
int orr_dae_numbers(const orr_dae_tree *tree, int node, float *values, int count);
