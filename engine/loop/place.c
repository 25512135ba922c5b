// Layers put upright on the surface that a view shows.
#include "engine/core/entry.h"
#include "engine/core/sized.h"
#include "engine/loop/world/world.h"
#include "engine/maths/rotation.h"

#include <math.h>

static void widen(const float v[3], double out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = (double)v[k];
    }
}

static orr_result check(const orr_world *world, orr_layer layer, const orr_place_desc *desc,
                        const orr_layer_data **found, orr_error *error)
{
    int index = orr_scene_find(world->scene, layer);
    if (index < 0) {
        return orr_fail(error, ORR_CODE_STALE_ID, "place: expected a layer of this scene");
    }
    *found = &world->scene->layers[index];
    if ((*found)->bound_to.slot != 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "place: %s is bound to a robot: expected a layer that is not", (*found)->name);
    }
    double up[3];
    widen(desc->up, up);
    if (!isfinite(vec3_length(up)) || !isfinite(desc->turn) || !(desc->scale >= 0.0f) ||
        !isfinite(desc->scale)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "place: expected finite up and turn, and a scale above 0");
    }
    return ORR_OK;
}

// The transform with which the layer stands at `point`.
static orr_transform stand(const orr_scene *scene, const orr_layer_data *layer, const orr_place_desc *desc,
                           float scale, const float point[3])
{
    float own[3], scenes[3];
    double up[3], from[3], to_z[4], turn[4], upright[4], quat[4], base[3], moved[3];
    orr_scene_level(scene, scenes);
    orr_layer_up_direction(layer, own);
    widen(desc->up, up);
    if (vec3_normalise(up) == 0.0) {
        widen(scenes, up);
    }
    widen(own, from);
    quat_from_z(from, to_z);
    quat_conjugate(to_z, to_z);
    quat_from_z(up, upright);
    quat_multiply(upright, to_z, quat);
    quat_axis_angle(up, (double)desc->turn, turn);
    quat_multiply(turn, quat, quat);
    orr_layer_foot(layer, base);
    quat_apply(quat, base, moved);
    orr_transform at = {.scale = scale};
    for (int k = 0; k < 3; k++) {
        at.position[k] = (float)((double)point[k] - (double)scale * moved[k]);
    }
    for (int k = 0; k < 4; k++) {
        at.rotation[k] = (float)quat[k];
    }
    return at;
}

static orr_result place(orr_world *world, const orr_view *view, float x, float y, orr_layer id,
                        const orr_place_desc *desc, orr_error *error)
{
    const orr_layer_data *layer = NULL;
    orr_transform before;
    bool visible;
    orr_hit hit;
    ORR_TRY(check(world, id, desc, &layer, error));
    ORR_TRY(orr_world_get(world, view->world, id, &before, &visible, error));
    ORR_TRY(orr_world_set_visible(world, view->world, id, false, error));
    orr_result result = orr_world_pick(world, view, x, y, &hit, error);
    orr_world_set_visible(world, view->world, id, visible, NULL);
    ORR_TRY(result);
    if (hit.layer.slot == 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "place: nothing at %g, %g: expected a point on a surface",
                        (double)x, (double)y);
    }
    const orr_transform at =
        stand(world->scene, layer, desc, desc->scale > 0.0f ? desc->scale : before.scale, hit.position);
    return orr_world_set_transform(world, view->world, id, &at, error);
}

orr_result orr_world_place_sized(orr_world *world, const orr_view *view, size_t view_size, float x, float y,
                                 orr_layer layer, const orr_place_desc *desc, size_t desc_size,
                                 orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    orr_view own;
    orr_place_desc wanted;
    ORR_TRY(orr_sized_read(&own, sizeof own, view, view_size, "orr_view", error));
    ORR_TRY(orr_sized_read(&wanted, sizeof wanted, desc, desc_size, "orr_place_desc", error));
    return place(world, &own, x, y, layer, &wanted, error);
}
