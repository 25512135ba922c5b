// One frame on Vulkan: what it draws, its commands, and what the device counts. Frames follow each other on
// one queue and share the memory of the stages; draw.c keeps those in flight.
#pragma once

#include "render/host_layers.h"
#include "render/vulkan/view.h"

// What all frames share.
typedef struct orr_vulkan_shared {
    orr_vk *vk;
    orr_jobs *jobs;  // borrowed
    orr_arena arena; // of a frame that is taken
    VkSemaphore timeline;
    uint64_t submitted; // the value that the newest submission signals
    orr_vulkan_store store;
    orr_vulkan_meshes meshes;
    orr_vulkan_splats splats;
    size_t allocations; // besides the store's
    orr_vk_clock clock;
    orr_trace *trace; // nullable
} orr_vulkan_shared;

// What the CPU has drawn of a view.
typedef struct orr_vulkan_host_view {
    bool has_fields, has_traced;
    orr_vk_buffer fields; // depths, then four planes of colour
    orr_vk_buffer traced; // as of orr_host_view
} orr_vulkan_host_view;

// Kept whole until it is finished, because a frame that ran out of memory is drawn again.
typedef struct orr_vulkan_frame {
    VkCommandBuffer commands;
    orr_vulkan_marks marks;
    uint64_t value; // of the timeline, when the frame is done
    uint64_t number;

    orr_vulkan_view view;            // the picture's
    orr_mirror mirrors[ORR_MIRRORS]; // mirror_count, that are seen
    float reflectances[ORR_MIRRORS];
    int mirror_count;
    orr_vulkan_view *mirrored; // ORR_MIRRORS: what each of them shows; NULL until a frame has a mirror
    orr_vulkan_host_view hosts[1 + ORR_MIRRORS]; // of the picture, then of the mirrors
    bool to_image;
    bool rays; // the host follows those of smooth surfaces

    orr_vulkan_capacity needs; // capacity that it needs, as far as is known
    int64_t fragments;         // likewise, of transparent meshes
    int64_t fragment_capacity; // when it was submitted
    bool settled;              // done: drawn in full, or failed
    orr_result outcome;
    orr_error why;

    orr_vk_buffer pieces;       // how its clouds are deformed
    orr_vk_buffer environments; // texels of all maps, behind one another
    uint64_t environment_keys[ORR_DRAW_ENVIRONMENTS];
    int environment_count;
    uint64_t self_key;    // of the list's self_shadow, whose texels are behind them; 0: it had none
    int32_t self_first;   // texel
    orr_vk_buffer counts; // what the device counts, for the host to read: of the picture, then of the mirrors
    orr_vk_buffer
        times; // likewise: the marks' ticks. Reading the query pool instead may wait for later frames
    orr_vk_buffer picture; // rgba of all pixels, then their depths
    orr_vk_image image;    // of frames that are presented
} orr_vulkan_frame;

orr_result orr_vulkan_frame_create(orr_vulkan_shared *shared, VkCommandBuffer commands,
                                   orr_vulkan_frame *frame, orr_error *error);
void orr_vulkan_frame_destroy(orr_vulkan_shared *shared, orr_vulkan_frame *frame);

// Takes over what the list draws: uploads what is new of clouds and meshes, copies layers (nullable).
// frame->number is set; oldest: number of the oldest frame in flight, whose clouds and meshes must stay.
orr_result orr_vulkan_frame_take(orr_vulkan_shared *shared, orr_vulkan_frame *frame, uint64_t oldest,
                                 const orr_draw_list *list, const orr_host_layers *layers, orr_error *error);
// Allocates what the frame needs, records its commands and submits them.
orr_result orr_vulkan_frame_submit(orr_vulkan_shared *shared, orr_vulkan_frame *frame, orr_error *error);
// Waits until it is drawn, again with more memory if it ran out; the result is frame->outcome and, of an
// error, frame->why.
void orr_vulkan_frame_settle(orr_vulkan_shared *shared, orr_vulkan_frame *frame);
// Times of its stages, measured by the device.
void orr_vulkan_frame_profile(const orr_vulkan_shared *shared, const orr_vulkan_frame *frame,
                              orr_profile *profile);
