// Rectangles that shine: their formulas against quadrature in double, and pictures of scenes against
// path-traced ones, on every machine that is here.
#define ORR_SCALAR
#include "engine/orrery.h"
#include "render/area_light_formula.h"
#include "tests/support/scenes/sphere_scene.h"
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GRID = 300, CASES = 60, SAMPLES = 512 };
static const double pi = 3.14159265358979323846;

typedef struct rectangle {
    double corner[3], right[3], up[3]; // from the point that is lit
} rectangle;

static double uniform(double low, double high)
{
    return low + (high - low) * (double)rand() / RAND_MAX;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double unit(double v[3])
{
    const double length = sqrt(dot(v, v));
    for (int k = 0; k < 3; k++) {
        v[k] /= length;
    }
    return length;
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    }
}

static real3 of(const double v[3])
{
    return make_real3((float)v[0], (float)v[1], (float)v[2]);
}

// Around a direction, half of its sides 0.1 to 1 of its distance.
static rectangle some_rectangle(const double towards[3])
{
    rectangle r;
    double normal[3], any[3], right[3], up[3];
    const double distance = uniform(0.5, 2.0), wide = uniform(0.1, 1.0), high = uniform(0.1, 1.0);
    for (int k = 0; k < 3; k++) {
        normal[k] = uniform(-0.5, 0.5) - towards[k];
        any[k] = uniform(-1.0, 1.0);
    }
    unit(normal);
    cross(normal, any, right);
    unit(right);
    cross(normal, right, up);
    for (int k = 0; k < 3; k++) {
        r.right[k] = 2.0 * wide * distance * right[k];
        r.up[k] = 2.0 * high * distance * up[k];
        r.corner[k] = distance * towards[k] - 0.5 * (r.right[k] + r.up[k]);
    }
    return r;
}

// What a point receives of radiance 1 from the rectangle, by the midpoint rule: `weight` of a direction.
static double received(const rectangle *r, double (*weight)(const double to_light[3], void *context),
                       void *context)
{
    double sum = 0.0, normal[3];
    cross(r->right, r->up, normal);
    const double area = unit(normal) / (GRID * GRID);
    for (int i = 0; i < GRID * GRID; i++) {
        const double u = (i % GRID + 0.5) / GRID, v = ((double)(i / GRID) + 0.5) / GRID;
        double at[3];
        for (int k = 0; k < 3; k++) {
            at[k] = r->corner[k] + u * r->right[k] + v * r->up[k];
        }
        const double distance = unit(at);
        sum += weight(at, context) * area * fabs(dot(at, normal)) / (distance * distance);
    }
    return sum;
}

static double matte(const double to_light[3], void *context)
{
    return fmax(dot(to_light, context), 0.0) / pi;
}

static void a_form_factor_is_lamberts_integral(void **state)
{
    (void)state;
    double most = 0.0;
    int cut = 0;
    srand(1);
    for (int i = 0; i < CASES; i++) {
        double normal[3] = {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
        double towards[3] = {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)};
        unit(normal);
        unit(towards);
        const rectangle r = some_rectangle(towards);
        const double ours = (double)area_form_factor(of(r.corner), of(r.right), of(r.up), of(normal));
        const double corner = dot(r.corner, normal), right = dot(r.right, normal), up = dot(r.up, normal);
        const double low = fmin(fmin(corner, corner + right), fmin(corner + up, corner + right + up));
        const double high = fmax(fmax(corner, corner + right), fmax(corner + up, corner + right + up));
        cut += low < 0.0 && high > 0.0;
        most = fmax(most, fabs(ours - received(&r, matte, normal)));
    }
    print_message("%d rectangles, %d at the horizon: at most %.2g off\n", CASES, cut, most);
    assert_true(cut > 10);
    assert_true(most < 4e-6); // the midpoint rule at the horizon
}

// The GGX lobe times the correlated visibility term and the cosine, in double.
typedef struct glossy {
    double normal[3], to_eye[3], alpha;
} glossy;

static double gloss(const double to_light[3], void *context)
{
    const glossy *g = context;
    const double nl = dot(g->normal, to_light), nv = dot(g->normal, g->to_eye), aa = g->alpha * g->alpha;
    double half[3];
    for (int k = 0; k < 3; k++) {
        half[k] = to_light[k] + g->to_eye[k];
    }
    unit(half);
    const double nh = dot(g->normal, half), d = nh * nh * (aa - 1.0) + 1.0;
    const double both = nl * sqrt(nv * nv * (1.0 - aa) + aa) + nv * sqrt(nl * nl * (1.0 - aa) + aa);
    return nl > 0.0 ? aa / (pi * d * d) * 0.5 / both * nl : 0.0;
}

// Its integral over all directions, by the midpoint rule around the mirrored one.
static double gloss_of_everything(const glossy *g)
{
    const rectangle sides[5] = {{{-1, -1, 1}, {2, 0, 0}, {0, 2, 0}},
                                {{1, -1, 0}, {0, 2, 0}, {0, 0, 1}},
                                {{-1, -1, 0}, {0, 2, 0}, {0, 0, 1}},
                                {{-1, 1, 0}, {2, 0, 0}, {0, 0, 1}},
                                {{-1, -1, 0}, {2, 0, 0}, {0, 0, 1}}};
    double sum = 0.0;
    for (int i = 0; i < 5; i++) { // the upper half of a cube
        sum += received(&sides[i], gloss, (void *)g);
    }
    return sum;
}

// A fit: the numbers that area_lobe_of states, of other rectangles than those it was fitted to.
static void a_lobe_mirrors_as_the_model_does(void **state)
{
    (void)state;
    double squares = 0.0, mean = 0.0;
    srand(2);
    for (int i = 0; i < CASES; i++) {
        const double down = acos(uniform(0.12, 1.0)), rough = uniform(0.2, 1.0);
        glossy g = {{0, 0, 1}, {sin(down), 0, cos(down)}, rough * rough};
        double towards[3] = {-sin(down) + uniform(-0.8, 0.8), uniform(-0.8, 0.8),
                             fabs(cos(down) + uniform(-0.8, 0.8)) + 0.05};
        unit(towards);
        const rectangle r = some_rectangle(towards);
        const area_lobe lobe = area_lobe_of(of(g.normal), of(g.to_eye), (float)g.alpha);
        const double ours =
            (double)area_form_factor(area_into_lobe(lobe, of(r.corner)), area_into_lobe(lobe, of(r.right)),
                                     area_into_lobe(lobe, of(r.up)), make_real3(0.0f, 0.0f, 1.0f));
        const double theirs = received(&r, gloss, &g) / gloss_of_everything(&g);
        squares += (ours - theirs) * (ours - theirs) / CASES;
        mean += theirs / CASES;
    }
    print_message("%.4f off, %.3f in the mean\n", sqrt(squares), mean);
    assert_true(mean > 0.1);
    assert_true(sqrt(squares) < 0.031);
}

// ---- pictures ----

static const orr_light_desc panel = {.kind = ORR_LIGHT_KIND_AREA,
                                     .position = {0.8f, 1.6f, 1.2f},
                                     .direction = {-0.6f, -1.2f, -1.0f},
                                     .across = {1, 0, 0},
                                     .size = {1.5f, 0.8f},
                                     .colour = {1.0f, 0.8f, 0.5f},
                                     .intensity = 4.0f};

static orr_scene *lit_sphere(orr_engine *engine, float metallic, float roughness, const orr_light_desc *light)
{
    orr_scene *scene;
    assert_ok(orr_scene_load(engine, write_sphere(metallic, roughness, 0.8f), &scene, &error));
    assert_ok(orr_scene_add_light(scene, light, &error));
    return scene;
}

static void spheres_look_as_path_traced_ones(void **state)
{
    (void)state;
    static float drawn[4 * PIXELS], traced[4 * PIXELS];
    const struct {
        float metallic, roughness;
        double off; // as displayed, 0 to 1, noise included
    } looks[] = {{0, 1, 0.004},    {0, 0.3f, 0.005}, {1, 0.15f, 0.02},
                 {1, 0.3f, 0.016}, {1, 0.6f, 0.026}, {1, 1, 0.008}};
    const orr_view view = look();
    orr_light_desc light = panel;
    light.no_shadows = true; // of frames; a sphere's own are where it does not face the panel
    orr_engine *engine = open_engine_on(ORR_DEVICE_CPU);
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        orr_scene *scene = lit_sphere(engine, looks[i].metallic, looks[i].roughness, &light);
        draw(engine, scene, &view, drawn);
        trace(scene, &view, SAMPLES, traced);
        const double off = middle_error(drawn, traced);
        print_message("metallic %.0f roughness %.2f: off by %.4f\n", (double)looks[i].metallic,
                      (double)looks[i].roughness, off);
        assert_true(off < looks[i].off);
        orr_scene_destroy(scene);
    }
    orr_engine_destroy(engine);
}

static void all_machines_draw_the_same(void **state)
{
    (void)state;
    static float cpu[4 * PIXELS], rgba[4 * PIXELS];
    const orr_device_kind devices[] = {ORR_DEVICE_CPU, ORR_DEVICE_VULKAN, ORR_DEVICE_CUDA};
    const orr_view view = look();
    for (int d = 0; d < 3; d++) {
        orr_engine *engine = open_engine_on(devices[d]);
        if (!engine) {
            continue;
        }
        orr_scene *scene = lit_sphere(engine, 0.7f, 0.4f, &panel);
        draw(engine, scene, &view, d == 0 ? cpu : rgba);
        if (d > 0) {
            double quality = psnr(rgba, cpu, 4 * PIXELS);
            print_message("%d: %.1f dB\n", d, quality);
            assert_true(quality > 90.0); // the sphere's rim is where rounding decides which triangle is seen
        }
        orr_scene_destroy(scene);
        orr_engine_destroy(engine);
    }
}

// A sphere with a highlight, as MuJoCo has it.
static const char *shiny_sphere(void)
{
    return written("ball.xml", "<mujoco><asset><material name='a' rgba='.5 .5 .5 1' specular='.6' "
                               "shininess='.2'/></asset><worldbody><geom material='a' size='1'/></worldbody>"
                               "</mujoco>");
}

static void draw_lit(orr_engine *engine, const char *path, const orr_light_desc *light, float *rgba)
{
    const orr_view view = look();
    orr_scene *scene;
    assert_ok(orr_scene_load(engine, path, &scene, &error));
    assert_ok(orr_scene_add_light(scene, light, &error));
    draw(engine, scene, &view, rgba);
    orr_scene_destroy(scene);
}

// From afar it is a point whose light falls with the cosine to its axis, of its radiance times its area.
static void from_afar_it_is_a_point(void **state)
{
    (void)state;
    static float small[4 * PIXELS], point[4 * PIXELS], behind[4 * PIXELS];
    orr_engine *engine = open_engine_on(ORR_DEVICE_CPU);
    const orr_light_desc far_panel = {.kind = ORR_LIGHT_KIND_AREA,
                                      .position = {12, 16, 30},
                                      .direction = {-12, -16, -30},
                                      .size = {0.5f, 0.25f},
                                      .intensity = 40000.0f};
    const orr_light_desc lamp = {
        .kind = ORR_LIGHT_KIND_POINT, .position = {12, 16, 30}, .intensity = (float)(40000.0 / pi * 0.125)};
    orr_light_desc turned = far_panel;
    turned.direction[2] = 40;
    for (int i = 0; i < 2; i++) {
        const char *path = i == 0 ? write_sphere(0.0f, 0.9f, 0.8f) : shiny_sphere();
        draw_lit(engine, path, &far_panel, small);
        draw_lit(engine, path, &lamp, point);
        draw_lit(engine, path, &turned, behind);
        // f32: the edges of a panel of 0.8 degrees nearly cancel, and its axis is 2 degrees off at the
        // sphere's rim; the lobe of a highlight is the fitted one
        print_message("%.4f off\n", middle_error(small, point));
        assert_true(middle_error(small, point) < (i == 0 ? 8e-4 : 0.011));
        assert_true(middle_error(behind, point) > 0.1);
        for (int k = 0; k < PIXELS; k++) {
            assert_true(behind[4 * k] + behind[4 * k + 1] + behind[4 * k + 2] == 0.0f);
        }
    }
    orr_engine_destroy(engine);
}

// Highlights of MuJoCo's materials, of which the path tracer takes the mean over the points of the panel.
static void highlights_are_where_the_panel_is(void **state)
{
    (void)state;
    static float drawn[4 * PIXELS], traced[4 * PIXELS];
    const orr_view view = look();
    orr_light_desc light = panel;
    light.no_shadows = true;
    orr_scene *scene;
    orr_engine *engine = open_engine_on(ORR_DEVICE_CPU);
    assert_ok(orr_scene_load(engine, shiny_sphere(), &scene, &error));
    assert_ok(orr_scene_add_light(scene, &light, &error));
    draw(engine, scene, &view, drawn);
    trace(scene, &view, SAMPLES, traced);
    print_message("%.4f off\n", middle_error(drawn, traced));
    assert_true(middle_error(drawn, traced) < 0.007);
    orr_scene_destroy(scene);
    orr_engine_destroy(engine);
}

static void a_scene_file_has_them(void **state)
{
    (void)state;
    static float rgba[4 * PIXELS], from_file[4 * PIXELS];
    const orr_view view = look();
    orr_engine *engine = open_engine_on(ORR_DEVICE_CPU);
    orr_error why = {0};
    orr_scene *scene = lit_sphere(engine, 0.5f, 0.4f, &panel);
    draw(engine, scene, &view, rgba);
    orr_light_desc bad = panel;
    bad.size[1] = 0.0f;
    assert_int_equal(orr_scene_add_light(scene, &bad, &why), ORR_ERROR_ARGUMENT);
    assert_string_equal(why.message, "light: size: expected two lengths over 0");
    bad = panel;
    memcpy(bad.across, bad.direction, sizeof bad.across);
    assert_int_equal(orr_scene_add_light(scene, &bad, &why), ORR_ERROR_ARGUMENT);
    assert_string_equal(why.message, "light: across: expected another direction than direction");
    orr_scene_destroy(scene);
    const char *path =
        written("panel.json",
                "{\"orrery\": 1, \"layers\": [{\"file\": \"sphere.gltf\"}], \"lights\": [{\"type\": "
                "\"area\", \"position\": [0.8, 1.6, 1.2], \"direction\": [-0.6, -1.2, -1.0], \"across\": "
                "[1, 0, 0], \"size\": [1.5, 0.8], \"colour\": [1, 0.8, 0.5], \"intensity\": 4}]}");
    assert_ok(orr_scene_load(engine, path, &scene, &error));
    draw(engine, scene, &view, from_file);
    assert_memory_equal(from_file, rgba, sizeof rgba);
    orr_world *world;
    char saved[512];
    snprintf(saved, sizeof saved, "%s", scratch_path("saved.json"));
    assert_ok(orr_world_create(scene, 1, &world, &error));
    assert_ok(orr_world_save(world, 0, NULL, saved, &error));
    orr_world_destroy(world);
    orr_scene_destroy(scene);
    assert_ok(orr_scene_load(engine, saved, &scene, &error));
    draw(engine, scene, &view, from_file);
    assert_true(largest_difference(from_file, rgba, 4 * PIXELS) <
                1e-5); // half edges of a unit vector's rounding
    orr_scene_destroy(scene);
    path =
        written("flat.json", "{\"orrery\": 1, \"layers\": [{\"file\": \"sphere.gltf\"}], \"lights\": "
                             "[{\"type\": \"area\", \"position\": [0, 3, 0], \"direction\": [0, -1, 0]}]}");
    assert_int_equal(orr_scene_load(engine, path, &scene, &why), ORR_ERROR_FORMAT);
    assert_non_null(strstr(why.message, "lights[0]"));
    assert_non_null(strstr(why.message, "width and height of the rectangle"));
    orr_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_form_factor_is_lamberts_integral),
        cmocka_unit_test(a_lobe_mirrors_as_the_model_does),
        cmocka_unit_test(spheres_look_as_path_traced_ones),
        cmocka_unit_test(all_machines_draw_the_same),
        cmocka_unit_test(from_afar_it_is_a_point),
        cmocka_unit_test(highlights_are_where_the_panel_is),
        cmocka_unit_test(a_scene_file_has_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
