// The public functions for parameters that differ between copies (engine/orrery.h). A world keeps what was
// set, so that physics that is made anew has it too.
#include "engine/loop/world/world_parameters.h"

#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/loop/world/world_robots.h"
#include "engine/maths/rotation.h"

#include <string.h>

static const struct {
    orr_vary vary;
    orr_number_list list;
    int width;
} parameters[ORR_ROBOT_PARAMETERS] = {
    [ORR_PARAMETER_BODY_MASS] = {ORR_VARY_BODY_MASS, ORR_NUMBERS_BODY, 1},
    [ORR_PARAMETER_BODY_INERTIA] = {ORR_VARY_BODY_INERTIA, ORR_NUMBERS_BODY, 3},
    [ORR_PARAMETER_GEOM_FRICTION] = {ORR_VARY_GEOM_FRICTION, ORR_NUMBERS_GEOM, 3},
    [ORR_PARAMETER_GEOM_SIZE] = {ORR_VARY_GEOM_SIZE, ORR_NUMBERS_GEOM, 3},
    [ORR_PARAMETER_DOF_DAMPING] = {ORR_VARY_DOF_DAMPING, ORR_NUMBERS_DOF, 1},
    [ORR_PARAMETER_DOF_ARMATURE] = {ORR_VARY_DOF_ARMATURE, ORR_NUMBERS_DOF, 1},
    [ORR_PARAMETER_ACTUATOR_GAIN] = {ORR_VARY_ACTUATOR_GAINPRM, ORR_NUMBERS_ACTUATOR, ORR_NGAIN},
    [ORR_PARAMETER_ACTUATOR_BIAS] = {ORR_VARY_ACTUATOR_BIASPRM, ORR_NUMBERS_ACTUATOR, ORR_NBIAS},
    [ORR_PARAMETER_GRAVITY] = {ORR_VARY_GRAVITY, ORR_NUMBERS_WHOLE, 3},
    [ORR_PARAMETER_START_QPOS] = {ORR_VARY_START_QPOS, ORR_NUMBERS_QPOS, 1},
    [ORR_PARAMETER_START_QVEL] = {ORR_VARY_START_QVEL, ORR_NUMBERS_DOF, 1},
};

static orr_number_range range_of(const orr_world_robot *r, orr_robot_parameter what)
{
    return orr_world_physics_rows(&r->place, r->robot->model, parameters[what].list, parameters[what].width);
}

static int size_of(const orr_world_robot *r, orr_robot_parameter what)
{
    const orr_number_range range = range_of(r, what);
    return range.own + range.count;
}

orr_vary orr_robot_parameter_vary(orr_robot_parameter what)
{
    return parameters[what].vary;
}

const double *orr_robot_parameter_numbers(const orr_model *m, orr_robot_parameter what)
{
    switch (what) {
    case ORR_PARAMETER_BODY_MASS:
        return m->body_mass;
    case ORR_PARAMETER_BODY_INERTIA:
        return m->body_inertia;
    case ORR_PARAMETER_GEOM_FRICTION:
        return m->geom_friction;
    case ORR_PARAMETER_GEOM_SIZE:
        return m->geom_size;
    case ORR_PARAMETER_DOF_DAMPING:
        return m->dof_damping;
    case ORR_PARAMETER_DOF_ARMATURE:
        return m->dof_armature;
    case ORR_PARAMETER_ACTUATOR_GAIN:
        return m->actuator_gainprm;
    case ORR_PARAMETER_ACTUATOR_BIAS:
        return m->actuator_biasprm;
    case ORR_PARAMETER_GRAVITY:
        return m->opt.gravity;
    case ORR_PARAMETER_START_QPOS:
        return m->qpos0;
    default:
        return NULL; // START_QVEL: zeros
    }
}

static void copy_numbers(const orr_model *m, orr_robot_parameter what, int count, double *values)
{
    const double *from = orr_robot_parameter_numbers(m, what);
    if (from) {
        memcpy(values, from, (size_t)count * sizeof *values);
    } else {
        memset(values, 0, (size_t)count * sizeof *values);
    }
}

bool orr_world_parameters_vary(const orr_world *world, const orr_world_physics *p, orr_robot_parameter what)
{
    for (int i = 0; i < world->robots->count; i++) {
        if (world->robots->robots[i]->physics == p && world->robots->robots[i]->varied[what]) {
            return true;
        }
    }
    return false;
}

void orr_world_parameters_of(const orr_world *world, const orr_world_physics *p, orr_robot_parameter what,
                             int index, double *numbers)
{
    copy_numbers(p->model, what, orr_physics_vary_size(p->physics, parameters[what].vary), numbers);
    for (int i = 0; i < world->robots->count; i++) {
        orr_world_robot *r = world->robots->robots[i];
        if (r->physics != p || !r->varied[what]) {
            continue;
        }
        const orr_number_range range = range_of(r, what);
        const orr_pose pose = orr_world_robot_pose(world, index, r);
        const int size = range.own + range.count;
        memcpy(r->numbers, r->varied[what] + (ptrdiff_t)index * size, (size_t)size * sizeof *r->numbers);
        if (what == ORR_PARAMETER_GRAVITY) {
            quat_apply(r->fixed_at.quat, r->numbers, r->numbers);
        } else if (what == ORR_PARAMETER_START_QPOS || what == ORR_PARAMETER_START_QVEL) {
            orr_world_physics_move(r->robot->model,
                                   what == ORR_PARAMETER_START_QPOS ? ORR_PHYSICS_QPOS : ORR_PHYSICS_QVEL,
                                   &pose, r->numbers);
        }
        orr_number_range_put(&range, r->numbers, numbers);
    }
}

// Gives a physics what its robots have of a parameter, in the chosen copies.
static orr_result apply(const orr_world *world, const orr_world_physics *p, orr_robot_parameter what,
                        const orr_world_robot *r, const uint8_t *chosen, orr_error *error)
{
    double *numbers = NULL;
    const int size = orr_physics_vary_size(p->physics, parameters[what].vary);
    orr_result result = ORR_OK;
    if (p->joint) {
        ORR_ALLOC(numbers, size, "parameters of robots", error);
    }
    for (int i = 0; i < world->count && result == ORR_OK; i++) {
        if (chosen && !chosen[i]) {
            continue;
        }
        const double *row = numbers ? numbers : r->varied[what] + (ptrdiff_t)i * size;
        if (numbers) {
            orr_world_parameters_of(world, p, what, i, numbers);
        }
        result = orr_physics_vary(p->physics, parameters[what].vary, i, 1, row, error);
    }
    orr_free(numbers);
    return result;
}

orr_result orr_world_parameters_renew(const orr_world *world, const orr_world_physics *p, orr_error *error)
{
    for (int what = 0; what < ORR_ROBOT_PARAMETERS; what++) {
        for (int i = 0; i < world->robots->count; i++) {
            const orr_world_robot *r = world->robots->robots[i];
            if (r->physics == p && r->varied[what]) {
                ORR_TRY(apply(world, p, (orr_robot_parameter)what, r, NULL, error));
                break; // of all robots of the physics
            }
        }
    }
    return ORR_OK;
}

// ---- the public functions ----

static orr_result open_parameter(const orr_world *world, orr_layer id, orr_robot_parameter what,
                                 orr_world_robot **r, orr_error *error)
{
    ORR_TRY(orr_world_check(world, error));
    if ((unsigned)what >= ORR_ROBOT_PARAMETERS) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "parameter %d: expected one of orr_robot_parameter",
                        (int)what);
    }
    ORR_TRY(orr_world_robot_open(world, 0, id, r, error));
    const orr_world_robot *first = NULL;
    for (int i = 0; i < world->robots->count && !first; i++) {
        first = world->robots->robots[i]->physics == (*r)->physics ? world->robots->robots[i] : NULL;
    }
    return what != ORR_PARAMETER_GRAVITY || *r == first
               ? ORR_OK
               : orr_fail(error, ORR_CODE_ARGUMENT,
                          "gravity: expected the first of the robots that touch each other");
}

orr_result orr_world_parameter_numbers(const orr_world *world, orr_layer id, orr_robot_parameter what,
                                       int *count, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(count, error);
    orr_world_robot *r = NULL;
    ORR_TRY(open_parameter(world, id, what, &r, error));
    *count = size_of(r, what);
    return ORR_OK;
}

orr_result orr_world_get_parameters(const orr_world *world, orr_layer id, orr_robot_parameter what,
                                    const uint8_t *chosen, double *values, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(values, error);
    orr_world_robot *r = NULL;
    ORR_TRY(open_parameter(world, id, what, &r, error));
    const int size = size_of(r, what);
    for (int i = 0; i < world->count; i++) {
        const ptrdiff_t row = (ptrdiff_t)i * size;
        if (!chosen || chosen[i]) {
            if (r->varied[what]) {
                memcpy(values + row, r->varied[what] + row, (size_t)size * sizeof *values);
            } else {
                copy_numbers(r->robot->model, what, size, values + row);
            }
        }
    }
    return ORR_OK;
}

// What was set before, or what the model says; in memory that becomes the robot's.
static orr_result remember(const orr_world *world, const orr_world_robot *r, orr_robot_parameter what,
                           double **rows, orr_error *error)
{
    const int size = size_of(r, what);
    ORR_ALLOC(*rows, (int64_t)world->count * size, "parameters of a robot", error);
    for (int i = 0; i < world->count; i++) {
        if (r->varied[what]) {
            memcpy(*rows + (ptrdiff_t)i * size, r->varied[what] + (ptrdiff_t)i * size,
                   (size_t)size * sizeof **rows);
        } else {
            copy_numbers(r->robot->model, what, size, *rows + (ptrdiff_t)i * size);
        }
    }
    return ORR_OK;
}

orr_result orr_world_set_parameters(orr_world *world, orr_layer id, orr_robot_parameter what,
                                    const uint8_t *chosen, const double *values, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(values, error);
    orr_world_robot *r = NULL;
    double *rows = NULL;
    ORR_TRY(open_parameter(world, id, what, &r, error));
    const int size = size_of(r, what);
    ORR_TRY(remember(world, r, what, &rows, error));
    for (int i = 0; i < world->count; i++) {
        if (!chosen || chosen[i]) {
            memcpy(rows + (ptrdiff_t)i * size, values + (ptrdiff_t)i * size, (size_t)size * sizeof *rows);
        }
    }
    double *before = r->varied[what];
    r->varied[what] = rows;
    orr_result result = apply(world, r->physics, what, r, chosen, error);
    if (result != ORR_OK) { // copies before the one that is refused have the new numbers
        double *model = NULL;
        r->varied[what] = before;
        if (before || remember(world, r, what, &model, NULL) == ORR_OK) {
            r->varied[what] = before ? before : model;
            (void)apply(world, r->physics, what, r, chosen, NULL);
        }
        orr_free(rows);
        return result;
    }
    orr_free(before);
    orr_world_robots_moved(world, r->physics);
    return orr_world_robots_check(world, r->physics, error);
}
