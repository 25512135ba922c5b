// The machine on which a test of physics runs: the CPU, or with ORR_TEST_DEVICE=cuda a CUDA device.
#pragma once

#include "physics/world.h"
#include "tests/support.h"

#include <stdlib.h>
#include <string.h>

static orr_jobs *jobs;
static orr_cuda *cuda; // NULL: the CPU

static int begin(void **state)
{
    (void)state;
    const char *wanted = getenv("ORR_TEST_DEVICE");
    orr_error error = {0};
    if (wanted && strcmp(wanted, "cuda") == 0 && orr_cuda_create(NULL, &cuda, &error) != ORR_OK) {
        print_message("%s\n", error.message);
        exit(77); // skipped
    }
    return orr_jobs_create(2, NULL, NULL, &jobs, NULL) != ORR_OK;
}

static int end(void **state)
{
    (void)state;
    orr_jobs_destroy(jobs);
    orr_cuda_destroy(cuda);
    return 0;
}
