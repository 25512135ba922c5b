// Tests of environments, lights and probes of scenes, through the public interface, on every machine that is
// here: closed forms, parity with the CPU, and pictures against path-traced ones.
#include "engine/core/file.h"
#include "engine/core/result.h"
#include "engine/orrery.h"
#include "tests/support/scenes/sphere_scene.h"
#include "tests/support/srgb.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKY_WIDTH = 64, SKY_HEIGHT = 32 };
static const double pi = 3.14159265358979323846;

static float sky[SKY_HEIGHT * SKY_WIDTH * 3];
static orr_log_level logged_level;
static char logged[256];

static void keep_line(void *user, orr_log_level level, int code, const char *line)
{
    (void)user, (void)code;
    logged_level = level;
    snprintf(logged, sizeof logged, "%s", line);
}

static orr_engine *open_machine(orr_device_kind device)
{
    orr_engine *engine = NULL;
    const orr_engine_desc desc = {.device = device, .threads = 2, .log = keep_line};
    return orr_engine_create(&desc, &engine, NULL) == ORR_OK ? engine : NULL;
}

static void paint_white(void)
{
    for (int i = 0; i < SKY_HEIGHT * SKY_WIDTH * 3; i++) {
        sky[i] = 1.0f;
    }
}

// Smooth, from 0.1 to 0.9, different in all directions and colours.
static void paint_smooth(void)
{
    for (int i = 0; i < SKY_HEIGHT * SKY_WIDTH; i++) {
        double up = pi * (0.5 - (i / SKY_WIDTH + 0.5) / SKY_HEIGHT),
               around = 2.0 * pi * (i % SKY_WIDTH + 0.5) / SKY_WIDTH;
        for (int k = 0; k < 3; k++) {
            sky[3 * i + k] = (float)(0.5 + 0.25 * sin(up) + 0.15 * cos(up) * cos(around * (k + 1)));
        }
    }
}

static orr_scene *sphere_scene(orr_engine *engine, float metallic, float roughness, float base)
{
    orr_scene *scene;
    const orr_environment_desc around = {.rgb = sky, .width = SKY_WIDTH, .height = SKY_HEIGHT};
    assert_ok(orr_scene_load(engine, write_sphere(metallic, roughness, base), &scene, &error));
    assert_ok(orr_scene_set_environment(scene, &around, &error));
    return scene;
}

static void a_white_metal_vanishes_in_white_light(void **state)
{
    (void)state;
    static float rgba[4 * PIXELS];
    const orr_device_kind devices[] = {ORR_DEVICE_CPU, ORR_DEVICE_VULKAN, ORR_DEVICE_CUDA};
    const orr_view view = look();
    paint_white();
    for (int d = 0; d < 3; d++) {
        orr_engine *engine = open_machine(devices[d]);
        for (int r = 0; r <= 4 && engine; r++) {
            orr_scene *scene = sphere_scene(engine, 1.0f, 0.25f * (float)r, 1.0f);
            draw(engine, scene, &view, rgba);
            for (int i = 0; i < 4 * PIXELS; i++) {
                assert_float_equal(rgba[i], 1.0f, 1e-3f);
            }
            orr_scene_destroy(scene);
        }
        orr_engine_destroy(engine);
    }
}

static void a_matte_surface_reflects_its_albedo(void **state)
{
    (void)state;
    static float rgba[4 * PIXELS];
    const orr_view view = look();
    paint_white();
    orr_engine *engine = open_machine(ORR_DEVICE_CPU);
    orr_scene *scene = sphere_scene(engine, 0.0f, 1.0f, 1.0f);
    draw(engine, scene, &view, rgba);
    // a rough white surface that is no metal: the model gives back all but what its two layers lose between
    // them, 2 % in the middle
    const float *middle = rgba + 4 * (SIDE / 2 * SIDE + SIDE / 2);
    assert_float_equal(middle[0], 1.0f, 0.02f);
    orr_scene_destroy(scene);
    orr_engine_destroy(engine);
}

static void all_machines_draw_the_same(void **state)
{
    (void)state;
    static float cpu[4 * PIXELS], rgba[4 * PIXELS];
    const orr_device_kind devices[] = {ORR_DEVICE_CPU, ORR_DEVICE_VULKAN, ORR_DEVICE_CUDA};
    const orr_view view = look();
    const orr_light_desc lamps[] = {
        {.kind = ORR_LIGHT_KIND_POINT, .position = {1.5f, 1, 1}, .colour = {1, 0.5f, 0.2f}, .range = 3.0f},
        {.kind = ORR_LIGHT_KIND_SPOT,
         .position = {-1, 2, 1},
         .direction = {0.5f, -1, -0.5f},
         .inner = 5,
         .outer = 20}};
    paint_smooth();
    for (int d = 0; d < 3; d++) {
        orr_engine *engine = open_machine(devices[d]);
        if (!engine) {
            continue;
        }
        orr_scene *scene = sphere_scene(engine, 0.7f, 0.4f, 0.8f);
        for (int i = 0; i < 2; i++) {
            assert_ok(orr_scene_add_light(scene, &lamps[i], &error));
        }
        draw(engine, scene, &view, d == 0 ? cpu : rgba);
        if (d > 0) {
            // the sphere's rim is where rounding decides which triangle is seen
            double quality = psnr(rgba, cpu, 4 * PIXELS);
            print_message("%d: %.1f dB\n", d, quality);
            assert_true(quality > 90.0);
        }
        orr_scene_destroy(scene);
        orr_engine_destroy(engine);
    }
}

static void spheres_look_as_path_traced_ones(void **state)
{
    (void)state;
    static float drawn[4 * PIXELS], traced[4 * PIXELS];
    const orr_view view = look();
    paint_smooth();
    orr_engine *engine = open_machine(ORR_DEVICE_CPU);
    for (int i = 0; i < 6; i++) {
        const float metallic = i < 4 ? 1.0f : 0.0f,
                    roughness = i < 4 ? 0.1f + 0.3f * (float)i : 0.3f * (float)(i - 3);
        orr_scene *scene = sphere_scene(engine, metallic, roughness, 0.8f);
        draw(engine, scene, &view, drawn);
        trace(scene, &view, 128, traced);
        double off = middle_error(drawn, traced);
        print_message("metallic %.0f roughness %.1f: off by %.4f\n", (double)metallic, (double)roughness,
                      off);
        // as displayed, 0 to 1; noise of 64 samples included. The split sum takes the eye to be at the normal
        assert_true(off < 0.025);
        orr_scene_destroy(scene);
    }
    orr_engine_destroy(engine);
}

static float red_at(const float *rgba, int x, int y)
{
    return rgba[4 * (y * SIDE + x)];
}

static void it_turns_and_backgrounds_hide_it(void **state)
{
    (void)state;
    static float rgba[4 * PIXELS];
    orr_view view = look();
    memset(sky, 0, sizeof sky);
    for (int y = 0; y < SKY_HEIGHT;
         y++) { // the picture's middle is red: in front of a camera that looks along -z
        for (int x = SKY_WIDTH / 2 - 8; x < SKY_WIDTH / 2 + 8; x++) {
            sky[3 * (y * SKY_WIDTH + x)] = 1.0f;
        }
    }
    orr_engine *engine = open_machine(ORR_DEVICE_CPU);
    orr_scene *scene = sphere_scene(engine, 1.0f, 0.0f, 1.0f);
    draw(engine, scene, &view, rgba);
    assert_true(red_at(rgba, SIDE / 2, 1) > 0.9f);
    orr_environment_desc turned = {.rgb = sky, .width = SKY_WIDTH, .height = SKY_HEIGHT, .rotation = 180.0f};
    assert_ok(orr_scene_set_environment(scene, &turned, &error));
    draw(engine, scene, &view, rgba);
    assert_true(red_at(rgba, SIDE / 2, 1) < 0.01f);
    assert_true(red_at(rgba, SIDE / 2, SIDE / 2) > 0.9f); // now the sphere mirrors it
    turned.strength = 0.25f;
    view.has_background = true;
    view.background[2] = 0.5f;
    assert_ok(orr_scene_set_environment(scene, &turned, &error));
    draw(engine, scene, &view, rgba);
    assert_float_equal(red_at(rgba, SIDE / 2, SIDE / 2), 0.5371f, 0.01f); // 0.25 as displayed
    assert_float_equal(rgba[4 * (SIDE + SIDE / 2) + 2], 0.5f, 1e-6f);
    assert_ok(orr_scene_set_environment(scene, NULL, &error));
    view.has_background = false;
    draw(engine, scene, &view, rgba);
    assert_float_equal(rgba[3], 0.0f, 0.0f);
    orr_scene_destroy(scene);
    orr_engine_destroy(engine);
}

static void bad_environments_are_one_line(void **state)
{
    (void)state;
    orr_error why = {0};
    paint_white();
    orr_engine *engine = open_machine(ORR_DEVICE_CPU);
    orr_scene *scene = sphere_scene(engine, 1.0f, 0.0f, 1.0f);
    orr_environment_desc desc = {.rgb = sky, .width = SKY_WIDTH, .height = SKY_HEIGHT};
    sky[300] = INFINITY;
    assert_ok(orr_scene_set_environment(scene, &desc, &error));
    assert_int_equal(logged_level, ORR_LOG_WARNING);
    assert_string_equal(logged, "environment: 1 infinite values: taken as 65504");
    sky[300] = NAN;
    assert_int_equal(orr_scene_set_environment(scene, &desc, &why), ORR_ERROR_FORMAT);
    desc.strength = -1.0f;
    assert_int_equal(orr_scene_set_environment(scene, &desc, &why), ORR_ERROR_ARGUMENT);
    assert_string_equal(why.message, "environment: strength -1: expected 0 or more");
    desc = (orr_environment_desc){.path = written("no.hdr", "nothing")};
    assert_int_not_equal(orr_scene_set_environment(scene, &desc, &why), ORR_OK);
    assert_non_null(strstr(why.message, "no.hdr"));
    orr_scene_destroy(scene);
    orr_engine_destroy(engine);
}

// ---- lights ----

// A floor of 8 x 8 below the origin, seen from above.
static orr_scene *floor_scene(orr_engine *engine)
{
    static const float corners[12] = {-4, 0, -4, -4, 0, 4, 4, 0, 4, 4, 0, -4};
    static const uint32_t indices[6] = {0, 1, 2, 0, 2, 3};
    orr_scene *scene;
    orr_layer layer;
    assert_ok(orr_scene_create(engine, &scene, &error));
    const orr_mesh_desc desc = {.vertex_count = 4,
                                .index_count = 6,
                                .positions = corners,
                                .indices = indices,
                                .base_colour = {1, 1, 1, 1}};
    assert_ok(orr_scene_add_mesh(scene, "floor", &desc, NULL, &layer, &error));
    return scene;
}

static void lights_fall_off_as_gltf_says(void **state)
{
    (void)state;
    static float rgba[4 * PIXELS], traced[4 * PIXELS];
    const float eye[3] = {0, 8, 0}, target[3] = {0, 0, 0}, up[3] = {0, 0, -1};
    const orr_view view = {.camera = orr_camera_look_at(eye, target, up, 0.6f, SIDE, SIDE)};
    const orr_light_desc lights[] = {
        {.kind = ORR_LIGHT_KIND_DIRECTIONAL, .direction = {0, -2, 0}, .intensity = 1.5f},
        {.kind = ORR_LIGHT_KIND_POINT, .position = {0, 2, 0}, .intensity = 6.0f},
        {.kind = ORR_LIGHT_KIND_POINT, .position = {0, 2, 0}, .intensity = 6.0f, .range = 4.0f},
        {.kind = ORR_LIGHT_KIND_SPOT,
         .position = {0, 2, 0},
         .direction = {0, -1, 0},
         .intensity = 6.0f,
         .inner = 10,
         .outer = 30}};
    orr_engine *engine = open_machine(ORR_DEVICE_CPU);
    for (int l = 0; l < 4; l++) {
        orr_scene *scene = floor_scene(engine);
        assert_ok(orr_scene_add_light(scene, &lights[l], &error));
        draw(engine, scene, &view, rgba);
        trace(scene, &view, 4, traced);
        for (int x = SIDE / 2; x < SIDE - 4; x += 4) {
            double half = 8.0 * tan(0.3), at = ((x + 0.5) / SIDE * 2.0 - 1.0) * half, aside = half / SIDE;
            double squared = at * at + aside * aside + 4.0, distance = sqrt(squared), cosine = 2.0 / distance;
            double expected = 6.0 / pi * cosine / squared;
            if (l == 0) {
                expected = 1.5 / pi;
            } else if (l == 2) {
                double ends = fmax(1.0 - pow(distance / 4.0, 4.0), 0.0);
                expected *= ends;
            } else if (l == 3) {
                double outer = cos(pi / 6.0), inner = cos(pi / 18.0);
                double cone = fmin(fmax((cosine - outer) / (inner - outer), 0.0), 1.0);
                expected *= cone * cone;
            }
            double found = srgb_decode((double)red_at(rgba, x, SIDE / 2));
            if (fabs(found - expected) > 2e-3 * expected + 1e-4) {
                fail_msg("light %d, pixel %d: %g, expected %g", l, x, found, expected);
            }
            // path-traced by the same formula; samples are all over the pixel
            assert_true(fabs(srgb_decode((double)red_at(traced, x, SIDE / 2)) - expected) <
                        0.1 * expected + 0.02);
        }
        assert_ok(orr_scene_clear_lights(scene, &error));
        orr_scene_destroy(scene);
    }
    orr_engine_destroy(engine);
}

// A mesh file with a triangle out of sight and `lights` in a node that is 1 above it.
static const char *write_lamp(const char *lights, const char *nodes, const char *children)
{
    static char text[4096];
    snprintf(text, sizeof text,
             "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":36,\"uri\":"
             "\"data:;base64,%s\"}],"
             "\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],\"accessors\":[{\"bufferView\":0,"
             "\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}],\"meshes\":[{\"primitives\":[{"
             "\"attributes\":{\"POSITION\":0}}]}],\"extensionsUsed\":[\"KHR_lights_punctual\"],"
             "\"extensions\":{\"KHR_lights_punctual\":{\"lights\":[%s]}},"
             "\"nodes\":[{\"mesh\":0,\"children\":[%s]}%s]}",
             "AAAAAAAAEEEAAAAACtcjPAAAEEEAAAAAAAAAAAAAEEEK1yM8", lights, children, nodes);
    return written("lamp.gltf", text);
}

// Lights of a mesh file shine as those of a scene do, move with their layer and go out with it.
static void lights_of_mesh_files_are_lights_of_the_scene(void **state)
{
    (void)state;
    static float rgba[4 * PIXELS], expected[4 * PIXELS];
    const float eye[3] = {0, 8, 0}, target[3] = {0, 0, 0}, up[3] = {0, 0, -1};
    // without shadows, because the file's triangle casts one
    const orr_view view = {.camera = orr_camera_look_at(eye, target, up, 0.6f, SIDE, SIDE),
                           .no_shadows = true};
    // twice as large, and turned by 90 degrees about z: y becomes -x
    const float half = 0.70710678f;
    const orr_transform at = {.position = {1, 1, 0}, .rotation = {half, 0, 0, half}, .scale = 2.0f};
    const orr_light_desc lights[] = {
        {.kind = ORR_LIGHT_KIND_POINT, .position = {1, 3, 0}, .intensity = 8.0f, .range = 12.0f},
        {.kind = ORR_LIGHT_KIND_SPOT,
         .position = {-1, 1, 0},
         .direction = {0.1f, -1, 0},
         .colour = {1, 0.5f, 0.25f},
         .intensity = 4.0f,
         .outer = 40},
        {.kind = ORR_LIGHT_KIND_DIRECTIONAL, .direction = {0, -1, -1}, .intensity = 0.5f}};
    const char *lamp =
        write_lamp("{\"type\":\"point\",\"intensity\":2,\"range\":6},"
                   "{\"type\":\"spot\",\"color\":[1,0.5,0.25],\"spot\":{"
                   "\"outerConeAngle\":0.6981317}},"
                   "{\"type\":\"directional\",\"intensity\":0.5}",
                   ",{\"translation\":[1,0,0],\"extensions\":{\"KHR_lights_punctual\":{\"light\":0}}},"
                   "{\"translation\":[0,1,0],\"rotation\":[-0.07035975,0.70359754,0.00000000,0.70710678],"
                   "\"extensions\":{\"KHR_lights_punctual\":{\"light\":1}}},"
                   "{\"rotation\":[-0.00000000,0.38268343,0.00000000,0.92387953],"
                   "\"extensions\":{\"KHR_lights_punctual\":{\"light\":2}}}",
                   "1,2,3");
    const orr_device_kind devices[] = {ORR_DEVICE_CPU, ORR_DEVICE_VULKAN, ORR_DEVICE_CUDA};
    for (int d = 0; d < 3; d++) {
        orr_engine *engine = open_machine(devices[d]);
        if (!engine) {
            continue;
        }
        orr_scene *scene = floor_scene(engine);
        for (int i = 0; i < 3; i++) {
            assert_ok(orr_scene_add_light(scene, &lights[i], &error));
        }
        draw(engine, scene, &view, expected);
        orr_scene_destroy(scene);
        scene = floor_scene(engine);
        orr_layer layer;
        assert_ok(orr_scene_add_file(scene, lamp, &at, &layer, &error));
        draw(engine, scene, &view, rgba);
        double quality = psnr(rgba, expected, 4 * PIXELS);
        print_message("%d: %.1f dB\n", d, quality);
        assert_true(quality > 80.0); // by the rounding of angles
        assert_true(red_at(rgba, SIDE / 2, SIDE / 2) > 0.5f);
        orr_world *world;
        assert_ok(orr_world_create(scene, 1, &world, &error));
        assert_ok(orr_world_set_visible(world, 0, layer, false, &error));
        draw_world(engine, scene, world, &view, rgba);
        assert_float_equal(red_at(rgba, SIDE / 2, SIDE / 2), 0.0, 0.0);
        orr_world_destroy(world);
        orr_scene_destroy(scene);
        orr_engine_destroy(engine);
    }
    // more of them than a scene has room for
    char nodes[3000] = "", children[128] = "1";
    for (int i = 1; i <= 16 + 1; i++) {
        size_t end = strlen(nodes), last = strlen(children);
        snprintf(nodes + end, sizeof nodes - end,
                 ",{\"translation\":[0,2,0],\"extensions\":{\"KHR_lights_punctual\":{\"light\":0}}}");
        if (i > 1) {
            snprintf(children + last, sizeof children - last, ",%d", i);
        }
    }
    orr_engine *engine = open_machine(ORR_DEVICE_CPU);
    orr_scene *scene = floor_scene(engine);
    assert_ok(
        orr_scene_add_file(scene, write_lamp("{\"type\":\"point\"}", nodes, children), NULL, NULL, &error));
    assert_int_equal(logged_level, ORR_LOG_WARNING);
    assert_non_null(strstr(logged, "17 lights with those of the scene: the first 16 are used"));
    draw(engine, scene, &view, rgba);
    assert_true(red_at(rgba, SIDE / 2, SIDE / 2) > 0.5f);
    orr_scene_destroy(scene);
    orr_engine_destroy(engine);
}

static void scene_files_hold_all_of_it(void **state)
{
    (void)state;
    static float rgba[4 * PIXELS], from_file[4 * PIXELS];
    const orr_view view = look();
    const char *path;
    orr_engine *engine = open_machine(ORR_DEVICE_CPU);
    orr_scene *scene;
    orr_error why = {0};
    paint_white();
    scene = sphere_scene(engine, 0.5f, 0.5f, 0.5f);
    const orr_environment_desc half = {
        .rgb = sky, .width = SKY_WIDTH, .height = SKY_HEIGHT, .strength = 0.5f};
    const orr_light_desc spot = {
        .kind = ORR_LIGHT_KIND_SPOT, .position = {0, 3, 0}, .direction = {0, -1, 0}, .inner = 5, .outer = 20};
    assert_ok(orr_scene_set_environment(scene, &half, &error));
    assert_ok(orr_scene_add_light(scene, &spot, &error));
    draw(engine, scene, &view, rgba);
    orr_scene_destroy(scene);
    // a Radiance picture of one colour: rows that are not encoded
    char picture[64 + 4 * 8 * 4];
    int size = snprintf(picture, sizeof picture, "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 2 +X 4\n");
    for (int i = 0; i < 8; i++, size += 4) {
        memcpy(picture + size, "\x80\x80\x80\x81", 4); // 128 / 256 x 2^1
    }
    assert_ok(orr_file_write(scratch_path("white.hdr"), picture, (size_t)size, &error));
    path = written("lit.json", "{\"orrery\": 1, \"layers\": [{\"file\": \"sphere.gltf\"}], \"environment\": "
                               "{\"file\": \"white.hdr\", \"strength\": 0.5, \"rotation\": 20}, \"lights\": "
                               "[{\"type\": \"spot\", \"position\": [0, 3, 0], \"direction\": [0, -1, 0], "
                               "\"inner\": 5, \"outer\": 20}], \"probes\": true}");
    assert_ok(orr_scene_load(engine, path, &scene, &error));
    draw(engine, scene, &view, from_file);
    assert_true(largest_difference(rgba, from_file, 4 * PIXELS) < 1e-5);
    orr_scene_destroy(scene);
    path = written("dark.json", "{\"orrery\": 1, \"layers\": [{\"file\": \"sphere.gltf\"}], \"environment\": "
                                "{\"file\": \"night.hdr\"}}");
    assert_int_equal(orr_scene_load(engine, path, &scene, &why), ORR_ERROR_FILE);
    assert_non_null(strstr(why.message, "dark.json: environment: "));
    orr_engine_destroy(engine);
}

static void bad_lights_are_refused(void **state)
{
    (void)state;
    orr_error why = {0};
    orr_engine *engine = open_machine(ORR_DEVICE_CPU);
    orr_scene *scene = floor_scene(engine);
    orr_light_desc light = {.kind = ORR_LIGHT_KIND_SPOT, .direction = {0, -1, 0}, .inner = 50.0f};
    assert_int_equal(orr_scene_add_light(scene, &light, &why), ORR_ERROR_ARGUMENT);
    assert_string_equal(why.message, "light: inner, outer: expected 0 <= inner < outer <= 90 degrees");
    light = (orr_light_desc){.kind = ORR_LIGHT_KIND_DIRECTIONAL};
    assert_int_equal(orr_scene_add_light(scene, &light, &why), ORR_ERROR_ARGUMENT);
    assert_string_equal(why.message, "light: direction: expected a direction that is not zero");
    light.direction[1] = -1.0f;
    light.radius = 31.0f;
    assert_int_equal(orr_scene_add_light(scene, &light, &why), ORR_ERROR_ARGUMENT);
    assert_string_equal(why.message,
                        "light: radius: expected 0 or more, of a directional light at most 30 degrees");
    light = (orr_light_desc){.kind = ORR_LIGHT_KIND_POINT, .position = {NAN}};
    assert_int_equal(orr_scene_add_light(scene, &light, &why), ORR_ERROR_ARGUMENT);
    light = (orr_light_desc){.kind = ORR_LIGHT_KIND_POINT, .position = {0, 1, 0}};
    for (int i = 0; i < 16; i++) {
        assert_ok(orr_scene_add_light(scene, &light, &error));
    }
    assert_int_equal(orr_scene_add_light(scene, &light, &why), ORR_ERROR_CAPACITY);
    orr_scene_destroy(scene);
    orr_engine_destroy(engine);
}

// ---- probes ----

// Walls of splats around the origin, 2 away: red at -x, green elsewhere.
static void add_walls(orr_scene *scene)
{
    enum { ROW = 24, COUNT = 6 * ROW * ROW };
    orr_splats *splats;
    orr_layer layer;
    assert_ok(orr_splats_create(COUNT, 0, &splats, &error));
    const orr_splats_view s = orr_splats_data(splats);
    for (int i = 0; i < COUNT; i++) {
        const int face = i / (ROW * ROW), a = face / 2;
        float *p = s.position + 3 * i;
        p[a] = face % 2 ? -2.0f : 2.0f;
        p[(a + 1) % 3] = 4.0f * ((float)(i % ROW) + 0.5f) / ROW - 2.0f;
        p[(a + 2) % 3] = 4.0f * ((float)(i / ROW % ROW) + 0.5f) / ROW - 2.0f;
        s.opacity[i] = 5.0f;
        for (int k = 0; k < 3; k++) {
            s.log_scale[3 * i + k] = logf(k == a ? 0.01f : 4.0f / ROW);
            bool on = k == (face == 1 ? 0 : 1);
            s.colour[3 * i + k] = ((on ? 0.7f : 0.05f) - 0.5f) / 0.28209479f;
        }
        s.rotation[4 * i] = 1.0f;
    }
    assert_ok(orr_scene_add_splats(scene, "walls", splats, NULL, &layer, &error));
    orr_splats_destroy(splats);
}

static orr_view look_in(void)
{
    const float eye[3] = {0, 0, 1.8f}, target[3] = {0, 0, 0}, up[3] = {0, 1, 0};
    return (orr_view){.camera = orr_camera_look_at(eye, target, up, 0.8f, SIDE, SIDE), .hard_edges = true};
}

static orr_scene *room(orr_engine *engine, float metallic, float roughness, float x)
{
    orr_scene *scene;
    orr_layer layer;
    const orr_transform at = {.position = {x, 0, 0}, .rotation = {1}, .scale = 0.4f};
    assert_ok(orr_scene_create(engine, &scene, &error));
    add_walls(scene);
    assert_ok(orr_scene_add_file(scene, write_sphere(metallic, roughness, 0.8f), &at, &layer, &error));
    // light that does not count, so that there is no default sun
    const orr_light_desc lamp = {.kind = ORR_LIGHT_KIND_POINT, .position = {0, 50, 0}, .intensity = 1e-6f};
    assert_ok(orr_scene_add_light(scene, &lamp, &error));
    return scene;
}

static void captured_walls_light_what_is_between_them(void **state)
{
    (void)state;
    static float cpu[4 * PIXELS], rgba[4 * PIXELS], traced[4 * PIXELS];
    const orr_device_kind devices[] = {ORR_DEVICE_CPU, ORR_DEVICE_VULKAN, ORR_DEVICE_CUDA};
    const orr_view view = look_in();
    paint_smooth();
    for (int d = 0; d < 3; d++) {
        orr_engine *engine = open_machine(devices[d]);
        for (int r = 0; r < 2 && engine; r++) {
            orr_scene *scene = room(engine, r == 0 ? 1.0f : 0.0f, r == 0 ? 0.3f : 1.0f, 0.0f);
            draw(engine, scene, &view, rgba);
            assert_true(red_at(rgba, SIDE / 2, SIDE / 2) < 0.1f);
            if (r == 1) { // an environment around the walls, whose texels are before those of the probe
                const orr_environment_desc around = {
                    .rgb = sky, .width = SKY_WIDTH, .height = SKY_HEIGHT, .strength = 0.2f};
                assert_ok(orr_scene_set_environment(scene, &around, &error));
            }
            assert_ok(orr_scene_set_probes(scene, true, &error));
            draw(engine, scene, &view, d == 0 ? cpu : rgba);
            if (d == 0) {
                // red on the side of the red wall
                float left = red_at(cpu, SIDE / 2 - 8, SIDE / 2), right = red_at(cpu, SIDE / 2 + 8, SIDE / 2);
                assert_true(left > right + 0.1f);
                trace(scene, &view, 32, traced);
                double off = middle_error(cpu, traced);
                print_message("a sphere between captured walls: off by %.4f\n", off);
                // the box is that of the walls, so that what remains is noise, the sharpness of 64 x 64 faces
                // and the split sum
                assert_true(off < 0.05);
            } else if (r == 1) { // the picture in `cpu` is that of the second
                assert_true(psnr(rgba, cpu, 4 * PIXELS) > 80.0);
            }
            orr_scene_destroy(scene);
        }
        orr_engine_destroy(engine);
    }
}

static void probes_follow_and_are_never_not_a_number(void **state)
{
    (void)state;
    static float rgba[4 * PIXELS], moved[4 * PIXELS], fresh[4 * PIXELS];
    const orr_view view = look_in();
    orr_engine *engine = open_machine(ORR_DEVICE_CPU);
    orr_scene *scene = room(engine, 1.0f, 0.3f, 0.0f);
    assert_ok(orr_scene_set_probes(scene, true, &error));
    orr_world *world;
    orr_frame *frame;
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_frame_create(engine, NULL, &frame, &error));
    for (int i = 0; i < 8; i++) { // a face per frame: after six it is as if it had always been there
        const orr_transform at = {.position = {i > 0 ? -1.0f : 0.0f, 0, 0}, .rotation = {1}, .scale = 0.4f};
        assert_ok(orr_world_set_transform(world, 0, orr_scene_layer(scene, 1), &at, &error));
        assert_ok(orr_frame_submit(frame, scene, world, &view, &error));
        assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = i == 0 ? rgba : moved}, &error));
    }
    orr_frame_destroy(frame);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
    scene = room(engine, 1.0f, 0.3f, -1.0f);
    assert_ok(orr_scene_set_probes(scene, true, &error));
    draw(engine, scene, &view, fresh);
    assert_memory_equal(moved, fresh, sizeof moved);
    orr_scene_destroy(scene);
    for (int i = 0; i < 3; i++) { // in a wall, at its rim, outside
        scene = room(engine, 1.0f, 0.3f, -1.8f - 0.2f * (float)i);
        assert_ok(orr_scene_set_probes(scene, true, &error));
        draw(engine, scene, &view, rgba);
        for (int k = 0; k < 4 * PIXELS; k++) {
            assert_true(isfinite(rgba[k]));
        }
        orr_scene_destroy(scene);
    }
    orr_engine_destroy(engine);
}

// The blue in the picture of a white geom beside a blue one that a lamp lights, both of one robot: with and
// without a joint, captured walls around, and a second layer of meshes (a triangle out of sight).
static float blue_beside(orr_engine *engine, const char *joint, bool walls, bool triangle)
{
    static float rgba[4 * PIXELS];
    char text[512];
    orr_scene *scene;
    orr_world *world;
    const orr_view view = look_in();
    const orr_light_desc lamp = {.kind = ORR_LIGHT_KIND_POINT, .position = {1, 0, 0.3f}, .intensity = 8.0f};
    snprintf(text, sizeof text,
             "<mujoco><worldbody><body>%s<geom type='box' size='.2 .2 .1' pos='.1 0 0'/>"
             "<geom type='box' size='.1 .3 .3' pos='-.2 0 .1' rgba='0 0 1 1'/></body></worldbody></mujoco>",
             joint);
    assert_ok(orr_scene_create(engine, &scene, &error));
    add_walls(scene);
    assert_ok(orr_scene_add_file(scene, written("lone.xml", text), NULL, NULL, &error));
    if (triangle) {
        assert_ok(orr_scene_add_file(scene, write_lamp("", "", ""), NULL, NULL, &error));
    }
    assert_ok(orr_scene_add_light(scene, &lamp, &error));
    assert_ok(orr_scene_set_probes(scene, true, &error));
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_world_set_visible(world, 0, orr_scene_layer(scene, 0), walls, &error));
    draw_world(engine, scene, world, &view, rgba);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
    return rgba[4 * (SIDE / 2 * SIDE + SIDE / 2) + 2];
}

// Geoms of a robot light each other, unless it can move and is the only mesh in a capture.
static void a_robot_that_moves_alone_in_a_capture_has_no_grid(void **state)
{
    (void)state;
    orr_engine *engine = open_machine(ORR_DEVICE_CPU);
    const float alone = blue_beside(engine, "<joint/>", true, false),
                rigid = blue_beside(engine, "", true, false),
                together = blue_beside(engine, "<joint/>", true, true),
                uncaptured = blue_beside(engine, "<joint/>", false, false);
    print_message("alone %.3f, rigid %.3f, together %.3f, uncaptured %.3f\n", (double)alone, (double)rigid,
                  (double)together, (double)uncaptured);
    assert_true(rigid > alone + 0.05f && together > alone + 0.05f && uncaptured > alone + 0.05f);
    orr_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_white_metal_vanishes_in_white_light),
        cmocka_unit_test(a_matte_surface_reflects_its_albedo),
        cmocka_unit_test(all_machines_draw_the_same),
        cmocka_unit_test(spheres_look_as_path_traced_ones),
        cmocka_unit_test(it_turns_and_backgrounds_hide_it),
        cmocka_unit_test(bad_environments_are_one_line),
        cmocka_unit_test(lights_fall_off_as_gltf_says),
        cmocka_unit_test(lights_of_mesh_files_are_lights_of_the_scene),
        cmocka_unit_test(scene_files_hold_all_of_it),
        cmocka_unit_test(bad_lights_are_refused),
        cmocka_unit_test(captured_walls_light_what_is_between_them),
        cmocka_unit_test(probes_follow_and_are_never_not_a_number),
        cmocka_unit_test(a_robot_that_moves_alone_in_a_capture_has_no_grid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
