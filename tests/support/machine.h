// The machine on which a test program runs.
#pragma once

#include "engine/core/isa.h"
#include "engine/core/jobs.h"
#include "engine/device/cuda.h"
#include "tests/support/support.h"

extern orr_jobs *jobs; // two threads
extern orr_isa isa;
extern orr_cuda *cuda; // NULL: the CPU
extern int team;       // threads per world on it: ORR_TEST_TEAM, or 0 for as many as pay

// Group set-ups. Both end the program as skipped, with a line that says why, where there is no CUDA device.
int open_machine(void **state);      // the CPU, or with ORR_TEST_DEVICE=cuda a CUDA device
int open_cuda_machine(void **state); // a CUDA device (a GPU, or the emulated one)
int close_machine(void **state);
