#include "engine/loop/world/world_physics.h"

#include "engine/core/memory.h"
#include "engine/maths/rotation.h"

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

// What a pose does to the numbers of a quantity.
typedef enum number_motion {
    STAYS,
    POINTS,      // x y z
    VECTORS,     // x y z
    QUATERNIONS, // w x y z
    MATRICES,    // 3 x 3
    INERTIAS,    // cinert
    COORDINATES, // qpos
    VELOCITIES,  // of dofs
    SENSORS
} number_motion;

typedef struct quantity_rows {
    orr_number_list list;
    int width; // numbers of an element
    number_motion motion;
} quantity_rows;

static quantity_rows rows_of(orr_physics_quantity quantity)
{
#define ROWS(NAME, LIST, width, motion) [ORR_PHYSICS_##NAME] = { ORR_NUMBERS_##LIST, width, motion }
    static const quantity_rows table[ORR_PHYSICS_QUANTITY_COUNT] = {
        ROWS(TIME, WHOLE, 1, STAYS),
        ROWS(QPOS, QPOS, 1, COORDINATES),
        ROWS(QVEL, DOF, 1, VELOCITIES),
        ROWS(ACT, ACT, 1, STAYS),
        ROWS(CTRL, CTRL, 1, STAYS),
        ROWS(QFRC_APPLIED, DOF, 1, VELOCITIES),
        ROWS(XFRC_APPLIED, BODY, 6, VECTORS),
        ROWS(EQ_ACTIVE, EQUALITY, 1, STAYS),
        ROWS(MOCAP_POS, MOCAP, 3, POINTS),
        ROWS(MOCAP_QUAT, MOCAP, 4, QUATERNIONS),
        ROWS(PLASTIC, PLASTIC, 1, STAYS),
        ROWS(DELAYED, DELAYED, 1, STAYS),
        ROWS(TREE_ASLEEP, TREE, 1, STAYS),
        ROWS(ASLEEP_QPOS, ASLEEP_QPOS, 1, STAYS),
        ROWS(QACC, DOF, 1, VELOCITIES),
        ROWS(QACC_WARMSTART, DOF, 1, VELOCITIES),
        ROWS(XPOS, BODY, 3, POINTS),
        ROWS(XQUAT, BODY, 4, QUATERNIONS),
        ROWS(XMAT, BODY, 9, MATRICES),
        ROWS(XIPOS, BODY, 3, POINTS),
        ROWS(XIMAT, BODY, 9, MATRICES),
        ROWS(XANCHOR, JOINT, 3, POINTS),
        ROWS(XAXIS, JOINT, 3, VECTORS),
        ROWS(GEOM_XPOS, GEOM, 3, POINTS),
        ROWS(GEOM_XMAT, GEOM, 9, MATRICES),
        ROWS(SITE_XPOS, SITE, 3, POINTS),
        ROWS(SITE_XMAT, SITE, 9, MATRICES),
        ROWS(CAM_XPOS, CAMERA, 3, POINTS),
        ROWS(CAM_XMAT, CAMERA, 9, MATRICES),
        ROWS(SUBTREE_COM, BODY, 3, POINTS),
        ROWS(SUBTREE_LINVEL, BODY, 3, VECTORS),
        ROWS(SUBTREE_ANGMOM, BODY, 3, VECTORS),
        ROWS(CDOF, DOF, 6, STAYS),
        ROWS(CINERT, BODY, 10, INERTIAS),
        ROWS(CVEL, BODY, 6, VECTORS),
        ROWS(CACC, BODY, 6, VECTORS),
        ROWS(CFRC_INT, BODY, 6, VECTORS),
        ROWS(CFRC_EXT, BODY, 6, VECTORS), // at the centre of mass of the tree
        ROWS(QM, M, 1, STAYS),
        ROWS(TEN_LENGTH, TENDON, 1, STAYS),
        ROWS(TEN_VELOCITY, TENDON, 1, STAYS),
        ROWS(ACTUATOR_LENGTH, OUTPUT, 1, STAYS),
        ROWS(ACTUATOR_VELOCITY, OUTPUT, 1, STAYS),
        ROWS(ACTUATOR_FORCE, OUTPUT, 1, STAYS),
        ROWS(QFRC_BIAS, DOF, 1, VELOCITIES),
        ROWS(QFRC_PASSIVE, DOF, 1, VELOCITIES),
        ROWS(QFRC_ACTUATOR, DOF, 1, VELOCITIES),
        ROWS(QFRC_CONSTRAINT, DOF, 1, VELOCITIES),
        ROWS(QFRC_INVERSE, DOF, 1, VELOCITIES),
        ROWS(ENERGY, WHOLE, 2, STAYS),
        ROWS(SENSORDATA, SENSORDATA, 1, SENSORS),
    };
#undef ROWS
    assert((unsigned)quantity < ORR_PHYSICS_QUANTITY_COUNT && table[quantity].width > 0);
    return table[quantity];
}

bool orr_world_physics_divides(orr_physics_quantity quantity)
{
    // free joints have axes of the physics' frame, which robots do not share with it; energy is of all;
    // robots sleep together
    return quantity != ORR_PHYSICS_QM && quantity != ORR_PHYSICS_CDOF && quantity != ORR_PHYSICS_ENERGY &&
           quantity != ORR_PHYSICS_TREE_ASLEEP && quantity != ORR_PHYSICS_ASLEEP_QPOS;
}

// `first` and `count` elements that are not the world's; `world` of the world's before them, from
// world_first on.
static orr_number_range range_of(int width, int first, int count, int world_first, int world)
{
    return (orr_number_range){.first = width * first,
                              .count = width * (count - world),
                              .own = width * world,
                              .world_first = width * world_first,
                              .world_count = width * world};
}

orr_number_range orr_world_physics_rows(const orr_model_place *p, const orr_model *m, orr_number_list list,
                                        int width)
{
    orr_number_range range;
    switch (list) {
    case ORR_NUMBERS_QPOS:
        return range_of(width, p->qpos, m->nq, 0, 0);
    case ORR_NUMBERS_DOF:
        return range_of(width, p->qvel, m->nv, 0, 0);
    case ORR_NUMBERS_ACT:
        return range_of(width, p->act, m->na, 0, 0);
    case ORR_NUMBERS_CTRL:
        return range_of(width, p->ctrl, m->nu, 0, 0);
    case ORR_NUMBERS_ACTUATOR:
        return range_of(width, p->actuator, m->nactuator, 0, 0);
    case ORR_NUMBERS_OUTPUT:
        return range_of(width, p->output, m->nout, 0, 0);
    case ORR_NUMBERS_EQUALITY:
        return range_of(width, p->equality, m->neq, 0, 0);
    case ORR_NUMBERS_MOCAP:
        return range_of(width, p->mocap, m->nmocap, 0, 0);
    case ORR_NUMBERS_PLASTIC:
        return range_of(width, p->plastic, m->nplastic, 0, 0);
    case ORR_NUMBERS_DELAYED:
        return range_of(width, p->delayed, m->ndelayed, 0, 0);
    case ORR_NUMBERS_SENSORDATA:
        return range_of(width, p->sensordata, m->nsensordata, 0, 0);
    case ORR_NUMBERS_BODY:
        range = range_of(width, p->body, m->nbody, 0, 1);
        range.world_count = 0;
        return range;
    case ORR_NUMBERS_JOINT:
        return range_of(width, p->joint, m->njnt, 0, 0);
    case ORR_NUMBERS_GEOM:
        return range_of(width, p->geom, m->ngeom, p->world_geom, p->world_geoms);
    case ORR_NUMBERS_SITE:
        return range_of(width, p->site, m->nsite, p->world_site, p->world_sites);
    case ORR_NUMBERS_CAMERA:
        return range_of(width, p->camera, m->ncam, p->world_camera, p->world_cameras);
    case ORR_NUMBERS_TENDON:
        return range_of(width, p->tendon, m->ntendon, 0, 0);
    case ORR_NUMBERS_TREE:
        return range_of(width, 0, m->opt.enableflags & ORR_ENABLE_SLEEP ? m->ntree : 0, 0, 0);
    case ORR_NUMBERS_ASLEEP_QPOS:
        return range_of(width, 0, m->opt.enableflags & ORR_ENABLE_SLEEP ? m->nq : 0, 0, 0);
    case ORR_NUMBERS_M:
        return range_of(width, p->M, m->nM, 0, 0);
    default:
        return range_of(width, 0, 1, 0, 0);
    }
}

orr_number_range orr_world_physics_range(const orr_model_place *place, const orr_model *model,
                                         orr_physics_quantity quantity)
{
    const quantity_rows rows = rows_of(quantity);
    return orr_world_physics_rows(place, model, rows.list, rows.width);
}

void orr_number_range_get(const orr_number_range *r, const double *numbers, double *own)
{
    memset(own, 0, (size_t)r->own * sizeof *own);
    memcpy(own, numbers + r->world_first, (size_t)r->world_count * sizeof *own);
    memcpy(own + r->own, numbers + r->first, (size_t)r->count * sizeof *own);
}

void orr_number_range_put(const orr_number_range *r, const double *own, double *numbers)
{
    memcpy(numbers + r->world_first, own, (size_t)r->world_count * sizeof *own);
    memcpy(numbers + r->first, own + r->own, (size_t)r->count * sizeof *own);
}

void orr_world_physics_own_world(orr_physics_quantity quantity, double *values)
{
    const quantity_rows rows = rows_of(quantity);
    if (rows.list != ORR_NUMBERS_BODY) {
        return;
    }
    memset(values, 0, (size_t)rows.width * sizeof *values);
    for (int k = 0; k < 3 && rows.motion == MATRICES; k++) {
        values[4 * k] = 1.0;
    }
    values[0] = rows.motion == QUATERNIONS ? 1.0 : values[0];
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

// R M of matrices in rows.
static void turn_matrices(const double quat[4], double *matrices, int count)
{
    for (int i = 0; i < 3 * count; i++) {
        double *at = matrices + 9 * (i / 3) + i % 3, column[3] = {at[0], at[3], at[6]};
        quat_apply(quat, column, column);
        at[0] = column[0], at[3] = column[1], at[6] = column[2];
    }
}

// Six of a symmetric matrix (xx yy zz xy xz yz), a vector and a number.
static void turn_inertias(const double quat[4], double *inertias, int count)
{
    for (int i = 0; i < count; i++) {
        double *s = inertias + 10 * i;
        double m[9] = {s[0], s[3], s[4], s[3], s[1], s[5], s[4], s[5], s[2]};
        turn_matrices(quat, m, 1); // R S
        turn_all(quat, m, 3);      // its rows by R: R S R^T
        const double turned[6] = {m[0], m[4], m[8], m[1], m[2], m[5]};
        memcpy(s, turned, sizeof turned);
        turn_all(quat, s + 6, 1);
    }
}

void orr_world_physics_move(const orr_model *m, orr_physics_quantity quantity, const orr_pose *pose,
                            double *values)
{
    const quantity_rows rows = rows_of(quantity);
    const orr_number_range range =
        orr_world_physics_rows(&(orr_model_place){.body = 1}, m, rows.list, rows.width);
    const int count = range.own + range.count;
    switch (rows.motion) {
    case COORDINATES:
        for (int i = 0; i < m->njnt; i++) {
            double *q = values + m->jnt_qposadr[i];
            if (m->jnt_type[i] == ORR_JOINT_FREE) {
                frame_compose(pose->pos, pose->quat, q, q + 3);
            }
        }
        break;
    case VELOCITIES: // the angular numbers of a free joint are in its body's frame
        for (int i = 0; i < m->njnt; i++) {
            if (m->jnt_type[i] == ORR_JOINT_FREE) {
                turn_all(pose->quat, values + m->jnt_dofadr[i], 1);
            }
        }
        break;
    case SENSORS:
        for (int i = 0; i < m->nsensor; i++) {
            move_sensor(m, i, pose, values + m->sensor_adr[i]);
        }
        break;
    case VECTORS:
        turn_all(pose->quat, values, count / 3);
        break;
    case POINTS:
        move_points(pose, values, count / 3);
        break;
    case QUATERNIONS:
        turn_frames(pose->quat, values, count / 4);
        break;
    case MATRICES:
        turn_matrices(pose->quat, values, count / 9);
        break;
    case INERTIAS:
        turn_inertias(pose->quat, values, count / 10);
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
