// A fog that is a radiance field, untrained.
#pragma once

#include "engine/loop/engine.h"
#include "neural/fields/field.h"
#include "neural/fields/occupancy.h"

// rgb_width: of its last network; CUDA draws those of 64
orr_field *make_fog(const orr_engine *engine, uint32_t seed, int rgb_width);
// Where it is: in thin sheets across z, because an emulated CUDA device takes its time for each sample.
void make_sheets(const orr_engine *engine, orr_occupancy *grid);
