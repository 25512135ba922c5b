// The public functions for soft bodies (engine/orrery.h): what they are made of, and their states.
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/loop/world/soft/node_points.h"
#include "engine/loop/world/soft/world_soft.h"

#include <math.h>
#include <string.h>

static orr_result find_layer(const orr_scene *scene, orr_layer id, const orr_layer_data **layer,
                             orr_error *error)
{
    int index = orr_scene_find(scene, id);
    if (index < 0) {
        return orr_scene_stale(id, error);
    }
    *layer = &scene->layers[index];
    return (*layer)->soft ? ORR_OK
                          : orr_fail(error, ORR_CODE_ARGUMENT, "%s: expected a soft body", (*layer)->name);
}

orr_result orr_scene_soft_info_sized(const orr_scene *scene, orr_layer id, orr_soft_info *info,
                                     size_t info_size, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_scene_check(scene, error));
    ORR_REQUIRE(info, error);
    const orr_layer_data *layer;
    ORR_TRY(find_layer(scene, id, &layer, error));
    const orr_soft_cage *cage = layer->soft->cage;
    const orr_soft_info own = {.vertex_count = cage->vertices,
                               .tet_count = cage->tets,
                               .triangle_count = cage->triangles,
                               .edge_count = cage->edges,
                               .edges = cage->edge,
                               .mass = orr_soft_masses(layer->soft->model),
                               .rest = cage->vertex,
                               .tets = cage->tet,
                               .triangles = cage->triangle};
    orr_sized_write(&own, sizeof own, info, info_size);
    return ORR_OK;
}

orr_result orr_world_soft_open(const orr_world *world, int index, orr_layer id, const orr_world_soft **soft,
                               orr_error *error)
{
    const orr_layer_data *layer;
    ORR_TRY(find_layer(world->scene, id, &layer, error));
    ORR_TRY(orr_world_check_index(world, index, error));
    if (orr_layer_has_nodes(layer)) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s: nodes move it: expected the QPOS and QVEL of its robot to be set", layer->name);
    }
    ORR_TRY(orr_world_robots_update(world, error)); // they may hold it
    ORR_TRY(orr_world_softs_update(world, error));
    *soft = orr_world_soft_find(world, layer);
    return *soft ? ORR_OK : orr_fail(error, ORR_CODE_ARGUMENT, "%s: it is absent", layer->name);
}

orr_result orr_world_get_soft(const orr_world *world, int index, orr_layer id, double *positions,
                              double *velocities, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    const orr_layer_data *layer;
    ORR_TRY(find_layer(world->scene, id, &layer, error));
    if (orr_layer_has_nodes(layer)) {
        orr_node_scratch scratch = {0};
        ORR_TRY(orr_world_check_index(world, index, error));
        const orr_result result =
            orr_world_node_points(world, index, layer, positions, velocities, &scratch, error);
        orr_free(scratch.numbers);
        return result;
    }
    const orr_world_soft *soft;
    ORR_TRY(orr_world_soft_open(world, index, id, &soft, error));
    orr_soft_get(soft->copies[index], 0, positions, velocities);
    return ORR_OK;
}

static orr_result check(const orr_world_soft *soft, const double *values, const char *what, orr_error *error)
{
    for (size_t i = 0; values && i < orr_world_soft_numbers(soft); i++) {
        if (!(fabs(values[i]) <= 1e15)) {
            return orr_fail(error, ORR_CODE_ARGUMENT, "%s of vertex %zu: expected numbers of up to 1e15",
                            what, i / 3);
        }
    }
    return ORR_OK;
}

orr_result orr_world_set_soft(orr_world *world, int index, orr_layer id, const double *positions,
                              const double *velocities, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    const orr_world_soft *soft;
    ORR_TRY(orr_world_soft_open(world, index, id, &soft, error));
    ORR_TRY(check(soft, positions, "position", error));
    ORR_TRY(check(soft, velocities, "velocity", error));
    orr_world_soft_set(world, index, soft, positions, velocities);
    return ORR_OK;
}
