// The sun and the lamps of the scene, as the panel and a drag change them.
#include "engine/loop/world/world.h"
#include "samples/orrery/view/edit/sun_angles.h"
#include "samples/orrery/view/view.h"

#include <math.h>
#include <string.h>

static const float DEGREE = 0.01745329252f; // [rad]

_Static_assert((int)PANEL_LAMPS >= (int)ORR_DRAW_LIGHTS, "the panel shows every lamp");

// A colour as a hue, whose largest part is 1, and a strength.
static panel_colour split(const float colour[3])
{
    panel_colour c = {.hue = {1.0f, 1.0f, 1.0f}};
    c.strength = (double)fmaxf(fmaxf(colour[0], colour[1]), colour[2]);
    for (int k = 0; k < 3 && c.strength > 0.0; k++) {
        c.hue[k] = colour[k] / (float)c.strength;
    }
    return c;
}

static void join(const panel_colour *c, float colour[3])
{
    for (int k = 0; k < 3; k++) {
        colour[k] = c->hue[k] * (float)c->strength;
    }
}

// Meshes, by what is around them.
static bool are_lit_by_surroundings(const viewer *v)
{
    return v->scene->probes == ORR_SCENE_PROBES_ON || orr_world_probes_by_lamps(v->world, 0);
}

panel_light *view_light_show(viewer *v)
{
    const orr_scene *scene = v->scene;
    panel_light *l = &v->light;
    sun_angles(v->navigator.axes, scene->sun.direction, &l->azimuth, &l->elevation);
    l->own_sun = scene->has_sun;
    l->sun = split(scene->sun.colour);
    l->ambient = split(scene->sun.ambient);
    l->umbra = (double)scene->umbra;
    l->probes = are_lit_by_surroundings(v);
    l->lamps = scene->light_count;
    for (int i = 0; i < l->lamps; i++) {
        l->lamp[i] = split(scene->lights[i].diffuse);
    }
    l->sun_changed = l->lamps_changed = false;
    return l;
}

// No frame may be in flight when the light changes.
static void begin_change(viewer *v)
{
    view_draw_drop(v);
    view_training_wait(v->training);
    v->stale = v->scene_changed = true;
}

void view_light_take(viewer *v)
{
    const panel_light *l = &v->light;
    orr_scene *scene = v->scene;
    orr_error error;
    if (l->sun_changed) {
        orr_sun_desc sun = {.umbra = (float)l->umbra, .radius = scene->sun.radius / DEGREE};
        sun_direction(v->navigator.axes, l->azimuth, l->elevation, sun.direction);
        join(&l->sun, sun.colour);
        join(&l->ambient, sun.ambient);
        begin_change(v);
        if (orr_scene_set_sun(scene, &sun, &error) != ORR_OK) {
            view_say(v, "%s", error.message);
        }
    }
    if (l->lamps_changed) {
        begin_change(v);
        if (l->probes != are_lit_by_surroundings(v)) {
            scene->probes = l->probes ? ORR_SCENE_PROBES_ON : ORR_SCENE_PROBES_OFF;
        }
        for (int i = 0; i < l->lamps; i++) {
            join(&l->lamp[i], scene->lights[i].diffuse);
            memcpy(scene->lights[i].specular, scene->lights[i].diffuse, sizeof scene->lights[i].specular);
        }
        if (orr_scene_light_clouds(scene, &error) != ORR_OK) {
            view_say(v, "%s", error.message);
        }
    }
}

void view_light_drag(viewer *v, double right, double down)
{
    panel_light *l = view_light_show(v);
    sun_turn(right, down, &l->azimuth, &l->elevation);
    l->sun_changed = true;
    view_light_take(v);
    view_say(v, "Sun: %.0f degrees high, towards %.0f degrees.", l->elevation, l->azimuth);
}
