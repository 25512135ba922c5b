// Training figures: what the panel shows of a training. Pure arithmetic: from steps it keeps smoothed
// figures and the whole course of the loss in a bounded number of points.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { LOSS_CURVE_POINTS = 256 };

typedef struct training_figures {
    bool paused; // shown; no step is added meanwhile
    int64_t steps;
    double loss;               // smoothed
    double samples_per_second; // while steps run, smoothed
    double seconds;            // of all steps
    // the course of the loss
    float curve[LOSS_CURVE_POINTS]; // curve_count: log10 of the mean loss of steps_per_point steps each
    int curve_count;
    int steps_per_point; // 0 before the first step
    int pending;         // steps in `pending_loss`, which are no point yet
    double pending_loss;
} training_figures;

// When all points are taken, neighbours become one, and a point is the mean of twice as many steps.
void training_figures_add(training_figures *figures, double loss, int64_t samples, double seconds);
