#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/pose/constants.h"

#include "engine/core/memory.h"
#include "physics/pose/pose.h"

#include <string.h>

// A positive velocity gain of a position servo is a damping ratio: of the mass 1 / (J M^-1 J^T) that it acts
// on at qpos0. What can move nothing there has no damping.
static void resolve_damping_ratio(orr_model *m, int id, double inverse_mass)
{
    double *bias = m->actuator_biasprm + ORR_NBIAS * id, gain = m->actuator_gainprm[ORR_NGAIN * id];
    bool servo = gain == -bias[1] || m->actuator_gaintype[id] == ORR_GAIN_PID;
    if (servo && bias[2] > 0.0) {
        bias[2] *= inverse_mass > 1e-15 ? -2.0 * sqrt(-bias[1] / inverse_mass) : -0.0;
    }
}

static orr_result find_actuators(const orr_pose *pose, orr_model *m, orr_error *error)
{
    double *rows = orr_alloc_zero(2 * (size_t)m->nv, sizeof *rows);
    if (!rows) {
        return spec_memory_fail(error);
    }
    memcpy(m->actuator_length0, pose->d.actuator_length, (size_t)m->nout * sizeof *m->actuator_length0);
    for (int i = 0; i < m->nactuator; i++) {
        int first = m->actuator_outadr[i], count = m->actuator_outnum[i];
        double inverse_mass = 0.0; // the mean of its outputs
        for (int output = first; output < first + count; output++) {
            orr_chain chain = output_chain(&pose->m, output);
            const double *moment = output_moments(&pose->m, &pose->d, output);
            memset(rows, 0, (size_t)m->nv * sizeof *rows);
            for (int k = 0; k < chain.count; k++) {
                rows[pose->m.plan->chain_dof[chain.first + k]] = moment[k];
            }
            inverse_mass += orr_pose_inverse_weight(pose, rows, rows + m->nv) / count;
        }
        resolve_damping_ratio(m, i, inverse_mass);
    }
    orr_free(rows);
    return ORR_OK;
}

// The anchor of a connect or weld is given in one body (of a weld the second), and becomes known in the
// other; of a weld also the pose of body 2 in body 1, unless it is given.
static void find_equalities(const orr_pose *pose, orr_model *m)
{
    const lane_data *d = &pose->d;
    for (int i = 0; i < m->neq; i++) {
        double *data = m->eq_data + ORR_NEQDATA * i;
        int body1 = m->eq_obj1id[i], body2 = m->eq_obj2id[i];
        bool weld = m->eq_type[i] == ORR_EQUALITY_WELD;
        if (m->eq_objtype[i] != ORR_OBJECT_BODY || (!weld && m->eq_type[i] != ORR_EQUALITY_CONNECT)) {
            continue;
        }
        if (weld && (data[6] != 0.0 || data[7] != 0.0 || data[8] != 0.0 || data[9] != 0.0)) {
            store_quaternion(data + 6, 0, normalise_quaternion(load_quaternion(data + 6, 0)));
            continue;
        }
        int from = weld ? body2 : body1, to = weld ? body1 : body2;
        real3 anchor = add3(rotate(load_matrix(d->xmat, from), load3(data, 0)), load3(d->xpos, from));
        store3(data, 1, rotate_inverse(load_matrix(d->xmat, to), sub3(anchor, load3(d->xpos, to))));
        if (weld) {
            quaternion relative = multiply_quaternions(conjugate(load_quaternion(d->xquat, body1)),
                                                       load_quaternion(d->xquat, body2));
            store_quaternion(data + 6, 0, relative);
        }
    }
}

static void find_cameras(const orr_pose *pose, orr_model *m)
{
    const lane_data *d = &pose->d;
    for (int i = 0; i < m->ncam; i++) {
        int body = m->cam_bodyid[i], target = m->cam_targetbodyid[i] >= 0 ? m->cam_targetbodyid[i] : body;
        real3 at;
        matrix3 frame;
        local_to_world(d, body, load3(m->cam_pos, i), load_quaternion(m->cam_quat, i), &at, &frame);
        store_matrix(m->cam_mat0, i, frame);
        store3(m->cam_pos0, i, sub3(at, load3(d->xpos, body)));
        store3(m->cam_poscom0, i, sub3(at, load3(d->subtree_com, target)));
    }
}

static void find_lights(const orr_pose *pose, orr_model *m)
{
    const lane_data *d = &pose->d;
    for (int i = 0; i < m->nlight; i++) {
        int body = m->light_bodyid[i];
        int target = m->light_targetbodyid[i] >= 0 ? m->light_targetbodyid[i] : body;
        matrix3 frame = load_matrix(d->xmat, body);
        real3 offset = rotate(frame, load3(m->light_pos, i));
        store3(m->light_dir0, i, rotate(frame, load3(m->light_dir, i)));
        store3(m->light_pos0, i, offset);
        store3(m->light_poscom0, i, sub3(add3(offset, load3(d->xpos, body)), load3(d->subtree_com, target)));
    }
}

// ---- statistics

typedef struct bounds {
    real3 low, high;
} bounds;

static void grow(bounds *b, real3 point, double radius)
{
    b->low = make_real3(fmin(b->low.x, point.x - radius), fmin(b->low.y, point.y - radius),
                        fmin(b->low.z, point.z - radius));
    b->high = make_real3(fmax(b->high.x, point.x + radius), fmax(b->high.y, point.y + radius),
                         fmax(b->high.z, point.z + radius));
}

static double distance(real3 a, real3 b)
{
    return length3(sub3(a, b));
}

// Radius of a geom for the statistics: a tenth of a plane's size, 0 for height fields without a bounding
// sphere.
static double geom_reach(const orr_model *m, int geom)
{
    const double *size = m->geom_size + 3 * geom;
    if (m->geom_rbound[geom] > 0.0) {
        return m->geom_rbound[geom];
    }
    double side = fmax(size[0], size[1]);
    return m->geom_type[geom] == ORR_GEOM_PLANE ? (side > 0.0 ? 0.1 * side : 0.01) : 0.0;
}

// The box around bodies, joints, sites and geoms. reach: nbody, raised to the distance of the farthest joint
// and geom of each body from its centre of mass.
static bounds find_bounds(const orr_pose *pose, const orr_model *m, double *reach)
{
    const lane_data *d = &pose->d;
    bounds b = {make_real3(1e10, 1e10, 1e10), make_real3(-1e10, -1e10, -1e10)};
    for (int i = 1; i < m->nbody; i++) {
        grow(&b, load3(d->xpos, i), 0.0);
        grow(&b, load3(d->xipos, i), 0.0);
    }
    for (int i = 0; i < m->njnt; i++) {
        real3 anchor = load3(d->xanchor, i);
        int body = m->jnt_bodyid[i], parent = m->body_parentid[body];
        grow(&b, anchor, 0.0);
        reach[body] = fmax(reach[body], distance(load3(d->xipos, body), anchor));
        reach[parent] = fmax(reach[parent], distance(load3(d->xipos, parent), anchor));
    }
    for (int i = 0; i < m->nsite; i++) {
        grow(&b, load3(d->site_xpos, i), 0.0);
    }
    for (int i = 0; i < m->ngeom; i++) {
        int body = m->geom_bodyid[i];
        real3 at = load3(d->geom_xpos, i);
        grow(&b, at, geom_reach(m, i));
        if (m->geom_rbound[i] > 0.0) {
            reach[body] = fmax(reach[body], m->geom_rbound[i] + distance(load3(d->xipos, body), at));
        }
    }
    return b;
}

static void find_dof_lengths(orr_model *m, const double *reach)
{
    for (int i = 0; i < m->nv; i++) {
        int joint = m->dof_jntid[i], type = m->jnt_type[joint];
        bool slides = type == ORR_JOINT_SLIDE || (type == ORR_JOINT_FREE && i < m->jnt_dofadr[joint] + 3);
        m->dof_length[i] = slides ? 1.0 : fmax(reach[m->dof_bodyid[i]], 1e-5);
    }
}

static orr_result find_statistic(const orr_pose *pose, orr_model *m, orr_error *error)
{
    orr_model_statistic *stat = &m->stat;
    double *reach = orr_alloc_zero((size_t)m->nbody, sizeof *reach);
    if (!reach) {
        return spec_memory_fail(error);
    }
    bounds b = find_bounds(pose, m, reach);
    real3 width = sub3(b.high, b.low);
    store3(stat->centre, 0, scale3(add3(b.low, b.high), 0.5));
    stat->extent = width.x > 0.0 ? fmax(1e-5, fmax(width.x, fmax(width.y, width.z))) : 2.0;
    stat->meaninertia = m->nv > 0 ? 0.0 : 1.0; // MuJoCo's numbers of a world alone
    stat->meanmass = m->nbody > 1 ? 0.0 : 1.0;
    stat->meansize = m->nbody > 1 ? 0.0 : 0.2;
    for (int i = 1; i < m->nbody; i++) {
        stat->meanmass += m->body_mass[i] / (m->nbody - 1);
        stat->meansize += fmax(reach[i], 1e-5) / (m->nbody - 1);
    }
    stat->extent = fmax(stat->extent, 2.0 * stat->meansize);
    find_dof_lengths(m, reach);
    for (int i = 0; i < m->nv; i++) {
        stat->meaninertia += pose->d.qM[m->M_rowadr[i] + m->M_rownnz[i] - 1] / m->nv;
    }
    orr_free(reach);
    return ORR_OK;
}

static void take_given_statistic(orr_model *m, const orr_model_statistic *given)
{
    orr_model_statistic *stat = &m->stat;
    stat->meaninertia = isnan(given->meaninertia) ? stat->meaninertia : given->meaninertia;
    stat->meanmass = isnan(given->meanmass) ? stat->meanmass : given->meanmass;
    stat->meansize = isnan(given->meansize) ? stat->meansize : given->meansize;
    stat->extent = isnan(given->extent) ? stat->extent : given->extent;
    if (!isnan(given->centre[0])) {
        memcpy(stat->centre, given->centre, sizeof stat->centre);
    }
}

// ---- springs

static void find_tendon_springs(orr_pose *pose, orr_model *m)
{
    (void)orr_pose_set(pose, m->qpos_spring); // lengths alone are used
    for (int i = 0; i < m->ntendon; i++) {
        double *rest = m->tendon_lengthspring + 2 * i;
        if (rest[0] == -1.0 && rest[1] == -1.0) {
            rest[0] = rest[1] = pose->d.ten_length[i];
        }
    }
}

// Numbers of the state `plastic`, and those that keyframes leave open.
static void find_plastic(orr_model *m)
{
    int next = 0;
    for (int i = 0; i < m->njnt; i++) {
        int count = m->jnt_type[i] == ORR_JOINT_BALL ? 4 : 1;
        if (m->jnt_springyield[i] > 0.0 && m->jnt_type[i] != ORR_JOINT_FREE) {
            m->jnt_plasticadr[i] = next;
            memcpy(m->plastic0 + next, m->qpos_spring + m->jnt_qposadr[i], (size_t)count * sizeof(double));
            next += count;
        }
    }
    for (int i = 0; i < m->ntendon; i++) {
        if (m->tendon_springyield[i] > 0.0) {
            m->tendon_plasticadr[i] = next;
            memcpy(m->plastic0 + next, m->tendon_lengthspring + 2 * i, 2 * sizeof(double));
            next += 2;
        }
    }
    for (int i = 0; i < m->nkey * m->nplastic; i++) {
        m->key_plastic[i] = isnan(m->key_plastic[i]) ? m->plastic0[i % m->nplastic] : m->key_plastic[i];
    }
}

// Joints whose damping is given as a time constant and a ratio of the critical damping.
static orr_result resolve_spring_dampers(const orr_spec *spec, orr_model *m, orr_error *error)
{
    for (int j = 0; j < m->njnt; j++) {
        const spec_joint *joint = &spec->joints[j];
        double time = joint->springdamper[0], ratio = joint->springdamper[1], weight = 0.0;
        if (time == 0.0 && ratio == 0.0) {
            continue;
        }
        if (!(time > 0.0) || !(ratio > 0.0)) {
            return spec_fail(&joint->head, error, "springdamper: expected two positive numbers");
        }
        int first = m->jnt_dofadr[j], count = joint_dofs(m->jnt_type[j]);
        for (int i = first; i < first + count; i++) {
            weight += m->dof_invweight0[i] / count;
        }
        double mass = 1.0 / fmax(1e-15, weight);
        m->jnt_stiffness[j] = mass / fmax(1e-15, time * time * ratio * ratio);
        for (int i = first; i < first + count; i++) {
            m->dof_damping[i] = 2.0 * mass / fmax(1e-15, time);
        }
    }
    return ORR_OK;
}

static orr_result find_at_rest(const orr_spec *spec, orr_pose *pose, orr_model *m, orr_error *error)
{
    ORR_TRY(orr_pose_inverse_weights(pose, m, error));
    memcpy(m->tendon_length0, pose->d.ten_length, (size_t)m->ntendon * sizeof *m->tendon_length0);
    ORR_TRY(find_actuators(pose, m, error));
    find_equalities(pose, m);
    find_cameras(pose, m);
    find_lights(pose, m);
    ORR_TRY(find_statistic(pose, m, error));
    take_given_statistic(m, &spec->statistic);
    find_tendon_springs(pose, m);
    find_plastic(m);
    return resolve_spring_dampers(spec, m, error);
}

orr_result orr_find_constants(const orr_spec *spec, orr_model *m, orr_error *error)
{
    orr_pose pose;
    ORR_TRY(orr_pose_at_rest(m, spec->path, &pose, error));
    orr_result result = find_at_rest(spec, &pose, m, error);
    orr_pose_destroy(&pose);
    return result;
}
