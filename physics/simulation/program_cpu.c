// The lane program of a world (lanes/step.h) as a table, compiled once per instruction set; program_single.c
// compiles it for one world in plain float, program_double.c in plain double.
#include "engine/core/isa.h"
#include "engine/core/memory.h"
#include "physics/lanes/program_inline.h"

#if !defined(PROGRAM)
#define PROGRAM ORR_ISA_NAME(orr_program)
#endif

_Static_assert(ORR_ALIGNMENT == 64, "arrays of a block are as aligned as its memory");

static uint32_t run(const void *model, void *state, void *scratch, orr_program_call call, int steps,
                    orr_program_notes *notes, uint32_t *inaccurate)
{
    const lane_model *m = model;
    lane_data d;
    bind(m, state, scratch, 0, &d);
    run_calls(m, &d, call, steps);
    notes->contacts_needed =
        d.contacts_needed > notes->contacts_needed ? d.contacts_needed : notes->contacts_needed;
    notes->iterations = d.iterations > notes->iterations ? d.iterations : notes->iterations;
    for (int lane = 0; lane < ORR_LANES && inaccurate; lane++) {
        inaccurate[lane] += (uint32_t)lane_number(d.inaccurate_steps, lane);
    }
#if defined(ORR_SCALAR)
    return !is_finite(m, &d);
#else
    return mask_bits(not_(is_finite(m, &d)));
#endif
}

static int contacts(const void *model, void *state, void *scratch, int lane, orr_physics_contact *result,
                    int capacity)
{
    const lane_model *m = model;
    lane_data d;
    bind(m, state, scratch, 0, &d);
    evaluate(m, &d, LANE_DEPTH_ACCELERATIONS);
    return list_contacts(m, &d, lane, result, capacity);
}

const orr_program *PROGRAM(void)
{
    static const orr_program program = {ORR_LANES,   LANE_NUMBER_BYTES, sizeof(lane_model), fill_model,
                                        state_count, scratch_bytes,     quantity_offset,    run,
                                        contacts};
    return &program;
}
