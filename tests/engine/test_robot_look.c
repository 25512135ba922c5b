// Tests of how a model looks: transparency, lights, sites and tendons, groups, the horizon, sky and textures.
#include "engine/core/file.h"
#include "engine/loop/light/frame_light.h"
#include "engine/maths/camera.h"
#include "engine/scene/scene.h"
#include "orr_features.h"
#include "tests/support/engine.h"
#include "tests/support/srgb.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 96, HEIGHT = 64, PIXELS = WIDTH * HEIGHT, MIDDLE = HEIGHT / 2 * WIDTH + WIDTH / 2 };

static orr_engine *gpu; // NULL where Vulkan is absent

static int open_engines(void **state)
{
    orr_engine_desc vulkan = {.threads = 2, .device = ORR_DEVICE_VULKAN, .validate = true};
    if (orr_engine_create(&vulkan, &gpu, NULL) != ORR_OK) {
        gpu = NULL;
    }
    return open_engine(state);
}

static int close_engines(void **state)
{
    orr_engine_destroy(gpu);
    return close_engine(state);
}

static orr_view view_from(float x, float y, float z)
{
    return (orr_view){.camera = orr_camera_look_at((float[]){x, y, z}, (float[]){0, 0, 0}, (float[]){0, 0, 1},
                                                   0.8f, WIDTH, HEIGHT),
                      .has_background = true};
}

typedef struct picture {
    float rgba[PIXELS * 4], depth[PIXELS];
} picture;

// Draws a model and, if there is one, a splat of opacity 0.6 at the origin.
static void draw_with(orr_engine *with, const char *model, const float *splat_colour, const orr_view *view,
                      picture *out)
{
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
    char text[8192];
    const char *path = scratch_path("look.xml");
    snprintf(text, sizeof text, "<mujoco>%s</mujoco>", model);
    assert_ok(orr_file_write(path, text, strlen(text), &error));
    assert_ok(orr_scene_load(with, path, &scene, &error));
    if (splat_colour) {
        orr_splats *splats;
        assert_ok(orr_splats_create(1, 0, &splats, &error));
        orr_splats_view data = orr_splats_data(splats);
        data.opacity[0] = logf(0.6f / 0.4f);
        for (int k = 0; k < 3; k++) {
            data.log_scale[k] = logf(0.3f);
            data.colour[k] = (splat_colour[k] - 0.5f) / 0.28209479f;
        }
        orr_layer layer;
        assert_ok(orr_scene_add_splats(scene, "splat", splats, NULL, &layer, &error));
        orr_splats_destroy(splats);
    }
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_frame_create(with, NULL, &frame, &error));
    assert_ok(orr_frame_submit(frame, scene, world, view, &error));
    assert_ok(orr_frame_finish(frame, &(orr_picture){out->rgba, out->depth}, &error));
    orr_frame_destroy(frame);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

static const float *colour_at(const picture *p, int pixel)
{
    return p->rgba + 4 * pixel;
}

static void assert_colour(const picture *p, int pixel, float red, float green, float blue)
{
    // a display byte's half: encoding and its polynomial are good to 1e-5, products of weights to 1e-6
    assert_float_equal(colour_at(p, pixel)[0], red, 0.002);
    assert_float_equal(colour_at(p, pixel)[1], green, 0.002);
    assert_float_equal(colour_at(p, pixel)[2], blue, 0.002);
}

// Light from everywhere that shows colours as they are given, on surfaces without highlights.
#define FLAT "<visual><headlight ambient='1 1 1' diffuse='0 0 0' specular='0 0 0'/></visual>"
#define RED_GLASS "<geom type='box' size='1 .1 1' pos='0 -1 0' rgba='1 0 0 .5'/>"
#define BLUE_BOX "<geom type='box' size='1 .1 1' pos='0 1 0' rgba='0 0 1 1'/>"
#define BLUE_GLASS "<geom type='box' size='1 .1 1' pos='0 1 0' rgba='0 0 1 .25'/>"

static orr_engine *machine(int i)
{
    return i == 0 ? engine : gpu;
}

static void a_red_glass_lets_a_blue_box_through(void **state)
{
    (void)state;
    static picture p;
    orr_view view = view_from(0, -6, 0);
    for (int i = 0; i < 2 && machine(i); i++) {
        draw_with(machine(i), FLAT "<worldbody>" RED_GLASS BLUE_BOX "</worldbody>", NULL, &view, &p);
        assert_colour(&p, MIDDLE, 0.5f, 0.0f, 0.5f);
        assert_float_equal(p.depth[MIDDLE], 0.5f * 4.9f + 0.5f * 6.9f, 1e-3); // mean, by weight
        view = view_from(0, 6, 0);                                            // the box is before the glass
        draw_with(machine(i), FLAT "<worldbody>" RED_GLASS BLUE_BOX "</worldbody>", NULL, &view, &p);
        assert_colour(&p, MIDDLE, 0.0f, 0.0f, 1.0f);
        view = view_from(0, -6, 0);
    }
}

// The middle of the picture meets the mirror at the origin and, from there, the red wall; half of its light
// is 0.7354 as displayed.
static void planes_and_tops_of_boxes_mirror(void **state)
{
    (void)state;
    static picture p;
    static const char *const models[] = {
        "<geom type='plane' size='2 2 .1' material='mirror'/>",
        "<geom type='box' size='2 2 .5' pos='0 0 -.5' material='mirror'/>",
        "<geom type='box' size='2 .5 2' pos='0 0 -.5' euler='90 0 0' material='mirror'/>", // a side of it
        "<geom type='plane' size='2 2 .1' material='mirror' rgba='0 0 0 .999'/>",          // transparent
    };
    char model[1024];
    orr_view view = view_from(0, -6, 3);
    for (int i = 0; i < 2 && machine(i); i++) {
        view.no_mirrors = false;
        for (int k = 0; k < 4; k++) {
            snprintf(model, sizeof model,
                     FLAT
                     "<asset><material name='mirror' rgba='0 0 0 1' reflectance='.5'/></asset>"
                     "<worldbody><geom type='box' size='4 .1 4' pos='0 3 0' rgba='1 0 0 1'/>%s</worldbody>",
                     models[k]);
            draw_with(machine(i), model, NULL, &view, &p);
            if (k < 3) {
                assert_colour(&p, MIDDLE, k < 2 ? 0.7354f : 0.0f, 0.0f, 0.0f);
            } else {
                assert_true(colour_at(&p, MIDDLE)[0] < 0.01f);
            }
        }
        view.no_mirrors = true;
        snprintf(model, sizeof model,
                 FLAT "<asset><material name='mirror' rgba='0 0 0 1' reflectance='.5'/></asset>"
                      "<worldbody><geom type='box' size='4 .1 4' pos='0 3 0' rgba='1 0 0 1'/>%s</worldbody>",
                 models[0]);
        draw_with(machine(i), model, NULL, &view, &p);
        assert_colour(&p, MIDDLE, 0.0f, 0.0f, 0.0f);
    }
}

static void glasses_are_blended_by_depth_in_any_order(void **state)
{
    (void)state;
    static picture p, q;
    orr_view view = view_from(0, -6, 0);
    for (int i = 0; i < 2 && machine(i); i++) {
        draw_with(machine(i), FLAT "<worldbody>" RED_GLASS BLUE_GLASS "</worldbody>", NULL, &view, &p);
        assert_colour(&p, MIDDLE, 0.5f, 0.0f, 0.5f * 0.25f);
        draw_with(machine(i), FLAT "<worldbody>" BLUE_GLASS RED_GLASS "</worldbody>", NULL, &view, &q);
        assert_memory_equal(p.rgba, q.rgba, sizeof p.rgba);
    }
}

static void many_glasses_need_no_limit(void **state)
{
    (void)state;
    static picture p;
    char model[8192];
    int used = snprintf(model, sizeof model, FLAT "<worldbody>");
    for (int i = 0; i < 40; i++) { // more fragments than Vulkan makes room for at first
        used += snprintf(model + used, sizeof model - (size_t)used,
                         "<geom type='box' size='9 .01 9' pos='0 %g 0' rgba='1 1 1 .05'/>", 0.1 * i);
    }
    snprintf(model + used, sizeof model - (size_t)used, "</worldbody>");
    orr_view view = view_from(0, -6, 0);
    for (int i = 0; i < 2 && machine(i); i++) {
        draw_with(machine(i), model, NULL, &view, &p);
        float shown = 1.0f - powf(0.95f, 40.0f);
        assert_colour(&p, MIDDLE, shown, shown, shown);
    }
}

static void splats_are_seen_through_glass_and_before_it(void **state)
{
    (void)state;
    static picture alone, p;
    const float green[3] = {0.0f, 1.0f, 0.0f};
    orr_view view = view_from(0, -6, 0);
    for (int i = 0; i < 2 && machine(i); i++) {
        draw_with(machine(i), FLAT "<worldbody><geom size='.01' pos='0 50 50'/></worldbody>", green, &view,
                  &alone);
        float weight = colour_at(&alone, MIDDLE)[1];
        assert_true(weight > 0.5f && weight < 0.65f);
        draw_with(machine(i), FLAT "<worldbody>" RED_GLASS "</worldbody>", green, &view, &p);
        assert_colour(&p, MIDDLE, 0.5f, 0.5f * weight, 0.0f);
        draw_with(machine(i), FLAT "<worldbody>" BLUE_GLASS "</worldbody>", green, &view, &p);
        assert_colour(&p, MIDDLE, 0.0f, weight, (1.0f - weight) * 0.25f);
        draw_with(machine(i), FLAT "<worldbody>" RED_GLASS BLUE_BOX "</worldbody>", green, &view, &p);
        assert_colour(&p, MIDDLE, 0.5f, 0.5f * weight, 0.5f * (1.0f - weight));
    }
}

// ---- lights ----

#define DARK "<visual><headlight active='0'/></visual>"
#define DULL_FLOOR                                                                                           \
    "<asset><material name='dull' specular='0' rgba='1 1 1 1'/></asset>"                                     \
    "<worldbody><geom type='plane' size='2 2 1' material='dull'/>"

static float seen_under(orr_engine *with, const char *before, const char *lights)
{
    static picture p;
    char model[4096];
    snprintf(model, sizeof model, "%s%s%s</worldbody>", before, DULL_FLOOR, lights);
    orr_view view = view_from(0, -0.01f, 6);
    draw_with(with, model, NULL, &view, &p);
    return (float)srgb_decode((double)colour_at(&p, MIDDLE)[0]);
}

static void lights_add_up(void **state)
{
    (void)state;
    static const char one[] = "<light type='directional' dir='0 0 -1' diffuse='.2 .2 .2' specular='0 0 0'/>";
    static const char slanted[] =
        "<light type='directional' dir='0 .8 -.6' diffuse='.3 .3 .3' ambient='.1 .1 .1'/>";
    char both[512];
    snprintf(both, sizeof both, "%s%s", one, slanted);
    for (int i = 0; i < 2 && machine(i); i++) {
        // Lambert's law in linear light
        assert_float_equal(seen_under(machine(i), DARK, one), 0.2f, 1e-3);
        assert_float_equal(seen_under(machine(i), DARK, slanted), 0.1f + 0.6f * 0.3f, 1e-3);
        assert_float_equal(seen_under(machine(i), DARK, both), 0.48f, 1e-3);
        // the headlight is one more: ambient .1, diffuse .4 at a right angle
        assert_float_equal(seen_under(machine(i), "", one), 0.2f + 0.1f + 0.4f, 2e-3);
    }
}

static void lamps_fade_with_distance_and_shine_within_their_cones(void **state)
{
    (void)state;
    for (int i = 0; i < 2 && machine(i); i++) {
        orr_engine *with = machine(i);
        float lamp = seen_under(
            with, DARK,
            "<light type='point' pos='0 0 2' dir='0 0 -1' diffuse='.8 .8 .8' attenuation='0 0 1'/>");
        assert_float_equal(lamp, 0.8f / 4.0f, 1e-3);
        // 30 degrees off the axis: within a cone of 40, not of 20; cos^2 of it is 3/4
        static const char aside[] =
            "<light type='spot' pos='0 0 2' dir='0 .5 -.8660254' exponent='2' cutoff='%d' "
            "diffuse='.8 .8 .8'/>";
        char light[256];
        snprintf(light, sizeof light, aside, 40);
        // (the pixel's middle is 0.05 m aside)
        assert_float_equal(seen_under(with, DARK, light), 0.8f * 0.75f, 0.02);
        snprintf(light, sizeof light, aside, 20);
        assert_float_equal(seen_under(with, DARK, light), 0.0f, 1e-5);
    }
}

// A lamp shines forward only, and a light from behind a surface leaves no highlight on it, however close to
// the mirrored direction the eye is.
static void nothing_is_lit_from_behind(void **state)
{
    (void)state;
    static picture p;
    static const char polished[] =
        DARK "<asset><material name='m' rgba='1 1 1 1' specular='1' shininess='.1'/></asset><worldbody>"
             "<geom type='plane' size='9 9 1' material='m'/>"
             "<light type='directional' dir='-.995 0 %g' diffuse='0 0 0' specular='1 1 1'/></worldbody>";
    for (int i = 0; i < 2 && machine(i); i++) {
        float lit = seen_under(machine(i), DARK,
                               "<light type='spot' pos='0 0 2' dir='0 0 1' cutoff='40' diffuse='1 1 1'/>");
        assert_float_equal(lit, 0.0f, 1e-5);
        orr_view view = view_from(-6, -0.01f, 2);
        char model[1024];
        for (int above = 0; above < 2; above++) {
            snprintf(model, sizeof model, polished, above ? -0.1 : 0.1);
            draw_with(machine(i), model, NULL, &view, &p);
            assert_true(above ? colour_at(&p, MIDDLE)[0] > 0.5f : colour_at(&p, MIDDLE)[0] < 1e-3f);
        }
    }
}

// Distances are the robot's own: one that is drawn three times as large is lit as before. Fields beside it
// have their light from the first lamp.
static void lamps_of_a_large_robot_reach_as_far_in_it(void **state)
{
    (void)state;
    static const char model[] =
        "<mujoco>" DARK "<worldbody><light type='point' pos='0 0 2' dir='.6 0 -.8' diffuse='1 1 1' "
        "attenuation='.5 .25 .125'/></worldbody></mujoco>";
    const char *path = scratch_path("large.xml");
    orr_scene *scene;
    orr_world *world;
    assert_ok(orr_file_write(path, model, strlen(model), &error));
    assert_ok(orr_scene_create(engine, &scene, &error));
    assert_ok(orr_scene_add_file(scene, path, &(orr_transform){.scale = 3.0f}, NULL, &error));
    assert_ok(orr_world_create(scene, 1, &world, &error));
    orr_draw_list list = {0};
    orr_view view = view_from(0, -1, 6);
    assert_ok(orr_camera_resolve(&view.camera, &list.lens, &error));
    assert_ok(orr_frame_light(world, 0, &list, &error));
    assert_int_equal(list.light_count, 1);
    const orr_draw_light *light = &list.lights[0];
    static const float down[3] = {0.6f, 0.0f, -0.8f}, fading[3] = {0.5f, 0.25f / 3.0f, 0.125f / 9.0f};
    for (int k = 0; k < 3; k++) {
        assert_float_equal(light->position[k], k == 2 ? 6.0f : 0.0f, 1e-6);
        assert_float_equal(light->direction[k], down[k], 1e-6);
        assert_float_equal(light->attenuation[k], fading[k], 1e-7);
        assert_float_equal(list.sun.direction[k], -down[k], 1e-6); // towards the light
    }
    orr_world_destroy(world);
    orr_scene_destroy(scene);
}

static void polished_surfaces_have_highlights(void **state)
{
    (void)state;
    static picture dull, polished;
    static const char model[] =
        DARK "<asset><material name='m' rgba='.5 0 0 1' specular='%g' shininess='.5'/></asset>"
             "<worldbody><light type='directional' dir='0 1 0' diffuse='.5 .5 .5' "
             "specular='1 1 1'/><geom size='1' material='m'/></worldbody>";
    char text[1024];
    orr_view view = view_from(0, -6, 0);
    view.hard_edges = true; // one point per pixel, where several triangles meet
    for (int i = 0; i < 2 && machine(i); i++) {
        snprintf(text, sizeof text, model, 0.0);
        draw_with(machine(i), text, NULL, &view, &dull);
        snprintf(text, sizeof text, model, 0.5);
        draw_with(machine(i), text, NULL, &view, &polished);
        // in the middle the normal lies between light and eye: all of it, white
        assert_float_equal(srgb_decode((double)colour_at(&polished, MIDDLE)[1]), srgb_decode(0.5), 0.02);
        assert_float_equal(colour_at(&dull, MIDDLE)[1], 0.0f, 1e-4);
        int rim = MIDDLE + 12; // cos^64 of 40 degrees is none
        assert_float_equal(colour_at(&polished, rim)[1], 0.0f, 0.01);
        assert_true(colour_at(&polished, rim)[0] > 0.2f);
    }
}

// ---- what is shown ----

static int count_red(const picture *p)
{
    int count = 0;
    for (int i = 0; i < PIXELS; i++) {
        count += colour_at(p, i)[0] > 0.9f && colour_at(p, i)[1] < 0.1f;
    }
    return count;
}

static void groups_are_shown_and_hidden(void **state)
{
    (void)state;
    static picture p;
    static const struct {
        const char *item;
        size_t switches;
    } parts[] = {
        {"<geom size='.5' rgba='1 0 0 1' group='%d'/>", offsetof(orr_view, geom_groups)},
        {"<site size='.5' rgba='1 0 0 1' group='%d'/>", offsetof(orr_view, site_groups)},
    };
    for (int part = 0; part < 2; part++) {
        for (int group = 2; group <= 3; group++) {
            char item[256], model[1024];
            snprintf(item, sizeof item, parts[part].item, group);
            snprintf(model, sizeof model, FLAT "<worldbody>%s</worldbody>", item);
            orr_view view = view_from(0, -6, 0);
            draw_with(engine, model, NULL, &view, &p);
            assert_int_equal(count_red(&p) > 50, group == 2);
            *((unsigned char *)&view + parts[part].switches) = (unsigned char)(1 << group);
            draw_with(engine, model, NULL, &view, &p);
            assert_int_equal(count_red(&p) > 50, group == 3);
        }
    }
}

static void a_tendon_is_drawn_around_its_geom(void **state)
{
    (void)state;
    static picture p;
    // over a ball of radius 1: the way is highest at its top, and covers it there
    static const char model[] = FLAT
        "<worldbody><site name='a' pos='-2 0 .2'/><site name='b' pos='2 0 .2'/><site name='up' pos='0 0 2'/>"
        "<geom name='ball' size='1' rgba='0 0 1 1'/></worldbody>"
        "<tendon><spatial width='.4' rgba='1 0 0 1' group='%d'><site site='a'/>"
        "<geom geom='ball' sidesite='up'/><site site='b'/></spatial></tendon>";
    char text[1024];
    orr_view view = view_from(0, -6, 0);
    snprintf(text, sizeof text, model, 0);
    draw_with(engine, text, NULL, &view, &p);
    // its top: 1 + 0.2 (on a geom it is half as wide as its width says) above the middle, 6 m away
    int top = HEIGHT;
    for (int i = 0; i < PIXELS; i++) {
        bool red = i % WIDTH == WIDTH / 2 && colour_at(&p, i)[0] > 0.9f;
        top = red && i / WIDTH < top ? i / WIDTH : top;
    }
    assert_true(fabsf((float)top - (0.5f * HEIGHT - view.camera.focal[1] * 1.2f / 6.0f)) < 1.5f);
    assert_true(count_red(&p) > 40);
    view.tendon_groups = 1;
    draw_with(engine, text, NULL, &view, &p);
    assert_int_equal(count_red(&p), 0);
    snprintf(text, sizeof text, model, 4);
    view.tendon_groups = 0;
    draw_with(engine, text, NULL, &view, &p);
    assert_int_equal(count_red(&p), 0);
}

static void an_endless_plane_ends_at_the_horizon(void **state)
{
    (void)state;
    static picture p;
    orr_view view = view_from(0, -3, 0);
    view.camera =
        orr_camera_look_at((float[]){0, 0, 20}, (float[]){0, 1, 20}, (float[]){0, 0, 1}, 0.8f, WIDTH, HEIGHT);
    for (int i = 0; i < 2 && machine(i); i++) {
        draw_with(machine(i), FLAT "<worldbody><geom type='plane' size='0 0 1' rgba='1 0 0 1'/></worldbody>",
                  NULL, &view, &p);
        for (int x = 0; x < WIDTH; x++) {
            const int above = (HEIGHT / 2 - 1) * WIDTH + x, below = HEIGHT / 2 * WIDTH + x;
            assert_colour(&p, above, 0.0f, 0.0f, 0.0f);
            assert_colour(&p, below, 1.0f, 0.0f, 0.0f);
            // half a pixel below the horizon
            assert_float_equal(p.depth[below], 20.0f * view.camera.focal[1] / 0.5f, 5.0);
        }
    }
}

static void a_skybox_stands_behind_everything(void **state)
{
    (void)state;
    static picture p;
    static const char model[] =
        FLAT "<asset><texture type='skybox' builtin='flat' rgb1='.2 .4 .6' rgb2='.8 .6 .4' "
             " mark='cross' markrgb='1 0 0' "
             "width='32' height='32'/></asset><worldbody>" BLUE_GLASS "</worldbody>";
    for (int i = 0; i < 2 && machine(i); i++) {
        orr_view view = {.camera = orr_camera_look_at((float[]){0, -6, 0}, (float[]){0, 0, 0},
                                                      (float[]){0, 0, 1}, 0.8f, WIDTH, HEIGHT)};
        draw_with(machine(i), model, NULL, &view, &p);
        assert_colour(&p, 8 * WIDTH + 8, 0.2f, 0.4f, 0.6f);
        assert_float_equal(p.depth[8 * WIDTH + 8], 0.0f, 0.0); // it is nowhere
        assert_float_equal(p.rgba[3], 1.0f, 0.0);
        // seen through the glass, beside the cross in the face's middle
        assert_colour(&p, MIDDLE - 10 * WIDTH - 10, 0.75f * 0.2f, 0.75f * 0.4f, 0.75f * 0.6f + 0.25f);
        assert_true(count_red(&p) > 20); // the cross
        view.camera = orr_camera_look_at((float[]){0, 0, 0}, (float[]){0, 0.01f, -1}, (float[]){0, 0, 1},
                                         0.8f, WIDTH, HEIGHT);
        draw_with(machine(i), model, NULL, &view, &p);
        assert_colour(&p, 8 * WIDTH + 8, 0.8f, 0.6f, 0.4f); // the face below
        const float green[3] = {0.0f, 1.0f, 0.0f};
        draw_with(machine(i), model, green, &view, &p);
        assert_float_equal(p.rgba[3], 0.0f, 1e-3); // a captured world has its own sky
    }
}

// Which of a checker's two colours is at x, y of a floor.
static bool is_red_at(const picture *p, float x, float y)
{
    int column = (int)(0.5f * WIDTH + x * HEIGHT / 8.0f), row = (int)(0.5f * HEIGHT - y * HEIGHT / 8.0f);
    return colour_at(p, row * WIDTH + column)[0] > 0.5f;
}

static void textures_repeat_as_in_mujoco(void **state)
{
    (void)state;
    static picture p;
    static const struct {
        const char *size, *uniform, *repeat;
        float square[2]; // sides of a checker's squares, four of which meet in the middle
    } cases[] = {
        {"0 0 1", "true", "1 1", {1.0f, 1.0f}},  // a repeat in 2 m: MuJoCo 3.12 shows it so
        {"4 3 1", "true", "1 2", {1.0f, 0.5f}},  // likewise
        {"0 0 1", "false", "2 1", {0.5f, 1.0f}}, // endless: likewise
        {"3 2 1", "false", "3 1", {1.0f, 2.0f}}, // over the size
        {"3 0 1", "false", "3 1", {1.0f, 1.0f}}, // over the size, and endless
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char model[1024];
        snprintf(model, sizeof model,
                 FLAT
                 "<asset><texture name='t' type='2d' builtin='checker' rgb1='1 0 0' rgb2='0 0 1' width='64' "
                 "height='64'/><material name='m' texture='t' texuniform='%s' texrepeat='%s' "
                 "specular='0'/></asset>"
                 "<worldbody><geom type='plane' size='%s' material='m'/></worldbody>",
                 cases[i].uniform, cases[i].repeat, cases[i].size);
        orr_view view = view_from(0, 0, 4);
        view.camera = orr_camera_look_at((float[]){0, 0, 4}, (float[]){0, 0, 0}, (float[]){0, 1, 0},
                                         2.0f * atanf(1.0f), WIDTH, HEIGHT); // 8 m high
        draw_with(engine, model, NULL, &view, &p);
        for (int square = 0; square < 4; square++) { // in the middles of the four around the origin
            float x = (square % 2 ? 0.5f : -0.5f) * cases[i].square[0];
            float y = (square / 2 ? 0.5f : -0.5f) * cases[i].square[1];
            assert_int_equal(is_red_at(&p, x, y), square == 1 || square == 2);
            assert_int_equal(is_red_at(&p, 1.5f * x, 1.5f * y), square == 1 || square == 2);
        }
    }
}

static void a_texture_in_srgb_is_shown_decoded(void **state)
{
    (void)state;
    static picture p;
    static const char *const spaces[] = {"auto", "linear", "sRGB"};
    static const float shown[] = {0.5f, 0.5f, 0.2140f}; // as MuJoCo 3.12 shows them
    for (int i = 0; i < 3; i++) {
        char model[1024];
        snprintf(model, sizeof model,
                 FLAT
                 "<asset><texture name='t' type='2d' builtin='flat' rgb1='.5 .5 .5' width='8' height='8' "
                 "colorspace='%s'/><material name='m' texture='t' specular='0'/></asset>"
                 "<worldbody><geom type='plane' size='2 2 1' material='m'/></worldbody>",
                 spaces[i]);
        orr_view view = view_from(0, -0.01f, 6);
        draw_with(engine, model, NULL, &view, &p);
        assert_float_equal(colour_at(&p, MIDDLE)[0], shown[i], 0.006); // a byte and a half
    }
}

// ---- all of it ----

static const char everything[] =
    "<visual><headlight ambient='.2 .2 .2'/></visual>"
    "<asset><texture type='skybox' builtin='gradient' rgb1='.4 .6 .8' rgb2='0 0 0' mark='random' markrgb='1 "
    "1 1' "
    "random='.02' width='64' height='384'/><texture name='t' type='2d' builtin='checker' rgb1='.2 .3 .4' "
    "rgb2='.1 .1 .1' "
    "width='64' height='64'/><material name='m' texture='t' texrepeat='1 1' texuniform='true'/></asset>"
    "<worldbody><light pos='2 -2 3' dir='-1 1 -1.5' cutoff='40' diffuse='.7 .6 .5'/>"
    "<light type='directional' dir='0 .5 -1' diffuse='.3 .3 .4'/>"
    "<geom type='plane' size='0 0 1' pos='0 0 -1' material='m'/><geom size='.6' rgba='1 0 0 .4'/>"
    "<geom type='capsule' size='.2 .8' pos='0 .5 0' euler='0 70 0' rgba='0 1 0 1'/>"
    "<geom type='ellipsoid' size='.3 .9 .5' pos='.8 0 0' rgba='0 0 1 .6'/>"
    "<site name='a' type='box' size='.1 .1 .1' pos='-1 0 .8'/><site name='b' pos='1.2 0 1'/></worldbody>"
    "<tendon><spatial width='.04' rgba='.9 .9 .1 .7'><site site='a'/><site site='b'/></spatial></tendon>";

#if ORR_HAVE_VULKAN
static void the_machines_agree(void **state)
{
    (void)state;
    static picture cpu, vulkan;
    const float green[3] = {0.1f, 0.9f, 0.3f};
    orr_view view = {.camera = orr_camera_look_at((float[]){2, -5, 2}, (float[]){0, 0, 0}, (float[]){0, 0, 1},
                                                  0.8f, WIDTH, HEIGHT)};
    if (!gpu) {
        skip();
    }
    for (int i = 0; i < 2; i++) {
        draw_with(engine, everything, i ? green : NULL, &view, &cpu);
        draw_with(gpu, everything, i ? green : NULL, &view, &vulkan);
        // pixels at edges may fall to either side, and device filters weigh texels with 8 bits
        assert_true(psnr(cpu.rgba, vulkan.rgba, PIXELS * 4) > 40.0);
    }
}
#endif

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    static picture first, again;
    const float green[3] = {0.1f, 0.9f, 0.3f};
    orr_view view = view_from(2, -5, 2);
    draw_with(engine, everything, green, &view, &first);
    for (int threads = 1; threads <= 5; threads += 4) {
        orr_engine *other;
        orr_engine_desc desc = {.threads = threads, .device = ORR_DEVICE_CPU};
        assert_ok(orr_engine_create(&desc, &other, &error));
        draw_with(other, everything, green, &view, &again);
        assert_memory_equal(first.rgba, again.rgba, sizeof first.rgba);
        orr_engine_destroy(other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_red_glass_lets_a_blue_box_through),
        cmocka_unit_test(planes_and_tops_of_boxes_mirror),
        cmocka_unit_test(glasses_are_blended_by_depth_in_any_order),
        cmocka_unit_test(many_glasses_need_no_limit),
        cmocka_unit_test(splats_are_seen_through_glass_and_before_it),
        cmocka_unit_test(lights_add_up),
        cmocka_unit_test(lamps_fade_with_distance_and_shine_within_their_cones),
        cmocka_unit_test(nothing_is_lit_from_behind),
        cmocka_unit_test(lamps_of_a_large_robot_reach_as_far_in_it),
        cmocka_unit_test(polished_surfaces_have_highlights),
        cmocka_unit_test(groups_are_shown_and_hidden),
        cmocka_unit_test(a_tendon_is_drawn_around_its_geom),
        cmocka_unit_test(an_endless_plane_ends_at_the_horizon),
        cmocka_unit_test(a_skybox_stands_behind_everything),
        cmocka_unit_test(textures_repeat_as_in_mujoco),
        cmocka_unit_test(a_texture_in_srgb_is_shown_decoded),
#if ORR_HAVE_VULKAN
        cmocka_unit_test(the_machines_agree),
#endif
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
    };
    return cmocka_run_group_tests(tests, open_engines, close_engines);
}
