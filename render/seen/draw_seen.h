// What pixels show besides colour and depth, as a draw list asks for it, and where its items were in the
// picture before.
#pragma once

#include "render/draw.h"

// Where a mesh or a cloud was in the picture before.
typedef struct orr_item_before {
    bool known;                      // false: it was not in it
    float model[12];                 // layer to world
    const orr_mesh_vertex *vertices; // of a mesh that has been deformed since; NULL: they are those of now
} orr_item_before;

// The picture before, as a list's items see it.
typedef struct orr_before {
    orr_lens lens;
    const orr_item_before *meshes; // of each of list->meshes
    const orr_item_before *clouds; // of each of list->splats
} orr_before;

// What is seen of a cloud: a number below -1, of which the layer in the draw list is the same function.
#define ORR_ITEM_OF_CLOUD(layer) (-2 - (layer))

// What segmentation calls an item of a list; -1, -1: nothing.
typedef struct orr_item_name {
    int32_t layer; // of the scene
    int32_t geom;  // of a robot; -1: it is none
} orr_item_name;

// What CUDA draws of a list besides its picture: planes in the device's memory, height x width x what
// orr_eyes_pictures (engine/orrery.h) says, of the same meaning. NULL: not asked for.
typedef struct orr_draw_seen {
    int32_t *segmentation;
    float *normals, *flow;
    const orr_item_name *meshes, *clouds; // of list->meshes and list->splats
    const orr_before *before;             // of `flow`; NULL: nothing is known
} orr_draw_seen;

// From the camera's space to that of the picture before, by a cloud of the list; the identity where nothing
// has moved. False: not known, as of clouds that are deformed.
bool orr_seen_cloud_before(const orr_draw_list *list, const orr_before *before, int cloud, float matrix[12]);
