#define _GNU_SOURCE
#include "engine/loop/ladder.h"

#include "engine/device/interop.h"
#include "engine/loop/devices.h"
#include "orr_features.h"

#include <stdio.h>
#include <string.h>

// The emulated device of the tests is slow: it is used only when it is requested by name.
#define CUDA_MAY_BE_CHOSEN (!ORR_CUDA_EMULATED)

// A Vulkan driver that runs on the CPU is slower than our own lanes.
static bool gpu_answers(void)
{
    orr_vk_info infos[8];
    int count = 0;
    if (orr_vk_list(infos, 8, &count, NULL) != ORR_OK) {
        return false;
    }
    for (int i = 0; i < count && i < 8; i++) {
        if (!infos[i].lacks && strcmp(infos[i].type, "cpu") != 0) {
            return true;
        }
    }
    return false;
}

static void describe(orr_engine *engine)
{
    char machine[256];
    const char *cuda = engine->cuda ? orr_cuda_describe(engine->cuda)->name : "";
    const char *vulkan = engine->vk ? orr_vk_name(engine->vk) : "";
    switch (engine->rung) {
    case ORR_DEVICE_CUDA_VULKAN:
        snprintf(machine, sizeof machine, "CUDA+Vulkan shared memory: %.60s draws, %.60s presents; ", cuda,
                 vulkan);
        break;
    case ORR_DEVICE_CUDA_VULKAN_COPIES:
        snprintf(machine, sizeof machine, "CUDA+Vulkan through pinned copies: %.60s draws, %.60s presents; ",
                 cuda, vulkan);
        break;
    case ORR_DEVICE_CUDA:
        snprintf(machine, sizeof machine, "CUDA headless: %.60s draws; ", cuda);
        break;
    case ORR_DEVICE_VULKAN:
        snprintf(machine, sizeof machine, "Vulkan only: %.60s draws; ", vulkan);
        break;
    default:
        snprintf(machine, sizeof machine, "CPU only: ");
    }
    snprintf(engine->description, sizeof engine->description, "%s%s, %d threads", machine,
             orr_isa_name(engine->isa), orr_jobs_workers(engine->jobs));
    orr_log_line(engine->log, ORR_LOG_INFO, ORR_CODE_DEVICE_CHOSEN, "%s", engine->description);
}

static void use_rung(orr_engine *engine, orr_device_kind rung)
{
    engine->rung = rung;
    engine->device = orr_device_is_cuda(rung) ? ORR_DEVICE_CUDA : rung;
    describe(engine);
}

static void log_fall(const orr_engine *engine, orr_device_kind next, const orr_error *why)
{
    orr_log_line(engine->log, ORR_LOG_WARNING, (orr_code)why->code, "%s: going on with %s", why->message,
                 orr_device_name(next));
}

static void fall_to(orr_engine *engine, orr_device_kind rung, const orr_error *why)
{
    log_fall(engine, rung, why);
    use_rung(engine, rung);
}

// CUDA is open; which part of Vulkan works beside it? A window needs it.
static orr_result use_beside_vulkan(orr_engine *engine, orr_device_kind rung, orr_error *error)
{
    orr_error why = {0};
    orr_vk *vk;
    orr_result result = orr_engine_take_vk(engine, &vk, &why);
    if (result != ORR_OK && engine->has_window) {
        return orr_fail(error, (orr_code)why.code, "%s", why.message);
    }
    if (result != ORR_OK) {
        fall_to(engine, ORR_DEVICE_CUDA, &why);
        return ORR_OK;
    }
    orr_interop *attempt = NULL;
    if (rung == ORR_DEVICE_CUDA_VULKAN &&
        orr_interop_create(vk, engine->cuda, true, &attempt, &why) != ORR_OK) {
        fall_to(engine, ORR_DEVICE_CUDA_VULKAN_COPIES, &why);
    } else {
        use_rung(engine, rung);
    }
    orr_interop_destroy(attempt);
    orr_engine_give_vk(engine);
    return ORR_OK;
}

static orr_result use_best(orr_engine *engine, orr_error *error)
{
    orr_cuda *cuda;
    orr_vk *vk;
    bool has_cuda = CUDA_MAY_BE_CHOSEN && orr_engine_take_cuda(engine, &cuda, NULL) == ORR_OK;
    bool has_gpu = gpu_answers();
    if (has_cuda && has_gpu) {
        return use_beside_vulkan(engine, ORR_DEVICE_CUDA_VULKAN, error);
    }
    if (has_cuda) {
        use_rung(engine, ORR_DEVICE_CUDA);
    } else if (has_gpu && orr_engine_take_vk(engine, &vk, NULL) == ORR_OK) {
        orr_engine_give_vk(engine);
        use_rung(engine, ORR_DEVICE_VULKAN);
    } else {
        use_rung(engine, ORR_DEVICE_CPU);
    }
    return ORR_OK;
}

orr_result orr_ladder_choose(orr_engine *engine, orr_error *error)
{
    orr_device_kind wanted;
    ORR_TRY(orr_device_resolve(engine->desc.device, &wanted, error));
    orr_cuda *cuda;
    orr_vk *vk;
    switch (wanted) {
    case ORR_DEVICE_AUTO:
        return use_best(engine, error);
    case ORR_DEVICE_VULKAN:
        ORR_TRY(orr_engine_take_vk(engine, &vk, error));
        orr_engine_give_vk(engine);
        use_rung(engine, wanted);
        break;
    case ORR_DEVICE_CUDA_VULKAN:
    case ORR_DEVICE_CUDA_VULKAN_COPIES:
        ORR_TRY(orr_engine_take_cuda(engine, &cuda, error));
        return use_beside_vulkan(engine, wanted, error);
    case ORR_DEVICE_CUDA:
        ORR_TRY(orr_engine_take_cuda(engine, &cuda, error));
        use_rung(engine, wanted);
        break;
    default:
        use_rung(engine, wanted);
    }
    return ORR_OK;
}

// ---- frames whose device has failed ----

// Waits for what the machine works at; all slots that wait are to be drawn again.
static void close_machine(orr_frame *frame)
{
    if (frame->state) {
        frame->machine->close(frame->state);
    }
    frame->state = NULL;
    frame->begun = frame->has_picture = false;
    frame->key_count = 0;
    if (frame->location == ORR_PICTURE_ON_DEVICE) {
        frame->location = ORR_PICTURE_NOWHERE;
    }
    for (int i = 0; i < frame->waiting; i++) {
        orr_frame_slot_at(frame, i)->deferred = true;
    }
}

static orr_result open_machine(orr_frame *frame, orr_error *error)
{
    if (frame->state) {
        return ORR_OK;
    }
    ORR_TRY(frame->machine->open(frame->engine, frame->slot_count, &frame->state, error));
    return frame->trace && frame->machine->trace ? frame->machine->trace(frame->state, frame->trace, error)
                                                 : ORR_OK;
}

static bool is_of_device(const orr_error *why)
{
    return why->code == ORR_CODE_DEVICE_CALL || why->code == ORR_CODE_DEVICE_LOST ||
           why->code == ORR_CODE_DEVICE_MEMORY || why->code == ORR_CODE_DEVICE_ABSENT;
}

static bool may_fall(orr_frame *frame)
{
    bool all = true;
    for (int i = 0; i < frame->waiting; i++) {
        all &= !orr_frame_slot_is_on_device(orr_frame_slot_at(frame, i));
    }
    // a program without a window gets the error and decides itself; in a window later frames go on
    return frame->follows && (all || frame->for_window);
}

// The device under one that draws: a window has Vulkan in any case, otherwise it has to be a GPU.
static orr_device_kind device_below(const orr_engine *engine, orr_device_kind device)
{
    bool vulkan = device == ORR_DEVICE_CUDA && (engine->has_window || gpu_answers());
    return vulkan ? ORR_DEVICE_VULKAN : ORR_DEVICE_CPU;
}

// The frame's machine becomes that of the next device. The engine falls with it, unless it is on another one:
// then it has fallen already, or the device was chosen for this frame alone.
static void fall(orr_frame *frame, const orr_error *why)
{
    orr_engine *engine = frame->engine;
    orr_device_kind device = frame->machine->device, next = device_below(engine, device);
    close_machine(frame);
    if (engine->device == device) {
        fall_to(engine, next, why);
    } else {
        next = engine->device < next ? engine->device : next; // values are in the order of the ladder
        log_fall(engine, next, why);
    }
    frame->machine = orr_machine_of(next);
    for (int i = 0; i < frame->waiting; i++) {
        orr_frame_slot *slot = orr_frame_slot_at(frame, i);
        slot->lost |= orr_frame_slot_is_on_device(slot);
    }
}

// Falls until a machine opens. `error` holds the reason, and is written.
static bool fall_and_open(orr_frame *frame, orr_error *error)
{
    while (frame->follows && is_of_device(error) && frame->machine->device != ORR_DEVICE_CPU) {
        fall(frame, error);
        if (open_machine(frame, error) == ORR_OK) {
            return true;
        }
    }
    return false;
}

// All that was made with the lost device is closed, and the window is attached to another one.
static orr_result renew_vulkan(orr_engine *engine, const orr_error *why, orr_error *error)
{
    orr_log_line(engine->log, ORR_LOG_WARNING, ORR_CODE_DEVICE_LOST, "%s: starting it again", why->message);
    engine->vk_lost = true;
    for (orr_frame *frame = engine->frames; frame; frame = frame->next) {
        if (frame->machine->device == ORR_DEVICE_VULKAN) {
            close_machine(frame);
        } else if (frame->state && frame->machine->leave_vulkan) {
            frame->machine->leave_vulkan(frame->state);
            frame->location =
                frame->location == ORR_PICTURE_ON_DEVICE ? ORR_PICTURE_NOWHERE : frame->location;
        }
    }
    if (!engine->window_attached) {
        return ORR_OK;
    }
    orr_engine_detach_window(engine);
    return orr_engine_attach_window(engine, error);
}

// Once for each picture: a device that is lost again before it has drawn one is left.
static bool renew_for(orr_frame *frame, const orr_error *why)
{
    if (frame->renewed) {
        return false;
    }
    frame->renewed = true;
    return renew_vulkan(frame->engine, why, NULL) == ORR_OK;
}

orr_result orr_ladder_open(orr_frame *frame, orr_error *error)
{
    orr_error why = {0};
    orr_result result = open_machine(frame, &why);
    if (result == ORR_OK || fall_and_open(frame, &why)) {
        return ORR_OK;
    }
    close_machine(frame);
    return orr_fail(error, (orr_code)why.code, "%s", why.message);
}

bool orr_ladder_draw_again(orr_frame *frame, orr_frame_slot *slot, const orr_error *why)
{
    orr_error reason = *why;
    if (why->code == ORR_CODE_DEVICE_LOST && frame->machine->device == ORR_DEVICE_VULKAN) {
        frame->engine->vk_lost = true;
        if (frame->for_window && renew_for(frame, why)) {
            return true;
        }
    }
    return may_fall(frame) && fall_and_open(frame, &reason) && !slot->lost;
}

bool orr_ladder_hand_over_again(orr_frame *frame, orr_frame_slot *slot, const orr_error *why)
{
    static const orr_device_kind next[] = {[ORR_DEVICE_CUDA_VULKAN] = ORR_DEVICE_CUDA_VULKAN_COPIES,
                                           [ORR_DEVICE_CUDA_VULKAN_COPIES] = ORR_DEVICE_CUDA};
    orr_engine *engine = frame->engine;
    slot->deferred = true; // drawn again: its picture may be gone by the time it is finished
    frame->begun = false;
    if (why->code == ORR_CODE_DEVICE_LOST && renew_for(frame, why)) {
        return true;
    }
    if (orr_engine_shows_cuda(engine)) {
        fall_to(engine, next[engine->rung], why);
    }
    return true;
}

orr_result orr_engine_restore_window(orr_engine *engine, orr_error *error)
{
    const orr_error why = *error;
    if (why.code != ORR_CODE_DEVICE_LOST) {
        return orr_fail(error, (orr_code)why.code, "%s", why.message);
    }
    return renew_vulkan(engine, &why, error);
}
