// Chains of a plan: which dofs move what.
#include "physics/lanes/plan.h"

#include "engine/core/memory.h"

#include <string.h>

static void find_last_dofs(orr_plan *plan)
{
    const orr_model *m = plan->model;
    plan->last_dof[0] = -1;
    for (int body = 1; body < m->nbody; body++) {
        int own = m->body_dofadr[body] + m->body_dofnum[body] - 1;
        plan->last_dof[body] = m->body_dofnum[body] > 0 ? own : plan->last_dof[m->body_parentid[body]];
    }
}

// Bodies are in depth-first order, and so are dofs.
static void find_dof_ends(orr_plan *plan)
{
    const orr_model *m = plan->model;
    for (int k = 0; k < m->nv; k++) {
        plan->dof_end[k] = k + 1;
        for (int above = m->dof_parentid[k]; above >= 0; above = m->dof_parentid[above]) {
            plan->dof_end[above] = k + 1;
        }
    }
}

// Bodies by their depth in the tree: the poses of a level follow from those of the level before.
static void find_levels(orr_plan *plan)
{
    const orr_model *m = plan->model;
    int count = 0;
    for (int level = 1; count < m->nbody - 1; level++) {
        for (int body = 1; body < m->nbody; body++) {
            int depth = 1;
            for (int above = m->body_parentid[body]; above > 0; above = m->body_parentid[above]) {
                depth++;
            }
            if (depth == level) {
                plan->level_body[count++] = body;
            }
        }
        plan->level_first[level] = count;
        plan->level_count = level;
    }
}

// Marks the dofs that move a body.
static void mark_body(const orr_plan *plan, int body, int bit, uint8_t *part)
{
    for (int dof = plan->last_dof[body]; dof >= 0; dof = plan->model->dof_parentid[dof]) {
        part[dof] = (uint8_t)(part[dof] | bit);
    }
}

// Marks the dofs that move one of two bodies but not the other: their chains of ancestors up to where they
// join.
static void mark_apart(const orr_plan *plan, int body1, int body2, int bit, uint8_t *part)
{
    int dof1 = plan->last_dof[body1], dof2 = plan->last_dof[body2];
    while (dof1 != dof2) {
        int *later = dof1 > dof2 ? &dof1 : &dof2;
        part[*later] = (uint8_t)(part[*later] | bit);
        *later = plan->model->dof_parentid[*later];
    }
}

// A chain of the marked dofs; those that move both bodies are left out unless `common`.
static void add_chain(orr_plan *plan, const uint8_t *part, bool common)
{
    orr_chain *chain = &plan->chain[plan->chain_count++];
    chain->first = plan->chain_dof_count;
    chain->count = 0;
    for (int dof = plan->model->nv - 1; dof >= 0; dof--) {
        if (part[dof] != 0 && (common || part[dof] != (ORR_CHAIN_FIRST | ORR_CHAIN_SECOND))) {
            int i = chain->first + chain->count++;
            plan->chain_dof[i] = dof;
            plan->chain_part[i] = part[dof];
        }
    }
    plan->chain_dof_count += chain->count;
}

static int wrapped_body(const orr_model *m, int wrap)
{
    int id = m->wrap_objid[wrap];
    return m->wrap_type[wrap] == ORR_WRAP_SITE ? m->site_bodyid[id] : m->geom_bodyid[id];
}

static void mark_tendon(const orr_plan *plan, int tendon, int bit, uint8_t *part)
{
    const orr_model *m = plan->model;
    int end = m->tendon_adr[tendon] + m->tendon_num[tendon];
    for (int k = m->tendon_adr[tendon]; k < end; k++) {
        if (m->wrap_type[k] == ORR_WRAP_JOINT) {
            int dof = m->jnt_dofadr[m->wrap_objid[k]];
            part[dof] = (uint8_t)(part[dof] | bit);
        } else if (k + 1 < end && m->wrap_type[k] != ORR_WRAP_PULLEY &&
                   m->wrap_type[k + 1] != ORR_WRAP_PULLEY) {
            mark_apart(plan, wrapped_body(m, k), wrapped_body(m, k + 1), bit, part);
        }
    }
}

static int equality_body(const orr_model *m, int i, int side)
{
    int id = side ? m->eq_obj2id[i] : m->eq_obj1id[i];
    return m->eq_objtype[i] == ORR_OBJECT_SITE ? m->site_bodyid[id] : id;
}

static void mark_equality(const orr_plan *plan, int i, uint8_t *part)
{
    const orr_model *m = plan->model;
    for (int side = 0; side < 2; side++) {
        int id = side ? m->eq_obj2id[i] : m->eq_obj1id[i];
        int bit = side ? ORR_CHAIN_SECOND : ORR_CHAIN_FIRST;
        if (id < 0) {
            continue;
        }
        if (m->eq_type[i] == ORR_EQUALITY_TENDON) {
            mark_tendon(plan, id, bit, part);
        } else if (m->eq_type[i] == ORR_EQUALITY_JOINT) {
            part[m->jnt_dofadr[id]] = (uint8_t)bit;
        } else {
            mark_body(plan, equality_body(m, i, side), bit, part);
        }
    }
}

static void mark_actuator(const orr_plan *plan, int i, uint8_t *part)
{
    static const int joint_dofs[] = {6, 3, 1, 1}; // by orr_joint_type
    const orr_model *m = plan->model;
    int id = m->actuator_trnid[2 * i], reference = m->actuator_trnid[2 * i + 1];
    switch (m->actuator_trntype[i]) {
    case ORR_TRANSMISSION_TENDON:
        mark_tendon(plan, id, ORR_CHAIN_FIRST, part);
        break;
    case ORR_TRANSMISSION_SITE:
        mark_apart(plan, m->site_bodyid[id], reference < 0 ? 0 : m->site_bodyid[reference], ORR_CHAIN_FIRST,
                   part);
        break;
    case ORR_TRANSMISSION_BODY:
        for (int k = 0; k < plan->pair_count; k++) {
            int body1 = m->geom_bodyid[plan->pair[k].geom1], body2 = m->geom_bodyid[plan->pair[k].geom2];
            if (body1 == id || body2 == id) {
                mark_body(plan, body1, ORR_CHAIN_FIRST, part);
                mark_body(plan, body2, ORR_CHAIN_FIRST, part);
            }
        }
        break;
    case ORR_TRANSMISSION_SLIDERCRANK:
        mark_body(plan, m->site_bodyid[id], ORR_CHAIN_FIRST, part);
        mark_body(plan, m->site_bodyid[reference], ORR_CHAIN_FIRST, part);
        break;
    default:
        memset(part + m->jnt_dofadr[id], ORR_CHAIN_FIRST, (size_t)joint_dofs[m->jnt_type[id]]);
    }
}

static void find_chains(orr_plan *plan, uint8_t *part)
{
    const orr_model *m = plan->model;
    size_t nv = (size_t)m->nv;
    for (int i = 0; i < plan->pair_count; i++) {
        memset(part, 0, nv);
        mark_body(plan, m->geom_bodyid[plan->pair[i].geom1], ORR_CHAIN_FIRST, part);
        mark_body(plan, m->geom_bodyid[plan->pair[i].geom2], ORR_CHAIN_SECOND, part);
        plan->pair[i].chain = plan->chain_count;
        add_chain(plan, part, false);
    }
    plan->equality_chain = plan->chain_count;
    for (int i = 0; i < m->neq; i++) {
        memset(part, 0, nv);
        mark_equality(plan, i, part);
        add_chain(plan, part, true);
    }
    plan->tendon_chain = plan->chain_count;
    plan->tendon_entry = plan->chain_dof_count;
    for (int i = 0; i < m->ntendon; i++) {
        memset(part, 0, nv);
        mark_tendon(plan, i, ORR_CHAIN_FIRST, part);
        add_chain(plan, part, true);
    }
    plan->tendon_entries = plan->chain_dof_count - plan->tendon_entry;
    plan->actuator_chain = plan->chain_count;
    plan->actuator_entry = plan->chain_dof_count;
    for (int i = 0; i < m->nu; i++) {
        memset(part, 0, nv);
        mark_actuator(plan, i, part);
        add_chain(plan, part, true);
    }
    plan->actuator_entries = plan->chain_dof_count - plan->actuator_entry;
}

orr_result orr_plan_chains(orr_plan *plan, orr_error *error)
{
    const orr_model *m = plan->model;
    int64_t chains = (int64_t)plan->pair_count + m->neq + m->ntendon + m->nu;
    ORR_ALLOC(plan->chain, chains, "chains of dofs", error);
    ORR_ALLOC(plan->chain_dof, chains * m->nv, "chains of dofs", error);
    ORR_ALLOC(plan->chain_part, chains * m->nv, "chains of dofs", error);
    ORR_ALLOC(plan->dof_descending, m->nv, "dofs", error);
    ORR_ALLOC(plan->last_dof, m->nbody, "bodies", error);
    ORR_ALLOC(plan->dof_end, m->nv, "dofs", error);
    ORR_ALLOC(plan->level_body, m->nbody, "bodies", error);
    plan->level_first = orr_alloc_zero((size_t)m->nbody, sizeof *plan->level_first);
    uint8_t *part = orr_alloc((size_t)m->nv, 1);
    if (!plan->level_first || !part) {
        orr_free(part);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: chains of dofs");
    }
    for (int i = 0; i < m->nv; i++) {
        plan->dof_descending[i] = m->nv - 1 - i;
    }
    find_last_dofs(plan);
    find_dof_ends(plan);
    find_levels(plan);
    find_chains(plan, part);
    orr_free(part);
    return ORR_OK;
}
