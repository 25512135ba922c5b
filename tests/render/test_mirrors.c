// Tests of mirrors: what a floor shows against the mirrored scene drawn without it. Runs once per instruction
// set.
#include "tests/render/shadow_scene.h"
#include "tests/support/support.h"

#include "render/cpu/splats_cpu.h"
#include "render/reference/path_tracer.h"
#include "tests/support/drawn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = SHADOW_SCENE_SIDE, SPLATS = 64, BOXES = 3 };

// A floor at z = 0 that mirrors, and boxes and splats above, in and below it; or, without the floor, what of
// them it is to show.
typedef struct stage {
    shadow_scene scene; // its floor and its box
    orr_draw_mesh items[BOXES + 2];
    orr_splats *splats;
    orr_splat_pack *pack;
    orr_draw_splats layer;
    orr_jobs *jobs;
    orr_isa isa;
    orr_arena arena;
} stage;

static void look_aslant(stage *s, float slope)
{
    const float c = cosf(slope), i = sinf(slope);
    orr_camera camera = {.width = SIDE,
                         .height = SIDE,
                         .focal = {220, 200},
                         .centre = {118, 140}, // not the middle
                         .pose = {1, 0, 0, 0.3f, 0, -i, c, -6.0f * c, 0, -c, -i, 6.0f * i + 0.3f}};
    assert_ok(orr_camera_resolve(&camera, &s->scene.list.lens, &error));
}

// side: 1, or -1 for what is mirrored; hidden: what is below the floor too
static void put_items(stage *s, float side, bool hidden)
{
    const float places[BOXES][3] = {{-1.2f, 0.5f, 1.1f}, {1.1f, 0.2f, 0.0f}, {0.0f, 0.0f, -1.5f}};
    orr_draw_list *list = &s->scene.list;
    list->mesh_count = 1;
    for (int i = 0; i < (hidden ? BOXES : BOXES - 1); i++) {
        const float c = cosf(0.4f), k = sinf(0.4f);
        s->items[list->mesh_count++] = (orr_draw_mesh){
            .mesh = &s->scene.box.mesh,
            .key = 78,
            .model = {c, -k, 0, places[i][0], k, c, 0, places[i][1], 0, 0, 1, side * places[i][2]}};
    }
    list->sun.direction[2] = side * 0.8f;
    orr_splat_pack_destroy(s->pack);
    orr_splats_destroy(s->splats);
    assert_ok(orr_splats_create(hidden ? SPLATS : SPLATS / 2, 0, &s->splats, &error));
    const orr_splats_view v = orr_splats_data(s->splats);
    for (int i = 0; i < v.count; i++) { // balls, the second half of them below the floor and farther off
        const bool above = i < SPLATS / 2;
        const float at[3] = {0.1f * (float)(i % 8) - 0.3f, above ? -0.8f : 1.5f,
                             0.25f + 0.1f * (float)(i % (SPLATS / 2) / 8)};
        v.opacity[i] = 1.0f;
        for (int k = 0; k < 3; k++) {
            v.position[3 * i + k] = k == 2 ? (above ? side : -side) * at[k] : at[k];
            v.log_scale[3 * i + k] = logf(0.04f);
            v.colour[3 * i + k] = 0.4f * (float)((i + k) % 3);
        }
    }
    assert_ok(orr_splat_pack_create(s->jobs, &v, NULL, &s->pack, &error));
    s->layer = (orr_draw_splats){.pack = s->pack, .key = 99, .model = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
    list->splats = &s->layer;
    list->splat_count = 1;
}

static stage *open_stage(int threads)
{
    stage *s = calloc(1, sizeof *s);
    assert_non_null(s);
    shadow_scene_make(&s->scene);
    s->items[0] = s->scene.items[0];
    s->scene.list.meshes = s->items;
    s->scene.list.shadows = false;
    s->scene.list.mirrors = true;
    s->scene.floor.material.reflectance = 0.6f;
    assert_ok(orr_jobs_create(threads, NULL, NULL, &s->jobs, &error));
    assert_ok(orr_isa_choose(&s->isa, &error));
    put_items(s, 1.0f, true);
    look_aslant(s, 0.6f);
    return s;
}

static void close_stage(stage *s)
{
    orr_splat_pack_destroy(s->pack);
    orr_splats_destroy(s->splats);
    orr_jobs_destroy(s->jobs);
    orr_arena_destroy(&s->arena);
    free(s);
}

static drawn draw(stage *s)
{
    drawn d = drawn_make(&s->scene.list);
    orr_profile profile;
    orr_arena_reset(&s->arena);
    assert_ok(orr_draw_cpu(s->jobs, s->isa, &s->arena, &s->scene.list, NULL, &(orr_picture){d.rgba, d.depth},
                           NULL, &profile, &error));
    return d;
}

static drawn draw_plain(stage *s)
{
    s->scene.list.mirrors = false;
    drawn d = draw(s);
    s->scene.list.mirrors = true;
    return d;
}

static double linear(double display)
{
    return display <= 0.04045 ? display / 12.92 : pow((display + 0.055) / 1.055, 2.4);
}

static double display(double light)
{
    return light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1.0 / 2.4) - 0.055;
}

// Where only the floor is seen: there, and on no other surface, the depth is the plane's.
static bool shows_floor(const stage *s, const drawn *d, int i)
{
    const orr_lens *lens = &s->scene.list.lens;
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
    put_items(s, -1.0f, false);
    s->items[0].model[11] = 1e6f; // the floor is out of sight
    drawn mirrored = draw_plain(s);
    put_items(s, 1.0f, true);
    s->items[0].model[11] = 0.0f;
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
            const double light = m[3] > 0.0f ? (double)m[3] * linear((double)(m[k] / m[3])) : 0.0;
            const double expected = display(linear((double)plain.rgba[4 * i + k]) + share * light);
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
        look_aslant(s, 0.25f + 0.3f * (float)i);
        assert_mirrors(s, 0.6);
    }
    close_stage(s);
}

// The mirrored camera of an orthographic one too.
static void a_floor_below_an_orthographic_camera(void **state)
{
    (void)state;
    stage *s = open_stage(2);
    const float c = cosf(0.6f), i = sinf(0.6f);
    orr_camera camera = {.model = ORR_CAMERA_ORTHOGRAPHIC,
                         .width = SIDE,
                         .height = SIDE,
                         .focal = {40, 40},
                         .pose = {1, 0, 0, 0.3f, 0, -i, c, -6.0f * c, 0, -c, -i, 6.0f * i}};
    assert_ok(orr_camera_resolve(&camera, &s->scene.list.lens, &error));
    drawn seen = draw(s), plain = draw_plain(s);
    put_items(s, -1.0f, false);
    s->items[0].model[11] = 1e6f;
    drawn mirrored = draw_plain(s);
    int lit = 0, off = 0;
    for (int p = 0; p < SIDE * SIDE; p++) {
        const float *m = mirrored.rgba + 4 * p;
        if (m[3] < 1.0f || !shows_floor(s, &plain, p)) {
            continue;
        }
        const double expected = display(linear((double)plain.rgba[4 * p]) + 0.6 * linear((double)m[0]));
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
    look_aslant(s, -0.6f);
    assert_plain(s);
    look_aslant(s, 0.6f);
    s->scene.floor.material.blended = true;
    s->scene.floor.material.base_colour[3] = 0.5f;
    assert_plain(s);
    s->scene.floor.material.blended = false;
    s->scene.floor.material.base_colour[3] = 1.0f;
    s->items[0].model[3] = 40.0f;
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
    s->items[s->scene.list.mesh_count] = (orr_draw_mesh){.mesh = &other.floor.mesh, .key = 80};
    memcpy(s->items[s->scene.list.mesh_count++].model, wall, sizeof wall);
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
        const double light = linear((double)seen.rgba[i]), off = light - (double)reference->rgba[i];
        d.added += light - linear((double)plain.rgba[i]);
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
    orr_draw_list *list = &s->scene.list;
    list->shadows = true;
    for (int k = 0; k < 3; k++) {
        s->scene.floor.material.base_colour[k] = 0.0f;
        s->scene.box.material.base_colour[k] = 0.1f + 0.1f * (float)k;
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

// With shadows, ambient occlusion and edges.
static void bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    drawn d[2];
    for (int i = 0; i < 2; i++) {
        stage *s = open_stage(i ? 5 : 1);
        s->scene.list.shadows = s->scene.list.smooth = true;
        s->scene.list.occlusion = (orr_draw_occlusion){.radius = 1.0f, .strength = 1.0f, .up = {0, 0, 1}};
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
        cmocka_unit_test(bits_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
