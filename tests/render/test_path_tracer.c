// Tests of the path tracer against closed forms. Runs once per instruction set.
#define ORR_SCALAR
#include "engine/maths/colour_formula.h"
#include "engine/maths/rng.h"
#include "render/cpu/mesh_raster.h"
#include "render/formula_inputs.h"
#include "render/reference/bsdf.h"
#include "render/reference/path_tracer.h"
#include "tests/support/scenes/small_mesh.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

#define assert_close(value, expected, tolerance)                                                             \
    do {                                                                                                     \
        double close_value = (value), close_expected = (expected);                                           \
        if (!(fabs(close_value - close_expected) <= (tolerance))) {                                          \
            fail_msg("%s is %.6g, expected %.6g", #value, close_value, close_expected);                      \
        }                                                                                                    \
    } while (0)

enum { SIDE = 24, MESHES = 7, VERTICES = 2000, INDICES = 7000 };

// A scene being made and traced. The camera is at the origin and looks along +z.
typedef struct stage {
    orr_jobs *jobs;
    small_mesh meshes[MESHES];
    orr_mesh_vertex *vertices;
    uint32_t *indices;
    int mesh_count;
    orr_draw_mesh drawn[MESHES];
    orr_draw_list list;
    float rgba[SIDE * SIDE * 4], depth[SIDE * SIDE];
    orr_path_statistics statistics;
} stage;

// focal [px]: a picture of SIDE x SIDE
static stage *open_stage(float focal, int threads)
{
    stage *s = calloc(1, sizeof *s);
    orr_camera camera = {.width = SIDE, .height = SIDE, .focal = {focal, focal}, .near_plane = 0.01f};
    memcpy(camera.pose, identity, sizeof identity);
    s->vertices = malloc(MESHES * VERTICES * sizeof *s->vertices);
    s->indices = malloc(MESHES * INDICES * sizeof *s->indices);
    assert_ok(orr_camera_resolve(&camera, &s->list.lens, &error));
    assert_ok(orr_jobs_create(threads, NULL, NULL, &s->jobs, &error));
    return s;
}

static void close_stage(stage *s)
{
    orr_jobs_destroy(s->jobs);
    free(s->vertices);
    free(s->indices);
    free(s);
}

static orr_mesh_vertex vertex(const float p[3], const float n[3])
{
    return (orr_mesh_vertex){
        .position = {p[0], p[1], p[2]}, .normal = {n[0], n[1], n[2]}, .colour = {255, 255, 255, 255}};
}

static orr_mesh_material *add_mesh(stage *s, int vertex_count, int index_count)
{
    int i = s->mesh_count++;
    small_mesh *m = &s->meshes[i];
    small_mesh_set(m, s->vertices + (size_t)i * VERTICES, vertex_count, s->indices + (size_t)i * INDICES,
                   index_count);
    s->drawn[i] = (orr_draw_mesh){.mesh = &m->mesh, .key = (uint64_t)i};
    memcpy(s->drawn[i].model, identity, sizeof identity);
    s->list.meshes = s->drawn;
    s->list.mesh_count = s->mesh_count;
    return &m->material;
}

// Corners counter-clockwise seen from the side of the normal.
static orr_mesh_material *add_quad(stage *s, float corners[4][3])
{
    float ab[3], ad[3], n[3];
    for (int k = 0; k < 3; k++) {
        ab[k] = corners[1][k] - corners[0][k];
        ad[k] = corners[3][k] - corners[0][k];
    }
    for (int k = 0; k < 3; k++) {
        n[k] = ab[(k + 1) % 3] * ad[(k + 2) % 3] - ab[(k + 2) % 3] * ad[(k + 1) % 3];
    }
    float length = sqrtf(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    orr_mesh_vertex *v = s->vertices + (size_t)s->mesh_count * VERTICES;
    for (int i = 0; i < 4; i++) {
        v[i] = vertex(corners[i], (float[3]){n[0] / length, n[1] / length, n[2] / length});
    }
    memcpy(s->indices + (size_t)s->mesh_count * INDICES, (uint32_t[6]){0, 1, 2, 0, 2, 3},
           6 * sizeof *s->indices);
    return add_mesh(s, 4, 6);
}

// Across the view at a depth, facing the camera.
static orr_mesh_material *add_wall(stage *s, float half, float depth)
{
    return add_quad(
        s, (float[4][3]){
               {-half, -half, depth}, {-half, half, depth}, {half, half, depth}, {half, -half, depth}});
}

// flat: without normals; facets then keep all light, which interpolated normals do not.
static orr_mesh_material *add_sphere(stage *s, const float centre[3], float radius, bool flat)
{
    enum { ROWS = 24, COLUMNS = 48 };
    int first = s->mesh_count, count = 0;
    orr_mesh_vertex *v = s->vertices + (size_t)first * VERTICES;
    uint32_t *index = s->indices + (size_t)first * INDICES;
    for (int i = 0; i <= ROWS; i++) {
        for (int k = 0; k <= COLUMNS; k++) {
            double down = 3.14159265358979 * i / ROWS, around = 2.0 * 3.14159265358979 * k / COLUMNS;
            double ring = i % ROWS ? sin(down) : 0.0; // the triangles at the poles have no area
            float n[3] = {(float)(ring * cos(around)), (float)cos(down), (float)(ring * sin(around))};
            float p[3] = {centre[0] + radius * n[0], centre[1] + radius * n[1], centre[2] + radius * n[2]};
            v[i * (COLUMNS + 1) + k] = vertex(p, flat ? (const float[3]){0} : n);
        }
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        for (uint32_t k = 0; k < COLUMNS; k++) {
            uint32_t a = i * (COLUMNS + 1) + k, b = a + COLUMNS + 1;
            memcpy(index + count, (uint32_t[6]){a, a + 1, b, a + 1, b + 1, b}, 6 * sizeof *index);
            count += 6;
        }
    }
    return add_mesh(s, (ROWS + 1) * (COLUMNS + 1), count);
}

static void trace(stage *s, int samples, uint32_t seed)
{
    orr_isa isa;
    orr_path_tracer *tracer;
    assert_ok(orr_isa_choose(&isa, &error));
    assert_ok(orr_path_tracer_create(s->jobs, isa, &s->list, seed, &tracer, &error));
    orr_path_tracer_advance(tracer, samples);
    orr_path_tracer_statistics(tracer, &s->statistics);
    orr_path_tracer_picture(tracer, true, &(orr_picture){s->rgba, s->depth});
    orr_path_tracer_destroy(tracer);
}

static void set_ambient(stage *s, float radiance)
{
    for (int k = 0; k < 3; k++) {
        s->list.sun.ambient[k] = radiance;
    }
}

// The mean of a channel over the pixels, less `border` at each side.
static double mean_of(const stage *s, int channel, int border)
{
    double sum = 0.0;
    for (int y = border; y < SIDE - border; y++) {
        for (int x = border; x < SIDE - border; x++) {
            sum += (double)s->rgba[4 * (y * SIDE + x) + channel];
        }
    }
    return sum / ((SIDE - 2 * border) * (SIDE - 2 * border));
}

// ---- scattering ----

// The part of light from everywhere that a material reflects, by its own draws.
static double albedo(const bsdf *b, int samples)
{
    orr_rng random = {.seed = 17};
    double sum = 0.0;
    for (int i = 0; i < samples; i++) {
        real3 light;
        real u = orr_rng_uniform(&random), v = orr_rng_uniform(&random), choice = orr_rng_uniform(&random);
        bsdf_value value = bsdf_draw(b, u, v, choice, &light);
        sum += value.pdf > 0.0f ? (double)(value.weight.x / value.pdf) : 0.0;
    }
    return sum / samples;
}

// The same by directions that have nothing to do with the material.
static double albedo_by_cosine(const bsdf *b, int samples, double *pdf)
{
    orr_rng random = {.seed = 8};
    double sum = 0.0;
    *pdf = 0.0;
    for (int i = 0; i < samples; i++) {
        real height = orr_rng_uniform(&random), around = 2.0f * BSDF_PI * orr_rng_uniform(&random);
        real ring = sqrtf(1.0f - height * height);
        bsdf_value value = bsdf_eval(b, make_real3(ring * cosf(around), ring * sinf(around), height));
        sum += 2.0 * 3.14159265358979 * (double)value.weight.x;
        *pdf += 2.0 * 3.14159265358979 * (double)value.pdf;
    }
    *pdf /= samples;
    return sum / samples;
}

// single: without what rough highlights are given back
static bsdf white_metal(real roughness, real cosine, bool single)
{
    const real3 up = {0.0f, 0.0f, 1.0f}, white = {1.0f, 1.0f, 1.0f};
    bsdf b =
        bsdf_metallic(up, make_real3(sqrtf(1.0f - cosine * cosine), 0.0f, cosine), white, 1.0f, roughness);
    if (single) {
        b.metal.gain = white;
    }
    return b;
}

// Directional albedos of the correlated model, computed elsewhere in double by two quadratures.
static void white_metal_has_the_known_albedos(void **state)
{
    (void)state;
    static const float roughness[3] = {0.25f, 0.5f, 1.0f}, cosine[3] = {0.2f, 0.5f, 1.0f};
    static const double known[3][3] = {{.946, .988, .996}, {.848, .857, .916}, {.642, .451, .307}};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            double pdf;
            const bsdf b = white_metal(roughness[i], cosine[k], true);
            assert_close(albedo(&b, 100000), known[i][k], 3e-3);
            if (i > 0) { // narrow peaks are beyond directions drawn at random
                assert_close(albedo_by_cosine(&b, 200000, &pdf), known[i][k], 1e-2);
                assert_true(pdf < 1.02); // the rest points into the surface
            }
        }
    }
}

static void rough_white_metal_keeps_all_light(void **state)
{
    (void)state;
    for (int i = 1; i <= 4; i++) {
        for (int k = 1; k <= 4; k++) {
            const bsdf b = white_metal((float)i / 4.0f, (float)k / 4.0f, false);
            assert_close(albedo(&b, 40000), 1.0, 1e-2);
        }
    }
}

// Sums over 32 x 32 directions, of which a highlight's are those that bsdf_draw draws; highlight, grazing and
// dull.
static void integrate(real roughness, real cosine, double sums[3])
{
    enum { PER_SIDE = 32 };
    const bsdf metal = white_metal(roughness, cosine, true),
               matte = bsdf_lambert(metal.normal, metal.to_eye, metal.metal.diffuse);
    memset(sums, 0, 3 * sizeof *sums);
    for (int i = 0; i < PER_SIDE * PER_SIDE; i++) {
        real u = ((float)(i / PER_SIDE) + 0.5f) / PER_SIDE, v = ((float)(i % PER_SIDE) + 0.5f) / PER_SIDE;
        real3 light;
        bsdf_value value = bsdf_draw(&metal, u, v, 0.0f, &light);
        double part = value.pdf > 0.0f ? (double)(value.weight.x / value.pdf) : 0.0;
        sums[0] += part;
        sums[1] += part * (double)bsdf_angles_of(1.0f, metal.normal, metal.to_eye, light).fresnel;
        bsdf_draw(&matte, u, v, 0.0f, &light);
        sums[2] += (double)bsdf_angles_of(1.0f, metal.normal, metal.to_eye, light).fresnel;
    }
    for (int k = 0; k < 3; k++) {
        sums[k] /= PER_SIDE * PER_SIDE;
    }
}

static void the_table_holds_the_integrals(void **state)
{
    (void)state;
    const orr_bsdf_table *table = &orr_bsdf_integrals;
    for (int i = 0; i < ORR_BSDF_TABLE * ORR_BSDF_TABLE; i++) {
        const int row = i / ORR_BSDF_TABLE, column = i % ORR_BSDF_TABLE;
        double sums[3];
        integrate((float)row / (ORR_BSDF_TABLE - 1), fmaxf((float)column / (ORR_BSDF_TABLE - 1), 0.01f),
                  sums);
        // 32 x 32 directions are fewer than the table's, which shows in narrow peaks and near the surface
        const double tolerance = row < 12 || column < 3 ? 1e-2 : 3e-3;
        assert_close((double)table->highlight[i], sums[0], tolerance);
        assert_close((double)table->grazing[i], sums[1], tolerance);
        assert_close((double)table->dull[column], sums[2], tolerance);
    }
}

// The closed form with the table against draws, of a blue metal, a dielectric and half of each.
static void the_albedo_is_the_integral_of_the_draws(void **state)
{
    (void)state;
    const real3 up = {0.0f, 0.0f, 1.0f}, base = {0.3f, 0.5f, 0.9f};
    for (int i = 0; i < 27; i++) {
        const real metallic = 0.5f * (float)(i % 3), roughness = 0.15f + 0.4f * (float)(i / 3 % 3),
                   cosine = 0.2f + 0.35f * (float)(i / 9);
        const real3 eye = make_real3(sqrtf(1.0f - cosine * cosine), 0.0f, cosine);
        const bsdf b = bsdf_metallic(up, eye, base, metallic, roughness);
        const real3 reflected =
            bsdf_albedo(b.metal, bsdf_integrals_at(&orr_bsdf_integrals, roughness, cosine));
        assert_close((double)reflected.x, albedo(&b, 100000), 4e-3);
    }
}

// Coats over a white surface that loses nothing reflect, all together, what came in; over a blue metal, what
// the closed form says.
static void a_coat_neither_loses_nor_makes_light(void **state)
{
    (void)state;
    const real3 up = {0.0f, 0.0f, 1.0f}, white = {1.0f, 1.0f, 1.0f}, blue = {0.3f, 0.5f, 0.9f};
    for (int i = 0; i < 27; i++) {
        const real coated = 0.5f * (float)(i % 3), roughness = 0.15f + 0.4f * (float)(i / 3 % 3),
                   cosine = 0.2f + 0.35f * (float)(i / 9);
        const real3 eye = make_real3(sqrtf(1.0f - cosine * cosine), 0.0f, cosine);
        bsdf matte = bsdf_lambert(up, eye, white), metal = bsdf_metallic(up, eye, blue, 1.0f, 0.5f);
        const real3 below = bsdf_albedo(metal.metal, bsdf_integrals_at(&orr_bsdf_integrals, 0.5f, cosine));
        bsdf_add_coat(&matte, up, up, coated, roughness);
        bsdf_add_coat(&metal, up, up, coated, roughness);
        assert_close(albedo(&matte, 100000), 1.0, 4e-3);
        const double above = (double)(coated * metal.coat_albedo);
        assert_close(albedo(&metal, 100000), (1.0 - above) * (double)below.x + above, 4e-3);
        if (roughness > 0.2f) { // narrow peaks are beyond directions drawn at random
            double pdf;
            albedo_by_cosine(&metal, 100000, &pdf);
            assert_true(pdf < 1.03); // the rest points into the surface
        }
    }
}

// Coats that textures bend, also so far that they send most of a grazing view's light into the surface,
// over a white one: whatever the angle, all that came in goes out, to the side of the eye.
static void a_bent_coat_does_not_darken(void **state)
{
    (void)state;
    const real3 up = {0.0f, 0.0f, 1.0f}, white = {1.0f, 1.0f, 1.0f};
    for (int i = 0; i < 36; i++) {
        const real cosine = 0.05f + 0.2f * (float)(i % 3), bend = -0.35f + 0.25f * (float)(i / 3 % 3),
                   roughness = 0.05f + 0.3f * (float)(i / 9);
        const real3 eye = make_real3(sqrtf(1.0f - cosine * cosine), 0.0f, cosine);
        real3 normal = make_real3(sinf(bend), 0.2f, cosf(bend));
        normal = dot3(normal, eye) > 0.0f ? normalise3(normal) : up; // as of surfaces_look
        bsdf b = bsdf_lambert(up, eye, white);
        bsdf_add_coat(&b, up, normal, 1.0f, roughness);
        assert_close(albedo(&b, 30000), 1.0, 1e-2);
        double pdf;
        if (roughness > 0.3f) { // by directions that the coat does not draw, too
            assert_close(albedo_by_cosine(&b, 30000, &pdf), 1.0, 3e-2);
        }
        real3 light;
        for (int k = 0; k < 100; k++) {
            const real u = orr_rng_uniform(&(orr_rng){7, (uint32_t)i, 3 * (uint64_t)k}),
                       v = orr_rng_uniform(&(orr_rng){7, (uint32_t)i, 3 * (uint64_t)k + 1});
            const bsdf_value value = bsdf_draw(&b, u, v, 0.0f, &light);
            assert_true(!(value.pdf > 0.0f) || light.z > 0.0f);
        }
    }
}

// ---- light ----

// A white sphere in light of radiance 1 from everywhere cannot be seen.
static void a_white_sphere_vanishes_in_a_furnace(void **state)
{
    (void)state;
    stage *s = open_stage(45.0f, 1);
    add_sphere(s, (float[3]){0, 0, 4}, 1.5f, true);
    set_ambient(s, 1.0f);
    trace(s, 16, 1);
    for (int i = 0; i < SIDE * SIDE; i++) {
        assert_float_equal(s->rgba[4 * i], 1.0, 1e-4);
    }
    assert_int_equal(s->statistics.left_out, 2 * 48);
    close_stage(s);
}

// In a deep white box that is open towards the camera light is scattered many times, and none is lost.
static void light_is_neither_lost_nor_made_between_surfaces(void **state)
{
    (void)state;
    stage *s = open_stage(24.0f, 1);
    add_wall(s, 1.0f, 6.0f);
    for (int side = -1; side <= 1; side += 2) {
        float a = (float)side;
        add_quad(s, (float[4][3]){{a, -1, 2}, {a, 1, 2}, {a, 1, 6}, {a, -1, 6}});
        add_quad(s, (float[4][3]){{-1, a, 2}, {1, a, 2}, {1, a, 6}, {-1, a, 6}});
    }
    add_sphere(s, (float[3]){0.2f, 0, 5}, 0.5f, true);
    set_ambient(s, 0.5f);
    trace(s, 64, 1);
    assert_close(mean_of(s, 0, 4), 0.5, 5e-3);
    close_stage(s);
}

// Base colour times the cosine, under a lamp far away; and no light from behind.
static void a_plane_under_a_far_lamp_has_lamberts_cosine(void **state)
{
    (void)state;
    stage *s = open_stage(40.0f, 1);
    orr_mesh_material *grey = add_wall(s, 4.0f, 3.0f);
    grey->base_colour[0] = 0.5f;
    s->list.lights[0] = (orr_draw_light){
        .directional = true, .direction = {0.6f, 0, 0.8f}, .cutoff = 180.0f, .diffuse = {2.0f, 1.0f, 0.0f}};
    s->list.light_count = 1;
    trace(s, 4, 1);
    assert_close(mean_of(s, 0, 0), 0.5 * 2.0 * 0.8, 1e-5);
    assert_close(mean_of(s, 1, 0), 0.8, 1e-5);
    s->list.lights[0].direction[2] = -0.8f;
    trace(s, 4, 1);
    assert_close(mean_of(s, 0, 0), 0.0, 0.0);
    close_stage(s);
}

// The sun's disc instead: the same light, and a shadow's edge as wide as its angle.
static void the_sun_lights_as_a_disc(void **state)
{
    (void)state;
    stage *s = open_stage(40.0f, 1);
    add_wall(s, 4.0f, 3.0f);
    s->list.sun = (orr_draw_sun){.direction = {0.6f, 0, -0.8f}, .colour = {2, 1, 0.5f}};
    trace(s, 64, 1);
    assert_close(mean_of(s, 0, 0), 2.0 * 0.8, 2e-3);
    assert_close(mean_of(s, 2, 0), 0.5 * 0.8, 1e-3);
    // above the wall and beside the view: half of it is in the shadow
    float roof[4][3] = {{1.5f, -9, 1}, {1.5f, 9, 1}, {20, 9, 1}, {20, -9, 1}};
    orr_mesh_material *black = add_quad(s, roof);
    black->base_colour[0] = black->base_colour[1] = black->base_colour[2] = 0.0f;
    trace(s, 256, 1);
    double lit = mean_of(s, 0, 0) / 1.6;
    // the edge at x = 1.5 is seen on the wall at 1.5 - 2 x 0.6 / 0.8 = 0
    assert_close(lit, 0.5, 0.01);
    close_stage(s);
}

// Irradiance by a polygon of radiance L at a point: L / 2 times the sum over its edges of the angle that an
// edge covers times the cosine to its plane's normal (Lambert 1760). Corners clockwise seen from the point.
static double polygon_light(const double corners[4][3], const double point[3], const double normal[3])
{
    double sum = 0.0;
    for (int i = 0; i < 4; i++) {
        double a[3], b[3], across[3], lengths[2] = {0}, dot = 0.0, length = 0.0, facing = 0.0;
        for (int k = 0; k < 3; k++) {
            a[k] = corners[i][k] - point[k];
            b[k] = corners[(i + 1) % 4][k] - point[k];
            lengths[0] += a[k] * a[k];
            lengths[1] += b[k] * b[k];
            dot += a[k] * b[k];
        }
        for (int k = 0; k < 3; k++) {
            across[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
            length += across[k] * across[k];
            facing += across[k] * normal[k];
        }
        sum += acos(dot / sqrt(lengths[0] * lengths[1])) * facing / sqrt(length);
    }
    return fabs(sum) / 2.0;
}

static void a_glowing_square_lights_in_closed_form(void **state)
{
    (void)state;
    stage *s = open_stage(4000.0f, 1); // all pixels are one point
    orr_mesh_material *wall = add_wall(s, 2.0f, 3.0f);
    wall->base_colour[0] = wall->base_colour[1] = wall->base_colour[2] = 0.7f;
    float lamp[4][3] = {{0.3f, -0.5f, 2.2f}, {1.2f, -0.5f, 2.0f}, {1.2f, 0.4f, 2.0f}, {0.3f, 0.4f, 2.2f}};
    orr_mesh_material *glow = add_quad(s, lamp);
    glow->emissive[0] = glow->emissive[1] = glow->emissive[2] = 5.0f;
    glow->base_colour[0] = glow->base_colour[1] = glow->base_colour[2] = 0.0f;
    double corners[4][3];
    for (int i = 0; i < 12; i++) {
        corners[i / 3][i % 3] = (double)lamp[i / 3][i % 3];
    }
    double irradiance =
        5.0 * polygon_light((const double(*)[3])corners, (double[3]){0, 0, 3}, (double[3]){0, 0, -1});
    trace(s, 200, 1);
    assert_close(mean_of(s, 0, 0), 0.7 * irradiance / 3.14159265358979,
                 0.01 * 0.7 * irradiance / 3.14159265358979);
    close_stage(s);
}

// Irradiance by a sphere of radiance 1 that covers the sine squared `sine` of a point's sky, whose middle is
// in a direction of a cosine to the normal: of the sphere above the horizon alone (Snyder 1996, "Area light
// sources for real-time graphics").
static double sphere_light(double cosine, double sine)
{
    const double pi = 3.14159265358979;
    if (cosine * cosine > sine) {
        return cosine > 0.0 ? pi * sine * cosine : 0.0;
    }
    const double across = sqrt(1.0 - cosine * cosine), x = sqrt(1.0 / sine - 1.0), y = -x * cosine / across,
                 z = across * sqrt(1.0 - y * y);
    return (cosine * acos(y) - x * z) * sine + atan(z / x);
}

// A sphere, whole and partly below the horizon, and half of one in a shadow: as much as its closed form, at a
// strength that is that of a lamp without extent where it is whole.
static void a_sphere_lights_in_closed_form(void **state)
{
    (void)state;
    const double pi = 3.14159265358979;
    const float places[4][3] = {{0, 0, 1.6f}, {0.9f, 0, 2.0f}, {0.6f, 0, 2.9f}, {0.5f, 0, 3.1f}};
    const float radius = 0.4f;
    stage *s = open_stage(4000.0f, 1); // all pixels are one point
    add_wall(s, 0.3f, 3.0f);           // so small that it does not cut what is behind its plane
    for (int i = 0; i < 4; i++) {
        const double *at = (double[3]){(double)places[i][0], 0.0, (double)places[i][2] - 3.0};
        const double square = at[0] * at[0] + at[2] * at[2], cosine = -at[2] / sqrt(square);
        s->list.lights[0] = (orr_draw_light){
            .cutoff = 180.0f, .attenuation = {0, 0, 1}, .diffuse = {2.0f, 1.0f, 0.5f}, .radius = radius};
        memcpy(s->list.lights[0].position, places[i], sizeof places[i]);
        s->list.light_count = 1;
        trace(s, 200, 1);
        const double sine = (double)(radius * radius) / square,
                     expected = sphere_light(cosine, sine) / pi * 2.0 / (double)(radius * radius);
        print_message("    %.4f, expected %.4f\n", mean_of(s, 0, 0), expected);
        assert_close(mean_of(s, 0, 0), expected, 0.01 * expected + 1e-4);
        if (i < 2) { // whole: as of a point
            assert_close(mean_of(s, 0, 0), 2.0 * cosine / square, 0.01 * 2.0 * cosine / square);
        }
    }
    // a screen, which the camera looks past, whose edge passes before the middle
    memcpy(s->list.lights[0].position, (float[3]){0.056f, 0, 1.6f}, 3 * sizeof(float));
    float screen[4][3] = {{0.5f, -9, 2.5f}, {0.5f, 9, 2.5f}, {0.02f, 9, 2.5f}, {0.02f, -9, 2.5f}};
    orr_mesh_material *black = add_quad(s, screen);
    black->base_colour[0] = black->base_colour[1] = black->base_colour[2] = 0.0f;
    trace(s, 200, 1);
    assert_close(mean_of(s, 0, 0), 2.0 / 1.96 / 2.0, 0.03);
    close_stage(s);
}

// Polished metal shows the sphere, and a disc in the sky, as bright as they are: what scattered rays meet and
// what is drawn from the lamp adds up, at any share of both.
static void metal_shows_a_sphere_as_bright_as_it_is(void **state)
{
    (void)state;
    const float radius = 0.5f;
    stage *s = open_stage(4000.0f, 1);
    orr_mesh_material *wall = add_wall(s, 2.0f, 3.0f);
    wall->metallic_roughness = true;
    wall->metallic = 1.0f;
    s->list.light_count = 1;
    for (int disc = 0; disc < 2; disc++) {
        // right behind the camera, or in its direction; a white surface that faces it is 0.1 bright
        s->list.lights[0] = (orr_draw_light){.directional = disc == 1,
                                             .position = {0, 0, -2},
                                             .direction = {0, 0, 1},
                                             .cutoff = 180.0f,
                                             .attenuation = {0, 0, 1},
                                             .diffuse = {2.5f, 2.5f, 2.5f},
                                             .radius = disc ? asinf(0.1f) : radius};
        const double bright = disc ? 2.5 / 0.01 : 2.5 / (double)(radius * radius);
        for (int i = 0; i < 3; i++) {
            wall->roughness = 0.05f + 0.05f * (float)i; // the lobe is inside, as large, and beyond
            trace(s, 200, 1);
            const double rough = (double)wall->roughness, alpha = rough * rough;
            // the part of the lobe of microfacets, in directions twice as far from the normal, that is in it
            const double angle = 0.5 * asin(0.1), tangent = tan(angle) * tan(angle),
                         part = tangent / (alpha * alpha + tangent);
            print_message("    disc %d, roughness %.2f: %.3f of %.3f\n", disc, rough, mean_of(s, 0, 0),
                          part * bright);
            assert_close(mean_of(s, 0, 0), part * bright, 0.02 * bright);
        }
    }
    close_stage(s);
}

// ---- the picture ----

// The rasteriser's picture: planes of display colour. Returns the depth.
static const float *draw(stage *s, float rgb[3 * SIDE * SIDE])
{
    static float depth[SIDE * SIDE];
    orr_fragment_lists fragments;
    orr_arena arena = {0};
    orr_isa isa;
    assert_ok(orr_isa_choose(&isa, &error));
    assert_ok(orr_mesh_raster(s->jobs, isa, &arena, &s->list, NULL,
                              (orr_mesh_picture){.depth = depth, .rgb = rgb}, &fragments, NULL, &error));
    orr_arena_destroy(&arena);
    return depth;
}

// Is every pixel of the path tracer the rasteriser's, as displayed?
static void assert_traced_as_drawn(stage *s, int samples, double tolerance, double mean_tolerance)
{
    float rgb[3 * SIDE * SIDE];
    const float *depth = draw(s, rgb);
    double worst = 0.0, mean = 0.0;
    trace(s, samples, 1);
    for (int i = 0; i < SIDE * SIDE; i++) {
        for (int k = 0; k < 3; k++) {
            double apart = fabs((double)(linear_to_srgb(s->rgba[4 * i + k]) - rgb[k * SIDE * SIDE + i]));
            worst = fmax(worst, apart);
            mean +=
                (double)(linear_to_srgb(s->rgba[4 * i + k]) - rgb[k * SIDE * SIDE + i]) / (3 * SIDE * SIDE);
        }
        assert_float_equal(s->depth[i], depth[i], 0.03);
    }
    print_message("    at most %.4f apart, in the mean %.5f\n", worst, mean);
    assert_true(worst <= tolerance);
    assert_true(fabs(mean) <= mean_tolerance);
}

// Without shadows and light between surfaces, the picture is the rasteriser's.
static void an_unshadowed_matte_scene_is_the_rasterisers(void **state)
{
    (void)state;
    stage *s = open_stage(20.0f, 1);
    add_sphere(s, (float[3]){0, 0, 4}, 4.5f, false)->base_colour[1] = 0.5f; // the camera is outside, close
    s->drawn[0].model[11] = 2.0f;
    s->list.sun = (orr_draw_sun){
        .direction = {0, 0.6f, -0.8f}, .colour = {0.6f, 0.5f, 0.4f}, .ambient = {0.2f, 0.2f, 0.2f}};
    s->list.lights[0] = (orr_draw_light){.position = {2, -1, -1},
                                         .direction = {-0.6f, 0, 0.8f},
                                         .attenuation = {1, 0.1f, 0.05f},
                                         .cutoff = 80.0f,
                                         .exponent = 2.0f,
                                         .diffuse = {0.5f, 0.5f, 0.5f},
                                         .specular = {0.3f, 0.3f, 0.3f}};
    s->list.light_count = 1;
    s->meshes[0].material.specular = 0.5f;
    s->meshes[0].material.shininess = 0.2f;
    assert_traced_as_drawn(s, 64, 0.02, 1e-3);
    close_stage(s);
}

// A ball of a material under a lamp and light from everywhere. Rasterisers light the centre of a pixel, paths
// all of it, and draw ambient light at random: each pixel has an error of up to 0.03, the mean has not.
static void metals_and_dielectrics_are_the_rasterisers(void **state)
{
    (void)state;
    stage *s = open_stage(60.0f, 1);
    orr_mesh_material *look = add_sphere(s, (float[3]){0, 0, 6}, 4.5f, false);
    memcpy(look->base_colour, (float[3]){0.9f, 0.5f, 0.2f}, 3 * sizeof(float));
    look->metallic_roughness = true;
    s->list.sun.ambient[0] = s->list.sun.ambient[1] = s->list.sun.ambient[2] = 0.3f;
    s->list.lights[0] = (orr_draw_light){.directional = true,
                                         .direction = {-0.48f, 0.6f, 0.64f},
                                         .cutoff = 180.0f,
                                         .diffuse = {0.5f, 0.4f, 0.3f}};
    s->list.light_count = 1;
    for (int i = 0; i < 6; i++) {
        look->metallic = (float)(i % 2);
        look->roughness = 0.35f + 0.3f * (float)(i / 2);
        assert_traced_as_drawn(s, 256, 0.04, 1.5e-3);
    }
    close_stage(s);
}

// The same with highlights of their own: coloured, faint at a grazing angle, of an index of refraction of
// 2.2.
static void highlights_are_the_rasterisers(void **state)
{
    (void)state;
    static const float highlights[3][4] = {
        {0.02f, 0.3f, 0.1f, 0.6f}, {0, 0, 0, 0}, {0.140625f, 0.140625f, 0.140625f, 1}};
    stage *s = open_stage(60.0f, 1);
    orr_mesh_material *look = add_sphere(s, (float[3]){0, 0, 6}, 4.5f, false);
    memcpy(look->base_colour, (float[3]){0.9f, 0.5f, 0.2f}, 3 * sizeof(float));
    look->metallic_roughness = look->has_highlight = true;
    look->roughness = 0.5f;
    s->list.sun.ambient[0] = s->list.sun.ambient[1] = s->list.sun.ambient[2] = 0.3f;
    s->list.lights[0] = (orr_draw_light){.directional = true,
                                         .direction = {-0.48f, 0.6f, 0.64f},
                                         .cutoff = 180.0f,
                                         .diffuse = {0.5f, 0.4f, 0.3f}};
    s->list.light_count = 1;
    for (int i = 0; i < 3; i++) {
        memcpy(look->highlight, highlights[i], sizeof look->highlight);
        look->highlight_grazing = highlights[i][3];
        assert_traced_as_drawn(s, 128, 0.04, 2e-3);
    }
    close_stage(s);
}

// Coloured and faint highlights reflect what the table says, which is what a rasteriser shows in even light.
// Of white nearly all is left; the model's matte part, which loses what the highlight reflects into each
// direction from there, not what it reflects as a whole, gains some at an angle.
static void highlights_reflect_their_integrals(void **state)
{
    (void)state;
    const real3 up = {0.0f, 0.0f, 1.0f}, white = {1.0f, 1.0f, 1.0f};
    for (int i = 0; i < 12; i++) {
        const real cosine = 0.3f + 0.3f * (float)(i % 3), f90 = i < 6 ? 1.0f : 0.5f,
                   f0 = i % 6 < 3 ? 0.03f : 0.4f;
        const bsdf b = bsdf_dielectric(up, make_real3(sqrtf(1.0f - cosine * cosine), 0.0f, cosine), white,
                                       0.0f, 0.4f, make_real3(f0, 0.5f * f0, 0.0f), f90);
        const double kept = albedo(&b, 40000);
        const bsdf_integrals s = bsdf_integrals_at(&orr_bsdf_integrals, 0.4f, cosine);
        print_message("    f0 %.2f, f90 %.1f, cosine %.1f: %.4f\n", (double)f0, (double)f90, (double)cosine,
                      kept);
        assert_close((double)bsdf_albedo(b.metal, s).x, kept, 6e-3);
        assert_close(kept, 1.0, 0.12);
    }
}

static uint8_t component(float n)
{
    return (uint8_t)(255.0f * linear_to_srgb(ORR_NORMAL_CENTRE + (1.0f - ORR_NORMAL_CENTRE) * n) + 0.5f);
}

// Coats of two roughnesses over a rough base that is bent by a texture, which coats are not, and shines by
// itself; the same surface without a coat is not the same picture.
static void coated_surfaces_are_the_rasterisers(void **state)
{
    (void)state;
    uint8_t texels[2][4] = {{188, 128, 0, 255}, {component(0.3f), component(0.2f), component(0.933f), 255}};
    orr_image8 textures[2] = {{1, 1, texels[0]}, {1, 1, texels[1]}};
    stage *s = open_stage(60.0f, 1);
    orr_mesh_material *look = add_sphere(s, (float[3]){0, 0, 6}, 4.5f, false);
    memcpy(look->base_colour, (float[3]){0.6f, 0.1f, 0.1f}, 3 * sizeof(float));
    look->metallic_roughness = true;
    look->roughness = 0.6f;
    look->emissive[1] = 0.05f;
    look->normal_texture = 1;
    s->meshes[0].mesh.textures = textures;
    s->meshes[0].mesh.texture_count = 2;
    for (int64_t i = 0; i < s->meshes[0].mesh.vertex_count; i++) { // laid on along z
        orr_mesh_vertex *v = &s->meshes[0].mesh.vertices[i];
        memcpy(v->uv, v->position, sizeof v->uv);
    }
    s->list.sun.ambient[0] = s->list.sun.ambient[1] = s->list.sun.ambient[2] = 0.3f;
    s->list.lights[0] = (orr_draw_light){.directional = true,
                                         .direction = {-0.48f, 0.6f, 0.64f},
                                         .cutoff = 180.0f,
                                         .diffuse = {0.5f, 0.4f, 0.3f}};
    s->list.light_count = 1;
    float bare[3 * SIDE * SIDE], coated[3 * SIDE * SIDE];
    draw(s, bare);
    look->coat_texture = 0;
    for (int i = 0; i < 2; i++) {
        texels[0][1] = i ? 200 : 150; // its roughness
        // paths that bent normals send into the surface end, 0.003 of the light
        assert_traced_as_drawn(s, 256, 0.02, 4e-3);
    }
    look->normal_texture = -1; // the coat alone is bent
    look->coat_normal_texture = 1;
    assert_traced_as_drawn(s, 256, 0.012, 3e-4);
    // so far that it faces away from the eye on one side of the ball, where it is not bent
    const uint8_t steep[4] = {component(0.985f), component(0.0f), component(0.174f), 255};
    memcpy(texels[1], steep, sizeof steep);
    set_ambient(s, 0.0f); // which it would mirror
    // frames have no light of lamps that the coat sends into the surface first: paths are brighter by 0.012;
    // by 0.015 if a coat that faces away from the eye darkened what is below it
    assert_traced_as_drawn(s, 64, 0.06, 0.0135);
    set_ambient(s, 0.3f);
    look->normal_texture = 1;
    look->coat_normal_texture = -1;
    draw(s, coated);
    double apart = 0.0;
    for (int i = 0; i < 3 * SIDE * SIDE; i++) {
        apart = fmax(apart, fabs((double)(coated[i] - bare[i])));
    }
    assert_true(apart > 0.02);
    close_stage(s);
}

// One texel scales the factors, as the path tracer and the rasteriser read them; only that one dims ambient
// light by it.
static void textures_are_factors_of_metals(void **state)
{
    (void)state;
    uint8_t texel[4] = {188, 128, 200, 255};
    stage *s = open_stage(60.0f, 1);
    orr_mesh_material *look = add_sphere(s, (float[3]){0, 0, 6}, 4.5f, false);
    look->metallic_roughness = true;
    s->list.lights[0] = (orr_draw_light){.directional = true,
                                         .direction = {-0.48f, 0.6f, 0.64f},
                                         .cutoff = 180.0f,
                                         .diffuse = {0.5f, 0.4f, 0.3f}};
    s->list.light_count = 1;
    float expected[3 * SIDE * SIDE], rgb[3 * SIDE * SIDE];
    look->metallic = 0.9f * srgb_to_linear(200.0f / 255.0f);
    look->roughness = srgb_to_linear(128.0f / 255.0f);
    look->emissive[0] = 0.5f * srgb_to_linear(188.0f / 255.0f);
    draw(s, expected);
    s->meshes[0].texture = (orr_image8){1, 1, texel};
    s->meshes[0].mesh.texture_count = 1;
    look->surface_texture = look->emissive_texture = 0;
    look->metallic = 0.9f;
    look->roughness = 1.0f;
    look->emissive[0] = 0.5f;
    draw(s, rgb);
    for (int i = 0; i < 3 * SIDE * SIDE; i++) {
        assert_float_equal(rgb[i], expected[i], 1e-5);
    }
    assert_traced_as_drawn(s, 64, 0.03, 2e-3);
    // ambient light alone: the rasteriser dims it, paths find by themselves what is occluded
    s->list.light_count = 0;
    set_ambient(s, 0.3f);
    look->emissive[0] = 0.0f;
    draw(s, rgb);
    look->metallic = 0.9f * srgb_to_linear(200.0f / 255.0f);
    look->roughness = srgb_to_linear(128.0f / 255.0f);
    look->surface_texture = -1;
    draw(s, expected);
    for (int i = 0; i < 3 * SIDE * SIDE; i++) {
        assert_float_equal(srgb_to_linear(rgb[i]),
                           srgb_to_linear(expected[i]) * srgb_to_linear(188.0f / 255.0f), 1e-5);
    }
    close_stage(s);
}

enum { LAID = 8 };

// Base colours, factors and bent normals, each unlike its mirror image, and their mirror images.
static void make_laid(uint8_t texels[6][LAID * LAID * 4], orr_image8 pictures[6])
{
    for (int i = 0; i < LAID * LAID; i++) {
        const int x = i % LAID, other = i - x + LAID - 1 - x;
        const float centre = ORR_NORMAL_CENTRE, bent = 0.1f + 0.03f * (float)x;
        const uint8_t texel[3][4] = {
            {(uint8_t)(40 + 25 * x), (uint8_t)(20 * (i / LAID)), 90, 255},
            {(uint8_t)(250 - 20 * x), (uint8_t)(120 + 15 * x), (uint8_t)(30 * x), 255},
            {(uint8_t)(255.0f * linear_to_srgb(centre + bent) + 0.5f), 188, 240, 255},
        };
        for (int k = 0; k < 3; k++) {
            memcpy(texels[k] + 4 * i, texel[k], 4);
            memcpy(texels[3 + k] + 4 * other, texel[k], 4);
        }
        // u of a mirror image grows towards the other side
        texels[5][4 * other] = (uint8_t)(255.0f * linear_to_srgb(centre - bent) + 0.5f);
    }
    for (int k = 0; k < 6; k++) {
        pictures[k] = (orr_image8){LAID, LAID, texels[k]};
    }
}

static double farthest(const float *a, const float *b, int count)
{
    double apart = 0.0;
    for (int i = 0; i < count; i++) {
        apart = fmax(apart, fabs((double)(a[i] - b[i])));
    }
    return apart;
}

// Factors, emission and normals by second coordinates, which are mirrored, against mirror images of them by
// the first ones; drawn and traced. The lamp's highlight is on the wall, so that roughness is seen. Bytes of
// bent normals are rounded.
static void textures_are_laid_on_by_second_coordinates(void **state)
{
    (void)state;
    static uint8_t texels[6][LAID * LAID * 4];
    static float drawn[3][3 * SIDE * SIDE], traced[3][4 * SIDE * SIDE];
    orr_image8 pictures[6];
    float second[8];
    make_laid(texels, pictures);
    stage *s = open_stage(30.0f, 1);
    orr_mesh_material *look = add_wall(s, 4.0f, 6.0f);
    look->metallic_roughness = true;
    look->metallic = look->roughness = look->emissive[1] = 1.0f;
    look->texture = 0;
    s->meshes[0].mesh.textures = pictures;
    s->meshes[0].mesh.texture_count = 6;
    s->list.lights[0] =
        (orr_draw_light){.directional = true, .cutoff = 180.0f, .diffuse = {1.5f, 1.4f, 1.3f}};
    s->list.light_count = 1;
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 2; k++) {
            s->vertices[i].uv[k] = second[2 * i + k] = s->vertices[i].position[k] / 8.0f + 0.5f;
        }
        second[2 * i] = 1.0f - second[2 * i];
    }
    for (int bent = 0; bent < 2; bent++) {
        const float aside = bent ? -0.6f : -0.1f;
        memcpy(s->list.lights[0].direction, (float[3]){aside, 0.0f, sqrtf(1.0f - aside * aside)},
               sizeof s->list.lights[0].direction);
        for (int way = 0; way < 3; way++) { // mirror images; by the second ones; these by the first ones
            const bool by_second = way == 1;
            const int first = way == 0 ? 3 : 0;
            look->surface_texture = by_second ? -1 : first + 1;
            look->second_surface_texture = by_second ? 1 : -1;
            look->emissive_texture = first;
            look->normal_texture = bent ? first + 2 : -1;
            look->second[ORR_TEXTURE_EMISSIVE] = look->second[ORR_TEXTURE_NORMAL] = by_second;
            look->second[ORR_TEXTURE_SECOND_SURFACE] = true;
            s->meshes[0].mesh.second_uv = by_second ? second : NULL;
            draw(s, drawn[way]);
            trace(s, 4, 1);
            memcpy(traced[way], s->rgba, sizeof s->rgba);
        }
        assert_true(farthest(drawn[1], drawn[0], 3 * SIDE * SIDE) < (bent ? 0.012 : 1e-5));
        assert_true(farthest(drawn[2], drawn[0], 3 * SIDE * SIDE) > 0.1);
        assert_true(farthest(traced[1], traced[0], 4 * SIDE * SIDE) < (bent ? 0.02 : 1e-5));
        assert_true(farthest(traced[2], traced[0], 4 * SIDE * SIDE) > 0.1);
    }
    close_stage(s);
}

// Pixels of a wall beyond its picture's edge, and of two halves between which nothing is mixed, by the path
// tracer. Columns are u.
static void textures_are_wrapped_and_filtered(void **state)
{
    (void)state;
    uint8_t texels[2][4] = {{255, 0, 0, 255}, {0, 0, 255, 255}};
    stage *s = open_stage(30.0f, 1);
    orr_mesh_material *look = add_wall(s, 4.0f, 6.0f);
    look->unlit = true;
    look->texture = 0;
    s->meshes[0].texture = (orr_image8){2, 1, texels[0]};
    s->meshes[0].mesh.texture_count = 1;
    for (int wrap = 0; wrap < 3; wrap++) {
        look->samplers[ORR_TEXTURE_BASE] = (orr_texture_sampler){(uint8_t)wrap, 0, true, true, false, false};
        for (int i = 0; i < 4; i++) { // u from -1 to 2 over the picture, which is 4.8 wide there
            s->vertices[i].uv[0] = 0.5f + 3.0f * s->vertices[i].position[0] / 4.8f;
        }
        trace(s, 4, 1);
        for (int i = 0; i < SIDE * SIDE; i++) {
            const int half = i % SIDE / (SIDE / 6), part = half % 2; // of SIDE pixels: 6 halves of pictures
            const int seen = wrap == ORR_WRAP_REPEAT  ? part
                             : wrap == ORR_WRAP_CLAMP ? half > 2
                             : half / 2 == 1          ? part
                                                      : 1 - part;
            assert_close((double)s->rgba[4 * i], 1.0 - seen, 1e-6);
            assert_close((double)s->rgba[4 * i + 2], seen, 1e-6);
        }
    }
    look->samplers[ORR_TEXTURE_BASE] = (orr_texture_sampler){.nearest_small = true, .no_mips = true};
    trace(s, 4, 1); // from near the picture is mixed
    assert_true(s->rgba[4 * (SIDE / 2)] > 0.2f && s->rgba[4 * (SIDE / 2)] < 0.8f);
    look->alpha_cutoff = 0.5f; // less is a hole, also by the colours of vertices
    for (int solid = 0; solid < 2; solid++) {
        for (int i = 0; i < 4; i++) {
            s->vertices[i].colour[3] = solid ? 129 : 126;
        }
        trace(s, 4, 1);
        assert_close((double)s->rgba[4 * (SIDE / 2) + 3], solid, 1e-6);
    }
    close_stage(s);
}

// A wall whose textures say where its normal and its coat's are, and one whose corners say so: as laid on,
// with u mirrored, and from behind. In the camera's space y is downwards, as v is.
static void textures_bend_normals(void **state)
{
    (void)state;
    uint8_t texel[4] = {component(0.48f), component(0.36f), component(0.8f), 255};
    float n[3]; // what is left of it in bytes
    for (int k = 0; k < 3; k++) {
        n[k] = (srgb_to_linear((float)texel[k] / 255.0f) - ORR_NORMAL_CENTRE) / (1.0f - ORR_NORMAL_CENTRE);
    }
    const float bent[3][3] = {{n[0], -n[1], -n[2]}, {-n[0], -n[1], -n[2]}, {-n[0], n[1], -n[2]}};
    stage *s = open_stage(30.0f, 1);
    orr_mesh_material *look = add_wall(s, 4.0f, 6.0f);
    look->metallic_roughness = true;
    look->metallic = look->roughness = 0.6f;
    look->coat_texture = 1;
    orr_image8 textures[2] = {{1, 1, texel}, {1, 1, (uint8_t[4]){255, 150, 0, 255}}};
    s->meshes[0].mesh.textures = textures;
    s->meshes[0].mesh.texture_count = 2;
    s->list.lights[0] = (orr_draw_light){.directional = true,
                                         .direction = {-0.6f, 0.0f, 0.8f},
                                         .cutoff = 180.0f,
                                         .diffuse = {0.9f, 0.9f, 0.9f}};
    s->list.light_count = 1;
    for (int way = 0; way < 3; way++) {
        float rgb[3 * SIDE * SIDE], expected[3 * SIDE * SIDE];
        look->normal_texture = look->coat_normal_texture = -1;
        for (int i = 0; i < 4; i++) {
            orr_mesh_vertex *v = &s->vertices[i];
            memcpy(v->normal, bent[way], sizeof v->normal);
            v->uv[0] = (way == 1 ? -1.0f : 1.0f) * (v->position[0] + 4.0f) / 8.0f;
            v->uv[1] = (v->position[1] + 4.0f) / 8.0f;
        }
        draw(s, expected);
        for (int i = 0; i < 4; i++) {
            memcpy(s->vertices[i].normal, (float[3]){0, 0, way == 2 ? 1.0f : -1.0f}, 3 * sizeof(float));
        }
        look->normal_texture = look->coat_normal_texture = 0;
        draw(s, rgb);
        for (int i = 0; i < 3 * SIDE * SIDE; i++) {
            assert_float_equal(rgb[i], expected[i], 1e-4);
        }
        assert_traced_as_drawn(s, 16, 0.01, 1e-3);
    }
    for (int i = 0; i < 4; i++) { // no directions across the texture: as without it
        s->vertices[i].uv[0] = s->vertices[i].uv[1] = i % 2 ? INFINITY : NAN;
    }
    float rgb[3 * SIDE * SIDE];
    for (int broken = 0; broken < 4; broken++) {
        look->normal_texture = broken < 2 ? 0 : -1;
        look->roughness = broken == 3 ? NAN : 0.6f;
        s->vertices[0].normal[1] = broken % 2 ? NAN : 0.0f;
        s->list.tone = (orr_tone)broken;
        draw(s, rgb);
        for (int i = 0; i < 3 * SIDE * SIDE; i++) {
            assert_true(isfinite(rgb[i]));
        }
    }
    close_stage(s);
}

static void bits_depend_neither_on_threads_nor_on_calls(void **state)
{
    (void)state;
    float first[SIDE * SIDE * 4];
    for (int threads = 1; threads <= 3; threads += 2) {
        stage *s = open_stage(8.0f, threads);
        add_wall(s, 9.0f, 6.0f)->emissive[0] = 0.1f;
        add_sphere(s, (float[3]){1, 0, 4}, 1.2f, true)->blended = true;
        s->meshes[1].material.base_colour[3] = 0.5f;
        s->list.sun =
            (orr_draw_sun){.direction = {0, 0.6f, -0.8f}, .colour = {1, 1, 1}, .ambient = {1, 1, 1}};
        trace(s, 6, 5);
        if (threads == 1) {
            memcpy(first, s->rgba, sizeof first);
        } else {
            assert_memory_equal(first, s->rgba, sizeof first);
        }
        trace(s, 6, 6);
        assert_memory_not_equal(first, s->rgba, sizeof first);
        close_stage(s);
    }
}

// Half of the light behind shines through, on average; the alpha of a hole is that of the background.
static void transparent_surfaces_let_light_through_by_chance(void **state)
{
    (void)state;
    stage *s = open_stage(40.0f, 1);
    orr_mesh_material *pane = add_wall(s, 2.0f, 2.0f);
    pane->blended = pane->unlit = true;
    pane->base_colour[3] = 0.25f;
    trace(s, 400, 1);
    assert_close(mean_of(s, 3, 0), 0.25, 0.01);
    assert_close(mean_of(s, 0, 0), 0.25, 0.01);
    pane->blended = false;
    pane->alpha_cutoff = 0.5f;
    trace(s, 4, 1);
    assert_close(mean_of(s, 3, 0), 0.0, 0.0);
    close_stage(s);
}

// The error against many samples falls as one over the square root of their number, and so does the estimate.
static void the_error_falls_with_the_square_root_of_the_samples(void **state)
{
    (void)state;
    stage *s = open_stage(8.0f, 1);
    add_wall(s, 9.0f, 6.0f);
    add_sphere(s, (float[3]){1, 0, 4}, 1.2f, true);
    s->list.sun = (orr_draw_sun){.direction = {0, 0.6f, -0.8f}, .colour = {1, 1, 1}, .ambient = {1, 1, 1}};
    trace(s, 2048, 99);
    float truth[SIDE * SIDE * 4];
    memcpy(truth, s->rgba, sizeof truth);
    double errors[2], estimates[2];
    for (int i = 0; i < 2; i++) {
        double sum = 0.0;
        trace(s, i == 0 ? 8 : 128, 1);
        for (int k = 0; k < SIDE * SIDE; k++) {
            sum += pow((double)(s->rgba[4 * k] - truth[4 * k]), 2.0);
        }
        errors[i] = sqrt(sum / (SIDE * SIDE));
        estimates[i] = s->statistics.error;
        assert_true(isfinite(estimates[i]) && estimates[i] > 0.7 * errors[i] &&
                    estimates[i] < 1.4 * errors[i]);
    }
    double slope = log(errors[1] / errors[0]) / log(16.0);
    assert_close(slope, -0.5, 0.05);
    assert_close(log(estimates[1] / estimates[0]) / log(16.0), -0.5, 0.05);
    close_stage(s);
}

// Not a number in normals, corners and lamps: no pixel has one.
static void broken_input_gives_no_nan(void **state)
{
    (void)state;
    stage *s = open_stage(8.0f, 1);
    add_wall(s, 9.0f, 6.0f);
    add_sphere(s, (float[3]){0, 0, 4}, 1.2f, false)->metallic_roughness = true; // roughness 0
    orr_mesh_vertex *v = s->vertices;
    v[0].normal[1] = NAN;
    v[1].normal[0] = v[1].normal[1] = v[1].normal[2] = 0.0f;
    v[VERTICES + 600].position[0] = NAN;
    v[VERTICES + 700].uv[0] = INFINITY;
    s->list.sun = (orr_draw_sun){.direction = {0, 0.6f, -0.8f}, .colour = {1, 1, 1}, .ambient = {1, 1, 1}};
    s->list.lights[0] =
        (orr_draw_light){.position = {0, 0, 6}, .cutoff = 180.0f, .diffuse = {1, 1, 1}}; // on the wall
    s->list.light_count = 1;
    trace(s, 16, 1);
    for (int i = 0; i < SIDE * SIDE * 4; i++) {
        assert_true(isfinite(s->rgba[i]));
    }
    assert_true(s->statistics.left_out > 2 * 48);
    s->list.lights[0].diffuse[0] = NAN;
    trace(s, 16, 1);
    for (int i = 0; i < SIDE * SIDE * 4; i++) {
        assert_true(isfinite(s->rgba[i]));
    }
    close_stage(s);
}

// Two round splats, one behind the other: what each covers of a ray follows from its distance to the ray.
static void splats_cover_rays_in_closed_form(void **state)
{
    (void)state;
    const float z[2] = {4.0f, 6.0f}, x[2] = {-0.3f, 0.4f}, deviation = 0.8f, opacity = 0.7f;
    const float colour[2][3] = {{0.9f, 0.2f, 0.1f}, {0.1f, 0.6f, 0.3f}};
    stage *s = open_stage(40.0f, 2);
    orr_splats *splats;
    orr_splat_pack *pack;
    assert_ok(orr_splats_create(2, 0, &splats, &error));
    orr_splats_view data = orr_splats_data(splats);
    for (int i = 0; i < 2; i++) {
        const int at = 1 - i; // the farther one first
        data.position[3 * at] = x[i];
        data.position[3 * at + 2] = z[i];
        data.opacity[at] = logf(opacity / (1.0f - opacity));
        for (int k = 0; k < 3; k++) {
            data.log_scale[3 * at + k] = logf(deviation);
            data.colour[3 * at + k] = (colour[i][k] - 0.5f) / 0.28209479f;
        }
    }
    assert_ok(orr_splat_pack_create(s->jobs, &data, NULL, &pack, &error));
    orr_draw_splats cloud = {.pack = pack, .key = 9};
    memcpy(cloud.model, identity, sizeof identity);
    s->list.splats = &cloud;
    s->list.splat_count = 1;
    trace(s, 1024, 1); // where in the pixel they are gives a mean an error of 5e-4
    for (int p = 0; p < SIDE * SIDE; p++) {
        const double dx = (p % SIDE + 0.5 - SIDE / 2.0) / 40.0, dy = (p / SIDE + 0.5 - SIDE / 2.0) / 40.0;
        double passes = 1.0, shown[3] = {0.0, 0.0, 0.0};
        for (int i = 0; i < 2; i++) {
            const double length = 1.0 + dx * dx + dy * dy,
                         along = (dx * (double)x[i] + (double)z[i]) / length,
                         apart = (double)(x[i] * x[i] + z[i] * z[i]) - along * along * length,
                         alpha = (double)opacity * exp(-0.5 * apart / (double)(deviation * deviation));
            for (int k = 0; k < 3; k++) {
                shown[k] += passes * alpha * (double)colour[i][k];
            }
            passes *= 1.0 - alpha;
        }
        assert_close((double)s->rgba[4 * p + 3], 1.0 - passes, 4e-3);
        for (int k = 0; k < 3; k++) {
            const double covers = 1.0 - passes, light = (double)srgb_to_linear((float)(shown[k] / covers));
            assert_close((double)s->rgba[4 * p + k], light * covers, 4e-3);
        }
    }
    orr_splat_pack_destroy(pack);
    orr_splats_destroy(splats);
    close_stage(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(white_metal_has_the_known_albedos),
        cmocka_unit_test(rough_white_metal_keeps_all_light),
        cmocka_unit_test(the_table_holds_the_integrals),
        cmocka_unit_test(the_albedo_is_the_integral_of_the_draws),
        cmocka_unit_test(a_coat_neither_loses_nor_makes_light),
        cmocka_unit_test(a_bent_coat_does_not_darken),
        cmocka_unit_test(a_white_sphere_vanishes_in_a_furnace),
        cmocka_unit_test(light_is_neither_lost_nor_made_between_surfaces),
        cmocka_unit_test(a_plane_under_a_far_lamp_has_lamberts_cosine),
        cmocka_unit_test(the_sun_lights_as_a_disc),
        cmocka_unit_test(a_glowing_square_lights_in_closed_form),
        cmocka_unit_test(a_sphere_lights_in_closed_form),
        cmocka_unit_test(metal_shows_a_sphere_as_bright_as_it_is),
        cmocka_unit_test(an_unshadowed_matte_scene_is_the_rasterisers),
        cmocka_unit_test(metals_and_dielectrics_are_the_rasterisers),
        cmocka_unit_test(highlights_are_the_rasterisers),
        cmocka_unit_test(highlights_reflect_their_integrals),
        cmocka_unit_test(coated_surfaces_are_the_rasterisers),
        cmocka_unit_test(textures_are_factors_of_metals),
        cmocka_unit_test(textures_are_laid_on_by_second_coordinates),
        cmocka_unit_test(textures_are_wrapped_and_filtered),
        cmocka_unit_test(textures_bend_normals),
        cmocka_unit_test(transparent_surfaces_let_light_through_by_chance),
        cmocka_unit_test(the_error_falls_with_the_square_root_of_the_samples),
        cmocka_unit_test(bits_depend_neither_on_threads_nor_on_calls),
        cmocka_unit_test(splats_cover_rays_in_closed_form),
        cmocka_unit_test(broken_input_gives_no_nan),
    };
    return cmocka_run_group_tests_name("path_tracer", tests, NULL, NULL);
}
