// Tests of rays at round surfaces in place of meshes, against their distance functions in doubles. Runs once
// per instruction set.
#include "render/cpu/mesh_raster.h"
#include "tests/support/scenes/small_mesh.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 100, HEIGHT = 56, PIXELS = WIDTH * HEIGHT, STEPS = 60 };
static const double pi = 3.14159265358979323846;

static const orr_round shapes[] = {{.kind = ORR_ROUND_ELLIPSOID, .size = {0.5f, 0.5f, 0.5f}},
                                   {.kind = ORR_ROUND_ELLIPSOID, .size = {0.2f, 0.6f, 0.4f}},
                                   {.kind = ORR_ROUND_CAPSULE, .size = {0.2f, 0.2f, 0.5f}},
                                   {.kind = ORR_ROUND_CYLINDER, .size = {0.4f, 0.4f, 0.3f}}};
enum { SHAPES = 4 };

typedef struct canvas {
    orr_jobs *jobs;
    orr_arena arena;
    orr_lens lens;
    float depth[PIXELS], rgb[3 * PIXELS], normals[3 * PIXELS];
    int32_t item[PIXELS];
} canvas;

static canvas c;

// Looks along +z from the origin.
static void open_canvas(bool orthographic, float focal, int threads)
{
    orr_camera camera = {.model = orthographic ? ORR_CAMERA_ORTHOGRAPHIC : ORR_CAMERA_PERSPECTIVE,
                         .pose = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                         .width = WIDTH,
                         .height = HEIGHT,
                         .focal = {focal, 1.1f * focal},
                         .near_plane = 0.1f};
    memset(&c, 0, sizeof c);
    assert_ok(orr_camera_resolve(&camera, &c.lens, &error));
    assert_ok(orr_jobs_create(threads, NULL, NULL, &c.jobs, &error));
}

static void close_canvas(void)
{
    orr_jobs_destroy(c.jobs);
    orr_arena_destroy(&c.arena);
}

// A mesh around a shape whose triangles show nothing: what is seen is what rays meet.
static void wrap(const orr_round *round, small_mesh *m, orr_mesh_vertex vertices[2])
{
    static uint32_t indices[3] = {0, 1, 0};
    const float end = round->size[2] + (round->kind == ORR_ROUND_CAPSULE ? round->size[0] : 0.0f);
    for (int i = 0; i < 2; i++) {
        const float sign = i ? 1.0f : -1.0f;
        vertices[i] =
            (orr_mesh_vertex){.position = {sign * round->size[0], sign * round->size[1], sign * end},
                              .normal = {0, 0, 1},
                              .colour = {255, 255, 255, 255}};
    }
    small_mesh_set(m, vertices, 2, indices, 3);
    m->material.two_sided = false;
}

static void draw(const orr_draw_mesh *items, int count)
{
    const orr_draw_list list = {.lens = c.lens,
                                .meshes = items,
                                .mesh_count = count,
                                .sun = {.direction = {0.6f, 0.0f, -0.8f},
                                        .colour = {0.7f, 0.7f, 0.7f},
                                        .ambient = {0.25f, 0.25f, 0.25f}}};
    const orr_mesh_picture picture = {.depth = c.depth, .rgb = c.rgb, .item = c.item, .normals = c.normals};
    orr_fragment_lists fragments;
    orr_isa isa;
    orr_arena_reset(&c.arena);
    assert_ok(orr_isa_choose(&isa, &error));
    assert_ok(orr_mesh_raster(c.jobs, isa, &c.arena, &list, NULL, picture, &fragments, NULL, &error));
}

// ---- the oracle ----

// How far outside of a shape a point of its space is, on a convex scale, and the gradient of that.
static double level_at(const orr_round *round, const double p[3], double gradient[3])
{
    const double r = (double)round->size[0], half = (double)round->size[2], across = hypot(p[0], p[1]);
    if (round->kind == ORR_ROUND_CAPSULE) {
        const double up = p[2] - fmax(fmin(p[2], half), -half), length = hypot(across, up);
        memcpy(gradient, (double[3]){p[0] / length, p[1] / length, up / length}, 3 * sizeof(double));
        return length - r;
    }
    if (round->kind == ORR_ROUND_CYLINDER) {
        const double end = fabs(p[2]) - half, side = across - r;
        const double sign = p[2] < 0.0 ? -1.0 : 1.0;
        memcpy(gradient,
               end > side ? (double[3]){0.0, 0.0, sign} : (double[3]){p[0] / across, p[1] / across, 0.0},
               3 * sizeof(double));
        return fmax(end, side);
    }
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        gradient[k] = p[k] / ((double)round->size[k] * (double)round->size[k]);
        sum += p[k] * gradient[k];
    }
    for (int k = 0; k < 3; k++) {
        gradient[k] /= sqrt(sum);
    }
    return sqrt(sum) - 1.0;
}

typedef struct seen {
    double from[3], along[3]; // of the pixel's ray, in the shape's space
    double lowest;            // distance of the shape along the ray, scale of level_at over its slope
    double depth, normal[3];  // where it enters, in the shape's space
    double rim;               // how much nearer one face of a cylinder is than the other
} seen;

static double level_on_ray(const orr_round *round, seen *s, double t)
{
    const double p[3] = {s->from[0] + t * s->along[0], s->from[1] + t * s->along[1],
                         s->from[2] + t * s->along[2]};
    s->rim = fabs((fabs(p[2]) - (double)round->size[2]) - (hypot(p[0], p[1]) - (double)round->size[0]));
    return level_at(round, p, s->normal);
}

// What the ray of pixel x, y meets of a shape at `model`, from 0 to `reach`.
static seen see(const orr_round *round, const float model[12], int x, int y, double reach)
{
    seen s;
    float inverse[12];
    assert_ok(orr_affine_invert(model, inverse, &error));
    const double at[2] = {(x + 0.5 - WIDTH / 2.0) / (double)c.lens.focal[0],
                          (y + 0.5 - HEIGHT / 2.0) / (double)c.lens.focal[1]};
    const double from[3] = {c.lens.orthographic ? at[0] : 0.0, c.lens.orthographic ? at[1] : 0.0, 0.0},
                 along[3] = {at[0] - from[0], at[1] - from[1], 1.0};
    for (int k = 0; k < 3; k++) {
        s.from[k] = (double)inverse[4 * k + 3];
        s.along[k] = 0.0;
        for (int i = 0; i < 3; i++) {
            s.from[k] += (double)inverse[4 * k + i] * from[i];
            s.along[k] += (double)inverse[4 * k + i] * along[i];
        }
    }
    double low = 0.0, high = reach;
    for (int i = 0; i < STEPS; i++) { // the lowest level
        const double a = low + 0.382 * (high - low), b = low + 0.618 * (high - low);
        if (level_on_ray(round, &s, a) < level_on_ray(round, &s, b)) {
            high = b;
        } else {
            low = a;
        }
    }
    s.lowest = level_on_ray(round, &s, low);
    s.lowest /= sqrt(s.normal[0] * s.normal[0] + s.normal[1] * s.normal[1] + s.normal[2] * s.normal[2]);
    double outside = 0.0;
    for (int i = 0; i < STEPS; i++) { // from there back to where the ray enters
        const double middle = 0.5 * (outside + low);
        if (level_on_ray(round, &s, middle) < 0.0) {
            low = middle;
        } else {
            outside = middle;
        }
    }
    level_on_ray(round, &s, low);
    s.depth = low;
    return s;
}

// Turned around an axis, times `scale`, to a place.
static void put_model(float model[12], double angle, double tilt, double scale, const float at[3])
{
    const double a = cos(angle), b = sin(angle), d = cos(tilt), e = sin(tilt);
    const double turned[9] = {a, -b * d, b * e, b, a * d, -a * e, 0, e, d};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            model[4 * i + k] = (float)(scale * turned[3 * i + k]);
        }
        model[4 * i + 3] = at[i];
    }
}

// Compares the picture of one shape, where it does not depend on what is less than a hundredth of a pixel.
static int check_picture(const orr_round *round, const float model[12], double scale)
{
    int met = 0;
    for (int i = 0; i < PIXELS; i++) {
        const seen s = see(round, model, i % WIDTH, i / WIDTH, 12.0);
        const double pixel =
            (c.lens.orthographic ? 1.0 : s.depth) / ((double)c.lens.focal[0] * scale); // in the shape's space
        if (fabs(s.lowest) < 0.01 * pixel) {
            continue;
        }
        assert_int_equal(c.item[i], s.lowest < 0.0 ? 0 : -1);
        if (s.lowest > 0.0) {
            assert_true(isinf(c.depth[i]));
            continue;
        }
        met++;
        assert_true(fabs((double)c.depth[i] / s.depth - 1.0) < 1e-5);
        if (round->kind == ORR_ROUND_CYLINDER && s.rim < 1e-5) {
            continue;
        }
        double turned[3], length = 0.0;
        for (int k = 0; k < 3; k++) {
            turned[k] = 0.0;
            for (int j = 0; j < 3; j++) {
                turned[k] += (double)model[4 * k + j] * s.normal[j];
            }
            length += turned[k] * turned[k];
        }
        for (int k = 0; k < 3; k++) {
            assert_true(fabs((double)c.normals[3 * i + k] - turned[k] / sqrt(length)) < 1e-4);
        }
    }
    return met;
}

static void rays_meet_shapes_as_their_distances_say(void **state)
{
    (void)state;
    for (int view = 0; view < 2; view++) {
        open_canvas(view == 1, view == 1 ? 18.0f : 60.0f, 2);
        for (int i = 0; i < SHAPES; i++) {
            for (int pose = 0; pose < 3; pose++) {
                small_mesh m;
                orr_mesh_vertex vertices[2];
                const double scale = pose == 1 ? 2.5 : 1.2;
                orr_draw_mesh item = {.mesh = &m.mesh, .round = &shapes[i]};
                // in the middle of the picture, beside it and far away, over its rim
                const float at[3][3] = {{0.1f, -0.1f, 2.2f}, {2.5f, 0.7f, 6.0f}, {-1.6f, 0.9f, 2.5f}};
                put_model(item.model, 0.7 + 0.9 * pose, 1.1 - 0.8 * pose, scale, at[pose]);
                wrap(&shapes[i], &m, vertices);
                draw(&item, 1);
                const int met = check_picture(&shapes[i], item.model, scale);
                print_message("view %d, shape %d, pose %d: %d pixels\n", view, i, pose, met);
                assert_true(met > 60);
            }
        }
        close_canvas();
    }
}

// The cosine of the angle under which a sphere is seen, from its closed form: every pixel within a
// ten-thousandth of it may be either.
static void a_small_sphere_far_away_has_its_outline(void **state)
{
    (void)state;
    const orr_round ball = {.kind = ORR_ROUND_ELLIPSOID, .size = {0.05f, 0.05f, 0.05f}};
    const float at[3] = {3.0f, -1.0f, 40.0f};
    small_mesh m;
    orr_mesh_vertex vertices[2];
    orr_draw_mesh item = {.mesh = &m.mesh, .round = &ball};
    open_canvas(false, 9000.0f, 1);
    put_model(item.model, 0.4, 0.3, 1.0, at);
    wrap(&ball, &m, vertices);
    c.lens.centre[0] = WIDTH / 2.0f - 9000.0f * at[0] / at[2];
    c.lens.centre[1] = HEIGHT / 2.0f - 9900.0f * at[1] / at[2];
    draw(&item, 1);
    const double square = (double)at[0] * (double)at[0] + (double)at[1] * (double)at[1] +
                          (double)at[2] * (double)at[2],
                 radius = (double)ball.size[0];
    int met = 0;
    for (int i = 0; i < PIXELS; i++) {
        const double d[3] = {(i % WIDTH + 0.5 - (double)c.lens.centre[0]) / (double)c.lens.focal[0],
                             (i / WIDTH + 0.5 - (double)c.lens.centre[1]) / (double)c.lens.focal[1], 1.0};
        const double dot = d[0] * (double)at[0] + d[1] * (double)at[1] + d[2] * (double)at[2],
                     apart =
                         sqrt(square - dot * dot / (d[0] * d[0] + d[1] * d[1] + 1.0)); // of ray and middle
        if (fabs(apart - radius) > 0.01 * (double)at[2] / 9000.0) {
            assert_int_equal(c.item[i], apart < radius ? 0 : -1);
            met += apart < radius;
        }
    }
    assert_true(met > (int)(0.9 * pi * 11.0 * 12.0));
    close_canvas();
}

// Only outsides are seen: what a plane cuts open, or what is around the camera, is not there.
static void shapes_end_at_planes_and_around_the_camera(void **state)
{
    (void)state;
    small_mesh m;
    orr_mesh_vertex vertices[2];
    orr_draw_mesh item = {.mesh = &m.mesh, .round = &shapes[0]};
    open_canvas(false, 16.0f, 1);
    wrap(&shapes[0], &m, vertices);
    put_model(item.model, 0.0, 0.0, 1.0, (float[]){0.0f, 0.0f, 2.0f});
    draw(&item, 1);
    assert_int_equal(c.item[HEIGHT / 2 * WIDTH + WIDTH / 2], 0);
    c.lens.clip[0] = 1.0f; // x >= 0 is drawn
    draw(&item, 1);
    for (int i = 0; i < PIXELS; i++) {
        assert_true(i % WIDTH >= WIDTH / 2 || c.item[i] == -1);
    }
    assert_int_equal(c.item[HEIGHT / 2 * WIDTH + WIDTH / 2], 0);
    c.lens.clip[0] = 0.0f;
    for (int i = 0; i < 2; i++) { // around the camera, and through the near plane
        put_model(item.model, 0.0, 0.0, 1.0, (float[]){0.0f, 0.0f, i ? 0.57f : 0.2f});
        draw(&item, 1);
        int met = 0;
        for (int k = 0; k < PIXELS; k++) {
            assert_true(c.item[k] == -1 || c.depth[k] >= 0.1f);
            met += c.item[k] == 0;
        }
        assert_true(i ? met > 0 && c.item[HEIGHT / 2 * WIDTH + WIDTH / 2] == -1 : met == 0);
    }
    close_canvas();
}

// Many shapes through one another, over several tiles: threads and the order of equal depths.
static void threads_change_no_bit_and_nearer_shapes_cover_others(void **state)
{
    (void)state;
    enum { COUNT = 24 };
    static small_mesh m[COUNT];
    static orr_mesh_vertex vertices[COUNT][2];
    static orr_draw_mesh items[COUNT];
    static float first[3 * PIXELS];
    for (int threads = 1; threads <= 3; threads += 2) {
        open_canvas(false, 60.0f, threads);
        for (int i = 0; i < COUNT; i++) {
            const float at[3] = {-1.4f + 0.13f * (float)i, 0.5f * sinf((float)i),
                                 2.5f + 0.4f * cosf(2.0f * (float)i)};
            items[i] = (orr_draw_mesh){.mesh = &m[i].mesh, .round = &shapes[i % SHAPES]};
            wrap(items[i].round, &m[i], vertices[i]);
            put_model(items[i].model, 0.3 * i, 0.7 * i, 0.8, at);
        }
        draw(items, COUNT);
        if (threads == 1) {
            memcpy(first, c.rgb, sizeof first);
        }
        assert_memory_equal(first, c.rgb, sizeof first);
        close_canvas();
    }
    open_canvas(false, 60.0f, 1);
    static int32_t together[PIXELS];
    static float depth[PIXELS];
    draw(items, COUNT);
    memcpy(together, c.item, sizeof together);
    memcpy(depth, c.depth, sizeof depth);
    for (int i = 0; i < COUNT; i++) { // alone, none is nearer than what was seen
        draw(&items[i], 1);
        for (int k = 0; k < PIXELS; k++) {
            assert_true(c.depth[k] >= depth[k] && (together[k] != i || c.depth[k] == depth[k]));
        }
    }
    close_canvas();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rays_meet_shapes_as_their_distances_say),
        cmocka_unit_test(a_small_sphere_far_away_has_its_outline),
        cmocka_unit_test(shapes_end_at_planes_and_around_the_camera),
        cmocka_unit_test(threads_change_no_bit_and_nearer_shapes_cover_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
