// Tests of cascades: shadows near the camera in a scene that is much larger are as sharp as geometry says,
// stand still while the camera moves, have no seam where one map takes over from another, and no light leaks
// past what is before a slice. Runs once per instruction set.
#include "tests/render/scenes/cascade_scene.h"
#include "tests/support/srgb.h"
#include "tests/support/support.h"

#include "engine/maths/vector.h"
#include "render/cpu/mesh_raster.h"
#include "render/shadow/shadow_cascades.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = SHADOW_SCENE_SIDE, PIXELS = SIDE * SIDE };

static orr_jobs *jobs;
static orr_arena arena;

// ---- drawing ----

// Which part of the sun reaches the floor, per pixel.
typedef struct terms {
    float visible[PIXELS];
    float depth[PIXELS];
    orr_shadow_plan plan;
} terms;

// The maps of a list, seen past by another camera that sees the floor alone: at the same points of the world,
// whichever camera the maps are made for. whole: only the map of everything is looked up.
static void draw_terms(const orr_draw_list *list, const orr_lens *lens, bool whole, orr_jobs *by, terms *t)
{
    static float rgb[3 * PIXELS];
    orr_shadow_maps maps;
    orr_fragment_lists fragments;
    orr_isa isa;
    float from_camera[12];
    orr_arena_reset(&arena);
    assert_ok(orr_isa_choose(&isa, &error));
    assert_ok(orr_shadow_maps_draw(by, isa, &arena, list, &maps, &error));
    assert_int_equal(maps.plan.light_count, 1);
    assert_ok(orr_affine_invert(lens->view, from_camera, &error));
    orr_affine_multiply(maps.plan.maps[0].lens.view, from_camera, maps.plan.values[0].to_light);
    for (int i = 0; i < maps.plan.cascade_counts[0]; i++) {
        orr_affine_multiply(maps.plan.maps[1 + i].lens.view, from_camera, maps.plan.cascades[i].map.to_light);
    }
    t->plan = maps.plan;
    if (whole) {
        maps.plan.cascade_counts[0] = 0;
    }
    orr_draw_list floor = *list;
    floor.lens = *lens;
    floor.mesh_count = 1;
    assert_ok(orr_mesh_raster(by, isa, &arena, &floor, &maps,
                              (orr_mesh_picture){.depth = t->depth, .rgb = rgb}, &fragments, NULL, &error));
    const double shade = 0.25, sun = (double)list->sun.colour[0] * (double)list->sun.direction[2];
    for (int i = 0; i < PIXELS; i++) {
        t->visible[i] = isfinite(t->depth[i]) ? (float)((srgb_decode((double)rgb[i]) - shade) / sun) : NAN;
    }
}

// ---- geometry ----

static const double boxes[2][2][3] = {{{-0.5, -0.5, 1.0}, {0.5, 0.5, 2.0}},
                                      {{-3.0, 1.2, 2.9}, {20.0, 2.2, 3.0}}};

// Does the ray from p towards the sun meet the cube or the beam?
static bool is_hidden(const orr_draw_list *list, const double p[3])
{
    for (int b = 0; b < 2; b++) {
        double enter = 0.0, leave = INFINITY;
        for (int k = 0; k < 3; k++) {
            const double d = (double)list->sun.direction[k], low = boxes[b][0][k] - p[k],
                         high = boxes[b][1][k] - p[k];
            if (d == 0.0) {
                leave = low > 0.0 || high < 0.0 ? -1.0 : leave;
                continue;
            }
            enter = fmax(enter, fmin(low / d, high / d));
            leave = fmin(leave, fmax(low / d, high / d));
        }
        if (enter < leave) {
            return true;
        }
    }
    return false;
}

// The point of the floor that a perspective camera sees in a pixel.
static void seen_at(const orr_lens *lens, const terms *t, int x, int y, double p[3])
{
    const double depth = (double)t->depth[y * SIDE + x];
    const double q[3] = {((double)x + 0.5 - (double)lens->centre[0]) / (double)lens->focal[0] * depth,
                         ((double)y + 0.5 - (double)lens->centre[1]) / (double)lens->focal[1] * depth, depth};
    for (int k = 0; k < 3; k++) {
        p[k] = (double)lens->position[k];
        for (int j = 0; j < 3; j++) {
            p[k] += (double)lens->view[4 * j + k] * q[j];
        }
    }
}

// ---- tests ----

static void only_large_scenes_have_cascades(void **state)
{
    (void)state;
    static cascade_scene s;
    static orr_shadow_plan plan;
    cascade_scene_make(&s);
    orr_shadow_plan_make(&s.list, &plan);
    assert_int_equal(plan.cascade_counts[0], 3);
    assert_int_equal(plan.map_count, 4);
    for (int i = 0; i < 3; i++) { // each is finer than the next by a third and more
        const float next = i == 2 ? plan.values[0].focal : plan.cascades[i + 1].map.focal;
        assert_true(plan.cascades[i].map.focal > 1.3f * next);
    }
    // the same floor with the cube alone, which it takes no texels from, from as far as it fills the picture
    s.list.mesh_count = 2;
    s.list.lens = cascade_scene_lens((const float[3]){2.0f, -2.0f, 2.5f}, (const float[3]){0.0f, 0.0f, 1.0f});
    orr_shadow_plan_make(&s.list, &plan);
    assert_int_equal(plan.map_count, 1);
    // nor has a camera that sees everything from afar, one without perspective, and what a mirror shows
    s.list.mesh_count = 7;
    s.list.lens =
        cascade_scene_lens((const float[3]){0.0f, -60.0f, 40.0f}, (const float[3]){0.0f, 0.0f, 0.0f});
    orr_shadow_plan_make(&s.list, &plan);
    assert_int_equal(plan.map_count, 1);
    s.list.lens = shadow_scene_lens(0.0f, 0.0f, 32.0f);
    orr_shadow_plan_make(&s.list, &plan);
    assert_int_equal(plan.map_count, 1);
    cascade_scene_make(&s);
    s.list.left_out_mesh = 1;
    orr_shadow_plan_make(&s.list, &plan);
    assert_int_equal(plan.map_count, 1);
    // several suns: as many as there is room for
    cascade_scene_make(&s);
    for (int i = 0; i < 3; i++) {
        s.list.lights[i] = (orr_draw_light){.directional = true,
                                            .direction = {0.6f, 0.0f, -0.8f},
                                            .diffuse = {0.1f, 0.1f, 0.1f},
                                            .casts_shadows = true};
    }
    s.list.light_count = 3;
    orr_shadow_plan_make(&s.list, &plan);
    assert_int_equal(plan.light_count, 4);
    assert_int_equal(plan.cascade_used, ORR_SHADOW_CASCADES_MAX);
    assert_int_equal(plan.map_count, 4 + ORR_SHADOW_CASCADES_MAX);
    assert_int_equal(plan.cascade_counts[3], 0);
    for (int i = 0; i < plan.map_count; i++) { // no two maps share texels of the image or of memory
        for (int k = 0; k < i; k++) {
            assert_true(plan.maps[i].left != plan.maps[k].left || plan.maps[i].top != plan.maps[k].top);
            assert_int_equal(plan.maps[i].first, i * plan.size * plan.size);
        }
    }
}

// How wide the edge y = 1.2 of the beam's shadow is, from a tenth of the light to nine tenths, on average
// over the columns of the picture's right half [scene units, px].
static double width_of_edge(const orr_lens *lens, const terms *t, double *pixels)
{
    double width = 0.0;
    int columns = 0, count = 0;
    for (int x = SIDE / 2; x < SIDE; x++) {
        bool any_here = false;
        for (int y = 1; y < SIDE; y++) {
            double p[3], above[3];
            if (!isfinite(t->depth[(y - 1) * SIDE + x])) {
                continue;
            }
            seen_at(lens, t, x, y, p);
            seen_at(lens, t, x, y - 1, above);
            if (fabs(p[1] - 1.2) > 0.45) {
                continue;
            }
            any_here = true;
            const double visible = (double)t->visible[y * SIDE + x];
            if (visible > 0.1 && visible < 0.9) {
                width += above[1] - p[1];
                count++;
            }
        }
        columns += any_here;
    }
    assert_true(columns > 8);
    *pixels = (double)count / columns;
    return width / columns;
}

static void edges_near_the_camera_are_sharp(void **state)
{
    (void)state;
    static cascade_scene s;
    static terms fine, coarse;
    cascade_scene_make(&s);
    draw_terms(&s.list, &s.list.lens, false, jobs, &fine);
    draw_terms(&s.list, &s.list.lens, true, jobs, &coarse);
    double wrong[2] = {0.0, 0.0};
    int count = 0;
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            double p[3];
            const int at = y * SIDE + x;
            if (!isfinite(fine.depth[at]) || fine.depth[at] > 8.0f) {
                continue;
            }
            seen_at(&s.list.lens, &fine, x, y, p);
            const double truth = is_hidden(&s.list, p) ? 0.0 : 1.0;
            wrong[0] += fabs((double)fine.visible[at] - truth);
            wrong[1] += fabs((double)coarse.visible[at] - truth);
            count++;
        }
    }
    double pixels[2];
    const double widths[2] = {width_of_edge(&s.list.lens, &fine, &pixels[0]),
                              width_of_edge(&s.list.lens, &coarse, &pixels[1])};
    const double texel = 1.0 / (double)fine.plan.cascades[1].map.focal,
                 texel_of_all = 1.0 / (double)fine.plan.values[0].focal;
    print_message("    an edge 4 from the camera: %.3f wide (%.1f px) with cascades, %.3f (%.1f px) without; "
                  "wrong by %.4f and %.4f on average\n",
                  widths[0], pixels[0], widths[1], pixels[1], wrong[0] / count, wrong[1] / count);
    // a mean over 3 texels goes from a tenth to nine tenths in 2.4; half a pixel more at either end
    assert_true(widths[0] < 2.4 * texel + widths[0] / pixels[0]);
    assert_true(widths[1] > 2.0 * texel_of_all); // without them
    assert_true(texel_of_all > 4.0 * texel);
    assert_true(wrong[0] / count < 0.3 * wrong[1] / count);
}

// A plate far above all slices, beside what the camera sees, throws its shadow where it looks.
static void what_casts_before_the_slices_is_kept(void **state)
{
    (void)state;
    static cascade_scene s;
    static terms t;
    cascade_scene_make(&s);
    // 20 above the floor, whose shadow is 15 to +x: x = 0 .. 3, y = -2 .. 1
    s.items[1].model[0] = s.items[1].model[5] = 3.0f;
    s.items[1].model[10] = 0.1f;
    s.items[1].model[3] = 1.5f - 15.0f;
    s.items[1].model[7] = -0.5f;
    s.items[1].model[11] = 20.0f;
    s.list.mesh_count = CASCADE_SCENE_BEAM;
    draw_terms(&s.list, &s.list.lens, false, jobs, &t);
    const orr_cascade_values *coarsest = &t.plan.cascades[t.plan.cascade_counts[0] - 1];
    assert_true(t.plan.cascade_counts[0] == 3 && coarsest->middle - coarsest->extent > 2.0f);
    int dark = 0;
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            double p[3];
            if (!isfinite(t.depth[y * SIDE + x])) {
                continue;
            }
            seen_at(&s.list.lens, &t, x, y, p);
            const double inside = fmin(fmin(p[0], 3.0 - p[0]), fmin(p[1] + 2.0, 1.0 - p[1]));
            if (inside > 0.2) { // two texels of the second map and what the plate's height adds
                assert_float_equal(t.visible[y * SIDE + x], 0.0, 1e-5);
                dark++;
            } else if (inside < -0.2 && t.depth[y * SIDE + x] < 5.0f) {
                assert_float_equal(t.visible[y * SIDE + x], 1.0, 1e-5);
            }
        }
    }
    assert_true(dark > 5000);
}

// A camera that moves by parts of a texel, and turns: what is seen of the cube's shadow at the same points
// of the floor. Inside the finest cube texels stay where they are, so that only rounding moves an edge
// between two of them, by one of the 9 tests of a mean and where two edges meet by two, in few pixels. In
// its rim the blend moves along: by 1/20 at most where it moves by 0.02, a ninth of the rim, and maps
// differ by less than 0.45.
static void shadows_stand_still_while_the_camera_moves(void **state)
{
    (void)state;
    enum { STEPS = 12 };
    static cascade_scene s;
    static terms first, last, next;
    cascade_scene_make(&s);
    for (int wide = 0; wide < 2; wide++) { // a corner of the shadow, then what is around it
        const orr_lens above = shadow_scene_lens(1.9f, 0.4f, wide ? 64.0f : 256.0f);
        double worst = 0.0, worst_step = 0.0;
        int moved = 0, edge = 0;
        for (int step = 0; step <= STEPS; step++) {
            const float by = 0.0031f * (float)step, turn = 0.02f * (float)(step > 6 ? step - 6 : 0);
            s.list.lens = cascade_scene_lens((const float[3]){1.9f + by, -1.8f + 0.7f * by, 1.2f - 0.4f * by},
                                             (const float[3]){1.9f + by + turn, 0.4f, 0.5f * turn});
            draw_terms(&s.list, &above, false, jobs, &next);
            if (step == 0) {
                first = last = next;
            }
            assert_int_equal(next.plan.cascade_counts[0], 3);
            assert_true(next.plan.cascades[0].map.focal == first.plan.cascades[0].map.focal);
            for (int i = 0; i < PIXELS; i++) {
                const double change = fabs((double)next.visible[i] - (double)first.visible[i]);
                worst = fmax(worst, change);
                worst_step = fmax(worst_step, fabs((double)next.visible[i] - (double)last.visible[i]));
                moved += change > 0.01;
                edge += step == 0 && first.visible[i] > 0.01f && first.visible[i] < 0.99f;
            }
            last = next;
        }
        print_message(
            "    %s: of %d terms %d at an edge; %d change by more than 0.01 in %d steps, by %.4f at "
            "most, %.4f in a step\n",
            wide ? "around" : "inside", PIXELS, edge, moved, STEPS, worst, worst_step);
        assert_true(edge > 500);
        assert_true(wide ? worst_step < 0.05 : worst < 0.23 && moved < STEPS * edge / 50);
    }
}

// Along the edge of the beam's shadow, past the borders of all cascades: the blur becomes wider, but no pixel
// differs from the one beside it by more than the blend takes over in it.
static void no_seam_is_seen_at_a_border(void **state)
{
    (void)state;
    static cascade_scene s;
    static terms t;
    cascade_scene_make(&s);
    double largest = 0.0, whole_change = 0.0;
    for (int y = SIDE / 2 - 16; y < SIDE / 2 + 16; y++) { // y = 1.2 - 1/3 .. 1.2 + 1/3: nothing else is there
        double low = 1.0, high = 0.0, before = 0.0;
        for (int view = 0; view < 4; view++) { // x = 0 .. 21.3, of which the first cube has 3
            const orr_lens above = shadow_scene_lens(2.6667f + 5.3333f * (float)view, 1.2f, 48.0f);
            draw_terms(&s.list, &above, false, jobs, &t);
            for (int x = 0; x < SIDE; x++) {
                const double visible = (double)t.visible[y * SIDE + x];
                low = fmin(low, visible);
                high = fmax(high, visible);
                largest = fmax(largest, x + view > 0 ? fabs(visible - before) : 0.0);
                before = visible;
            }
        }
        whole_change = fmax(whole_change, high - low);
    }
    print_message("    largest jump %.4f, where the maps differ by %.3f\n", largest, whole_change);
    // the second cube's rim is half a unit wide, 25 px: maps that differ by 1/2 change by 0.02 in each
    assert_true(whole_change > 0.25 && largest < 0.06);
}

// The part of a disc of radius 1 that is seen past a straight edge, which is at `at` of its centre.
static double part_of_disc(double at)
{
    at = fmax(-1.0, fmin(at, 1.0));
    return 0.5 + (at * sqrt(1.0 - at * at) + asin(at)) / 3.14159265358979;
}

// The number of the cascade that a point of the floor is looked up in alone, or how many there are; -1:
// two are blended.
static int map_at(const terms *t, float x, float y)
{
    for (int i = 0; i < t->plan.cascade_counts[0]; i++) {
        const orr_cascade_values *c = &t->plan.cascades[i];
        float p[3];
        affine_apply_to_point(t->plan.maps[1 + i].lens.view, (const float[3]){x, y, 0.0f}, p);
        const float away = fmaxf(fmaxf(fabsf(p[0]), fabsf(p[1])), fabsf(p[2] - c->middle)) / c->extent;
        if (away < 1.0f) {
            return away < 0.8f ? i : -1;
        }
    }
    return t->plan.cascade_counts[0];
}

// In every map a penumbra is as wide as the height of the edge over the floor says, in scene units.
static void penumbrae_have_the_same_width_in_every_map(void **state)
{
    (void)state;
    static cascade_scene s;
    static terms t;
    cascade_scene_make(&s);
    s.list.sun.radius = 0.06f;
    s.list.lens = cascade_scene_lens((const float[3]){1.5f, -0.6f, 1.2f}, (const float[3]){2.0f, 1.2f, 0.0f});
    // the beam's edges are at 2.9 and 3, and before the floor along the light by that / 0.8
    const double width = 2.95 / 0.8 * tan((double)s.list.sun.radius);
    int seen = 0;
    for (int i = 0; i < 20; i++) {
        const float place = 1.5f + 1.0f * (float)i;
        const orr_lens above = shadow_scene_lens(place, 1.2f, 160.0f);
        draw_terms(&s.list, &above, false, jobs, &t);
        const int map = map_at(&t, place, 1.2f);
        if (map < 0 || seen >> map & 1) {
            continue;
        }
        seen |= 1 << map;
        double worst = 0.0, sum = 0.0;
        int count = 0;
        for (int y = 0; y < SIDE; y++) {
            const double from = (SIDE / 2 - y - 0.5) / 160.0; // towards the beam
            for (int x = SIDE / 2 - 16; x < SIDE / 2 + 16 && fabs(from) < 1.5 * width; x++) {
                const double wrong = fabs((double)t.visible[y * SIDE + x] - part_of_disc(-from / width));
                worst = fmax(worst, wrong);
                sum += wrong;
                count++;
            }
        }
        const double texel = 1.0 / (double)(map < t.plan.cascade_counts[0] ? t.plan.cascades[map].map.focal
                                                                           : t.plan.values[0].focal);
        print_message(
            "    penumbra of %.3f at x = %.1f, by texels of %.3f: %.3f wrong at worst, %.4f on average\n",
            width, (double)place, texel, worst, sum / count);
        // 32 taps tell 1/32 apart, and a texel blurs the edge by a part of its width
        assert_true(worst < 0.06 + 0.3 * texel / width && sum / count < 0.02 + 0.1 * texel / width);
    }
    assert_true((seen & 3) == 3 && seen >> t.plan.cascade_counts[0] & 1); // two cascades, and all
}

// A floor that nothing is above has the bits of the picture without shadows, at any angle of the sun.
static void lit_floors_keep_their_bits(void **state)
{
    (void)state;
    static cascade_scene s;
    static terms t;
    cascade_scene_make(&s);
    s.list.mesh_count = 1;
    int cascades = 0;
    for (int angle = 0; angle <= 84; angle += 6) {
        const float radians = (float)angle * 0.01745329252f, turn = (float)angle * 0.37f;
        s.list.sun.radius = angle % 12 == 0 ? 0.02f : 0.0f;
        s.list.sun.direction[0] = sinf(radians) * cosf(turn);
        s.list.sun.direction[1] = sinf(radians) * sinf(turn);
        s.list.sun.direction[2] = cosf(radians);
        draw_terms(&s.list, &s.list.lens, false, jobs, &t);
        cascades += t.plan.cascade_counts[0];
        for (int i = 0; i < PIXELS; i++) {
            if (isfinite(t.depth[i])) {
                assert_float_equal(t.visible[i], 1.0, 1e-4);
            }
        }
    }
    assert_true(cascades > 15);
}

static void bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    static cascade_scene s;
    static terms one, many;
    orr_jobs *alone;
    assert_ok(orr_jobs_create(1, NULL, NULL, &alone, &error));
    cascade_scene_make(&s);
    s.list.sun.radius = 0.02f;
    draw_terms(&s.list, &s.list.lens, false, alone, &one);
    draw_terms(&s.list, &s.list.lens, false, jobs, &many);
    assert_memory_equal(one.visible, many.visible, sizeof one.visible);
    orr_jobs_destroy(alone);
}

int main(void)
{
    orr_error error = {0};
    if (orr_jobs_create(4, NULL, NULL, &jobs, &error) != ORR_OK) {
        print_message("%s\n", error.message);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_large_scenes_have_cascades),
        cmocka_unit_test(edges_near_the_camera_are_sharp),
        cmocka_unit_test(what_casts_before_the_slices_is_kept),
        cmocka_unit_test(shadows_stand_still_while_the_camera_moves),
        cmocka_unit_test(no_seam_is_seen_at_a_border),
        cmocka_unit_test(penumbrae_have_the_same_width_in_every_map),
        cmocka_unit_test(lit_floors_keep_their_bits),
        cmocka_unit_test(bits_do_not_depend_on_threads),
    };
    const int failures = cmocka_run_group_tests(tests, NULL, NULL);
    orr_jobs_destroy(jobs);
    orr_arena_destroy(&arena);
    return failures;
}
