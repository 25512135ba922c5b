// Profile: the named, timed stages of a frame, in the order they ran.
#pragma once

#include "engine/core/result.h"

enum { ORR_PROFILE_STAGES = 32 };

typedef struct orr_profile {
    orr_stage_time stages[ORR_PROFILE_STAGES];
    int count;
    uint64_t stage_start; // [ns], monotonic
} orr_profile;

uint64_t orr_clock_nanoseconds(void); // monotonic; for measuring only, never for results

static inline void orr_profile_reset(orr_profile *profile)
{
    profile->count = 0;
    profile->stage_start = orr_clock_nanoseconds();
}

// Ends the stage that began with the previous end or reset, and books it under `name` (a literal). A name
// that is already there (the same stage of a second layer) adds up.
void orr_profile_end(orr_profile *profile, const char *name, int64_t items);
// Books time measured elsewhere, for example by a GPU's timestamps.
void orr_profile_add(orr_profile *profile, const char *name, double milliseconds, int64_t items);
