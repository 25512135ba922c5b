// Drawing on Vulkan against the double-precision reference and the CPU, with the validation layer watching, and its
// promises: frames in flight come out in order, nothing is allocated after warm-up, nothing is dropped for want of room.
#include "render/splat_cloud.h"
#include "render/splats_cpu.h"
#include "render/vulkan_image.h"
#include "tests/splat_views.h"
#include "tests/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static orr_vk *vk; // one device for all tests: opening one takes longer than most of them
static orr_jobs *jobs;

typedef struct drawn {
    float *rgba, *depth;
    int64_t pixels;
} drawn;

static drawn drawn_make(const orr_draw_list *list)
{
    drawn d = {.pixels = (int64_t)list->lens.width * list->lens.height};
    d.rgba = malloc((size_t)d.pixels * 4 * sizeof(float));
    d.depth = malloc((size_t)d.pixels * sizeof(float));
    memset(d.rgba, 0xff, (size_t)d.pixels * 4 * sizeof(float)); // NaN: every pixel must be written
    memset(d.depth, 0xff, (size_t)d.pixels * sizeof(float));
    return d;
}

static void drawn_free(drawn *d)
{
    free(d->rgba);
    free(d->depth);
}

static orr_vulkan_draw *draw_make(int frames_in_flight)
{
    orr_vulkan_draw *draw;
    assert_ok(orr_vulkan_draw_create(vk, frames_in_flight, &draw, &error));
    return draw;
}

static drawn draw_vulkan(orr_vulkan_draw *draw, const orr_draw_list *list)
{
    drawn d = drawn_make(list);
    assert_ok(orr_vulkan_draw_submit(draw, list, &error));
    assert_ok(orr_vulkan_draw_finish(draw, &(orr_picture){d.rgba, d.depth}, NULL, &error));
    return d;
}

static drawn draw_on_cpu(const orr_draw_list *list)
{
    drawn d = drawn_make(list);
    orr_isa isa;
    assert_ok(orr_isa_choose(&isa, &error));
    orr_arena arena = {0};
    orr_profile profile;
    assert_ok(orr_draw_cpu(jobs, isa, &arena, list, &(orr_picture){d.rgba, d.depth}, &profile, &error));
    orr_arena_destroy(&arena);
    return d;
}

static void assert_no_complaint(void)
{
    assert_string_equal(orr_vk_validation_message(vk), "");
    assert_int_equal(orr_vk_validation_count(vk), 0);
}

static double differing_share(const float *a, const float *b, int64_t count, double tolerance)
{
    int64_t differing = 0;
    for (int64_t i = 0; i < count; i++) {
        differing += !(fabs((double)a[i] - (double)b[i]) <= tolerance);
    }
    return (double)differing / (double)count;
}

static void pictures_equal_the_reference(void **state)
{
    (void)state;
    orr_vulkan_draw *draw = draw_make(1);
    for (int v = 0; v < splat_view_count(); v++) {
        splat_view view = splat_view_make(v);
        view_scene scene;
        view_scene_make(&view, jobs, &scene);
        drawn d = draw_vulkan(draw, &scene.list);
        double quality = psnr(d.rgba, scene.reference_rgba, 4 * d.pixels);
        double worst = largest_difference(d.rgba, scene.reference_rgba, 4 * d.pixels);
        double odd = differing_share(d.rgba, scene.reference_rgba, 4 * d.pixels, 1e-4);
        double odd_depth = differing_share(d.depth, scene.reference_depth, d.pixels, 2e-3);
        print_message("%-42s %6.1f dB, worst %.1e, over 1e-4: %.3f %%, depth over 2e-3: %.3f %%\n", view.name,
                      quality, worst, 100.0 * odd, 100.0 * odd_depth);
        // as for the CPU (splat_views.c says why pictures differ at all)
        assert_true(quality >= 90.0);
        assert_true(worst <= view.worst);
        assert_true(odd <= 0.001);
        assert_true(odd_depth <= 0.001);
        drawn_free(&d);
        for (int i = 0; i < view.layer_count; i++) {
            orr_vulkan_draw_release(draw, scene.splats[i].key);
        }
        view_scene_free(&scene);
        splat_view_free(&view);
    }
    orr_vulkan_draw_destroy(draw);
    assert_no_complaint();
}

int main(void)
{
    orr_error error = {0};
    orr_result result = orr_vk_create(&(orr_vk_desc){.validate = true}, &vk, &error);
    if (result != ORR_OK && error.code == ORR_CODE_DEVICE_VALIDATION) {
        print_message("without validation: %s\n", error.message);
        result = orr_vk_create(&(orr_vk_desc){0}, &vk, &error);
    }
    if (result != ORR_OK) {
        print_message("skipped: %s\n", error.message);
        return 77;
    }
    if (orr_jobs_create(2, NULL, NULL, &jobs, &error) != ORR_OK) {
        print_message("%s\n", error.message);
        return 1;
    }
    print_message("drawing on %s\n", orr_vk_name(vk));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_equal_the_reference),
    };
    int failures = cmocka_run_group_tests_name("drawing on Vulkan", tests, NULL, NULL);
    orr_jobs_destroy(jobs);
    orr_vk_destroy(vk);
    return failures;
}
