// Trainings of splats on CUDA (a GPU, or the emulated device) beside the CPU's, for test programs that open
// both.
#pragma once

#include "render/training/splat_state.h"
#include "render/training/splat_trainer.h"
#include "tests/support/machine.h"
#include "tests/support/scenes/photos.h"
#include "tests/support/support.h"

enum { STREWN = 300 };

// Points about the photos' middle, all of which each photo is told to see, several of them in one pixel.
typedef struct strewn_points {
    float position[3 * STREWN], colour[3 * STREWN];
    int64_t first[PHOTOS_MAX + 1];
    uint32_t seen[PHOTOS_MAX * STREWN];
    orr_splat_points points;
} strewn_points;

void strew_points(strewn_points *s);
orr_splat_trainer *make_trainer(const orr_splat_trainer_desc *desc);
double take_step(orr_splat_trainer *trainer, double progress); // returns the loss
void take_state(orr_splat_trainer *trainer, orr_splat_state *state);
// One step of each machine, CUDA first, from where the CPU has come in some steps.
void step_both(orr_splat_trainer_desc desc, int before, double progress, orr_splat_state *begun,
               orr_splat_state states[2], double losses[2]);
// Such a step, every parameter and moment of which is compared: first moments to 2e-5 of the gradients in
// them, parameters to `apart` of their steps. Sums of floats in another order leave less; a step is a
// gradient over its own size, also where that is nearly nothing but rounding.
void compare_a_step(orr_splat_trainer_desc desc, double apart);
#define STEPS_APART 2e-5
// The mean PSNR [dB] of the photos held out.
double held_out(orr_splat_trainer *trainer, const photos *p);
// To the bit, in whole blocks.
void assert_same_params(const orr_splat_params *a, const orr_splat_params *b);
