// Colliders for programs: made of layers, in files, looked at, and asked for distances.
#include "engine/collider/grid_surface.h"
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/scene/layer_collider.h"
#include "neural/fields/surface_file.h"
#include "physics/grid/collider_file.h"

#include <math.h>
#include <string.h>

static const float RAISED = 0.01f; // cells

struct orr_collider {
    orr_distance_grid *grid;
    orr_collider_report report;
};

void orr_collider_destroy(orr_collider *collider)
{
    if (collider) {
        orr_distance_grid_destroy(collider->grid);
        orr_free(collider);
    }
}

orr_result orr_scene_make_collider_sized(const orr_scene *scene, orr_layer id, const orr_collider_desc *desc,
                                         size_t desc_size, orr_collider **collider, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(collider, error);
    *collider = NULL;
    ORR_TRY(orr_scene_check(scene, error));
    int index = orr_scene_find(scene, id);
    if (index < 0) {
        return orr_scene_stale(id, error);
    }
    const orr_layer_data *layer = &scene->layers[index];
    orr_collider_desc own;
    orr_collider_source source;
    ORR_TRY(orr_sized_read(&own, sizeof own, desc, desc_size, "orr_collider_desc", error));
    ORR_TRY(orr_collider_source_of_layer(layer, &source, error));
    if ((unsigned)own.side > ORR_COLLIDER_INSIDE || own.eye_count < 0 || (own.eye_count > 0 && !own.eyes)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: a collider: expected a side of orr_collider_side, and eye_count eyes",
                        layer->name);
    }
    if (own.up[0] == 0.0f && own.up[1] == 0.0f && own.up[2] == 0.0f) {
        orr_collider_up(scene, layer, own.up);
    }
    orr_collider *made;
    ORR_ALLOC(made, 1, layer->name, error);
    *made = (orr_collider){0};
    orr_result result;
    if (desc) {
        orr_progress progress = scene->context.progress;
        progress.path = source.name;
        result = orr_collider_make(&source, &own, scene->context.jobs, &progress, &made->grid, &made->report,
                                   error);
    } else {
        own.cell = layer->body_desc.cell / (double)layer->transform.scale;
        result = orr_collider_of_layer(scene, layer, &own, &made->grid, error);
    }
    if (result != ORR_OK) {
        orr_collider_destroy(made);
        return result;
    }
    *collider = made;
    return ORR_OK;
}

orr_result orr_collider_load(const char *path, orr_collider **collider, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(path, error);
    ORR_REQUIRE(collider, error);
    *collider = NULL;
    orr_distance_grid *grid;
    ORR_TRY(orr_distance_grid_load(path, &grid, error));
    orr_collider *made = orr_alloc(1, sizeof *made);
    if (!made) {
        orr_distance_grid_destroy(grid);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %s", path);
    }
    *made = (orr_collider){.grid = grid};
    *collider = made;
    return ORR_OK;
}

// The triangles where the distance is 0, made on this thread.
static orr_result find_surface(const orr_collider *collider, orr_surface *surface, orr_error *error)
{
    orr_jobs *jobs;
    ORR_TRY(orr_jobs_create(1, NULL, NULL, &jobs, error));
    orr_result result = orr_grid_surface(collider->grid, jobs, surface, error);
    orr_jobs_destroy(jobs);
    return result;
}

orr_result orr_collider_save(const orr_collider *collider, const char *path, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(collider, error);
    ORR_REQUIRE(path, error);
    if (orr_collider_readable(path)) {
        return orr_distance_grid_save(collider->grid, path, error);
    }
    if (!orr_surface_writable(path)) {
        return orr_fail(error, ORR_CODE_FILE_TYPE,
                        "%s: expected a name that ends in .collider, .ply, .obj or .glb", path);
    }
    orr_surface surface;
    ORR_TRY(find_surface(collider, &surface, error));
    orr_result result = orr_surface_save(&surface, path, error);
    orr_surface_free(&surface);
    return result;
}

orr_result orr_scene_add_collider(orr_scene *scene, const char *name, const orr_collider *collider,
                                  const float colour[4], const orr_transform *transform, orr_layer *layer,
                                  orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(scene, error);
    ORR_REQUIRE(collider, error);
    ORR_REQUIRE(colour, error);
    orr_surface surface;
    ORR_TRY(find_surface(collider, &surface, error));
    for (int64_t i = 0; i < 3 * surface.vertex_count; i++) { // before what it is of, where both are flat
        surface.positions[i] += RAISED * (float)collider->grid->cell * surface.normals[i];
    }
    orr_mesh_desc mesh = {.vertex_count = surface.vertex_count,
                          .index_count = 3 * surface.triangle_count,
                          .positions = surface.positions,
                          .normals = surface.normals,
                          .indices = surface.indices,
                          .two_sided = true,
                          .blended = colour[3] < 1.0f};
    memcpy(mesh.base_colour, colour, sizeof mesh.base_colour);
    orr_result result = orr_scene_add_mesh_sized(scene, name ? name : "collider", &mesh, sizeof mesh,
                                                 transform, layer, error);
    orr_surface_free(&surface);
    return result;
}

orr_result orr_collider_describe_sized(const orr_collider *collider, orr_collider_info *info,
                                       size_t info_size, orr_error *error)
{
    ORR_REQUIRE(collider, error);
    ORR_REQUIRE(info, error);
    const orr_distance_grid *grid = collider->grid;
    orr_collider_info own = {.cell = grid->cell,
                             .bricks = grid->brick_count,
                             .haze = collider->report.haze,
                             .islands = collider->report.islands,
                             .side = collider->report.side};
    for (int k = 0; k < 3; k++) {
        own.low[k] = grid->origin[k];
        own.high[k] = grid->origin[k] + grid->cell * ORR_GRID_BRICK * grid->bricks[k];
    }
    orr_sized_write(&own, sizeof own, info, info_size);
    return ORR_OK;
}

orr_result orr_collider_distance(const orr_collider *collider, const double *points, int64_t count,
                                 double *distances, double *gradients, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(collider, error);
    ORR_REQUIRE(points, error);
    ORR_REQUIRE(distances, error);
    for (int64_t i = 0; i < 3 * count; i++) {
        if (!isfinite(points[i])) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "point %lld: expected finite coordinates",
                            (long long)(i / 3));
        }
    }
    for (int64_t i = 0; i < count; i++) {
        distances[i] =
            orr_distance_grid_at(collider->grid, points + 3 * i, gradients ? gradients + 3 * i : NULL);
    }
    return ORR_OK;
}
