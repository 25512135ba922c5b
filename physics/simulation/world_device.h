// Worlds on a CUDA device. Their state is there; the host has a copy, block by block, of what it reads or writes.
//
// What runs there runs in the device's stream: a call waits only where numbers come back to the host. Calls without a result
// do nothing once the device has failed; orr_physics_check() says why.
#pragma once

#include "engine/device/cuda.h"
#include "physics/lanes/program.h"
#include "physics/simulation/world.h"

typedef struct orr_device_worlds orr_device_worlds;

const orr_program *orr_device_program(bool double_precision);
// Of physics that has its program, model and host memory, which all hold what is to be.
orr_result orr_device_create(const orr_physics_desc *desc, orr_physics *physics, orr_error *error);
void orr_device_destroy(orr_device_worlds *device);
int orr_device_team(const orr_device_worlds *device);
orr_cuda *orr_device_cuda(const orr_device_worlds *device);
// What has failed as far as is known without waiting.
orr_result orr_device_status(const orr_device_worlds *device, orr_error *error);
// Waits until the host knows who diverges and how many contacts the steps so far have taken.
void orr_device_settle(const orr_physics *physics);

// Before the host reads blocks' state; before it writes it.
void orr_device_fetch(const orr_physics *physics, int first, int count);
void orr_device_change(orr_physics *physics, int first, int count);
// Writes numbers of one world's state where they are. False: the host has the newest ones, and they are to be written there.
bool orr_device_write(orr_physics *physics, int world, int at, int count, const double *values);
// Room for so many numbers per world. The host has all blocks then, and moves their numbers to that room.
orr_result orr_device_make_room(orr_physics *physics, int state_count, orr_error *error);

// All worlds; the device notes who diverges and how many contacts it took.
void orr_device_run(orr_physics *physics, orr_program_call call, int steps);
// Works out what can be read of `count` blocks from `first`, at most orr_device_blocks(). Then of `blocks` of these, from
// the skip-th, `count` numbers from `at` in their scratch: [block][number][lane].
int orr_device_blocks(const orr_physics *physics);
void orr_device_evaluate(orr_physics *physics, int first, int count, orr_program_call call);
void orr_device_take(orr_physics *physics, int skip, int blocks, int at, int count, char *numbers);
// All worlds' state, or what was evaluated of the first orr_device_blocks() blocks, where it is; done when it returns.
orr_result orr_device_view(orr_physics *physics, bool lasts, int at, orr_physics_view *view,
                           orr_error *error);
// The places and rotations of a world's bodies, whose offsets in the scratch these are, to `bodies`; waits for nothing.
orr_result orr_device_take_bodies(orr_physics *physics, int world, int position_at, int rotation_at,
                                  orr_physics_bodies *bodies, orr_error *error);
int orr_device_contacts(orr_physics *physics, int world, orr_physics_contact *contacts, int capacity);
