// Timestamps between the stages of a frame.
#pragma once

#include "engine/core/profile.h"
#include "engine/device/vulkan_gpu.h"

enum { ORR_VULKAN_MARKS = 16 };

typedef struct orr_vulkan_marks {
    VkQueryPool pool;
    int count;
    const char *names[ORR_VULKAN_MARKS]; // of the stage that ends at each mark; the first starts the frame
} orr_vulkan_marks;

// marks: NULL: the stage is not timed
static inline void orr_vulkan_mark(VkCommandBuffer commands, orr_vulkan_marks *marks, const char *name)
{
    if (!marks) {
        return;
    }
    assert(marks->count < ORR_VULKAN_MARKS);
    vkCmdWriteTimestamp2(commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, marks->pool, (uint32_t)marks->count);
    marks->names[marks->count++] = name;
}
