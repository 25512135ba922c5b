// The engine from the inside: threads, instruction set, devices, log.
#pragma once

#include "engine/core/isa.h"
#include "engine/core/jobs.h"
#include "engine/device/cuda.h"
#include "engine/loop/window.h"

struct orr_engine {
    orr_engine_desc desc; // as given
    orr_log log;
    orr_jobs *jobs;
    orr_isa isa;
    orr_device_kind device; // that draws: CPU, VULKAN or CUDA
    orr_device_kind rung;   // of the ladder: the same, or how CUDA's pictures reach Vulkan
    orr_cuda *cuda;         // NULL until orr_engine_take_cuda
    orr_vk *vk;             // NULL until orr_engine_take_vk
    int vk_users;           // that have taken it and not given it back: frames, and the window
    bool vk_lost;           // opened again once nobody uses it any more
    bool has_window, window_attached;
    orr_window window;
    orr_frame *frames; // all of them, a list
    char description[320];
    uint64_t next_key; // from 1: names uploaded contents (orr_draw_splats.key); never reused
};

// ORR_ERROR_ARGUMENT when it is NULL, or belongs to the parent of this process.
orr_result orr_engine_check(const orr_engine *engine, orr_error *error);
