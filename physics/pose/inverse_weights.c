#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/pose/inverse_weights.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"
#include "physics/pose/pose.h"

#include <string.h>

static const double tiny = 1e-15; // masses and weights below it count as zero

static void find_subtree_masses(orr_model *m)
{
    memcpy(m->body_subtreemass, m->body_mass, (size_t)m->nbody * sizeof(double));
    for (int i = m->nbody - 1; i > 0; i--) {
        m->body_subtreemass[m->body_parentid[i]] += m->body_subtreemass[i];
    }
}

static orr_result set_at_rest(orr_model *m, const char *name, orr_pose *pose, orr_error *error)
{
    find_subtree_masses(m);
    return orr_pose_set(pose, m->qpos0)
               ? ORR_OK
               : orr_fail(
                     error, ORR_CODE_MODEL_FILE,
                     "%s: the inertia matrix is singular: expected mass on every moving part, or armature",
                     name);
}

orr_result orr_pose_at_rest(orr_model *m, const char *name, orr_pose *pose, orr_error *error)
{
    ORR_TRY(orr_pose_create(m, pose, error));
    orr_result result = set_at_rest(m, name, pose, error);
    if (result != ORR_OK) {
        orr_pose_destroy(pose);
    }
    return result;
}

// The dofs of some kinematic trees: first ... end - 1.
typedef struct tree_dofs {
    int first, end;
} tree_dofs;

// Those of the tree that has a dof; none where dof is -1.
static tree_dofs tree_of(const orr_pose *pose, int dof)
{
    int root = dof < 0 ? 0 : dof;
    while (dof >= 0 && pose->m.dof_parentid[root] >= 0) {
        root = pose->m.dof_parentid[root];
    }
    return (tree_dofs){root, dof < 0 ? 0 : pose->plan->dof_end[root]};
}

// Those of the trees that a chain joins, and of all between them.
static tree_dofs trees_of(const orr_pose *pose, orr_chain chain)
{
    const int32_t *dof = pose->plan->chain_dof + chain.first; // descending
    tree_dofs last = tree_of(pose, chain.count > 0 ? dof[0] : -1);
    tree_dofs first = tree_of(pose, chain.count > 0 ? dof[chain.count - 1] : -1);
    return (tree_dofs){first.first, last.end};
}

static void clear(double *row, tree_dofs dofs)
{
    memset(row + dofs.first, 0, (size_t)(dofs.end - dofs.first) * sizeof *row);
}

// Diagonal of J M^-1 J^T for one row of J, whose entries are among `dofs`.
static double inverse_weight(const orr_pose *pose, const double *row, tree_dofs dofs, double *scratch)
{
    double sum = 0.0;
    for (int i = dofs.first; i < dofs.end; i++) {
        scratch[i] = row[i];
    }
    orr_pose_solve_trees(pose, scratch, dofs.first, dofs.end);
    for (int i = dofs.first; i < dofs.end; i++) {
        sum += row[i] * scratch[i];
    }
    return sum;
}

double orr_pose_inverse_weight(const orr_pose *pose, const double *row, double *scratch)
{
    return inverse_weight(pose, row, (tree_dofs){0, pose->m.nv}, scratch);
}

static double mean3(const double v[3])
{
    return (v[0] + v[1] + v[2]) / 3.0;
}

// A body with slide joints along its axes only, connected to no other body and centred: MuJoCo takes its mass
// as its weight, without armature.
static bool only_slides(const orr_model *m, int body)
{
    const double *pos = m->body_ipos + 3 * body, *quat = m->body_iquat + 4 * body;
    int parent = m->body_parentid[body];
    bool centred = vec3_length(pos) < 1e-6 && fabs(fabs(quat[0]) - 1.0) < 1e-6;
    bool simple = centred && m->body_dofnum[body] > 0 &&
                  (parent == 0 || (m->body_parentid[parent] == 0 && m->body_dofnum[parent] == 0));
    simple = simple && (body + 1 == m->nbody || m->body_parentid[body + 1] != body); // depth-first order
    for (int j = m->body_jntadr[body]; simple && j < m->body_jntadr[body] + m->body_jntnum[body]; j++) {
        const double *axis = m->jnt_axis + 3 * j;
        int aligned = (fabs(axis[0]) > 1e-6) + (fabs(axis[1]) > 1e-6) + (fabs(axis[2]) > 1e-6);
        bool at_origin = vec3_length(m->jnt_pos + 3 * j) < 1e-6;
        simple = m->jnt_type[j] == ORR_JOINT_SLIDE && aligned == 1 && at_origin;
    }
    return simple;
}

// Rows 0 .. 2: velocity of a body's centre of mass, 3 .. 5: its angular velocity; 6 x nv.
static tree_dofs body_jacobian(const orr_pose *pose, int body, double *jacobian)
{
    const lane_model *m = &pose->m;
    size_t nv = (size_t)m->nv;
    tree_dofs dofs = tree_of(pose, m->plan->last_dof[body]);
    for (size_t k = 0; k < 6; k++) {
        clear(jacobian + k * nv, dofs);
    }
    for (int dof = m->plan->last_dof[body]; dof >= 0; dof = m->dof_parentid[dof]) {
        real3 linear = point_velocity(m, &pose->d, dof, load3(pose->d.xipos, body));
        real3 angular = load_spatial(pose->d.cdof, dof).r;
        const double column[6] = {linear.x, linear.y, linear.z, angular.x, angular.y, angular.z};
        for (size_t k = 0; k < 6; k++) {
            jacobian[k * nv + (size_t)dof] = column[k];
        }
    }
    return dofs;
}

// jacobian: 6 x nv, scratch
static void find_body_weights(const orr_pose *pose, orr_model *m, double *jacobian, double *scratch)
{
    for (int b = 1; b < m->nbody; b++) {
        if (m->body_weldid[b] == 0) {
            continue;
        }
        if (only_slides(m, b)) {
            m->body_invweight0[2 * b] = 1.0 / fmax(tiny, m->body_mass[b]);
            continue;
        }
        double weight[6];
        tree_dofs dofs = body_jacobian(pose, b, jacobian);
        for (int i = 0; i < 6; i++) {
            weight[i] = inverse_weight(pose, jacobian + (size_t)i * (size_t)m->nv, dofs, scratch);
        }
        m->body_invweight0[2 * b] = mean3(weight);
        m->body_invweight0[2 * b + 1] = mean3(weight + 3);
    }
}

static void find_dof_weights(const orr_pose *pose, orr_model *m, double *unit, double *scratch)
{
    for (int i = 0; i < m->nv; i++) {
        tree_dofs dofs = tree_of(pose, i);
        clear(unit, dofs);
        unit[i] = 1.0;
        m->dof_invweight0[i] = inverse_weight(pose, unit, dofs, scratch);
        if (only_slides(m, m->dof_bodyid[i])) {
            m->dof_invweight0[i] = 1.0 / fmax(tiny, m->body_mass[m->dof_bodyid[i]]);
        }
        m->dof_M0[i] = diagonal_inertia(&pose->m, &pose->d, i, dof_momentum(&pose->m, &pose->d, i));
    }
    for (int j = 0; j < m->njnt; j++) { // the mean of the three directions of a joint
        int type = m->jnt_type[j];
        int triples = type == ORR_JOINT_FREE ? 2 : type == ORR_JOINT_BALL ? 1 : 0;
        for (int t = 0; t < triples; t++) {
            double *w = m->dof_invweight0 + m->jnt_dofadr[j] + 3 * t;
            w[0] = w[1] = w[2] = mean3(w);
        }
    }
}

// A chain's entries among zeros, for all dofs of the trees that it joins.
static tree_dofs spread_chain(const orr_pose *pose, orr_chain chain, const double *entries, double *row)
{
    tree_dofs dofs = trees_of(pose, chain);
    clear(row, dofs);
    for (int k = 0; k < chain.count; k++) {
        row[pose->plan->chain_dof[chain.first + k]] = entries[k];
    }
    return dofs;
}

static void find_tendon_weights(const orr_pose *pose, orr_model *m, double *row, double *scratch)
{
    for (int i = 0; i < m->ntendon; i++) {
        tree_dofs dofs =
            spread_chain(pose, tendon_chain(&pose->m, i), tendon_arms(&pose->m, &pose->d, i), row);
        m->tendon_invweight0[i] = inverse_weight(pose, row, dofs, scratch);
    }
}

// The norm of the acceleration that a unit of each force of an actuator gives.
static void find_actuator_accelerations(const orr_pose *pose, orr_model *m, double *row)
{
    for (int i = 0; i < m->nout; i++) {
        double square = 0.0;
        tree_dofs dofs =
            spread_chain(pose, output_chain(&pose->m, i), output_moments(&pose->m, &pose->d, i), row);
        orr_pose_solve_trees(pose, row, dofs.first, dofs.end);
        for (int dof = dofs.first; dof < dofs.end; dof++) {
            square += row[dof] * row[dof];
        }
        m->actuator_acc0[i] = sqrt(square);
    }
}

// scratch: 7 nv
static void find_weights(const orr_pose *pose, orr_model *m, double *scratch)
{
    double *rows = scratch + m->nv;
    find_body_weights(pose, m, rows, scratch);
    find_dof_weights(pose, m, rows, scratch);
    find_tendon_weights(pose, m, rows, scratch);
    find_actuator_accelerations(pose, m, rows);
}

orr_result orr_pose_inverse_weights(const orr_pose *pose, orr_model *m, orr_error *error)
{
    double *scratch;
    ORR_ALLOC(scratch, 7 * (int64_t)m->nv, "inverse weights", error);
    find_weights(pose, m, scratch);
    orr_free(scratch);
    return ORR_OK;
}

struct orr_inverse_weights {
    orr_model *model;
    orr_pose pose;
    double *scratch;
};

orr_result orr_inverse_weights_create(orr_model *m, orr_inverse_weights **out, orr_error *error)
{
    orr_inverse_weights *w = orr_alloc_zero(1, sizeof *w);
    *out = w;
    if (!w) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: inverse weights");
    }
    w->model = m;
    ORR_TRY(orr_pose_create(m, &w->pose, error));
    ORR_ALLOC(w->scratch, 7 * (int64_t)m->nv + 1, "inverse weights", error);
    return ORR_OK;
}

void orr_inverse_weights_destroy(orr_inverse_weights *w)
{
    if (w) {
        orr_pose_destroy(&w->pose);
        orr_free(w->scratch);
        orr_free(w);
    }
}

orr_result orr_inverse_weights_find(orr_inverse_weights *w, const char *name, orr_error *error)
{
    ORR_TRY(set_at_rest(w->model, name, &w->pose, error));
    find_weights(&w->pose, w->model, w->scratch);
    return ORR_OK;
}
