// Colliders that the user looks at: their surfaces are layers of their own, made when they are first shown.
#include "samples/orrery/view/view.h"

#include "engine/scene/scene.h"

#include <stdio.h>

static const float COLOUR[4] = {0.1f, 0.7f, 0.25f, 0.5f};

static bool is_fixed(const orr_layer_data *layer)
{
    return layer->body && layer->body->model->nv == 0;
}

// Is the body the distance grid, not hulls or boxes that were made from it?
static bool is_grid(const orr_layer_data *layer)
{
    return layer->body_desc.shape == ORR_BODY_AUTO || layer->body_desc.shape == ORR_BODY_GRID;
}

// Fixed bodies; where no layer is one: all that could be.
static bool has_collider(const orr_layer_data *layer, bool any_body)
{
    return any_body ? is_fixed(layer) && is_grid(layer) : layer->kind != ORR_LAYER_ROBOT;
}

static orr_result add_collider(viewer *v, int index, orr_error *error)
{
    orr_layer layer = orr_scene_layer(v->scene, index);
    orr_transform at;
    orr_collider *collider;
    char name[256];
    snprintf(name, sizeof name, "collider of %s", v->scene->layers[index].name);
    ORR_TRY(orr_world_get(v->world, 0, layer, &at, NULL, error));
    ORR_TRY(orr_scene_make_collider(v->scene, layer, NULL, &collider, error));
    orr_result result = orr_scene_add_collider(v->scene, name, collider, COLOUR, &at, NULL, error);
    orr_collider_destroy(collider);
    return result;
}

static orr_result add_colliders(viewer *v, const char *path, orr_error *error)
{
    (void)path;
    int count = orr_scene_layer_count(v->scene);
    bool any_body = false;
    for (int i = 0; i < count; i++) {
        any_body = any_body || is_fixed(&v->scene->layers[i]);
    }
    for (int i = 0; i < count; i++) {
        if (!view_history_hides(&v->history, i) && has_collider(&v->scene->layers[i], any_body)) {
            ORR_TRY(add_collider(v, i, error));
        }
    }
    return ORR_OK;
}

static void make_colliders(viewer *v)
{
    orr_error error;
    view_draw_drop(v);
    view_training_wait(v->training);
    v->first_collider = orr_scene_layer_count(v->scene);
    orr_result result = view_load_run(v, "colliders", add_colliders, &error);
    v->collider_count = orr_scene_layer_count(v->scene) - v->first_collider;
    if (result != ORR_OK) {
        view_say(v, "%s", error.message);
    } else if (v->collider_count == 0) {
        view_say(v, "No layer has a collider to show: clouds, meshes and fields do, not hulls and boxes.");
    }
}

void view_collider_switch(viewer *v)
{
    if (v->collider_count == 0) {
        make_colliders(v);
        v->colliders = v->collider_count > 0;
    } else {
        v->colliders = !v->colliders;
        for (int i = 0; i < v->collider_count; i++) {
            orr_layer layer = orr_scene_layer(v->scene, v->first_collider + i);
            orr_world_set_visible(v->world, 0, layer,
                                  v->colliders && !view_history_hides(&v->history, v->first_collider + i),
                                  NULL);
        }
    }
    v->stale = true;
}
