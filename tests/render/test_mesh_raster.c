// Tests of the CPU's mesh rasteriser against analytic results. Runs once per instruction set.
#define ORR_SCALAR
#include "engine/core/memory.h"
#include "engine/image/image.h"
#include "engine/maths/colour_formula.h"
#include "render/cpu/kept/kept_meshes.h"
#include "render/cpu/mesh_raster.h"
#include "render/texture_formula.h"
#include "tests/support/scenes/small_mesh.h"
#include "tests/support/srgb.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

// A picture being drawn, and what draws it.
typedef struct canvas {
    orr_jobs *jobs;
    orr_arena arena;
    orr_lens lens;
    orr_mesh_picture picture;
    orr_mesh_counts counts;
    orr_fragment_lists fragments;
} canvas;

static canvas open_canvas(orr_camera camera, int threads)
{
    canvas c = {0};
    assert_ok(orr_camera_resolve(&camera, &c.lens, &error));
    assert_ok(orr_jobs_create(threads, NULL, NULL, &c.jobs, &error));
    size_t pixels = (size_t)camera.width * (size_t)camera.height;
    c.picture.depth = malloc(pixels * sizeof(float));
    c.picture.rgb = malloc(3 * pixels * sizeof(float));
    return c;
}

static void close_canvas(canvas *c)
{
    orr_jobs_destroy(c->jobs);
    orr_arena_destroy(&c->arena);
    free(c->picture.depth);
    free(c->picture.rgb);
}

static void draw(canvas *c, const orr_draw_mesh *meshes, int count)
{
    orr_draw_list list = {
        .lens = c->lens,
        .meshes = meshes,
        .mesh_count = count,
        .sun = {.direction = {0.6f, 0.0f, -0.8f}, .colour = {1, 1, 1}, .ambient = {0.25f, 0.25f, 0.25f}}};
    orr_isa isa;
    orr_arena_reset(&c->arena);
    assert_ok(orr_isa_choose(&isa, &error));
    assert_ok(
        orr_mesh_raster(c->jobs, isa, &c->arena, &list, NULL, c->picture, &c->fragments, &c->counts, &error));
}

static void draw_one(canvas *c, const orr_mesh *mesh)
{
    orr_draw_mesh one = {.mesh = mesh};
    memcpy(one.model, identity, sizeof identity);
    draw(c, &one, 1);
}

// Looks along +z from the origin, which is the identity pose.
static orr_camera straight(int width, int height, float focal)
{
    orr_camera camera = {.width = width, .height = height, .focal = {focal, focal}, .near_plane = 0.1f};
    memcpy(camera.pose, identity, sizeof identity);
    return camera;
}

static orr_mesh_vertex vertex(float x, float y, float z)
{
    return (orr_mesh_vertex){.position = {x, y, z}, .normal = {0, 0, -1}, .colour = {255, 255, 255, 255}};
}

// A rectangle of two triangles over the plane z = 4 + x / 2 + y / 4.
static float plane_z(float x, float y)
{
    return 4.0f + 0.5f * x + 0.25f * y;
}

static void a_plane_has_its_analytic_depth(void **state)
{
    (void)state;
    for (int orthographic = 0; orthographic < 2; orthographic++) {
        orr_camera camera = straight(333, 201, orthographic ? 60.0f : 250.0f);
        camera.model = orthographic ? ORR_CAMERA_ORTHOGRAPHIC : ORR_CAMERA_PERSPECTIVE;
        canvas c = open_canvas(camera, 2);
        orr_mesh_vertex v[4];
        for (int i = 0; i < 4; i++) {
            float x = i % 2 ? 1.6f : -1.7f, y = i / 2 ? 1.2f : -1.1f;
            v[i] = vertex(x, y, plane_z(x, y));
        }
        uint32_t indices[6] = {0, 1, 2, 2, 1, 3};
        small_mesh m;
        small_mesh_set(&m, v, 4, indices, 6);
        draw_one(&c, &m.mesh);
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
        close_canvas(&c);
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
    orr_camera camera = straight(SIDE, SIDE, 1.0f);
    camera.model = ORR_CAMERA_ORTHOGRAPHIC;
    camera.centre[0] = camera.centre[1] = 0.001f; // not 0, which means the middle
    canvas c = open_canvas(camera, 1);
    uint32_t seed = 5;
    for (int round = 0; round < 20; round++) {
        orr_mesh_vertex v[SPOKES + 1];
        uint32_t indices[3 * SPOKES];
        // even rounds: vertices on pixel centres, so that edges run through centres too
        float shift = round % 2 ? (float)(next_random(&seed) % 1000) / 1000.0f : 0.499f;
        v[SPOKES] = vertex(48.0f + shift, 48.0f + shift, 1.0f);
        for (int i = 0; i < SPOKES; i++) {
            double angle = 6.283185307 * i / SPOKES, radius = 20.0 + next_random(&seed) % 25;
            v[i] = vertex((float)floor(48.0 + radius * cos(angle)) + shift,
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
            draw_one(&c, &m.mesh);
            for (int p = 0; p < SIDE * SIDE; p++) {
                covered[p] += isfinite(c.picture.depth[p]) != 0;
            }
        }
        m.part = (orr_mesh_part){0, 3 * SPOKES, 0};
        draw_one(&c, &m.mesh);
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
    close_canvas(&c);
}

// A floor from behind the camera to far in front of it, far wider than the picture: cut at the near plane and
// at the guard band.
static void triangles_through_the_near_plane_are_cut_there(void **state)
{
    (void)state;
    orr_camera camera = straight(200, 150, 100.0f);
    camera.near_plane = 2.0f;
    camera.far_plane = 50.0f;
    canvas c = open_canvas(camera, 2);
    // a millionfold: at the near plane the floor is 10^8 pixels wide
    orr_mesh_vertex v[4] = {vertex(-1e6f, 1, -1000), vertex(1e6f, 1, -1000), vertex(-1e6f, 1, 1000),
                            vertex(1e6f, 1, 1000)};
    uint32_t indices[6] = {0, 1, 2, 2, 1, 3};
    small_mesh m;
    small_mesh_set(&m, v, 4, indices, 6);
    draw_one(&c, &m.mesh);
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
    close_canvas(&c);
}

// The same floor as many small triangles: no seams where only some of them are cut.
static void cut_triangles_leave_no_seams(void **state)
{
    (void)state;
    enum { SIDE = 40 };
    orr_camera camera = straight(200, 150, 100.0f);
    camera.near_plane = 0.5f;
    canvas c = open_canvas(camera, 2);
    static orr_mesh_vertex v[(SIDE + 1) * (SIDE + 1)];
    static uint32_t indices[6 * SIDE * SIDE];
    for (int i = 0; i < (SIDE + 1) * (SIDE + 1); i++) {
        v[i] = vertex((float)(i % (SIDE + 1) - SIDE / 2) * 173.7f, 1.0f,
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
    draw_one(&c, &m.mesh);
    double last = SIDE * 0.371 - 2.0;
    for (int y = 0; y < 150; y++) {
        double z = 100.0 / (y + 0.5 - 75.0);
        bool floor_there = z > 0.5 && z < last;
        for (int x = 0; x < 200; x++) {
            assert_int_equal(floor_there, isfinite(c.picture.depth[y * 200 + x]) != 0);
        }
    }
    close_canvas(&c);
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
            *p = vertex(n[0], n[1], n[2] + 3.0f);
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

static void check_sphere(canvas *c, double side)
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
    canvas c = open_canvas(straight(161, 119, 120.0f), 2);
    make_sphere(sphere_vertices, sphere_indices);
    small_mesh m;
    small_mesh_set(&m, sphere_vertices, (RINGS + 1) * (SECTORS + 1), sphere_indices, 6 * RINGS * SECTORS);
    draw_one(&c, &m.mesh);
    check_sphere(&c, 1.0);
    // one-sided, the front half is all there is to see
    m.material.two_sided = false;
    draw_one(&c, &m.mesh);
    check_sphere(&c, 1.0);
    int64_t drawn = c.counts.drawn;
    assert_true(drawn > 0 && drawn < c.counts.triangles * 6 / 10);
    // wound in reverse and one-sided: the inner side of the back half, normals turned round
    for (int i = 0; i < 6 * RINGS * SECTORS; i += 3) {
        uint32_t swap = sphere_indices[i];
        sphere_indices[i] = sphere_indices[i + 1];
        sphere_indices[i + 1] = swap;
    }
    draw_one(&c, &m.mesh);
    check_sphere(&c, -1.0);
    close_canvas(&c);
}

// A slanted wall with a texture of two halves: the seam is where the camera's model puts it.
static void check_wall(orr_camera camera)
{
    canvas c = open_canvas(camera, 1);
    uint8_t texels[4 * 64];
    orr_image8 texture = {64, 1, texels};
    for (int i = 0; i < 64; i++) {
        memcpy(texels + 4 * i, i < 32 ? (uint8_t[]){188, 0, 0, 255} : (uint8_t[]){0, 128, 0, 255}, 4);
    }
    // x = -1 .. 1 while z = 2 .. 6
    orr_mesh_vertex v[4] = {vertex(-1, -1, 2), vertex(1, -1, 6), vertex(-1, 1, 2), vertex(1, 1, 6)};
    for (int i = 0; i < 4; i++) {
        v[i].uv[0] = (float)(i % 2);
    }
    uint32_t indices[6] = {0, 1, 2, 2, 1, 3};
    small_mesh m;
    small_mesh_set(&m, v, 4, indices, 6);
    m.mesh.textures = &texture;
    m.mesh.texture_count = 1;
    m.material.texture = 0;
    draw_one(&c, &m.mesh);
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
    close_canvas(&c);
}

static void texture_is_perspective_correct(void **state)
{
    (void)state;
    check_wall(straight(200, 150, 150.0f));
    orr_camera camera = straight(200, 150, 60.0f);
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
        canvas c = open_canvas(straight(SIDE, SIDE, SIDE), 1);
        orr_mesh_vertex v[4];
        for (int i = 0; i < 4; i++) {
            v[i] = vertex(i % 2 ? 1.0f : -1.0f, i / 2 ? 1.0f : -1.0f, 1.0f);
            v[i].uv[0] = i % 2 ? 1.5f * SIDE / (EACH * TEXELS) : -0.5f * SIDE / (EACH * TEXELS);
            v[i].uv[1] = i / 2 ? 1.5f * SIDE / (EACH * TEXELS) : -0.5f * SIDE / (EACH * TEXELS);
        }
        uint32_t indices[6] = {0, 1, 2, 2, 1, 3};
        small_mesh m;
        small_mesh_set(&m, v, 4, indices, 6);
        m.mesh.textures = &texture;
        m.mesh.texture_count = 1;
        m.material.texture = 0;
        m.material.unlit = true;
        draw_one(&c, &m.mesh);
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
        close_canvas(&c);
    }
}

static void what_emits_is_brighter_and_what_is_unlit_ignores_the_light(void **state)
{
    (void)state;
    canvas c = open_canvas(straight(40, 40, 40.0f), 1);
    orr_mesh_vertex v[3] = {vertex(-1, -1, 2), vertex(1, -1, 2), vertex(0, 1, 2)};
    uint32_t indices[3] = {0, 1, 2};
    small_mesh m;
    small_mesh_set(&m, v, 3, indices, 3);
    memcpy(m.material.base_colour, (float[]){0.2f, 0.4f, 0.0f}, 3 * sizeof(float));
    memcpy(m.material.emissive, (float[]){0.125f, 0.0f, 0.5f}, 3 * sizeof(float));
    for (int unlit = 0; unlit < 2; unlit++) {
        m.material.unlit = unlit != 0;
        draw_one(&c, &m.mesh);
        const double light = 0.25 + 0.8; // ambient, and the sun by its cosine
        const double lit[3] = {0.2 * light + 0.125, 0.4 * light, 0.5}, plain[3] = {0.2, 0.4, 0.0};
        for (int k = 0; k < 3; k++) {
            float expected = (float)srgb_encode(unlit ? plain[k] : lit[k]);
            // the curves in float, by exp2 and log2
            assert_true(fabs((double)(c.picture.rgb[1600 * k + 20 * 40 + 20] - expected)) < 1e-5);
        }
    }
    close_canvas(&c);
}

// Lanes that show the same triangle share what was gathered of it, and a triangle whose corners have one
// normal has it everywhere: not so beside lanes of another triangle, and with two equal normals of three.
static void pixels_have_the_colour_of_their_own_triangle(void **state)
{
    (void)state;
    enum { WIDTH = 64, HEIGHT = 16, FIRST = 5, LAST = 6, PIXELS = WIDTH * HEIGHT };
    const float left = (FIRST - WIDTH / 2) / 64.0f, right = (LAST + 1 - WIDTH / 2) / 64.0f;
    canvas c = open_canvas(straight(WIDTH, HEIGHT, 64.0f), 1);
    // a wall, and before it a sheet over two columns within the first lanes of a row
    orr_mesh_vertex v[7] = {vertex(-8, -8, 2),    vertex(8, -8, 2),    vertex(0, 8, 2),   vertex(left, -1, 1),
                            vertex(right, -1, 1), vertex(right, 1, 1), vertex(left, 1, 1)};
    uint32_t indices[9] = {0, 1, 2, 3, 4, 5, 3, 5, 6};
    for (int i = 0; i < 7; i++) {
        v[i].colour[i < 3 ? 1 : 0] = v[i].colour[2] = 0;
    }
    small_mesh m;
    small_mesh_set(&m, v, 7, indices, 9);
    m.material.unlit = true;
    draw_one(&c, &m.mesh);
    for (int i = 0; i < PIXELS; i++) {
        const bool sheet = i % WIDTH >= FIRST && i % WIDTH <= LAST;
        assert_true(fabsf(c.picture.rgb[i] - (sheet ? 0.0f : 1.0f)) < 1e-5f);
        assert_true(fabsf(c.picture.rgb[PIXELS + i] - (sheet ? 1.0f : 0.0f)) < 1e-5f);
    }
    orr_mesh_vertex lit[3] = {vertex(-8, -8, 2), vertex(8, -8, 2), vertex(0, 8, 2)};
    lit[2].normal[0] = 0.6f;
    lit[2].normal[2] = -0.8f;
    small_mesh_set(&m, lit, 3, indices, 3);
    m.material.base_colour[0] = 0.5f;
    draw_one(&c, &m.mesh);
    const double y = 2.0 * 0.5 / 64.0, w = (y + 8.0) / 16.0, x = 0.6 * w, z = 0.8 * w + 1.0 - w; // row 8
    const double cosine = (0.6 * x + 0.8 * z) / sqrt(x * x + z * z);
    assert_true(fabsf(c.picture.rgb[8 * WIDTH + 32] - (float)srgb_encode(0.5 * (0.25 + cosine))) < 1e-4f);
    close_canvas(&c);
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
    canvas c = open_canvas(straight(16, 16, 8.0f), 1);
    orr_mesh_vertex v[4];
    for (int i = 0; i < 4; i++) {
        v[i] = vertex(i % 2 ? 5.0f : -5.0f, i / 2 ? 5.0f : -5.0f, 3.0f);
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
    close_canvas(&c);
}

static void of_equal_depths_the_first_in_the_list_is_seen(void **state)
{
    (void)state;
    canvas c = open_canvas(straight(40, 40, 40.0f), 1);
    orr_mesh_vertex v[3] = {vertex(-1, -1, 2), vertex(1, -1, 3), vertex(0, 1, 4)};
    uint32_t indices[3] = {0, 1, 2};
    small_mesh black, white;
    small_mesh_set(&black, v, 3, indices, 3);
    small_mesh_set(&white, v, 3, indices, 3);
    memset(black.material.base_colour, 0, 3 * sizeof(float));
    orr_draw_mesh meshes[2] = {{.mesh = &black.mesh}, {.mesh = &white.mesh}};
    for (int swap = 0; swap < 2; swap++) {
        memcpy(meshes[0].model, identity, sizeof identity);
        memcpy(meshes[1].model, identity, sizeof identity);
        draw(&c, meshes, 2);
        assert_true(isfinite(c.picture.depth[20 * 40 + 20]));
        assert_int_equal(c.picture.rgb[20 * 40 + 20] > 0.0f, swap);
        orr_draw_mesh first = meshes[0];
        meshes[0] = meshes[1];
        meshes[1] = first;
    }
    close_canvas(&c);
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
    canvas c = open_canvas(straight(64, 64, 60.0f), 1);
    orr_mesh_vertex v[4] = {vertex(-1, -1, 2), vertex(1, -1, 2), vertex(-1, 1, 2), vertex(1, 1, 2)};
    for (int i = 0; i < 4; i++) {
        v[i].uv[0] = 2.0f * (float)(i % 2);
        v[i].uv[1] = 2.0f * (float)(i / 2);
    }
    uint32_t indices[6] = {0, 1, 2, 2, 1, 3};
    small_mesh m;
    small_mesh_set(&m, v, 4, indices, 6);
    m.mesh.textures = &texture;
    m.mesh.texture_count = 1;
    m.material.texture = 0;
    assert_ok(orr_mesh_build_mips(&m.mesh, &error));
    draw_one(&c, &m.mesh);
    float expected = (float)srgb_encode(0.5 * (0.25 + 0.8));
    for (int p = 0; p < 64 * 64; p++) {
        if (isfinite(c.picture.depth[p])) {
            // mips are bytes: half a step of 1/255 in display values, and the light's factor
            assert_true(fabsf(c.picture.rgb[p] - expected) < 4e-3f);
        }
    }
    orr_image8_free(&m.mesh.textures[0]);
    close_canvas(&c);
}

static void holes_show_what_is_behind(void **state)
{
    (void)state;
    uint8_t texels[4 * 16 * 16];
    orr_image8 texture = {16, 16, texels};
    for (int i = 0; i < 16 * 16; i++) {
        memcpy(texels + 4 * i, (uint8_t[]){255, 255, 255, i % 16 < 8 ? 0 : 255}, 4);
    }
    canvas c = open_canvas(straight(80, 80, 80.0f), 1);
    orr_mesh_vertex v[8];
    for (int i = 0; i < 8; i++) {
        v[i] = vertex(i % 2 ? 1.0f : -1.0f, i / 2 % 2 ? 1.0f : -1.0f, i < 4 ? 3.0f : 4.0f);
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
    draw_one(&c, &m.mesh);
    for (int x = 20; x < 60; x++) {
        float depth = c.picture.depth[40 * 80 + x];
        float green = c.picture.rgb[6400 + 40 * 80 + x];
        if (x > 22 && x < 38) {
            assert_true(fabsf(depth - 4.0f) < 1e-5f && green == 0.0f);
        } else if (x > 42 && x < 58) {
            assert_true(fabsf(depth - 3.0f) < 1e-5f && green > 0.5f);
        }
    }
    close_canvas(&c);
}

static void nothing_to_draw_is_an_empty_picture(void **state)
{
    (void)state;
    canvas c = open_canvas(straight(67, 131, 50.0f), 2);
    draw(&c, NULL, 0);
    for (int p = 0; p < 67 * 131; p++) {
        assert_true(isinf(c.picture.depth[p]));
        assert_true(c.picture.rgb[p] == 0.0f && c.picture.rgb[p + 2 * 67 * 131] == 0.0f);
    }
    assert_int_equal(c.counts.triangles, 0);
    assert_int_equal(c.counts.drawn, 0);
    close_canvas(&c);
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
        canvas c = open_canvas(straight(WIDTH, HEIGHT, 200.0f), threads[i]);
        size_t growths = 0;
        for (int frame = 0; frame < 3; frame++) {
            growths = c.arena.growths;
            draw(&c, meshes, 5);
        }
        assert_int_equal(c.arena.growths, growths); // warm: nothing is allocated
        if (i == 0) {
            memcpy(first, c.picture.depth, PIXELS * sizeof *first);
            memcpy(first + PIXELS, c.picture.rgb, 3 * PIXELS * sizeof *first);
        }
        assert_memory_equal(first, c.picture.depth, PIXELS * sizeof *first);
        assert_memory_equal(first + PIXELS, c.picture.rgb, 3 * PIXELS * sizeof *first);
        close_canvas(&c);
    }
    free(first);
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

// The alpha of vertex colours makes holes where it falls below the cutoff: from 0 on the left to 1 on the
// right, times 0.8.
static void vertex_colours_have_an_alpha(void **state)
{
    (void)state;
    orr_camera camera = straight(64, 16, 1.0f);
    camera.model = ORR_CAMERA_ORTHOGRAPHIC;
    canvas c = open_canvas(camera, 1);
    orr_mesh_vertex v[4];
    for (int i = 0; i < 4; i++) {
        v[i] = vertex(i % 2 ? 32.0f : -32.0f, i / 2 ? 8.0f : -8.0f, 4);
        v[i].colour[3] = i % 2 ? 255 : 0;
    }
    uint32_t indices[6] = {0, 1, 2, 2, 1, 3};
    small_mesh m;
    small_mesh_set(&m, v, 4, indices, 6);
    m.material.base_colour[3] = 0.8f;
    m.material.alpha_cutoff = 0.5f;
    draw_one(&c, &m.mesh);
    for (int i = 0; i < 64 * 16; i++) {
        assert_int_equal(isfinite(c.picture.depth[i]), 0.8 * (i % 64 + 0.5) / 64.0 >= 0.5);
    }
    close_canvas(&c);
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
static void assert_sampled(canvas *c, small_mesh *m, orr_mesh_vertex v[4], const double step[2],
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
    draw_one(c, &m->mesh);
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
    orr_camera camera = straight(SAMPLED_WIDTH, SAMPLED_HEIGHT, 1.0f);
    camera.model = ORR_CAMERA_ORTHOGRAPHIC;
    canvas c = open_canvas(camera, 1);
    uint8_t texels[4 * 4 * 8];
    uint32_t indices[6] = {0, 1, 2, 2, 1, 3}, seed = 5;
    for (int i = 0; i < 4 * 4 * 8; i++) {
        texels[i] = i % 4 == 3 ? 255 : (uint8_t)next_random(&seed);
    }
    orr_mesh_vertex v[4];
    for (int i = 0; i < 4; i++) {
        v[i] = vertex(0, 0, 4);
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
    close_canvas(&c);
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
    canvas c = open_canvas(straight(FLOOR_SIDE, FLOOR_SIDE, focal), 1);
    orr_mesh_vertex v[4];
    for (int i = 0; i < 4; i++) {
        const float side = i % 2 ? reach : -reach, z = i / 2 ? 2.0f * reach : 0.0f;
        v[i] = vertex(side, 1.0f, z);
        memcpy(v[i].normal, (float[]){0, -1, 0}, sizeof v[i].normal);
        v[i].uv[0] = side / repeat;
        v[i].uv[1] = z / repeat;
    }
    uint32_t indices[6] = {0, 1, 2, 2, 1, 3};
    small_mesh m;
    small_mesh_set(&m, v, 4, indices, 6);
    m.mesh.textures = &texture;
    m.mesh.texture_count = 1;
    m.material.texture = 0;
    assert_ok(orr_mesh_build_mips(&m.mesh, &error));
    draw_one(&c, &m.mesh);
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
    close_canvas(&c);
}

// The first of two meshes stands still, and is kept until it moves or its light changes.
static void meshes_that_stand_still_are_kept(void **state)
{
    (void)state;
    canvas c = open_canvas(straight(64, 48, 50.0f), 1);
    orr_mesh_vertex v[3] = {vertex(-1, -1, 4), vertex(1, -1, 4), vertex(0, 1, 4)};
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
    close_canvas(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meshes_that_stand_still_are_kept),
        cmocka_unit_test(textures_repeat),
        cmocka_unit_test(textures_are_looked_up_as_their_samplers_say),
        cmocka_unit_test(vertex_colours_have_an_alpha),
        cmocka_unit_test(pixels_cover_an_ellipse_of_the_texture),
        cmocka_unit_test(floors_are_sharp_and_even),
        cmocka_unit_test(a_plane_has_its_analytic_depth),
        cmocka_unit_test(shared_edges_are_covered_exactly_once),
        cmocka_unit_test(triangles_through_the_near_plane_are_cut_there),
        cmocka_unit_test(cut_triangles_leave_no_seams),
        cmocka_unit_test(a_sphere_is_shaded_by_lamberts_law),
        cmocka_unit_test(texture_is_perspective_correct),
        cmocka_unit_test(texels_are_mixed_by_their_distances),
        cmocka_unit_test(what_emits_is_brighter_and_what_is_unlit_ignores_the_light),
        cmocka_unit_test(pixels_have_the_colour_of_their_own_triangle),
        cmocka_unit_test(light_is_mapped_for_the_display),
        cmocka_unit_test(of_equal_depths_the_first_in_the_list_is_seen),
        cmocka_unit_test(mips_make_far_textures_even),
        cmocka_unit_test(holes_show_what_is_behind),
        cmocka_unit_test(nothing_to_draw_is_an_empty_picture),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
    };
    return cmocka_run_group_tests_name("mesh_raster", tests, NULL, NULL);
}
