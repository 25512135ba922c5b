#define ORR_SCALAR
#include "render/training/splat_views.h"

#include "engine/maths/solve3.h"
#include "engine/maths/vector.h"
#include "neural/network/optimizer_formula.h"

#include <math.h>
#include <string.h>

#define BETA1 0.9f
#define BETA2 0.999f
#define EPSILON 1e-15f

static const float identity[ORR_EXPOSURE] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

orr_splat_view orr_splat_view_begin(const orr_capture_image *image)
{
    orr_splat_view view = {0};
    for (int i = 0; i < 12; i++) {
        view.pose[i] = (double)image->pose[i];
        view.exposure[i] = identity[i];
    }
    return view;
}

orr_camera orr_splat_view_camera(const orr_splat_view *view, const orr_capture_image *image, bool with_lens)
{
    orr_camera camera = {.width = image->width, .height = image->height};
    for (int i = 0; i < 12; i++) {
        camera.pose[i] = (float)view->pose[i];
    }
    memcpy(camera.focal, image->focal, sizeof camera.focal);
    memcpy(camera.centre, image->centre, sizeof camera.centre);
    if (with_lens) {
        camera.model = image->fisheye ? ORR_CAMERA_FISHEYE : ORR_CAMERA_PERSPECTIVE;
        memcpy(camera.radial, image->radial, sizeof camera.radial);
        memcpy(camera.tangential, image->tangential, sizeof camera.tangential);
    }
    return camera;
}

// What Adam subtracts from each of `count` numbers. steps: with this one.
static void advance(const double *gradient, int count, int64_t steps, float *first, float *second,
                    float *moves)
{
    const float correction =
        (float)(sqrt(1.0 - pow((double)BETA2, (double)steps)) / (1.0 - pow((double)BETA1, (double)steps)));
    for (int i = 0; i < count; i++) {
        const float g = fabs(gradient[i]) < 1e10 ? (float)gradient[i] : 0.0f;
        adam_moments m = adam_advance((adam_moments){first[i], second[i]}, g, BETA1, BETA2);
        first[i] = m.first;
        second[i] = m.second;
        moves[i] = adam_step(m, correction, 1.0f, EPSILON);
    }
}

void orr_splat_view_expose(orr_splat_view *view, const double gradient[ORR_EXPOSURE], float rate)
{
    float moves[ORR_EXPOSURE];
    advance(gradient, ORR_EXPOSURE, view->steps + 1, view->exposure_moments[0], view->exposure_moments[1],
            moves);
    for (int i = 0; i < ORR_EXPOSURE; i++) {
        view->exposure[i] -= rate * moves[i];
    }
}

void orr_splat_views_centre(orr_splat_view *views, const int *images, int count)
{
    for (int k = 0; k < ORR_EXPOSURE; k++) {
        double sum = 0.0;
        for (int i = 0; i < count; i++) {
            sum += (double)views[images[i]].exposure[k];
        }
        const float excess = (float)(sum / count - (double)identity[k]);
        for (int i = 0; i < count; i++) {
            views[images[i]].exposure[k] -= excess;
        }
    }
}

// The rotation that turns about `w` by its length, times the columns of the pose.
static void turn(double pose[12], const double w[3])
{
    const double half = 0.5 * sqrt(vec3_dot(w, w)), share = half > 0.0 ? 0.5 * sin(half) / half : 0.5;
    const double q[4] = {cos(half), share * w[0], share * w[1], share * w[2]};
    double by[9], turned[9];
    quaternion_to_matrix(q, 2.0, by);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            turned[3 * i + k] =
                by[3 * i] * pose[k] + by[3 * i + 1] * pose[4 + k] + by[3 * i + 2] * pose[8 + k];
        }
    }
    for (int i = 0; i < 9; i++) {
        pose[i / 3 * 4 + i % 3] = turned[i];
    }
}

// The motion of a view since the file's pose: its shift, and the vector of its rotation where that is small.
static void motion_of(const orr_splat_view *view, const orr_capture_image *photo, double shift[3],
                      double spin[3])
{
    double m[9];
    for (int i = 0; i < 3; i++) {
        shift[i] = view->pose[4 * i + 3] - (double)photo->pose[4 * i + 3];
        for (int k = 0; k < 3; k++) { // now times the transpose of then
            m[3 * i + k] = 0.0;
            for (int c = 0; c < 3; c++) {
                m[3 * i + k] += view->pose[4 * i + c] * (double)photo->pose[4 * k + c];
            }
        }
    }
    spin[0] = 0.5 * (m[7] - m[5]);
    spin[1] = 0.5 * (m[2] - m[6]);
    spin[2] = 0.5 * (m[3] - m[1]);
}

// What views have in common: a shift, a turn about their middle and a growth away from it.
typedef struct common_motion {
    double middle[3], shift[3], turn[3], growth;
} common_motion;

// Shifts count by the mean distance from the middle, as turns do in radians.
static common_motion find_common(const orr_splat_view *views, const orr_capture_image *photos,
                                 const int *images, int count)
{
    common_motion c = {{0}, {0}, {0}, 0.0};
    double squares = 1e-30, along = 0.0, a[3][4] = {{0}}; // not 0 where all are at one place
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            c.middle[k] += (double)photos[images[i]].pose[4 * k + 3] / count;
        }
    }
    for (int pass = 0; pass < 2; pass++) { // the first for the mean square of distances
        for (int i = 0; i < count; i++) {
            const orr_capture_image *photo = &photos[images[i]];
            double r[3], shift[3], spin[3], lever[3];
            for (int k = 0; k < 3; k++) {
                r[k] = (double)photo->pose[4 * k + 3] - c.middle[k];
            }
            if (pass == 0) {
                squares += vec3_dot(r, r) / count;
                continue;
            }
            motion_of(&views[images[i]], photo, shift, spin);
            vec3_cross(r, shift, lever);
            along += vec3_dot(r, shift) / count;
            for (int k = 0; k < 3; k++) {
                c.shift[k] += shift[k] / count;
                a[k][3] += lever[k] / squares + spin[k];
                a[k][k] += vec3_dot(r, r) / squares + 1.0;
                for (int n = 0; n < 3; n++) {
                    a[k][n] -= r[k] * r[n] / squares;
                }
            }
        }
    }
    solve3_positive(a, c.turn);
    c.growth = along / squares;
    return c;
}

void orr_splat_views_hold(orr_splat_view *views, const orr_capture_image *photos, const int *images,
                          int count)
{
    const common_motion c = find_common(views, photos, images, count);
    const double back[3] = {-c.turn[0], -c.turn[1], -c.turn[2]};
    for (int i = 0; i < count; i++) {
        double r[3], lever[3];
        for (int k = 0; k < 3; k++) {
            r[k] = (double)photos[images[i]].pose[4 * k + 3] - c.middle[k];
        }
        vec3_cross(c.turn, r, lever);
        for (int k = 0; k < 3; k++) {
            views[images[i]].pose[4 * k + 3] -= c.shift[k] + lever[k] + c.growth * r[k];
        }
        turn(views[images[i]].pose, back);
    }
}

void orr_splat_view_move(orr_splat_view *view, const double gradient[ORR_MOTION],
                         const orr_splat_view_rates *rates)
{
    float moves[ORR_MOTION];
    advance(gradient, ORR_MOTION, view->steps + 1, view->motion_moments[0], view->motion_moments[1], moves);
    double w[3];
    for (int i = 0; i < 3; i++) {
        view->pose[4 * i + 3] -= (double)(rates->shift * moves[i]);
        w[i] = -(double)(rates->turn * moves[3 + i]);
    }
    turn(view->pose, w);
}
