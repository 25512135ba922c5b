#define ORR_SCALAR
#include "render/reference/path.h"

#include "engine/core/memory.h"
#include "engine/maths/camera.h"
#include "engine/maths/vector.h"
#include "neural/capture/ray_camera.h"

#include <string.h>

enum {
    TILE = 16,                 // [px] a side of a job
    DRAWS_PER_SAMPLE = 1 << 12 // random numbers; a longer path meets the next sample's
};

// What one sample sees.
typedef struct seen {
    real3 rgb; // linear, premultiplied
    real alpha;
    real covered, depth; // by what is not the background, and times its depth
    air_sample air;      // whose light is not a part of `rgb`
} seen;

// ---- the camera ----

// Where a pinhole shows what a lens that distorts shows at (x, y).
static void lens_pinhole(const orr_lens *lens, real *x, real *y)
{
    if (lens->distorted) {
        const real3 direction = photo_direction(orr_photo_lens_of(lens), make_real2(*x, *y));
        *x = lens->centre[0] + lens->focal[0] * direction.x;
        *y = lens->centre[1] + lens->focal[1] * direction.y;
    }
}

// Through a point of the picture [px]. *along: depth along the camera's axis per distance.
static orr_ray ray_through(const orr_path_tracer *t, real x, real y, real *along)
{
    const orr_lens *lens = &t->list.lens;
    float at[3] = {(x - lens->centre[0]) / lens->focal[0], (y - lens->centre[1]) / lens->focal[1], 0.0f};
    float towards[3] = {0.0f, 0.0f, 1.0f}, origin[3], direction[3];
    if (!lens->orthographic) {
        memcpy(towards, (float[3]){at[0], at[1], 1.0f}, sizeof towards);
        memset(at, 0, sizeof at);
    }
    affine_apply_to_point(t->to_world, at, origin);
    affine_apply_to_direction(t->to_world, towards, direction);
    real length = length3(of_three(direction));
    *along = 1.0f / length;
    return path_ray(of_three(origin), scale3(of_three(direction), *along), lens->near_plane * length,
                    lens->far_plane * length);
}

static real3 texel_of(const orr_environment *map, int index)
{
    const uint32_t t = map->texels[index];
    return environment_decode((float)(t & 511u), (float)(t >> 9 & 511u), (float)(t >> 18 & 511u),
                              (float)(t >> 27));
}

// The environment as the rasteriser shows it. towards: in the camera's space
static real3 environment_behind(const orr_path_tracer *t, real3 towards)
{
    const orr_environment *map = t->list.environments[0].map;
    const environment_view v = environment_of(&t->behind);
    const environment_square s =
        environment_find(environment_flatten(affine_direction(v.to_map, towards)), 0.0f, v.sharp);
    const int first = (int)s.first, below = first + (int)s.stride;
    real3 top = environment_mix(texel_of(map, first), texel_of(map, first + 1), s.right);
    real3 bottom = environment_mix(texel_of(map, below), texel_of(map, below + 1), s.right);
    return light_display(scale3(environment_mix(top, bottom, s.down), v.strength));
}

// What is behind everything, as displayed.
static real3 background(const orr_path_tracer *t, const orr_ray *ray, orr_rng *random, real x, real y)
{
    orr_ray_hit hit;
    orr_ray far = *ray;
    far.far_end = INFINITY;
    const surface_sieve sieve = {&t->backdrop, random, .to_lamp = false};
    if (t->list.backdrop.mesh && surfaces_nearest(&sieve, &far, false, &hit)) {
        const real3 shown = light_display(surfaces_look(&t->backdrop, &hit, of_three(ray->direction)).base);
        return haze_over(t->haze.haze, shown, x, y, 0.0f, 1.0f);
    }
    const orr_sky_values sky = orr_sky_as_seen(&t->list.sky, &t->list.lens);
    if (t->list.environment_behind) {
        return environment_behind(t, sky_direction(sky_view_of(&sky), x, y));
    }
    return sky_colour(sky_view_of(&sky), x, y);
}

// The first surface on a ray of the camera through a point of the picture [px]: endless planes end where haze
// covers them.
static bool look_out(path *p, orr_ray ray, real x, real y, orr_ray_hit *hit)
{
    const orr_path_tracer *t = p->tracer;
    const surface_sieve sieve = {&t->world, &p->random, .to_lamp = false};
    const bool ends = t->haze.haze.reach_over_height > 0.0f && !haze_leaves(t->haze.haze, x, y);
    for (;;) {
        p->rays++;
        if (!surfaces_nearest(&sieve, &ray, true, hit)) {
            return false;
        }
        if (!ends || !surfaces_endless(&t->world, hit)) {
            return true;
        }
        ray.near_end = hit->distance * (1.0f + 1e-5f);
    }
}

static seen trace_sample(path *p, int x, int y)
{
    const orr_path_tracer *t = p->tracer;
    real right = (float)x + path_draw(p), down = (float)y + path_draw(p), along;
    lens_pinhole(&t->list.lens, &right, &down);
    orr_ray ray = ray_through(t, right, down, &along);
    orr_ray_hit hit;
    p->light = black;
    bool met = look_out(p, ray, right, down, &hit);
    ray.far_end = met ? hit.distance : ray.far_end;
    const orr_veil v = path_look_through(p, &ray);
    p->through = make_real3(v.passes, v.passes, v.passes);
    const real3 before = path_veil_light(&v);
    if (met) {
        const haze_air air = t->air ? air_up_to(&t->haze, &ray, along) : (haze_air){1.0f, black};
        path_follow(p, ray, hit);
        seen s = {.rgb = before,
                  .alpha = 1.0f,
                  .covered = 1.0f,
                  .depth = (v.depth + v.passes * hit.distance) * along};
        s.air = air_split(air, &p->beyond, p->light, v.passes, &s.rgb);
        return s;
    }
    if (!t->list.opaque) {
        return (seen){
            .rgb = before, .alpha = 1.0f - v.passes, .covered = 1.0f - v.passes, .depth = v.depth * along};
    }
    // blended with the background as displayed, which is how clouds are trained
    real3 behind = background(t, &ray, &p->random, right, down);
    return (seen){.rgb = path_decoded(add_scaled3(of_three(v.display), behind, v.passes)),
                  .alpha = 1.0f,
                  .covered = 1.0f - v.passes,
                  .depth = v.depth * along};
}

static bool is_finite(const seen *s)
{
    const real3 all = add3(add3(s->rgb, s->air.behind), s->air.beyond);
    return isfinite(all.x) && isfinite(all.y) && isfinite(all.z);
}

static real luminance(real3 c)
{
    return 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z;
}

static void trace_pixel(orr_path_tracer *t, int x, int y, int worker)
{
    int64_t pixel = (int64_t)y * t->list.lens.width + x;
    pixel_sums *sums = &t->pixels[pixel];
    for (int64_t k = t->samples; k < t->samples + t->wanted; k++) {
        path p = {.tracer = t, .random = {t->seed, (uint32_t)pixel, (uint64_t)k * DRAWS_PER_SAMPLE}};
        seen s = trace_sample(&p, x, y);
        t->rays[worker] += p.rays;
        if (!is_finite(&s)) {
            continue;
        }
        sums->rgb[0] += (double)s.rgb.x;
        sums->rgb[1] += (double)s.rgb.y;
        sums->rgb[2] += (double)s.rgb.z;
        sums->alpha += (double)s.alpha;
        sums->covered += (double)s.covered;
        sums->depth += (double)s.depth;
        if (t->air) {
            air_add(&t->air[pixel * t->air_groups], &s.air);
        }
        const double light = (double)luminance(air_passed(s.rgb, &s.air));
        sums->square += light * light;
    }
}

static int tiles_across(const orr_path_tracer *t)
{
    return orr_blocks(t->list.lens.width, TILE);
}

static void trace_tile(void *context, int tile, int worker)
{
    orr_path_tracer *t = context;
    int left = tile % tiles_across(t) * TILE, top = tile / tiles_across(t) * TILE;
    for (int y = top; y < top + TILE && y < t->list.lens.height; y++) {
        for (int x = left; x < left + TILE && x < t->list.lens.width; x++) {
            trace_pixel(t, x, y, worker);
        }
    }
}

void orr_path_tracer_advance(orr_path_tracer *tracer, int64_t samples)
{
    tracer->wanted = samples;
    int tiles = tiles_across(tracer) * orr_blocks(tracer->list.lens.height, TILE);
    orr_jobs_for(tracer->jobs, tiles, trace_tile, tracer);
    tracer->samples += samples;
}

// ---- what has been seen ----

static int64_t pixel_count(const orr_path_tracer *t)
{
    return (int64_t)t->list.lens.width * t->list.lens.height;
}

void orr_path_tracer_statistics(const orr_path_tracer *t, orr_path_statistics *statistics)
{
    *statistics = (orr_path_statistics){
        .samples = t->samples, .triangles = t->world.triangle_count, .left_out = t->world.tree.left_out};
    for (int i = 0; i < orr_jobs_workers(t->jobs); i++) {
        statistics->rays += t->rays[i];
    }
    double n = (double)t->samples, sum = 0.0;
    for (int64_t i = 0; i < pixel_count(t) && t->samples > 1; i++) {
        const pixel_sums *p = &t->pixels[i];
        double light[3];
        for (int k = 0; k < 3; k++) {
            light[k] = p->rgb[k];
            for (int64_t g = i * t->air_groups; t->air && g < (i + 1) * t->air_groups; g++) {
                light[k] += t->air[g].rgb[k];
            }
        }
        double mean = (0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]) / n;
        sum += fmax(p->square / n - mean * mean, 0.0) / (n - 1.0);
    }
    statistics->error = t->samples > 1 ? sqrt(sum / (double)pixel_count(t)) : INFINITY;
}

void orr_path_tracer_picture(const orr_path_tracer *t, bool linear, const orr_picture *picture)
{
    double share = 1.0 / (double)(t->samples > 0 ? t->samples : 1);
    for (int64_t i = 0; i < pixel_count(t); i++) {
        const pixel_sums *p = &t->pixels[i];
        double alpha = p->alpha * share, behind[3] = {0.0, 0.0, 0.0};
        if (t->air) {
            air_light(&t->air[i * t->air_groups], t->air_groups, behind);
        }
        for (int k = 0; k < 3 && picture->rgba; k++) {
            double value = (p->rgb[k] + behind[k]) * share;
            // colours are encoded before they are multiplied by alpha
            picture->rgba[4 * i + k] = linear || !(alpha > 0.0)
                                           ? (float)value
                                           : (float)alpha * linear_to_srgb((float)(value / alpha));
        }
        if (picture->rgba) {
            picture->rgba[4 * i + 3] = (float)alpha;
        }
        if (picture->depth) {
            picture->depth[i] = p->covered > 0.0 ? (float)(p->depth / p->covered) : 0.0f;
        }
    }
}

// ---- making one ----

static orr_result build(orr_path_tracer *t, orr_isa isa, orr_error *error)
{
    const orr_draw_list *list = &t->list;
    ORR_TRY(orr_affine_invert(list->lens.view, t->to_world, error));
    ORR_TRY(surfaces_build(isa, list->meshes, list->mesh_count, &t->world, error));
    ORR_TRY(surfaces_build(isa, &list->backdrop, list->backdrop.mesh ? 1 : 0, &t->backdrop, error));
    ORR_TRY(orr_gaussians_build(list->splats, list->splat_count, &t->splats, error));
    t->splat_walk = orr_gaussian_walk_of(isa);
    if (list->field_count > 0) {
        ORR_TRY(orr_field_rays_create(t->jobs, &t->arena, list, &t->fields, error));
    }
    ORR_TRY(lamps_gather(list, &t->world, &t->lights, error));
    ORR_TRY(captured_gather(list, &t->lights, t->splat_walk, &t->captured, error));
    orr_draw_lighting *lighting;
    ORR_ALLOC(lighting, 1, "lights", error);
    orr_draw_light_up(list, lighting);
    t->behind = lighting->environments[0];
    t->haze = (air_view){haze_of(lighting), list->lens.view};
    orr_free(lighting);
    t->pixels = orr_alloc_zero((size_t)pixel_count(t), sizeof *t->pixels);
    t->rays = orr_alloc_zero((size_t)orr_jobs_workers(t->jobs), sizeof *t->rays);
    const bool hazy = air_is_there(t->haze.haze);
    t->air_groups = hazy && surfaces_lead_on(&t->world) ? AIR_GROUPS : 1;
    t->air = hazy ? orr_alloc_zero((size_t)(pixel_count(t) * t->air_groups), sizeof *t->air) : NULL;
    return t->pixels && t->rays && (t->air || !hazy)
               ? ORR_OK
               : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %d x %d pixels", list->lens.width,
                          list->lens.height);
}

orr_result orr_path_tracer_create(orr_jobs *jobs, orr_isa isa, const orr_draw_list *list, uint32_t seed,
                                  orr_path_tracer **tracer, orr_error *error)
{
    *tracer = NULL;
    orr_path_tracer *t = orr_alloc_zero(1, sizeof *t);
    if (!t) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a path tracer");
    }
    t->jobs = jobs;
    t->list = *list;
    t->seed = seed;
    orr_result result = build(t, isa, error);
    if (result != ORR_OK) {
        orr_path_tracer_destroy(t);
        return result;
    }
    *tracer = t;
    return ORR_OK;
}

void orr_path_tracer_destroy(orr_path_tracer *tracer)
{
    if (!tracer) {
        return;
    }
    surfaces_free(&tracer->world);
    surfaces_free(&tracer->backdrop);
    lamps_free(&tracer->lights);
    captured_free(&tracer->captured);
    orr_gaussians_free(&tracer->splats);
    orr_arena_destroy(&tracer->arena);
    orr_free(tracer->pixels);
    orr_free(tracer->air);
    orr_free(tracer->rays);
    orr_free(tracer);
}
