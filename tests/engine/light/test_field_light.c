// Tests of render/field_light: lamps light captured fields by a closed form, less what meshes and the fields
// themselves keep off, on all machines, in eyes and path-traced.
#include "engine/loop/engine.h"
#include "engine/scene/scene.h"
#include "tests/support/engine.h"
#include "tests/support/scenes/lit_field.h"
#include "tests/support/scenes/sphere_scene.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

static float before[4 * PIXELS], after[4 * PIXELS];
static const float tint[3] = {1.0f, 0.6f, 0.2f};
static const double lamp_at[3] = {0, 0, 1.6};
static const double roof_half = 0.4, roof_low = 0.7, roof_high = 0.9;

static const orr_light_desc lamp = {.kind = ORR_LIGHT_KIND_POINT,
                                    .position = {0, 0, 1.6f},
                                    .colour = {1.0f, 0.6f, 0.2f},
                                    .intensity = 2.0f * 3.14159265f,
                                    .clouds = true};

// The same without shadows, for which no maps are made.
static orr_light_desc open_lamp(void)
{
    orr_light_desc open = lamp;
    open.no_shadows = true;
    return open;
}

// A captured floor at z = 0, of one grey.
typedef struct stage {
    orr_field *field;
    orr_occupancy grid;
    orr_scene *scene;
} stage;

static void look_at_floor(const void *context, lit_point *points, int count)
{
    const bool roofed = *(const bool *)context;
    for (int i = 0; i < count; i++) {
        const double *p = points[i].position;
        const double aside =
            fmax(fmax(fabs(p[0]), fabs(p[1])) - roof_half, fmax(roof_low - p[2], p[2] - roof_high));
        points[i].distance = roofed ? fmin(p[2], aside) : p[2];
        points[i].brightness = 0.214;
    }
}

static void open_stage(stage *s, orr_engine *on, bool roofed)
{
    lit_field_of(look_at_floor, &roofed, on->isa, on->jobs, &s->field, &s->grid);
    orr_layer_data layer = {.kind = ORR_LAYER_FIELD, .visible = true};
    assert_ok(orr_field_layer_borrow(s->field, &s->grid, lit_field_to_unit, on->jobs, &layer.field, &error));
    assert_ok(orr_scene_create(on, &s->scene, &error));
    assert_ok(orr_scene_append(s->scene, layer, "floor", NULL, &error));
}

static void close_stage(stage *s)
{
    orr_scene_destroy(s->scene);
    orr_occupancy_destroy(&s->grid);
    orr_field_destroy(s->field);
}

// A square mesh of half side 0.2 beside the roof.
static void add_plate(orr_scene *scene)
{
    static const float corners[12] = {1, -0.2f, 0.4f, 1.4f, -0.2f, 0.4f, 1.4f, 0.2f, 0.4f, 1, 0.2f, 0.4f};
    static const uint32_t indices[6] = {0, 1, 2, 0, 2, 3};
    const orr_mesh_desc plate = {
        .vertex_count = 4, .index_count = 6, .positions = corners, .indices = indices, .two_sided = true};
    assert_ok(orr_scene_add_mesh(scene, "plate", &plate, NULL, NULL, &error));
}

static orr_view view_from(float x, float y, float z)
{
    const float eye[3] = {x, y, z}, target[3] = {0, 0, 0}, up[3] = {0, 1, 0};
    return (orr_view){.camera = orr_camera_look_at(eye, target, up, 0.6f, SIDE, SIDE), .hard_edges = true};
}

static double linear(float display)
{
    return display <= 0.04045f ? (double)display / 12.92 : pow(((double)display + 0.055) / 1.055, 2.4);
}

// Where the ray of a pixel's centre meets the plane z = height.
static void place_of(const orr_view *view, int pixel, double height, double at[3])
{
    const orr_camera *c = &view->camera;
    const double local[3] = {(pixel % SIDE + 0.5 - 0.5 * SIDE) / (double)c->focal[0],
                             (pixel / SIDE + 0.5 - 0.5 * SIDE) / (double)c->focal[1], 1.0};
    double direction[3] = {0};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            direction[i] += (double)c->pose[4 * i + k] * local[k];
        }
    }
    const double t = (height - (double)c->pose[11]) / direction[2];
    for (int i = 0; i < 3; i++) {
        at[i] = (double)c->pose[4 * i + 3] + t * direction[i];
    }
}

static void draw_with_depth(const orr_scene *scene, const orr_view *view, float *rgba, float *depth)
{
    orr_world *world;
    orr_frame *frame;
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_frame_create(engine, NULL, &frame, &error));
    assert_ok(orr_frame_submit(frame, scene, world, view, &error));
    assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = rgba, .depth = depth}, &error));
    orr_frame_destroy(frame);
    orr_world_destroy(world);
}

static void draw_eyes(const orr_scene *scene, const orr_view *view, float *rgba)
{
    orr_world *world;
    orr_eyes *eyes;
    const orr_eyes_desc desc = {.views = &view->camera, .view_count = 1, .width = SIDE, .height = SIDE};
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_eyes_create(world, &desc, &eyes, &error));
    assert_ok(orr_eyes_draw(eyes, NULL, &(orr_eyes_pictures){.rgba = rgba}, &error));
    orr_eyes_destroy(eyes);
    orr_world_destroy(world);
}

// How much light the lamp adds of what is shown, by its closed form, on a floor at a height.
static double added(const double at[3], int channel)
{
    const double x = lamp_at[0] - at[0], y = lamp_at[1] - at[1], z = lamp_at[2] - at[2];
    const double square = x * x + y * y + z * z;
    return 2.0 * (double)tint[channel] * z / (square * sqrt(square));
}

// The mean error of what is shown of the expected light, and the largest.
static void compare(const orr_view *view, double height, double *worst, double *mean)
{
    int count = 0;
    *worst = *mean = 0.0;
    for (int i = 0; i < PIXELS; i++) {
        double at[3];
        place_of(view, i, height, at);
        if (fmax(fabs(at[0]), fabs(at[1])) > 2.0) {
            continue;
        }
        for (int k = 0; k < 3; k++) {
            const double expected = linear(before[4 * i + k]) * (1.0 + added(at, k));
            const double off = linear(after[4 * i + k]) / expected - 1.0;
            *worst = fmax(*worst, fabs(off));
            *mean += off;
            count++;
        }
    }
    assert_true(count > PIXELS);
    *mean /= count;
}

static void a_lamp_lights_a_captured_field(void **state)
{
    (void)state;
    static const float eyes[3][3] = {{0, 0, 6}, {0, -4, 3}, {2.5f, 2, 2.5f}};
    static float depth[PIXELS];
    const orr_light_desc open = open_lamp();
    stage s;
    open_stage(&s, engine, false);
    for (int i = 0; i < 3; i++) {
        const orr_view view = view_from(eyes[i][0], eyes[i][1], eyes[i][2]);
        double worst, mean;
        draw_with_depth(s.scene, &view, before, depth);
        assert_ok(orr_scene_add_light(s.scene, &open, &error));
        draw(engine, s.scene, &view, after);
        const double far =
            sqrt((double)eyes[i][0] * (double)eyes[i][0] + (double)eyes[i][1] * (double)eyes[i][1] +
                 (double)eyes[i][2] * (double)eyes[i][2]);
        const double height =
            (1.0 - (double)depth[PIXELS / 2 + SIDE / 2] / far) * (double)eyes[i][2]; // of what is seen
        compare(&view, height, &worst, &mean);
        print_message("a captured floor at %.3f: off by %.4f of the light at most, %.5f in all\n", height,
                      worst, mean);
        assert_true(fabs(height) < 0.05);
        // of what is seen at an angle, normals are those of a plane through steps of the march
        assert_true(worst < 0.03);
        assert_true(fabs(mean) < 0.004);
        assert_ok(orr_scene_clear_lights(s.scene, &error));
    }
    close_stage(&s);
}

// In a light in which white is twice as bright the albedo is half of it; without lamps all is as it was.
static void colours_of_fields_are_albedos(void **state)
{
    (void)state;
    const orr_view view = view_from(0, 0, 6);
    const int middle = 4 * (PIXELS / 2 + SIDE / 2);
    const orr_sun_desc sun = {
        .direction = {0, 0, 1}, .colour = {1.5f, 1.5f, 1.5f}, .ambient = {0.5f, 0.5f, 0.5f}};
    orr_light_desc open = open_lamp();
    stage s;
    open_stage(&s, engine, false);
    draw(engine, s.scene, &view, before);
    assert_ok(orr_scene_add_light(s.scene, &open, &error));
    draw(engine, s.scene, &view, after);
    const double old = linear(before[middle]), bright = linear(after[middle]);
    assert_ok(orr_scene_set_sun(s.scene, &sun, &error));
    draw(engine, s.scene, &view, after);
    const double part = (linear(after[middle]) - old) / (bright - old);
    assert_true(fabs(part - 0.5) < 0.01);
    memcpy(before, after, sizeof before);
    draw_eyes(s.scene, &view, after);
    assert_memory_equal(after, before, sizeof before); // eyes have the bits of frames
    assert_ok(orr_scene_set_sun(s.scene, NULL, &error));
    assert_ok(orr_scene_clear_lights(s.scene, &error));
    draw(engine, s.scene, &view, before);
    open.clouds = false;
    assert_ok(orr_scene_add_light(s.scene, &open, &error));
    draw(engine, s.scene, &view, after);
    assert_float_equal(linear(after[middle]), old, 0.0);
    assert_memory_equal(after, before, sizeof before);
    close_stage(&s);
}

// What the lamp adds to what is shown, as parts of the closed form: in the shadow of the roof, in that of the
// plate, and in neither.
typedef struct shadows {
    double roof, plate, neither;
} shadows;

static shadows shadows_of(const orr_view *view)
{
    double more[3] = {0}, whole[3] = {0};
    for (int i = 0; i < PIXELS; i++) {
        double at[3];
        place_of(view, i, 0.0, at);
        // The roof hides 0.4 x 6 / 5.1 around the middle, and shadows 0.4 x 1.6 / 0.7. The plate hides 1.071
        // to 1.5, and shadows 1.333 to 1.867.
        const double from_middle = fmax(fabs(at[0]), fabs(at[1]));
        int where = -1;
        if (from_middle > 0.53 && from_middle < 0.62) {
            where = 0;
        } else if (at[0] > 1.56 && at[0] < 1.72 && fabs(at[1]) < 0.15) {
            where = 1;
        } else if (from_middle > 1.1 && from_middle < 1.9 && at[0] < 0.9) {
            where = 2;
        }
        if (where >= 0) {
            const double old = linear(before[4 * i]);
            more[where] += linear(after[4 * i]) - old;
            whole[where] += old * added(at, 0);
        }
    }
    assert_true(whole[0] > 0.0 && whole[1] > 0.0 && whole[2] > 0.0);
    return (shadows){more[0] / whole[0], more[1] / whole[1], more[2] / whole[2]};
}

// What draws: a kind of device, and how.
typedef struct way {
    const char *name;
    orr_device_kind device;
    bool paths;
} way;

static void draw_by(const way *w, orr_engine *on, const orr_scene *scene, const orr_view *view, float *rgba)
{
    if (w->paths) {
        trace(scene, view, 1, rgba);
    } else {
        draw(on, scene, view, rgba);
    }
}

// A captured roof and a mesh keep the lamp off, and nothing of the light of the capture: the lamp, which is
// the only one that casts shadows, was not there then.
static void shadows_in_a_lamp_are_drawn_by_all_ways(void **state)
{
    (void)state;
    static const way ways[] = {{"CPU", ORR_DEVICE_CPU, false},
                               {"CUDA", ORR_DEVICE_CUDA, false},
                               {"Vulkan", ORR_DEVICE_VULKAN, false},
                               {"paths", ORR_DEVICE_CPU, true}};
    const orr_view view = view_from(0, 0, 6);
    static float first[4 * PIXELS];
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        orr_engine *on = open_engine_on(ways[i].device);
        if (!on) {
            continue;
        }
        stage s;
        open_stage(&s, on, true);
        draw_by(&ways[i], on, s.scene, &view, before);
        add_plate(s.scene);
        assert_ok(orr_scene_add_light(s.scene, &lamp, &error));
        draw_by(&ways[i], on, s.scene, &view, after);
        const shadows found = shadows_of(&view);
        if (i == 0) {
            memcpy(first, after, sizeof first);
        }
        print_message("%s: of the lamp's light %.4f behind the roof, %.4f behind the plate, %.4f else; "
                      "%.1f dB from the CPU's frame\n",
                      ways[i].name, found.roof, found.plate, found.neither, psnr(after, first, 4 * PIXELS));
        assert_true(fabs(found.roof) < 0.02 && fabs(found.plate) < 0.02);
        assert_true(fabs(found.neither - 1.0) < 0.03);
        // rims of the roof, of the plate, and of shadows, which paths draw by one sample a pixel
        assert_true(ways[i].paths || psnr(after, first, 4 * PIXELS) > 45.0);
        close_stage(&s);
        orr_engine_destroy(on);
    }
}

// Draws a frame's picture again and again, as probes have a face drawn anew in each.
static void draw_often(orr_frame *frame, const orr_scene *scene, const orr_world *world, const orr_view *view,
                       float *rgba)
{
    for (int i = 0; i < 8; i++) {
        assert_ok(orr_frame_submit(frame, scene, world, view, &error));
        assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = rgba}, &error));
    }
}

// What lights a mesh from below is a field in the light of a lamp, as soon as there is one.
static void probes_show_fields_in_new_lamps(void **state)
{
    (void)state;
    static const float below[3] = {1.2f, -1.5f, 0.15f}, plate[3] = {1.2f, 0, 0.4f}, up[3] = {0, 0, 1};
    const orr_view view = {.camera = orr_camera_look_at(below, plate, up, 0.6f, SIDE, SIDE)};
    static float dark[4 * PIXELS];
    const int plate_pixel = 4 * (PIXELS / 2 + SIDE / 2);
    const orr_light_desc open = open_lamp();
    orr_light_desc not_on_fields = open;
    stage s;
    orr_world *world;
    orr_frame *frame, *fresh;
    open_stage(&s, engine, false);
    add_plate(s.scene);
    assert_ok(orr_scene_set_probes(s.scene, true, &error));
    assert_ok(orr_world_create(s.scene, 1, &world, &error));
    assert_ok(orr_frame_create(engine, NULL, &frame, &error));
    assert_ok(orr_frame_create(engine, NULL, &fresh, &error));
    not_on_fields.clouds = false;
    assert_ok(orr_scene_add_light(s.scene, &not_on_fields, &error)); // the plate alone has its light
    draw_often(frame, s.scene, world, &view, dark);
    assert_ok(orr_scene_clear_lights(s.scene, &error));
    assert_ok(orr_scene_add_light(s.scene, &open, &error));
    draw_often(frame, s.scene, world, &view, after);
    draw_often(fresh, s.scene, world, &view, before);
    assert_true(largest_difference(after, before, 4 * PIXELS) < 1e-6);
    assert_true(after[plate_pixel] > dark[plate_pixel] + 0.05f);
    orr_frame_destroy(fresh);
    orr_frame_destroy(frame);
    orr_world_destroy(world);
    close_stage(&s);
}

// ---- rays of smooth surfaces ----

// What a lamp on fields adds to what the lower half of a mirror ball shows, red, linear.
static double added_in_mirror(void)
{
    double sum = 0.0;
    for (int y = SIDE / 2 + 1; y < SIDE / 2 + 8; y++) {
        for (int x = SIDE / 2 - 5; x < SIDE / 2 + 5; x++) {
            const int at = 4 * (y * SIDE + x);
            sum += linear(after[at]) - linear(before[at]);
        }
    }
    return sum;
}

static void draw_ball(const orr_scene *scene, bool paths, float *rgba)
{
    const float eye[3] = {0, -3, 1.4f}, ball[3] = {0, 0, 0.5f}, up[3] = {0, 0, 1};
    const orr_view view = {.camera = orr_camera_look_at(eye, ball, up, 0.6f, SIDE, SIDE), .hard_edges = true};
    if (paths) {
        trace(scene, &view, 4, rgba);
    } else {
        draw(engine, scene, &view, rgba);
    }
}

// A mirror ball over a captured floor, whose light is that of the capture, and of a lamp too.
static void rays_show_fields_in_new_lamps(void **state)
{
    (void)state;
    const orr_transform placed = {.position = {0, 0, 0.5f}, .rotation = {1}, .scale = 0.4f};
    const orr_light_desc open = open_lamp();
    orr_light_desc not_on_fields = open;
    double drawn, traced, without_shadows;
    stage s;
    open_stage(&s, engine, false);
    assert_ok(orr_scene_add_file(s.scene, write_sphere(1.0f, 0.0f, 1.0f), &placed, NULL, &error));
    assert_ok(orr_scene_set_rays(s.scene, true, &error));
    not_on_fields.clouds = false;
    assert_ok(orr_scene_add_light(s.scene, &not_on_fields, &error));
    draw_ball(s.scene, false, before);
    assert_ok(orr_scene_clear_lights(s.scene, &error));
    assert_ok(orr_scene_add_light(s.scene, &lamp, &error));
    draw_ball(s.scene, false, after);
    drawn = added_in_mirror();
    draw_ball(s.scene, true, after); // the ball's shadow is a part of what it shows
    traced = added_in_mirror();
    assert_ok(orr_scene_clear_lights(s.scene, &error));
    assert_ok(orr_scene_add_light(s.scene, &open, &error));
    draw_ball(s.scene, false, after);
    without_shadows = added_in_mirror();
    print_message(
        "a mirror shows %.4f of the lamp's light on a floor, path-traced %.4f; %.4f without shadows\n", drawn,
        traced, without_shadows);
    assert_true(traced > 1.0 && fabs(drawn / traced - 1.0) < 0.03);
    assert_true(without_shadows > 1.2 * drawn);
    close_stage(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lamp_lights_a_captured_field), cmocka_unit_test(colours_of_fields_are_albedos),
        cmocka_unit_test(shadows_in_a_lamp_are_drawn_by_all_ways),
        cmocka_unit_test(probes_show_fields_in_new_lamps), cmocka_unit_test(rays_show_fields_in_new_lamps)};
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
