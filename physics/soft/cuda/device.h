// Worlds of soft bodies on a CUDA device: their state and tables are in its memory; the host's state is a
// copy of the same layout. Private to this folder.
//
// Work runs in the device's stream; a call waits only where it copies to the host. Calls without a result do
// nothing once the device has failed; orr_soft_check() returns the error.
#pragma once

#include "engine/device/cuda.h"
#include "physics/soft/simulation.h"

typedef struct orr_soft_device orr_soft_device;

// For a simulation whose host state is complete; the worlds start with it.
orr_result orr_soft_device_create(orr_soft *soft, orr_cuda *cuda, orr_error *error);
void orr_soft_device_destroy(orr_soft_device *device); // NULL is allowed
// Waits for the device.
orr_result orr_soft_device_check(const orr_soft_device *device, orr_error *error);

// fetch: before the host reads positions and velocities; change: before it writes them.
void orr_soft_device_fetch(const orr_soft *soft);
void orr_soft_device_change(const orr_soft *soft);
void orr_soft_device_step(const orr_soft *soft, int steps);
// Of a model that yields: a world's plastic strain, to the host's copy and from it.
void orr_soft_device_get_strain(const orr_soft *soft, int world);
void orr_soft_device_set_strain(const orr_soft *soft, int world);

// ---- a step together with others, of one world: the host finds planes and pairs and moves bodies as wholes

typedef struct orr_soft_device_pairs orr_soft_device_pairs;
struct orr_soft_pairs;

// The error as far as it is known without waiting.
orr_result orr_soft_device_status(const orr_soft_device *device, orr_error *error);
orr_cuda *orr_soft_device_cuda(const orr_soft_device *device);
// The first guess; the host then has positions, starts and targets.
void orr_soft_device_begin(const orr_soft *soft);
// Copies the pairs and ties of a step to the device.
orr_result orr_soft_device_send_pairs(struct orr_soft_pairs *pairs, orr_soft *const *soft, int count,
                                      orr_error *error);
void orr_soft_device_pairs_destroy(orr_soft_device_pairs *pairs); // NULL is allowed
// Copies the planes that vertices touch (the first time of a step), or how far they have moved; and how far
// pairs and ties have (nullable).
void orr_soft_device_shift(const orr_soft *soft, const struct orr_soft_pairs *pairs);
// Forces of pairs and ties on the vertices of a body's colour, whose corners are range[0] .. range[1] - 1.
void orr_soft_device_push(const struct orr_soft_pairs *pairs, const orr_soft *soft, const int range[2]);
void orr_soft_device_relax(const orr_soft *soft, int colour);
void orr_soft_device_accelerate(const orr_soft *soft, double omega);
void orr_soft_device_update_pressure(const orr_soft *soft); // of a model with gas, after an iteration
// The host has the newest positions.
void orr_soft_device_read(const orr_soft *soft);
void orr_soft_device_translate(const orr_soft *soft, const double by[3]); // not the host's copy
void orr_soft_device_finish(const orr_soft *soft);
