// The public functions for contacts and Jacobians of robots in many copies (engine/orrery.h).
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/loop/world/world_robots.h"
#include "engine/maths/rotation.h"

#include <limits.h>
#include <string.h>

// ---- contacts ----

static orr_contact contact_of(const orr_physics_contact *c)
{
    orr_contact own = {.geom1 = c->geom1, .geom2 = c->geom2, .dimension = c->dim, .distance = c->dist};
    memcpy(own.position, c->pos, sizeof own.position);
    memcpy(own.frame, c->frame, sizeof own.frame);
    memcpy(own.force, c->force, sizeof own.force);
    return own;
}

// All contacts of the chosen copies: `room` of each, which is enough for as many as `wanted` of them.
static orr_result find_contacts(const orr_world *world, const orr_world_robot *r, const uint8_t *chosen,
                                int wanted, orr_physics_contact **found, int *room, int *counts,
                                orr_error *error)
{
    const int capacity = orr_physics_contact_capacity(r->physics->physics); // it grows as they are found
    *room = wanted < capacity ? wanted : capacity;
    for (int most = 0;; *room = most < wanted ? most : wanted) {
        ORR_ALLOC(*found, (int64_t)world->count * *room + 1, "contacts of all copies", error);
        orr_physics_contacts_all(r->physics->physics, chosen, *found, *room, counts);
        for (int i = 0; i < world->count; i++) {
            most = (!chosen || chosen[i]) && counts[i] > most ? counts[i] : most;
        }
        if (most <= *room || *room == wanted) {
            return ORR_OK;
        }
        orr_free(*found);
    }
}

orr_result orr_world_get_contacts_sized(const orr_world *world, orr_layer id, const uint8_t *chosen,
                                        int capacity, orr_contact *contacts, size_t contact_size, int *counts,
                                        orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    ORR_REQUIRE(contacts, error);
    ORR_REQUIRE(counts, error);
    orr_world_robot *r = NULL;
    ORR_TRY(orr_world_robot_open(world, 0, id, &r, error));
    if (capacity < 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "room for %d contacts: expected 0 or more", capacity);
    }
    // of robots that touch others, all contacts are needed, to find their own among them
    orr_physics_contact *found;
    int room;
    ORR_TRY(find_contacts(world, r, chosen, r->physics->joint ? INT_MAX : capacity, &found, &room, counts,
                          error));
    for (int i = 0; i < world->count; i++) {
        orr_physics_contact *row = found + (ptrdiff_t)i * room;
        if (chosen && !chosen[i]) {
            continue;
        }
        counts[i] = orr_physics_diverged(r->physics->physics, i) ? 0 : counts[i];
        if (r->physics->joint) {
            counts[i] = orr_world_robot_keep_contacts(world, i, r, row, counts[i]);
        }
        char *out = (char *)contacts + (size_t)i * (size_t)capacity * contact_size;
        for (int k = 0; k < counts[i] && k < capacity; k++) {
            const orr_contact own = contact_of(&row[k]);
            orr_sized_write(&own, sizeof own, out + (size_t)k * contact_size, contact_size);
        }
    }
    orr_free(found);
    return orr_world_robots_check(world, r->physics, error);
}

// ---- Jacobians ----

typedef struct jacobian_target {
    orr_object kind;
    int id; // in the physics
} jacobian_target;

static orr_result find_target(const orr_world_robot *r, orr_robot_object kind, int index, jacobian_target *t,
                              orr_error *error)
{
    const orr_model *m = r->robot->model;
    const orr_model_place *p = &r->place;
    const bool joint = r->physics->joint;
    const int own_sites = index - p->world_sites;
    int count;
    switch (kind) {
    case ORR_ROBOT_OBJECT_BODY:
        count = m->nbody;
        *t = (jacobian_target){ORR_OBJECT_XBODY, joint ? orr_model_place_body(p, index) : index};
        break;
    case ORR_ROBOT_OBJECT_GEOM:
        count = m->ngeom;
        *t = (jacobian_target){ORR_OBJECT_GEOM, joint ? orr_model_place_geom(p, index) : index};
        break;
    case ORR_ROBOT_OBJECT_SITE:
        count = m->nsite;
        *t = (jacobian_target){ORR_OBJECT_SITE, !joint          ? index
                                                : own_sites < 0 ? p->world_site + index
                                                                : p->site + own_sites};
        break;
    default:
        return orr_fail(error, ORR_CODE_ARGUMENT, "a Jacobian: expected a body, a geom or a site");
    }
    return index >= 0 && index < count
               ? ORR_OK
               : orr_fail(error, ORR_CODE_ARGUMENT, "a Jacobian of number %d: expected 0 to %d", index,
                          count - 1);
}

// Three rows of all dofs become those of the robot, in the axes of its layer: x -> turn(x). A free joint
// moves along the axes of the frame that the robot's velocities are in.
static void keep_columns(const orr_world_robot *r, const double turn[4], const double *all, int all_count,
                         double *own)
{
    const orr_model *m = r->robot->model;
    const double *from = all + r->place.qvel;
    double back[4];
    quat_conjugate(turn, back);
    for (int dof = 0; dof < m->nv; dof++) {
        double column[3] = {from[dof], from[all_count + dof], from[2 * all_count + dof]};
        const int joint = m->dof_jntid[dof], first = m->jnt_dofadr[joint];
        if (m->jnt_type[joint] == ORR_JOINT_FREE && dof - first < 3) {
            // along an axis of the layer, which is a mixture of those of the physics
            double axis[3] = {0.0, 0.0, 0.0};
            axis[dof - first] = 1.0;
            quat_apply(back, axis, axis);
            for (int k = 0; k < 3; k++) {
                const double *row = from + (ptrdiff_t)k * all_count + first;
                column[k] = row[0] * axis[0] + row[1] * axis[1] + row[2] * axis[2];
            }
        }
        quat_apply(turn, column, column);
        for (int k = 0; k < 3; k++) {
            own[(ptrdiff_t)k * m->nv + dof] = column[k];
        }
    }
}

// Of a robot that is simulated with others: each copy by itself, because the layer may be anywhere in it.
static orr_result find_among_others(const orr_world *world, const orr_world_robot *r,
                                    const jacobian_target *t, const uint8_t *chosen, const double *points,
                                    double *jacp, double *jacr, orr_error *error)
{
    const int all = r->physics->model->nv, own = r->robot->model->nv;
    double *both;
    ORR_ALLOC(both, 6 * (int64_t)all + 1, "a Jacobian", error);
    for (int i = 0; i < world->count; i++) {
        if (chosen && !chosen[i]) {
            continue;
        }
        const orr_pose pose = orr_world_robot_pose(world, i, r), back = orr_pose_inverse(&pose);
        double point[3] = {0.0, 0.0, 0.0}, quat[4] = {1.0, 0.0, 0.0, 0.0};
        if (points) {
            memcpy(point, points + 3 * (ptrdiff_t)i, sizeof point);
            frame_compose(pose.pos, pose.quat, point, quat);
        }
        orr_physics_jacobian(r->physics->physics, i, t->kind, t->id, points ? point : NULL, both,
                             both + 3 * (ptrdiff_t)all);
        keep_columns(r, back.quat, both, all, jacp + (ptrdiff_t)i * 3 * own);
        keep_columns(r, back.quat, both + 3 * (ptrdiff_t)all, all, jacr + (ptrdiff_t)i * 3 * own);
    }
    orr_free(both);
    return ORR_OK;
}

orr_result orr_world_get_jacobians(const orr_world *world, orr_layer id, orr_robot_object kind, int index,
                                   const uint8_t *chosen, const double *points, double *jacp, double *jacr,
                                   orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    ORR_REQUIRE(jacp, error);
    ORR_REQUIRE(jacr, error);
    orr_world_robot *r = NULL;
    jacobian_target t = {ORR_OBJECT_XBODY, 0};
    ORR_TRY(orr_world_robot_open(world, 0, id, &r, error));
    ORR_TRY(find_target(r, kind, index, &t, error));
    if (r->physics->joint) {
        ORR_TRY(find_among_others(world, r, &t, chosen, points, jacp, jacr, error));
    } else {
        orr_physics_jacobians(r->physics->physics, chosen, t.kind, t.id, points, jacp, jacr);
    }
    return orr_world_robots_check(world, r->physics, error);
}
