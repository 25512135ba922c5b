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

// One of the eight corners of a layer's bounds, where its transform puts it.
static void corner_of(const orr_layer_data *layer, int corner, double point[3])
{
    const float *low = layer->mesh ? layer->mesh->low : layer->splats->low;
    const float *high = layer->mesh ? layer->mesh->high : layer->splats->high;
    float m[12];
    orr_result valid = orr_affine_from_transform(&layer->transform, m, NULL);
    assert(valid == ORR_OK);
    (void)valid;
    for (int i = 0; i < 3; i++) {
        point[i] = (double)m[4 * i + 3];
        for (int k = 0; k < 3; k++) {
            point[i] += (double)m[4 * i + k] * (double)(corner >> k & 1 ? high[k] : low[k]);
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
    for (int i = 0; i < 8 * scene->layer_count; i++) {
        const orr_layer_data *layer = &scene->layers[i / 8];
        double point[3];
        corner_of(layer, i % 8, point);
        for (int k = 0; k < 3 && !is_empty(layer); k++) {
            all.low[k] = fmin(all.low[k], point[k]);
            all.high[k] = fmax(all.high[k], point[k]);
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

// How far from the box's centre a camera must stand, looking at it, for every layer to be in the picture.
static double distance_to_fit(const orr_scene *scene, const box *all, const orr_camera *camera)
{
    const double margin = 1.05; // 5 % of air around it
    double tangent_x = 0.5 * camera->width / (double)camera->focal[0];
    double tangent_y = 0.5 * camera->height / (double)camera->focal[1];
    double radius = 0.0;
    for (int k = 0; k < 3; k++) {
        double half = 0.5 * (all->high[k] - all->low[k]);
        radius += half * half;
    }
    if (radius == 0.0) {
        return 1.0; // a single point is looked at from 1 unit
    }
    double distance = margin * sqrt(radius); // outside the box, however thin it is seen from here
    for (int i = 0; i < 8 * scene->layer_count; i++) {
        double point[3], p[3] = {0.0, 0.0, 0.0}; // in camera axes, from the centre
        corner_of(&scene->layers[i / 8], i % 8, point);
        for (int k = 0; k < 3; k++) {
            for (int j = 0; j < 3; j++) {
                p[j] += (double)camera->pose[4 * k + j] * (point[k] - 0.5 * (all->low[k] + all->high[k]));
            }
        }
        double across = margin * fmax(fabs(p[0]) / tangent_x, fabs(p[1]) / tangent_y);
        distance = is_empty(&scene->layers[i / 8]) ? distance : fmax(distance, across - p[2]);
    }
    return distance;
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
    double distance = distance_to_fit(scene, &all, &camera);
    for (int i = 0; i < 3; i++) {
        camera.pose[4 * i + 3] = (float)(0.5 * (all.low[i] + all.high[i]) + distance * from[i]);
    }
    // a small scene must not fall before the usual near plane
    camera.near_plane = (float)fmin(0.01, 0.001 * distance);
    return camera;
}
