// The public functions that read and set numbers of robots (engine/orrery.h), of one copy or of many at once.
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/loop/world/world_robots.h"

static const orr_physics_quantity physics_quantities[ORR_ROBOT_QUANTITIES] = {
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
#define SAME(NAME) [ORR_ROBOT_##NAME] = ORR_PHYSICS_##NAME,
    SAME(PLASTIC) SAME(DELAYED) SAME(QACC_WARMSTART) SAME(XMAT) SAME(XIPOS) SAME(XIMAT) SAME(XANCHOR)
        SAME(XAXIS) SAME(GEOM_XPOS) SAME(GEOM_XMAT) SAME(SITE_XPOS) SAME(SITE_XMAT) SAME(CAM_XPOS)
            SAME(CAM_XMAT) SAME(SUBTREE_COM) SAME(SUBTREE_LINVEL) SAME(SUBTREE_ANGMOM) SAME(CDOF) SAME(CINERT)
                SAME(CVEL) SAME(CACC) SAME(CFRC_INT) SAME(QM) SAME(TEN_LENGTH) SAME(TEN_VELOCITY)
                    SAME(ACTUATOR_LENGTH) SAME(ACTUATOR_VELOCITY) SAME(QFRC_BIAS) SAME(QFRC_PASSIVE)
                        SAME(QFRC_ACTUATOR) SAME(QFRC_CONSTRAINT) SAME(QFRC_INVERSE) SAME(ENERGY)
                            SAME(TREE_ASLEEP) SAME(ASLEEP_QPOS)
#undef SAME
};
_Static_assert((int)ORR_ROBOT_QUANTITIES == (int)ORR_PHYSICS_QUANTITY_COUNT,
               "a new quantity of the physics: put it into orr_robot_quantity");

orr_result orr_robot_quantity_find(orr_robot_quantity quantity, bool set, orr_physics_quantity *found,
                                   orr_error *error)
{
    if ((unsigned)quantity >= ORR_ROBOT_QUANTITIES) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "robot quantity %d: expected one of orr_robot_quantity",
                        (int)quantity);
    }
    const bool state = quantity < ORR_ROBOT_ACCELERATION || quantity == ORR_ROBOT_PLASTIC ||
                       quantity == ORR_ROBOT_DELAYED || quantity == ORR_ROBOT_QACC_WARMSTART ||
                       quantity == ORR_ROBOT_TREE_ASLEEP || quantity == ORR_ROBOT_ASLEEP_QPOS;
    if (set && !state) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: expected a quantity that can be set, it is computed",
                        orr_physics_quantity_name(physics_quantities[quantity]));
    }
    *found = physics_quantities[quantity];
    return ORR_OK;
}

// The robot of a layer in a copy, and the physics' name of a quantity, which can be set or read there.
static orr_result open_quantity(const orr_world *world, int index, orr_layer id, orr_robot_quantity quantity,
                                bool set, orr_world_robot **r, orr_physics_quantity *found, orr_error *error)
{
    ORR_TRY(orr_robot_quantity_find(quantity, set, found, error));
    ORR_TRY(orr_world_robot_open(world, index, id, r, error));
    return (*r)->physics->joint && !orr_world_physics_divides(*found)
               ? orr_fail(error, ORR_CODE_FEATURE_ABSENT,
                          "%s: expected a robot that is simulated alone, not with others",
                          orr_physics_quantity_name(*found))
               : ORR_OK;
}

const char *orr_robot_quantity_name(orr_robot_quantity quantity)
{
    orr_physics_quantity found = ORR_PHYSICS_TIME;
    return orr_robot_quantity_find(quantity, false, &found, NULL) == ORR_OK ? orr_physics_quantity_name(found)
                                                                            : NULL;
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
    ORR_TRY(open_quantity(world, index, id, quantity, false, &r, &what, error));
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
    ORR_TRY(open_quantity(world, index, id, quantity, true, &r, &what, error));
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
static orr_result gather(const orr_world *world, orr_world_robot *r, const orr_physics_quantity *what,
                         int count, const uint8_t *chosen, orr_number_kind kind, void *values,
                         orr_error *error)
{
    orr_world_physics *p = r->physics;
    int64_t all = 0, own = 0;
    for (int i = 0; i < count; i++) {
        all += orr_physics_size(p->physics, what[i]);
        own += orr_world_robot_size(r, what[i]);
    }
    if (world->count * all > INT32_MAX) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %lld numbers of robots",
                        (long long)all * world->count);
    }
    ORR_GROW(p->batch, p->batch_capacity, (int)(world->count * all), "numbers of robots", error);
    if (chosen && !orr_physics_cuda(p->physics)) {
        orr_physics_read_masked(p->physics, chosen, what, count, p->batch);
    } else {
        orr_physics_read_all(p->physics, what, count, p->batch);
    }
    for (int world_index = 0; world_index < world->count; world_index++) {
        const double *from = p->batch + world_index * all;
        int64_t at = world_index * own;
        for (int i = 0; i < count && (!chosen || chosen[world_index]); i++) {
            const int size = orr_world_robot_size(r, what[i]);
            orr_world_robot_own(world, world_index, r, what[i], from, r->numbers);
            for (int k = 0; k < size; k++, at++) {
                if (kind == ORR_NUMBER_F32) {
                    ((float *)values)[at] = (float)r->numbers[k];
                } else {
                    ((double *)values)[at] = r->numbers[k];
                }
            }
            from += orr_physics_size(p->physics, what[i]);
        }
    }
    return ORR_OK;
}

static orr_result read_many(const orr_world *world, orr_world_robot *r, const orr_physics_quantity *what,
                            int count, const uint8_t *chosen, orr_number_kind kind, void *values,
                            orr_error *error)
{
    if (chosen || r->physics->joint) {
        ORR_TRY(gather(world, r, what, count, chosen, kind, values, error));
    } else if (kind == ORR_NUMBER_F32) {
        orr_physics_read_all_f32(r->physics->physics, what, count, values);
    } else {
        orr_physics_read_all(r->physics->physics, what, count, values);
    }
    return orr_world_robots_check(world, r->physics, error);
}

orr_result orr_world_get_robots(const orr_world *world, orr_layer id, orr_robot_quantity quantity,
                                const uint8_t *chosen, orr_number_kind kind, void *values, orr_error *error)
{
    return orr_world_read_robots(world, id, &quantity, 1, chosen, kind, values, error);
}

orr_result orr_world_read_robots(const orr_world *world, orr_layer id, const orr_robot_quantity *quantities,
                                 int count, const uint8_t *chosen, orr_number_kind kind, void *values,
                                 orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    ORR_REQUIRE(quantities, error);
    ORR_REQUIRE(values, error);
    ORR_TRY(check_kind(kind, error));
    if (count < 1 || count > ORR_ROBOT_QUANTITIES) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%d quantities: expected 1 to %d", count,
                        ORR_ROBOT_QUANTITIES);
    }
    orr_world_robot *r = NULL;
    orr_physics_quantity what[ORR_ROBOT_QUANTITIES];
    for (int i = 0; i < count; i++) {
        ORR_TRY(open_quantity(world, 0, id, quantities[i], false, &r, &what[i], error));
        for (int k = 0; k < i; k++) {
            if (what[k] == what[i]) {
                return orr_fail(error, ORR_CODE_ARGUMENT, "%s: expected each quantity once",
                                orr_physics_quantity_name(what[i]));
            }
        }
    }
    return read_many(world, r, what, count, chosen, kind, values, error);
}

orr_result orr_world_robot_numbers(const orr_world *world, orr_layer id, orr_robot_quantity quantity,
                                   int *count, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    ORR_REQUIRE(count, error);
    orr_world_robot *r = NULL;
    orr_physics_quantity what = ORR_PHYSICS_TIME;
    ORR_TRY(open_quantity(world, 0, id, quantity, false, &r, &what, error));
    *count = orr_world_robot_size(r, what);
    return ORR_OK;
}

orr_result orr_world_robot_device_view_sized(orr_world *world, orr_layer id, orr_robot_quantity quantity,
                                             orr_cuda_view *view, size_t view_size, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    ORR_REQUIRE(view, error);
    orr_world_robot *r = NULL;
    orr_physics_quantity what = ORR_PHYSICS_TIME;
    orr_physics_view found = {0};
    ORR_TRY(open_quantity(world, 0, id, quantity, false, &r, &what, error));
    if (r->physics->joint) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "%s in CUDA's memory: expected a robot that is simulated alone, not with others",
                        orr_physics_quantity_name(what));
    }
    ORR_TRY(orr_physics_device_view(r->physics->physics, what, &found, error));
    orr_world_robots_moved(world, r->physics);
    const orr_cuda_view own = {.numbers = found.numbers,
                               .block_bytes = (int64_t)found.block_bytes,
                               .count = found.count,
                               .kind = orr_physics_is_double(r->physics->physics) ? ORR_NUMBER_F64
                                                                                  : ORR_NUMBER_F32,
                               .device = found.device,
                               .stream = found.stream};
    orr_sized_write(&own, sizeof own, view, view_size);
    return ORR_OK;
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
    ORR_TRY(open_quantity(world, 0, id, quantity, true, &r, &what, error));
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
