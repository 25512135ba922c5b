// The world from the inside: what changes of a scene, in `count` copies.
#pragma once

#include "engine/scene/scene.h"

// What one copy changes of one layer. Kept by the id's slot, so that a layer added later has an entry too; an
// entry whose generation is not the layer's is unused, and the layer is as the scene was built.
typedef struct orr_layer_state {
    uint32_t generation;
    bool visible;
    orr_transform transform;
} orr_layer_state;

struct orr_world {
    const orr_scene *scene; // borrowed
    int count;
    uint32_t slots;                  // per copy
    orr_layer_state *states;         // count x slots
    struct orr_world_robots *robots; // world_robots.h
    struct orr_world_softs *softs;   // world_soft.h
};

// orr_world_create_with for environments: a single copy has the bits that it has among others.
orr_result orr_world_create_as_of_many(const orr_scene *scene, const orr_world_desc *desc, orr_world **world,
                                       orr_error *error);

// The state of a layer in one copy.
orr_layer_state orr_world_state(const orr_world *world, int index, const orr_layer_data *layer);
// Are probes of a copy's meshes on although its scene does not say so? They are where lamps are all that
// lights it, and nothing captured is visible.
bool orr_world_probes_by_lamps(const orr_world *world, int index);
// ORR_ERROR_ARGUMENT when it is NULL, or belongs to the parent of this process.
orr_result orr_world_check(const orr_world *world, orr_error *error);
// ORR_ERROR_ARGUMENT when there is no such copy.
orr_result orr_world_check_index(const orr_world *world, int index, orr_error *error);
