// Which robots of the scene are in which physics, now; and the states of those that stay.
#include "engine/core/memory.h"
#include "engine/loop/world/world_device.h"
#include "engine/loop/world/world_robots.h"
#include "engine/maths/rotation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Of any quantity, or of XPOS and XQUAT together.
static int largest_quantity(const orr_model *m)
{
    int most = 7 * m->nbody;
    for (int i = 0; i < ORR_PHYSICS_QUANTITY_COUNT; i++) {
        const orr_number_range range =
            orr_world_physics_range(&(orr_model_place){.body = 1}, m, (orr_physics_quantity)i);
        most = range.own + range.count > most ? range.own + range.count : most;
    }
    return most;
}

static orr_result make_robot(const orr_layer_data *layer, orr_world_robot **out, orr_error *error)
{
    orr_robot *robot = orr_layer_physical(layer);
    const orr_model *m = robot->model;
    *out = NULL;
    orr_world_robot *r = orr_alloc_zero(1, sizeof *r);
    if (!r) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a world's robots");
    }
    *r = (orr_world_robot){.id = layer->id, .robot = robot, .posed = -1, .place = {.body = 1}};
    orr_robot_keep(r->robot);
    r->bodies = orr_alloc((size_t)m->nbody, sizeof *r->bodies);
    r->numbers = orr_alloc((size_t)largest_quantity(m), sizeof *r->numbers);
    if (!r->bodies || !r->numbers) {
        orr_world_robot_close(r);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the bodies of a robot");
    }
    memcpy(r->bodies, robot->rest, (size_t)m->nbody * sizeof *r->bodies);
    *out = r;
    return ORR_OK;
}

static const orr_layer_data *layer_of(const orr_world *world, const orr_world_robot *r)
{
    return &world->scene->layers[orr_scene_find(world->scene, (orr_layer){r->id.slot, r->id.generation})];
}

// Is a part of the robot fixed to its world, so that it is part of the compiled model?
static bool is_fixed_somewhere(const orr_model *m)
{
    bool fixed = m->body_geomnum[0] > 0;
    for (int i = 1; i < m->nbody; i++) {
        bool free = m->body_jntnum[i] == 1 && m->jnt_type[m->body_jntadr[i]] == ORR_JOINT_FREE;
        fixed |= m->body_parentid[i] == 0 && !free && m->body_mocapid[i] < 0;
    }
    return fixed;
}

static orr_result check_places(const orr_world *world, const orr_world_robot *r, orr_error *error)
{
    for (int i = 1; i < world->count && is_fixed_somewhere(r->robot->model); i++) {
        orr_pose pose = orr_world_robot_pose(world, i, r);
        if (memcmp(&pose, &r->fixed_at, sizeof pose) != 0) {
            return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                            "%s: a robot that is fixed to the scene and simulated with others: expected the "
                            "same transform in all copies of the world",
                            layer_of(world, r)->name);
        }
    }
    return ORR_OK;
}

// Each robot's line is not repeated when other layers come and go.
static void log_differences(const orr_world *world, orr_world_robot *const *members, int count,
                            const orr_model *joint)
{
    char text[256];
    const orr_pool_id first = members[0]->id;
    for (int i = 1; i < count; i++) {
        orr_world_robot *r = members[i];
        const bool told = r->told_of.slot == first.slot && r->told_of.generation == first.generation &&
                          r->told_step == joint->opt.timestep;
        r->told_of = first;
        r->told_step = joint->opt.timestep;
        orr_model_option_differences(&members[0]->robot->model->opt, &r->robot->model->opt, text,
                                     sizeof text);
        if (text[0] && !told && layer_of(world, r)->kind == ORR_LAYER_ROBOT) { // bodies have no options
            orr_log_line(world->scene->context.log, ORR_LOG_INFO, ORR_CODE_MODEL_FILE,
                         "%s moves with the options of %s, which differ in %s; the time step is %g s",
                         layer_of(world, r)->name, layer_of(world, members[0])->name, text,
                         joint->opt.timestep);
        }
    }
}

// Has a model what soft bodies that nodes move do not touch?
static bool lets_nodes_through(const orr_model *m)
{
    bool lets = m->nflextouch > 0;
    for (int i = 0; i < m->ngeom; i++) {
        const bool meets = m->geom_contype[i] != 0 || m->geom_conaffinity[i] != 0;
        lets |= meets && (m->geom_type[i] == ORR_GEOM_HFIELD || m->geom_type[i] == ORR_GEOM_SDF);
    }
    return lets;
}

// A file is read for what its soft bodies that nodes move can touch, but not a scene.
static void log_soft_bodies(const orr_world *world, orr_world_robot *const *members, int count)
{
    for (int i = 0; i < count; i++) {
        bool passes = false;
        for (int k = 0; k < count && members[i]->robot->model->nflextouch > 0; k++) {
            passes |= k != i && lets_nodes_through(members[k]->robot->model);
        }
        if (passes) {
            orr_log_line(world->scene->context.log, ORR_LOG_INFO, ORR_CODE_FEATURE_ABSENT,
                         "%s: a soft body moved by nodes does not touch height fields, distance grids or "
                         "other such bodies of other layers: expected dof=\"full\" to touch them",
                         layer_of(world, members[i])->name);
        }
    }
}

// Where a robot's layer is in copy 0.
static orr_transform place_of(const orr_world *world, const orr_world_robot *r)
{
    const orr_layer_data *layer = layer_of(world, r);
    orr_layer_state state = orr_world_state(world, 0, layer);
    return orr_layer_frame(layer, &state.transform);
}

// The time step is the smallest of all robots. Gravity, wind and the magnetic field are those of the first
// robot, in its own frame; where there are bodies of other layers alone, gravity is against the scene's up.
static void set_options(const orr_world *world, orr_world_physics *p, const orr_world_robot *first)
{
    static const double down[][3] = {
        [ORR_UP_MINUS_Y] = {0.0, 1.0, 0.0}, [ORR_UP_Y] = {0.0, -1.0, 0.0}, [ORR_UP_Z] = {0.0, 0.0, -1.0}};
    orr_model_option *option = &p->made->opt;
    option->timestep = orr_scene_timestep(world->scene, layer_of(world, first));
    if (layer_of(world, first)->kind == ORR_LAYER_ROBOT) {
        double *vectors[] = {option->gravity, option->wind, option->magnetic};
        for (int i = 0; i < 3 && !orr_pose_is_identity(&first->fixed_at); i++) {
            quat_apply(first->fixed_at.quat, vectors[i], vectors[i]);
        }
        return;
    }
    const orr_transform scene = {.rotation = {1.0f}, .scale = p->frame.scale};
    const orr_pose turn = orr_pose_relative(&p->frame, &scene);
    quat_apply(turn.quat, down[orr_scene_up(world->scene)], option->gravity);
    for (int k = 0; k < 3; k++) {
        option->gravity[k] *= 9.81;
    }
}

static orr_result join(const orr_world *world, orr_world_physics *p, orr_world_robot *const *members,
                       int count, orr_error *error)
{
    orr_model_part *parts;
    ORR_ALLOC(parts, count, "the robots of a scene", error);
    orr_model_place *places = orr_alloc((size_t)count, sizeof *places);
    char(*prefixes)[128] = orr_alloc((size_t)count, sizeof *prefixes);
    orr_result result = places && prefixes
                            ? ORR_OK
                            : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the robots of a scene");
    for (int i = 0; i < count && result == ORR_OK; i++) {
        const orr_transform at = place_of(world, members[i]);
        orr_pose pose = orr_pose_relative(&p->frame, &at);
        snprintf(prefixes[i], sizeof prefixes[i], "%.120s/", layer_of(world, members[i])->name);
        parts[i] = (orr_model_part){.model = members[i]->robot->model, .prefix = prefixes[i]};
        memcpy(parts[i].pos, pose.pos, sizeof pose.pos);
        memcpy(parts[i].quat, pose.quat, sizeof pose.quat);
        members[i]->fixed_at = pose;
    }
    result = result == ORR_OK ? orr_model_join(parts, count, &p->made, places, error) : result;
    for (int i = 0; i < count && result == ORR_OK; i++) {
        members[i]->place = places[i];
        result = check_places(world, members[i], error);
    }
    orr_free(parts);
    orr_free(places);
    orr_free(prefixes);
    ORR_TRY(result);
    set_options(world, p, members[0]);
    orr_world_physics_merge_floors(p->made);
    log_differences(world, members, count, p->made);
    log_soft_bodies(world, members, count);
    p->model = p->made;
    return ORR_OK;
}

// Physics of robots that touch each other, and of one alone where `frame` is NULL. When what they have cannot
// be simulated the physics holds the reason.
static orr_result make_physics(const orr_world *world, orr_world_robot *const *members, int count,
                               const orr_transform *frame, orr_world_physics **out, orr_error *error)
{
    const orr_world_robots *robots = world->robots;
    const char *name = count > 1 ? "the robots of the scene" : layer_of(world, members[0])->name;
    orr_world_physics *p = orr_alloc_zero(1, sizeof *p);
    *out = p;
    if (!p) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a world's robots");
    }
    snprintf(p->name, sizeof p->name, "%s", name);
    p->model = members[0]->robot->model;
    p->joint = frame != NULL;
    for (int i = 0; i < count; i++) {
        members[i]->physics = p;
        members[i]->place = (orr_model_place){.body = 1};
    }
    if (frame) {
        p->frame = *frame;
        ORR_TRY(join(world, p, members, count, error));
    }
    ORR_ALLOC(p->numbers, largest_quantity(p->model), "the bodies of a robot", error);
    bool on_cuda = orr_world_device_is_cuda(robots->engine, robots->desc.device, robots->desc.count);
    orr_result result =
        orr_world_physics_create(robots, on_cuda, robots->cuda_or_fail, name, p->model, &p->physics, &p->why);
    if (result != ORR_OK && result != ORR_ERROR_UNSUPPORTED) {
        return orr_fail(error, (orr_code)p->why.code, "%s", p->why.message);
    }
    return ORR_OK;
}

// ---- the scene as it is now ----

static bool same_id(orr_pool_id a, orr_pool_id b)
{
    return a.slot == b.slot && a.generation == b.generation;
}

static bool is_current(const orr_world *world)
{
    const orr_world_robots *robots = world->robots;
    int count = 0;
    for (int i = 0; i < world->scene->layer_count; i++) {
        const orr_layer_data *layer = &world->scene->layers[i];
        if (orr_layer_physical(layer) && !layer->absent) {
            const orr_world_robot *r = count < robots->count ? robots->robots[count] : NULL;
            if (!r || !same_id(r->id, layer->id) || r->robot != orr_layer_physical(layer)) {
                return false;
            }
            count++;
        }
    }
    return count == robots->count && !robots->stale;
}

// What physics had of a layer; NULL: nothing, or another model.
static orr_world_robot *find(const orr_world_robots *robots, orr_pool_id id, const orr_robot *robot)
{
    for (int i = 0; i < robots->count; i++) {
        if (same_id(robots->robots[i]->id, id) && robots->robots[i]->robot == robot) {
            return robots->robots[i];
        }
    }
    return NULL;
}

static orr_world_robot *find_same(const orr_world_robots *robots, const orr_world_robot *r)
{
    return find(robots, r->id, r->robot);
}

// The physics of the old robots that is the same for the new ones: of the same members, none of them moved.
static orr_world_physics *unchanged(const orr_world_robots *old, orr_world_robot *const *members, int count)
{
    orr_world_robot *first = find_same(old, members[0]);
    int had = 0;
    for (int i = 0; first && i < old->count; i++) {
        had += old->robots[i]->physics == first->physics;
    }
    bool same = first && had == count && (!old->stale || !first->physics->joint);
    for (int i = 0; i < count && same; i++) {
        orr_world_robot *before = find_same(old, members[i]);
        same = before && before->physics == first->physics;
    }
    return same ? first->physics : NULL;
}

static void take_over(orr_world_robots *old, orr_world_physics *physics, orr_world_robot *const *members,
                      int count)
{
    for (int i = 0; i < old->physics_count; i++) {
        old->physics[i] = old->physics[i] == physics ? NULL : old->physics[i];
    }
    for (int i = 0; i < count; i++) {
        const orr_world_robot *before = find_same(old, members[i]);
        members[i]->physics = physics;
        members[i]->place = before->place;
        members[i]->fixed_at = before->fixed_at;
    }
}

// What a robot had before, in all copies. Numbers keep their bits where its place in the physics is the same.
static void carry(const orr_world *world, orr_world_robot *before, orr_world_robot *now)
{
    static const orr_physics_quantity quantities[] = {
#define QUANTITY(NAME, name) ORR_PHYSICS_##NAME,
        ORR_PHYSICS_STATE(QUANTITY)
#undef QUANTITY
    };
    now->pull = before->pull;
    if (!before->physics->physics || !now->physics->physics) {
        return;
    }
    now->physics->pending = before->physics->pending;
    for (int world_index = 0; world_index < world->count; world_index++) {
        // one that is fixed somewhere has not been moved yet where its layer now is
        orr_pose was = is_fixed_somewhere(before->robot->model)
                           ? before->fixed_at
                           : orr_world_robot_pose(world, world_index, before);
        orr_pose is = orr_world_robot_pose(world, world_index, now);
        was = before->physics->joint ? was : (orr_pose){.quat = {1.0}};
        for (size_t i = 0; i < sizeof quantities / sizeof quantities[0]; i++) {
            if (!orr_world_physics_divides(quantities[i]) &&
                (before->physics->joint || now->physics->joint)) {
                continue; // robots of a physics sleep together: those that join others, or leave them, wake
            }
            orr_world_robot_read_raw(world_index, before, quantities[i], now->numbers);
            if (memcmp(&was, &is, sizeof is) != 0) {
                orr_pose back = orr_pose_inverse(&was);
                orr_world_physics_move(now->robot->model, quantities[i], &back, now->numbers);
                orr_world_physics_move(now->robot->model, quantities[i], &is, now->numbers);
            }
            orr_world_robot_write_raw(world_index, now, quantities[i], now->numbers);
        }
    }
}

// The frame that robots have together: the one they had, or the first robot's. NULL: it is alone.
static const orr_transform *frame_of(const orr_world *world, const orr_world_robots *old,
                                     orr_world_robot *const *members, int count, orr_transform *frame)
{
    for (int i = 0; i < count; i++) {
        const orr_world_robot *before = find_same(old, members[i]);
        if (before && before->physics->joint) {
            *frame = before->physics->frame;
            return frame;
        }
    }
    bool robot = layer_of(world, members[0])->kind == ORR_LAYER_ROBOT;
    *frame = robot ? place_of(world, members[0]) : (orr_transform){.rotation = {1.0f}, .scale = 1.0f};
    return count > 1 || !robot ? frame : NULL;
}

static orr_result put_physics(orr_world_robots *robots, orr_world_physics *physics, orr_error *error)
{
    ORR_GROW(robots->physics, robots->physics_capacity, robots->physics_count + 1, "a world's robots", error);
    robots->physics[robots->physics_count++] = physics;
    return ORR_OK;
}

static orr_result group(const orr_world *world, orr_world_robots *old, orr_world_robot *const *members,
                        int count, orr_error *error)
{
    orr_world_robots *robots = world->robots;
    orr_world_physics *physics = unchanged(old, members, count);
    if (physics) {
        ORR_TRY(put_physics(robots, physics, error));
        take_over(old, physics, members, count);
        for (int i = 0; i < count; i++) {
            members[i]->pull = find_same(old, members[i])->pull;
        }
        return ORR_OK;
    }
    orr_transform own;
    const orr_transform *frame = frame_of(world, old, members, count, &own);
    ORR_TRY(put_physics(robots, NULL, error));
    ORR_TRY(make_physics(world, members, count, frame, &robots->physics[robots->physics_count - 1], error));
    if (count > 1 && !members[0]->physics->physics) { // each by itself, so that the others move
        orr_log_line(world->scene->context.log, ORR_LOG_WARNING, ORR_CODE_FEATURE_ABSENT,
                     "%s: robots do not touch each other", members[0]->physics->why.message);
        orr_world_physics_destroy(robots->physics[--robots->physics_count]);
        for (int i = 0; i < count; i++) {
            ORR_TRY(group(world, old, members + i, 1, error));
        }
        return ORR_OK;
    }
    for (int i = 0; i < count; i++) {
        orr_world_robot *before = find_same(old, members[i]);
        if (before) {
            carry(world, before, members[i]);
        }
    }
    return ORR_OK;
}

static orr_result group_all(const orr_world *world, orr_world_robots *old, orr_error *error)
{
    orr_world_robots *robots = world->robots;
    for (int i = 0; i < world->scene->layer_count; i++) {
        const orr_layer_data *layer = &world->scene->layers[i];
        if (orr_layer_physical(layer) && !layer->absent) {
            ORR_GROW(robots->robots, robots->capacity, robots->count + 1, "a world's robots", error);
            orr_world_robot *now, *before;
            ORR_TRY(make_robot(layer, &now, error));
            robots->robots[robots->count++] = now;
            before = layer->kind == ORR_LAYER_ROBOT ? find_same(old, now) : NULL;
            if (before) {
                now->told_of = before->told_of;
                now->told_step = before->told_step;
            }
        }
    }
    orr_world_robot **members;
    ORR_ALLOC(members, robots->count, "a world's robots", error);
    orr_result result = ORR_OK;
    for (int i = 0; i < robots->count && result == ORR_OK; i++) {
        int count = 0;
        const orr_layer_data *mine = layer_of(world, robots->robots[i]);
        for (int k = 0; k < 2 * robots->count && !robots->robots[i]->physics; k++) { // robots before bodies
            orr_world_robot *other = robots->robots[k % robots->count];
            const orr_layer_data *layer = layer_of(world, other);
            bool now = (layer->kind == ORR_LAYER_ROBOT) == (k < robots->count);
            if (now && !other->physics && orr_scene_robots_touch(mine, layer)) {
                members[count++] = other;
            }
        }
        result = count > 0 ? group(world, old, members, count, error) : ORR_OK;
    }
    orr_free(members);
    return result;
}

// Physics that was taken over belongs to the old robots again.
static void give_back(orr_world_robots *robots, orr_world_robots *old)
{
    for (int i = 0; i < robots->physics_count; i++) {
        bool taken = false;
        for (int k = 0; k < old->count; k++) {
            taken |= old->robots[k]->physics == robots->physics[i];
        }
        for (int k = 0; k < old->physics_count && taken; k++) {
            if (!old->physics[k]) {
                old->physics[k] = robots->physics[i];
                robots->physics[i] = NULL;
                taken = false;
            }
        }
    }
}

// Robots that stay keep their parameters, and physics that is new gets them.
static orr_result take_parameters(const orr_world *world, const orr_world_robots *old, orr_error *error)
{
    orr_world_robots *robots = world->robots;
    for (int i = 0; i < robots->count; i++) {
        orr_world_robot *before = find_same(old, robots->robots[i]);
        if (before) {
            memcpy(robots->robots[i]->varied, before->varied, sizeof before->varied);
            memset(before->varied, 0, sizeof before->varied);
        }
    }
    for (int i = 0; i < robots->count; i++) {
        const orr_world_robot *before = find_same(old, robots->robots[i]);
        if (before && before->physics != robots->robots[i]->physics && robots->robots[i]->physics->physics) {
            ORR_TRY(orr_world_parameters_renew(world, robots->robots[i]->physics, error));
        }
    }
    return ORR_OK;
}

orr_result orr_world_robots_update(const orr_world *world, orr_error *error)
{
    orr_world_robots *robots = world->robots;
    if (is_current(world)) {
        return ORR_OK;
    }
    orr_world_robots old = *robots;
    robots->robots = NULL;
    robots->physics = NULL;
    robots->count = robots->capacity = robots->physics_count = robots->physics_capacity = 0;
    orr_result result = group_all(world, &old, error);
    if (result != ORR_OK) { // as if nothing had happened; the next call tries again
        give_back(robots, &old);
        orr_world_robots_close_all(robots);
        *robots = old;
        return result;
    }
    result = take_parameters(world, &old, error);
    orr_world_robots_close_all(&old);
    robots->stale = false;
    return result;
}

orr_result orr_world_robots_find(const orr_world *world, const orr_layer_data *layer, orr_world_robot **found,
                                 orr_error *error)
{
    ORR_TRY(orr_world_robots_update(world, error));
    if (layer->absent) {
        return orr_fail(error, ORR_CODE_FEATURE_ABSENT, "%s: removed from physics", layer->name);
    }
    *found = find(world->robots, layer->id, orr_layer_physical(layer));
    const orr_world_physics *physics = (*found)->physics;
    return physics->physics ? ORR_OK
                            : orr_fail(error, (orr_code)physics->why.code, "%s", physics->why.message);
}

orr_result orr_world_robot_placed(orr_world *world, int index, const orr_layer_data *layer,
                                  const orr_transform *before, orr_error *error)
{
    orr_world_robot *r = find(world->robots, layer->id, orr_layer_physical(layer));
    orr_layer_state state = orr_world_state(world, index, layer);
    if (!r || !r->physics->joint || !r->physics->physics ||
        memcmp(before, &state.transform, sizeof *before) == 0) {
        return ORR_OK;
    }
    bool fixed = is_fixed_somewhere(r->robot->model);
    if (fabsf(before->scale - state.transform.scale) > 1e-6f * before->scale) {
        return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                        "%s: a robot that is simulated with others: expected its present scale, %g",
                        layer->name, (double)before->scale);
    }
    if (fixed && world->count > 1) {
        return orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                        "%s: a robot that is fixed to the scene and simulated with others: it can be moved "
                        "only in a world of one copy",
                        layer->name);
    }
    if (fixed) { // the model is joined again
        world->robots->stale = true;
        return ORR_OK;
    }
    static const orr_physics_quantity quantities[] = {
        ORR_PHYSICS_QPOS,      ORR_PHYSICS_QVEL,       ORR_PHYSICS_QACC_WARMSTART, ORR_PHYSICS_XFRC_APPLIED,
        ORR_PHYSICS_MOCAP_POS, ORR_PHYSICS_MOCAP_QUAT, ORR_PHYSICS_QFRC_APPLIED};
    const orr_transform from = orr_layer_frame(layer, before), to = orr_layer_frame(layer, &state.transform);
    orr_pose was = orr_pose_relative(&r->physics->frame, &from), back = orr_pose_inverse(&was);
    orr_pose is = orr_pose_relative(&r->physics->frame, &to);
    for (size_t i = 0; i < sizeof quantities / sizeof quantities[0]; i++) {
        orr_world_robot_read_raw(index, r, quantities[i], r->numbers);
        orr_world_physics_move(r->robot->model, quantities[i], &back, r->numbers);
        orr_world_physics_move(r->robot->model, quantities[i], &is, r->numbers);
        orr_world_robot_write_raw(index, r, quantities[i], r->numbers);
    }
    orr_world_robots_moved(world, r->physics);
    return ORR_OK;
}
