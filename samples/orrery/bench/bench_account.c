#include "samples/orrery/bench/bench_account.h"

#include "engine/core/memory.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 64 };

const char *account_kind(const char *stage)
{
    static const char *const kinds[][2] = {
        {"input", "input"}, {"step", "step"},      {"pose", "pose"},     {"blend", "draw, compose"},
        {"upload", "copy"}, {"read back", "copy"}, {"download", "copy"}, {"wait", "wait"},
        {"out", "out"},     {"hand over", "out"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(stage, kinds[i][0]) == 0) {
            return kinds[i][1];
        }
    }
    return "draw";
}

const char *account_track(int track, char text[32])
{
    static const char *const names[] = {"host", "Vulkan", "CUDA", "copies"};
    if (track < ORR_TRACK_WORKERS) {
        return names[track];
    }
    snprintf(text, 32, "worker %d", track - ORR_TRACK_WORKERS);
    return text;
}

// ---- the trace in order ----

static int compare_spans(const void *a, const void *b)
{
    const orr_span *x = a, *y = b;
    if (x->track != y->track) {
        return x->track - y->track;
    }
    return (x->begin > y->begin) - (x->begin < y->begin);
}

void account_settle(account *a)
{
    orr_trace *t = &a->trace;
    qsort(t->spans, (size_t)t->count, sizeof *t->spans, compare_spans);
    int hosts = 0;
    while (hosts < t->count && t->spans[hosts].track == ORR_TRACK_HOST) {
        hosts++;
    }
    for (int i = hosts, host = 0; i < t->count; i++) {
        orr_span *span = &t->spans[i];
        host = i > 0 && t->spans[i - 1].track == span->track ? host : 0;
        while (host + 1 < hosts && t->spans[host].end <= span->begin) {
            host++;
        }
        if (!span->name) {
            bool inside = hosts > 0 && t->spans[host].begin <= span->begin;
            span->name = inside ? t->spans[host].name : "other";
        }
    }
}

// ---- figures ----

static bool is_work(const orr_span *span)
{
    return strcmp(span->name, "wait") != 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

// How long of this span another machine works too.
static uint64_t overlap_of(const orr_trace *t, const orr_span *span)
{
    uint64_t overlap = 0, counted = span->begin; // up to there
    // spans of two other machines may overlap each other: they are walked in order of time, as in a merge
    int at[ORR_TRACK_WORKERS] = {0}, end[ORR_TRACK_WORKERS] = {0};
    for (int i = 0, track = 0; track < ORR_TRACK_WORKERS; track++) {
        at[track] = i;
        while (i < t->count && t->spans[i].track == track) {
            i++;
        }
        end[track] = i;
    }
    for (;;) {
        const orr_span *next = NULL;
        int from = 0;
        for (int track = 0; track < ORR_TRACK_WORKERS; track++) {
            while (at[track] < end[track] &&
                   (t->spans[at[track]].end <= span->begin || !is_work(&t->spans[at[track]]))) {
                at[track]++;
            }
            const orr_span *first = &t->spans[at[track]];
            if (track != span->track && at[track] < end[track] && (!next || first->begin < next->begin)) {
                next = first;
                from = track;
            }
        }
        if (!next || next->begin >= span->end) {
            return overlap;
        }
        uint64_t low = larger(next->begin, counted), high = smaller(next->end, span->end);
        if (high > low) {
            overlap += high - low;
            counted = high;
        }
        at[from]++;
    }
}

typedef struct account_row {
    const char *name;
    int track;
    double *frames;                 // [ms] of each
    double total, overlap, workers; // [ns]
} account_row;

typedef struct account_figures {
    account_row rows[ROWS];
    int row_count;
    double *cells;          // all rows' frames
    double period, latency; // [ms] medians: from picture to picture, and from input to picture
    double seconds;         // of the whole trace
    double busy[ORR_TRACK_WORKERS], together; // [ns]: each machine at work; two or more of them
} account_figures;

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, int count, double *scratch)
{
    memcpy(scratch, values, (size_t)count * sizeof *values);
    qsort(scratch, (size_t)count, sizeof *scratch, compare_doubles);
    return scratch[count / 2];
}

static account_row *row_of(account_figures *f, int frame_count, const char *name, int track)
{
    for (int i = 0; i < f->row_count; i++) {
        if (f->rows[i].track == track && strcmp(f->rows[i].name, name) == 0) {
            return &f->rows[i];
        }
    }
    assert(f->row_count < ROWS); // stages are names in our own code
    account_row *row = &f->rows[f->row_count];
    *row = (account_row){.name = name, .track = track, .frames = f->cells + f->row_count * frame_count};
    f->row_count++;
    return row;
}

static void add_spans(const account *a, account_figures *f)
{
    for (int i = 0; i < a->trace.count; i++) {
        const orr_span *span = &a->trace.spans[i];
        double taken = (double)(span->end - span->begin);
        if (span->track >= ORR_TRACK_WORKERS) { // the host's rows are there: its track comes first
            row_of(f, a->frame_count, span->name, ORR_TRACK_HOST)->workers += taken;
            continue;
        }
        account_row *row = row_of(f, a->frame_count, span->name, span->track);
        double overlap = (double)overlap_of(&a->trace, span);
        row->frames[span->frame] += taken * 1e-6;
        row->total += taken;
        row->overlap += overlap;
        if (is_work(span)) {
            f->busy[span->track] += taken;
            f->together += span->track == ORR_TRACK_HOST ? overlap : 0.0;
        }
    }
}

static orr_result find_figures(const account *a, account_figures *f, orr_error *error)
{
    int n = a->frame_count;
    *f = (account_figures){0};
    f->cells = orr_alloc_zero((size_t)n * (ROWS + 2), sizeof *f->cells);
    if (!f->cells) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: an account of %d frames", n);
    }
    double *scratch = f->cells + (size_t)n * ROWS, *values = scratch + n;
    for (int i = 0; i < n; i++) {
        values[i] = (double)(a->frames[i].end - a->frames[i].begin) * 1e-6;
    }
    f->latency = f->period = median(values, n, scratch);
    for (int i = 1; i < n; i++) {
        values[i - 1] = (double)(a->frames[i].end - a->frames[i - 1].end) * 1e-6;
    }
    if (n > 1) {
        f->period = median(values, n - 1, scratch);
    }
    f->seconds = (double)(a->frames[n - 1].end - a->frames[0].begin) * 1e-9;
    add_spans(a, f);
    for (int i = 0; i < f->row_count; i++) { // from here on the first cell is the median
        account_row *row = &f->rows[i];
        row->frames[0] = median(row->frames, n, scratch);
    }
    return ORR_OK;
}

// ---- what is said ----

static void print_table(const bench_run *run, const account *a, const account_figures *f)
{
    fprintf(run->out,
            "\nframe: %s, %dx%d, %s\n%d frames: one every %.2f ms (%.1f frames/s), %.2f ms from input to "
            "picture\n",
            a->scene, a->width, a->height, a->device, a->frame_count, f->period, 1e3 / f->period, f->latency);
    fprintf(run->out, "  track   stage      for             ms/frame  of the frame  overlapped  threads\n");
    double copies = 0.0;
    for (int i = 0; i < f->row_count; i++) {
        const account_row *row = &f->rows[i];
        char text[32], threads[16] = "";
        const char *kind = account_kind(row->name);
        if (row->workers > 0.0 && row->total > 0.0) {
            snprintf(threads, sizeof threads, "%.1f", row->workers / row->total);
        }
        fprintf(run->out, "  %-7s %-10s %-13s %10.3f %11.1f %% %9.0f %% %8s\n",
                account_track(row->track, text), row->name, kind, row->frames[0],
                100.0 * row->frames[0] / f->period,
                row->total > 0.0 ? 100.0 * row->overlap / row->total : 0.0, threads);
        copies += strcmp(kind, "copy") == 0 ? row->frames[0] : 0.0;
    }
    fprintf(run->out, "  copies: %.3f ms of each frame's work, %.1f %% of its time; at work:", copies,
            100.0 * copies / f->period);
    for (int track = 0; track < ORR_TRACK_WORKERS; track++) {
        char text[32];
        if (f->busy[track] > 0.0) {
            fprintf(run->out, " %s %.0f %%,", account_track(track, text), f->busy[track] * 1e-7 / f->seconds);
        }
    }
    fprintf(run->out, " host and device at once %.0f %%\n", f->together * 1e-7 / f->seconds);
    for (int track = 0; track < ORR_TRACK_WORKERS; track++) {
        const orr_trace_device *device = &a->trace.devices[track];
        if (device->method) {
            fprintf(run->out, "  clock of %s against the host's: %s, +-%.2f us\n", device->name,
                    device->method, (double)device->uncertainty * 1e-3);
        }
    }
}

static void add_json(const bench_run *run, const account *a, const account_figures *f)
{
    cJSON *json = cJSON_AddObjectToObject(run->json, "frame");
    cJSON_AddStringToObject(json, "scene", a->scene);
    cJSON_AddStringToObject(json, "device", a->device);
    cJSON_AddItemToObject(json, "size", cJSON_CreateIntArray((int[2]){a->width, a->height}, 2));
    cJSON_AddNumberToObject(json, "frames", a->frame_count);
    cJSON_AddNumberToObject(json, "milliseconds", f->period);
    cJSON_AddNumberToObject(json, "latency_milliseconds", f->latency);
    cJSON_AddNumberToObject(json, "at_once", f->together * 1e-9 / f->seconds);
    cJSON *tracks = cJSON_AddArrayToObject(json, "tracks"), *stages = cJSON_AddArrayToObject(json, "stages");
    char text[32];
    for (int track = 0; track < ORR_TRACK_WORKERS; track++) {
        const orr_trace_device *device = &a->trace.devices[track];
        if (f->busy[track] == 0.0) {
            continue;
        }
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddItemToArray(tracks, entry);
        cJSON_AddStringToObject(entry, "name", account_track(track, text));
        cJSON_AddNumberToObject(entry, "busy", f->busy[track] * 1e-9 / f->seconds);
        if (device->method) {
            cJSON_AddStringToObject(entry, "device", device->name);
            cJSON_AddStringToObject(entry, "clock", device->method);
            cJSON_AddNumberToObject(entry, "uncertainty_milliseconds", (double)device->uncertainty * 1e-6);
        }
    }
    for (int i = 0; i < f->row_count; i++) {
        const account_row *row = &f->rows[i];
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddItemToArray(stages, entry);
        cJSON_AddStringToObject(entry, "track", account_track(row->track, text));
        cJSON_AddStringToObject(entry, "name", row->name);
        cJSON_AddStringToObject(entry, "kind", account_kind(row->name));
        cJSON_AddNumberToObject(entry, "milliseconds", row->frames[0]);
        cJSON_AddNumberToObject(entry, "share", row->frames[0] / f->period);
        cJSON_AddNumberToObject(entry, "overlap", row->total > 0.0 ? row->overlap / row->total : 0.0);
        if (row->workers > 0.0 && row->total > 0.0) {
            cJSON_AddNumberToObject(entry, "threads", row->workers / row->total);
        }
    }
}

orr_result account_print(const bench_run *run, const account *a, orr_error *error)
{
    account_figures figures;
    ORR_TRY(find_figures(a, &figures, error));
    print_table(run, a, &figures);
    if (run->json) {
        add_json(run, a, &figures);
    }
    orr_free(figures.cells);
    return ORR_OK;
}
