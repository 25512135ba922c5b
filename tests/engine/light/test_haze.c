// Tests of haze and fog: the formula against the veil's geometry, every machine that is here against MuJoCo's
// own pictures (tests/golden/record_haze.py) and against the CPU, and rays against what is seen directly.
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

static float between(float low, float high)
{
    return low + (high - low) * (float)rand() / (float)RAND_MAX;
}

// A straight ray that is cut into pieces, as a path through panes is, has the air of the whole: what
// haze_over makes of it at its end, before a surface and before the sky.
static void pieces_of_a_path_have_the_air_of_the_whole(void **state)
{
    (void)state;
    int hazy = 0, behind = 0;
    srand(2);
    for (int i = 0; i < 4000; i++) {
        const float slope = between(0.05f, 0.9f), length = sqrtf(1.0f + slope * slope),
                    height = between(1, 5);
        const haze_view v = {.inverse_focal_x = 0.01f,
                             .inverse_focal_y = 0.01f,
                             .centre_x = 40.0f,
                             .centre_y = 30.0f,
                             .up_y = -1.0f / length, // the camera looks down a little
                             .up_z = -slope / length,
                             .reach_over_height = 30.0f / height,
                             .reach = 30.0f,
                             .part = between(0.2f, 0.9f),
                             .red = 0.9f,
                             .green = 0.6f,
                             .fog_start = 5.0f,
                             .fog_inverse_width = i % 2 ? 1.0f / 60.0f : 0.0f,
                             .fog_blue = 1.0f,
                             .sky_y = -1.0f / length,
                             .sky_z = -slope / length,
                             .sky_distance = i % 2 ? 30.0f : 0.0f};
        const float x = between(0, 80), y = between(0, 60);
        const real3 towards = normalise3(make_real3((x - 40.0f) * 0.01f, (y - 30.0f) * 0.01f, 1.0f)),
                    surface = make_real3(0.2f, 0.5f, 0.4f);
        const bool sky = i % 3 == 0;
        const float ends[3] = {between(0.1f, 15.0f), between(15.0f, 25.0f), between(25.0f, 60.0f)};
        real3 at[3];
        haze_path path[2];
        for (int k = 0; k < 3; k++) {
            at[k] = scale3(towards, ends[k]);
        }
        path[0] = haze_path_to(v, at[0]);
        path[1] = haze_path_on(v, path[0], towards, ends[1] - ends[0]);
        const haze_air far_air = haze_along(v, path[1], at[1], towards, ends[2] - ends[1], sky),
                       near_air = haze_along(v, path[0], at[0], towards, ends[1] - ends[0], false);
        const real3 whole = haze_over(v, surface, x, y, at[2].z, sky ? 1.0f : 0.0f),
                    pieces = haze_over(v, haze_behind(near_air, haze_behind(far_air, surface)), x, y, at[0].z,
                                       0.0f);
        // some forty roundings, of numbers up to the reach by the height
        assert_float_equal(pieces.x, whole.x, 1e-4);
        assert_float_equal(pieces.y, whole.y, 1e-4);
        assert_float_equal(pieces.z, whole.z, 1e-4);
        hazy += near_air.passes < 0.9f;
        behind += far_air.passes < 0.9f;
    }
    print_message("%d near pieces and %d far ones have air\n", hazy, behind);
    assert_true(hazy > 400 && behind > 400);
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

// A wall that mirrors at y = 8, towards -y: a file of glTF.
static const char *write_wall(void)
{
    static const float corners[24] = {-90, 8,  -90, 90, 8,  -90, 90, 8,  90, -90, 8,  90, // positions
                                      0,   -1, 0,   0,  -1, 0,   0,  -1, 0,  0,   -1, 0};
    static const uint32_t indices[6] = {0, 1, 2, 0, 2, 3};
    uint8_t all[sizeof corners + sizeof indices];
    memcpy(all, corners, sizeof corners);
    memcpy(all + sizeof corners, indices, sizeof indices);
    assert_ok(orr_file_write(scratch_path("wall.bin"), all, sizeof all, &error));
    return written(
        "wall.gltf",
        "{\"asset\":{\"version\":\"2.0\"},\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"mesh\":0}],"
        "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"NORMAL\":1},\"indices\":2,"
        "\"material\":0}]}],\"materials\":[{\"pbrMetallicRoughness\":{\"metallicFactor\":1,"
        "\"roughnessFactor\":0}}],\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,"
        "\"type\":\"VEC3\",\"min\":[-90,8,-90],\"max\":[90,8,90]},{\"bufferView\":0,\"byteOffset\":48,"
        "\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"},{\"bufferView\":1,\"componentType\":5125,"
        "\"count\":6,\"type\":\"SCALAR\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":96},"
        "{\"buffer\":0,\"byteOffset\":96,\"byteLength\":24}],\"buffers\":[{\"byteLength\":120,\"uri\":"
        "\"wall.bin\"}]}");
}

// The rays of a flat mirror show what a camera behind it sees: the plane ends there, with its veil before it,
// and fog has grown on both sides of the mirror.
static void rays_see_haze_and_fog(void **state)
{
    (void)state;
    static stage s;
    static float direct[4 * PIXELS], depth[PIXELS];
    static const float eye[3] = {0, 0, 6}, behind[3] = {0, 16, 6}, target[3] = {0, 8, 3.6f},
                       up[3] = {0, 0, 1};
    static const char model[] =
        MODEL(HAZE "<headlight active='0'/>", SKY,
              "<light directional='true' dir='.2 .3 -1' castshadow='false' diffuse='.9 .9 .9'/>"
              "<geom type='plane' size='0 0 1' rgba='.5 .6 .3 1'/>"
              "<geom type='sphere' size='2' pos='1 -6 2' rgba='.8 .2 .2 1'/>"
              "<geom type='box' size='3 .2 3' pos='-5 -17 3' rgba='.2 .2 .8 1'/>");
    orr_engine *engine = open_machine(ORR_DEVICE_CPU);
    const char *path = written("haze.xml", model);
    for (int fog = 0; fog < 2; fog++) {
        stage_open(&s, engine, path);
        s.view.fog = fog == 1;
        s.view.camera = orr_camera_look_at(behind, target, up, 1.05f, WIDTH, HEIGHT);
        draw(&s);
        memcpy(direct, s.rgba, sizeof direct);
        memcpy(depth, s.depth, sizeof depth);
        stage_close(&s);
        stage_open(&s, engine, path);
        assert_ok(orr_scene_add_file(s.scene, write_wall(), NULL, NULL, &error));
        assert_ok(orr_scene_set_rays(s.scene, true, &error));
        orr_world_destroy(s.world);
        assert_ok(orr_world_create(s.scene, 1, &s.world, &error));
        s.view.fog = fog == 1;
        s.view.camera = orr_camera_look_at(eye, target, up, 1.05f, WIDTH, HEIGHT);
        draw(&s);
        int compared = 0, others = 0, veiled = 0;
        double sum = 0.0;
        for (int y = 0; y < 45; y++) { // where the wall is before the plane
            for (int x = 0; x < WIDTH; x++) {
                const int at = y * WIDTH + x, there = y * WIDTH + WIDTH - 1 - x;
                double most = 0.0;
                for (int k = 0; k < 3; k++) {
                    most = fmax(most, fabs((double)s.rgba[4 * at + k] - (double)direct[4 * there + k]));
                }
                if (depth[there] > 0.0f) {
                    compared++;
                    others += most > 0.02; // edges that fall on the other side of a pixel's centre
                    sum += most > 0.02 ? 0.0 : most;
                } else if (fog == 0) {
                    // beyond the end of the plane is the veil alone: the sky is not mirrored
                    const float *seen = s.rgba + 4 * at;
                    assert_float_equal(seen[1] / 0.8f, seen[0] / 0.9f, 2e-3);
                    assert_float_equal(seen[2] / 0.6f, seen[0] / 0.9f, 2e-3);
                    veiled += seen[0] > 0.3f;
                }
            }
        }
        print_message("fog %d: %d of %d pixels differ, the others by %.1e; %d of the veil\n", fog, others,
                      compared, sum / compared, veiled);
        // the mirror takes light as the table of highlights says, up to 1e-3; measured: 0, and 2e-6
        assert_true(compared > 1500 && others <= 4 && sum / compared < 5e-4);
        assert_true(fog == 1 || veiled > 200);
        stage_close(&s);
    }
    orr_engine_destroy(engine);
}

// How far paths are from the frame where its neighbours differ little: neither at an edge nor at the
// rim of the plane. depth: 0 where pixels are left out
static void compare_with_paths(const stage *s, const char *name, const float *depth, double mean, double most)
{
    static float paths[4 * PIXELS];
    enum { SAMPLES = 32 };
    orr_reference *reference;
    assert_ok(orr_reference_create(s->scene, s->world, &s->view, 1, &reference, &error));
    assert_ok(orr_reference_advance(reference, SAMPLES, &error));
    assert_ok(orr_reference_picture(reference, false, &(orr_picture){.rgba = paths}, &error));
    orr_reference_destroy(reference);
    double sum = 0.0, worst = 0.0;
    int compared = 0;
    for (int i = WIDTH + 1; i < PIXELS - WIDTH - 1; i++) {
        double step = 0.0, apart = 0.0; // between neighbours, of the same picture; of both pictures
        for (int k = 0; k < 4; k++) {
            const int near[4] = {i - 1, i + 1, i - WIDTH, i + WIDTH};
            for (int c = 0; c < 3; c++) {
                step = fmax(step, fabs((double)s->rgba[4 * i + c] - (double)s->rgba[4 * near[k] + c]));
            }
        }
        for (int c = 0; c < 3; c++) {
            apart = fmax(apart, fabs((double)s->rgba[4 * i + c] - (double)paths[4 * i + c]));
        }
        if (step < 0.08 && !(depth && depth[i] == 0.0f)) {
            compared++;
            sum += apart;
            worst = fmax(worst, apart);
        }
    }
    print_message("%s: %d of %d pixels, %.4f apart in the mean, at most %.4f\n", name, compared, PIXELS,
                  sum / compared, worst);
    assert_true(compared > PIXELS * (depth ? 1 : 3) / 4);
    assert_true(sum / compared < mean && worst < most);
}

// A wall of thin glass at y = 8. NULL: a mirror
static void add_wall(stage *s, const orr_glass_desc *glass)
{
    orr_layer layer;
    assert_ok(orr_scene_add_file(s->scene, write_wall(), NULL, &layer, &error));
    assert_ok(glass ? orr_scene_set_glass(s->scene, layer, 0, glass, &error) : ORR_OK);
    assert_ok(orr_scene_set_rays(s->scene, true, &error));
    orr_world_destroy(s->world);
    assert_ok(orr_world_create(s->scene, 1, &s->world, &error));
}

// The path tracer sees haze and fog as frames do, where the air is nearly the same in a whole pixel: on a
// plane up to its end, on walls before the veil and behind it, and before the sky; behind panes: one that
// leaves light as it is shows what is seen without it, tinted and frosted ones what rays of frames do; and in
// a mirror.
static void paths_see_haze_and_fog(void **state)
{
    (void)state;
    static stage s;
    static float bare[4 * PIXELS], depth[PIXELS];
    // all shine by themselves, and reflect hardly anything
    static const char model[] =
        MODEL(HAZE "<headlight active='0'/>",
              SKY "<material name='green' rgba='.004 .008 .004 1' emission='50' specular='0'/>"
                  "<material name='red' rgba='.016 .002 .002 1' emission='50' specular='0'/>"
                  "<material name='blue' rgba='.001 .002 .02 1' emission='50' specular='0'/>",
              "<geom type='plane' size='0 0 1' material='green'/>"
              "<geom type='box' size='3 1 4' pos='3 14 4' material='red'/>"
              "<geom type='box' size='9 1 12' pos='-14 50 3' material='blue'/>"
              "<geom type='box' size='9 1 12' pos='8 -20 3' material='red'/>");
    static const orr_glass_desc clear = {.transmission = 1.0f, .ior = 1.0f, .colour = {1, 1, 1}},
                                tinted = {.transmission = 1.0f, .colour = {0.4f, 0.8f, 0.6f}},
                                frosted = {.transmission = 1.0f,
                                           .ior = 1.3f,
                                           .roughness = 0.15f,
                                           .colour = {1, 1, 1}};
    orr_engine *engine = open_machine(ORR_DEVICE_CPU);
    char path[512]; // files of walls are written after it
    snprintf(path, sizeof path, "%s", written("haze.xml", model));
    for (int fog = 0; fog < 2; fog++) {
        stage_open(&s, engine, path);
        s.view.fog = fog == 1;
        draw(&s);
        memcpy(bare, s.rgba, sizeof bare);
        memcpy(depth, s.depth, sizeof depth); // glass does not show the sky of a model
        compare_with_paths(&s, fog ? "fog" : "haze", NULL, 0.004, 0.03);
        stage_close(&s);
        for (int frost = 0; frost < 2; frost++) {
            stage_open(&s, engine, path);
            s.view.fog = fog == 1;
            add_wall(&s, frost ? &frosted : NULL);
            draw(&s);
            if (frost) { // frames blur it by a few rays
                compare_with_paths(&s, "behind a frosted pane", depth, 0.016, 0.25);
            } else {
                compare_with_paths(&s, "in a mirror", depth, 0.002, 0.05);
            }
            stage_close(&s);
        }
        for (int tint = 0; tint < 2; tint++) {
            stage_open(&s, engine, path);
            s.view.fog = fog == 1;
            add_wall(&s, tint ? &tinted : &clear);
            draw(&s);
            if (!tint) {
                memcpy(s.rgba, bare, sizeof bare);
            }
            // rays take what glass reflects from the table of highlights where that is rough, and stop sooner
            if (tint) {
                compare_with_paths(&s, "behind a tinted pane", depth, 0.012, 0.17);
            } else {
                compare_with_paths(&s, "behind a clear pane", depth, 0.002, 0.02);
            }
            stage_close(&s);
        }
    }
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
        cmocka_unit_test(the_formula_is_the_veil),
        cmocka_unit_test(fog_is_linear_in_depth),
        cmocka_unit_test(machines_draw_what_mujoco_draws),
        cmocka_unit_test(all_machines_draw_the_same),
        cmocka_unit_test(the_plane_ends_only_in_haze),
        cmocka_unit_test(a_mirror_is_behind_the_veil),
        cmocka_unit_test(eyes_see_haze_and_fog),
        cmocka_unit_test(pieces_of_a_path_have_the_air_of_the_whole),
        cmocka_unit_test(rays_see_haze_and_fog),
        cmocka_unit_test(paths_see_haze_and_fog),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
