#include "samples/orrery/view/view_history.h"

#include "engine/core/memory.h"
#include "samples/orrery/view/view.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

bool view_history_hides(const view_history *h, int layer)
{
    return layer < h->layer_count && h->layers[layer].hidden;
}

static void free_change(view_change *change)
{
    camera_recorder_clear(&change->path);
}

static orr_result reserve(view_history *h, int layers, orr_error *error)
{
    ORR_GROW(h->changes, h->capacity, h->done + 1, "changes to undo", error);
    ORR_GROW(h->layers, h->layer_capacity, layers, "layers to undo", error);
    while (h->layer_count < layers) {
        h->layers[h->layer_count++] = (view_layer_state){0};
    }
    return ORR_OK;
}

// A new change; those that were undone before it are forgotten. NULL: memory is out.
static view_change *append(viewer *v, const char *format, ...) __attribute__((format(printf, 2, 3)));
static view_change *append(viewer *v, const char *format, ...)
{
    view_history *h = &v->history;
    orr_error error;
    if (reserve(h, orr_scene_layer_count(v->scene), &error) != ORR_OK) {
        view_say(v, "%s", error.message);
        return NULL;
    }
    while (h->count > h->done) {
        free_change(&h->changes[--h->count]);
    }
    view_change *change = &h->changes[h->count++];
    h->done = h->count;
    *change = (view_change){0};
    va_list list;
    va_start(list, format);
    vsnprintf(change->name, sizeof change->name, format, list);
    va_end(list);
    return change;
}

static void exchange_layer(viewer *v, int index)
{
    view_layer_state *state = &v->history.layers[index];
    orr_layer layer = orr_scene_layer(v->scene, index);
    if (!state->hidden) {
        orr_world_get(v->world, 0, layer, NULL, &state->was_visible, NULL);
    }
    orr_world_set_visible(v->world, 0, layer, state->hidden && state->was_visible, NULL);
    state->hidden = !state->hidden;
    v->scene->layers[index].absent = state->hidden;
    for (int i = 0; i < v->scene->layer_count; i++) { // a robot's soft bodies go with it
        const orr_pool_id of = v->scene->layers[i].flex_of;
        if (of.slot == layer.slot && of.generation == layer.generation &&
            v->history.layers[i].hidden != state->hidden) {
            exchange_layer(v, i);
        }
    }
}

static void exchange_path(viewer *v, camera_recorder *other)
{
    camera_recorder mine = v->recorder;
    v->recorder = *other;
    v->recorder.seconds = mine.seconds; // a setting, not a key
    *other = mine;
    v->path_changed = true;
    v->playing = false;
    v->path_time = fmin(v->path_time, camera_recorder_duration(&v->recorder));
}

static void exchange_transform(viewer *v, view_change *change)
{
    const orr_layer layer = orr_scene_layer(v->scene, change->first_layer);
    orr_transform now;
    orr_error error;
    if (orr_world_get(v->world, 0, layer, &now, NULL, &error) != ORR_OK ||
        orr_world_set_transform(v->world, 0, layer, &change->transform, &error) != ORR_OK) {
        view_say(v, "%s", error.message);
        return;
    }
    change->transform = now;
}

// A ball that was dropped is in no scene that is saved.
static bool changes_saved_scene(const viewer *v, const view_change *change)
{
    return change->layer_count > 0 && v->scene->layers[change->first_layer].path;
}

static void exchange(viewer *v, view_change *change)
{
    view_draw_drop(v);
    if (change->layer_count == 0) {
        exchange_path(v, &change->path);
    }
    if (change->moves) {
        exchange_transform(v, change);
    }
    for (int i = 0; i < change->layer_count && !change->moves; i++) {
        exchange_layer(v, change->first_layer + i);
    }
    v->scene_changed = v->scene_changed || changes_saved_scene(v, change);
    view_robot_find(v);
    v->stale = true;
}

void view_history_remove(viewer *v, int layer)
{
    orr_layer_info info;
    view_change *change = NULL;
    if (orr_scene_layer_info(v->scene, orr_scene_layer(v->scene, layer), &info, NULL) == ORR_OK) {
        change = append(v, "remove %s", info.name);
    }
    if (change) {
        change->first_layer = layer;
        change->layer_count = 1;
        exchange(v, change);
        view_say(v, "%s: removed. Ctrl+Z brings it back.", info.name);
    }
}

void view_history_added(viewer *v, int first_layer, int layer_count, const char *file)
{
    view_change *change = append(v, "add %s", file);
    if (change) {
        change->first_layer = first_layer;
        change->layer_count = layer_count;
        v->scene_changed = v->scene_changed || changes_saved_scene(v, change);
    }
}

void view_history_moved(viewer *v, int layer, const orr_transform *before)
{
    view_change *change = append(v, "move %s", v->scene->layers[layer].name);
    if (change) {
        change->first_layer = layer;
        change->layer_count = 1;
        change->moves = true;
        change->transform = *before;
        v->scene_changed = v->scene_changed || changes_saved_scene(v, change);
    }
}

bool view_history_keep_path(viewer *v, const char *name)
{
    view_change *change = append(v, "%s", name);
    orr_error error;
    for (int i = 0; change && i < v->recorder.count; i++) {
        if (camera_recorder_add(&change->path, &v->recorder.keys[i], &error) != ORR_OK) {
            view_say(v, "%s", error.message);
            v->history.done = --v->history.count;
            free_change(change);
            return false;
        }
    }
    return change != NULL;
}

void view_history_undo(viewer *v)
{
    view_history *h = &v->history;
    if (h->done == 0) {
        view_say(v, "Nothing to undo.");
        return;
    }
    view_change *change = &h->changes[--h->done];
    exchange(v, change);
    view_say(v, "Undone: %s.", change->name);
}

void view_history_redo(viewer *v)
{
    view_history *h = &v->history;
    if (h->done == h->count) {
        view_say(v, "Nothing to redo.");
        return;
    }
    view_change *change = &h->changes[h->done++];
    exchange(v, change);
    view_say(v, "Redone: %s.", change->name);
}

const char *view_history_to_undo(const view_history *h)
{
    return h->done > 0 ? h->changes[h->done - 1].name : NULL;
}

const char *view_history_to_redo(const view_history *h)
{
    return h->done < h->count ? h->changes[h->done].name : NULL;
}

void view_history_free(view_history *h)
{
    for (int i = 0; i < h->count; i++) {
        free_change(&h->changes[i]);
    }
    orr_free(h->changes);
    orr_free(h->layers);
}
