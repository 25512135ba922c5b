// Lamps that light clouds, too (orr_light_desc.clouds): colours of splats that all machines, probes and paths
// draw like those of the file. A captured colour is the light of the capture times an albedo, by which light
// of the lamps is reflected as well. What the clouds themselves keep off it is found by rays: once of clouds
// at rest, and anew where one has moved.
#define ORR_SCALAR
#include "engine/scene/light/cloud_light.h"

#include "engine/core/hash.h"
#include "engine/core/memory.h"
#include "engine/maths/camera.h"
#include "engine/maths/colour_formula.h"
#include "engine/maths/vector.h"
#include "engine/scene/transform.h"
#include "render/field_light/captured_light_formula.h"
#include "render/formula_inputs.h"
#include "render/reference/gaussians.h"
#include "render/reference/surfaces.h"
#include "render/splat/deform_inputs.h"

#include <math.h>
#include <string.h>

enum { PART = 16 }; // blocks of splats in a job

static const real LEAVE = 3.0f; // standard deviations from the middle of a splat to where its rays begin

// A cloud as rays of lamps meet it, in its own space, in which it is the same wherever it has moved.
struct orr_cloud_shape {
    orr_draw_splats own;
    orr_gaussians splats;
    bool lit;         // the layer's splats have the light of lamps,
    float lit_at[12]; // here: layer to world
};

// What keeps light off: a cloud in the world.
typedef struct hider {
    const orr_gaussians *splats;
    orr_draw_splats deformed; // of a deformed one,
    orr_gaussians built;      // which are its own
    float to_own[12];
    float own_per_unit; // of lengths
} hider;

// A cloud that is lit.
typedef struct lit_cloud {
    const orr_splat_pack *pack;
    const float *captured; // its harmonics in the file
    float *harmonics;      // out
    float model[12];       // layer to world
    const orr_draw_deformation *deformation;
    const orr_captured_lamps *lamps;
    const hider *hiders; // hider_count
    int hider_count;
    const orr_gaussian_walk *walk;
} lit_cloud;

// ---- one splat ----

typedef struct lit_splat {
    real3 position, axes[3], normal; // world; axes scaled by the standard deviations
    real flat;                       // 1: the normal is known; 0: it is not
} lit_splat;

static real3 in_world(const float model[12], real3 axis)
{
    const float own[3] = {axis.x, axis.y, axis.z};
    float out[3];
    affine_apply_to_direction(model, own, out);
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
    real3 mean = of_three(g);
    splat_axes axes = {of_three(g + 3), of_three(g + 6), of_three(g + 9)};
    if (c->deformation->piece_of) {
        const splat_deformation d = splat_deformation_of(c->deformation, i);
        mean = deform_mean(d, mean);
        axes = deform_axes(d, axes);
    }
    const float own[3] = {mean.x, mean.y, mean.z};
    affine_apply_to_point(c->model, own, position);
    s.position = of_three(position);
    s.axes[0] = in_world(c->model, axes.a);
    s.axes[1] = in_world(c->model, axes.b);
    s.axes[2] = in_world(c->model, axes.c);
    for (int k = 0; k < 3; k++) {
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

// What the splats of a cloud let through of a ray of the world.
static real passes(const lit_cloud *c, const hider *h, const orr_ray *ray)
{
    orr_ray own = {.near_end = ray->near_end * h->own_per_unit, .far_end = ray->far_end * h->own_per_unit};
    affine_apply_to_point(h->to_own, ray->origin, own.origin);
    affine_apply_to_direction(h->to_own, ray->direction, own.direction);
    for (int k = 0; k < 3; k++) {
        own.direction[k] /= h->own_per_unit;
    }
    return c->walk->transmittance(h->splats, &own);
}

static real visible(const lit_cloud *c, const lit_splat *s, real3 to_light, real distance)
{
    real square = 0.0f, part = 1.0f;
    for (int k = 0; k < 3; k++) {
        const real along = dot3(s->axes[k], to_light);
        square = fma_(along, along, square);
    }
    const real start = LEAVE * sqrtf(square);
    const real3 p = s->position;
    const orr_ray ray = {
        {p.x, p.y, p.z}, {to_light.x, to_light.y, to_light.z}, start, distance * (1.0f - 1e-4f)};
    for (int i = 0; i < c->hider_count && part > 0.0f && start < ray.far_end; i++) {
        part *= passes(c, &c->hiders[i], &ray);
    }
    return part;
}

// The radiance that a white surface has by the lamps in the place of the splat.
static real3 light_at(const lit_cloud *c, const lit_splat *s)
{
    real3 sum = {0.0f, 0.0f, 0.0f};
    for (int i = 0; i < c->lamps->count; i++) {
        const orr_light_values *lamp = &c->lamps->lamps[i];
        const light_incidence incident = light_incident(light_of(lamp), s->position);
        const real strength =
            incident.strength * captured_facing(s->flat, fabsf(dot3(s->normal, incident.to_light)));
        if (!(strength > (real)CAPTURED_FAINT)) {
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
    const real shown = captured_in_light(display, light, 1.0f / white);
    *factor = display > 0.02f ? shown / display : 1.0f;
    *added = (shown - 0.5f) / (real)SH_0 - *factor * constant;
}

static void light_splat(const lit_cloud *c, int64_t i)
{
    const int members = 3 * (orr_sh_rest(c->pack->sh_degree) + 1);
    const int64_t first = i / ORR_PACK_BLOCK * members * ORR_PACK_BLOCK + i % ORR_PACK_BLOCK;
    const lit_splat s = splat_of(c, i);
    const real3 sum = light_at(c, &s);
    const real light[3] = {sum.x, sum.y, sum.z}, *white = c->lamps->white;
    for (int k = 0; k < 3 && light[0] + light[1] + light[2] > 0.0f; k++) {
        real factor, added;
        relight(light[k], white[k], c->captured[first + k * ORR_PACK_BLOCK], &factor, &added);
        for (int m = k; m < members; m += 3) {
            const int64_t at = first + (int64_t)m * ORR_PACK_BLOCK;
            c->harmonics[at] = fma_(factor, c->captured[at], m == k ? added : 0.0f);
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

// ---- lamps and clouds of a scene ----

bool orr_scene_has_cloud_lamps(const orr_scene *scene)
{
    bool any = false;
    for (int i = 0; i < scene->light_count; i++) {
        any |= scene->lights[i].lights_captured;
    }
    return any;
}

void orr_scene_captured_white(const orr_scene *scene, float white[3])
{
    const orr_draw_sun *sun = &scene->sun;
    for (int k = 0; k < 3; k++) {
        white[k] = scene->has_sun ? fmaxf(sun->colour[k] + sun->ambient[k], 1e-3f) : 1.0f;
    }
}

// The lamps in the world's space.
static void find_lamps(const orr_scene *scene, orr_captured_lamps *lamps)
{
    orr_draw_list list = {.lens.view = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                          .light_count = scene->light_count};
    memcpy(list.lights, scene->lights, sizeof list.lights);
    orr_scene_captured_white(scene, list.captured_white);
    orr_draw_captured_lamps(&list, lamps);
}

// A rigid cloud in its own space; a deformed one in the world, where it is another in each frame.
static orr_result find_hider(const orr_posed_cloud *cloud, hider *h, orr_error *error)
{
    if (cloud->deformation.piece_of) {
        h->deformed = (orr_draw_splats){.pack = cloud->layer->splats, .deformation = cloud->deformation};
        memcpy(h->deformed.model, cloud->model, sizeof h->deformed.model);
        h->to_own[0] = h->to_own[5] = h->to_own[10] = h->own_per_unit = 1.0f;
        h->splats = &h->built;
        return orr_gaussians_build(&h->deformed, 1, &h->built, error);
    }
    h->splats = &cloud->layer->shape->splats;
    ORR_TRY(orr_affine_invert(cloud->model, h->to_own, error));
    const float *x = h->to_own; // of a similarity any column is as long
    h->own_per_unit = sqrtf(x[0] * x[0] + x[4] * x[4] + x[8] * x[8]);
    return ORR_OK;
}

static orr_result find_hiders(const orr_posed_cloud *clouds, int count, hider *hiders, orr_error *error)
{
    for (int i = 0; i < count; i++) {
        ORR_TRY(find_hider(&clouds[i], &hiders[i], error));
    }
    return ORR_OK;
}

static void light_cloud(const orr_scene *scene, const hider *hiders, int hider_count,
                        const orr_posed_cloud *cloud, float *harmonics)
{
    const orr_splat_pack *pack = cloud->layer->splats;
    orr_captured_lamps lamps;
    lit_cloud c = {.pack = pack,
                   .captured = cloud->layer->captured ? cloud->layer->captured : pack->harmonics,
                   .harmonics = harmonics,
                   .deformation = &cloud->deformation,
                   .lamps = &lamps,
                   .hiders = hiders,
                   .hider_count = hider_count,
                   .walk = orr_gaussian_walk_of(scene->context.isa)};
    find_lamps(scene, &lamps);
    memcpy(c.model, cloud->model, sizeof c.model);
    memcpy(harmonics, c.captured, orr_cloud_harmonics(pack) * sizeof *harmonics);
    orr_jobs_for(scene->context.jobs, orr_blocks(pack->blocks, PART), light_part, &c);
}

size_t orr_cloud_harmonics(const orr_splat_pack *pack)
{
    return (size_t)pack->blocks * 3 * (size_t)(orr_sh_rest(pack->sh_degree) + 1) * ORR_PACK_BLOCK;
}

uint64_t orr_cloud_light_hash(const orr_scene *scene, const orr_posed_cloud *clouds, int count)
{
    orr_captured_lamps lamps;
    find_lamps(scene, &lamps);
    uint64_t hash = orr_hash_bytes(ORR_HASH_BEGIN, &lamps, sizeof lamps);
    for (int i = 0; i < count; i++) {
        const orr_draw_deformation *d = &clouds[i].deformation;
        hash = orr_hash_bytes(hash, &clouds[i].layer->key, sizeof clouds[i].layer->key);
        hash = orr_hash_bytes(hash, clouds[i].model, sizeof clouds[i].model);
        if (d->piece_of) {
            hash = orr_hash_bytes(hash, d->pieces, (size_t)d->piece_count * sizeof *d->pieces);
        }
    }
    return hash;
}

orr_result orr_cloud_light(const orr_scene *scene, const orr_posed_cloud *clouds, int count, int which,
                           float *harmonics, orr_error *error)
{
    hider *hiders = orr_alloc_zero((size_t)count + 1, sizeof *hiders);
    if (!hiders) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: lamps");
    }
    const orr_result result = find_hiders(clouds, count, hiders, error);
    if (result == ORR_OK) {
        light_cloud(scene, hiders, count, &clouds[which], harmonics);
    }
    for (int i = 0; i < count; i++) {
        orr_gaussians_free(&hiders[i].built);
    }
    orr_free(hiders);
    return result;
}

bool orr_cloud_is_lit_at(const orr_layer_data *layer, const float model[12])
{
    const orr_cloud_shape *shape = layer->shape;
    return shape && shape->lit && memcmp(shape->lit_at, model, sizeof shape->lit_at) == 0;
}

// ---- clouds at rest ----

void orr_cloud_shape_destroy(orr_cloud_shape *shape)
{
    if (shape) {
        orr_gaussians_free(&shape->splats);
        orr_free(shape);
    }
}

// Gives a layer the colours of its file.
static void restore(orr_scene *scene, orr_layer_data *layer)
{
    orr_cloud_shape_destroy(layer->shape);
    layer->shape = NULL;
    if (layer->captured) {
        orr_free(layer->splats->harmonics);
        layer->splats->harmonics = layer->captured;
        layer->captured = NULL;
        orr_layer_renew_keys(scene, layer);
    }
}

static orr_result find_shape(orr_layer_data *layer, orr_error *error)
{
    orr_cloud_shape *shape = orr_alloc_zero(1, sizeof *shape);
    if (!shape) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the light of %s", layer->name);
    }
    shape->own = (orr_draw_splats){.pack = layer->splats, .model = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
    const orr_result result = orr_gaussians_build(&shape->own, 1, &shape->splats, error);
    if (result != ORR_OK) {
        orr_free(shape);
        return result;
    }
    layer->shape = shape;
    return ORR_OK;
}

// Shapes of the clouds; those that stand still go into `still`, which has room for all layers.
static orr_result find_shapes(orr_scene *scene, orr_posed_cloud *still, int *count, orr_error *error)
{
    for (int i = 0; i < scene->layer_count; i++) {
        orr_layer_data *layer = &scene->layers[i];
        if (layer->kind != ORR_LAYER_SPLATS || layer->trainer) {
            continue;
        }
        ORR_TRY(find_shape(layer, error));
        if (!orr_layer_moves(layer)) {
            orr_posed_cloud *cloud = &still[(*count)++];
            cloud->layer = layer;
            ORR_TRY(orr_affine_from_transform(&layer->transform, cloud->model, error));
        }
    }
    return ORR_OK;
}

static orr_result light_still(orr_scene *scene, orr_layer_data *layer, const orr_posed_cloud *still,
                              int count, int which, orr_error *error)
{
    float *harmonics = orr_alloc(orr_cloud_harmonics(layer->splats), sizeof *harmonics);
    if (!harmonics) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: colours of %s", layer->name);
    }
    const orr_result result = orr_cloud_light(scene, still, count, which, harmonics, error);
    if (result != ORR_OK) {
        orr_free(harmonics);
        return result;
    }
    layer->captured = layer->splats->harmonics;
    layer->splats->harmonics = harmonics;
    layer->shape->lit = true;
    memcpy(layer->shape->lit_at, still[which].model, sizeof layer->shape->lit_at);
    orr_layer_renew_keys(scene, layer);
    return ORR_OK;
}

static orr_result light_layers(orr_scene *scene, orr_posed_cloud *still, orr_error *error)
{
    int count = 0, which = 0;
    ORR_TRY(find_shapes(scene, still, &count, error));
    for (int i = 0; i < scene->layer_count && which < count; i++) {
        if (still[which].layer == &scene->layers[i]) {
            ORR_TRY(light_still(scene, &scene->layers[i], still, count, which++, error));
        }
    }
    return ORR_OK;
}

orr_result orr_scene_light_clouds(orr_scene *scene, orr_error *error)
{
    for (int i = 0; i < scene->layer_count; i++) {
        restore(scene, &scene->layers[i]);
    }
    if (!orr_scene_has_cloud_lamps(scene)) {
        return ORR_OK;
    }
    orr_posed_cloud *still = orr_alloc_zero((size_t)scene->layer_count + 1, sizeof *still);
    const orr_result result = still ? light_layers(scene, still, error)
                                    : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: lamps");
    orr_free(still);
    return result;
}
