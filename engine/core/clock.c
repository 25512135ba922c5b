#define _GNU_SOURCE
#include "engine/core/clock.h"

#include <time.h>

uint64_t orr_clock_nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
