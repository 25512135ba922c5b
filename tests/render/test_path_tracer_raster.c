// Tests of the path tracer against the rasteriser, pixel by pixel, where both show the same light.
#define ORR_SCALAR
#include "engine/maths/colour_formula.h"
#include "render/cpu/mesh_raster.h"
#include "tests/render/scenes/path_stage.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

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

// Ambient light and a directional lamp.
static void light_stage(stage *s)
{
    s->list.sun.ambient[0] = s->list.sun.ambient[1] = s->list.sun.ambient[2] = 0.3f;
    s->list.lights[0] = (orr_draw_light){.directional = true,
                                         .direction = {-0.48f, 0.6f, 0.64f},
                                         .cutoff = 180.0f,
                                         .diffuse = {0.5f, 0.4f, 0.3f}};
    s->list.light_count = 1;
}

// An orange sphere in front of the camera, in that light.
static orr_mesh_material *add_lit_sphere(stage *s)
{
    orr_mesh_material *look = add_sphere(s, (float[3]){0, 0, 6}, 4.5f, false);
    memcpy(look->base_colour, (float[3]){0.9f, 0.5f, 0.2f}, 3 * sizeof(float));
    light_stage(s);
    return look;
}

// A background is at no depth, also in pixels that an edge divides.
static void a_background_does_not_change_the_depth(void **state)
{
    (void)state;
    static float alone[SIDE * SIDE];
    stage *s = open_stage(20.0f, 1);
    add_sphere(s, (float[3]){0, 0, 6}, 2.0f, true);
    trace(s, 16, 1);
    memcpy(alone, s->depth, sizeof alone);
    s->list.opaque = true;
    trace(s, 16, 1);
    int edges = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        edges += alone[i] > 0.0f && alone[i] < 6.0f;
        assert_float_equal(s->depth[i], alone[i], 1e-5);
    }
    assert_true(edges > 100);
    close_stage(s);
}

// A ball of a material under a lamp and light from everywhere. Rasterisers light the centre of a pixel, paths
// all of it, and draw ambient light at random: each pixel has an error of up to 0.03, the mean has not.
static void metals_and_dielectrics_are_the_rasterisers(void **state)
{
    (void)state;
    stage *s = open_stage(60.0f, 1);
    orr_mesh_material *look = add_lit_sphere(s);
    look->metallic_roughness = true;
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
    orr_mesh_material *look = add_lit_sphere(s);
    look->metallic_roughness = look->has_highlight = true;
    look->roughness = 0.5f;
    for (int i = 0; i < 3; i++) {
        memcpy(look->highlight, highlights[i], sizeof look->highlight);
        look->highlight_grazing = highlights[i][3];
        assert_traced_as_drawn(s, 128, 0.04, 2e-3);
    }
    close_stage(s);
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
    light_stage(s);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_background_does_not_change_the_depth),
        cmocka_unit_test(an_unshadowed_matte_scene_is_the_rasterisers),
        cmocka_unit_test(metals_and_dielectrics_are_the_rasterisers),
        cmocka_unit_test(highlights_are_the_rasterisers),
        cmocka_unit_test(coated_surfaces_are_the_rasterisers),
        cmocka_unit_test(textures_are_factors_of_metals),
        cmocka_unit_test(textures_are_laid_on_by_second_coordinates),
        cmocka_unit_test(textures_are_wrapped_and_filtered),
        cmocka_unit_test(textures_bend_normals),
    };
    return cmocka_run_group_tests_name("path_tracer_raster", tests, NULL, NULL);
}
