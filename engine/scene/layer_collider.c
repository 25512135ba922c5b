#include "engine/scene/layer_collider.h"

#include "engine/core/memory.h"
#include "engine/scene/transform.h"
#include "physics/grid/collider_file.h"

#include <stdio.h>
#include <string.h>

static const char ENDING[] = ".collider";

// FILE.collider; with cells of a given size FILE.CELL.collider, so that layers and scenes with different
// cells do not make it anew for each other. Parts of one cloud have colliders of their own. NULL: there is no
// file.
static orr_result find_path(const orr_layer_data *layer, const orr_collider_desc *desc, char **path,
                            orr_error *error)
{
    *path = NULL;
    if (!layer->path) {
        return ORR_OK;
    }
    char cell[32] = "";
    if (desc && desc->cell > 0.0) {
        snprintf(cell, sizeof cell, ".%.6g", desc->cell);
    }
    const char *texts[] = {layer->path, layer->part ? "." : "", layer->part ? layer->name : "", cell, ENDING};
    size_t size = 1, used = 0;
    for (int i = 0; i < 5; i++) {
        size += strlen(texts[i]);
    }
    ORR_ALLOC(*path, size, layer->name, error);
    for (int i = 0; i < 5; i++) {
        memcpy(*path + used, texts[i], strlen(texts[i]) + 1);
        used += strlen(texts[i]);
    }
    return ORR_OK;
}

static orr_result make(const orr_scene *scene, const orr_collider_source *source,
                       const orr_collider_desc *desc, const char *path, orr_distance_grid **grid,
                       orr_error *error)
{
    orr_collider_report report;
    orr_progress progress = scene->context.progress;
    progress.path = source->name;
    ORR_TRY(orr_collider_make(source, desc, scene->context.jobs, &progress, grid, &report, error));
    if (report.haze > 0) {
        orr_log_line(scene->context.log, ORR_LOG_INFO, ORR_CODE_IGNORED,
                     "%s: %lld splats are too large for its collider", source->name, (long long)report.haze);
    }
    orr_error why = {0};
    if (path && orr_distance_grid_save(*grid, path, &why) != ORR_OK) {
        orr_log_line(scene->context.log, ORR_LOG_WARNING, (orr_code)why.code,
                     "the collider is kept in memory only: %s", why.message);
    }
    return ORR_OK;
}

orr_result orr_collider_source_of_layer(const orr_layer_data *layer, orr_collider_source *source,
                                        orr_error *error)
{
    *source = (orr_collider_source){
        .name = layer->name, .splats = layer->splats, .field = layer->field, .mesh = layer->mesh};
    return source->splats || source->field || source->mesh
               ? ORR_OK
               : orr_fail(error, ORR_CODE_ARGUMENT, "%s: a robot: expected a cloud, a mesh or a field",
                          layer->name);
}

void orr_collider_up(const orr_scene *scene, const orr_layer_data *layer, float up[3])
{
    static const float axes[][3] = {[ORR_UP_MINUS_Y] = {0.0f, -1.0f, 0.0f},
                                    [ORR_UP_Y] = {0.0f, 1.0f, 0.0f},
                                    [ORR_UP_Z] = {0.0f, 0.0f, 1.0f}};
    const orr_layer_data *robot = orr_scene_first_robot(scene);
    float in_scene[3];
    memcpy(in_scene, axes[robot ? ORR_UP_Z : orr_scene_up(scene)], sizeof in_scene);
    if (robot) {
        orr_transform_direction(robot->transform.rotation, axes[ORR_UP_Z], in_scene);
    }
    const float *q = layer->transform.rotation, back[4] = {q[0], -q[1], -q[2], -q[3]};
    orr_transform_direction(back, in_scene, up);
}

orr_result orr_collider_of_layer(const orr_scene *scene, const orr_layer_data *layer,
                                 const orr_collider_desc *desc, orr_distance_grid **grid, orr_error *error)
{
    *grid = NULL;
    orr_collider_source source;
    ORR_TRY(orr_collider_source_of_layer(layer, &source, error));
    uint64_t hash;
    ORR_TRY(orr_collider_hash(&source, desc, &hash, error));
    char *path;
    ORR_TRY(find_path(layer, desc, &path, error));
    orr_error unread;
    bool found = path && orr_collider_file_source(path) == hash &&
                 orr_distance_grid_load(path, grid, &unread) == ORR_OK;
    orr_result result = found ? ORR_OK : make(scene, &source, desc, path, grid, error);
    orr_free(path);
    return result;
}
