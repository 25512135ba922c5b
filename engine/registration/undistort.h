// Photos as a pinhole camera takes them, drawn from those of a lens; and where a lens puts a point.
#pragma once

#include "neural/capture/photo_list.h"

// The pinhole camera with square pixels, and the picture's middle as its centre, that sees the most without
// seeing beyond the lens's picture, or farther than 63 degrees from its axis. lens: resolved
// (orr_photo_lens_resolve).
orr_photo_lens orr_pinhole_within(const orr_photo_lens *lens);
// The picture of `pinhole` from that of `lens`, both height x width x channels bytes, bilinear; channels 1:
// a mask, nearest.
void orr_undistort(const orr_photo_lens *lens, const orr_photo_lens *pinhole, int channels,
                   const uint8_t *picture, uint8_t *undistorted);
// The pixel that shows a point, given in the camera's axes: right, down, forward > 0.
void orr_photo_project(const orr_photo_lens *lens, const double at[3], double pixel[2]);
