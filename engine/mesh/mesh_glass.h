// What is inside of bodies that light goes through.
#pragma once

#include <math.h>

// By Beer's law [1/length of the scene] for one channel: what is left of white after a distance is the
// colour, 0 .. 1. What is black would absorb without end: it leaves a millionth.
static inline float orr_glass_absorption(double colour, double distance)
{
    return (float)(-log(fmin(fmax(colour, 1e-6), 1.0)) / distance);
}
