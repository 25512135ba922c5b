// Environments as all machines draw them: a sharp map and blurred ones in octahedral coordinates, and
// harmonics of degree 2 (environment_formula.h). They come from latitude-longitude pictures, or from what a
// probe sees (probe.h). Constant once they are made.
#pragma once

#include "engine/core/jobs.h"
#include "engine/core/result.h"

enum {
    ORR_ENVIRONMENT_LEVELS = 6,      // ENVIRONMENT_LEVELS of environment_formula.h
    ORR_ENVIRONMENT_SHARP = 2048,    // texels a side of the sharp map at most
    ORR_ENVIRONMENT_ROUGH = 64,      // of each blurred map
    ORR_ENVIRONMENT_SIDE_MAX = 16384 // pixels of a picture
};

// A latitude-longitude picture: rows from straight up to straight down, columns to the right, the middle one
// at -z. y is up.
typedef struct orr_panorama {
    int width, height; // width = 2 height
    float *rgb;        // height x width x 3, linear radiance
    // For drawing pixels by their light: sums of luminance x solid angle up to and with a row, and up to and
    // with a pixel of its row.
    double *rows;   // height
    float *columns; // height x width
} orr_panorama;

enum { ORR_ENVIRONMENT_POINTS = 128 }; // of a grid at most

// What meshes add to the diffuse light around points between them, or keep off it: six texels a point, of
// surfaces that face along x, -x, y, -y, z, -z.
typedef struct orr_environment_grid {
    int points[3]; // along the axes, 2 or more; 0: there is no grid
    float low[3];  // the first point, in the map's space
    float step[3]; // from one point to the next
    float offset;  // by which the texels are too bright, because what is kept off is negative
} orr_environment_grid;

typedef struct orr_environment {
    int sharp, rough;    // texels a side of the sharp map, and of each of the blurred ones, without borders
    int32_t texel_count; // of all maps with their borders, and of a grid that there is room for
    uint32_t *texels;    // three fractions of 9 bits and an exponent, radiance / scale
    float scale;
    float harmonics[3][9]; // of each channel: what a white matte surface reflects, by environment_sum
    orr_environment_grid grid;
    orr_panorama panorama; // width 0: there is none
} orr_environment;

// From a picture of height x width x 3 values. Infinite values become the largest finite one of half floats
// (65504), which is what they are in files; *clamped, nullable, is how many did. ORR_ERROR_ARGUMENT for one
// that is not a number or negative, and for a picture that is not twice as wide as high; `name` is for the
// message.
orr_result orr_environment_create(orr_jobs *jobs, const float *rgb, int width, int height, const char *name,
                                  int64_t *clamped, orr_environment **environment, orr_error *error);
// From a file (.hdr, .exr), whose negative values are taken as 0.
orr_result orr_environment_load(orr_jobs *jobs, const char *path, int64_t *clamped,
                                orr_environment **environment, orr_error *error);
void orr_environment_destroy(orr_environment *environment); // NULL is allowed

// ---- the panorama, for paths ----

// The pixel in a direction (y up), and the density [1/sr] with which orr_panorama_draw draws it.
void orr_panorama_look(const orr_panorama *panorama, const float direction[3], float rgb[3], float *pdf);
// A direction for three numbers in [0, 1).
void orr_panorama_draw(const orr_panorama *panorama, double choice, float u, float v, float direction[3],
                       float rgb[3], float *pdf);
