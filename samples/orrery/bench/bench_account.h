// The account of some frames from their trace: as a table, as JSON, and as a Chrome trace for
// ui.perfetto.dev.
#pragma once

#include "engine/core/trace.h"
#include "samples/orrery/bench/bench.h"

typedef struct account_frame {
    uint64_t begin, end; // [ns] from the first input to the picture on the host
} account_frame;

typedef struct account {
    const char *scene, *device;
    int width, height;
    orr_trace trace;
    account_frame *frames; // frame_count
    int frame_count, frames_in_flight;
} account;

// Puts the spans in order of track and time, and gives those of workers the names of the stages they worked
// at.
void account_settle(account *account);

// What a stage is for: "input", "step", "pose", "draw", "draw, compose", "out", "copy" or "wait".
const char *account_kind(const char *stage);
const char *account_track(int track, char text[32]);

orr_result account_print(const bench_run *run, const account *account, orr_error *error);
// A few frames from the middle as a picture, PNG.
orr_result account_plot(const char *path, const account *account, orr_error *error);
// All events as text (free with cJSON_free), or NULL when there is no memory.
char *account_chrome(const account *account);
