#include "engine/core/trace.h"

#include "engine/core/clock.h"
#include "engine/core/memory.h"

#include <string.h>

void orr_trace_free(orr_trace *trace)
{
    orr_free(trace->spans);
    *trace = (orr_trace){0};
}

static bool grow(orr_trace *trace)
{
    int capacity = trace->capacity ? 2 * trace->capacity : 1024;
    orr_span *spans = orr_alloc((size_t)capacity, sizeof *spans);
    if (!spans) {
        return false;
    }
    if (trace->count > 0) {
        memcpy(spans, trace->spans, (size_t)trace->count * sizeof *spans);
    }
    orr_free(trace->spans);
    trace->spans = spans;
    trace->capacity = capacity;
    return true;
}

void orr_trace_add(orr_trace *trace, int track, const char *name, uint64_t begin, uint64_t end)
{
    if (!trace) {
        return;
    }
    if (trace->count == trace->capacity && !grow(trace)) {
        trace->lost++;
        return;
    }
    trace->spans[trace->count++] =
        (orr_span){.name = name, .track = track, .frame = trace->frame, .begin = begin, .end = end};
}

void orr_trace_host(orr_trace *trace, const char *name, uint64_t begin)
{
    orr_trace_add(trace, ORR_TRACK_HOST, name, begin, orr_clock_nanoseconds());
}
