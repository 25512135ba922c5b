#include "engine/loop/light/frame_environment.h"

#include "engine/maths/vector.h"

#include <math.h>
#include <string.h>

// World to the picture's space: y up, the middle column at -z.
static void set_axes(const orr_scene *scene, float to_map[12])
{
    float up[3], front[3], right[3];
    double angle = (double)scene->environment_rotation * 3.14159265358979323846 / 180.0;
    float c = (float)cos(angle), s = (float)sin(angle);
    orr_scene_axes(scene, up, front);
    right[0] = up[1] * front[2] - up[2] * front[1];
    right[1] = up[2] * front[0] - up[0] * front[2];
    right[2] = up[0] * front[1] - up[1] * front[0];
    memset(to_map, 0, 12 * sizeof *to_map);
    for (int k = 0; k < 3; k++) {
        to_map[k] = c * right[k] - s * front[k];
        to_map[4 + k] = up[k];
        to_map[8 + k] = s * right[k] + c * front[k];
    }
}

void orr_frame_environment(const orr_scene *scene, bool background, orr_draw_mesh *meshes,
                           orr_draw_list *list)
{
    list->environment_count = 0;
    list->environment_behind = false;
    if (!scene->environment) {
        return;
    }
    orr_draw_environment *e = &list->environments[list->environment_count++];
    *e = (orr_draw_environment){
        .map = scene->environment, .key = scene->environment_key, .strength = scene->environment_strength};
    set_axes(scene, e->to_map);
    for (int i = 0; i < list->mesh_count; i++) {
        meshes[i].environment = 1;
    }
    list->environment_behind = !background;
    list->opaque = true;
}
