// Tests of the CPU's mesh rasteriser against analytic results. Runs once per instruction set.
#define ORR_SCALAR
#include "engine/maths/colour_formula.h"
#include "render/cpu/kept/kept_meshes.h"
#include "tests/render/scenes/mesh_canvas.h"
#include "tests/support/srgb.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

// A rectangle of two triangles over the plane z = 4 + x / 2 + y / 4.
static float plane_z(float x, float y)
{
    return 4.0f + 0.5f * x + 0.25f * y;
}

static void a_plane_has_its_analytic_depth(void **state)
{
    (void)state;
    for (int orthographic = 0; orthographic < 2; orthographic++) {
        orr_camera camera = straight_camera(333, 201, orthographic ? 60.0f : 250.0f);
        camera.model = orthographic ? ORR_CAMERA_ORTHOGRAPHIC : ORR_CAMERA_PERSPECTIVE;
        mesh_canvas c = mesh_canvas_open(camera, 2);
        orr_mesh_vertex v[4];
        for (int i = 0; i < 4; i++) {
            float x = i % 2 ? 1.6f : -1.7f, y = i / 2 ? 1.2f : -1.1f;
            v[i] = white_vertex(x, y, plane_z(x, y));
        }
        uint32_t indices[6] = {0, 1, 2, 2, 1, 3};
        small_mesh m;
        small_mesh_set(&m, v, 4, indices, 6);
        mesh_canvas_draw_one(&c, &m.mesh);
        int covered = 0;
        for (int y = 0; y < 201; y++) {
            for (int x = 0; x < 333; x++) {
                double dx = (x + 0.5 - 166.5) / (double)camera.focal[0],
                       dy = (y + 0.5 - 100.5) / (double)camera.focal[1];
                double z = orthographic ? 4.0 + 0.5 * dx + 0.25 * dy : 4.0 / (1.0 - 0.5 * dx - 0.25 * dy);
                double at_x = orthographic ? dx : dx * z, at_y = orthographic ? dy : dy * z;
                // 0.02 is over a pixel: the rim itself is the fill rule's test
                bool within = at_x > -1.68 && at_x < 1.58 && at_y > -1.08 && at_y < 1.18;
                bool without = at_x < -1.72 || at_x > 1.62 || at_y < -1.12 || at_y > 1.22;
                float depth = c.picture.depth[y * 333 + x];
                if (within) {
                    // float rounding of 1/z and its reciprocal; the plane itself is set up in double
                    assert_true(fabs((double)depth / z - 1.0) < 1e-6);
                    covered++;
                } else if (without) {
                    assert_true(isinf(depth));
                }
            }
        }
        assert_true(covered > 10000);
        assert_int_equal(c.counts.triangles, 2);
        assert_int_equal(c.counts.drawn, 2);
        mesh_canvas_close(&c);
    }
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

// A fan of random triangles around a point shares edges in every direction; drawn one at a time, each pixel
// of their union must be covered exactly once.
static void shared_edges_are_covered_exactly_once(void **state)
{
    (void)state;
    enum { SPOKES = 12, SIDE = 97 };
    orr_camera camera = straight_camera(SIDE, SIDE, 1.0f);
    camera.model = ORR_CAMERA_ORTHOGRAPHIC;
    camera.centre[0] = camera.centre[1] = 0.001f; // not 0, which means the middle
    mesh_canvas c = mesh_canvas_open(camera, 1);
    uint32_t seed = 5;
    for (int round = 0; round < 20; round++) {
        orr_mesh_vertex v[SPOKES + 1];
        uint32_t indices[3 * SPOKES];
        // even rounds: vertices on pixel centres, so that edges run through centres too
        float shift = round % 2 ? (float)(next_random(&seed) % 1000) / 1000.0f : 0.499f;
        v[SPOKES] = white_vertex(48.0f + shift, 48.0f + shift, 1.0f);
        for (int i = 0; i < SPOKES; i++) {
            double angle = 6.283185307 * i / SPOKES, radius = 20.0 + next_random(&seed) % 25;
            v[i] = white_vertex((float)floor(48.0 + radius * cos(angle)) + shift,
                                (float)floor(48.0 + radius * sin(angle)) + shift, 1.0f);
            indices[3 * i] = SPOKES;
            indices[3 * i + 1] = (uint32_t)(i % SPOKES);
            indices[3 * i + 2] = (uint32_t)((i + 1) % SPOKES);
        }
        static int covered[SIDE * SIDE];
        memset(covered, 0, sizeof covered);
        small_mesh m;
        small_mesh_set(&m, v, SPOKES + 1, indices, 3 * SPOKES);
        for (int i = 0; i < SPOKES; i++) {
            m.part = (orr_mesh_part){(uint32_t)(3 * i), 3, 0};
            mesh_canvas_draw_one(&c, &m.mesh);
            for (int p = 0; p < SIDE * SIDE; p++) {
                covered[p] += isfinite(c.picture.depth[p]) != 0;
            }
        }
        m.part = (orr_mesh_part){0, 3 * SPOKES, 0};
        mesh_canvas_draw_one(&c, &m.mesh);
        int total = 0;
        for (int p = 0; p < SIDE * SIDE; p++) {
            assert_int_equal(covered[p], isfinite(c.picture.depth[p]) != 0);
            total += covered[p];
        }
        assert_true(total > 500);
        // no hole between the spokes: a disc of the least radius (less the slant of an edge) is full
        for (int p = 0; p < SIDE * SIDE; p++) {
            double dx = p % SIDE - 48, dy = p / SIDE - 48;
            assert_true(dx * dx + dy * dy > 17.0 * 17.0 || covered[p] == 1);
        }
    }
    mesh_canvas_close(&c);
}

// A floor from behind the camera to far in front of it, far wider than the picture: cut at the near plane and
// at the guard band.
static void triangles_through_the_near_plane_are_cut_there(void **state)
{
    (void)state;
    orr_camera camera = straight_camera(200, 150, 100.0f);
    camera.near_plane = 2.0f;
    camera.far_plane = 50.0f;
    mesh_canvas c = mesh_canvas_open(camera, 2);
    // a millionfold: at the near plane the floor is 10^8 pixels wide
    orr_mesh_vertex v[4] = {white_vertex(-1e6f, 1, -1000), white_vertex(1e6f, 1, -1000),
                            white_vertex(-1e6f, 1, 1000), white_vertex(1e6f, 1, 1000)};
    uint32_t indices[6] = {0, 1, 2, 2, 1, 3};
    small_mesh m;
    small_mesh_set(&m, v, 4, indices, 6);
    mesh_canvas_draw_one(&c, &m.mesh);
    for (int y = 0; y < 150; y++) {
        double z = 100.0 / (y + 0.5 - 75.0);
        for (int x = 0; x < 200; x++) {
            float depth = c.picture.depth[y * 200 + x];
            if (z > 2.0 && z < 50.0) {
                assert_true(fabs((double)depth / z - 1.0) < 1e-6);
            } else {
                assert_true(isinf(depth));
            }
        }
    }
    mesh_canvas_close(&c);
}

// The same floor as many small triangles: no seams where only some of them are cut.
static void cut_triangles_leave_no_seams(void **state)
{
    (void)state;
    enum { SIDE = 40 };
    orr_camera camera = straight_camera(200, 150, 100.0f);
    camera.near_plane = 0.5f;
    mesh_canvas c = mesh_canvas_open(camera, 2);
    static orr_mesh_vertex v[(SIDE + 1) * (SIDE + 1)];
    static uint32_t indices[6 * SIDE * SIDE];
    for (int i = 0; i < (SIDE + 1) * (SIDE + 1); i++) {
        v[i] = white_vertex((float)(i % (SIDE + 1) - SIDE / 2) * 173.7f, 1.0f,
                            (float)(i / (SIDE + 1)) * 0.371f - 2.0f);
    }
    uint32_t *index = indices;
    for (int y = 0; y < SIDE; y++) {
        for (int x = 0; x < SIDE; x++) {
            uint32_t a = (uint32_t)(y * (SIDE + 1) + x), b = a + SIDE + 1;
            memcpy(index, (uint32_t[]){a, a + 1, b, b, a + 1, b + 1}, 6 * sizeof *index);
            index += 6;
        }
    }
    small_mesh m;
    small_mesh_set(&m, v, (SIDE + 1) * (SIDE + 1), indices, 6 * SIDE * SIDE);
    mesh_canvas_draw_one(&c, &m.mesh);
    double last = SIDE * 0.371 - 2.0;
    for (int y = 0; y < 150; y++) {
        double z = 100.0 / (y + 0.5 - 75.0);
        bool floor_there = z > 0.5 && z < last;
        for (int x = 0; x < 200; x++) {
            assert_int_equal(floor_there, isfinite(c.picture.depth[y * 200 + x]) != 0);
        }
    }
    mesh_canvas_close(&c);
}

enum { RINGS = 128, SECTORS = 256 };

// A sphere around (0, 0, 3) of radius 1 with exact normals, wound counter-clockwise from outside.
static void make_sphere(orr_mesh_vertex *v, uint32_t *index)
{
    for (int i = 0; i <= RINGS; i++) {
        for (int j = 0; j <= SECTORS; j++) {
            double a = 3.14159265358979 * i / RINGS, b = 6.28318530717959 * j / SECTORS;
            float n[3] = {(float)(sin(a) * cos(b)), (float)cos(a), (float)(sin(a) * sin(b))};
            orr_mesh_vertex *p = &v[i * (SECTORS + 1) + j];
            *p = white_vertex(n[0], n[1], n[2] + 3.0f);
            memcpy(p->normal, n, sizeof n);
        }
    }
    for (int i = 0; i < RINGS; i++) {
        for (int j = 0; j < SECTORS; j++) {
            uint32_t a = (uint32_t)(i * (SECTORS + 1) + j), b = a + SECTORS + 1;
            memcpy(index, (uint32_t[]){a, a + 1, b, b, a + 1, b + 1}, 6 * sizeof *index);
            index += 6;
        }
    }
}

static orr_mesh_vertex sphere_vertices[(RINGS + 1) * (SECTORS + 1)];
static uint32_t sphere_indices[6 * RINGS * SECTORS];

static void check_sphere(mesh_canvas *c, double side)
{
    int checked = 0;
    for (int y = 0; y < c->lens.height; y++) {
        for (int x = 0; x < c->lens.width; x++) {
            double d[3] = {(x + 0.5 - c->lens.width / 2.0) / (double)c->lens.focal[0],
                           (y + 0.5 - c->lens.height / 2.0) / (double)c->lens.focal[1], 1.0};
            double dd = d[0] * d[0] + d[1] * d[1] + 1.0, root = 9.0 - 8.0 * dd;
            size_t p = (size_t)y * (size_t)c->lens.width + (size_t)x;
            if (root < 0.0) {
                assert_true(isinf(c->picture.depth[p]));
                assert_true(c->picture.rgb[p] == 0.0f);
            } else if (root > 0.01) { // the polygon's rim is not the circle's
                double z = (3.0 - side * sqrt(root)) / dd;
                // the facets' sagitta, r (pi / 256)^2 / 2 = 8e-5, grows by 1 / cosine towards the rim
                assert_true(fabs((double)c->picture.depth[p] - z) < 2e-3);
                double n[3] = {side * d[0] * z, side * d[1] * z, side * (z - 3.0)};
                double cosine = fmax(0.6 * n[0] - 0.8 * n[2], 0.0);
                assert_true(fabs((double)(c->picture.rgb[p] - (float)srgb_encode(0.25 + cosine))) < 2e-3);
                checked++;
            }
        }
    }
    assert_true(checked > 5000);
}

static void a_sphere_is_shaded_by_lamberts_law(void **state)
{
    (void)state;
    mesh_canvas c = mesh_canvas_open(straight_camera(161, 119, 120.0f), 2);
    make_sphere(sphere_vertices, sphere_indices);
    small_mesh m;
    small_mesh_set(&m, sphere_vertices, (RINGS + 1) * (SECTORS + 1), sphere_indices, 6 * RINGS * SECTORS);
    mesh_canvas_draw_one(&c, &m.mesh);
    check_sphere(&c, 1.0);
    // one-sided, the front half is all there is to see
    m.material.two_sided = false;
    mesh_canvas_draw_one(&c, &m.mesh);
    check_sphere(&c, 1.0);
    int64_t drawn = c.counts.drawn;
    assert_true(drawn > 0 && drawn < c.counts.triangles * 6 / 10);
    // wound in reverse and one-sided: the inner side of the back half, normals turned round
    for (int i = 0; i < 6 * RINGS * SECTORS; i += 3) {
        uint32_t swap = sphere_indices[i];
        sphere_indices[i] = sphere_indices[i + 1];
        sphere_indices[i + 1] = swap;
    }
    mesh_canvas_draw_one(&c, &m.mesh);
    check_sphere(&c, -1.0);
    mesh_canvas_close(&c);
}

static void what_emits_is_brighter_and_what_is_unlit_ignores_the_light(void **state)
{
    (void)state;
    mesh_canvas c = mesh_canvas_open(straight_camera(40, 40, 40.0f), 1);
    orr_mesh_vertex v[3] = {white_vertex(-1, -1, 2), white_vertex(1, -1, 2), white_vertex(0, 1, 2)};
    uint32_t indices[3] = {0, 1, 2};
    small_mesh m;
    small_mesh_set(&m, v, 3, indices, 3);
    memcpy(m.material.base_colour, (float[]){0.2f, 0.4f, 0.0f}, 3 * sizeof(float));
    memcpy(m.material.emissive, (float[]){0.125f, 0.0f, 0.5f}, 3 * sizeof(float));
    for (int unlit = 0; unlit < 2; unlit++) {
        m.material.unlit = unlit != 0;
        mesh_canvas_draw_one(&c, &m.mesh);
        const double light = 0.25 + 0.8; // ambient, and the sun by its cosine
        const double lit[3] = {0.2 * light + 0.125, 0.4 * light, 0.5}, plain[3] = {0.2, 0.4, 0.0};
        for (int k = 0; k < 3; k++) {
            float expected = (float)srgb_encode(unlit ? plain[k] : lit[k]);
            // the curves in float, by exp2 and log2
            assert_true(fabs((double)(c.picture.rgb[1600 * k + 20 * 40 + 20] - expected)) < 1e-5);
        }
    }
    mesh_canvas_close(&c);
}

// Lanes that show the same triangle share what was gathered of it, and a triangle whose corners have one
// normal has it everywhere: not so beside lanes of another triangle, and with two equal normals of three.
static void pixels_have_the_colour_of_their_own_triangle(void **state)
{
    (void)state;
    enum { WIDTH = 64, HEIGHT = 16, FIRST = 5, LAST = 6, PIXELS = WIDTH * HEIGHT };
    const float left = (FIRST - WIDTH / 2) / 64.0f, right = (LAST + 1 - WIDTH / 2) / 64.0f;
    mesh_canvas c = mesh_canvas_open(straight_camera(WIDTH, HEIGHT, 64.0f), 1);
    // a wall, and before it a sheet over two columns within the first lanes of a row
    orr_mesh_vertex v[7] = {white_vertex(-8, -8, 2),   white_vertex(8, -8, 2),     white_vertex(0, 8, 2),
                            white_vertex(left, -1, 1), white_vertex(right, -1, 1), white_vertex(right, 1, 1),
                            white_vertex(left, 1, 1)};
    uint32_t indices[9] = {0, 1, 2, 3, 4, 5, 3, 5, 6};
    for (int i = 0; i < 7; i++) {
        v[i].colour[i < 3 ? 1 : 0] = v[i].colour[2] = 0;
    }
    small_mesh m;
    small_mesh_set(&m, v, 7, indices, 9);
    m.material.unlit = true;
    mesh_canvas_draw_one(&c, &m.mesh);
    for (int i = 0; i < PIXELS; i++) {
        const bool sheet = i % WIDTH >= FIRST && i % WIDTH <= LAST;
        assert_true(fabsf(c.picture.rgb[i] - (sheet ? 0.0f : 1.0f)) < 1e-5f);
        assert_true(fabsf(c.picture.rgb[PIXELS + i] - (sheet ? 1.0f : 0.0f)) < 1e-5f);
    }
    orr_mesh_vertex lit[3] = {white_vertex(-8, -8, 2), white_vertex(8, -8, 2), white_vertex(0, 8, 2)};
    lit[2].normal[0] = 0.6f;
    lit[2].normal[2] = -0.8f;
    small_mesh_set(&m, lit, 3, indices, 3);
    m.material.base_colour[0] = 0.5f;
    mesh_canvas_draw_one(&c, &m.mesh);
    const double y = 2.0 * 0.5 / 64.0, w = (y + 8.0) / 16.0, x = 0.6 * w, z = 0.8 * w + 1.0 - w; // row 8
    const double cosine = (0.6 * x + 0.8 * z) / sqrt(x * x + z * z);
    assert_true(fabsf(c.picture.rgb[8 * WIDTH + 32] - (float)srgb_encode(0.5 * (0.25 + cosine))) < 1e-4f);
    mesh_canvas_close(&c);
}

// Colours that emit, through each curve, against values computed from the curves' definitions in double.
// Unlit surfaces show their own.
static void light_is_mapped_for_the_display(void **state)
{
    (void)state;
    static const struct {
        orr_tone tone;
        float exposure, light[3];
        double shown[3]; // linear
    } cases[] = {
        {ORR_TONE_NONE, 1.0f, {0.1f, 0.2f, 0.3f}, {0.2, 0.4, 0.6}},
        {ORR_TONE_NEUTRAL, 0.0f, {0.5f, 0.5f, 0.5f}, {0.46, 0.46, 0.46}},
        {ORR_TONE_NEUTRAL, 0.0f, {10.0f, 1.0f, 1.0f}, {0.9939, 0.6109, 0.6109}},
        {ORR_TONE_NEUTRAL, -1.0f, {1.6f, 1.6f, 1.6f}, {0.76, 0.76, 0.76}},
        {ORR_TONE_AGX, 0.0f, {0.18f, 0.18f, 0.18f}, {0.2145, 0.2145, 0.2145}},
        {ORR_TONE_ACES, 0.0f, {0.18f, 0.18f, 0.18f}, {0.2131, 0.2131, 0.2131}},
        {ORR_TONE_NEUTRAL, 0.0f, {INFINITY, 0.0f, 0.0f}, {1.0, 1.0, 1.0}},
        {ORR_TONE_AGX, 0.0f, {0.0f, 0.0f, 0.0f}, {0.0, 0.0, 0.0}},
    };
    mesh_canvas c = mesh_canvas_open(straight_camera(16, 16, 8.0f), 1);
    orr_mesh_vertex v[4];
    for (int i = 0; i < 4; i++) {
        v[i] = white_vertex(i % 2 ? 5.0f : -5.0f, i / 2 ? 5.0f : -5.0f, 3.0f);
    }
    uint32_t indices[6] = {0, 1, 2, 2, 1, 3};
    small_mesh m;
    small_mesh_set(&m, v, 4, indices, 6);
    orr_draw_mesh one = {.mesh = &m.mesh};
    memcpy(one.model, identity, sizeof identity);
    orr_isa isa;
    assert_ok(orr_isa_choose(&isa, &error));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int unlit = 0; unlit < 2; unlit++) {
            orr_draw_list list = {.lens = c.lens,
                                  .meshes = &one,
                                  .mesh_count = 1,
                                  .tone = cases[i].tone,
                                  .exposure = cases[i].exposure};
            memcpy(m.material.emissive, cases[i].light, sizeof m.material.emissive);
            m.material.unlit = unlit;
            m.material.base_colour[0] = 0.5f;
            orr_arena_reset(&c.arena);
            assert_ok(
                orr_mesh_raster(c.jobs, isa, &c.arena, &list, NULL, c.picture, &c.fragments, NULL, &error));
            for (int k = 0; k < 3; k++) {
                // the known values have four digits
                const double shown = srgb_encode(unlit ? (k == 0 ? 0.5 : 1.0) : cases[i].shown[k]);
                assert_true(fabs((double)c.picture.rgb[256 * k + 100] - shown) < 1e-3);
            }
        }
    }
    mesh_canvas_close(&c);
}

static void of_equal_depths_the_first_in_the_list_is_seen(void **state)
{
    (void)state;
    mesh_canvas c = mesh_canvas_open(straight_camera(40, 40, 40.0f), 1);
    orr_mesh_vertex v[3] = {white_vertex(-1, -1, 2), white_vertex(1, -1, 3), white_vertex(0, 1, 4)};
    uint32_t indices[3] = {0, 1, 2};
    small_mesh black, white;
    small_mesh_set(&black, v, 3, indices, 3);
    small_mesh_set(&white, v, 3, indices, 3);
    memset(black.material.base_colour, 0, 3 * sizeof(float));
    orr_draw_mesh meshes[2] = {{.mesh = &black.mesh}, {.mesh = &white.mesh}};
    for (int swap = 0; swap < 2; swap++) {
        memcpy(meshes[0].model, identity, sizeof identity);
        memcpy(meshes[1].model, identity, sizeof identity);
        mesh_canvas_draw(&c, meshes, 2);
        assert_true(isfinite(c.picture.depth[20 * 40 + 20]));
        assert_int_equal(c.picture.rgb[20 * 40 + 20] > 0.0f, swap);
        orr_draw_mesh first = meshes[0];
        meshes[0] = meshes[1];
        meshes[1] = first;
    }
    mesh_canvas_close(&c);
}

static void nothing_to_draw_is_an_empty_picture(void **state)
{
    (void)state;
    mesh_canvas c = mesh_canvas_open(straight_camera(67, 131, 50.0f), 2);
    mesh_canvas_draw(&c, NULL, 0);
    for (int p = 0; p < 67 * 131; p++) {
        assert_true(isinf(c.picture.depth[p]));
        assert_true(c.picture.rgb[p] == 0.0f && c.picture.rgb[p + 2 * 67 * 131] == 0.0f);
    }
    assert_int_equal(c.counts.triangles, 0);
    assert_int_equal(c.counts.drawn, 0);
    mesh_canvas_close(&c);
}

// Several spheres through each other, moved, turned and scaled by their models.
static void any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    enum { WIDTH = 331, HEIGHT = 197, PIXELS = WIDTH * HEIGHT };
    make_sphere(sphere_vertices, sphere_indices);
    small_mesh m;
    small_mesh_set(&m, sphere_vertices, (RINGS + 1) * (SECTORS + 1), sphere_indices, 6 * RINGS * SECTORS);
    orr_draw_mesh meshes[5];
    for (int i = 0; i < 5; i++) {
        orr_transform transform = {.position = {0.4f * (float)i - 0.8f, 0.2f * (float)(i % 2), -1.0f},
                                   .rotation = {1.0f, 0.1f * (float)i, 0.0f, 0.0f},
                                   .scale = 0.7f + 0.1f * (float)i};
        meshes[i] = (orr_draw_mesh){.mesh = &m.mesh};
        assert_ok(orr_affine_from_transform(&transform, meshes[i].model, &error));
    }
    float *first = malloc(4 * PIXELS * sizeof *first);
    const int threads[] = {1, 2, 3, 5};
    for (int i = 0; i < 4; i++) {
        mesh_canvas c = mesh_canvas_open(straight_camera(WIDTH, HEIGHT, 200.0f), threads[i]);
        size_t growths = 0;
        for (int frame = 0; frame < 3; frame++) {
            growths = c.arena.growths;
            mesh_canvas_draw(&c, meshes, 5);
        }
        assert_int_equal(c.arena.growths, growths); // warm: nothing is allocated
        if (i == 0) {
            memcpy(first, c.picture.depth, PIXELS * sizeof *first);
            memcpy(first + PIXELS, c.picture.rgb, 3 * PIXELS * sizeof *first);
        }
        assert_memory_equal(first, c.picture.depth, PIXELS * sizeof *first);
        assert_memory_equal(first + PIXELS, c.picture.rgb, 3 * PIXELS * sizeof *first);
        mesh_canvas_close(&c);
    }
    free(first);
}

// The alpha of vertex colours makes holes where it falls below the cutoff: from 0 on the left to 1 on the
// right, times 0.8.
static void vertex_colours_have_an_alpha(void **state)
{
    (void)state;
    orr_camera camera = straight_camera(64, 16, 1.0f);
    camera.model = ORR_CAMERA_ORTHOGRAPHIC;
    mesh_canvas c = mesh_canvas_open(camera, 1);
    orr_mesh_vertex v[4];
    for (int i = 0; i < 4; i++) {
        v[i] = white_vertex(i % 2 ? 32.0f : -32.0f, i / 2 ? 8.0f : -8.0f, 4);
        v[i].colour[3] = i % 2 ? 255 : 0;
    }
    uint32_t indices[6] = {0, 1, 2, 2, 1, 3};
    small_mesh m;
    small_mesh_set(&m, v, 4, indices, 6);
    m.material.base_colour[3] = 0.8f;
    m.material.alpha_cutoff = 0.5f;
    mesh_canvas_draw_one(&c, &m.mesh);
    for (int i = 0; i < 64 * 16; i++) {
        assert_int_equal(isfinite(c.picture.depth[i]), 0.8 * (i % 64 + 0.5) / 64.0 >= 0.5);
    }
    mesh_canvas_close(&c);
}

// The first of two meshes stands still, and is kept until it moves or its light changes.
static void meshes_that_stand_still_are_kept(void **state)
{
    (void)state;
    mesh_canvas c = mesh_canvas_open(straight_camera(64, 48, 50.0f), 1);
    orr_mesh_vertex v[3] = {white_vertex(-1, -1, 4), white_vertex(1, -1, 4), white_vertex(0, 1, 4)};
    uint32_t indices[3] = {0, 1, 2};
    small_mesh m;
    orr_isa isa;
    orr_kept_meshes *kept;
    int repeats;
    small_mesh_set(&m, v, 3, indices, 3);
    orr_draw_mesh items[2] = {{.mesh = &m.mesh, .key = 7}, {.mesh = &m.mesh, .key = 8}};
    memcpy(items[0].model, identity, sizeof identity);
    memcpy(items[1].model, identity, sizeof identity);
    orr_draw_list list = {.lens = c.lens,
                          .meshes = items,
                          .mesh_count = 2,
                          .sun = {.colour = {1, 1, 1}, .direction = {0, 0, -1}}};
    assert_ok(orr_isa_choose(&isa, &error));
    assert_ok(orr_kept_meshes_create(&kept, &error));
    for (int i = 1; i <= 3; i++) {
        items[1].model[3] = 0.1f * (float)i;
        assert_ok(orr_kept_meshes_repeats(kept, &list, &repeats, &error));
        assert_int_equal(repeats, i);
        assert_int_equal(orr_kept_meshes_still(kept, &list), i == 1 ? 2 : 1);
        assert_null(orr_kept_meshes_picture_of(kept, &list));
    }
    assert_ok(orr_kept_meshes_hold(kept, c.jobs, isa, &list, &error));
    items[1].model[3] = 0.7f;
    assert_ok(orr_kept_meshes_repeats(kept, &list, &repeats, &error));
    assert_int_equal(repeats, 0);
    assert_int_equal(orr_kept_meshes_picture_of(kept, &list)->count, 1);
    const orr_draw_list held = list;
    list.sun.colour[0] = 0.5f;
    assert_null(orr_kept_meshes_picture_of(kept, &list));
    list = held;
    list.shadows = true;
    assert_null(orr_kept_meshes_picture_of(kept, &list));
    list = held;
    list.smooth = true;
    assert_null(orr_kept_meshes_picture_of(kept, &list));
    list = held;
    items[0].model[3] = 0.01f;
    assert_null(orr_kept_meshes_picture_of(kept, &list));
    items[0].model[3] = 0.0f;
    assert_non_null(orr_kept_meshes_picture_of(kept, &list));
    items[0].key = items[1].key = 0; // of one list alone
    assert_null(orr_kept_meshes_picture_of(kept, &list));
    orr_kept_meshes_destroy(kept);
    mesh_canvas_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meshes_that_stand_still_are_kept),
        cmocka_unit_test(vertex_colours_have_an_alpha),
        cmocka_unit_test(a_plane_has_its_analytic_depth),
        cmocka_unit_test(shared_edges_are_covered_exactly_once),
        cmocka_unit_test(triangles_through_the_near_plane_are_cut_there),
        cmocka_unit_test(cut_triangles_leave_no_seams),
        cmocka_unit_test(a_sphere_is_shaded_by_lamberts_law),
        cmocka_unit_test(what_emits_is_brighter_and_what_is_unlit_ignores_the_light),
        cmocka_unit_test(pixels_have_the_colour_of_their_own_triangle),
        cmocka_unit_test(light_is_mapped_for_the_display),
        cmocka_unit_test(of_equal_depths_the_first_in_the_list_is_seen),
        cmocka_unit_test(nothing_to_draw_is_an_empty_picture),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
    };
    return cmocka_run_group_tests_name("mesh_raster", tests, NULL, NULL);
}
