// What OpenEXR's C core does not decode, for decode_exr.c.
#pragma once

#include "engine/image/decode.h"

// Pixels in tiles or compressed by DWAA and DWAB, by the RGBA interface of OpenEXR's C++ library, which reads
// files alone: the bytes become one in memory. Pixels and data window are those of the header, checked and
// allocated. Channels of 32 bits pass through 16: they keep 11 bits, and at most 65504.
orr_result orr_decode_exr_rgba(const orr_picture_source *source, int left, int top, orr_pixels *pixels,
                               orr_error *error);
