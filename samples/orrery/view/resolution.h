// Resolution: how many pixels to draw so that moving stays fluid. Pure arithmetic: times in, scales
// out.
//
// While the view moves, the scale follows the measured cost towards a budget; at rest the picture is drawn
// towards full quality. Scales are sixteenths, so that sizes repeat and buffers are reused.
#pragma once

#include <stdbool.h>

typedef struct resolution {
    bool adaptive;
    float full;    // scale at rest, of the window's pixels per side, 1/16 .. 1
    float moving;  // scale while moving, what the measurements led to, 1/8 .. 1
    double budget; // of one frame while moving [ms]
} resolution;

resolution resolution_start(double frames_per_second);
float resolution_scale(const resolution *resolution, bool moving);
float resolution_least(const resolution *resolution); // what measurements lead to at worst
// At rest, after a picture at scale `drawn` that took so long: the next one, up to full. It is full at
// once when that seems quick; otherwise twice as sharp, so that something better is seen soon.
float resolution_sharpen(const resolution *resolution, float drawn, double milliseconds);
// A frame drawn at `scale` took so long. Only frames drawn while moving steer it, and cost falls with the
// number of pixels at best, so that steps are damped: quickly down, slowly up, and a dead band between.
void resolution_measure(resolution *resolution, float scale, double milliseconds);
