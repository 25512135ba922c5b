// The account as a Chrome trace: a JSON array of complete events, which ui.perfetto.dev and chrome://tracing
// open.
#include "samples/orrery/bench/bench_account.h"

enum {
    HOST = 1,
    FRAMES = 1,
    LOOP = 10,
    WORKERS = 20,
    QUEUE = 1,
    COPIES = 2
}; // process of the host, and threads in processes

static void place_of(int track, int *process, int *thread)
{
    *process = track >= ORR_TRACK_WORKERS  ? HOST
               : track == ORR_TRACK_COPIES ? HOST + ORR_TRACK_CUDA
                                           : HOST + track;
    *thread = track >= ORR_TRACK_WORKERS  ? WORKERS + track - ORR_TRACK_WORKERS
              : track == ORR_TRACK_HOST   ? LOOP
              : track == ORR_TRACK_COPIES ? COPIES
                                          : QUEUE;
}

static cJSON *add_event(cJSON *events, const char *name, const char *phase, int process, int thread)
{
    cJSON *event = cJSON_CreateObject();
    cJSON_AddItemToArray(events, event);
    cJSON_AddStringToObject(event, "name", name);
    cJSON_AddStringToObject(event, "ph", phase);
    cJSON_AddNumberToObject(event, "pid", process);
    cJSON_AddNumberToObject(event, "tid", thread);
    return event;
}

static void add_name(cJSON *events, const char *what, int process, int thread, const char *key,
                     const char *text)
{
    cJSON *arguments = cJSON_AddObjectToObject(add_event(events, what, "M", process, thread), "args");
    cJSON_AddStringToObject(arguments, key, text);
}

// [us] since the first frame began
static void add_span(cJSON *events, const account *a, const char *name, const char *kind, int process,
                     int thread, int frame, uint64_t begin, uint64_t end)
{
    cJSON *event = add_event(events, name, "X", process, thread);
    cJSON_AddStringToObject(event, "cat", kind);
    cJSON_AddNumberToObject(event, "ts", (double)(int64_t)(begin - a->frames[0].begin) * 1e-3);
    cJSON_AddNumberToObject(event, "dur", (double)(end - begin) * 1e-3);
    cJSON_AddNumberToObject(cJSON_AddObjectToObject(event, "args"), "frame", frame);
}

static void name_tracks(cJSON *events, const account *a)
{
    add_name(events, "process_name", HOST, 0, "name", a->device);
    for (int i = 0; i < a->frames_in_flight; i++) {
        char text[48];
        snprintf(text, sizeof text, a->frames_in_flight > 1 ? "frame in flight %d" : "frame", i + 1);
        add_name(events, "thread_name", HOST, FRAMES + i, "name", text);
    }
    for (int i = 0, before = -1; i < a->trace.count; i++) {
        int track = a->trace.spans[i].track, process, thread;
        if (track == before) {
            continue;
        }
        before = track;
        place_of(track, &process, &thread);
        const orr_trace_device *device = track < ORR_TRACK_WORKERS ? &a->trace.devices[track] : NULL;
        if (device && device->method) {
            char text[128];
            add_name(events, "process_name", process, 0, "name", device->name);
            snprintf(text, sizeof text, "clock: %s, +-%.2f us", device->method,
                     (double)device->uncertainty * 1e-3);
            add_name(events, "process_labels", process, 0, "labels", text);
        }
        char text[32];
        add_name(events, "thread_name", process, thread, "name",
                 track == ORR_TRACK_HOST     ? "frame loop"
                 : track == ORR_TRACK_VULKAN ? "Vulkan queue"
                 : track == ORR_TRACK_CUDA   ? "CUDA stream"
                 : track == ORR_TRACK_COPIES ? "CUDA copies"
                                             : account_track(track, text));
    }
}

char *account_chrome(const account *a)
{
    cJSON *events = cJSON_CreateArray();
    name_tracks(events, a);
    for (int i = 0; i < a->frame_count; i++) {
        add_span(events, a, "frame", "frame", HOST, FRAMES + i % a->frames_in_flight, i, a->frames[i].begin,
                 a->frames[i].end);
    }
    for (int i = 0; i < a->trace.count; i++) {
        const orr_span *span = &a->trace.spans[i];
        int process, thread;
        place_of(span->track, &process, &thread);
        add_span(events, a, span->name, account_kind(span->name), process, thread, span->frame, span->begin,
                 span->end);
    }
    char *text = cJSON_PrintUnformatted(events);
    cJSON_Delete(events);
    return text;
}
