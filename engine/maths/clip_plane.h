// orr_lens.clip, or the same plane in another space, as clip_formula.h takes it.
#pragma once

#include "engine/maths/clip_formula.h"

FN clip_plane clip_plane_of(const float clip[4])
{
    clip_plane c;
    c.x = clip[0];
    c.y = clip[1];
    c.z = clip[2];
    c.start = clip[3];
    return c;
}
