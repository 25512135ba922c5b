// How a training of splats changes over its course. progress: the share of it that is over, 0 .. 1.
#pragma once

#include "engine/maths/camera.h"
#include "render/training/splat_trainer.h"
#include "render/training/splat_training.h"
#include "render/training/splat_views.h"

// What a step's rates depend on besides progress.
typedef struct orr_splat_schedule {
    float extent;              // of the cameras [scene units]
    int64_t splats;            // now
    int degree;                // of the harmonics, now
    int64_t steps, rest_steps; // taken, and those of the higher harmonics
    orr_splat_strategy strategy;
} orr_splat_schedule;

// Of divisions: orr_densify_desc.
extern const float orr_splat_divide_threshold;

orr_splat_rates orr_splat_rates_at(const orr_splat_schedule *schedule, double progress);
orr_splat_view_rates orr_splat_view_rates_at(float extent, double progress);
// By which whole factor a photo is made smaller.
int orr_splat_shrink_at(const orr_lens *lens, double progress);
int orr_splat_degree_at(int degree, double progress); // of harmonics that are to reach `degree`
// Are splats still relocated or divided?
bool orr_splat_refines_at(double progress);
// How many prunings there are until then, of those that matter least.
int orr_splat_prunings_at(double progress);
// How many splats there may be in a training of so many seconds on a CPU, when nobody says; 0: not planned by
// time.
int64_t orr_splat_count_for(double seconds);
// How many splats a training of at most `most` begins with.
int64_t orr_splat_first_count(int64_t most);
// How many there may be behind step number `steps`; 0: this is no step for relocations and divisions.
int64_t orr_splat_count_at(int64_t most, int64_t steps, double progress);
