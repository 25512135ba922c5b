// Cascades drawn on Vulkan against the CPU's, on the same lists, with the validation layer watching.
#include "render/cpu/splats_cpu.h"
#include "render/vulkan/draw.h"
#include "tests/render/cascade_scene.h"
#include "tests/support/drawn.h"
#include "tests/support/support.h"

// One draw for all tests: a software driver takes seconds to compile what draws surfaces.
static orr_vk *vk;
static orr_jobs *jobs;
static orr_vulkan_draw *draw;
static int complaints;

static int open_draw(void **state)
{
    (void)state;
    assert_ok(orr_jobs_create(2, NULL, NULL, &jobs, &error));
    assert_ok(orr_vulkan_draw_create(vk, jobs, 1, &draw, &error));
    return 0;
}

static int close_draw(void **state)
{
    (void)state;
    orr_vulkan_draw_destroy(draw);
    orr_jobs_destroy(jobs);
    return 0;
}

static drawn draw_on_cpu(const orr_draw_list *list)
{
    drawn d = drawn_make(list);
    orr_isa isa;
    orr_arena arena = {0};
    orr_profile profile;
    assert_ok(orr_isa_choose(&isa, &error));
    assert_ok(
        orr_draw_cpu(jobs, isa, &arena, list, NULL, &(orr_picture){d.rgba, d.depth}, NULL, &profile, &error));
    orr_arena_destroy(&arena);
    return d;
}

// The bar between machines: 50 dB of the whole picture, and 2/255 of all values but one in 1000, where an
// edge passes by a pixel's or a texel's centre within the device's rounding; in what a mirror shows one in
// 100 (test_vulkan_mirrors).
static void assert_same(const char *name, const orr_draw_list *list, double odd)
{
    drawn d = drawn_make(list), cpu = draw_on_cpu(list);
    assert_ok(orr_vulkan_draw_submit(draw, list, NULL, &error));
    assert_ok(orr_vulkan_draw_finish(draw, &(orr_picture){d.rgba, d.depth}, NULL, &error));
    const double quality = psnr(d.rgba, cpu.rgba, 4 * d.pixels);
    const double share = differing_share(d.rgba, cpu.rgba, 4 * d.pixels, 2.0 / 255.0);
    print_message("    %s: %.1f dB, %.6f of the values differ\n", name, quality, share);
    assert_true(quality >= 50.0);
    assert_true(share <= odd);
    drawn_free(&d);
    drawn_free(&cpu);
}

static void cascades_are_those_of_the_cpu(void **state)
{
    (void)state;
    static cascade_scene s;
    static orr_shadow_plan plan;
    cascade_scene_make(&s);
    orr_shadow_plan_make(&s.list, &plan);
    assert_int_equal(plan.cascade_counts[0], 3);
    assert_same("hard", &s.list, 1e-3);
    s.list.sun.radius = 0.03f;
    assert_same("soft", &s.list, 1e-3);
}

// What a mirror shows has no cascades, so that its shadow maps are not those of the picture.
static void beside_a_mirror_they_are_too(void **state)
{
    (void)state;
    static cascade_scene s;
    cascade_scene_make(&s);
    s.list.mirrors = true;
    s.base.floor.material.reflectance = 0.3f;
    assert_same("on a floor that mirrors", &s.list, 1e-2);
}

static void print_complaint(void *user, orr_log_level level, int code, const char *line)
{
    (void)level;
    (void)code;
    ++*(int *)user;
    print_message("%s\n", line);
}

int main(void)
{
    orr_error error = {0};
    const orr_vk_desc desc = {.validate = true, .log = {print_complaint, &complaints}};
    orr_result result = orr_vk_create(&desc, &vk, &error);
    if (result != ORR_OK && error.code == ORR_CODE_DEVICE_VALIDATION) {
        print_message("without validation: %s\n", error.message);
        result = orr_vk_create(&(orr_vk_desc){0}, &vk, &error);
    }
    if (result != ORR_OK) {
        print_message("skipped: %s\n", error.message);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cascades_are_those_of_the_cpu),
        cmocka_unit_test(beside_a_mirror_they_are_too),
    };
    const int failures = cmocka_run_group_tests(tests, open_draw, close_draw);
    orr_vk_destroy(vk); // validation names what was not destroyed before
    return failures + complaints;
}
