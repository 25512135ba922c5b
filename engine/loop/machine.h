// A machine that draws, as a table of functions. Each machine has one file that fills its table
// (machine_cpu.c, machine_vulkan.c, machine_cuda.c); frames (frame.c) and the ladder of devices (ladder.c)
// call machines only through it. How to add another: engine/loop/README.md.
//
// Frames are completed in the order in which they were submitted. Fields that a machine does not draw, and
// surfaces that start rays, are drawn by the host before the frame is submitted to it: such a frame is
// deferred until it is the oldest one (frame_deferred.h).
#pragma once

#include "engine/loop/engine.h"
#include "render/host_layers.h"

struct orr_vulkan_image; // render/vulkan/image.h

// Where the picture of a frame goes.
typedef struct orr_machine_target {
    bool to_image;              // as the frame was submitted: an image of the Vulkan device, or host memory
    const orr_picture *picture; // nullable: receives what ends in host memory
    struct orr_vulkan_image *image; // nullable: receives the image
} orr_machine_target;

typedef struct orr_machine {
    orr_device_kind device;
    bool on_host;             // draws with the engine's threads: all of its frames are deferred
    bool reads_device_bodies; // finds bodies of robots in its own memory (orr_draw_mesh.bodies)

    // Makes what draws with up to `frames` frames in flight (1 .. 8). On failure there is nothing to close.
    orr_result (*open)(orr_engine *engine, int frames, void **state, orr_error *error);
    // Waits for all frames, then frees everything, images included.
    void (*close)(void *state);

    // Puts those of the fields first that the host has to march, and returns how many they are. NULL: all of
    // them.
    int (*divide_fields)(void *state, orr_draw_field *fields, int count);
    // Begins a deferred frame, whose list and arena stay valid until it is finished. *mesh_depth: height x
    // width depths of opaque meshes, infinity where there is none; unchanged (NULL) without meshes. NULL: the
    // frame submits the meshes alone and reads their depth, or finds it with what rays show.
    orr_result (*begin)(void *state, const orr_draw_list *list, orr_arena *arena, orr_profile *profile,
                        const float **mesh_depth, orr_error *error);
    // Starts a frame. The list's fields are those that the machine draws itself; `layers`: what the host has
    // drawn, NULL: nothing. The list and what it refers to must live until this returns only, the layers
    // until the frame is finished. to_image: only where ends_in_image says so. When a device fails or is
    // full, the code of the error is one of ORR_CODE_DEVICE_*.
    orr_result (*submit)(void *state, const orr_draw_list *list, const orr_host_layers *layers, bool to_image,
                         orr_error *error);
    // Waits for the oldest frame, fills in the target, and adds the stages to the profile (nullable). On
    // failure the frame is dropped.
    orr_result (*finish)(void *state, const orr_machine_target *target, orr_profile *profile,
                         orr_error *error);

    // Can the picture of this list end in an image of the engine's Vulkan device? NULL: never.
    bool (*ends_in_image)(const void *state, const orr_draw_list *list);
    // Copies the picture that was finished last to an image of the Vulkan device, as the engine's rung says:
    // in shared memory or through pinned copies. NULL: `finish` has filled in the image.
    orr_result (*hand_over)(void *state, const orr_lens *lens, struct orr_vulkan_image *image,
                            orr_profile *profile, orr_error *error);
    // Lets go of the engine's Vulkan device, which was lost. NULL: the machine uses none, or has to be closed
    // for that.
    void (*leave_vulkan)(void *state);

    // Where the picture that was finished last is in the memory of a CUDA device. NULL: it is in none.
    orr_cuda_picture (*picture)(const void *state);

    // Frees what was uploaded under a key. NULL: nothing is uploaded.
    void (*release)(void *state, uint64_t key);
    // From the next frame on, what the machine works at is recorded; `trace` NULL: no longer. No frame may be
    // in flight. NULL: the threads of the host are all there is to record.
    orr_result (*trace)(void *state, orr_trace *trace, orr_error *error);
} orr_machine;

extern const orr_machine orr_machine_cpu, orr_machine_vulkan, orr_machine_cuda;

// The machine of ORR_DEVICE_CPU, _VULKAN or _CUDA; NULL: there is none.
const orr_machine *orr_machine_of(orr_device_kind device);

// Logs once, as *told notes, what a machine leaves out of a picture; `missing`: the frame at hand needs it.
void orr_machine_tell(const orr_engine *engine, bool *told, orr_log_level level, bool missing,
                      const char *line);
