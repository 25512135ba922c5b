// For tests of what goes wrong on the emulated CUDA device (tests/cuda_emu/emu.h).
#pragma once

// Set-up of a test: the card behaves as it did when the first test began.
int mend_card(void **state);
