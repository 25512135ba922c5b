#include "samples/orrery/view/edit/window_ray.h"
#include "samples/orrery/view/view.h"

static bool is_visible(const viewer *v, orr_layer id)
{
    int index = orr_scene_find(v->scene, id);
    return index >= 0 && !view_history_hides(&v->history, index);
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
    const double point[3] = {(double)hit.position[0], (double)hit.position[1], (double)hit.position[2]};
    h->depth = (double)hit.depth;
    h->pulling = is_visible(v, h->layer) &&
                 orr_world_grab(v->world, h->layer, of_robot ? hit.body : 1, point, NULL) == ORR_OK;
    return h->pulling;
}

void view_hand_release(viewer *v)
{
    view_hand *h = &v->hand;
    if (h->pulling && is_visible(v, h->layer)) {
        orr_world_release(v->world, h->layer, NULL);
        v->stale = true;
    }
    h->pulling = false;
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
    double place[3];
    orr_error error;
    find_place(v, place);
    if (!is_visible(v, h->layer)) {
        h->pulling = false;
    } else if (orr_world_pull(v->world, h->layer, place, &error) != ORR_OK) {
        view_say(v, "%s", error.message);
        h->pulling = false;
    }
    v->stale = true;
}
