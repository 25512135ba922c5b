// Shadows of clouds drawn on Vulkan against the CPU's, on the same lists, with the validation layer watching.
#include "tests/render/scenes/cloud_scene.h"
#include "tests/render/vulkan_rig.h"

#include <string.h>

static void submit(cloud_scene *s, bool clouds)
{
    cloud_scene_cast(s, clouds);
    assert_ok(orr_vulkan_draw_submit(vulkan_draw, &s->base.list, NULL, &error));
}

static drawn finish(const cloud_scene *s, orr_profile *profile)
{
    drawn d = drawn_make(&s->base.list);
    assert_ok(orr_vulkan_draw_finish(vulkan_draw, &(orr_picture){d.rgba, d.depth}, profile, &error));
    return d;
}

// The bar between machines: 2/255, and 50 dB of the whole picture. Where an edge passes by a pixel's centre
// within the device's rounding the pixel may be another surface's: one in 50 of those that shadows change,
// and one in 20 where edges are anti-aliased, which Vulkan cuts at mirrors by whole pixels.
static void shadows_are_those_of_the_cpu(void **state)
{
    (void)state;
    for (int variant = 0; variant < CLOUD_SCENE_VARIANTS; variant++) {
        if (variant == CLOUD_SCENE_CLOUDS_ALONE) {
            continue; // 148 dB; without shadow maps lavapipe compiles the shader once more, for 40 s
        }
        static cloud_scene s;
        cloud_scene_make(&s, jobs, variant);
        submit(&s, true);
        drawn with = finish(&s, NULL);
        const cloud_agreement a = cloud_scene_compare(jobs, &s, &with, &with, 2.0 / 255.0);
        print_message("    %s: shadows change %d pixels; %d differ, the others by %.1e at most; %.1f dB\n",
                      cloud_scene_variants[variant], a.shown, a.off, a.worst, a.quality);
        assert_true(a.shown > 300);
        assert_true(a.off <= a.shown / (s.base.list.smooth ? 20 : 50));
        assert_true(a.quality >= 50.0);
        drawn_free(&with);
        cloud_scene_free(&s);
    }
}

// Those in flight do not disturb each other, of what a frame of the same slot drew nothing is left, depth is
// the surfaces', maps are timed, and nothing is allocated once it has been there.
static void frames_with_and_without_shadows_alternate(void **state)
{
    (void)state;
    enum { FRAMES = 3, ROUNDS = 3 };
    static cloud_scene s;
    drawn d[ROUNDS][FRAMES];
    size_t warm = 0;
    cloud_scene_make(&s, jobs, CLOUD_SCENE_TWO_CLOUDS);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < FRAMES; i++) {
            submit(&s, (round + i) % 2 == 0);
        }
        for (int i = 0; i < FRAMES; i++) {
            orr_profile profile;
            orr_profile_reset(&profile);
            d[round][i] = finish(&s, &profile);
            int64_t timed = 0;
            for (int k = 0; k < profile.count; k++) {
                timed += strcmp(profile.stages[k].name, "cloud shadows") == 0 ? profile.stages[k].items : 0;
            }
            assert_int_equal(timed, (round + i) % 2 == 0 ? 2 : 0);
        }
        warm = round == 1 ? orr_vulkan_draw_allocations(vulkan_draw) : warm;
    }
    assert_int_equal(orr_vulkan_draw_allocations(vulkan_draw), warm);
    const size_t pixels = (size_t)d[0][0].pixels, bytes = 4 * pixels * sizeof(float);
    for (int i = 0; i < ROUNDS * FRAMES; i++) {
        const drawn *one = &d[i / FRAMES][i % FRAMES];
        assert_memory_equal(one->rgba, d[0][(i / FRAMES + i % FRAMES) % 2].rgba, bytes);
        assert_memory_equal(one->depth, d[0][0].depth, pixels * sizeof(float));
    }
    assert_true(memcmp(d[0][0].rgba, d[0][1].rgba, bytes) != 0);
    for (int i = 0; i < ROUNDS * FRAMES; i++) {
        drawn_free(&d[i / FRAMES][i % FRAMES]);
    }
    cloud_scene_free(&s);
}

int main(void)
{
    if (!vulkan_rig_open()) {
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shadows_are_those_of_the_cpu),
        cmocka_unit_test(frames_with_and_without_shadows_alternate),
    };
    return vulkan_rig_close(cmocka_run_group_tests(tests, vulkan_rig_open_draw, vulkan_rig_close_draw));
}
