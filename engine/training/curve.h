// A figure over time, in a bounded number of points.
#pragma once

enum { ORR_CURVE_POINTS = 4096 };

typedef struct orr_curve {
    double seconds[ORR_CURVE_POINTS], values[ORR_CURVE_POINTS];
    int count;
} orr_curve;

// A full curve loses every second point, so that a long training keeps its whole course.
void orr_curve_add(orr_curve *curve, double seconds, double value);
