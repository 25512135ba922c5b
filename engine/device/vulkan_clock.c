// The device's clock against the host's: from the driver where it offers that, otherwise by a submission
// between two readings of the host's clock.
#include "engine/core/clock.h"
#include "engine/device/vulkan_gpu.h"

enum { ATTEMPTS = 16 }; // the narrowest counts: whatever interrupts only widens

static uint64_t middle_of(uint64_t low, uint64_t high)
{
    return low + (high - low) / 2;
}

static orr_result ask_driver(orr_vk *vk, orr_vk_clock *clock, orr_error *error)
{
    const VkCalibratedTimestampInfoEXT infos[2] = {
        {.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT, .timeDomain = VK_TIME_DOMAIN_DEVICE_EXT},
        {.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT,
         .timeDomain = VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT}};
    uint64_t times[2];
    clock->method = "calibrated timestamps";
    clock->uncertainty = UINT64_MAX;
    for (int i = 0; i < ATTEMPTS; i++) {
        uint64_t deviation;
        ORR_VK_TRY(vk->get_calibrated_timestamps(vk->device, 2, infos, times, &deviation), error);
        if (deviation < clock->uncertainty) {
            clock->ticks = times[0];
            clock->nanoseconds = times[1];
            clock->uncertainty = deviation;
        }
    }
    return ORR_OK;
}

// What a bracket needs, and lets go.
typedef struct bracket {
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkQueryPool query;
    VkSemaphore timeline;
} bracket;

static orr_result prepare(orr_vk *vk, bracket *b, orr_error *error)
{
    const VkQueryPoolCreateInfo query = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                         .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                         .queryCount = 1};
    ORR_VK_TRY(vkCreateQueryPool(vk->device, &query, NULL, &b->query), error);
    ORR_TRY(orr_vk_commands_create(vk, &b->pool, &b->commands, 1, error));
    return orr_vk_timeline_create(vk, &b->timeline, error);
}

static orr_result narrow(orr_vk *vk, const bracket *b, orr_vk_clock *clock, orr_error *error)
{
    clock->method = "submit and wait";
    clock->uncertainty = UINT64_MAX;
    for (uint64_t i = 1; i <= ATTEMPTS; i++) {
        uint64_t ticks;
        ORR_TRY(orr_vk_commands_begin(b->commands, error));
        vkCmdResetQueryPool(b->commands, b->query, 0, 1);
        vkCmdWriteTimestamp2(b->commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, b->query, 0);
        ORR_VK_TRY(vkEndCommandBuffer(b->commands), error);
        uint64_t before = orr_clock_nanoseconds();
        ORR_TRY(orr_vk_submit(vk, b->commands, b->timeline, i, error));
        ORR_TRY(orr_vk_timeline_wait(vk, b->timeline, i, error));
        uint64_t after = orr_clock_nanoseconds();
        ORR_VK_TRY(vkGetQueryPoolResults(vk->device, b->query, 0, 1, sizeof ticks, &ticks, sizeof ticks,
                                         VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
                   error);
        if ((after - before + 1) / 2 < clock->uncertainty) {
            clock->ticks = ticks;
            clock->nanoseconds = middle_of(before, after);
            clock->uncertainty = (after - before + 1) / 2;
        }
    }
    return ORR_OK;
}

static orr_result submit_and_wait(orr_vk *vk, orr_vk_clock *clock, orr_error *error)
{
    bracket b = {0};
    orr_result result = prepare(vk, &b, error);
    if (result == ORR_OK) {
        result = narrow(vk, &b, clock, error);
    }
    if (result != ORR_OK) {
        vkQueueWaitIdle(vk->queue); // nothing that is still under way may be destroyed
    }
    vkDestroySemaphore(vk->device, b.timeline, NULL);
    vkDestroyCommandPool(vk->device, b.pool, NULL);
    vkDestroyQueryPool(vk->device, b.query, NULL);
    return result;
}

orr_result orr_vk_clock_calibrate(orr_vk *vk, orr_vk_clock *clock, orr_error *error)
{
    VkQueueFamilyProperties families[16];
    uint32_t count = 16;
    vkGetPhysicalDeviceQueueFamilyProperties(vk->physical, &count, families);
    *clock = (orr_vk_clock){.period = (double)vk->properties.limits.timestampPeriod,
                            .valid_bits = families[vk->queue_family].timestampValidBits};
    return vk->get_calibrated_timestamps ? ask_driver(vk, clock, error) : submit_and_wait(vk, clock, error);
}

uint64_t orr_vk_clock_nanoseconds(const orr_vk_clock *clock, uint64_t ticks)
{
    // the difference of two counters that begin again at 2^valid_bits, as a number with a sign
    int unused = 64 - (int)clock->valid_bits;
    int64_t difference = (int64_t)((ticks - clock->ticks) << unused) / ((int64_t)1 << unused);
    return clock->nanoseconds + (uint64_t)(int64_t)((double)difference * clock->period);
}
