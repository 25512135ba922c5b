// A density volume that is computed.
#pragma once

#include "neural/fields/density.h"

// A cumulus of `side` cells per axis, 8 .. 1024: noise of four octaves eats into a few balls. Values in 0 ..
// 1. Free with orr_density_free.
orr_result orr_density_cloud(int side, uint32_t seed, orr_density *density, orr_error *error);
