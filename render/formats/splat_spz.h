// Shared by the reader and the writer of .spz. Layout: docs/splat-formats.md.
#pragma once

#include "render/formats/splat_bytes.h"

enum {
    ORR_SPZ_HEADER = 16,   // bytes, versions 1 to 3
    ORR_SPZ_HEADER_4 = 32, // bytes, version 4
    ORR_SPZ_STREAMS = 6,
    ORR_SPZ_ANTIALIASED = 1, // flag
};
#define ORR_SPZ_MAGIC 0x5053474eu // "NGSP"

// The arrays of a file in their order.
enum { ORR_SPZ_POSITION, ORR_SPZ_ALPHA, ORR_SPZ_COLOUR, ORR_SPZ_SCALE, ORR_SPZ_ROTATION, ORR_SPZ_HARMONICS };

// Bytes per splat of each array. Degree 0 .. 4.
static inline void orr_spz_strides(int version, int degree, int stride[ORR_SPZ_STREAMS])
{
    stride[ORR_SPZ_POSITION] = version == 1 ? 6 : 9;
    stride[ORR_SPZ_ALPHA] = 1;
    stride[ORR_SPZ_COLOUR] = 3;
    stride[ORR_SPZ_SCALE] = 3;
    stride[ORR_SPZ_ROTATION] = version < 3 ? 3 : 4;
    stride[ORR_SPZ_HARMONICS] = 3 * orr_sh_rest(degree);
}

// spz looks along -z with y up, the engine along +z with y down: half a rotation about x. A coefficient
// changes its sign where its basis function is odd in y z.
static const float orr_spz_sign[15] = {-1, -1, 1, -1, 1, 1, -1, 1, -1, 1, -1, -1, 1, -1, 1};
static const float orr_spz_axis_sign[3] = {1, -1, -1};
