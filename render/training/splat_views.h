// What is learned of each photo besides the splats: its exposure, and where it was taken.
#pragma once

#include "engine/maths/camera.h"
#include "neural/capture/capture.h"
#include "render/training/picture/picture_compose.h"

enum { ORR_MOTION = 6 };

typedef struct orr_splat_view {
    double pose[12];              // camera to world, 3x4: right, down, forward, position
    float exposure[ORR_EXPOSURE]; // 3x4, row by row: display colour as photographed from that of the cloud
    float exposure_moments[2][ORR_EXPOSURE]; // Adam's
    float motion_moments[2][ORR_MOTION];     // of the eye's shift, then of the camera's turn about it
    int64_t steps;                           // that were taken with this photo
} orr_splat_view;

typedef struct orr_splat_view_rates {
    float exposure;
    float grid;
    float shift; // [scene units]
    float turn;  // [rad]; 0: poses stay, as shift
} orr_splat_view_rates;

// The pose of the file, the identity for an exposure, no moments.
orr_splat_view orr_splat_view_begin(const orr_capture_image *image);
// The image's camera where it is now: a pinhole's, or with the lens that took it.
orr_camera orr_splat_view_camera(const orr_splat_view *view, const orr_capture_image *image, bool with_lens);

// One step of Adam. Gradients are of the loss; what is not finite is no gradient.
void orr_splat_view_expose(orr_splat_view *view, const double gradient[ORR_EXPOSURE], float rate);
void orr_splat_view_move(orr_splat_view *view, const double gradient[ORR_MOTION],
                         const orr_splat_view_rates *rates);
// Splats and exposures could drift together: the mean over these views becomes the identity again.
void orr_splat_views_centre(orr_splat_view *views, const int *images, int count);
// Splats and cameras could too: the rigid motion and the scale that these views have in common since the
// poses of the file, by least squares, are taken back.
void orr_splat_views_hold(orr_splat_view *views, const orr_capture_image *photos, const int *images,
                          int count);
