// Meshes, clouds and fields as bodies of the scene's physics.
#include "engine/collider/convex_parts.h"
#include "engine/core/entry.h"
#include "engine/core/sized.h"
#include "engine/maths/rotation.h"
#include "engine/scene/layer_collider.h"
#include "engine/scene/soft/soft_layer.h"
#include "engine/scene/transform.h"
#include "physics/load/load.h"

#include <math.h>
#include <string.h>

enum { DEFAULT_PARTS = 16 };
static const double PART_CELLS = 128.0; // along the longest side: twice as fine as the voxels of the parts
static const double SLACK = 0.03; // empty space that is not worth another part, as a share of what is solid

static orr_result check_desc(const orr_layer_data *layer, const orr_body_desc *desc, orr_error *error)
{
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"mass", desc->mass},       {"friction", orr_body_friction(desc->friction)},
                   {"cell", desc->cell},       {"density", desc->density},
                   {"young", desc->young},     {"poisson", desc->poisson},
                   {"damping", desc->damping}, {"pressure", desc->pressure},
                   {"ambient", desc->ambient}, {"yield_stress", desc->yield_stress},
                   {"flow", desc->flow}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (!(numbers[i].value >= 0.0 && numbers[i].value <= 1e9)) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "%s: %s %g: expected 0 to 1e9", layer->name,
                            numbers[i].name, numbers[i].value);
        }
    }
    if (layer->kind == ORR_LAYER_ROBOT || (layer->bound_to.slot != 0 && !desc->soft)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: a body: expected a mesh, cloud or field that is bound to nothing", layer->name);
    }
    if (desc->parts < 0 || desc->parts > ORR_BODY_PARTS_MAX) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: parts %d: expected 0 to %d", layer->name, desc->parts,
                        ORR_BODY_PARTS_MAX);
    }
    if ((unsigned)desc->shape > ORR_BODY_BOXES) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: body shape %d: expected one of orr_body_shape",
                        layer->name, (int)desc->shape);
    }
    return ORR_OK;
}

static orr_result model_of_parts(orr_body_source *source, const orr_distance_grid *grid, int max_parts,
                                 bool boxes, orr_model **model, orr_error *error)
{
    orr_convex_parts parts;
    ORR_TRY(orr_convex_parts_make(grid, max_parts, SLACK, boxes, source->name, &parts, error));
    source->points = parts.points;
    source->stride = 3;
    source->part_start = parts.start;
    source->parts = parts.count;
    source->boxes = boxes;
    orr_result result = orr_model_of_body(source, model, error);
    orr_convex_parts_free(&parts);
    return result;
}

static orr_result make_model(const orr_scene *scene, const orr_layer_data *layer, const orr_body_desc *desc,
                             orr_model **model, orr_error *error)
{
    bool mesh = layer->kind == ORR_LAYER_MESH, moves = desc->mass > 0.0;
    orr_body_shape shape = desc->shape != ORR_BODY_AUTO ? desc->shape
                           : !moves                     ? ORR_BODY_GRID
                           : mesh                       ? ORR_BODY_HULL
                                                        : ORR_BODY_DECOMPOSE;
    orr_body_source source = {.name = layer->name,
                              .scale = (double)layer->transform.scale,
                              .mass = desc->mass,
                              .friction = orr_body_friction(desc->friction)};
    if (shape == ORR_BODY_GRID && moves) {
        return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                        "%s: a distance grid (sdf) does not move: expected a fixed body, or another shape",
                        layer->name);
    }
    if (desc->parts > 0 && shape != ORR_BODY_DECOMPOSE && shape != ORR_BODY_BOXES) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: parts %d: expected the shape decompose or boxes, which have parts", layer->name,
                        desc->parts);
    }
    if (shape == ORR_BODY_HULL && mesh) {
        source.points = layer->mesh->vertices[0].position;
        source.point_count = layer->mesh->vertex_count;
        source.stride = (int)(sizeof layer->mesh->vertices[0] / sizeof(float));
        return orr_model_of_body(&source, model, error);
    }
    orr_collider_desc settings = {.cell = desc->cell / source.scale};
    if (shape != ORR_BODY_GRID && settings.cell == 0.0) {
        settings.cell = orr_layer_longest_side(layer) / PART_CELLS;
    }
    orr_distance_grid *grid;
    orr_collider_up(scene, layer, settings.up);
    ORR_TRY(orr_collider_of_layer(scene, layer, &settings, &grid, error));
    orr_result result;
    if (shape == ORR_BODY_GRID) {
        source.grid = grid;
        result = orr_model_of_body(&source, model, error);
    } else {
        int parts = shape == ORR_BODY_HULL ? 1 : desc->parts > 0 ? desc->parts : DEFAULT_PARTS;
        result = model_of_parts(&source, grid, parts, shape == ORR_BODY_BOXES, model, error);
    }
    orr_distance_grid_destroy(grid);
    return result;
}

static orr_result make_body(const orr_scene *scene, const orr_layer_data *layer, const orr_body_desc *desc,
                            orr_robot **body, orr_error *error)
{
    orr_model *model;
    ORR_TRY(make_model(scene, layer, desc, &model, error));
    return orr_robot_of_model(model, body, error);
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
    orr_soft_layer *soft = NULL;
    orr_body_desc own = {0};
    if (desc) {
        ORR_TRY(orr_sized_read(&own, sizeof own, desc, desc_size, "orr_body_desc", error));
        ORR_TRY(check_desc(layer, &own, error));
        ORR_TRY(own.soft ? orr_soft_layer_create(scene, layer, &own, &soft, error)
                         : make_body(scene, layer, &own, &body, error));
    }
    if (layer->splats && (soft || layer->soft)) { // which piece a splat follows is uploaded under the key
        layer->key = (*scene->context.next_key)++;
    }
    orr_robot_destroy(layer->body);
    orr_soft_layer_destroy(layer->soft);
    layer->body = body;
    layer->soft = soft;
    layer->has_body = desc != NULL;
    layer->body_desc = own;
    return ORR_OK;
}
