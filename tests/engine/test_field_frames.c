// Frames of scenes with fields, splats and a mesh: on Vulkan, where the CPU marches the fields, and on CUDA
// they look as on the CPU, and drawn part by part they are the same bits as drawn at once. The validation
// layer watches where it is installed.
#include "assets/clouds.h"
#include "engine/loop/devices.h"
#include "engine/scene/scene.h"
#include "orr_features.h"
#include "tests/support/scenes/fog.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 48,
    HEIGHT = 32,
    PIXELS = WIDTH * HEIGHT,
    TILES = WIDTH / ORR_FIELD_TILE * (HEIGHT / ORR_FIELD_TILE)
};

static orr_engine *engine;          // one for all tests: opening a device takes longer than most of them
static orr_device_kind machines[3]; // that draw here, the CPU first
static int machine_count;
static int complaints; // lines of warning

// A fog of a field in the middle, a ball of splats in and around it, and a tilted square through both.
typedef struct stage {
    orr_field *field;
    orr_occupancy grid;
    orr_scene *scene;
    orr_world *world; // of two copies
    orr_layer fog, ball, square;
    orr_view view;
} stage;

static void add_fog(stage *s)
{
    s->field = make_fog(engine, 3, 64);
    make_sheets(engine, &s->grid);
    const float to_unit[12] = {1, 0, 0, 0.5f, 0, 1, 0, 0.5f, 0, 0, 1, 0.5f};
    orr_layer_data layer = {.kind = ORR_LAYER_FIELD, .visible = true};
    assert_ok(orr_field_layer_borrow(s->field, &s->grid, to_unit, engine->jobs, &layer.field, &error));
    assert_ok(orr_scene_append(s->scene, layer, "fog", NULL, &error));
    s->fog = orr_scene_layer(s->scene, orr_scene_layer_count(s->scene) - 1);
}

static void stage_make(stage *s)
{
    *s = (stage){0};
    assert_ok(orr_scene_create(engine, &s->scene, &error));
    add_fog(s);
    orr_splats *splats = make_cloud(CLOUD_BALL, 800, 1, 4);
    const orr_transform half = {.scale = 0.6f};
    assert_ok(orr_scene_add_splats(s->scene, "ball", splats, &half, &s->ball, &error));
    orr_splats_destroy(splats);
    const char *path = scratch_path("square.obj");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("v -0.4 -0.4 -0.2\nv 0.4 -0.4 0.1\nv 0.4 0.4 0.3\nv -0.4 0.4 0\nf 1 2 3 4\n", file);
    fclose(file);
    assert_ok(orr_scene_add_file(s->scene, path, NULL, &s->square, &error));
    assert_ok(orr_world_create(s->scene, 2, &s->world, &error));
    const float eye[3] = {0.6f, -0.4f, -2.0f}, target[3] = {0}, up[3] = {0.0f, -1.0f, 0.0f};
    // samples of edges are shaded at places of their own by each machine (test_edges, test_vulkan)
    s->view =
        (orr_view){.camera = orr_camera_look_at(eye, target, up, 0.7f, WIDTH, HEIGHT), .hard_edges = true};
}

static void stage_free(stage *s)
{
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
    orr_occupancy_destroy(&s->grid);
    orr_field_destroy(s->field);
}

static void show(stage *s, int world, bool fog, bool ball, bool square)
{
    assert_ok(orr_world_set_visible(s->world, world, s->fog, fog, &error));
    assert_ok(orr_world_set_visible(s->world, world, s->ball, ball, &error));
    assert_ok(orr_world_set_visible(s->world, world, s->square, square, &error));
}

typedef struct planes {
    float rgba[4 * PIXELS], depth[PIXELS];
} planes;

static orr_frame *frame_make(orr_device_kind device)
{
    orr_frame *frame;
    assert_ok(
        orr_frame_create(engine, &(orr_frame_desc){.device = device, .frames_in_flight = 3}, &frame, &error));
    return frame;
}

static void submit(orr_frame *frame, stage *s, int world)
{
    s->view.world = world;
    assert_ok(orr_frame_submit(frame, s->scene, s->world, &s->view, &error));
}

static void finish(orr_frame *frame, planes *out)
{
    memset(out, 0xff, sizeof *out); // NaN: every pixel must be written
    assert_ok(orr_frame_finish(frame, &(orr_picture){out->rgba, out->depth}, &error));
}

static void draw(orr_device_kind device, stage *s, planes *out)
{
    orr_frame *frame = frame_make(device);
    submit(frame, s, 0);
    finish(frame, out);
    orr_frame_destroy(frame);
}

static void assert_same_picture(const planes *a, const planes *b)
{
    double quality = psnr(a->rgba, b->rgba, 4 * PIXELS), depth = 0.0;
    int odd = 0, odd_depth = 0;
    for (int i = 0; i < PIXELS; i++) {
        double worst = largest_difference(a->rgba + 4 * i, b->rgba + 4 * i, 4);
        odd += !(worst <= 2.0 / 255.0);
        double apart = fabs((double)a->depth[i] - (double)b->depth[i]);
        odd_depth += !(apart <= 1e-3);
        depth = fmax(depth, apart);
    }
    print_message("    %.1f dB, %d pixels over 2/255, %d depths over 1e-3\n", quality, odd, odd_depth);
    // The marching is the same code, or the same formulas with halves in the networks (test_cuda_fields).
    // What is left: a pixel centre within rounding of the square's rim falls on either side (its triangles'
    // edges pass some 200 pixels), and a splat at a mesh's or fog's depth comes before or after it.
    assert_true(quality >= 50.0);
    assert_true(odd <= PIXELS / 500);
    assert_true(odd_depth <= PIXELS / 500);
}

// Fields alone are seen through the lens, pixel by pixel where its polynomials say; in one picture with
// others, all are seen through a pinhole.
static void a_distorted_lens_bends_the_rays_of_fields_seen_alone(void **state)
{
    (void)state;
    stage s;
    stage_make(&s);
    planes *bent = malloc(sizeof *bent), *pinhole = malloc(sizeof *pinhole), *wide = malloc(sizeof *wide);
    const float radial[4] = {-0.3f, 0.1f, 0.0f, 0.02f}, tangential[2] = {0.02f, -0.01f};
    const orr_camera straight = s.view.camera;
    orr_camera curved = straight;
    memcpy(curved.radial, radial, sizeof radial);
    memcpy(curved.tangential, tangential, sizeof tangential);
    // fog everywhere: rays that are a rounding apart may not fall on either side of an edge
    memset(s.grid.thickness, 0, (size_t)s.grid.cells * sizeof *s.grid.thickness);
    orr_occupancy_refresh(&s.grid, engine->jobs);
    show(&s, 0, true, false, false);
    s.view.camera = curved;
    draw(ORR_DEVICE_CPU, &s, bent);
    s.view.camera = straight;
    draw(ORR_DEVICE_CPU, &s, pinhole);
    assert_true(psnr(bent->rgba, pinhole->rgba, 4 * PIXELS) < 40.0); // it does something
    for (int i = 0; i < 12; i++) {
        // a place (x, y, 1) before the camera, near the middle of pixel (u, v) by OpenCV's formula
        int u = 7 + 3 * i, v = 4 + 2 * i;
        double goal[2] = {(u + 0.5 - 0.5 * WIDTH) / (double)straight.focal[0],
                          (v + 0.5 - 0.5 * HEIGHT) / (double)straight.focal[1]};
        double x = goal[0], y = goal[1];
        for (int step = 0; step < 100; step++) { // it contracts: the distortion is weak
            double r2 = x * x + y * y;
            double stretch = 1.0 - 0.3 * r2 + 0.1 * r2 * r2 + 0.02 * r2 * r2 * r2 * r2;
            double dx = 2.0 * 0.02 * x * y - 0.01 * (r2 + 2.0 * x * x);
            double dy = 0.02 * (r2 + 2.0 * y * y) - 2.0 * 0.01 * x * y;
            x = (goal[0] - dx) / stretch;
            y = (goal[1] - dy) / stretch;
        }
        // a pinhole whose pixel (u, v) looks there
        s.view.camera.centre[0] = (float)(u + 0.5 - x * (double)straight.focal[0]);
        s.view.camera.centre[1] = (float)(v + 0.5 - y * (double)straight.focal[1]);
        draw(ORR_DEVICE_CPU, &s, wide);
        int at = v * WIDTH + u;
        // float32 of two roads to the same ray; features of the fog are 500 cells wide, a ray is 1e-6 off
        assert_true(largest_difference(bent->rgba + 4 * at, wide->rgba + 4 * at, 4) < 2e-3);
    }
    show(&s, 0, true, true, true);
    s.view.camera = curved;
    draw(ORR_DEVICE_CPU, &s, bent);
    s.view.camera = straight;
    draw(ORR_DEVICE_CPU, &s, pinhole);
    assert_memory_equal(bent, pinhole, sizeof *bent);
    free(bent);
    free(pinhole);
    free(wide);
    stage_free(&s);
}

// Likewise through a fisheye, whose pixels' angles are found by halving; its depth is the distance.
static void a_fisheye_bends_the_rays_of_fields_seen_alone(void **state)
{
    (void)state;
    stage s;
    stage_make(&s);
    planes *bent = malloc(sizeof *bent), *wide = malloc(sizeof *wide);
    const orr_camera straight = s.view.camera;
    orr_camera fisheye = straight;
    fisheye.model = ORR_CAMERA_FISHEYE;
    fisheye.radial[0] = -0.2f;
    fisheye.radial[1] = 0.05f;
    memset(s.grid.thickness, 0, (size_t)s.grid.cells * sizeof *s.grid.thickness);
    orr_occupancy_refresh(&s.grid, engine->jobs);
    show(&s, 0, true, false, false);
    s.view.camera = fisheye;
    draw(ORR_DEVICE_CPU, &s, bent);
    s.view.camera = straight;
    double moved = 0.0;
    int seen = 0;
    for (int i = 0; i < 12; i++) {
        const int u = 7 + 3 * i, v = 4 + 2 * i;
        const double x = (u + 0.5 - 0.5 * WIDTH) / (double)straight.focal[0];
        const double y = (v + 0.5 - 0.5 * HEIGHT) / (double)straight.focal[1], r = hypot(x, y);
        double low = 0.0, high = 1.4;
        for (int step = 0; step < 60; step++) {
            const double a = 0.5 * (low + high);
            *(a * (1.0 - 0.2 * a * a + 0.05 * a * a * a * a) < r ? &low : &high) = a;
        }
        const double out = r > 0.0 ? tan(low) / r : 1.0;
        moved = fmax(moved, fabs(out - 1.0) * r * (double)straight.focal[0]);
        // a pinhole whose pixel (u, v) looks there
        s.view.camera.centre[0] = (float)(u + 0.5 - x * out * (double)straight.focal[0]);
        s.view.camera.centre[1] = (float)(v + 0.5 - y * out * (double)straight.focal[1]);
        draw(ORR_DEVICE_CPU, &s, wide);
        const int at = v * WIDTH + u;
        // as above
        assert_true(largest_difference(bent->rgba + 4 * at, wide->rgba + 4 * at, 4) < 2e-3);
        const double distance = (double)wide->depth[at] / cos(low);
        seen += distance > 0.0;
        assert_true(fabs((double)bent->depth[at] - distance) <= 2e-3 * distance);
    }
    assert_true(moved > 1.0 && seen > 3);
    free(bent);
    free(wide);
    stage_free(&s);
}

static void look_as_on_the_cpu(orr_device_kind device)
{
    stage s;
    stage_make(&s);
    planes *cpu = malloc(sizeof *cpu), *other = malloc(sizeof *other), *without = malloc(sizeof *without);
    const bool shown[6][3] = {{1, 0, 0}, {1, 1, 0}, {1, 0, 1}, {1, 1, 1}, {1, 0, 0}, {1, 1, 1}};
    for (int i = 0; i < 6; i++) {
        s.view.camera.model = i == 4 ? ORR_CAMERA_FISHEYE : ORR_CAMERA_PERSPECTIVE;
        s.view.camera.radial[0] = i == 4 ? 0.3f : 0.0f;
        if (i == 5) {
            s.view.camera.model = ORR_CAMERA_ORTHOGRAPHIC;
            s.view.camera.focal[0] = s.view.camera.focal[1] = 50.0f;
        }
        show(&s, 0, shown[i][0], shown[i][1], shown[i][2]);
        draw(ORR_DEVICE_CPU, &s, cpu);
        draw(device, &s, other);
        assert_same_picture(other, cpu);
        show(&s, 0, false, shown[i][1], shown[i][2]);
        draw(device, &s, without);
        double apart = psnr(other->rgba, without->rgba, 4 * PIXELS);
        print_message("    without the fog: %.1f dB\n", apart);
        assert_true(apart < 45.0); // it makes a difference
    }
    free(cpu);
    free(other);
    free(without);
    stage_free(&s);
}

// The pixel in which a camera with OpenCV's distortion sees a point.
static void project_through_lens(const orr_camera *c, const float point[3], float pixel[2])
{
    double local[3] = {0};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            local[i] += (double)c->pose[4 * k + i] * ((double)point[k] - (double)c->pose[4 * k + 3]);
        }
    }
    const float *k = c->radial, *p = c->tangential;
    double x = local[0] / local[2], y = local[1] / local[2], r2 = x * x + y * y;
    double stretch = 1.0 + (double)k[0] * r2 + (double)k[1] * r2 * r2 + (double)k[2] * pow(r2, 3) +
                     (double)k[3] * pow(r2, 4);
    double at[2] = {x * stretch + 2.0 * (double)p[0] * x * y + (double)p[1] * (r2 + 2.0 * x * x),
                    y * stretch + (double)p[0] * (r2 + 2.0 * y * y) + 2.0 * (double)p[1] * x * y};
    pixel[0] = (float)(0.5 * WIDTH + (double)c->focal[0] * at[0]);
    pixel[1] = (float)(0.5 * HEIGHT + (double)c->focal[1] * at[1]);
}

// Where the middle of what is seen is [px].
static void middle_of(const planes *p, double middle[2])
{
    double weight = 0.0;
    middle[0] = middle[1] = 0.0;
    for (int i = 0; i < PIXELS; i++) {
        const double alpha = (double)p->rgba[4 * i + 3];
        weight += alpha;
        middle[0] += alpha * (i % WIDTH + 0.5);
        middle[1] += alpha * (i / WIDTH + 0.5);
    }
    assert_true(weight > 0.5);
    middle[0] /= weight;
    middle[1] /= weight;
}

static void trace(stage *s, planes *out)
{
    orr_reference *reference;
    assert_ok(orr_reference_create(s->scene, s->world, &s->view, 5, &reference, &error));
    assert_ok(orr_reference_advance(reference, 64, &error));
    const orr_picture picture = {.rgba = out->rgba, .depth = out->depth};
    assert_ok(orr_reference_picture(reference, true, &picture, &error));
    orr_reference_destroy(reference);
}

static void assert_middle(const planes *drawn, const float expected[2], double tolerance)
{
    double middle[2];
    middle_of(drawn, middle);
    assert_float_equal(middle[0], expected[0], tolerance);
    assert_float_equal(middle[1], expected[1], tolerance);
}

// A small ball of splats, alone.
static orr_layer show_dot(stage *s, const orr_transform *here)
{
    orr_layer dot;
    orr_splats *splats = make_cloud(CLOUD_BALL, 400, 0, 4);
    assert_ok(orr_scene_add_splats(s->scene, "dot", splats, here, &dot, &error));
    orr_splats_destroy(splats);
    orr_world_destroy(s->world);
    assert_ok(orr_world_create(s->scene, 2, &s->world, &error));
    show(s, 0, false, false, false);
    return dot;
}

// A small ball of splats is where OpenCV's formula puts it: drawn by the CPU, picked and path-traced. Other
// devices show it through a pinhole, and so does the CPU beside a mesh.
static void a_distorted_lens_bends_splats(void **state)
{
    (void)state;
    stage s;
    stage_make(&s);
    planes *drawn = malloc(sizeof *drawn);
    const orr_transform here = {.scale = 0.03f};
    const orr_layer dot = show_dot(&s, &here);
    const orr_camera straight = s.view.camera;
    orr_camera curved = straight;
    memcpy(curved.radial, (float[]){-0.4f, 0.15f, 0.0f, 0.02f}, sizeof curved.radial);
    memcpy(curved.tangential, (float[]){0.02f, -0.01f}, sizeof curved.tangential);
    double moved = 0.0;
    for (int i = 0; i < 5; i++) {
        const orr_transform at = {
            .position = {0.35f * (float)(i - 2), 0.3f - 0.12f * (float)i, 0.1f * (float)i}, .scale = 0.03f};
        float bent[2], pinhole[2];
        orr_hit hit;
        project_through_lens(&curved, at.position, bent);
        project_through_lens(&straight, at.position, pinhole);
        moved = fmax(moved, hypot((double)(bent[0] - pinhole[0]), (double)(bent[1] - pinhole[1])));
        assert_ok(orr_world_set_transform(s.world, 0, dot, &at, &error));
        s.view.camera = curved;
        draw(ORR_DEVICE_CPU, &s, drawn);
        assert_middle(drawn, bent, 0.15); // the ball is of random places, one or two pixels wide
        assert_ok(orr_world_pick(s.world, &s.view, bent[0], bent[1], &hit, &error));
        assert_int_equal(hit.layer.slot, dot.slot);
        trace(&s, drawn);
        assert_middle(drawn, bent, 0.2); // and its samples are random, too
        for (int k = 1; k < machine_count; k++) {
            draw(machines[k], &s, drawn);
            assert_middle(drawn, pinhole, 0.15);
        }
        show(&s, 0, false, false, true);
        orr_transform away = {.position = {0.0f, 0.0f, 100.0f}, .scale = 1e-3f};
        assert_ok(orr_world_set_transform(s.world, 0, s.square, &away, &error));
        draw(ORR_DEVICE_CPU, &s, drawn);
        assert_middle(drawn, pinhole, 0.15);
        show(&s, 0, false, false, false);
    }
    print_message("    moved by up to %.2f pixels\n", moved);
    assert_true(moved > 1.0);
    free(drawn);
    stage_free(&s);
}

// Likewise a fisheye, by OpenCV's formula; path-traced pictures are those of a pinhole.
static void a_fisheye_bends_splats(void **state)
{
    (void)state;
    stage s;
    stage_make(&s);
    planes *drawn = malloc(sizeof *drawn);
    const orr_transform here = {.position = {0.8f, -0.5f, 0.0f}, .scale = 0.03f};
    const orr_layer dot = show_dot(&s, &here);
    float pinhole[2], bent[2];
    project_through_lens(&s.view.camera, here.position, pinhole);
    orr_camera *c = &s.view.camera;
    c->model = ORR_CAMERA_FISHEYE;
    c->radial[0] = -0.5f;
    c->radial[1] = 0.05f;
    const double away[2] = {(double)(pinhole[0] - 0.5f * WIDTH) / (double)c->focal[0],
                            (double)(pinhole[1] - 0.5f * HEIGHT) / (double)c->focal[1]};
    const double slope = hypot(away[0], away[1]), angle = atan(slope), square = angle * angle;
    const double bends = angle * (1.0 - 0.5 * square + 0.05 * square * square) / slope;
    bent[0] = (float)(0.5 * WIDTH + (double)c->focal[0] * bends * away[0]);
    bent[1] = (float)(0.5 * HEIGHT + (double)c->focal[1] * bends * away[1]);
    assert_true(hypot((double)(bent[0] - pinhole[0]), (double)(bent[1] - pinhole[1])) > 1.0);
    orr_hit hit;
    draw(ORR_DEVICE_CPU, &s, drawn);
    assert_middle(drawn, bent, 0.15); // as above
    assert_ok(orr_world_pick(s.world, &s.view, bent[0], bent[1], &hit, &error));
    assert_int_equal(hit.layer.slot, dot.slot);
    trace(&s, drawn);
    assert_middle(drawn, pinhole, 0.2);
    free(drawn);
    stage_free(&s);
}

// orr_world_pick of the pixels' middles: depth as drawn, and a position that is seen there.
static void assert_picks_are_what_is_drawn(stage *s, planes *drawn)
{
    int hits = 0;
    draw(ORR_DEVICE_CPU, s, drawn);
    for (int i = 0; i < PIXELS; i += 5) {
        orr_hit hit;
        float x = (float)(i % WIDTH) + 0.5f, y = (float)(i / WIDTH) + 0.5f, seen[2];
        assert_ok(orr_world_pick(s->world, &s->view, x, y, &hit, &error));
        assert_float_equal(hit.depth, drawn->depth[i], 1e-4);
        if (hit.layer.slot) {
            assert_int_equal(hit.layer.slot, s->fog.slot);
            assert_int_equal(hit.kind, ORR_LAYER_FIELD);
            project_through_lens(&s->view.camera, hit.position, seen);
            assert_float_equal(seen[0], x, 1e-2);
            assert_float_equal(seen[1], y, 1e-2);
            hits++;
        }
    }
    assert_true(hits > PIXELS / 5 / 4);
}

static void a_field_is_picked_where_it_is_seen(void **state)
{
    (void)state;
    stage s;
    stage_make(&s);
    planes *drawn = malloc(sizeof *drawn);
    // fog everywhere, so that it covers most of some pixels
    memset(s.grid.thickness, 0, (size_t)s.grid.cells * sizeof *s.grid.thickness);
    orr_occupancy_refresh(&s.grid, engine->jobs);
    show(&s, 0, true, false, false);
    const orr_camera straight = s.view.camera;
    memcpy(s.view.camera.radial, (float[]){-0.3f, 0.1f, 0.0f, 0.02f}, sizeof s.view.camera.radial);
    memcpy(s.view.camera.tangential, (float[]){0.02f, -0.01f}, sizeof s.view.camera.tangential);
    assert_picks_are_what_is_drawn(&s, drawn);
    s.view.camera = straight;
    assert_picks_are_what_is_drawn(&s, drawn);

    // where it covers most of a pixel: something solid in front of it, and behind it
    int densest = 0;
    for (int i = 0; i < PIXELS; i++) {
        densest = drawn->rgba[4 * i + 3] > drawn->rgba[4 * densest + 3] ? i : densest;
    }
    assert_true(drawn->rgba[4 * densest + 3] > 0.5f);
    float x = (float)(densest % WIDTH) + 0.5f, y = (float)(densest / WIDTH) + 0.5f;
    orr_hit hit;
    show(&s, 0, true, false, true);
    orr_transform large = {.position = {0, 0, -0.9f}, .scale = 5.0f};
    assert_ok(orr_world_set_transform(s.world, 0, s.square, &large, &error));
    assert_ok(orr_world_pick(s.world, &s.view, x, y, &hit, &error));
    assert_int_equal(hit.layer.slot, s.square.slot);
    large.position[2] = 3.0f;
    assert_ok(orr_world_set_transform(s.world, 0, s.square, &large, &error));
    assert_ok(orr_world_pick(s.world, &s.view, x, y, &hit, &error));
    assert_int_equal(hit.layer.slot, s.fog.slot);
    free(drawn);
    stage_free(&s);
}

static void every_machine_shows_what_the_cpu_shows(void **state)
{
    (void)state;
    for (int m = 1; m < machine_count; m++) {
        print_message("%s\n", machines[m] == ORR_DEVICE_CUDA ? "CUDA" : "Vulkan");
        look_as_on_the_cpu(machines[m]);
    }
}

#if ORR_HAVE_CUDA
// Networks of different widths are one such thing. The other fog is still the device's.
static void what_cuda_cannot_draw_the_cpu_draws(void **state)
{
    (void)state;
    if (machines[machine_count - 1] != ORR_DEVICE_CUDA) {
        skip();
    }
    stage s;
    stage_make(&s);
    orr_field *second = make_fog(engine, 4, 32);
    const float to_unit[12] = {1, 0, 0, 0.2f, 0, 1, 0, 0.5f, 0, 0, 1, 0.3f};
    orr_layer_data layer = {.kind = ORR_LAYER_FIELD, .visible = true};
    assert_ok(orr_field_layer_borrow(second, &s.grid, to_unit, engine->jobs, &layer.field, &error));
    assert_ok(orr_scene_append(s.scene, layer, "second fog", NULL, &error));
    orr_world_destroy(s.world);
    assert_ok(orr_world_create(s.scene, 2, &s.world, &error));
    planes *cpu = malloc(sizeof *cpu), *cuda = malloc(sizeof *cuda);
    draw(ORR_DEVICE_CPU, &s, cpu);
    complaints = 0;
    draw(ORR_DEVICE_CUDA, &s, cuda);
    assert_int_equal(complaints, 1);
    complaints = 0;
    assert_same_picture(cuda, cpu);
    free(cpu);
    free(cuda);
    stage_free(&s);
    orr_field_destroy(second);
}
#endif

static void a_frame_drawn_part_by_part_is_the_same_bits(void **state)
{
    (void)state;
    stage s;
    stage_make(&s);
    planes *whole = malloc(sizeof *whole), *parts = malloc(sizeof *parts);
    for (int m = 0; m < machine_count; m++) {
        orr_device_kind device = machines[m];
        draw(device, &s, whole);
        orr_frame *frame = frame_make(device);
        submit(frame, &s, 0);
        bool ready = false;
        int count = 0;
        for (; !ready && count < 1000; count++) {
            assert_ok(orr_frame_advance(frame, 0.001, &ready, &error));
        }
        // the CPU marches 4 tiles per worker and part; CUDA draws the fog itself
        int part = 4 * orr_engine_threads(engine);
        assert_int_equal(count, device == ORR_DEVICE_CUDA ? 1 : (TILES + part - 1) / part);
        finish(frame, parts);
        assert_memory_equal(whole, parts, sizeof *whole);
        orr_frame_destroy(frame);
    }
    free(whole);
    free(parts);
    stage_free(&s);
}

// A square beside the fog: CUDA, too, has to wait for the CPU. Without it all that is drawn there is under
// way at once.
static void assert_come_out_in_order(bool square)
{
    stage s;
    stage_make(&s);
    show(&s, 0, true, true, square);
    show(&s, 1, false, true, false);
    planes *with = malloc(sizeof *with), *without = malloc(sizeof *without), *out = malloc(sizeof *out);
    for (int m = 0; m < machine_count; m++) {
        orr_device_kind device = machines[m];
        draw(device, &s, with);
        orr_frame *frame = frame_make(device);
        submit(frame, &s, 1);
        finish(frame, without);
        const int worlds[2][3] = {{0, 1, 0}, {1, 0, 1}};
        for (int i = 0; i < (square ? 2 : 1); i++) {
            for (int k = 0; k < 3; k++) {
                submit(frame, &s, worlds[i][k]);
            }
            for (int k = 0; k < 3; k++) {
                finish(frame, out);
                assert_memory_equal(out, worlds[i][k] == 0 ? with : without, sizeof *out);
            }
        }
        orr_frame_destroy(frame);
    }
    free(with);
    free(without);
    free(out);
    stage_free(&s);
}

static void frames_with_and_without_fields_come_out_in_order(void **state)
{
    (void)state;
    assert_come_out_in_order(false);
    assert_come_out_in_order(true);
}

static void frames_are_dropped_whether_begun_or_not(void **state)
{
    (void)state;
    stage s;
    stage_make(&s);
    show(&s, 1, false, true, false);
    planes *expected = malloc(sizeof *expected), *out = malloc(sizeof *out);
    for (int m = 0; m < machine_count; m++) {
        orr_device_kind device = machines[m];
        draw(device, &s, expected);
        orr_frame *frame = frame_make(device);
        bool ready;
        submit(frame, &s, 1);
        submit(frame, &s, 0);
        orr_frame_discard(frame);
        submit(frame, &s, 0);
        submit(frame, &s, 1);
        assert_ok(orr_frame_advance(frame, 0.001, &ready, &error));
        orr_frame_discard(frame);
        assert_int_equal(orr_frame_advance(frame, 1.0, &ready, NULL), ORR_ERROR_ARGUMENT);
        assert_int_equal(orr_frame_finish(frame, NULL, NULL), ORR_ERROR_ARGUMENT);
        submit(frame, &s, 0);
        finish(frame, out);
        assert_memory_equal(out, expected, sizeof *out);
        orr_frame_destroy(frame);
    }
    free(expected);
    free(out);
    stage_free(&s);
}

static void count_complaint(void *user, orr_log_level level, int code, const char *line)
{
    (void)user;
    (void)code;
    if (level >= ORR_LOG_WARNING) {
        complaints++;
        print_message("%s\n", line);
    }
}

// On Vulkan where there is a device, watched where there is a validation layer.
static orr_result open_engine(void)
{
    orr_engine_desc desc = {.threads = 2, .log = count_complaint, .validate = true};
    for (int i = 0; i < 3; i++) {
        desc.device = i < 2 ? ORR_DEVICE_VULKAN : ORR_DEVICE_CPU;
        desc.validate = i == 0;
        orr_frame *frame; // the device is opened for the first
        if (orr_engine_create(&desc, &engine, NULL) != ORR_OK) {
            continue;
        }
        if (orr_frame_create(engine, NULL, &frame, NULL) == ORR_OK) {
            orr_frame_destroy(frame);
            return ORR_OK;
        }
        orr_engine_destroy(engine);
    }
    return ORR_ERROR_ARGUMENT;
}

static void find_machines(void)
{
    orr_cuda *cuda;
    machines[machine_count++] = ORR_DEVICE_CPU;
    if (engine->device == ORR_DEVICE_VULKAN) {
        machines[machine_count++] = ORR_DEVICE_VULKAN;
    }
    if (orr_engine_take_cuda(engine, &cuda, NULL) == ORR_OK) {
        machines[machine_count++] = ORR_DEVICE_CUDA;
    }
}

int main(void)
{
    if (open_engine() != ORR_OK) {
        return 1;
    }
    print_message("%s\n", orr_engine_describe(engine));
    find_machines();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_drawn_part_by_part_is_the_same_bits),
        cmocka_unit_test(frames_with_and_without_fields_come_out_in_order),
        cmocka_unit_test(frames_are_dropped_whether_begun_or_not),
        cmocka_unit_test(a_distorted_lens_bends_the_rays_of_fields_seen_alone),
        cmocka_unit_test(a_fisheye_bends_the_rays_of_fields_seen_alone),
        cmocka_unit_test(a_distorted_lens_bends_splats),
        cmocka_unit_test(a_fisheye_bends_splats),
        cmocka_unit_test(a_field_is_picked_where_it_is_seen),
        cmocka_unit_test(every_machine_shows_what_the_cpu_shows),
#if ORR_HAVE_CUDA
        cmocka_unit_test(what_cuda_cannot_draw_the_cpu_draws),
#endif
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    orr_engine_destroy(engine);
    return failures + complaints;
}
