#include "engine/loop/world/soft/soft_pull.h"
#include "samples/orrery/view/edit/window_ray.h"
#include "samples/orrery/view/view.h"

static const orr_layer_data *visible_layer(const viewer *v, orr_layer id)
{
    int index = orr_scene_find(v->scene, id);
    return index >= 0 && !view_history_hides(&v->history, index) ? &v->scene->layers[index] : NULL;
}

static bool grab_soft(viewer *v, const orr_layer_data *layer, const double point[3])
{
    const orr_world_soft *soft;
    return orr_world_soft_open(v->world, 0, v->hand.layer, &soft, NULL) == ORR_OK &&
           orr_world_soft_grab(v->world, layer, point, NULL) == ORR_OK;
}

static bool invert(const orr_transform *transform, float inverse[12])
{
    float model[12];
    return orr_affine_from_transform(transform, model, NULL) == ORR_OK &&
           orr_affine_invert(model, inverse, NULL) == ORR_OK;
}

static void to_local(const float matrix[12], const double point[3], double out[3])
{
    for (int k = 0; k < 3; k++) {
        const float *row = matrix + 4 * k;
        out[k] = (double)row[0] * point[0] + (double)row[1] * point[1] + (double)row[2] * point[2] +
                 (double)row[3];
    }
}

static bool grab_body(viewer *v, const orr_layer_data *layer, int body, const double point[3])
{
    const orr_robot *physical = orr_layer_physical(layer);
    const orr_model *m = physical ? physical->model : NULL;
    orr_transform at;
    float inverse[12];
    if (!m || body >= m->nbody || m->body_treeid[body] < 0 || // it cannot move
        orr_world_body_transform(v->world, 0, v->hand.layer, body, &at, NULL) != ORR_OK ||
        !invert(&at, inverse)) {
        return false;
    }
    to_local(inverse, point, v->hand.point);
    return true;
}

bool view_hand_grab(viewer *v)
{
    view_hand *h = &v->hand;
    orr_hit hit;
    if (view_pick(v, &v->seen, &hit, NULL) != ORR_OK) {
        return false;
    }
    const bool of_robot = hit.robot.slot != 0;
    h->layer = of_robot ? hit.robot : hit.layer;
    const orr_layer_data *layer = visible_layer(v, h->layer);
    const double point[3] = {(double)hit.position[0], (double)hit.position[1], (double)hit.position[2]};
    if (!layer) {
        return false;
    }
    h->depth = (double)hit.depth;
    h->body = layer->soft ? 0 : of_robot ? hit.body : 1;
    h->pulling = layer->soft ? grab_soft(v, layer, point) : grab_body(v, layer, h->body, point);
    return h->pulling;
}

static void pull_body(viewer *v, const orr_layer_data *layer, const orr_robot_pull *pull)
{
    orr_error error;
    if (orr_world_robot_pull(v->world, layer, pull, &error) != ORR_OK) {
        view_say(v, "%s", error.message);
    }
    v->stale = true;
}

void view_hand_release(viewer *v)
{
    view_hand *h = &v->hand;
    const orr_layer_data *layer = h->pulling ? visible_layer(v, h->layer) : NULL;
    h->pulling = false;
    if (layer && h->body == 0) {
        orr_world_soft_release(v->world, layer);
    } else if (layer) {
        pull_body(v, layer, &(orr_robot_pull){0});
    }
}

// The place under the cursor, as far away as when it took hold.
static void find_place(const viewer *v, double place[3])
{
    double along[3];
    int width, height;
    glfwGetWindowSize(v->window, &width, &height);
    window_ray(&v->seen, (const double[2]){width, height}, v->cursor, place, along);
    for (int k = 0; k < 3; k++) {
        place[k] += v->hand.depth * along[k];
    }
}

void view_hand_follow(viewer *v)
{
    view_hand *h = &v->hand;
    if (!h->pulling) {
        return;
    }
    const orr_layer_data *layer = visible_layer(v, h->layer);
    orr_transform transform;
    float inverse[12];
    double place[3];
    if (!layer || orr_world_get(v->world, 0, h->layer, &transform, NULL, NULL) != ORR_OK) {
        h->pulling = false;
        return;
    }
    find_place(v, place);
    if (h->body == 0) {
        orr_world_soft_pull(v->world, layer, place);
        return;
    }
    const orr_transform frame = orr_layer_frame(layer, &transform);
    if (!invert(&frame, inverse)) {
        h->pulling = false;
        return;
    }
    orr_robot_pull pull = {.body = h->body, .point = {h->point[0], h->point[1], h->point[2]}};
    to_local(inverse, place, pull.to);
    pull_body(v, layer, &pull);
}
