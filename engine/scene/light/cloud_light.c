// Lamps that light clouds, too (orr_light_desc.clouds): colours of splats that all machines, probes and paths
// draw like those of the file. A captured colour is the light of the capture times an albedo, by which light
// of the lamps is reflected as well. What the clouds themselves keep off it is found by rays, once.
#define ORR_SCALAR
#include "engine/core/memory.h"
#include "engine/maths/camera.h"
#include "engine/maths/colour_formula.h"
#include "engine/maths/vector.h"
#include "engine/scene/scene.h"
#include "engine/scene/transform.h"
#include "render/formula_inputs.h"
#include "render/reference/gaussians.h"
#include "render/reference/surfaces.h"
#include "render/splat/splat_formula.h"

#include <math.h>
#include <string.h>

enum { PART = 16 }; // blocks of splats in a job

static const real ALBEDO_LOW = 0.03f, ALBEDO_HIGH = 0.9f;
static const real LEAVE = 3.0f; // standard deviations from the middle of a splat to where its rays begin

// A cloud that is lit.
typedef struct lit_cloud {
    const orr_splat_pack *pack;
    const float *captured; // its harmonics in the file
    float model[12];       // layer to world
    const orr_draw_lighting *lamps;
    const orr_gaussians *clouds;
    const orr_gaussian_walk *walk;
    real3 white; // radiance that white surfaces had in the light of the capture
} lit_cloud;

// ---- one splat ----

typedef struct lit_splat {
    real3 position, axes[3], normal; // world; axes scaled by the standard deviations
    real flat;                       // 1: the normal is known; 0: it is not
} lit_splat;

static real3 in_world(const float model[12], const float g[ORR_PACK_GEOMETRY], int first)
{
    float out[3];
    affine_apply_to_direction(model, g + first, out);
    return of_three(out);
}

static lit_splat splat_of(const lit_cloud *c, int64_t i)
{
    float g[ORR_PACK_GEOMETRY], position[3];
    lit_splat s;
    real lengths[3];
    for (int k = 0; k < ORR_PACK_GEOMETRY; k++) {
        g[k] = c->pack->geometry[(i / ORR_PACK_BLOCK * ORR_PACK_GEOMETRY + k) * ORR_PACK_BLOCK +
                                 i % ORR_PACK_BLOCK];
    }
    affine_apply_to_point(c->model, g, position);
    s.position = of_three(position);
    for (int k = 0; k < 3; k++) {
        s.axes[k] = in_world(c->model, g, 3 + 3 * k);
        lengths[k] = length3(s.axes[k]);
    }
    int thin = lengths[0] <= lengths[1] ? 0 : 1;
    thin = lengths[2] < lengths[thin] ? 2 : thin;
    const int a = (thin + 1) % 3, b = (thin + 2) % 3;
    const real3 normal = cross3(s.axes[a], s.axes[b]); // the thin axis may have no length
    const real area = length3(normal), middle = fminf(lengths[a], lengths[b]);
    s.flat = area > 0.0f && middle > 0.0f ? 1.0f - lengths[thin] / middle : 0.0f;
    s.normal = area > 0.0f ? scale3(normal, 1.0f / area) : make_real3(0.0f, 0.0f, 1.0f);
    return s;
}

// The cosine of the light's angle; of what has no normal, its mean over those that face the light.
static real facing(const lit_splat *s, real3 to_light)
{
    return fma_(s->flat, fabsf(dot3(s->normal, to_light)) - 0.5f, 0.5f);
}

static real visible(const lit_cloud *c, const lit_splat *s, real3 to_light, real distance)
{
    real square = 0.0f;
    for (int k = 0; k < 3; k++) {
        const real along = dot3(s->axes[k], to_light);
        square = fma_(along, along, square);
    }
    const real start = LEAVE * sqrtf(square);
    const real3 p = s->position;
    const orr_ray ray = {
        {p.x, p.y, p.z}, {to_light.x, to_light.y, to_light.z}, start, distance * (1.0f - 1e-4f)};
    return start < ray.far_end ? c->walk->transmittance(c->clouds, &ray) : 1.0f;
}

// The radiance that a white surface has by the lamps in the place of the splat.
static real3 light_at(const lit_cloud *c, const lit_splat *s)
{
    real3 sum = {0.0f, 0.0f, 0.0f};
    for (int i = 0; i < c->lamps->count; i++) {
        const orr_light_values *lamp = &c->lamps->lights[i];
        const light_incidence incident = light_incident(light_of(lamp), s->position);
        const real strength = incident.strength * facing(s, incident.to_light);
        if (!(strength > 1e-5f)) {
            continue;
        }
        const real distance =
            lamp->directional > 0.5f ? INFINITY : length3(sub3(of_three(lamp->position), s->position));
        sum =
            add_scaled3(sum, of_three(lamp->diffuse), strength * visible(c, s, incident.to_light, distance));
    }
    return sum;
}

// What the harmonics of a channel are multiplied by, and what is added to the first of them: display colours
// are those of a power law, so that all directions become brighter by one factor.
static void relight(real light, real white, real constant, real *factor, real *added)
{
    const real display = fmaxf(fma_(constant, (real)SH_0, 0.5f), 0.0f);
    const real captured = srgb_to_linear(display);
    const real albedo = fminf(fmaxf(captured / white, ALBEDO_LOW), ALBEDO_HIGH);
    const real shown = linear_to_srgb(fma_(albedo, light, captured));
    *factor = display > 0.02f ? shown / display : 1.0f;
    *added = (shown - 0.5f) / (real)SH_0 - *factor * constant;
}

static void light_splat(const lit_cloud *c, int64_t i)
{
    const int members = 3 * (orr_sh_rest(c->pack->sh_degree) + 1);
    const int64_t first = i / ORR_PACK_BLOCK * members * ORR_PACK_BLOCK + i % ORR_PACK_BLOCK;
    const lit_splat s = splat_of(c, i);
    const real3 sum = light_at(c, &s);
    const real light[3] = {sum.x, sum.y, sum.z}, white[3] = {c->white.x, c->white.y, c->white.z};
    for (int k = 0; k < 3 && light[0] + light[1] + light[2] > 0.0f; k++) {
        real factor, added;
        relight(light[k], white[k], c->captured[first + k * ORR_PACK_BLOCK], &factor, &added);
        for (int m = k; m < members; m += 3) {
            const int64_t at = first + (int64_t)m * ORR_PACK_BLOCK;
            c->pack->harmonics[at] = fma_(factor, c->captured[at], m == k ? added : 0.0f);
        }
    }
}

static void light_part(void *context, int part, int worker)
{
    (void)worker;
    const lit_cloud *c = context;
    const int64_t first = (int64_t)part * PART * ORR_PACK_BLOCK, end = first + PART * ORR_PACK_BLOCK;
    for (int64_t i = first; i < end && i < c->pack->count; i++) {
        light_splat(c, i);
    }
}

// ---- the clouds of a scene ----

static bool stands_still(const orr_layer_data *layer)
{
    return layer->kind == ORR_LAYER_SPLATS && !orr_layer_moves(layer);
}

// Gives a layer the colours of its file.
static void restore(orr_scene *scene, orr_layer_data *layer)
{
    if (layer->captured) {
        orr_free(layer->splats->harmonics);
        layer->splats->harmonics = layer->captured;
        layer->captured = NULL;
        orr_layer_renew_keys(scene, layer);
    }
}

// The lamps in the world's space. A rectangle is a point that is not brighter than a disc of its area.
static void find_lamps(const orr_scene *scene, orr_draw_lighting *lamps)
{
    orr_draw_list list = {.lens.view = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
    for (int i = 0; i < scene->light_count; i++) {
        if (scene->light_clouds[i]) {
            orr_draw_light *lamp = &list.lights[list.light_count++];
            *lamp = scene->lights[i];
            lamp->attenuation[0] = lamp->area ? 1.0f : lamp->attenuation[0];
            lamp->area = false;
        }
    }
    orr_draw_light_up(&list, lamps);
}

static orr_result relight_layer(orr_scene *scene, orr_layer_data *layer, lit_cloud *c, orr_error *error)
{
    const int members = 3 * (orr_sh_rest(layer->splats->sh_degree) + 1);
    const size_t count = (size_t)layer->splats->blocks * (size_t)members * ORR_PACK_BLOCK;
    float *harmonics = orr_alloc(count, sizeof *harmonics);
    if (!harmonics) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: colours of %s", layer->name);
    }
    ORR_TRY(orr_affine_from_transform(&layer->transform, c->model, error));
    memcpy(harmonics, layer->splats->harmonics, count * sizeof *harmonics);
    layer->captured = layer->splats->harmonics;
    layer->splats->harmonics = harmonics;
    c->pack = layer->splats;
    c->captured = layer->captured;
    orr_layer_renew_keys(scene, layer);
    orr_jobs_for(scene->context.jobs, orr_blocks(c->pack->blocks, PART), light_part, c);
    return ORR_OK;
}

static orr_result relight_layers(orr_scene *scene, lit_cloud *c, orr_draw_splats *drawn, orr_error *error)
{
    orr_gaussians clouds;
    int count = 0;
    for (int i = 0; i < scene->layer_count; i++) {
        const orr_layer_data *layer = &scene->layers[i];
        if (stands_still(layer)) {
            drawn[count].pack = layer->splats;
            ORR_TRY(orr_affine_from_transform(&layer->transform, drawn[count++].model, error));
        }
    }
    ORR_TRY(orr_gaussians_build(drawn, count, &clouds, error));
    c->clouds = &clouds;
    orr_result result = ORR_OK;
    for (int i = 0; i < scene->layer_count && result == ORR_OK; i++) {
        if (stands_still(&scene->layers[i])) {
            result = relight_layer(scene, &scene->layers[i], c, error);
        }
    }
    orr_gaussians_free(&clouds);
    return result;
}

orr_result orr_scene_light_clouds(orr_scene *scene, orr_error *error)
{
    const orr_draw_sun *sun = &scene->sun;
    real white[3];
    bool any = false;
    for (int i = 0; i < scene->layer_count; i++) {
        restore(scene, &scene->layers[i]);
    }
    for (int i = 0; i < scene->light_count; i++) {
        any |= scene->light_clouds[i];
    }
    if (!any) {
        return ORR_OK;
    }
    for (int k = 0; k < 3; k++) {
        white[k] = scene->has_sun ? fmaxf(sun->colour[k] + sun->ambient[k], 1e-3f) : 1.0f;
    }
    orr_draw_lighting *lamps = orr_alloc_zero(1, sizeof *lamps);
    orr_draw_splats *drawn = orr_alloc_zero((size_t)scene->layer_count + 1, sizeof *drawn);
    orr_result result =
        lamps && drawn ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: lamps");
    if (result == ORR_OK) {
        find_lamps(scene, lamps);
        lit_cloud c = {
            .lamps = lamps, .walk = orr_gaussian_walk_of(scene->context.isa), .white = of_three(white)};
        result = relight_layers(scene, &c, drawn, error);
    }
    orr_free(lamps);
    orr_free(drawn);
    return result;
}
