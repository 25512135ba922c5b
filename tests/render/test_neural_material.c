// Neural materials: derivatives against differences, what is learnt against what it is learnt from, files.
#define ORR_SCALAR
#include "engine/core/jobs.h"
#include "engine/maths/colour_formula.h"
#include "engine/maths/rng.h"
#include "render/appearance/material_texels.h"
#include "render/appearance/material_trainer.h"
#include "render/appearance/neural_backward_formula.h"
#include "render/appearance/neural_surface.h"
#include "tests/support/scenes/small_mesh.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXELS = 32 };

static void assert_close(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance)) {
        fail_msg("%.9g: expected %.9g, within %.3g", value, expected, tolerance);
    }
}

// A coated, bumpy, patterned material: rough red paint, metal flakes, and stripes without a coat.
typedef struct coated_mesh {
    small_mesh mesh;
    orr_mesh_vertex vertices[3];
    uint32_t indices[3];
    orr_image8 textures[4];
} coated_mesh;

static uint8_t display(float linear)
{
    return (uint8_t)(255.0f * linear_to_srgb(linear) + 0.5f);
}

static uint8_t component(float n)
{
    return display(ORR_NORMAL_CENTRE + (1.0f - ORR_NORMAL_CENTRE) * n);
}

static void make_coated(coated_mesh *c)
{
    for (int i = 0; i < 3; i++) {
        c->vertices[i] = (orr_mesh_vertex){.position = {(float)(i == 1), (float)(i == 2), 0}};
        c->indices[i] = (uint32_t)i;
    }
    small_mesh_set(&c->mesh, c->vertices, 3, c->indices, 3);
    orr_mesh_material *m = &c->mesh.material;
    m->metallic_roughness = true;
    m->metallic = m->roughness = 1.0f;
    m->texture = 0;
    m->surface_texture = 1;
    m->normal_texture = 2;
    m->coat_texture = 3;
    c->mesh.mesh.textures = c->textures;
    c->mesh.mesh.texture_count = 4;
    for (int i = 0; i < 4; i++) {
        c->textures[i] = (orr_image8){TEXELS, TEXELS, malloc(4 * TEXELS * TEXELS)};
    }
    for (int i = 0; i < TEXELS * TEXELS; i++) {
        const int x = i % TEXELS, y = i / TEXELS;
        const bool flake = (x / 4 + y / 4) % 3 == 0, stripe = y / 8 % 2;
        const float slope = 0.3f * sinf(0.4f * (float)x), other = 0.2f * cosf(0.3f * (float)y),
                    length = sqrtf(1.0f + slope * slope + other * other);
        const uint8_t base[4] = {display(flake ? 0.9f : 0.5f), display(flake ? 0.7f : 0.05f),
                                 display(flake ? 0.3f : 0.04f), 255};
        const uint8_t surface[4] = {255, display(flake ? 0.35f : 0.8f), display(flake ? 1.0f : 0.0f), 255};
        const uint8_t normal[4] = {component(slope / length), component(other / length),
                                   component(1.0f / length), 255};
        const uint8_t coat[4] = {display(stripe ? 1.0f : 0.0f), display(0.2f), 255, 255};
        const uint8_t *const all[4] = {base, surface, normal, coat};
        for (int k = 0; k < 4; k++) {
            memcpy(c->textures[k].rgba + 4 * i, all[k], 4);
        }
    }
}

static void free_coated(coated_mesh *c)
{
    for (int i = 0; i < 4; i++) {
        free(c->textures[i].rgba);
    }
}

// A trainer of the material.
typedef struct stage {
    coated_mesh *mesh;
    orr_jobs *jobs;
    material_trainer *trainer;
} stage;

static stage open_stage(int threads, const material_training *training)
{
    static coated_mesh mesh; // its parts point to each other
    stage s;
    make_coated(&mesh);
    assert_ok(orr_jobs_create(threads, NULL, NULL, &s.jobs, &error));
    assert_ok(material_trainer_create(s.jobs, orr_isa_best(), &mesh.mesh.mesh, training, &s.trainer, &error));
    s.mesh = &mesh;
    return s;
}

static void close_stage(stage *s)
{
    material_trainer_destroy(s->trainer);
    orr_jobs_destroy(s->jobs);
    free_coated(s->mesh);
}

static real4 decode(const orr_image8 *picture, int texel)
{
    const uint8_t *t = picture->rgba + 4 * texel;
    return make_real4(srgb_to_linear((float)t[0] / 255.0f), srgb_to_linear((float)t[1] / 255.0f),
                      srgb_to_linear((float)t[2] / 255.0f), (float)t[3] / 255.0f);
}

static real3 above(orr_rng *random)
{
    const real z = 0.1f + 0.9f * orr_rng_uniform(random), angle = 2.0f * BSDF_PI * orr_rng_uniform(random);
    const real ring = sqrtf(1.0f - z * z);
    return make_real3(ring * cosf(angle), ring * sinf(angle), z);
}

typedef struct quality {
    double light;    // mean absolute error of pi x reflectance x cosine
    double lobes;    // of what is reflected of light from everywhere
    double furnace;  // of the integral of reflected light, bias included
    double reflects; // mean of the latter
} quality;

static quality measure(const material_texels *texels, const orr_neural_material *m)
{
    orr_rng random = {7, 0, 0};
    quality q = {0};
    enum { POINTS = 400, LIGHTS = 256 };
    for (int i = 0; i < POINTS; i++) {
        const int texel = (int)(orr_rng_uniform(&random) * TEXELS * TEXELS);
        const real3 eye = above(&random);
        const material_texel *truth = &texels->texels[texel];
        const bsdf b = material_bsdf(truth, eye);
        const neural_surface s =
            neural_surface_of(&m->weights, decode(&m->latents[0], texel), decode(&m->latents[1], texel), eye);
        const neural_lobes lobes = neural_lobes_of(&s), known = material_lobes(truth, eye);
        q.lobes += fabs((double)(lobes.matte.x + lobes.mirrored.x + lobes.coat - known.matte.x -
                                 known.mirrored.x - known.coat)) /
                   POINTS;
        double sum = 0.0, exact = 0.0;
        for (int k = 0; k < LIGHTS; k++) {
            real3 light;
            const bsdf_value drawn = bsdf_draw(&b, orr_rng_uniform(&random), orr_rng_uniform(&random),
                                               orr_rng_uniform(&random), &light);
            if (drawn.pdf > 0.0f && light.z > 0.0f) {
                sum += (double)(neural_reflect(&s, light).x / drawn.pdf) / LIGHTS;
                exact += (double)(drawn.weight.x / drawn.pdf) / LIGHTS;
            }
            const real3 any = above(&random);
            q.light += 3.14159 * fabs((double)(neural_reflect(&s, any).x - bsdf_eval(&b, any).weight.x)) /
                       (POINTS * LIGHTS);
        }
        q.furnace += fabs(sum - exact) / POINTS;
        q.reflects += exact / POINTS;
    }
    return q;
}

// The derivatives of everything together, from pictures to the parameters of all networks, by differences.
static void the_gradient_is_that_of_the_loss(void **state)
{
    (void)state;
    stage s = open_stage(1, &(material_training){0, 16, 512, 100, 5});
    for (int i = 0; i < 20; i++) { // away from where all is alike
        material_trainer_step(s.trainer);
    }
    material_slope slope = material_trainer_slope(s.trainer);
    orr_rng random = {11, 0, 0};
    double largest = 0.0, dot = 0.0;
    for (int64_t i = 0; i < slope.count; i++) {
        largest = fmax(largest, fabs((double)slope.gradient[i]));
    }
    float *gradient = malloc((size_t)slope.count * sizeof *gradient);
    memcpy(gradient, slope.gradient, (size_t)slope.count * sizeof *gradient);
    int checked = 0;
    for (int i = 0; checked < 40 && i < 100000; i++) { // single parameters, the last 48 of them the frame's
        const int64_t k = checked % 4 ? (int64_t)(orr_rng_uniform(&random) * (float)slope.count)
                                      : slope.count - 1 - (int64_t)(orr_rng_uniform(&random) * 48.0f);
        if (k < 0 || k >= slope.count || fabs((double)gradient[k]) < 0.02 * largest) {
            continue;
        }
        const float was = slope.parameters[k], step = 2e-3f;
        double losses[2];
        for (int side = 0; side < 2; side++) {
            slope.parameters[k] = was + (side ? step : -step);
            material_trainer_renew(s.trainer);
            losses[side] = material_trainer_slope(s.trainer).loss;
        }
        slope.parameters[k] = was;
        const double difference = (losses[1] - losses[0]) / (2.0 * (double)step);
        // rectified sums have kinks, and the loss is summed from floats
        assert_close((double)gradient[k], difference, 0.03 * fabs(difference) + 2e-3 * largest);
        dot += difference * (double)gradient[k];
        checked++;
    }
    assert_int_equal(checked, 40);
    assert_true(dot > 0.0);
    free(gradient);
    close_stage(&s);
}

static void networks_learn_a_coated_material(void **state)
{
    (void)state;
    enum { STEPS = 500 };
    stage s = open_stage(0, &(material_training){0, 16, 512, STEPS, 1});
    material_texels texels;
    orr_neural_material *m;
    orr_mesh_material *look = &s.mesh->mesh.material;
    orr_error why = {0};
    look->second[ORR_TEXTURE_SURFACE] = true;
    assert_int_equal(material_texels_make(&s.mesh->mesh.mesh, 0, 512, &texels, &why), ORR_ERROR_ARGUMENT);
    assert_non_null(strstr(why.message, "laid on alike"));
    look->second[ORR_TEXTURE_SURFACE] = false;
    assert_ok(material_texels_make(&s.mesh->mesh.mesh, 0, 512, &texels, &error));
    for (int i = 0; i < STEPS; i++) {
        material_trainer_step(s.trainer);
    }
    assert_ok(material_trainer_material(s.trainer, &m, &error));
    const quality q = measure(&texels, m);
    print_message("    off by %.3f of reflected light, %.3f of lobes, %.3f of all light; it reflects %.3f\n",
                  q.light, q.lobes, q.furnace, q.reflects);
    assert_true(q.light < 0.13);
    assert_true(q.lobes < 0.04);
    assert_true(q.furnace < 0.4);
    orr_neural_material_destroy(m);
    material_texels_free(&texels);
    close_stage(&s);
}

static void bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    orr_neural_material *m[2];
    for (int i = 0; i < 2; i++) {
        stage s = open_stage(i ? 3 : 1, &(material_training){0, 32, 16, 10, 2});
        for (int k = 0; k < 5; k++) {
            material_trainer_step(s.trainer);
        }
        assert_ok(material_trainer_material(s.trainer, &m[i], &error));
        close_stage(&s);
    }
    assert_int_equal(m[0]->latents[1].width, 16);
    assert_memory_equal(&m[0]->weights, &m[1]->weights, sizeof m[0]->weights);
    for (int i = 0; i < 2; i++) {
        assert_memory_equal(m[0]->latents[i].rgba, m[1]->latents[i].rgba, 4 * orr_neural_texels(16, 16));
    }
    // a file keeps all of it
    orr_neural_material *read;
    const char *path = scratch_path("bits.material");
    assert_ok(orr_neural_material_save(m[0], path, &error));
    assert_ok(orr_neural_material_load(path, &read, &error));
    assert_memory_equal(&m[0]->weights, &read->weights, sizeof read->weights);
    assert_memory_equal(m[0]->latents[1].rgba, read->latents[1].rgba, 4 * orr_neural_texels(16, 16));
    orr_neural_material_destroy(read);
    orr_neural_material_destroy(m[0]);
    orr_neural_material_destroy(m[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_is_that_of_the_loss),
        cmocka_unit_test(networks_learn_a_coated_material),
        cmocka_unit_test(bits_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
