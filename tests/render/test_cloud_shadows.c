// Tests of the shadows of splat clouds: by closed form and by brute force in double, against the path tracer,
// of deformed clouds, and what casts none. Runs once per instruction set.
#include "tests/render/scenes/shadow_scene.h"
#include "tests/support/srgb.h"
#include "tests/support/support.h"

#include "engine/maths/vector.h"
#include "render/cloud_shadow/cloud_shadow_maps.h"
#include "render/cpu/kept/kept_view.h"
#include "render/cpu/splats_cpu.h"
#include "render/reference/path_tracer.h"
#include "tests/support/drawn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = SHADOW_SCENE_SIDE, MANY = 300 };

static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
static const double shade = 0.25; // of the floor where no light reaches it

// A splat as the tests know it: means and covariances in double.
typedef struct blob {
    double mean[3], covariance[3][3], opacity;
} blob;

// The floor of shadow_scene.h, and a black cloud of these splats.
typedef struct stage {
    orr_jobs *jobs;
    orr_isa isa;
    orr_arena arena;
    shadow_scene scene;
    blob blobs[MANY];
    int count;
    orr_splats *splats;
    orr_splat_pack *pack;
    orr_draw_splats layers[2];
} stage;

static uint32_t state_of_numbers;

// Uniform in low .. high.
static float number(float low, float high)
{
    state_of_numbers = state_of_numbers * 1664525u + 1013904223u;
    return low + (high - low) * (float)(state_of_numbers >> 8) / 16777216.0f;
}

static void rotation_of(const float q[4], double m[3][3])
{
    const double w = (double)q[0], x = (double)q[1], y = (double)q[2], z = (double)q[3];
    const double rows[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                               {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                               {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    memcpy(m, rows, sizeof rows);
}

static void set_splat(stage *s, int i, const float mean[3], const float size[3], const float turn[4],
                      float opacity)
{
    orr_splats_view view = orr_splats_data(s->splats);
    blob *b = &s->blobs[i];
    const float length = sqrtf(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2] + turn[3] * turn[3]);
    double m[3][3];
    float q[4];
    for (int k = 0; k < 4; k++) {
        view.rotation[4 * i + k] = q[k] = turn[k] / length;
    }
    rotation_of(q, m);
    for (int r = 0; r < 3; r++) {
        view.position[3 * i + r] = mean[r];
        view.log_scale[3 * i + r] = logf(size[r]);
        view.colour[3 * i + r] = -0.5f / 0.28209479f; // black
        b->mean[r] = (double)mean[r];
        for (int c = 0; c < 3; c++) {
            b->covariance[r][c] = 0.0;
            for (int k = 0; k < 3; k++) {
                b->covariance[r][c] += m[r][k] * m[c][k] * (double)size[k] * (double)size[k];
            }
        }
    }
    b->opacity = (double)opacity;
    view.opacity[i] = logf(opacity / (1.0f - opacity));
}

static stage *open_stage(int threads, int count)
{
    stage *s = calloc(1, sizeof *s);
    assert_non_null(s);
    assert_ok(orr_jobs_create(threads, NULL, NULL, &s->jobs, &error));
    assert_ok(orr_isa_choose(&s->isa, &error));
    shadow_scene_make(&s->scene);
    s->scene.list.mesh_count = 1; // the floor
    s->scene.list.umbra = 0.4f;
    s->count = count;
    assert_ok(orr_splats_create(count, 0, &s->splats, &error));
    return s;
}

static void make_pack(stage *s)
{
    orr_splats_view view = orr_splats_data(s->splats);
    orr_splat_pack_destroy(s->pack);
    assert_ok(orr_splat_pack_create(s->jobs, &view, NULL, &s->pack, &error));
    s->layers[0] = (orr_draw_splats){.pack = s->pack, .key = 5, .casts_shadow = true};
    memcpy(s->layers[0].model, identity, sizeof identity);
    s->scene.list.splats = s->layers;
    s->scene.list.splat_count = 1;
}

static void close_stage(stage *s)
{
    orr_splat_pack_destroy(s->pack);
    orr_splats_destroy(s->splats);
    shadow_scene_free(&s->scene);
    orr_jobs_destroy(s->jobs);
    orr_arena_destroy(&s->arena);
    free(s);
}

// Ellipsoids within `half` of (x, 0, z), and outside of a ball around it.
static void make_cloud(stage *s, float x, float z, float half, float hole, float largest)
{
    state_of_numbers = 7;
    for (int i = 0; i < s->count; i++) {
        float from[3];
        do {
            for (int k = 0; k < 3; k++) {
                from[k] = number(-half, half);
            }
        } while (vec3f_dot(from, from) < hole * hole);
        const float mean[3] = {x + from[0], from[1], z + from[2]};
        const float size[3] = {number(0.5f, 1.0f) * largest, number(0.5f, 1.0f) * largest,
                               number(0.5f, 1.0f) * largest};
        const float turn[4] = {number(-1, 1), number(-1, 1), number(-1, 1), number(0.1f, 1)};
        set_splat(s, i, mean, size, turn, number(0.05f, 0.9f));
    }
    make_pack(s);
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

// The part of the light that reaches the floor in each pixel: of the picture without the cloud itself, whose
// shadow is drawn all the same, because it is far above the camera.
static void draw_left(stage *s, double *left)
{
    orr_lens *lens = &s->scene.list.lens;
    const float far_plane = lens->far_plane, near_plane = lens->near_plane;
    lens->near_plane = 9.9999f; // the floor is at 10
    drawn dark = draw(s);
    s->scene.list.shadows = false;
    drawn lit = draw(s);
    s->scene.list.shadows = true;
    lens->near_plane = near_plane;
    lens->far_plane = far_plane;
    for (int i = 0; i < SIDE * SIDE; i++) {
        left[i] =
            (srgb_decode((double)dark.rgba[4 * i]) - shade) / (srgb_decode((double)lit.rgba[4 * i]) - shade);
    }
    drawn_free(&dark);
    drawn_free(&lit);
}

static void floor_point(const orr_lens *lens, int x, int y, double p[3])
{
    p[0] = (x + 0.5 - (double)lens->centre[0]) / (double)lens->focal[0];
    p[1] = -(y + 0.5 - (double)lens->centre[1]) / (double)lens->focal[1];
    p[2] = 0.0;
}

// How much a splat covers on a ray: at its peak, exp(-1/2 d' S^-1 d) with the covariance seen along the ray.
static double alpha_on_ray(const blob *b, const double p[3], const double towards[3], double *distance)
{
    double u[3], v[3], other[3] = {0, 0, 0}, at[2], cov[3] = {0}, along = 0.0;
    other[fabs(towards[0]) < 0.7 ? 0 : 1] = 1.0;
    vec3_cross(towards, other, u);
    vec3_normalise(u);
    vec3_cross(towards, u, v);
    at[0] = at[1] = 0.0;
    for (int r = 0; r < 3; r++) {
        const double d = b->mean[r] - p[r];
        at[0] += u[r] * d;
        at[1] += v[r] * d;
        along += towards[r] * d;
        for (int c = 0; c < 3; c++) {
            cov[0] += u[r] * b->covariance[r][c] * u[c];
            cov[1] += u[r] * b->covariance[r][c] * v[c];
            cov[2] += v[r] * b->covariance[r][c] * v[c];
        }
    }
    *distance = along;
    const double determinant = cov[0] * cov[2] - cov[1] * cov[1];
    const double power =
        0.5 * (at[0] * at[0] * cov[2] - 2.0 * at[0] * at[1] * cov[1] + at[1] * at[1] * cov[0]) / determinant;
    const double alpha = fmin(b->opacity * exp(-power), 0.99);
    return alpha < 1.0 / 255.0 ? 0.0 : alpha;
}

// What reaches p from a light: a direction, or a lamp at a position.
static double left_on_ray(const stage *s, const double p[3], const double light[3], bool lamp)
{
    double towards[3], product = 1.0;
    for (int k = 0; k < 3; k++) {
        towards[k] = lamp ? light[k] - p[k] : light[k];
    }
    const double reach = vec3_normalise(towards);
    for (int i = 0; i < s->count; i++) {
        double distance;
        const double alpha = alpha_on_ray(&s->blobs[i], p, towards, &distance);
        if (distance > 0.0 && (!lamp || distance < reach)) {
            product *= 1.0 - alpha;
        }
    }
    return product;
}

typedef struct difference {
    double worst, mean, darkest;
} difference;

static difference compare(const stage *s, const double *left, const double light[3], bool lamp)
{
    difference d = {.darkest = 1.0};
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            double p[3];
            floor_point(&s->scene.list.lens, x, y, p);
            const double expected = left_on_ray(s, p, light, lamp);
            const double off = fabs(left[y * SIDE + x] - expected);
            d.worst = fmax(d.worst, off);
            d.mean += off / (SIDE * SIDE);
            d.darkest = fmin(d.darkest, expected);
        }
    }
    print_message("    off by %.5f at worst, %.6f on average; %.3f where it is darkest\n", d.worst, d.mean,
                  d.darkest);
    return d;
}

static const double to_sun[3] = {-0.6, 0.0, 0.8};

static void set_lamp(stage *s, float x, float y, float z, float cutoff, float radius)
{
    orr_draw_list *list = &s->scene.list;
    list->sun.colour[0] = list->sun.colour[1] = list->sun.colour[2] = 0.0f;
    list->lights[0] = (orr_draw_light){.position = {x, y, z},
                                       .direction = {0, 0, -1},
                                       .attenuation = {1},
                                       .cutoff = cutoff,
                                       .diffuse = {0.5f, 0.5f, 0.5f},
                                       .casts_shadows = true,
                                       .radius = radius};
    list->light_count = 1;
}

// 1 - alpha, with alpha a Gaussian of the covariance seen along the light. It ends where alpha is 1/255,
// which falls between texels (0.004), the map is read between texels of 1/45 of the splat's width (0.0005),
// and the picture's colours are floats.
static void a_splat_throws_the_shadow_that_its_opacity_says(void **state)
{
    (void)state;
    static double left[SIDE * SIDE];
    stage *s = open_stage(2, 1);
    const float mean[3] = {-0.7f, 0.2f, 1.5f}, size[3] = {0.5f, 0.2f, 0.35f},
                turn[4] = {0.8f, 0.3f, -0.4f, 0.2f};
    for (int i = 0; i < 3; i++) {
        const float opacity[3] = {0.3f, 0.7f, 0.999f};
        set_splat(s, 0, mean, size, turn, opacity[i]);
        make_pack(s);
        draw_left(s, left);
        const difference d = compare(s, left, to_sun, false);
        assert_true(d.worst < 0.006 && d.mean < 3e-4);
        assert_true(fabs(d.darkest - (1.0 - fmin((double)opacity[i], 0.99))) < 0.01);
    }
    close_stage(s);
}

// Splats are projected linearly about their centres, which is exact in the sun and not for lamps: there of
// splats of 1/20 of the distance.
static void a_lamp_throws_a_wider_shadow(void **state)
{
    (void)state;
    static double left[SIDE * SIDE];
    stage *s = open_stage(2, 1);
    const float mean[3] = {-0.3f, 0.2f, 1.0f}, size[3] = {0.2f, 0.1f, 0.15f},
                turn[4] = {0.8f, 0.3f, -0.4f, 0.2f};
    const double lamp[3] = {0.5, -0.4, 4.0};
    set_splat(s, 0, mean, size, turn, 0.8f);
    make_pack(s);
    for (int wide = 0; wide < 2; wide++) {
        set_lamp(s, (float)lamp[0], (float)lamp[1], (float)lamp[2], wide ? 180.0f : 70.0f, 0.0f);
        draw_left(s, left);
        const difference d = compare(s, left, lamp, true);
        assert_true(d.worst < 0.03 && d.mean < 1e-3 && d.darkest < 0.25);
    }
    close_stage(s);
}

// The product over all of them, without their order.
static void many_splats_multiply(void **state)
{
    (void)state;
    if (is_left_to_best_isa()) {
        return;
    }
    static double left[SIDE * SIDE];
    stage *s = open_stage(2, MANY);
    make_cloud(s, -1.5f, 2.0f, 0.8f, 0.0f, 0.12f);
    draw_left(s, left);
    difference d = compare(s, left, to_sun, false);
    assert_true(d.worst < 0.03 && d.mean < 1e-3 && d.darkest < 0.1);
    const double lamp[3] = {-1.5, 0.3, 8.0};
    set_lamp(s, -1.5f, 0.3f, 8.0f, 180.0f, 0.0f);
    draw_left(s, left);
    d = compare(s, left, lamp, true);
    assert_true(d.worst < 0.05 && d.mean < 2e-3 && d.darkest < 0.1);
    close_stage(s);
}

// All around a lamp there are six maps. Splats at their rims are seen at 45 degrees.
static void a_cloud_around_a_lamp_shadows_all_sides(void **state)
{
    (void)state;
    static double left[SIDE * SIDE];
    stage *s = open_stage(2, MANY);
    make_cloud(s, 0.0f, 1.6f, 1.2f, 1.0f, 0.1f);
    const double lamp[3] = {0.0, 0.0, 1.6};
    set_lamp(s, 0.0f, 0.0f, 1.6f, 180.0f, 0.0f);
    orr_cloud_caster casters[ORR_CLOUD_CASTERS];
    int count;
    orr_arena_reset(&s->arena);
    assert_ok(orr_cloud_casters_find(s->jobs, &s->arena, &s->scene.list, casters, &count, &error));
    assert_int_equal(count, 1);
    assert_int_equal(casters[0].plan.map_count, 6);
    draw_left(s, left);
    const difference d = compare(s, left, lamp, true);
    assert_true(d.mean < 0.02 && d.darkest < 0.1);
    close_stage(s);
}

// A floor inside the cloud takes the light that the splats above it leave, as finely as four depths say; one
// above all of it takes all of the light, to the bit.
static void receivers_are_before_in_and_behind_a_cloud(void **state)
{
    (void)state;
    static double left[SIDE * SIDE];
    static float plain[4 * SIDE * SIDE];
    stage *s = open_stage(2, MANY);
    const float height[3] = {0.0f, 2.0f, 3.5f};
    for (int i = 0; i < 3; i++) {
        // the floor stays: the cloud is lowered
        make_cloud(s, -1.0f, 2.0f - height[i], 0.8f, 0.0f, 0.12f);
        draw_left(s, left);
        if (i < 2) {
            const difference d = compare(s, left, to_sun, false);
            assert_true(d.mean < (i == 0 ? 1e-3 : 0.02) && d.darkest < 0.2);
            continue;
        }
        s->scene.list.lens.near_plane = 9.9999f;
        s->scene.list.lens.far_plane = 10.1f;
        drawn with = draw(s);
        s->scene.list.shadows = false;
        drawn without = draw(s);
        memcpy(plain, without.rgba, sizeof plain);
        assert_memory_equal(with.rgba, plain, sizeof plain);
        drawn_free(&with);
        drawn_free(&without);
    }
    close_stage(s);
}

// The path tracer draws splats as Gaussians along rays, and the sun with a disc. Both pictures without the
// cloud itself, which is out of the view.
static difference against_rays(stage *s, int samples)
{
    static float traced[4 * SIDE * SIDE], unshaded[4 * SIDE * SIDE];
    orr_path_tracer *tracer;
    difference d = {.darkest = 1.0};
    orr_draw_list *list = &s->scene.list;
    list->sun.ambient[0] = list->sun.ambient[1] = list->sun.ambient[2] = 0.0f;
    drawn dark = draw(s);
    for (int shadows = 0; shadows < 2; shadows++) {
        list->splat_count = shadows;
        assert_ok(orr_path_tracer_create(s->jobs, s->isa, list, 1, &tracer, &error));
        orr_path_tracer_advance(tracer, shadows ? samples : 16);
        orr_path_tracer_picture(tracer, true, &(orr_picture){.rgba = shadows ? traced : unshaded});
        orr_path_tracer_destroy(tracer);
    }
    const int pixels = list->lens.width * list->lens.height;
    for (int i = 0; i < pixels; i++) {
        const double lit = (double)unshaded[4 * i];
        const double expected = (double)traced[4 * i] / lit;
        const double off = fabs(srgb_decode((double)dark.rgba[4 * i]) / lit - expected);
        d.worst = fmax(d.worst, off);
        d.mean += off / pixels;
        d.darkest = fmin(d.darkest, expected);
    }
    print_message("    off by %.5f at worst, %.6f on average; %.3f where it is darkest\n", d.worst, d.mean,
                  d.darkest);
    drawn_free(&dark);
    return d;
}

static void shadows_agree_with_the_path_tracer(void **state)
{
    (void)state;
    stage *s = open_stage(2, MANY);
    // the cloud's shadow is moved by 3/4 of its height, out of its own picture
    make_cloud(s, -2.0f, 4.0f, 0.5f, 0.0f, 0.12f);
    for (int soft = 0; soft < 2; soft++) {
        s->scene.list.sun.radius = soft ? 0.02f : 0.0f;
        s->scene.list.lens = shadow_scene_lens(1.0f, 0.0f, 24.0f);
        s->scene.list.lens.width = s->scene.list.lens.height = 48;
        s->scene.list.lens.centre[0] = s->scene.list.lens.centre[1] = 24.0f;
        const difference d = against_rays(s, 128);
        assert_true(d.darkest < 0.3 && d.mean < (soft ? 0.02 : 0.01) && d.worst < (soft ? 0.12 : 0.08));
    }
    close_stage(s);
}

static void draw_deformed(stage *s, const orr_affine_piece *pieces, const int32_t *piece_of, double *left)
{
    s->layers[0].deformation = (orr_draw_deformation){piece_of, pieces, 2};
    draw_left(s, left);
    s->layers[0].deformation = (orr_draw_deformation){0};
}

// A cloud that is deformed or turned throws the shadow of a cloud whose splats are put where they are seen.
static void the_shadow_follows_a_deformed_cloud(void **state)
{
    (void)state;
    static double moved[SIDE * SIDE], baked[SIDE * SIDE];
    enum { FEW = 40 };
    stage *s = open_stage(2, FEW);
    make_cloud(s, -1.0f, 1.5f, 0.6f, 0.0f, 0.15f);
    // piece 0: sheared and stretched; piece 1: turned by 90 degrees about z and moved
    const orr_affine_piece pieces[2] = {{.matrix = {1.4f, 0.3f, 0.0f, 0.0f, 0.8f, 0.2f, 0.1f, 0.0f, 1.1f},
                                         .offset = {0.2f, -0.3f, 0.1f},
                                         .rotation = {1, 0, 0, 0}},
                                        {.matrix = {0, -1, 0, 1, 0, 0, 0, 0, 1},
                                         .offset = {-0.5f, 1.2f, 0.4f},
                                         .rotation = {0.70710678f, 0, 0, 0.70710678f}}};
    int32_t piece_of[64];
    for (int64_t i = 0; i < s->pack->blocks * ORR_PACK_BLOCK; i++) {
        piece_of[i] = i < s->pack->count ? (int32_t)(s->pack->original[i] % 2) : 0;
    }
    draw_deformed(s, pieces, piece_of, moved);
    // by brute force: the means and covariances deformed in double
    for (int i = 0; i < FEW; i++) {
        const orr_affine_piece *piece = &pieces[i % 2];
        blob *b = &s->blobs[i], from = *b;
        for (int r = 0; r < 3; r++) {
            b->mean[r] = (double)piece->offset[r];
            for (int k = 0; k < 3; k++) {
                b->mean[r] += (double)piece->matrix[3 * r + k] * from.mean[k];
            }
            for (int c = 0; c < 3; c++) {
                b->covariance[r][c] = 0.0;
                for (int k = 0; k < 9; k++) {
                    b->covariance[r][c] += (double)piece->matrix[3 * r + k / 3] *
                                           from.covariance[k / 3][k % 3] *
                                           (double)piece->matrix[3 * c + k % 3];
                }
            }
        }
    }
    difference d = compare(s, moved, to_sun, false);
    assert_true(d.worst < 0.03 && d.mean < 1e-3 && d.darkest < 0.5);
    // as a whole, by its model: the same as by a deformation of one piece
    const float model[12] = {0, -1, 0, -0.5f, 1, 0, 0, 1.2f, 0, 0, 1, 0.4f};
    memset(piece_of, 0, sizeof piece_of);
    draw_deformed(s, &pieces[1], piece_of, moved);
    memcpy(s->layers[0].model, model, sizeof model);
    draw_left(s, baked);
    for (int i = 0; i < SIDE * SIDE; i++) {
        assert_true(fabs(moved[i] - baked[i]) < 2e-3);
    }
    close_stage(s);
}

// A cloud that casts none, and one below the floor, leave the picture as it is without shadows.
static void clouds_without_shadows_leave_all_bits(void **state)
{
    (void)state;
    stage *s = open_stage(2, MANY);
    make_cloud(s, -1.5f, 2.0f, 0.8f, 0.0f, 0.12f);
    for (int i = 0; i < 2; i++) {
        s->layers[0].casts_shadow = i == 1;
        s->layers[0].model[11] = i == 1 ? -6.0f : 0.0f;
        s->scene.list.shadows = false;
        drawn plain = draw(s);
        s->scene.list.shadows = true;
        drawn with = draw(s);
        assert_memory_equal(plain.rgba, with.rgba, (size_t)plain.pixels * 4 * sizeof(float));
        drawn_free(&plain);
        drawn_free(&with);
    }
    close_stage(s);
}

// On another cloud the shadow falls, as dark as the list says; on the one that casts it it does not.
static void a_shadow_falls_on_other_clouds_alone(void **state)
{
    (void)state;
    stage *s = open_stage(2, MANY);
    make_cloud(s, -1.0f, 2.0f, 0.5f, 0.0f, 0.12f);
    shadow_scene ground;
    shadow_scene_make_captured(&ground, s->jobs);
    s->layers[1] = ground.layer;
    s->scene.list.splat_count = 2;
    s->scene.list.mesh_count = 0;
    s->scene.list.shadows = false;
    drawn plain = draw(s);
    s->scene.list.shadows = true;
    drawn with = draw(s);
    int in = 0, out = 0, own = 0;
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            const float *lit = plain.rgba + 4 * (y * SIDE + x), *shaded = with.rgba + 4 * (y * SIDE + x);
            double p[3];
            floor_point(&s->scene.list.lens, x, y, p);
            const double left = left_on_ray(s, p, to_sun, false);
            const double ratio =
                srgb_decode((double)(shaded[0] / shaded[3])) / srgb_decode((double)(lit[0] / lit[3]));
            const double up[3] = {0.0, 0.0, 1.0};
            const double seen = left_on_ray(s, p, up, false); // past the cloud
            if (seen == 1.0 && left < 1.0) {                  // the ground, with a quarter of haze before it
                assert_true(fabs(ratio - (0.4 + 0.6 * left)) < 0.03);
                in += left < 0.7;
            } else if (seen == 1.0 && left == 1.0) {
                out += memcmp(lit, shaded, 4 * sizeof *lit) == 0;
            } else if (seen < 0.45) { // the cloud takes most of the pixel
                assert_memory_equal(lit, shaded, 4 * sizeof *lit);
                own++;
            }
        }
    }
    assert_true(in > 300 && out > 30000 && own > 200);
    drawn_free(&plain);
    drawn_free(&with);
    shadow_scene_free(&ground);
    close_stage(s);
}

// On a field it falls at the field's depth; here one that is opaque and at z = 0.
static void a_shadow_falls_on_fields(void **state)
{
    (void)state;
    static float depth[SIDE * SIDE], colour[4 * SIDE * SIDE];
    stage *s = open_stage(2, 1);
    const float mean[3] = {-1.5f, 0.0f, 2.0f}, size[3] = {0.3f, 0.3f, 0.3f}, turn[4] = {1, 0, 0, 0};
    set_splat(s, 0, mean, size, turn, 0.8f);
    make_pack(s);
    s->scene.list.mesh_count = 0;
    s->scene.list.field_count = 1;
    for (int i = 0; i < SIDE * SIDE; i++) {
        depth[i] = 10.0f;
        for (int k = 0; k < 4; k++) {
            colour[k * SIDE * SIDE + i] = k < 3 ? 0.6f : 1.0f;
        }
    }
    orr_field_pass fields = {.list = &s->scene.list, .depth = depth, .colour = colour};
    drawn d = drawn_make(&s->scene.list);
    orr_cpu_frame *frame;
    orr_profile profile = {0};
    assert_ok(
        orr_draw_cpu_begin(s->jobs, s->isa, &s->arena, &s->scene.list, NULL, NULL, &profile, &frame, &error));
    assert_ok(orr_draw_cpu_end(frame, &fields, &(orr_picture){d.rgba, d.depth}, &profile, &error));
    const int middle = SIDE / 2 * SIDE + SIDE / 2; // the shadow is below (0, 0), and half a pixel aside
    assert_true(fabs(srgb_decode((double)d.rgba[4 * middle]) / srgb_decode(0.6) - (0.4 + 0.6 * 0.2)) < 5e-3);
    assert_float_equal(d.rgba[4 * (middle + 100)], 0.6f, 0.0);
    drawn_free(&d);
    close_stage(s);
}

// What is kept of splats between frames receives the shadow of the cloud among them.
static void kept_splats_have_the_same_bits(void **state)
{
    (void)state;
    stage *s = open_stage(2, MANY);
    orr_kept_view *kept;
    shadow_scene ground;
    make_cloud(s, -1.0f, 2.0f, 0.5f, 0.0f, 0.12f);
    shadow_scene_make_captured(&ground, s->jobs);
    s->layers[1] = ground.layer;
    s->scene.list.splat_count = 2;
    s->scene.list.meshes = &s->scene.items[1];
    assert_ok(orr_kept_view_create(&kept, &error));
    assert_ok(orr_kept_view_hold(kept, s->jobs, s->isa, &s->scene.list, &error));
    assert_true(orr_kept_view_has_splats(kept, &s->scene.list));
    drawn anew = draw(s), again = drawn_make(&s->scene.list);
    orr_profile profile;
    orr_arena_reset(&s->arena);
    assert_ok(orr_draw_cpu(s->jobs, s->isa, &s->arena, &s->scene.list, kept,
                           &(orr_picture){again.rgba, again.depth}, NULL, &profile, &error));
    assert_memory_equal(anew.rgba, again.rgba, (size_t)anew.pixels * 4 * sizeof(float));
    drawn_free(&anew);
    drawn_free(&again);
    orr_kept_view_destroy(kept);
    shadow_scene_free(&ground);
    close_stage(s);
}

static void bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    stage *one = open_stage(1, MANY), *four = open_stage(4, MANY);
    make_cloud(one, -1.5f, 2.0f, 0.8f, 0.0f, 0.12f);
    make_cloud(four, -1.5f, 2.0f, 0.8f, 0.0f, 0.12f);
    one->scene.list.sun.radius = four->scene.list.sun.radius = 0.05f;
    drawn a = draw(one), b = draw(four);
    assert_memory_equal(a.rgba, b.rgba, (size_t)a.pixels * 4 * sizeof(float));
    drawn_free(&a);
    drawn_free(&b);
    close_stage(one);
    close_stage(four);
}

int main(void)
{
    const struct CMUnitTest threads[] = {
        cmocka_unit_test(a_splat_throws_the_shadow_that_its_opacity_says),
        cmocka_unit_test(a_lamp_throws_a_wider_shadow),
        cmocka_unit_test(the_shadow_follows_a_deformed_cloud),
        cmocka_unit_test(clouds_without_shadows_leave_all_bits),
        cmocka_unit_test(a_shadow_falls_on_fields),
        cmocka_unit_test(kept_splats_have_the_same_bits),
        cmocka_unit_test(bits_do_not_depend_on_threads),
    };
    const struct CMUnitTest shadows[] = {
        cmocka_unit_test(many_splats_multiply),
        cmocka_unit_test(a_cloud_around_a_lamp_shadows_all_sides),
        cmocka_unit_test(receivers_are_before_in_and_behind_a_cloud),
        cmocka_unit_test(shadows_agree_with_the_path_tracer),
        cmocka_unit_test(a_shadow_falls_on_other_clouds_alone),
    };
    const int failed = cmocka_run_group_tests(threads, NULL, NULL);
    return THREADS_ALONE ? failed : failed + cmocka_run_group_tests(shadows, NULL, NULL);
}
