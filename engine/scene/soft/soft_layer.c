#include "engine/scene/soft/soft_layer.h"

#include "engine/core/memory.h"
#include "engine/scene/layer_collider.h"
#include "engine/scene/soft/mesh_weld.h"
#include "engine/scene/soft/soft_cloth.h"

#include <math.h>
#include <string.h>

enum { RESOLUTION = 12 };

// Cells by which the cage of a cloud is wider than what is solid, so that thin parts stay in one piece.
static const double cloud_margin = 0.75;

static double or_default(double value, double otherwise)
{
    return value > 0.0 ? value : otherwise;
}

// ---- the cage

typedef struct scaled_grid {
    const orr_distance_grid *grid; // in the layer's space
    double scale, margin;          // margin: m, by which the surface is moved outwards
} scaled_grid;

static double distance_at(const void *context, const double p[3])
{
    const scaled_grid *g = context;
    const double at[3] = {p[0] / g->scale, p[1] / g->scale, p[2] / g->scale};
    return orr_distance_grid_at(g->grid, at, NULL) * g->scale - g->margin;
}

static orr_result make_cage(const orr_scene *scene, const orr_layer_data *layer, int resolution,
                            orr_soft_layer *soft, orr_error *error)
{
    const double longest = orr_layer_longest_side(layer);
    double from[3], to[3];
    orr_collider_desc settings = {.cell = longest / fmax(32.0, 3.0 * resolution)};
    orr_distance_grid *grid;
    orr_collider_up(scene, layer, settings.up);
    ORR_TRY(orr_collider_of_layer(scene, layer, &settings, &grid, error));
    const double cell = longest * soft->scale / resolution;
    soft->margin = layer->splats ? cloud_margin * cell : 0.0;
    const scaled_grid scaled = {grid, soft->scale, soft->margin};
    for (int k = 0; k < 3; k++) {
        from[k] = grid->origin[k] * soft->scale - soft->margin;
        to[k] = grid->bricks[k] * ORR_GRID_BRICK * grid->cell * soft->scale + from[k] + 2.0 * soft->margin;
    }
    orr_result result =
        orr_soft_cage_create(distance_at, &scaled, from, to, cell, layer->name, &soft->cage, error);
    orr_distance_grid_destroy(grid);
    return result;
}

// ---- what follows it

typedef struct layer_points {
    const orr_layer_data *layer;
    double scale;
} layer_points;

static void point_at(const void *context, int64_t i, double p[3])
{
    const layer_points *points = context;
    const orr_splat_pack *pack = points->layer->splats;
    for (int k = 0; k < 3; k++) {
        float x = pack ? pack->geometry[((i / ORR_PACK_BLOCK) * ORR_PACK_GEOMETRY + k) * ORR_PACK_BLOCK +
                                        i % ORR_PACK_BLOCK]
                       : points->layer->mesh->vertices[i].position[k];
        p[k] = (double)x * points->scale;
    }
}

// A splat far from the tetrahedron that it follows is swung about by it: where most of a cloud is, what is
// solid of it is not what is seen.
static orr_result check_cage_of_cloud(const orr_layer_data *layer, const orr_soft_layer *soft, double reach,
                                      orr_error *error)
{
    const layer_points points = {layer, soft->scale};
    const int64_t count = layer->splats->count;
    int64_t missed = 0;
    double first[3] = {0.0};
    for (int64_t i = 0; i < count; i++) {
        const int32_t *tet = soft->cage->tet + (ptrdiff_t)4 * soft->piece[i];
        double p[3], away = 0.0;
        point_at(&points, i, p);
        for (int k = 0; k < 3; k++) {
            double middle = 0.0;
            for (int corner = 0; corner < 4; corner++) {
                middle += 0.25 * soft->cage->vertex[(ptrdiff_t)3 * tet[corner] + k];
            }
            away += (p[k] - middle) * (p[k] - middle);
        }
        if (away > reach * reach && missed++ == 0) {
            memcpy(first, p, sizeof first);
        }
    }
    if (missed > count / 2) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: a soft body: %lld of %lld splats are more than %g m outside its cage, for "
                        "example at %g, %g, %g: expected most of them inside",
                        layer->name, (long long)missed, (long long)count, reach, first[0] / soft->scale,
                        first[1] / soft->scale, first[2] / soft->scale);
    }
    return ORR_OK;
}

static orr_result fill(const orr_scene *scene, const orr_layer_data *layer, const orr_body_desc *desc,
                       orr_soft_layer *soft, orr_error *error)
{
    int64_t open = 0;
    if (desc->cloth > 0.0) {
        return orr_soft_cloth_fill(layer, desc, soft, error);
    }
    if (layer->mesh) {
        ORR_TRY(orr_mesh_open_edges(layer->mesh, &open, error));
    }
    if (open > 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: a soft body: expected a closed mesh, not one with %lld open edges", layer->name,
                        (long long)open);
    }
    ORR_TRY(make_cage(scene, layer, desc->resolution > 0 ? desc->resolution : RESOLUTION, soft, error));
    int32_t *pin;
    int pins;
    ORR_TRY(orr_soft_pins(layer, desc, soft, &pin, &pins, error));
    const orr_soft_spec spec = {.name = layer->name,
                                .vertices = soft->cage->vertices,
                                .vertex = soft->cage->vertex,
                                .tets = soft->cage->tets,
                                .tet = soft->cage->tet,
                                .pins = pins,
                                .pin = pin,
                                .yield_stress = desc->yield_stress,
                                .flow = desc->flow,
                                .solid = {.density = or_default(desc->density, 300.0),
                                          .young = or_default(desc->young, 5e4),
                                          .poisson = or_default(desc->poisson, 0.4),
                                          .damping = or_default(desc->damping, 0.005)}};
    orr_result result = orr_soft_model_create(&spec, &soft->model, error);
    orr_free(pin);
    ORR_TRY(result);
    soft->count = layer->mesh ? layer->mesh->vertex_count : layer->splats->blocks * ORR_PACK_BLOCK;
    ORR_ALLOC(soft->piece, soft->count, layer->name, error);
    const layer_points context = {layer, soft->scale};
    const orr_soft_points points = {soft->count, point_at, &context};
    ORR_TRY(orr_soft_embed(soft->cage, &points, scene->context.jobs, soft->piece, error));
    // a tetrahedron reaches about half a cell from its middle, and a cage lies a margin around what is solid
    return layer->splats ? check_cage_of_cloud(layer, soft, 2.0 * soft->margin / cloud_margin, error)
                         : ORR_OK;
}

static orr_result check(const orr_scene *scene, const orr_layer_data *layer, const orr_body_desc *desc,
                        orr_error *error)
{
    const orr_layer_data *robot = orr_scene_bound_robot(scene, layer);
    if (!layer->mesh && !layer->splats) {
        return orr_fail(error, ORR_CODE_FEATURE_ABSENT, "%s: a soft body: expected a mesh or a cloud",
                        layer->name);
    }
    if (desc->mass > 0.0) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: a soft body: expected no mass, it follows from the density", layer->name);
    }
    if (desc->cloth > 0.0 && !layer->mesh) {
        return orr_fail(error, ORR_CODE_FEATURE_ABSENT, "%s: cloth: expected a mesh", layer->name);
    }
    if (desc->yield_stress > 0.0 && desc->cloth > 0.0) {
        return orr_fail(error, ORR_CODE_FEATURE_ABSENT, "%s: cloth that yields: expected a solid",
                        layer->name);
    }
    if ((desc->pressure > 0.0 || desc->ambient > 0.0) && !(desc->cloth > 0.0)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: a soft body: enclosed gas: expected cloth, a closed mesh with a thickness",
                        layer->name);
    }
    if (desc->pins < 0 || desc->pins > ORR_BODY_PINS_MAX || !(desc->cloth >= 0.0)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: a soft body: pins %d, cloth %g m: expected 0 to %d, and at least 0", layer->name,
                        desc->pins, desc->cloth, ORR_BODY_PINS_MAX);
    }
    if (robot &&
        (desc->pins == 0 || layer->bound_body == 0 || fabsf(robot->transform.scale - 1.0f) > 1e-6f)) {
        return orr_fail(
            error, ORR_CODE_ARGUMENT,
            "%s: a soft body on %s: expected pins, which a body other than the world holds, and a "
            "robot of scale 1",
            layer->name, robot->name);
    }
    if (desc->resolution < 0 || desc->resolution == 1 || desc->resolution > ORR_SOFT_RESOLUTION_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: a soft body: resolution: expected 2 to %d, not %d",
                        layer->name, ORR_SOFT_RESOLUTION_MAX, desc->resolution);
    }
    if (desc->iterations < 0 || desc->iterations > ORR_SOFT_ITERATIONS_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: a soft body: iterations: expected 1 to %d, not %d",
                        layer->name, ORR_SOFT_ITERATIONS_MAX, desc->iterations);
    }
    return ORR_OK;
}

orr_result orr_soft_layer_create(const orr_scene *scene, const orr_layer_data *layer,
                                 const orr_body_desc *desc, orr_soft_layer **out, orr_error *error)
{
    *out = NULL;
    ORR_TRY(check(scene, layer, desc, error));
    orr_soft_layer *soft;
    ORR_ALLOC(soft, 1, layer->name, error);
    *soft = (orr_soft_layer){.users = 1,
                             .flex = -1,
                             .iterations = desc->iterations,
                             .scale = (double)layer->transform.scale,
                             .friction = orr_body_friction(desc->friction)};
    orr_result result = fill(scene, layer, desc, soft, error);
    if (result != ORR_OK) {
        orr_soft_layer_destroy(soft);
        return result;
    }
    *out = soft;
    return ORR_OK;
}

void orr_soft_layer_keep(orr_soft_layer *soft)
{
    soft->users++;
}

void orr_soft_layer_destroy(orr_soft_layer *soft)
{
    if (soft && --soft->users == 0) {
        orr_soft_cage_destroy(soft->cage);
        orr_soft_model_destroy(soft->model);
        orr_free(soft->piece);
        orr_free(soft->contact ? soft->contact->facet : NULL);
        orr_free(soft->contact);
        orr_free(soft->tie);
        orr_free(soft->node_first);
        orr_free(soft->node);
        orr_free(soft->node_share);
        orr_free(soft);
    }
}
