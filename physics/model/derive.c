// Constants that follow from the rest pose: inverse weights, lengths, offsets, statistics.
#include "physics/model/pose.h"
#include "physics/model/rotation.h"

static void find_subtree_masses(orr_model *m)
{
    memcpy(m->body_subtreemass, m->body_mass, (size_t)m->nbody * sizeof(double));
    for (int i = m->nbody - 1; i > 0; i--) {
        m->body_subtreemass[m->body_parentid[i]] += m->body_subtreemass[i];
    }
}

// Diagonal of J M^-1 J^T for one row of J.
static double inverse_weight(const model_pose *pose, const double *row, double *scratch)
{
    int nv = pose->m->nv;
    double sum = 0.0;
    memcpy(scratch, row, (size_t)nv * sizeof *scratch);
    pose_solve(pose, scratch);
    for (int i = 0; i < nv; i++) {
        sum += row[i] * scratch[i];
    }
    return sum;
}

static double mean3(const double v[3])
{
    return (v[0] + v[1] + v[2]) / 3.0;
}

// MuJoCo takes a body that only slides along its axes, free of all others and centred, to weigh its mass: without armature.
static bool only_slides(const orr_model *m, int body)
{
    const double *pos = m->body_ipos + 3 * body, *quat = m->body_iquat + 4 * body;
    int parent = m->body_parentid[body];
    bool centred = vec_length(pos) < 1e-6 && fabs(fabs(quat[0]) - 1.0) < 1e-6;
    bool simple = centred && m->body_dofnum[body] > 0 &&
                  (parent == 0 || (m->body_parentid[parent] == 0 && m->body_dofnum[parent] == 0));
    for (int i = body + 1; i < m->nbody && simple; i++) {
        simple = m->body_parentid[i] != body;
    }
    for (int j = m->body_jntadr[body]; simple && j < m->body_jntadr[body] + m->body_jntnum[body]; j++) {
        const double *axis = m->jnt_axis + 3 * j;
        int aligned = (fabs(axis[0]) > 1e-6) + (fabs(axis[1]) > 1e-6) + (fabs(axis[2]) > 1e-6);
        simple = m->jnt_type[j] == ORR_JOINT_SLIDE && aligned == 1;
    }
    return simple;
}

static void derive_body_weights(const model_pose *pose, orr_model *m)
{
    for (int b = 1; b < m->nbody; b++) {
        if (m->body_weldid[b] == 0) {
            continue;
        }
        if (only_slides(m, b)) {
            m->body_invweight0[2 * b] = 1.0 / fmax(1e-15, m->body_mass[b]);
            continue;
        }
        double weight[6];
        pose_jacobian(pose, b, pose->xipos + 3 * b, pose->jacobian[0]);
        for (int i = 0; i < 6; i++) {
            weight[i] = inverse_weight(pose, pose->jacobian[0] + i * m->nv, pose->jacobian[1]);
        }
        m->body_invweight0[2 * b] = mean3(weight);
        m->body_invweight0[2 * b + 1] = mean3(weight + 3);
    }
}

static void derive_dof_weights(const model_pose *pose, orr_model *m)
{
    double *unit = pose->jacobian[0];
    for (int d = 0; d < m->nv; d++) {
        memset(unit, 0, (size_t)m->nv * sizeof *unit);
        unit[d] = 1.0;
        m->dof_invweight0[d] = inverse_weight(pose, unit, pose->jacobian[1]);
        if (only_slides(m, m->dof_bodyid[d])) {
            m->dof_invweight0[d] = 1.0 / fmax(1e-15, m->body_mass[m->dof_bodyid[d]]);
        }
        m->dof_M0[d] = pose->bare[d];
    }
    for (int j = 0; j < m->njnt; j++) { // directions of one joint are treated alike
        int type = m->jnt_type[j];
        int triples = type == ORR_JOINT_FREE ? 2 : type == ORR_JOINT_BALL ? 1 : 0;
        for (int t = 0; t < triples; t++) {
            double *w = m->dof_invweight0 + m->jnt_dofadr[j] + 3 * t;
            w[0] = w[1] = w[2] = mean3(w);
        }
    }
}

static void derive_all_weights(const model_pose *pose, orr_model *m)
{
    derive_body_weights(pose, m);
    derive_dof_weights(pose, m);
    for (int i = 0; i < m->ntendon; i++) {
        m->tendon_invweight0[i] =
            inverse_weight(pose, pose->ten_J + (size_t)i * (size_t)m->nv, pose->jacobian[1]);
    }
}

static orr_result pose_at_rest(model_pose *pose, const char *path, orr_error *error)
{
    pose_kinematics(pose, pose->m->qpos0);
    pose_tendons(pose, pose->m->qpos0);
    if (!pose_inertia(pose)) {
        return orr_fail(error, ORR_CODE_MODEL_FILE,
                        "%s: the inertia matrix is singular: expected mass on every moving part, or armature",
                        path);
    }
    return ORR_OK;
}

static void site_place(const model_pose *pose, int site, double pos[3], double mat[9])
{
    const orr_model *m = pose->m;
    int body = m->site_bodyid[site];
    double quat[4];
    memcpy(pos, m->site_pos + 3 * site, 3 * sizeof *pos);
    memcpy(quat, m->site_quat + 4 * site, sizeof quat);
    frame_compose(pose->xpos + 3 * body, pose->xquat + 4 * body, pos, quat);
    quat_matrix(quat, mat);
}

// Length and moment of a force and torque at a site, measured against a reference site when there is one.
static double site_transmission(const model_pose *pose, int id, double *moment)
{
    const orr_model *m = pose->m;
    int nv = m->nv, site = m->actuator_trnid[2 * id], reference = m->actuator_trnid[2 * id + 1];
    const double *gear = m->actuator_gear + 6 * id;
    double pos[3], mat[9], frame[9], origin[3], force[3], torque[3], length = 0.0;
    site_place(pose, site, pos, mat);
    memcpy(frame, mat, sizeof frame);
    pose_jacobian(pose, m->site_bodyid[site], pos, pose->jacobian[0]);
    if (reference >= 0) {
        double apart[3], inside[3], quat[4], turn[4];
        site_place(pose, reference, origin, frame);
        pose_jacobian(pose, m->site_bodyid[reference], origin, pose->jacobian[1]);
        // both move with the dofs above both: those do not change the distance
        int last1 = pose_last_dof(m, m->site_bodyid[site]),
            last2 = pose_last_dof(m, m->site_bodyid[reference]);
        for (int d = 0; d < nv; d++) {
            bool moves1 = false, moves2 = false;
            for (int k = 0; last1 >= 0 && k < m->M_rownnz[last1]; k++) {
                moves1 = moves1 || m->M_colind[m->M_rowadr[last1] + k] == d;
            }
            for (int k = 0; last2 >= 0 && k < m->M_rownnz[last2]; k++) {
                moves2 = moves2 || m->M_colind[m->M_rowadr[last2] + k] == d;
            }
            for (int i = 0; i < 6; i++) {
                double *j = &pose->jacobian[0][i * nv + d];
                *j = moves1 && moves2 ? 0.0 : *j - pose->jacobian[1][i * nv + d];
            }
        }
        for (int i = 0; i < 3; i++) {
            apart[i] = pos[i] - origin[i];
        }
        mat_apply_transposed(frame, apart, inside);
        double site_quat[4], reference_quat[4];
        // MuJoCo's order, see lanes/transmission.h
        quat_multiply(m->site_quat + 4 * site, pose->xquat + 4 * m->site_bodyid[site], site_quat);
        quat_multiply(m->site_quat + 4 * reference, pose->xquat + 4 * m->site_bodyid[reference],
                      reference_quat);
        quat_conjugate(reference_quat, quat);
        quat_multiply(quat, site_quat, turn);
        double axis[3] = {turn[1], turn[2], turn[3]}, s = vec_normalise(axis, 3),
               angle = 2.0 * atan2(s, turn[0]);
        angle = angle > 3.14159265358979323846 ? angle - 2.0 * 3.14159265358979323846 : angle;
        length = vec_dot(gear, inside) + vec_dot(gear + 3, axis) * (s > 0.0 ? angle : 0.0);
    }
    mat_apply(frame, gear, force);
    mat_apply(frame, gear + 3, torque);
    for (int d = 0; d < nv; d++) {
        for (int i = 0; i < 3; i++) {
            moment[d] +=
                pose->jacobian[0][i * nv + d] * force[i] + pose->jacobian[0][(i + 3) * nv + d] * torque[i];
        }
    }
    return length;
}

// Of a slider that a rod joins to a crank.
static double crank_transmission(const model_pose *pose, int id, double *moment)
{
    const orr_model *m = pose->m;
    int crank = m->actuator_trnid[2 * id], slider = m->actuator_trnid[2 * id + 1], nv = m->nv;
    double gear = m->actuator_gear[6 * id], rod = m->actuator_cranklength[id];
    double at[3], from[3], frame[9], unused[9], apart[3];
    site_place(pose, crank, at, unused);
    site_place(pose, slider, from, frame);
    double axis[3] = {frame[2], frame[5], frame[8]};
    for (int i = 0; i < 3; i++) {
        apart[i] = at[i] - from[i];
    }
    double along = vec_dot(apart, axis), square = along * along + rod * rod - vec_dot(apart, apart);
    double root = square > 0.0 ? sqrt(square) : 0.0;
    double share = square > 0.0 ? 1.0 - along / root : 1.0, pull = square > 0.0 ? 1.0 / root : 0.0;
    pose_jacobian(pose, m->site_bodyid[crank], at, pose->jacobian[0]);
    pose_jacobian(pose, m->site_bodyid[slider], from, pose->jacobian[1]);
    for (int d = 0; d < nv; d++) {
        double turning[3], swing[3];
        for (int i = 0; i < 3; i++) {
            turning[i] = pose->jacobian[1][(i + 3) * nv + d];
        }
        vec_cross(turning, axis, swing);
        for (int i = 0; i < 3; i++) {
            double moving = pose->jacobian[0][i * nv + d] - pose->jacobian[1][i * nv + d];
            moment[d] += gear * ((axis[i] * share + apart[i] * pull) * moving + apart[i] * share * swing[i]);
        }
    }
    return gear * (along - root);
}

double pose_transmission(const model_pose *pose, int id, const double *qpos, double *moment)
{
    const orr_model *m = pose->m;
    const double *gear = m->actuator_gear + 6 * id;
    int target = m->actuator_trnid[2 * id], type = m->actuator_trntype[id];
    memset(moment, 0, (size_t)m->nv * sizeof *moment);
    if (type == ORR_TRANSMISSION_SITE) {
        return site_transmission(pose, id, moment);
    }
    if (type == ORR_TRANSMISSION_SLIDERCRANK) {
        return crank_transmission(pose, id, moment);
    }
    if (type == ORR_TRANSMISSION_BODY) { // nothing touches yet
        return 0.0;
    }
    if (type == ORR_TRANSMISSION_TENDON) {
        for (int d = 0; d < m->nv; d++) {
            moment[d] = gear[0] * pose->ten_J[(size_t)target * (size_t)m->nv + (size_t)d];
        }
        return gear[0] * pose->ten_length[target];
    }
    int joint = m->jnt_type[target], dof = m->jnt_dofadr[target];
    if (joint == ORR_JOINT_SLIDE || joint == ORR_JOINT_HINGE) {
        moment[dof] = gear[0];
        return gear[0] * qpos[m->jnt_qposadr[target]];
    }
    double turned[3] = {gear[0], gear[1], gear[2]};
    if (joint == ORR_JOINT_FREE) {
        memcpy(moment + dof, gear, 6 * sizeof *moment);
        memcpy(turned, gear + 3, sizeof turned);
        dof += 3;
    }
    if (type == ORR_TRANSMISSION_JOINTINPARENT) {
        double inverse[4];
        const double *quat = qpos + m->jnt_qposadr[target] + (joint == ORR_JOINT_FREE ? 3 : 0);
        quat_conjugate(quat, inverse);
        quat_apply(inverse, turned, turned);
    }
    memcpy(moment + dof, turned, sizeof turned);
    return 0.0;
}

// A positive velocity gain of a servo is a damping ratio: of the mass it feels at qpos0.
static void resolve_damping_ratio(orr_model *m, int id, const double *moment)
{
    double *bias = m->actuator_biasprm + ORR_NBIAS * id, gain = m->actuator_gainprm[ORR_NGAIN * id],
           mass = 0.0;
    if (gain != -bias[1] || bias[2] <= 0.0) {
        return;
    }
    for (int d = 0; d < m->nv; d++) {
        double square = moment[d] * moment[d];
        mass += square > 1e-15 ? m->dof_M0[d] / square : 0.0;
    }
    bias[2] *= -2.0 * sqrt(gain * mass);
}

// What a unit of its force does at qpos0. moment: becomes the acceleration.
static void derive_actuator_acceleration(const model_pose *pose, orr_model *m, int id, double *moment)
{
    pose_solve(pose, moment);
    double square = 0.0;
    for (int d = 0; d < m->nv; d++) {
        square += moment[d] * moment[d];
    }
    m->actuator_acc0[id] = sqrt(square);
}

static void derive_actuators(const model_pose *pose, orr_model *m, double *moment)
{
    for (int i = 0; i < m->nu; i++) {
        m->actuator_length0[i] = pose_transmission(pose, i, m->qpos0, moment);
        resolve_damping_ratio(m, i, moment);
        derive_actuator_acceleration(pose, m, i, moment);
    }
}

static void derive_equalities(const model_pose *pose, orr_model *m)
{
    for (int i = 0; i < m->neq; i++) {
        double *data = m->eq_data + ORR_NEQDATA * i;
        int b1 = m->eq_obj1id[i], b2 = m->eq_obj2id[i];
        bool weld = m->eq_type[i] == ORR_EQUALITY_WELD;
        if (m->eq_objtype[i] != ORR_OBJECT_BODY || (!weld && m->eq_type[i] != ORR_EQUALITY_CONNECT)) {
            continue;
        }
        if (weld && (data[6] != 0.0 || data[7] != 0.0 || data[8] != 0.0 || data[9] != 0.0)) {
            vec_normalise(data + 6, 4);
            continue;
        }
        // the anchor, given in one body (a weld: the second), seen from the other
        int from = weld ? b2 : b1, to = weld ? b1 : b2;
        double point[3];
        mat_apply(pose->xmat + 9 * from, data, point);
        for (int k = 0; k < 3; k++) {
            point[k] += pose->xpos[3 * from + k] - pose->xpos[3 * to + k];
        }
        mat_apply_transposed(pose->xmat + 9 * to, point, data + 3);
        if (weld) {
            double inverse[4];
            quat_conjugate(pose->xquat + 4 * b1, inverse);
            quat_multiply(inverse, pose->xquat + 4 * b2, data + 6);
        }
    }
}

static void derive_views(const model_pose *pose, orr_model *m)
{
    for (int i = 0; i < m->ncam; i++) {
        int body = m->cam_bodyid[i], target = m->cam_targetbodyid[i] >= 0 ? m->cam_targetbodyid[i] : body;
        double pos[3], quat[4];
        memcpy(pos, m->cam_pos + 3 * i, sizeof pos);
        memcpy(quat, m->cam_quat + 4 * i, sizeof quat);
        frame_compose(pose->xpos + 3 * body, pose->xquat + 4 * body, pos, quat);
        quat_matrix(quat, m->cam_mat0 + 9 * i);
        for (int k = 0; k < 3; k++) {
            m->cam_pos0[3 * i + k] = pos[k] - pose->xpos[3 * body + k];
            m->cam_poscom0[3 * i + k] = pos[k] - pose->com[3 * target + k];
        }
    }
    for (int i = 0; i < m->nlight; i++) {
        int body = m->light_bodyid[i],
            target = m->light_targetbodyid[i] >= 0 ? m->light_targetbodyid[i] : body;
        double pos[3];
        mat_apply(pose->xmat + 9 * body, m->light_pos + 3 * i, pos);
        mat_apply(pose->xmat + 9 * body, m->light_dir + 3 * i, m->light_dir0 + 3 * i);
        for (int k = 0; k < 3; k++) {
            m->light_pos0[3 * i + k] = pos[k];
            m->light_poscom0[3 * i + k] = pos[k] + pose->xpos[3 * body + k] - pose->com[3 * target + k];
        }
    }
}

static void grow(double low[3], double high[3], const double point[3], double radius)
{
    for (int i = 0; i < 3; i++) {
        low[i] = fmin(low[i], point[i] - radius);
        high[i] = fmax(high[i], point[i] + radius);
    }
}

static double distance(const double a[3], const double b[3])
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return vec_length(d);
}

// How far a drawn geom reaches: planes and height fields count a tenth.
static double geom_reach(const orr_model *m, int geom)
{
    const double *size = m->geom_size + 3 * geom;
    if (m->geom_rbound[geom] > 0.0) {
        return m->geom_rbound[geom];
    }
    double side = fmax(size[0], size[1]);
    return m->geom_type[geom] == ORR_GEOM_PLANE ? (side > 0.0 ? 0.1 * side : 0.01) : 0.0;
}

static void derive_statistic(const model_pose *pose, orr_model *m, double *reach)
{
    double low[3] = {1e10, 1e10, 1e10}, high[3] = {-1e10, -1e10, -1e10}, point[3], mat[9];
    orr_model_statistic *stat = &m->stat;
    memset(reach, 0, (size_t)m->nbody * sizeof *reach);
    for (int b = 1; b < m->nbody; b++) {
        grow(low, high, pose->xpos + 3 * b, 0.0);
        grow(low, high, pose->xipos + 3 * b, 0.0);
        stat->meanmass += m->body_mass[b] / (m->nbody - 1);
    }
    for (int j = 0; j < m->njnt; j++) {
        const double *anchor = pose->xanchor + 3 * j;
        int body = m->jnt_bodyid[j], parent = m->body_parentid[body];
        grow(low, high, anchor, 0.0);
        reach[body] = fmax(reach[body], distance(pose->xipos + 3 * body, anchor));
        reach[parent] = fmax(reach[parent], distance(pose->xipos + 3 * parent, anchor));
    }
    for (int s = 0; s < m->nsite; s++) {
        site_place(pose, s, point, mat);
        grow(low, high, point, 0.0);
    }
    for (int g = 0; g < m->ngeom; g++) {
        int body = m->geom_bodyid[g];
        mat_apply(pose->xmat + 9 * body, m->geom_pos + 3 * g, point);
        for (int i = 0; i < 3; i++) {
            point[i] += pose->xpos[3 * body + i];
        }
        grow(low, high, point, geom_reach(m, g));
        if (m->geom_rbound[g] > 0.0) {
            reach[body] = fmax(reach[body], m->geom_rbound[g] + distance(pose->xipos + 3 * body, point));
        }
    }
    for (int i = 0; i < 3; i++) {
        stat->centre[i] = 0.5 * (low[i] + high[i]);
    }
    if (high[0] > low[0]) {
        stat->extent = fmax(1e-5, fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2])));
    }
    for (int b = 1; b < m->nbody; b++) {
        stat->meansize += fmax(reach[b], 1e-5) / (m->nbody - 1);
    }
    stat->extent = fmax(stat->extent, 2.0 * stat->meansize);
    for (int d = 0; d < m->nv; d++) {
        stat->meaninertia += pose->inertia[m->M_rowadr[d] + m->M_rownnz[d] - 1] / m->nv;
    }
}

static void set_given_statistic(orr_model *m, const orr_model_statistic *given)
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

// Joints whose damping is given as a time constant and a ratio of the critical damping.
static orr_result resolve_spring_dampers(model_builder *b)
{
    orr_model *m = b->m;
    for (int j = 0; j < m->njnt; j++) {
        const spec_joint *joint = &b->spec->joints[j];
        double time = joint->springdamper[0], ratio = joint->springdamper[1];
        if (time == 0.0 && ratio == 0.0) {
            continue;
        }
        if (!(time > 0.0) || !(ratio > 0.0)) {
            return spec_fail(&joint->head, b->error, "springdamper: expected two positive numbers");
        }
        int first = m->jnt_dofadr[j], count = m->jnt_type[j] == ORR_JOINT_FREE   ? 6
                                              : m->jnt_type[j] == ORR_JOINT_BALL ? 3
                                                                                 : 1;
        double weight = 0.0;
        for (int d = first; d < first + count; d++) {
            weight += m->dof_invweight0[d] / count;
        }
        double mass = 1.0 / fmax(1e-15, weight);
        m->jnt_stiffness[j] = mass / fmax(1e-15, time * time * ratio * ratio);
        for (int d = first; d < first + count; d++) {
            m->dof_damping[d] = 2.0 * mass / fmax(1e-15, time);
        }
    }
    return ORR_OK;
}

static orr_result derive(model_builder *b, model_pose *pose)
{
    orr_model *m = b->m;
    double *reach = orr_arena_take(&pose->arena, (size_t)m->nbody, sizeof *reach);
    double *moment = orr_arena_take(&pose->arena, (size_t)m->nv, sizeof *moment);
    if (!reach || !moment) {
        return spec_memory_fail(b->error);
    }
    ORR_TRY(pose_at_rest(pose, b->spec->path, b->error));
    derive_all_weights(pose, m);
    for (int i = 0; i < m->ntendon; i++) {
        m->tendon_length0[i] = pose->ten_length[i];
    }
    derive_actuators(pose, m, moment);
    derive_equalities(pose, m);
    derive_views(pose, m);
    derive_statistic(pose, m, reach);
    set_given_statistic(m, &b->spec->statistic);
    pose_kinematics(pose, m->qpos_spring);
    pose_tendons(pose, m->qpos_spring);
    for (int i = 0; i < m->ntendon; i++) {
        double *rest = m->tendon_lengthspring + 2 * i;
        if (rest[0] == -1.0 && rest[1] == -1.0) {
            rest[0] = rest[1] = pose->ten_length[i];
        }
    }
    return resolve_spring_dampers(b);
}

orr_result derive_constants(model_builder *b)
{
    model_pose pose;
    find_subtree_masses(b->m);
    ORR_TRY(pose_create(&pose, b->m, b->error));
    orr_result result = derive(b, &pose);
    pose_destroy(&pose);
    return result;
}

orr_result derive_weights(orr_model *m, orr_error *error)
{
    model_pose pose;
    find_subtree_masses(m);
    ORR_TRY(pose_create(&pose, m, error));
    double *moment = orr_arena_take(&pose.arena, (size_t)m->nv, sizeof *moment);
    orr_result result = moment ? pose_at_rest(&pose, m->name, error) : spec_memory_fail(error);
    if (result == ORR_OK) {
        derive_all_weights(&pose, m);
        for (int i = 0; i < m->nu; i++) {
            (void)pose_transmission(&pose, i, m->qpos0, moment);
            derive_actuator_acceleration(&pose, m, i, moment);
        }
    }
    pose_destroy(&pose);
    return result;
}
