// Which clouds of a draw list are shown as merged splats.
#pragma once

#include "render/draw.h"

// Not those that a deformation moves apart, nor any through a distorted lens.
static inline bool orr_draw_merges(const orr_draw_list *list, const orr_draw_splats *cloud)
{
    return cloud->detail && !cloud->deformation.piece_of && !list->lens.distorted;
}
