#include "engine/loop/frame_fields.h"

#include <math.h>

int orr_frame_host_fields(orr_frame *frame, orr_frame_slot *slot)
{
    const orr_machine *machine = frame->machine;
    int count = slot->list.field_count;
    return machine->divide_fields && count > 0 ? machine->divide_fields(frame->state, slot->fields, count)
                                               : count;
}

// The depth of opaque meshes, from a frame of them alone.
static orr_result read_mesh_depth(orr_frame *frame, const orr_frame_slot *slot, const float **mesh_depth,
                                  orr_error *error)
{
    if (slot->list.mesh_count == 0 || frame->marched.field_count == 0) {
        return ORR_OK;
    }
    size_t pixels = (size_t)slot->list.lens.width * (size_t)slot->list.lens.height;
    float *depth = orr_arena_take(&frame->arena, pixels, sizeof *depth);
    if (!depth) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: meshes on %zu pixels", pixels);
    }
    orr_draw_list meshes = slot->list;
    meshes.splat_count = meshes.field_count = 0;
    meshes.only_solid = true;
    meshes.backdrop.mesh = NULL;
    const orr_machine_target target = {.picture = &(orr_picture){.depth = depth}};
    ORR_TRY(frame->machine->submit(frame->state, &meshes, NULL, false, error));
    ORR_TRY(frame->machine->finish(frame->state, &target, &frame->profile, error));
    for (size_t i = 0; i < pixels; i++) {
        depth[i] = depth[i] > 0.0f ? depth[i] : INFINITY;
    }
    *mesh_depth = depth;
    return ORR_OK;
}

static orr_result begin(orr_frame *frame, orr_frame_slot *slot, orr_error *error)
{
    const orr_machine *machine = frame->machine;
    const float *mesh_depth = NULL;
    orr_arena_reset(&frame->arena);
    orr_profile_reset(&frame->profile);
    frame->profile.trace = frame->trace;
    frame->marched = slot->list;
    frame->marched.field_count = orr_frame_host_fields(frame, slot);
    ORR_TRY(machine->begin ? machine->begin(frame->state, &slot->list, &frame->arena, &frame->profile,
                                            &mesh_depth, error)
                           : read_mesh_depth(frame, slot, &mesh_depth, error));
    ORR_TRY(orr_field_pass_begin(&frame->fields, frame->engine->jobs, &frame->arena, &frame->marched,
                                 mesh_depth, error));
    frame->begun = true;
    return ORR_OK;
}

orr_result orr_frame_fields_advance(orr_frame *frame, orr_frame_slot *slot, double milliseconds, bool *ready,
                                    orr_error *error)
{
    if (!frame->begun) {
        ORR_TRY(begin(frame, slot, error));
    }
    uint64_t start = orr_clock_nanoseconds();
    ORR_TRY(orr_field_pass_advance(&frame->fields, milliseconds, ready, error));
    if (frame->marched.field_count > 0) {
        orr_trace_host(frame->trace, "fields", start);
    }
    return ORR_OK;
}

orr_result orr_frame_fields_submit(orr_frame *frame, orr_frame_slot *slot, orr_error *error)
{
    bool ready;
    ORR_TRY(orr_frame_fields_advance(frame, slot, INFINITY, &ready, error));
    int marched = frame->marched.field_count;
    orr_draw_list rest = slot->list;
    if (marched > 0) {
        rest.fields += marched;
        rest.field_count -= marched;
        orr_profile_add(&frame->profile, "fields", frame->fields.milliseconds,
                        marched * (int64_t)slot->list.lens.width * slot->list.lens.height);
    }
    slot->to_image = orr_frame_ends_in_image(frame, slot);
    return frame->machine->submit(frame->state, &rest, marched > 0 ? &frame->fields : NULL, slot->to_image,
                                  error);
}
