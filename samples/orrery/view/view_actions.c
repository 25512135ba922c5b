// What keys, buttons and dropped files ask of the viewer; view_save.c saves.
#include "samples/orrery/view/view.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/maths/camera.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void view_say(viewer *v, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(v->message, sizeof v->message, format, list);
    va_end(list);
    view_attend(v);
}

static void screenshot(viewer *v)
{
    view_new_file(v, "", ".png", v->screenshot);
}

static void add_key(viewer *v)
{
    orr_camera camera = v->seen;
    orr_error error;
    if (!view_history_keep_path(v, "add a key to the camera path")) {
        return;
    }
    if (camera_recorder_add(&v->recorder, &camera, &error) == ORR_OK) {
        v->path_changed = true;
        v->path_time = camera_recorder_duration(&v->recorder);
        view_say(v, "Key %d of the camera path.", v->recorder.count);
    } else {
        view_say(v, "%s", error.message);
    }
}

static void play_or_pause(viewer *v)
{
    double duration = camera_recorder_duration(&v->recorder);
    if (!v->playing && duration <= 0.0) {
        view_say(v, "A camera path needs two keys: K adds this view.");
        return;
    }
    if (v->playing) {
        // hands go on from where the path has come to
        orr_camera camera = camera_recorder_at(&v->recorder, v->path_time, v->seen.width, v->seen.height);
        navigator_adopt(&v->navigator, &camera);
    } else if (v->path_time >= duration) {
        v->path_time = 0.0;
    }
    v->playing = !v->playing;
}

static void clear_path(viewer *v)
{
    if (v->recorder.count > 0 && view_history_keep_path(v, "clear the camera path")) {
        camera_recorder_clear(&v->recorder);
        v->playing = false;
        v->path_time = 0.0;
        view_say(v, "Camera path cleared. Ctrl+Z brings it back.");
    }
}

static void switch_device(viewer *v)
{
    view_draw_drop(v);
    view_training_wait(v->training);
    v->device = orr_engine_next_device(v->engine, v->device);
    v->stale = true;
    view_say(v, "Drawing with %s.", view_device_name(v));
}

static void see_all(viewer *v)
{
    float centre[3], radius;
    view_bounds(v, centre, &radius);
    navigator_see(&v->navigator, centre, radius);
}

static void pause_training(viewer *v)
{
    if (v->training) {
        v->training->figures.paused = !v->training->figures.paused;
        v->again = true; // when it pauses: what was learned last
    }
}

void view_do(viewer *v, view_action action)
{
    view_attend(v);
    switch (action) {
    case VIEW_NOTHING:
        break;
    case VIEW_QUIT:
        glfwSetWindowShouldClose(v->window, !v->help); // the table of keys first
        v->help = false;
        break;
    case VIEW_HOME:
        view_cameras_leave(v);
        navigator_go_to(&v->navigator, &v->home, v->navigator.pose.distance);
        break;
    case VIEW_SEE_ALL:
        view_cameras_leave(v);
        see_all(v);
        break;
    case VIEW_SCREENSHOT:
        screenshot(v);
        break;
    case VIEW_KEY_ADD:
        add_key(v);
        break;
    case VIEW_PATH_PLAY:
        play_or_pause(v);
        break;
    case VIEW_PATH_SAVE:
        view_save_path(v);
        break;
    case VIEW_PATH_CLEAR:
        clear_path(v);
        break;
    case VIEW_SAVE:
        view_save(v);
        break;
    case VIEW_UNDO:
        view_history_undo(v);
        break;
    case VIEW_REDO:
        view_history_redo(v);
        break;
    case VIEW_SWITCH_HELP:
        v->help = !v->help;
        break;
    case VIEW_TRAINING_PAUSE:
        pause_training(v);
        break;
    case VIEW_MODEL_SAVE:
        view_save_model(v);
        break;
    case VIEW_ROBOT_PAUSE:
    case VIEW_ROBOT_STEP:
    case VIEW_ROBOT_RESET:
    case VIEW_ROBOT_KEYFRAME:
    case VIEW_ROBOT_SLOWER:
    case VIEW_ROBOT_FASTER:
    case VIEW_ROBOT_CONTACTS:
        view_training_wait(v->training);
        view_robot_do(v, action);
        break;
    case VIEW_DROP_BALL:
    case VIEW_DROP_BOX:
    case VIEW_DROP_SOFT:
        view_body_drop(v, action);
        break;
    case VIEW_SWITCH_COLLIDERS:
        view_collider_switch(v);
        break;
    case VIEW_SWITCH_SHADOWS:
        v->look.no_shadows = !v->look.no_shadows;
        v->stale = true;
        break;
    case VIEW_SWITCH_GIZMO:
        view_gizmo_switch(v);
        break;
    case VIEW_SCENE_SAVE:
        view_scene_save(v);
        break;
    case VIEW_SWITCH_REGION:
        view_region_switch(v);
        break;
    case VIEW_REGION_CUT:
    case VIEW_REGION_CUT_SOFT:
        view_region_cut(v, action == VIEW_REGION_CUT_SOFT);
        break;
    case VIEW_SWITCH_DEVICE:
        switch_device(v);
        break;
    case VIEW_SWITCH_PROJECTION:
        v->navigator.orthographic = !v->navigator.orthographic;
        break;
    case VIEW_SWITCH_PANEL:
        v->panel_hidden = !v->panel_hidden;
        break;
    }
}

static orr_result add_to_scene(viewer *v, const char *path, orr_error *error)
{
    return orr_scene_add_file(v->scene, path, NULL, NULL, error);
}

static void add_file(viewer *v, const char *path)
{
    orr_error error;
    int before = orr_scene_layer_count(v->scene);
    view_draw_drop(v);
    view_training_wait(v->training);
    const view_surroundings surroundings = view_place_look(v);
    orr_result result = view_load_run(v, path, add_to_scene, &error);
    if (result == ORR_OK) {
        v->stale = true;
        view_history_added(v, before, orr_scene_layer_count(v->scene) - before, orr_path_name(path));
        if (!view_place_dropped(v, path, before, &surroundings)) {
            view_say(v, "%s: added. F shows all layers.", orr_path_name(path));
        }
        result = view_cameras_list(v, &error);
    }
    if (result != ORR_OK) {
        view_say(v, "%s", error.message);
    }
}

void view_drop_file(viewer *v, const char *path)
{
    size_t size = strlen(path) + 1;
    char *copy = v->dropped_count < VIEW_DROPPED ? orr_alloc(size, 1) : NULL;
    if (copy) {
        memcpy(copy, path, size);
        v->dropped[v->dropped_count++] = copy;
    }
}

void view_add_dropped(viewer *v)
{
    for (int i = 0; i < v->dropped_count; i++) {
        add_file(v, v->dropped[i]);
        orr_free(v->dropped[i]);
    }
    v->dropped_count = 0;
}

void view_bounds(const viewer *v, float centre[3], float *radius)
{
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < orr_scene_layer_count(v->scene); i++) {
        orr_layer layer = orr_scene_layer(v->scene, i);
        orr_layer_info info;
        orr_transform transform;
        bool visible;
        float m[12];
        if (orr_scene_layer_info(v->scene, layer, &info, NULL) != ORR_OK || info.count == 0 ||
            !orr_scene_looks_at(v->scene, &v->scene->layers[i]) ||
            orr_world_get(v->world, 0, layer, &transform, &visible, NULL) != ORR_OK || !visible ||
            orr_affine_from_transform(&transform, m, NULL) != ORR_OK) {
            continue;
        }
        for (int corner = 0; corner < 8; corner++) {
            for (int j = 0; j < 3; j++) {
                float coordinate = m[4 * j + 3];
                for (int k = 0; k < 3; k++) {
                    coordinate += m[4 * j + k] * (corner >> k & 1 ? info.high[k] : info.low[k]);
                }
                low[j] = fminf(low[j], coordinate);
                high[j] = fmaxf(high[j], coordinate);
            }
        }
    }
    double square = 0.0;
    for (int i = 0; i < 3; i++) {
        bool empty = low[i] > high[i];
        centre[i] = empty ? 0.0f : 0.5f * (low[i] + high[i]);
        double half = empty ? 0.5 : 0.5 * (double)(high[i] - low[i]);
        square += half * half;
    }
    *radius = (float)sqrt(square);
}

orr_result view_pick(const viewer *v, const orr_camera *camera, orr_hit *hit, orr_error *error)
{
    int width, height;
    glfwGetWindowSize(v->window, &width, &height);
    float x = (float)(v->cursor[0] / fmax(width, 1.0) * camera->width),
          y = (float)(v->cursor[1] / fmax(height, 1.0) * camera->height);
    *hit = (orr_hit){0};
    if (!(x >= 0.0f && y >= 0.0f && x < (float)camera->width && y < (float)camera->height)) {
        return ORR_OK;
    }
    const orr_view view = view_of(v, camera);
    view_training_wait(v->training);
    return orr_world_pick(v->world, &view, x, y, hit, error);
}

void view_focus_under_cursor(viewer *v)
{
    if (view_location(v) == ORR_PICTURE_NOWHERE) {
        return;
    }
    orr_hit hit;
    orr_error error;
    if (view_pick(v, &v->drawn, &hit, &error) != ORR_OK) {
        view_say(v, "%s", error.message);
    } else if (hit.layer.slot == 0) {
        view_say(v, "Nothing to focus on there.");
    } else {
        navigator_focus(&v->navigator, hit.position);
    }
}
