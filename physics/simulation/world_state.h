// struct orr_physics, shared by the files of this folder.
#pragma once

#include "physics/lanes/program.h"
#include "physics/simulation/world.h"
#include "physics/simulation/world_device.h"

#include <string.h>

struct orr_physics {
    const orr_model *model;
    orr_jobs *jobs;
    orr_plan *plan;
    const orr_program *program;
    orr_device_worlds *device; // of worlds on a CUDA device, whose state here is a copy; NULL: on the CPU
    void *program_model, *numbers;
    int worlds, blocks, state_count;
    size_t scratch_bytes;
    char *state;   // blocks x state_count x lanes
    char *scratch; // workers x scratch_bytes
    int workers;   // 1 for worlds on a device
    char *shared;  // workers x scratch_bytes: where threads step one block together; else NULL
    const orr_program_threads *threads; // of the call; NULL: a block is stepped by one thread
    struct orr_order *order;            // where each world is; NULL: in the order of their numbers
    uint32_t *diverged;                 // per block, one bit per lane
    orr_world_counts *counts;           // blocks x lanes
    orr_program_notes *notes;           // per worker
    int32_t *left;                      // of each block: steps of the call that are still to be made
    char **begun;          // of each block that lacks room in a call that is not for all: its state before
    bool *finished;        // of each block, while one is run again that lacked room
    orr_error lack;        // why the last call could not have the room that it needed; code 0: it had
    uint32_t *chosen;      // per block, one bit per lane: the worlds of a call that is not for all
    char *kept;            // workers x a block's state: before such a call
    orr_program_call call; // of run_worlds()
    bool all, more;        // more: this is a part of a call, which others follow
    struct orr_vary_memory *vary; // per thread that sets parameters; NULL: none that others follow from
    int vary_count;
    const struct read_job *after; // what is read of each block when the call has run on it; NULL: nothing
};

// Where worlds are: in slots (block, lane), numbered block by block (world_order.c).
typedef struct orr_order {
    int32_t *slot;            // of each world
    int32_t *world;           // of each slot; then memory for as many
    uint64_t *row_sets;       // of each slot: lanes/row_set.h; then memory for as many
    int32_t *from;            // of each slot: from where its world comes, when they move
    struct order_key *keys;   // 2 of each slot: for sorting
    orr_world_counts *counts; // of each slot, while worlds move
    char *state;              // memory as of physics->state, for the next move
    bool *moves;              // of each segment of blocks: do its worlds move?
    int since, wait;          // steps since worlds were sorted; after how many they are again
} orr_order;

// Where that can pay, worlds can be in another order than that of their numbers.
orr_result orr_order_create(orr_physics *physics, orr_error *error);
void orr_order_destroy(orr_order *order); // NULL is allowed
// Memory for blocks of another size.
orr_result orr_order_resize(orr_order *order, size_t blocks, size_t block_bytes, orr_error *error);
// Before steps: brings worlds with like constraint rows together, if it is time. Returns how many of the
// steps to do until it is again.
int orr_order_update(orr_physics *physics, int steps);

// Where a world is.
typedef struct world_slot {
    int block, lane;
} world_slot;

static inline world_slot slot_of(const orr_physics *physics, int world)
{
    const int slot = physics->order ? physics->order->slot[world] : world, lanes = physics->program->lanes;
    return (world_slot){slot / lanes, slot % lanes};
}

static inline int world_at(const orr_physics *physics, int block, int lane)
{
    const int slot = block * physics->program->lanes + lane;
    return physics->order ? physics->order->world[slot] : slot;
}

// Copies what physics->after says of these lanes of a block, whose call has just run with this worker.
void orr_physics_read_after(const orr_physics *physics, int block, int worker, uint32_t lanes);
void orr_physics_vary_clear(orr_physics *physics); // frees `vary`
// Takes scratch as large as the plan says; where that is another size, what was in it is lost.
orr_result orr_physics_take_scratch(orr_physics *physics, orr_error *error);
// Did a call of the program lack room?
static inline bool lacked_room(const orr_program_notes *notes)
{
    return notes->wanted.contacts > 0 || notes->wanted.near > 0;
}
// Where calls of the program have lacked room, takes more, and returns true: they are to be repeated. False:
// there is enough, or, as physics->lack says, none to be had. While nothing uses the scratch.
bool orr_physics_grow(orr_physics *physics);
// Calls `body` for every block, over threads, which returns false where it lacked room; then again for those
// blocks with more.
typedef bool orr_block_body(void *context, int block, int worker);
void orr_physics_for_blocks(orr_physics *physics, orr_block_body *body, void *context);
// Runs a call on the worlds whose byte of the mask is not 0; NULL: on all.
void orr_physics_run(orr_physics *physics, orr_program_call call, int steps, const uint8_t *mask);

// A block's state: state_count x lanes.
static inline char *block_state(const orr_physics *physics, int block)
{
    const orr_program *program = physics->program;
    return physics->state +
           (size_t)block * (size_t)physics->state_count * (size_t)program->lanes * program->real_bytes;
}

// The same, up to date, for reading.
static inline const char *read_state(const orr_physics *physics, int block)
{
    if (physics->device) {
        orr_device_fetch(physics, block, 1);
    }
    return block_state(physics, block);
}

// The same for writing.
static inline char *write_state(orr_physics *physics, int block)
{
    if (physics->device) {
        orr_device_change(physics, block, 1);
    }
    return block_state(physics, block);
}

// What steps have left in the scratch for the next is no more true: something was changed that a step does
// not look at where trees sleep.
static inline void orr_physics_forget(orr_physics *physics)
{
    for (int i = 0; i < physics->workers; i++) {
        physics->notes[i].stepped = NULL;
    }
}

// Does a step look whether these numbers have changed, also of trees that sleep?
static inline bool step_notices(orr_physics_quantity quantity)
{
    return quantity != ORR_PHYSICS_TREE_ASLEEP && quantity != ORR_PHYSICS_ASLEEP_QPOS &&
           quantity != ORR_PHYSICS_QACC && quantity != ORR_PHYSICS_QACC_WARMSTART;
}

static inline double read_number(const orr_program *program, const char *array, int i, int lane)
{
    const char *at = array + ((size_t)i * (size_t)program->lanes + (size_t)lane) * program->real_bytes;
    if (program->real_bytes == sizeof(double)) {
        double value;
        memcpy(&value, at, sizeof value);
        return value;
    }
    float value;
    memcpy(&value, at, sizeof value);
    return (double)value;
}

static inline void write_number(const orr_program *program, char *array, int i, int lane, double number)
{
    char *at = array + ((size_t)i * (size_t)program->lanes + (size_t)lane) * program->real_bytes;
    float narrow = (float)number;
    memcpy(at, program->real_bytes == sizeof(double) ? (const void *)&number : (const void *)&narrow,
           program->real_bytes);
}

// Index in a world's state of the parameters that vary: they are last.
static inline int varied_offset(const orr_physics *physics)
{
    return physics->state_count - physics->plan->varied_count;
}

// The same of one parameter; -1: it does not vary.
static inline int varied_index(const orr_physics *physics, orr_vary what)
{
    int at = physics->plan->varied_at[what];
    return at < 0 ? -1 : varied_offset(physics) + at;
}

// The worlds of a block: its lanes, or fewer in the last one.
static inline int block_worlds(const orr_physics *physics, int block)
{
    int lanes = physics->program->lanes, left = physics->worlds - block * lanes;
    return left < lanes ? left : lanes;
}

// Where a quantity is among the reals of a world.
typedef struct number_range {
    int first, count;
    bool in_state;  // else in the scratch of a thread
    bool with_rest; // the number behind it is added to the first: time
} number_range;

number_range orr_physics_range(const orr_physics *physics, orr_physics_quantity quantity);
// Computes what can be read of a world's block, in the first thread's scratch.
void orr_physics_evaluate(orr_physics *physics, int world, orr_program_call call);
// The range of a quantity that orr_physics_evaluate() has computed, in the first thread's scratch.
number_range orr_physics_found(orr_physics *physics, orr_physics_quantity quantity);
