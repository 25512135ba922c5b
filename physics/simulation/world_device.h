// Worlds on a CUDA device. Their state is in device memory; the host has a copy of the blocks that it reads
// or writes.
//
// Work runs in the device's stream; a call waits only where it copies numbers to the host, or if the model
// can have more contacts than there is memory for. Calls without a result do nothing once the device has
// failed; orr_physics_check() returns the error.
#pragma once

#include "engine/device/cuda.h"
#include "physics/lanes/program.h"
#include "physics/simulation/world.h"

typedef struct orr_device_worlds orr_device_worlds;

const orr_program *orr_device_program(bool double_precision);
// For physics whose program, model and host memory are complete; the worlds start with the host's state.
orr_result orr_device_create(const orr_physics_desc *desc, orr_physics *physics, orr_error *error);
void orr_device_destroy(orr_device_worlds *device);
int orr_device_team(const orr_device_worlds *device);
orr_cuda *orr_device_cuda(const orr_device_worlds *device);
// The error of a device that has failed, as far as it is known without waiting.
orr_result orr_device_status(const orr_device_worlds *device, orr_error *error);
// Waits until the host has the newest `diverged` and number of contacts.
void orr_device_settle(const orr_physics *physics);

// fetch: before the host reads the state of blocks; change: before it writes it.
void orr_device_fetch(const orr_physics *physics, int first, int count);
void orr_device_change(orr_physics *physics, int first, int count);
// Writes numbers of one world's state on the device. Returns false when the host's copy is newer: then they
// must be written there.
bool orr_device_write(orr_physics *physics, int world, int at, int count, const double *values);
// Changes the size of a world's state. The host has the newest state of all blocks then, and copies it to the
// new layout.
orr_result orr_device_resize_state(orr_physics *physics, int state_count, orr_error *error);

// Runs a call on all worlds, or on those that physics->chosen has; the device records which diverge and how
// many contacts they needed.
void orr_device_run(orr_physics *physics, orr_program_call call, int steps, bool all);
// evaluate computes what can be read of `count` blocks from `first`, at most orr_device_blocks(). take then
// copies, of `blocks` of these from the skip-th, `count` numbers from index `at` of their scratch:
// [block][number][lane].
int orr_device_blocks(const orr_physics *physics);
void orr_device_evaluate(orr_physics *physics, int first, int count, orr_program_call call);
void orr_device_take(orr_physics *physics, int skip, int blocks, int at, int count, char *numbers);
// Takes memory for as many contacts as the plan says. On failure the device keeps what it has.
orr_result orr_device_take_room(orr_physics *physics, orr_error *error);
// The host has changed the plan: it is uploaded before the next call.
void orr_device_model_changed(orr_device_worlds *device);
// A view of all worlds' state (`in_state`), or of the scratch of the first orr_device_blocks() blocks. Waits
// for the device.
orr_result orr_device_view(orr_physics *physics, bool in_state, int at, orr_physics_view *view,
                           orr_error *error);
// Copies positions and rotations of a world's bodies, from these indices of the scratch, to `bodies`. Does
// not wait.
orr_result orr_device_take_bodies(orr_physics *physics, int world, int position_at, int rotation_at,
                                  orr_physics_bodies *bodies, orr_error *error);
int orr_device_contacts(orr_physics *physics, int world, orr_physics_contact *contacts, int capacity);
