// What tests of drawing on Vulkan share: a device that the validation layer watches, threads, and a draw.
#pragma once

#include "render/vulkan/draw.h"
#include "tests/support/drawn.h"
#include "tests/support/support.h"

enum { VULKAN_RIG_FRAMES = 3 }; // in flight, of vulkan_draw

// One device and one draw for all tests of a program: opening a device takes longer than most tests, and a
// software driver takes seconds to compile what draws surfaces. The draw is there between
// vulkan_rig_open_draw and vulkan_rig_close_draw, which are cmocka's group fixtures.
extern orr_vk *vk;
extern orr_jobs *jobs;
extern orr_vulkan_draw *vulkan_draw;

// False without a device, after a line that says why: the program skips with status 77. Without the
// validation layer a line says so.
bool vulkan_rig_open(void);
int vulkan_rig_open_draw(void **state);
int vulkan_rig_close_draw(void **state);

// The status of the program: failures of tests and complaints of the validation layer, which names what was
// not destroyed before the device.
int vulkan_rig_close(int failures);

// One frame of `list` by any draw.
drawn drawn_on_vulkan(orr_vulkan_draw *draw, const orr_draw_list *list);
