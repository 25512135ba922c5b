// Chains of a plan: which dofs move what.
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/plan/plan.h"

#include "engine/core/memory.h"
#include "physics/model/flex/element_nodes.h"

#include <math.h>
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

// Bodies by their depth in the tree: the poses of a level follow from those of the level before. depth:
// scratch, nbody
static void find_levels(orr_plan *plan, int32_t *depth)
{
    const orr_model *m = plan->model;
    depth[0] = 0;
    for (int body = 1; body < m->nbody; body++) {
        depth[body] = depth[m->body_parentid[body]] + 1;
        plan->level_first[depth[body]]++;
        plan->level_count = depth[body] > plan->level_count ? depth[body] : plan->level_count;
    }
    for (int level = 1; level <= plan->level_count; level++) {
        plan->level_first[level] += plan->level_first[level - 1];
    }
    for (int body = m->nbody - 1; body > 0; body--) {
        plan->level_body[--plan->level_first[depth[body]]] = body;
    }
    for (int level = 0; level < plan->level_count; level++) { // each first is now that of the level before
        plan->level_first[level] = plan->level_first[level + 1];
    }
    plan->level_first[plan->level_count] = m->nbody - 1;
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

int orr_plan_pair_dofs(const orr_plan *plan, int body1, int body2, int32_t *dof, uint8_t *part)
{
    int dof1 = plan->last_dof[body1], dof2 = plan->last_dof[body2], count = 0;
    while (dof1 != dof2) {
        int *later = dof1 > dof2 ? &dof1 : &dof2;
        part[count] = later == &dof1 ? ORR_CHAIN_FIRST : ORR_CHAIN_SECOND;
        dof[count++] = *later;
        *later = plan->model->dof_parentid[*later];
    }
    return count;
}

// A chain of the marked dofs.
static void add_chain(orr_plan *plan, const uint8_t *part)
{
    orr_chain *chain = &plan->chain[plan->chain_count++];
    chain->first = plan->chain_dof_count;
    chain->count = 0;
    for (int dof = plan->model->nv - 1; dof >= 0; dof--) {
        if (part[dof] != 0) {
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

// Marks the dofs that move the nodes of a cell of a soft body.
static void mark_cell(const orr_plan *plan, int cell, uint8_t *part)
{
    const orr_model *m = plan->model;
    const int32_t *body = m->flexcell_bodyid + m->flexcell_nodeadr[cell];
    const int along = m->flexcell_interp[cell] + 1;
    for (int i = 0; i < along * along * along; i++) {
        mark_body(plan, body[i], ORR_CHAIN_FIRST, part);
    }
}

static void mark_equality(const orr_plan *plan, int i, uint8_t *part)
{
    const orr_model *m = plan->model;
    if (m->eq_type[i] == ORR_EQUALITY_FLEXSTRAIN) {
        mark_cell(plan, m->eq_obj1id[i], part);
        return;
    }
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

// Marks the dofs that move a body and the bodies it can collide with.
static void mark_met(const orr_plan *plan, int id, uint8_t *part)
{
    const orr_model *m = plan->model;
    for (int k = 0; k < plan->geom_pairs; k++) {
        int body1 = m->geom_bodyid[plan->pair[k].geom1], body2 = m->geom_bodyid[plan->pair[k].geom2];
        if (body1 == id || body2 == id) {
            mark_body(plan, body1, ORR_CHAIN_FIRST, part);
            mark_body(plan, body2, ORR_CHAIN_FIRST, part);
        }
    }
    for (int i = 0; i < m->body_geomnum[id] && plan->pairs_mixed; i++) {
        for (int other = 0; other < m->ngeom; other++) {
            orr_pair pair;
            if (orr_plan_mix_pair(plan, m->body_geomadr[id] + i, other, &pair)) {
                mark_body(plan, id, ORR_CHAIN_FIRST, part);
                mark_body(plan, m->geom_bodyid[other], ORR_CHAIN_FIRST, part);
            }
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
    case ORR_TRANSMISSION_SO3:
        if (reference < 0) {
            memset(part + m->jnt_dofadr[id], ORR_CHAIN_FIRST, (size_t)joint_dofs[m->jnt_type[id]]);
            break;
        }
        mark_apart(plan, m->site_bodyid[id], m->site_bodyid[reference], ORR_CHAIN_FIRST, part);
        break;
    case ORR_TRANSMISSION_SITE:
        mark_apart(plan, m->site_bodyid[id], reference < 0 ? 0 : m->site_bodyid[reference], ORR_CHAIN_FIRST,
                   part);
        break;
    case ORR_TRANSMISSION_BODY:
        mark_met(plan, id, part);
        break;
    case ORR_TRANSMISSION_SLIDERCRANK:
        mark_body(plan, m->site_bodyid[id], ORR_CHAIN_FIRST, part);
        mark_body(plan, m->site_bodyid[reference], ORR_CHAIN_FIRST, part);
        break;
    default:
        memset(part + m->jnt_dofadr[id], ORR_CHAIN_FIRST, (size_t)joint_dofs[m->jnt_type[id]]);
    }
}

static void add_share(const orr_plan *plan, int body, double more, double *share)
{
    for (int dof = plan->last_dof[body]; dof >= 0; dof = plan->model->dof_parentid[dof]) {
        share[dof] += more;
    }
}

// The chain of a geom and a vertex. Dofs that move both alike are left out; share: zeroed, nv, and so again.
static void add_point_chain(orr_plan *plan, orr_pair *pair, double *share)
{
    enum { PARTS = ORR_CHAIN_FIRST | ORR_CHAIN_SECOND };
    const double rounding = 1e-12; // of a sum of up to 27 weights
    const orr_model *m = plan->model;
    const int first = m->flexpoint_weightadr[pair->point];
    pair->chain = plan->chain_count++;
    orr_chain *chain = &plan->chain[pair->chain];
    *chain = (orr_chain){plan->chain_dof_count, 0};
    for (int k = first; k < first + m->flexpoint_weightnum[pair->point]; k++) {
        add_share(plan, m->flexweight_bodyid[k], m->flexweight[k], share);
    }
    add_share(plan, m->geom_bodyid[pair->geom1], -1.0, share);
    for (int dof = m->nv - 1; dof >= 0; dof--) {
        if (fabs(share[dof]) > rounding) {
            const int i = chain->first + chain->count++;
            plan->chain_dof[i] = dof;
            plan->chain_part[i] = PARTS;
            plan->point_share[i - plan->point_entry] = share[dof];
        }
        share[dof] = 0.0;
    }
    plan->chain_dof_count += chain->count;
}

// The most entries of the chains of pairs with vertices.
static int64_t point_entries(const orr_plan *plan, int deepest)
{
    const orr_model *m = plan->model;
    int64_t entries = 0;
    for (int i = plan->geom_pairs; i < plan->point_pairs; i++) {
        const int64_t most = ((int64_t)m->flexpoint_weightnum[plan->pair[i].point] + 1) * deepest;
        entries += most < m->nv ? most : m->nv;
    }
    return entries;
}

static bool moves(const orr_plan *plan, int dof, int body)
{
    const int last = plan->last_dof[body];
    return last >= dof && last < plan->dof_end[dof];
}

// The node after one of those that may move an element; after -1 the first; -1: no more.
static int32_t next_node(const orr_model *m, int element, int32_t node)
{
    return node_after(m->flextouch_along + 3 * (ptrdiff_t)m->flexelement_touchid[element],
                      m->flexelement_span + 6 * (ptrdiff_t)element, node);
}

// The chain of a geom and an element. Dofs that move all of its nodes and the geom are left out.
static void add_element_chain(orr_plan *plan, orr_pair *pair)
{
    const orr_model *m = plan->model;
    const int32_t *body = m->flexgrid_bodyid + m->flextouch_gridadr[m->flexelement_touchid[pair->element]];
    pair->chain = plan->chain_count++;
    orr_chain *chain = &plan->chain[pair->chain];
    *chain = (orr_chain){plan->chain_dof_count, 0};
    for (int dof = m->nv - 1; dof >= 0; dof--) {
        int moved = 0, others = 0, node = -1;
        const int with_geom = moves(plan, dof, m->geom_bodyid[pair->geom1]);
        for (int32_t of = next_node(m, pair->element, -1); of >= 0; of = next_node(m, pair->element, of)) {
            const bool with = moves(plan, dof, body[of]);
            node = with ? of : node;
            moved += with, others += !with;
        }
        if ((with_geom && others == 0) || (!with_geom && moved == 0)) {
            continue;
        }
        const int i = chain->first + chain->count++;
        plan->chain_dof[i] = dof;
        plan->chain_part[i] =
            (uint8_t)((with_geom ? ORR_CHAIN_FIRST : 0) | (moved > 0 ? ORR_CHAIN_SECOND : 0));
        plan->entry_node[i - plan->element_entry] = moved == 1 ? node : -1;
    }
    plan->chain_dof_count += chain->count;
}

// The most entries of the chains of pairs with elements.
static int64_t element_entries(const orr_plan *plan, int deepest)
{
    const orr_model *m = plan->model;
    int64_t entries = 0;
    for (int i = plan->point_pairs; i < plan->pair_count; i++) {
        int64_t most = deepest;
        for (int32_t of = next_node(m, plan->pair[i].element, -1); of >= 0;
             of = next_node(m, plan->pair[i].element, of)) {
            most += deepest;
        }
        entries += most < m->nv ? most : m->nv;
    }
    return entries;
}

static void find_chains(orr_plan *plan, uint8_t *part, double *share)
{
    const orr_model *m = plan->model;
    size_t nv = (size_t)m->nv;
    for (int i = 0; i < plan->geom_pairs; i++) {
        orr_pair *pair = &plan->pair[i];
        int first = plan->chain_dof_count;
        int count = orr_plan_pair_dofs(plan, m->geom_bodyid[pair->geom1], m->geom_bodyid[pair->geom2],
                                       plan->chain_dof + first, plan->chain_part + first);
        pair->chain = plan->chain_count;
        plan->chain[plan->chain_count++] = (orr_chain){first, count};
        plan->chain_dof_count += count;
    }
    plan->point_entry = plan->chain_dof_count;
    for (int i = plan->geom_pairs; i < plan->point_pairs; i++) {
        add_point_chain(plan, &plan->pair[i], share);
    }
    plan->point_entries = plan->chain_dof_count - plan->point_entry;
    plan->element_entry = plan->chain_dof_count;
    for (int i = plan->point_pairs; i < plan->pair_count; i++) {
        add_element_chain(plan, &plan->pair[i]);
    }
    plan->element_entries = plan->chain_dof_count - plan->element_entry;
    plan->equality_chain = plan->chain_count;
    for (int i = 0; i < m->neq; i++) {
        memset(part, 0, nv);
        mark_equality(plan, i, part);
        add_chain(plan, part);
    }
    plan->flexcell_chain = plan->chain_count;
    for (int i = 0; i < m->nflexcell; i++) {
        memset(part, 0, nv);
        if (m->flexcell_modenum[i] > 0) {
            mark_cell(plan, i, part);
        }
        add_chain(plan, part);
    }
    plan->tendon_chain = plan->chain_count;
    plan->tendon_entry = plan->chain_dof_count;
    for (int i = 0; i < m->ntendon; i++) {
        memset(part, 0, nv);
        mark_tendon(plan, i, ORR_CHAIN_FIRST, part);
        add_chain(plan, part);
    }
    plan->tendon_entries = plan->chain_dof_count - plan->tendon_entry;
    plan->output_chain = plan->chain_count;
    plan->output_entry = plan->chain_dof_count;
    for (int i = 0; i < m->nactuator; i++) {
        memset(part, 0, nv);
        mark_actuator(plan, i, part);
        for (int k = 0; k < m->actuator_outnum[i]; k++) {
            add_chain(plan, part);
        }
    }
    plan->output_entries = plan->chain_dof_count - plan->output_entry;
}

// The most dofs of a chain of ancestors.
static int deepest(const orr_plan *plan, int32_t *depth)
{
    int most = 0;
    for (int i = 0; i < plan->model->nv; i++) {
        int above = plan->model->dof_parentid[i];
        depth[i] = above < 0 ? 1 : depth[above] + 1;
        most = depth[i] > most ? depth[i] : most;
    }
    return most;
}

orr_result orr_plan_chains(orr_plan *plan, orr_error *error)
{
    const orr_model *m = plan->model;
    ORR_ALLOC(plan->dof_descending, m->nv, "dofs", error);
    ORR_ALLOC(plan->last_dof, m->nbody, "bodies", error);
    ORR_ALLOC(plan->dof_end, m->nv, "dofs", error);
    ORR_ALLOC(plan->level_body, m->nbody, "bodies", error);
    const int depth_most = deepest(plan, plan->dof_end);
    plan->pair_dofs = 2 * depth_most;
    plan->pair_dofs = plan->pair_dofs < m->nv ? plan->pair_dofs : m->nv;
    int64_t others = (int64_t)m->neq + m->nflexcell + m->ntendon + m->nout;
    const int64_t of_points = point_entries(plan, depth_most),
                  of_elements = element_entries(plan, depth_most);
    int64_t entries = (int64_t)plan->geom_pairs * plan->pair_dofs + of_points + of_elements + others * m->nv;
    ORR_ALLOC(plan->chain, plan->pair_count + others, "chains of dofs", error);
    ORR_ALLOC(plan->chain_dof, entries, "chains of dofs", error);
    ORR_ALLOC(plan->chain_part, entries, "chains of dofs", error);
    ORR_ALLOC(plan->point_share, of_points, "chains of dofs", error);
    ORR_ALLOC(plan->entry_node, of_elements, "chains of dofs", error);
    plan->level_first = orr_alloc_zero((size_t)m->nbody + 1, sizeof *plan->level_first);
    uint8_t *part = orr_alloc((size_t)m->nv, 1);
    int32_t *depth = orr_alloc((size_t)m->nbody, sizeof *depth);
    orr_result result = ORR_OK;
    double *share = orr_alloc_zero((size_t)m->nv, sizeof *share);
    if (plan->level_first && part && depth && share) {
        for (int i = 0; i < m->nv; i++) {
            plan->dof_descending[i] = m->nv - 1 - i;
        }
        find_last_dofs(plan);
        find_dof_ends(plan);
        find_levels(plan, depth);
        find_chains(plan, part, share);
    } else {
        result = orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: chains of dofs");
    }
    orr_free(part);
    orr_free(share);
    orr_free(depth);
    return result;
}
