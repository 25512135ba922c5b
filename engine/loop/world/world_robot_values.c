// The public functions that read and set numbers of robots (engine/orrery.h), of one copy or of many at once.
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/loop/world/world_robots.h"

static const orr_physics_quantity physics_quantities[] = {
    [ORR_ROBOT_TIME] = ORR_PHYSICS_TIME,
    [ORR_ROBOT_QPOS] = ORR_PHYSICS_QPOS,
    [ORR_ROBOT_QVEL] = ORR_PHYSICS_QVEL,
    [ORR_ROBOT_ACT] = ORR_PHYSICS_ACT,
    [ORR_ROBOT_CTRL] = ORR_PHYSICS_CTRL,
    [ORR_ROBOT_FORCE] = ORR_PHYSICS_XFRC_APPLIED,
    [ORR_ROBOT_EQUALITY] = ORR_PHYSICS_EQ_ACTIVE,
    [ORR_ROBOT_JOINT_FORCE] = ORR_PHYSICS_QFRC_APPLIED,
    [ORR_ROBOT_MOCAP_POSITION] = ORR_PHYSICS_MOCAP_POS,
    [ORR_ROBOT_MOCAP_ROTATION] = ORR_PHYSICS_MOCAP_QUAT,
    [ORR_ROBOT_ACCELERATION] = ORR_PHYSICS_QACC,
    [ORR_ROBOT_BODY_POSITION] = ORR_PHYSICS_XPOS,
    [ORR_ROBOT_BODY_ROTATION] = ORR_PHYSICS_XQUAT,
    [ORR_ROBOT_CONTACT_FORCE] = ORR_PHYSICS_CFRC_EXT,
    [ORR_ROBOT_ACTUATOR_FORCE] = ORR_PHYSICS_ACTUATOR_FORCE,
    [ORR_ROBOT_SENSOR] = ORR_PHYSICS_SENSORDATA,
};

enum { QUANTITIES = sizeof physics_quantities / sizeof physics_quantities[0] };

static orr_result find_quantity(orr_robot_quantity quantity, bool set, orr_physics_quantity *found,
                                orr_error *error)
{
    if ((unsigned)quantity >= QUANTITIES) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "robot quantity %d: expected one of orr_robot_quantity",
                        (int)quantity);
    }
    if (set && quantity >= ORR_ROBOT_ACCELERATION) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "robot quantity %d: expected one that can be set, it is computed", (int)quantity);
    }
    *found = physics_quantities[quantity];
    return ORR_OK;
}

orr_result orr_world_robot_open(const orr_world *world, int index, orr_layer id, orr_world_robot **r,
                                orr_error *error)
{
    const orr_layer_data *layer = NULL;
    ORR_TRY(orr_world_check_index(world, index, error));
    ORR_TRY(orr_robot_layer(world->scene, id, &layer, error));
    return orr_world_robots_find(world, layer, r, error);
}

orr_result orr_world_get_robot(const orr_world *world, int index, orr_layer id, orr_robot_quantity quantity,
                               double *values, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    ORR_REQUIRE(values, error);
    orr_world_robot *r = NULL;
    orr_physics_quantity what = ORR_PHYSICS_TIME;
    ORR_TRY(find_quantity(quantity, false, &what, error));
    ORR_TRY(orr_world_robot_open(world, index, id, &r, error));
    orr_world_robot_read(world, index, r, what, values);
    return orr_world_robots_check(world, r->physics, error);
}

orr_result orr_world_set_robot(orr_world *world, int index, orr_layer id, orr_robot_quantity quantity,
                               const double *values, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    ORR_REQUIRE(values, error);
    orr_world_robot *r = NULL;
    orr_physics_quantity what = ORR_PHYSICS_TIME;
    ORR_TRY(find_quantity(quantity, true, &what, error));
    ORR_TRY(orr_world_robot_open(world, index, id, &r, error));
    orr_world_robot_write(world, index, r, what, values);
    return orr_world_robots_check(world, r->physics, error);
}

static orr_result check_kind(orr_number_kind kind, orr_error *error)
{
    if (kind != ORR_NUMBER_F64 && kind != ORR_NUMBER_F32) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "numbers of kind %d: expected one of orr_number_kind",
                        (int)kind);
    }
    return ORR_OK;
}

// The numbers of all robots of its physics in the chosen copies are read at once; of each copy those of the
// robot are moved into the frame of its layer.
static orr_result gather(const orr_world *world, orr_world_robot *r, orr_physics_quantity what,
                         const uint8_t *chosen, orr_number_kind kind, void *values, orr_error *error)
{
    orr_world_physics *p = r->physics;
    int all = orr_physics_size(p->physics, what), own = orr_world_robot_size(r, what);
    ORR_GROW(p->batch, p->batch_capacity, world->count * all, "numbers of robots", error);
    if (chosen && !orr_physics_cuda(p->physics)) {
        orr_physics_read_masked(p->physics, chosen, &what, 1, p->batch);
    } else {
        orr_physics_read_all(p->physics, &what, 1, p->batch);
    }
    for (int i = 0; i < world->count; i++) {
        if (chosen && !chosen[i]) {
            continue;
        }
        orr_world_robot_own(world, i, r, what, p->batch + (ptrdiff_t)i * all, r->numbers);
        for (int k = 0; k < own; k++) {
            ptrdiff_t at = (ptrdiff_t)i * own + k;
            if (kind == ORR_NUMBER_F32) {
                ((float *)values)[at] = (float)r->numbers[k];
            } else {
                ((double *)values)[at] = r->numbers[k];
            }
        }
    }
    return ORR_OK;
}

orr_result orr_world_get_robots(const orr_world *world, orr_layer id, orr_robot_quantity quantity,
                                const uint8_t *chosen, orr_number_kind kind, void *values, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    ORR_REQUIRE(values, error);
    orr_world_robot *r = NULL;
    orr_physics_quantity what = ORR_PHYSICS_TIME;
    ORR_TRY(check_kind(kind, error));
    ORR_TRY(find_quantity(quantity, false, &what, error));
    ORR_TRY(orr_world_robot_open(world, 0, id, &r, error));
    if (chosen || r->physics->joint) {
        ORR_TRY(gather(world, r, what, chosen, kind, values, error));
    } else if (kind == ORR_NUMBER_F32) {
        orr_physics_read_all_f32(r->physics->physics, &what, 1, values);
    } else {
        orr_physics_read_all(r->physics->physics, &what, 1, values);
    }
    return orr_world_robots_check(world, r->physics, error);
}

orr_result orr_world_set_robots(orr_world *world, orr_layer id, orr_robot_quantity quantity,
                                const uint8_t *chosen, orr_number_kind kind, const void *values,
                                orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    ORR_REQUIRE(values, error);
    orr_world_robot *r = NULL;
    orr_physics_quantity what = ORR_PHYSICS_TIME;
    ORR_TRY(check_kind(kind, error));
    ORR_TRY(find_quantity(quantity, true, &what, error));
    ORR_TRY(orr_world_robot_open(world, 0, id, &r, error));
    orr_physics *physics = r->physics->physics;
    if (!chosen && !r->physics->joint) {
        if (kind == ORR_NUMBER_F32) {
            orr_physics_set_all_f32(physics, what, values);
        } else {
            orr_physics_set_all(physics, what, values);
        }
        orr_world_robots_moved(world, r->physics);
        return orr_world_robots_check(world, r->physics, error);
    }
    int own = orr_world_robot_size(r, what);
    for (int i = 0; i < world->count; i++) {
        if (chosen && !chosen[i]) {
            continue;
        }
        for (int k = 0; k < own; k++) {
            ptrdiff_t at = (ptrdiff_t)i * own + k;
            r->numbers[k] =
                kind == ORR_NUMBER_F32 ? (double)((const float *)values)[at] : ((const double *)values)[at];
        }
        orr_world_robot_write(world, i, r, what, r->numbers);
    }
    return orr_world_robots_check(world, r->physics, error);
}
