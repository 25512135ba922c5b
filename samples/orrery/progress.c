#include "samples/orrery/progress.h"

#include "engine/core/profile.h"

#include <stdarg.h>
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

bool progress_due(const progress *p)
{
    double since = (double)(orr_clock_nanoseconds() - p->last_line) * 1e-9;
    return since >= (p->terminal ? LINE_SECONDS_TERMINAL : LINE_SECONDS_ELSEWHERE);
}

void progress_line(progress *p, const char *format, ...)
{
    p->last_line = orr_clock_nanoseconds();
    p->shown = true;
    va_list arguments;
    va_start(arguments, format);
    fputs(p->terminal ? "\r" : "", stderr);
    vfprintf(stderr, format, arguments);
    fputs(p->terminal ? "\033[K" : "\n", stderr);
    va_end(arguments);
    fflush(stderr);
}

void progress_show(progress *p, int64_t done)
{
    if (done < 1 || !progress_due(p)) {
        return;
    }
    double rate = (double)done / progress_seconds(p);
    int64_t left = (int64_t)((double)(p->total - done) / rate + 0.5);
    progress_line(p, "%lld of %lld %s, %.1f per second, %lld:%02lld left", (long long)done,
                  (long long)p->total, p->unit, rate, (long long)(left / 60), (long long)(left % 60));
}

void progress_end(progress *p)
{
    if (p->terminal && p->shown) {
        fprintf(stderr, "\r\033[K");
    }
}
