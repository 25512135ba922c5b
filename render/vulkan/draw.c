// Frames in flight on Vulkan: submitted in order, finished in order.
#include "render/vulkan/draw.h"

#include "engine/core/memory.h"
#include "render/vulkan/frame.h"
#include "render/vulkan/image.h"

#include <stdio.h>
#include <string.h>

enum { FRAMES_MAX = 8 };

struct orr_vulkan_draw {
    orr_vulkan_shared shared;
    VkCommandPool pool;
    orr_vulkan_frame frames[FRAMES_MAX]; // frame_count
    int frame_count;
    int first, pending; // the oldest frame in flight, and how many there are
    uint64_t frame_number;
};

// ---- creation ----

static orr_result initialise(orr_vulkan_draw *draw, orr_error *error)
{
    VkCommandBuffer commands[FRAMES_MAX];
    ORR_TRY(
        orr_vk_commands_create(draw->shared.vk, &draw->pool, commands, (uint32_t)draw->frame_count, error));
    ORR_TRY(orr_vk_timeline_create(draw->shared.vk, &draw->shared.timeline, error));
    ORR_TRY(orr_vk_clock_calibrate(draw->shared.vk, &draw->shared.clock, error));
    for (int i = 0; i < draw->frame_count; i++) {
        ORR_TRY(orr_vulkan_frame_create(&draw->shared, commands[i], &draw->frames[i], error));
    }
    ORR_TRY(orr_vulkan_store_create(draw->shared.vk, &draw->shared.store, error));
    ORR_TRY(orr_vulkan_meshes_create(&draw->shared.store.upload, &draw->shared.meshes, error));
    return orr_vulkan_splats_create(draw->shared.vk, &draw->shared.splats, error);
}

orr_result orr_vulkan_draw_create(orr_vk *vk, orr_jobs *jobs, int frames_in_flight, orr_vulkan_draw **out,
                                  orr_error *error)
{
    *out = NULL;
    if (frames_in_flight < 1 || frames_in_flight > FRAMES_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%d frames in flight: expected 1 to %d", frames_in_flight,
                        FRAMES_MAX);
    }
    orr_vulkan_draw *draw = orr_alloc_zero(1, sizeof *draw);
    if (!draw) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: drawing on Vulkan");
    }
    draw->shared.vk = vk;
    draw->shared.jobs = jobs;
    draw->frame_count = frames_in_flight;
    orr_result result = initialise(draw, error);
    if (result != ORR_OK) {
        orr_vulkan_draw_destroy(draw);
        return result;
    }
    *out = draw;
    return ORR_OK;
}

void orr_vulkan_draw_destroy(orr_vulkan_draw *draw)
{
    if (!draw) {
        return;
    }
    orr_vk *vk = draw->shared.vk;
    // not only for our own frames: an image is shown by commands of the same queue. A lost device returns at
    // once
    vkQueueWaitIdle(vk->queue);
    for (int i = 0; i < draw->frame_count; i++) {
        orr_vulkan_frame_destroy(&draw->shared, &draw->frames[i]);
    }
    orr_vulkan_splats_destroy(&draw->shared.splats);
    orr_vulkan_meshes_destroy(&draw->shared.meshes);
    orr_vulkan_store_destroy(&draw->shared.store);
    vkDestroySemaphore(vk->device, draw->shared.timeline, NULL);
    vkDestroyCommandPool(vk->device, draw->pool, NULL);
    orr_arena_destroy(&draw->shared.arena);
    orr_free(draw);
}

static uint64_t oldest_frame(const orr_vulkan_draw *draw)
{
    return draw->pending > 0 ? draw->frames[draw->first].number : draw->frame_number;
}

static orr_result submit(orr_vulkan_draw *draw, const orr_draw_list *list, const orr_host_layers *layers,
                         bool to_image, orr_error *error)
{
    if (draw->pending == draw->frame_count) {
        return orr_fail(error, ORR_CODE_CAPACITY,
                        "%d frames in flight: finish one before the next is submitted", draw->pending);
    }
    orr_vulkan_frame *frame = &draw->frames[(draw->first + draw->pending) % draw->frame_count];
    frame->number = ++draw->frame_number;
    frame->to_image = to_image;
    uint64_t start = orr_clock_nanoseconds();
    ORR_TRY(orr_vulkan_frame_take(&draw->shared, frame, oldest_frame(draw), list, layers, error));
    orr_trace_host(draw->shared.trace, "upload", start);
    start = orr_clock_nanoseconds();
    ORR_TRY(orr_vulkan_frame_submit(&draw->shared, frame, error));
    orr_trace_host(draw->shared.trace, "submit", start);
    draw->pending++;
    return ORR_OK;
}

orr_result orr_vulkan_draw_submit(orr_vulkan_draw *draw, const orr_draw_list *list,
                                  const orr_host_layers *layers, orr_error *error)
{
    return submit(draw, list, layers, false, error);
}

orr_result orr_vulkan_draw_submit_image(orr_vulkan_draw *draw, const orr_draw_list *list, orr_error *error)
{
    return submit(draw, list, NULL, true, error);
}

orr_result orr_vulkan_draw_trace(orr_vulkan_draw *draw, orr_trace *trace, orr_error *error)
{
    assert(draw->pending == 0);
    draw->shared.trace = trace;
    if (!trace) {
        return ORR_OK;
    }
    ORR_TRY(orr_vk_clock_calibrate(draw->shared.vk, &draw->shared.clock, error));
    orr_trace_device *device = &trace->devices[ORR_TRACK_VULKAN];
    *device = (orr_trace_device){.method = draw->shared.clock.method,
                                 .uncertainty = draw->shared.clock.uncertainty};
    snprintf(device->name, sizeof device->name, "%s", orr_vk_name(draw->shared.vk));
    return ORR_OK;
}

void orr_vulkan_draw_release(orr_vulkan_draw *draw, uint64_t key)
{
    if (!orr_vulkan_store_has(&draw->shared.store, key)) {
        return;
    }
    // a frame that has to be drawn again needs what it was made from
    for (int i = 0; i < draw->pending; i++) {
        orr_vulkan_frame_settle(&draw->shared, &draw->frames[(draw->first + i) % draw->frame_count]);
    }
    orr_vulkan_store_forget(&draw->shared.store, key);
}

static orr_result finish(orr_vulkan_draw *draw, bool to_image, orr_vulkan_frame **out, orr_profile *profile,
                         orr_error *error)
{
    orr_vulkan_frame *frame = &draw->frames[draw->first];
    if (draw->pending == 0 || frame->to_image != to_image) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "no frame to finish: expected one that was submitted before");
    }
    uint64_t start = orr_clock_nanoseconds();
    orr_vulkan_frame_settle(&draw->shared, frame);
    orr_trace_host(draw->shared.trace, "wait", start);
    orr_result result = frame->outcome;
    if (result != ORR_OK && error) {
        *error = frame->why;
    }
    if (result == ORR_OK && profile) {
        orr_vulkan_frame_profile(&draw->shared, frame, profile);
    }
    draw->first = (draw->first + 1) % draw->frame_count;
    draw->pending--;
    *out = frame;
    return result;
}

orr_result orr_vulkan_draw_finish(orr_vulkan_draw *draw, const orr_picture *picture, orr_profile *profile,
                                  orr_error *error)
{
    orr_vulkan_frame *frame;
    ORR_TRY(finish(draw, false, &frame, profile, error));
    size_t pixels = (size_t)frame->view.lens.width * (size_t)frame->view.lens.height;
    const float *planes = frame->picture.mapped;
    uint64_t start = orr_clock_nanoseconds();
    if (picture && picture->rgba) {
        memcpy(picture->rgba, planes, pixels * 4 * sizeof(float));
    }
    if (picture && picture->depth) {
        memcpy(picture->depth, planes + 4 * pixels, pixels * sizeof(float));
    }
    orr_trace_host(draw->shared.trace, "download", start);
    return ORR_OK;
}

orr_result orr_vulkan_draw_finish_image(orr_vulkan_draw *draw, struct orr_vulkan_image *image,
                                        orr_profile *profile, orr_error *error)
{
    orr_vulkan_frame *frame;
    ORR_TRY(finish(draw, true, &frame, profile, error));
    if (image) {
        *image = (orr_vulkan_image){
            .image = frame->image.image,
            .view = frame->image.view,
            .layout = VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
            .width = frame->view.lens.width,
            .height = frame->view.lens.height,
        };
    }
    return ORR_OK;
}

size_t orr_vulkan_draw_allocations(const orr_vulkan_draw *draw)
{
    return draw->shared.allocations + draw->shared.store.uploads;
}
