#include "progress.h"

#include "engine/core/profile.h"

#include <stdio.h>
#include <unistd.h>

static const double LINE_SECONDS_TERMINAL = 0.1;
static const double LINE_SECONDS_ELSEWHERE = 5.0;

void progress_begin(progress *p, const char *unit, int64_t total)
{
    uint64_t now = orr_clock_nanoseconds();
    *p = (progress){
        .unit = unit, .total = total, .terminal = isatty(STDERR_FILENO) != 0, .start = now, .last_line = now};
}

double progress_seconds(const progress *p)
{
    return (double)(orr_clock_nanoseconds() - p->start) * 1e-9;
}

void progress_show(progress *p, int64_t done)
{
    uint64_t now = orr_clock_nanoseconds();
    double since = (double)(now - p->last_line) * 1e-9;
    if (done < 1 || since < (p->terminal ? LINE_SECONDS_TERMINAL : LINE_SECONDS_ELSEWHERE)) {
        return;
    }
    p->last_line = now;
    p->shown = true;
    double rate = (double)done / progress_seconds(p);
    int64_t left = (int64_t)((double)(p->total - done) / rate + 0.5);
    fprintf(stderr, "%s%lld of %lld %s, %.1f per second, %lld:%02lld left%s", p->terminal ? "\r" : "",
            (long long)done, (long long)p->total, p->unit, rate, (long long)(left / 60),
            (long long)(left % 60), p->terminal ? "\033[K" : "\n");
    fflush(stderr);
}

void progress_end(progress *p)
{
    if (p->terminal && p->shown) {
        fprintf(stderr, "\r\033[K");
    }
}
