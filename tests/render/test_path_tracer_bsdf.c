// Tests of scattering in the path tracer: albedos against known ones, draws against integrals.
#define ORR_SCALAR
#include "engine/maths/rng.h"
#include "render/formula_inputs.h"
#include "render/reference/bsdf.h"
#include "tests/render/scenes/path_stage.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(white_metal_has_the_known_albedos),
        cmocka_unit_test(rough_white_metal_keeps_all_light),
        cmocka_unit_test(the_table_holds_the_integrals),
        cmocka_unit_test(the_albedo_is_the_integral_of_the_draws),
        cmocka_unit_test(a_coat_neither_loses_nor_makes_light),
        cmocka_unit_test(a_bent_coat_does_not_darken),
        cmocka_unit_test(highlights_reflect_their_integrals),
    };
    return cmocka_run_group_tests_name("path_tracer_bsdf", tests, NULL, NULL);
}
