// Tests of how the CPU's mesh rasteriser looks up textures: perspective, filters, mips, samplers, and holes.
// Runs once per instruction set.
#define ORR_SCALAR
#include "engine/core/memory.h"
#include "engine/image/image.h"
#include "engine/maths/colour_formula.h"
#include "render/texture_formula.h"
#include "tests/render/scenes/mesh_canvas.h"
#include "tests/support/srgb.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A square with a texture; its corners row by row.
static void set_square(small_mesh *m, orr_mesh_vertex corners[4], orr_image8 *texture)
{
    static uint32_t indices[6] = {0, 1, 2, 2, 1, 3};
    small_mesh_set(m, corners, 4, indices, 6);
    m->mesh.textures = texture;
    m->mesh.texture_count = 1;
    m->material.texture = 0;
}

// A slanted wall with a texture of two halves: the seam is where the camera's model puts it.
static void check_wall(orr_camera camera)
{
    mesh_canvas c = mesh_canvas_open(camera, 1);
    uint8_t texels[4 * 64];
    orr_image8 texture = {64, 1, texels};
    for (int i = 0; i < 64; i++) {
        memcpy(texels + 4 * i, i < 32 ? (uint8_t[]){188, 0, 0, 255} : (uint8_t[]){0, 128, 0, 255}, 4);
    }
    // x = -1 .. 1 while z = 2 .. 6
    orr_mesh_vertex v[4] = {white_vertex(-1, -1, 2), white_vertex(1, -1, 6), white_vertex(-1, 1, 2),
                            white_vertex(1, 1, 6)};
    for (int i = 0; i < 4; i++) {
        v[i].uv[0] = (float)(i % 2);
    }
    small_mesh m;
    set_square(&m, v, &texture);
    mesh_canvas_draw_one(&c, &m.mesh);
    int seen[2] = {0};
    for (int p = 0; p < 200 * 150; p++) {
        if (isinf(c.picture.depth[p])) {
            continue;
        }
        double dx = (p % 200 + 0.5 - 100.0) / (double)camera.focal[0];
        // t along the wall: x = -1 + 2 t, z = 2 + 4 t, and dx = x / z in perspective
        double t =
            camera.model == ORR_CAMERA_ORTHOGRAPHIC ? 0.5 * (dx + 1.0) : (1.0 + 2.0 * dx) / (2.0 - 4.0 * dx);
        // a texel from the seam and from the ends, where the texture repeats, the filter sees one colour
        if (t < 0.02 || t > 0.98 || fabs(t - 0.5) < 0.02) {
            continue;
        }
        bool red = t < 0.5;
        seen[red]++;
        double byte = red ? 188.0 : 128.0;
        float expected = (float)srgb_encode((0.25 + 0.8) * srgb_decode(byte / 255.0));
        // the curves in float, by exp2 and log2
        assert_true(fabs((double)(c.picture.rgb[p + (red ? 0 : 30000)] - expected)) < 1e-5);
        assert_true(fabs((double)c.picture.rgb[p + (red ? 30000 : 0)]) < 1e-6);
    }
    assert_true(seen[0] > 500 && seen[1] > 500);
    mesh_canvas_close(&c);
}

static void texture_is_perspective_correct(void **state)
{
    (void)state;
    check_wall(straight_camera(200, 150, 150.0f));
    orr_camera camera = straight_camera(200, 150, 60.0f);
    camera.model = ORR_CAMERA_ORTHOGRAPHIC;
    check_wall(camera);
}

// A wall of texels that are each some pixels wide, of one to sixteen colours: what each pixel shows is the
// mean of the four around it.
static void texels_are_mixed_by_their_distances(void **state)
{
    (void)state;
    enum { SIDE = 96, TEXELS = 16, EACH = 3 };
    for (int colours = 1; colours <= 16; colours++) {
        static uint8_t texels[4 * TEXELS * TEXELS];
        orr_image8 texture = {TEXELS, TEXELS, texels};
        for (int i = 0; i < TEXELS * TEXELS; i++) {
            const int colour = (i * i / 7 + i / TEXELS) % colours;
            const uint8_t texel[4] = {(uint8_t)(15 * colour), (uint8_t)(255 - 9 * colour), 77, 255};
            memcpy(texels + 4 * i, texel, 4);
        }
        mesh_canvas c = mesh_canvas_open(straight_camera(SIDE, SIDE, SIDE), 1);
        orr_mesh_vertex v[4];
        for (int i = 0; i < 4; i++) {
            v[i] = white_vertex(i % 2 ? 1.0f : -1.0f, i / 2 ? 1.0f : -1.0f, 1.0f);
            v[i].uv[0] = i % 2 ? 1.5f * SIDE / (EACH * TEXELS) : -0.5f * SIDE / (EACH * TEXELS);
            v[i].uv[1] = i / 2 ? 1.5f * SIDE / (EACH * TEXELS) : -0.5f * SIDE / (EACH * TEXELS);
        }
        small_mesh m;
        set_square(&m, v, &texture);
        m.material.unlit = true;
        mesh_canvas_draw_one(&c, &m.mesh);
        for (int p = 0; p < SIDE * SIDE; p++) {
            const double x = (p % SIDE + 0.5) / EACH - 0.5, y = (p / SIDE + 0.5) / EACH - 0.5;
            for (int k = 0; k < 3; k++) {
                double sum = 0.0;
                for (int corner = 0; corner < 4; corner++) {
                    const double column = floor(x) + corner % 2, row = floor(y) + corner / 2;
                    const int at = ((int)row + TEXELS) % TEXELS * TEXELS + ((int)column + TEXELS) % TEXELS;
                    const double byte = texels[4 * at + k] / 255.0;
                    sum += (1.0 - fabs(x - column)) * (1.0 - fabs(y - row)) * srgb_decode(byte);
                }
                assert_true(fabsf(c.picture.rgb[k * SIDE * SIDE + p] - (float)srgb_encode(sum)) < 2e-4f);
            }
        }
        mesh_canvas_close(&c);
    }
}

// A fine chessboard far away is even grey in linear light with mips; without them it is black and white.
static void mips_make_far_textures_even(void **state)
{
    (void)state;
    enum { SIDE = 256 };
    uint8_t *texels = malloc(4 * SIDE * SIDE);
    for (int i = 0; i < SIDE * SIDE; i++) {
        memset(texels + 4 * i, (i % SIDE + i / SIDE) % 2 ? 255 : 0, 3);
        texels[4 * i + 3] = 255;
    }
    orr_image8 texture = {SIDE, SIDE, texels};
    mesh_canvas c = mesh_canvas_open(straight_camera(64, 64, 60.0f), 1);
    orr_mesh_vertex v[4] = {white_vertex(-1, -1, 2), white_vertex(1, -1, 2), white_vertex(-1, 1, 2),
                            white_vertex(1, 1, 2)};
    for (int i = 0; i < 4; i++) {
        v[i].uv[0] = 2.0f * (float)(i % 2);
        v[i].uv[1] = 2.0f * (float)(i / 2);
    }
    small_mesh m;
    set_square(&m, v, &texture);
    assert_ok(orr_mesh_build_mips(&m.mesh, &error));
    mesh_canvas_draw_one(&c, &m.mesh);
    float expected = (float)srgb_encode(0.5 * (0.25 + 0.8));
    for (int p = 0; p < 64 * 64; p++) {
        if (isfinite(c.picture.depth[p])) {
            // mips are bytes: half a step of 1/255 in display values, and the light's factor
            assert_true(fabsf(c.picture.rgb[p] - expected) < 4e-3f);
        }
    }
    orr_image8_free(&m.mesh.textures[0]);
    mesh_canvas_close(&c);
}

static void holes_show_what_is_behind(void **state)
{
    (void)state;
    uint8_t texels[4 * 16 * 16];
    orr_image8 texture = {16, 16, texels};
    for (int i = 0; i < 16 * 16; i++) {
        memcpy(texels + 4 * i, (uint8_t[]){255, 255, 255, i % 16 < 8 ? 0 : 255}, 4);
    }
    mesh_canvas c = mesh_canvas_open(straight_camera(80, 80, 80.0f), 1);
    orr_mesh_vertex v[8];
    for (int i = 0; i < 8; i++) {
        v[i] = white_vertex(i % 2 ? 1.0f : -1.0f, i / 2 % 2 ? 1.0f : -1.0f, i < 4 ? 3.0f : 4.0f);
        v[i].uv[0] = (float)(i % 2);
        v[i].uv[1] = (float)(i / 2 % 2);
    }
    uint32_t indices[12] = {0, 1, 2, 2, 1, 3, 4, 5, 6, 6, 5, 7};
    small_mesh m;
    small_mesh_set(&m, v, 8, indices, 12);
    orr_mesh_part parts[2] = {{0, 6, 0}, {6, 6, 1}};
    orr_mesh_material materials[2] = {m.material, m.material};
    materials[0].texture = 0;
    materials[0].alpha_cutoff = 0.5f;
    materials[1].base_colour[1] = 0.0f;
    m.mesh.parts = parts;
    m.mesh.materials = materials;
    m.mesh.part_count = m.mesh.material_count = 2;
    m.mesh.textures = &texture;
    m.mesh.texture_count = 1;
    mesh_canvas_draw_one(&c, &m.mesh);
    for (int x = 20; x < 60; x++) {
        float depth = c.picture.depth[40 * 80 + x];
        float green = c.picture.rgb[6400 + 40 * 80 + x];
        if (x > 22 && x < 38) {
            assert_true(fabsf(depth - 4.0f) < 1e-5f && green == 0.0f);
        } else if (x > 42 && x < 58) {
            assert_true(fabsf(depth - 3.0f) < 1e-5f && green > 0.5f);
        }
    }
    mesh_canvas_close(&c);
}

// Texels wrap around at all four edges, and the longer of both steps chooses the level.
static void textures_repeat(void **state)
{
    (void)state;
    const texture_sampler repeated = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    texture_square first = texture_around(make_real2(0.01f, 0.01f), 4.0f, 8.0f, repeated, false);
    texture_square last = texture_around(make_real2(0.99f, 0.99f), 4.0f, 8.0f, repeated, false);
    assert_float_equal(first.left, 3.0f, 0.0);
    assert_float_equal(first.right, 0.0f, 0.0);
    assert_float_equal(first.top, 7.0f, 0.0);
    assert_float_equal(first.bottom, 0.0f, 0.0);
    assert_float_equal(last.left, 3.0f, 0.0);
    assert_float_equal(last.right, 0.0f, 0.0);
    assert_float_equal(last.top, 7.0f, 0.0);
    assert_float_equal(last.bottom, 0.0f, 0.0);
}

static void assert_covers(real2 across, real2 down, float last, float level, float sides, real2 axis)
{
    const texture_footprint f = texture_cover(across, down, last);
    assert_float_equal(f.level, level, 1e-5);
    assert_float_equal(f.sides, sides, 1e-5);
    if (sides > 0.0f) { // the other way is as good
        const float same = f.axis.x * axis.x + f.axis.y * axis.y < 0.0f ? -1.0f : 1.0f;
        assert_float_equal(same * f.axis.x, axis.x, 1e-5);
        assert_float_equal(same * f.axis.y, axis.y, 1e-5);
    }
}

static void pixels_cover_an_ellipse_of_the_texture(void **state)
{
    (void)state;
    const real2 none = {0.0f, 0.0f};
    const float h = sqrtf(0.5f);
    assert_covers(make_real2(0.5f, 0.0f), make_real2(0.0f, 0.5f), 5.0f, 0.0f, 0.0f, none);
    assert_covers(make_real2(0.0f, 4.0f), make_real2(-4.0f, 0.0f), 5.0f, 2.0f, 0.0f, none);
    assert_covers(make_real2(0.0f, 4.0f), make_real2(-4.0f, 0.0f), 1.0f, 1.0f, 0.0f, none);
    // round enough for one place as large as its longer axis
    assert_covers(make_real2(4.0f, 0.0f), make_real2(0.0f, 3.0f), 5.0f, 2.0f, 0.0f, none);
    // 9 by 1: six places of 1.5, two and a half of them on each side
    const texture_footprint f = texture_cover(make_real2(1.0f, 0.0f), make_real2(0.0f, 9.0f), 5.0f);
    assert_covers(make_real2(1.0f, 0.0f), make_real2(0.0f, 9.0f), 5.0f, log2f(1.5f), 2.5f,
                  make_real2(0.0f, 1.5f));
    assert_float_equal(texture_weight(f, 2.0f), 1.0f, 1e-6);
    assert_float_equal(texture_weight(f, 3.0f), 0.5f, 1e-6);
    assert_float_equal(texture_weight(f, 4.0f), 0.0f, 1e-6);
    assert_float_equal(texture_place(0.5f, 3.0f), 2.75f, 1e-6); // its outer end is at half of the longer axis
    // both steps nearly the same: long along the diagonal, as many places as there may be
    const float place = 18.0f / 7.0f;
    assert_covers(make_real2(9.0f, 9.0f), make_real2(9.0f, 9.0f), 5.0f, log2f(place), 3.0f,
                  make_real2(place * h, place * h));
    // turned: steps of 8 along the diagonal and of 2 across it
    assert_covers(make_real2(8.0f * h, 8.0f * h), make_real2(-2.0f * h, 2.0f * h), 5.0f, log2f(3.0f),
                  0.5f * (8.0f / 3.0f - 1.0f), make_real2(3.0f * h, 3.0f * h));
}

enum { SAMPLED_WIDTH = 48, SAMPLED_HEIGHT = 40 };

// A column or row of a picture, by the rules of OpenGL 4.6, section 8.14.3.
static int wrapped_texel(int i, int size, int wrap)
{
    const int once = (i % size + size) % size, twice = (i % (2 * size) + 2 * size) % (2 * size) - size;
    return wrap == ORR_WRAP_CLAMP    ? (i < 0      ? 0
                                        : i < size ? i
                                                   : size - 1)
           : wrap == ORR_WRAP_MIRROR ? size - 1 - (twice >= 0 ? twice : -1 - twice)
                                     : once;
}

// Adds a place of a level of a texture with mips: u, v in repeats of the picture.
static void add_lookup(const orr_image8 *texture, int level, double u, double v,
                       const orr_texture_sampler *how, bool nearest, double weight, double sum[3])
{
    int32_t firsts[ORR_MIP_LEVELS];
    orr_mip_chain(texture, firsts);
    const int width = orr_mip_side(texture->width, level), height = orr_mip_side(texture->height, level);
    const double x = u * width - (nearest ? 0.0 : 0.5), y = v * height - (nearest ? 0.0 : 0.5);
    for (int i = 0; i < (nearest ? 1 : 4); i++) {
        const int column = wrapped_texel((int)floor(x) + i % 2, width, how->wrap_u),
                  row = wrapped_texel((int)floor(y) + i / 2, height, how->wrap_v);
        const double right = x - floor(x), below = y - floor(y);
        const double part = nearest ? 1.0 : (i % 2 ? right : 1.0 - right) * (i / 2 ? below : 1.0 - below);
        const uint8_t *texel = texture->rgba + 4 * (firsts[level] + row * width + column);
        for (int k = 0; k < 3; k++) {
            sum[k] += weight * part * (double)srgb_to_linear((float)texel[k] / 255.0f);
        }
    }
}

// Linear colour where a pixel steps by so many texels across and down.
static void expect_sampled(const orr_image8 *texture, double u, double v, const double step[2],
                           const orr_texture_sampler *how, double sum[3])
{
    const int last = how->no_mips ? 0 : orr_mip_levels(texture->width, texture->height) - 1;
    const texture_footprint f =
        texture_cover(make_real2((float)step[0], 0.0f), make_real2(0.0f, (float)step[1]), (float)last);
    const bool is_small = step[0] > 1.0 || step[1] > 1.0;
    const bool nearest = is_small ? how->nearest_small : how->nearest_large;
    const double level = how->nearest_mip ? round((double)f.level) : (double)f.level;
    const int fine = (int)level, coarse = fine < last ? fine + 1 : last;
    const double part = level - fine, all = 1.0 + 2.0 * (double)f.sides;
    memset(sum, 0, 3 * sizeof *sum);
    for (int k = -TEXTURE_SIDES; k <= TEXTURE_SIDES; k++) {
        const float each = k ? texture_weight(f, (float)abs(k)) : 1.0f,
                    away = k ? texture_place(each, (float)abs(k)) * (k < 0 ? -1.0f : 1.0f) : 0.0f;
        const double at_u = u + (double)(away * f.axis.x) / texture->width,
                     at_v = v + (double)(away * f.axis.y) / texture->height, weight = (double)each / all;
        add_lookup(texture, fine, at_u, at_v, how, nearest, weight * (1.0 - part), sum);
        add_lookup(texture, coarse, at_u, at_v, how, nearest, weight * part, sum);
    }
}

// A wall with the picture in its middle, seen so that a pixel makes steps of so many texels.
static void assert_sampled(mesh_canvas *c, small_mesh *m, orr_mesh_vertex v[4], const double step[2],
                           const orr_texture_sampler *how)
{
    const orr_image8 *texture = m->mesh.textures;
    const double size[2] = {texture->width, texture->height}, pixels[2] = {SAMPLED_WIDTH, SAMPLED_HEIGHT};
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 2; k++) {
            const double end = (k ? i / 2 : i % 2) ? 0.6 : -0.6; // of the picture, from its middle
            v[i].position[k] = (float)(end * pixels[k]);
            v[i].uv[k] = (float)(0.5137 + end * pixels[k] * step[k] / size[k]);
        }
    }
    m->material.samplers[ORR_TEXTURE_BASE] = *how;
    mesh_canvas_draw_one(c, &m->mesh);
    for (int i = 0; i < SAMPLED_WIDTH * SAMPLED_HEIGHT; i++) {
        const double x = i % SAMPLED_WIDTH + 0.5 - SAMPLED_WIDTH / 2.0,
                     y = i / SAMPLED_WIDTH + 0.5 - SAMPLED_HEIGHT / 2.0;
        double sum[3];
        expect_sampled(texture, 0.5137 + x * step[0] / size[0], 0.5137 + y * step[1] / size[1], step, how,
                       sum);
        for (int k = 0; k < 3; k++) {
            const float got = c->picture.rgb[k * SAMPLED_WIDTH * SAMPLED_HEIGHT + i];
            if (fabsf(got - (float)srgb_encode(sum[k])) > 1e-3f) {
                fail_msg("pixel %d, %d of steps %g and %g, wraps %d %d, nearest %d %d, no mips %d: %g not %g",
                         i % SAMPLED_WIDTH, i / SAMPLED_WIDTH, step[0], step[1], how->wrap_u, how->wrap_v,
                         how->nearest_large, how->nearest_small, how->no_mips, (double)got,
                         srgb_encode(sum[k]));
            }
        }
    }
}

// Repeated, clamped and mirrored, between texels or not, from near, from far, and along a slope.
static void textures_are_looked_up_as_their_samplers_say(void **state)
{
    (void)state;
    static const double steps[3][2] = {{0.19, 0.53}, {2.31, 2.17}, {0.83, 5.9}};
    orr_camera camera = straight_camera(SAMPLED_WIDTH, SAMPLED_HEIGHT, 1.0f);
    camera.model = ORR_CAMERA_ORTHOGRAPHIC;
    mesh_canvas c = mesh_canvas_open(camera, 1);
    uint8_t texels[4 * 4 * 8];
    uint32_t indices[6] = {0, 1, 2, 2, 1, 3}, seed = 5;
    for (int i = 0; i < 4 * 4 * 8; i++) {
        seed = seed * 1664525u + 1013904223u;
        texels[i] = i % 4 == 3 ? 255 : (uint8_t)(seed >> 8);
    }
    orr_mesh_vertex v[4];
    for (int i = 0; i < 4; i++) {
        v[i] = white_vertex(0, 0, 4);
    }
    orr_image8 texture = {4, 8, orr_alloc(sizeof texels, 1)};
    memcpy(texture.rgba, texels, sizeof texels);
    small_mesh m;
    small_mesh_set(&m, v, 4, indices, 6);
    m.mesh.textures = &texture;
    m.mesh.texture_count = 1;
    m.material.texture = 0;
    m.material.unlit = true;
    assert_ok(orr_mesh_build_mips(&m.mesh, &error));
    for (int i = 0; i < 9 * 8 * 3; i++) {
        const int wraps = i % 9, filters = i / 9 % 8;
        const orr_texture_sampler how = {(uint8_t)(wraps % 3), (uint8_t)(wraps / 3), filters % 2 != 0,
                                         filters / 2 % 2 != 0, filters / 4 != 0,     wraps % 2 != 0};
        assert_sampled(&c, &m, v, steps[i / 72], &how);
    }
    orr_image8_free(&m.mesh.textures[0]);
    mesh_canvas_close(&c);
}

enum { FLOOR_SIDE = 96, CELLS = 32, CELL = 8 };

// What a pixel shows of an endless chessboard a metre below, whose cells are 1/4 m: the mean of 24 x 24
// places.
static double floor_seen(int x, int y, float focal)
{
    enum { PLACES = 24 };
    int white = 0;
    for (int i = 0; i < PLACES * PLACES; i++) {
        const double px = x + (i % PLACES + 0.5) / PLACES, py = y + (i / PLACES + 0.5) / PLACES;
        const double z = (double)focal / (py - FLOOR_SIDE / 2),
                     side = (px - FLOOR_SIDE / 2) * z / (double)focal;
        white += ((int)floor(4.0 * side) + (int)floor(4.0 * z)) % 2 != 0;
    }
    return (double)white / (PLACES * PLACES);
}

// A floor at a grazing angle is blurred no more along than across: it is 5.0 % off an analytic chessboard
// (root mean square of linear light), where levels by the longer step leave 10.6 %.
static void floors_are_sharp_and_even(void **state)
{
    (void)state;
    enum { TEXELS = CELLS * CELL };
    uint8_t *texels = malloc(4 * TEXELS * TEXELS);
    for (int i = 0; i < TEXELS * TEXELS; i++) {
        memset(texels + 4 * i, (i % TEXELS / CELL + i / TEXELS / CELL) % 2 ? 255 : 0, 3);
        texels[4 * i + 3] = 255;
    }
    orr_image8 texture = {TEXELS, TEXELS, texels};
    const float focal = 48.0f, reach = 64.0f, repeat = (float)CELLS / 4.0f;
    mesh_canvas c = mesh_canvas_open(straight_camera(FLOOR_SIDE, FLOOR_SIDE, focal), 1);
    orr_mesh_vertex v[4];
    for (int i = 0; i < 4; i++) {
        const float side = i % 2 ? reach : -reach, z = i / 2 ? 2.0f * reach : 0.0f;
        v[i] = white_vertex(side, 1.0f, z);
        memcpy(v[i].normal, (float[]){0, -1, 0}, sizeof v[i].normal);
        v[i].uv[0] = side / repeat;
        v[i].uv[1] = z / repeat;
    }
    small_mesh m;
    set_square(&m, v, &texture);
    assert_ok(orr_mesh_build_mips(&m.mesh, &error));
    mesh_canvas_draw_one(&c, &m.mesh);
    double sum = 0.0;
    int count = 0;
    for (int y = FLOOR_SIDE / 2 + 3; y < FLOOR_SIDE; y++) {
        for (int x = 0; x < FLOOR_SIDE; x++) {
            const double seen = (double)c.picture.rgb[y * FLOOR_SIDE + x];
            const double linear = srgb_decode(seen);
            const double off = linear / 0.25 - floor_seen(x, y, focal); // 0.25: the ambient light
            sum += off * off;
            count++;
        }
    }
    print_message("floor: %.2f %% off\n", 100.0 * sqrt(sum / count));
    assert_true(sqrt(sum / count) < 0.055);
    orr_image8_free(&m.mesh.textures[0]);
    mesh_canvas_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texture_is_perspective_correct),
        cmocka_unit_test(texels_are_mixed_by_their_distances),
        cmocka_unit_test(mips_make_far_textures_even),
        cmocka_unit_test(holes_show_what_is_behind),
        cmocka_unit_test(textures_repeat),
        cmocka_unit_test(pixels_cover_an_ellipse_of_the_texture),
        cmocka_unit_test(textures_are_looked_up_as_their_samplers_say),
        cmocka_unit_test(floors_are_sharp_and_even),
    };
    return cmocka_run_group_tests_name("mesh_textures", tests, NULL, NULL);
}
