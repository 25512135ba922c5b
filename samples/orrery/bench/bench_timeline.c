// The account as a picture: a few frames from its middle, a row for each track.
#include "engine/core/memory.h"
#include "engine/image/plot.h"
#include "samples/orrery/bench/bench_account.h"

#include <string.h>

enum { SHOWN = 3, ROWS_MAX = 64 };

typedef struct timeline {
    const account *account;
    uint64_t begin;
    const char *rows[ROWS_MAX];
    int row_count;
    orr_plot_bar *bars; // bar_count
    int bar_count;
} timeline;

static orr_plot_colour colour_of(const char *kind)
{
    return strcmp(kind, "copy") == 0       ? ORR_PLOT_RED
           : strcmp(kind, "wait") == 0     ? ORR_PLOT_GREY
           : strncmp(kind, "draw", 4) == 0 ? ORR_PLOT_BLUE
                                           : ORR_PLOT_GREEN;
}

static void add_bar(timeline *t, const char *name, orr_plot_colour colour, uint64_t begin, uint64_t end)
{
    t->bars[t->bar_count++] = (orr_plot_bar){.row = t->row_count - 1,
                                             .begin = (double)(int64_t)(begin - t->begin) * 1e-6,
                                             .end = (double)(int64_t)(end - t->begin) * 1e-6,
                                             .name = name,
                                             .colour = colour};
}

static void add_rows(timeline *t, char names[ROWS_MAX][32])
{
    const account *a = t->account;
    for (int k = 0; k < a->frames_in_flight; k++) {
        t->rows[t->row_count++] = "frame";
        for (int i = k; i < a->frame_count; i += a->frames_in_flight) {
            add_bar(t, "frame", ORR_PLOT_VIOLET, a->frames[i].begin, a->frames[i].end);
        }
    }
    for (int i = 0, track = -1; i < a->trace.count; i++) {
        const orr_span *span = &a->trace.spans[i];
        if (span->track != track) {
            if (t->row_count == ROWS_MAX) {
                return; // more threads than fit a picture
            }
            track = span->track;
            t->rows[t->row_count] = account_track(track, names[t->row_count]);
            t->row_count++;
        }
        add_bar(t, span->name, colour_of(account_kind(span->name)), span->begin, span->end);
    }
}

orr_result account_plot(const char *path, const account *a, orr_error *error)
{
    char names[ROWS_MAX][32], title[128];
    int first = a->frame_count > SHOWN ? (a->frame_count - SHOWN) / 2 : 0;
    int last = first + SHOWN < a->frame_count ? first + SHOWN - 1 : a->frame_count - 1;
    timeline t = {.account = a, .begin = a->frames[first].begin};
    ORR_ALLOC(t.bars, a->frame_count + a->trace.count, "a timeline", error);
    add_rows(&t, names);
    snprintf(title, sizeof title, "frames %d to %d", first, last);
    orr_result result = orr_plot_bars_save(path, title, "ms", (double)(a->frames[last].end - t.begin) * 1e-6,
                                           t.rows, t.row_count, t.bars, t.bar_count, error);
    orr_free(t.bars);
    return result;
}
