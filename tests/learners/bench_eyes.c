// By hand: pictures that eyes draw in a second, SIDE x SIDE pixels, RGB bytes and depth, COPIES copies in
// other states: of primitives alone, and of a half cheetah in front of a cloud 2.5 m long, by a camera that
// stands still and by one that the robot of each copy carries. For each, least of ROUNDS: CPU time of a
// picture, all threads together, and pictures per second of two cores by that; pictures per second by the
// clock, which other programs slow down; beside the pictures of all splats and
// triangles, drawn anew each: PSNR of RGB, of the worst copy, and the mean difference of the depth where both
// have one. BENCH_PICTURES: a folder for the first four pictures of each.
//
//     bench_eyes CLOUD [THREADS [NAME]]       NAME: only the settings that begin so
#define _POSIX_C_SOURCE 200809L
#include "engine/maths/rng.h"
#include "engine/orrery.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIDE = 64, PIXELS = SIDE * SIDE, COPIES = 64, ROUNDS = 12, JOINTS_MAX = 9 };

typedef struct setting {
    const char *name;
    bool cloud, carried;   // carried: the camera, by the robot
    float away;            // that the camera is farther away than 3 m [m]
    bool antialias, plain; // plain: without shadows and mirrors
    float detail, cloud_detail;
} setting;

static const setting settings[] = {
    {.name = "primitives, still"},
    {.name = "primitives, still", .detail = 0.1f},
    {.name = "primitives, carried", .carried = true},
    {.name = "primitives, carried", .carried = true, .detail = 0.1f},
    {"robot, still", .cloud = true, .away = 1.0f},
    {"robot, still", .cloud = true, .away = 1.0f, .detail = 0.1f},
    {"robot, still", .cloud = true, .away = 1.0f, .detail = 0.1f, .cloud_detail = -1.0f},
    {"robot, still, plain", .cloud = true, .away = 1.0f, .plain = true},
    {"robot, still, plain", .cloud = true, .away = 1.0f, .plain = true, .detail = 0.1f,
     .cloud_detail = -1.0f},
    {"robot, carried", .cloud = true, .away = 1.0f, .carried = true, .antialias = true, .detail = 0.03f,
     .cloud_detail = 0.2f},
    {"near", .cloud = true, .away = 1.0f, .plain = true, .carried = true},
    {"near", .cloud = true, .away = 1.0f, .plain = true, .carried = true, .detail = 0.03f,
     .cloud_detail = 0.1f},
    {"near", .cloud = true, .away = 1.0f, .plain = true, .carried = true, .detail = 0.03f,
     .cloud_detail = 0.15f},
    {"far", .cloud = true, .away = 5.0f, .plain = true, .carried = true},
    {"far", .cloud = true, .away = 5.0f, .plain = true, .carried = true, .cloud_detail = 0.15f},
    {"far", .cloud = true, .away = 5.0f, .plain = true, .carried = true, .detail = 0.1f,
     .cloud_detail = 0.2f},
    {"antialias, near", .cloud = true, .away = 1.0f, .plain = true, .carried = true, .antialias = true},
    {"antialias, near", .cloud = true, .away = 1.0f, .plain = true, .carried = true, .antialias = true,
     .detail = 0.1f},
    {"antialias, near", .cloud = true, .away = 1.0f, .plain = true, .carried = true, .antialias = true,
     .detail = 0.03f, .cloud_detail = 0.2f},
    {"antialias, near", .cloud = true, .away = 1.0f, .plain = true, .carried = true, .antialias = true,
     .cloud_detail = 0.25f},
    {"antialias, far", .cloud = true, .away = 5.0f, .plain = true, .carried = true, .antialias = true},
    {"antialias, far", .cloud = true, .away = 5.0f, .plain = true, .carried = true, .antialias = true,
     .detail = 0.1f},
    {"antialias, far", .cloud = true, .away = 5.0f, .plain = true, .carried = true, .antialias = true,
     .detail = 0.03f, .cloud_detail = 0.2f},
};

typedef struct stage {
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    orr_layer robot;
    int joints;
} stage;

typedef struct pictures {
    uint8_t rgb[COPIES * PIXELS * 3];
    float depth[COPIES * PIXELS];
} pictures;

static pictures drawn, whole;

static double milliseconds(clockid_t of)
{
    struct timespec now;
    clock_gettime(of, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

// Upright, with the longest side 2.5 m long, its middle 1.5 m behind the robot.
static void add_cloud(const stage *s, const char *path)
{
    orr_splats *splats;
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, size = 0.0f;
    assert_ok(orr_splats_load(path, &splats, &error));
    const orr_splats_view data = orr_splats_data(splats);
    for (int64_t i = 0; i < 3 * data.count; i++) {
        low[i % 3] = fminf(low[i % 3], data.position[i]);
        high[i % 3] = fmaxf(high[i % 3], data.position[i]);
    }
    for (int k = 0; k < 3; k++) {
        size = fmaxf(size, high[k] - low[k]);
    }
    // the cloud's axis y points down
    const float scale = 2.5f / size;
    const orr_transform at = {.position = {-0.5f * scale * (low[0] + high[0]),
                                           1.5f - 0.5f * scale * (low[2] + high[2]), scale * high[1]},
                              .rotation = {0.70710678f, -0.70710678f, 0.0f, 0.0f},
                              .scale = scale};
    assert_ok(orr_scene_add_splats(s->scene, "cloud", splats, &at, NULL, &error));
    orr_splats_destroy(splats);
}

static stage stage_make(const setting *with, const char *cloud, int threads)
{
    stage s = {.joints = with->cloud ? 9 : 5};
    const orr_engine_desc desc = {.device = ORR_DEVICE_CPU, .threads = threads};
    const char *model =
        with->cloud ? needed_shared_data("mjcf/half_cheetah.xml") : source_path("tests/learners/shapes.xml");
    assert_ok(orr_engine_create(&desc, &s.engine, &error));
    assert_ok(orr_scene_create(s.engine, &s.scene, &error));
    assert_ok(orr_scene_add_file(s.scene, model, NULL, &s.robot, &error));
    if (with->cloud) {
        add_cloud(&s, cloud);
    }
    assert_ok(orr_world_create(s.scene, COPIES, &s.world, &error));
    return s;
}

static void stage_free(stage *s)
{
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
    orr_engine_destroy(s->engine);
}

// Other states in each round.
static void move(const stage *s, uint32_t round)
{
    orr_rng rng = {.seed = 7, .stream = round};
    for (int i = 0; i < COPIES; i++) {
        double at[JOINTS_MAX];
        for (int k = 0; k < s->joints; k++) {
            at[k] = 0.6 * (double)orr_rng_uniform(&rng) - 0.3;
        }
        assert_ok(orr_world_set_robot(s->world, i, s->robot, ORR_ROBOT_QPOS, at, &error));
    }
}

static orr_eyes *eyes_make(const stage *s, const setting *with, float detail, bool no_reuse)
{
    const int carried = 0;
    const float distance = 3.0f + with->away, eye[3] = {0.3f, -distance, 0.3f * distance};
    const orr_camera still =
        orr_camera_look_at(eye, (float[]){0.0f, 0.0f, 0.5f}, (float[]){0.0f, 0.0f, 1.0f}, 0.785f, SIDE, SIDE);
    const orr_eyes_desc desc = {.cameras = &carried,
                                .camera_count = with->carried,
                                .views = &still,
                                .view_count = !with->carried,
                                .width = SIDE,
                                .height = SIDE,
                                .detail = detail,
                                .cloud_detail = no_reuse ? 0.0f : with->cloud_detail,
                                .look = {.antialias = with->antialias,
                                         .no_shadows = with->plain,
                                         .no_mirrors = with->plain,
                                         .no_reuse = no_reuse}};
    orr_eyes *eyes;
    assert_ok(orr_eyes_create(s->world, &desc, &eyes, &error));
    if (with->carried) {
        static orr_eyes_look looks[COPIES];
        for (int i = 0; i < COPIES; i++) {
            looks[i].camera_offset[2] = -with->away;
        }
        assert_ok(orr_eyes_set_looks(eyes, NULL, looks, &error));
    }
    return eyes;
}

static void draw(orr_eyes *eyes, pictures *to)
{
    const orr_eyes_pictures planes = {.rgb = to->rgb, .depth = to->depth};
    assert_ok(orr_eyes_draw(eyes, NULL, &planes, &error));
}

static double decibels(double squares, double count)
{
    return squares > 0.0 ? -10.0 * log10(squares / count) : INFINITY;
}

static void compare(void)
{
    double sum = 0.0, worst = 0.0, depth = 0.0;
    int64_t depths = 0;
    for (int copy = 0; copy < COPIES; copy++) {
        double own = 0.0;
        for (int i = copy * 3 * PIXELS; i < (copy + 1) * 3 * PIXELS; i++) {
            const double d = (double)(drawn.rgb[i] - whole.rgb[i]) / 255.0;
            own += d * d;
        }
        sum += own;
        worst = fmax(worst, own);
    }
    for (int i = 0; i < COPIES * PIXELS; i++) {
        if (drawn.depth[i] > 0.0f && whole.depth[i] > 0.0f) {
            depth += (double)fabsf(drawn.depth[i] - whole.depth[i]);
            depths++;
        }
    }
    printf("%6.1f dB, worst %5.1f dB, depth %.4f m\n", decibels(sum, 3.0 * COPIES * PIXELS),
           decibels(worst, 3.0 * PIXELS), depth / (double)(depths ? depths : 1));
}

static void measure(const setting *with, const char *cloud, int threads)
{
    stage s = stage_make(with, cloud, threads);
    orr_eyes *eyes = eyes_make(&s, with, with->detail, false), *full = eyes_make(&s, with, 0.0f, true);
    double least = INFINITY, shortest = INFINITY;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        move(&s, round);
        const double start = milliseconds(CLOCK_PROCESS_CPUTIME_ID), from = milliseconds(CLOCK_MONOTONIC);
        draw(eyes, &drawn);
        shortest = fmin(shortest, milliseconds(CLOCK_MONOTONIC) - from);
        least = fmin(least, milliseconds(CLOCK_PROCESS_CPUTIME_ID) - start);
    }
    draw(full, &whole);
    printf("%-20s detail %.2f, %5.2f: %8.4f ms %8.0f /s, clock %8.0f /s ", with->name, (double)with->detail,
           (double)with->cloud_detail, least / COPIES, 2e3 * COPIES / least, 1e3 * COPIES / shortest);
    compare();
    const char *folder = getenv("BENCH_PICTURES");
    if (folder) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s %g %g.ppm", folder, with->name, (double)with->detail,
                 (double)with->cloud_detail);
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        fprintf(file, "P6 %d %d 255\n", SIDE, 4 * SIDE);
        assert_int_equal(fwrite(drawn.rgb, 1, 4 * 3 * PIXELS, file), 4 * 3 * PIXELS);
        fclose(file);
    }
    orr_eyes_destroy(full);
    orr_eyes_destroy(eyes);
    stage_free(&s);
}

int main(int count, char **arguments)
{
    if (count < 2) {
        return 2;
    }
    const int threads = count > 2 ? atoi(arguments[2]) : 2;
    const char *name = count > 3 ? arguments[3] : "";
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (strncmp(settings[i].name, name, strlen(name)) == 0) {
            measure(&settings[i], arguments[1], threads);
            fflush(stdout);
        }
    }
    return 0;
}
