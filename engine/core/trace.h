// Trace: who worked at what, and when. Spans of every machine on one axis of time, the host's monotonic clock
// (orr_clock_nanoseconds); what a device's clock says is translated by whoever knows the device.
//
// Recording is not locked: one thread at a time. Where a trace may be NULL, NULL records nothing.
#pragma once

#include "engine/core/result.h"

typedef enum orr_track {
    ORR_TRACK_HOST = 0, // the thread that runs the frame loop
    ORR_TRACK_VULKAN,   // the device's queue
    ORR_TRACK_CUDA,     // the device's stream
    ORR_TRACK_COPIES,   // the stream in which CUDA's pictures leave the device, beside it
    ORR_TRACK_WORKERS   // + worker: the threads of the pool (jobs.h)
} orr_track;

typedef struct orr_span {
    const char *name; // a literal; NULL: of a worker, who takes part in what the host's track says
    int track;        // orr_track, or ORR_TRACK_WORKERS + worker
    int frame;
    uint64_t begin, end; // [ns]
} orr_span;

// How well a device's clock is known. method NULL: the device has no part in the trace.
typedef struct orr_trace_device {
    char name[256];
    const char *method;   // by which the two clocks were compared
    uint64_t uncertainty; // [ns] either way
} orr_trace_device;

typedef struct orr_trace {
    orr_span *spans; // count
    int count, capacity;
    int lost;                                    // spans for which there was no memory
    int frame;                                   // to which what is recorded next belongs
    orr_trace_device devices[ORR_TRACK_WORKERS]; // by track; the host's is unused
} orr_trace;

// An empty trace is all zeros.
void orr_trace_free(orr_trace *trace);
void orr_trace_add(orr_trace *trace, int track, const char *name, uint64_t begin, uint64_t end);
// On the host's track, from `begin` to now.
void orr_trace_host(orr_trace *trace, const char *name, uint64_t begin);
