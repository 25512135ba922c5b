// The names that configurations use, in the order of the enums.
#pragma once

#include "neural/network/config.h"

enum { ORR_LOSS_NAMES = 9, ORR_ACTIVATION_NAMES = 10, ORR_INTERPOLATION_NAMES = 3, ORR_GRID_NAMES = 3 };

static const char *const orr_loss_names[ORR_LOSS_NAMES] = {
    "L2", "RelativeL2", "L1", "MAPE", "SMAPE", "Huber", "LogL1", "CrossEntropy", "BinaryCrossEntropy"};
static const char *const orr_activation_names[ORR_ACTIVATION_NAMES] = {
    "None", "ReLU", "LeakyReLU", "SiLU", "Exponential", "Sine", "Sigmoid", "Squareplus", "Softplus", "Tanh"};
static const char *const orr_interpolation_names[ORR_INTERPOLATION_NAMES] = {"Linear", "Nearest",
                                                                             "Smoothstep"};
static const char *const orr_grid_names[ORR_GRID_NAMES] = {"Hash", "Dense", "Tiled"};
