// Drawing on CUDA (a GPU, or the emulated device) against the double-precision reference and the CPU.
#include "assets/clouds.h"
#include "engine/device/cuda_gpu.h"
#include "render/cpu/splats_cpu.h"
#include "render/cuda/draw.h"
#include "render/cuda/splats.h"
#include "tests/render/scenes/shadow_scene.h"
#include "tests/splats/splat_views.h"
#include "tests/support/drawn.h"
#include "tests/support/machine.h"
#include "tests/support/scenes/small_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static drawn draw_cuda(orr_cuda_draw *draw, const orr_draw_list *list)
{
    drawn d = drawn_make(list);
    assert_ok(orr_cuda_draw_submit(draw, list, NULL, &error));
    assert_ok(orr_cuda_draw_finish(draw, &(orr_picture){d.rgba, d.depth}, NULL, &error));
    return d;
}

static void pictures_equal_the_reference(void **state)
{
    (void)state;
    orr_cuda_draw *draw;
    assert_ok(orr_cuda_draw_create(cuda, jobs, 1, &draw, &error));
    for (int v = 0; v < splat_view_count(); v++) {
        splat_view view = splat_view_make(v);
        view_scene scene;
        view_scene_make(&view, jobs, &scene);
        drawn d = draw_cuda(draw, &scene.list);
        assert_view_drawn(&view, &scene, &d, 90.0, 0.001);
        drawn_free(&d);
        for (int i = 0; i < view.layer_count; i++) {
            orr_cuda_draw_release(draw, scene.splats[i].key);
        }
        view_scene_free(&scene);
        splat_view_free(&view);
    }
    orr_cuda_draw_destroy(draw);
}

static void shadows_fall_on_splats_as_on_the_cpu(void **state)
{
    (void)state;
    static shadow_scene s;
    shadow_scene_make_captured(&s, jobs);
    orr_cuda_draw *draw;
    assert_ok(orr_cuda_draw_create(cuda, jobs, 1, &draw, &error));
    drawn d = draw_cuda(draw, &s.list), cpu = drawn_on_cpu(jobs, &s.list);
    double quality = psnr(d.rgba, cpu.rgba, 4 * d.pixels);
    print_message("    %.1f dB\n", quality);
    assert_true(quality >= 90.0);
    const int middle = SHADOW_SCENE_SIDE / 2 * (SHADOW_SCENE_SIDE + 1);
    assert_true(d.rgba[4 * (middle + 32)] < 0.8f * d.rgba[4 * (middle - 32)]);
    drawn_free(&d);
    drawn_free(&cpu);
    orr_cuda_draw_destroy(draw);
    shadow_scene_free(&s);
}

// The list with the map, without it, and with it again, whose texels are then uploaded anew.
static void captured_shadows_do_not_fall_twice_as_on_the_cpu(void **state)
{
    (void)state;
    static shadow_scene s;
    shadow_scene_make_walled(&s, jobs);
    orr_cuda_draw *draw;
    assert_ok(orr_cuda_draw_create(cuda, jobs, 1, &draw, &error));
    for (int i = 0; i < 3; i++) {
        s.list.self_shadow = i == 1 ? NULL : s.self;
        drawn d = draw_cuda(draw, &s.list), cpu = drawn_on_cpu(jobs, &s.list);
        const double quality = psnr(d.rgba, cpu.rgba, 4 * d.pixels);
        print_message("    %.1f dB\n", quality);
        assert_true(quality >= 90.0);
        const float *captured =
            d.rgba + 4 * ((SHADOW_SCENE_SIDE / 2 - 8) * SHADOW_SCENE_SIDE + 176); // (1.5, .25)
        assert_true(i == 1 ? captured[0] < 0.3f : captured[0] > 0.38f);
        drawn_free(&d);
        drawn_free(&cpu);
    }
    orr_cuda_draw_destroy(draw);
    shadow_scene_free(&s);
}

// A cube over a floor of splats, then over one of triangles. A step that meets a pixel's edge may fall to
// either side of it.
static void ambient_occlusion_is_the_cpus(void **state)
{
    (void)state;
    static shadow_scene s;
    orr_cuda_draw *draw;
    assert_ok(orr_cuda_draw_create(cuda, jobs, 1, &draw, &error));
    for (int i = 0; i < 2; i++) {
        if (i == 0) {
            shadow_scene_make_captured(&s, jobs);
        } else {
            shadow_scene_make(&s);
        }
        s.list.lens = shadow_scene_turned_lens(SHADOW_SCENE_SIDE, 48.0f);
        s.list.shadows = false;
        s.list.smooth = true;
        drawn plain = drawn_on_cpu(jobs, &s.list);
        s.list.occlusion = (orr_draw_occlusion){.radius = 4.0f, .strength = 1.0f, .up = {0, 0, 1}};
        drawn d = draw_cuda(draw, &s.list), cpu = drawn_on_cpu(jobs, &s.list);
        const double quality = psnr(d.rgba, cpu.rgba, 4 * d.pixels),
                     changed = psnr(d.rgba, plain.rgba, 4 * d.pixels);
        print_message("    %.1f dB, beside none %.1f dB\n", quality, changed);
        assert_true(quality >= 65.0);
        assert_true(changed < 45.0);
        drawn_free(&plain);
        drawn_free(&d);
        drawn_free(&cpu);
        if (i == 0) {
            shadow_scene_free(&s);
        }
    }
    orr_cuda_draw_destroy(draw);
}

// A cube over a floor of splats, then over nothing. The pixels' centres and samples are those of the CPU, but
// for a vertex that rounds to the next 1/256 pixel.
static void edges_match_the_cpu(void **state)
{
    (void)state;
    static shadow_scene s;
    shadow_scene_make_captured(&s, jobs);
    orr_cuda_draw *draw;
    assert_ok(orr_cuda_draw_create(cuda, jobs, 1, &draw, &error));
    s.list.lens = shadow_scene_turned_lens(SHADOW_SCENE_SIDE, 48.0f);
    for (int i = 0; i < 2; i++) {
        s.list.smooth = false;
        drawn hard = drawn_on_cpu(jobs, &s.list);
        s.list.smooth = true;
        drawn d = draw_cuda(draw, &s.list), cpu = drawn_on_cpu(jobs, &s.list);
        double quality = psnr(d.rgba, cpu.rgba, 4 * d.pixels),
               changed = psnr(d.rgba, hard.rgba, 4 * d.pixels);
        print_message("    %.1f dB, beside hard edges %.1f dB\n", quality, changed);
        assert_true(quality >= 70.0);
        assert_true(changed < 50.0);
        assert_true(differing_share(d.depth, cpu.depth, d.pixels, 1e-3) <= 1e-4);
        drawn_free(&hard);
        drawn_free(&d);
        drawn_free(&cpu);
        s.list.splat_count = 0;
    }
    orr_cuda_draw_destroy(draw);
    shadow_scene_free(&s);
}

// More pairs of tiles and splats than the first capacity: the frame is drawn again.
static void a_frame_that_needs_more_memory_gets_it(void **state)
{
    (void)state;
    splat_view view = {
        .name = "large splats", .layer_count = 1, .layers = {make_cloud(CLOUD_BALL, 40, 0, 5)}};
    orr_splats_view s = orr_splats_data(view.layers[0]);
    for (int64_t i = 0; i < 3 * s.count; i++) {
        s.log_scale[i] = 0.0f; // each as large as the picture
    }
    const float eye[3] = {0.0f, 0.0f, -3.0f}, target[3] = {0}, up[3] = {0.0f, -1.0f, 0.0f};
    view.camera = orr_camera_look_at(eye, target, up, 0.8f, 150, 100);
    view.transforms[0] = (orr_transform){0};
    view_scene scene;
    view_scene_make(&view, jobs, &scene);
    orr_cuda_draw *draw;
    assert_ok(orr_cuda_draw_create(cuda, jobs, 1, &draw, &error));
    drawn first = draw_cuda(draw, &scene.list);
    drawn second = draw_cuda(draw, &scene.list);
    drawn expected = drawn_on_cpu(jobs, &scene.list);
    assert_true(psnr(first.rgba, expected.rgba, 4 * first.pixels) >= 90.0);
    assert_memory_equal(first.rgba, second.rgba,
                        (size_t)first.pixels * 4 * sizeof(float)); // and the same bits again
    drawn_free(&first);
    drawn_free(&second);
    drawn_free(&expected);
    orr_cuda_draw_destroy(draw);
    view_scene_free(&scene);
    splat_view_free(&view);
}

// The bar between machines: 50 dB, and 2/255 at worst.
static void check_cloud(const char *path, const float eye[3])
{
    orr_splats *splats;
    assert_ok(orr_splats_load(path, &splats, &error));
    orr_splats_view data = orr_splats_data(splats);
#ifdef ORR_SANITIZED
    data.count =
        data.count < 20000 ? data.count : 20000; // the emulated device takes a minute for all of it then
#endif
    orr_splat_pack *pack;
    assert_ok(orr_splat_pack_create(jobs, &data, NULL, &pack, &error));
    orr_draw_splats layer = {.pack = pack, .key = 1, .model = {[0] = 1.0f, [5] = 1.0f, [10] = 1.0f}};
    const float target[3] = {0}, up[3] = {0.0f, -1.0f, 0.0f};
    orr_camera camera = orr_camera_look_at(eye, target, up, 0.8f, 160, 120);
    orr_draw_list list = {.splats = &layer, .splat_count = 1};
    assert_ok(orr_camera_resolve(&camera, &list.lens, &error));
    orr_cuda_draw *draw;
    assert_ok(orr_cuda_draw_create(cuda, jobs, 1, &draw, &error));
    drawn d = draw_cuda(draw, &list), expected = drawn_on_cpu(jobs, &list);
    double quality = psnr(d.rgba, expected.rgba, 4 * d.pixels);
    double worst = largest_difference(d.rgba, expected.rgba, 4 * d.pixels);
    print_message("%.1f dB, worst %.1e\n", quality, worst);
    assert_true(quality >= 50.0);
    assert_true(worst <= 2.0 / 255.0);
    drawn_free(&d);
    drawn_free(&expected);
    orr_cuda_draw_destroy(draw);
    orr_splat_pack_destroy(pack);
    orr_splats_destroy(splats);
}

static void large_clouds_match_the_cpu(void **state)
{
    (void)state;
    check_cloud(made_asset("orrery.spz"), (float[]){1.6f, -2.0f, -3.36f});
    const char *captured = shared_data("splats/biker.spz");
    if (captured) {
        check_cloud(captured, (float[]){0.0f, 0.0f, -3.0f});
    }
}

// A ball of splats, an opaque wall behind it, a glass through it and one before it.
static void transparent_meshes_are_blended_as_on_the_cpu(void **state)
{
    (void)state;
    enum { WALL, MIDDLE, FRONT, QUADS };
    static orr_mesh_vertex corners[QUADS][4];
    static uint32_t indices[] = {0, 1, 2, 0, 2, 3};
    static small_mesh quads[QUADS];
    orr_draw_mesh meshes[QUADS];
    const float depths[QUADS] = {2.0f, 0.0f, -1.5f};
    for (int q = 0; q < QUADS; q++) {
        for (int i = 0; i < 4; i++) {
            corners[q][i] = (orr_mesh_vertex){
                .position = {(i == 1 || i == 2) ? 1.0f : -0.2f * (float)q, i >= 2 ? 0.8f : -0.8f, depths[q]},
                .normal = {0.0f, 0.0f, -1.0f},
                .colour = {255, (uint8_t)(80 * q), 90, 255}};
        }
        small_mesh_set(&quads[q], corners[q], 4, indices, 6);
        quads[q].material.blended = q != WALL;
        quads[q].material.base_colour[3] = q == WALL ? 1.0f : 0.4f;
        meshes[q] = (orr_draw_mesh){.mesh = &quads[q].mesh,
                                    .key = (uint64_t)(10 + q),
                                    .model = {[0] = 1.0f, [5] = 1.0f, [10] = 1.0f}};
    }
    orr_splats *ball = make_cloud(CLOUD_BALL, 200, 0, 7);
    orr_splats_view data = orr_splats_data(ball);
    orr_splat_pack *pack;
    assert_ok(orr_splat_pack_create(jobs, &data, NULL, &pack, &error));
    orr_draw_splats layer = {.pack = pack, .key = 1, .model = {[0] = 1.0f, [5] = 1.0f, [10] = 1.0f}};
    orr_camera camera = orr_camera_look_at((float[]){0.0f, 0.0f, -4.0f}, (float[3]){0},
                                           (float[]){0.0f, -1.0f, 0.0f}, 0.8f, 100, 70);
    orr_draw_list list = {.splats = &layer,
                          .splat_count = 1,
                          .meshes = meshes,
                          .mesh_count = QUADS,
                          .sun = {.direction = {0.0f, 0.0f, -1.0f}, .colour = {0.7f, 0.7f, 0.7f}}};
    assert_ok(orr_camera_resolve(&camera, &list.lens, &error));
    orr_cuda_draw *draw;
    assert_ok(orr_cuda_draw_create(cuda, jobs, 1, &draw, &error));
    drawn d = draw_cuda(draw, &list), expected = drawn_on_cpu(jobs, &list);
    assert_true(psnr(d.rgba, expected.rgba, 4 * d.pixels) >= 90.0);
    drawn_free(&d);
    drawn_free(&expected);
    orr_cuda_draw_destroy(draw);
    orr_splat_pack_destroy(pack);
    orr_splats_destroy(ball);
}

// One splat as the device has it, number `number` of a cloud whose other splats are not there: its arrays are
// said to begin so far before the memory.
static void see_one_splat(const splat_lens_values *lens, uint32_t number, float record[12])
{
    enum { FUNCTIONS = 48, BYTES = ORR_PACK_BLOCK * sizeof(float) };
    const float clip[4] = {0.0f, 0.0f, 0.0f, 1.0f};
    const float shape[ORR_PACK_GEOMETRY] = {0.1f, 0.2f, 0.0f, 0.3f, 0, 0, 0, 0.2f, 0, 0, 0, 0.1f, 0.9f};
    float geometry[ORR_PACK_GEOMETRY][ORR_PACK_BLOCK] = {{0}}, harmonics[FUNCTIONS][ORR_PACK_BLOCK] = {{0}};
    const size_t sizes[] = {sizeof geometry,   sizeof harmonics,  sizeof number,
                            4 * sizeof(float), 4 * sizeof(float), 4 * sizeof(float),
                            sizeof(uint32_t),  sizeof(uint32_t),  sizeof(orr_cuda_control)};
    void *m[sizeof sizes / sizeof *sizes];
    for (int k = 0; k < ORR_PACK_GEOMETRY; k++) {
        geometry[k][number % ORR_PACK_BLOCK] = shape[k];
    }
    for (int k = 0; k < FUNCTIONS; k++) {
        harmonics[k][number % ORR_PACK_BLOCK] = 0.01f * (float)k;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_ok(orr_cuda_alloc(cuda, sizes[i], 1, &m[i], &error));
    }
    assert_ok(orr_cuda_upload(cuda, m[0], geometry, sizeof geometry, &error));
    assert_ok(orr_cuda_upload(cuda, m[1], harmonics, sizeof harmonics, &error));
    assert_ok(orr_cuda_upload(cuda, m[2], &number, sizeof number, &error));
    assert_ok(orr_cuda_upload(cuda, m[8], &(orr_cuda_control){0}, sizeof(orr_cuda_control), &error));
    const uintptr_t before = (uintptr_t)(number / ORR_PACK_BLOCK) * BYTES;
    const orr_cuda_levels levels = {.geometry = (float *)((uintptr_t)m[0] - before * ORR_PACK_GEOMETRY),
                                    .harmonics = (float *)((uintptr_t)m[1] - before * FUNCTIONS),
                                    .whole = number + 1,
                                    .sh_degree = 3};
    orr_cuda_splats_project_nodes(cuda->stream, &levels, m[2], 1, lens, clip, 0,
                                  (orr_cuda_records){m[3], m[4], m[5]}, m[6], m[7], m[8]);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    for (int i = 0; i < 3; i++) {
        assert_ok(orr_cuda_download(cuda, record + 4 * i, m[3 + i], 4 * sizeof(float), &error));
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        orr_cuda_free(m[i]);
    }
}

// 400 million splats have 19 thousand million numbers.
static void numbers_beyond_32_bits_are_found(void **state)
{
    (void)state;
    const float eye[3] = {0.0f, 0.0f, -3.0f}, target[3] = {0}, up[3] = {0.0f, -1.0f, 0.0f};
    orr_camera camera = orr_camera_look_at(eye, target, up, 0.8f, 48, 32);
    orr_lens lens;
    splat_lens_values values;
    const orr_draw_splats layer = {.model = {[0] = 1.0f, [5] = 1.0f, [10] = 1.0f}};
    float near[12], far[12];
    assert_ok(orr_camera_resolve(&camera, &lens, &error));
    assert_ok(orr_splat_lens_make(&lens, &layer, &values, &error));
    see_one_splat(&values, 5, near);
    see_one_splat(&values, 400000005, far);
    assert_true(near[11] > 2.0f); // its depth
    assert_memory_equal(near, far, sizeof near);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_equal_the_reference),
        cmocka_unit_test(shadows_fall_on_splats_as_on_the_cpu),
        cmocka_unit_test(captured_shadows_do_not_fall_twice_as_on_the_cpu),
        cmocka_unit_test(ambient_occlusion_is_the_cpus),
        cmocka_unit_test(edges_match_the_cpu),
        cmocka_unit_test(a_frame_that_needs_more_memory_gets_it),
        cmocka_unit_test(large_clouds_match_the_cpu),
        cmocka_unit_test(numbers_beyond_32_bits_are_found),
        cmocka_unit_test(transparent_meshes_are_blended_as_on_the_cpu),
    };
    return cmocka_run_group_tests(tests, open_cuda_machine, close_machine);
}
