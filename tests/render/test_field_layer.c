// Fields as layers: their pictures among splats and meshes, compared with brute force in double precision.
// The field is an untrained radiance field, a fog with some colour, whose own picture is taken as given. Run
// once per instruction set.
#include "assets/clouds.h"
#include "render/cpu/splats_cpu.h"
#include "tests/splats/splat_reference.h"
#include "tests/support/drawn.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 96, HEIGHT = 64, PIXELS = WIDTH * HEIGHT };

typedef struct stage {
    orr_jobs *jobs;
    orr_isa isa;
    orr_field *field;
    orr_occupancy grid;
    orr_field_layer *layer;
    orr_draw_list list;
    orr_draw_field drawn_field[2];
    orr_splats *splats;
    orr_splat_pack *pack;
    orr_draw_splats drawn_splats;
} stage;

static void stage_make(stage *s, int threads)
{
    *s = (stage){0};
    assert_ok(orr_isa_choose(&s->isa, &error));
    assert_ok(orr_jobs_create(threads, NULL, NULL, &s->jobs, &error));
    orr_field_desc desc = {.kind = ORR_FIELD_NERF, .seed = 3, .isa = s->isa, .machine = ORR_MLP_FP32};
    assert_ok(orr_field_config_base(ORR_FIELD_NERF, &desc.config, &error));
    desc.config.encoding.log2_hashmap_size = 12;
    assert_ok(orr_field_create(&desc, &s->field, &error));
    orr_field_config_free(&desc.config);
    // features of +-4 instead of almost nothing: denser here, clear there
    const orr_field_parts *parts = orr_field_parts_of(s->field);
    for (int64_t i = 0; i < parts->encoding.parameter_count; i++) {
        parts->table[i] *= 4e4f;
    }
    orr_field_refresh(s->field, NULL, NULL, NULL);
    assert_ok(orr_occupancy_create(1, &s->grid, &error));
    orr_occupancy_refresh(&s->grid, s->jobs); // nothing is known to be empty
    // the unit cube of the field is the cube of side 1 about the origin of the layer
    const float to_unit[12] = {1, 0, 0, 0.5f, 0, 1, 0, 0.5f, 0, 0, 1, 0.5f};
    assert_ok(orr_field_layer_borrow(s->field, &s->grid, to_unit, s->jobs, &s->layer, &error));

    const float eye[3] = {0.6f, -0.4f, -2.0f}, target[3] = {0}, up[3] = {0.0f, -1.0f, 0.0f};
    orr_camera camera = orr_camera_look_at(eye, target, up, 0.8f, WIDTH, HEIGHT);
    assert_ok(orr_camera_resolve(&camera, &s->list.lens, &error));
    s->drawn_field[0] = (orr_draw_field){.layer = s->layer, .model = {[0] = 1.0f, [5] = 1.0f, [10] = 1.0f}};
    s->list.fields = s->drawn_field;
    s->list.field_count = 1;

    s->splats = make_cloud(CLOUD_BALL, 800, 1, 4);
    orr_splats_view view = orr_splats_data(s->splats);
    assert_ok(orr_splat_pack_create(s->jobs, &view, NULL, &s->pack, &error));
    s->drawn_splats =
        (orr_draw_splats){.pack = s->pack, .key = 1, .model = {[0] = 1.0f, [5] = 1.0f, [10] = 1.0f}};
}

static void stage_free(stage *s)
{
    orr_field_layer_destroy(s->layer);
    orr_occupancy_destroy(&s->grid);
    orr_field_destroy(s->field);
    orr_splat_pack_destroy(s->pack);
    orr_splats_destroy(s->splats);
    orr_jobs_destroy(s->jobs);
}

static drawn draw(const stage *s)
{
    drawn d = drawn_make(&s->list);
    orr_arena arena = {0};
    orr_profile profile;
    assert_ok(orr_draw_cpu(s->jobs, s->isa, &arena, &s->list, NULL, &(orr_picture){d.rgba, d.depth}, NULL,
                           &profile, &error));
    orr_arena_destroy(&arena);
    return d;
}

// planes of a picture, as the reference takes fields
static void to_planes(const drawn *d, float *depth, float *colour)
{
    for (int i = 0; i < PIXELS; i++) {
        depth[i] = d->rgba[4 * i + 3] > 0.0f ? d->depth[i] : INFINITY;
        for (int k = 0; k < 4; k++) {
            colour[k * PIXELS + i] = d->rgba[4 * i + k];
        }
    }
}

// A clip plane across the camera's axis is a near plane; nothing is drawn before one that is aslant.
static void a_field_begins_at_the_clip_plane(void **state)
{
    (void)state;
    stage s;
    stage_make(&s, 2);
    drawn whole = draw(&s);
    const orr_lens lens = s.list.lens;
    s.list.lens.near_plane = 2.1f;
    drawn expected = draw(&s);
    s.list.lens = lens;
    memcpy(s.list.lens.clip, (float[4]){0, 0, 1, -2.1f}, sizeof lens.clip);
    drawn cut = draw(&s);
    assert_memory_equal(cut.rgba, expected.rgba, 4 * PIXELS * sizeof *cut.rgba);
    assert_memory_not_equal(cut.rgba, whole.rgba, 4 * PIXELS * sizeof *cut.rgba);
    memcpy(s.list.lens.clip, (float[4]){0.6f, 0.3f, 0.7f, -1.5f}, sizeof lens.clip);
    drawn aslant = draw(&s);
    int begun = 0;
    for (int i = 0; i < PIXELS; i++) {
        const float x = ((float)(i % WIDTH) + 0.5f - lens.centre[0]) / lens.focal[0],
                    y = ((float)(i / WIDTH) + 0.5f - lens.centre[1]) / lens.focal[1];
        if (aslant.rgba[4 * i + 3] > 0.0f) {
            assert_true(aslant.depth[i] * (0.6f * x + 0.3f * y + 0.7f) > 1.5f - 1e-4f);
            begun += whole.depth[i] < aslant.depth[i] - 0.05f;
        }
    }
    assert_true(begun > PIXELS / 50);
    drawn_free(&whole);
    drawn_free(&expected);
    drawn_free(&cut);
    drawn_free(&aslant);
    stage_free(&s);
}

static void splats_and_fields_are_in_order_of_depth(void **state)
{
    (void)state;
    stage s;
    stage_make(&s, 2);
    drawn alone = draw(&s);
    int seen = 0;
    for (int i = 0; i < PIXELS; i++) {
        seen += alone.rgba[4 * i + 3] > 0.1f && alone.rgba[4 * i + 3] < 0.9f;
    }
    assert_true(seen > PIXELS / 20); // a fog one can see through, so that order matters
    float *depth = malloc(PIXELS * sizeof(float)), *colour = malloc(4 * PIXELS * sizeof(float));
    to_planes(&alone, depth, colour);

    s.list.splats = &s.drawn_splats;
    s.list.splat_count = 1;
    drawn both = draw(&s);
    drawn expected = drawn_make(&s.list);
    reference_layer layer = {.splats = orr_splats_data(s.splats),
                             .model = {[0] = 1.0f, [5] = 1.0f, [10] = 1.0f}};
    const reference_planes planes = {.field_depth = depth, .field_colour = colour};
    draw_reference(&s.list.lens, &layer, 1, NULL, &planes, expected.rgba, expected.depth);
    // as without fields; splats at exactly the fog's depth would be the exception, and there are none
    assert_true(psnr(both.rgba, expected.rgba, 4 * PIXELS) >= 100.0);
    assert_true(differing_share(both.rgba, expected.rgba, 4 * PIXELS, 1e-4) <= 0.0005);
    assert_true(differing_share(both.depth, expected.depth, PIXELS, 2e-3) <= 0.0005);
    drawn_free(&alone);
    drawn_free(&both);
    drawn_free(&expected);
    free(depth);
    free(colour);
    stage_free(&s);
}

static void two_fields_are_blended_in_order_of_depth(void **state)
{
    (void)state;
    stage s;
    stage_make(&s, 2);
    drawn near = draw(&s);
    // the same fog behind itself, twice as large
    s.drawn_field[1] = s.drawn_field[0];
    s.drawn_field[0].model[0] = s.drawn_field[0].model[5] = s.drawn_field[0].model[10] = 2.0f;
    s.drawn_field[0].model[11] = 3.0f;
    drawn far = draw(&s);
    s.list.field_count = 2;
    drawn both = draw(&s);
    for (int i = 0; i < PIXELS; i++) {
        float transmittance = 1.0f - near.rgba[4 * i + 3];
        for (int k = 0; k < 4; k++) {
            // two roundings of values up to 1
            assert_true(fabsf(both.rgba[4 * i + k] -
                              (near.rgba[4 * i + k] + transmittance * far.rgba[4 * i + k])) < 1e-5f);
        }
    }
    drawn_free(&near);
    drawn_free(&far);
    drawn_free(&both);
    stage_free(&s);
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    drawn pictures[3];
    for (int threads = 1; threads <= 3; threads++) {
        stage s;
        stage_make(&s, threads);
        s.list.splats = &s.drawn_splats;
        s.list.splat_count = 1;
        pictures[threads - 1] = draw(&s);
        stage_free(&s);
    }
    for (int i = 1; i < 3; i++) {
        assert_memory_equal(pictures[0].rgba, pictures[i].rgba, 4 * PIXELS * sizeof(float));
        assert_memory_equal(pictures[0].depth, pictures[i].depth, PIXELS * sizeof(float));
    }
    for (int i = 0; i < 3; i++) {
        drawn_free(&pictures[i]);
    }
}

static void bounds_are_those_of_the_unit_cube(void **state)
{
    (void)state;
    stage s;
    stage_make(&s, 1);
    float low[3], high[3];
    orr_field_layer_bounds(s.layer, low, high);
    for (int k = 0; k < 3; k++) {
        assert_true(fabsf(low[k] + 0.5f) < 1e-6f);
        assert_true(fabsf(high[k] - 0.5f) < 1e-6f);
    }
    stage_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_field_begins_at_the_clip_plane),
        cmocka_unit_test(splats_and_fields_are_in_order_of_depth),
        cmocka_unit_test(two_fields_are_blended_in_order_of_depth),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(bounds_are_those_of_the_unit_cube),
    };
    return cmocka_run_group_tests_name("fields as layers", tests, NULL, NULL);
}
