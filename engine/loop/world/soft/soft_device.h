// What simulates the soft layers of a world: CUDA where robots are told to be there (orr_world_set_device);
// otherwise the CPU. All of a world are in one place, as they step together. On CUDA copies step one after
// the other, in the device's stream.
#pragma once

#include "engine/device/cuda.h"
#include "engine/loop/world/soft/world_soft.h"

// The device they belong on; NULL: the CPU. The log has one line where that is not what the world was told.
orr_cuda *orr_softs_device(const orr_world *world);
// Are they on one? Then one thread works with them at a time.
bool orr_softs_on_device(const orr_world *world);
// From now on, the CPU: `why` is logged.
void orr_softs_leave_device(const orr_world *world, const orr_error *why);
// A simulation of a soft layer.
orr_result orr_soft_layer_simulate(const orr_world *world, const orr_soft_layer *layer, orr_cuda *cuda,
                                   orr_soft **soft, orr_error *error);
// Moves all bodies to the device, or to the CPU, with their states; those there already stay.
orr_result orr_softs_move(const orr_world *world, orr_cuda *cuda, orr_error *error);
