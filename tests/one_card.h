// For tests of CUDA and Vulkan together on machines without a GPU.
#pragma once

#include <stdbool.h>

// From now on the emulated card is the one that Vulkan runs on: their UUIDs are equal. False, with a line that says why, where
// there is no Vulkan device that exports memory. *has_validation: is the validation layer installed?
bool become_one_card(bool *has_validation);
