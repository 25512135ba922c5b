// The engine from the inside: threads, instruction set, devices, log.
#pragma once

#include "engine/core/isa.h"
#include "engine/core/jobs.h"
#include "engine/device/cuda.h"
#include "engine/device/vulkan.h"

struct orr_engine {
    orr_engine_desc desc; // as given
    orr_log log;
    orr_jobs *jobs;
    orr_isa isa;
    orr_device_kind device;           // that draws: CPU, VULKAN or CUDA
    orr_device_kind rung;             // of the ladder: the same, or how CUDA's pictures reach Vulkan
    orr_cuda *cuda;                   // NULL until something draws on CUDA
    orr_vk *vk;                       // NULL until something draws on Vulkan
    int vk_users;                     // frames that draw on it, and a window
    bool vk_lost;                     // opened anew once nobody uses it any more
    const char *const *vk_extensions; // vk_extension_count: for a window; NULL: the device need not present
    int vk_extension_count;
    char description[320];
    uint64_t next_key; // names uploaded contents (orr_draw_splats.key); never reused
};
