// Kinematics, inertia matrix and Jacobians of one pose (Featherstone, Rigid Body Dynamics Algorithms, 2008, chapters 6 and
// 8). Motions and inertias are about the centre of mass of the tree, in world axes.
#include "physics/model/pose.h"
#include "physics/model/rotation.h"

#define TAKE(pointer, count)                                                                                 \
    ORR_TRY(((pointer) = orr_arena_take(&pose->arena, (size_t)(count), sizeof(double)))                      \
                ? ORR_OK                                                                                     \
                : spec_memory_fail(error))

static orr_result take_arrays(model_pose *pose, orr_error *error)
{
    size_t bodies = (size_t)pose->m->nbody, dofs = (size_t)pose->m->nv, joints = (size_t)pose->m->njnt;
    TAKE(pose->xpos, bodies * 3);
    TAKE(pose->xquat, bodies * 4);
    TAKE(pose->xmat, bodies * 9);
    TAKE(pose->xipos, bodies * 3);
    TAKE(pose->com, bodies * 3);
    TAKE(pose->xanchor, joints * 3);
    TAKE(pose->xaxis, joints * 3);
    TAKE(pose->whole, bodies * 13);
    TAKE(pose->cdof, dofs * 6);
    TAKE(pose->inertia, pose->m->nM);
    TAKE(pose->factor, pose->m->nM);
    TAKE(pose->diagonal, dofs);
    TAKE(pose->bare, dofs);
    TAKE(pose->jacobian[0], dofs * 6);
    TAKE(pose->jacobian[1], dofs * 6);
    TAKE(pose->ten_length, pose->m->ntendon);
    TAKE(pose->ten_J, (size_t)pose->m->ntendon * dofs);
    return ORR_OK;
}

orr_result pose_create(model_pose *pose, const orr_model *m, orr_error *error)
{
    *pose = (model_pose){.m = m};
    orr_result result = take_arrays(pose, error);
    if (result != ORR_OK) {
        pose_destroy(pose);
    }
    return result;
}

void pose_destroy(model_pose *pose)
{
    orr_arena_destroy(&pose->arena);
}

static void set_motion(double *cdof, const double turn[3], const double move[3])
{
    memcpy(cdof, turn, 3 * sizeof *cdof);
    memcpy(cdof + 3, move, 3 * sizeof *cdof);
}

static void place_joint(model_pose *pose, int j, const double *qpos, double pos[3], double quat[4])
{
    const orr_model *m = pose->m;
    const double *q = qpos + m->jnt_qposadr[j];
    double *anchor = pose->xanchor + 3 * j, *axis = pose->xaxis + 3 * j, turn[4];
    if (m->jnt_type[j] == ORR_JOINT_FREE) {
        memcpy(pos, q, 3 * sizeof *pos);
        memcpy(quat, q + 3, 4 * sizeof *quat);
        vec_normalise(quat, 4);
        memcpy(anchor, pos, 3 * sizeof *anchor);
        return;
    }
    quat_apply(quat, m->jnt_pos + 3 * j, anchor);
    quat_apply(quat, m->jnt_axis + 3 * j, axis);
    for (int i = 0; i < 3; i++) {
        anchor[i] += pos[i];
    }
    double along = m->jnt_type[j] == ORR_JOINT_BALL ? 0.0 : q[0] - m->qpos0[m->jnt_qposadr[j]];
    if (m->jnt_type[j] == ORR_JOINT_SLIDE) {
        for (int i = 0; i < 3; i++) {
            pos[i] += along * axis[i];
        }
        return;
    }
    if (m->jnt_type[j] == ORR_JOINT_BALL) {
        memcpy(turn, q, sizeof turn);
        vec_normalise(turn, 4);
    } else {
        quat_axis_angle(m->jnt_axis + 3 * j, along, turn);
    }
    quat_multiply(quat, turn, quat);
    vec_normalise(quat, 4);
    double off[3]; // the anchor stays
    quat_apply(quat, m->jnt_pos + 3 * j, off);
    for (int i = 0; i < 3; i++) {
        pos[i] = anchor[i] - off[i];
    }
}

static void place_bodies(model_pose *pose, const double *qpos)
{
    const orr_model *m = pose->m;
    for (int b = 0; b < m->nbody; b++) {
        double *pos = pose->xpos + 3 * b, *quat = pose->xquat + 4 * b;
        memcpy(pos, m->body_pos + 3 * b, 3 * sizeof *pos);
        memcpy(quat, m->body_quat + 4 * b, 4 * sizeof *quat);
        if (b > 0) {
            int parent = m->body_parentid[b];
            frame_compose(pose->xpos + 3 * parent, pose->xquat + 4 * parent, pos, quat);
        }
        for (int k = 0; k < m->body_jntnum[b]; k++) {
            place_joint(pose, m->body_jntadr[b] + k, qpos, pos, quat);
        }
        quat_matrix(quat, pose->xmat + 9 * b);
        mat_apply(pose->xmat + 9 * b, m->body_ipos + 3 * b, pose->xipos + 3 * b);
        for (int i = 0; i < 3; i++) {
            pose->xipos[3 * b + i] += pos[i];
        }
    }
}

static void find_centres(model_pose *pose)
{
    const orr_model *m = pose->m;
    for (int b = 0; b < m->nbody; b++) {
        for (int i = 0; i < 3; i++) {
            pose->com[3 * b + i] = m->body_mass[b] * pose->xipos[3 * b + i];
        }
    }
    for (int b = m->nbody - 1; b >= 0; b--) {
        double mass = m->body_subtreemass[b], *com = pose->com + 3 * b;
        for (int i = 0; i < 3; i++) {
            if (b > 0) {
                pose->com[3 * m->body_parentid[b] + i] += com[i];
            }
            com[i] = mass < 1e-15 ? pose->xipos[3 * b + i] : com[i] / mass;
        }
    }
}

static void find_motions(model_pose *pose)
{
    static const double still[3];
    const orr_model *m = pose->m;
    for (int j = 0; j < m->njnt; j++) {
        int body = m->jnt_bodyid[j], type = m->jnt_type[j];
        const double *mat = pose->xmat + 9 * body, *com = pose->com + 3 * m->body_rootid[body];
        double *cdof = pose->cdof + 6 * m->jnt_dofadr[j], arm[3], axis[3], move[3];
        for (int i = 0; i < 3; i++) {
            arm[i] = com[i] - pose->xanchor[3 * j + i];
        }
        if (type == ORR_JOINT_FREE) {
            for (int i = 0; i < 3; i++, cdof += 6) {
                const double unit[3] = {(double)(i == 0), (double)(i == 1), (double)(i == 2)};
                set_motion(cdof, still, unit);
            }
        }
        memcpy(axis, pose->xaxis + 3 * j, sizeof axis);
        if (type == ORR_JOINT_SLIDE) {
            set_motion(cdof, still, axis);
        } else if (type == ORR_JOINT_HINGE) {
            vec_cross(axis, arm, move);
            set_motion(cdof, axis, move);
        } else {
            for (int i = 0; i < 3; i++, cdof += 6) {
                const double column[3] = {mat[i], mat[i + 3], mat[i + 6]};
                vec_cross(column, arm, move);
                set_motion(cdof, column, move);
            }
        }
    }
}

void pose_kinematics(model_pose *pose, const double *qpos)
{
    place_bodies(pose, qpos);
    find_centres(pose);
    find_motions(pose);
}

typedef struct spatial_inertia { // about the tree's centre: second moments, first moments, mass
    double matrix[9], first[3], mass;
} spatial_inertia;

static void body_inertia(const model_pose *pose, int body, spatial_inertia *out)
{
    const orr_model *m = pose->m;
    double quat[4], axes[9], arm[3], mass = m->body_mass[body];
    quat_multiply(pose->xquat + 4 * body, m->body_iquat + 4 * body, quat);
    quat_matrix(quat, axes);
    for (int i = 0; i < 3; i++) {
        arm[i] = pose->xipos[3 * body + i] - pose->com[3 * m->body_rootid[body] + i];
        out->first[i] = mass * arm[i];
    }
    double square = vec_dot(arm, arm);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double turned = 0.0;
            for (int a = 0; a < 3; a++) {
                turned += axes[3 * i + a] * m->body_inertia[3 * body + a] * axes[3 * j + a];
            }
            out->matrix[3 * i + j] = turned + mass * ((i == j ? square : 0.0) - arm[i] * arm[j]);
        }
    }
    out->mass = mass;
}

// Momentum of a motion: angular, linear.
static void momentum(const spatial_inertia *whole, const double motion[6], double out[6])
{
    double cross[3];
    mat_apply(whole->matrix, motion, out);
    vec_cross(whole->first, motion + 3, cross);
    for (int i = 0; i < 3; i++) {
        out[i] += cross[i];
    }
    vec_cross(motion, whole->first, cross);
    for (int i = 0; i < 3; i++) {
        out[i + 3] = whole->mass * motion[i + 3] + cross[i];
    }
}

static bool factorise(model_pose *pose)
{
    const orr_model *m = pose->m;
    memcpy(pose->factor, pose->inertia, (size_t)m->nM * sizeof(double));
    for (int k = m->nv - 1; k >= 0; k--) {
        int start = m->M_rowadr[k], count = m->M_rownnz[k] - 1;
        double *row = pose->factor + start, pivot = row[count];
        if (!(pivot > 1e-15)) {
            return false;
        }
        pose->diagonal[k] = pivot;
        for (int a = count - 1; a >= 0; a--) {
            double scale = row[a] / pivot, *above = pose->factor + m->M_rowadr[m->M_colind[start + a]];
            for (int c = 0; c <= a; c++) { // the row of a dof above is a beginning of this row
                above[c] -= scale * row[c];
            }
        }
        for (int a = 0; a < count; a++) {
            row[a] /= pivot;
        }
    }
    return true;
}

bool pose_inertia(model_pose *pose)
{
    const orr_model *m = pose->m;
    _Static_assert(sizeof(spatial_inertia) == 13 * sizeof(double), "what pose->whole has room for");
    spatial_inertia *whole = (spatial_inertia *)(void *)pose->whole;
    for (int b = 0; b < m->nbody; b++) {
        body_inertia(pose, b, &whole[b]);
    }
    for (int b = m->nbody - 1; b > 0; b--) {
        spatial_inertia *parent = &whole[m->body_parentid[b]];
        for (int i = 0; i < 9 && m->body_parentid[b] > 0; i++) {
            parent->matrix[i] += whole[b].matrix[i];
        }
        for (int i = 0; i < 3; i++) {
            parent->first[i] += whole[b].first[i];
        }
        parent->mass += whole[b].mass;
    }
    for (int d = 0; d < m->nv; d++) {
        double force[6], *row = pose->inertia + m->M_rowadr[d];
        momentum(&whole[m->dof_bodyid[d]], pose->cdof + 6 * d, force);
        for (int k = 0; k < m->M_rownnz[d]; k++) {
            const double *motion = pose->cdof + 6 * m->M_colind[m->M_rowadr[d] + k];
            row[k] = vec_dot(force, motion) + vec_dot(force + 3, motion + 3);
        }
        row[m->M_rownnz[d] - 1] += m->dof_armature[d] + m->dof_drive[(2 + ORR_NPOLY) * d];
        pose->bare[d] = row[m->M_rownnz[d] - 1];
    }
    for (int t = 0; t < m->ntendon; t++) { // a tendon's armature moves with its length
        const double *arm = pose->ten_J + (size_t)t * (size_t)m->nv;
        double armature = m->tendon_armature[t] + m->tendon_drive[(2 + ORR_NPOLY) * t];
        for (int d = 0; d < m->nv && armature != 0.0; d++) {
            for (int k = m->M_rowadr[d]; k < m->M_rowadr[d] + m->M_rownnz[d]; k++) {
                pose->inertia[k] += armature * arm[d] * arm[m->M_colind[k]];
            }
        }
    }
    return factorise(pose);
}

void pose_solve(const model_pose *pose, double *x)
{
    const orr_model *m = pose->m;
    for (int k = m->nv - 1; k >= 0; k--) {
        const double *row = pose->factor + m->M_rowadr[k];
        for (int a = 0; a < m->M_rownnz[k] - 1 && x[k] != 0.0; a++) {
            x[m->M_colind[m->M_rowadr[k] + a]] -= row[a] * x[k];
        }
    }
    for (int k = 0; k < m->nv; k++) {
        const double *row = pose->factor + m->M_rowadr[k];
        x[k] /= pose->diagonal[k];
        for (int a = 0; a < m->M_rownnz[k] - 1; a++) {
            x[k] -= row[a] * x[m->M_colind[m->M_rowadr[k] + a]];
        }
    }
}

int pose_last_dof(const orr_model *m, int body)
{
    while (body > 0 && m->body_dofnum[body] == 0) {
        body = m->body_parentid[body];
    }
    return body > 0 ? m->body_dofadr[body] + m->body_dofnum[body] - 1 : -1;
}

void pose_jacobian(const model_pose *pose, int body, const double point[3], double *jacobian)
{
    const orr_model *m = pose->m;
    int last = pose_last_dof(m, body), nv = m->nv;
    const double *com = pose->com + 3 * m->body_rootid[body];
    const double arm[3] = {point[0] - com[0], point[1] - com[1], point[2] - com[2]};
    memset(jacobian, 0, 6 * (size_t)nv * sizeof *jacobian);
    for (int k = 0; last >= 0 && k < m->M_rownnz[last]; k++) {
        int d = m->M_colind[m->M_rowadr[last] + k];
        const double *motion = pose->cdof + 6 * d;
        double swing[3];
        vec_cross(motion, arm, swing);
        for (int i = 0; i < 3; i++) {
            jacobian[i * nv + d] = motion[i + 3] + swing[i];
            jacobian[(i + 3) * nv + d] = motion[i];
        }
    }
}
