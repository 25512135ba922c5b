// The CPU's splats against the double-precision reference, and its promises: same bits for any number of
// threads, nothing allocated after warm-up. Run once per instruction set.
#include "render/cpu/kept/kept_view.h"
#include "tests/render/scenes/shadow_scene.h"
#include "tests/splats/splat_views.h"
#include "tests/support/drawn.h"
#include "tests/support/scenes/cut_cloud.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static drawn draw(const orr_draw_list *list, int threads, int frames, size_t *growths)
{
    orr_jobs *jobs;
    orr_isa isa;
    assert_ok(orr_jobs_create(threads, NULL, NULL, &jobs, &error));
    assert_ok(orr_isa_choose(&isa, &error));
    drawn d = drawn_make(list);
    orr_arena arena = {0};
    orr_profile profile;
    for (int i = 0; i < frames; i++) {
        orr_arena_reset(&arena);
        size_t before = arena.growths;
        assert_ok(orr_draw_cpu(jobs, isa, &arena, list, NULL, &(orr_picture){d.rgba, d.depth}, NULL, &profile,
                               &error));
        *growths = arena.growths - before;
    }
    static const char *const stages[] = {"meshes", "fields", "project", "sort", "bin", "blend"};
    assert_int_equal(profile.count, 6);
    for (int i = 0; i < profile.count; i++) {
        assert_string_equal(profile.stages[i].name, stages[i]);
    }
    orr_arena_destroy(&arena);
    orr_jobs_destroy(jobs);
    return d;
}

static void pictures_equal_the_reference(void **state)
{
    (void)state;
    orr_jobs *jobs;
    assert_ok(orr_jobs_create(1, NULL, NULL, &jobs, &error));
    for (int v = 0; v < splat_view_count(); v++) {
        splat_view view = splat_view_make(v);
        view_scene scene;
        view_scene_make(&view, jobs, &scene);
        size_t growths;
        drawn d = draw(&scene.list, 1, 1, &growths);
        assert_view_drawn(&view, &scene, &d, 100.0, 0.0005);
        drawn_free(&d);
        view_scene_free(&scene);
        splat_view_free(&view);
    }
    orr_jobs_destroy(jobs);
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    splat_view view = splat_view_make(splat_view_count() - 1);
    orr_jobs *jobs;
    assert_ok(orr_jobs_create(1, NULL, NULL, &jobs, &error));
    view_scene scene;
    view_scene_make(&view, jobs, &scene);
    size_t growths;
    drawn one = draw(&scene.list, 1, 1, &growths);
    for (int threads = 2; threads <= 7; threads++) {
        drawn many = draw(&scene.list, threads, 2, &growths);
        assert_memory_equal(one.rgba, many.rgba, (size_t)one.pixels * 4 * sizeof(float));
        assert_memory_equal(one.depth, many.depth, (size_t)one.pixels * sizeof(float));
        drawn_free(&many);
    }
    drawn_free(&one);
    view_scene_free(&scene);
    splat_view_free(&view);
    orr_jobs_destroy(jobs);
}

static void a_frame_allocates_nothing_after_warm_up(void **state)
{
    (void)state;
    splat_view view = splat_view_make(2);
    orr_jobs *jobs;
    assert_ok(orr_jobs_create(1, NULL, NULL, &jobs, &error));
    view_scene scene;
    view_scene_make(&view, jobs, &scene);
    size_t growths = 1;
    drawn d = draw(&scene.list, 2, 3, &growths);
    assert_int_equal(growths, 0);
    drawn_free(&d);
    view_scene_free(&scene);
    splat_view_free(&view);
    orr_jobs_destroy(jobs);
}

// A layer that is rotated, and a camera that is rotated inversely around it, give the same picture, harmonics
// included.
static void turning_a_layer_is_turning_the_camera_back(void **state)
{
    (void)state;
    orr_jobs *jobs;
    assert_ok(orr_jobs_create(2, NULL, NULL, &jobs, &error));
    splat_view view = splat_view_make(2);
    view.transforms[0] =
        (orr_transform){.position = {0.2f, -0.1f, 0.3f}, .rotation = {0.5f, 0.7f, -0.2f, 0.4f}};
    view_scene turned;
    view_scene_make(&view, jobs, &turned);
    float inverse[12], pose[12];
    assert_ok(orr_affine_invert(turned.splats[0].model, inverse, &error));
    orr_affine_multiply(inverse, view.camera.pose, pose);
    memcpy(view.camera.pose, pose, sizeof pose);
    view.transforms[0] = (orr_transform){0};
    view_scene still;
    view_scene_make(&view, jobs, &still);
    size_t growths;
    drawn a = draw(&turned.list, 2, 1, &growths);
    drawn b = draw(&still.list, 2, 1, &growths);
    assert_true(psnr(a.rgba, b.rgba, 4 * a.pixels) > 60.0);
    assert_true(differing_share(a.rgba, b.rgba, 4 * a.pixels, 1e-4) < 0.01);
    drawn_free(&a);
    drawn_free(&b);
    view_scene_free(&turned);
    view_scene_free(&still);
    splat_view_free(&view);
    orr_jobs_destroy(jobs);
}

static void a_plane_covers_what_is_behind_it_and_is_covered_by_what_is_before(void **state)
{
    (void)state;
    orr_jobs *jobs;
    assert_ok(orr_jobs_create(2, NULL, NULL, &jobs, &error));
    for (int orthographic = 0; orthographic < 2; orthographic++) {
        cut_cloud c;
        cut_cloud_make(&c, jobs, orthographic);
        size_t growths;
        drawn d = draw(&c.list, 2, 1, &growths);
        cut_cloud_check(&c, &d);
        drawn_free(&d);
        cut_cloud_free(&c);
    }
    orr_jobs_destroy(jobs);
}

// ---- splats that are kept ----

enum { KEPT_PIXELS = SHADOW_SCENE_SIDE * SHADOW_SCENE_SIDE };

typedef struct kept_picture {
    drawn picture;
    int32_t items[KEPT_PIXELS];
    int64_t evaluated;
} kept_picture;

// With a field that covers a disc before the cloud's floor, if the list has one.
static void draw_kept(orr_jobs *jobs, const orr_draw_list *list, const orr_kept_view *kept, kept_picture *to)
{
    static float depth[KEPT_PIXELS], colour[4 * KEPT_PIXELS];
    for (int i = 0; i < KEPT_PIXELS; i++) {
        const int x = i % SHADOW_SCENE_SIDE - 60, y = i / SHADOW_SCENE_SIDE - 60;
        depth[i] = x * x + y * y < 900 ? 8.5f : INFINITY;
        for (int k = 0; k < 4; k++) {
            colour[k * KEPT_PIXELS + i] = 0.3f;
        }
    }
    orr_field_pass fields = {.list = list, .depth = depth, .colour = colour};
    orr_isa isa;
    orr_arena arena = {0};
    orr_profile profile;
    orr_cpu_frame *frame;
    const orr_seen seen = {.items = to->items};
    orr_profile_reset(&profile);
    assert_ok(orr_isa_choose(&isa, &error));
    to->picture = drawn_make(list);
    assert_ok(orr_draw_cpu_begin(jobs, isa, &arena, list, kept, &seen, &profile, &frame, &error));
    assert_ok(orr_draw_cpu_end(frame, &fields, &(orr_picture){to->picture.rgba, to->picture.depth}, &profile,
                               &error));
    to->evaluated = orr_draw_cpu_splats(frame).evaluated;
    orr_arena_destroy(&arena);
}

// A box among haze and a floor of splats moves after they were kept: opaque, with smooth edges, transparent,
// with its shadow, beside a field, and gone.
static void what_is_kept_changes_no_bit(void **state)
{
    (void)state;
    static shadow_scene s;
    static kept_picture with, without;
    orr_jobs *jobs;
    orr_isa isa;
    orr_kept_view *kept;
    int repeats;
    assert_ok(orr_jobs_create(2, NULL, NULL, &jobs, &error));
    assert_ok(orr_isa_choose(&isa, &error));
    assert_ok(orr_kept_view_create(&kept, &error));
    shadow_scene_make_captured(&s, jobs);
    s.list.mesh_count = 1;
    assert_ok(orr_kept_view_repeats(kept, &s.list, &repeats, &error));
    assert_int_equal(repeats, 1);
    assert_ok(orr_kept_view_repeats(kept, &s.list, &repeats, &error));
    assert_int_equal(repeats, 2);
    assert_ok(orr_kept_view_hold(kept, jobs, isa, &s.list, &error));
    assert_ok(orr_kept_view_repeats(kept, &s.list, &repeats, &error));
    assert_int_equal(repeats, 0);
    enum { SHADOWS = 1, SMOOTH = 2, BLENDED = 4, FIELD = 8, GONE = 16, CASES = 32 };
    for (int i = 0; i < CASES; i++) {
        s.items[1].model[3] = 0.17f * (float)(i % 5); // not moved in some of them
        s.list.shadows = i & SHADOWS;
        s.list.smooth = i & SMOOTH;
        s.box.material.blended = i & BLENDED;
        s.list.field_count = i & FIELD ? 1 : 0;
        s.list.mesh_count = i & GONE ? 0 : 1;
        assert_true(orr_kept_view_has_splats(kept, &s.list));
        draw_kept(jobs, &s.list, kept, &with);
        draw_kept(jobs, &s.list, NULL, &without);
        assert_memory_equal(with.picture.rgba, without.picture.rgba, KEPT_PIXELS * 4 * sizeof(float));
        assert_memory_equal(with.picture.depth, without.picture.depth, KEPT_PIXELS * sizeof(float));
        assert_memory_equal(with.items, without.items, sizeof with.items);
        assert_true(with.evaluated < without.evaluated / 2);
        drawn_free(&with.picture);
        drawn_free(&without.picture);
    }
    // splats that are others, or seen otherwise, are not those
    s.list.lens.centre[0] += 1.0f;
    assert_false(orr_kept_view_has_splats(kept, &s.list));
    s.list.lens.centre[0] -= 1.0f;
    s.layer.model[7] = 0.1f;
    assert_false(orr_kept_view_has_splats(kept, &s.list));
    s.layer.model[7] = 0.0f;
    assert_true(orr_kept_view_has_splats(kept, &s.list));
    s.layer.key++;
    assert_false(orr_kept_view_has_splats(kept, &s.list));
    orr_kept_view_destroy(kept);
    shadow_scene_free(&s);
    orr_jobs_destroy(jobs);
}

int main(void)
{
    const struct CMUnitTest threads[] = {
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(a_frame_allocates_nothing_after_warm_up),
        cmocka_unit_test(a_plane_covers_what_is_behind_it_and_is_covered_by_what_is_before),
        cmocka_unit_test(what_is_kept_changes_no_bit),
    };
    const struct CMUnitTest pictures[] = {
        cmocka_unit_test(pictures_equal_the_reference),
        cmocka_unit_test(turning_a_layer_is_turning_the_camera_back),
    };
    const int failed = cmocka_run_group_tests_name("splats on the CPU: threads", threads, NULL, NULL);
    return THREADS_ALONE ? failed
                         : failed + cmocka_run_group_tests_name("splats on the CPU", pictures, NULL, NULL);
}
