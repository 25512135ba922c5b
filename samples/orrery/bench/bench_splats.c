// orrery bench splats: one cloud stage by stage beside the limits, and how a frame's cost grows with the
// cloud.
#include "assets/clouds.h"
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/core/profile.h"
#include "neural/ingp/ingp.h"
#include "render/splat/splat_cloud.h"
#include "samples/orrery/bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_LEAST = 5, FRAMES_MOST = 400, STAGES = 16 };
static const double seconds_per_case = 2.0;

// Medians over the frames of one case.
typedef struct case_result {
    int64_t splats; // or a field's parameters
    bool field;
    int sh_degree;
    int frames;
    double milliseconds; // submit to finish, of one frame after the other
    orr_stage_time stages[STAGES];
    int stage_count;
} case_result;

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return values[count / 2];
}

typedef struct drawing {
    orr_frame *frame;
    orr_world *world;
    float *rgba;
} drawing;

static orr_result time_frames(const bench_run *run, const orr_scene *scene, const orr_view *view,
                              const drawing *d, case_result *result, orr_error *error)
{
    static double totals[FRAMES_MOST], stages[STAGES][FRAMES_MOST];
    uint64_t begin = orr_clock_nanoseconds();
    int frames = 0;
    for (int i = -1; i < FRAMES_MOST; i++) { // the first warms up and does not count
        uint64_t start = orr_clock_nanoseconds();
        ORR_TRY(orr_frame_submit(d->frame, scene, d->world, view, error));
        ORR_TRY(orr_frame_finish(d->frame, &(orr_picture){.rgba = d->rgba}, error));
        uint64_t now = orr_clock_nanoseconds();
        if (i < 0) {
            begin = now;
            continue;
        }
        totals[i] = (double)(now - start) * 1e-6;
        result->stage_count = orr_frame_stages(d->frame, result->stages, STAGES);
        for (int s = 0; s < result->stage_count && s < STAGES; s++) {
            stages[s][i] = result->stages[s].milliseconds;
        }
        frames++;
        if (run->tiny || (frames >= FRAMES_LEAST && (double)(now - begin) * 1e-9 > seconds_per_case)) {
            break;
        }
    }
    result->frames = frames;
    result->milliseconds = median(totals, frames);
    for (int s = 0; s < result->stage_count && s < STAGES; s++) {
        result->stages[s].milliseconds = median(stages[s], frames);
    }
    return ORR_OK;
}

static orr_result draw_case(const bench_run *run, const orr_scene *scene, const orr_camera *camera,
                            case_result *result, orr_error *error)
{
    drawing d = {0};
    orr_view view = {.camera = *camera, .no_reuse = true};
    d.rgba = orr_alloc((size_t)camera->width * (size_t)camera->height, 4 * sizeof(float));
    orr_result r = d.rgba ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a picture");
    if (r == ORR_OK) {
        r = orr_world_create(scene, 1, &d.world, error);
    }
    if (r == ORR_OK) {
        // by name: a device that fails is not to be another one's figure
        const orr_frame_desc desc = {.device = orr_engine_device(run->engine)};
        r = orr_frame_create(run->engine, &desc, &d.frame, error);
    }
    if (r == ORR_OK) {
        r = time_frames(run, scene, &view, &d, result, error);
    }
    orr_frame_destroy(d.frame);
    orr_world_destroy(d.world);
    orr_free(d.rgba);
    return r;
}

// What a stage could do at most, in items per second; 0: no limit is stated. `bytes` of a stage are the least
// that must move: each input read once, each output written once.
static double limit_of(const bench_run *run, const case_result *c, const orr_stage_time *stage)
{
    const bench_limits *l = &run->limits;
    if (strcmp(stage->name, "project") == 0) {
        double bytes = 4.0 * (ORR_PACK_GEOMETRY + 3.0 * (c->sh_degree + 1) * (c->sh_degree + 1)) + 64.0 + 8.0;
        return l->bytes_per_second / bytes;
    }
    if (strcmp(stage->name, "sort") == 0) {
        return l->bytes_per_second / 16.0; // a key and a value, in and out
    }
    if (strcmp(stage->name, "blend") == 0) {
        return l->splat_pixels_per_second * l->workers;
    }
    return 0.0;
}

static const char *unit_of(const char *stage)
{
    return strcmp(stage, "blend") == 0    ? "splat-pixels"
           : strcmp(stage, "bin") == 0    ? "pairs"
           : strcmp(stage, "meshes") == 0 ? "triangles"
           : strcmp(stage, "fields") == 0 || strcmp(stage, "download") == 0 || strcmp(stage, "read back") == 0
               ? "pixels"
               : "splats";
}

static void print_stages(const bench_run *run, const char *name, const case_result *c,
                         const orr_camera *camera)
{
    char what[64];
    snprintf(what, sizeof what, c->field ? "%lld parameters" : "%lld splats, SH %d", (long long)c->splats,
             c->sh_degree);
    fprintf(run->out, "\n%s: %s, %dx%d: %.2f ms, %.1f frames/s (median of %d)\n", name, what, camera->width,
            camera->height, c->milliseconds, 1e3 / c->milliseconds, c->frames);
    cJSON *stages = NULL;
    if (run->json) {
        cJSON *entry = cJSON_CreateObject();
        cJSON_AddItemToArray(cJSON_GetObjectItem(run->json, "splats"), entry);
        cJSON_AddStringToObject(entry, "name", name);
        cJSON_AddNumberToObject(entry, c->field ? "parameters" : "splats", (double)c->splats);
        cJSON_AddNumberToObject(entry, "width", camera->width);
        cJSON_AddNumberToObject(entry, "height", camera->height);
        cJSON_AddNumberToObject(entry, "milliseconds", c->milliseconds);
        stages = cJSON_AddArrayToObject(entry, "stages");
    }
    for (int i = 0; i < c->stage_count && i < STAGES; i++) {
        const orr_stage_time *s = &c->stages[i];
        if (s->items == 0) {
            continue;
        }
        double rate = (double)s->items / (s->milliseconds * 1e-3), limit = limit_of(run, c, s);
        fprintf(run->out, "  %-10s %9.3f ms %12lld %-13s %9.1f M/s", s->name, s->milliseconds,
                (long long)s->items, unit_of(s->name), rate * 1e-6);
        if (limit > 0.0) {
            fprintf(run->out, "  %5.1f %% of %.0f M/s", 100.0 * rate / limit, limit * 1e-6);
        }
        fprintf(run->out, "\n");
        if (stages) {
            cJSON *stage = cJSON_CreateObject();
            cJSON_AddItemToArray(stages, stage);
            cJSON_AddStringToObject(stage, "name", s->name);
            cJSON_AddNumberToObject(stage, "milliseconds", s->milliseconds);
            cJSON_AddNumberToObject(stage, "items", (double)s->items);
            cJSON_AddNumberToObject(stage, "limit_items_per_second", limit);
        }
    }
}

// A camera that the cloud fills: as far from the middle of its bounds as half its smaller visible side
// allows.
static orr_camera filling_camera(const orr_layer_info *info, int width, int height)
{
    float centre[3], eye[3];
    const float up[3] = {0.0f, -1.0f, 0.0f};
    for (int k = 0; k < 3; k++) {
        eye[k] = centre[k] = 0.5f * (info->low[k] + info->high[k]);
    }
    const float field_of_view = 0.8f;
    float side = fminf(info->high[0] - info->low[0], info->high[1] - info->low[1]);
    float aspect = (float)width / (float)height;
    eye[2] = info->high[2] + 0.5f * side / (tanf(0.5f * field_of_view) * fmaxf(aspect, 1.0f));
    return orr_camera_look_at(eye, centre, up, field_of_view, width, height);
}

static orr_result bench_scene(const bench_run *run, const orr_scene *scene, const char *name, int sh_degree,
                              const orr_camera *camera, case_result *c, orr_error *error)
{
    orr_layer_info info;
    ORR_TRY(orr_scene_layer_info(scene, orr_scene_layer(scene, 0), &info, error));
    *c = (case_result){.splats = info.count, .field = info.kind == ORR_LAYER_FIELD, .sh_degree = sh_degree};
    ORR_TRY(draw_case(run, scene, camera, c, error));
    if (name) {
        print_stages(run, name, c, camera);
    }
    return ORR_OK;
}

// The file's cloud or field as a scene's only layer.
static orr_result add_file(const bench_run *run, orr_scene *scene, orr_layer *layer, int *sh_degree,
                           orr_error *error)
{
    *sh_degree = 0;
    if (orr_field_model_readable(run->file)) {
        return orr_scene_add_file(scene, run->file, NULL, layer, error);
    }
    orr_splats *splats;
    ORR_TRY(orr_splats_load(run->file, &splats, error));
    *sh_degree = orr_splats_data(splats).sh_degree;
    orr_result r = orr_scene_add_splats(scene, run->file, splats, NULL, layer, error);
    orr_splats_destroy(splats);
    return r;
}

static orr_result bench_file(const bench_run *run, orr_error *error)
{
    orr_scene *scene;
    orr_layer layer;
    case_result c;
    int sh_degree;
    ORR_TRY(orr_scene_create(run->engine, &scene, error));
    orr_result r = add_file(run, scene, &layer, &sh_degree, error);
    orr_layer_info info;
    if (r == ORR_OK) {
        r = orr_scene_layer_info(scene, layer, &info, error);
    }
    if (r == ORR_OK) {
        orr_camera whole = orr_scene_default_camera(scene, run->size[0], run->size[1]);
        orr_camera filling = filling_camera(&info, run->size[0], run->size[1]);
        char name[256];
        snprintf(name, sizeof name, "%s, whole in the picture", orr_path_name(run->file));
        r = bench_scene(run, scene, name, sh_degree, &whole, &c, error);
        if (r == ORR_OK) {
            snprintf(name, sizeof name, "%s, filling the picture", orr_path_name(run->file));
            r = bench_scene(run, scene, name, sh_degree, &filling, &c, error);
        }
    }
    orr_scene_destroy(scene);
    return r;
}

static orr_result bench_synthetic(const bench_run *run, int64_t count, bool stages, case_result *c,
                                  orr_error *error)
{
    enum { DEGREE = 3 };
    orr_splats *splats = make_cloud(CLOUD_BALL, count, DEGREE, 1);
    if (!splats) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %lld splats", (long long)count);
    }
    orr_scene *scene = NULL;
    orr_layer layer;
    orr_result r = orr_scene_create(run->engine, &scene, error);
    if (r == ORR_OK) {
        r = orr_scene_add_splats(scene, "synthetic", splats, NULL, &layer, error);
    }
    orr_splats_destroy(splats);
    if (r == ORR_OK) {
        orr_camera camera =
            run->tiny ? orr_scene_default_camera(scene, 64, 36) : orr_scene_default_camera(scene, 1920, 1080);
        r = bench_scene(run, scene, stages ? "synthetic ball" : NULL, DEGREE, &camera, c, error);
    }
    orr_scene_destroy(scene);
    return r;
}

orr_result bench_splats(const bench_run *run, orr_error *error)
{
    case_result c;
    if (run->json) {
        cJSON_AddArrayToObject(run->json, "splats");
        cJSON_AddArrayToObject(run->json, "growth");
    }
    if (run->file) {
        ORR_TRY(bench_file(run, error));
    }
    ORR_TRY(bench_synthetic(run, run->largest < 1000000 ? run->largest : 1000000, true, &c, error));
    fprintf(run->out, "\ngrowth: synthetic ball, SH 3, %s\n      splats   ms/frame   ns/splat\n",
            run->tiny ? "64x36" : "1920x1080");
    for (int64_t count = run->tiny ? run->largest : 10000, step = 0; count <= run->largest; step++) {
        ORR_TRY(bench_synthetic(run, count, false, &c, error));
        fprintf(run->out, "  %10lld %10.2f %10.1f\n", (long long)count, c.milliseconds,
                c.milliseconds * 1e6 / (double)count);
        if (run->json) {
            cJSON *entry = cJSON_CreateObject();
            cJSON_AddItemToArray(cJSON_GetObjectItem(run->json, "growth"), entry);
            cJSON_AddNumberToObject(entry, "splats", (double)count);
            cJSON_AddNumberToObject(entry, "milliseconds", c.milliseconds);
        }
        int64_t next =
            step % 2 == 0 ? count * 5 : count * 2; // 10 k, 50 k, 100 k, 500 k, 1 M, 5 M, and the largest
        count = count < run->largest && next > run->largest ? run->largest : next;
    }
    return ORR_OK;
}
