// Mirrors drawn by a CUDA device (a GPU, or the emulated one) against the CPU's, on the same lists.
#include "render/cuda/draw.h"
#include "tests/render/scenes/mirror_scene.h"
#include "tests/support/machine.h"

#include <string.h>

static orr_cuda_draw *draw_make(void)
{
    orr_cuda_draw *draw;
    assert_ok(orr_cuda_draw_create(cuda, jobs, 2, &draw, &error));
    return draw;
}

static drawn draw_list(orr_cuda_draw *draw, const orr_draw_list *list, bool mirrors, orr_profile *profile)
{
    orr_draw_list shown = *list;
    drawn d = drawn_make(list);
    shown.mirrors = mirrors;
    assert_ok(orr_cuda_draw_submit(draw, &shown, NULL, &error));
    assert_ok(orr_cuda_draw_finish(draw, &(orr_picture){d.rgba, d.depth}, profile, &error));
    return d;
}

// Lanes fuse multiplications with additions and kernels do not, so that a pixel's centre as near to an edge
// may fall on its other side: of what mirrors show one pixel in 50 may be another surface's, or on the other
// side of a shadow's edge, and the rest agrees to 2e-4, as meshes do that are seen themselves
// (test_cuda_meshes.c).
static void mirrors_show_what_they_do_on_the_cpu(void **state)
{
    (void)state;
    for (int variant = 0; variant < MIRROR_SCENE_VARIANTS; variant++) {
        static mirror_scene s;
        orr_cuda_draw *draw = draw_make();
        mirror_scene_make(&s, jobs);
        mirror_scene_vary(&s, jobs, variant);
        drawn d = draw_list(draw, &s.base.list, true, NULL),
              plain = draw_list(draw, &s.base.list, false, NULL);
        const mirror_agreement a = mirror_scene_compare(jobs, &s.base.list, &d, &plain, 2e-4);
        print_message("    %s: mirrors change %d pixels, of which %d differ; %.1f dB\n",
                      mirror_scene_variants[variant], a.shown, a.off, a.quality);
        assert_true(a.shown > 1000);
        assert_true(a.off <= a.shown / 50);
        assert_true(a.quality >= 50.0);
        assert_true(a.depth_alike);
        drawn_free(&d);
        drawn_free(&plain);
        mirror_scene_free(&s);
        orr_cuda_draw_destroy(draw);
    }
}

// Of what a frame of the same slot showed in its mirrors nothing is left, and mirrors are timed.
static void frames_with_and_without_mirrors_alternate(void **state)
{
    (void)state;
    static mirror_scene s;
    orr_cuda_draw *draw = draw_make();
    mirror_scene_make(&s, jobs);
    drawn d[5];
    orr_profile profile;
    for (int i = 0; i < 5; i++) {
        orr_profile_reset(&profile);
        d[i] = draw_list(draw, &s.base.list, i != 1 && i != 4, &profile);
        int mirrors = 0;
        for (int k = 0; k < profile.count; k++) {
            mirrors += strcmp(profile.stages[k].name, "mirrors") == 0;
        }
        assert_int_equal(mirrors, i != 1 && i != 4);
    }
    const size_t bytes = 4 * (size_t)d[0].pixels * sizeof(float);
    assert_memory_equal(d[0].rgba, d[2].rgba, bytes);
    assert_memory_equal(d[0].rgba, d[3].rgba, bytes);
    assert_memory_equal(d[1].rgba, d[4].rgba, bytes);
    assert_true(memcmp(d[0].rgba, d[1].rgba, bytes) != 0);
    for (int i = 0; i < 5; i++) {
        drawn_free(&d[i]);
    }
    mirror_scene_free(&s);
    orr_cuda_draw_destroy(draw);
}

// Panes behind the camera, whose fragments need more memory than there is at first, are seen in a wall alone.
static void a_mirror_beyond_the_capacity_is_drawn_again(void **state)
{
    (void)state;
    static mirror_scene s;
    orr_cuda_draw *draw = draw_make();
    mirror_scene_make(&s, jobs);
    mirror_scene_put_panes(&s, 5);
    drawn d = draw_list(draw, &s.base.list, true, NULL), plain = draw_list(draw, &s.base.list, false, NULL);
    const mirror_agreement a = mirror_scene_compare(jobs, &s.base.list, &d, &plain, 2e-4);
    print_message("    mirrors change %d pixels, of which %d differ; %.1f dB\n", a.shown, a.off, a.quality);
    assert_true(a.shown > SHADOW_SCENE_SIDE * SHADOW_SCENE_SIDE / 2);
    assert_int_equal(a.off, 0);
    drawn_free(&d);
    drawn_free(&plain);
    mirror_scene_free(&s);
    orr_cuda_draw_destroy(draw);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mirrors_show_what_they_do_on_the_cpu),
        cmocka_unit_test(frames_with_and_without_mirrors_alternate),
        cmocka_unit_test(a_mirror_beyond_the_capacity_is_drawn_again),
    };
    return cmocka_run_group_tests(tests, open_cuda_machine, close_machine);
}
