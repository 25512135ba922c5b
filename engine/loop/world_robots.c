#include "engine/loop/world_robots.h"

#include "engine/core/memory.h"
#include "engine/loop/world_device.h"
#include "engine/scene/transform.h"

#include <string.h>

orr_result orr_world_robots_create(int worlds, orr_engine *engine, orr_world_robots **out, orr_error *error)
{
    *out = orr_alloc_zero(1, sizeof **out);
    if (!*out) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a world's robots");
    }
    (*out)->worlds = worlds;
    (*out)->engine = engine;
    return ORR_OK;
}

static void close_robot(orr_world_robot *r)
{
    orr_physics_destroy(r->physics);
    orr_free(r->bodies);
    orr_free(r->numbers);
    orr_free(r->contacts);
    orr_robot_destroy(r->robot);
}

void orr_world_robots_destroy(orr_world_robots *robots)
{
    if (!robots) {
        return;
    }
    for (int i = 0; i < robots->count; i++) {
        close_robot(&robots->robots[i]);
    }
    orr_free(robots->robots);
    orr_free(robots);
}

// ---- one robot ----

static orr_result open_robot(const orr_world_robots *robots, const orr_layer_data *layer, orr_world_robot *r,
                             orr_error *error)
{
    const orr_model *m = layer->robot->model;
    *r = (orr_world_robot){.id = layer->id, .robot = layer->robot, .posed = -1};
    orr_robot_keep(r->robot);
    bool on_cuda = orr_world_device_is_cuda(robots->engine, robots->device, robots->worlds);
    ORR_TRY(orr_world_physics_create(robots->engine, on_cuda, robots->worlds, layer->name, m, &r->physics,
                                     error));
    ORR_ALLOC(r->bodies, m->nbody, "the bodies of a robot", error);
    memcpy(r->bodies, layer->robot->rest, (size_t)m->nbody * sizeof *r->bodies);
    ORR_ALLOC(r->numbers, 10 * m->nbody, "the bodies of a robot", error);
    return ORR_OK;
}

orr_result orr_world_robots_find(const orr_world *world, const orr_layer_data *layer, orr_world_robot **found,
                                 orr_error *error)
{
    orr_world_robots *robots = world->robots;
    for (int i = 0; i < robots->count; i++) {
        orr_pool_id id = robots->robots[i].id;
        if (id.slot == layer->id.slot && id.generation == layer->id.generation) {
            *found = &robots->robots[i];
            return ORR_OK;
        }
    }
    ORR_GROW(robots->robots, robots->capacity, robots->count + 1, "a world's robots", error);
    orr_world_robot made;
    orr_result result = open_robot(robots, layer, &made, error);
    if (result != ORR_OK) {
        close_robot(&made);
        return result;
    }
    *found = &robots->robots[robots->count++];
    **found = made;
    return ORR_OK;
}

void orr_world_robots_forget(const orr_world *world)
{
    orr_world_robots *robots = world->robots;
    for (int i = robots->count - 1; i >= 0; i--) {
        orr_pool_id id = robots->robots[i].id;
        if (orr_scene_find(world->scene, (orr_layer){id.slot, id.generation}) < 0) {
            close_robot(&robots->robots[i]);
            robots->robots[i] = robots->robots[--robots->count];
        }
    }
}

// ---- the machine ----

static orr_result move_to(const orr_world *world, orr_world_robot *r, bool cuda, orr_error *error)
{
    const orr_layer_data *layer =
        &world->scene->layers[orr_scene_find(world->scene, (orr_layer){r->id.slot, r->id.generation})];
    orr_physics *physics = NULL;
    ORR_TRY(orr_world_physics_create(world->robots->engine, cuda, world->count, layer->name, r->robot->model,
                                     &physics, error));
    orr_result result = orr_world_physics_copy(r->physics, physics, error);
    if (result != ORR_OK) {
        orr_physics_destroy(physics);
        return result;
    }
    orr_physics_destroy(r->physics);
    r->physics = physics;
    r->posed = -1;
    return ORR_OK;
}

orr_result orr_world_robots_move(const orr_world *world, orr_error *error)
{
    orr_world_robots *robots = world->robots;
    bool cuda = orr_world_device_is_cuda(robots->engine, robots->device, robots->worlds);
    orr_world_robots_forget(world);
    for (int i = 0; i < robots->count; i++) {
        if ((orr_physics_cuda(robots->robots[i].physics) != NULL) != cuda) {
            ORR_TRY(move_to(world, &robots->robots[i], cuda, error));
        }
    }
    return ORR_OK;
}

orr_result orr_world_robots_check(const orr_world *world, const orr_world_robot *r, orr_error *error)
{
    orr_error why = {0};
    if (orr_physics_status(r->physics, &why) == ORR_OK) {
        return ORR_OK;
    }
    double seconds;
    world->robots->device = ORR_DEVICE_CPU;
    orr_physics_get(r->physics, ORR_PHYSICS_TIME, 0, &seconds);
    ORR_TRY(orr_world_robots_move(world, error));
    return orr_fail(error, (orr_code)why.code,
                    "%s: robots go on on the CPU as it knew them last (world 0: %g s)", why.message, seconds);
}

orr_result orr_world_robot_physics(const orr_world *world, const orr_layer_data *layer, orr_physics **physics,
                                   orr_error *error)
{
    orr_world_robot *r = NULL;
    ORR_TRY(orr_world_robots_find(world, layer, &r, error));
    *physics = r->physics;
    return ORR_OK;
}

void orr_world_robot_moved(const orr_world *world, const orr_layer_data *layer)
{
    orr_world_robot *r = NULL;
    if (orr_world_robots_find(world, layer, &r, NULL) == ORR_OK) {
        r->posed = -1;
    }
}

orr_result orr_world_robot_bodies(const orr_world *world, int index, const orr_layer_data *layer,
                                  const orr_transform **bodies, orr_error *error)
{
    orr_world_robot *r = NULL;
    orr_result result = orr_world_robots_find(world, layer, &r, error);
    if (result == ORR_ERROR_UNSUPPORTED) { // it does not move; stepping it says why
        *bodies = layer->robot->rest;
        return ORR_OK;
    }
    ORR_TRY(result);
    *bodies = r->bodies;
    if (r->posed == index || orr_physics_diverged(r->physics, index)) {
        return ORR_OK;
    }
    int count = r->robot->model->nbody;
    double *position = r->numbers, *rotation = r->numbers + 3 * count;
    orr_physics_read(r->physics, ORR_PHYSICS_XPOS, index, position);
    orr_physics_read(r->physics, ORR_PHYSICS_XQUAT, index, rotation);
    ORR_TRY(orr_world_robots_check(world, r, error));
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
    if (result != ORR_OK || !orr_physics_cuda(r->physics)) {
        return result == ORR_ERROR_UNSUPPORTED ? ORR_OK : result;
    }
    result = orr_physics_device_bodies(r->physics, index, &bodies->memory, NULL);
    ORR_TRY(orr_world_robots_check(world, r, error));
    if (result != ORR_OK) { // no memory: it is drawn by what the host reads
        return ORR_OK;
    }
    bodies->drawn = (orr_draw_bodies){
        .position = bodies->memory.position, .rotation = bodies->memory.rotation, .stride = 1};
    *there = true;
    return ORR_OK;
}

orr_result orr_world_robot_contacts(const orr_world *world, int index, const orr_layer_data *layer,
                                    const orr_physics_contact **contacts, int *count, orr_error *error)
{
    orr_world_robot *r = NULL;
    *contacts = NULL;
    *count = 0;
    ORR_TRY(orr_world_robots_find(world, layer, &r, error));
    if (orr_physics_diverged(r->physics, index)) {
        return ORR_OK;
    }
    int found = orr_physics_contacts(r->physics, index, r->contacts, r->contact_capacity);
    ORR_TRY(orr_world_robots_check(world, r, error));
    if (found > r->contact_capacity) {
        orr_free(r->contacts);
        r->contact_capacity = 0;
        ORR_ALLOC(r->contacts, 2 * found, "contacts", error);
        r->contact_capacity = 2 * found;
        found = orr_physics_contacts(r->physics, index, r->contacts, r->contact_capacity);
    }
    *contacts = r->contacts;
    *count = found;
    return ORR_OK;
}

orr_result orr_world_robot_pull(orr_world *world, const orr_layer_data *layer, const orr_robot_pull *pull,
                                orr_error *error)
{
    orr_world_robot *r = NULL;
    ORR_TRY(orr_world_robots_find(world, layer, &r, error));
    r->pull = *pull;
    if (pull->body == 0) {
        orr_robot_release(r->physics, 0);
    }
    return ORR_OK;
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
