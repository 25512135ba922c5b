// Cascades drawn on Vulkan against the CPU's, on the same lists, with the validation layer watching.
#include "render/shadow/shadow.h"
#include "tests/render/scenes/cascade_scene.h"
#include "tests/render/vulkan_rig.h"

// The bar between machines: 50 dB of the whole picture, and 2/255 of all values but one in 1000, where an
// edge passes by a pixel's or a texel's centre within the device's rounding; in what a mirror shows one in
// 100 (test_vulkan_mirrors).
static void assert_same(const char *name, const orr_draw_list *list, double odd)
{
    drawn d = drawn_on_vulkan(vulkan_draw, list), cpu = drawn_on_cpu(jobs, list);
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

int main(void)
{
    if (!vulkan_rig_open()) {
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cascades_are_those_of_the_cpu),
        cmocka_unit_test(beside_a_mirror_they_are_too),
    };
    return vulkan_rig_close(cmocka_run_group_tests(tests, vulkan_rig_open_draw, vulkan_rig_close_draw));
}
