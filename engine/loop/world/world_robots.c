#include "engine/loop/world/world_robots.h"

#include "engine/core/memory.h"
#include "engine/loop/world/world_device.h"
#include "engine/maths/rotation.h"
#include "engine/scene/transform.h"

#include <math.h>
#include <string.h>

orr_result orr_world_robots_create(const orr_world_desc *desc, orr_engine *engine, orr_world_robots **out,
                                   orr_error *error)
{
    *out = orr_alloc_zero(1, sizeof **out);
    if (!*out) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a world's robots");
    }
    (*out)->desc = *desc;
    (*out)->engine = engine;
    return ORR_OK;
}

void orr_world_robot_close(orr_world_robot *r)
{
    if (r) {
        orr_free(r->bodies);
        orr_free(r->numbers);
        orr_free(r->contacts);
        for (int i = 0; i < ORR_ROBOT_PARAMETERS; i++) {
            orr_free(r->varied[i]);
        }
        orr_robot_destroy(r->robot);
        orr_free(r);
    }
}

void orr_world_robots_close_all(orr_world_robots *robots)
{
    for (int i = 0; i < robots->count; i++) {
        orr_world_robot_close(robots->robots[i]);
    }
    for (int i = 0; i < robots->physics_count; i++) {
        orr_world_physics_destroy(robots->physics[i]);
    }
    orr_free(robots->robots);
    orr_free(robots->physics);
}

void orr_world_robots_destroy(orr_world_robots *robots)
{
    if (robots) {
        orr_world_robots_close_all(robots);
        orr_free(robots);
    }
}

// ---- the machine ----

static orr_result move_to(const orr_world *world, orr_world_physics *p, bool cuda, orr_error *error)
{
    orr_physics *physics = NULL;
    orr_physics *before = p->physics;
    ORR_TRY(orr_world_physics_create(world->robots, cuda, false, p->name, p->model, &physics, error));
    p->physics = physics;
    orr_result result = orr_world_parameters_renew(world, p, error);
    result = result == ORR_OK ? orr_world_physics_copy(before, physics, error) : result;
    if (result != ORR_OK) {
        p->physics = before;
        orr_physics_destroy(physics);
        return result;
    }
    orr_physics_destroy(before);
    orr_world_robots_moved(world, p);
    return ORR_OK;
}

orr_result orr_world_robots_move(const orr_world *world, orr_error *error)
{
    orr_world_robots *robots = world->robots;
    bool cuda = orr_world_device_is_cuda(robots->engine, robots->desc.device, robots->desc.count);
    ORR_TRY(orr_world_robots_update(world, error));
    for (int i = 0; i < robots->physics_count; i++) {
        orr_world_physics *p = robots->physics[i];
        if (p->physics && (orr_physics_cuda(p->physics) != NULL) != cuda) {
            ORR_TRY(move_to(world, p, cuda, error));
        }
    }
    return ORR_OK;
}

orr_result orr_world_robots_check(const orr_world *world, const orr_world_physics *physics, orr_error *error)
{
    orr_error why = {0};
    if (!physics->physics || orr_physics_status(physics->physics, &why) == ORR_OK) {
        return ORR_OK;
    }
    if (!orr_physics_cuda(physics->physics)) {
        return orr_fail(error, (orr_code)why.code, "%s", why.message);
    }
    double seconds;
    world->robots->desc.device = ORR_DEVICE_CPU;
    orr_physics_get(physics->physics, ORR_PHYSICS_TIME, 0, &seconds);
    ORR_TRY(orr_world_robots_move(world, error));
    return orr_fail(error, (orr_code)why.code,
                    "%s: robots continue on the CPU from their last known state (world 0: %g s)", why.message,
                    seconds);
}

// ---- what is read ----

// Are places and rotations of bodies, 7 numbers of each, what a transform can be? A state that was set need
// not be finite, or is so large that its squares are not.
static bool can_be_drawn(const double *numbers, int bodies)
{
    bool can = true;
    for (int i = 0; i < 7 * bodies; i++) {
        can = can && fabs(numbers[i]) < 1e15;
    }
    return can;
}

orr_result orr_world_robot_bodies(const orr_world *world, int index, const orr_layer_data *layer,
                                  const orr_transform **bodies, orr_error *error)
{
    orr_world_robot *r = NULL;
    orr_result result = orr_world_robots_find(world, layer, &r, error);
    if (result == ORR_ERROR_UNSUPPORTED) { // it does not move; stepping it says why
        *bodies = orr_layer_physical(layer)->rest;
        return ORR_OK;
    }
    ORR_TRY(result);
    *bodies = r->bodies;
    if (r->posed == index || orr_physics_diverged(r->physics->physics, index)) {
        return ORR_OK;
    }
    int count = r->robot->model->nbody;
    double *position = r->numbers, *rotation = r->numbers + 3 * count;
    orr_world_robot_read(world, index, r, ORR_PHYSICS_XPOS, position);
    orr_world_robot_read(world, index, r, ORR_PHYSICS_XQUAT, rotation);
    ORR_TRY(orr_world_robots_check(world, r->physics, error));
    if (!can_be_drawn(position, count)) { // its next step says that it has diverged
        return ORR_OK;
    }
    for (int i = 0; i < count; i++) {
        orr_transform *body = &r->bodies[i];
        *body = (orr_transform){.scale = 1.0f};
        for (int k = 0; k < 4; k++) {
            body->rotation[k] = (float)rotation[4 * i + k];
        }
        for (int k = 0; k < 3; k++) {
            body->position[k] = (float)position[3 * i + k];
        }
    }
    r->posed = index;
    return ORR_OK;
}

orr_result orr_world_robot_device_bodies(const orr_world *world, int index, const orr_layer_data *layer,
                                         orr_robot_bodies *bodies, bool *there, orr_error *error)
{
    orr_world_robot *r = NULL;
    *there = false;
    orr_result result = orr_world_robots_find(world, layer, &r, error);
    if (result != ORR_OK || !orr_physics_cuda(r->physics->physics)) {
        return result == ORR_ERROR_UNSUPPORTED ? ORR_OK : result;
    }
    result = orr_physics_device_bodies(r->physics->physics, index, &bodies->memory, NULL);
    ORR_TRY(orr_world_robots_check(world, r->physics, error));
    if (result != ORR_OK) { // no memory: it is drawn by what the host reads
        return ORR_OK;
    }
    ptrdiff_t before = r->place.body - 1; // bodies of other robots
    bodies->drawn = (orr_draw_bodies){.position = bodies->memory.position + 3 * before,
                                      .rotation = bodies->memory.rotation + 4 * before,
                                      .stride = 1};
    bodies->joint = r->physics->joint;
    bodies->transform = r->physics->frame;
    *there = true;
    return ORR_OK;
}

static int own_geom(const orr_world_robot *r, int geom)
{
    const orr_model *m = r->robot->model;
    int world_geom = geom - r->place.world_geom, other = geom - r->place.geom;
    if (world_geom >= 0 && world_geom < r->place.world_geoms) {
        return world_geom;
    }
    return other >= 0 && other < m->ngeom - r->place.world_geoms ? r->place.world_geoms + other : -1;
}

int orr_world_robot_keep_contacts(const orr_world *world, int index, const orr_world_robot *r,
                                  orr_physics_contact *contacts, int count)
{
    orr_pose pose = orr_world_robot_pose(world, index, r), back = orr_pose_inverse(&pose);
    int kept = 0;
    for (int i = 0; i < count; i++) {
        orr_physics_contact c = contacts[i];
        c.geom1 = own_geom(r, c.geom1);
        c.geom2 = own_geom(r, c.geom2);
        if (c.geom1 >= 0) {
            orr_world_physics_move_contact(&back, &c);
            contacts[kept++] = c;
        }
    }
    return kept;
}

orr_result orr_world_robot_contacts(const orr_world *world, int index, const orr_layer_data *layer,
                                    const orr_physics_contact **contacts, int *count, orr_error *error)
{
    orr_world_robot *r = NULL;
    *contacts = NULL;
    *count = 0;
    ORR_TRY(orr_world_robots_find(world, layer, &r, error));
    orr_physics *physics = r->physics->physics;
    if (orr_physics_diverged(physics, index)) {
        return ORR_OK;
    }
    int found = orr_physics_contacts(physics, index, r->contacts, r->contact_capacity);
    ORR_TRY(orr_world_robots_check(world, r->physics, error));
    if (found > r->contact_capacity) {
        orr_free(r->contacts);
        r->contacts = NULL;
        r->contact_capacity = 0;
        ORR_ALLOC(r->contacts, 2 * found, "contacts", error);
        r->contact_capacity = 2 * found;
        found = orr_physics_contacts(physics, index, r->contacts, r->contact_capacity);
    }
    *contacts = r->contacts;
    *count = r->physics->joint ? orr_world_robot_keep_contacts(world, index, r, r->contacts, found) : found;
    return ORR_OK;
}

// ---- pulling ----

orr_result orr_world_robot_pull(orr_world *world, const orr_layer_data *layer, const orr_robot_pull *pull,
                                orr_error *error)
{
    orr_world_robot *r = NULL;
    ORR_TRY(orr_world_robots_find(world, layer, &r, error));
    r->pull = *pull;
    if (pull->body == 0) {
        orr_world_robot_clear(world, 0, r, ORR_PHYSICS_XFRC_APPLIED);
    }
    return ORR_OK;
}

void orr_world_robot_apply_pull(const orr_world *world, orr_world_robot *r)
{
    orr_pose pose = orr_world_robot_pose(world, 0, r);
    double turn[4] = {1.0, 0.0, 0.0, 0.0}, force[6];
    orr_robot_pull pull = r->pull;
    pull.body = orr_model_place_body(&r->place, pull.body);
    frame_compose(pose.pos, pose.quat, pull.to, turn);
    if (orr_robot_pull_force(r->physics->model, r->physics->physics, 0, &pull, force)) {
        memset(r->numbers, 0, 6 * (size_t)r->robot->model->nbody * sizeof *r->numbers);
        memcpy(r->numbers + 6 * (size_t)r->pull.body, force, sizeof force);
        orr_world_robot_write_raw(0, r, ORR_PHYSICS_XFRC_APPLIED, r->numbers);
    }
}

orr_robot_pull orr_world_robot_pulled(const orr_world *world, const orr_layer_data *layer)
{
    orr_world_robot *r = NULL;
    return orr_world_robots_find(world, layer, &r, NULL) == ORR_OK ? r->pull : (orr_robot_pull){0};
}

orr_result orr_world_layer_transform(const orr_world *world, int index, const orr_layer_data *layer,
                                     const orr_transform *own, orr_transform *transform, orr_error *error)
{
    const orr_layer_data *robot = orr_scene_bound_robot(world->scene, layer);
    orr_transform moved = *own;
    if (layer->kind != ORR_LAYER_ROBOT && orr_layer_physical(layer) && layer->body->model->nbody > 1) {
        const orr_transform *bodies = NULL;
        ORR_TRY(orr_world_robot_bodies(world, index, layer, &bodies, error));
        const orr_transform frame = orr_layer_frame(layer, own),
                            shape = {.rotation = {1.0f}, .scale = own->scale};
        orr_transform body = orr_transform_multiply(&frame, &bodies[1]);
        moved = orr_transform_multiply(&body, &shape);
    }
    if (robot) {
        const orr_transform *bodies = NULL;
        ORR_TRY(orr_world_robot_bodies(world, index, robot, &bodies, error));
        orr_layer_state state = orr_world_state(world, index, robot);
        orr_transform body = orr_transform_multiply(&state.transform, &bodies[layer->bound_body]);
        moved = orr_transform_multiply(&body, own);
    }
    *transform = moved;
    return ORR_OK;
}
