// Tests of haze and fog: the formula against the veil's geometry, and every machine that is here against
// MuJoCo's own pictures (tests/golden/record_haze.py) and against the CPU.
#define ORR_SCALAR
#include "engine/core/file.h"
#include "engine/orrery.h"
#include "render/backdrop/haze_formula.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 96, HEIGHT = 72, PIXELS = WIDTH * HEIGHT };

static const orr_device_kind devices[] = {ORR_DEVICE_CPU, ORR_DEVICE_VULKAN, ORR_DEVICE_CUDA};

static orr_engine *open_machine(orr_device_kind device)
{
    orr_engine *engine = NULL;
    const orr_engine_desc desc = {.device = device, .threads = 2, .validate = true};
    return orr_engine_create(&desc, &engine, NULL) == ORR_OK ? engine : NULL;
}

// ---- the formula ----

// A point of the veil's section: along the plane, and above it.
typedef struct section_point {
    double away, above;
} section_point;

// Where a ray from `height` above the origin, which goes `down` over each unit away, meets the straight line
// between two points of the section: how far from the first to the second, 0 .. 1; negative: nowhere.
static double meet(double height, double down, section_point from, section_point to)
{
    // above = height - down x away on the ray
    const double before = from.above - height + down * from.away, after = to.above - height + down * to.away;
    if (before * after > 0.0 || before == after) {
        return -1.0;
    }
    return before / (before - after);
}

static void the_formula_is_the_veil(void **state)
{
    (void)state;
    int near_side = 0, far_side = 0, none = 0;
    srand(1);
    for (int i = 0; i < 4000; i++) {
        const double part = 0.05 + 0.95 * rand() / RAND_MAX, reach = 1.0 + 99.0 * rand() / RAND_MAX,
                     height = 0.2 + 20.0 * rand() / RAND_MAX, down = 3.0 * height / reach * rand() / RAND_MAX;
        const section_point begins = {reach * (1.0 - part), 0.0},
                            covers = {reach / (1.0 + part), height * part / (1.0 + part)},
                            horizon = {reach, height};
        const haze_view v = {
            .reach_over_height = (float)(reach / height), .reach = (float)reach, .part = (float)part};
        const haze_ray ray = {.away = 1.0f, .down = (float)down};
        const float fall = haze_fall(v, ray), weight = haze_weight(v, fall);
        const double on_near = meet(height, down, begins, covers),
                     on_far = meet(height, down, covers, horizon);
        const double expected = on_near >= 0.0 ? on_near : on_far >= 0.0 ? 1.0 - on_far : 0.0;
        // eight roundings in a row, divided by the part where that is small
        assert_true(fabs((double)weight - expected) <= 1e-6 / part);
        if (expected > 0.0) {
            const section_point a = on_near >= 0.0 ? begins : covers, b = on_near >= 0.0 ? covers : horizon;
            const double at = on_near >= 0.0 ? on_near : on_far;
            const double distance = a.away + at * (b.away - a.away);
            assert_true(fabs((double)haze_distance(v, fall, weight) - distance) <= 2e-6 * reach / part);
        }
        near_side += on_near >= 0.0;
        far_side += on_near < 0.0 && on_far >= 0.0;
        none += expected == 0.0;
    }
    assert_true(near_side > 500 && far_side > 500 && none > 200);
}

static void fog_is_linear_in_depth(void **state)
{
    (void)state;
    const haze_view v = {.fog_start = 2.0f, .fog_inverse_width = 0.25f, .fog_red = 1.0f, .fog_blue = 0.5f};
    const struct {
        float depth, share;
    } points[] = {{0.0f, 0.0f}, {2.0f, 0.0f}, {3.0f, 0.25f}, {5.0f, 0.75f}, {6.0f, 1.0f}, {1e6f, 1.0f}};
    for (int i = 0; i < 6; i++) {
        const real3 seen = haze_over(v, make_real3(0.2f, 0.4f, 0.5f), 3.0f, 5.0f, points[i].depth, 0.0f);
        assert_float_equal(seen.x, 0.2f + points[i].share * 0.8f, 1e-6);
        assert_float_equal(seen.y, 0.4f - points[i].share * 0.4f, 1e-6);
        assert_float_equal(seen.z, 0.5f, 1e-6);
    }
}

// ---- pictures ----

typedef struct stage {
    orr_engine *engine;
    orr_scene *scene;
    orr_world *world;
    orr_frame *frame;
    orr_view view;
    float rgba[4 * PIXELS], depth[PIXELS];
} stage;

static void stage_open(stage *s, orr_engine *engine, const char *path)
{
    s->engine = engine;
    s->view = (orr_view){.hard_edges = true};
    assert_ok(orr_scene_load(engine, path, &s->scene, &error));
    assert_ok(orr_world_create(s->scene, 1, &s->world, &error));
    assert_ok(orr_frame_create(engine, NULL, &s->frame, &error));
    assert_ok(orr_world_camera(s->world, 0, 0, WIDTH, HEIGHT, &s->view.camera, &error));
}

static void stage_close(stage *s)
{
    orr_frame_destroy(s->frame);
    orr_world_destroy(s->world);
    orr_scene_destroy(s->scene);
}

static void draw(stage *s)
{
    assert_ok(orr_frame_submit(s->frame, s->scene, s->world, &s->view, &error));
    assert_ok(orr_frame_finish(s->frame, &(orr_picture){s->rgba, s->depth}, &error));
}

static const char *const models[] = {"level", "tilted", "narrow", "bare"};
enum { MODELS = sizeof models / sizeof *models };

// The largest difference of a recorded pixel [bytes], over `count` of them.
static double compare_with_record(const stage *s, const char *name, int fog, int *count)
{
    double largest = 0.0;
    FILE *file = fopen(source_path("tests/golden/haze/%s.txt", name), "r");
    int line[6];
    assert_non_null(file);
    *count = 0;
    while (fscanf(file, "%d %d %d %d %d %d", &line[0], &line[1], &line[2], &line[3], &line[4], &line[5]) ==
           6) {
        for (int k = 0; k < 3 && line[0] == fog; k++) {
            const float shown = s->rgba[4 * (line[2] * WIDTH + line[1]) + k];
            largest = fmax(largest, fabs(255.0 * (double)shown - line[3 + k]));
        }
        *count += line[0] == fog;
    }
    fclose(file);
    return largest;
}

static void machines_draw_what_mujoco_draws(void **state)
{
    (void)state;
    static stage s;
    for (int d = 0; d < 3; d++) {
        orr_engine *engine = open_machine(devices[d]);
        for (int i = 0; i < MODELS && engine; i++) {
            stage_open(&s, engine, source_path("tests/golden/haze/%s.xml", models[i]));
            // without a sky MuJoCo shows black
            s.view.has_background = strcmp(models[i], "bare") == 0;
            for (int fog = 0; fog < 2; fog++) {
                int count;
                s.view.fog = fog == 1;
                draw(&s);
                const double largest = compare_with_record(&s, models[i], fog, &count);
                print_message("%d %s, fog %d: %.2f of %d\n", d, models[i], fog, largest, count);
                // half a byte each of the record, of what is lit, and of the weight by which they are mixed
                assert_true(count > 200 && largest < 2.0);
            }
            stage_close(&s);
        }
        orr_engine_destroy(engine);
    }
}

#define SKY                                                                                                  \
    "<texture type='skybox' builtin='gradient' rgb1='.9 .9 .9' rgb2='.1 .3 .8' width='64' height='64'/>"
#define MODEL(visual, assets, body)                                                                          \
    "<mujoco><statistic extent='1' center='0 0 0'/><visual>" visual "</visual><asset>" assets                \
    "<material name='tiles' texture='tiles' texrepeat='.5 .5'/>"                                             \
    "<texture name='tiles' type='2d' builtin='checker' rgb1='.2 .3 .2' rgb2='.5 .5 .4' width='64' "          \
    "height='64'/></asset><worldbody><camera name='eye' pos='0 0 6' xyaxes='1 0 0 0 .3 1' fovy='60'/>" body  \
    "</worldbody></mujoco>"
#define FLOOR "<geom type='plane' size='0 0 1' material='tiles'/>"
#define HAZE "<map haze='.7' fogstart='10' fogend='60'/><rgba haze='.9 .8 .6 1' fog='.3 .3 .4 1'/>"
#define ROBOTS                                                                                               \
    "<geom type='sphere' size='2' pos='1 14 2' rgba='.8 .2 .2 1'/>"                                          \
    "<geom type='box' size='3 .2 3' pos='-5 28 3' rgba='.2 .2 .8 .5'/>"

// Smooth edges, textures, shadows, fog and a transparent wall.
static void all_machines_draw_the_same(void **state)
{
    (void)state;
    static stage s;
    static float cpu[4 * PIXELS];
    const char *path = written("haze.xml", MODEL(HAZE, SKY, FLOOR ROBOTS));
    for (int d = 0; d < 3; d++) {
        orr_engine *engine = open_machine(devices[d]);
        for (int fog = 0; fog < 2 && engine; fog++) {
            stage_open(&s, engine, path);
            s.view.hard_edges = false;
            s.view.fog = fog == 1;
            draw(&s);
            if (d > 0) {
                // edges of other machines are other samples; the fog of both is equally dense
                orr_frame *frame;
                assert_ok(
                    orr_frame_create(engine, &(orr_frame_desc){.device = ORR_DEVICE_CPU}, &frame, &error));
                assert_ok(orr_frame_submit(frame, s.scene, s.world, &s.view, &error));
                assert_ok(orr_frame_finish(frame, &(orr_picture){.rgba = cpu}, &error));
                orr_frame_destroy(frame);
                const double quality = psnr(s.rgba, cpu, 4 * PIXELS);
                print_message("%d, fog %d: %.1f dB\n", d, fog, quality);
                assert_true(quality > 60.0);
            }
            stage_close(&s);
        }
        orr_engine_destroy(engine);
    }
}

static bool shows_ground(const stage *s, int x, int y)
{
    return s->depth[y * WIDTH + x] > 0.0f;
}

// The plane ends where haze covers it; without haze it reaches the horizon: before a background, in a view
// from below or without perspective, and in models without a sky.
static void the_plane_ends_only_in_haze(void **state)
{
    (void)state;
    static stage s;
    // 35 m away, 9.7 degrees below the horizon; the camera looks 16.7 degrees down, the horizon is in row 17
    const int ends = 28, beyond = 24, within = 31;
    for (int d = 0; d < 3; d++) {
        orr_engine *engine = open_machine(devices[d]);
        if (!engine) {
            continue;
        }
        stage_open(&s, engine, written("haze.xml", MODEL(HAZE, SKY, FLOOR)));
        draw(&s);
        for (int x = 40; x < 56; x++) {
            assert_false(shows_ground(&s, x, beyond));
            assert_true(shows_ground(&s, x, within));
        }
        // there it is as bright as haze, from both sides, to what a pixel is off
        const float haze[3] = {0.9f, 0.8f, 0.6f};
        for (int k = 0; k < 3; k++) {
            assert_float_equal(s.rgba[4 * (ends * WIDTH + WIDTH / 2) + k], haze[k], 0.04);
        }
        s.view.has_background = true;
        draw(&s);
        assert_true(shows_ground(&s, WIDTH / 2, beyond));
        s.view.has_background = false;
        s.view.camera.model = ORR_CAMERA_ORTHOGRAPHIC;
        s.view.camera.focal[0] = s.view.camera.focal[1] = 1.0f; // 72 m high
        draw(&s);
        for (int y = 0; y < 40; y++) { // further down rays begin under the plane
            assert_true(shows_ground(&s, WIDTH / 2, y));
        }
        stage_close(&s);
        stage_open(&s, engine, written("haze.xml", MODEL(HAZE, "", FLOOR)));
        draw(&s);
        assert_true(shows_ground(&s, WIDTH / 2, beyond));
        stage_close(&s);
        orr_engine_destroy(engine);
    }
}

// Mirrored light is behind the veil too, and what the mirror shows has none of it.
static void a_mirror_is_behind_the_veil(void **state)
{
    (void)state;
    static stage s;
    static float dull[4 * PIXELS];
    static const char mirror[] =
        MODEL(HAZE, SKY "<material name='wet' rgba='.1 .1 .1 1' specular='0' reflectance='.5'/>",
              "<geom type='plane' size='0 0 1' material='wet'/><geom type='box' size='90 .1 60' pos='0 34 0' "
              "rgba='.9 .1 .1 1'/>");
    orr_engine *engine = open_machine(ORR_DEVICE_CPU);
    stage_open(&s, engine, written("haze.xml", mirror));
    s.view.no_mirrors = true;
    draw(&s);
    memcpy(dull, s.rgba, sizeof dull);
    s.view.no_mirrors = false;
    draw(&s);
    const int near_row = HEIGHT - 4, far_row = 31; // 6 m and 27 m away, where the veil is 0.78 dense
    float added[2];
    for (int i = 0; i < 2; i++) {
        const int at = 4 * ((i ? far_row : near_row) * WIDTH + WIDTH / 2);
        added[i] = s.rgba[at] - dull[at];
    }
    print_message("added near %.3f, far %.3f\n", (double)added[0], (double)added[1]);
    assert_true(added[0] > 0.2f && added[1] > 0.0f && added[1] < 0.5f * added[0]);
    stage_close(&s);
    orr_engine_destroy(engine);
}

static void eyes_see_haze_and_fog(void **state)
{
    (void)state;
    static stage s;
    static float rgba[4 * PIXELS];
    orr_engine *engine = open_machine(ORR_DEVICE_CPU);
    stage_open(&s, engine, written("haze.xml", MODEL(HAZE, SKY, FLOOR ROBOTS)));
    for (int fog = 0; fog < 2; fog++) {
        orr_eyes *eyes;
        orr_eyes_desc desc = {.cameras = &(int){0}, .camera_count = 1, .width = WIDTH, .height = HEIGHT};
        desc.look.fog = s.view.fog = fog == 1;
        assert_ok(orr_eyes_create(s.world, &desc, &eyes, &error));
        assert_ok(orr_eyes_draw(eyes, NULL, &(orr_eyes_pictures){.rgba = rgba}, &error));
        draw(&s);
        assert_memory_equal(rgba, s.rgba, sizeof rgba);
        orr_eyes_destroy(eyes);
    }
    stage_close(&s);
    orr_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_formula_is_the_veil),         cmocka_unit_test(fog_is_linear_in_depth),
        cmocka_unit_test(machines_draw_what_mujoco_draws), cmocka_unit_test(all_machines_draw_the_same),
        cmocka_unit_test(the_plane_ends_only_in_haze),     cmocka_unit_test(a_mirror_is_behind_the_veil),
        cmocka_unit_test(eyes_see_haze_and_fog),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
