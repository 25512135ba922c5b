// Tests of engine/device: the Vulkan device, its choice, its buffers and its timeline.
#include "engine/core/profile.h"
#include "engine/device/vulkan_gpu.h"
#include "tests/support/support.h"

#include <stdlib.h>
#include <string.h>

static void every_device_is_listed_with_what_it_is(void **state)
{
    (void)state;
    orr_vk_info infos[4];
    int count;
    assert_ok(orr_vk_list(infos, 4, &count, &error));
    assert_true(count >= 1);
    assert_true(strlen(infos[0].name) > 0 && strlen(infos[0].driver) > 0 && strlen(infos[0].type) > 0);
    assert_true(infos[0].api[0] >= 1 && infos[0].memory > 0);
}

static void a_device_is_chosen_by_index_or_part_of_its_name(void **state)
{
    (void)state;
    orr_vk *vk;
    assert_ok(orr_vk_create(&(orr_vk_desc){.device = "0"}, &vk, &error));
    char part[5] = {0};
    memcpy(part, orr_vk_name(vk), 4);
    orr_vk_destroy(vk);
    assert_ok(orr_vk_create(&(orr_vk_desc){.device = part}, &vk, &error));
    assert_true(strncmp(orr_vk_name(vk), part, 4) == 0);
    orr_vk_destroy(vk);

    orr_error error = {0};
    assert_int_equal(orr_vk_create(&(orr_vk_desc){.device = "no such GPU"}, &vk, &error), ORR_ERROR_DEVICE);
    assert_int_equal(error.code, ORR_CODE_DEVICE_ABSENT);
    assert_non_null(strstr(error.message, "no such GPU"));
    assert_null(vk);
}

// Fills a buffer on the device and reads it back; `forget_barrier` leaves a hazard for validation to find.
static void fill_and_read(orr_vk *vk, bool forget_barrier, uint32_t *value)
{
    orr_vk_buffer device, host;
    assert_ok(orr_vk_buffer_create(vk, 1024, ORR_VK_ON_DEVICE, 0, "a test", &device, &error));
    assert_ok(orr_vk_buffer_create(vk, 1024, ORR_VK_READBACK, 0, "a test", &host, &error));
    VkSemaphore timeline;
    assert_ok(orr_vk_timeline_create(vk, &timeline, &error));
    VkCommandPool pool;
    VkCommandBuffer commands;
    assert_ok(orr_vk_commands_create(vk, &pool, &commands, 1, &error));
    assert_ok(orr_vk_commands_begin(commands, &error));
    vkCmdFillBuffer(commands, device.buffer, 0, 1024, 0x01020304u);
    if (!forget_barrier) {
        orr_vk_barrier(commands, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                       VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_READ_BIT);
    }
    vkCmdCopyBuffer(commands, device.buffer, host.buffer, 1, &(VkBufferCopy){.size = 1024});
    orr_vk_barrier(commands, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                   VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
    assert_ok(orr_vk_submit(vk, commands, timeline, 7, &error));
    assert_ok(orr_vk_timeline_wait(vk, timeline, 7, &error));
    *value = ((uint32_t *)host.mapped)[255];
    vkDestroyCommandPool(vk->device, pool, NULL);
    vkDestroySemaphore(vk->device, timeline, NULL);
    orr_vk_buffer_destroy(vk, &device);
    orr_vk_buffer_destroy(vk, &host);
}

static orr_vk *validated_device(void)
{
    orr_vk *vk;
    orr_error error = {0};
    orr_result result = orr_vk_create(&(orr_vk_desc){.validate = true}, &vk, &error);
    if (result != ORR_OK && error.code == ORR_CODE_DEVICE_VALIDATION) {
        print_message("skipped: %s\n", error.message);
        skip();
    }
    assert_int_equal(result, ORR_OK);
    return vk;
}

static void the_device_fills_and_the_host_reads(void **state)
{
    (void)state;
    orr_vk *vk = validated_device();
    uint32_t value;
    fill_and_read(vk, false, &value);
    assert_int_equal(value, 0x01020304);
    assert_string_equal(orr_vk_validation_message(vk), "");
    assert_int_equal(orr_vk_validation_count(vk), 0);
    orr_vk_destroy(vk);
}

static void a_missing_barrier_is_reported(void **state)
{
    (void)state;
    orr_vk *vk = validated_device();
    uint32_t value;
    fill_and_read(vk, true, &value);
    assert_true(orr_vk_validation_count(vk) > 0);
    assert_non_null(strstr(orr_vk_validation_message(vk), "HAZARD"));
    orr_vk_destroy(vk);
}

static VkCommandBuffer begin_commands(orr_vk *vk, VkCommandPool *pool)
{
    VkCommandBuffer commands;
    assert_ok(orr_vk_commands_create(vk, pool, &commands, 1, &error));
    assert_ok(orr_vk_commands_begin(commands, &error));
    return commands;
}

static void run_commands(orr_vk *vk, VkCommandBuffer commands)
{
    VkSemaphore timeline;
    orr_vk_barrier(commands, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                   VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
    assert_ok(orr_vk_timeline_create(vk, &timeline, &error));
    assert_ok(orr_vk_submit(vk, commands, timeline, 1, &error));
    assert_ok(orr_vk_timeline_wait(vk, timeline, 1, &error));
    vkDestroySemaphore(vk->device, timeline, NULL);
}

// A buffer of the same kind in the memory behind a descriptor, which is Vulkan's from then on.
static void import_buffer(orr_vk *vk, int descriptor, const orr_vk_export *memory, orr_vk_buffer *buffer)
{
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .pNext = &external,
        .size = buffer->size,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    assert_int_equal(vkCreateBuffer(vk->device, &info, NULL, &buffer->buffer), VK_SUCCESS);
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(vk->device, buffer->buffer, &needs);
    const VkMemoryDedicatedAllocateInfo dedicated = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO,
        .buffer = buffer->buffer,
    };
    const VkImportMemoryFdInfoKHR import = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR,
        .pNext = memory->dedicated ? &dedicated : NULL,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
        .fd = descriptor,
    };
    uint32_t type = 0;
    while (!(needs.memoryTypeBits >> type & 1) ||
           !(vk->memory.memoryTypes[type].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)) {
        type++; // the first that is fit, as the exporter chose it
    }
    const VkMemoryAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &import,
        .allocationSize = memory->size,
        .memoryTypeIndex = type,
    };
    assert_int_equal(vkAllocateMemory(vk->device, &allocate, NULL, &buffer->memory), VK_SUCCESS);
    assert_int_equal(vkBindBufferMemory(vk->device, buffer->buffer, buffer->memory, 0), VK_SUCCESS);
}

static void exported_memory_is_the_same_in_a_second_device(void **state)
{
    (void)state;
    orr_vk *one = validated_device(), *other = validated_device();
    assert_memory_equal(one->uuid, other->uuid, sizeof one->uuid);
    if (!one->exports_memory) {
        print_message("skipped: %s exports no memory\n", orr_vk_name(one));
        orr_vk_destroy(one);
        orr_vk_destroy(other);
        skip();
    }
    orr_vk_buffer buffer, imported = {.size = 40000}, host;
    orr_vk_export memory;
    VkCommandPool pool;
    int descriptor;
    assert_ok(orr_vk_buffer_create_exportable(one, 40000, 0, "a test", &buffer, &memory, &error));
    assert_true(memory.size >= 40000);
    VkCommandBuffer commands = begin_commands(one, &pool);
    vkCmdFillBuffer(commands, buffer.buffer, 0, VK_WHOLE_SIZE, 0x0a0b0c0du);
    run_commands(one, commands);
    vkDestroyCommandPool(one->device, pool, NULL);
    const VkMemoryGetFdInfoKHR get = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR,
        .memory = buffer.memory,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
    assert_int_equal(vkGetMemoryFdKHR(one->device, &get, &descriptor), VK_SUCCESS);
    import_buffer(other, descriptor, &memory, &imported);
    orr_vk_buffer_destroy(one, &buffer); // the memory lives on with who took it in

    assert_ok(orr_vk_buffer_create(other, 40000, ORR_VK_READBACK, 0, "a test", &host, &error));
    commands = begin_commands(other, &pool);
    vkCmdCopyBuffer(commands, imported.buffer, host.buffer, 1, &(VkBufferCopy){.size = 40000});
    run_commands(other, commands);
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(((const uint32_t *)host.mapped)[i], 0x0a0b0c0d);
    }
    vkDestroyCommandPool(other->device, pool, NULL);
    orr_vk_buffer_destroy(other, &host);
    orr_vk_buffer_destroy(other, &imported);
    assert_string_equal(orr_vk_validation_message(one), "");
    assert_string_equal(orr_vk_validation_message(other), "");
    orr_vk_destroy(one);
    orr_vk_destroy(other);
}

static void the_card_of_a_uuid_is_preferred_and_not_required(void **state)
{
    (void)state;
    orr_vk_info infos[4];
    int count;
    assert_ok(orr_vk_list(infos, 4, &count, &error));
    for (int i = 0; i < count && i < 4; i++) {
        orr_vk *vk;
        if (infos[i].lacks) {
            continue;
        }
        assert_ok(orr_vk_create(&(orr_vk_desc){.uuid = infos[i].uuid}, &vk, &error));
        assert_memory_equal(vk->uuid, infos[i].uuid, sizeof vk->uuid);
        orr_vk_destroy(vk);
    }
    const uint8_t nobody[16] = {1, 2, 3};
    orr_vk *vk;
    assert_ok(orr_vk_create(&(orr_vk_desc){.uuid = nobody}, &vk, &error));
    orr_vk_destroy(vk);
}

static void too_much_memory_is_an_error_that_says_for_what(void **state)
{
    (void)state;
    orr_vk *vk;
    assert_ok(orr_vk_create(&(orr_vk_desc){0}, &vk, &error));
    orr_vk_buffer buffer;
    orr_error error = {0};
    assert_int_equal(
        orr_vk_buffer_create(vk, (VkDeviceSize)1 << 46, ORR_VK_ON_DEVICE, 0, "too large", &buffer, &error),
        ORR_ERROR_MEMORY);
    assert_true(buffer.buffer == VK_NULL_HANDLE);
    orr_vk_destroy(vk);
}

static void a_timestamp_is_the_host_s_time(void **state)
{
    (void)state;
    orr_vk *vk;
    orr_vk_clock asked, bracketed;
    assert_ok(orr_vk_create(&(orr_vk_desc){0}, &vk, &error));
    bool offered = vk->get_calibrated_timestamps != NULL;
    uint64_t before = orr_clock_nanoseconds();
    assert_ok(orr_vk_clock_calibrate(vk, &asked, &error));
    uint64_t after = orr_clock_nanoseconds();
    assert_true(before <= asked.nanoseconds && asked.nanoseconds <= after);
    vk->get_calibrated_timestamps = NULL;
    assert_ok(orr_vk_clock_calibrate(vk, &bracketed, &error));
    assert_string_equal(bracketed.method, "submit and wait");
    if (offered) {
        // the same moment by both: as far apart as both say they may be, and 100 us for the clocks' drift
        int64_t apart = (int64_t)(orr_vk_clock_nanoseconds(&asked, bracketed.ticks) - bracketed.nanoseconds);
        assert_true(llabs(apart) <= (int64_t)(asked.uncertainty + bracketed.uncertainty) + 100000);
    } else {
        print_message("calibrated timestamps are not offered: only the bracket was tried\n");
    }
    orr_vk_destroy(vk);
}

static void ticks_begin_again_behind_their_last_bit(void **state)
{
    (void)state;
    orr_vk_clock clock = {
        .ticks = (1ull << 36) - 10, .nanoseconds = 1000000, .period = 2.5, .valid_bits = 36};
    assert_int_equal(orr_vk_clock_nanoseconds(&clock, 30), 1000000 + 100);
    assert_int_equal(orr_vk_clock_nanoseconds(&clock, (1ull << 36) - 50), 1000000 - 100);
    clock.valid_bits = 64;
    clock.ticks = 100;
    assert_int_equal(orr_vk_clock_nanoseconds(&clock, 60), 1000000 - 100);
}

int main(void)
{
    int count;
    orr_error error = {0};
    if (orr_vk_list(NULL, 0, &count, &error) != ORR_OK || count == 0) {
        print_message("skipped: no Vulkan device: %s\n", error.message);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_device_is_listed_with_what_it_is),
        cmocka_unit_test(a_device_is_chosen_by_index_or_part_of_its_name),
        cmocka_unit_test(the_device_fills_and_the_host_reads),
        cmocka_unit_test(a_missing_barrier_is_reported),
        cmocka_unit_test(exported_memory_is_the_same_in_a_second_device),
        cmocka_unit_test(the_card_of_a_uuid_is_preferred_and_not_required),
        cmocka_unit_test(a_timestamp_is_the_host_s_time),
        cmocka_unit_test(ticks_begin_again_behind_their_last_bit),
        cmocka_unit_test(too_much_memory_is_an_error_that_says_for_what),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
