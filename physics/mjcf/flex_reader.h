// What the readers of <flex> share: its points, which are bodies of the XML tree, and what replaces them.
#pragma once

#include "physics/mjcf/mjcf.h"

typedef struct flex_point {
    mjcf_node *body, *parent; // in the tree
} flex_point;

typedef struct flex_reader {
    orr_spec *spec;
    mjcf_node *root;
    mjcf_node *node; // <flex>
    orr_error *error;
    int points;
    flex_point *point; // points
    double *at;        // points x 3
    uint8_t *moves;    // points: by its own joints; the others are held
    mjcf_node *parent; // of those that move
    double mass;       // kg, of a point
} flex_reader;

void *flex_reader_take(flex_reader *r, size_t count, size_t size);
// Memory for `points` of them.
orr_result flex_reader_open(flex_reader *r);
// The bodies that an attribute names: one for each point, or one for all.
orr_result flex_reader_find_bodies(flex_reader *r, const char *attribute, const char *names);
// A body that is nothing but a point: an inertia and three slide joints.
bool flex_is_point(const mjcf_node *body);
// "0.1 0.2 ..." of points, or the numbers of those that are held.
orr_result flex_reader_write_numbers(flex_reader *r, bool pins, const char **text);
// A <flexcomp> in the body `parent`, with the attributes of the <flex> but `left_out` and its children.
orr_result flex_reader_add_flexcomp(flex_reader *r, mjcf_node *parent, const char *const *left_out,
                                    mjcf_node **made);

// Of a <flex> with nodes (flex_of_nodes.c): the bodies of its vertices are known.
orr_result mjcf_flex_of_nodes(flex_reader *r);
