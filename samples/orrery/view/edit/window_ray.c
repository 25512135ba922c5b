#include "samples/orrery/view/edit/window_ray.h"

#include <math.h>

static void middle_of(const orr_camera *c, double middle[2])
{
    const bool given = c->centre[0] != 0.0f || c->centre[1] != 0.0f;
    middle[0] = given ? (double)c->centre[0] : 0.5 * c->width;
    middle[1] = given ? (double)c->centre[1] : 0.5 * c->height;
}

void window_camera(const orr_camera *c, const double point[3], double out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = 0.0;
        for (int row = 0; row < 3; row++) {
            out[k] += (double)c->pose[4 * row + k] * (point[row] - (double)c->pose[4 * row + 3]);
        }
    }
}

void window_point(const orr_camera *c, const double size[2], const double point[3], double out[2])
{
    const double depth = c->model == ORR_CAMERA_ORTHOGRAPHIC ? 1.0 : point[2];
    const double pixels[2] = {c->width, c->height};
    double middle[2];
    middle_of(c, middle);
    for (int k = 0; k < 2; k++) {
        out[k] = (middle[k] + (double)c->focal[k] * point[k] / depth) / pixels[k] * size[k];
    }
}

void window_ray(const orr_camera *c, const double size[2], const double at[2], double from[3],
                double along[3])
{
    const bool orthographic = c->model == ORR_CAMERA_ORTHOGRAPHIC;
    const double pixels[2] = {c->width, c->height};
    double middle[2], aside[2];
    middle_of(c, middle);
    for (int k = 0; k < 2; k++) {
        aside[k] = (at[k] / fmax(size[k], 1.0) * pixels[k] - middle[k]) / (double)c->focal[k];
    }
    for (int k = 0; k < 3; k++) {
        const float *row = c->pose + 4 * k;
        const double off = (double)row[0] * aside[0] + (double)row[1] * aside[1];
        from[k] = (double)row[3] + (orthographic ? off : 0.0);
        along[k] = (double)row[2] + (orthographic ? 0.0 : off);
    }
}
