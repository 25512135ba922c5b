// A picture that a machine drew, for comparison.
#pragma once

#include "engine/core/jobs.h"
#include "render/draw.h"

typedef struct drawn {
    float *rgba, *depth; // as orr_picture
    int64_t pixels;
} drawn;

drawn drawn_make(const orr_draw_list *list);                   // filled with NaN: every pixel must be written
drawn drawn_on_cpu(orr_jobs *jobs, const orr_draw_list *list); // by the instruction set of this run
void drawn_free(drawn *d);

// The share of values that differ by more than `tolerance` (or are NaN).
double differing_share(const float *a, const float *b, int64_t count, double tolerance);
