#include "engine/loop/world/robot_draw.h"

#include "engine/core/memory.h"
#include "engine/maths/camera.h"
#include "engine/maths/rotation.h"
#include "engine/maths/vector.h"
#include "engine/scene/transform.h"
#include "physics/pose/tendon_path.h"

#include <math.h>
#include <string.h>

enum { ARROW_ITEMS = 2, CONTACT_ITEMS = 1 + ARROW_ITEMS }; // an arrow is a shaft and a head

// Receives meshes; and what they have in common.
typedef struct sink {
    const orr_world *world;
    int index; // of its copy
    const orr_layer_data *layer;
    orr_transform transform; // of the layer
    double size;             // of marks [m]: the mean size of the model's bodies
    const orr_draw_bodies
        *on_device; // bodies in memory of the machine that draws; NULL: the host gives transforms
    orr_transform device_transform; // of the frame that they are in
    const orr_transform *bodies;    // NULL: not read yet
    orr_drawn_planes *planes;
    orr_draw_mesh *meshes;
    int *count;
} sink;

// The transforms of bodies, for what the host draws by them: reading them waits for a device that simulates.
static orr_result read_host_bodies(sink *s, orr_error *error)
{
    return s->bodies ? ORR_OK : orr_world_robot_bodies(s->world, s->index, s->layer, &s->bodies, error);
}

static orr_result put(sink *s, const orr_mesh *mesh, int key, const float model[12])
{
    orr_draw_mesh *out = &s->meshes[(*s->count)++];
    *out = (orr_draw_mesh){.mesh = mesh, .key = s->layer->key + (uint64_t)key};
    memcpy(out->model, model, sizeof out->model);
    return ORR_OK;
}

// ---- marks ----

// A mesh with its axis z along `axis` (of length 1), `length` long and `radius` wide, in the robot's frame.
// The scale need not be uniform: normals of cylinders along z do not mind.
static orr_result put_along(sink *s, const orr_mesh *mesh, int key, const double at[3], const double axis[3],
                            double radius, double length, orr_error *error)
{
    double x[3], y[3];
    const double other[3] = {fabs(axis[0]) < 0.7, fabs(axis[0]) >= 0.7, 0.0};
    vec3_cross(other, axis, x);
    vec3_normalise(x);
    vec3_cross(axis, x, y);
    float local[12], layer_pose[12], model[12];
    for (int k = 0; k < 3; k++) {
        local[4 * k] = (float)(radius * x[k]);
        local[4 * k + 1] = (float)(radius * y[k]);
        local[4 * k + 2] = (float)(length * axis[k]);
        local[4 * k + 3] = (float)at[k];
    }
    ORR_TRY(orr_affine_from_transform(&s->transform, layer_pose, error));
    orr_affine_multiply(layer_pose, local, model);
    return put(s, mesh, key, model);
}

static orr_result put_mark(sink *s, orr_robot_mark mark, const double at[3], const double axis[3],
                           double radius, double length, orr_error *error)
{
    const orr_robot *robot = s->layer->robot;
    return put_along(s, robot->marks[mark], robot->geom_count + (int)mark, at, axis, radius, length, error);
}

static orr_result put_arrow(sink *s, const double from[3], const double along[3], double width,
                            orr_error *error)
{
    double axis[3] = {along[0], along[1], along[2]}, neck[3];
    double length = vec3_normalise(axis);
    if (!(length > 0.0) || !isfinite(length)) {
        return ORR_OK;
    }
    double head = fmin(4.0 * width, 0.5 * length);
    for (int k = 0; k < 3; k++) {
        neck[k] = from[k] + (length - head) * axis[k];
    }
    ORR_TRY(put_mark(s, ORR_ROBOT_MARK_SHAFT, from, axis, width, length - head, error));
    return put_mark(s, ORR_ROBOT_MARK_HEAD, neck, axis, 2.0 * width, head, error);
}

// How far the arrow of a force of 1 N reaches [m].
static double force_length(const orr_model *m)
{
    return m->stat.meanmass > 0.0 ? (double)m->vis.force_scale / m->stat.meanmass : 0.0;
}

static orr_result draw_contacts(sink *s, const orr_view *view, const orr_physics_contact *contacts, int count,
                                orr_error *error)
{
    const orr_model *m = s->layer->robot->model;
    double width = (double)m->vis.contactwidth * s->size, length = force_length(m);
    for (int i = 0; i < count; i++) {
        const orr_physics_contact *c = &contacts[i];
        double force[3];
        for (int k = 0; k < 3; k++) {
            // rows of frame; what the second geom feels
            force[k] =
                c->frame[k] * c->force[0] + c->frame[3 + k] * c->force[1] + c->frame[6 + k] * c->force[2];
            force[k] *= length;
        }
        if (view->contact_points) {
            ORR_TRY(put_mark(s, ORR_ROBOT_MARK_CONTACT, c->pos, c->frame, width,
                             (double)m->vis.contactheight * s->size, error));
        }
        if (view->contact_forces) {
            ORR_TRY(put_arrow(s, c->pos, force, 0.5 * (double)m->vis.forcewidth * s->size, error));
        }
    }
    return ORR_OK;
}

static orr_result draw_pull(sink *s, const orr_robot_pull *pull, orr_error *error)
{
    if (pull->body == 0) {
        return ORR_OK;
    }
    float body[12];
    double from[3], along[3];
    ORR_TRY(read_host_bodies(s, error));
    ORR_TRY(orr_affine_from_transform(&s->bodies[pull->body], body, error));
    for (int k = 0; k < 3; k++) {
        const float *row = body + 4 * k;
        from[k] = (double)row[0] * pull->point[0] + (double)row[1] * pull->point[1] +
                  (double)row[2] * pull->point[2] + (double)row[3];
        along[k] = pull->to[k] - from[k];
    }
    return put_arrow(s, from, along, 0.5 * (double)s->layer->robot->model->vis.forcewidth * s->size, error);
}

// ---- geoms ----

static bool is_endless(const orr_robot_geom *geom)
{
    return geom->stride[0] > 0.0f || geom->stride[1] > 0.0f;
}

// An endless plane comes along with the camera, by whole repeats of its texture.
static orr_result follow(const orr_robot_geom *geom, const float camera[3], float model[12], orr_error *error)
{
    float inverse[12];
    ORR_TRY(orr_affine_invert(model, inverse, error));
    for (int k = 0; k < 2; k++) {
        const float *row = inverse + 4 * k;
        float local = row[0] * camera[0] + row[1] * camera[1] + row[2] * camera[2] + row[3];
        float shift = geom->stride[k] > 0.0f ? roundf(local / geom->stride[k]) * geom->stride[k] : 0.0f;
        for (int i = 0; i < 3; i++) {
            model[4 * i + 3] += shift * model[4 * i + k];
        }
    }
    return ORR_OK;
}

// The plane at z = 0 of a mesh, as orr_drawn_planes has them.
static void find_plane(const float model[12], float plane[4])
{
    const float at[3] = {model[3], model[7], model[11]};
    const float normal[3] = {model[2], model[6], model[10]}, length = sqrtf(vec3f_dot(normal, normal));
    for (int k = 0; k < 3; k++) {
        plane[k] = normal[k] / length;
    }
    plane[3] = vec3f_dot(plane, at);
}

// Do planes coincide? model: of the mesh that one of them is of
static bool coincide(const float a[4], const float b[4], const float model[12])
{
    const float at[3] = {model[3], model[7], model[11]}, size = sqrtf(vec3f_dot(at, at));
    // what rounding of the camera's place and of a rotation in f32 makes of them
    return vec3f_dot(a, b) > 1.0f - 1e-6f && fabsf(a[3] - b[3]) <= 1e-6f * (1.0f + size);
}

// Is an endless plane drawn already where this one is? Notes it where none is.
static bool is_drawn(orr_drawn_planes *drawn, const orr_mesh *mesh, const float model[12],
                     const float plane[4])
{
    for (int i = 0; i < mesh->part_count; i++) {
        const orr_mesh_material *material = &mesh->materials[mesh->parts[i].material];
        if (material->blended || material->reflectance > 0.0f) {
            return false;
        }
    }
    for (int i = 0; i < drawn->count; i++) {
        if (coincide(drawn->planes[i], plane, model)) {
            return true;
        }
    }
    if (drawn->count < (int)(sizeof drawn->planes / sizeof *drawn->planes)) {
        memcpy(drawn->planes[drawn->count++], plane, sizeof drawn->planes[0]);
    }
    return false;
}

// A plane that is endless in both directions; the first is the ground.
static orr_result put_endless(sink *s, const orr_robot_geom *geom, int key, const float model[12])
{
    orr_drawn_planes *drawn = s->planes;
    float plane[4];
    find_plane(model, plane);
    if (!drawn->has_ground) {
        drawn->has_ground = true;
        memcpy(drawn->ground, plane, sizeof plane);
    }
    if (is_drawn(drawn, geom->mesh, model, plane)) {
        return ORR_OK;
    }
    ORR_TRY(put(s, geom->mesh, key, model));
    s->meshes[*s->count - 1].endless = coincide(drawn->ground, plane, model);
    return ORR_OK;
}

// A geom of a body that the device simulates.
static orr_result put_on_device(sink *s, const orr_robot_geom *geom, int key, orr_error *error)
{
    float model[12];
    ORR_TRY(orr_affine_from_transform(&s->device_transform, model, error));
    ORR_TRY(put(s, geom->mesh, key, model));
    orr_draw_mesh *out = &s->meshes[*s->count - 1];
    out->closed = geom->round_radius > 0.0f;
    out->bodies = s->on_device;
    out->body = geom->body;
    return orr_affine_from_transform(&geom->at, out->at, error);
}

// A geom at a pose that the host knows.
static orr_result put_at(sink *s, const orr_robot_geom *geom, int key, const orr_transform *body,
                         const float camera[3], orr_error *error)
{
    orr_transform pose = orr_transform_multiply(&s->transform, body);
    float model[12];
    pose = orr_transform_multiply(&pose, &geom->at);
    ORR_TRY(orr_affine_from_transform(&pose, model, error));
    if (is_endless(geom)) {
        ORR_TRY(follow(geom, camera, model, error));
        if (geom->stride[0] > 0.0f && geom->stride[1] > 0.0f) {
            return put_endless(s, geom, key, model);
        }
    }
    ORR_TRY(put(s, geom->mesh, key, model));
    s->meshes[*s->count - 1].closed = geom->round_radius > 0.0f;
    return ORR_OK;
}

static orr_result draw_geoms(sink *s, const orr_view *view, const float camera[3], orr_error *error)
{
    const orr_robot *robot = s->layer->robot;
    for (int i = 0; i < robot->geom_count; i++) {
        const orr_robot_geom *geom = &robot->geoms[i];
        unsigned char switched = geom->part == ORR_ROBOT_SITE ? view->site_groups : view->geom_groups;
        if (!orr_robot_group_drawn(geom->group, switched)) {
            continue;
        }
        if (s->on_device && orr_robot_body_is_fixed(robot->model, geom->body)) {
            ORR_TRY(put_at(s, geom, i, &robot->rest[geom->body], camera, error));
        } else if (s->on_device && !is_endless(geom)) {
            ORR_TRY(put_on_device(s, geom, i, error));
        } else {
            ORR_TRY(read_host_bodies(s, error));
            ORR_TRY(put_at(s, geom, i, &s->bodies[geom->body], camera, error));
        }
    }
    return ORR_OK;
}

// ---- tendons ----

static orr_result draw_tendon(sink *s, int tendon, const orr_tendon_point *points, int count,
                              orr_error *error)
{
    const orr_robot *robot = s->layer->robot;
    int key = robot->geom_count + ORR_ROBOT_MARK_COUNT + 2 * tendon;
    double before = 0.0; // how wide the piece that ends here is
    for (int i = 0; i < count; i++) {
        const orr_tendon_point *p = &points[i];
        // MuJoCo's: half as wide along a geom
        double width = robot->model->tendon_width[tendon] * (p->on_geom ? 0.5 : 1.0);
        double axis[3] = {0.0, 0.0, 1.0}, length = 0.0;
        for (int k = 0; k < 3 && p->goes_on; k++) {
            axis[k] = p[1].at[k] - p->at[k];
        }
        length = p->goes_on ? vec3_normalise(axis) : 0.0;
        if (length > 1e-9) {
            ORR_TRY(put_along(s, robot->tendons[2 * tendon], key, p->at, axis, width, length, error));
        }
        const double up[3] = {0.0, 0.0, 1.0}, round = fmax(before, width);
        ORR_TRY(put_along(s, robot->tendons[2 * tendon + 1], key + 1, p->at, up, round, round, error));
        before = p->goes_on ? width : 0.0;
    }
    return ORR_OK;
}

// Positions and quaternions of the bodies, in double.
static void read_bodies(const orr_model *m, const orr_transform *bodies, double *xpos, double *xquat)
{
    for (int i = 0; i < m->nbody; i++) {
        for (int k = 0; k < 4; k++) {
            xquat[4 * i + k] = (double)bodies[i].rotation[k];
            xpos[3 * i + k % 3] = (double)bodies[i].position[k % 3];
        }
    }
}

static orr_result draw_tendons(sink *s, const orr_view *view, orr_error *error)
{
    const orr_robot *robot = s->layer->robot;
    const orr_model *m = robot->model;
    if (robot->tendon_items == 0) {
        return ORR_OK;
    }
    double *numbers;
    orr_tendon_point *points;
    ORR_TRY(read_host_bodies(s, error));
    ORR_ALLOC(numbers, 7 * m->nbody, "tendons", error);
    points = orr_alloc((size_t)robot->tendon_items, sizeof *points);
    orr_result result = points ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: tendons");
    read_bodies(m, s->bodies, numbers, numbers + 3 * m->nbody);
    for (int i = 0; i < m->ntendon && result == ORR_OK; i++) {
        if (robot->tendons[2 * i] && orr_robot_group_drawn(m->tendon_group[i], view->tendon_groups)) {
            int count = orr_tendon_path(m, i, numbers, numbers + 3 * m->nbody, points);
            result = draw_tendon(s, i, points, count, error);
        }
    }
    orr_free(points);
    orr_free(numbers);
    return result;
}

// ---- a whole robot ----

orr_result orr_robot_items(const orr_scene *scene, const orr_world *world, const orr_view *view, int *count,
                           orr_error *error)
{
    *count = 0;
    for (int i = 0; i < scene->layer_count; i++) {
        const orr_layer_data *layer = &scene->layers[i];
        if (layer->kind == ORR_LAYER_ROBOT) {
            int contacts = 0;
            const orr_physics_contact *list;
            if (view->contact_points || view->contact_forces) {
                ORR_TRY(orr_world_robot_contacts(world, view->world, layer, &list, &contacts, error));
            }
            *count += layer->robot->geom_count + layer->robot->tendon_items + ARROW_ITEMS +
                      CONTACT_ITEMS * contacts;
        }
    }
    return ORR_OK;
}

orr_result orr_robot_draw(const orr_world *world, const orr_view *view, const orr_layer_data *layer,
                          const orr_transform *transform, const float camera[3],
                          orr_robot_bodies *device_bodies, orr_drawn_planes *planes, orr_draw_mesh *meshes,
                          int *mesh_count, orr_error *error)
{
    sink s = {.world = world,
              .index = view->world,
              .layer = layer,
              .transform = *transform,
              .size = layer->robot->model->stat.meansize,
              .planes = planes,
              .meshes = meshes,
              .count = mesh_count};
    if (device_bodies) {
        bool known;
        ORR_TRY(orr_world_robot_device_bodies(world, view->world, layer, device_bodies, &known, error));
        s.on_device = known ? &device_bodies->drawn : NULL;
        s.device_transform = device_bodies->joint ? device_bodies->transform : *transform;
    }
    ORR_TRY(draw_geoms(&s, view, camera, error));
    ORR_TRY(draw_tendons(&s, view, error));
    if (view->contact_points || view->contact_forces) {
        const orr_physics_contact *contacts;
        int count = 0;
        ORR_TRY(orr_world_robot_contacts(world, view->world, layer, &contacts, &count, error));
        ORR_TRY(draw_contacts(&s, view, contacts, count, error));
    }
    orr_robot_pull pull = orr_world_robot_pulled(world, layer);
    return draw_pull(&s, &pull, error);
}
