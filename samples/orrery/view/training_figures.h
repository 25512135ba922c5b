// Training figures: what the panel shows of a training: what the trainer says, a smoothed rate of samples,
// and the whole course of the loss in a bounded number of points. Pure arithmetic.
#pragma once

#include "engine/orrery.h"

enum { LOSS_CURVE_POINTS = 256 };

typedef struct training_figures {
    bool paused;               // shown; no step is added meanwhile
    orr_train_info info;       // after the last step
    int64_t steps;             // since the beginning of the curve
    double loss;               // of the last
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
