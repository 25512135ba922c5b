// Tests of pictures in the memory of a CUDA device (a GPU, or the emulated one), and of frames that have none
// there.
#include "assets/clouds.h"
#include "orr_features.h"
#include "tests/support/support.h"

#include <string.h>

#if ORR_HAVE_CUDA
#include "engine/device/cuda_gpu.h"
#include "engine/loop/devices.h"
#endif

enum { WIDTH = 40, HEIGHT = 24, PIXELS = WIDTH * HEIGHT };

typedef struct stage {
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
} stage;

// false: there is no such device here
static bool stage_make(stage *s, orr_device_kind device)
{
    orr_layer layer;
    if (orr_engine_create(&(orr_engine_desc){.threads = 2, .device = device}, &s->engine, NULL) != ORR_OK) {
        return false;
    }
    orr_splats *splats = make_cloud(CLOUD_BALL, 100, 1, 4);
    assert_ok(orr_scene_create(s->engine, &s->scene, &error));
    assert_ok(orr_scene_add_splats(s->scene, "ball", splats, NULL, &layer, &error));
    orr_splats_destroy(splats);
    assert_ok(orr_world_create(s->scene, 1, &s->world, &error));
    return true;
}

static void stage_free(stage *s)
{
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
    orr_engine_destroy(s->engine);
}

static orr_frame *make_frame(const stage *s)
{
    orr_frame *frame;
    assert_ok(orr_frame_create(s->engine, NULL, &frame, &error));
    return frame;
}

static void submit(orr_frame *frame, const stage *s, float x, int width)
{
    const float eye[3] = {x, 0.0f, -3.0f}, target[3] = {0}, up[3] = {0.0f, -1.0f, 0.0f};
    const orr_view view = {.camera = orr_camera_look_at(eye, target, up, 0.8f, width, HEIGHT)};
    assert_ok(orr_frame_submit(frame, s->scene, s->world, &view, &error));
}

static void the_cpu_has_none(void **state)
{
    (void)state;
    stage s;
    float rgba[4 * PIXELS];
    assert_true(stage_make(&s, ORR_DEVICE_CPU));
    orr_frame *frame = make_frame(&s);
    submit(frame, &s, 0.0f, WIDTH);
    assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = rgba}, &error));
    orr_error why;
    struct {
        orr_cuda_picture picture;
        int64_t later;
    } out = {{.rgba = rgba}, 5};
    assert_int_equal(orr_frame_cuda_picture_sized(frame, &out.picture, sizeof out, &why),
                     ORR_ERROR_UNSUPPORTED);
    assert_non_null(strstr(why.message, "drawn on cpu"));
    assert_null(out.picture.rgba);
    assert_int_equal(out.later, 0); // a member that this version does not have
    orr_frame_destroy(frame);
    stage_free(&s);
}

#if ORR_HAVE_CUDA
typedef struct planes {
    float rgba[4 * PIXELS], depth[PIXELS];
} planes;

static void assert_there_is_none(const orr_frame *frame)
{
    orr_error why;
    orr_cuda_picture picture;
    assert_int_equal(orr_frame_cuda_picture(frame, &picture, &why), ORR_ERROR_ARGUMENT);
    assert_null(picture.rgba);
}

// Reads the picture that was finished last from the device.
static void read_back(const orr_frame *frame, orr_cuda *cuda, int width, planes *out)
{
    orr_cuda_picture picture;
    assert_ok(orr_frame_cuda_picture(frame, &picture, &error));
    assert_int_equal(picture.width, width);
    assert_int_equal(picture.height, HEIGHT);
    assert_int_equal(picture.device, cuda->device);
    assert_ptr_equal(picture.stream, cuda->stream);
    size_t pixels = (size_t)width * HEIGHT;
    memset(out, 0xff, sizeof *out);
    assert_ok(orr_cuda_download(cuda, out->rgba, picture.rgba, 4 * pixels * sizeof(float), &error));
    assert_ok(orr_cuda_download(cuda, out->depth, picture.depth, pixels * sizeof(float), &error));
}

static void a_finished_picture_is_in_the_devices_memory(void **state)
{
    (void)state;
    stage s;
    if (!stage_make(&s, ORR_DEVICE_CUDA)) {
        skip();
    }
    orr_cuda *cuda;
    planes host[2], device;
    assert_ok(orr_engine_take_cuda(s.engine, &cuda, &error));
    orr_frame *frame = make_frame(&s);
    assert_there_is_none(frame);
    for (int i = 0; i < 2; i++) {
        memset(&host[i], 0xff, sizeof host[i]);
        submit(frame, &s, (float)i, WIDTH - 8 * i);
        assert_there_is_none(frame);
        assert_ok(orr_frame_finish(frame, &(orr_picture){host[i].rgba, host[i].depth}, &error));
        read_back(frame, cuda, WIDTH - 8 * i, &device);
        assert_memory_equal(&device, &host[i], sizeof device);
    }
    assert_memory_not_equal(&host[0], &host[1], sizeof device);

    // two in flight, neither copied to the host: the one finished last
    submit(frame, &s, 0.0f, WIDTH);
    submit(frame, &s, 1.0f, WIDTH - 8);
    for (int i = 0; i < 2; i++) {
        bool ready;
        assert_ok(orr_frame_finish(frame, &(orr_picture){0}, &error));
        read_back(frame, cuda, WIDTH - 8 * i, &device);
        assert_memory_equal(&device, &host[i], sizeof device);
        if (i == 0) {
            assert_ok(orr_frame_advance(frame, 1.0, &ready, &error));
            assert_there_is_none(frame);
        }
    }
    orr_frame_discard(frame);
    assert_there_is_none(frame);
    assert_int_not_equal(orr_frame_finish(frame, NULL, NULL), ORR_OK);
    assert_there_is_none(frame);
    orr_frame_destroy(frame);
    stage_free(&s);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cpu_has_none),
#if ORR_HAVE_CUDA
        cmocka_unit_test(a_finished_picture_is_in_the_devices_memory),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
