// Drawing on Vulkan: splats by compute, meshes by a graphics pipeline, several frames in flight.
#pragma once

#include "engine/device/vulkan.h"
#include "render/draw.h"
#include "render/field_pass.h"

typedef struct orr_vulkan_draw orr_vulkan_draw;

// frames_in_flight: 1 .. 8. `vk` is borrowed. FEATURE_ABSENT in a build without Vulkan.
orr_result orr_vulkan_draw_create(orr_vk *vk, int frames_in_flight, orr_vulkan_draw **draw, orr_error *error);
void orr_vulkan_draw_destroy(orr_vulkan_draw *draw); // NULL is allowed; waits for its frames

// Starts one frame. Packs and meshes are uploaded under their key when they come first, and must live until
// then only. `fields`: a pass that is done, copied; NULL: no fields are shown, whatever the list has. CAPACITY when
// frames_in_flight frames wait to be finished, or the device cannot hold the frame.
orr_result orr_vulkan_draw_submit(orr_vulkan_draw *draw, const orr_draw_list *list,
                                  const orr_field_pass *fields, orr_error *error);
// Completes the oldest frame and writes its planes; `picture` and its planes may be NULL. Stage times are
// booked in `profile` (nullable), measured by the device.
orr_result orr_vulkan_draw_finish(orr_vulkan_draw *draw, const orr_picture *picture, orr_profile *profile,
                                  orr_error *error);

// As orr_vulkan_draw_submit without fields, for a frame that ends in an image on the device (image.h).
struct orr_vulkan_image;
orr_result orr_vulkan_draw_submit_image(orr_vulkan_draw *draw, const orr_draw_list *list, orr_error *error);
// Completes the oldest frame, which submit_image started. The image is written when this returns, and stays so until
// frames_in_flight more submits of images; commands of the same queue that read it need no semaphore. `image` may be NULL.
orr_result orr_vulkan_draw_finish_image(orr_vulkan_draw *draw, struct orr_vulkan_image *image,
                                        orr_profile *profile, orr_error *error);

// From the next frame on, what the host does here is in the trace, too; NULL: no longer. The device's clock is compared with
// the host's anew, and the trace told how. No frame may be pending.
orr_result orr_vulkan_draw_trace(orr_vulkan_draw *draw, orr_trace *trace, orr_error *error);

// Forgets what was uploaded under a key; waits for the frames that use it.
void orr_vulkan_draw_release(orr_vulkan_draw *draw, uint64_t key);
// How often memory was allocated so far, on either side: after warm-up it stays the same.
size_t orr_vulkan_draw_allocations(const orr_vulkan_draw *draw);
