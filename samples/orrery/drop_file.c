#include "samples/orrery/drop_file.h"

#include "engine/core/result.h"
#include "engine/maths/rotation.h"

#include <math.h>

static const double SIDE = 0.6, ABOVE = 0.2; // m
static const double DENSITY = 40.0;          // kg/m^3, of foam: robots are light
static const double YOUNG = 1e4;             // Pa

static bool is_layer(const orr_scene *scene, int i, orr_layer_kind kind, orr_layer_info *info)
{
    return orr_scene_layer_info(scene, orr_scene_layer(scene, i), info, NULL) == ORR_OK && info->kind == kind;
}

// A quarter turn about x that turns a cloud's -y or a mesh's y to a robot's z.
static void upright(orr_layer_kind kind, double quat[4])
{
    const double axis[3] = {1.0, 0.0, 0.0}, quarter = 1.57079632679489662;
    quat_axis_angle(axis, kind == ORR_LAYER_SPLATS ? -quarter : quarter, quat);
}

// Where the layer is above the robot, in the scene.
static orr_transform above(const orr_layer_info *robot, const orr_layer_info *layer)
{
    const orr_transform *base = &robot->transform;
    double longest = 1e-9, own[4], turn[4], quat[4], middle[3], moved[3], point[3], at[3];
    upright(layer->kind, own);
    for (int k = 0; k < 3; k++) {
        longest = fmax(longest, (double)(layer->high[k] - layer->low[k]));
        middle[k] = 0.5 * (double)(layer->low[k] + layer->high[k]);
        point[k] = 0.5 * (double)(robot->low[k] + robot->high[k]);
    }
    const double scale = SIDE / longest;
    point[2] = (double)robot->high[2] +
               (ABOVE + 0.5 * scale * (double)(layer->high[1] - layer->low[1])) / (double)base->scale;
    for (int k = 0; k < 4; k++) {
        turn[k] = (double)base->rotation[k];
    }
    quat_multiply(turn, own, quat);
    quat_apply(quat, middle, moved);
    quat_apply(turn, point, at);
    orr_transform t = {.scale = (float)scale};
    for (int k = 0; k < 3; k++) {
        t.position[k] = (float)((double)base->position[k] + (double)base->scale * at[k] - scale * moved[k]);
    }
    for (int k = 0; k < 4; k++) {
        t.rotation[k] = (float)quat[k];
    }
    return t;
}

orr_result drop_file(orr_scene *scene, const char *path, orr_error *error)
{
    orr_layer_info robot, info;
    int first = 0, count = orr_scene_layer_count(scene);
    while (first < count && !is_layer(scene, first, ORR_LAYER_ROBOT, &robot)) {
        first++;
    }
    if (first == count) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "--drop %s: expected a scene with a robot", path);
    }
    orr_layer layer;
    ORR_TRY(orr_scene_add_file(scene, path, NULL, &layer, error)); // its bounds decide where it is
    ORR_TRY(orr_scene_layer_info(scene, layer, &info, error));
    const orr_transform at = above(&robot, &info);
    const orr_body_desc body = {.soft = true, .density = DENSITY, .young = YOUNG};
    ORR_TRY(orr_scene_remove(scene, layer, error));
    ORR_TRY(orr_scene_add_file(scene, path, &at, &layer, error));
    return orr_scene_set_physics(scene, layer, &body, error);
}
