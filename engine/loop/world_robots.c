// Robots as they move in a world.
#include "engine/core/memory.h"
#include "engine/loop/ladder.h"
#include "engine/loop/robot_pull.h"
#include "engine/loop/scene.h"
#include "engine/loop/transform.h"
#include "engine/loop/world_machine.h"

#include <math.h>
#include <string.h>

// One robot in all copies of a world.
typedef struct world_robot {
    orr_pool_id id;
    orr_robot *robot;
    orr_physics *physics;
    double owed;           // [s] asked for by advance and less than a step
    orr_transform *bodies; // nbody, of world `posed`
    double *numbers;       // scratch: as many as the largest field that is read
    int posed;             // -1: of none
    orr_physics_contact *contacts;
    int contact_capacity;
    orr_robot_pull pull;
} world_robot;

struct orr_world_robots {
    world_robot *robots; // count
    int count, capacity;
    int worlds;
    orr_engine *engine;
    orr_device_kind wanted; // of orr_world_set_device
};

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

static void close_robot(world_robot *r)
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

static orr_result open_robot(const orr_world_robots *robots, const orr_layer_data *layer, world_robot *r,
                             orr_error *error)
{
    const orr_model *m = layer->robot->model;
    *r = (world_robot){.id = layer->id, .robot = layer->robot, .posed = -1};
    orr_robot_keep(r->robot);
    bool on_cuda = orr_machine_is_cuda(robots->engine, robots->wanted, robots->worlds);
    ORR_TRY(orr_machine_open(robots->engine, on_cuda, robots->worlds, layer->name, m, &r->physics, error));
    ORR_ALLOC(r->bodies, m->nbody, "the bodies of a robot", error);
    memcpy(r->bodies, layer->robot->rest, (size_t)m->nbody * sizeof *r->bodies);
    ORR_ALLOC(r->numbers, 10 * m->nbody, "the bodies of a robot", error);
    return ORR_OK;
}

static orr_result reserve_one(orr_world_robots *robots, orr_error *error)
{
    if (robots->count < robots->capacity) {
        return ORR_OK;
    }
    int capacity = robots->capacity ? 2 * robots->capacity : 4;
    world_robot *more;
    ORR_ALLOC(more, capacity, "a world's robots", error);
    if (robots->count > 0) {
        memcpy(more, robots->robots, (size_t)robots->count * sizeof *more);
    }
    orr_free(robots->robots);
    robots->robots = more;
    robots->capacity = capacity;
    return ORR_OK;
}

// The robot of a layer, which begins to move when it is first asked for.
static orr_result find(const orr_world *world, const orr_layer_data *layer, world_robot **found,
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
    ORR_TRY(reserve_one(robots, error));
    world_robot made;
    orr_result result = open_robot(robots, layer, &made, error);
    if (result != ORR_OK) {
        close_robot(&made);
        return result;
    }
    *found = &robots->robots[robots->count++];
    **found = made;
    return ORR_OK;
}

static void forget_removed(const orr_world *world)
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

static orr_result move_to(const orr_world *world, world_robot *r, bool cuda, orr_error *error)
{
    const orr_layer_data *layer =
        &world->scene->layers[orr_scene_find(world->scene, (orr_layer){r->id.slot, r->id.generation})];
    orr_physics *physics = NULL;
    ORR_TRY(orr_machine_open(world->robots->engine, cuda, world->count, layer->name, r->robot->model,
                             &physics, error));
    orr_result result = orr_machine_copy_states(r->physics, physics, error);
    if (result != ORR_OK) {
        orr_physics_destroy(physics);
        return result;
    }
    orr_physics_destroy(r->physics);
    r->physics = physics;
    r->posed = -1;
    return ORR_OK;
}

// Robots that are not on the machine they belong on.
static orr_result move_all(const orr_world *world, orr_error *error)
{
    orr_world_robots *robots = world->robots;
    bool cuda = orr_machine_is_cuda(robots->engine, robots->wanted, robots->worlds);
    forget_removed(world);
    for (int i = 0; i < robots->count; i++) {
        if ((orr_physics_cuda(robots->robots[i].physics) != NULL) != cuda) {
            ORR_TRY(move_to(world, &robots->robots[i], cuda, error));
        }
    }
    return ORR_OK;
}

// Has the device failed that moves a robot? All go on on the CPU then, and the caller hears of it once.
static orr_result check_device(const orr_world *world, const world_robot *r, orr_error *error)
{
    orr_error why = {0};
    if (orr_physics_status(r->physics, &why) == ORR_OK) {
        return ORR_OK;
    }
    double seconds;
    world->robots->wanted = ORR_DEVICE_CPU;
    orr_physics_get(r->physics, ORR_PHYSICS_TIME, 0, &seconds);
    ORR_TRY(move_all(world, error));
    return orr_fail(error, (orr_code)why.code,
                    "%s: robots go on on the CPU as it knew them last (world 0: %g s)", why.message, seconds);
}

orr_result orr_world_robot_physics(const orr_world *world, const orr_layer_data *layer, orr_physics **physics,
                                   orr_error *error)
{
    world_robot *r = NULL;
    ORR_TRY(find(world, layer, &r, error));
    *physics = r->physics;
    return ORR_OK;
}

void orr_world_robot_moved(const orr_world *world, const orr_layer_data *layer)
{
    world_robot *r = NULL;
    if (find(world, layer, &r, NULL) == ORR_OK) {
        r->posed = -1;
    }
}

orr_result orr_world_robot_bodies(const orr_world *world, int index, const orr_layer_data *layer,
                                  const orr_transform **bodies, orr_error *error)
{
    world_robot *r = NULL;
    orr_result result = find(world, layer, &r, error);
    if (result == ORR_ERROR_UNSUPPORTED) { // it stands still; stepping it says why
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
    ORR_TRY(check_device(world, r, error));
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
    world_robot *r = NULL;
    *there = false;
    orr_result result = find(world, layer, &r, error);
    if (result != ORR_OK || !orr_physics_cuda(r->physics)) {
        return result == ORR_ERROR_UNSUPPORTED ? ORR_OK : result;
    }
    result = orr_physics_device_bodies(r->physics, index, &bodies->memory, NULL);
    ORR_TRY(check_device(world, r, error));
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
    world_robot *r = NULL;
    *contacts = NULL;
    *count = 0;
    ORR_TRY(find(world, layer, &r, error));
    if (orr_physics_diverged(r->physics, index)) {
        return ORR_OK;
    }
    int found = orr_physics_contacts(r->physics, index, r->contacts, r->contact_capacity);
    ORR_TRY(check_device(world, r, error));
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
    world_robot *r = NULL;
    ORR_TRY(find(world, layer, &r, error));
    r->pull = *pull;
    if (pull->body == 0) {
        orr_robot_release(r->physics, 0);
    }
    return ORR_OK;
}

orr_robot_pull orr_world_robot_pulled(const orr_world *world, const orr_layer_data *layer)
{
    world_robot *r = NULL;
    return find(world, layer, &r, NULL) == ORR_OK ? r->pull : (orr_robot_pull){0};
}

// ---- the public door ----

static orr_result find_layer(const orr_scene *scene, orr_layer id, const orr_layer_data **layer,
                             orr_error *error)
{
    int place = orr_scene_find(scene, id);
    if (place < 0) {
        return orr_scene_stale(id, error);
    }
    *layer = &scene->layers[place];
    if ((*layer)->kind != ORR_LAYER_ROBOT) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "layer %s: expected a robot", (*layer)->name);
    }
    return ORR_OK;
}

orr_result orr_scene_robot_info(const orr_scene *scene, orr_layer id, orr_robot_info *info, orr_error *error)
{
    const orr_layer_data *layer = NULL;
    ORR_TRY(find_layer(scene, id, &layer, error));
    const orr_model *m = layer->robot->model;
    *info = (orr_robot_info){.qpos_count = m->nq,
                             .qvel_count = m->nv,
                             .act_count = m->na,
                             .ctrl_count = m->nu,
                             .body_count = m->nbody,
                             .keyframe_count = m->nkey,
                             .timestep = m->opt.timestep};
    return ORR_OK;
}

const char *orr_scene_robot_body(const orr_scene *scene, orr_layer id, int body)
{
    const orr_layer_data *layer = NULL;
    if (find_layer(scene, id, &layer, NULL) != ORR_OK || body < 0 || body >= layer->robot->model->nbody) {
        return NULL;
    }
    return orr_model_name(layer->robot->model, ORR_OBJECT_BODY, body);
}

static void step_robot(world_robot *r, int steps)
{
    if (steps == 0) {
        return;
    }
    if (r->pull.body == 0) {
        orr_physics_step(r->physics, steps);
    }
    for (int i = 0; i < steps && r->pull.body != 0; i++) {
        orr_robot_apply_pull(r->robot->model, r->physics, 0, &r->pull);
        orr_physics_step(r->physics, 1);
    }
    r->posed = -1;
}

// Every robot of the scene, made to move if it did not yet.
static orr_result for_each(orr_world *world, orr_error *error, void (*visit)(world_robot *r, double amount),
                           double amount)
{
    forget_removed(world);
    for (int i = 0; i < world->scene->layer_count; i++) {
        world_robot *r = NULL;
        if (world->scene->layers[i].kind == ORR_LAYER_ROBOT) {
            ORR_TRY(find(world, &world->scene->layers[i], &r, error));
            visit(r, amount);
            ORR_TRY(check_device(world, r, error));
        }
    }
    return ORR_OK;
}

static void visit_step(world_robot *r, double steps)
{
    step_robot(r, (int)steps);
}

static void visit_advance(world_robot *r, double seconds)
{
    double step = r->robot->model->opt.timestep;
    r->owed += seconds;
    // a step that lacks no more than rounding is due
    double due = floor(r->owed / step + 1e-9);
    r->owed -= due * step;
    step_robot(r, (int)fmin(due, 1e9));
}

orr_result orr_world_set_device(orr_world *world, orr_device_kind device, orr_error *error)
{
    orr_cuda *cuda;
    if (device != ORR_DEVICE_AUTO && device != ORR_DEVICE_CPU && device != ORR_DEVICE_CUDA) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "robots on %s: expected auto, cpu or cuda",
                        orr_device_name(device));
    }
    if (device == ORR_DEVICE_CUDA) {
        ORR_TRY(orr_engine_take_cuda(world->robots->engine, &cuda, error));
    }
    world->robots->wanted = device;
    return move_all(world, error);
}

orr_device_kind orr_world_device(const orr_world *world)
{
    bool cuda = false;
    for (int i = 0; i < world->robots->count; i++) {
        cuda |= orr_physics_cuda(world->robots->robots[i].physics) != NULL;
    }
    return cuda ? ORR_DEVICE_CUDA : ORR_DEVICE_CPU;
}

orr_result orr_world_step(orr_world *world, int steps, orr_error *error)
{
    if (steps < 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%d steps: expected 0 or more", steps);
    }
    return for_each(world, error, visit_step, steps);
}

orr_result orr_world_advance(orr_world *world, double seconds, orr_error *error)
{
    if (!(seconds >= 0.0 && seconds <= 1e6)) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%g seconds: expected 0 to 1e6", seconds);
    }
    return for_each(world, error, visit_advance, seconds);
}

static orr_result check_index(const orr_world *world, int index, orr_error *error)
{
    if (index < 0 || index >= world->count) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "world %d: expected 0 to %d", index, world->count - 1);
    }
    return ORR_OK;
}

static orr_result open_state(const orr_world *world, int index, orr_layer id, world_robot **r,
                             orr_error *error)
{
    const orr_layer_data *layer = NULL;
    ORR_TRY(check_index(world, index, error));
    ORR_TRY(find_layer(world->scene, id, &layer, error));
    return find(world, layer, r, error);
}

orr_result orr_world_reset_robot(orr_world *world, int index, orr_layer id, int keyframe, orr_error *error)
{
    world_robot *r = NULL;
    ORR_TRY(open_state(world, index, id, &r, error));
    const orr_model *m = r->robot->model;
    if (keyframe < -1 || keyframe >= m->nkey) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "keyframe %d: expected one of %d, from 0, or -1", keyframe,
                        m->nkey);
    }
    orr_physics_reset(r->physics, index);
    r->posed = -1;
    if (keyframe >= 0) {
        const size_t k = (size_t)keyframe;
        const struct {
            orr_physics_field field;
            const double *values;
        } parts[] = {{ORR_PHYSICS_TIME, m->key_time + k},
                     {ORR_PHYSICS_QPOS, m->key_qpos + k * (size_t)m->nq},
                     {ORR_PHYSICS_QVEL, m->key_qvel + k * (size_t)m->nv},
                     {ORR_PHYSICS_ACT, m->key_act + k * (size_t)m->na},
                     {ORR_PHYSICS_CTRL, m->key_ctrl + k * (size_t)m->nu},
                     {ORR_PHYSICS_MOCAP_POS, m->key_mpos + k * 3 * (size_t)m->nmocap},
                     {ORR_PHYSICS_MOCAP_QUAT, m->key_mquat + k * 4 * (size_t)m->nmocap}};
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            orr_physics_set(r->physics, parts[i].field, index, parts[i].values);
        }
    }
    return check_device(world, r, error);
}

static const orr_physics_field fields[] = {
    [ORR_ROBOT_TIME] = ORR_PHYSICS_TIME, [ORR_ROBOT_QPOS] = ORR_PHYSICS_QPOS,
    [ORR_ROBOT_QVEL] = ORR_PHYSICS_QVEL, [ORR_ROBOT_ACT] = ORR_PHYSICS_ACT,
    [ORR_ROBOT_CTRL] = ORR_PHYSICS_CTRL, [ORR_ROBOT_FORCE] = ORR_PHYSICS_XFRC_APPLIED,
};

static orr_result check_field(orr_robot_field field, orr_error *error)
{
    if ((unsigned)field >= sizeof fields / sizeof fields[0]) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "robot field %d: expected an orr_robot_field", (int)field);
    }
    return ORR_OK;
}

orr_result orr_world_get_robot(const orr_world *world, int index, orr_layer id, orr_robot_field field,
                               double *values, orr_error *error)
{
    world_robot *r = NULL;
    ORR_TRY(check_field(field, error));
    ORR_TRY(open_state(world, index, id, &r, error));
    orr_physics_get(r->physics, fields[field], index, values);
    return check_device(world, r, error);
}

orr_result orr_world_set_robot(orr_world *world, int index, orr_layer id, orr_robot_field field,
                               const double *values, orr_error *error)
{
    world_robot *r = NULL;
    ORR_TRY(check_field(field, error));
    ORR_TRY(open_state(world, index, id, &r, error));
    orr_physics_set(r->physics, fields[field], index, values);
    r->posed = -1;
    return check_device(world, r, error);
}

orr_result orr_world_robot_diverged(const orr_world *world, int index, orr_layer id, bool *diverged,
                                    orr_error *error)
{
    world_robot *r = NULL;
    ORR_TRY(open_state(world, index, id, &r, error));
    *diverged = orr_physics_diverged(r->physics, index);
    return check_device(world, r, error);
}

orr_result orr_world_body_transform(const orr_world *world, int index, orr_layer id, int body,
                                    orr_transform *transform, orr_error *error)
{
    const orr_layer_data *layer = NULL;
    const orr_transform *bodies = NULL;
    ORR_TRY(check_index(world, index, error));
    ORR_TRY(find_layer(world->scene, id, &layer, error));
    int count = layer->robot->model->nbody;
    if (body < 0 || body >= count) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "body %d: expected 0 to %d", body, count - 1);
    }
    ORR_TRY(orr_world_robot_bodies(world, index, layer, &bodies, error));
    orr_layer_state state = orr_world_state(world, index, layer);
    *transform = orr_transform_multiply(&state.transform, &bodies[body]);
    return ORR_OK;
}
