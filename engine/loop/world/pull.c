// Pulling at what moves, as the mouse does in the viewer: in the first copy, by points of the scene.
#include "engine/core/entry.h"
#include "engine/loop/world/soft/soft_pull.h"
#include "engine/loop/world/world_robots.h"
#include "engine/maths/camera.h"
#include "engine/scene/transform.h"

#include <math.h>

static orr_result check_point(const double point[3], orr_error *error)
{
    ORR_REQUIRE(point, error);
    return isfinite(point[0]) && isfinite(point[1]) && isfinite(point[2])
               ? ORR_OK
               : orr_fail(error, ORR_CODE_ARGUMENT, "a point %g, %g, %g: expected finite numbers", point[0],
                          point[1], point[2]);
}

static orr_result find_layer(const orr_world *world, orr_layer id, const orr_layer_data **layer,
                             orr_error *error)
{
    ORR_TRY(orr_world_check(world, error));
    const int index = orr_scene_find(world->scene, id);
    if (index < 0) {
        return orr_scene_stale(id, error);
    }
    *layer = &world->scene->layers[index];
    const orr_world_soft *soft;
    return (*layer)->soft ? orr_world_soft_open(world, 0, id, &soft, error)
                          : orr_robot_layer(world->scene, id, layer, error);
}

static orr_result to_local(const orr_transform *frame, const double point[3], double out[3], orr_error *error)
{
    float matrix[12], inverse[12];
    ORR_TRY(orr_affine_from_transform(frame, matrix, error));
    ORR_TRY(orr_affine_invert(matrix, inverse, error));
    for (int k = 0; k < 3; k++) {
        const float *row = inverse + 4 * (ptrdiff_t)k;
        out[k] = (double)row[0] * point[0] + (double)row[1] * point[1] + (double)row[2] * point[2] +
                 (double)row[3];
    }
    return ORR_OK;
}

// Into the frame of the layer, where physics has it.
static orr_result to_layer(const orr_world *world, const orr_layer_data *layer, const double point[3],
                           double out[3], orr_error *error)
{
    const orr_layer_state state = orr_world_state(world, 0, layer);
    const orr_transform frame = orr_layer_frame(layer, &state.transform);
    return to_local(&frame, point, out, error);
}

static orr_result grab_body(orr_world *world, const orr_layer_data *layer, orr_layer id, int body,
                            const double point[3], orr_error *error)
{
    const orr_model *m = orr_layer_physical(layer)->model;
    if (body < 1 || body >= m->nbody || m->body_treeid[body] < 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: body %d: expected one of 1 to %d that moves",
                        layer->name, body, m->nbody - 1);
    }
    orr_transform at;
    orr_robot_pull pull = {.body = body};
    ORR_TRY(orr_world_body_transform(world, 0, id, body, &at, error));
    ORR_TRY(to_local(&at, point, pull.point, error));
    ORR_TRY(to_layer(world, layer, point, pull.to, error));
    return orr_world_robot_pull(world, layer, &pull, error);
}

orr_result orr_world_grab(orr_world *world, orr_layer id, int body, const double point[3], orr_error *error)
{
    ORR_ENTER;
    const orr_layer_data *layer;
    ORR_TRY(check_point(point, error));
    ORR_TRY(find_layer(world, id, &layer, error));
    return layer->soft ? orr_world_soft_grab(world, layer, point, error)
                       : grab_body(world, layer, id, body, point, error);
}

orr_result orr_world_pull(orr_world *world, orr_layer id, const double to[3], orr_error *error)
{
    ORR_ENTER;
    const orr_layer_data *layer;
    ORR_TRY(check_point(to, error));
    ORR_TRY(find_layer(world, id, &layer, error));
    orr_robot_pull pull = {0};
    const orr_world_soft *soft = layer->soft ? orr_world_soft_find(world, layer) : NULL;
    if (!layer->soft) {
        pull = orr_world_robot_pulled(world, layer);
    }
    if (soft ? soft->hand.count == 0 : pull.body == 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: nothing of it is held: expected orr_world_grab before",
                        layer->name);
    }
    if (soft) {
        orr_world_soft_pull(world, layer, to);
        return ORR_OK;
    }
    ORR_TRY(to_layer(world, layer, to, pull.to, error));
    return orr_world_robot_pull(world, layer, &pull, error);
}

orr_result orr_world_release(orr_world *world, orr_layer id, orr_error *error)
{
    ORR_ENTER;
    const orr_layer_data *layer;
    ORR_TRY(find_layer(world, id, &layer, error));
    if (layer->soft) {
        orr_world_soft_release(world, layer);
        return ORR_OK;
    }
    return orr_world_robot_pull(world, layer, &(orr_robot_pull){0}, error);
}
