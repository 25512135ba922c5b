// Profile: the named, timed stages of a frame, in the order they ran.
#pragma once

#include "engine/core/clock.h"
#include "engine/core/trace.h"

enum { ORR_PROFILE_STAGES = 32 };

typedef struct orr_profile {
    orr_stage_time stages[ORR_PROFILE_STAGES];
    int count;
    uint64_t stage_start; // [ns], monotonic
    orr_trace *trace;     // nullable, borrowed: stages are also spans of it
} orr_profile;

static inline void orr_profile_reset(orr_profile *profile)
{
    profile->count = 0;
    profile->trace = NULL;
    profile->stage_start = orr_clock_nanoseconds();
}

// Ends the stage that began with the previous end or reset, and books it under `name` (a literal). A name
// that is already there (the same stage of a second layer) adds up.
void orr_profile_end(orr_profile *profile, const char *name, int64_t items);
// Books time measured elsewhere.
void orr_profile_add(orr_profile *profile, const char *name, double milliseconds, int64_t items);
// The same of time on a device, in the host's nanoseconds.
void orr_profile_span(orr_profile *profile, orr_track track, const char *name, uint64_t begin, uint64_t end,
                      int64_t items);
