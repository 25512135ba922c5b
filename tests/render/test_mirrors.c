// Tests of mirrors: what a floor shows against the mirrored scene drawn without it. Runs once per instruction
// set.
#define ORR_SCALAR
#include "tests/render/scenes/mirror_scene.h"
#include "tests/support/srgb.h"
#include "tests/support/support.h"

#include "engine/maths/clip_formula.h"
#include "engine/maths/rng.h"

#include "render/cpu/splats_cpu.h"
#include "render/reference/path_tracer.h"
#include "tests/support/drawn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = SHADOW_SCENE_SIDE };

typedef struct stage {
    mirror_scene scene;
    orr_draw_list *list; // of the scene
    orr_jobs *jobs;
    orr_isa isa;
    orr_arena arena;
} stage;

static stage *open_stage(int threads)
{
    stage *s = calloc(1, sizeof *s);
    assert_non_null(s);
    assert_ok(orr_jobs_create(threads, NULL, NULL, &s->jobs, &error));
    assert_ok(orr_isa_choose(&s->isa, &error));
    mirror_scene_make(&s->scene, s->jobs);
    s->list = &s->scene.base.list;
    return s;
}

static void close_stage(stage *s)
{
    mirror_scene_free(&s->scene);
    orr_jobs_destroy(s->jobs);
    orr_arena_destroy(&s->arena);
    free(s);
}

static drawn draw(stage *s)
{
    drawn d = drawn_make(s->list);
    orr_profile profile;
    orr_arena_reset(&s->arena);
    assert_ok(orr_draw_cpu(s->jobs, s->isa, &s->arena, s->list, NULL, &(orr_picture){d.rgba, d.depth}, NULL,
                           &profile, &error));
    return d;
}

static drawn draw_plain(stage *s)
{
    s->list->mirrors = false;
    drawn d = draw(s);
    s->list->mirrors = true;
    return d;
}

// Where only the floor is seen: there, and on no other surface, the depth is the plane's.
static bool shows_floor(const stage *s, const drawn *d, int i)
{
    const orr_lens *lens = &s->list->lens;
    const double x = ((i % SIDE + 0.5) - (double)lens->centre[0]) / (double)lens->focal[0],
                 y = ((i / SIDE + 0.5) - (double)lens->centre[1]) / (double)lens->focal[1];
    const float *v = lens->view; // of which column 2 is the world's z
    const double across = x * (double)v[2] + y * (double)v[6], depth = (double)d->depth[i];
    const double up = lens->orthographic ? across + depth * (double)v[10] : depth * (across + (double)v[10]);
    return depth > 0.0 && fabs(up + (double)lens->position[2]) < 1e-3;
}

// Pixels of the floor are its own light and so much of the light of the mirrored scene, drawn without it. The
// two pictures' pixel centres are the same points, rounded otherwise: 1e-3 of display values, but where an
// edge passes through a centre.
static void assert_mirrors(stage *s, double share)
{
    drawn seen = draw(s), plain = draw_plain(s);
    mirror_scene_put_items(&s->scene, s->jobs, -1.0f, false);
    s->scene.items[0].model[11] = 1e6f; // the floor is out of sight
    drawn mirrored = draw_plain(s);
    mirror_scene_put_items(&s->scene, s->jobs, 1.0f, true);
    s->scene.items[0].model[11] = 0.0f;
    int floor = 0, lit = 0, off = 0;
    double mean = 0.0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        assert_true(seen.depth[i] == plain.depth[i]);
        if (!shows_floor(s, &plain, i)) {
            continue;
        }
        floor++;
        const float *m = mirrored.rgba + 4 * i;
        lit += m[3] > 0.0f;
        double worst = 0.0;
        for (int k = 0; k < 3; k++) {
            const double light = m[3] > 0.0f ? (double)m[3] * srgb_decode((double)(m[k] / m[3])) : 0.0;
            const double expected = srgb_encode(srgb_decode((double)plain.rgba[4 * i + k]) + share * light);
            worst = fmax(worst, fabs((double)seen.rgba[4 * i + k] - expected));
        }
        off += worst > 1e-3;
        mean += worst;
    }
    print_message("    %d pixels of floor, %d of them mirror something, %d differ, mean %.6f\n", floor, lit,
                  off, mean / floor);
    assert_true(floor > SIDE * SIDE / 8 && lit > floor / 32);
    assert_true(off < floor / 400 && mean / floor < 5e-4);
    drawn_free(&seen);
    drawn_free(&plain);
    drawn_free(&mirrored);
}

static void a_floor_shows_what_is_above_it(void **state)
{
    (void)state;
    stage *s = open_stage(2);
    for (int i = 0; i < 3; i++) {
        mirror_scene_look(&s->scene, 0.25f + 0.3f * (float)i, false);
        assert_mirrors(s, 0.6);
    }
    close_stage(s);
}

// The mirrored camera of an orthographic one too.
static void a_floor_below_an_orthographic_camera(void **state)
{
    (void)state;
    stage *s = open_stage(2);
    mirror_scene_look(&s->scene, 0.6f, true);
    drawn seen = draw(s), plain = draw_plain(s);
    mirror_scene_put_items(&s->scene, s->jobs, -1.0f, false);
    s->scene.items[0].model[11] = 1e6f;
    drawn mirrored = draw_plain(s);
    int lit = 0, off = 0;
    for (int p = 0; p < SIDE * SIDE; p++) {
        const float *m = mirrored.rgba + 4 * p;
        if (m[3] < 1.0f || !shows_floor(s, &plain, p)) {
            continue;
        }
        const double expected =
            srgb_encode(srgb_decode((double)plain.rgba[4 * p]) + 0.6 * srgb_decode((double)m[0]));
        lit++;
        off += fabs((double)seen.rgba[4 * p] - expected) > 1e-3;
    }
    print_message("    %d pixels of floor mirror something, %d differ\n", lit, off);
    assert_true(lit > 500 && off < lit / 100);
    drawn_free(&seen);
    drawn_free(&plain);
    drawn_free(&mirrored);
    close_stage(s);
}

static void assert_plain(stage *s)
{
    drawn seen = draw(s), plain = draw_plain(s);
    assert_memory_equal(seen.rgba, plain.rgba, 4 * SIDE * SIDE * sizeof *seen.rgba);
    drawn_free(&seen);
    drawn_free(&plain);
}

// From behind it, transparent, or out of sight.
static void some_mirrors_show_nothing(void **state)
{
    (void)state;
    stage *s = open_stage(2);
    mirror_scene_look(&s->scene, -0.6f, false);
    assert_plain(s);
    mirror_scene_look(&s->scene, 0.6f, false);
    s->scene.base.floor.material.blended = true;
    s->scene.base.floor.material.base_colour[3] = 0.5f;
    assert_plain(s);
    s->scene.base.floor.material.blended = false;
    s->scene.base.floor.material.base_colour[3] = 1.0f;
    s->scene.items[0].model[3] = 40.0f;
    assert_plain(s);
    close_stage(s);
}

// A wall behind the boxes mirrors too, but not in the floor: where that shows the wall, nothing changes.
static void a_mirror_in_a_mirror_is_plain(void **state)
{
    (void)state;
    stage *s = open_stage(2);
    static shadow_scene other;
    shadow_scene_make(&other);
    const float wall[12] = {1, 0, 0, 0, 0, 0, -1, 2.0f, 0, 1, 0, 4.0f}; // z is turned to -y
    s->scene.items[s->list->mesh_count] = (orr_draw_mesh){.mesh = &other.floor.mesh, .key = 80};
    memcpy(s->scene.items[s->list->mesh_count++].model, wall, sizeof wall);
    drawn plain = draw(s);
    other.floor.material.reflectance = 0.5f;
    drawn both = draw(s);
    int floor = 0, walls = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        const bool same = memcmp(plain.rgba + 4 * i, both.rgba + 4 * i, 4 * sizeof *plain.rgba) == 0;
        if (shows_floor(s, &plain, i)) {
            assert_true(same);
            floor++;
        }
        walls += !same;
    }
    assert_true(floor > SIDE * SIDE / 8 && walls > 500);
    drawn_free(&plain);
    drawn_free(&both);
    close_stage(s);
}

// Where the floor mirrors something: means of the light that it adds, of the difference to the path tracer,
// and of that without its sign. Linear.
typedef struct differences {
    double added, off, size;
} differences;

static differences off_reference(stage *s, const drawn *reference)
{
    drawn seen = draw(s), plain = draw_plain(s);
    differences d = {0};
    int count = 0;
    for (int i = 0; i < 4 * SIDE * SIDE; i++) {
        if (i % 4 == 3 || seen.rgba[i] == plain.rgba[i]) {
            continue;
        }
        const double light = srgb_decode((double)seen.rgba[i]), off = light - (double)reference->rgba[i];
        d.added += light - srgb_decode((double)plain.rgba[i]);
        d.off += off;
        d.size += fabs(off);
        count++;
    }
    drawn_free(&seen);
    drawn_free(&plain);
    return (differences){d.added / count, d.off / count, d.size / count};
}

// In the light of the sun alone; dark boxes, which light each other and the floor by a few hundredths, and a
// black floor. A path in three meets what is mirrored: 64 paths differ from their mean by a sixth of it.
// Splats thinner than a pixel are wider in the frame.
static void the_path_tracer_sees_the_same(void **state)
{
    (void)state;
    stage *s = open_stage(2);
    orr_path_tracer *tracer;
    orr_draw_list *list = s->list;
    list->shadows = true;
    for (int k = 0; k < 3; k++) {
        s->scene.base.floor.material.base_colour[k] = 0.0f;
        s->scene.base.box.material.base_colour[k] = 0.1f + 0.1f * (float)k;
        list->sun.colour[k] = 3.0f;
        list->sun.ambient[k] = 0.0f;
    }
    for (int splats = 0; splats < 2; splats++) {
        list->splat_count = splats;
        drawn reference = drawn_make(list);
        assert_ok(orr_path_tracer_create(s->jobs, s->isa, list, 1, &tracer, &error));
        orr_path_tracer_advance(tracer, 64);
        orr_path_tracer_picture(tracer, true, &(orr_picture){reference.rgba, reference.depth});
        orr_path_tracer_destroy(tracer);
        const differences d = off_reference(s, &reference);
        print_message("    mirrors add %.5f, the path tracer %.5f less; mean difference %.5f\n", d.added,
                      d.off, d.size);
        assert_true(fabs(d.off) < 0.06 * d.added && d.size < 0.3 * d.added);
        drawn_free(&reference);
    }
    close_stage(s);
}

// How far a point of a view's ray is in front of a plane.
static double height_at(clip_plane c, bool orthographic, double x, double y, double depth)
{
    const double w = orthographic ? 1.0 : depth;
    return (double)c.x * x * w + (double)c.y * y * w + (double)c.z * depth + (double)c.start;
}

// Behind a random plane, a ray of a camera that is behind it passes it at the depth of the formula, or never.
static void rays_of_fields_begin_at_the_clip_plane(void **state)
{
    (void)state;
    orr_rng rng = {.seed = 5};
    int passing = 0;
    for (int i = 0; i < 10000; i++) {
        float r[6];
        for (int k = 0; k < 6; k++) {
            r[k] = 2.0f * orr_rng_uniform(&rng) - 1.0f;
        }
        const bool orthographic = i % 2;
        const clip_plane c = {r[0], r[1], r[2], -fabsf(r[3]) - (orthographic ? 2.0f : 0.1f)};
        const double depth = (double)clip_depth(c, orthographic ? 1.0f : 0.0f, r[4], r[5]), step = 1e-3;
        if (depth > 1e20) {
            for (double at = 0.01; at < 1e3; at *= 3.0) {
                assert_true(height_at(c, orthographic, (double)r[4], (double)r[5], at) < 0.0);
            }
            continue;
        }
        if (depth > 1e3) { // rounding of the slope: more than a step
            continue;
        }
        assert_true(height_at(c, orthographic, (double)r[4], (double)r[5], depth * (1.0 - step)) < 0.0);
        assert_true(height_at(c, orthographic, (double)r[4], (double)r[5], depth * (1.0 + step)) > 0.0);
        passing++;
    }
    assert_true(passing > 3000 && passing < 7000);
    const clip_plane none = {0.0f, 0.0f, 0.0f, 0.0f};
    assert_true(clip_depth(none, 0.0f, 0.3f, 0.2f) < -1e20f && clip_depth(none, 1.0f, 0.3f, 0.2f) < -1e20f);
}

// With shadows, ambient occlusion and edges.
static void bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    drawn d[2];
    for (int i = 0; i < 2; i++) {
        stage *s = open_stage(i ? 5 : 1);
        s->list->shadows = s->list->smooth = true;
        s->list->occlusion = (orr_draw_occlusion){.radius = 1.0f, .strength = 1.0f, .up = {0, 0, 1}};
        d[i] = draw(s);
        close_stage(s);
    }
    assert_memory_equal(d[0].rgba, d[1].rgba, 4 * SIDE * SIDE * sizeof *d[0].rgba);
    drawn_free(&d[0]);
    drawn_free(&d[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_floor_shows_what_is_above_it),
        cmocka_unit_test(a_floor_below_an_orthographic_camera),
        cmocka_unit_test(some_mirrors_show_nothing),
        cmocka_unit_test(a_mirror_in_a_mirror_is_plain),
        cmocka_unit_test(the_path_tracer_sees_the_same),
        cmocka_unit_test(rays_of_fields_begin_at_the_clip_plane),
        cmocka_unit_test(bits_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
