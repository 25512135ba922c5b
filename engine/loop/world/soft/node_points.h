// Soft layers that nodes move (<flexcomp> with dof trilinear or quadratic): the nodes are bodies of the
// layer's robot, whose physics moves them, and the points between follow. Such a layer has no state of its
// own.
#pragma once

#include "engine/loop/world/world_robots.h"
#include "engine/scene/soft/soft_layer.h"

typedef struct orr_node_scratch {
    double *numbers; // capacity; freed by whoever has it
    int capacity;
} orr_node_scratch;

// Do nodes move it? Others are soft bodies of world_soft.h, or not soft.
static inline bool orr_layer_has_nodes(const orr_layer_data *layer)
{
    return layer->soft && layer->soft->flex >= 0;
}

// The robot whose bodies are the nodes.
const orr_layer_data *orr_layer_nodes_robot(const orr_scene *scene, const orr_layer_data *layer);

// Where the points of such a layer are in one copy, and their velocities (nullable): vertices x 3, in the
// scene [m, m/s]. They are as the bodies are drawn: rounded to float; a robot that cannot be simulated is at
// rest, and one whose numbers have become infinite where it was. Writes nothing of the layer.
orr_result orr_world_node_points(const orr_world *world, int index, const orr_layer_data *layer,
                                 double *positions, double *velocities, orr_node_scratch *scratch,
                                 orr_error *error);
