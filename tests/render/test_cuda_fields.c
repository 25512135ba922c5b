// Fields drawn on CUDA (a GPU, or the emulated device) against the CPU's planes of the same fields in the
// same frame, single precision: whatever differs comes from the fields.
//
// Halves have 11 bits. Features, weights and activations are off by 2^-12 of their sizes, a network's values
// by 5e-4 of theirs in the mean (test_cuda_neural). Untrained fields vary by a tenth or so, and many samples
// of a ray cancel each other's errors: 80 dB. A signed distance of 1e-4 decides where its surface is, and
// normals come from the signs of ReLUs: 50 dB. Edges cost more, a pixel or two: a ray that a wall of the
// occupancy grid lets pass on one machine only, or that grazes a surface.
#include "assets/clouds.h"
#include "engine/maths/rng.h"
#include "neural/training/field_trainer.h"
#include "render/cuda/draw.h"
#include "render/field_pass.h"
#include "tests/support/drawn.h"
#include "tests/support/machine.h"
#include "tests/support/scenes/small_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 24, HEIGHT = 18, PIXELS = WIDTH * HEIGHT };

static int complaints;

// A field as a layer whose space is that of the world: the unit cube is centred at the origin.
typedef struct subject {
    orr_field *field;
    orr_occupancy grid;
    orr_field_layer *layer;
} subject;

static bool keep_some(const void *context, const float low[3], float side)
{
    float far = 0.0f;
    for (int k = 0; k < 3; k++) {
        far += (low[k] + 0.5f * side - 0.5f) * (low[k] + 0.5f * side - 0.5f);
    }
    bool shell = far > 0.16f && far < 0.25f; // and outside it the corners of larger cubes
    return context ? shell || (far > 2.0f && low[0] > 0.5f && low[1] > 0.5f) : false;
}

static void subject_layer(subject *s)
{
    const float to_unit[12] = {1, 0, 0, 0.5f, 0, 1, 0, 0.5f, 0, 0, 1, 0.5f};
    assert_ok(orr_field_layer_borrow(s->field, &s->grid, to_unit, jobs, &s->layer, &error));
}

// Untrained, with features of a size that makes something to see. text: changes the base configuration.
static void subject_make(orr_field_kind kind, int aabb_scale, const char *text, float features, subject *s)
{
    *s = (subject){0};
    orr_field_desc desc = {
        .kind = kind, .aabb_scale = aabb_scale, .seed = 3, .isa = isa, .machine = ORR_MLP_FP32};
    assert_ok(orr_field_config_base(kind, &desc.config, &error));
    assert_ok(orr_field_config_parse(text, "test", &desc.config, &error));
    assert_ok(orr_field_create(&desc, &s->field, &error));
    orr_field_config_free(&desc.config);
    const orr_field_parts *parts = orr_field_parts_of(s->field);
    for (int64_t i = 0; i < parts->encoding.parameter_count; i++) {
        parts->table[i] *= 1e4f * features; // from +-1e-4
    }
    orr_field_refresh(s->field, NULL, NULL, NULL);
    assert_ok(orr_occupancy_create(aabb_scale, &s->grid, &error));
    orr_occupancy_cull(&s->grid, jobs, keep_some, s);
    subject_layer(s);
}

static void subject_free(subject *s)
{
    orr_field_layer_destroy(s->layer);
    orr_occupancy_destroy(&s->grid);
    orr_field_destroy(s->field);
}

// ---- a signed distance that was learnt: a sphere with a dent ----

static float distance_to_dented(const float p[3])
{
    float to_ball = 0.0f, to_dent = 0.0f;
    for (int k = 0; k < 3; k++) {
        to_ball += (p[k] - 0.5f) * (p[k] - 0.5f);
        to_dent += (p[k] - (k == 2 ? 0.15f : 0.6f)) * (p[k] - (k == 2 ? 0.15f : 0.6f));
    }
    return fmaxf(sqrtf(to_ball) - 0.35f, 0.2f - sqrtf(to_dent));
}

static void draw_positions(void *context, uint32_t batch, int first, int count, int total, float *positions)
{
    (void)context;
    (void)total;
    for (int i = 0; i < count; i++) {
        orr_rng rng = {.seed = batch, .stream = (uint32_t)(first + i)};
        for (int k = 0; k < 3; k++) {
            positions[3 * i + k] = orr_rng_uniform(&rng);
        }
    }
}

static void distances(void *context, const float *positions, float *targets)
{
    (void)context;
    for (int i = 0; i < ORR_SAMPLES; i++) {
        const float p[3] = {positions[i], positions[ORR_SAMPLES + i], positions[2 * ORR_SAMPLES + i]};
        targets[i] = distance_to_dented(p);
    }
}

static void sdf_make(subject *s)
{
    *s = (subject){0};
    orr_field_desc desc = {.kind = ORR_FIELD_SDF, .seed = 1, .isa = isa, .machine = ORR_MLP_FP32};
    assert_ok(orr_field_config_base(ORR_FIELD_SDF, &desc.config, &error));
    assert_ok(orr_field_config_parse("{\"encoding\": {\"n_levels\": 4, \"n_features_per_level\": 4, "
                                     "\"log2_hashmap_size\": 12, \"base_resolution\": 8, "
                                     "\"per_level_scale\": 1.6}}",
                                     "test", &desc.config, &error));
    desc.config.optimizer.learning_rate = 3e-3;
    assert_ok(orr_field_create(&desc, &s->field, &error));
    orr_field_config_free(&desc.config);
    const orr_field_trainer_desc training = {.field = s->field,
                                             .jobs = jobs,
                                             .batch_size = 4096,
                                             .source = {NULL, draw_positions, distances, 1, 1, 0.0f}};
    orr_field_trainer *trainer;
    assert_ok(orr_field_trainer_create(&training, &trainer, &error));
    for (int i = 0; i < 200; i++) {
        double loss;
        assert_ok(orr_field_trainer_step(trainer, &loss, &error));
    }
    orr_field_trainer_destroy(trainer);
    orr_field_refresh(s->field, NULL, NULL, NULL);
    subject_layer(s);
}

// ---- frames ----

static void set_camera(orr_draw_list *list, float x, float y, float z)
{
    const float eye[3] = {x, y, z}, target[3] = {0}, up[3] = {0.0f, -1.0f, 0.0f};
    orr_camera camera = orr_camera_look_at(eye, target, up, 0.7f, WIDTH, HEIGHT);
    assert_ok(orr_camera_resolve(&camera, &list->lens, &error));
}

static drawn draw_frame(orr_cuda_draw *draw, const orr_draw_list *list, const orr_host_layers *layers)
{
    drawn d = drawn_make(list);
    assert_ok(orr_cuda_draw_submit(draw, list, layers, &error));
    assert_ok(orr_cuda_draw_finish(draw, &(orr_picture){d.rgba, d.depth}, NULL, &error));
    return d;
}

// Depth of the list's meshes, as the CPU's marching takes it.
static float *find_mesh_depth(orr_cuda_draw *draw, const orr_draw_list *list)
{
    orr_draw_list meshes = *list;
    meshes.field_count = meshes.splat_count = 0;
    drawn d = draw_frame(draw, &meshes, NULL);
    for (int i = 0; i < PIXELS; i++) {
        d.depth[i] = d.depth[i] > 0.0f ? d.depth[i] : INFINITY;
    }
    free(d.rgba);
    return d.depth;
}

// The list's frame with its fields marched by the CPU.
static drawn draw_marched(orr_cuda_draw *draw, const orr_draw_list *list)
{
    orr_arena arena = {0};
    orr_field_pass pass;
    bool done;
    float *mesh_depth = find_mesh_depth(draw, list);
    assert_ok(orr_field_pass_begin(&pass, jobs, &arena, list, mesh_depth, &error));
    assert_ok(orr_field_pass_advance(&pass, INFINITY, &done, &error));
    orr_draw_list rest = *list;
    rest.field_count = 0;
    drawn d = draw_frame(draw, &rest, &(orr_host_layers){.picture.fields = &pass});
    free(mesh_depth);
    orr_arena_destroy(&arena);
    return d;
}

static void count_line(void *user, orr_log_level level, int code, const char *line)
{
    (void)user;
    (void)level;
    (void)code;
    complaints++;
    print_message("    %s\n", line);
}

typedef struct agreement {
    double quality; // dB
    double odd;     // share of the pixels off by more than 2/255
    double depth;   // share of those that show something in both whose depths are off by more than 5e-3
    double shown;   // share of the pixels that show something
} agreement;

// Of the list's frame on the device with the one the CPU has a part in.
static agreement compare(orr_cuda_draw *draw, const orr_draw_list *list)
{
    for (int i = 0; i < list->field_count; i++) {
        assert_true(orr_cuda_draw_takes_field(draw, &list->fields[i], (orr_log){count_line, NULL}));
    }
    drawn d = draw_frame(draw, list, NULL), expected = draw_marched(draw, list);
    agreement a = {.quality = psnr(d.rgba, expected.rgba, 4 * PIXELS)};
    for (int i = 0; i < PIXELS; i++) {
        double worst = largest_difference(d.rgba + 4 * i, expected.rgba + 4 * i, 4);
        a.odd += !(worst <= 2.0 / 255.0) / (double)PIXELS;
        a.shown += (expected.rgba[4 * i + 3] > 0.0f) / (double)PIXELS;
        if (d.rgba[4 * i + 3] > 0.02f && expected.rgba[4 * i + 3] > 0.02f) {
            a.depth += !(fabs((double)d.depth[i] - (double)expected.depth[i]) <= 5e-3) / (double)PIXELS;
        }
    }
    print_message("    %.1f dB, over 2/255: %.2f %%, depth over 5e-3: %.2f %%, shown: %.0f %%\n", a.quality,
                  100.0 * a.odd, 100.0 * a.depth, 100.0 * a.shown);
    drawn_free(&d);
    drawn_free(&expected);
    return a;
}

static void assert_agrees(agreement a, double quality)
{
    assert_true(a.quality >= quality);
    assert_true(a.odd <= 0.005);
    assert_true(a.depth <= 0.005);
    assert_true(a.shown > 0.1);
}

// Two rectangles, in the camera's space: from a third to half of the picture one at 0.7, from there on one at
// 1.65.
static void make_wall(const orr_lens *lens, orr_mesh_vertex corners[8])
{
    for (int i = 0; i < 8; i++) {
        float z = i < 4 ? 0.7f : 1.65f;
        float left = (float)(i < 4 ? WIDTH / 3 : WIDTH / 2), right = (float)(i < 4 ? WIDTH / 2 : WIDTH + 2);
        float x = i % 2 ? right : left, y = i / 2 % 2 ? (float)(HEIGHT + 2) : -2.0f; // [px]
        corners[i] = (orr_mesh_vertex){.position = {z * (x - lens->centre[0]) / lens->focal[0],
                                                    z * (y - lens->centre[1]) / lens->focal[1], z},
                                       .normal = {0.0f, 0.0f, -1.0f},
                                       .colour = {80, 80, 80, 255}};
    }
}

// A subject hidden and cut by a wall that comes nearer in the middle, alone, from inside, and beyond a
// clip plane.
static void show_alone(const subject *s, float inside, double quality)
{
    orr_cuda_draw *draw;
    assert_ok(orr_cuda_draw_create(cuda, jobs, 1, &draw, &error));
    const orr_draw_field field = {
        .layer = s->layer, .key = 5, .model = {[0] = 1.0f, [5] = 1.0f, [10] = 1.0f}};
    orr_draw_list list = {.fields = &field, .field_count = 1, .sun = {.direction = {0.48f, 0.64f, -0.6f}}};
    orr_mesh_vertex corners[8];
    uint32_t indices[12] = {0, 1, 2, 2, 1, 3, 4, 5, 6, 6, 5, 7};
    small_mesh wall;
    orr_draw_mesh drawn_wall = {.mesh = &wall.mesh, .key = 6};
    set_camera(&list, 0.6f, -0.4f, -1.5f);
    make_wall(&list.lens, corners);
    small_mesh_set(&wall, corners, 8, indices, 12);
    assert_ok(orr_affine_invert(list.lens.view, drawn_wall.model, &error));
    list.meshes = &drawn_wall;
    list.mesh_count = 1;
    assert_agrees(compare(draw, &list), quality);
    list.mesh_count = 0;
    if (!getenv("ORR_EMU_RACES")) { // which takes several times as long
        assert_agrees(compare(draw, &list), quality);
        set_camera(&list, 0.1f, 0.05f, inside);
        assert_agrees(compare(draw, &list), quality);
        set_camera(&list, 0.6f, -0.4f, -1.5f); // as of a mirror
        memcpy(list.lens.clip, (float[]){0.8f, 0.0f, 0.6f, -0.75f}, sizeof list.lens.clip);
        assert_agrees(compare(draw, &list), quality);
    }
    orr_cuda_draw_destroy(draw);
}

#define SMALL_GRID "\"encoding\": {\"log2_hashmap_size\": 12, \"n_levels\": 8, \"n_features_per_level\": 2}"

static void radiance_fields_match_the_cpu(void **state)
{
    (void)state;
    subject s;
    subject_make(ORR_FIELD_NERF, 1, "{" SMALL_GRID "}", 4.0f, &s);
    show_alone(&s, -0.2f, 80.0);
    subject_free(&s);
}

static void radiance_fields_of_larger_cubes_match_the_cpu(void **state)
{
    (void)state;
    subject s;
    subject_make(ORR_FIELD_NERF, 4,
                 "{" SMALL_GRID ", \"network\": {\"n_neurons\": 16}, "
                 "\"rgb_network\": {\"n_neurons\": 16}}",
                 4.0f, &s);
    show_alone(&s, -0.2f, 80.0);
    subject_free(&s);
}

static void volumes_match_the_cpu(void **state)
{
    (void)state;
    subject s;
    subject_make(ORR_FIELD_VOLUME, 1, "{" SMALL_GRID ", \"network\": {\"n_neurons\": 32}}", 4.0f, &s);
    show_alone(&s, -0.2f, 80.0);
    subject_free(&s);
}

static void images_match_the_cpu(void **state)
{
    (void)state;
    subject s;
    subject_make(ORR_FIELD_IMAGE, 1, "{" SMALL_GRID ", \"network\": {\"n_neurons\": 128}}", 1.0f, &s);
    show_alone(&s, 0.3f, 80.0);
    subject_free(&s);
}

static void signed_distances_match_the_cpu(void **state)
{
    (void)state;
    subject s;
    sdf_make(&s);
    show_alone(&s, -0.2f, 50.0);
    subject_free(&s);
}

static const float upright[12] = {[0] = 1.0f, [5] = 1.0f, [10] = 1.0f};

static orr_draw_field draw_item(const subject *s, uint64_t key, const float model[12])
{
    orr_draw_field field = {.layer = s->layer, .key = key};
    memcpy(field.model, model, sizeof field.model);
    return field;
}

static void fields_are_composited_with_each_other_and_splats(void **state)
{
    (void)state;
    subject fog, ball;
    subject_make(ORR_FIELD_NERF, 1, "{" SMALL_GRID "}", 4.0f, &fog);
    sdf_make(&ball);
    orr_splats *splats = make_cloud(CLOUD_BALL, 300, 1, 4);
    orr_splats_view data = orr_splats_data(splats);
    orr_splat_pack *pack;
    assert_ok(orr_splat_pack_create(jobs, &data, NULL, &pack, &error));
    orr_draw_splats cloud = {.pack = pack, .key = 1, .model = {[0] = 0.6f, [5] = 0.6f, [10] = 0.6f}};
    // turned about the camera's axis, smaller, and aside
    const float aside[12] = {0.48f, -0.36f, 0.0f, 0.25f, 0.36f, 0.48f, 0.0f, 0.1f, 0.0f, 0.0f, 0.6f, -0.1f};
    const orr_draw_field both[2] = {draw_item(&fog, 2, upright), draw_item(&ball, 3, aside)};
    orr_draw_list list = {.fields = both,
                          .field_count = 2,
                          .splats = &cloud,
                          .splat_count = 1,
                          .sun = {.direction = {0.48f, 0.64f, -0.6f}}};
    set_camera(&list, 0.6f, -0.4f, -1.5f);
    orr_cuda_draw *draw;
    assert_ok(orr_cuda_draw_create(cuda, jobs, 1, &draw, &error));
    assert_agrees(compare(draw, &list), 65.0);
    orr_cuda_draw_destroy(draw);
    orr_splat_pack_destroy(pack);
    orr_splats_destroy(splats);
    subject_free(&fog);
    subject_free(&ball);
}

// A field that is being trained: the same key, other parameters after a refresh, and another grid.
static void what_a_field_has_learnt_is_drawn(void **state)
{
    (void)state;
    subject s;
    subject_make(ORR_FIELD_NERF, 1, "{" SMALL_GRID "}", 4.0f, &s);
    const orr_draw_field field = draw_item(&s, 2, upright);
    orr_draw_list list = {.fields = &field, .field_count = 1};
    set_camera(&list, 0.6f, -0.4f, -1.5f);
    orr_cuda_draw *draw;
    assert_ok(orr_cuda_draw_create(cuda, jobs, 1, &draw, &error));
    assert_true(orr_cuda_draw_takes_field(draw, &field, (orr_log){NULL, NULL}));
    drawn before = draw_frame(draw, &list, NULL);
    const orr_field_parts *parts = orr_field_parts_of(s.field);
    for (int64_t i = 0; i < parts->encoding.parameter_count; i++) {
        parts->table[i] *= -1.0f;
    }
    orr_field_refresh(s.field, NULL, NULL, NULL);
    drawn after = draw_frame(draw, &list, NULL);
    assert_true(psnr(before.rgba, after.rgba, 4 * PIXELS) < 30.0);
    assert_agrees(compare(draw, &list), 80.0);
    orr_occupancy_cull(&s.grid, jobs, keep_some, NULL); // nothing
    drawn empty = draw_frame(draw, &list, NULL);
    for (int i = 0; i < PIXELS; i++) {
        assert_true(empty.rgba[4 * i + 3] == 0.0f && empty.depth[i] == 0.0f);
    }
    drawn_free(&before);
    drawn_free(&after);
    drawn_free(&empty);
    orr_cuda_draw_destroy(draw);
    subject_free(&s);
}

static void what_the_device_cannot_draw_is_said_once(void **state)
{
    (void)state;
    subject s;
    subject_make(ORR_FIELD_NERF, 1, "{" SMALL_GRID ", \"rgb_network\": {\"n_neurons\": 32}}", 4.0f, &s);
    const orr_draw_field field = draw_item(&s, 2, upright);
    orr_cuda_draw *draw;
    assert_ok(orr_cuda_draw_create(cuda, jobs, 1, &draw, &error));
    complaints = 0;
    for (int i = 0; i < 2; i++) {
        assert_false(orr_cuda_draw_takes_field(draw, &field, (orr_log){count_line, NULL}));
        assert_int_equal(complaints, 1);
    }
    orr_draw_list list = {.fields = &field, .field_count = 1};
    set_camera(&list, 0.6f, -0.4f, -1.5f);
    orr_error why = {0};
    assert_int_not_equal(orr_cuda_draw_submit(draw, &list, NULL, &why), ORR_OK);
    assert_non_null(strstr(why.message, "different widths"));
    orr_cuda_draw_destroy(draw);
    subject_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_match_the_cpu),
        cmocka_unit_test(signed_distances_match_the_cpu),
        cmocka_unit_test(volumes_match_the_cpu),
        cmocka_unit_test(radiance_fields_match_the_cpu),
        cmocka_unit_test(radiance_fields_of_larger_cubes_match_the_cpu),
        cmocka_unit_test(fields_are_composited_with_each_other_and_splats),
        cmocka_unit_test(what_a_field_has_learnt_is_drawn),
        cmocka_unit_test(what_the_device_cannot_draw_is_said_once),
    };
    if (getenv("ORR_EMU_RACES")) {
        cmocka_set_test_filter("*match_the_cpu"); // every kernel once: other orders of threads take long
    }
    return cmocka_run_group_tests(tests, open_cuda_machine, close_machine);
}
