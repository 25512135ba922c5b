// Blocks of a plan: the dofs of kinematic trees in pieces, for sparse second derivatives (lanes/solver).
#include "physics/plan/plan.h"

#include "engine/core/memory.h"

enum {
    DOFS_OF_OTHERS = 60, // with no more outside the largest tree, and
    DOFS_DENSE = 250     // no more in all, dense rows are as fast
};

static bool in_blocks(const orr_plan *plan)
{
    const orr_model *m = plan->model;
    int largest = 0; // tree
    for (int root = 0; root < m->nv; root = plan->dof_end[root]) {
        int dofs = plan->dof_end[root] - root;
        largest = dofs > largest ? dofs : largest;
    }
    return !plan->for_device && m->opt.solver != ORR_SOLVER_CG &&
           (m->nv > DOFS_DENSE || m->nv - largest > DOFS_OF_OTHERS);
}

orr_result orr_plan_blocks(orr_plan *plan, orr_error *error)
{
    const orr_model *m = plan->model;
    int64_t entries = 0;
    ORR_ALLOC(plan->dof_ascending, m->nv, "dofs", error);
    for (int i = 0; i < m->nv; i++) {
        plan->dof_ascending[i] = i;
    }
    if (!in_blocks(plan)) {
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
