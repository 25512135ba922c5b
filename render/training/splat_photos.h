// The photos of a capture as splats learn from them, in any whole fraction of their size: without lens
// distortion, of a fisheye's photo what a pinhole of its size and focal length sees, its middle; or as they
// are, and splats are drawn through the lens.
#pragma once

#include "engine/maths/camera.h"
#include "neural/capture/capture.h"
#include "render/splat/splat_lens.h"
#include "render/training/picture/picture_loss.h"
#include "render/training/splat_views.h"

// What a mask beside a photo says of the pixels that it leaves out.
typedef enum orr_splat_masks {
    ORR_SPLAT_MASKS_IGNORE, // nothing: they are not learned from
    ORR_SPLAT_MASKS_EMPTY,  // nothing is there: they are learned as transparent
} orr_splat_masks;

// What becomes of the distortion of a photo's lens.
typedef enum orr_splat_lenses {
    ORR_SPLAT_LENSES_UNDISTORT, // photos are resampled
    ORR_SPLAT_LENSES_KEEP,      // photos stay, and splats are drawn distorted (splat_unscented_formula.h)
} orr_splat_lenses;

typedef struct orr_splat_photo {
    orr_lens lens;                 // a pinhole, or distorted as the photo is
    splat_photo_values distortion; // where it is distorted
    bool keeps_lens;
    int channels;                   // 3, or 4 with straight alpha
    const uint8_t *pixels;          // height x width x channels
    const uint8_t *mask;            // height x width, 0: not to be learned from; NULL: learn from all
    uint8_t *own_pixels, *own_mask; // of a photo that had to be undistorted or cut out
} orr_splat_photo;

// All photos of the capture, in its order; those that are pinholes' stay the capture's memory. Fails when a
// camera cannot draw, or when a photo has no pixel left.
orr_result orr_splat_photos_create(const orr_capture *capture, orr_splat_masks masks, orr_splat_lenses lenses,
                                   orr_jobs *jobs, orr_splat_photo **photos, orr_error *error);
void orr_splat_photos_destroy(orr_splat_photo *photos, int count); // NULL is allowed

// The photo's lens at the pose of `view`.
orr_result orr_splat_photo_aim(orr_splat_photo *photo, const orr_capture_image *image,
                               const orr_splat_view *view, orr_error *error);

// The camera of a picture that is smaller by a whole factor; what is left over at the right and below is cut
// off.
orr_lens orr_splat_photo_lens(const orr_splat_photo *photo, int shrink);

// Where the lens of a photo sees a point [px], and how far along its axis, a fisheye how far. False: it does
// not. distortion: of the lens; NULL: none
bool orr_splat_lens_sees(const orr_lens *lens, const splat_photo_values *distortion, const float point[3],
                         float pixel[2], float *depth);
// In the camera's axes, the point at depth 1 that is seen there.
void orr_splat_photo_direction(const orr_splat_photo *photo, const float pixel[2], float direction[3]);

// A photo as it is compared with a picture of the splats, in the arena.
typedef struct orr_splat_photo_picture {
    orr_loss_planes planes; // display colours over the background: means of shrink x shrink pixels
    const uint8_t *kept; // height x width, 0 where any of these pixels is masked; NULL: the photo has no mask
    const float *alpha;  // height x width; NULL: the photo is opaque
} orr_splat_photo_picture;

orr_result orr_splat_photo_take(const orr_splat_photo *photo, int shrink, const float background[3],
                                orr_jobs *jobs, orr_arena *arena, orr_splat_photo_picture *picture,
                                orr_error *error);
