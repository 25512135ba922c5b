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
