#define ORR_SCALAR
#include "engine/registration/undistort.h"

#include "neural/capture/fisheye.h"
#include "neural/capture/ray_formula.h"

#include <math.h>
#include <string.h>

enum { EDGE_STEPS = 64 };
static const float STEEPEST = 2.0f; // of the view: more would spread a fisheye's middle over most of it

static float fisheye_limit(const double radial[4])
{
    return orr_fisheye_limit(
        (float[4]){(float)radial[0], (float)radial[1], (float)radial[2], (float)radial[3]});
}

static photo_lens formula_lens(const orr_photo_lens *lens)
{
    return (photo_lens){.focal_x = (float)lens->focal[0],
                        .focal_y = (float)lens->focal[1],
                        .centre_x = (float)lens->centre[0],
                        .centre_y = (float)lens->centre[1],
                        .k1 = (float)lens->radial[0],
                        .k2 = (float)lens->radial[1],
                        .k3 = (float)lens->radial[2],
                        .k4 = (float)lens->radial[3],
                        .p1 = (float)lens->tangential[0],
                        .p2 = (float)lens->tangential[1],
                        .fisheye_limit = lens->fisheye ? fisheye_limit(lens->radial) : 0.0f};
}

void orr_photo_project(const orr_photo_lens *lens, const double at[3], double pixel[2])
{
    const real2 p = photo_pixel(formula_lens(lens), make_real3((float)at[0], (float)at[1], (float)at[2]));
    pixel[0] = (double)p.x;
    pixel[1] = (double)p.y;
}

static float slope(float aside, float ahead)
{
    return aside < STEEPEST * ahead ? aside / ahead : STEEPEST;
}

orr_photo_lens orr_pinhole_within(const orr_photo_lens *lens)
{
    const photo_lens f = formula_lens(lens);
    const float width = (float)lens->size[0], height = (float)lens->size[1];
    float half_x = INFINITY, half_y = INFINITY; // of the view, at distance 1
    for (int i = 0; i <= EDGE_STEPS; i++) {
        float share = (float)i / EDGE_STEPS;
        real3 left = photo_direction(f, make_real2(0.0f, share * height));
        real3 right = photo_direction(f, make_real2(width, share * height));
        real3 top = photo_direction(f, make_real2(share * width, 0.0f));
        real3 bottom = photo_direction(f, make_real2(share * width, height));
        half_x = fminf(half_x, fminf(slope(-left.x, left.z), slope(right.x, right.z)));
        half_y = fminf(half_y, fminf(slope(-top.y, top.z), slope(bottom.y, bottom.z)));
    }
    double focal = fmax(0.5 * lens->size[0] / fmax((double)half_x, 1e-3),
                        0.5 * lens->size[1] / fmax((double)half_y, 1e-3));
    return (orr_photo_lens){.size = {lens->size[0], lens->size[1]},
                            .focal = {focal, focal},
                            .centre = {0.5 * lens->size[0], 0.5 * lens->size[1]}};
}

static void sample_bilinear(const uint8_t *picture, int width, int height, int channels, float x, float y,
                            uint8_t *out)
{
    x = fminf(fmaxf(x - 0.5f, 0.0f), (float)width - 1.0f);
    y = fminf(fmaxf(y - 0.5f, 0.0f), (float)height - 1.0f);
    int column = (int)x, row = (int)y;
    float u = x - (float)column, v = y - (float)row;
    int across = column + 1 < width ? channels : 0;
    const uint8_t *p = picture + (size_t)channels * ((size_t)row * (size_t)width + (size_t)column);
    const uint8_t *q = p + (row + 1 < height ? (size_t)channels * (size_t)width : 0);
    for (int c = 0; c < channels; c++) {
        float above = (1.0f - u) * (float)p[c] + u * (float)p[c + across];
        float below = (1.0f - u) * (float)q[c] + u * (float)q[c + across];
        out[c] = (uint8_t)((1.0f - v) * above + v * below + 0.5f);
    }
}

void orr_undistort(const orr_photo_lens *lens, const orr_photo_lens *pinhole, int channels,
                   const uint8_t *picture, uint8_t *undistorted)
{
    const photo_lens f = formula_lens(lens), ideal = formula_lens(pinhole);
    int width = (int)lens->size[0], height = (int)lens->size[1];
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            real3 d = photo_direction(ideal, make_real2((float)x + 0.5f, (float)y + 0.5f));
            real2 at = photo_pixel(f, d);
            uint8_t *out = undistorted + (size_t)channels * ((size_t)y * (size_t)width + (size_t)x);
            if (channels == 1) {
                int column = (int)fminf(fmaxf(at.x, 0.0f), (float)width - 1.0f);
                int row = (int)fminf(fmaxf(at.y, 0.0f), (float)height - 1.0f);
                *out = picture[(size_t)row * (size_t)width + (size_t)column];
            } else {
                sample_bilinear(picture, width, height, channels, at.x, at.y, out);
            }
        }
    }
}
