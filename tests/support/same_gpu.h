// For tests of CUDA and Vulkan together, mostly on machines without a GPU.
#pragma once

#include <stdbool.h>

// Group set-up: the emulated CUDA device takes the UUID of Vulkan's device, as if both were one GPU. Ends the
// program as skipped, with a line that says why, where there is no device of either kind.
int find_both_devices(void **state);

// As find_both_devices; skips also where Vulkan exports no memory.
int use_same_gpu(void **state);

// Is Vulkan's validation layer installed? After either of the above.
bool has_validation_layer(void);
