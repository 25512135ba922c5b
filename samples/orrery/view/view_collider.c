// Colliders that the user looks at: their surfaces are layers of their own, made when they are first shown.
#include "samples/orrery/view/view.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "engine/scene/robot/robot.h"
#include "engine/scene/robot/robot_shape.h"
#include "engine/scene/scene.h"
#include "engine/scene/transform.h"

#include <stdio.h>
#include <string.h>

static const float COLOUR[4] = {0.1f, 0.7f, 0.25f, 0.5f};
static const float RAISED = 0.005f; // of a body's size

// Is the body the distance grid, not hulls or boxes that were made from it?
static bool is_grid(const orr_layer_data *layer)
{
    return layer->body && layer->body->model->nv == 0 &&
           (layer->body_desc.shape == ORR_BODY_AUTO || layer->body_desc.shape == ORR_BODY_GRID);
}

static orr_result keep(viewer *v, orr_layer surface, orr_layer of, orr_error *error)
{
    ORR_GROW(v->shapes, v->shape_capacity, v->shape_count + 1, "colliders", error);
    v->shapes[v->shape_count++] = (view_shape){surface, of};
    return ORR_OK;
}

static orr_result add_grid(viewer *v, orr_layer layer, const char *name, orr_layer *surface, orr_error *error)
{
    orr_transform at;
    orr_collider *collider;
    ORR_TRY(orr_world_get(v->world, 0, layer, &at, NULL, error));
    ORR_TRY(orr_scene_make_collider(v->scene, layer, NULL, &collider, error));
    orr_result result = orr_scene_add_collider(v->scene, name, collider, COLOUR, &at, surface, error);
    orr_collider_destroy(collider);
    return result;
}

typedef struct pieces {
    float *positions;
    uint32_t *indices;
    int vertices, corners, number_capacity, corner_capacity;
} pieces;

static orr_result reserve(pieces *p, const orr_mesh *mesh, orr_error *error)
{
    const int vertices = p->vertices + (int)mesh->vertex_count, corners = p->corners + (int)mesh->index_count;
    ORR_GROW(p->positions, p->number_capacity, 3 * vertices, "a collider", error);
    ORR_GROW(p->indices, p->corner_capacity, corners, "a collider", error);
    return ORR_OK;
}

// One of a body's hulls or boxes, in its frame, a little before what it is of.
static orr_result append(pieces *p, const orr_model *m, int geom, orr_error *error)
{
    orr_mesh *mesh;
    float frame[12];
    const orr_transform at =
        orr_transform_of(m->geom_pos + 3 * (ptrdiff_t)geom, m->geom_quat + 4 * (ptrdiff_t)geom);
    ORR_TRY(orr_affine_from_transform(&at, frame, error));
    ORR_TRY(orr_robot_shape(m, geom, NULL, ORR_ROBOT_COLUMNS, &mesh, error));
    orr_result result = reserve(p, mesh, error);
    const float raised = RAISED * (float)m->geom_rbound[geom];
    for (int64_t i = 0; result == ORR_OK && i < mesh->vertex_count; i++) {
        float place[3];
        for (int k = 0; k < 3; k++) {
            place[k] = mesh->vertices[i].position[k] + raised * mesh->vertices[i].normal[k];
        }
        affine_apply_to_point(frame, place, p->positions + 3 * (p->vertices + i));
    }
    for (int64_t i = 0; result == ORR_OK && i < mesh->index_count; i++) {
        p->indices[p->corners + i] = (uint32_t)p->vertices + mesh->indices[i];
    }
    p->vertices += result == ORR_OK ? (int)mesh->vertex_count : 0;
    p->corners += result == ORR_OK ? (int)mesh->index_count : 0;
    orr_mesh_destroy(mesh);
    return result;
}

static orr_result add_pieces(viewer *v, orr_layer layer, const char *name, orr_layer *surface,
                             orr_error *error)
{
    const orr_model *m = v->scene->layers[orr_scene_find(v->scene, layer)].body->model;
    pieces p = {0};
    orr_result result = ORR_OK;
    for (int i = 0; i < m->ngeom && result == ORR_OK; i++) {
        result = append(&p, m, i, error);
    }
    if (result == ORR_OK) {
        orr_mesh_desc desc = {.vertex_count = p.vertices,
                              .index_count = p.corners,
                              .positions = p.positions,
                              .indices = p.indices,
                              .two_sided = true,
                              .blended = true};
        memcpy(desc.base_colour, COLOUR, sizeof desc.base_colour);
        result = orr_scene_add_mesh(v->scene, name, &desc, NULL, surface, error);
    }
    orr_free(p.positions);
    orr_free(p.indices);
    return result;
}

static orr_result add_collider(viewer *v, int index, orr_error *error)
{
    const orr_layer_data *of = &v->scene->layers[index];
    const orr_layer layer = orr_scene_layer(v->scene, index);
    orr_layer surface;
    char name[256];
    snprintf(name, sizeof name, "collider of %s", of->name);
    ORR_TRY(of->body && !is_grid(of) ? add_pieces(v, layer, name, &surface, error)
                                     : add_grid(v, layer, name, &surface, error));
    return keep(v, surface, layer, error);
}

static bool is_same(orr_layer a, orr_layer b)
{
    return a.slot == b.slot && a.generation == b.generation;
}

// Has a layer a surface that shows what it collides with, or is it one?
static bool is_known(const viewer *v, orr_layer layer)
{
    bool known = false;
    for (int i = 0; i < v->shape_count; i++) {
        known |= is_same(v->shapes[i].of, layer) || is_same(v->shapes[i].surface, layer);
    }
    return known;
}

static orr_result add_colliders(viewer *v, const char *path, orr_error *error)
{
    (void)path;
    const int count = orr_scene_layer_count(v->scene);
    bool any_body = false;
    for (int i = 0; i < count; i++) {
        any_body = any_body || v->scene->layers[i].body;
    }
    for (int i = 0; i < count; i++) { // bodies; where no layer is one: all that could be
        const orr_layer_data *layer = &v->scene->layers[i];
        const orr_layer id = orr_scene_layer(v->scene, i);
        const bool collides = any_body ? layer->body != NULL : layer->kind != ORR_LAYER_ROBOT && !layer->soft;
        if (collides && !view_history_hides(&v->history, i) && !is_known(v, id)) {
            ORR_TRY(add_collider(v, i, error));
        }
    }
    return ORR_OK;
}

// Of bodies that have none yet, such as those that were dropped since.
static void make_colliders(viewer *v)
{
    orr_error error;
    view_draw_drop(v);
    view_training_wait(v->training);
    if (view_load_run(v, "colliders", add_colliders, &error) != ORR_OK) {
        view_say(v, "%s", error.message);
    } else if (v->shape_count == 0) {
        view_say(v, "No layer has a collider to show: clouds, meshes and fields do.");
    }
}

static bool is_hidden(const viewer *v, orr_layer layer)
{
    const int index = orr_scene_find(v->scene, layer);
    return index < 0 || view_history_hides(&v->history, index);
}

void view_collider_follow(viewer *v)
{
    for (int i = 0; i < v->shape_count; i++) {
        const view_shape *shape = &v->shapes[i];
        const bool shown = v->colliders && !is_hidden(v, shape->of) && !is_hidden(v, shape->surface);
        orr_world_set_visible(v->world, 0, shape->surface, shown, NULL);
        const int index = orr_scene_find(v->scene, shape->of);
        const orr_robot *body = index >= 0 ? v->scene->layers[index].body : NULL;
        orr_transform at;
        if (shown && body && !is_grid(&v->scene->layers[index]) &&
            orr_world_body_transform(v->world, 0, shape->of, body->model->nbody - 1, &at, NULL) == ORR_OK) {
            orr_world_set_transform(v->world, 0, shape->surface, &at, NULL);
        }
    }
}

void view_collider_switch(viewer *v)
{
    v->colliders = !v->colliders;
    if (v->colliders) {
        make_colliders(v);
        v->colliders = v->shape_count > 0;
    }
    view_collider_follow(v);
    v->stale = true;
}
