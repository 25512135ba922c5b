// Balls, boxes and soft cubes that the user drops in front of the camera.
#include "engine/loop/world/soft/world_soft.h"
#include "samples/orrery/view/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RINGS = 8, SECTORS = 16, SPLIT = 6 }; // SPLIT: squares along a soft cube's edge, so that it bends

static const double pi = 3.14159265358979323846;
static const double AHEAD = 0.6, RADIUS = 0.04; // of the distance to the focus
static const double DENSITY = 300.0;            // [kg/m^3], of wood

typedef struct shape {
    float positions[3 * 6 * (SPLIT + 1) * (SPLIT + 1)]; // of a soft cube, the largest
    uint32_t indices[6 * 6 * SPLIT * SPLIT];
    int vertices, indices_used;
} shape;

static void make_ball(shape *s, double radius)
{
    for (int i = 0; i <= RINGS; i++) {
        for (int k = 0; k < SECTORS; k++) {
            float *p = s->positions + 3 * s->vertices++;
            double down = pi * i / RINGS, around = 2.0 * pi * k / SECTORS;
            p[0] = (float)(radius * sin(down) * cos(around));
            p[1] = (float)(radius * sin(down) * sin(around));
            p[2] = (float)(radius * cos(down));
        }
    }
    for (int i = 0; i < RINGS; i++) {
        for (int k = 0; k < SECTORS; k++) {
            uint32_t a = (uint32_t)(i * SECTORS + k), b = (uint32_t)(i * SECTORS + (k + 1) % SECTORS);
            const uint32_t quad[6] = {a, a + SECTORS, b, b, a + SECTORS, b + SECTORS};
            memcpy(s->indices + s->indices_used, quad, sizeof quad);
            s->indices_used += 6;
        }
    }
}

static void make_box(shape *s, double half)
{
    static const uint32_t indices[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                         2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    for (int i = 0; i < 24; i++) {
        s->positions[i] = (float)(i / 3 >> i % 3 & 1 ? half : -half);
    }
    memcpy(s->indices, indices, sizeof indices);
    s->vertices = 8;
    s->indices_used = 36;
}

static void make_soft(shape *s, double half)
{
    for (int side = 0; side < 6; side++) {
        int axis = side / 2, sign = side % 2 ? 1 : -1, first = s->vertices;
        for (int i = 0; i < (SPLIT + 1) * (SPLIT + 1); i++) {
            float *p = s->positions + 3 * s->vertices++;
            p[axis] = (float)(sign * half);
            p[(axis + 1) % 3] = (float)(half * (2.0 * (i % (SPLIT + 1)) / SPLIT - 1.0));
            p[(axis + 2) % 3] = (float)(half * (2.0 * (i / (SPLIT + 1)) / SPLIT - 1.0));
        }
        for (int i = 0; i < SPLIT * SPLIT; i++) {
            int a = first + i / SPLIT * (SPLIT + 1) + i % SPLIT, b = a + 1, c = a + SPLIT + 1;
            int x = sign > 0 ? b : c, y = sign > 0 ? c : b; // counter-clockwise from outside
            const int quad[6] = {a, x, y, y, x, a + SPLIT + 2};
            for (int k = 0; k < 6; k++) {
                s->indices[s->indices_used++] = (uint32_t)quad[k];
            }
        }
    }
}

// Where what was dropped before is now; false: the layer is not of that kind.
static bool dropped_at(const viewer *v, int index, double place[3])
{
    const orr_layer_data *layer = &v->scene->layers[index];
    const orr_layer id = orr_scene_layer(v->scene, index);
    const orr_world_soft *soft;
    orr_transform at;
    double velocity[3];
    if (layer->path || view_history_hides(&v->history, index)) {
        return false;
    }
    if (layer->soft && orr_world_soft_open(v->world, 0, id, &soft, NULL) == ORR_OK) {
        orr_world_soft_centre(soft, 0, place, velocity);
        return true;
    }
    if (!layer->body || layer->body->model->nv == 0 ||
        orr_world_body_transform(v->world, 0, id, 1, &at, NULL) != ORR_OK) {
        return false;
    }
    for (int k = 0; k < 3; k++) {
        place[k] = (double)at.position[k];
    }
    return true;
}

// Above what was dropped there before, and has not fallen yet: bodies inside each other would burst apart.
static void make_room(const viewer *v, double radius, float place[3])
{
    const double side = 2.0 * radius;
    double step = 0.0;
    for (int i = 0; i < v->scene->layer_count; i++) {
        double other[3], away = 0.0;
        if (!dropped_at(v, i, other)) {
            continue;
        }
        for (int k = 0; k < 3; k++) {
            const double up = v->navigator.axes[3 * k + 1];
            away = fmax(away, fabs((double)place[k] + step * up - other[k]));
        }
        if (away < side) {
            step += 1.1 * side;
            i = -1; // those before it may be there, too
        }
    }
    for (int k = 0; k < 3; k++) {
        place[k] += (float)(step * v->navigator.axes[3 * k + 1]);
    }
}

static orr_result add(viewer *v, view_action what, const char *name, orr_layer *layer, orr_error *error)
{
    static const float colours[3][4] = {
        {0.75f, 0.05f, 0.03f, 1.0f}, {0.2f, 0.45f, 0.75f, 1.0f}, {0.1f, 0.6f, 0.25f, 1.0f}};
    const bool box = what == VIEW_DROP_BOX, soft = what == VIEW_DROP_SOFT;
    shape s = {0};
    double distance = v->navigator.pose.distance, radius = RADIUS * distance;
    double volume = box ? 8.0 * radius * radius * radius : 4.0 / 3.0 * pi * radius * radius * radius;
    orr_transform at = {.scale = 1.0f};
    for (int k = 0; k < 3; k++) {
        const float *row = v->seen.pose + 4 * k;
        at.position[k] = row[3] + (float)(AHEAD * distance) * row[2];
    }
    make_room(v, radius, at.position);
    orr_body_desc body = {.mass = DENSITY * volume};
    if (soft) {
        make_soft(&s, radius);
        // it sinks by a hundredth of its height under its own weight
        body = (orr_body_desc){
            .soft = true, .resolution = SPLIT, .density = DENSITY, .young = 100.0 * DENSITY * 9.81 * radius};
    } else if (box) {
        make_box(&s, radius);
    } else {
        make_ball(&s, radius);
    }
    orr_mesh_desc mesh = {.vertex_count = s.vertices,
                          .index_count = s.indices_used,
                          .positions = s.positions,
                          .indices = s.indices};
    memcpy(mesh.base_colour, colours[what - VIEW_DROP_BALL], sizeof mesh.base_colour);
    ORR_TRY(orr_scene_add_mesh(v->scene, name, &mesh, &at, layer, error));
    orr_result result = orr_scene_set_physics(v->scene, *layer, &body, error);
    if (result != ORR_OK) {
        orr_scene_remove(v->scene, *layer, NULL);
    }
    return result;
}

void view_body_drop(viewer *v, view_action what)
{
    static const char *const names[] = {"ball", "box", "soft cube"};
    const char *name = names[what - VIEW_DROP_BALL];
    char text[32];
    orr_layer layer;
    orr_error error;
    int before = orr_scene_layer_count(v->scene);
    view_draw_drop(v);
    view_training_wait(v->training);
    if (add(v, what, name, &layer, &error) != ORR_OK) {
        view_say(v, "%s", error.message);
        return;
    }
    v->robot.drive.bodies = true;
    v->robot.before = glfwGetTime();
    v->stale = true;
    snprintf(text, sizeof text, "a %s", name);
    view_history_added(v, before, 1, text);
}
