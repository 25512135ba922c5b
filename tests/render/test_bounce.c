// Tests of the light that meshes throw on each other: grids of points against closed forms, what their rays
// meet, and no light from the back of what is lit.
#define ORR_SCALAR
#include "render/bounce/grid.h"
#include "render/environment/maps.h"
#include "render/environment/probe.h"
#include "render/formula_inputs.h"
#include "tests/support/scenes/small_mesh.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { QUADS = 8 };
static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

// Quads in the world's space, white unless their test says otherwise.
typedef struct stage {
    orr_jobs *jobs;
    small_mesh meshes[QUADS];
    orr_mesh_vertex vertices[QUADS][4];
    uint32_t indices[QUADS][6];
    orr_draw_mesh drawn[QUADS];
    orr_draw_list list;
    orr_lit_rays rays;
    orr_bounce_grid grid;
    float behind[ORR_BOUNCE_RAYS][3];
} stage;

static stage *open_stage(void)
{
    stage *s = calloc(1, sizeof *s);
    assert_ok(orr_jobs_create(2, NULL, NULL, &s->jobs, &error));
    s->list.meshes = s->drawn;
    s->list.lens.focal[0] = s->list.lens.focal[1] = 1.0f;
    return s;
}

static void close_stage(stage *s)
{
    orr_bounce_grid_free(&s->grid);
    orr_lit_rays_free(&s->rays);
    orr_jobs_destroy(s->jobs);
    free(s);
}

// A lamp above x = 2 that casts shadows.
static void hang_lamp(stage *s)
{
    s->list.shadows = true;
    s->list.light_count = 1;
    s->list.lights[0] = (orr_draw_light){.position = {2, 0, 3},
                                         .attenuation = {0, 0, 1},
                                         .cutoff = 180.0f,
                                         .diffuse = {9, 9, 9},
                                         .casts_shadows = true};
}

// Across an axis, around a point, of so much to either side; it faces higher values of the axis, or lower.
static orr_mesh_material *add_quad(stage *s, int axis, const float centre[3], float half, bool faces_up)
{
    const int i = s->list.mesh_count++, b = (axis + 1) % 3, c = (axis + 2) % 3;
    for (int k = 0; k < 4; k++) {
        orr_mesh_vertex *v = &s->vertices[i][k];
        *v = (orr_mesh_vertex){.position = {centre[0], centre[1], centre[2]}, .colour = {255, 255, 255, 255}};
        v->position[faces_up ? b : c] += k == 1 || k == 2 ? half : -half;
        v->position[faces_up ? c : b] += k > 1 ? half : -half;
        v->normal[axis] = faces_up ? 1.0f : -1.0f;
    }
    memcpy(s->indices[i], (uint32_t[6]){0, 1, 2, 0, 2, 3}, sizeof s->indices[i]);
    small_mesh_set(&s->meshes[i], s->vertices[i], 4, s->indices[i], 6);
    s->meshes[i].material.two_sided = false;
    s->drawn[i] = (orr_draw_mesh){.mesh = &s->meshes[i].mesh, .key = (uint64_t)i + 1, .environment = 1};
    memcpy(s->drawn[i].model, identity, sizeof identity);
    return &s->meshes[i].material;
}

static void set_base(orr_mesh_material *m, float base)
{
    for (int k = 0; k < 3; k++) {
        m->base_colour[k] = base;
    }
}

// Holds the list's meshes, and finds the light of a grid in a box of half `half` around the origin; what is
// behind all of them has a radiance.
static void find_light(stage *s, float half, float around)
{
    static const float dark[3][9] = {{0}};
    const float low[3] = {-half, -half, -half}, high[3] = {half, half, half};
    const orr_bounce_lit lit = {{&s->grid}, {&dark}, 1, 1};
    assert_ok(orr_lit_rays_hold(&s->rays, s->jobs, orr_isa_best(), &s->list, &error));
    assert_ok(orr_bounce_grid_place(&s->grid, low, high, &error));
    // in two parts, as frames do
    orr_bounce_grid_look(&s->grid, s->jobs, &s->rays, 0, s->grid.count / 2);
    orr_bounce_grid_look(&s->grid, s->jobs, &s->rays, s->grid.count / 2, s->grid.count);
    for (int i = 0; i < ORR_BOUNCE_RAYS * s->grid.count; i++) {
        for (int k = 0; k < 3 && s->grid.hits[i].mesh < 0; k++) {
            s->grid.hits[i].light[k] = around;
        }
    }
    for (int i = 0; i < ORR_BOUNCE_RAYS; i++) {
        s->behind[i][0] = s->behind[i][1] = s->behind[i][2] = around;
    }
    orr_bounce_grid_reflect(&s->grid, s->jobs, &lit, s->behind);
}

// What a white surface there reflects, as machines look it up in the texels of an environment.
static float matte_at(const stage *s, real3 position, real3 normal)
{
    static const float centre[3] = {0.25f, -0.5f, 1.0f};
    orr_environment *e;
    assert_ok(orr_environment_allocate(ORR_PROBE_SHARP, ORR_PROBE_ROUGH, ORR_ENVIRONMENT_POINTS, &e, &error));
    orr_bounce_grid_fill(&s->grid, centre, e);
    orr_draw_list list = {.environment_count = 1};
    list.environments[0] =
        (orr_draw_environment){.map = e,
                               .to_map = {1, 0, 0, -centre[0], 0, 1, 0, -centre[1], 0, 0, 1, -centre[2]},
                               .strength = 1.0f};
    memcpy(list.lens.view, identity, sizeof identity);
    list.lens.focal[0] = list.lens.focal[1] = 1.0f;
    orr_draw_lighting *lighting = malloc(sizeof *lighting);
    orr_draw_light_up(&list, lighting);
    const environment_view v = environment_of(&lighting->environments[0]);
    const environment_cell c = environment_find_cell(v, position, normal);
    real3 sum = make_real3(0.0f, 0.0f, 0.0f);
    real weights = 0.0f;
    for (int i = 0; i < 8; i++) {
        const environment_corner k =
            environment_corner_of(v, c, (float)(i & 1), (float)(i >> 1 & 1), (float)(i >> 2));
        real3 texels[3];
        const int at[3] = {(int)k.x, (int)k.y, (int)k.z};
        for (int a = 0; a < 3; a++) {
            const uint32_t t = e->texels[at[a]];
            texels[a] = environment_decode((float)(t & 511u), (float)(t >> 9 & 511u), (float)(t >> 18 & 511u),
                                           (float)(t >> 27));
        }
        sum = environment_add_corner(sum, c, k, texels[0], texels[1], texels[2]);
        weights += k.weight;
    }
    assert_true(weights > 0.0f);
    const float light = environment_with_grid(v, environment_diffuse(v, normal), sum, weights).x;
    free(lighting);
    orr_environment_destroy(e);
    return light;
}

// A closed box that shines by itself and gives back half of what falls on it: after so many reflections a sum
// of powers. Points just outside see backs of walls, and have the light of those inside.
static void a_furnace_has_the_sum_of_its_reflections(void **state)
{
    (void)state;
    stage *s = open_stage();
    double expected = 0.0;
    for (int face = 0; face < 6; face++) {
        float at[3] = {0.0f, 0.0f, 0.0f};
        at[face / 2] = face % 2 ? -1.0f : 1.0f;
        orr_mesh_material *m = add_quad(s, face / 2, at, 1.0f, face % 2);
        set_base(m, 0.5f);
        m->emissive[0] = m->emissive[1] = m->emissive[2] = 0.1f;
    }
    find_light(s, 1.0f, 0.0f);
    for (int i = 0; i < ORR_BOUNCES; i++) {
        expected = 0.1 + 0.5 * expected;
    }
    for (int i = 0; i < s->grid.count; i++) {
        float at[3];
        orr_bounce_point(&s->grid, i, at);
        int inside = 0, middle = 0;
        for (int k = 0; k < 3; k++) {
            inside += fabsf(at[k]) < 1.0f;
            middle += fabsf(at[k]) < 0.5f;
        }
        for (int k = 0; k < 18 && (inside == 3 || middle == 2); k++) {
            // those outside have the mean of neighbours, some of which see the room past its edge
            assert_float_equal((&s->grid.light[i][0][0])[k], expected, inside == 3 ? 3e-3f : 0.03f);
        }
    }
    assert_float_equal(matte_at(s, make_real3(-1.0f, 0.3f, 0.2f), make_real3(1, 0, 0)), expected, 3e-3);
    close_stage(s);
}

// A wide floor under a lamp that shines straight down: white surfaces above it reflect its radiance where
// they face down, half of it where they face sideways, and nothing of it where they face up.
static void a_floor_lights_what_is_above_it(void **state)
{
    (void)state;
    stage *s = open_stage();
    const float floor[3] = {0.0f, 0.0f, -0.2f};
    set_base(add_quad(s, 2, floor, 100.0f, true), 0.8f);
    s->list.light_count = 1;
    s->list.lights[0] = (orr_draw_light){.directional = true,
                                         .direction = {0, 0, -1},
                                         .attenuation = {1},
                                         .cutoff = 180.0f,
                                         .diffuse = {1, 1, 1}};
    find_light(s, 0.5f, 0.0f);
    const real3 above = make_real3(0.1f, -0.2f, 0.3f);
    assert_float_equal(matte_at(s, above, make_real3(0, 0, -1)), 0.8, 2e-3);
    assert_float_equal(matte_at(s, above, make_real3(1, 0, 0)), 0.4, 0.02);
    assert_float_equal(matte_at(s, above, make_real3(0, -1, 0)), 0.4, 0.02);
    assert_float_equal(matte_at(s, above, make_real3(0, 0, 1)), 0.0, 2e-3);
    // the floor itself is lit by nothing, whatever the points below it see
    assert_float_equal(matte_at(s, make_real3(0.1f, 0.2f, -0.2f), make_real3(0, 0, 1)), 0.0, 2e-3);
    // it keeps off what is behind it: less than nothing is added, and what is left never becomes negative
    memset(s->list.lights[0].diffuse, 0, sizeof s->list.lights[0].diffuse);
    find_light(s, 0.5f, 0.25f);
    float least = 0.0f;
    for (int i = 0; i < 18 * s->grid.count; i++) {
        least = fminf(least, (&s->grid.light[0][0][0])[i]);
    }
    assert_float_equal(least, -0.25, 2e-3);
    assert_float_equal(matte_at(s, above, make_real3(0, 0, -1)), 0.0, 2e-3);
    close_stage(s);
}

// No point behind the surface has a part, wherever in its cell that is, and those before it always have.
static void surfaces_do_not_see_through_themselves(void **state)
{
    (void)state;
    const environment_view v = {.points_x = 4,
                                .points_y = 5,
                                .points_z = 3,
                                .step_x = 0.5f,
                                .step_y = 0.25f,
                                .step_z = 1.0f,
                                .to_map = {.xx = 1, .yy = 1, .zz = 1}};
    for (int n = 0; n < 2000; n++) {
        const real3 p = make_real3(1.5f * (float)(n % 13) / 12.0f, (float)(n % 17) / 16.0f,
                                   2.0f * (float)(n % 19) / 18.0f);
        const float a = 0.7f * (float)n, z = 2.0f * (float)(n % 23) / 22.0f - 1.0f,
                    ring = sqrtf(1.0f - z * z);
        const real3 normal = make_real3(ring * cosf(a), ring * sinf(a), z);
        const environment_cell c = environment_find_cell(v, p, normal);
        const real3 half = scale3(normal, 0.5f / c.per_depth);
        const bool inside = fabsf(p.x + half.x - 0.75f) < 0.74f && fabsf(p.y + half.y - 0.5f) < 0.49f &&
                            fabsf(p.z + half.z - 1.0f) < 0.99f;
        float weights = 0.0f;
        for (int i = 0; i < 8; i++) {
            const int x = i & 1, y = i >> 1 & 1, high = i >> 2;
            const environment_corner k = environment_corner_of(v, c, (float)x, (float)y, (float)high);
            const real3 at = make_real3((c.first.x + (float)x) * 0.5f, (c.first.y + (float)y) * 0.25f,
                                        c.first.z + (float)high);
            assert_true(k.weight >= 0.0f);
            weights += k.weight;
            if (inside && dot3(sub3(at, p), normal) < -1e-5f) {
                assert_float_equal(k.weight, 0.0, 1e-5);
            }
        }
        assert_true(weights > 0.2f);
    }
}

// Of a lamp only what reaches a surface past others that cast shadows is thrown on.
static void shadowed_surfaces_throw_nothing(void **state)
{
    (void)state;
    stage *s = open_stage();
    const float floor[3] = {0, 0, 0}, roof[3] = {2, 0, 1};
    const float middle[2] = {0.5f, 0.5f};
    orr_lit_hit hit;
    add_quad(s, 2, floor, 5.0f, true);
    orr_mesh_material *cover = add_quad(s, 2, roof, 0.5f, true);
    hang_lamp(s);
    const orr_ray under = {{2, 0, 0.5f}, {0, 0, -1}, 0, INFINITY},
                  beside = {{-1, 0, 0.5f}, {0, 0, -1}, 0, INFINITY};
    assert_ok(orr_lit_rays_hold(&s->rays, s->jobs, orr_isa_best(), &s->list, &error));
    orr_lit_rays_meet(&s->rays, &under, NULL, middle, &hit);
    assert_int_equal(hit.mesh, 0);
    assert_float_equal(hit.distance, 0.5, 1e-6);
    assert_float_equal(hit.light[0], 0.0, 0.0);
    orr_lit_rays_meet(&s->rays, &beside, NULL, middle, &hit);
    assert_float_equal(hit.light[1], 0.35355339, 1e-4); // 9 / 18 by the cosine of 45 degrees
    assert_float_equal(hit.normal[2], 1.0, 1e-6);
    // what casts no shadow, and lamps that cast none
    cover->no_shadow = true;
    orr_lit_rays_meet(&s->rays, &under, NULL, middle, &hit);
    assert_float_equal(hit.light[0], 1.0, 1e-4);
    cover->no_shadow = false;
    s->list.lights[0].casts_shadows = false;
    assert_ok(orr_lit_rays_hold(&s->rays, s->jobs, orr_isa_best(), &s->list, &error));
    orr_lit_rays_meet(&s->rays, &under, NULL, middle, &hit);
    assert_float_equal(hit.light[0], 1.0, 1e-4);
    // from below the floor: the back of a surface that no lamp shines on; and through a mesh that is passed
    const orr_ray below = {{0, 0, -1}, {0, 0, 1}, 0, INFINITY}, down = {{2, 0, 2}, {0, 0, -1}, 0, INFINITY};
    orr_lit_rays_meet(&s->rays, &below, NULL, middle, &hit);
    assert_true(hit.mesh == 0 && hit.dark_back && hit.light[0] == 0.0f && hit.base[0] == 0.0f);
    orr_lit_rays_meet(&s->rays, &down, (const uint8_t[2]){0, 1}, middle, &hit);
    assert_int_equal(hit.mesh, 0);
    orr_lit_rays_meet(&s->rays, &down, NULL, middle, &hit);
    assert_int_equal(hit.mesh, 1);
    // what is not a number, or infinite, is dark
    s->meshes[0].material.base_colour[0] = NAN;
    s->meshes[0].material.emissive[1] = INFINITY;
    orr_lit_rays_meet(&s->rays, &beside, NULL, middle, &hit);
    assert_true(hit.base[0] == 0.0f && hit.light[0] == 0.0f && hit.light[1] == 0.0f && hit.light[2] > 0.1f);
    close_stage(s);
}

// A square of splats across z, 0.5 to either side of (2, 0, 1).
static orr_splat_pack *make_roof(orr_jobs *jobs)
{
    enum { ROW = 24 };
    const float apart = 1.0f / ROW;
    orr_splats *splats;
    orr_splat_pack *pack;
    assert_ok(orr_splats_create(ROW * ROW, 0, &splats, &error));
    const orr_splats_view v = orr_splats_data(splats);
    for (int i = 0; i < ROW * ROW; i++) {
        const float at[3] = {1.5f + apart * ((float)(i % ROW) + 0.5f),
                             apart * ((float)(i / ROW) + 0.5f) - 0.5f, 1.0f};
        memcpy(v.position + 3 * i, at, sizeof at);
        for (int k = 0; k < 3; k++) {
            v.log_scale[3 * i + k] = logf(k == 2 ? 0.003f : 0.7f * apart);
        }
        v.rotation[4 * i] = 1.0f;
        v.opacity[i] = 6.0f;
    }
    assert_ok(orr_splat_pack_create(jobs, &v, NULL, &pack, &error));
    orr_splats_destroy(splats);
    return pack;
}

// The light of the floor below the roof, and beside it.
static void look_down(stage *s, float *under, float *beside)
{
    const orr_ray down[2] = {{{2, 0, 0.5f}, {0, 0, -1}, 0, INFINITY},
                             {{-1, 0, 0.5f}, {0, 0, -1}, 0, INFINITY}};
    const float middle[2] = {0.5f, 0.5f};
    orr_lit_hit hit;
    assert_ok(orr_lit_rays_hold(&s->rays, s->jobs, orr_isa_best(), &s->list, &error));
    orr_lit_rays_meet(&s->rays, &down[0], NULL, middle, &hit);
    *under = hit.light[0];
    orr_lit_rays_meet(&s->rays, &down[1], NULL, middle, &hit);
    *beside = hit.light[0];
}

// What is captured keeps a lamp off, and a cloud that moves does where it is.
static void clouds_shadow_what_rays_meet(void **state)
{
    (void)state;
    stage *s = open_stage();
    const float floor[3] = {0, 0, 0};
    float under, beside;
    add_quad(s, 2, floor, 5.0f, true);
    orr_splat_pack *pack = make_roof(s->jobs);
    orr_draw_splats roof = {.pack = pack, .key = 1, .casts_shadow = true};
    memcpy(roof.model, identity, sizeof identity);
    hang_lamp(s);
    const orr_self_shadow_of wall = {
        .clouds = &roof,
        .cloud_count = 1,
        .lights = {{.position = {2, 0, 3}, .direction = {0, 0, -1}, .cutoff = 180}},
        .light_count = 1};
    orr_self_shadow *maps;
    look_down(s, &under, &beside);
    assert_float_equal(under, 1.0, 1e-4);
    assert_float_equal(beside, 0.35355339, 1e-4);
    assert_ok(orr_self_shadow_build(s->jobs, orr_isa_best(), &wall, &maps, &error));
    s->list.self_shadow = maps;
    look_down(s, &under, &beside);
    print_message("    below a captured roof %.4f, beside it %.4f\n", (double)under, (double)beside);
    assert_float_equal(under, 0.0, 0.0);
    assert_float_equal(beside, 0.35355339, 1e-4);
    s->list.self_shadow = NULL;
    s->list.splats = &roof;
    s->list.splat_count = 1;
    for (int i = 0; i < 3; i++) {
        roof.model[3] = i == 1 ? 6.0f : 0.0f; // away and back
        look_down(s, &under, &beside);
        print_message("    a roof that moves: below %.4f, beside %.4f\n", (double)under, (double)beside);
        assert_float_equal(under, i == 1 ? 1.0 : 0.0, 0.02);
        assert_float_equal(beside, 0.35355339, 1e-4);
    }
    orr_self_shadow_release(maps);
    orr_splat_pack_destroy(pack);
    close_stage(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_furnace_has_the_sum_of_its_reflections),
                                       cmocka_unit_test(a_floor_lights_what_is_above_it),
                                       cmocka_unit_test(surfaces_do_not_see_through_themselves),
                                       cmocka_unit_test(shadowed_surfaces_throw_nothing),
                                       cmocka_unit_test(clouds_shadow_what_rays_meet)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
