// The view of a scene whose file gives none: which axis is up, the default camera and the default sun.
#include "engine/scene/scene.h"

#include "engine/core/entry.h"
#include "engine/maths/camera.h"
#include "engine/scene/transform.h"

#include <float.h>
#include <math.h>
#include <string.h>

static orr_up up_of(const orr_layer_data *layer)
{
    if (layer->kind == ORR_LAYER_FIELD) {
        switch (orr_field_layer_kind(layer->field)) {
        case ORR_FIELD_NERF:
        case ORR_FIELD_VOLUME:
            return ORR_UP_Z;
        case ORR_FIELD_SDF:
            return ORR_UP_Y;
        case ORR_FIELD_IMAGE:
            return ORR_UP_MINUS_Y;
        }
    }
    return layer->kind == ORR_LAYER_SPLATS  ? (layer->trainer ? ORR_UP_Z : ORR_UP_MINUS_Y)
           : layer->kind == ORR_LAYER_ROBOT ? ORR_UP_Z
                                            : ORR_UP_Y;
}

// The layer that decides which axis is up; NULL: the scene is empty.
static const orr_layer_data *up_layer(const orr_scene *scene)
{
    static const orr_layer_kind order[] = {ORR_LAYER_SPLATS, ORR_LAYER_FIELD, ORR_LAYER_ROBOT,
                                           ORR_LAYER_MESH};
    for (size_t k = 0; k < sizeof order / sizeof order[0]; k++) {
        for (int i = 0; i < scene->layer_count; i++) {
            if (scene->layers[i].kind == order[k]) {
                return &scene->layers[i];
            }
        }
    }
    return NULL;
}

orr_up orr_scene_up(const orr_scene *scene)
{
    const orr_layer_data *layer = up_layer(scene);
    return layer ? up_of(layer) : ORR_UP_MINUS_Y;
}

// Right is x in all three conventions; these are the axes that point up, and towards a viewer in
// front.
static const float up_axes[3][3] = {{0, -1, 0}, {0, 1, 0}, {0, 0, 1}};
static const float front_axes[3][3] = {{0, 0, -1}, {0, 0, 1}, {0, -1, 0}};

void orr_scene_axes(const orr_scene *scene, float up[3], float front[3])
{
    orr_up axis = orr_scene_up(scene);
    memcpy(up, up_axes[axis], sizeof up_axes[axis]);
    memcpy(front, front_axes[axis], sizeof front_axes[axis]);
}

void orr_scene_up_direction(const orr_scene *scene, float up[3])
{
    memcpy(up, up_axes[orr_scene_up(scene)], sizeof up_axes[0]);
}

void orr_layer_up_direction(const orr_layer_data *layer, float up[3])
{
    memcpy(up, up_axes[up_of(layer)], sizeof up_axes[0]);
}

void orr_scene_level(const orr_scene *scene, float up[3])
{
    const orr_layer_data *layer = up_layer(scene);
    if (!layer) {
        orr_scene_up_direction(scene, up);
        return;
    }
    const orr_transform at = orr_scene_layer_transform(scene, layer);
    orr_transform_direction(at.rotation, up_axes[up_of(layer)], up);
}

void orr_layer_foot(const orr_layer_data *layer, double foot[3])
{
    float low[3], high[3];
    const float *up = up_axes[up_of(layer)];
    orr_layer_bounds(layer, low, high);
    for (int k = 0; k < 3; k++) {
        foot[k] = up[k] > 0.0f   ? (double)low[k]
                  : up[k] < 0.0f ? (double)high[k]
                                 : 0.5 * (double)(low[k] + high[k]);
    }
}

orr_draw_sun orr_default_sun(orr_up up)
{
    // a white surface that faces the sun is just white: 0.8 + 0.2
    orr_draw_sun sun = {.direction = {0.36f}, .colour = {0.8f, 0.8f, 0.8f}, .ambient = {0.2f, 0.2f, 0.2f}};
    for (int k = 0; k < 3; k++) {
        sun.direction[k] += 0.8f * up_axes[up][k] + 0.48f * front_axes[up][k];
    }
    return sun;
}

typedef struct box {
    double low[3], high[3];
} box;

// What a layer fills: up to SAMPLES_MAX of its splats or vertices, evenly chosen, or the corners of a field
// or a robot, where its transform puts them. Splats outside the layer's robust bounds are drawn to their
// edge.
enum { SAMPLES_MAX = 4096, CORNERS = 8 };

typedef struct layer_samples {
    const orr_layer_data *layer;
    float low[3], high[3];
    float model[12];
    int64_t elements;
    int count;
} layer_samples;

static bool is_floor(const orr_layer_data *layer)
{
    return layer->kind == ORR_LAYER_ROBOT && orr_robot_is_floor(layer->robot);
}

bool orr_scene_looks_at(const orr_scene *scene, const orr_layer_data *layer)
{
    bool others = false;
    for (int i = 0; i < scene->layer_count; i++) {
        others = others || !is_floor(&scene->layers[i]);
    }
    return !others || !is_floor(layer);
}

static layer_samples samples_of(const orr_scene *scene, const orr_layer_data *layer)
{
    layer_samples s = {.layer = layer};
    orr_transform transform = orr_scene_layer_transform(scene, layer);
    orr_layer_bounds(layer, s.low, s.high);
    s.elements = layer->mesh ? layer->mesh->vertex_count : layer->splats ? layer->splats->count : CORNERS;
    s.count = !orr_scene_looks_at(scene, layer) ? 0
              : s.elements < SAMPLES_MAX        ? (int)s.elements
                                                : SAMPLES_MAX;
    orr_result valid = orr_affine_from_transform(&transform, s.model, NULL);
    assert(valid == ORR_OK);
    (void)valid;
    return s;
}

// coordinate `axis` of the position of element i, in the layer's own space
static float element(const layer_samples *s, int64_t i, int axis)
{
    switch (s->layer->kind) {
    case ORR_LAYER_MESH:
        return s->layer->mesh->vertices[i].position[axis];
    case ORR_LAYER_FIELD:
    case ORR_LAYER_ROBOT:
        return i >> axis & 1 ? s->high[axis] : s->low[axis];
    case ORR_LAYER_SPLATS:
        break;
    }
    int64_t block = i / ORR_PACK_BLOCK;
    return s->layer->splats
        ->geometry[(block * ORR_PACK_GEOMETRY + axis) * ORR_PACK_BLOCK + i % ORR_PACK_BLOCK];
}

static void sample(const layer_samples *s, int index, double point[3])
{
    int64_t i = index * s->elements / s->count;
    double local[3];
    for (int k = 0; k < 3; k++) {
        local[k] = (double)fminf(fmaxf(element(s, i, k), s->low[k]), s->high[k]);
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
        layer_samples s = samples_of(scene, &scene->layers[i]);
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

// The distance from the box's centre at which a camera that points at it has every layer in its picture.
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
        return 1.0; // a single point is seen from 1 unit
    }
    double distance = margin * sqrt(radius); // outside the box, however thin it is seen from here
    for (int i = 0; i < scene->layer_count; i++) {
        layer_samples s = samples_of(scene, &scene->layers[i]);
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
    ORR_ENTER;
    if (!scene) {
        return (orr_camera){0};
    }
    const double pi = 3.14159265358979323846;
    const double field_of_view = 50.0 * pi / 180.0, turn = 30.0 * pi / 180.0, rise = 20.0 * pi / 180.0;
    orr_up up = orr_scene_up(scene);
    double from[3] = {sin(turn) * cos(rise)};
    for (int k = 0; k < 3; k++) {
        from[k] += sin(rise) * (double)up_axes[up][k] + cos(turn) * cos(rise) * (double)front_axes[up][k];
    }

    box all = bounds(scene);
    float target[3], eye[3];
    for (int i = 0; i < 3; i++) {
        target[i] = 0.0f;
        eye[i] = (float)from[i];
    }
    orr_camera camera = orr_camera_look_at(eye, target, up_axes[up], (float)field_of_view, width, height);
    double distance = distance_to_fit(scene, &all, &camera);
    for (int i = 0; i < 3; i++) {
        camera.pose[4 * i + 3] = (float)(0.5 * (all.low[i] + all.high[i]) + distance * from[i]);
    }
    // a small scene must not fall before the usual near plane
    camera.near_plane = (float)fmin(0.01, 0.001 * distance);
    return camera;
}

bool orr_scene_picture_camera(const orr_scene *scene, orr_camera *camera)
{
    enum { SIDE_MAX = 16384 };
    const orr_layer_data *layer = scene->layers;
    int size[2] = {0, 0};
    if (scene->layer_count == 1 && layer->kind == ORR_LAYER_FIELD &&
        orr_field_layer_kind(layer->field) == ORR_FIELD_IMAGE) {
        orr_field_layer_picture_size(layer->field, size);
    }
    if (size[0] < 1 || size[1] < 1) {
        return false;
    }
    // an image is 1 high in its layer's space, in the plane z = 0, with y downwards; seen from 1 in front
    // of it
    float m[12], from[3] = {0.5f * (float)size[0] / (float)size[1], 0.5f, -1.0f};
    orr_transform transform = orr_scene_layer_transform(scene, layer);
    if (orr_affine_from_transform(&transform, m, NULL) != ORR_OK) {
        return false;
    }
    int side = size[0] > size[1] ? size[0] : size[1], shown = side < SIDE_MAX ? side : SIDE_MAX;
    int64_t width = (int64_t)size[0] * shown / side, height = (int64_t)size[1] * shown / side;
    *camera = (orr_camera){.model = ORR_CAMERA_ORTHOGRAPHIC,
                           .width = width > 1 ? (int)width : 1,
                           .height = height > 1 ? (int)height : 1};
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 3; c++) {
            camera->pose[4 * k + c] = m[4 * k + c] / transform.scale;
        }
        camera->pose[4 * k + 3] =
            m[4 * k] * from[0] + m[4 * k + 1] * from[1] + m[4 * k + 2] * from[2] + m[4 * k + 3];
    }
    camera->focal[0] = (float)camera->width / (2.0f * from[0] * transform.scale);
    camera->focal[1] = (float)camera->height / transform.scale;
    camera->near_plane = 0.01f * transform.scale;
    return true;
}
