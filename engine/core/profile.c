#include "engine/core/profile.h"

#include <string.h>

void orr_profile_add(orr_profile *profile, const char *name, double milliseconds, int64_t items)
{
    int i = 0;
    while (i < profile->count && strcmp(profile->stages[i].name, name) != 0) {
        i++;
    }
    if (i == ORR_PROFILE_STAGES) {
        return;
    }
    if (i == profile->count) {
        profile->stages[profile->count++] = (orr_stage_time){.name = name};
    }
    profile->stages[i].milliseconds += milliseconds;
    profile->stages[i].items += items;
}

void orr_profile_span(orr_profile *profile, orr_track track, const char *name, uint64_t begin, uint64_t end,
                      int64_t items)
{
    orr_profile_add(profile, name, (double)(end - begin) * 1e-6, items);
    orr_trace_add(profile->trace, (int)track, name, begin, end);
}

void orr_profile_end(orr_profile *profile, const char *name, int64_t items)
{
    uint64_t now = orr_clock_nanoseconds();
    orr_profile_span(profile, ORR_TRACK_HOST, name, profile->stage_start, now, items);
    profile->stage_start = now;
}
