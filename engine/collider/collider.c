#include "engine/collider/collider.h"

#include "engine/collider/radiance.h"
#include "engine/collider/splats.h"
#include "engine/collider/surface_grid.h"
#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "neural/fields/mesh.h"

#include <math.h>
#include <string.h>

enum { MARGIN = 4 }; // cells around a surface

static const double DEFAULT_CELLS = 256.0; // along the longest side
// Segments from sample to sample shall not meet sides of triangles exactly: samples are away from the points
// between which a lattice's surface has vertices, and from walls at the bounds of a mesh.
static const double OFF_LATTICE[3] = {0.2718, 0.3141, 0.1618}; // cells

// ---- settings ----

static void find_bounds(const orr_collider_source *source, float low[3], float high[3])
{
    if (source->field) {
        orr_field_layer_bounds(source->field, low, high);
        return;
    }
    memcpy(low, source->splats ? source->splats->low : source->mesh->low, 3 * sizeof *low);
    memcpy(high, source->splats ? source->splats->high : source->mesh->high, 3 * sizeof *high);
}

static orr_result check_range(const char *name, const char *what, double value, double most, orr_error *error)
{
    return value >= 0.0 && value < most
               ? ORR_OK
               : orr_fail(error, ORR_CODE_ARGUMENT, "%s: %s %g: expected 0 (the default), or more%s", name,
                          what, value, most < INFINITY ? " and less than 1" : "");
}

// Of clouds alone up is asked; a mesh or field has one collider however its layer is turned. It is rounded,
// so that the rounding of a layer's rotation does not make another collider.
static void choose_up(const orr_collider_source *source, float up[3])
{
    static const double STEPS = 1024.0;
    const double length = sqrt((double)vec3f_dot(up, up));
    const bool asked = source->splats && length > 0.0;
    for (int k = 0; k < 3; k++) {
        up[k] = asked ? (float)(round((double)up[k] / length * STEPS) / STEPS) + 0.0f : k == 1 ? -1.0f : 0.0f;
    }
}

static orr_result resolve(const orr_collider_source *source, const orr_collider_desc *given,
                          orr_collider_desc *desc, orr_error *error)
{
    *desc = given ? *given : (orr_collider_desc){0};
    ORR_TRY(check_range(source->name, "cell", desc->cell, INFINITY, error));
    ORR_TRY(check_range(source->name, "opacity", desc->opacity, 1.0, error));
    ORR_TRY(check_range(source->name, "gap", desc->gap, INFINITY, error));
    ORR_TRY(check_range(source->name, "island", desc->island, 1.0, error));
    float low[3], high[3];
    double longest = 0.0;
    find_bounds(source, low, high);
    for (int k = 0; k < 3; k++) {
        longest = fmax(longest, (double)high[k] - (double)low[k]);
    }
    if (desc->cell > longest && longest > 0.0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: cells of %g: expected at most its longest side, %g",
                        source->name, desc->cell, longest);
    }
    desc->cell = desc->cell > 0.0 ? desc->cell : longest / DEFAULT_CELLS;
    desc->opacity = desc->opacity > 0.0 ? desc->opacity : source->field ? 0.5 : 0.3;
    desc->gap = desc->gap > 0.0 ? desc->gap : 4.0 * desc->cell;
    desc->island = desc->island > 0.0 ? desc->island : 0.005;
    choose_up(source, desc->up);
    return longest > 0.0 ? ORR_OK
                         : orr_fail(error, ORR_CODE_ARGUMENT,
                                    "%s: has no extent: expected points, triangles or a field of some size",
                                    source->name);
}

// FNV-1a, eight bytes at a time where there are that many.
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, size - i < 8 ? size - i : 8);
        hash = (hash ^ word) * UINT64_C(0x100000001b3);
        hash ^= hash >> 29;
    }
    return hash;
}

static uint64_t hash_settings(const orr_collider_desc *d)
{
    const double numbers[] = {d->cell,         d->opacity,       d->gap,           d->island,
                              (double)d->side, (double)d->up[0], (double)d->up[1], (double)d->up[2]};
    uint64_t hash = hash_bytes(UINT64_C(0xcbf29ce484222325) + ORR_COLLIDER_VERSION, numbers, sizeof numbers);
    return d->eye_count > 0 ? hash_bytes(hash, d->eyes, 3 * (size_t)d->eye_count * sizeof *d->eyes) : hash;
}

static uint64_t hash_source(const orr_collider_source *source, uint64_t hash)
{
    if (source->splats) {
        return hash_bytes(hash, source->splats->geometry,
                          (size_t)source->splats->blocks * ORR_PACK_GEOMETRY * ORR_PACK_BLOCK *
                              sizeof(float));
    }
    if (source->mesh) {
        for (int64_t i = 0; i < source->mesh->vertex_count; i++) {
            hash = hash_bytes(hash, source->mesh->vertices[i].position, 3 * sizeof(float));
        }
        return hash_bytes(hash, source->mesh->indices, (size_t)source->mesh->index_count * sizeof(uint32_t));
    }
    const orr_field_parts *parts = orr_field_parts_of(orr_field_layer_field(source->field));
    float low[3], high[3];
    orr_field_layer_bounds(source->field, low, high);
    hash = hash_bytes(hash_bytes(hash, low, sizeof low), high, sizeof high);
    hash = hash_bytes(hash, parts->inference_network, (size_t)parts->network.parameter_count * sizeof(float));
    return hash_bytes(hash, parts->inference_table, (size_t)parts->encoding.parameter_count * sizeof(float));
}

orr_result orr_collider_hash(const orr_collider_source *source, const orr_collider_desc *given,
                             uint64_t *hash, orr_error *error)
{
    orr_collider_desc desc;
    ORR_TRY(resolve(source, given, &desc, error));
    *hash = hash_source(source, hash_settings(&desc));
    *hash += *hash == 0; // 0: unknown
    return ORR_OK;
}

// ---- from each kind of source to triangles, in cells ----

// A grid around triangles that are in the layer's space: moved to cells from its origin.
static orr_result place_triangles(orr_grid_triangles *t, float *positions, const orr_collider_desc *desc,
                                  orr_error *error)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < 3 * t->vertex_count; i++) {
        low[i % 3] = fmin(low[i % 3], (double)positions[i]);
        high[i % 3] = fmax(high[i % 3], (double)positions[i]);
    }
    t->cell = desc->cell;
    double points[3];
    for (int k = 0; k < 3; k++) {
        t->origin[k] = low[k] - (MARGIN + OFF_LATTICE[k]) * desc->cell;
        points[k] = ceil((high[k] - low[k]) / desc->cell) + 2.0 * MARGIN + 1.0;
        if (!(points[k] < 1e9)) {
            return orr_fail(error, ORR_CODE_CAPACITY, "%s: %g cells along %c: use larger cells", t->name,
                            points[k], "xyz"[k]);
        }
        t->bricks[k] = (int32_t)ceil(points[k] / ORR_GRID_BRICK);
    }
    for (int64_t i = 0; i < 3 * t->vertex_count; i++) {
        positions[i] = (float)(((double)positions[i] - t->origin[i % 3]) / desc->cell);
    }
    return ORR_OK;
}

static orr_result grid_of_mesh(const orr_collider_source *source, const orr_collider_desc *desc,
                               orr_jobs *jobs, const orr_progress *progress, orr_distance_grid **grid,
                               orr_error *error)
{
    orr_triangle_view view = orr_mesh_for_sdf(source->mesh);
    orr_grid_triangles t = {.name = source->name,
                            .indices = view.indices,
                            .vertex_count = view.vertex_count,
                            .triangle_count = view.index_count / 3};
    float *positions;
    ORR_ALLOC(positions, 3 * view.vertex_count, source->name, error);
    for (int64_t i = 0; i < view.vertex_count; i++) {
        memcpy(positions + 3 * i, source->mesh->vertices[i].position, 3 * sizeof *positions);
    }
    t.positions = positions;
    orr_result result = place_triangles(&t, positions, desc, error);
    if (result == ORR_OK) {
        result = orr_surface_grid(&t, jobs, progress, grid, error);
    }
    orr_free(positions);
    return result;
}

// Signed distances and volumes: the surface that marching cubes finds at cells of the same size.
static orr_result grid_of_field(const orr_collider_source *source, const orr_collider_desc *desc,
                                orr_jobs *jobs, const orr_progress *progress, orr_distance_grid **grid,
                                orr_error *error)
{
    const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    float to_unit[12];
    orr_field_mesh_desc mesh = {.field = orr_field_layer_field(source->field)};
    ORR_TRY(orr_field_layer_to_unit(source->field, identity, to_unit, error));
    ORR_TRY(orr_affine_invert(to_unit, mesh.to_world, error));
    double side = sqrt((double)vec3f_dot(mesh.to_world, mesh.to_world)), cells = ceil(side / desc->cell);
    if (cells > ORR_MARCHING_RESOLUTION_MAX) {
        return orr_fail(error, ORR_CODE_CAPACITY,
                        "%s: %.0f cells along a side: expected at most %d: use larger "
                        "cells",
                        source->name, cells, ORR_MARCHING_RESOLUTION_MAX);
    }
    mesh.resolution = cells > 8.0 ? (int)cells : 8;
    orr_surface surface;
    ORR_TRY(orr_progress_at(progress, "surface", 0.0, error));
    ORR_TRY(orr_field_mesh(&mesh, jobs, &surface, error));
    orr_grid_triangles t = {.name = source->name,
                            .positions = surface.positions,
                            .indices = surface.indices,
                            .vertex_count = surface.vertex_count,
                            .triangle_count = surface.triangle_count};
    orr_result result =
        surface.triangle_count > 0
            ? place_triangles(&t, surface.positions, desc, error)
            : orr_fail(error, ORR_CODE_ARGUMENT, "%s: expected a field with a surface", source->name);
    if (result == ORR_OK) {
        const orr_progress rest = orr_progress_part(progress, 0.5, 1.0);
        result = orr_surface_grid(&t, jobs, &rest, grid, error);
    }
    orr_surface_free(&surface);
    return result;
}

static orr_result grid_of_lattice(const orr_collider_source *source, orr_lattice *lattice, orr_jobs *jobs,
                                  const orr_progress *progress, orr_distance_grid **grid, orr_error *error)
{
    orr_surface surface;
    orr_result result = orr_lattice_surface(lattice, jobs, &surface, error);
    orr_grid_triangles t = {
        .name = source->name, .enclosed = lattice->enclosed, .cell = lattice->cell * lattice->per_cell};
    for (int k = 0; k < 3; k++) {
        t.origin[k] = lattice->origin[k] + OFF_LATTICE[k] * lattice->cell;
        t.bricks[k] = orr_blocks(lattice->points[k] - 1, ORR_GRID_BRICK * lattice->per_cell);
    }
    for (int64_t i = 0; i < 3 * surface.vertex_count && result == ORR_OK; i++) {
        surface.positions[i] = (surface.positions[i] - (float)OFF_LATTICE[i % 3]) / (float)lattice->per_cell;
    }
    orr_lattice_destroy(lattice); // before the grid takes its memory
    ORR_TRY(result);
    t.positions = surface.positions;
    t.indices = surface.indices;
    t.vertex_count = surface.vertex_count;
    t.triangle_count = surface.triangle_count;
    const orr_progress rest = orr_progress_part(progress, 0.5, 1.0);
    result = surface.triangle_count > 0 ? orr_surface_grid(&t, jobs, &rest, grid, error)
                                        : orr_fail(error, ORR_CODE_ARGUMENT,
                                                   "%s: expected surfaces next to free space", source->name);
    orr_surface_free(&surface);
    return result;
}

orr_result orr_collider_make(const orr_collider_source *source, const orr_collider_desc *given,
                             orr_jobs *jobs, const orr_progress *progress, orr_distance_grid **grid,
                             orr_collider_report *report, orr_error *error)
{
    *grid = NULL;
    orr_collider_report unread;
    report = report ? report : &unread;
    *report = (orr_collider_report){0};
    orr_collider_desc desc;
    orr_progress named;
    if (progress) { // not of the file that was loaded last
        named = *progress;
        named.path = source->name;
        progress = &named;
    }
    ORR_TRY(resolve(source, given, &desc, error));
    orr_field_kind kind = source->field ? orr_field_layer_kind(source->field) : ORR_FIELD_SDF;
    orr_result result;
    if (source->mesh) {
        result = grid_of_mesh(source, &desc, jobs, progress, grid, error);
    } else if (source->field && kind == ORR_FIELD_IMAGE) {
        result = orr_fail(error, ORR_CODE_ARGUMENT,
                          "%s: an image has no surface: expected a cloud, a mesh or a "
                          "field of space",
                          source->name);
    } else if (source->field && kind != ORR_FIELD_NERF) {
        result = grid_of_field(source, &desc, jobs, progress, grid, error);
    } else {
        orr_lattice lattice;
        ORR_TRY(source->splats ? orr_collider_of_splats(source->splats, &desc, source->name, jobs, progress,
                                                        &lattice, report, error)
                               : orr_collider_of_radiance(source->field, &desc, source->name, jobs, progress,
                                                          &lattice, report, error));
        result = grid_of_lattice(source, &lattice, jobs, progress, grid, error);
    }
    if (result == ORR_OK) {
        (*grid)->source = hash_source(source, hash_settings(&desc));
        (*grid)->source += (*grid)->source == 0;
    }
    return result;
}
