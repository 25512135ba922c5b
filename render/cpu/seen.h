// What pixels show besides colour and depth (render/seen), as the CPU draws it.
#pragma once

#include "render/seen/draw_seen.h"

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
