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

// What a layer fills: up to SAMPLES_MAX of its splats or vertices, evenly chosen, where its transform puts
// them. Splats outside the layer's robust bounds are drawn to their edge.
enum { SAMPLES_MAX = 4096 };

typedef struct layer_samples {
    const orr_layer_data *layer;
    const float *low, *high;
    float model[12];
    int64_t elements;
    int count;
} layer_samples;

static layer_samples samples_of(const orr_layer_data *layer)
{
    layer_samples s = {.layer = layer};
    s.low = layer->mesh ? layer->mesh->low : layer->splats->low;
    s.high = layer->mesh ? layer->mesh->high : layer->splats->high;
    s.elements = layer->mesh ? layer->mesh->vertex_count : layer->splats->count;
    s.count = s.elements < SAMPLES_MAX ? (int)s.elements : SAMPLES_MAX;
    orr_result valid = orr_affine_from_transform(&layer->transform, s.model, NULL);
    assert(valid == ORR_OK);
    (void)valid;
    return s;
}

static void sample(const layer_samples *s, int index, double point[3])
{
    int64_t i = index * s->elements / s->count;
    double local[3];
    for (int k = 0; k < 3; k++) {
        float value =
            s->layer->mesh
                ? s->layer->mesh->vertices[i].position[k]
                : s->layer->splats->geometry[(i / ORR_PACK_BLOCK * ORR_PACK_GEOMETRY + k) * ORR_PACK_BLOCK +
                                             i % ORR_PACK_BLOCK];
        local[k] = (double)fminf(fmaxf(value, s->low[k]), s->high[k]);
    }
    for (int k = 0; k < 3; k++) {
        const float *row = s->model + 4 * k;
        point[k] = (double)row[0] * local[0] + (double)row[1] * local[1] + (double)row[2] * local[2] +
                   (double)row[3];
    }
}

static box bounds(const orr_scene *scene)
{
    box all = {{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};
    for (int i = 0; i < scene->layer_count; i++) {
        layer_samples s = samples_of(&scene->layers[i]);
        for (int j = 0; j < s.count; j++) {
            double point[3];
            sample(&s, j, point);
            for (int k = 0; k < 3; k++) {
                all.low[k] = fmin(all.low[k], point[k]);
                all.high[k] = fmax(all.high[k], point[k]);
            }
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
    double centre[3], radius = 0.0;
    for (int k = 0; k < 3; k++) {
        double half = 0.5 * (all->high[k] - all->low[k]);
        centre[k] = all->low[k] + half;
        radius += half * half;
    }
    if (radius == 0.0) {
        return 1.0; // a single point is looked at from 1 unit
    }
    double distance = margin * sqrt(radius); // outside the box, however thin it is seen from here
    for (int i = 0; i < scene->layer_count; i++) {
        layer_samples s = samples_of(&scene->layers[i]);
        for (int j = 0; j < s.count; j++) {
            double point[3], p[3] = {0.0, 0.0, 0.0}; // in camera axes, from the centre
            sample(&s, j, point);
            for (int k = 0; k < 3; k++) {
                for (int c = 0; c < 3; c++) {
                    p[c] += (double)camera->pose[4 * k + c] * (point[k] - centre[k]);
                }
            }
            double across = margin * fmax(fabs(p[0]) / tangent_x, fabs(p[1]) / tangent_y);
            distance = fmax(distance, across - p[2]);
        }
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
