// The lane program of a world (lanes/step.h) as a table, compiled once per instruction set; program_single.c
// compiles it for one world in plain float, program_double.c in plain double.
#include "engine/core/isa.h"
#include "engine/core/memory.h"
#include "physics/lanes/program_inline.h"

#if !defined(PROGRAM)
#define PROGRAM ORR_ISA_NAME(orr_program)
#endif

_Static_assert(ORR_ALIGNMENT == 64, "arrays of a block are as aligned as its memory");

static void restart_lanes(const void *model, void *state, uint32_t lanes)
{
    const lane_model *m = model;
    lane_data d;
    bind_state(m, state, 0, &d);
#if defined(ORR_SCALAR)
    real chosen = lanes & 1 ? R(1.0) : R(0.0);
#else
    real chosen = R(0.0);
    for (int lane = 0; lane < ORR_LANES; lane++) {
        chosen[lane] = (float)(lanes >> lane & 1);
    }
#endif
    restart(m, &d, chosen > R(0.5));
}

static orr_plan_room room_lacked(const lane_model *m, const lane_data *d)
{
    return room_grows(m) ? *d->wanted : (orr_plan_room){0, 0};
}

static uint32_t run(const void *model, void *state, void *scratch, orr_program_call call, int steps,
                    orr_program_notes *notes, orr_world_counts *counts, const orr_program_threads *threads)
{
    const lane_model *m = model;
    lane_data d;
    bind(m, state, scratch, 0, &d);
    d.threads = threads;
    notes->done = run_calls(m, &d, call, steps, notes->stepped == state);
    notes->wanted = room_lacked(m, &d);
    int stepped = call == ORR_PROGRAM_STEP || call >= ORR_PROGRAM_STEP_POSITIONS;
    notes->stepped = stepped ? state : NULL;
#if !defined(ORR_SCALAR)
    if (stepped && notes->row_sets.wanted) {
        list_row_sets(m, &d, &notes->row_sets);
    }
#endif
    notes->contacts_needed =
        d.contacts_needed > notes->contacts_needed ? d.contacts_needed : notes->contacts_needed;
    notes->iterations = d.iterations > notes->iterations ? d.iterations : notes->iterations;
    for (int lane = 0; lane < ORR_LANES && counts; lane++) {
        counts[lane].inaccurate += (uint32_t)lane_number(d.inaccurate_steps, lane);
        counts[lane].restarts += (uint32_t)lane_number(d.restarts, lane);
    }
#if defined(ORR_SCALAR)
    return has_diverged(m, &d);
#else
    return mask_bits(has_diverged(m, &d));
#endif
}

static void contacts(const void *model, void *state, void *scratch, uint32_t lanes, const int32_t *rows,
                     orr_physics_contact *result, int capacity, int *counts, orr_program_notes *notes)
{
    const lane_model *m = model;
    lane_data d;
    bind(m, state, scratch, 0, &d);
    (void)run_calls(m, &d, ORR_PROGRAM_ACCELERATIONS, 0, 0);
    notes->wanted = room_lacked(m, &d);
    notes->stepped = NULL;
    for (int lane = 0; lane < ORR_LANES; lane++) {
        if (lanes >> lane & 1) {
            orr_physics_contact *own = result ? result + (ptrdiff_t)rows[lane] * capacity : NULL;
            counts[rows[lane]] = list_contacts(m, &d, lane, own, capacity);
        }
    }
}

const orr_program *PROGRAM(void)
{
    static const orr_program program = {ORR_LANES,   LANE_NUMBER_BYTES, sizeof(lane_model), fill_model,
                                        state_count, scratch_bytes,     quantity_offset,    restart_lanes,
                                        run,         contacts};
    return &program;
}
