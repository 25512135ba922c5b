// The nodes that may move an element of a soft body, one after another. For the compiler of plans, lanes and
// CUDA (see engine/maths/formula.h).
#pragma once

#include "engine/maths/formula.h"

// The first node of an element, with -1, or the one after another; -1: no more. along: nodes along the three
// axes of the soft body, the last one fastest; span: the first and last of the element's nodes along each.
FN int node_after(const int32_t *along, const int32_t *span, int node)
{
    int x = span[0], y = span[2], z = span[4];
    if (node >= 0) {
        x = node / (along[1] * along[2]);
        y = node / along[2] % along[1];
        z = node % along[2] + 1;
        y += z > span[5];
        z = z > span[5] ? span[4] : z;
        x += y > span[3];
        y = y > span[3] ? span[2] : y;
    }
    return x > span[1] ? -1 : z + along[2] * (y + along[1] * x);
}
