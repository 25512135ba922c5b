// From CUDA to the window: a picture that CUDA has drawn becomes an image of the Vulkan device. Bytes go through memory that
// both share, or through pinned memory of the host (engine/device/interop.h); either way the two devices wait for each
// other, and the host for CUDA's part. That has a stream of its own, so that nobody waits for frames that are under way.
#pragma once

#include "engine/core/profile.h"
#include "engine/device/interop.h"

typedef struct orr_cuda_show orr_cuda_show;
struct orr_vulkan_image; // render/vulkan/image.h

// images: how many pictures stay; 1 .. 8. Errors of orr_interop_create, FEATURE_ABSENT in a build without CUDA or Vulkan.
orr_result orr_cuda_show_create(orr_vk *vk, const orr_cuda *cuda, bool shared, int images,
                                orr_cuda_show **show, orr_error *error);
void orr_cuda_show_destroy(orr_cuda_show *show); // NULL is allowed; nobody may need the images any more

// rgba: a picture on CUDA's device whose frame the host has waited for; it may be overwritten afterwards. *image is written when commands that come later on the
// same queue read it, and stays so until `images` more pictures are shown. Stages, measured by the device, are added to
// `profile`; both may be NULL. DEVICE_MEMORY when either device is full: nothing is lost, and another try may go through copies.
orr_result orr_cuda_show_picture(orr_cuda_show *show, const float *rgba, int width, int height,
                                 struct orr_vulkan_image *image, orr_profile *profile, orr_error *error);
