/* A program that uses Vulkan through its own volk, whose table holds the functions of its own device, before,
 * while and after the engine draws. Exit code 77: there is no Vulkan device. */
#include "draw_splat.h"

#define VOLK_IMPLEMENTATION
#include <volk.h>

#define VK(call)                                                                                             \
    do {                                                                                                     \
        if ((call) != VK_SUCCESS) {                                                                          \
            fprintf(stderr, "%s failed\n", #call);                                                           \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

static VkInstance instance;
static VkPhysicalDevice physical;
static VkDevice device;

static void open_device(void)
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    uint32_t count = 1;
    if (volkInitialize() != VK_SUCCESS || vkCreateInstance(&info, NULL, &instance) != VK_SUCCESS) {
        printf("there is no Vulkan\n");
        exit(77);
    }
    volkLoadInstance(instance);
    if (vkEnumeratePhysicalDevices(instance, &count, &physical) < VK_SUCCESS || count == 0) {
        printf("there is no Vulkan device\n");
        exit(77);
    }
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
    const VkDeviceCreateInfo device_info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                            .queueCreateInfoCount = 1,
                                            .pQueueCreateInfos = &queue};
    VK(vkCreateDevice(physical, &device_info, NULL, &device));
    volkLoadDevice(device); // from here on vkQueueSubmit and the like are those of this device alone
}

// Fills a buffer on the device and reads it.
static void use_device(uint32_t value)
{
    enum { SIZE = 256 };
    const VkBufferCreateInfo buffer_info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                            .size = SIZE,
                                            .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkBuffer buffer;
    VK(vkCreateBuffer(device, &buffer_info, NULL, &buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device, buffer, &needs);
    VkPhysicalDeviceMemoryProperties types;
    vkGetPhysicalDeviceMemoryProperties(physical, &types);
    const VkMemoryPropertyFlags seen =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t type = 0;
    while (!(needs.memoryTypeBits >> type & 1) || (types.memoryTypes[type].propertyFlags & seen) != seen) {
        type++;
    }
    const VkMemoryAllocateInfo memory_info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                              .allocationSize = needs.size,
                                              .memoryTypeIndex = type};
    VkDeviceMemory memory;
    VK(vkAllocateMemory(device, &memory_info, NULL, &memory));
    VK(vkBindBufferMemory(device, buffer, memory, 0));
    VkCommandPool pool;
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VK(vkCreateCommandPool(device, &pool_info, NULL, &pool));
    VkCommandBuffer commands;
    const VkCommandBufferAllocateInfo commands_info = {.sType =
                                                           VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                       .commandPool = pool,
                                                       .commandBufferCount = 1};
    VK(vkAllocateCommandBuffers(device, &commands_info, &commands));
    VK(vkBeginCommandBuffer(
        commands, &(VkCommandBufferBeginInfo){.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO}));
    vkCmdFillBuffer(commands, buffer, 0, SIZE, value);
    VK(vkEndCommandBuffer(commands));
    VkQueue queue;
    vkGetDeviceQueue(device, 0, 0, &queue);
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
    VK(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE));
    VK(vkQueueWaitIdle(queue));
    void *bytes;
    VK(vkMapMemory(device, memory, 0, SIZE, 0, &bytes));
    if (*(uint32_t *)bytes != value) {
        fprintf(stderr, "the buffer holds %u, expected %u\n", *(uint32_t *)bytes, value);
        exit(1);
    }
    vkDestroyCommandPool(device, pool, NULL);
    vkDestroyBuffer(device, buffer, NULL);
    vkFreeMemory(device, memory, NULL);
}

int main(void)
{
    open_device();
    use_device(7);
    draw_splat(ORR_DEVICE_VULKAN);
    use_device(8);
    draw_splat(ORR_DEVICE_VULKAN);
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(instance, NULL);
    return 0;
}
