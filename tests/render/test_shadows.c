// Tests of shadow maps: the shadow of a box on a plane by geometry, lit surfaces without acne, spots, stable
// edges. Runs once per instruction set.
#include "tests/render/scenes/shadow_scene.h"
#include "tests/support/srgb.h"
#include "tests/support/support.h"

#include "render/cpu/mesh_raster.h"
#include "render/shadow/shadow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = SHADOW_SCENE_SIDE };

typedef struct canvas {
    orr_jobs *jobs;
    orr_arena arena;
    float depth[SIDE * SIDE];
    float rgb[3 * SIDE * SIDE];
} canvas;

static canvas *open_canvas(int threads)
{
    canvas *c = calloc(1, sizeof *c);
    assert_non_null(c);
    assert_ok(orr_jobs_create(threads, NULL, NULL, &c->jobs, &error));
    return c;
}

static void close_canvas(canvas *c)
{
    orr_jobs_destroy(c->jobs);
    orr_arena_destroy(&c->arena);
    free(c);
}

static void draw(canvas *c, const orr_draw_list *list)
{
    orr_isa isa;
    orr_fragment_lists fragments;
    orr_arena_reset(&c->arena);
    assert_ok(orr_isa_choose(&isa, &error));
    orr_shadow_maps maps;
    assert_ok(orr_shadow_maps_draw(c->jobs, isa, &c->arena, list, &maps, &error));
    assert_ok(orr_mesh_raster(c->jobs, isa, &c->arena, list, &maps,
                              (orr_mesh_picture){.depth = c->depth, .rgb = c->rgb}, &fragments, NULL,
                              &error));
}

static const double shade = 0.25, sunlit = 0.25 + 0.5 * 0.8; // of the floor

// Which part of the sun reaches the floor in a pixel.
static double visible_at(const canvas *c, int x, int y)
{
    return (srgb_decode((double)c->rgb[y * SIDE + x]) - shade) / (sunlit - shade);
}

// The floor's shadow is the sweep of the cube along the light: its lower square moved by 3/4, its upper one
// by 3/2; together x in 1/4 .. 2, y in -1/2 .. 1/2. Seen from above, the cube hides x < 1/2.
static void a_cube_throws_the_shadow_that_geometry_says(void **state)
{
    (void)state;
    static shadow_scene s;
    shadow_scene_make(&s);
    canvas *c = open_canvas(2);
    draw(c, &s.list);
    orr_shadow_plan plan;
    orr_shadow_plan_make(&s.list, &plan);
    assert_int_equal(plan.map_count, 1);
    double texel = 1.0 / (double)plan.values[0].focal, dark = 0.0;
    // a texel on the floor, which the light meets at a slant: a penumbra of 3/2 texels at either side
    double blur = (2.0 * texel / 0.8) + 1.0 / 64.0;
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            double px = (x + 0.5 - SIDE / 2) / 32.0, py = (SIDE / 2 - y - 0.5) / 32.0;
            if ((double)c->depth[y * SIDE + x] < 9.99) {
                assert_true(fabs(px) < 0.5 && fabs(py) < 0.5); // the cube, and it is lit
                assert_float_equal(c->rgb[y * SIDE + x], (float)srgb_encode(sunlit), 1e-5);
                continue;
            }
            double visible = visible_at(c, x, y);
            double depth_x = fmin(px - 0.25, 2.0 - px), depth_y = 0.5 - fabs(py); // inside the shadow
            double inside = fmin(depth_x, depth_y);
            if (inside > blur) {
                assert_float_equal(visible, 0.0, 1e-5);
            } else if (inside < -blur) {
                assert_float_equal(visible, 1.0, 1e-5);
            }
            dark += (1.0 - visible) / (32.0 * 32.0);
        }
    }
    // the visible part of the shadow is 3/2 x 1: its rim may be off by a tenth of a texel
    assert_true(fabs(dark - 1.5) < 0.2 * texel * 4.0 + 0.01);
    close_canvas(c);
}

// Without a caster, and where it is lit, a surface has the bits of the picture without shadows, at any angle
// of the light.
static void lit_surfaces_have_no_acne(void **state)
{
    (void)state;
    static shadow_scene s;
    static float plain[3 * SIDE * SIDE];
    shadow_scene_make(&s);
    canvas *c = open_canvas(2);
    for (int angle = 0; angle <= 88; angle += 4) {
        s.list.sun.radius = angle % 8 == 0 ? 0.2f : 0.0f;
        float radians = (float)angle * 0.01745329252f, turn = (float)angle * 0.37f;
        s.list.sun.direction[0] = sinf(radians) * cosf(turn);
        s.list.sun.direction[1] = sinf(radians) * sinf(turn);
        s.list.sun.direction[2] = cosf(radians);
        for (int alone = 0; alone < 2; alone++) { // the floor alone, then the cube
            s.list.meshes = &s.items[alone];
            s.list.mesh_count = 1;
            s.list.lens = shadow_scene_lens(0.3f, 0.2f, alone ? 160.0f : 32.0f);
            s.list.shadows = false;
            draw(c, &s.list);
            memcpy(plain, c->rgb, sizeof plain);
            s.list.shadows = true;
            draw(c, &s.list);
            orr_shadow_plan plan;
            orr_shadow_plan_make(&s.list, &plan);
            assert_int_equal(plan.map_count, 1);
            assert_memory_equal(plain, c->rgb, sizeof plain);
        }
    }
    close_canvas(c);
}

// Nor under a lamp, wherever in its cone.
static void what_a_lamp_lights_has_no_acne(void **state)
{
    (void)state;
    static shadow_scene s;
    static float plain[3 * SIDE * SIDE];
    shadow_scene_make(&s);
    canvas *c = open_canvas(2);
    s.list.mesh_count = 1;
    for (int angle = 0; angle <= 70; angle += 10) {
        float radians = (float)angle * 0.01745329252f;
        s.list.lights[0] =
            (orr_draw_light){.position = {0.5f, 0.3f, 2.0f},
                             .direction = {0.6f * sinf(radians), 0.8f * sinf(radians), -cosf(radians)},
                             .attenuation = {1},
                             .cutoff = 75.0f,
                             .diffuse = {0.5f, 0.5f, 0.5f},
                             .radius = angle % 20 == 0 ? 0.5f : 0.0f};
        s.list.light_count = 1;
        draw(c, &s.list);
        memcpy(plain, c->rgb, sizeof plain);
        s.list.lights[0].casts_shadows = true;
        draw(c, &s.list);
        assert_memory_equal(plain, c->rgb, sizeof plain);
    }
    close_canvas(c);
}

// A ball of flat faces with the normals of a round one: where it is well lit, no face shadows itself or the
// next. (Near the terminator faces do turn away from the light.)
static void round_normals_on_flat_faces_have_no_acne(void **state)
{
    (void)state;
    enum { AROUND = 24, UP = 12, POINTS = (AROUND + 1) * (UP + 1) };
    static orr_mesh_vertex vertices[POINTS];
    static uint32_t indices[AROUND * UP * 6];
    static float plain[3 * SIDE * SIDE];
    static shadow_scene s;
    small_mesh ball;
    for (int i = 0; i < POINTS; i++) {
        double turn = 6.283185307 * (i % (AROUND + 1)) / AROUND, rise = 3.141592654 * (i / (AROUND + 1)) / UP;
        const float n[3] = {(float)(sin(rise) * cos(turn)), (float)(sin(rise) * sin(turn)), (float)cos(rise)};
        vertices[i] = (orr_mesh_vertex){
            .position = {n[0], n[1], n[2]}, .normal = {n[0], n[1], n[2]}, .colour = {255, 255, 255, 255}};
    }
    for (int i = 0; i < AROUND * UP; i++) {
        uint32_t at = (uint32_t)(i / AROUND * (AROUND + 1) + i % AROUND), below = at + AROUND + 1;
        const uint32_t quad[6] = {at, below, below + 1, at, below + 1, at + 1};
        memcpy(indices + 6 * i, quad, sizeof quad);
    }
    small_mesh_set(&ball, vertices, POINTS, indices, AROUND * UP * 6);
    shadow_scene_make(&s);
    s.items[0].mesh = &ball.mesh;
    s.list.mesh_count = 1;
    canvas *c = open_canvas(2);
    for (int size = 64; size <= SIDE; size *= 2) {
        s.list.sun.radius = size == 128 ? 0.05f : 0.0f;
        s.list.lens = shadow_scene_lens(0.0f, 0.0f, 0.45f * (float)size);
        s.list.lens.width = s.list.lens.height = size;
        s.list.lens.centre[0] = s.list.lens.centre[1] = 0.5f * (float)size;
        s.list.shadows = false;
        draw(c, &s.list);
        memcpy(plain, c->rgb, sizeof plain);
        s.list.shadows = true;
        draw(c, &s.list);
        int lit = 0;
        for (int i = 0; i < size * size; i++) {
            if (srgb_decode((double)plain[i]) > shade + 0.5 * 0.4) { // a cosine of 0.4
                assert_true(c->rgb[i] == plain[i]);
                lit++;
            }
        }
        assert_true(lit > size * size / 5);
    }
    close_canvas(c);
}

// A lamp at height 4 over the floor: the cube's upper square (z = 2) throws the larger shadow, twice its
// size.
static void a_spot_throws_a_perspective_shadow(void **state)
{
    (void)state;
    static shadow_scene s;
    shadow_scene_make(&s);
    s.list.sun.colour[0] = s.list.sun.colour[1] = s.list.sun.colour[2] = 0.0f;
    s.list.lights[0] = (orr_draw_light){.position = {0, 0, 4},
                                        .direction = {0, 0, -1},
                                        .attenuation = {1},
                                        .cutoff = 60.0f,
                                        .diffuse = {0.5f, 0.5f, 0.5f},
                                        .casts_shadows = true};
    s.list.light_count = 1;
    canvas *c = open_canvas(2);
    for (int casts = 0; casts < 2; casts++) {
        s.list.lights[0].casts_shadows = casts;
        draw(c, &s.list);
        for (int y = 0; y < SIDE; y++) {
            for (int x = 0; x < SIDE; x++) {
                double px = (x + 0.5 - SIDE / 2) / 32.0, py = (SIDE / 2 - y - 0.5) / 32.0;
                double across = fmax(fabs(px), fabs(py)), cosine = 4.0 / sqrt(16.0 + px * px + py * py);
                double light = srgb_decode((double)c->rgb[y * SIDE + x]) - shade;
                if (across < 0.5 || fabs(across - 1.0) < 0.15) {
                    continue; // the cube, or the rim: a texel is 0.055 on the floor
                }
                double expected = across < 1.0 && casts ? 0.0 : 0.5 * cosine;
                assert_float_equal(light, expected, 1e-4);
            }
        }
    }
    close_canvas(c);
}

// Does the segment from a to b meet the cube of shadow_scene.h, larger by `more` at every side?
static bool meets_cube(const double a[3], const double b[3], double more)
{
    static const double middle[3] = {0.0, 0.0, 1.5};
    double enter = 0.0, leave = 1.0;
    for (int k = 0; k < 3; k++) {
        double d = b[k] - a[k], low = middle[k] - 0.5 - more - a[k], high = middle[k] + 0.5 + more - a[k];
        if (d == 0.0) {
            leave = low > 0.0 || high < 0.0 ? -1.0 : leave;
            continue;
        }
        enter = fmax(enter, fmin(low / d, high / d));
        leave = fmin(leave, fmax(low / d, high / d));
    }
    return enter < leave;
}

// Turns all of the scene by a rotation, the camera with it: nothing moves in the picture.
static void turn_scene(shadow_scene *s, const float turn[12])
{
    float model[12], back[12], view[12];
    for (int i = 0; i < 2; i++) {
        orr_affine_multiply(turn, s->items[i].model, model);
        memcpy(s->items[i].model, model, sizeof model);
    }
    assert_ok(orr_affine_invert(turn, back, &error));
    orr_affine_multiply(s->list.lens.view, back, view);
    memcpy(s->list.lens.view, view, sizeof view);
    for (int i = 0; i < s->list.light_count; i++) {
        float position[3], direction[3];
        affine_apply_to_point(turn, s->list.lights[i].position, position);
        affine_apply_to_direction(turn, s->list.lights[i].direction, direction);
        memcpy(s->list.lights[i].position, position, sizeof position);
        memcpy(s->list.lights[i].direction, direction, sizeof direction);
    }
}

// The floor is dark where a ray to the lamp meets the cube, and has the bits of the picture without shadows
// where none does: `more` aside of the rays that graze it, because a texel of a cube's map is 1/120 of the
// distance.
static void check_floor(canvas *c, const shadow_scene *s, const double lamp[3], double more)
{
    static float plain[3 * SIDE * SIDE];
    orr_draw_list list = s->list;
    int dark = 0, lit = 0;
    list.shadows = false;
    draw(c, &list);
    memcpy(plain, c->rgb, sizeof plain);
    draw(c, &s->list);
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            const double p[3] = {(x + 0.5 - SIDE / 2) / 32.0, (SIDE / 2 - y - 0.5) / 32.0, 0.0};
            const int at = y * SIDE + x;
            if ((double)c->depth[at] < 9.99) {
                continue; // the cube
            }
            if (meets_cube(p, lamp, -more)) {
                assert_float_equal(srgb_decode((double)c->rgb[at]), shade, 1e-4);
                dark++;
            } else if (!meets_cube(p, lamp, more)) {
                assert_true(c->rgb[at] == plain[at]);
                lit++;
            }
        }
    }
    assert_true(dark > 1000 && lit > 20000);
}

// Wherever the lamp is, and whichever way the scene is turned: each map of the cube has its turn, and nothing
// is seen of its edges, which go across the floor and across the shadow.
static void a_point_of_light_throws_shadows_all_around(void **state)
{
    (void)state;
    static const float turns[6][12] = {
        {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},   {0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0},
        {0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0},   {-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, 0},
        {0, 1, 0, 0, 0, 0, -1, 0, -1, 0, 0, 0}, {0, 0, -1, 0, -1, 0, 0, 0, 0, 1, 0, 0},
    };
    static const double lamps[3][3] = {{0.3, -0.2, 4.0}, {1.3, 0.2, 2.2}, {-1.2, 1.1, 2.4}};
    canvas *c = open_canvas(2);
    for (int turn = 0; turn < 6; turn++) {
        for (int lamp = 0; lamp < 3; lamp++) {
            static shadow_scene s;
            shadow_scene_make(&s);
            s.list.sun.colour[0] = s.list.sun.colour[1] = s.list.sun.colour[2] = 0.0f;
            s.list.lights[0] = (orr_draw_light){
                .position = {(float)lamps[lamp][0], (float)lamps[lamp][1], (float)lamps[lamp][2]},
                .attenuation = {1},
                .cutoff = 180.0f,
                .diffuse = {0.5f, 0.5f, 0.5f},
                .casts_shadows = true};
            s.list.light_count = 1;
            turn_scene(&s, turns[turn]);
            check_floor(c, &s, lamps[lamp], 0.06);
        }
    }
    close_canvas(c);
}

// The backs of one-sided triangles keep light off, as they do from paths; at the rim of a spot, too.
static void a_lamp_in_a_case_lights_nothing_outside(void **state)
{
    (void)state;
    static shadow_scene s;
    shadow_scene_make(&s);
    s.list.sun.colour[0] = s.list.sun.colour[1] = s.list.sun.colour[2] = 0.0f;
    assert_false(s.box.material.two_sided);
    canvas *c = open_canvas(2);
    static const float cutoffs[] = {180.0f, 30.0f, 60.0f, 79.0f};
    for (int i = 0; i < 4; i++) {
        s.list.lights[0] = (orr_draw_light){.position = {0.1f, -0.2f, 1.6f},
                                            .direction = {0.6f, 0, -0.8f},
                                            .attenuation = {1},
                                            .cutoff = cutoffs[i],
                                            .diffuse = {0.5f, 0.5f, 0.5f},
                                            .casts_shadows = true};
        s.list.light_count = 1;
        draw(c, &s.list);
        for (int k = 0; k < SIDE * SIDE; k++) {
            assert_float_equal(c->rgb[k], (float)srgb_encode(shade), 1e-5);
        }
    }
    close_canvas(c);
}

// A spot whose cone no single map can show.
static void a_wide_spot_has_a_cube_of_maps(void **state)
{
    (void)state;
    static shadow_scene s;
    orr_shadow_plan plan;
    shadow_scene_make(&s);
    s.list.sun.colour[0] = s.list.sun.colour[1] = s.list.sun.colour[2] = 0.0f;
    s.list.lights[0] = (orr_draw_light){.position = {1.3f, 0.0f, 2.2f},
                                        .direction = {0, 0, -1},
                                        .attenuation = {1},
                                        .cutoff = 89.0f,
                                        .diffuse = {0.5f, 0.5f, 0.5f},
                                        .casts_shadows = true};
    s.list.light_count = 1;
    canvas *c = open_canvas(2);
    check_floor(c, &s, (const double[3]){1.3, 0.0, 2.2}, 0.06);
    // the cube is seen through the maps of -x and -z alone
    orr_shadow_plan_make(&s.list, &plan);
    assert_true(plan.values[0].cube == 1.0f && plan.map_count == 2);
    for (int face = 0; face < ORR_SHADOW_FACES; face++) {
        assert_true(plan.values[0].slots[face] == (face == 1 ? 0.0f : face == 5 ? 1.0f : -1.0f));
    }
    close_canvas(c);
}

// The part of a disc of radius 1 that is seen past a straight edge, which is at `t` of its centre.
static double part_of_disc(double t)
{
    t = fmax(-1.0, fmin(t, 1.0));
    return 0.5 + (t * sqrt(1.0 - t * t) + asin(t)) / 3.14159265358979;
}

// Makes the cube a plate at z = 1.5.
static void flatten(shadow_scene *s)
{
    for (int i = 0; i < 24; i++) {
        s->box_vertices[i].position[2] *= 0.01f;
    }
    small_mesh_set(&s->box, s->box_vertices, 24, s->box_indices, 36);
    s->box.material.two_sided = false;
}

// Across an edge that is at `edge` (of x, or of y where `down`) and whose penumbra is `width` to either side:
// the part of the light as of a disc that the edge hides. 32 taps tell 1/32 apart, and their texels blur the
// edge by one.
static void check_penumbra(canvas *c, const shadow_scene *s, bool down, double edge, double width)
{
    static float plain[3 * SIDE * SIDE];
    orr_draw_list list = s->list;
    const double pixels = (double)list.lens.focal[0];
    double worst = 0.0, sum = 0.0;
    int count = 0;
    list.shadows = false;
    draw(c, &list);
    memcpy(plain, c->rgb, sizeof plain);
    draw(c, &s->list);
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            const double from = (down ? SIDE / 2 - y - 0.5 : x + 0.5 - SIDE / 2) / pixels;
            const double along = (down ? x + 0.5 - SIDE / 2 : SIDE / 2 - y - 0.5) / pixels;
            const int at = y * SIDE + x;
            if (fabs(along) < 0.1 && fabs(from - edge) < 2.0 * width) {
                double seen =
                    (srgb_decode((double)c->rgb[at]) - shade) / (srgb_decode((double)plain[at]) - shade);
                double error_here = fabs(seen - part_of_disc((from - edge) / width));
                worst = fmax(worst, error_here);
                sum += error_here;
                count++;
            }
        }
    }
    print_message("    penumbra of %.3f: %.3f at worst, %.4f on average\n", width, worst, sum / count);
    assert_true(count > 1000 && worst < 0.08 && sum / count < 0.02);
}

// As wide as the height of the edge over what it falls on, by the light's size.
static void penumbrae_are_as_wide_as_the_light_makes_them(void **state)
{
    (void)state;
    static shadow_scene s;
    canvas *c = open_canvas(2);
    shadow_scene_make(&s);
    flatten(&s);
    // the plate's edge y = 1/2 is 1.5 / 0.8 before the floor along the light, at x = 9/8 in the middle
    for (int i = 1; i <= 2; i++) {
        s.list.lens = shadow_scene_lens(1.125f, 0.5f, 256.0f);
        s.list.sun.radius = 0.02f * (float)i;
        check_penumbra(c, &s, true, 0.0, 1.5 / 0.8 * tan((double)s.list.sun.radius));
    }
    // a lamp at a height of 4 throws the edge x = 1/2 to x = 0.8
    s.list.sun.colour[0] = s.list.sun.colour[1] = s.list.sun.colour[2] = 0.0f;
    s.list.lens = shadow_scene_lens(0.8f, 0.0f, 256.0f);
    for (int i = 1; i <= 2; i++) {
        s.list.lights[0] = (orr_draw_light){.position = {0, 0, 4},
                                            .direction = {0, 0, -1},
                                            .attenuation = {1},
                                            .cutoff = 15.0f,
                                            .diffuse = {0.5f, 0.5f, 0.5f},
                                            .casts_shadows = true,
                                            .radius = 0.1f * (float)i};
        s.list.light_count = 1;
        check_penumbra(c, &s, false, 0.0, (double)s.list.lights[0].radius * 1.5 / 2.5);
    }
    close_canvas(c);
}

// A camera that moves takes nothing of a shadow with it: whole pixels of motion only move the picture.
static void shadows_stand_still_under_a_moving_camera(void **state)
{
    (void)state;
    static shadow_scene s;
    static float before[3 * SIDE * SIDE];
    shadow_scene_make(&s);
    canvas *c = open_canvas(2);
    draw(c, &s.list);
    memcpy(before, c->rgb, sizeof before);
    s.list.lens = shadow_scene_lens(5.0f / 32.0f, 0.0f, 32.0f);
    draw(c, &s.list);
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE - 5; x++) {
            assert_float_equal(c->rgb[y * SIDE + x], before[y * SIDE + x + 5], 2e-3);
        }
    }
    close_canvas(c);
}

// A floor without end takes no texels from what stands on it; a transparent mesh casts no shadow.
static void maps_are_fitted_to_what_casts(void **state)
{
    (void)state;
    static shadow_scene s;
    orr_shadow_plan small, large;
    shadow_scene_make(&s);
    s.items[0].model[0] = s.items[0].model[5] = s.items[0].model[10] = 0.25f;
    orr_shadow_plan_make(&s.list, &small);
    s.items[0].model[0] = s.items[0].model[5] = s.items[0].model[10] = 1000.0f;
    orr_shadow_plan_make(&s.list, &large);
    assert_true(large.values[0].focal > 100.0f && large.values[0].focal > small.values[0].focal);
    s.box.material.blended = s.floor.material.blended = true;
    orr_shadow_plan_make(&s.list, &small);
    assert_int_equal(small.map_count, 0);
    s.box.material.blended = false;
    s.list.shadows = false;
    orr_shadow_plan_make(&s.list, &small);
    assert_int_equal(small.map_count, 0);
    // more pixels, more texels; and a map that moves keeps its texels' places
    s.list.shadows = true;
    orr_shadow_plan_make(&s.list, &small);
    s.items[1].model[3] = 0.1123f;
    orr_shadow_plan_make(&s.list, &large);
    assert_true(small.values[0].focal == large.values[0].focal);
    for (int k = 0; k < 2; k++) {
        float moved =
            (small.maps[0].lens.view[4 * k + 3] - large.maps[0].lens.view[4 * k + 3]) * small.values[0].focal;
        assert_float_equal(moved, roundf(moved), 1e-3);
        assert_true(k == 0 || fabsf(moved) > 5.0f);
    }
    s.list.lens.width = 1280;
    orr_shadow_plan_make(&s.list, &large);
    assert_int_equal(small.size, 256);
    assert_int_equal(large.size, 1024);
}

static void bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    static shadow_scene s;
    shadow_scene_make(&s);
    s.list.sun.direction[1] = 0.3f;
    canvas *one = open_canvas(1), *four = open_canvas(4);
    draw(one, &s.list);
    draw(four, &s.list);
    assert_memory_equal(one->rgb, four->rgb, sizeof one->rgb);
    close_canvas(one);
    close_canvas(four);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cube_throws_the_shadow_that_geometry_says),
        cmocka_unit_test(lit_surfaces_have_no_acne),
        cmocka_unit_test(what_a_lamp_lights_has_no_acne),
        cmocka_unit_test(round_normals_on_flat_faces_have_no_acne),
        cmocka_unit_test(a_spot_throws_a_perspective_shadow),
        cmocka_unit_test(a_point_of_light_throws_shadows_all_around),
        cmocka_unit_test(a_lamp_in_a_case_lights_nothing_outside),
        cmocka_unit_test(a_wide_spot_has_a_cube_of_maps),
        cmocka_unit_test(penumbrae_are_as_wide_as_the_light_makes_them),
        cmocka_unit_test(shadows_stand_still_under_a_moving_camera),
        cmocka_unit_test(maps_are_fitted_to_what_casts),
        cmocka_unit_test(bits_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
