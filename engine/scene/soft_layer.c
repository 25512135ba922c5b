#include "engine/scene/soft_layer.h"

#include "engine/core/memory.h"
#include "engine/scene/layer_collider.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RESOLUTION = 12 };

// Cells by which the cage of a cloud is wider than what is solid, so that thin parts stay in one piece.
static const double cloud_margin = 0.75;

static double or_default(double value, double otherwise)
{
    return value > 0.0 ? value : otherwise;
}

// ---- closed meshes

static int compare_points(const void *a, const void *b)
{
    return memcmp(a, b, 3 * sizeof(float));
}

static int compare_edges(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// Edges whose two ends are not joined by as many triangles one way as the other; ends at one place are one.
static orr_result count_open_edges(const orr_mesh *mesh, int64_t *open, orr_error *error)
{
    float *point;
    ORR_ALLOC(point, 3 * mesh->vertex_count, "the edges of a mesh", error);
    int64_t *edge = orr_alloc((size_t)mesh->index_count, sizeof *edge);
    if (!edge) {
        orr_free(point);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the edges of a mesh");
    }
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        for (int k = 0; k < 3; k++) {
            point[3 * i + k] = mesh->vertices[i].position[k] + 0.0f; // no -0
        }
    }
    qsort(point, (size_t)mesh->vertex_count, 3 * sizeof *point, compare_points);
    for (int64_t i = 0; i < mesh->index_count; i++) {
        int64_t end[2];
        for (int e = 0; e < 2; e++) {
            int64_t next = i / 3 * 3 + (i + e) % 3;
            const float *at = mesh->vertices[mesh->indices[next]].position;
            const float key[3] = {at[0] + 0.0f, at[1] + 0.0f, at[2] + 0.0f};
            const float *found =
                bsearch(key, point, (size_t)mesh->vertex_count, 3 * sizeof *point, compare_points);
            while (found > point && compare_points(found - 3, key) == 0) {
                found -= 3;
            }
            end[e] = (found - point) / 3;
        }
        bool back = end[0] > end[1];
        edge[i] =
            ((back ? end[1] * mesh->vertex_count + end[0] : end[0] * mesh->vertex_count + end[1]) << 1) +
            back;
    }
    qsort(edge, (size_t)mesh->index_count, sizeof *edge, compare_edges);
    *open = 0;
    for (int64_t i = 0; i < mesh->index_count;) {
        int64_t sum = 0, first = i;
        for (; i < mesh->index_count && edge[i] >> 1 == edge[first] >> 1; i++) {
            sum += edge[i] & 1 ? -1 : 1;
        }
        int64_t key = edge[first] >> 1;
        *open += sum != 0 && key / mesh->vertex_count != key % mesh->vertex_count;
    }
    orr_free(point);
    orr_free(edge);
    return ORR_OK;
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

static orr_result fill(const orr_scene *scene, const orr_layer_data *layer, const orr_body_desc *desc,
                       orr_soft_layer *soft, orr_error *error)
{
    int64_t open = 0;
    if (layer->mesh) {
        ORR_TRY(count_open_edges(layer->mesh, &open, error));
    }
    if (open > 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: a soft body: expected a closed mesh, not one with %lld open edges", layer->name,
                        (long long)open);
    }
    ORR_TRY(make_cage(scene, layer, desc->resolution > 0 ? desc->resolution : RESOLUTION, soft, error));
    const orr_soft_spec spec = {.name = layer->name,
                                .vertices = soft->cage->vertices,
                                .vertex = soft->cage->vertex,
                                .tets = soft->cage->tets,
                                .tet = soft->cage->tet,
                                .solid = {.density = or_default(desc->density, 300.0),
                                          .young = or_default(desc->young, 5e4),
                                          .poisson = or_default(desc->poisson, 0.4),
                                          .damping = or_default(desc->damping, 0.005)}};
    ORR_TRY(orr_soft_model_create(&spec, &soft->model, error));
    soft->count = layer->mesh ? layer->mesh->vertex_count : layer->splats->blocks * ORR_PACK_BLOCK;
    ORR_ALLOC(soft->tet, soft->count, layer->name, error);
    const layer_points context = {layer, soft->scale};
    const orr_soft_points points = {soft->count, point_at, &context};
    return orr_soft_embed(soft->cage, &points, scene->context.jobs, soft->tet, error);
}

static orr_result check(const orr_layer_data *layer, const orr_body_desc *desc, orr_error *error)
{
    if (!layer->mesh && !layer->splats) {
        return orr_fail(error, ORR_CODE_FEATURE_ABSENT, "%s: a soft body: expected a mesh or a cloud",
                        layer->name);
    }
    if (desc->mass > 0.0) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: a soft body: expected no mass, it follows from the density", layer->name);
    }
    if (desc->resolution < 0 || desc->resolution == 1 || desc->resolution > ORR_SOFT_RESOLUTION_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: a soft body: resolution: expected 2 to %d, not %d",
                        layer->name, ORR_SOFT_RESOLUTION_MAX, desc->resolution);
    }
    return ORR_OK;
}

orr_result orr_soft_layer_create(const orr_scene *scene, const orr_layer_data *layer,
                                 const orr_body_desc *desc, orr_soft_layer **out, orr_error *error)
{
    *out = NULL;
    ORR_TRY(check(layer, desc, error));
    orr_soft_layer *soft;
    ORR_ALLOC(soft, 1, layer->name, error);
    *soft = (orr_soft_layer){
        .users = 1, .scale = (double)layer->transform.scale, .friction = or_default(desc->friction, 1.0)};
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
        orr_free(soft->tet);
        orr_free(soft);
    }
}
