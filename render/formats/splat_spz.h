// Shared by the reader and the writer of .spz. Layout: docs/splat-formats.md.
#pragma once

#include "render/formats/splat_bytes.h"

enum {
    ORR_SPZ_HEADER = 16,   // bytes, versions 1 to 3
    ORR_SPZ_HEADER_4 = 32, // bytes, version 4
    ORR_SPZ_STREAMS = 6,
    ORR_SPZ_ANTIALIASED = 1, // flag
    ORR_SPZ_EXTENDED = 2,    // flag: there are extension records
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

// How the axes of a file become those of the engine, x right, y down, z forward: their signs change, and then
// they turn by 90 degrees about x, (x, y, z) -> (x, -z, y), where the file's second axis is not vertical.
typedef struct orr_spz_axes {
    float position[3];   // signs of x, y, z
    float rotation[3];   // of a quaternion's x, y, z
    float harmonics[15]; // of SH coefficients: the basis functions' parities
    bool turned;
} orr_spz_axes;

// Coordinate systems of the format: from 1 on; x right or left, y up or down, z forward or back, and from 9
// on y and z exchanged. 4, right up back, is that of files which name none.
enum { ORR_SPZ_RIGHT_UP_BACK = 4, ORR_SPZ_SYSTEMS = 16 };
orr_spz_axes orr_spz_axes_of(int system);

// The turn, of a whole cloud.
void orr_spz_turn(const orr_splats_view *splats);
