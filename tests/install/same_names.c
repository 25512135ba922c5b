/* A program that gives its own functions names that the engine, or a library inside it, uses too. It links,
 * and the engine calls none of them. With an argument it draws with Vulkan. */
#include "draw_splat.h"

#define OURS(name)                                                                                           \
    void name(void);                                                                                         \
    void name(void)                                                                                          \
    {                                                                                                        \
        fprintf(stderr, "the engine called the program's " #name "\n");                                      \
        abort();                                                                                             \
    }

OURS(vkCreateInstance)
OURS(vkEnumerateInstanceVersion)
OURS(vkGetInstanceProcAddr)
OURS(vkCreateDevice)
OURS(vkQueueSubmit)
OURS(volkInitialize)
OURS(volkLoadInstance)
OURS(volkGetInstanceVersion)
OURS(orr_alloc)
OURS(orr_free)
OURS(orr_fail)
OURS(orr_jobs_for)
OURS(orr_radix_sort)
OURS(mjcf_parse)
OURS(quat_normalise)
OURS(stbi_load)

int main(int count, char **arguments)
{
    (void)arguments;
    draw_splat(count > 1 ? ORR_DEVICE_VULKAN : ORR_DEVICE_CPU);
    return 0;
}
