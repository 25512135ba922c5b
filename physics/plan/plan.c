#include "physics/plan/plan.h"

#include "engine/core/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- how much a step can need ----

// Piles of many geoms never have all the contacts that their pairs could have. Room on a device, which is all
// there is, and elsewhere at first.
enum {
    DEVICE_CONTACTS = 2048,
    DEVICE_CONTACTS_PER_GEOM = 16,
    FIRST_CONTACTS = 512,
    FIRST_CONTACTS_PER_GEOM = 4,
    FIRST_NEAR = 1024,
    FIRST_NEAR_PER_GEOM = 8
};

static int64_t rows_of_contact(const orr_model *m, int dim)
{
    return dim == 1 ? 1 : m->opt.cone == ORR_CONE_ELLIPTIC ? dim : 2 * (dim - 1);
}

// A response has entries for the dofs that move one or two bodies, or a tendon, and for their ancestors.
static orr_result count_responses(orr_plan *plan, orr_error *error)
{
    const orr_model *m = plan->model;
    int64_t deepest = 0;
    for (int i = 0; i < m->nv; i++) {
        deepest = m->M_rownnz[i] > deepest ? m->M_rownnz[i] : deepest;
    }
    int64_t both = 2 * deepest;
    for (int i = plan->geom_pairs; i < plan->pair_count; i++) {
        int64_t more =
            plan->chain[plan->pair[i].chain].count + deepest; // ancestors of several nodes are one's
        both = more > both ? more : both;
    }
    both = both < m->nv ? both : m->nv;
    int64_t dofs = plan->contact_capacity * both + (int64_t)m->ntendon * m->nv;
    int64_t entries = 5 * plan->contact_capacity * both + m->nv * deepest + (int64_t)m->ntendon * m->nv;
    if (entries > INT32_MAX / 64) {
        return orr_fail(error, ORR_CODE_CAPACITY,
                        "%s: noslip: expected at most %d entries of responses, the model can need %lld",
                        m->name, INT32_MAX / 64, (long long)entries);
    }
    plan->response_rows = plan->row_capacity;
    plan->response_dofs = (int32_t)dofs;
    plan->response_capacity = (int32_t)entries;
    return ORR_OK;
}

// What contacts can become: of all that the listed pairs can have, and the most of one.
typedef struct contact_sums {
    int64_t contacts, rows, entries, most_rows, most_entries;
} contact_sums;

static contact_sums sum_contacts(const orr_plan *plan)
{
    const orr_model *m = plan->model;
    contact_sums sum = {0};
    for (int i = 0; i < plan->pair_count; i++) {
        const orr_pair *pair = &plan->pair[i];
        int64_t per_contact = rows_of_contact(m, pair->condim);
        int64_t per_entry = per_contact * plan->chain[pair->chain].count;
        sum.contacts += pair->slots;
        sum.rows += pair->slots * per_contact;
        sum.entries += pair->slots * per_entry;
        sum.most_rows = per_contact > sum.most_rows ? per_contact : sum.most_rows;
        sum.most_entries = per_entry > sum.most_entries ? per_entry : sum.most_entries;
    }
    for (int i = 0; i < m->ngeom && plan->pairs_mixed; i++) {
        int64_t per_contact = rows_of_contact(m, m->geom_condim[i]);
        sum.contacts = INT32_MAX;
        sum.most_rows = per_contact > sum.most_rows ? per_contact : sum.most_rows;
        sum.most_entries = sum.most_rows * plan->pair_dofs;
    }
    return sum;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

// Sets the room for rows where there is room for so many contacts.
static orr_result count_rows(orr_plan *plan, int64_t capacity, orr_error *error)
{
    const orr_model *m = plan->model;
    const contact_sums sum = sum_contacts(plan);
    int64_t contacts = sum.contacts, rows = sum.rows, entries = sum.entries;
    if (contacts > capacity) {
        contacts = capacity;
        rows = capacity * sum.most_rows;
        entries = capacity * sum.most_entries;
    }
    for (int i = 0; i < m->neq; i++) {
        const bool strain = m->eq_type[i] == ORR_EQUALITY_FLEXSTRAIN;
        const int64_t of_equality = strain ? m->flexcell_modenum[m->eq_obj1id[i]] : 6;
        rows += of_equality;
        entries += of_equality * plan->chain[plan->equality_chain + i].count;
    }
    for (int i = 0; i < m->nflexcell; i++) {
        const int64_t modes = m->flexcell_strain[i] ? 0 : m->flexcell_modenum[i];
        rows += modes;
        entries += modes * plan->chain[plan->flexcell_chain + i].count;
    }
    rows += m->nv + 2 * (int64_t)m->njnt + 3 * (int64_t)m->ntendon;
    entries += m->nv + 6 * (int64_t)m->njnt;
    for (int i = 0; i < m->ntendon; i++) {
        entries += 3 * (int64_t)plan->chain[plan->tendon_chain + i].count;
    }
    if (entries > INT32_MAX / 64) {
        return orr_fail(
            error, ORR_CODE_CAPACITY,
            "%s: constraints: expected at most %d entries of the Jacobian, the model can need %lld", m->name,
            INT32_MAX / 64, (long long)entries);
    }
    plan->contact_capacity = (int32_t)contacts;
    plan->row_capacity = (int32_t)rows;
    plan->jacobian_capacity = (int32_t)entries;
    return m->opt.noslip_iterations > 0 ? count_responses(plan, error) : ORR_OK;
}

// The first room: `limit`, if there is one, or all that the model's pairs can have where that is little.
static orr_result count_room(orr_plan *plan, int limit, orr_error *error)
{
    const int64_t geoms = plan->model->ngeom, most = sum_contacts(plan).contacts;
    int64_t capacity = larger(FIRST_CONTACTS, FIRST_CONTACTS_PER_GEOM * geoms);
    if (most <= DEVICE_CONTACTS || plan->for_device) {
        capacity = larger(DEVICE_CONTACTS, DEVICE_CONTACTS_PER_GEOM * geoms);
    }
    capacity = limit > 0 ? limit : capacity;
    ORR_TRY(count_rows(plan, capacity, error));
    plan->near_capacity = plan->pairs_mixed ? (int32_t)(FIRST_NEAR + FIRST_NEAR_PER_GEOM * geoms) : 0;
    plan->contact_limit = limit > 0 ? limit : INT32_MAX;
    const int64_t kept = most < plan->contact_limit ? most : plan->contact_limit;
    plan->room_grows = plan->pairs_mixed || plan->contact_capacity < kept;
    return ORR_OK;
}

// `wanted`, or twice as many as there are: room grows in few steps.
static int64_t grown(int64_t capacity, int64_t wanted)
{
    return wanted <= capacity ? capacity : larger(wanted, 2 * capacity);
}

orr_result orr_plan_reserve(orr_plan *plan, orr_plan_room wanted, orr_error *error)
{
    if (wanted.near > INT32_MAX / 4) {
        return orr_fail(error, ORR_CODE_CAPACITY,
                        "%s: expected at most %d pairs of geoms that are near, a step needs %d",
                        plan->model->name, INT32_MAX / 4, wanted.near);
    }
    const orr_plan before = *plan;
    const int64_t pairs = grown(plan->near_capacity, wanted.near);
    orr_result result = count_rows(plan, grown(plan->contact_capacity, wanted.contacts), NULL);
    if (result != ORR_OK) {
        result = count_rows(plan, wanted.contacts, error);
    }
    if (result != ORR_OK) {
        *plan = before;
        return result;
    }
    plan->near_capacity = (int32_t)(pairs < INT32_MAX / 4 ? pairs : INT32_MAX / 4);
    return ORR_OK;
}

// Is its free joint the only joint of its tree? Bodies may be fixed to it.
static bool free_and_alone(const orr_model *m, int body)
{
    bool free = m->body_jntnum[body] == 1 && m->jnt_type[m->body_jntadr[body]] == ORR_JOINT_FREE;
    int end = m->body_dofadr[body] + 6;
    return free && (end == m->nv || m->dof_treeid[end] != m->body_treeid[body]);
}

static orr_result plan_integrator(orr_plan *plan, orr_error *error)
{
    const orr_model *m = plan->model;
    bool full = m->opt.integrator == ORR_INTEGRATOR_IMPLICIT,
         fast = m->opt.integrator == ORR_INTEGRATOR_IMPLICITFAST;
    plan->rk4_copies = m->opt.integrator == ORR_INTEGRATOR_RK4;
    plan->unsymmetric = full;
    plan->fluid_slopes = (full || fast) && (m->opt.density > 0.0 || m->opt.viscosity > 0.0);
    plan->gyroscopic = orr_alloc_zero((size_t)m->nv, 1);
    if (!plan->gyroscopic) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %d dofs", (int)m->nv);
    }
    for (int body = 1; body < m->nbody && fast; body++) {
        if (free_and_alone(m, body)) {
            memset(plan->gyroscopic + m->body_dofadr[body], 1, 6);
            plan->unsymmetric = 1;
        }
    }
    return ORR_OK;
}

// 1 / inverse weight is the pivot of a dof that is eliminated last. Armature, which bodies with slides alone
// do not have in their inverse weight, only makes M better conditioned.
static double pivot_loss(const orr_model *m)
{
    double most = 1.0;
    for (int i = 0; i < m->nv; i++) {
        most = fmax(most, (m->dof_M0[i] - m->dof_armature[i]) * m->dof_invweight0[i]);
    }
    return most;
}

static orr_result plan_sleep(orr_plan *plan, orr_error *error)
{
    const orr_model *m = plan->model;
    if (!(m->opt.enableflags & ORR_ENABLE_SLEEP)) {
        return ORR_OK;
    }
    ORR_ALLOC(plan->tree_start, m->ntree, "kinematic trees", error);
    ORR_ALLOC(plan->tree_range, m->ntree, "kinematic trees", error);
    for (int i = 0; i < m->ntree; i++) {
        plan->tree_start[i] = ORR_AWAKE;
    }
    for (int body = m->nbody - 1; body > 0; body--) { // depth-first: a tree's are adjacent, in all arrays
        int tree = m->body_treeid[body];
        if (tree < 0) {
            continue;
        }
        orr_tree_range *range = &plan->tree_range[tree];
        if (body + 1 == m->nbody || m->body_treeid[body + 1] != tree) {
            *range = (orr_tree_range){.body_end = body + 1};
        }
        range->body = body;
    }
    for (int i = 0, joint = 0, dof = 0, qpos = 0; i < m->ntree; i++) {
        orr_tree_range *range = &plan->tree_range[i];
        range->joint = joint, range->dof = dof, range->qpos = qpos;
        for (; joint < m->njnt && m->body_treeid[m->jnt_bodyid[joint]] == i; joint++) {
        }
        dof = joint < m->njnt ? m->jnt_dofadr[joint] : m->nv;
        qpos = joint < m->njnt ? m->jnt_qposadr[joint] : m->nq;
        range->joint_end = joint, range->dof_end = dof, range->qpos_end = qpos;
    }
    return ORR_OK;
}

// The worlds that share a vector have about twice as many rows together as the most that each of them may
// have. What these gain must pay for those that have more, whose vectors are solved both ways. Measured.
enum { DUAL_SHARED = 2, DUAL_PAID = 12 };

// Up to how many rows of a world its forces are found with fewer multiply-adds than its accelerations, in two
// iterations of either. 0: too few, or rows whose cost is no parabola, or what needs the second derivatives.
static int dual_rows(const orr_plan *plan)
{
    const orr_model *m = plan->model;
    if (plan->block_count > 0 || plan->tree_start || m->opt.cone != ORR_CONE_PYRAMIDAL || m->nv == 0 ||
        m->opt.solver == ORR_SOLVER_CG || m->opt.noslip_iterations > 0 || m->opt.iterations < 1) {
        return 0;
    }
    double most = 0.0, depth = (double)m->nM / m->nv;
    for (int k = 0; k < m->nv; k++) { // the factor of H, and products with M, H and its factor
        most += m->M_rownnz[k] * (m->M_rownnz[k] + 10.0);
    }
    int rows = 0;
    for (double work = 0.0; work <= most; rows++) { // the factor of A, products with it, A itself, J L^-1
        double n = rows + 1.0;
        work = n * n * (n / 3.0 + 2.0 + depth / 4.0) + n * depth * depth / 2.0;
    }
    rows = (rows - 1 - DUAL_PAID) / DUAL_SHARED;
    return rows < 0 ? 0 : rows < ORR_DUAL_ROWS ? rows : ORR_DUAL_ROWS;
}

static orr_result build(orr_plan *plan, int contact_limit, orr_error *error)
{
    plan->pivot_loss = pivot_loss(plan->model);
    ORR_TRY(plan_integrator(plan, error));
    ORR_TRY(plan_sleep(plan, error));
    ORR_TRY(orr_plan_pairs(plan, error));
    ORR_TRY(orr_plan_hulls(plan, error));
    ORR_TRY(orr_plan_triangles(plan, error));
    ORR_TRY(orr_plan_chains(plan, error));
    ORR_TRY(orr_plan_blocks(plan, error));
    plan->dual_rows = dual_rows(plan);
    return count_room(plan, contact_limit, error);
}

static orr_result allocate(const orr_model *model, orr_plan **plan, orr_error *error)
{
    ORR_ALLOC(*plan, 1, "a plan", error);
    memset(*plan, 0, sizeof **plan);
    (*plan)->model = model;
    for (int i = 0; i < ORR_VARY_COUNT; i++) {
        (*plan)->varied_at[i] = -1;
    }
    return ORR_OK;
}

// Hands over a plan that has been built, or destroys it on failure.
static orr_result finish(orr_plan *built, orr_result result, orr_plan **plan)
{
    if (result != ORR_OK) {
        orr_plan_destroy(built);
        return result;
    }
    *plan = built;
    return ORR_OK;
}

orr_result orr_plan_create(const orr_model *model, int contact_limit, bool for_device, orr_plan **plan,
                           orr_error *error)
{
    orr_plan *made;
    ORR_TRY(allocate(model, &made, error));
    made->for_device = for_device;
    return finish(made, build(made, contact_limit, error), plan);
}

orr_result orr_plan_create_positions(const orr_model *model, orr_plan **plan, orr_error *error)
{
    orr_plan *made;
    ORR_TRY(allocate(model, &made, error));
    return finish(made, orr_plan_chains(made, error), plan);
}

void orr_plan_destroy(orr_plan *plan)
{
    if (!plan) {
        return;
    }
    orr_free(plan->pair);
    orr_free(plan->geom_kind);
    orr_free(plan->kind_pair);
    orr_free(plan->chain);
    orr_free(plan->chain_dof);
    orr_free(plan->chain_part);
    orr_free(plan->point_share);
    orr_free(plan->entry_node);
    orr_free(plan->dof_descending);
    orr_free(plan->last_dof);
    orr_free(plan->dof_end);
    orr_free(plan->level_body);
    orr_free(plan->level_first);
    orr_free(plan->gyroscopic);
    orr_free(plan->tree_start);
    orr_free(plan->tree_range);
    orr_free(plan->dof_ascending);
    orr_free(plan->block_first);
    orr_free(plan->block_tree);
    orr_free(plan->dof_block);
    orr_free(plan->excluded);
    orr_free(plan->declared);
    orr_free(plan->boxed_geom);
    orr_free(plan->boxed_fixed);
    orr_free(plan->plane_geom);
    orr_free(plan->always_near);
    orr_free(plan->meets);
    orr_free(plan->pair_bits);
    orr_free(plan->pair_before);
    for (int i = 0; i < plan->hulls; i++) { // the model may be gone already
        orr_extremes_destroy(&plan->hull[i].vertices);
    }
    orr_free(plan->hull);
    orr_free(plan->hull_normal);
    orr_free(plan->hull_plane);
    orr_free(plan->hull_first);
    orr_free(plan->hull_vertex);
    orr_free(plan->hull_of_first);
    orr_free(plan->hull_of_face);
    orr_free(plan->triangle_first);
    orr_free(plan->triangle_node);
    orr_free(plan);
}
