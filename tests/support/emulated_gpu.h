// For tests of what goes wrong on the emulated CUDA device (tests/cuda_emu/emu.h).
#pragma once

// Set-up of a test: the settings of the device are again those of the first test's beginning.
int reset_emulated_gpu(void **state);
