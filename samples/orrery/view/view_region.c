// The box that the user cuts a captured object out of its room with: six handles in the window, two parts of
// the cloud as layers, and a scene file of them.
#include "samples/orrery/view/view.h"

#include "engine/core/file.h"
#include "engine/maths/rotation.h"
#include "engine/scene/scene.h"
#include "samples/orrery/view/edit/window_ray.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double SHARE = 0.25;    // of the distance to the focus that the box is wide at first
static const double GRIP = 9.0;      // how near to a handle a click takes it [window coordinates]
static const double SMALLEST = 1e-4; // edge of the distance to the focus
static const double DEGREE = 3.14159265358979323846 / 180.0;

// The box's axes are those of the scene, turned about its level up.
static void rotation_of(const viewer *v, double quat[4])
{
    const double *a = v->navigator.axes, up[3] = {a[1], a[4], a[7]};
    quat_axis_angle(up, v->region.turn * DEGREE, quat);
}

// A point of the box, from -1 to 1 along each axis, in the scene.
static void point_of(const viewer *v, const double at[3], double out[3])
{
    double quat[4], arm[3];
    rotation_of(v, quat);
    for (int k = 0; k < 3; k++) {
        arm[k] = 0.5 * at[k] * v->region.size[k];
    }
    quat_apply(quat, arm, out);
    for (int k = 0; k < 3; k++) {
        out[k] += v->region.centre[k];
    }
}

static double nearest(const viewer *v)
{
    return 1e-3 * v->navigator.pose.distance;
}

// Of a point in the camera's space, in window coordinates.
static void to_window(const viewer *v, const double p[3], float out[2])
{
    int width, height;
    double at[2];
    glfwGetWindowSize(v->window, &width, &height);
    window_point(&v->seen, (const double[2]){width, height}, p, at);
    out[0] = (float)at[0];
    out[1] = (float)at[1];
}

// The part of an edge that is in front of the camera.
static void add_edge(viewer *v, const double from[3], const double to[3])
{
    panel_region *r = &v->region;
    double a[3], b[3], low = nearest(v);
    point_of(v, from, a);
    point_of(v, to, b);
    double p[3], q[3];
    window_camera(&v->seen, a, p);
    window_camera(&v->seen, b, q);
    if (p[2] < low && q[2] < low) {
        return;
    }
    double *behind = p[2] < low ? p : q[2] < low ? q : NULL, *ahead = behind == p ? q : p;
    for (int k = 0; behind && k < 3; k++) {
        const double share = (low - ahead[2]) / (behind[2] - ahead[2]);
        behind[k] = k < 2 ? ahead[k] + share * (behind[k] - ahead[k]) : behind[k];
    }
    if (behind) {
        behind[2] = low;
    }
    to_window(v, p, r->line[r->lines]);
    to_window(v, q, r->line[r->lines] + 2);
    r->lines++;
}

// The middle of a face; false: it is behind the camera.
static bool place_handle(const viewer *v, int face, double beyond, float out[2])
{
    double at[3] = {0.0}, world[3], p[3];
    at[face / 2] = (face % 2 ? 1.0 : -1.0) * (1.0 + beyond);
    point_of(v, at, world);
    window_camera(&v->seen, world, p);
    to_window(v, p, out);
    return p[2] >= nearest(v);
}

panel_region *view_region_show(viewer *v)
{
    panel_region *r = &v->region;
    r->lines = 0;
    r->reach = 2.0 * v->navigator.pose.distance;
    for (int axis = 0; axis < 3 && r->shown; axis++) {
        for (int corner = 0; corner < 4; corner++) {
            double from[3], to[3];
            from[axis] = -1.0, to[axis] = 1.0;
            from[(axis + 1) % 3] = to[(axis + 1) % 3] = corner % 2 ? 1.0 : -1.0;
            from[(axis + 2) % 3] = to[(axis + 2) % 3] = corner / 2 ? 1.0 : -1.0;
            add_edge(v, from, to);
        }
    }
    for (int i = 0; i < 6; i++) {
        r->handle_seen[i] = place_handle(v, i, 0.0, r->handle[i]);
    }
    return r;
}

void view_region_switch(viewer *v)
{
    panel_region *r = &v->region;
    const navigator_pose *pose = &v->navigator.pose;
    r->shown = !r->shown;
    if (r->shown && r->size[0] == 0.0) { // around what the camera looks at
        for (int k = 0; k < 3; k++) {
            r->centre[k] = pose->position[k] + pose->distance * (double)v->seen.pose[4 * k + 2];
            r->size[k] = SHARE * pose->distance;
        }
    }
}

bool view_region_grab(viewer *v)
{
    v->region_face = -1;
    double best = GRIP;
    for (int i = 0; i < 6 && v->region.shown; i++) {
        float at[2];
        double d = place_handle(v, i, 0.0, at)
                       ? hypot(v->cursor[0] - (double)at[0], v->cursor[1] - (double)at[1])
                       : INFINITY;
        if (d < best) {
            best = d;
            v->region_face = i;
        }
    }
    return v->region_face >= 0;
}

void view_region_drag(viewer *v, double right, double down)
{
    panel_region *r = &v->region;
    const int face = v->region_face, axis = face / 2;
    float at[2], ahead[2];
    if (!place_handle(v, face, 0.0, at) || !place_handle(v, face, 0.02, ahead)) {
        return;
    }
    const double x = (double)(ahead[0] - at[0]), y = (double)(ahead[1] - at[1]);
    const double square = fmax(x * x + y * y, 1e-2); // seen from ahead, a face moves slowly
    const double wanted = 0.01 * r->size[axis] * (right * x + down * y) / square;
    const double size = fmax(r->size[axis] + wanted, SMALLEST * v->navigator.pose.distance);
    double arm[3] = {0.0}, quat[4], moved[3];
    arm[axis] = 0.5 * (size - r->size[axis]) * (face % 2 ? 1.0 : -1.0);
    rotation_of(v, quat);
    quat_apply(quat, arm, moved);
    for (int k = 0; k < 3; k++) {
        r->centre[k] += moved[k];
    }
    r->size[axis] = size;
}

// ---- cutting

// A whole cloud that the box's middle is in; else the last one; -1: there is none.
static int cloud_to_cut(const viewer *v)
{
    int found = -1;
    for (int i = 0; i < orr_scene_layer_count(v->scene); i++) {
        const orr_layer_data *layer = &v->scene->layers[i];
        orr_transform at;
        float m[12], inverse[12];
        bool visible;
        if (view_history_hides(&v->history, i) || layer->kind != ORR_LAYER_SPLATS || !layer->path ||
            layer->part || layer->bound_to.slot != 0 ||
            orr_world_get(v->world, 0, orr_scene_layer(v->scene, i), &at, &visible, NULL) != ORR_OK ||
            !visible || orr_affine_from_transform(&at, m, NULL) != ORR_OK ||
            orr_affine_invert(m, inverse, NULL) != ORR_OK) {
            continue;
        }
        float low[3], high[3];
        bool inside = true;
        orr_layer_bounds(layer, low, high);
        for (int k = 0; k < 3; k++) {
            double x = (double)inverse[4 * k + 3];
            for (int c = 0; c < 3; c++) {
                x += (double)inverse[4 * k + c] * v->region.centre[c];
            }
            inside = inside && x >= (double)low[k] && x <= (double)high[k];
        }
        found = inside || found < 0 ? i : found;
    }
    return found;
}

static void add_numbers(cJSON *object, const char *name, const double *numbers, int count)
{
    cJSON_AddItemToObject(object, name, cJSON_CreateDoubleArray(numbers, count));
}

// The box in the layer's space.
static cJSON *region_json(const viewer *v, const orr_transform *at, bool outside)
{
    const panel_region *r = &v->region;
    const double scale = (double)at->scale;
    double layer[4], back[4], box[4], quat[4], arm[3], centre[3], size[3];
    for (int k = 0; k < 4; k++) {
        layer[k] = (double)at->rotation[k];
    }
    quat_conjugate(layer, back);
    rotation_of(v, box);
    quat_multiply(back, box, quat);
    for (int k = 0; k < 3; k++) {
        arm[k] = (r->centre[k] - (double)at->position[k]) / scale;
        size[k] = r->size[k] / scale;
    }
    quat_apply(back, arm, centre);
    cJSON *json = cJSON_CreateObject();
    add_numbers(json, "centre", centre, 3);
    add_numbers(json, "size", size, 3);
    add_numbers(json, "rotation", quat, 4);
    cJSON_AddNumberToObject(json, "falloff", r->falloff / scale);
    cJSON_AddStringToObject(json, "keep", outside ? "outside" : "inside");
    return json;
}

static cJSON *part_json(const viewer *v, const orr_layer_data *layer, const orr_transform *at, bool outside,
                        bool soft)
{
    char name[256];
    cJSON *json = cJSON_CreateObject();
    double numbers[4];
    snprintf(name, sizeof name, "%.200s %s", layer->name, outside ? "outside" : "inside");
    cJSON_AddStringToObject(json, "file", layer->path);
    cJSON_AddStringToObject(json, "name", name);
    for (int k = 0; k < 3; k++) {
        numbers[k] = (double)at->position[k];
    }
    add_numbers(json, "position", numbers, 3);
    for (int k = 0; k < 4; k++) {
        numbers[k] = (double)at->rotation[k];
    }
    add_numbers(json, "rotation", numbers, 4);
    cJSON_AddNumberToObject(json, "scale", (double)at->scale);
    cJSON_AddBoolToObject(json, "antialias", layer->antialias);
    cJSON_AddItemToObject(json, "region", region_json(v, at, outside));
    if (soft) {
        cJSON *physics = cJSON_AddObjectToObject(json, "physics");
        if (outside) {
            cJSON_AddTrueToObject(physics, "static");
        } else {
            cJSON_AddObjectToObject(physics, "soft");
        }
    }
    return json;
}

static orr_result write_scene(const viewer *v, int index, bool soft, const char *path, orr_error *error)
{
    orr_transform at;
    ORR_TRY(orr_world_get(v->world, 0, orr_scene_layer(v->scene, index), &at, NULL, error));
    cJSON *json = cJSON_CreateObject(), *layers;
    cJSON_AddNumberToObject(json, "orrery", 1);
    layers = cJSON_AddArrayToObject(json, "layers");
    for (int outside = 1; outside >= 0; outside--) {
        cJSON_AddItemToArray(layers, part_json(v, &v->scene->layers[index], &at, outside == 1, soft));
    }
    char *text = cJSON_Print(json);
    cJSON_Delete(json);
    orr_result result = text ? orr_file_write(path, (const uint8_t *)text, strlen(text), error)
                             : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
    free(text);
    return result;
}

static orr_result add_parts(viewer *v, const char *path, orr_error *error)
{
    return orr_scene_add_file(v->scene, path, NULL, NULL, error);
}

void view_region_cut(viewer *v, bool soft)
{
    char path[VIEW_PATH_SIZE];
    orr_error error;
    const int index = cloud_to_cut(v), before = orr_scene_layer_count(v->scene);
    if (!v->region.shown || index < 0) {
        view_say(v, v->region.shown ? "No cloud to cut: expected one that is the whole of a file."
                                    : "R shows a box to cut with.");
        return;
    }
    view_new_file(v, "-cut", ".json", path);
    view_draw_drop(v);
    view_training_wait(v->training);
    orr_result result = write_scene(v, index, soft, path, &error);
    result = result == ORR_OK ? view_load_run(v, path, add_parts, &error) : result;
    if (result != ORR_OK) {
        remove(path);
        view_say(v, "%s", error.message);
        return;
    }
    view_history_remove(v, index);
    view_history_added(v, before, orr_scene_layer_count(v->scene) - before, path);
    v->region.shown = false;
    v->robot.drive.bodies = v->robot.drive.bodies || soft;
    v->robot.before = glfwGetTime();
    v->stale = true;
    view_say(v, "%s: the two parts, as a scene file. Ctrl+Z twice brings the whole back.", path);
}
