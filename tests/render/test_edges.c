// Tests of anti-aliased edges: beside the picture of 64 points per pixel, in front of splats, depth and
// ownership of pixels, alpha, and that nothing else changes. Runs once per instruction set.
#include "tests/render/scenes/shadow_scene.h"
#include "tests/support/support.h"

#include "render/cpu/mesh_raster.h"
#include "render/cpu/splats_cpu.h"
#include "tests/support/drawn.h"
#include "tests/support/scenes/small_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 64, FINE = 8 };         // [px] of the picture; points of a pixel, along each side
enum { WIDE = 310, RECTANGLE = 300 }; // [px] of another, and of what it shows

// What a rasteriser leaves of it.
typedef struct canvas_edges {
    orr_arena arena;
    float depth[WIDE * WIDE], rgb[3 * WIDE * WIDE];
    orr_edge_list edges;
} canvas_edges;

static orr_jobs *jobs;

static drawn draw(const orr_draw_list *list, int32_t *items)
{
    orr_isa isa;
    orr_arena arena = {0};
    orr_profile profile = {0};
    drawn d = drawn_make(list);
    assert_ok(orr_isa_choose(&isa, &error));
    const orr_picture picture = {.rgba = d.rgba, .depth = d.depth};
    assert_ok(
        orr_draw_cpu(jobs, isa, &arena, list, NULL, &picture, &(orr_seen){.items = items}, &profile, &error));
    orr_arena_destroy(&arena);
    return d;
}

static double squared_error(const float *rgba, const float *fine, bool alpha)
{
    double sum = 0.0;
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            for (int k = alpha ? 3 : 0; k < (alpha ? 4 : 3); k++) {
                double mean = 0.0;
                for (int i = 0; i < FINE * FINE; i++) {
                    const int row = y * FINE + i / FINE, column = x * FINE + i % FINE;
                    mean += (double)fine[4 * (row * SIDE * FINE + column) + k] / (FINE * FINE);
                }
                const double error_here = (double)rgba[4 * (y * SIDE + x) + k] - mean;
                sum += error_here * error_here;
            }
        }
    }
    return sum;
}

// Four samples at even distances from a straight edge have 1/16 of one sample's squared error; at this angle
// they are at uneven ones. Measured: 0.15. Depth and ownership are those of the pixels' centres.
static void edges_come_close_to_many_points_per_pixel(void **state)
{
    (void)state;
    static shadow_scene s;
    static int32_t hard_items[SIDE * SIDE], smooth_items[SIDE * SIDE];
    shadow_scene_make(&s);
    s.list.shadows = false;
    s.box.material.base_colour[0] = 0.2f;
    for (int floor = 0; floor < 2; floor++) {
        s.list.meshes = &s.items[!floor];
        s.list.mesh_count = floor ? 2 : 1;
        s.list.lens = shadow_scene_turned_lens(SIDE * FINE, 16.0f * FINE);
        s.list.smooth = false;
        drawn fine = draw(&s.list, NULL);
        s.list.lens = shadow_scene_turned_lens(SIDE, 16.0f);
        drawn hard = draw(&s.list, hard_items);
        s.list.smooth = true;
        drawn smooth = draw(&s.list, smooth_items);
        const double before = squared_error(hard.rgba, fine.rgba, !floor),
                     after = squared_error(smooth.rgba, fine.rgba, !floor);
        print_message("    %s: squared error %.4f of that of hard edges\n", floor ? "colour" : "alpha",
                      after / before);
        assert_true(before > 0.01);
        assert_true(after < 0.17 * before);
        for (int i = 0; i < SIDE * SIDE; i++) {
            assert_float_equal(smooth.depth[i], hard.depth[i], 1e-5);
            assert_int_equal(smooth_items[i], hard_items[i]);
        }
        drawn_free(&fine);
        drawn_free(&hard);
        drawn_free(&smooth);
    }
}

// A rectangle of two triangles or of many small ones, as the two kinds of edges of a tile's samples have it.
static void draw_rectangle(int cells, float x, float y, canvas_edges *out)
{
    enum { CELLS_MAX = 60 };
    static orr_mesh_vertex vertices[(CELLS_MAX + 1) * (CELLS_MAX + 1)];
    static uint32_t indices[6 * CELLS_MAX * CELLS_MAX];
    orr_camera camera = {.model = ORR_CAMERA_ORTHOGRAPHIC,
                         .pose = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                         .width = WIDE,
                         .height = WIDE,
                         .focal = {1.0f, 1.0f}};
    small_mesh m;
    orr_draw_mesh item = {.mesh = &m.mesh, .model = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
    orr_draw_list list = {.meshes = &item, .mesh_count = 1, .sun = {.ambient = {1, 1, 1}}};
    orr_isa isa;
    orr_fragment_lists none;
    int count = 0;
    for (int i = 0; i < (cells + 1) * (cells + 1); i++) {
        const int column = i % (cells + 1), row = i / (cells + 1);
        vertices[i] = (orr_mesh_vertex){
            .position = {x + (float)(RECTANGLE / cells * column), y + (float)(RECTANGLE / cells * row), 1.0f},
            .normal = {0, 0, -1},
            .colour = {255, 255, 255, 255}};
        if (column < cells && row < cells) {
            const uint32_t a = (uint32_t)i, b = a + 1, c = a + (uint32_t)cells + 1, d = c + 1;
            memcpy(indices + count, (uint32_t[]){a, c, b, b, c, d}, 6 * sizeof *indices);
            count += 6;
        }
    }
    small_mesh_set(&m, vertices, (cells + 1) * (cells + 1), indices, count);
    m.material.two_sided = true;
    assert_ok(orr_camera_resolve(&camera, &list.lens, &error));
    assert_ok(orr_isa_choose(&isa, &error));
    const orr_mesh_picture picture = {.depth = out->depth, .rgb = out->rgb, .edges = &out->edges};
    assert_ok(orr_mesh_raster(jobs, isa, &out->arena, &list, NULL, picture, &none, NULL, &error));
}

// Whatever the triangles, the same samples of the rim are covered: also where they lie exactly on it, and
// where the edges of large triangles need more than 32 bits.
static void small_and_large_triangles_cover_the_same_samples(void **state)
{
    (void)state;
    static canvas_edges large, small;
    for (int place = 0; place < 256; place += 16) {
        const float x = -150.0f + (float)place / 256.0f, y = -150.0f + (float)(place * 7 % 256) / 256.0f;
        draw_rectangle(1, x, y, &large);
        draw_rectangle(RECTANGLE / 5, x, y, &small);
        uint32_t pixels = 0;
        for (int i = 0; i < WIDE * large.edges.words; i++) {
            assert_true(large.edges.bits[i] == small.edges.bits[i]);
            pixels += (uint32_t)__builtin_popcountll(large.edges.bits[i]);
        }
        assert_true(pixels > 4 * RECTANGLE - 8);
        for (uint32_t i = 0; i < pixels; i++) {
            for (int s = 0; s < 4; s++) {
                assert_true(isinf(large.edges.pixels[i].samples[s].depth) ==
                            isinf(small.edges.pixels[i].samples[s].depth));
            }
        }
        orr_arena_reset(&large.arena);
        orr_arena_reset(&small.arena);
    }
    orr_arena_destroy(&large.arena);
    orr_arena_destroy(&small.arena);
}

// Over a floor of splats and below a haze: a pixel of the cube's rim is between its neighbours, and its depth
// is that of hard edges.
static void splats_are_seen_past_an_edge(void **state)
{
    (void)state;
    static shadow_scene s;
    shadow_scene_make_captured(&s, jobs);
    s.list.shadows = false;
    s.list.lens = shadow_scene_turned_lens(SIDE, 16.0f);
    drawn hard = draw(&s.list, NULL);
    s.list.smooth = true;
    drawn smooth = draw(&s.list, NULL);
    int changed = 0, between = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        float low = 2.0f, high = -1.0f;
        const float now = smooth.rgba[4 * i];
        for (int k = -SIDE - 1; k <= SIDE + 1; k++) {
            const int near = i + k;
            if ((k + SIDE + 1) % SIDE <= 2 && near >= 0 && near < SIDE * SIDE) {
                low = fminf(low, hard.rgba[4 * near]);
                high = fmaxf(high, hard.rgba[4 * near]);
            }
        }
        changed += fabsf(now - hard.rgba[4 * i]) > 0.01f;
        between += now >= low - 1e-3f && now <= high + 1e-3f;
        assert_float_equal(smooth.depth[i], hard.depth[i], 1e-3);
        assert_float_equal(smooth.rgba[4 * i + 3], 1.0f, 0.03);
    }
    assert_true(changed > 16);
    assert_int_equal(between, SIDE * SIDE);
    drawn_free(&hard);
    drawn_free(&smooth);
    shadow_scene_free(&s);
}

static int start(void **state)
{
    (void)state;
    return orr_jobs_create(2, NULL, NULL, &jobs, NULL) == ORR_OK ? 0 : 1;
}

static int stop(void **state)
{
    (void)state;
    orr_jobs_destroy(jobs);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_come_close_to_many_points_per_pixel),
        cmocka_unit_test(splats_are_seen_past_an_edge),
        cmocka_unit_test(small_and_large_triangles_cover_the_same_samples),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
