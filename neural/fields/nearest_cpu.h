// The nearest of many triangles: a tree whose nodes have as many children as a vector has lanes, and the
// kernel that searches it, one for each instruction set.
#pragma once

#include "engine/core/isa.h"

enum { ORR_NEAREST_WIDE = 16 };

// Corner c has its coordinate k in corner[3 c + k]. Where there are fewer triangles, the first one stands in.
typedef struct orr_nearest_leaf {
    float corner[9][ORR_NEAREST_WIDE];
} orr_nearest_leaf;

typedef struct orr_nearest_node {
    float low[3][ORR_NEAREST_WIDE], high[3][ORR_NEAREST_WIDE]; // of the children
    int32_t child[ORR_NEAREST_WIDE];                           // a node, or -1 - the number of a leaf
    int32_t count;
} orr_nearest_node;

typedef struct orr_nearest_tree { // the root is node 0
    orr_nearest_node *nodes;
    orr_nearest_leaf *leaves;
    int32_t node_count, leaf_count;
} orr_nearest_tree;

// The square of the distance to the nearest triangle, or `square` if none is nearer. `leaf`: one that may
// have that triangle, or -1; afterwards the one that has it, or the same.
typedef float (*orr_nearest_fn)(const orr_nearest_tree *tree, const float point[3], float square,
                                int32_t *leaf);

float orr_nearest_square_baseline(const orr_nearest_tree *tree, const float point[3], float square,
                                  int32_t *leaf);
float orr_nearest_square_avx2(const orr_nearest_tree *tree, const float point[3], float square,
                              int32_t *leaf);
float orr_nearest_square_avx512(const orr_nearest_tree *tree, const float point[3], float square,
                                int32_t *leaf);
