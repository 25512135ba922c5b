// Tests of fields that rays of smooth surfaces go through, on the CPU: closed forms for a fog of one density
// in a flat mirror, and the same fields in a planar mirror's picture; and of those that paths go through.
// Runs once per instruction set.
#include "render/cpu/rays/ray_trees.h"
#include "render/cpu/splats_cpu.h"
#include "render/reference/path_tracer.h"
#include "render/splat/splat_cloud.h"
#include "tests/support/drawn.h"
#include "tests/support/scenes/small_mesh.h"
#include "tests/support/srgb.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 48, HEIGHT = 32, PIXELS = WIDTH * HEIGHT };

static const float side = 1.25f;             // of a field's cube in the world
static const float fog_at[3] = {0, 2, 1.2f}; // its middle
static const float block_at[3] = {0, 4, 2.2f};
static const double eye[3] = {0, -4, 2};

typedef struct stage {
    orr_jobs *jobs;
    orr_isa isa;
    orr_arena arena;
    orr_field *field[2]; // the fog, and a block of signed distances
    orr_occupancy grid;
    orr_field_layer *layer[2];
    orr_draw_field drawn_field[2];
    orr_splats *splats;
    orr_splat_pack *pack;
    orr_draw_splats cloud;
    orr_mesh_vertex floor_vertices[4], wall_vertices[4];
    uint32_t floor_indices[6], wall_indices[6];
    small_mesh floor, wall;
    orr_draw_mesh items[2];
    orr_ray_trees *trees;
    orr_draw_list list;
} stage;

// strength: of its encoding; 0: everything in it is 0, so that it is the same everywhere
static orr_field *make_field(const stage *s, orr_field_kind kind, float strength)
{
    orr_field *field;
    orr_field_desc desc = {.kind = kind, .seed = 3, .isa = s->isa, .machine = ORR_MLP_FP32};
    assert_ok(orr_field_config_base(kind, &desc.config, &error));
    desc.config.encoding.log2_hashmap_size = 12;
    if (kind != ORR_FIELD_NERF) { // smooth, so that roundings do not grow along the rays
        desc.config.encoding.levels = 1;
        desc.config.encoding.base_resolution = 8;
    }
    assert_ok(orr_field_create(&desc, &field, &error));
    orr_field_config_free(&desc.config);
    const orr_field_parts *parts = orr_field_parts_of(field);
    for (int64_t i = 0; i < parts->encoding.parameter_count; i++) {
        parts->table[i] *= strength;
    }
    for (int64_t i = 0; i < parts->rgb_network.parameter_count && strength == 0.0f; i++) {
        parts->rgb_network_parameters[i] = 0.0f;
    }
    orr_field_refresh(field, NULL, NULL, NULL);
    return field;
}

static void put_field(stage *s, int i, orr_field *field, const float at[3])
{
    const float to_unit[12] = {1, 0, 0, 0.5f, 0, 1, 0, 0.5f, 0, 0, 1, 0.5f};
    const bool fog = orr_field_kind_of(field) == ORR_FIELD_NERF;
    orr_field_layer_destroy(s->layer[i]);
    orr_field_destroy(s->field[i]);
    s->field[i] = field;
    assert_ok(orr_field_layer_borrow(field, fog ? &s->grid : NULL, to_unit, s->jobs, &s->layer[i], &error));
    s->drawn_field[i] = (orr_draw_field){.layer = s->layer[i],
                                         .model = {side, 0, 0, at[0], 0, side, 0, at[1], 0, 0, side, at[2]}};
}

// A rectangle of four corners with the normal n.
static void make_quad(small_mesh *m, orr_mesh_vertex *v, uint32_t *indices, const float corners[4][3],
                      const float n[3])
{
    static const uint32_t order[6] = {0, 1, 2, 0, 2, 3};
    for (int i = 0; i < 4; i++) {
        v[i] = (orr_mesh_vertex){.colour = {255, 255, 255, 255}};
        memcpy(v[i].position, corners[i], sizeof v[i].position);
        memcpy(v[i].normal, n, sizeof v[i].normal);
    }
    memcpy(indices, order, sizeof order);
    small_mesh_set(m, v, 4, indices, 6);
}

// A sheet across y, far wider than the view: it covers rays by `opacity` wherever they meet it. Where it
// stands its middle is farther from the camera than the floor is.
static void put_sheet(stage *s, float y, float blue)
{
    orr_splat_pack_destroy(s->pack);
    const orr_splats_view v = orr_splats_data(s->splats);
    const float at[3] = {0, y, -4}, size[3] = {2000, 1e-3f, 2000};
    v.opacity[0] = 1.0f; // of its logistic function
    v.rotation[0] = 1.0f;
    for (int k = 0; k < 3; k++) {
        v.position[k] = at[k];
        v.log_scale[k] = logf(size[k]);
        v.colour[k] = ((k == 2 ? blue : 0.1f) - 0.5f) / 0.28209479f;
    }
    assert_ok(orr_splat_pack_create(s->jobs, &v, NULL, &s->pack, &error));
    s->cloud = (orr_draw_splats){.pack = s->pack, .key = 1, .model = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
}

// A floor at z = 0 that is a perfect mirror, below a camera; in it are seen a fog, a block behind that, and a
// wall in the fog's middle.
static stage *open_stage(int threads)
{
    static const float level[4][3] = {{-4, -4, 0}, {4, -4, 0}, {4, 4, 0}, {-4, 4, 0}}, up[3] = {0, 0, 1},
                       upright[4][3] = {{-4, 2, 0}, {4, 2, 0}, {4, 2, 8}, {-4, 2, 8}},
                       towards[3] = {0, -1, 0};
    const float from[3] = {(float)eye[0], (float)eye[1], (float)eye[2]}, middle[3] = {0};
    stage *s = calloc(1, sizeof *s);
    assert_non_null(s);
    assert_ok(orr_jobs_create(threads, NULL, NULL, &s->jobs, &error));
    assert_ok(orr_isa_choose(&s->isa, &error));
    assert_ok(orr_occupancy_create(1, &s->grid, &error));
    orr_occupancy_refresh(&s->grid, s->jobs); // nothing is known to be empty
    put_field(s, 0, make_field(s, ORR_FIELD_NERF, 0.0f), fog_at);
    put_field(s, 1, make_field(s, ORR_FIELD_SDF, 0.0f), block_at);
    assert_ok(orr_splats_create(1, 0, &s->splats, &error));
    put_sheet(s, 1.3f, 0.9f);
    make_quad(&s->floor, s->floor_vertices, s->floor_indices, level, up);
    make_quad(&s->wall, s->wall_vertices, s->wall_indices, upright, towards);
    s->floor.material.metallic_roughness = s->wall.material.unlit = true;
    s->floor.material.metallic = 1.0f;
    memcpy(s->floor.material.base_colour, (float[4]){1, 1, 1, 1}, sizeof(float[4]));
    memcpy(s->wall.material.base_colour, (float[4]){0.7f, 0.4f, 0.1f, 1}, sizeof(float[4]));
    for (int i = 0; i < 2; i++) {
        s->items[i] = (orr_draw_mesh){.mesh = i ? &s->wall.mesh : &s->floor.mesh,
                                      .key = (uint64_t)(70 + i),
                                      .model = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
    }
    assert_ok(orr_ray_trees_create(&s->trees, &error));
    orr_camera camera = orr_camera_look_at(from, middle, up, 0.6f, WIDTH, HEIGHT);
    s->list = (orr_draw_list){.meshes = s->items,
                              .mesh_count = 1,
                              .fields = s->drawn_field,
                              .field_count = 1,
                              .splats = &s->cloud,
                              .sun = {.direction = {0, 0, 1}},
                              .rays = s->trees};
    assert_ok(orr_camera_resolve(&camera, &s->list.lens, &error));
    return s;
}

static void close_stage(stage *s)
{
    for (int i = 0; i < 2; i++) {
        orr_field_layer_destroy(s->layer[i]);
        orr_field_destroy(s->field[i]);
    }
    orr_ray_trees_destroy(s->trees);
    orr_occupancy_destroy(&s->grid);
    orr_splat_pack_destroy(s->pack);
    orr_splats_destroy(s->splats);
    orr_arena_destroy(&s->arena);
    orr_jobs_destroy(s->jobs);
    free(s);
}

static drawn draw(stage *s)
{
    drawn d = drawn_make(&s->list);
    orr_profile profile;
    orr_arena_reset(&s->arena);
    assert_ok(orr_draw_cpu(s->jobs, s->isa, &s->arena, &s->list, NULL, &(orr_picture){d.rgba, d.depth}, NULL,
                           &profile, &error));
    return d;
}

// ---- closed forms ----

// From the eye through a point of the picture [px].
static void eye_ray(const orr_lens *lens, double right, double down, double direction[3])
{
    const double x = (right - (double)lens->centre[0]) / (double)lens->focal[0],
                 y = (down - (double)lens->centre[1]) / (double)lens->focal[1];
    double length = 0.0;
    for (int k = 0; k < 3; k++) {
        const float *v = lens->view + k;
        direction[k] = x * (double)v[0] + y * (double)v[4] + (double)v[8];
        length += direction[k] * direction[k];
    }
    for (int k = 0; k < 3; k++) {
        direction[k] /= sqrt(length);
    }
}

// The ray of a pixel's centre, mirrored by the floor; false: it does not meet the floor well before the fog.
static bool mirrored_ray(const orr_lens *lens, int i, double origin[3], double direction[3])
{
    eye_ray(lens, i % WIDTH + 0.5, i / WIDTH + 0.5, direction);
    const double t = -eye[2] / direction[2];
    for (int k = 0; k < 3; k++) {
        origin[k] = eye[k] + t * direction[k];
    }
    direction[2] = -direction[2];
    return t > 0.0 && fabs(origin[0]) < 3.9 && origin[1] > -3.9 && origin[1] < 1.1;
}

// Where a ray is inside the cube of a field.
static bool inside(const double origin[3], const double direction[3], const float at[3], double range[2])
{
    range[0] = 0.0;
    range[1] = 1e9;
    for (int k = 0; k < 3; k++) {
        const double low = (double)(at[k] - 0.5f * side), high = (double)(at[k] + 0.5f * side),
                     a = (low - origin[k]) / direction[k], b = (high - origin[k]) / direction[k];
        range[0] = fmax(range[0], fmin(a, b));
        range[1] = fmin(range[1], fmax(a, b));
    }
    return range[0] < range[1];
}

// Light of what is before a surface, from front to back: as displayed, and then decoded as a whole.
typedef struct stack {
    double display[3], passes;
} stack;

static void put_behind(stack *s, const double colour[3], double alpha)
{
    for (int k = 0; k < 3; k++) {
        s->display[k] += s->passes * alpha * colour[k];
    }
    s->passes *= 1.0 - alpha;
}

enum { WALL = 1, SHEET_BEFORE = 2, SHEET_BEHIND = 4, BLOCK = 8, CASES = 16 };

// A density of 1 and grey, by its length; a sheet; an opaque block; all in their order along the ray.
static void expected_light(const double origin[3], const double direction[3], int what, double light[3])
{
    const double grey[3] = {0.5, 0.5, 0.5}, sheet[3] = {0.1, 0.1, 0.9}, covers = 1.0 / (1.0 + exp(-1.0));
    // signed distances of 0, whose gradient is 0 too: field_lit of a surface across the sun
    const double block = 0.85 * 0.35 * 0.75, lit[3] = {block, block, block}, wall[3] = {0.7, 0.4, 0.1};
    const double end = what & WALL ? (2.0 - origin[1]) / direction[1] : 1e9;
    stack s = {.passes = 1.0};
    double range[2];
    if (what & SHEET_BEFORE) {
        put_behind(&s, sheet, covers);
    }
    if (inside(origin, direction, fog_at, range) && range[0] < end) {
        put_behind(&s, grey, 1.0 - exp((range[0] - fmin(range[1], end)) / (double)side));
    }
    if (what & SHEET_BEHIND && !(what & WALL)) {
        put_behind(&s, sheet, covers);
    }
    if (what & BLOCK && inside(origin, direction, block_at, range) && range[0] < end) {
        put_behind(&s, lit, 1.0);
    }
    for (int k = 0; k < 3; k++) {
        const double covered = fmax(1.0 - s.passes, 1e-12);
        light[k] = covered * srgb_decode(s.display[k] / covered) + (what & WALL ? s.passes * wall[k] : 0.0);
    }
}

static double worst_of_fog(stage *s, int what, int *met)
{
    double worst = 0.0;
    s->list.mesh_count = what & WALL ? 2 : 1;
    s->list.field_count = what & BLOCK ? 2 : 1;
    s->list.splat_count = what & (SHEET_BEFORE | SHEET_BEHIND) ? 1 : 0;
    put_sheet(s, what & SHEET_BEHIND ? 2.9f : 1.2f, 0.9f);
    s->cloud.key = (uint64_t)what + 1;
    drawn d = draw(s);
    for (int i = 0; i < PIXELS; i++) {
        double origin[3], direction[3], light[3], range[2];
        if (!mirrored_ray(&s->list.lens, i, origin, direction)) {
            continue;
        }
        *met += inside(origin, direction, fog_at, range);
        expected_light(origin, direction, what, light);
        for (int k = 0; k < 3; k++) {
            worst = fmax(worst, fabs(srgb_decode((double)d.rgba[4 * i + k]) - light[k]));
        }
    }
    drawn_free(&d);
    return worst;
}

static void a_fog_is_in_its_place_between_surfaces_and_splats(void **state)
{
    (void)state;
    stage *s = open_stage(2);
    for (int what = 0; what < CASES; what++) {
        if ((what & SHEET_BEFORE && what & SHEET_BEHIND) || (what & SHEET_BEHIND && what & BLOCK)) {
            continue; // there is one sheet, and fields are at one depth
        }
        int met = 0;
        const double worst = worst_of_fog(s, what, &met);
        // The fog's steps are 1/600 of its side, and begin or end up to a half of one off: 1/1200 of its
        // light. Measured: 4.1e-4 at most.
        assert_true(worst < 1e-3 && met > 100);
    }
    close_stage(s);
}

// ---- textures ----

enum { TEXELS = 4 };

// A coordinate's texel, clamped or mirrored; `rim`: within a tenth of another
static int nearest_texel(double coordinate, bool mirrored, bool *rim)
{
    const double at = TEXELS * coordinate;
    *rim = *rim || fabs(at - floor(at + 0.5)) < 0.1;
    const int texel = (int)floor(at), folded = (texel % (2 * TEXELS) + 2 * TEXELS) % (2 * TEXELS);
    if (mirrored) {
        return folded < TEXELS ? folded : 2 * TEXELS - 1 - folded;
    }
    return texel < 0 ? 0 : texel < TEXELS ? texel : TEXELS - 1;
}

// The wall in the floor, with a texture that ends at its edges along u and is mirrored along v, and vertex
// colours whose alpha falls below the cutoff at x = 0.5.
static void textures_are_in_mirrors_as_their_samplers_say(void **state)
{
    (void)state;
    stage *s = open_stage(1);
    uint8_t texels[4 * TEXELS * TEXELS];
    for (int i = 0; i < 4 * TEXELS * TEXELS; i++) {
        texels[i] = i % 4 == 3 ? 255 : (uint8_t)(i * 89 + i / 7 * 31);
    }
    for (int i = 0; i < 4; i++) {
        orr_mesh_vertex *v = &s->wall_vertices[i];
        v->uv[0] = 0.5f + 0.37f * v->position[0];
        v->uv[1] = 0.83f * v->position[2];
        v->colour[3] = v->position[0] < 0.0f ? 255 : 37; // linear over 8: 127.5 at 4.68 from the left
    }
    s->wall.texture = (orr_image8){TEXELS, TEXELS, texels};
    s->wall.mesh.texture_count = 1;
    s->wall.material.texture = 0;
    s->wall.material.alpha_cutoff = 0.5f;
    s->wall.material.samplers[ORR_TEXTURE_BASE] =
        (orr_texture_sampler){ORR_WRAP_CLAMP, ORR_WRAP_MIRROR, true, true, true, false};
    memcpy(s->wall.material.base_colour, (float[4]){1, 1, 1, 1}, sizeof(float[4]));
    s->list.mesh_count = 2;
    s->list.field_count = s->list.splat_count = 0;
    drawn d = draw(s);
    int seen[2] = {0, 0};
    for (int i = 0; i < PIXELS; i++) {
        double origin[3], direction[3];
        if (!mirrored_ray(&s->list.lens, i, origin, direction) || direction[1] <= 0.0) {
            continue;
        }
        const double t = (2.0 - origin[1]) / direction[1], x = origin[0] + t * direction[0],
                     z = origin[2] + t * direction[2], alpha = 255.0 - 218.0 * (x + 4.0) / 8.0;
        bool rim = fabs(alpha - 127.5) < 3.0 || fabs(x) > 3.9 || z > 7.9;
        const int column = nearest_texel(0.5 + 0.37 * x, false, &rim),
                  row = nearest_texel(0.83 * z, true, &rim);
        for (int k = 0; k < 3 && !rim; k++) {
            const double texel = srgb_decode(texels[4 * (TEXELS * row + column) + k] / 255.0);
            assert_true(fabs(srgb_decode((double)d.rgba[4 * i + k]) - (alpha > 127.5 ? texel : 0.0)) < 1e-3);
        }
        seen[alpha > 127.5] += !rim;
    }
    assert_true(seen[0] > 100 && seen[1] > 100);
    drawn_free(&d);
    close_stage(s);
}

// ---- against planar mirrors ----

// Rays against the picture of a second camera, of fields that differ from place to place.
static void fields_look_as_in_a_planar_mirror(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        orr_field_kind kind;
        float strength;
        float z;
        double off;
    } cases[] = {// whose first step may be a half off at the floor; measured: 7.0e-4 and 4.7e-4
                 {"radiance", ORR_FIELD_NERF, 4e4f, 1.2f, 1.5e-3},
                 {"radiance, half below the floor", ORR_FIELD_NERF, 4e4f, 0.2f, 1.5e-3},
                 // the same points to roundings; measured: 1.2e-4, 1e-5 and 1.1e-4
                 {"signed distances", ORR_FIELD_SDF, 1e3f, 1.2f, 5e-4},
                 {"a volume", ORR_FIELD_VOLUME, 4e4f, 1.2f, 5e-4},
                 {"an image", ORR_FIELD_IMAGE, 4e4f, 1.2f, 5e-4}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        stage *s = open_stage(2);
        const float at[3] = {0, 2, cases[c].z};
        put_field(s, 0, make_field(s, cases[c].kind, cases[c].strength), at);
        drawn by_rays = draw(s);
        s->list.rays = NULL;
        s->list.mirrors = true;
        s->floor.material.metallic_roughness = false;
        s->floor.material.reflectance = 1.0f;
        s->items[0].key++;
        drawn mirrored = draw(s);
        double sum = 0.0, spread = 0.0, mean = 0.0;
        int count = 0;
        for (int i = 0; i < PIXELS; i++) {
            double origin[3], direction[3], range[2];
            if (!mirrored_ray(&s->list.lens, i, origin, direction) || !inside(origin, direction, at, range)) {
                continue;
            }
            for (int k = 0; k < 3; k++, count++) {
                const double a = (double)by_rays.rgba[4 * i + k], b = (double)mirrored.rgba[4 * i + k];
                sum += (a - b) * (a - b);
                spread += b * b;
                mean += b;
            }
        }
        const double off = sqrt(sum / count), deviation = sqrt(spread / count - mean * mean / count / count);
        print_message("%s: off by %.5f, %d values that deviate by %.3f\n", cases[c].name, off, count,
                      deviation);
        assert_true(off < cases[c].off && deviation > 0.03);
        drawn_free(&by_rays);
        drawn_free(&mirrored);
        close_stage(s);
    }
}

// ---- frames ----

// Captured colours, and those of unlit surfaces, have been through a camera's curve.
static void no_tone_curve_maps_what_is_as_displayed(void **state)
{
    (void)state;
    stage *s = open_stage(2);
    s->list.splat_count = 1;
    s->list.field_count = s->list.mesh_count = 2;
    drawn plain = draw(s);
    s->list.tone = ORR_TONE_ACES;
    s->list.exposure = 1.0f;
    drawn mapped = draw(s);
    for (int i = 0; i < 4 * PIXELS; i++) {
        // nothing in this scene shines
        assert_true(fabsf(plain.rgba[i] - mapped.rgba[i]) < 1e-6f);
    }
    drawn_free(&plain);
    drawn_free(&mapped);
    close_stage(s);
}

static void bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    drawn d[2];
    for (int i = 0; i < 2; i++) {
        stage *s = open_stage(i ? 5 : 1);
        put_field(s, 0, make_field(s, ORR_FIELD_NERF, 4e4f), fog_at);
        s->list.smooth = true;
        s->list.splat_count = 1;
        s->list.field_count = 2;
        d[i] = draw(s);
        close_stage(s);
    }
    assert_memory_equal(d[0].rgba, d[1].rgba, 4 * PIXELS * sizeof *d[0].rgba);
    drawn_free(&d[0]);
    drawn_free(&d[1]);
}

// ---- paths ----

static drawn trace(stage *s, int64_t samples, bool light)
{
    drawn d = drawn_make(&s->list);
    orr_path_tracer *tracer;
    assert_ok(orr_path_tracer_create(s->jobs, s->isa, &s->list, 1, &tracer, &error));
    orr_path_tracer_advance(tracer, samples);
    orr_path_tracer_picture(tracer, light, &(orr_picture){d.rgba, d.depth});
    orr_path_tracer_destroy(tracer);
    return d;
}

// What a pixel shows; false: its corners differ by more than they would within the fog, or it is beside the
// wall.
static bool expected_pixel(const orr_lens *lens, int i, int what, double light[3])
{
    double direction[3], corner[3];
    eye_ray(lens, i % WIDTH + 0.5, i / WIDTH + 0.5, direction);
    expected_light(eye, direction, what, light);
    for (int c = 0; c < 4; c++) {
        eye_ray(lens, i % WIDTH + c % 2, i / WIDTH + c / 2, direction);
        expected_light(eye, direction, what, corner);
        for (int k = 0; k < 3; k++) {
            if (fabs(corner[k] - light[k]) > 0.02) {
                return false;
            }
        }
    }
    return !(what & WALL) || eye[2] + direction[2] * (2.0 - eye[1]) / direction[1] > 0.1;
}

static void look_at(stage *s, const float at[3], float field_of_view, int width, int height)
{
    const float from[3] = {(float)eye[0], (float)eye[1], (float)eye[2]}, up[3] = {0, 0, 1};
    orr_camera camera = orr_camera_look_at(from, at, up, field_of_view, width, height);
    assert_ok(orr_camera_resolve(&camera, &s->list.lens, &error));
}

static void paths_see_a_fog_in_its_place(void **state)
{
    (void)state;
    if (is_left_to_best_isa()) {
        return;
    }
    static const int cases[] = {0, WALL | SHEET_BEFORE, BLOCK | SHEET_BEFORE};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const int what = cases[c];
        stage *s = open_stage(2);
        put_sheet(s, what & SHEET_BEHIND ? 2.9f : 1.2f, 0.9f);
        s->list.splat_count = what & (SHEET_BEFORE | SHEET_BEHIND) ? 1 : 0;
        s->list.field_count = what & BLOCK ? 2 : 1;
        s->items[0] = s->items[1]; // no floor
        look_at(s, fog_at, 0.4f, WIDTH, HEIGHT);
        s->list.mesh_count = what & WALL ? 1 : 0;
        drawn d = trace(s, 2, true);
        double worst = 0.0;
        int count = 0;
        for (int i = 0; i < PIXELS; i++) {
            double light[3];
            if (expected_pixel(&s->list.lens, i, what, light)) {
                count++;
                for (int k = 0; k < 3; k++) {
                    worst = fmax(worst, fabs((double)d.rgba[4 * i + k] - light[k]));
                }
            }
        }
        print_message("case %d: %d pixels off by %.5f at most\n", what, count, worst);
        // the fog's steps, as above, and where in the pixel its two samples are
        assert_true(worst < 0.02 && count > PIXELS / 2);
        drawn_free(&d);
        close_stage(s);
    }
}

// The light of a lamp on a white floor right below the fog, whose own light is the same with and without it.
static double lamp_below_the_fog(stage *s)
{
    double sum = 0.0;
    for (int lit = 0; lit < 2; lit++) {
        s->list.sun.colour[0] = s->list.sun.colour[1] = s->list.sun.colour[2] = (float)lit;
        drawn d = trace(s, 64, true);
        const int pixels = s->list.lens.width * s->list.lens.height;
        for (int i = 0; i < pixels; i++) {
            sum += (lit ? 1.0 : -1.0) * (double)d.rgba[4 * i + 1] / pixels;
        }
        drawn_free(&d);
    }
    return sum;
}

static void fields_cast_shadows_on_paths(void **state)
{
    (void)state;
    if (is_left_to_best_isa()) {
        return;
    }
    stage *s = open_stage(2);
    look_at(s, (const float[3]){0, 2, 0}, 0.05f, 4, 4);
    s->floor.material.metallic_roughness = false;
    s->list.rays = NULL;
    const double fogged = lamp_below_the_fog(s);
    s->list.field_count = 0;
    const double clear = lamp_below_the_fog(s);
    print_message("below the fog %.4f of the light, without it %.4f\n", fogged, clear);
    // Beer's law for a depth of 1, by the fog's steps; and the noise of what else lights the floor
    assert_true(fabs(clear - 1.0) < 1e-3 && fabs(fogged - exp(-1.0)) < 5e-3);
    close_stage(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fog_is_in_its_place_between_surfaces_and_splats),
        cmocka_unit_test(textures_are_in_mirrors_as_their_samplers_say),
        cmocka_unit_test(fields_look_as_in_a_planar_mirror),
        cmocka_unit_test(no_tone_curve_maps_what_is_as_displayed),
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(paths_see_a_fog_in_its_place),
        cmocka_unit_test(fields_cast_shadows_on_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
