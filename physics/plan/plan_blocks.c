// Blocks of a plan: the dofs of kinematic trees in pieces, for sparse second derivatives (lanes/solver).
#include "physics/plan/plan.h"

#include "engine/core/memory.h"

#include <string.h>

enum {
    DOFS_OF_OTHERS = 60, // with no more outside the largest tree, or soft body that nodes move, and
    DOFS_DENSE = 250     // no more in all, dense rows are as fast
};

// The dofs of bodies, each once; marked: those that have been counted, nbody
static int count_dofs(const orr_model *m, const int32_t *body, int count, uint8_t *marked)
{
    int dofs = 0;
    for (int i = 0; i < count; i++) {
        dofs += marked[body[i]] ? 0 : m->body_dofnum[body[i]];
        marked[body[i]] = 1;
    }
    return dofs;
}

// The most dofs of nodes that a soft body couples, though each node is a tree of its own: by its contacts,
// or, of all soft bodies together, by elasticity that is rows of the solver.
static orr_result coupled_dofs(const orr_model *m, int *most, orr_error *error)
{
    uint8_t *marked;
    *most = 0;
    ORR_ALLOC(marked, m->nbody, "bodies", error);
    memset(marked, 0, (size_t)m->nbody);
    for (int i = 0; i < m->nflexcell; i++) {
        const int along = m->flexcell_interp[i] + 1, nodes = along * along * along;
        if (m->flexcell_modenum[i] > 0) {
            *most += count_dofs(m, m->flexcell_bodyid + m->flexcell_nodeadr[i], nodes, marked);
        }
    }
    for (int i = 0; i < m->nflextouch; i++) {
        const int first = m->flextouch_gridadr[i];
        const int end = i + 1 < m->nflextouch ? m->flextouch_gridadr[i + 1] : m->nflexgrid;
        memset(marked, 0, (size_t)m->nbody);
        const int dofs = count_dofs(m, m->flexgrid_bodyid + first, end - first, marked);
        *most = dofs > *most ? dofs : *most;
    }
    orr_free(marked);
    return ORR_OK;
}

static orr_result choose_blocks(const orr_plan *plan, bool *blocks, orr_error *error)
{
    const orr_model *m = plan->model;
    int largest; // soft body, or tree
    ORR_TRY(coupled_dofs(m, &largest, error));
    for (int root = 0; root < m->nv; root = plan->dof_end[root]) {
        int dofs = plan->dof_end[root] - root;
        largest = dofs > largest ? dofs : largest;
    }
    *blocks = !plan->for_device && m->opt.solver != ORR_SOLVER_CG &&
              (m->nv > DOFS_DENSE || m->nv - largest > DOFS_OF_OTHERS);
    return ORR_OK;
}

orr_result orr_plan_blocks(orr_plan *plan, orr_error *error)
{
    const orr_model *m = plan->model;
    int64_t entries = 0;
    ORR_ALLOC(plan->dof_ascending, m->nv, "dofs", error);
    for (int i = 0; i < m->nv; i++) {
        plan->dof_ascending[i] = i;
    }
    bool blocks;
    ORR_TRY(choose_blocks(plan, &blocks, error));
    if (!blocks) {
        return ORR_OK;
    }
    ORR_ALLOC(plan->block_first, m->nv + 1, "blocks of dofs", error);
    ORR_ALLOC(plan->block_tree, m->nv, "blocks of dofs", error);
    ORR_ALLOC(plan->dof_block, m->nv, "blocks of dofs", error);
    int count = 0;
    for (int root = 0; root < m->nv; root = plan->dof_end[root]) {
        int tree = count, end = plan->dof_end[root];
        for (int dof = root; dof < end; dof++) {
            if ((dof - root) % ORR_BLOCK_DOFS == 0) {
                plan->block_tree[count] = tree;
                plan->block_first[count++] = dof;
            }
            plan->dof_block[dof] = count - 1;
        }
        entries +=
            (int64_t)(count - tree) * (count - tree + 1) / 2; // of the tree's factor, if all were filled
    }
    plan->block_first[count] = m->nv;
    plan->block_count = count;
    entries = entries > ORR_BLOCK_FILL * (int64_t)count ? entries : ORR_BLOCK_FILL * (int64_t)count;
    if (entries > INT32_MAX / 128) {
        return orr_fail(error, ORR_CODE_CAPACITY,
                        "%s: expected trees of fewer dofs: their factor can need %lld blocks", m->name,
                        (long long)entries);
    }
    plan->block_capacity = (int32_t)entries;
    return ORR_OK;
}
