// Frames made and destroyed; what is recorded of them.
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/loop/devices.h"
#include "engine/loop/frame_trace.h"
#include "engine/loop/ladder.h"
#include "render/cpu/rays/ray_trees.h"

enum { IN_FLIGHT_DEFAULT = 2 };

static orr_result create(orr_engine *engine, const orr_frame_desc *desc, bool for_window, orr_frame **out,
                         orr_error *error)
{
    *out = NULL;
    orr_frame_desc d = desc ? *desc : (orr_frame_desc){0};
    int slots = d.frames_in_flight ? d.frames_in_flight : IN_FLIGHT_DEFAULT;
    if (slots < 1 || slots > ORR_FRAMES_IN_FLIGHT) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "frames_in_flight %d: expected 1 to %d", slots,
                        ORR_FRAMES_IN_FLIGHT);
    }
    const orr_machine *machine = orr_machine_of(d.device == ORR_DEVICE_AUTO    ? engine->device
                                                : orr_device_is_cuda(d.device) ? ORR_DEVICE_CUDA
                                                                               : d.device);
    if (!machine) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "device %d: expected one of orr_device_kind",
                        (int)d.device);
    }
    orr_frame *frame = orr_alloc_zero(1, sizeof *frame);
    if (!frame) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a frame");
    }
    frame->engine = engine;
    frame->machine = machine;
    frame->follows = d.device == ORR_DEVICE_AUTO || for_window;
    frame->for_window = for_window;
    frame->slot_count = slots;
    orr_result result = orr_ladder_open(frame, error);
    if (result != ORR_OK) {
        orr_free(frame);
        return result;
    }
    frame->next = engine->frames;
    engine->frames = frame;
    *out = frame;
    return ORR_OK;
}

orr_result orr_frame_create_sized(orr_engine *engine, const orr_frame_desc *desc, size_t desc_size,
                                  orr_frame **frame, orr_error *error)
{
    ORR_ENTER;
    orr_frame_desc own;
    ORR_REQUIRE(frame, error);
    *frame = NULL;
    ORR_TRY(orr_engine_check(engine, error));
    ORR_TRY(orr_sized_read(&own, sizeof own, desc, desc_size, "orr_frame_desc", error));
    return create(engine, &own, false, frame, error);
}

orr_result orr_frame_create_for_window(orr_engine *engine, const orr_frame_desc *desc, orr_frame **frame,
                                       orr_error *error)
{
    return create(engine, desc, true, frame, error);
}

static void remove_from_engine(orr_frame *frame)
{
    orr_frame **link = &frame->engine->frames;
    while (*link != frame) {
        link = &(*link)->next;
    }
    *link = frame->next;
}

void orr_frame_destroy(orr_frame *frame)
{
    if (!frame || !orr_jobs_here(frame->engine->jobs)) {
        return;
    }
    remove_from_engine(frame);
    if (frame->state) {
        frame->machine->close(frame->state);
    }
    for (int i = 0; i < frame->slot_count; i++) {
        orr_frame_slot_close(&frame->slots[i]);
    }
    orr_frame_probes_close(&frame->probes);
    orr_frame_self_shadow_close(&frame->self_shadow);
    orr_ray_trees_destroy(frame->rays);
    orr_arena_destroy(&frame->arena);
    orr_free(frame->keys);
    orr_free(frame);
}

int orr_frame_stages_sized(const orr_frame *frame, orr_stage_time *stages, size_t stage_size, int capacity)
{
    if (!frame) {
        return 0;
    }
    char *out = (char *)stages;
    for (int i = 0; out && i < frame->profile.count && i < capacity; i++, out += stage_size) {
        orr_sized_write(&frame->profile.stages[i], sizeof *stages, out, stage_size);
    }
    return frame->profile.count;
}

orr_result orr_frame_trace(orr_frame *frame, orr_trace *trace, orr_error *error)
{
    assert(frame->waiting == 0);
    frame->trace = trace;
    orr_jobs_trace(frame->engine->jobs, trace);
    return frame->state && frame->machine->trace ? frame->machine->trace(frame->state, trace, error) : ORR_OK;
}

orr_device_kind orr_frame_device(const orr_frame *frame)
{
    return frame ? frame->machine->device : ORR_DEVICE_AUTO;
}

static orr_result find_cuda_picture(const orr_frame *frame, orr_cuda_picture *picture, orr_error *error)
{
    if (!frame->machine->picture) {
        return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                        "a picture in CUDA's memory: the frame is drawn on %s",
                        orr_device_name(frame->machine->device));
    }
    if (!frame->has_picture) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "a picture in CUDA's memory: expected a frame that was finished last");
    }
    *picture = frame->machine->picture(frame->state);
    return ORR_OK;
}

orr_result orr_frame_cuda_picture_sized(const orr_frame *frame, orr_cuda_picture *picture,
                                        size_t picture_size, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(picture, error);
    ORR_TRY(orr_frame_check(frame, error));
    orr_cuda_picture own = {0};
    orr_result result = find_cuda_picture(frame, &own, error);
    orr_sized_write(&own, sizeof own, picture, picture_size);
    return result;
}

orr_picture_location orr_frame_location(const orr_frame *frame)
{
    return frame->location;
}
