// The loader of Vulkan's functions, from Debian's libvulkan-volk-dev.
#define VOLK_IMPLEMENTATION
#include <volk.h>
