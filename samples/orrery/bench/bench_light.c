// orrery bench light: what shadows, an environment and probes add to a frame, and rays of the path tracer per
// second.
#include "engine/core/clock.h"
#include "engine/core/memory.h"
#include "engine/loop/window.h"
#include "samples/orrery/bench/bench.h"
#include "samples/orrery/shipped_file.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

enum { SKY_WIDTH = 512, SKY_HEIGHT = 256 };

typedef struct light_bench {
    const bench_run *run;
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
    orr_view view;
    orr_layer layer; // what the probe of a moving layer is around
    orr_transform at;
    bool has_lamp;
    float *rgba;
} light_bench;

// A case: what is on besides meshes and splats.
typedef struct light_case {
    const char *name;
    bool shadows, environment, probes, moving, occlusion, for_window, lamp;
} light_case;

static const float occlusion_radius = 0.3f; // [m] of a scene that gives none

// A sky that is brighter above, with a small sun.
static orr_result set_sky(orr_scene *scene, orr_error *error)
{
    float *sky = malloc(sizeof *sky * 3 * SKY_WIDTH * SKY_HEIGHT);
    if (!sky) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a sky");
    }
    for (int i = 0; i < 3 * SKY_WIDTH * SKY_HEIGHT; i++) {
        int x = i / 3 % SKY_WIDTH, y = i / 3 / SKY_WIDTH;
        sky[i] = abs(x - 100) < 3 && abs(y - 60) < 3 ? 100.0f : 1.0f - (float)y / SKY_HEIGHT;
    }
    const orr_environment_desc desc = {.rgb = sky, .width = SKY_WIDTH, .height = SKY_HEIGHT};
    orr_result result = orr_scene_set_environment(scene, &desc, error);
    free(sky);
    return result;
}

// [ms] of all threads where the CPU draws, so that other programs do not count; otherwise of the clock.
static double now(const light_bench *b)
{
    return orr_engine_device(b->run->engine) == ORR_DEVICE_CPU ? (double)clock() * 1e3 / CLOCKS_PER_SEC
                                                               : (double)orr_clock_nanoseconds() * 1e-6;
}

static orr_result draw(light_bench *b, int number, const light_case *c, double *milliseconds,
                       orr_error *error)
{
    if (c->moving) { // what a probe shows moves with it, so that it is drawn anew, a face per frame
        orr_transform at = b->at;
        at.position[0] += 0.003f * (float)(number % 7); // elsewhere than in the frames that slots still have
        ORR_TRY(orr_world_set_transform(b->world, 0, b->layer, &at, error));
    }
    const double start = now(b);
    ORR_TRY(c->for_window ? orr_frame_submit_for_window(b->frame, b->scene, b->world, &b->view, error)
                          : orr_frame_submit(b->frame, b->scene, b->world, &b->view, error));
    ORR_TRY(orr_frame_finish(b->frame, &(orr_picture){.rgba = b->rgba}, error));
    *milliseconds = now(b) - start;
    return ORR_OK;
}

// One that lights clouds, too: those that move have their light found anew in each frame.
static orr_result set_lamp(light_bench *b, bool on, orr_error *error)
{
    const orr_light_desc lamp = {.kind = ORR_LIGHT_KIND_POINT,
                                 .position = {1.0f, 1.0f, 2.0f},
                                 .colour = {1.0f, 1.0f, 1.0f},
                                 .clouds = true};
    if (b->has_lamp) {
        ORR_TRY(orr_scene_clear_lights(b->scene, error));
    }
    b->has_lamp = on;
    return on ? orr_scene_add_light(b->scene, &lamp, error) : ORR_OK;
}

static orr_result prepare(light_bench *b, const light_case *c, orr_error *error)
{
    b->view.no_shadows = !c->shadows;
    b->view.occlusion_radius = c->occlusion ? occlusion_radius : -1.0f;
    ORR_TRY(set_lamp(b, c->lamp, error));
    ORR_TRY(orr_scene_set_probes(b->scene, c->probes, error));
    ORR_TRY(c->environment ? set_sky(b->scene, error) : orr_scene_set_environment(b->scene, NULL, error));
    return orr_world_set_transform(b->world, 0, b->layer, &b->at, error);
}

// The least of several frames, in turn with those of the first case, so that both meet the same machine.
static orr_result measure(light_bench *b, const light_case *plain, const light_case *c, double *base,
                          double *with, orr_error *error)
{
    const int rounds = b->run->tiny ? 1 : 4, frames = b->run->tiny ? 1 : 6;
    *base = *with = INFINITY;
    for (int round = 0; round < rounds; round++) {
        for (int side = 0; side < 2; side++) {
            double sum = 0.0, *least = side ? with : base;
            ORR_TRY(prepare(b, side ? c : plain, error));
            for (int i = -1; i < frames; i++) { // the first one uploads, and draws its probes whole
                double milliseconds;
                ORR_TRY(draw(b, i + 2, side ? c : plain, &milliseconds, error));
                sum += i < 0 ? 0.0 : milliseconds;
            }
            *least = fmin(*least, sum / frames);
        }
    }
    return ORR_OK;
}

static orr_result measure_rays(light_bench *b, orr_error *error)
{
    const light_case all = {.shadows = true, .environment = true};
    orr_reference *reference;
    orr_reference_info info;
    ORR_TRY(prepare(b, &all, error));
    ORR_TRY(orr_reference_create(b->scene, b->world, &b->view, 1, &reference, error));
    const uint64_t start = orr_clock_nanoseconds();
    orr_result result = orr_reference_advance(reference, 1, error);
    double seconds = (double)(orr_clock_nanoseconds() - start) * 1e-9;
    if (result == ORR_OK) {
        result = orr_reference_describe(reference, &info, error);
    }
    orr_reference_destroy(reference);
    ORR_TRY(result);
    fprintf(b->run->out, "path tracer: %.2f million rays/s, one sample per pixel in %.2f s\n",
            (double)info.rays / seconds * 1e-6, seconds);
    if (b->run->json) {
        cJSON_AddNumberToObject(cJSON_GetObjectItem(b->run->json, "light"), "rays_per_second",
                                (double)info.rays / seconds);
    }
    return ORR_OK;
}

// The sun by which the scene's clouds were captured, turned by a 200th of a radian per frame.
static orr_result turn_sun(light_bench *b, const orr_sun_desc *sun, int frame, orr_error *error)
{
    orr_sun_desc turned = *sun;
    turned.umbra = 0.0f; // that of the scene
    const float angle = 0.005f * (float)frame;
    turned.direction[0] = cosf(angle) * sun->direction[0] - sinf(angle) * sun->direction[1];
    turned.direction[1] = sinf(angle) * sun->direction[0] + cosf(angle) * sun->direction[1];
    return orr_scene_set_sun(b->scene, &turned, error);
}

// Where captured clouds shadow one another is found by rays, once for a sun: the first frame, and while the
// sun stands and is dragged.
static orr_result measure_captured_sun(light_bench *b, orr_error *error)
{
    static const light_case c = {.shadows = true, .for_window = true};
    const int frames = b->run->tiny ? 1 : 12;
    double first, sums[2] = {0.0, 0.0};
    orr_sun_estimate found;
    if (orr_scene_estimate_sun(b->scene, &found, NULL) != ORR_OK || !found.found) {
        return ORR_OK;
    }
    ORR_TRY(prepare(b, &c, error));
    ORR_TRY(turn_sun(b, &found.sun, 0, error));
    ORR_TRY(draw(b, 0, &c, &first, error));
    for (int dragged = 0; dragged < 2; dragged++) {
        for (int i = 1; i <= frames; i++) {
            double milliseconds;
            ORR_TRY(turn_sun(b, &found.sun, dragged * i, error));
            ORR_TRY(draw(b, 0, &c, &milliseconds, error));
            sums[dragged] += milliseconds / frames;
        }
    }
    fprintf(b->run->out,
            "sun of the capture: %.2f ms a frame where it stands, %.2f while it is dragged, %.2f "
            "the first\n",
            sums[0], sums[1], first);
    if (b->run->json) {
        cJSON_AddNumberToObject(cJSON_GetObjectItem(b->run->json, "light"), "a sun that is dragged",
                                sums[1] / sums[0] - 1.0);
    }
    return ORR_OK;
}

static orr_result run_cases(light_bench *b, orr_error *error)
{
    static const light_case cases[] = {
        {.name = "meshes and splats"},
        {.name = "shadows", .shadows = true},
        {.name = "environment", .environment = true},
        {.name = "probes at rest", .probes = true},
        {.name = "a probe that moves", .probes = true, .moving = true},
        {.name = "ambient occlusion", .occlusion = true}, // not among all: it is off unless it is asked for
        {.name = "lamp on what moves", .moving = true, .lamp = true},
        {.name = "all, moving", .shadows = true, .environment = true, .probes = true, .moving = true}};
    cJSON *json = b->run->json ? cJSON_AddObjectToObject(b->run->json, "light") : NULL;
    fprintf(b->run->out, "light: %d x %d pixels, %s; ms of all threads on the CPU\n%-20s %10s %10s %8s\n",
            b->view.camera.width, b->view.camera.height, orr_engine_describe(b->run->engine), "", "ms",
            "without", "adds");
    const size_t count = sizeof cases / sizeof cases[0];
    for (size_t i = b->run->tiny ? count - 1 : 1; i < count; i++) {
        double base, with;
        if (cases[i].lamp && b->run->scene) {
            continue; // its lamps stay as they are
        }
        ORR_TRY(measure(b, &cases[0], &cases[i], &base, &with, error));
        fprintf(b->run->out, "%-20s %10.2f %10.2f %6.1f %%\n", cases[i].name, with, base,
                100.0 * (with / base - 1.0));
        if (json) {
            cJSON_AddNumberToObject(json, cases[i].name, with / base - 1.0);
        }
    }
    ORR_TRY(measure_rays(b, error));
    return measure_captured_sun(b, error); // the last: it gives the scene another sun
}

static orr_result open_bench(light_bench *b, orr_error *error)
{
    const bench_run *run = b->run;
    char *installed = run->scene ? NULL : shipped_file("walker.json");
    if (!run->scene && !installed) {
        return orr_fail(error, ORR_CODE_FILE_OPEN,
                        "bench: light: no walker.json beside the program: give a scene");
    }
    orr_result result = orr_scene_load(run->engine, run->scene ? run->scene : installed, &b->scene, error);
    orr_free(installed);
    ORR_TRY(result);
    ORR_TRY(orr_world_create(b->scene, 1, &b->world, error));
    ORR_TRY(orr_frame_create(run->engine, NULL, &b->frame, error));
    b->view.camera = orr_scene_default_camera(b->scene, run->size[0], run->size[1]);
    b->view.no_reuse = true;
    b->layer = orr_scene_layer(b->scene, 0);
    ORR_TRY(orr_world_get(b->world, 0, b->layer, &b->at, NULL, error));
    b->rgba = malloc(sizeof *b->rgba * 4 * (size_t)run->size[0] * (size_t)run->size[1]);
    return b->rgba ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a picture");
}

orr_result bench_light(const bench_run *run, orr_error *error)
{
    light_bench b = {.run = run};
    orr_result result = open_bench(&b, error);
    if (result == ORR_OK) {
        result = run_cases(&b, error);
    }
    free(b.rgba);
    orr_frame_destroy(b.frame);
    orr_world_destroy(b.world);
    orr_scene_destroy(b.scene);
    return result;
}
