#include "tests/splats/splat_views.h"

#include "tests/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Why pictures of one machine and of the double-precision reference differ at all:
//  - rounding in single precision moves colours by some 1e-6;
//  - a splat whose coverage of a pixel lies within rounding of 1/255 may count for one and not for the other:
//    up to 1/255 of its colour, and the colours of synthetic splats go up to about 4. The same is true of a
//    pixel's last splat, whose effect is under 1e-4 of a colour.
// So almost all pixels agree to 1e-5, and WORST bounds the rare others.
#define WORST (4.0 / 255.0)

static orr_camera camera_at(float x, float y, float z, float field_of_view)
{
    const float eye[3] = {x, y, z}, target[3] = {0}, up[3] = {0.0f, -1.0f, 0.0f};
    return orr_camera_look_at(eye, target, up, field_of_view, 150, 100);
}

static orr_splats *one_splat(void)
{
    orr_splats *splats;
    assert_ok(orr_splats_create(1, 1, &splats, &error));
    orr_splats_view s = orr_splats_data(splats);
    const float log_scale[3] = {-1.0f, -1.6f, -2.0f}, rotation[4] = {0.8f, 0.2f, -0.4f, 0.4f};
    memcpy(s.log_scale, log_scale, sizeof log_scale);
    memcpy(s.rotation, rotation, sizeof rotation);
    s.opacity[0] = 3.0f;
    for (int i = 0; i < 9; i++) {
        s.harmonics[i] = 0.1f * (float)(i - 4);
    }
    return splats;
}

// splats strewn far beyond the frustum: behind the camera, through it, on the planes, at the picture's edges
static orr_splats *surrounding(void)
{
    orr_splats *splats = make_cloud(CLOUD_BALL, 600, 1, 11);
    orr_splats_view s = orr_splats_data(splats);
    for (int64_t i = 0; i < 3 * s.count; i++) {
        s.position[i] *= 4.0f;
    }
    return splats;
}

typedef splat_view (*make_view)(void);

static splat_view view_one(void)
{
    return (splat_view){.name = "one splat",
                        .camera = camera_at(0.5f, -0.3f, -3.0f, 0.8f),
                        .layer_count = 1,
                        .layers = {one_splat()}};
}

static splat_view view_none(void)
{
    splat_view v = view_one();
    v.name = "empty cloud on a background";
    orr_splats_destroy(v.layers[0]);
    v.layers[0] = make_cloud(CLOUD_BALL, 0, 0, 1);
    v.opaque = true;
    v.background[1] = 0.25f;
    return v;
}

static splat_view view_ball(void)
{
    return (splat_view){.name = "10 k splats, SH 3",
                        .camera = camera_at(1.0f, -0.8f, -2.0f, 0.9f),
                        .layer_count = 1,
                        .layers = {make_cloud(CLOUD_BALL, 10000, 3, 5)}};
}

static splat_view view_surrounding(void)
{
    return (splat_view){.name = "behind, on and at the edge of the frustum",
                        .camera = camera_at(0.3f, 0.2f, -1.0f, 1.2f),
                        .layer_count = 1,
                        .layers = {surrounding()}};
}

static splat_view view_needles(void)
{
    return (splat_view){.name = "needles",
                        .camera = camera_at(-0.4f, 0.9f, -2.5f, 0.7f),
                        .layer_count = 1,
                        .layers = {make_cloud(CLOUD_NEEDLES, 500, 0, 3)}};
}

// In the others no splat is wider than eight of the CPU's tiles, from where on their rows are cut exactly.
static splat_view view_wide(void)
{
    splat_view v = view_needles();
    v.name = "needles across many tiles";
    orr_splats_destroy(v.layers[0]);
    v.layers[0] = make_cloud(CLOUD_NEEDLES, 60, 0, 7);
    v.camera.focal[0] *= 3.0f;
    v.camera.focal[1] *= 3.0f;
    v.camera.width *= 3;
    v.camera.height *= 3;
    return v;
}

static splat_view view_huge(void)
{
    return (splat_view){.name = "huge splats",
                        .camera = camera_at(0.2f, 0.1f, -2.0f, 0.9f),
                        .layer_count = 1,
                        .layers = {make_cloud(CLOUD_HUGE, 200, 2, 9)},
                        .opaque = true,
                        .background = {0.2f, 0.4f, 0.9f}};
}

// As many rows of tiles as a warp of CUDA handles at once, and one more.
static splat_view view_tall(void)
{
    splat_view v = view_huge();
    v.name = "huge splats, 33 rows of tiles";
    v.camera.width = 24;
    v.camera.height = 33 * 16;
    v.camera.focal[0] = v.camera.focal[1] = 200.0f;
    return v;
}

static splat_view view_flat(void)
{
    return (splat_view){.name = "equal depths",
                        .camera = camera_at(0.0f, 0.0f, -2.0f, 0.9f),
                        .layer_count = 1,
                        .layers = {make_cloud(CLOUD_FLAT, 3000, 0, 21)}};
}

static splat_view view_orthographic(void)
{
    splat_view v = view_ball();
    v.name = "orthographic";
    v.camera.model = ORR_CAMERA_ORTHOGRAPHIC;
    v.camera.focal[0] = 55.0f;
    v.camera.focal[1] = 45.0f;
    return v;
}

static splat_view view_antialias(void)
{
    splat_view v = view_ball();
    v.name = "anti-aliasing compensation";
    v.antialias = true;
    v.camera.centre[0] = 60.0f;
    v.camera.centre[1] = 70.0f;
    return v;
}

static splat_view view_layers(void)
{
    return (splat_view){
        .name = "two layers, turned and scaled",
        .camera = camera_at(0.8f, -0.5f, -2.5f, 0.8f),
        .layer_count = 2,
        .layers = {make_cloud(CLOUD_BALL, 2000, 3, 1), make_cloud(CLOUD_BALL, 1500, 2, 2)},
        .transforms = {
            {.position = {0.3f, 0.1f, 0.2f}, .rotation = {0.7f, 0.1f, 0.6f, -0.2f}, .scale = 0.6f},
            {.position = {-0.4f, 0.0f, 0.1f}, .rotation = {0.2f, -0.9f, 0.1f, 0.3f}, .scale = 0.8f}}};
}

// Two halves of one cloud that go apart, one of them stretched.
static splat_view view_deformed(void)
{
    splat_view v = view_layers();
    const float stretch[3] = {2.5f, 0.4f, 1.0f};
    v.name = "a deformed cloud";
    orr_splats_destroy(v.layers[1]);
    v.layers[1] = make_cloud(CLOUD_BALL, 1500, 3, 2);
    memcpy(v.stretch, stretch, sizeof stretch);
    orr_splats_view s = orr_splats_data(v.layers[1]);
    for (int64_t i = 0; i < s.count; i++) {
        const float upright[4] = {1.0f, 0.0f, 0.0f, 0.0f};
        memcpy(s.rotation + 4 * i, upright, sizeof upright);
        for (int k = 0; k < 3; k++) {
            s.position[3 * i + k] *= stretch[k];
            s.log_scale[3 * i + k] += logf(stretch[k]);
        }
    }
    return v;
}

static const make_view views[] = {
    view_one,  view_none, view_ball,         view_surrounding, view_needles, view_wide,    view_huge,
    view_tall, view_flat, view_orthographic, view_antialias,   view_layers,  view_deformed};

int splat_view_count(void)
{
    return sizeof views / sizeof views[0];
}

splat_view splat_view_make(int index)
{
    splat_view view = views[index]();
    view.worst = WORST;
    return view;
}

void splat_view_free(splat_view *view)
{
    for (int i = 0; i < view->layer_count; i++) {
        orr_splats_destroy(view->layers[i]);
    }
}

// Copies what `from` has into `to`, from splat `first` on, with its stretch undone.
static void join(const orr_splats_view *to, int64_t first, const orr_splats_view *from,
                 const float stretch[3])
{
    const size_t count = (size_t)from->count, rest = 3 * (size_t)orr_sh_rest(from->sh_degree);
    memcpy(to->rotation + 4 * first, from->rotation, 4 * count * sizeof(float));
    memcpy(to->opacity + first, from->opacity, count * sizeof(float));
    memcpy(to->colour + 3 * first, from->colour, 3 * count * sizeof(float));
    memcpy(to->harmonics + (ptrdiff_t)rest * first, from->harmonics, rest * count * sizeof(float));
    for (size_t i = 0; i < 3 * count; i++) {
        to->position[3 * (size_t)first + i] = from->position[i] / stretch[i % 3];
        to->log_scale[3 * (size_t)first + i] = from->log_scale[i] - logf(stretch[i % 3]);
    }
}

// The two layers as one cloud in two pieces.
static void deform(const splat_view *view, orr_jobs *jobs, const reference_layer *layers, view_scene *scene)
{
    static const float none[3] = {1.0f, 1.0f, 1.0f};
    const int64_t half = layers[0].splats.count;
    orr_splats *joined;
    assert_ok(orr_splats_create(half + layers[1].splats.count, layers[0].splats.sh_degree, &joined, &error));
    const orr_splats_view all = orr_splats_data(joined);
    for (int i = 0; i < 2; i++) {
        const float *factors = i == 0 ? none : view->stretch;
        orr_affine_piece *piece = &scene->pieces[i];
        float length = 0.0f;
        join(&all, i == 0 ? 0 : half, &layers[i].splats, factors);
        for (int k = 0; k < 9; k++) {
            piece->matrix[k] = layers[i].model[k / 3 * 4 + k % 3] * factors[k % 3];
        }
        for (int k = 0; k < 4; k++) {
            const float q = view->transforms[i].rotation[k];
            length += q * q;
            piece->rotation[k] = q;
            piece->offset[k % 3] = layers[i].model[k % 3 * 4 + 3];
        }
        for (int k = 0; k < 4; k++) {
            piece->rotation[k] /= sqrtf(length);
        }
    }
    orr_splat_pack *pack;
    assert_ok(orr_splat_pack_create(jobs, &all, NULL, &pack, &error));
    scene->piece_of = malloc((size_t)pack->blocks * ORR_PACK_BLOCK * sizeof *scene->piece_of);
    for (int64_t i = 0; i < pack->blocks * ORR_PACK_BLOCK; i++) {
        scene->piece_of[i] = (int64_t)pack->original[i] >= half;
    }
    orr_splat_pack_destroy(scene->packs[0]);
    scene->packs[0] = pack;
    scene->splats[0] = (orr_draw_splats){.pack = pack,
                                         .key = 1,
                                         .model = {[0] = 1.0f, [5] = 1.0f, [10] = 1.0f},
                                         .deformation = {scene->piece_of, scene->pieces, 2}};
    scene->list.splat_count = 1;
    orr_splats_destroy(joined);
}

void view_scene_make(const splat_view *view, orr_jobs *jobs, view_scene *scene)
{
    *scene = (view_scene){
        .list = {.splats = scene->splats, .splat_count = view->layer_count, .opaque = view->opaque}};
    scene->list.sky = orr_sky_of_one_colour(view->background);
    assert_ok(orr_camera_resolve(&view->camera, &scene->list.lens, &error));
    reference_layer layers[VIEW_LAYERS_MAX];
    for (int i = 0; i < view->layer_count; i++) {
        layers[i] =
            (reference_layer){.splats = orr_splats_data(view->layers[i]), .antialias = view->antialias};
        assert_ok(orr_affine_from_transform(&view->transforms[i], layers[i].model, &error));
        assert_ok(orr_splat_pack_create(jobs, &layers[i].splats, NULL, &scene->packs[i], &error));
        scene->splats[i] =
            (orr_draw_splats){.pack = scene->packs[i], .key = (uint64_t)i + 1, .antialias = view->antialias};
        memcpy(scene->splats[i].model, layers[i].model, sizeof layers[i].model);
    }
    if (view->stretch[0] > 0.0f) {
        deform(view, jobs, layers, scene);
    }
    size_t pixels = (size_t)view->camera.width * (size_t)view->camera.height;
    scene->reference_rgba = malloc(4 * pixels * sizeof(float));
    scene->reference_depth = malloc(pixels * sizeof(float));
    draw_reference(&scene->list.lens, layers, view->layer_count, view->opaque ? view->background : NULL, NULL,
                   scene->reference_rgba, scene->reference_depth);
}

void view_scene_free(view_scene *scene)
{
    for (int i = 0; i < VIEW_LAYERS_MAX; i++) {
        orr_splat_pack_destroy(scene->packs[i]);
    }
    free(scene->piece_of);
    free(scene->reference_rgba);
    free(scene->reference_depth);
}

void assert_view_drawn(const splat_view *view, const view_scene *scene, const drawn *d, double decibels,
                       double odd)
{
    const double quality = psnr(d->rgba, scene->reference_rgba, 4 * d->pixels),
                 worst = largest_difference(d->rgba, scene->reference_rgba, 4 * d->pixels),
                 odd_colours = differing_share(d->rgba, scene->reference_rgba, 4 * d->pixels, 1e-4),
                 odd_depths = differing_share(d->depth, scene->reference_depth, d->pixels, 2e-3);
    print_message("%-42s %6.1f dB, worst %.1e, over 1e-4: %.3f %%, depth over 2e-3: %.3f %%\n", view->name,
                  quality, worst, 100.0 * odd_colours, 100.0 * odd_depths);
    assert_true(quality >= decibels);
    assert_true(worst <= view->worst);
    assert_true(odd_colours <= odd && odd_depths <= odd);
}
