// How far loading a file has come, for the program (orr_engine_desc.progress).
#pragma once

#include "engine/core/result.h"

typedef struct orr_progress {
    orr_progress_fn report; // NULL: nobody asks
    void *user;
    const char *path;
    double from, to; // the part of the file's work that is reported as 0 .. 1
} orr_progress;

// ORR_ERROR_INTERRUPTED when the program stops the work. `progress` is nullable.
static inline orr_result orr_progress_at(const orr_progress *progress, const char *stage, double share,
                                         orr_error *error)
{
    if (progress && progress->report &&
        !progress->report(progress->user, progress->path, stage,
                          progress->from + share * (progress->to - progress->from))) {
        return orr_fail(error, ORR_CODE_INTERRUPTED, "%s: stopped", progress->path);
    }
    return ORR_OK;
}

// A part of the work: what is 0 .. 1 of it is from .. to of the whole.
static inline orr_progress orr_progress_part(const orr_progress *progress, double from, double to)
{
    orr_progress part = progress ? *progress : (orr_progress){0};
    double whole = part.to - part.from;
    part.to = part.from + to * whole;
    part.from += from * whole;
    return part;
}
