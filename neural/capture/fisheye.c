#define ORR_SCALAR
#include "neural/capture/fisheye.h"

#include "engine/core/memory.h"
#include "neural/capture/ray_camera.h"

#include <string.h>

static double rise_of(const float k[4], double angle)
{
    const double s = angle * angle;
    return 1.0 + s * (3.0 * (double)k[0] +
                      s * (5.0 * (double)k[1] + s * (7.0 * (double)k[2] + s * 9.0 * (double)k[3])));
}

// Small steps, of a fisheye of an arc minute and a half, find the first place where it falls, and halvings
// where that begins.
float orr_lens_rise(const float radial[4], double most)
{
    enum { STEPS = 8192 };
    double low = 0.0, high = 0.0;
    for (int i = 1; i <= STEPS && rise_of(radial, high) > 0.0; i++) {
        low = high;
        high = most * i / STEPS;
    }
    if (rise_of(radial, high) > 0.0) {
        return (float)most;
    }
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        *(rise_of(radial, middle) > 0.0 ? &low : &high) = middle;
    }
    return (float)low;
}

float orr_fisheye_limit(const float radial[4])
{
    return orr_lens_rise(radial, 3.14159265358979323846);
}

static bool shows_corners(const orr_capture_image *image, photo_lens lens)
{
    for (int corner = 0; corner < 4; corner++) {
        if (!fisheye_shows(lens, make_real2(corner % 2 ? (float)image->width : 0.0f,
                                            corner / 2 ? (float)image->height : 0.0f))) {
            return false;
        }
    }
    return true;
}

orr_result orr_fisheye_mask(orr_capture_image *image, orr_error *error)
{
    const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    const photo_lens lens = orr_ray_camera_of_image(image, identity).lens;
    const size_t pixels = (size_t)image->width * (size_t)image->height;
    size_t kept = 0;
    if (!image->fisheye || shows_corners(image, lens)) {
        return ORR_OK;
    }
    if (!image->mask) {
        ORR_ALLOC(image->mask, pixels, image->path, error);
        memset(image->mask, 255, pixels);
    }
    for (size_t i = 0; i < pixels; i++) {
        const size_t width = (size_t)image->width;
        const real2 pixel = make_real2((float)(i % width) + 0.5f, (float)(i / width) + 0.5f);
        image->mask[i] = fisheye_shows(lens, pixel) ? image->mask[i] : 0;
        kept += image->mask[i] != 0;
    }
    return kept > 0
               ? ORR_OK
               : orr_fail(error, ORR_CODE_CAMERA_FILE,
                          "%s: fisheye of k1 %g, k2 %g, k3 %g, k4 %g, which rise up to %.3g rad: expected "
                          "a lens that shows pixels of the photo",
                          image->path, (double)image->radial[0], (double)image->radial[1],
                          (double)image->radial[2], (double)image->radial[3], (double)lens.fisheye_limit);
}
