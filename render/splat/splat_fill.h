// Splats that close the hole which a box leaves in a cloud: what was captured around its faces goes on across
// them, as the table does under what stood on it.
#pragma once

#include "render/splat/splat_cloud.h"

typedef struct orr_splat_patch {
    float position[3], log_scale[3], colour[3];
} orr_splat_patch; // rotated as the region is

// A face is closed where at least half of its surroundings, within region->rim of it, has been captured, near
// its plane: in cells, with the heights and colours that the captured ones around them give (Laplace's
// equation). back: the inverse of the region's rotation. *patches: free it with orr_free.
orr_result orr_splat_fill(const orr_splats_view *splats, const orr_region *region, const double back[4],
                          orr_splat_patch **patches, int *count, orr_error *error);
