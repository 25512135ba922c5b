// Depth from the points of a capture: the drawn depth where a photo sees a point against the point's own
// (Deng et al. 2022).
#pragma once

#include "render/training/splat_photos.h"
#include "render/training/splat_points.h"

typedef struct orr_depth_job {
    const orr_splat_points *points;       // `first` is not NULL
    int image;                            // of the capture
    const orr_lens *lens;                 // of the picture
    const splat_photo_values *distortion; // of this lens; NULL: none
    const uint8_t *mask;                  // height x width: points where it is 0 do not count; NULL: all do
    const float *rgba;                    // as drawn: height x width x 4
    const float *depth;                   // mean by weight, as drawn
    float weight;                         // of the loss, in scene units
    float *by_alpha;                      // height x width: the loss by the sum of weights is added
    float *by_depth;                      // height x width: and by the sum of weights times depths
} orr_depth_job;

// The points that a lens sees in a picture, by pixel; those of one pixel in the order of the image's list.
typedef struct orr_depth_seen {
    int64_t count;
    uint32_t *pixel; // count: y * width + x
    float *depth;    // count: of the points themselves
} orr_depth_seen;

// Whether the image sees any of the points.
bool orr_splat_depth_known(const orr_splat_points *points, int image);
// Returns the loss: weight times the mean of |1 / drawn depth - 1 / point's depth| over the points in the
// picture where its alpha is a half or more. Inverse depths weigh near things more, as the photos do.
double orr_splat_depth_loss(const orr_depth_job *job);
// The same points before it is known what is drawn where they are: of the job points, image, lens and
// distortion count. In the arena.
orr_result orr_splat_depth_find(const orr_depth_job *job, orr_jobs *jobs, orr_arena *arena,
                                orr_depth_seen *seen, orr_error *error);
