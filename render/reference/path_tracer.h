// The reference: pictures of a draw list by tracing paths of light, without bias but with noise that falls
// with the square root of the samples. For the CPU.
#pragma once

#include "engine/core/jobs.h"
#include "render/draw.h"

typedef struct orr_path_tracer orr_path_tracer;

typedef struct orr_path_statistics {
    int64_t samples; // of each pixel
    // root of the mean square, over the pixels, of the standard error of luminance [linear]; behind haze and
    // fog, of the part of it that passes them
    double error;
    int64_t rays;                // traced so far
    int64_t triangles, left_out; // in the list; of these without area or not finite
} orr_path_statistics;

// What the list refers to must stay as it is until the tracer is destroyed.
orr_result orr_path_tracer_create(orr_jobs *jobs, orr_isa isa, const orr_draw_list *list, uint32_t seed,
                                  orr_path_tracer **tracer, orr_error *error);
void orr_path_tracer_destroy(orr_path_tracer *tracer); // NULL is allowed
// Adds so many samples to each pixel. Sample k of a pixel has the same bits whatever the threads and the
// calls.
void orr_path_tracer_advance(orr_path_tracer *tracer, int64_t samples);
void orr_path_tracer_statistics(const orr_path_tracer *tracer, orr_path_statistics *statistics);
// The mean of the samples so far, premultiplied: linear radiance, or as the rasteriser encodes it for
// display.
void orr_path_tracer_picture(const orr_path_tracer *tracer, bool linear, const orr_picture *picture);
