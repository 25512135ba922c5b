#include "samples/orrery/view/training_pace.h"

#include <math.h>

static const double MOVING_MILLISECONDS = 25.0, REST_MILLISECONDS = 40.0; // for steps, per turn
static const double OVERDRAFT_MAX = 500.0;      // [ms] a slow machine learns while the view moves, too
static const double PICTURE_SECONDS = 0.3;      // between pictures, at least
static const double LEARNING_PER_DRAWING = 3.0; // time for learning per time for drawing, at least

void training_pace_turn(training_pace *pace, bool moving)
{
    // time that was not used is gone: a pause does not end in a burst
    double overdraft = fmax(fmin(pace->credit, 0.0), -OVERDRAFT_MAX);
    pace->credit = overdraft + (moving ? MOVING_MILLISECONDS : REST_MILLISECONDS);
}

bool training_pace_allows_step(const training_pace *pace)
{
    return pace->credit > 0.0;
}

void training_pace_step(training_pace *pace, double milliseconds)
{
    pace->credit -= milliseconds;
}

void training_pace_drawn(training_pace *pace, double begun_at, double milliseconds)
{
    pace->drawn_at = begun_at;
    pace->cost = milliseconds;
}

bool training_pace_picture_due(const training_pace *pace, double now)
{
    return now - pace->drawn_at >= fmax(PICTURE_SECONDS, (1.0 + LEARNING_PER_DRAWING) * 1e-3 * pace->cost);
}
