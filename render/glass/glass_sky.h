// Which lists show their background through glass.
#pragma once

#include "render/draw.h"

// Is a colour or a sky behind everything, and not an environment or a picture?
static inline bool orr_glass_shows_sky(const orr_draw_list *list)
{
    const bool around = list->environment_count > 0 && list->environments[0].map->panorama.width > 0;
    return list->opaque && !around && !list->environment_behind && !list->backdrop.mesh;
}
