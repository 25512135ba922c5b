// Layers put where the user wants them: dropped files on the surface under the mouse, and a gizmo that moves
// them; and the scene as it has become, as a scene file.
#include "samples/orrery/view/view.h"

#include "engine/core/file.h"
#include "engine/loop/world/world_robots.h"
#include "engine/maths/rotation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void level_up(const viewer *v, float up[3])
{
    for (int k = 0; k < 3; k++) {
        up[k] = (float)v->navigator.axes[3 * k + 1];
    }
}

static void window_size(const viewer *v, double size[2])
{
    int width, height;
    glfwGetWindowSize(v->window, &width, &height);
    size[0] = fmax(width, 1.0);
    size[1] = fmax(height, 1.0);
}

// ---- dropped files ----

view_surroundings view_place_look(const viewer *v)
{
    return (view_surroundings){.has_default_sun = orr_scene_has_default_sun(v->scene), .sun = v->scene->sun};
}

// What joins a scene does not turn its light.
static void keep_sun(const viewer *v, const view_surroundings *before)
{
    orr_sun_desc sun = {0}; // the default one has no radius
    if (before->has_default_sun) {
        memcpy(sun.direction, before->sun.direction, sizeof sun.direction);
        memcpy(sun.colour, before->sun.colour, sizeof sun.colour);
        memcpy(sun.ambient, before->sun.ambient, sizeof sun.ambient);
        orr_scene_set_sun(v->scene, &sun, NULL);
    }
}

bool view_place_dropped(viewer *v, const char *path, int index, const view_surroundings *before)
{
    if (orr_path_has_ending(path, ".json") || panel_covers(v->panel, v->dropped_at[0], v->dropped_at[1])) {
        return false; // a scene file says where its layers are
    }
    const orr_layer layer = orr_scene_layer(v->scene, index);
    const orr_view view = view_of(v, &v->seen);
    orr_place_desc desc = {0};
    orr_transform was;
    orr_error error;
    double size[2];
    level_up(v, desc.up);
    window_size(v, size);
    const float x = (float)(v->dropped_at[0] / size[0] * v->seen.width),
                y = (float)(v->dropped_at[1] / size[1] * v->seen.height);
    const bool inside = x >= 0.0f && y >= 0.0f && x < (float)v->seen.width && y < (float)v->seen.height;
    if (!inside || orr_world_get(v->world, 0, layer, &was, NULL, &error) != ORR_OK ||
        orr_world_place(v->world, &view, x, y, layer, &desc, &error) != ORR_OK) {
        return false;
    }
    keep_sun(v, before);
    view_history_moved(v, index, &was);
    view_gizmo_choose(v, index);
    return true;
}

// ---- the gizmo ----

// As the layer is drawn now.
static bool open_gizmo(const viewer *v, int index, gizmo *out)
{
    const orr_layer_data *layer = &v->scene->layers[index];
    const orr_layer_state state = orr_world_state(v->world, 0, layer);
    orr_transform at;
    double foot[3], rotation[4], origin[3], size[2];
    if (!state.visible || layer->bound_to.slot != 0 ||
        orr_world_layer_transform(v->world, 0, layer, &state.transform, &at, NULL) != ORR_OK) {
        return false;
    }
    orr_layer_foot(layer, foot);
    for (int k = 0; k < 4; k++) {
        rotation[k] = (double)at.rotation[k];
    }
    quat_apply(rotation, foot, origin);
    for (int k = 0; k < 3; k++) {
        origin[k] = (double)at.position[k] + (double)at.scale * origin[k];
    }
    window_size(v, size);
    return gizmo_open(out, &v->seen, size, v->navigator.axes, origin);
}

static int gizmo_layer(const viewer *v)
{
    const int index = orr_scene_find(v->scene, v->gizmo.layer);
    return index >= 0 && !view_history_hides(&v->history, index) ? index : -1;
}

void view_gizmo_choose(viewer *v, int index)
{
    const orr_layer_data *layer = &v->scene->layers[index];
    if (layer->bound_to.slot != 0) {
        view_say(v, "%s moves with a body of a robot.", layer->name);
        return;
    }
    v->gizmo.layer = orr_scene_layer(v->scene, index);
    view_say(v, "%s: drag the gizmo's handles. G hides it, Ctrl+Shift+S saves the scene.", layer->name);
}

void view_gizmo_switch(viewer *v)
{
    orr_hit hit;
    orr_error error;
    if (gizmo_layer(v) >= 0) {
        v->gizmo.layer = (orr_layer){0};
    } else if (view_pick(v, &v->seen, &hit, &error) != ORR_OK) {
        view_say(v, "%s", error.message);
    } else if (hit.layer.slot == 0) {
        view_say(v, "Nothing to move there.");
    } else {
        view_gizmo_choose(v, orr_scene_find(v->scene, hit.layer));
    }
}

const panel_gizmo *view_gizmo_show(viewer *v)
{
    view_gizmo *g = &v->gizmo;
    gizmo now;
    const int index = gizmo_layer(v);
    g->panel.shown = index >= 0 && open_gizmo(v, index, &now);
    if (g->panel.shown) {
        const bool covered = panel_covers(v->panel, v->cursor[0], v->cursor[1]);
        for (int part = 0; part < GIZMO_PARTS; part++) {
            gizmo_draw(&now, (gizmo_part)part, &g->panel.line[part]);
        }
        g->panel.lit = v->drag == VIEW_DRAG_GIZMO ? g->held
                       : covered                  ? GIZMO_NONE
                                                  : gizmo_find(&now, v->cursor);
    }
    return &g->panel;
}

bool view_gizmo_grab(viewer *v)
{
    view_gizmo *g = &v->gizmo;
    const int index = gizmo_layer(v);
    if (index < 0 || !open_gizmo(v, index, &g->start)) {
        return false;
    }
    const orr_layer_data *layer = &v->scene->layers[index];
    g->held = gizmo_find(&g->start, v->cursor);
    if (g->held == GIZMO_SCALE && (layer->body || layer->soft)) {
        view_say(v, "%s: what physics has of it keeps its scale.", layer->name);
        g->held = GIZMO_NONE;
    }
    memcpy(g->from, v->cursor, sizeof g->from);
    return g->held != GIZMO_NONE && orr_world_get(v->world, 0, g->layer, &g->before, NULL, NULL) == ORR_OK;
}

void view_gizmo_drag(viewer *v)
{
    view_gizmo *g = &v->gizmo;
    orr_transform after;
    orr_error error;
    if (!gizmo_drag(&g->start, g->held, g->from, v->cursor, &g->before, &after)) {
        return;
    }
    view_draw_drop(v);
    view_training_wait(v->training);
    v->stale = true;
    if (orr_world_set_transform(v->world, 0, g->layer, &after, &error) != ORR_OK) {
        view_say(v, "%s", error.message);
        view_gizmo_release(v);
        v->drag = VIEW_DRAG_NONE;
    }
}

void view_gizmo_release(viewer *v)
{
    const view_gizmo *g = &v->gizmo;
    orr_transform now;
    const int index = gizmo_layer(v);
    if (v->drag == VIEW_DRAG_GIZMO && index >= 0 &&
        orr_world_get(v->world, 0, g->layer, &now, NULL, NULL) == ORR_OK &&
        memcmp(&now, &g->before, sizeof now) != 0) {
        view_history_moved(v, index, &g->before);
    }
}

// ---- saving ----

// With the exposure and the curve of the view.
static orr_result save(viewer *v, const orr_camera *camera, const char *path, orr_error *error)
{
    orr_scene *scene = v->scene;
    const float exposure = scene->exposure;
    const orr_tone tone = scene->tone;
    scene->exposure = fminf(fmaxf(exposure + (float)v->look.exposure, -20.0f), 20.0f);
    scene->tone = v->look.tone != ORR_TONE_NONE ? v->look.tone : tone;
    orr_result result = orr_world_save(v->world, 0, camera, path, error);
    scene->exposure = exposure;
    scene->tone = tone;
    return result;
}

orr_result view_scene_write(viewer *v, const char *path, orr_error *error)
{
    view_draw_drop(v);
    view_training_wait(v->training);
    const bool own_view = orr_scene_camera_count(v->scene) == 0 && view_cameras_followed(v) < 0;
    ORR_TRY(save(v, own_view ? &v->seen : NULL, path, error));
    v->scene_changed = false;
    return ORR_OK;
}

void view_scene_save(viewer *v)
{
    orr_error error;
    const bool first = v->saved_scene[0] == 0;
    if (first) {
        view_new_file(v, "", ".json", v->saved_scene);
    }
    if (view_scene_write(v, v->saved_scene, &error) == ORR_OK) {
        view_say(v, "%s: the scene as it is now.", v->saved_scene);
    } else {
        view_say(v, "%s", error.message);
        if (first) {
            v->saved_scene[0] = 0;
        }
    }
}
