// Shadows of clouds drawn by a CUDA device (a GPU, or the emulated one) against the CPU's, on the same lists.
#include "render/cuda/draw.h"
#include "tests/render/scenes/cloud_scene.h"
#include "tests/support/machine.h"

#include <string.h>

static orr_cuda_draw *draw_make(void)
{
    orr_cuda_draw *draw;
    assert_ok(orr_cuda_draw_create(cuda, jobs, 2, &draw, &error));
    return draw;
}

static drawn draw_scene(orr_cuda_draw *draw, cloud_scene *s, bool clouds, orr_profile *profile)
{
    drawn d = drawn_make(&s->base.list);
    cloud_scene_cast(s, clouds);
    assert_ok(orr_cuda_draw_submit(draw, &s->base.list, NULL, &error));
    assert_ok(orr_cuda_draw_finish(draw, &(orr_picture){d.rgba, d.depth}, profile, &error));
    return d;
}

// Lanes fuse multiplications with additions and kernels need not: colours differ by 1e-5 (emulated: 7e-6).
// Where a splat ends, at a coverage of 1/255, a texel may be on its other side, and a pixel on the other side
// of an edge: one in 50 of those that shadows change (emulated: none). The latter may be as bright as white,
// which is why the whole picture has to be within 60 dB alone (emulated: 136).
static void shadows_are_those_of_the_cpu(void **state)
{
    (void)state;
    for (int variant = 0; variant < CLOUD_SCENE_VARIANTS; variant++) {
        static cloud_scene s;
        orr_cuda_draw *draw = draw_make();
        cloud_scene_make(&s, jobs, variant);
        drawn with = draw_scene(draw, &s, true, NULL), plain = draw_scene(draw, &s, false, NULL);
        const cloud_agreement a = cloud_scene_compare(jobs, &s, &with, &plain, 1e-4);
        print_message("    %s: shadows change %d pixels; %d differ, the others by %.1e at most; %.1f dB\n",
                      cloud_scene_variants[variant], a.shown, a.off, a.worst, a.quality);
        assert_true(a.shown > 300);
        assert_true(a.off <= a.shown / 50);
        assert_true(a.quality >= 60.0);
        assert_true(a.depth_alike);
        drawn_free(&with);
        drawn_free(&plain);
        cloud_scene_free(&s);
        orr_cuda_draw_destroy(draw);
    }
}

static bool is_timed(const orr_profile *profile)
{
    for (int k = 0; k < profile->count; k++) {
        if (strcmp(profile->stages[k].name, "cloud shadows") == 0) {
            return profile->stages[k].items == 2;
        }
    }
    return false;
}

// Of what a frame of the same slot drew nothing is left, and maps are timed. The first frame's need more
// pairs of splats and tiles than there is memory for, and are drawn again.
static void frames_with_and_without_shadows_alternate(void **state)
{
    (void)state;
    static cloud_scene s;
    orr_cuda_draw *draw = draw_make();
    cloud_scene_make(&s, jobs, CLOUD_SCENE_TWO_CLOUDS);
    drawn d[4];
    for (int i = 0; i < 4; i++) {
        orr_profile profile;
        orr_profile_reset(&profile);
        d[i] = draw_scene(draw, &s, i % 2 == 0, &profile);
        assert_int_equal(is_timed(&profile), i % 2 == 0);
    }
    const size_t bytes = 4 * (size_t)d[0].pixels * sizeof(float);
    assert_memory_equal(d[0].rgba, d[2].rgba, bytes);
    assert_memory_equal(d[1].rgba, d[3].rgba, bytes);
    assert_true(memcmp(d[0].rgba, d[1].rgba, bytes) != 0);
    for (int i = 0; i < 4; i++) {
        drawn_free(&d[i]);
    }
    cloud_scene_free(&s);
    orr_cuda_draw_destroy(draw);
}

// Frames share the maps' memory: in each the cloud is elsewhere, and in one a second cloud casts no shadow.
static void frames_in_flight_have_maps_of_their_own(void **state)
{
    (void)state;
    static cloud_scene s;
    drawn alone[2], together[2];
    orr_cuda_draw *draw = draw_make();
    cloud_scene_make(&s, jobs, CLOUD_SCENE_TWO_CLOUDS);
    for (int i = 0; i < 2; i++) {
        s.layers[0].model[3] = i ? -1.2f : -1.9f;
        s.layers[1].casts_shadow = i == 0;
        alone[i] = drawn_make(&s.base.list);
        assert_ok(orr_cuda_draw_submit(draw, &s.base.list, NULL, &error));
        assert_ok(orr_cuda_draw_finish(draw, &(orr_picture){alone[i].rgba, alone[i].depth}, NULL, &error));
    }
    for (int i = 0; i < 2; i++) {
        s.layers[0].model[3] = i ? -1.2f : -1.9f;
        s.layers[1].casts_shadow = i == 0;
        assert_ok(orr_cuda_draw_submit(draw, &s.base.list, NULL, &error));
    }
    for (int i = 0; i < 2; i++) {
        const size_t bytes = 4 * (size_t)alone[i].pixels * sizeof(float);
        together[i] = drawn_make(&s.base.list);
        assert_ok(
            orr_cuda_draw_finish(draw, &(orr_picture){together[i].rgba, together[i].depth}, NULL, &error));
        assert_memory_equal(alone[i].rgba, together[i].rgba, bytes);
    }
    assert_true(memcmp(alone[0].rgba, alone[1].rgba, 4 * (size_t)alone[0].pixels * sizeof(float)) != 0);
    for (int i = 0; i < 2; i++) {
        drawn_free(&alone[i]);
        drawn_free(&together[i]);
    }
    cloud_scene_free(&s);
    orr_cuda_draw_destroy(draw);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shadows_are_those_of_the_cpu),
        cmocka_unit_test(frames_with_and_without_shadows_alternate),
        cmocka_unit_test(frames_in_flight_have_maps_of_their_own),
    };
    return cmocka_run_group_tests(tests, open_cuda_machine, close_machine);
}
