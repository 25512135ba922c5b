// The Vulkan device: the loader is opened at run time, so a program runs where there is none. This header
// needs no Vulkan headers; who records commands includes vulkan_gpu.h.
//
// A device must have Vulkan 1.3, a queue family for graphics and compute, and VK_KHR_push_descriptor. The
// engine keeps to the floor of lavapipe: storage buffers under 128 MiB, 128 bytes of push constants, no
// assumed subgroup size.
#pragma once

#include "engine/core/result.h"

typedef struct orr_vk orr_vk;

typedef struct orr_vk_desc {
    bool validate;       // the Khronos validation layer, synchronisation validation included
    bool present;        // VK_KHR_swapchain too; the window system's extensions stand in instance_extensions
    const char *device;  // index in orr_vk_list or part of a name; NULL: the environment's ORR_VULKAN_DEVICE,
                         // or the best
    const uint8_t *uuid; // 16 bytes, nullable: preferred among usable devices: the GPU that it names
    const char *const *instance_extensions; // instance_extension_count
    int instance_extension_count;
    orr_log log; // receives the validation layer's messages
} orr_vk_desc;

// DEVICE_ABSENT: no loader, no driver, or none that can; DEVICE_VALIDATION: validation wanted but not
// installed.
orr_result orr_vk_create(const orr_vk_desc *desc, orr_vk **vk, orr_error *error);
void orr_vk_destroy(orr_vk *vk); // NULL is allowed; everything made from it must be gone

// False for drivers that run on the CPU (lavapipe).
bool orr_vk_is_gpu(const orr_vk *vk);
const char *orr_vk_name(const orr_vk *vk);
// Warnings and errors of the validation layer so far, and the first of them ("" when there is none).
int orr_vk_validation_count(const orr_vk *vk);
const char *orr_vk_validation_message(const orr_vk *vk);

typedef struct orr_vk_info {
    char name[256];
    char driver[512];  // name and version as the driver says them
    const char *type;  // "discrete", "integrated", "virtual", "cpu" or "other"
    uint32_t api[3];   // Vulkan version: major, minor, patch
    uint64_t memory;   // [bytes], the largest device-local heap
    uint8_t uuid[16];  // the same as CUDA's of the same GPU
    const char *lacks; // what the engine needs and the device has not, or NULL
} orr_vk_info;

// Every device of this machine in the loader's order: writes at most `capacity` and sets *count to how many
// there are. DEVICE_ABSENT when there is no loader.
orr_result orr_vk_list(orr_vk_info *infos, int capacity, int *count, orr_error *error);
