// Meshes, clouds and fields as bodies of the scene's physics.
#include "engine/core/entry.h"
#include "engine/core/rotation.h"
#include "engine/core/sized.h"
#include "engine/scene/layer_collider.h"
#include "engine/scene/transform.h"
#include "physics/load/load.h"

#include <math.h>
#include <string.h>

static orr_result check_desc(const orr_layer_data *layer, const orr_body_desc *desc, orr_error *error)
{
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"mass", desc->mass}, {"friction", desc->friction}, {"cell", desc->cell}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (!(numbers[i].value >= 0.0 && numbers[i].value <= 1e9)) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "%s: %s %g: expected 0 to 1e9", layer->name,
                            numbers[i].name, numbers[i].value);
        }
    }
    if (layer->kind == ORR_LAYER_ROBOT || layer->bound_to.slot != 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: a body: expected a mesh, cloud or field that is bound to nothing", layer->name);
    }
    if ((unsigned)desc->shape > ORR_BODY_GRID) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: body shape %d: expected one of orr_body_shape",
                        layer->name, (int)desc->shape);
    }
    return ORR_OK;
}

static orr_result make_model(const orr_scene *scene, const orr_layer_data *layer, const orr_body_desc *desc,
                             orr_model **model, orr_error *error)
{
    bool mesh = layer->kind == ORR_LAYER_MESH, moves = desc->mass > 0.0;
    orr_body_shape shape = desc->shape != ORR_BODY_AUTO ? desc->shape
                           : mesh && moves              ? ORR_BODY_HULL
                                                        : ORR_BODY_GRID;
    orr_body_source source = {.name = layer->name,
                              .scale = (double)layer->transform.scale,
                              .mass = desc->mass,
                              .friction = desc->friction};
    if (shape == ORR_BODY_HULL && !mesh) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: a body that is a hull: expected a mesh", layer->name);
    }
    if (shape == ORR_BODY_GRID && moves) {
        return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                        "%s: a body that is a distance grid: expected a mass of 0, it does not move",
                        layer->name);
    }
    if (shape == ORR_BODY_HULL) {
        source.points = layer->mesh->vertices[0].position;
        source.point_count = layer->mesh->vertex_count;
        source.stride = (int)(sizeof layer->mesh->vertices[0] / sizeof(float));
        return orr_model_of_body(&source, model, error);
    }
    orr_collider_desc settings = {.cell = desc->cell / source.scale};
    orr_distance_grid *grid;
    orr_collider_up(scene, layer, settings.up);
    ORR_TRY(orr_collider_of_layer(scene, layer, &settings, &grid, error));
    source.grid = grid;
    orr_result result = orr_model_of_body(&source, model, error);
    orr_distance_grid_destroy(grid);
    return result;
}

orr_result orr_scene_set_physics_sized(orr_scene *scene, orr_layer id, const orr_body_desc *desc,
                                       size_t desc_size, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_scene_check(scene, error));
    int index = orr_scene_find(scene, id);
    if (index < 0) {
        return orr_scene_stale(id, error);
    }
    orr_layer_data *layer = &scene->layers[index];
    orr_robot *body = NULL;
    double cell = 0.0;
    if (desc) {
        orr_body_desc own;
        orr_model *model;
        ORR_TRY(orr_sized_read(&own, sizeof own, desc, desc_size, "orr_body_desc", error));
        ORR_TRY(check_desc(layer, &own, error));
        ORR_TRY(make_model(scene, layer, &own, &model, error));
        ORR_TRY(orr_robot_of_model(model, &body, error));
        cell = own.cell;
    }
    orr_robot_destroy(layer->body);
    layer->body = body;
    layer->body_cell = cell;
    return ORR_OK;
}
