// Clouds that follow a cage, against a dense mesh that follows it too: a bar whose faces are discs of splats,
// and the same faces as triangles, stretched, twisted and bent far.
#include "physics/soft/mesh/box_mesh.h"
#include "physics/soft/mesh/embed.h"
#include "render/cpu/splats_cpu.h"
#include "render/splat/deform.h"
#include "tests/support/drawn.h"
#include "tests/support/scenes/small_mesh.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// 6 mm between points of the faces of a bar of 0.72 x 0.18 x 0.18 m
enum { LONG = 121, WIDE = 31, FACE = LONG * WIDE, POINTS = 4 * FACE, WIDTH = 400, HEIGHT = 300 };
static const double spacing = 0.006, half_width = 0.09;

static orr_jobs *jobs;
static orr_isa isa;

typedef struct bar {
    orr_soft_mesh tets;
    orr_soft_cage cage;
    orr_affine_piece *pieces;
    orr_mesh_vertex vertices[POINTS];
    uint32_t indices[4 * (LONG - 1) * (WIDE - 1) * 6];
    small_mesh mesh;
    orr_splats *splats;
    orr_splat_pack *pack;
    int32_t vertex_piece[POINTS];
    int32_t *splat_piece;
} bar;

// The point of a face; its outward normal is that of axis `face`: y, z, -y, -z.
static void point_of(int face, int column, int row, double point[3], double normal[3])
{
    const double across = spacing * row - half_width, sign = face < 2 ? 1.0 : -1.0;
    const int out = 1 + face % 2;
    point[0] = spacing * column - 0.5 * spacing * (LONG - 1);
    point[out] = sign * half_width;
    point[3 - out] = across;
    memset(normal, 0, 3 * sizeof *normal);
    normal[out] = sign;
}

// Stretched to 1.6 of its length, twisted by 180 degrees from end to end, and bent by 100 degrees.
static void deform(const double from[3], double to[3])
{
    const double pi = 3.141592653589793, length = spacing * (LONG - 1), along = from[0] / length;
    const double twist = pi * along, bend = 100.0 / 180.0 * pi * along;
    const double radius = 1.6 * length / (100.0 / 180.0 * pi);
    const double y = cos(twist) * from[1] - sin(twist) * from[2];
    const double z = sin(twist) * from[1] + cos(twist) * from[2];
    to[0] = (radius - z) * sin(bend);
    to[1] = y;
    to[2] = radius - (radius - z) * cos(bend);
}

static void vertex_at(const void *context, int64_t i, double p[3])
{
    const orr_mesh_vertex *vertices = context;
    for (int k = 0; k < 3; k++) {
        p[k] = (double)vertices[i].position[k];
    }
}

static void splat_at(const void *context, int64_t i, double p[3])
{
    const orr_splat_pack *pack = context;
    for (int k = 0; k < 3; k++) {
        p[k] = (double)pack->geometry[(i / ORR_PACK_BLOCK * ORR_PACK_GEOMETRY + k) * ORR_PACK_BLOCK +
                                      i % ORR_PACK_BLOCK];
    }
}

static void make_faces(bar *b)
{
    uint32_t *index = b->indices;
    orr_splats_view s;
    assert_ok(orr_splats_create(POINTS, 0, &b->splats, &error));
    s = orr_splats_data(b->splats);
    for (int i = 0; i < POINTS; i++) {
        const int face = i / FACE, column = i % LONG, row = i % FACE / LONG;
        const bool white = (face + column / 12 + row / 15) % 2;
        double point[3], normal[3];
        point_of(face, column, row, point, normal);
        b->vertices[i] = (orr_mesh_vertex){.colour = {0, 0, 0, 255}};
        for (int k = 0; k < 3; k++) {
            b->vertices[i].position[k] = s.position[3 * i + k] = (float)point[k];
            b->vertices[i].normal[k] = (float)normal[k];
            b->vertices[i].colour[k] = white ? 255 : 0;
            s.colour[3 * i + k] = (white ? 0.5f : -0.5f) / 0.28209479f;
            // as wide as gaps need it, and as flat as nothing shows
            s.log_scale[3 * i + k] = (float)log(fabs(normal[k]) > 0.5 ? 1e-4 : 0.8 * spacing);
        }
        s.rotation[4 * i] = 1.0f;
        s.opacity[i] = 4.0f;
        if (column + 1 < LONG && row + 1 < WIDE) {
            const uint32_t a = (uint32_t)i, c = a + LONG, quad[6] = {a, a + 1, c, a + 1, c + 1, c};
            memcpy(index, quad, sizeof quad);
            index += 6;
        }
    }
    assert_int_equal(index - b->indices, sizeof b->indices / sizeof *b->indices);
    small_mesh_set(&b->mesh, b->vertices, POINTS, b->indices, (int)(index - b->indices));
    b->mesh.material.two_sided = true;
}

static void open_bar(bar *b)
{
    const int cells[3] = {24, 6, 6};
    // a little larger than what is in it
    const double size[3] = {spacing * LONG, 2.0 * half_width + spacing, 2.0 * half_width + spacing};
    assert_ok(orr_soft_box(cells, size, &b->tets, &error));
    b->cage = (orr_soft_cage){
        .vertices = b->tets.vertices, .vertex = b->tets.vertex, .tets = b->tets.tets, .tet = b->tets.tet};
    make_faces(b);
    const orr_splats_view s = orr_splats_data(b->splats);
    assert_ok(orr_splat_pack_create(jobs, &s, NULL, &b->pack, &error));
    const int64_t places = b->pack->blocks * ORR_PACK_BLOCK;
    b->splat_piece = malloc((size_t)places * sizeof *b->splat_piece);
    const orr_soft_points corners = {POINTS, vertex_at, b->vertices}, discs = {places, splat_at, b->pack};
    assert_ok(orr_soft_embed(&b->cage, &corners, jobs, b->vertex_piece, &error));
    assert_ok(orr_soft_embed(&b->cage, &discs, jobs, b->splat_piece, &error));
    double *moved = malloc(3 * (size_t)b->cage.vertices * sizeof *moved);
    for (int i = 0; i < b->cage.vertices; i++) {
        deform(b->cage.vertex + 3 * (ptrdiff_t)i, moved + 3 * (ptrdiff_t)i);
    }
    b->pieces = malloc((size_t)b->cage.tets * sizeof *b->pieces);
    orr_soft_affines(&b->cage, moved, 1.0, jobs, b->pieces);
    free(moved);
}

static void close_bar(bar *b)
{
    orr_soft_mesh_destroy(&b->tets);
    orr_splat_pack_destroy(b->pack);
    orr_splats_destroy(b->splats);
    free(b->pieces);
    free(b->splat_piece);
}

static drawn draw(orr_draw_list *list)
{
    const float eye[3] = {0.3f, -1.5f, 0.8f}, target[3] = {0.0f, 0.0f, 0.1f}, up[3] = {0.0f, 0.0f, 1.0f};
    const orr_camera camera = orr_camera_look_at(eye, target, up, 0.7f, WIDTH, HEIGHT);
    orr_arena arena = {0};
    orr_profile profile = {0};
    assert_ok(orr_camera_resolve(&camera, &list->lens, &error));
    drawn d = drawn_make(list);
    assert_ok(
        orr_draw_cpu(jobs, isa, &arena, list, NULL, &(orr_picture){d.rgba, d.depth}, NULL, &profile, &error));
    orr_arena_destroy(&arena);
    return d;
}

// How the cloud's picture differs from the mesh's, as shares of the pixels that the mesh covers and that are
// unlike it: covered or not, in depth by more than two spacings, in colour by more than a quarter.
typedef struct differences {
    double outline, depth, colour;
} differences;

// Is a part of the mesh's picture of one kind around a pixel, so that the width of discs does not matter?
static bool is_even(const drawn *d, int x, int y)
{
    enum { REACH = 3 };
    const float *middle = d->rgba + 4 * (ptrdiff_t)(y * WIDTH + x);
    for (int v = y - REACH; v <= y + REACH; v++) {
        for (int u = x - REACH; u <= x + REACH; u++) {
            const float *at = d->rgba + 4 * (ptrdiff_t)(v * WIDTH + u);
            if (u < 0 || v < 0 || u >= WIDTH || v >= HEIGHT || at[0] != middle[0] || at[3] != middle[3]) {
                return false;
            }
        }
    }
    return true;
}

static differences compare(bar *b)
{
    orr_deformed moved = {0};
    assert_ok(orr_deform_mesh(&b->mesh.mesh, b->vertex_piece, b->pieces, jobs, &moved, &error));
    const orr_draw_mesh mesh = {
        .mesh = &moved.mesh, .key = 1, .model = {[0] = 1.0f, [5] = 1.0f, [10] = 1.0f}};
    const orr_draw_splats cloud = {.pack = b->pack,
                                   .key = 2,
                                   .model = {[0] = 1.0f, [5] = 1.0f, [10] = 1.0f},
                                   .deformation = {b->splat_piece, b->pieces, b->cage.tets}};
    drawn surface = draw(&(orr_draw_list){
        .meshes = &mesh, .mesh_count = 1, .sun = {.ambient = {1.0f, 1.0f, 1.0f}, .direction = {0, 0, 1}}});
    drawn discs = draw(&(orr_draw_list){.splats = &cloud, .splat_count = 1});
    int covered = 0, outline = 0, depth = 0, colour = 0;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        if (!is_even(&surface, i % WIDTH, i / WIDTH)) {
            continue;
        }
        const bool here = surface.rgba[4 * i + 3] > 0.5f, there = discs.rgba[4 * i + 3] > 0.5f;
        covered += here;
        outline += here != there;
        depth += here && fabs((double)(surface.depth[i] - discs.depth[i])) > 2.0 * spacing;
        colour += here && fabsf(surface.rgba[4 * i] - discs.rgba[4 * i]) > 0.25f;
    }
    drawn_free(&surface);
    drawn_free(&discs);
    orr_deformed_clear(&moved);
    assert_true(covered > 2000);
    return (differences){(double)outline / covered, (double)depth / covered, (double)colour / covered};
}

static void a_cloud_follows_as_a_dense_mesh_does(void **state)
{
    (void)state;
    static bar b;
    open_bar(&b);
    const differences d = compare(&b);
    print_message("    outline %.2f %%, depth %.2f %%, colour %.2f %%\n", 100.0 * d.outline, 100.0 * d.depth,
                  100.0 * d.colour);
    // pixels of the creases between faces, where a disc of the one lies over the other
    assert_true(d.outline < 0.005 && d.depth < 0.01 && d.colour < 0.01);
    close_bar(&b);
}

int main(void)
{
    orr_error why = {0};
    if (orr_isa_choose(&isa, &why) != ORR_OK) {
        print_message("%s\n", why.message);
        return 77;
    }
    if (orr_jobs_create(2, NULL, NULL, &jobs, NULL) != ORR_OK) {
        return 1;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_cloud_follows_as_a_dense_mesh_does)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    orr_jobs_destroy(jobs);
    return failed;
}
