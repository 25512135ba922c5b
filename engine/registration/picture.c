// A picture of cameras and points: each camera the edges of a small pyramid, each point a splat.
#include "engine/registration/registration.h"

#include "engine/core/memory.h"
#include "engine/image/image.h"
#include "engine/maths/vector.h"

#include <math.h>
#include <string.h>

enum {
    WIDTH = 1280,
    HEIGHT = 960,
    EDGES = 8, // of a pyramid: four from the camera, four around the picture
    EDGE_SIDES = 3,
    EDGE_VERTICES = 2 * EDGE_SIDES,
    EDGE_INDICES = 6 * EDGE_SIDES
};

// Lengths in the distance of the farthest camera from the origin.
static const float PYRAMID = 0.06f, BAR = 0.0012f, POINT = 0.0016f;

static float reach_of(const orr_registration *r)
{
    float reach = 0.0f;
    for (int i = 0; i < r->list.count; i++) {
        const float *m = r->list.photos[i].pose;
        reach = fmaxf(reach, sqrtf(m[3] * m[3] + m[7] * m[7] + m[11] * m[11]));
    }
    return reach > 1e-6f ? reach : 1.0f;
}

// ---- cameras ----

// A bar of three sides from a to b.
static void add_bar(const float a[3], const float b[3], float radius, float *positions, uint32_t *indices,
                    uint32_t first)
{
    double along[3], x[3], y[3];
    for (int k = 0; k < 3; k++) {
        along[k] = (double)b[k] - (double)a[k];
    }
    vec3_normalise(along);
    const double other[3] = {fabs(along[0]) < 0.5, fabs(along[0]) >= 0.5, 0.0};
    vec3_cross(along, other, x);
    vec3_normalise(x);
    vec3_cross(along, x, y);
    for (int i = 0; i < EDGE_VERTICES; i++) {
        double angle = 2.0944 * (i % EDGE_SIDES); // a third of a turn
        const float *end = i < EDGE_SIDES ? a : b;
        for (int k = 0; k < 3; k++) {
            positions[3 * i + k] = end[k] + radius * (float)(cos(angle) * x[k] + sin(angle) * y[k]);
        }
    }
    for (uint32_t i = 0; i < EDGE_SIDES; i++) {
        uint32_t p = first + i, q = first + (i + 1) % EDGE_SIDES;
        const uint32_t side[6] = {p, q, p + EDGE_SIDES, q, q + EDGE_SIDES, p + EDGE_SIDES};
        memcpy(indices + 6 * i, side, sizeof side);
    }
}

static void add_camera(const orr_photo *photo, float reach, float *positions, uint32_t *indices,
                       uint32_t first)
{
    const float *m = photo->pose;
    const orr_photo_lens *lens = &photo->lens;
    float corners[5][3];
    for (int i = 0; i < 5; i++) {
        float x =
            (float)(((i == 2 || i == 3) - lens->centre[0] / lens->size[0]) * lens->size[0] / lens->focal[0]);
        float y = (float)(((i >= 3) - lens->centre[1] / lens->size[1]) * lens->size[1] / lens->focal[1]);
        float depth = i == 0 ? 0.0f : PYRAMID * reach;
        for (int k = 0; k < 3; k++) {
            corners[i][k] = m[4 * k + 3] + depth * (x * m[4 * k] + y * m[4 * k + 1] + m[4 * k + 2]);
        }
    }
    for (int i = 0; i < EDGES; i++) {
        int from = i < 4 ? 0 : i - 3, to = i < 4 ? i + 1 : i == 7 ? 1 : i - 2;
        add_bar(corners[from], corners[to], BAR * reach, positions + 3 * EDGE_VERTICES * i,
                indices + EDGE_INDICES * i, first + (uint32_t)(EDGE_VERTICES * i));
    }
}

static orr_result add_cameras(const orr_registration *r, orr_scene *scene, float reach, orr_error *error)
{
    size_t vertices = (size_t)r->list.count * EDGES * EDGE_VERTICES;
    size_t count = (size_t)r->list.count * EDGES * EDGE_INDICES;
    float *positions = orr_alloc(vertices, 3 * sizeof *positions);
    uint32_t *indices = orr_alloc(count, sizeof *indices);
    orr_result result = positions && indices
                            ? ORR_OK
                            : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a picture of cameras");
    if (result == ORR_OK) {
        for (int i = 0; i < r->list.count; i++) {
            add_camera(&r->list.photos[i], reach, positions + (size_t)i * EDGES * EDGE_VERTICES * 3,
                       indices + (size_t)i * EDGES * EDGE_INDICES, (uint32_t)(i * EDGES * EDGE_VERTICES));
        }
        const orr_mesh_desc desc = {.vertex_count = (int64_t)vertices,
                                    .index_count = (int64_t)count,
                                    .positions = positions,
                                    .indices = indices,
                                    .base_colour = {0.9f, 0.1f, 0.05f, 1.0f},
                                    .two_sided = true};
        result = orr_scene_add_mesh(scene, "cameras", &desc, NULL, NULL, error);
    }
    orr_free(positions);
    orr_free(indices);
    return result;
}

// ---- points ----

static orr_result add_points(const orr_registration *r, orr_scene *scene, float reach, orr_error *error)
{
    orr_splats *splats;
    ORR_TRY(orr_splats_create(r->points.count, 0, &splats, error));
    orr_splats_view view = orr_splats_data(splats);
    float scale = logf(POINT * reach);
    for (size_t i = 0; i < (size_t)r->points.count; i++) {
        for (size_t k = 0; k < 3; k++) {
            view.position[3 * i + k] = r->points.position[3 * i + k];
            view.log_scale[3 * i + k] = scale;
            view.colour[3 * i + k] = ((float)r->points.colour[3 * i + k] / 255.0f - 0.5f) / 0.28209479f;
        }
        view.opacity[i] = 4.0f;
    }
    orr_result result = orr_scene_add_splats(scene, "points", splats, NULL, NULL, error);
    orr_splats_destroy(splats);
    return result;
}

// ---- the picture ----

// From where along its axis a camera that looks at the origin sees what is within `around` of a point.
static float distance_to_see(const orr_camera *camera, const float point[3], float around)
{
    const float tangents[2] = {0.5f * WIDTH / camera->focal[0], 0.5f * HEIGHT / camera->focal[1]};
    float p[3], distance = 0.0f; // p: in the picture's axes, from the origin
    for (int c = 0; c < 3; c++) {
        p[c] = camera->pose[c] * point[0] + camera->pose[4 + c] * point[1] + camera->pose[8 + c] * point[2];
    }
    for (int c = 0; c < 2; c++) {
        distance = fmaxf(distance, (fabsf(p[c]) + around) / tangents[c] - p[2]);
    }
    return distance;
}

// From above and aside, so that all cameras and the middle of what they see are in it.
static orr_camera point_of_view(const orr_registration *r, float reach)
{
    const float origin[3] = {0.0f}, up[3] = {0.0f, 0.0f, 1.0f};
    float eye[3] = {1.1f, -1.6f, 1.1f}, distance = 0.0f;
    float length = sqrtf(eye[0] * eye[0] + eye[1] * eye[1] + eye[2] * eye[2]);
    orr_camera camera;
    for (int k = 0; k < 3; k++) {
        eye[k] /= length;
    }
    camera = orr_camera_look_at(eye, origin, up, 0.7f, WIDTH, HEIGHT);
    for (int i = 0; i < r->list.count; i++) {
        const float *m = r->list.photos[i].pose;
        const float position[3] = {m[3], m[7], m[11]};
        distance = fmaxf(distance, distance_to_see(&camera, position, 1.5f * PYRAMID * reach));
    }
    for (int i = 0; i < r->points.count; i++) { // those far behind what is photographed may be outside
        const float *p = r->points.position + 3 * (size_t)i;
        if (vec3f_dot(p, p) <= reach * reach) {
            distance = fmaxf(distance, distance_to_see(&camera, p, 0.0f));
        }
    }
    distance = fmaxf(distance, 0.8f * reach);
    for (int k = 0; k < 3; k++) {
        camera.pose[4 * k + 3] = distance * eye[k];
    }
    camera.near_plane = 1e-3f * reach;
    return camera;
}

static orr_result draw(const orr_registration *r, orr_scene *scene, orr_world *world, orr_frame *frame,
                       float reach, const char *path, orr_error *error)
{
    float *rgba = orr_alloc((size_t)WIDTH * HEIGHT, 4 * sizeof *rgba);
    uint8_t *bytes = orr_alloc((size_t)WIDTH * HEIGHT, 4);
    const orr_view view = {.camera = point_of_view(r, reach),
                           .has_background = true,
                           .background = {0.97f, 0.97f, 0.97f},
                           .no_shadows = true};
    orr_result result = rgba && bytes
                            ? orr_frame_submit(frame, scene, world, &view, error)
                            : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a picture of cameras");
    if (result == ORR_OK) {
        result = orr_frame_finish(frame, &(orr_picture){.rgba = rgba}, error);
    }
    if (result == ORR_OK) {
        orr_image_quantise(rgba, (int64_t)WIDTH * HEIGHT, bytes);
        result = orr_png_save(path, bytes, WIDTH, HEIGHT, error);
    }
    orr_free(rgba);
    orr_free(bytes);
    return result;
}

orr_result orr_registration_draw(orr_registration *r, const char *path, orr_error *error)
{
    orr_scene *scene;
    orr_world *world = NULL;
    orr_frame *frame = NULL;
    float reach = reach_of(r);
    ORR_TRY(orr_scene_create(r->engine, &scene, error));
    orr_result result = add_cameras(r, scene, reach, error);
    if (result == ORR_OK && r->points.count > 0) {
        result = add_points(r, scene, reach, error);
    }
    result = result == ORR_OK ? orr_world_create(scene, 1, &world, error) : result;
    result = result == ORR_OK ? orr_frame_create(r->engine, NULL, &frame, error) : result;
    result = result == ORR_OK ? draw(r, scene, world, frame, reach, path, error) : result;
    orr_frame_destroy(frame);
    orr_world_destroy(world);
    orr_scene_destroy(scene);
    return result;
}
