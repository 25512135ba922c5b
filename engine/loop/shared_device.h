// For a program with a window: one Vulkan device draws and presents, so that pictures need not leave it.
#pragma once

#include "engine/loop/devices.h"

struct orr_vulkan_image; // render/vulkan/image.h

// As orr_engine_create; the Vulkan device will be one that presents, with these instance extensions (borrowed).
orr_result orr_engine_create_presenting(const orr_engine_desc *desc, const char *const *extensions,
                                        int extension_count, orr_engine **engine, orr_error *error);

// The device was lost: once everyone has given it back, the next to take it opens it anew.
void orr_engine_lose_vk(orr_engine *engine);

// As orr_frame_submit and orr_frame_finish, for frames of ORR_DEVICE_VULKAN without fields, and of ORR_DEVICE_CUDA where
// orr_engine_shows_cuda says so: the picture ends in an image of the Vulkan device, and stays there until frames_in_flight more submits of images or until the frame goes.
orr_result orr_frame_submit_image(orr_frame *frame, const orr_scene *scene, const orr_world *world,
                                  const orr_view *view, orr_error *error);
orr_result orr_frame_finish_image(orr_frame *frame, struct orr_vulkan_image *image, orr_error *error);
