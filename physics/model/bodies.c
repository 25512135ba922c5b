// Bodies, joints and degrees of freedom: the tree, addresses, the rest pose qpos0, the pattern of the inertia
// matrix.
#include "engine/maths/rotation.h"
#include "physics/model/compile.h"

#include <assert.h>
#include <string.h>

static const int joint_positions[] = {7, 4, 1, 1}, joint_dofs[] = {6, 3, 1, 1};

// Its positions in qpos0 and qpos_spring, from `qpos` on.
static void place_joint(orr_model *m, const spec_joint *joint, int qpos)
{
    double *pose = m->qpos0 + qpos, *spring = m->qpos_spring + qpos;
    if (joint->type == ORR_JOINT_FREE) {
        memcpy(pose, m->body_pos + 3 * joint->body, 3 * sizeof(double));
        memcpy(pose + 3, m->body_quat + 4 * joint->body, 4 * sizeof(double));
        memcpy(spring, pose, 7 * sizeof(double));
    } else if (joint->type == ORR_JOINT_BALL) {
        pose[0] = spring[0] = 1.0;
    } else {
        *pose = joint->ref;
        *spring = joint->springref;
    }
}

// Its dofs, from `dof` on.
static void add_dofs(orr_model *m, int id, const spec_joint *joint, int dof)
{
    for (int d = dof; d < dof + joint_dofs[joint->type]; d++) {
        m->dof_bodyid[d] = joint->body;
        m->dof_jntid[d] = id;
        memcpy(m->dof_solref + ORR_NREF * d, joint->solref_friction, sizeof joint->solref_friction);
        memcpy(m->dof_solimp + ORR_NIMP * d, joint->solimp_friction, sizeof joint->solimp_friction);
        m->dof_frictionloss[d] = joint->frictionloss;
        m->dof_armature[d] = joint->armature;
        m->dof_damping[d] = joint->damping[0];
        memcpy(m->dof_dampingpoly + ORR_NPOLY * d, joint->damping + 1, ORR_NPOLY * sizeof(double));
    }
}

static orr_result add_joint(model_builder *b, int id, int *qpos, int *dof)
{
    orr_model *m = b->m;
    const spec_joint *joint = &b->spec->joints[id];
    int body = joint->body, type = joint->type;
    m->jnt_type[id] = type;
    m->jnt_qposadr[id] = *qpos;
    m->jnt_dofadr[id] = *dof;
    m->jnt_bodyid[id] = body;
    m->jnt_group[id] = joint->group;
    bool free = type == ORR_JOINT_FREE;
    if (free && (m->body_parentid[body] != 0 || m->body_jntnum[body] != 1)) {
        return spec_fail(&joint->head, b->error, "a free joint: expected in a child of the world, and alone");
    }
    if (body == 0) {
        return spec_fail(&joint->head, b->error, "the world cannot have joints");
    }
    double axis[3] = {joint->axis[0], joint->axis[1], joint->axis[2]};
    bool directed = type == ORR_JOINT_SLIDE || type == ORR_JOINT_HINGE;
    if (directed && vec3_normalise(axis) < 1e-14) {
        return spec_fail(&joint->head, b->error, "axis: expected a length above 0");
    }
    for (int i = 0; i < 3; i++) {
        m->jnt_pos[3 * id + i] = free ? 0.0 : joint->pos[i];
        m->jnt_axis[3 * id + i] = directed ? axis[i] : (double)(i == 2);
    }
    int limited = free ? 0 : joint->limited;
    double no_range[2] = {0.0, 0.0};
    // a ball joint may have the range 0 0: it is held
    if (type == ORR_JOINT_BALL && limited == 1) {
        m->jnt_limited[id] = 1;
    } else {
        ORR_TRY(builder_limited(b, &joint->head, "range", limited, free ? no_range : joint->range,
                                &m->jnt_limited[id]));
    }
    ORR_TRY(builder_limited(b, &joint->head, "actuatorfrcrange", directed ? joint->actfrclimited : 0,
                            joint->actfrcrange, &m->jnt_actfrclimited[id]));
    if (type == ORR_JOINT_BALL && m->jnt_limited[id] && joint->range[0] != 0.0) {
        return spec_fail(&joint->head, b->error, "range: expected 0 as the first number of a ball joint");
    }
    // stiffness and damping below 0, which estimates for real robots have, drive a joint, as in MuJoCo
    if (joint->armature < 0.0 || joint->frictionloss < 0.0) {
        return spec_fail(&joint->head, b->error, "armature, frictionloss: expected no negative number");
    }
    m->jnt_actgravcomp[id] = (uint8_t)joint->actgravcomp;
    memcpy(m->jnt_solref + ORR_NREF * id, joint->solref_limit, sizeof joint->solref_limit);
    memcpy(m->jnt_solimp + ORR_NIMP * id, joint->solimp_limit, sizeof joint->solimp_limit);
    memcpy(m->jnt_range + 2 * id, joint->range, sizeof joint->range);
    memcpy(m->jnt_actfrcrange + 2 * id, joint->actfrcrange, sizeof joint->actfrcrange);
    m->jnt_stiffness[id] = joint->stiffness[0];
    memcpy(m->jnt_stiffnesspoly + ORR_NPOLY * id, joint->stiffness + 1, ORR_NPOLY * sizeof(double));
    m->jnt_margin[id] = joint->margin;
    m->jnt_springyield[id] = joint->springyield;
    m->jnt_plasticadr[id] = -1;
    if (joint->springyield < 0.0 || (free && joint->springyield > 0.0)) {
        return spec_fail(&joint->head, b->error,
                         "springyield: expected no negative number, and none for a free joint");
    }
    copy_user(m->jnt_user + m->nuser_jnt * id, m->nuser_jnt, &joint->user);

    place_joint(m, joint, *qpos);
    add_dofs(m, id, joint, *dof);
    *qpos += joint_positions[type];
    *dof += joint_dofs[type];
    return ORR_OK;
}

static orr_result add_body(model_builder *b, int id, int *joint, int *qpos, int *dof, int *mocap)
{
    orr_model *m = b->m;
    const spec_body *body = &b->spec->bodies[id];
    int parent = body->parent;
    m->body_parentid[id] = parent;
    m->body_rootid[id] = id == 0 || parent == 0 ? id : m->body_rootid[parent];
    m->body_mocapid[id] = body->mocap ? (*mocap)++ : -1;
    memcpy(m->body_pos + 3 * id, body->pos, sizeof body->pos);
    memcpy(m->body_quat + 4 * id, body->orientation.quat, sizeof body->orientation.quat);
    m->body_gravcomp[id] = body->gravcomp;
    copy_user(m->body_user + m->nuser_body * id, m->nuser_body, &body->user);
    int first = *joint, dofs = *dof;
    while (first + m->body_jntnum[id] < m->njnt && b->spec->joints[first + m->body_jntnum[id]].body == id) {
        m->body_jntnum[id]++;
    }
    if (body->mocap && (parent != 0 || m->body_jntnum[id] > 0)) {
        return spec_fail(&body->head, b->error, "mocap: expected a child of the world without joints");
    }
    for (int k = 0; k < m->body_jntnum[id]; k++) {
        ORR_TRY(add_joint(b, (*joint)++, qpos, dof));
    }
    m->body_jntadr[id] = m->body_jntnum[id] ? first : -1;
    m->body_dofnum[id] = *dof - dofs;
    m->body_dofadr[id] = m->body_dofnum[id] ? dofs : -1;
    m->body_weldid[id] = m->body_dofnum[id] || body->mocap || id == 0 ? id : m->body_weldid[parent];
    if (m->body_dofnum[id] > 6) {
        return spec_fail(&body->head, b->error, "expected up to 6 degrees of freedom");
    }
    return ORR_OK;
}

// Pattern of the inertia matrix: a row has entries for a dof and its ancestors.
static void add_rows(orr_model *m)
{
    int used = 0, tree = -1;
    for (int d = 0; d < m->nv; d++) {
        int body = m->dof_bodyid[d], above = d - 1;
        if (d == m->body_dofadr[body]) {
            int up = body;
            do {
                up = m->body_parentid[up];
            } while (up > 0 && m->body_dofnum[up] == 0);
            above = up > 0 ? m->body_dofadr[up] + m->body_dofnum[up] - 1 : -1;
        }
        m->dof_parentid[d] = above;
        tree += above < 0;
        m->dof_treeid[d] = above < 0 ? tree : m->dof_treeid[above];
        int count = above < 0 ? 0 : m->M_rownnz[above];
        m->M_rowadr[d] = used;
        m->M_rownnz[d] = count + 1;
        if (count) {
            memcpy(m->M_colind + used, m->M_colind + m->M_rowadr[above], (size_t)count * sizeof *m->M_colind);
        }
        m->M_colind[used + count] = d;
        used += count + 1;
    }
    assert(m->ntree == tree + 1);
    for (int i = 0; i < m->nbody; i++) {
        int weld = m->body_weldid[i];
        m->body_treeid[i] = m->body_dofnum[weld] ? m->dof_treeid[m->body_dofadr[weld]] : -1;
    }
}

orr_result build_bodies(model_builder *b)
{
    int joint = 0, qpos = 0, dof = 0, mocap = 0;
    for (int i = 0; i < b->m->nbody; i++) {
        ORR_TRY(add_body(b, i, &joint, &qpos, &dof, &mocap));
    }
    add_rows(b->m);
    return ORR_OK;
}
