// Tests of surfaces that look different in each copy: pictures are those of models that are made so.
#include "engine/core/file.h"
#include "engine/core/result.h"
#include "tests/support/engine.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 48, PIXELS = SIDE * SIDE, COPIES = 6 };

typedef struct stage {
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    orr_eyes *eyes;
    orr_layer robot;
} stage;

static stage stage_make(const char *model, int copies, int threads, bool smooth, bool cloud,
                        const orr_camera *camera)
{
    stage s;
    const char *path = scratch_path("looks.xml");
    assert_ok(orr_file_write(path, model, strlen(model), &error));
    assert_ok(orr_engine_create(&(orr_engine_desc){.device = ORR_DEVICE_CPU, .threads = threads}, &s.engine,
                                &error));
    assert_ok(orr_scene_create(s.engine, &s.scene, &error));
    if (cloud) {
        orr_splats *splats;
        orr_layer layer;
        assert_ok(orr_splats_create(1, 0, &splats, &error));
        orr_splats_view data = orr_splats_data(splats);
        data.position[0] = 0.5f;
        data.position[2] = 0.6f;
        data.opacity[0] = 0.5f;
        data.colour[0] = 1.0f;
        for (int k = 0; k < 3; k++) {
            data.log_scale[k] = logf(0.2f);
        }
        assert_ok(orr_scene_add_splats(s.scene, "splat", splats, NULL, &layer, &error));
        orr_splats_destroy(splats);
    }
    assert_ok(orr_scene_add_file(s.scene, path, NULL, &s.robot, &error));
    assert_ok(orr_world_create(s.scene, copies, &s.world, &error));
    const orr_eyes_desc desc = {.views = camera,
                                .view_count = 1,
                                .width = SIDE,
                                .height = SIDE,
                                .smooth_edges = smooth,
                                .detail = 0.1f};
    assert_ok(orr_eyes_create(s.world, &desc, &s.eyes, &error));
    return s;
}

static void stage_free(stage *s)
{
    orr_eyes_destroy(s->eyes);
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
    orr_engine_destroy(s->engine);
}

static void draw(const stage *s, float *rgba)
{
    assert_ok(orr_eyes_draw(s->eyes, NULL, &(orr_eyes_pictures){.rgba = rgba}, &error));
}

static orr_camera look_from(float x, float y, float z, bool y_up)
{
    return orr_camera_look_at((float[]){x, y, z}, (float[]){0, 0, 0}, (float[]){0, y_up, !y_up}, 0.6f, SIDE,
                              SIDE);
}

// ---- copies ----

// A floor with a texture, a box and a ball without, and a second texture.
static const char *const room =
    "<mujoco><asset>"
    "<texture name='tiles' type='2d' builtin='checker' rgb1='1 0 0' rgb2='0 0 1' width='32' height='32'/>"
    "<texture name='other' type='2d' builtin='gradient' rgb1='0 1 0' rgb2='1 1 0' width='32' height='32'/>"
    "<material name='floor' texture='tiles' texrepeat='3 3'/>"
    "<material name='plastic' rgba='.2 .6 .9 1'/>"
    "</asset><worldbody><light pos='1 -2 4' dir='0 .3 -1'/>"
    "<geom name='floor' type='plane' size='0 0 1' pos='0 0 -.4' material='floor'/>"
    "<geom name='box' type='box' size='.3 .3 .3' pos='-.4 0 0' rgba='.9 .5 .1 1'/>"
    "<geom name='ball' type='sphere' size='.3' pos='.4 0 0' material='plastic'/>"
    "</worldbody></mujoco>";

static const orr_eyes_target room_targets[] = {{.geom = "floor"}, {.geom = "box"}, {.material = "plastic"}};
enum { TARGETS = 3 };

static void vary_room(const stage *s)
{
    static const uint8_t rgb[2 * 2 * 3] = {255, 0, 255, 0, 0, 0, 20, 30, 40, 200, 210, 220};
    const orr_eyes_texture textures[] = {{.name = "other"}, {.rgb = rgb, .width = 2, .height = 2}};
    const orr_eyes_surfaces_desc desc = {
        .targets = room_targets, .target_count = TARGETS, .textures = textures, .texture_count = 2};
    assert_ok(orr_eyes_vary_surfaces(s->eyes, &desc, &error));
}

// Copy 0 is as the model has it; every pattern is somewhere.
static void fill_room(orr_eyes_surface surfaces[COPIES][TARGETS])
{
    memset(surfaces, 0, COPIES * sizeof surfaces[0]);
    for (int copy = 1; copy < COPIES; copy++) {
        for (int target = 0; target < TARGETS; target++) {
            const float part = (float)(copy * TARGETS + target) / 20.0f;
            surfaces[copy][target] =
                (orr_eyes_surface){.pattern = (orr_pattern)((copy + target) % 6),
                                   .picture = copy % 2,
                                   .cells = copy,
                                   .seed = (uint32_t)copy,
                                   .colours = {{part, 0.1f, 0.9f}, {1.0f, part, 0.3f}},
                                   .changes = ORR_SURFACE_SPECULAR | (copy == 3 ? ORR_SURFACE_COLOUR : 0),
                                   .colour = {part, part, 1.0f},
                                   .specular = part};
        }
    }
}

static void room_alone(const orr_camera *camera, bool smooth, const orr_eyes_surface *surfaces, float *rgba)
{
    stage s = stage_make(room, 1, 1, smooth, true, camera);
    vary_room(&s);
    assert_ok(orr_eyes_set_surfaces(s.eyes, NULL, surfaces, &error));
    draw(&s, rgba);
    stage_free(&s);
}

// Each copy's picture is that of a world of its own, drawn by one thread, and not by three.
static void copies_are_as_if_they_were_alone(void **state)
{
    (void)state;
    static float all[COPIES * PIXELS * 4], again[COPIES * PIXELS * 4], one[PIXELS * 4];
    static orr_eyes_surface surfaces[COPIES][TARGETS];
    const orr_camera camera = look_from(0.5f, -2.5f, 1.2f, false);
    fill_room(surfaces);
    for (int smooth = 0; smooth < 2; smooth++) {
        stage s = stage_make(room, COPIES, 3, smooth, true, &camera);
        draw(&s, again);
        vary_room(&s);
        draw(&s, all);
        assert_memory_equal(all, again, sizeof all); // nothing is set yet
        assert_ok(orr_eyes_set_surfaces(s.eyes, NULL, surfaces[0], &error));
        draw(&s, all);
        for (int copy = 0; copy < COPIES; copy++) {
            const float *own = all + (size_t)copy * PIXELS * 4;
            room_alone(&camera, smooth, surfaces[copy], one);
            assert_memory_equal(own, one, sizeof one);
            assert_true((memcmp(own, again, sizeof one) == 0) == (copy == 0)); // as the model has it
            for (int other = 1; other < copy; other++) {
                assert_true(memcmp(own, all + (size_t)other * PIXELS * 4, sizeof one) != 0);
            }
        }
        stage_free(&s);
    }
}

static void masks_leave_the_others(void **state)
{
    (void)state;
    static float all[COPIES * PIXELS * 4], again[COPIES * PIXELS * 4];
    static orr_eyes_surface surfaces[COPIES][TARGETS], next[COPIES][TARGETS];
    const orr_camera camera = look_from(0.5f, -2.5f, 1.2f, false);
    const uint8_t mask[COPIES] = {0, 1, 0, 0, 1, 0};
    fill_room(surfaces);
    stage s = stage_make(room, COPIES, 2, false, false, &camera);
    vary_room(&s);
    assert_ok(orr_eyes_set_surfaces(s.eyes, NULL, surfaces[0], &error));
    draw(&s, all);
    memset(next, 0, sizeof next);
    next[2][0].pattern = (orr_pattern)77; // it is not read
    next[4][0].pattern = ORR_PATTERN_NOISE;
    next[4][0].colours[1][1] = 1.0f;
    assert_ok(orr_eyes_set_surfaces(s.eyes, mask, next[0], &error));
    draw(&s, again);
    for (size_t copy = 0; copy < COPIES; copy++) {
        const bool same =
            memcmp(all + copy * PIXELS * 4, again + copy * PIXELS * 4, PIXELS * 4 * sizeof *all) == 0;
        assert_true(same == !mask[copy]);
    }
    assert_memory_equal(again, again + PIXELS * 4, PIXELS * 4 * sizeof *all); // copy 1 is plain again
    // the same pattern in other colours is the one that is drawn with them from the beginning
    static float alone[PIXELS * 4];
    next[4][0].colours[0][0] = 0.7f;
    assert_ok(orr_eyes_set_surfaces(s.eyes, mask, next[0], &error));
    draw(&s, again);
    stage one = stage_make(room, 1, 1, false, false, &camera);
    vary_room(&one);
    assert_ok(orr_eyes_set_surfaces(one.eyes, NULL, next[4], &error));
    draw(&one, alone);
    stage_free(&one);
    assert_memory_equal(again + 4 * PIXELS * 4, alone, sizeof alone);
    // another set of surfaces begins as the model has it
    vary_room(&s);
    draw(&s, again);
    assert_memory_equal(again, again + 4 * PIXELS * 4, PIXELS * 4 * sizeof *all);
    stage_free(&s);
}

// ---- against models that are made so ----

static void expect_as_model(const char *made, const orr_eyes_target *target, const orr_eyes_texture *texture,
                            const orr_eyes_surface *surface)
{
    static float varied[PIXELS * 4], plain[PIXELS * 4], expected[PIXELS * 4];
    const orr_camera camera = look_from(0.5f, -2.5f, 1.2f, false);
    stage s = stage_make(room, 1, 1, false, false, &camera);
    const orr_eyes_surfaces_desc desc = {
        .targets = target, .target_count = 1, .textures = texture, .texture_count = texture != NULL};
    draw(&s, plain);
    assert_ok(orr_eyes_vary_surfaces(s.eyes, &desc, &error));
    assert_ok(orr_eyes_set_surfaces(s.eyes, NULL, surface, &error));
    draw(&s, varied);
    stage_free(&s);
    s = stage_make(made, 1, 1, false, false, &camera);
    draw(&s, expected);
    stage_free(&s);
    assert_true(memcmp(plain, expected, sizeof plain) != 0);
    assert_memory_equal(varied, expected, sizeof varied);
}

// The room with one text replaced by another.
static const char *room_with(const char *text, const char *by)
{
    static char made[4096];
    const char *at = strstr(room, text);
    assert_non_null(at);
    snprintf(made, sizeof made, "%.*s%s%s", (int)(at - room), room, by, at + strlen(text));
    return made;
}

static void pictures_are_those_of_models_made_so(void **state)
{
    (void)state;
    // another texture of the model, and the same from memory: 16 texels of red, then of blue, each way
    expect_as_model(room_with("texture='tiles' texrepeat", "texture='other' texrepeat"), &room_targets[0],
                    &(orr_eyes_texture){.name = "other"},
                    &(orr_eyes_surface){.pattern = ORR_PATTERN_PICTURE});
    static uint8_t rgb[32 * 32 * 3];
    for (int i = 0; i < 32 * 32; i++) {
        const bool second = (i % 32 < 16) != (i / 32 < 16);
        rgb[3 * i + (second ? 1 : 0)] = 255;
    }
    const char *green = room_with("rgb2='0 0 1'", "rgb2='0 1 0'");
    expect_as_model(green, &(orr_eyes_target){.material = "floor"},
                    &(orr_eyes_texture){.rgb = rgb, .width = 32, .height = 32},
                    &(orr_eyes_surface){.pattern = ORR_PATTERN_PICTURE});
    // colours: of a geom without texture, and as a factor of a texture
    expect_as_model(room_with("rgba='.9 .5 .1 1'", "rgba='.1 .7 .3 1'"), &room_targets[1], NULL,
                    &(orr_eyes_surface){.pattern = ORR_PATTERN_FLAT, .colours = {{0.1f, 0.7f, 0.3f}}});
    expect_as_model(room_with("texrepeat='3 3'/>", "texrepeat='3 3' rgba='.3 1 .8 1'/>"), &room_targets[0],
                    NULL, &(orr_eyes_surface){.changes = ORR_SURFACE_COLOUR, .colour = {0.3f, 1.0f, 0.8f}});
    // the finish; 0 is set too
    expect_as_model(room_with("rgba='.2 .6 .9 1'/>", "rgba='.2 .6 .9 1' specular='.9' shininess='.1'/>"),
                    &room_targets[2], NULL,
                    &(orr_eyes_surface){.changes = ORR_SURFACE_SPECULAR | ORR_SURFACE_SHININESS,
                                        .specular = 0.9f,
                                        .shininess = 0.1f});
    expect_as_model(
        room_with("rgba='.2 .6 .9 1'/>", "rgba='.2 .6 .9 1' specular='0' emission='.4'/>"), &room_targets[2],
        NULL, &(orr_eyes_surface){.changes = ORR_SURFACE_SPECULAR | ORR_SURFACE_EMISSION, .emission = 0.4f});
}

// A floor that mirrors less; a wall that does not mirror in the model never does.
static void mirrors_keep_their_place(void **state)
{
    (void)state;
    static const char *const hall =
        "<mujoco><asset><material name='floor' rgba='.4 .4 .4 1' reflectance='.8'/></asset><worldbody>"
        "<geom name='floor' type='plane' size='2 2 1' pos='0 0 -.4' material='floor'/>"
        "<geom name='wall' type='plane' size='2 2 1' pos='0 1 0' euler='90 0 0' rgba='.5 .6 .7 1'/>"
        "<geom name='box' type='box' size='.3 .3 .3' rgba='.9 .5 .1 1'/></worldbody></mujoco>";
    static const char *const dim =
        "<mujoco><asset><material name='floor' rgba='.4 .4 .4 1' reflectance='.2'/></asset><worldbody>"
        "<geom name='floor' type='plane' size='2 2 1' pos='0 0 -.4' material='floor'/>"
        "<geom name='wall' type='plane' size='2 2 1' pos='0 1 0' euler='90 0 0' rgba='.5 .6 .7 1'/>"
        "<geom name='box' type='box' size='.3 .3 .3' rgba='.9 .5 .1 1'/></worldbody></mujoco>";
    static float varied[PIXELS * 4], expected[PIXELS * 4];
    const orr_camera camera = look_from(0.5f, -2.5f, 1.2f, false);
    const orr_eyes_target targets[] = {{.geom = "floor"}, {.geom = "wall"}};
    const orr_eyes_surface both[2] = {{.changes = ORR_SURFACE_REFLECTANCE, .reflectance = 0.2f},
                                      {.changes = ORR_SURFACE_REFLECTANCE, .reflectance = 1.0f}};
    stage s = stage_make(hall, 1, 1, false, false, &camera);
    assert_ok(orr_eyes_vary_surfaces(s.eyes, &(orr_eyes_surfaces_desc){.targets = targets, .target_count = 2},
                                     &error));
    assert_ok(orr_eyes_set_surfaces(s.eyes, NULL, both, &error));
    draw(&s, varied);
    stage_free(&s);
    s = stage_make(dim, 1, 1, false, false, &camera);
    draw(&s, expected);
    stage_free(&s);
    assert_memory_equal(varied, expected, sizeof varied);
}

// ---- patterns, and how pictures lie ----

// A cube of 1 m that fills 0.7 to 0.8 of the picture from 2.5 m, lit from everywhere.
static const char *const cube =
    "<mujoco><visual><headlight ambient='1 1 1' diffuse='0 0 0' specular='0 0 0'/></visual><worldbody>"
    "<geom name='box' type='box' size='.5 .5 .5'/></worldbody></mujoco>";

static const float *pixel(const float *rgba, float x, float y) // 0 .. 1 of the picture
{
    return rgba + 4 * ((size_t)(y * SIDE) * SIDE + (size_t)(x * SIDE));
}

// Red, green above, blue, white below, seen from each side, upright and not mirrored.
static void pictures_lie_upright_on_every_side(void **state)
{
    (void)state;
    static const uint8_t corners[2 * 2 * 3] = {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255};
    static uint8_t rgb[64 * 64 * 3];
    static float rgba[PIXELS * 4];
    static const float from[6][3] = {{2.5f, 0, 0},  {-2.5f, 0, 0}, {0, 2.5f, 0},
                                     {0, -2.5f, 0}, {0, 0, 2.5f},  {0, 0, -2.5f}};
    for (int i = 0; i < 64 * 64; i++) {
        memcpy(rgb + 3 * i, corners + 3 * (i / 64 / 32 * 2 + i % 64 / 32), 3);
    }
    for (int side = 0; side < 6; side++) {
        const orr_camera camera = look_from(from[side][0], from[side][1], from[side][2], side >= 4);
        stage s = stage_make(cube, 1, 1, false, false, &camera);
        const orr_eyes_texture texture = {.rgb = rgb, .width = 64, .height = 64};
        const orr_eyes_surfaces_desc desc = {.targets = &(orr_eyes_target){.layer = s.robot},
                                             .target_count = 1,
                                             .textures = &texture,
                                             .texture_count = 1};
        assert_ok(orr_eyes_vary_surfaces(s.eyes, &desc, &error));
        assert_ok(
            orr_eyes_set_surfaces(s.eyes, NULL, &(orr_eyes_surface){.pattern = ORR_PATTERN_PICTURE}, &error));
        draw(&s, rgba);
        for (int corner = 0; corner < 4; corner++) {
            const float *seen = pixel(rgba, corner % 2 ? 0.7f : 0.3f, corner / 2 ? 0.7f : 0.3f);
            for (int k = 0; k < 3; k++) { // the light is white; highlights and tone change nothing here
                assert_true(fabsf(seen[k] - (float)corners[3 * corner + k] / 255.0f) < 0.02f);
            }
        }
        stage_free(&s);
    }
}

static void draw_pattern(const orr_eyes_surface *surface, int side, float *rgba)
{
    const orr_camera camera = look_from(0, -2.5f, 0, false);
    stage s = stage_make(cube, 1, 1, false, false, &camera);
    const orr_eyes_surfaces_desc desc = {
        .targets = &(orr_eyes_target){.geom = "box"}, .target_count = 1, .pattern_side = side};
    assert_ok(orr_eyes_vary_surfaces(s.eyes, &desc, &error));
    assert_ok(orr_eyes_set_surfaces(s.eyes, NULL, surface, &error));
    draw(&s, rgba);
    stage_free(&s);
}

static void patterns_are_as_described(void **state)
{
    (void)state;
    static float rgba[PIXELS * 4], other[PIXELS * 4];
    // 4 x 4 squares on a face that is 0.81 of the picture wide: 1 / (4 tan 0.3)
    const float half = 0.5f / (4.0f * tanf(0.3f));
    draw_pattern(&(orr_eyes_surface){.pattern = ORR_PATTERN_CHECKER,
                                     .cells = 4,
                                     .colours = {{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}}},
                 256, rgba);
    for (int i = 0; i < 16; i++) {
        const float *seen = pixel(rgba, 0.5f + half * (float)(2 * (i % 4) - 3) / 4.0f,
                                  0.5f + half * (float)(2 * (i / 4) - 3) / 4.0f);
        const bool second = (i % 4 + i / 4) % 2;
        assert_true(seen[second] > 0.98f && seen[!second] < 0.02f);
    }
    draw_pattern(&(orr_eyes_surface){.pattern = ORR_PATTERN_GRADIENT,
                                     .colours = {{1.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 1.0f}}},
                 0, rgba);
    for (int i = 1; i < 8;
         i++) { // display colours are mixed; a texel of 64 is 0.03 of them, and so is a pixel
        const float share = 1.0f - fabsf((float)i / 4.0f - 1.0f);
        const float *seen = pixel(rgba, 0.5f, 0.5f + half * ((float)i / 4.0f - 1.0f));
        assert_true(fabsf(seen[2] - share) < 0.06f && fabsf(seen[0] - (1.0f - share)) < 0.06f);
    }
    orr_eyes_surface noise = {
        .pattern = ORR_PATTERN_NOISE, .cells = 4, .seed = 7, .colours = {{1.0f, 0.2f, 0}, {0, 0.2f, 1.0f}}};
    draw_pattern(&noise, 0, rgba);
    float least = 1.0f, most = 0.0f;
    for (int i = 0; i < 32 * 32; i++) {
        const float x = 0.5f + half * (float)(i % 32 - 15) / 17.0f,
                    y = 0.5f + half * (float)(i / 32 - 15) / 17.0f;
        const float *seen = pixel(rgba, x, y);
        least = fminf(least, seen[0]);
        most = fmaxf(most, seen[0]);
        assert_true(fabsf(seen[1] - 0.2f) < 0.02f);
    }
    assert_true(least < 0.3f && most > 0.7f); // 16 numbers: one of 1000 seeds has less
    noise.seed = 8;
    draw_pattern(&noise, 0, other);
    assert_true(memcmp(rgba, other, sizeof rgba) != 0);
}

// A mesh of a scene: a part of it alone, and all of it.
static void meshes_are_varied_by_material(void **state)
{
    (void)state;
    static const float corners[] = {-1, 0, -1, 1, 0, -1, 1, 0, 1, -1, 0, 1};
    static const uint32_t sides[] = {0, 1, 2, 0, 2, 3};
    static float rgba[2 * PIXELS * 4];
    const orr_camera camera = look_from(0, -2.5f, 0, false);
    orr_layer layer;
    stage s = stage_make(cube, 1, 1, false, false, &camera);
    orr_eyes_destroy(s.eyes);
    orr_world_destroy(s.world);
    const orr_mesh_desc mesh = {.vertex_count = 4, .index_count = 6, .positions = corners, .indices = sides};
    assert_ok(orr_scene_remove(s.scene, s.robot, &error));
    assert_ok(orr_scene_add_mesh(s.scene, "wall", &mesh, NULL, &layer, &error));
    assert_ok(orr_world_create(s.scene, 2, &s.world, &error));
    const orr_eyes_desc desc = {.views = &camera, .view_count = 1, .width = SIDE, .height = SIDE};
    assert_ok(orr_eyes_create(s.world, &desc, &s.eyes, &error));
    for (int part = 0; part < 2; part++) {
        const orr_eyes_target target = {.layer = layer, .part = part};
        const orr_eyes_surface surfaces[2] = {
            {0}, {.pattern = ORR_PATTERN_CHECKER, .cells = 2, .colours = {{1, 0, 0}, {0, 1, 0}}}};
        assert_ok(orr_eyes_vary_surfaces(
            s.eyes, &(orr_eyes_surfaces_desc){.targets = &target, .target_count = 1}, &error));
        assert_ok(orr_eyes_set_surfaces(s.eyes, NULL, surfaces, &error));
        draw(&s, rgba);
        const float *other = rgba + PIXELS * 4, *left = pixel(other, 0.3f, 0.3f),
                    *right = pixel(other, 0.7f, 0.3f);
        assert_true(pixel(rgba, 0.3f, 0.3f)[0] == pixel(rgba, 0.3f, 0.3f)[2]); // white
        assert_true(left[0] > 0.1f && left[1] < 0.02f && right[0] < 0.02f && right[1] > 0.1f);
    }
    orr_error why;
    const orr_eyes_target wrong = {.layer = layer, .part = 2};
    assert_int_equal(
        orr_eyes_vary_surfaces(s.eyes, &(orr_eyes_surfaces_desc){.targets = &wrong, .target_count = 1}, &why),
        ORR_ERROR_ARGUMENT);
    assert_string_equal(why.message, "target 0: material 1 of wall: expected 0 .. 0");
    stage_free(&s);
}

// ---- what is refused ----

static void expect_desc_refused(const stage *s, orr_eyes_surfaces_desc desc, const char *message)
{
    orr_error why;
    assert_true(orr_eyes_vary_surfaces(s->eyes, &desc, &why) != ORR_OK);
    assert_string_equal(why.message, message);
}

static void expect_refused(const stage *s, orr_eyes_surface surface, const char *message)
{
    orr_eyes_surface all[2 * TARGETS] = {0};
    orr_error why;
    all[TARGETS + 1] = surface;
    assert_int_equal(orr_eyes_set_surfaces(s->eyes, NULL, all, &why), ORR_ERROR_ARGUMENT);
    assert_string_equal(why.message, message);
}

static void what_is_not_there_is_refused(void **state)
{
    (void)state;
    const orr_camera camera = look_from(0.5f, -2.5f, 1.2f, false);
    stage s = stage_make(room, 2, 1, false, true, &camera);
    orr_error why;
    const orr_eyes_surface plain[2 * TARGETS] = {0};
    assert_int_equal(orr_eyes_set_surfaces(s.eyes, NULL, plain, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "expected some that vary"));
    orr_eyes_surfaces_desc desc = {.targets = room_targets, .target_count = 0};
    expect_desc_refused(&s, desc, "varied surfaces: 0 targets: expected 1 to 1024");
    desc.target_count = TARGETS;
    desc.pattern_side = 48;
    expect_desc_refused(&s, desc,
                        "varied surfaces: patterns of 48 texels: expected a power of two, 2 to 1024");
    desc.pattern_side = 0;
    desc.texture_count = 1;
    expect_desc_refused(&s, desc, "varied surfaces: 1 textures: expected 0 to 4096");
    static const uint8_t rgb[3];
    const struct {
        orr_eyes_texture texture;
        const char *message;
    } textures[] = {
        {{0}, "texture 0: expected one of path, rgb and name"},
        {{.name = "wood"}, "texture 0: expected a robot with a flat texture wood"},
        {{.rgb = rgb, .width = 0, .height = 1}, "texture 0: 0 x 1 pixels: expected 1 to 32768 on a side"}};
    for (size_t i = 0; i < sizeof textures / sizeof *textures; i++) {
        desc.textures = &textures[i].texture;
        expect_desc_refused(&s, desc, textures[i].message);
    }
    const orr_eyes_texture absent = {.path = "/nowhere/wood.png"};
    desc.textures = &absent;
    assert_int_equal(orr_eyes_vary_surfaces(s.eyes, &desc, &why), ORR_ERROR_FILE);
    desc.texture_count = 0;
    const struct {
        orr_eyes_target target;
        const char *message;
    } targets[] = {
        {{.geom = "roof"}, "target 0: expected a robot with geom roof"},
        {{.material = "wood"}, "target 0: expected a robot with material wood"},
        {{.geom = "box", .material = "floor"}, "target 0: expected a robot with geom box of material floor"},
        {{.layer = {77, 1}}, "layer 77.1: expected a layer that is in the scene (removed ids stay stale)"}};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        expect_desc_refused(&s, (orr_eyes_surfaces_desc){.targets = &targets[i].target, .target_count = 1},
                            targets[i].message);
    }
    vary_room(&s);
    static float before[2 * PIXELS * 4], after[2 * PIXELS * 4];
    draw(&s, before);
    expect_refused(&s, (orr_eyes_surface){.pattern = (orr_pattern)6},
                   "copy 1, target 1: pattern 6: expected 0 to 5");
    expect_refused(&s, (orr_eyes_surface){.pattern = ORR_PATTERN_PICTURE, .picture = 2},
                   "copy 1, target 1: picture 2: expected one of 2");
    expect_refused(&s, (orr_eyes_surface){.cells = 33}, "copy 1, target 1: 33 cells: expected 1 to 32");
    expect_refused(&s, (orr_eyes_surface){.specular = 1.5f},
                   "copy 1, target 1: specular 1.5: expected 0 to 1");
    expect_refused(&s, (orr_eyes_surface){.roughness = NAN},
                   "copy 1, target 1: roughness nan: expected 0 to 1");
    expect_refused(&s, (orr_eyes_surface){.colours = {{0}, {0, 0, -1.0f}}},
                   "copy 1, target 1: a colour of -1: expected 0 to 1");
    expect_refused(&s, (orr_eyes_surface){.changes = 128},
                   "copy 1, target 1: changes 128: expected at most 127");
    draw(&s, after);
    assert_memory_equal(before, after, sizeof before);
    stage_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_as_if_they_were_alone),
        cmocka_unit_test(masks_leave_the_others),
        cmocka_unit_test(pictures_are_those_of_models_made_so),
        cmocka_unit_test(mirrors_keep_their_place),
        cmocka_unit_test(pictures_lie_upright_on_every_side),
        cmocka_unit_test(patterns_are_as_described),
        cmocka_unit_test(meshes_are_varied_by_material),
        cmocka_unit_test(what_is_not_there_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
