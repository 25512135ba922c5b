// One frame, as a table of contents: view -> pose -> draw -> out. (Input belongs to the viewer; nothing steps
// yet.)
//
// What a device draws alone is under way from submit on. What the CPU has a part in, the fields of a frame for Vulkan and for
// CUDA those that it cannot draw, is drawn when the frame is the oldest: by advance, part by part, and by finish.
#include "engine/core/memory.h"
#include "engine/loop/engine.h"
#include "engine/loop/frame_pose.h"
#include "engine/loop/frame_trace.h"
#include "engine/loop/ladder.h"
#include "engine/loop/shared_device.h"
#include "render/cpu/splats_cpu.h"
#include "render/cuda/draw.h"
#include "render/cuda/show.h"
#include "render/vulkan/draw.h"

#include <math.h>
#include <string.h>

enum { IN_FLIGHT_DEFAULT = 2, IN_FLIGHT_MAX = 8 };

struct orr_frame {
    orr_engine *engine; // borrowed
    orr_device_kind device;
    bool follows; // the engine down the ladder; otherwise the caller has chosen the device
    orr_frame_slot slots[IN_FLIGHT_MAX];
    int slot_count;
    int oldest;  // slot finished next
    int waiting; // submitted and not finished
    orr_profile profile;
    orr_trace *trace; // nullable

    // of the oldest frame, when it is deferred
    bool begun;
    orr_arena arena;
    orr_draw_list marched; // what the CPU draws of it: CUDA draws most fields itself
    orr_field_pass fields;
    orr_cpu_frame *cpu;

    orr_vulkan_draw *vulkan; // Vulkan
    orr_cuda_draw *cuda;     // CUDA
    orr_cuda_show *show;     // and for frames that end in an image: of the Vulkan device, which it uses
    uint64_t *keys;          // key_count: what was drawn last, and may be uploaded
    int key_count, key_capacity;
};

// Uploads of layers that the scene has lost are let go.
static orr_result release_removed(orr_frame *frame, const orr_scene *scene, orr_error *error)
{
    for (int i = 0; i < frame->key_count; i++) {
        bool there = false;
        for (int k = 0; k < scene->layer_count; k++) {
            const orr_layer_data *layer = &scene->layers[k];
            there |= frame->keys[i] - layer->key < (uint64_t)layer->key_count;
        }
        if (!there) {
            if (frame->device == ORR_DEVICE_VULKAN) {
                orr_vulkan_draw_release(frame->vulkan, frame->keys[i]);
            } else {
                orr_cuda_draw_release(frame->cuda, frame->keys[i]);
            }
        }
    }
    int count = 0;
    for (int k = 0; k < scene->layer_count; k++) {
        count += scene->layers[k].key_count;
    }
    if (count > frame->key_capacity) {
        orr_free(frame->keys);
        frame->key_capacity = frame->key_count = 0;
        ORR_ALLOC(frame->keys, count, "layers", error);
        frame->key_capacity = count;
    }
    frame->key_count = 0;
    for (int k = 0; k < scene->layer_count; k++) {
        for (int i = 0; i < scene->layers[k].key_count; i++) {
            frame->keys[frame->key_count++] = scene->layers[k].key + (uint64_t)i;
        }
    }
    return ORR_OK;
}

static orr_result pass_on(orr_result result, const orr_error *from, orr_error *to)
{
    if (result != ORR_OK && to) {
        *to = *from;
    }
    return result;
}

// a lost device is opened anew by the frame that is made next
static orr_result note_loss(orr_frame *frame, orr_result result, const orr_error *from, orr_error *to)
{
    if (result != ORR_OK && from->code == ORR_CODE_DEVICE_LOST) {
        orr_engine_lose_vk(frame->engine);
    }
    return pass_on(result, from, to);
}

static orr_result submit_vulkan(orr_frame *frame, const orr_frame_slot *slot, orr_error *error)
{
    orr_error why = {0};
    orr_result result =
        slot->to_image ? orr_vulkan_draw_submit_image(frame->vulkan, &slot->list, &why)
                       : orr_vulkan_draw_submit(frame->vulkan, &slot->list,
                                                slot->list.field_count > 0 ? &frame->fields : NULL, &why);
    return note_loss(frame, result, &why, error);
}

static orr_result finish_vulkan(orr_frame *frame, const orr_picture *picture, orr_error *error)
{
    orr_error why = {0};
    orr_result result = orr_vulkan_draw_finish(frame->vulkan, picture, &frame->profile, &why);
    return note_loss(frame, result, &why, error);
}

// Puts those fields that the device does not draw first, and counts them.
static int divide_fields(orr_frame *frame, const orr_frame_slot *slot)
{
    int first = 0;
    for (int i = 0; i < slot->list.field_count; i++) {
        orr_draw_field field = slot->fields[i];
        if (!orr_cuda_draw_takes_field(frame->cuda, &field, frame->engine->log)) {
            for (int k = i; k > first; k--) {
                slot->fields[k] = slot->fields[k - 1];
            }
            slot->fields[first++] = field;
        }
    }
    return first;
}

// What CUDA draws of a frame, over the fields that the CPU has drawn.
static orr_result submit_deferred_cuda(orr_frame *frame, const orr_frame_slot *slot, orr_error *error)
{
    orr_draw_list list = slot->list;
    list.fields += frame->marched.field_count;
    list.field_count -= frame->marched.field_count;
    const orr_cuda_layers layers = {.field_depth = frame->fields.depth, .field_colour = frame->fields.colour};
    return orr_cuda_draw_submit(frame->cuda, &list, &layers, error);
}

// Has the CPU a part in this frame?
static bool needs_cpu(orr_frame *frame, const orr_frame_slot *slot)
{
    switch (frame->device) {
    case ORR_DEVICE_VULKAN:
        return slot->list.field_count > 0;
    case ORR_DEVICE_CUDA:
        return divide_fields(frame, slot) > 0;
    default:
        return true;
    }
}

static orr_result submit_to_device(orr_frame *frame, const orr_frame_slot *slot, orr_error *error)
{
    return frame->device == ORR_DEVICE_VULKAN
               ? submit_vulkan(frame, slot, error)
               : orr_cuda_draw_submit(frame->cuda, &slot->list, &(orr_cuda_layers){0}, error);
}

static orr_result finish_on_device(orr_frame *frame, const orr_picture *picture, orr_error *error)
{
    return frame->device == ORR_DEVICE_VULKAN
               ? finish_vulkan(frame, picture, error)
               : orr_cuda_draw_finish(frame->cuda, picture, &frame->profile, error);
}

static void close_show(orr_frame *frame)
{
    if (frame->show) {
        orr_cuda_show_destroy(frame->show);
        orr_engine_give_vk(frame->engine);
        frame->show = NULL;
    }
}

static orr_result open_show(orr_frame *frame, orr_error *error)
{
    orr_engine *engine = frame->engine;
    orr_vk *vk;
    ORR_TRY(orr_engine_take_vk(engine, &vk, error));
    orr_result result = orr_cuda_show_create(vk, engine->cuda, engine->rung == ORR_DEVICE_CUDA_VULKAN,
                                             frame->slot_count, &frame->show, error);
    if (result != ORR_OK) {
        orr_engine_give_vk(engine);
    }
    return result;
}

static orr_result try_to_show(orr_frame *frame, const orr_lens *lens, struct orr_vulkan_image *image,
                              orr_error *error)
{
    if (!frame->show) {
        ORR_TRY(open_show(frame, error));
    }
    return orr_cuda_show_picture(frame->show, orr_cuda_draw_picture(frame->cuda), lens->width, lens->height,
                                 image, &frame->profile, error);
}

// CUDA's picture becomes an image of the Vulkan device. When that goes wrong on one rung, the next is tried; below the last
// of them pictures end in memory, which the caller has to ask for.
static orr_result show_on_vulkan(orr_frame *frame, const orr_lens *lens, struct orr_vulkan_image *image,
                                 orr_error *error)
{
    static const orr_device_kind next[] = {[ORR_DEVICE_CUDA_VULKAN] = ORR_DEVICE_CUDA_VULKAN_COPIES,
                                           [ORR_DEVICE_CUDA_VULKAN_COPIES] = ORR_DEVICE_CUDA};
    uint64_t start = orr_clock_nanoseconds();
    orr_error why = {0};
    orr_result result = orr_fail(&why, ORR_CODE_DEVICE_SHARING, "no Vulkan beside CUDA");
    while (result != ORR_OK && orr_engine_shows_cuda(frame->engine)) {
        result = try_to_show(frame, lens, image, &why);
        if (result != ORR_OK) {
            close_show(frame);
            if (why.code == ORR_CODE_DEVICE_LOST) { // the same rung, on a device that is opened anew
                break;
            }
            orr_ladder_fall(frame->engine, next[frame->engine->rung], &why);
        }
    }
    orr_trace_host(frame->trace, "hand over", start);
    return note_loss(frame, result, &why, error);
}

// How far away the meshes stand that a device draws, for the fields that the CPU draws: a frame of them alone.
static orr_result find_mesh_depth(orr_frame *frame, const orr_frame_slot *slot, const float **mesh_depth,
                                  orr_error *error)
{
    *mesh_depth = NULL;
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
    if (frame->device == ORR_DEVICE_VULKAN) {
        orr_error why = {0};
        orr_result result = orr_vulkan_draw_submit(frame->vulkan, &meshes, NULL, &why);
        ORR_TRY(note_loss(frame, result, &why, error));
    } else {
        ORR_TRY(orr_cuda_draw_submit(frame->cuda, &meshes, &(orr_cuda_layers){0}, error));
    }
    ORR_TRY(finish_on_device(frame, &(orr_picture){.depth = depth}, error));
    for (size_t i = 0; i < pixels; i++) {
        depth[i] = depth[i] > 0.0f ? depth[i] : INFINITY;
    }
    *mesh_depth = depth;
    return ORR_OK;
}

static void restart_profile(orr_frame *frame)
{
    orr_profile_reset(&frame->profile);
    frame->profile.trace = frame->trace;
}

static orr_result begin_deferred(orr_frame *frame, const orr_frame_slot *slot, orr_error *error)
{
    const orr_engine *engine = frame->engine;
    const float *mesh_depth;
    orr_arena_reset(&frame->arena);
    restart_profile(frame);
    frame->marched = slot->list;
    if (frame->device == ORR_DEVICE_CUDA) {
        frame->marched.field_count = divide_fields(frame, slot);
    }
    if (frame->device == ORR_DEVICE_CPU) {
        ORR_TRY(orr_draw_cpu_begin(engine->jobs, engine->isa, &frame->arena, &slot->list, &frame->profile,
                                   &frame->cpu, error));
        mesh_depth = orr_draw_cpu_mesh_depth(frame->cpu);
    } else {
        ORR_TRY(find_mesh_depth(frame, slot, &mesh_depth, error));
    }
    ORR_TRY(orr_field_pass_begin(&frame->fields, engine->jobs, &frame->arena, &frame->marched, mesh_depth,
                                 error));
    frame->begun = true;
    return ORR_OK;
}

static orr_result advance_deferred(orr_frame *frame, const orr_frame_slot *slot, double milliseconds,
                                   bool *ready, orr_error *error)
{
    if (!frame->begun) {
        ORR_TRY(begin_deferred(frame, slot, error));
    }
    uint64_t start = orr_clock_nanoseconds();
    ORR_TRY(orr_field_pass_advance(&frame->fields, milliseconds, ready, error));
    if (frame->marched.field_count > 0) {
        orr_trace_host(frame->trace, "fields", start);
    }
    return ORR_OK;
}

// The rest of a deferred frame; what is left to do for a device is to be waited for.
static orr_result complete_deferred(orr_frame *frame, const orr_frame_slot *slot, const orr_picture *picture,
                                    orr_error *error)
{
    bool ready;
    ORR_TRY(advance_deferred(frame, slot, INFINITY, &ready, error));
    if (frame->device == ORR_DEVICE_CPU) {
        return orr_draw_cpu_end(frame->cpu, &frame->fields, picture, &frame->profile, error);
    }
    if (frame->marched.field_count > 0) {
        orr_profile_add(&frame->profile, "fields", frame->fields.milliseconds,
                        frame->marched.field_count * (int64_t)slot->list.lens.width * slot->list.lens.height);
    }
    if (frame->device == ORR_DEVICE_CUDA) {
        return submit_deferred_cuda(frame, slot, error);
    }
    return submit_vulkan(frame, slot, error);
}

// ---- the machine that draws ----

static orr_result start_vulkan(orr_frame *frame, orr_error *error)
{
    orr_vk *vk;
    ORR_TRY(orr_engine_take_vk(frame->engine, &vk, error));
    orr_result result = orr_vulkan_draw_create(vk, frame->slot_count, &frame->vulkan, error);
    if (result != ORR_OK) {
        orr_engine_give_vk(frame->engine);
    }
    return result;
}

static orr_result start_cuda(orr_frame *frame, orr_error *error)
{
    orr_cuda *cuda;
    ORR_TRY(orr_engine_take_cuda(frame->engine, &cuda, error));
    return orr_cuda_draw_create(cuda, frame->slot_count, &frame->cuda, error);
}

static orr_result start_machine(orr_frame *frame, orr_error *error)
{
    return frame->device == ORR_DEVICE_VULKAN ? start_vulkan(frame, error)
           : frame->device == ORR_DEVICE_CUDA ? start_cuda(frame, error)
                                              : ORR_OK;
}

static void stop_machine(orr_frame *frame)
{
    close_show(frame);
    orr_cuda_draw_destroy(frame->cuda);
    frame->cuda = NULL;
    if (frame->vulkan) {
        orr_vulkan_draw_destroy(frame->vulkan);
        orr_engine_give_vk(frame->engine);
        frame->vulkan = NULL;
    }
}

// Can what waits be drawn on another machine? What ends in an image cannot, nor what only the device knows the place of.
static bool may_fall(const orr_frame *frame)
{
    bool may = frame->follows && frame->device != ORR_DEVICE_CPU;
    for (int i = 0; i < frame->waiting; i++) {
        const orr_frame_slot *slot = &frame->slots[(frame->oldest + i) % frame->slot_count];
        may &= !slot->to_image;
        for (int k = 0; k < slot->list.mesh_count; k++) {
            may &= slot->list.meshes[k].bodies == NULL;
        }
    }
    return may;
}

// After a failure: when the device is the reason and another one is left, what waits is drawn there, each when it is the oldest.
static bool fall(orr_frame *frame, const orr_error *from)
{
    orr_error why = *from;
    while (orr_ladder_is_reason(&why) && may_fall(frame)) {
        stop_machine(frame);
        if (frame->engine->device == frame->device) { // nobody else has made it fall yet
            orr_ladder_fall(frame->engine, orr_ladder_below(frame->engine), &why);
        }
        frame->device = frame->engine->device;
        frame->key_count = 0;
        frame->begun = false;
        for (int i = 0; i < frame->waiting; i++) {
            frame->slots[(frame->oldest + i) % frame->slot_count].deferred = true;
        }
        if (start_machine(frame, &why) == ORR_OK) {
            return true;
        }
    }
    return false;
}

orr_result orr_frame_create(orr_engine *engine, const orr_frame_desc *desc, orr_frame **out, orr_error *error)
{
    *out = NULL;
    orr_frame_desc d = desc ? *desc : (orr_frame_desc){0};
    int slots = d.frames_in_flight ? d.frames_in_flight : IN_FLIGHT_DEFAULT;
    if (slots < 1 || slots > IN_FLIGHT_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "frames_in_flight %d: expected 1 to %d", slots,
                        IN_FLIGHT_MAX);
    }
    orr_frame *frame = orr_alloc_zero(1, sizeof *frame);
    if (!frame) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a frame");
    }
    frame->engine = engine;
    frame->device = d.device == ORR_DEVICE_AUTO    ? engine->device
                    : orr_device_is_cuda(d.device) ? ORR_DEVICE_CUDA
                                                   : d.device;
    frame->follows = d.device == ORR_DEVICE_AUTO;
    frame->slot_count = slots;
    orr_error why = {0};
    orr_result result = start_machine(frame, &why);
    if (result != ORR_OK && !fall(frame, &why)) {
        orr_free(frame);
        return pass_on(result, &why, error);
    }
    *out = frame;
    return ORR_OK;
}

// A frame that waits since now.
static orr_result submit_or_fall(orr_frame *frame, const orr_frame_slot *slot, orr_error *error)
{
    orr_error why = {0};
    orr_result result = submit_to_device(frame, slot, &why);
    if (result == ORR_OK || fall(frame, &why)) {
        return ORR_OK;
    }
    frame->waiting--;
    return pass_on(result, &why, error);
}

static orr_result submit(orr_frame *frame, const orr_scene *scene, const orr_world *world,
                         const orr_view *view, bool to_image, orr_error *error)
{
    if (frame->waiting == frame->slot_count) {
        return orr_fail(error, ORR_CODE_CAPACITY, "%d frames in flight: finish one, or ask for more",
                        frame->waiting);
    }
    orr_frame_slot *slot = &frame->slots[(frame->oldest + frame->waiting) % frame->slot_count];
    uint64_t start = orr_clock_nanoseconds();
    ORR_TRY(orr_frame_pose(slot, scene, world, view, frame->device == ORR_DEVICE_CUDA, error));
    slot->to_image = to_image;
    slot->traced_as = frame->trace ? frame->trace->frame : 0;
    orr_trace_host(frame->trace, "pose", start);
    if (frame->device != ORR_DEVICE_CPU) {
        ORR_TRY(release_removed(frame, scene, error));
    }
    int before = (frame->oldest + frame->waiting + frame->slot_count - 1) % frame->slot_count;
    slot->deferred = (frame->waiting > 0 && frame->slots[before].deferred) || needs_cpu(frame, slot);
    // what the CPU has drawn parts of for Vulkan is in memory
    assert(!(to_image && frame->device == ORR_DEVICE_VULKAN && slot->list.field_count > 0));
    frame->waiting++;
    return slot->deferred ? ORR_OK : submit_or_fall(frame, slot, error);
}

orr_result orr_frame_submit(orr_frame *frame, const orr_scene *scene, const orr_world *world,
                            const orr_view *view, orr_error *error)
{
    return submit(frame, scene, world, view, false, error);
}

orr_result orr_frame_submit_image(orr_frame *frame, const orr_scene *scene, const orr_world *world,
                                  const orr_view *view, orr_error *error)
{
    assert(frame->device == ORR_DEVICE_VULKAN || frame->device == ORR_DEVICE_CUDA);
    return submit(frame, scene, world, view, true, error);
}

// The oldest frame is waiting no longer.
static void drop_oldest(orr_frame *frame)
{
    frame->oldest = (frame->oldest + 1) % frame->slot_count;
    frame->waiting--;
    frame->begun = false;
}

static orr_result find_oldest(orr_frame *frame, const orr_frame_slot **slot, orr_error *error)
{
    *slot = &frame->slots[frame->oldest];
    if (frame->trace) {
        frame->trace->frame = (*slot)->traced_as;
    }
    return frame->waiting > 0 ? ORR_OK : orr_fail(error, ORR_CODE_ARGUMENT, "no frame was submitted");
}

orr_result orr_frame_advance(orr_frame *frame, double milliseconds, bool *ready, orr_error *error)
{
    const orr_frame_slot *slot;
    ORR_TRY(find_oldest(frame, &slot, error));
    *ready = true;
    if (!slot->deferred) {
        return ORR_OK;
    }
    orr_error why = {0};
    orr_result result = advance_deferred(frame, slot, milliseconds, ready, &why);
    if (result == ORR_OK) {
        return ORR_OK;
    }
    if (fall(frame, &why)) {
        *ready = false;
        return ORR_OK;
    }
    drop_oldest(frame);
    return pass_on(result, &why, error);
}

static orr_result finish(orr_frame *frame, const orr_frame_slot *slot, const orr_picture *picture,
                         orr_error *error)
{
    if (slot->deferred) {
        ORR_TRY(complete_deferred(frame, slot, picture, error));
    } else {
        restart_profile(frame);
    }
    return frame->device == ORR_DEVICE_CPU ? ORR_OK : finish_on_device(frame, picture, error);
}

orr_result orr_frame_finish(orr_frame *frame, const orr_picture *picture, orr_error *error)
{
    const orr_frame_slot *slot;
    orr_error why = {0};
    orr_result result;
    ORR_TRY(find_oldest(frame, &slot, error));
    do {
        result = finish(frame, slot, picture, &why);
    } while (result != ORR_OK && fall(frame, &why));
    drop_oldest(frame);
    return pass_on(result, &why, error);
}

static orr_result finish_vulkan_image(orr_frame *frame, const orr_frame_slot *slot,
                                      struct orr_vulkan_image *image, orr_error *error)
{
    orr_error why = {0};
    restart_profile(frame);
    orr_result result = slot->deferred ? complete_deferred(frame, slot, NULL, &why) : ORR_OK;
    if (result == ORR_OK) {
        result = orr_vulkan_draw_finish_image(frame->vulkan, image, &frame->profile, &why);
    }
    return note_loss(frame, result, &why, error);
}

static orr_result finish_cuda_image(orr_frame *frame, const orr_frame_slot *slot,
                                    struct orr_vulkan_image *image, orr_error *error)
{
    ORR_TRY(finish(frame, slot, NULL, error));
    return show_on_vulkan(frame, &slot->list.lens, image, error);
}

orr_result orr_frame_finish_image(orr_frame *frame, struct orr_vulkan_image *image, orr_error *error)
{
    const orr_frame_slot *slot;
    ORR_TRY(find_oldest(frame, &slot, error));
    orr_result result = frame->device == ORR_DEVICE_CUDA ? finish_cuda_image(frame, slot, image, error)
                                                         : finish_vulkan_image(frame, slot, image, error);
    drop_oldest(frame);
    return result;
}

void orr_frame_discard(orr_frame *frame)
{
    while (frame->waiting > 0) {
        const orr_frame_slot *slot = &frame->slots[frame->oldest];
        if (!slot->deferred && slot->to_image && frame->device == ORR_DEVICE_VULKAN) {
            orr_vulkan_draw_finish_image(frame->vulkan, NULL, NULL, NULL);
        } else if (!slot->deferred) {
            finish_on_device(frame, NULL, NULL);
        }
        drop_oldest(frame);
    }
}

int orr_frame_stages(const orr_frame *frame, orr_stage_time *stages, int capacity)
{
    for (int i = 0; i < frame->profile.count && i < capacity; i++) {
        stages[i] = frame->profile.stages[i];
    }
    return frame->profile.count;
}

orr_result orr_frame_trace(orr_frame *frame, orr_trace *trace, orr_error *error)
{
    assert(frame->waiting == 0);
    frame->trace = trace;
    orr_jobs_trace(frame->engine->jobs, trace);
    if (frame->vulkan) {
        ORR_TRY(orr_vulkan_draw_trace(frame->vulkan, trace, error));
    }
    return frame->cuda ? orr_cuda_draw_trace(frame->cuda, trace, error) : ORR_OK;
}

orr_device_kind orr_frame_device(const orr_frame *frame)
{
    return frame->device;
}

void orr_frame_destroy(orr_frame *frame)
{
    if (!frame) {
        return;
    }
    orr_arena_destroy(&frame->arena);
    stop_machine(frame);
    for (int i = 0; i < frame->slot_count; i++) {
        orr_frame_slot_close(&frame->slots[i]);
    }
    orr_free(frame->keys);
    orr_free(frame);
}
