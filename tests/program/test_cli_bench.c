// Tests of `orrery bench` as a user meets it: the account of frames and its trace on every rung that is here,
// and all that is measured on a CUDA device.
#include "assets/clouds.h"
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/device/cuda.h"
#include "engine/device/vulkan.h"
#include "neural/ingp/ingp.h"
#include "orr_features.h"
#include "tests/support/run_program.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 4, EVENTS_MAX = 20000, TRACKS_MAX = 64 };

static char scene[512]; // a robot with a cloud on its back, and a field

// ---- a scene with everything ----

static void write_field(const char *path)
{
    orr_isa isa;
    assert_ok(orr_isa_choose(&isa, &error));
    orr_field_desc desc = {.kind = ORR_FIELD_NERF, .desired_resolution = 32.0, .seed = 1, .isa = isa};
    assert_ok(orr_field_config_base(ORR_FIELD_NERF, &desc.config, &error));
    assert_ok(orr_field_config_parse("{\"encoding\": {\"n_levels\": 4, \"log2_hashmap_size\": 8}}", "test",
                                     &desc.config, &error));
    orr_field_model model = {.size = 1.0, .to_unit = {1, 0, 0, 0.5, 0, 1, 0, 0.5, 0, 0, 1, 0.5}};
    assert_ok(orr_field_create(&desc, &model.field, &error));
    orr_field_config_free(&desc.config);
    assert_ok(orr_field_model_save(&model, path, &error));
    orr_field_model_free(&model);
}

static void write_scene(void)
{
    snprintf(scene, sizeof scene, "%s", scratch_path("scene.json"));
    orr_splats *splats = make_cloud(CLOUD_BALL, 200, 0, 1);
    assert_ok(orr_splats_save(splats, scratch_path("ball.ply"), &error));
    orr_splats_destroy(splats);
    write_field(scratch_path("fog.ingp"));
    char text[2048];
    int length = snprintf(
        text, sizeof text,
        "{\"orrery\": 1, \"layers\": [{\"type\": \"robot\", \"file\": \"%s\", \"name\": \"walker\"},"
        "{\"file\": \"ball.ply\", \"scale\": 0.2, \"bind\": {\"robot\": \"walker\", \"body\": \"trunk\"}},"
        "{\"file\": \"fog.ingp\"}]}",
        source_path("assets/walker.xml"));
    assert_ok(orr_file_write(scene, text, (size_t)length, &error));
}

// ---- the trace as its readers see it ----

typedef struct event {
    const char *name;
    int process, thread, frame;
    double begin, end; // [us]
} event;

typedef struct trace {
    cJSON *json;
    event events[EVENTS_MAX]; // count: the complete ones
    int count;
    const char *threads[TRACKS_MAX]; // by process and thread, thread_count of them
    int places[TRACKS_MAX][2], thread_count;
} trace;

static void read_trace(const char *path, trace *t)
{
    orr_bytes bytes;
    assert_ok(orr_file_read(path, &bytes, &error));
    t->json = cJSON_Parse((const char *)bytes.data);
    orr_free(bytes.data);
    assert_true(cJSON_IsArray(t->json));
    t->count = t->thread_count = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, t->json)
    {
        const char *phase = cJSON_GetStringValue(cJSON_GetObjectItem(item, "ph"));
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(item, "name"));
        const cJSON *arguments = cJSON_GetObjectItem(item, "args");
        int process = (int)number_at(item, "pid"), thread = (int)number_at(item, "tid");
        assert_non_null(name);
        if (strcmp(phase, "X") == 0) {
            assert_true(t->count < EVENTS_MAX);
            t->events[t->count++] = (event){.name = name,
                                            .process = process,
                                            .thread = thread,
                                            .frame = (int)number_at(arguments, "frame"),
                                            .begin = number_at(item, "ts"),
                                            .end = number_at(item, "ts") + number_at(item, "dur")};
        } else {
            assert_string_equal(phase, "M");
            if (strcmp(name, "thread_name") == 0) {
                assert_true(t->thread_count < TRACKS_MAX);
                t->threads[t->thread_count] = cJSON_GetStringValue(cJSON_GetObjectItem(arguments, "name"));
                t->places[t->thread_count][0] = process;
                t->places[t->thread_count++][1] = thread;
            }
        }
    }
}

static const char *track_of(const trace *t, const event *e)
{
    for (int i = 0; i < t->thread_count; i++) {
        if (t->places[i][0] == e->process && t->places[i][1] == e->thread) {
            return t->threads[i];
        }
    }
    fail_msg("%s: process %d, thread %d has no name", e->name, e->process, e->thread);
    return "";
}

// How many events of that name a track has.
static int count_of(const trace *t, const char *track, const char *name)
{
    int count = 0;
    for (int i = 0; i < t->count; i++) {
        count += strcmp(t->events[i].name, name) == 0 && strcmp(track_of(t, &t->events[i]), track) == 0;
    }
    return count;
}

static bool is_frame(const trace *t, const event *e)
{
    return strncmp(track_of(t, e), "frame in flight", 15) == 0 || strcmp(track_of(t, e), "frame") == 0;
}

// Frames as they came, each once.
static void find_frames(const trace *t, event frames[FRAMES])
{
    int seen[FRAMES] = {0};
    for (int i = 0; i < t->count; i++) {
        const event *e = &t->events[i];
        if (is_frame(t, e)) {
            assert_in_range(e->frame, 0, FRAMES - 1);
            assert_int_equal(seen[e->frame]++, 0);
            frames[e->frame] = *e;
        }
    }
    for (int i = 0; i < FRAMES; i++) {
        assert_int_equal(seen[i], 1);
        assert_true(frames[i].begin < frames[i].end);
        assert_true(i == 0 || (frames[i - 1].begin < frames[i].begin && frames[i - 1].end < frames[i].end));
    }
}

// Stages lie within their frame, follow each other on a track, and so add up to no more than the frame.
// `slack` [us]: what the clock of a device is uncertain by.
static void check_stages(const trace *t, double slack)
{
    event frames[FRAMES];
    find_frames(t, frames);
    double sums[FRAMES][TRACKS_MAX] = {{0}};
    // numbers are printed to 17 digits of microseconds, and times are nanoseconds
    const double rounding = 2e-3;
    const event *before = NULL;
    for (int i = 0; i < t->count; i++) {
        const event *e = &t->events[i];
        if (is_frame(t, e)) {
            continue;
        }
        const event *frame = &frames[e->frame];
        double allowed = rounding + (e->process == 1 ? 0.0 : slack);
        if (e->begin < frame->begin - allowed || e->end > frame->end + allowed || e->end < e->begin) {
            fail_msg("%s on %s: %.3f to %.3f us is not within frame %d, %.3f to %.3f", e->name,
                     track_of(t, e), e->begin, e->end, e->frame, frame->begin, frame->end);
        }
        if (before && before->process == e->process && before->thread == e->thread) {
            assert_true(before->end <= e->begin + rounding); // in order, one after the other
        }
        before = e;
        int track = 0;
        while (t->places[track][0] != e->process || t->places[track][1] != e->thread) {
            track++;
        }
        sums[e->frame][track] += e->end - e->begin;
    }
    for (int i = 0; i < FRAMES; i++) {
        for (int track = 0; track < t->thread_count; track++) {
            double duration = frames[i].end - frames[i].begin;
            assert_true(sums[i][track] <= duration + 2.0 * slack + 20.0 * rounding);
        }
    }
}

// ---- the account ----

static double check_account(const run_result *result, const char *device_track)
{
    cJSON *json = cJSON_Parse(result->output);
    const cJSON *frame = cJSON_GetObjectItem(json, "frame"), *item;
    assert_non_null(frame);
    assert_int_equal((int)number_at(frame, "frames"), FRAMES);
    assert_true(number_at(frame, "milliseconds") > 0.0);
    assert_true(number_at(frame, "latency_milliseconds") > 0.0);
    int stages = 0;
    double uncertainty = 0.0;
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(frame, "stages"))
    {
        double overlap = number_at(item, "overlap");
        assert_true(number_at(item, "milliseconds") >= 0.0 && number_at(item, "share") >= 0.0);
        assert_true(overlap >= 0.0 && overlap <= 1.0 + 1e-9);
        stages++;
    }
    assert_true(stages >= 8);
    bool found = false;
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(frame, "tracks"))
    {
        double busy = number_at(item, "busy");
        assert_true(busy > 0.0 && busy <= 1.0 + 1e-6);
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(item, "name"));
        if (strcmp(name, device_track) == 0) {
            found = true;
            uncertainty = strcmp(name, "host") == 0 ? 0.0 : number_at(item, "uncertainty_milliseconds");
        }
    }
    assert_true(found);
    cJSON_Delete(json);
    return uncertainty * 1e3;
}

static run_result bench(const char *device, const char *path, const char *what)
{
    return orrery("bench", "frame", what, "--device", device, "--trace", path, "--frames", "4", "--size",
                  "48x32", "--threads", "2", "--json");
}

// Every stage that a rung has is in its trace, once per frame at least.
static void check_rung(const char *device, const char *account_track, const char *const stages[][2])
{
    static trace t;
    const char *path = scratch_path("trace.json");
    run_result result = bench(device, path, scene);
    if (result.exit_code != 0) {
        fail_msg("%s: exit code %d: %s", device, result.exit_code, result.errors);
    }
    assert_non_null(strstr(result.errors, "ms/frame")); // the table
    double slack = check_account(&result, account_track);
    run_result_free(&result);
    read_trace(path, &t);
    for (int i = 0; stages[i][0]; i++) {
        if (count_of(&t, stages[i][0], stages[i][1]) < FRAMES) {
            fail_msg("%s: %s: %s: %d times in %d frames", device, stages[i][0], stages[i][1],
                     count_of(&t, stages[i][0], stages[i][1]), FRAMES);
        }
    }
    // a device's clock drifts from the host's by less than this in the seconds of the test
    check_stages(&t, slack + 100.0);
    cJSON_Delete(t.json);
}

static void on_the_cpu_every_stage_is_the_host_s(void **state)
{
    (void)state;
    check_rung("cpu", "host",
               (const char *const[][2]){{"frame loop", "input"},
                                        {"frame loop", "step"},
                                        {"frame loop", "pose"},
                                        {"frame loop", "meshes"},
                                        {"frame loop", "fields"},
                                        {"frame loop", "project"},
                                        {"frame loop", "sort"},
                                        {"frame loop", "bin"},
                                        {"frame loop", "blend"},
                                        {"frame loop", "out"},
                                        {"worker 0", "fields"},
                                        {NULL}});
}

#if ORR_HAVE_VULKAN
static void on_vulkan_the_queue_has_a_track_of_its_own(void **state)
{
    (void)state;
    int count;
    orr_error error = {0};
    if (orr_vk_list(NULL, 0, &count, &error) != ORR_OK || count == 0) {
        print_message("skipped: no Vulkan device: %s\n", error.message);
        skip();
    }
    check_rung("vulkan", "Vulkan",
               (const char *const[][2]){{"frame loop", "input"},
                                        {"frame loop", "step"},
                                        {"frame loop", "pose"},
                                        {"frame loop", "fields"},
                                        {"frame loop", "upload"},
                                        {"frame loop", "submit"},
                                        {"frame loop", "wait"},
                                        {"frame loop", "download"},
                                        {"frame loop", "out"},
                                        {"Vulkan queue", "meshes"},
                                        {"Vulkan queue", "project"},
                                        {"Vulkan queue", "sort"},
                                        {"Vulkan queue", "bin"},
                                        {"Vulkan queue", "blend"},
                                        {"Vulkan queue", "read back"},
                                        {NULL}});
}
#endif

#if ORR_HAVE_CUDA
static bool cuda_answers(void)
{
    orr_cuda *cuda;
    orr_error error = {0};
    if (orr_cuda_create(NULL, &cuda, &error) != ORR_OK) {
        print_message("skipped: %s\n", error.message);
        return false;
    }
    orr_cuda_destroy(cuda);
    return true;
}

static void on_cuda_the_stream_has_a_track_of_its_own(void **state)
{
    (void)state;
    if (!cuda_answers()) {
        skip();
    }
    check_rung("cuda", "CUDA",
               (const char *const[][2]){{"frame loop", "input"},
                                        {"frame loop", "step"},
                                        {"frame loop", "pose"},
                                        {"frame loop", "submit"},
                                        {"frame loop", "wait"},
                                        {"frame loop", "download"},
                                        {"frame loop", "out"},
                                        {"CUDA stream", "upload"},
                                        {"CUDA stream", "meshes"},
                                        {"CUDA stream", "project"},
                                        {"CUDA stream", "sort"},
                                        {"CUDA stream", "bin"},
                                        {"CUDA stream", "blend"},
                                        {"CUDA copies", "download"},
                                        {NULL}});
}

// Figures mean nothing at these sizes; that they are there, and are rates, does.
static void everything_is_measured_on_a_cuda_device(void **state)
{
    (void)state;
    if (!cuda_answers()) {
        skip();
    }
    run_result result = orrery("bench", "splats", "neural", "physics", "--tiny", "--robot",
                               source_path("assets/walker.xml"), "--device", "cuda", "--json");
    cJSON *json = take_json(&result);
    const cJSON *limits = cJSON_GetObjectItem(json, "device_limits"),
                *neural = cJSON_GetObjectItem(json, "neural"), *item;
    static const char *const rates[] = {"bytes_per_second", "upload_bytes_per_second", "sort_keys_per_second",
                                        "tensor_operations_per_second"};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        assert_true(number_at(limits, rates[i]) > 0.0);
    }
    double peak = number_at(limits, "tensor_operations_per_second");
    double inference = number_at(neural, "inference_samples_per_second"),
           training = number_at(neural, "training_samples_per_second");
    assert_true(inference > training && training > 0.0);
    // two operations per weight: 32-64-16 and 32-64-64-3, whose outputs are padded to 16
    assert_true(fabs(number_at(neural, "inference_tensor_share") * peak / inference - 2.0 * (3072 + 7168)) <
                1.0);
    int cases = 0;
    cJSON_ArrayForEach(item, cJSON_GetObjectItem(json, "physics"))
    {
        assert_true(number_at(item, "steps_per_second") > 0.0);
        cases++;
    }
    assert_int_equal(cases, 3 * 4 + 1); // teams of each size for each number of worlds; and in double
    assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(json, "growth")) == 1);
    cJSON_Delete(json);
}
#endif

static void light_is_measured(void **state)
{
    (void)state;
    run_result result = orrery("bench", "light", scene, "--tiny", "--device", "cpu", "--json");
    assert_int_equal(result.exit_code, 0);
    cJSON *json = cJSON_Parse(result.output);
    const cJSON *light = cJSON_GetObjectItem(json, "light");
    assert_true(cJSON_IsNumber(cJSON_GetObjectItem(light, "all, moving"))); // the one case of --tiny
    assert_true(number_at(light, "rays_per_second") > 0.0);
    cJSON_Delete(json);
    run_result_free(&result);
}

static void what_does_not_fit_ends_with_one_line_and_code_2(void **state)
{
    (void)state;
    run_result run = bench("cpu", "no/such/folder/trace.json", scene);
    assert_refused(&run, 2, "no/such/folder/trace.json");
    const char *path = scratch_path("never.json");
    run = bench("cpu", path, "no_such_scene.json");
    assert_refused(&run, 2, "no_such_scene.json");
    orr_bytes bytes;
    assert_int_not_equal(orr_file_read(path, &bytes, NULL), ORR_OK); // nothing half-written
    run = orrery("bench", "physics", "--trace", path);
    assert_refused(&run, 2, "--trace");
    run = orrery("bench", "physics", scene);
    assert_refused(&run, 2, scene);
}

int main(void)
{
    write_scene();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_the_cpu_every_stage_is_the_host_s),
#if ORR_HAVE_VULKAN
        cmocka_unit_test(on_vulkan_the_queue_has_a_track_of_its_own),
#endif
#if ORR_HAVE_CUDA
        cmocka_unit_test(on_cuda_the_stream_has_a_track_of_its_own),
        cmocka_unit_test(everything_is_measured_on_a_cuda_device),
#endif
        cmocka_unit_test(light_is_measured),
        cmocka_unit_test(what_does_not_fit_ends_with_one_line_and_code_2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
