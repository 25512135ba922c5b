// From CUDA to the window: a picture drawn by CUDA becomes an image of the Vulkan device. Its bytes are
// copied through memory that both share, or through pinned memory of the host (engine/device/interop.h). The
// two devices wait for each other on timelines, the host for CUDA's part. That runs in a stream of its own
// and does not wait for frames in flight.
#pragma once

#include "engine/core/profile.h"
#include "engine/device/interop.h"

typedef struct orr_cuda_show orr_cuda_show;
struct orr_vulkan_image; // render/vulkan/image.h

// images: how many pictures stay; 1 .. 8. Errors of orr_interop_create, FEATURE_ABSENT in a build without
// CUDA or Vulkan.
orr_result orr_cuda_show_create(orr_vk *vk, const orr_cuda *cuda, bool shared, int images,
                                orr_cuda_show **show, orr_error *error);
void orr_cuda_show_destroy(orr_cuda_show *show); // NULL is allowed; the images must not be in use

// rgba: a picture on CUDA's device whose frame is finished; it may be overwritten afterwards. Commands
// submitted later to the same queue may read *image, until `images` more pictures are shown. Stages, measured
// by the device, are added to `profile`; `image` and `profile` may be NULL. DEVICE_MEMORY when either device
// is full: nothing is lost, and another attempt may use copies.
orr_result orr_cuda_show_picture(orr_cuda_show *show, const float *rgba, int width, int height,
                                 struct orr_vulkan_image *image, orr_profile *profile, orr_error *error);
