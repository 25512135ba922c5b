// How a scene is seen when its file does not say: which way is up, from where to look, and the light.
#include "engine/loop/scene.h"

#include "render/camera.h"

#include <float.h>
#include <math.h>

int orr_scene_up(const orr_scene *scene)
{
    for (int i = 0; i < scene->layer_count; i++) {
        if (scene->layers[i].kind == ORR_LAYER_SPLATS) {
            return -1;
        }
    }
    return scene->layer_count > 0 ? 1 : -1;
}

orr_draw_sun orr_default_sun(int up)
{
    // half a turn about x leads from one convention to the other, so that a model is lit alike in both
    float y = (float)up;
    // a white surface that faces the sun is just white: 0.8 + 0.2
    return (orr_draw_sun){.direction = {0.36f, 0.8f * y, 0.48f * y},
                          .colour = {0.8f, 0.8f, 0.8f},
                          .ambient = {0.2f, 0.2f, 0.2f}};
}

typedef struct box {
    double low[3], high[3];
} box;

// The eight corners of a layer's bounds, moved by its transform, widen the box.
static void add_layer(box *all, const orr_layer_data *layer)
{
    const float *low = layer->mesh ? layer->mesh->low : layer->splats->low;
    const float *high = layer->mesh ? layer->mesh->high : layer->splats->high;
    float m[12];
    orr_result valid = orr_affine_from_transform(&layer->transform, m, NULL);
    assert(valid == ORR_OK);
    (void)valid;
    for (int corner = 0; corner < 8; corner++) {
        for (int i = 0; i < 3; i++) {
            double value = (double)m[4 * i + 3];
            for (int k = 0; k < 3; k++) {
                value += (double)m[4 * i + k] * (double)(corner >> k & 1 ? high[k] : low[k]);
            }
            all->low[i] = fmin(all->low[i], value);
            all->high[i] = fmax(all->high[i], value);
        }
    }
}

static bool is_empty(const orr_layer_data *layer)
{
    return layer->mesh ? layer->mesh->index_count == 0 : layer->splats->count == 0;
}

static box bounds(const orr_scene *scene)
{
    box all = {{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};
    for (int i = 0; i < scene->layer_count; i++) {
        if (!is_empty(&scene->layers[i])) {
            add_layer(&all, &scene->layers[i]);
        }
    }
    return all.low[0] <= all.high[0] ? all : (box){{-1.0, -1.0, -1.0}, {1.0, 1.0, 1.0}};
}

void orr_scene_centre(const orr_scene *scene, float centre[3])
{
    box all = bounds(scene);
    for (int i = 0; i < 3; i++) {
        centre[i] = (float)(0.5 * (all.low[i] + all.high[i]));
    }
}

// How far from the box's centre a camera must stand, looking at it, for every corner to be in the picture.
static double distance_to_fit(const box *all, const orr_camera *camera)
{
    const double margin = 1.05; // 5 % of air around it
    double tangent_x = 0.5 * camera->width / (double)camera->focal[0];
    double tangent_y = 0.5 * camera->height / (double)camera->focal[1];
    double distance = 0.0, radius = 0.0;
    for (int corner = 0; corner < 8; corner++) {
        double p[3] = {0.0, 0.0, 0.0}, length = 0.0; // the corner in camera axes, from the centre
        for (int k = 0; k < 3; k++) {
            double half = 0.5 * (all->high[k] - all->low[k]) * (corner >> k & 1 ? 1.0 : -1.0);
            length += half * half;
            for (int i = 0; i < 3; i++) {
                p[i] += (double)camera->pose[4 * k + i] * half;
            }
        }
        double across = fmax(fabs(p[0]) / tangent_x, fabs(p[1]) / tangent_y);
        distance = fmax(distance, margin * across - p[2]);
        radius = fmax(radius, sqrt(length));
    }
    // outside the box, however thin it is seen from here; a single point is looked at from 1 unit
    return radius > 0.0 ? fmax(distance, margin * radius) : 1.0;
}

orr_camera orr_scene_default_camera(const orr_scene *scene, int width, int height)
{
    const double pi = 3.14159265358979323846;
    const double field_of_view = 50.0 * pi / 180.0, turn = 30.0 * pi / 180.0, rise = 20.0 * pi / 180.0;
    // in front is -z where y is down, and +z where y is up: half a turn about x between them
    double up = orr_scene_up(scene);
    const double from[3] = {sin(turn) * cos(rise), up * sin(rise), up * cos(turn) * cos(rise)};
    const float up_axis[3] = {0.0f, (float)up, 0.0f};

    box all = bounds(scene);
    float target[3], eye[3];
    for (int i = 0; i < 3; i++) {
        target[i] = 0.0f;
        eye[i] = (float)from[i];
    }
    orr_camera camera = orr_camera_look_at(eye, target, up_axis, (float)field_of_view, width, height);
    double distance = distance_to_fit(&all, &camera);
    for (int i = 0; i < 3; i++) {
        camera.pose[4 * i + 3] = (float)(0.5 * (all.low[i] + all.high[i]) + distance * from[i]);
    }
    // a small scene must not fall before the usual near plane
    camera.near_plane = (float)fmin(0.01, 0.001 * distance);
    return camera;
}
