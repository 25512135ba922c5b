// The lane program of a world as a table of functions, which simulation/world.c calls: one per instruction
// set, for one world in plain float, and for one world in plain double.
#pragma once

#include "engine/core/jobs.h"
#include "physics/lanes/quantity.h"
#include "physics/plan/plan.h"

#include <stdbool.h>

typedef enum orr_program_call {
    ORR_PROGRAM_STEP,
    ORR_PROGRAM_FORWARD,
    ORR_PROGRAM_INVERSE,
    ORR_PROGRAM_RESTART, // to the start
    ORR_PROGRAM_SETTLE,  // puts the trees to sleep that the model says are asleep at the start
    // what can be read of the state, which they do not change: the stages of lanes/evaluate.h
    ORR_PROGRAM_POSITIONS,
    ORR_PROGRAM_VELOCITIES,
    ORR_PROGRAM_ACCELERATIONS,
    ORR_PROGRAM_SENSORS,
    // steps, after which the same can be read as it was when forces were computed last
    ORR_PROGRAM_STEP_POSITIONS,
    ORR_PROGRAM_STEP_VELOCITIES,
    ORR_PROGRAM_STEP_ACCELERATIONS,
    ORR_PROGRAM_STEP_SENSORS
} orr_program_call;

enum { ORR_CPU_LANES = 16 }; // the most that a block has on the CPU

// The sets of constraint rows (lanes/row_set.h) that the last step had, where lanes are vectors.
typedef struct orr_row_sets {
    bool wanted;                  // said by the caller
    uint64_t lane[ORR_CPU_LANES]; // a bit for each place of a set
    int32_t cost[64];             // the most entries of the Jacobian that a place has stood for so far
} orr_row_sets;

// What steps have met. Raised by each call of `run`. Of a block:
typedef struct orr_program_notes {
    const void
        *stepped; // by `run`, on the CPU: the block whose steps were the last use of this scratch; NULL:
                  // no steps, or the state has been changed since in ways that steps do not notice
    int contacts_needed; // the most contacts that a step needed
    int iterations;      // the most iterations that the solver needed
    orr_row_sets row_sets;
    orr_plan_room wanted; // of the last call: what it lacked room for, in which case it is to be repeated
    int done;             // of the last call: its steps before that; the state is that after them
} orr_program_notes;

// Of a world:
typedef struct orr_world_counts {
    uint32_t inaccurate; // steps that were not solved accurately
    uint32_t restarts;   // by autoreset
} orr_world_counts;

// Threads that step a block together (lanes/share.h).
typedef struct orr_program_threads {
    orr_jobs *jobs;
    char *scratch; // of each worker one, as large as that of the block, which is apart
} orr_program_threads;

typedef struct orr_program {
    int lanes;          // worlds of a block
    size_t real_bytes;  // of one real of one world
    size_t model_bytes; // of struct lane_model
    // Writes the model in the program's precision. numbers: memory for as many reals as it has doubles.
    void (*fill_model)(const orr_plan *plan, void *model, void *numbers);
    int (*state_count)(const void *model);      // reals of a world's state
    size_t (*scratch_bytes)(const void *model); // of one thread
    // Where a quantity is among the reals of a world's state, or else of its scratch; count: how many reals
    // it has.
    int (*quantity_offset)(const void *model, orr_physics_quantity quantity, int *count, bool *in_state);
    // Returns the lanes of a block whose bits are set to their start.
    void (*restart)(const void *model, void *state, uint32_t lanes);
    // Runs a call on a block. Returns one bit per lane, set when its state has diverged. counts: of each
    // lane; nullable. threads: NULL: the caller's alone, with the same numbers.
    uint32_t (*run)(const void *model, void *state, void *scratch, orr_program_call call, int steps,
                    orr_program_notes *notes, orr_world_counts *counts, const orr_program_threads *threads);
    // Evaluates the state and lists the contacts of the lanes whose bits are set. rows: of each lane, its row
    // of `capacity` contacts, of which at most so many are written, and of counts: how many there are.
    void (*contacts)(const void *model, void *state, void *scratch, uint32_t lanes, const int32_t *rows,
                     orr_physics_contact *contacts, int capacity, int *counts, orr_program_notes *notes);
} orr_program;

const orr_program *orr_program_baseline(void);
const orr_program *orr_program_avx2(void);
const orr_program *orr_program_avx512(void);
const orr_program *orr_single_program_baseline(void); // one world in float
const orr_program *orr_single_program_avx2(void);
const orr_program *orr_single_program_avx512(void);
const orr_program *orr_program_double(void); // one world in double
