// Tests of eyes that CUDA draws (a GPU, or the emulated device): their pictures are those of frames on CUDA
// and near those of the CPU's eyes, stay where they are, and depend on nothing but their copy.
#include "engine/core/file.h"
#include "engine/device/cuda_gpu.h"
#include "engine/loop/devices.h"
#include "orr_features.h"
#include "tests/support/scenes/soft_meshes.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if ORR_CUDA_EMULATED
#include "tests/cuda_emu/emu.h"
#endif

enum { COPIES = 3, WIDTH = 36, HEIGHT = 28, PIXELS = WIDTH * HEIGHT, VIEWS = 2, PICTURES = COPIES * VIEWS };
enum { OF_COPY = VIEWS * PIXELS, ALL = ORR_EYES_RGB | ORR_EYES_RGBA | ORR_EYES_DEPTH };

// A box and a ball that slide along x over a floor, behind a transparent pane, under a lamp that casts
// shadows, and a camera that they carry.
static const char *const model =
    "<mujoco><worldbody><light pos='1 1 5' dir='-.2 -.2 -1' castshadow='true'/>"
    "<geom name='floor' type='box' size='3 3 0.1' pos='0 0 -1' rgba='.2 .4 .9 1'/>"
    "<geom name='pane' type='box' size='.4 .4 .02' pos='-.6 .5 .6' rgba='.2 .9 .3 .4'/>"
    "<body name='cart'><joint type='slide' axis='1 0 0'/>"
    "<geom name='box' type='box' size='0.3 0.3 0.3' rgba='.9 .2 .1 1'/>"
    "<geom name='ball' type='sphere' size='0.2' pos='0 .5 .1' rgba='.9 .8 .1 1'/>"
    "<camera name='eye' pos='0.1 0.2 4'/>"
    "</body></worldbody></mujoco>";

typedef struct stage {
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    orr_layer robot;
    orr_eyes *eyes; // on CUDA
    orr_view view;  // the one that does not move
    orr_cuda *cuda;
} stage;

typedef struct pictures {
    uint8_t rgb[PICTURES * PIXELS * 3];
    float rgba[PICTURES * PIXELS * 4], depth[PICTURES * PIXELS];
} pictures;

static pictures drawn, again;

static void add_splats(orr_scene *scene)
{
    enum { SPLATS = 3 };
    orr_splats *splats;
    orr_layer layer;
    assert_ok(orr_splats_create(SPLATS, 0, &splats, &error));
    orr_splats_view data = orr_splats_data(splats);
    for (int i = 0; i < SPLATS; i++) {
        data.position[3 * i] = 0.8f - 0.3f * (float)i;
        data.position[3 * i + 1] = -0.5f;
        data.position[3 * i + 2] = 0.5f;
        data.opacity[i] = 2.0f;
        for (int k = 0; k < 3; k++) {
            data.log_scale[3 * i + k] = logf(0.2f);
        }
        data.colour[3 * i + i] = 1.5f;
    }
    assert_ok(orr_scene_add_splats(scene, "splats", splats, NULL, &layer, &error));
    orr_splats_destroy(splats);
}

static orr_eyes *make_eyes(const stage *s, const orr_world *world, orr_device_kind device, bool smooth)
{
    orr_eyes *eyes;
    const int camera = 0;
    const orr_eyes_desc desc = {.cameras = &camera,
                                .camera_count = 1,
                                .views = &s->view.camera,
                                .view_count = 1,
                                .width = WIDTH,
                                .height = HEIGHT,
                                .smooth_edges = smooth,
                                .device = device};
    assert_ok(orr_eyes_create(world, &desc, &eyes, &error));
    return eyes;
}

static void slide(const stage *s, orr_world *world, int copy, double to)
{
    assert_ok(orr_world_set_robot(world, copy, s->robot, ORR_ROBOT_QPOS, &to, &error));
}

static double place_of(int copy)
{
    return 0.4 * copy - 0.5;
}

static stage stage_make(bool smooth)
{
    stage s;
    const char *path = written("eyes_cuda.xml", model);
    assert_ok(
        orr_engine_create(&(orr_engine_desc){.device = ORR_DEVICE_CPU, .threads = 2}, &s.engine, &error));
    assert_ok(orr_engine_take_cuda(s.engine, &s.cuda, &error));
    assert_ok(orr_scene_create(s.engine, &s.scene, &error));
    add_splats(s.scene);
    assert_ok(orr_scene_add_file(s.scene, path, NULL, &s.robot, &error));
    assert_ok(orr_world_create(s.scene, COPIES, &s.world, &error));
    for (int i = 0; i < COPIES; i++) {
        slide(&s, s.world, i, place_of(i));
    }
    s.view = (orr_view){.camera = orr_camera_look_at((float[]){0, -3, 4}, (float[]){0, 0, 0},
                                                     (float[]){0, 1, 0}, 0.8f, WIDTH, HEIGHT),
                        .hard_edges = !smooth};
    s.eyes = make_eyes(&s, s.world, ORR_DEVICE_CUDA, smooth);
    return s;
}

static void stage_free(stage *s)
{
    orr_eyes_destroy(s->eyes);
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
    orr_engine_destroy(s->engine);
}

static void draw(orr_eyes *eyes, const uint8_t *mask, pictures *to)
{
    const orr_eyes_pictures planes = {.rgb = to->rgb, .rgba = to->rgba, .depth = to->depth};
    assert_ok(orr_eyes_draw(eyes, mask, &planes, &error));
}

// Draws into the device's memory, and reads all of it.
static orr_eyes_cuda_pictures draw_there(const stage *s, const uint8_t *mask, pictures *to)
{
    orr_eyes_cuda_pictures p;
    assert_ok(orr_eyes_draw_cuda(s->eyes, mask, ALL, NULL, &p, &error));
    assert_ok(orr_cuda_download(s->cuda, to->rgb, p.rgb, sizeof to->rgb, &error));
    assert_ok(orr_cuda_download(s->cuda, to->rgba, p.rgba, sizeof to->rgba, &error));
    assert_ok(orr_cuda_download(s->cuda, to->depth, p.depth, sizeof to->depth, &error));
    return p;
}

static bool same_copy(const pictures *a, size_t copy_a, const pictures *b, size_t copy_b)
{
    const size_t at = copy_a * OF_COPY, to = copy_b * OF_COPY;
    return memcmp(a->rgb + 3 * at, b->rgb + 3 * to, (size_t)OF_COPY * 3) == 0 &&
           memcmp(a->rgba + 4 * at, b->rgba + 4 * to, (size_t)OF_COPY * 4 * sizeof(float)) == 0 &&
           memcmp(a->depth + at, b->depth + to, (size_t)OF_COPY * sizeof(float)) == 0;
}

// ---- what is drawn ----

static void compare_with_frames(bool smooth)
{
    static float rgba[PIXELS * 4], depth[PIXELS];
    stage s = stage_make(smooth);
    orr_frame *frame;
    const orr_frame_desc desc = {.device = ORR_DEVICE_CUDA};
    assert_ok(orr_frame_create(s.engine, &desc, &frame, &error));
    draw_there(&s, NULL, &drawn);
    for (size_t i = 0; i < PICTURES; i++) {
        orr_view view = s.view;
        view.world = (int)i / VIEWS;
        if (i % VIEWS == 0) {
            assert_ok(orr_world_camera(s.world, view.world, 0, WIDTH, HEIGHT, &view.camera, &error));
        }
        assert_ok(orr_frame_submit(frame, s.scene, s.world, &view, &error));
        assert_ok(orr_frame_finish(frame, &(orr_picture){rgba, depth}, &error));
        assert_memory_equal(rgba, drawn.rgba + i * PIXELS * 4, sizeof rgba);
        assert_memory_equal(depth, drawn.depth + i * PIXELS, sizeof depth);
        for (size_t p = 0; p < PIXELS; p++) {
            for (size_t k = 0; k < 3; k++) { // to the nearest byte
                const int byte = drawn.rgb[(i * PIXELS + p) * 3 + k];
                assert_true(fabsf(fminf(rgba[4 * p + k], 1.0f) * 255.0f - (float)byte) <= 0.5f);
            }
        }
    }
    assert_false(same_copy(&drawn, 0, &drawn, 1));
    orr_frame_destroy(frame);
    stage_free(&s);
}

static void pictures_are_those_of_frames(void **state)
{
    (void)state;
    compare_with_frames(false);
    compare_with_frames(true);
}

typedef struct distance {
    double mean, most;
} distance;

static distance distance_of(const float *a, const float *b, size_t count)
{
    distance d = {0};
    for (size_t i = 0; i < count; i++) {
        const double off = fabs((double)a[i] - (double)b[i]);
        d.mean += off / (double)count;
        d.most = fmax(d.most, off);
    }
    return d;
}

// The two round alike: coordinates on the screen to 1/256 pixel, the rest to float's digits.
static void pictures_are_near_those_of_the_cpu(void **state)
{
    (void)state;
    for (int smooth = 0; smooth < 2; smooth++) {
        stage s = stage_make(smooth);
        orr_eyes *host = make_eyes(&s, s.world, ORR_DEVICE_CPU, smooth);
        int bytes = 0;
        assert_ok(orr_scene_set_probes(s.scene, true, &error)); // which neither draws
        draw(s.eyes, NULL, &drawn);
        draw(host, NULL, &again);
        const distance rgba = distance_of(drawn.rgba, again.rgba, sizeof drawn.rgba / sizeof(float));
        const distance depth = distance_of(drawn.depth, again.depth, sizeof drawn.depth / sizeof(float));
        for (size_t i = 0; i < sizeof drawn.rgb; i++) {
            const int off = abs(drawn.rgb[i] - again.rgb[i]);
            assert_true(off <= 1);
            bytes += off;
        }
        print_message("smooth %d: rgba mean %.2e most %.2e, depth mean %.2e most %.2e, %d bytes of %zu\n",
                      smooth, rgba.mean, rgba.most, depth.mean, depth.most, bytes, sizeof drawn.rgb);
        assert_true(rgba.mean < 1e-6 && rgba.most < 2e-5);
        assert_true(depth.mean < 1e-6 && depth.most < 2e-5);
        orr_eyes_destroy(host);
        stage_free(&s);
    }
}

// ---- which copies ----

static void a_copy_alone_has_the_same_bits(void **state)
{
    (void)state;
    stage s = stage_make(false);
    orr_world *one;
    assert_ok(orr_world_create(s.scene, 1, &one, &error));
    orr_eyes *alone = make_eyes(&s, one, ORR_DEVICE_CUDA, false);
    draw(s.eyes, NULL, &drawn);
    for (int copy = 0; copy < COPIES; copy++) {
        slide(&s, one, 0, place_of(copy));
        draw(alone, NULL, &again);
        assert_true(same_copy(&drawn, (size_t)copy, &again, 0));
    }
    orr_eyes_destroy(alone);
    orr_world_destroy(one);
    stage_free(&s);
}

static void other_copies_stay_as_they_are(void **state)
{
    (void)state;
    stage s = stage_make(false);
    const uint8_t first[COPIES] = {0, 1, 0}, second[COPIES] = {1, 0, 1};
    pictures before;
    memset(&before, 0, sizeof before);
    orr_eyes_cuda_pictures p = draw_there(&s, first, &again);
    assert_true(same_copy(&again, 0, &before, 0) && same_copy(&again, 2, &before, 2)); // zeros
    draw_there(&s, NULL, &before);
    assert_true(same_copy(&again, 1, &before, 1));
    for (int i = 0; i < COPIES; i++) {
        slide(&s, s.world, i, 0.7 - 0.1 * i);
    }
    const orr_eyes_cuda_pictures later = draw_there(&s, second, &drawn);
    assert_memory_equal(&p, &later, sizeof p); // where they were
    assert_int_equal(p.copies, COPIES);
    assert_int_equal(p.cameras, VIEWS);
    assert_int_equal(p.width, WIDTH);
    assert_int_equal(p.height, HEIGHT);
    assert_int_equal(p.device, s.cuda->device);
    for (size_t i = 0; i < COPIES; i++) {
        assert_int_equal(same_copy(&drawn, i, &before, i), !second[i]);
    }
    // on the host, nothing is written of what is not drawn
    memset(&again, 0x5a, sizeof again);
    memset(&before, 0x5a, sizeof before);
    draw(s.eyes, second, &again);
    for (size_t i = 0; i < COPIES; i++) {
        assert_true(second[i] ? same_copy(&again, i, &drawn, i) : same_copy(&again, i, &before, i));
    }
    stage_free(&s);
}

// As an environment does: a copy begins again, its look is changed and taken back, views move and return.
static void copies_that_begin_again_look_as_before(void **state)
{
    (void)state;
    stage s = stage_make(false);
    const uint8_t mask[COPIES] = {0, 0, 1};
    orr_eyes_look looks[COPIES] = {0};
    looks[2].light[0] = -1.0f;
    draw(s.eyes, NULL, &drawn);
    slide(&s, s.world, 2, 0.9);
    draw(s.eyes, mask, &again);
    assert_false(same_copy(&drawn, 2, &again, 2));
    slide(&s, s.world, 2, place_of(2));
    assert_ok(orr_eyes_set_looks(s.eyes, mask, looks, &error));
    draw(s.eyes, NULL, &again);
    assert_true(same_copy(&drawn, 0, &again, 0) && same_copy(&drawn, 1, &again, 1));
    int darker = 0;
    for (size_t i = 0; i < OF_COPY; i++) { // less red, and the same of the other colours
        const size_t at = 4 * (2 * (size_t)OF_COPY + i);
        darker += again.rgba[at] < drawn.rgba[at] - 0.05f;
        assert_true(again.rgba[at] <= drawn.rgba[at] && again.rgba[at + 1] == drawn.rgba[at + 1]);
    }
    assert_true(darker > OF_COPY / 4);
    const orr_camera nearer =
        orr_camera_look_at((float[]){0, -2, 3}, (float[]){0, 0, 0}, (float[]){0, 1, 0}, 0.8f, WIDTH, HEIGHT);
    assert_ok(orr_eyes_set_looks(s.eyes, NULL, &(orr_eyes_look[COPIES]){0}[0], &error));
    assert_ok(orr_eyes_set_views(s.eyes, &nearer, &error));
    draw(s.eyes, NULL, &again);
    const size_t first = (size_t)PIXELS * 4 * sizeof(float); // of the camera that the cart carries
    assert_memory_equal(drawn.rgba, again.rgba, first);
    assert_memory_not_equal(drawn.rgba + 4 * PIXELS, again.rgba + 4 * PIXELS, first);
    assert_ok(orr_eyes_set_views(s.eyes, &s.view.camera, &error));
    assert_ok(orr_eyes_forget(s.eyes, NULL, &error)); // nothing to forget
    draw(s.eyes, NULL, &again);
    for (size_t i = 0; i < COPIES; i++) {
        assert_true(same_copy(&drawn, i, &again, i));
    }
    stage_free(&s);
}

// What CUDA simulates is drawn from its memory, with the shadow that only bodies on the host cast.
static void robots_that_cuda_simulates_are_seen(void **state)
{
    (void)state;
    stage s = stage_make(false);
    s.view.no_shadows = true;
    orr_eyes_destroy(s.eyes);
    const orr_eyes_desc desc = {.views = &s.view.camera,
                                .view_count = 1,
                                .width = WIDTH,
                                .height = HEIGHT,
                                .look = s.view,
                                .device = ORR_DEVICE_CUDA};
    assert_ok(orr_eyes_create(s.world, &desc, &s.eyes, &error));
    enum { NUMBERS = COPIES * PIXELS };
    static float depth[2][NUMBERS];
    for (int i = 0; i < 2; i++) {
        assert_ok(orr_world_set_device(s.world, i ? ORR_DEVICE_CUDA : ORR_DEVICE_CPU, &error));
        assert_ok(orr_world_step(s.world, 1, &error));
        for (int copy = 0; copy < COPIES; copy++) {
            slide(&s, s.world, copy, place_of(copy));
        }
        assert_ok(orr_eyes_draw(s.eyes, NULL, &(orr_eyes_pictures){.depth = depth[i]}, &error));
    }
    assert_int_equal(orr_world_device(s.world), ORR_DEVICE_CUDA);
    const distance off = distance_of(depth[0], depth[1], NUMBERS);
    print_message("simulated on CUDA: depth mean %.2e most %.2e\n", off.mean, off.most);
    assert_true(off.mean < 1e-6 && off.most < 2e-5);
    stage_free(&s);
}

// ---- memory and streams ----

#if ORR_CUDA_EMULATED
static void memory_is_taken_by_the_first_pictures(void **state)
{
    (void)state;
    const size_t allocations = live_allocations(), handles = live_handles();
    const uint8_t mask[COPIES] = {1, 0, 1};
    orr_eyes_cuda_pictures p;
    stage s = stage_make(false);
    draw(s.eyes, NULL, &drawn);
    draw(s.eyes, NULL, &drawn);
    const size_t made = made_allocations(), to_host = copies_to_host(), pageable = pageable_copies();
    assert_ok(orr_eyes_draw_cuda(s.eyes, mask, ALL, NULL, &p, &error));
    const size_t of_counts = copies_to_host() - to_host;
    assert_int_equal(pageable_copies(), pageable); // what the host waits for is pinned
    assert_true(of_counts > 0 && of_counts % (VIEWS * 2) == 0);
    draw(s.eyes, mask, &again);
    assert_int_equal(copies_to_host() - to_host, 2 * of_counts + 2 * 3); // three planes of two copies
    assert_int_equal(made_allocations(), made);
    stage_free(&s);
    assert_int_equal(live_allocations(), allocations);
    assert_int_equal(live_handles(), handles);
}

// They are uploaded anew for each picture, and replace each other.
static void soft_meshes_take_no_more_memory(void **state)
{
    (void)state;
    stage s = stage_make(false);
    orr_scene *scene;
    orr_world *world;
    assert_ok(orr_scene_create(s.engine, &scene, &error));
    const orr_transform at = {.position = {0.0f, 0.0f, 1.0f}};
    const orr_layer block = add_block(scene, (const float[3]){0.5f, 0.4f, 0.2f}, &at, 12);
    assert_ok(orr_scene_set_physics(scene, block, &(orr_body_desc){.soft = true, .resolution = 3}, &error));
    assert_ok(orr_world_create(scene, COPIES, &world, &error));
    const orr_eyes_desc desc = {.views = &s.view.camera,
                                .view_count = 1,
                                .width = WIDTH,
                                .height = HEIGHT,
                                .look = s.view,
                                .device = ORR_DEVICE_CUDA};
    orr_eyes *eyes[2];
    enum { NUMBERS = COPIES * PIXELS };
    static float depth[2][NUMBERS];
    assert_ok(orr_eyes_create(world, &desc, &eyes[0], &error));
    orr_eyes_desc host = desc;
    host.device = ORR_DEVICE_CPU;
    assert_ok(orr_eyes_create(world, &host, &eyes[1], &error));
    size_t live = 0;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 2; k++) {
            assert_ok(orr_eyes_draw(eyes[k], NULL, &(orr_eyes_pictures){.depth = depth[k]}, &error));
        }
        const distance off = distance_of(depth[0], depth[1], NUMBERS);
        assert_true(off.mean < 1e-6 && off.most < 2e-5);
        if (i == 0) {
            live = live_allocations();
        }
        assert_int_equal(live_allocations(), live);
        assert_ok(orr_world_step(world, 20, &error));
    }
    for (int k = 0; k < 2; k++) {
        orr_eyes_destroy(eyes[k]);
    }
    orr_world_destroy(world);
    orr_scene_destroy(scene);
    stage_free(&s);
}

// A device that is full, or is not there, is an error of one line; the eyes go on when there is room.
static void a_device_without_memory_is_an_error(void **state)
{
    (void)state;
    stage s = stage_make(false);
    orr_error why;
    orr_eyes_cuda_pictures p;
    p = draw_there(&s, NULL, &drawn);
    const uint8_t last[COPIES] = {0, 0, 1};
    for (int call = 50; call <= 150; call += 50) { // among those of the first pictures
        static pictures failed;
        for (int i = 0; i < COPIES; i++) {
            slide(&s, s.world, i, place_of(i) + 0.003 * call);
        }
        current_settings()->fail_call = call;
        current_settings()->fail_with = cudaErrorUnknown;
        assert_int_equal(orr_eyes_draw_cuda(s.eyes, NULL, ALL, NULL, &p, &why), ORR_ERROR_DEVICE);
        assert_int_equal(current_settings()->fail_call, 0);
        // those that were in flight are dropped: nothing of them comes later
        assert_ok(orr_cuda_download(s.cuda, failed.depth, p.depth, sizeof failed.depth, &error));
        assert_ok(orr_eyes_draw_cuda(s.eyes, last, ALL, NULL, &p, &error));
        assert_ok(orr_cuda_download(s.cuda, again.depth, p.depth, sizeof again.depth, &error));
        assert_memory_equal(failed.depth, again.depth, 2 * (size_t)OF_COPY * sizeof(float));
    }
    for (int i = 0; i < COPIES; i++) {
        slide(&s, s.world, i, place_of(i));
    }
    draw(s.eyes, NULL, &again);
    assert_memory_equal(&drawn, &again, sizeof drawn);
    orr_eyes *fresh = make_eyes(&s, s.world, ORR_DEVICE_CUDA, false);
    current_settings()->memory = 1;
    const orr_result full = orr_eyes_draw_cuda(fresh, NULL, ORR_EYES_DEPTH, NULL, &p, &why);
    current_settings()->memory = 0;
    assert_int_equal(full, ORR_ERROR_MEMORY);
    assert_ok(orr_eyes_draw_cuda(fresh, NULL, ORR_EYES_DEPTH, NULL, &p, &error));
    assert_null(p.rgb); // never asked for
    assert_null(p.rgba);
    assert_ok(orr_cuda_download(s.cuda, again.depth, p.depth, sizeof again.depth, &error));
    assert_memory_equal(drawn.depth, again.depth, sizeof drawn.depth);
    orr_eyes_destroy(fresh);
    stage_free(&s);
}
#endif

static void pictures_wait_for_what_reads_them(void **state)
{
    (void)state;
    stage s = stage_make(false);
    orr_eyes_cuda_pictures p = draw_there(&s, NULL, &drawn);
    cudaStream_t reader;
    void *copy;
    assert_int_equal(cudaStreamCreateWithFlags(&reader, cudaStreamNonBlocking), cudaSuccess);
    assert_int_equal(cudaMalloc(&copy, sizeof drawn.rgba), cudaSuccess);
    // the emulated stream does not begin before something waits for it
    assert_int_equal(cudaMemcpyAsync(copy, p.rgba, sizeof drawn.rgba, cudaMemcpyDeviceToDevice, reader),
                     cudaSuccess);
    for (int i = 0; i < COPIES; i++) {
        slide(&s, s.world, i, 0.7 - 0.1 * i);
    }
    assert_ok(orr_eyes_draw_cuda(s.eyes, NULL, ORR_EYES_RGBA, reader, &p, &error));
    assert_int_equal(cudaStreamSynchronize(reader), cudaSuccess);
    assert_ok(orr_cuda_download(s.cuda, again.rgba, copy, sizeof again.rgba, &error));
    assert_memory_equal(drawn.rgba, again.rgba, sizeof drawn.rgba);
    assert_ok(orr_cuda_download(s.cuda, again.rgba, p.rgba, sizeof again.rgba, &error));
    assert_memory_not_equal(drawn.rgba, again.rgba, sizeof drawn.rgba);
    // a plane that was not asked for this time stays as it is
    assert_ok(orr_cuda_download(s.cuda, again.depth, p.depth, sizeof again.depth, &error));
    assert_memory_equal(drawn.depth, again.depth, sizeof drawn.depth);
    cudaFree(copy);
    cudaStreamDestroy(reader);
    stage_free(&s);
}

// ---- what is refused ----

static void assert_refused(orr_result got, orr_result expected, const orr_error *why, const char *line)
{
    assert_int_equal(got, expected);
    if (!strstr(why->message, line)) {
        fail_msg("\"%s\": expected \"%s\"", why->message, line);
    }
}

static void what_cuda_does_not_draw_is_refused(void **state)
{
    (void)state;
    stage s = stage_make(false);
    orr_error why;
    orr_eyes *eyes;
    orr_eyes_cuda_pictures p;
    const orr_eyes_target target = {.geom = "box"};
    const orr_eyes_surfaces_desc surfaces = {.targets = &target, .target_count = 1};
    assert_refused(orr_eyes_vary_surfaces(s.eyes, &surfaces, &why), ORR_ERROR_UNSUPPORTED, &why,
                   "surfaces that vary");
    orr_eyes_desc desc = {.views = &s.view.camera,
                          .view_count = 1,
                          .width = WIDTH,
                          .height = HEIGHT,
                          .device = ORR_DEVICE_VULKAN};
    assert_refused(orr_eyes_create(s.world, &desc, &eyes, &why), ORR_ERROR_UNSUPPORTED, &why, "vulkan");
    assert_null(eyes);
    desc.device = (orr_device_kind)9;
    assert_refused(orr_eyes_create(s.world, &desc, &eyes, &why), ORR_ERROR_ARGUMENT, &why, "device 9");
    static const unsigned wrong[] = {0, 64, ALL | 128};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_refused(orr_eyes_draw_cuda(s.eyes, NULL, wrong[i], NULL, &p, &why), ORR_ERROR_ARGUMENT, &why,
                       "planes");
    }
    orr_eyes *host = make_eyes(&s, s.world, ORR_DEVICE_CPU, false);
    assert_refused(orr_eyes_draw_cuda(host, NULL, ALL, NULL, &p, &why), ORR_ERROR_UNSUPPORTED, &why,
                   "expected eyes whose device is cuda");
    orr_eyes_destroy(host);
    stage_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_are_those_of_frames),
        cmocka_unit_test(pictures_are_near_those_of_the_cpu),
        cmocka_unit_test(a_copy_alone_has_the_same_bits),
        cmocka_unit_test(other_copies_stay_as_they_are),
        cmocka_unit_test(copies_that_begin_again_look_as_before),
        cmocka_unit_test(robots_that_cuda_simulates_are_seen),
        cmocka_unit_test(pictures_wait_for_what_reads_them),
        cmocka_unit_test(what_cuda_does_not_draw_is_refused),
#if ORR_CUDA_EMULATED
        cmocka_unit_test(memory_is_taken_by_the_first_pictures),
        cmocka_unit_test(soft_meshes_take_no_more_memory),
        cmocka_unit_test(a_device_without_memory_is_an_error),
#endif
    };
    return cmocka_run_group_tests(tests, need_cuda, NULL);
}
