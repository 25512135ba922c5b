// Drawing on Vulkan: splats by compute, meshes by a graphics pipeline, several frames in flight.
#pragma once

#include "engine/core/jobs.h"
#include "engine/device/vulkan.h"
#include "render/draw.h"
#include "render/host_layers.h"

typedef struct orr_vulkan_draw orr_vulkan_draw;

// frames_in_flight: 1 .. 8. `vk` and `jobs`, whose threads find the bounds of clouds that cast shadows, are
// borrowed. FEATURE_ABSENT in a build without Vulkan.
orr_result orr_vulkan_draw_create(orr_vk *vk, orr_jobs *jobs, int frames_in_flight, orr_vulkan_draw **draw,
                                  orr_error *error);
void orr_vulkan_draw_destroy(orr_vulkan_draw *draw); // NULL is allowed; waits for its frames

// Starts one frame. Packs and meshes are uploaded under their keys the first time, and must live only until
// this returns. `layers`, which are copied: the list's fields, and what its rays find; NULL: neither is
// shown.
// CAPACITY when frames_in_flight frames are not finished, or the frame does not fit the device's buffers.
orr_result orr_vulkan_draw_submit(orr_vulkan_draw *draw, const orr_draw_list *list,
                                  const orr_host_layers *layers, orr_error *error);
// Completes the oldest frame and writes its planes; `picture` and its planes may be NULL. Stage times,
// measured by the device, are added to `profile` (nullable).
orr_result orr_vulkan_draw_finish(orr_vulkan_draw *draw, const orr_picture *picture, orr_profile *profile,
                                  orr_error *error);

// As orr_vulkan_draw_submit without layers, for a frame whose picture becomes an image on the device
// (image.h).
struct orr_vulkan_image;
orr_result orr_vulkan_draw_submit_image(orr_vulkan_draw *draw, const orr_draw_list *list, orr_error *error);
// Completes the oldest frame, which submit_image started. The image is written when this returns, and valid
// until frames_in_flight more submits of images; commands of the same queue that read it need no semaphore.
// `image` may be NULL.
orr_result orr_vulkan_draw_finish_image(orr_vulkan_draw *draw, struct orr_vulkan_image *image,
                                        orr_profile *profile, orr_error *error);

// From the next frame on, the host's work here is traced too; NULL: no longer. Calibrates the device's clock
// against the host's again and records the method in the trace. No frame may be in flight.
orr_result orr_vulkan_draw_trace(orr_vulkan_draw *draw, orr_trace *trace, orr_error *error);

// Frees what was uploaded under a key; waits for the frames that use it.
void orr_vulkan_draw_release(orr_vulkan_draw *draw, uint64_t key);
// Number of allocations so far, on host and device; constant after warm-up.
size_t orr_vulkan_draw_allocations(const orr_vulkan_draw *draw);
