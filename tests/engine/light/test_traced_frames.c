// Frames of which the CPU draws a part for a device: smooth surfaces and glass whose rays it follows, and
// fields in mirrors that it marches. They look as the CPU's own, in order, however many are in flight. The
// validation layer watches where it is installed.
#include "assets/clouds.h"
#include "engine/loop/devices.h"
#include "engine/loop/window.h"
#include "engine/scene/scene.h"
#include "tests/support/scenes/fog.h"
#include "tests/support/scenes/sphere_scene.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 60, HIGH = 46, ALL = WIDE * HIGH };

static orr_engine *engine;          // one for all tests: opening a device takes longer than most of them
static orr_device_kind machines[3]; // that draw here, the CPU first
static orr_frame *frames[3];        // of each: a software driver compiles shaders for each frame anew
static int machine_count;
static int complaints; // lines of warning
static int told;       // lines about rays

// A floor that mirrors, with a box; above it a chrome sphere, a ball of glass, a matte sphere, a cloud before
// the chrome one, and fogs: one that CUDA draws, one that it leaves to the CPU.
typedef struct stage {
    orr_field *fields[2];
    orr_occupancy grid;
    orr_scene *scene;
    orr_world *world;
    orr_layer floor, smooth[2], fogs[2];
    orr_view view;
} stage;

static const char floor_model[] =
    "<mujoco><asset><material name='m' rgba='.15 .2 .3 1' reflectance='.5'/></asset><worldbody>"
    "<geom type='plane' size='3 3 .1' material='m'/>"
    "<body pos='-.1 -1 .9'><freejoint/><geom type='box' size='.15 .15 .15' rgba='.1 .8 .2 1'/></body>"
    "</worldbody></mujoco>";

static orr_layer add_sphere(stage *s, float metallic, float x, float y, float z, float scale)
{
    orr_layer layer;
    const orr_transform at = {.position = {x, y, z}, .rotation = {1}, .scale = scale};
    const char *path = write_sphere(metallic, metallic > 0.0f ? 0.0f : 0.8f, 0.9f);
    assert_ok(orr_scene_add_file(s->scene, path, &at, &layer, &error));
    return layer;
}

static void add_fog(stage *s, int i, float x)
{
    const float to_unit[12] = {1.6f, 0, 0, 0.5f, 0, 0, 1.6f, -0.6f, 0, 1.6f, 0, 0.5f};
    orr_layer_data layer = {.kind = ORR_LAYER_FIELD, .visible = true};
    s->fields[i] = make_fog(engine, 3, i == 0 ? 64 : 32);
    float moved[12];
    memcpy(moved, to_unit, sizeof moved);
    moved[3] -= 1.6f * x;
    assert_ok(orr_field_layer_borrow(s->fields[i], &s->grid, moved, engine->jobs, &layer.field, &error));
    assert_ok(orr_scene_append(s->scene, layer, i == 0 ? "fog" : "second fog", NULL, &error));
    s->fogs[i] = orr_scene_layer(s->scene, orr_scene_layer_count(s->scene) - 1);
}

static void stage_make(stage *s)
{
    const orr_sun_desc sun = {
        .direction = {0.4f, -0.6f, 0.8f}, .colour = {0.7f, 0.7f, 0.6f}, .ambient = {0.3f, 0.3f, 0.35f}};
    *s = (stage){0};
    assert_ok(orr_scene_create(engine, &s->scene, &error));
    assert_ok(orr_scene_set_sun(s->scene, &sun, &error));
    assert_ok(orr_scene_add_file(s->scene, written("floor.xml", floor_model), NULL, &s->floor, &error));
    s->smooth[0] = add_sphere(s, 1.0f, -0.75f, 0.2f, 0.65f, 0.55f);
    s->smooth[1] = add_sphere(s, 0.0f, 0.45f, -0.5f, 0.5f, 0.4f);
    const orr_glass_desc glass = {.transmission = 1.0f, .ior = 1.5f, .thickness = 1.0f};
    assert_ok(orr_scene_set_glass(s->scene, s->smooth[1], 0, &glass, &error));
    add_sphere(s, 0.0f, 0.9f, 0.8f, 0.4f, 0.4f);
    orr_splats *splats = make_cloud(CLOUD_BALL, 300, 1, 4);
    const orr_transform before = {.position = {-0.6f, -0.9f, 0.45f}, .rotation = {1}, .scale = 0.3f};
    assert_ok(orr_scene_add_splats(s->scene, "cloud", splats, &before, NULL, &error));
    orr_splats_destroy(splats);
    make_sheets(engine, &s->grid);
    add_fog(s, 0, 0.1f);
    add_fog(s, 1, 1.0f);
    assert_ok(orr_scene_set_rays(s->scene, true, &error));
    assert_ok(orr_world_create(s->scene, 1, &s->world, &error));
    const float eye[3] = {0.2f, -3.6f, 1.5f}, target[3] = {0.0f, 0.0f, 0.45f}, up[3] = {0, 0, 1};
    s->view = (orr_view){.camera = orr_camera_look_at(eye, target, up, 0.8f, WIDE, HIGH)};
}

static void stage_free(stage *s)
{
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
    orr_occupancy_destroy(&s->grid);
    orr_field_destroy(s->fields[0]);
    orr_field_destroy(s->fields[1]);
}

// Shows two layers, or hides them.
static void show(stage *s, const orr_layer layers[2], bool visible)
{
    for (int i = 0; i < 2; i++) {
        assert_ok(orr_world_set_visible(s->world, 0, layers[i], visible, &error));
    }
}

// ---- pictures ----

typedef struct picture {
    float rgba[4 * ALL], depth[ALL];
} picture;

static void submit(int m, stage *s)
{
    assert_ok(orr_frame_submit(frames[m], s->scene, s->world, &s->view, &error));
}

static void finish(int m, picture *out)
{
    memset(out, 0xff, sizeof *out); // NaN: every pixel must be written
    assert_ok(orr_frame_finish(frames[m], &(orr_picture){out->rgba, out->depth}, &error));
}

static void draw_on(int m, stage *s, bool rays, picture *out)
{
    assert_ok(orr_scene_set_rays(s->scene, rays, &error));
    submit(m, s);
    finish(m, out);
}

// Pixels in which `changed` differs from `plain`, but not those of `other`; and how many of them differ in
// `machine`.
typedef struct agreement {
    int shown, off;
} agreement;

static bool differ(const picture *a, const picture *b, int i, double by)
{
    return !(largest_difference(a->rgba + 4 * i, b->rgba + 4 * i, 4) <= by);
}

static agreement compare(const picture *machine, const picture *changed, const picture *plain,
                         const bool *left_out)
{
    agreement a = {0};
    for (int i = 0; i < ALL; i++) {
        if (!left_out[i] && differ(changed, plain, i, 0.02)) {
            a.shown++;
            a.off += differ(machine, changed, i, 2.0 / 255.0);
        }
    }
    return a;
}

// What the CPU draws: all of it; without rays; without fogs. seen: pixels that show fog without mirrors
typedef struct expectation {
    picture all, no_rays, no_fogs, no_mirrors, neither;
    bool seen[ALL], nowhere[ALL];
} expectation;

static void expect(stage *s, expectation *e)
{
    memset(e->nowhere, 0, sizeof e->nowhere);
    draw_on(0, s, true, &e->all);
    draw_on(0, s, false, &e->no_rays);
    s->view.no_mirrors = true;
    draw_on(0, s, true, &e->no_mirrors);
    show(s, s->fogs, false);
    draw_on(0, s, true, &e->neither);
    s->view.no_mirrors = false;
    draw_on(0, s, true, &e->no_fogs);
    show(s, s->fogs, true);
    for (int i = 0; i < ALL; i++) {
        e->seen[i] = differ(&e->no_mirrors, &e->neither, i, 0.0);
    }
}

// The bar between machines where edges are anti-aliased, as for mirrors (test_vulkan_mirrors.c): 2/255, but
// one pixel in 20, and 50 dB of the whole picture.
static void assert_agrees(const char *what, agreement a, int least)
{
    print_message("    %s: %d pixels, of which %d differ\n", what, a.shown, a.off);
    assert_true(a.shown > least && a.off <= a.shown / 20);
}

static void devices_show_what_rays_and_mirrors_do_on_the_cpu(void **state)
{
    (void)state;
    stage s;
    expectation *e = malloc(sizeof *e);
    picture *machine = malloc(sizeof *machine);
    stage_make(&s);
    expect(&s, e);
    for (int m = 1; m < machine_count; m++) {
        complaints = told = 0;
        draw_on(m, &s, true, machine);
        const double quality = psnr(machine->rgba, e->all.rgba, 4 * ALL);
        print_message("    device %d: %.1f dB\n", machines[m], quality);
        assert_agrees("rays", compare(machine, &e->all, &e->no_rays, e->nowhere), 250);
        assert_agrees("fields in mirrors", compare(machine, &e->all, &e->no_fogs, e->seen), 40);
        assert_true(quality >= 50.0);
        assert_int_equal(told, 0);
        assert_int_equal(complaints, machines[m] == ORR_DEVICE_CUDA); // that the CPU draws the second fog
    }
    complaints = 0;
    free(machine);
    free(e);
    stage_free(&s);
}

// A frame without smooth surfaces between those with them. Where rays are off glass is a film, of which the
// log has a line.
static void frames_with_and_without_rays_come_out_in_order(void **state)
{
    (void)state;
    stage s;
    picture *expected[2] = {malloc(sizeof **expected), malloc(sizeof **expected)}, *out = malloc(sizeof *out);
    stage_make(&s);
    show(&s, s.fogs, false);
    for (int m = 1; m < machine_count; m++) {
        told = 0;
        draw_on(m, &s, false, out);
        assert_int_equal(told, 1);
        for (int k = 0; k < 2; k++) {
            show(&s, s.smooth, k == 1);
            draw_on(m, &s, true, expected[k]);
        }
        draw_on(0, &s, true, out); // without fields nothing but rays is the host's
        assert_true(psnr(expected[1]->rgba, out->rgba, 4 * ALL) >= 50.0);
        for (int k = 0; k < 3; k++) {
            show(&s, s.smooth, k != 1);
            submit(m, &s);
        }
        for (int k = 0; k < 3; k++) {
            finish(m, out);
            assert_memory_equal(out, expected[k != 1], sizeof *out);
        }
    }
    for (int i = 0; i < 2; i++) {
        free(expected[i]);
    }
    free(out);
    stage_free(&s);
}

// A frame for a window, which otherwise ends in an image, ends in memory: the device gets what the CPU has
// drawn of it.
static void a_window_shows_what_rays_find(void **state)
{
    (void)state;
    stage s;
    picture *expected = malloc(sizeof *expected), *out = malloc(sizeof *out);
    stage_make(&s);
    show(&s, s.fogs, false);
    for (int m = 1; m < machine_count && machines[m] == ORR_DEVICE_VULKAN; m++) {
        draw_on(m, &s, true, expected);
        memset(out, 0xff, sizeof *out);
        assert_ok(orr_frame_submit_for_window(frames[m], s.scene, s.world, &s.view, &error));
        assert_ok(
            orr_frame_finish_for_window(frames[m], &(orr_picture){out->rgba, out->depth}, NULL, &error));
        assert_int_equal(orr_frame_location(frames[m]), ORR_PICTURE_IN_MEMORY);
        assert_memory_equal(out, expected, sizeof *out);
    }
    free(expected);
    free(out);
    stage_free(&s);
}

// Where only CUDA knows how a robot has moved, the host finds out before it follows rays that meet it.
static void rays_meet_robots_that_cuda_simulates(void **state)
{
    (void)state;
    if (machines[machine_count - 1] != ORR_DEVICE_CUDA) {
        skip();
    }
    stage s;
    picture *moved[2] = {malloc(sizeof **moved), malloc(sizeof **moved)}, *at_rest = malloc(sizeof *at_rest);
    static const bool nowhere[ALL];
    static const double place[7] = {0.3, -1.0, 0.5, 1.0};
    stage_make(&s);
    show(&s, s.fogs, false);
    draw_on(0, &s, true, at_rest);
    for (int i = 0; i < 2; i++) {
        const int m = i ? machine_count - 1 : 0;
        orr_world_destroy(s.world);
        assert_ok(orr_world_create(s.scene, 1, &s.world, &error));
        show(&s, s.fogs, false);
        assert_ok(orr_world_set_device(s.world, machines[m], &error));
        assert_ok(orr_world_set_robot(s.world, 0, s.floor, ORR_ROBOT_QPOS, place, &error));
        assert_ok(orr_world_step(s.world, 1, &error));
        draw_on(m, &s, true, moved[i]);
    }
    assert_agrees("a robot", compare(moved[1], moved[0], at_rest, nowhere), 60);
    assert_true(psnr(moved[1]->rgba, moved[0]->rgba, 4 * ALL) >= 50.0);
    for (int i = 0; i < 2; i++) {
        free(moved[i]);
    }
    free(at_rest);
    stage_free(&s);
}

static void listen(void *user, orr_log_level level, int code, const char *line)
{
    (void)user;
    (void)code;
    told += strstr(line, "refraction") != NULL;
    if (level >= ORR_LOG_WARNING) {
        complaints++;
        print_message("%s\n", line);
    }
}

static bool open_engine(bool validate, orr_device_kind device)
{
    const orr_engine_desc desc = {.device = device, .threads = 2, .log = listen, .validate = validate};
    orr_frame *frame; // the device is opened for the first
    if (orr_engine_create(&desc, &engine, NULL) != ORR_OK) {
        return false;
    }
    if (orr_frame_create(engine, NULL, &frame, NULL) == ORR_OK) {
        orr_frame_destroy(frame);
        return true;
    }
    orr_engine_destroy(engine);
    return false;
}

static void open_machine(orr_device_kind device)
{
    const orr_frame_desc desc = {.device = device, .frames_in_flight = 3};
    machines[machine_count] = device;
    assert_ok(orr_frame_create(engine, &desc, &frames[machine_count++], &error));
}

// On Vulkan where there is a device, watched where there is a validation layer.
static int open_machines(void **state)
{
    (void)state;
    orr_cuda *cuda;
    assert_true(open_engine(true, ORR_DEVICE_VULKAN) || open_engine(false, ORR_DEVICE_VULKAN) ||
                open_engine(false, ORR_DEVICE_CPU));
    complaints = 0;
    open_machine(ORR_DEVICE_CPU);
    if (engine->device == ORR_DEVICE_VULKAN) {
        open_machine(ORR_DEVICE_VULKAN);
    }
    if (orr_engine_take_cuda(engine, &cuda, NULL) == ORR_OK) {
        open_machine(ORR_DEVICE_CUDA);
    }
    return 0;
}

static int close_machines(void **state)
{
    (void)state;
    for (int m = 0; m < machine_count; m++) {
        orr_frame_destroy(frames[m]);
    }
    orr_engine_destroy(engine);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_show_what_rays_and_mirrors_do_on_the_cpu),
        cmocka_unit_test(frames_with_and_without_rays_come_out_in_order),
        cmocka_unit_test(a_window_shows_what_rays_find),
        cmocka_unit_test(rays_meet_robots_that_cuda_simulates),
    };
    const int failures = cmocka_run_group_tests(tests, open_machines, close_machines);
    return failures + complaints;
}
