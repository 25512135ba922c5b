// The photos of a capture as splats learn from them: without lens distortion, and in any whole fraction of
// their size.
#pragma once

#include "engine/core/camera.h"
#include "neural/capture/capture.h"
#include "render/training/picture_loss.h"

typedef struct orr_splat_photo {
    orr_lens lens;                  // a pinhole
    int channels;                   // 3, or 4 with straight alpha
    const uint8_t *pixels;          // height x width x channels
    const uint8_t *mask;            // height x width, 0: not to be learned from; NULL: learn from all
    uint8_t *own_pixels, *own_mask; // of a photo that had to be undistorted
} orr_splat_photo;

// All photos of the capture, in its order; those that are pinholes' stay the capture's memory. Fails when a
// camera cannot draw, or when a photo has no pixel left.
orr_result orr_splat_photos_create(const orr_capture *capture, orr_jobs *jobs, orr_splat_photo **photos,
                                   orr_error *error);
void orr_splat_photos_destroy(orr_splat_photo *photos, int count); // NULL is allowed

// The camera of a picture that is smaller by a whole factor; what is left over at the right and below is cut
// off.
orr_lens orr_splat_photo_lens(const orr_splat_photo *photo, int shrink);

// Display colours over `background`, means of shrink x shrink pixels, and where the photo has a mask one of
// the picture's size, 0 where any pixel is left out. In the arena.
orr_result orr_splat_photo_planes(const orr_splat_photo *photo, int shrink, const float background[3],
                                  orr_jobs *jobs, orr_arena *arena, orr_loss_planes *planes,
                                  const uint8_t **kept, orr_error *error);
