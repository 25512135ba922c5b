// What a fisheye's photo shows: as far from its centre as its polynomial (photo_list.h) rises.
#pragma once

#include "neural/capture/capture.h"

// Up to where the polynomial x (1 + k1 x^2 + k2 x^4 + k3 x^6 + k4 x^8) of either lens rises, at most `most`.
float orr_lens_rise(const float radial[4], double most);
// Up to which angle to the axis the polynomial rises [rad], at most pi.
float orr_fisheye_limit(const float radial[4]);
// Takes out of the mask of a fisheye's photo what lies beyond; a photo that shows nothing there gets a mask.
// ORR_CODE_CAMERA_FILE: nothing is left.
orr_result orr_fisheye_mask(orr_capture_image *image, orr_error *error);
