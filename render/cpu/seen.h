// What pixels show besides colour and depth: which thing, which way it faces, and how it has moved in the
// picture since the one before.
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

// Planes of height x width. Memory of the caller.
typedef struct orr_seen {
    // ORR_ITEM_OF_CLOUD of the layer of list->splats whose splat takes the transmittance below a half; else
    // which of list->meshes is the nearest opaque one; -1: none
    int32_t *items;
    // x 3, nullable: unit, in the camera's space, on the side that is seen; 0 where there is none. Of meshes
    // as their vertices' are interpolated; of clouds orr_cloud_normals, which needs the picture's depth
    float *normals;
    // x 2, nullable: where the point is in the picture less where it was in the one before [px]; 0 where that
    // is not known. Of clouds orr_cloud_flow, which needs the picture's depth
    float *flow;
    const orr_before *before; // of `flow`; NULL: nothing is known
} orr_seen;

// The normals of the pixels whose item is a cloud, estimated from the depth of their neighbours: on each axis
// the one of the same cloud that is nearer in depth. 0 where an axis has none.
void orr_cloud_normals(const orr_lens *lens, const float *depth, const orr_seen *seen);

// The flow of the pixels whose item is a cloud: of points as deep as is drawn. Deformed clouds have none.
void orr_cloud_flow(const orr_draw_list *list, const float *depth, const orr_seen *seen);
