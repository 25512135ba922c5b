#include "engine/loop/world/world_physics.h"

#include "engine/core/memory.h"
#include "engine/core/rotation.h"

#include <math.h>
#include <string.h>

orr_pose orr_pose_relative(const orr_transform *frame, const orr_transform *layer)
{
    orr_pose pose = {.quat = {1.0}};
    if (memcmp(frame, layer, sizeof *frame) == 0) {
        return pose;
    }
    double turn[4], back[4], offset[3];
    for (int k = 0; k < 4; k++) {
        turn[k] = (double)frame->rotation[k];
        pose.quat[k] = (double)layer->rotation[k];
    }
    quat_normalise(turn);
    quat_normalise(pose.quat);
    quat_conjugate(turn, back);
    for (int k = 0; k < 3; k++) {
        offset[k] = ((double)layer->position[k] - (double)frame->position[k]) / (double)frame->scale;
    }
    quat_apply(back, offset, pose.pos);
    quat_multiply(back, pose.quat, pose.quat);
    if (memcmp(frame->rotation, layer->rotation, sizeof frame->rotation) == 0) {
        memcpy(pose.quat, (double[4]){1.0, 0.0, 0.0, 0.0}, sizeof pose.quat);
    }
    return pose;
}

orr_pose orr_pose_inverse(const orr_pose *pose)
{
    orr_pose back;
    quat_conjugate(pose->quat, back.quat);
    quat_apply(back.quat, pose->pos, back.pos);
    for (int k = 0; k < 3; k++) {
        back.pos[k] = -back.pos[k];
    }
    return back;
}

bool orr_pose_is_identity(const orr_pose *pose)
{
    bool still = pose->quat[0] == 1.0;
    for (int k = 0; k < 3; k++) {
        still = still && pose->pos[k] == 0.0 && pose->quat[1 + k] == 0.0;
    }
    return still;
}

void orr_world_physics_destroy(orr_world_physics *physics)
{
    if (physics) {
        orr_physics_destroy(physics->physics);
        orr_model_destroy(physics->made);
        orr_free(physics->numbers);
        orr_free(physics->batch);
        orr_free(physics->pushed);
        orr_free(physics->wait);
        orr_free(physics->restarts);
        orr_free(physics);
    }
}

orr_number_range orr_world_physics_range(const orr_model_place *place, const orr_model *model,
                                         orr_physics_quantity quantity)
{
    int rows = 0;
    switch (quantity) {
    case ORR_PHYSICS_TIME:
        return (orr_number_range){0, 1, 0};
    case ORR_PHYSICS_QPOS:
        return (orr_number_range){place->qpos, model->nq, 0};
    case ORR_PHYSICS_ACT:
        return (orr_number_range){place->act, model->na, 0};
    case ORR_PHYSICS_CTRL:
        return (orr_number_range){place->ctrl, model->nu, 0};
    case ORR_PHYSICS_EQ_ACTIVE:
        return (orr_number_range){place->equality, model->neq, 0};
    case ORR_PHYSICS_MOCAP_POS:
        return (orr_number_range){3 * place->mocap, 3 * model->nmocap, 0};
    case ORR_PHYSICS_MOCAP_QUAT:
        return (orr_number_range){4 * place->mocap, 4 * model->nmocap, 0};
    case ORR_PHYSICS_PLASTIC:
        return (orr_number_range){place->plastic, model->nplastic, 0};
    case ORR_PHYSICS_ACTUATOR_FORCE:
        return (orr_number_range){place->actuator, model->nactuator, 0};
    case ORR_PHYSICS_SENSORDATA:
        return (orr_number_range){place->sensordata, model->nsensordata, 0};
    case ORR_PHYSICS_XFRC_APPLIED:
    case ORR_PHYSICS_CFRC_EXT:
        rows = 6;
        break;
    case ORR_PHYSICS_XPOS:
    case ORR_PHYSICS_SUBTREE_COM:
        rows = 3;
        break;
    case ORR_PHYSICS_XQUAT:
        rows = 4;
        break;
    default: // of dofs: QVEL, QACC, QACC_WARMSTART, QFRC_APPLIED
        return (orr_number_range){place->qvel, model->nv, 0};
    }
    return (orr_number_range){rows * place->body, rows * (model->nbody - 1), rows};
}

static void turn_all(const double quat[4], double *vectors, int count)
{
    for (int i = 0; i < count; i++) {
        quat_apply(quat, vectors + 3 * i, vectors + 3 * i);
    }
}

static void move_points(const orr_pose *pose, double *points, int count)
{
    for (int i = 0; i < count; i++) {
        double turn[4] = {1.0, 0.0, 0.0, 0.0};
        frame_compose(pose->pos, pose->quat, points + 3 * i, turn);
    }
}

static void turn_frames(const double quat[4], double *quats, int count)
{
    for (int i = 0; i < count; i++) {
        quat_multiply(quat, quats + 4 * i, quats + 4 * i);
    }
}

// The point of a hit or of a contact; zeros: there was none.
static void move_hit(const orr_pose *pose, double point[3])
{
    if (point[0] != 0.0 || point[1] != 0.0 || point[2] != 0.0) {
        move_points(pose, point, 1);
    }
}

// What a contact sensor measures of each contact: the bits of orr_contact_data in their order.
static void move_contact_sensor(const orr_model *m, int sensor, const orr_pose *pose, double *values)
{
    const int32_t *parameters = m->sensor_intprm + 3 * (ptrdiff_t)sensor;
    const bool in_world_axes = parameters[1] == ORR_REDUCE_NETFORCE;
    for (double *at = values; at < values + m->sensor_dim[sensor];) {
        for (int bit = ORR_CONTACT_FOUND; bit <= ORR_CONTACT_TANGENT; bit <<= 1) {
            if (!(parameters[0] & bit)) {
                continue;
            }
            if (bit == ORR_CONTACT_POS) {
                move_hit(pose, at);
            } else if (bit >= ORR_CONTACT_NORMAL ||
                       (in_world_axes && (bit == ORR_CONTACT_FORCE || bit == ORR_CONTACT_TORQUE))) {
                turn_all(pose->quat, at, 1);
            }
            at += bit == ORR_CONTACT_FOUND || bit == ORR_CONTACT_DIST ? 1 : 3;
        }
    }
}

// What a rangefinder measures of each ray: the bits of orr_ray_data in their order.
static void move_ray_sensor(const orr_model *m, int sensor, const orr_pose *pose, double *values)
{
    const int32_t bits = m->sensor_intprm[3 * (ptrdiff_t)sensor];
    for (double *at = values; bits && at < values + m->sensor_dim[sensor];) {
        for (int bit = ORR_RAY_DIST; bit <= ORR_RAY_DEPTH; bit <<= 1) {
            if (!(bits & bit)) {
                continue;
            }
            if (bit == ORR_RAY_ORIGIN || bit == ORR_RAY_POINT) {
                move_hit(pose, at);
            } else if (bit == ORR_RAY_DIR || bit == ORR_RAY_NORMAL) {
                turn_all(pose->quat, at, 1);
            }
            at += bit == ORR_RAY_DIST || bit == ORR_RAY_DEPTH ? 1 : 3;
        }
    }
}

static void move_sensor(const orr_model *m, int sensor, const orr_pose *pose, double *values)
{
    const bool in_world = m->sensor_refid[sensor] < 0;
    switch (m->sensor_type[sensor]) {
    case ORR_SENSOR_FRAMEPOS:
        move_points(pose, values, in_world);
        break;
    case ORR_SENSOR_FRAMEQUAT:
        turn_frames(pose->quat, values, in_world);
        break;
    case ORR_SENSOR_FRAMEXAXIS:
    case ORR_SENSOR_FRAMEYAXIS:
    case ORR_SENSOR_FRAMEZAXIS:
    case ORR_SENSOR_FRAMELINVEL:
    case ORR_SENSOR_FRAMEANGVEL:
    case ORR_SENSOR_FRAMELINACC:
    case ORR_SENSOR_FRAMEANGACC:
        turn_all(pose->quat, values, in_world);
        break;
    case ORR_SENSOR_SUBTREELINVEL:
    case ORR_SENSOR_SUBTREEANGMOM:
    case ORR_SENSOR_GEOMNORMAL:
        turn_all(pose->quat, values, 1);
        break;
    case ORR_SENSOR_SUBTREECOM:
        move_points(pose, values, 1);
        break;
    case ORR_SENSOR_GEOMFROMTO:
        move_hit(pose, values);
        move_hit(pose, values + 3);
        break;
    case ORR_SENSOR_CONTACT:
        move_contact_sensor(m, sensor, pose, values);
        break;
    case ORR_SENSOR_RANGEFINDER:
        move_ray_sensor(m, sensor, pose, values);
        break;
    default: // in frames of bodies, or numbers that no frame matters to
        break;
    }
}

void orr_world_physics_move(const orr_model *m, orr_physics_quantity quantity, const orr_pose *pose,
                            double *values)
{
    switch (quantity) {
    case ORR_PHYSICS_QPOS:
        for (int i = 0; i < m->njnt; i++) {
            double *q = values + m->jnt_qposadr[i];
            if (m->jnt_type[i] == ORR_JOINT_FREE) {
                frame_compose(pose->pos, pose->quat, q, q + 3);
            }
        }
        break;
    case ORR_PHYSICS_QVEL:
    case ORR_PHYSICS_QACC:
    case ORR_PHYSICS_QACC_WARMSTART:
    case ORR_PHYSICS_QFRC_APPLIED: // the angular numbers of a free joint are in its body's frame
        for (int i = 0; i < m->njnt; i++) {
            if (m->jnt_type[i] == ORR_JOINT_FREE) {
                turn_all(pose->quat, values + m->jnt_dofadr[i], 1);
            }
        }
        break;
    case ORR_PHYSICS_SENSORDATA:
        for (int i = 0; i < m->nsensor; i++) {
            move_sensor(m, i, pose, values + m->sensor_adr[i]);
        }
        break;
    case ORR_PHYSICS_CFRC_EXT: // at the centre of mass of the tree
    case ORR_PHYSICS_XFRC_APPLIED:
        turn_all(pose->quat, values, 2 * m->nbody);
        break;
    case ORR_PHYSICS_MOCAP_POS:
        move_points(pose, values, m->nmocap);
        break;
    case ORR_PHYSICS_MOCAP_QUAT:
        turn_frames(pose->quat, values, m->nmocap);
        break;
    case ORR_PHYSICS_XPOS:
    case ORR_PHYSICS_SUBTREE_COM:
        move_points(pose, values, m->nbody);
        break;
    case ORR_PHYSICS_XQUAT:
        turn_frames(pose->quat, values, m->nbody);
        break;
    default: // numbers that no frame matters to
        break;
    }
}

void orr_world_physics_move_contact(const orr_pose *pose, orr_physics_contact *contact)
{
    if (!orr_pose_is_identity(pose)) {
        move_points(pose, contact->pos, 1);
        turn_all(pose->quat, contact->frame, 3);
    }
}

static bool is_endless_plane(const orr_model *m, int geom)
{
    const double *size = m->geom_size + 3 * geom;
    return m->geom_type[geom] == ORR_GEOM_PLANE && size[0] <= 0.0 && size[1] <= 0.0;
}

// The normal of a plane and its distance from the origin.
static void plane_of(const orr_model *m, int geom, double normal[3], double *distance)
{
    const double up[3] = {0.0, 0.0, 1.0};
    quat_apply(m->geom_quat + 4 * geom, up, normal);
    *distance = vec3_dot(normal, m->geom_pos + 3 * geom);
}

static bool same_plane(const orr_model *m, int a, int b)
{
    double normal[2][3], distance[2];
    plane_of(m, a, normal[0], &distance[0]);
    plane_of(m, b, normal[1], &distance[1]);
    return vec3_dot(normal[0], normal[1]) > 1.0 - 1e-9 && fabs(distance[0] - distance[1]) < 1e-4;
}

void orr_world_physics_merge_floors(orr_model *m)
{
    int count = m->body_geomnum[0];
    for (int i = 0; i < count; i++) {
        for (int other = 0; other < i && is_endless_plane(m, i); other++) {
            if (is_endless_plane(m, other) && (m->geom_contype[other] | m->geom_conaffinity[other]) != 0 &&
                same_plane(m, i, other)) {
                m->geom_contype[other] |= m->geom_contype[i];
                m->geom_conaffinity[other] |= m->geom_conaffinity[i];
                m->geom_contype[i] = m->geom_conaffinity[i] = 0;
            }
        }
    }
}
