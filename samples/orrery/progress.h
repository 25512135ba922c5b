// Progress of long work on stderr: how much is done, how fast, and how long it will take. On a terminal one
// line is rewritten ten times a second; elsewhere a line appears every five seconds, so that logs stay short.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct progress {
    const char *unit; // "frames"
    int64_t total;
    bool terminal;
    bool shown;                // the terminal's line is not empty
    uint64_t start, last_line; // [ns]
} progress;

void progress_begin(progress *progress, const char *unit, int64_t total);
void progress_show(progress *progress, int64_t done);
// Is it time for another line? progress_line then shows one of the caller's own.
bool progress_due(const progress *progress);
void progress_line(progress *progress, const char *format, ...) __attribute__((format(printf, 2, 3)));
double progress_seconds(const progress *progress); // since the beginning
void progress_end(progress *progress);             // clears the terminal's line
