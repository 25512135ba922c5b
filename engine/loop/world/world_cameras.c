// Cameras of a world as they are now: the scene's own, and those that robots carry.
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/loop/world/world_robots.h"
#include "engine/maths/camera.h"
#include "engine/maths/rotation.h"
#include "engine/scene/camera_file.h"
#include "engine/scene/transform.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 1280, HEIGHT = 720 };

int orr_world_camera_count(const orr_world *world)
{
    if (!world) {
        return 0;
    }
    int count = world->scene->cameras.count;
    for (int i = 0; i < world->scene->layer_count; i++) {
        const orr_layer_data *layer = &world->scene->layers[i];
        count += layer->kind == ORR_LAYER_ROBOT ? layer->robot->model->ncam : 0;
    }
    return count;
}

// The robot that has a camera, whose number becomes the robot's; NULL: it is the scene's, or there is none
// such.
static const orr_layer_data *robot_of(const orr_world *world, int *camera)
{
    *camera -= world->scene->cameras.count;
    for (int i = 0; i < world->scene->layer_count && *camera >= 0; i++) {
        const orr_layer_data *layer = &world->scene->layers[i];
        int count = layer->kind == ORR_LAYER_ROBOT ? layer->robot->model->ncam : 0;
        if (*camera < count) {
            return layer;
        }
        *camera -= count;
    }
    return NULL;
}

const char *orr_world_camera_name(const orr_world *world, int camera)
{
    if (camera < 0 || camera >= orr_world_camera_count(world)) {
        return NULL;
    }
    if (camera < world->scene->cameras.count) {
        return world->scene->cameras.names[camera];
    }
    const orr_layer_data *layer = robot_of(world, &camera);
    return layer ? orr_model_name(layer->robot->model, ORR_OBJECT_CAMERA, camera) : "";
}

// Position and axes (columns x right, y up, z backward) in the robot's frame.
typedef struct camera_frame {
    double position[3], axes[9];
} camera_frame;

// The robot that carries a camera, in one copy.
typedef struct carrier {
    const orr_world *world;
    int index;
    orr_world_robot *robot;
    double *numbers; // scratch: 3 x nbody, of cameras that follow centres of mass
} carrier;

static void centre_of(const carrier *c, int body, double centre[3])
{
    orr_world_robot_read(c->world, c->index, c->robot, ORR_PHYSICS_SUBTREE_COM, c->numbers);
    memcpy(centre, c->numbers + 3 * body, 3 * sizeof *centre);
}

static void point_at(camera_frame *s, const double target[3])
{
    double x[3], y[3], z[3];
    const double up[3] = {0.0, 0.0, 1.0};
    for (int k = 0; k < 3; k++) {
        z[k] = s->position[k] - target[k];
    }
    vec3_normalise(z);
    vec3_cross(up, z, x);
    if (vec3_normalise(x) < 1e-9) { // from right above
        x[0] = 1.0;
        x[1] = x[2] = 0.0;
    }
    vec3_cross(z, x, y);
    for (int k = 0; k < 3; k++) {
        s->axes[3 * k] = x[k];
        s->axes[3 * k + 1] = y[k];
        s->axes[3 * k + 2] = z[k];
    }
}

static void find_frame(const carrier *c, int camera, const orr_transform *bodies, camera_frame *s)
{
    const orr_model *m = c->robot->robot->model;
    int body = m->cam_bodyid[camera], target = m->cam_targetbodyid[camera];
    const double *pos = m->cam_pos + 3 * camera;
    double position[3], rotation[4], turn[9], quat[4], point[3];
    for (int k = 0; k < 4; k++) {
        rotation[k] = (double)bodies[body].rotation[k];
        position[k % 3] = (double)bodies[body].position[k % 3];
    }
    quat_matrix(rotation, turn);
    for (int k = 0; k < 3; k++) {
        s->position[k] = position[k] + vec3_dot(turn + 3 * k, pos);
    }
    quat_multiply(rotation, m->cam_quat + 4 * camera, quat);
    quat_matrix(quat, s->axes);
    switch ((orr_camera_mode)m->cam_mode[camera]) {
    case ORR_CAMERA_FIXED:
        break;
    case ORR_CAMERA_TRACK:
    case ORR_CAMERA_TRACKCOM: {
        bool of_mass = m->cam_mode[camera] == ORR_CAMERA_TRACKCOM;
        const double *offset = (of_mass ? m->cam_poscom0 : m->cam_pos0) + 3 * camera;
        memcpy(point, position, sizeof point);
        if (of_mass) {
            centre_of(c, body, point);
        }
        for (int k = 0; k < 3; k++) {
            s->position[k] = point[k] + offset[k];
        }
        memcpy(s->axes, m->cam_mat0 + 9 * camera, sizeof s->axes);
        break;
    }
    case ORR_CAMERA_TARGETBODY:
    case ORR_CAMERA_TARGETBODYCOM:
        for (int k = 0; k < 3 && target >= 0; k++) {
            point[k] = (double)bodies[target].position[k];
        }
        if (target >= 0 && m->cam_mode[camera] == ORR_CAMERA_TARGETBODYCOM) {
            centre_of(c, target, point);
        }
        if (target >= 0) {
            point_at(s, point);
        }
        break;
    }
}

static void set_lens(const orr_model *m, int camera, double scale, orr_camera *out)
{
    const float *sensor = m->cam_sensorsize + 2 * camera, *intrinsic = m->cam_intrinsic + 4 * camera;
    double fovy = m->cam_fovy[camera], width = out->width, height = out->height;
    out->near_plane = (float)((double)m->vis.znear * m->stat.extent * scale);
    if (m->cam_orthographic[camera]) {
        out->model = ORR_CAMERA_ORTHOGRAPHIC;
        out->focal[0] = out->focal[1] = (float)(height / (fovy * scale));
    } else if (sensor[1] > 0.0f) {
        double pixels[2] = {width / (double)sensor[0], height / (double)sensor[1]};
        out->focal[0] = (float)((double)intrinsic[0] * pixels[0]);
        out->focal[1] = (float)((double)intrinsic[1] * pixels[1]);
        out->centre[0] = (float)(0.5 * width - (double)intrinsic[2] * pixels[0]);
        out->centre[1] = (float)(0.5 * height + (double)intrinsic[3] * pixels[1]);
    } else {
        const double pi = 3.14159265358979323846;
        out->focal[0] = out->focal[1] = (float)(0.5 * height / tan(0.5 * fovy * pi / 180.0));
    }
}

static orr_result robot_camera(const orr_world *world, int index, const orr_layer_data *layer, int camera,
                               orr_camera *out, orr_error *error)
{
    const orr_model *m = layer->robot->model;
    const orr_transform *bodies = NULL;
    carrier carried = {.world = world, .index = index};
    ORR_TRY(orr_world_robots_find(world, layer, &carried.robot, error));
    ORR_TRY(orr_world_robot_bodies(world, index, layer, &bodies, error));
    if (m->cam_mode[camera] == ORR_CAMERA_TRACKCOM || m->cam_mode[camera] == ORR_CAMERA_TARGETBODYCOM) {
        ORR_ALLOC(carried.numbers, 3 * m->nbody, "a camera", error);
    }
    camera_frame s;
    find_frame(&carried, camera, bodies, &s);
    orr_free(carried.numbers);
    // into the scene; our cameras have z forward and y down
    orr_layer_state state = orr_world_state(world, index, layer);
    float layer_pose[12], local[12], in_scene[12];
    ORR_TRY(orr_affine_from_transform(&state.transform, layer_pose, error));
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 3; c++) {
            local[4 * k + c] = (float)((c == 0 ? 1.0 : -1.0) * s.axes[3 * k + c]);
        }
        local[4 * k + 3] = (float)s.position[k];
    }
    orr_affine_multiply(layer_pose, local, in_scene);
    float scale = state.transform.scale;
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 4; c++) {
            out->pose[4 * k + c] = in_scene[4 * k + c] / (c < 3 ? scale : 1.0f);
        }
    }
    set_lens(m, camera, (double)scale, out);
    return ORR_OK;
}

orr_result orr_world_camera(const orr_world *world, int index, int camera, int width, int height,
                            orr_camera *out, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    ORR_REQUIRE(out, error);
    int count = orr_world_camera_count(world);
    if (width < 0 || height < 0 || (width > 0 && height == 0)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "a camera of %d x %d: expected positive numbers, or 0",
                        width, height);
    }
    if (camera < 0 || camera >= count || index < 0 || index >= world->count) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "camera %d of world %d: expected 0 to %d of %d", camera,
                        index, count - 1, world->count);
    }
    if (camera < world->scene->cameras.count) {
        const orr_camera *listed = &world->scene->cameras.cameras[camera];
        *out = width > 0 ? orr_camera_resize(listed, width, height) : *listed;
        return ORR_OK;
    }
    const orr_layer_data *layer = robot_of(world, &camera);
    const int32_t *size = layer->robot->model->cam_resolution + 2 * camera;
    bool sized = size[0] > 1 && size[1] > 1;
    *out = (orr_camera){.width = width > 0 ? width
                                 : sized   ? size[0]
                                           : WIDTH,
                        .height = width > 0 ? height
                                  : sized   ? size[1]
                                            : HEIGHT};
    return robot_camera(world, index, layer, camera, out, error);
}
