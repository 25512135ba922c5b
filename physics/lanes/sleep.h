// Kinematic trees that fall asleep when they rest, and wake, by MuJoCo's rules (MuJoCo's documentation,
// "Computation", section "Sleeping islands"): those that constraint rows join fall asleep together. A tree
// that sleeps keeps its qpos to the bit, has no velocity, and no contacts but with what is awake, which wakes
// it.
//
// tree_asleep of a tree: at least 0: it sleeps, and the number is the lowest tree of its island; below 0: it
// is awake, ORR_AWAKE after it has moved and one more after each step at rest, up to -1: it is ready to
// sleep. In a block some worlds' trees sleep while others' are awake: masks keep the states apart, and what
// sleeps in all lanes costs little.
#pragma once

#include "physics/lanes/rest.h"

// Can a body be moved from outside?
FN int is_mocap(const lane_model *m, int body)
{
    return m->body_mocapid[m->body_rootid[body]] >= 0;
}

// The lanes in which a body was awake before equalities woke any: in these it has contacts. What cannot move
// has none of its own.
FN mask body_touches(const lane_model *m, const lane_data *d, int body)
{
    int tree = m->body_treeid[body];
    if (tree >= 0) {
        return d->tree_awake[tree] > R(0.5);
    }
    return is_mocap(m, body) ? everywhere() : nowhere();
}

// The same of a pair of geoms.
FN mask pair_touches(const lane_model *m, const lane_data *d, const orr_pair *pair)
{
    return or_(body_touches(m, d, m->geom_bodyid[pair->geom1]),
               body_touches(m, d, m->geom_bodyid[pair->geom2]));
}

// Does a geom's tree sleep in all lanes, so that it has contacts with nothing but what is awake? Of one that
// cannot move: 0.
FN int geom_rests(const lane_model *m, const lane_data *d, int geom)
{
    return d->asleep != LANE_NONE_ASLEEP && m->body_treeid[m->geom_bodyid[geom]] >= 0 &&
           !any(body_touches(m, d, m->geom_bodyid[geom]));
}

// Finds out whether any trees sleep, and lists what moves.
LANE_FN void count_sleepers(const lane_model *m, lane_data *d)
{
    int asleep = 0, awake = 0, changed = LANE_THREADS == 1 && !d->kept->listed;
    for (int i = 0; i < m->ntree; i++) {
        mask sleeps = tree_sleeps(d, i);
        int moves = any(not_(sleeps)) != 0;
        asleep |= any(sleeps);
        awake |= moves;
        if (LANE_THREADS == 1) {
            changed |= d->tree_moves[i] != moves;
            d->tree_moves[i] = moves;
        }
    }
    d->asleep = !asleep ? LANE_NONE_ASLEEP : awake ? LANE_SOME_ASLEEP : LANE_ALL_ASLEEP;
    if (changed) {
        list_what_moves(m, d);
    }
}

// Trees have contacts where they are awake now.
LANE_FN void note_awake(const lane_model *m, lane_data *d)
{
    int changed = 0;
    for (int i = team_first(d); i < m->ntree; i += team_size(d)) {
        mask sleeps = tree_sleeps(d, i);
        d->tree_awake[i] = sel(sleeps, R(0.0), R(1.0));
        if (LANE_THREADS == 1) {
            int touches = any(not_(sleeps)) != 0;
            changed |= d->tree_touches[i] != touches;
            d->tree_touches[i] = touches;
        }
    }
    if (changed) {
        d->kept->boxes_sorted = 0;
    }
    team_wait(d);
}

// Wakes a tree and all that sleep with it. counter: their new number
LANE_FN void wake_island(const lane_model *m, const lane_data *d, int tree, mask lanes, real counter)
{
    real island = d->tree_asleep[tree];
    lanes = and_(lanes, tree_sleeps(d, tree));
    for (int i = 0; i < m->ntree && any(lanes); i++) {
        d->tree_asleep[i] = sel(and_(lanes, d->tree_asleep[i] == island), counter, d->tree_asleep[i]);
    }
}

// The lanes in which any of the numbers first ... end - 1 is not 0.
FN mask any_number(reals x, int first, int end)
{
    collected_mask some = nowhere();
    for (int i = first; i < end; i++) {
        some |= x[i] != R(0.0);
    }
    return mask_of(some);
}

// The lanes in which a force acts from outside on any of the trees first ... last.
LANE_FN mask trees_forced(const lane_model *m, const lane_data *d, int first, int last)
{
    const orr_tree_range *from = &m->plan->tree_range[first], *to = &m->plan->tree_range[last];
    return or_(any_number(d->qfrc_applied, from->dof, to->dof_end),
               any_number(d->xfrc_applied, 6 * from->body, 6 * to->body_end));
}

FN int coordinates_of(const lane_model *m, int joint)
{
    int type = m->jnt_type[joint];
    return type == ORR_JOINT_FREE ? 7 : type == ORR_JOINT_BALL ? 4 : 1;
}

// The lanes in which somebody has moved any of the trees first ... last, or a force acts on them.
LANE_FN mask trees_disturbed(const lane_model *m, const lane_data *d, int first, int last)
{
    const orr_tree_range *from = &m->plan->tree_range[first], *to = &m->plan->tree_range[last];
    collected_mask moved = nowhere();
    for (int i = from->qpos; i < to->qpos_end; i++) {
        moved |= d->qpos[i] != d->asleep_qpos[i];
    }
    return or_(or_(mask_of(moved), any_number(d->qvel, from->dof, to->dof_end)),
               trees_forced(m, d, first, last));
}

// Wakes trees that are disturbed. Neighbours that sleep in all lanes are looked at together: if there is
// nothing, which is the rule, there is nothing with any of them. Returns whether any woke.
LANE_FN int wake_disturbed(const lane_model *m, const lane_data *d)
{
    int any_woken = 0;
    for (int i = 0, last; i < m->ntree; i = last + 1) {
        last = i;
        if (!any(tree_sleeps(d, i))) {
            continue;
        }
        while (last + 1 < m->ntree && tree_rests(d, i) && tree_rests(d, last + 1)) {
            last++;
        }
        if (!any(trees_disturbed(m, d, i, last))) {
            continue;
        }
        for (int tree = i; tree <= last; tree++) {
            d->tree_mark[tree] = sel(trees_disturbed(m, d, tree, tree), R(1.0), R(0.0));
        }
        for (int tree = i; tree <= last; tree++) {
            mask disturbed = d->tree_mark[tree] > R(0.5);
            any_woken |= any(and_(disturbed, tree_sleeps(d, tree)));
            wake_island(m, d, tree, disturbed, R((double)ORR_AWAKE));
        }
    }
    return any_woken;
}

// Ends a function that has woken trees: whether it has.
LANE_FN int woken(const lane_model *m, lane_data *d, int any_woken)
{
    any_woken = team_share(d, any_woken);
    if (any_woken) {
        count_sleepers(m, d);
    }
    return any_woken;
}

// Begins a step: who sleeps. Returns whether any tree does, in any lane.
LANE_FN int begin_sleep(const lane_model *m, lane_data *d)
{
    count_sleepers(m, d);
    if (d->asleep == LANE_NONE_ASLEEP) {
        return 0;
    }
    team_wait(d);
    int any_woken = team_leads(d) ? wake_disturbed(m, d) : 0;
    team_wait(d);
    (void)woken(m, d, any_woken);
    note_awake(m, d);
    return d->asleep != LANE_NONE_ASLEEP;
}

// Wakes trees by limited tendons to one that is awake. Returns whether any woke.
LANE_FN int wake_by_tendons(const lane_model *m, lane_data *d)
{
    int any_woken = 0;
    for (int i = 0; i < m->ntendon && team_leads(d) && !(m->opt.disableflags & ORR_DISABLE_LIMIT); i++) {
        if (!m->tendon_limited[i]) {
            continue;
        }
        real low = d->ten_length[i] - R(m->tendon_range[2 * i]),
             high = R(m->tendon_range[2 * i + 1]) - d->ten_length[i];
        mask limits = min_(low, high) < R(m->tendon_margin[i]);
        orr_chain chain = m->plan->chain[m->plan->tendon_chain + i];
        const int32_t *dof = m->plan->chain_dof + chain.first;
        for (int e = 1; e < chain.count && any(limits); e++) { // trees that sleep are joined by pairs
            int a = m->dof_treeid[dof[e - 1]], b = m->dof_treeid[dof[e]];
            real low_one = min_(d->tree_asleep[a], d->tree_asleep[b]),
                 other = max_(d->tree_asleep[a], d->tree_asleep[b]);
            mask waking = and_(limits, and_(low_one < R(0.0), not_(other < R(0.0))));
            if (a != b && any(waking)) {
                wake_island(m, d, a, waking, low_one); // the counter of the one that is awake
                wake_island(m, d, b, waking, low_one);
                any_woken = 1;
            }
        }
    }
    team_wait(d);
    return woken(m, d, any_woken);
}

// One side of a contact: the lanes in which it sleeps and the other is awake.
LANE_FN int wake_touched(const lane_model *m, const lane_data *d, int body, int other, mask here)
{
    int tree = m->body_treeid[body], by = m->body_treeid[other];
    if (tree < 0) {
        return 0;
    }
    mask waking = and_(here, and_(not_(d->tree_mark[tree] < R(0.0)), body_touches(m, d, other)));
    if (!any(waking)) {
        return 0;
    }
    real counter = by >= 0 ? d->tree_mark[by] : R((double)ORR_AWAKE), now = d->tree_asleep[tree];
    mask earlier = and_(waking, now < R(0.0)); // by another contact
    d->tree_asleep[tree] = sel(earlier, min_(now, counter), now);
    wake_island(m, d, tree, and_(waking, not_(earlier)), counter);
    return 1;
}

// Wakes trees by contacts with what is awake. Returns whether any woke.
LANE_FN int wake_by_contacts(const lane_model *m, lane_data *d)
{
    int any_woken = 0;
    for (int i = 0; i < m->ntree && team_leads(d); i++) {
        d->tree_mark[i] = d->tree_asleep[i];
    }
    for (int i = 0; i < d->contact_count && team_leads(d); i++) {
        const orr_pair *pair = lane_pair(m, d, d->contact[i].pair);
        mask here = d->contact_dist[i] < R(0.5 * LANE_HUGE);
        int body1 = m->geom_bodyid[pair->geom1], body2 = second_body(m, pair);
        if (body2 < 0) { // planes do not sleep, and nodes never do
            continue;
        }
        any_woken |= wake_touched(m, d, body1, body2, here);
        any_woken |= wake_touched(m, d, body2, body1, here);
    }
    team_wait(d);
    return woken(m, d, any_woken);
}

// Wakes trees that an equality joins: one that sleeps to one that is awake or moved from outside; and two
// that sleep in different islands. Returns whether any woke.
LANE_FN int wake_by_equalities(const lane_model *m, lane_data *d)
{
    int any_woken = 0;
    for (int i = 0; i < m->neq && team_leads(d) && !(m->opt.disableflags & ORR_DISABLE_EQUALITY); i++) {
        mask active = d->eq_active[i] > R(0.5);
        orr_chain chain = m->plan->chain[m->plan->equality_chain + i];
        const int32_t *dof = m->plan->chain_dof + chain.first;
        mask moved = nowhere(); // from outside
        if (m->eq_type[i] == ORR_EQUALITY_CONNECT || m->eq_type[i] == ORR_EQUALITY_WELD) {
            int sites = m->eq_objtype[i] == ORR_OBJECT_SITE, a = m->eq_obj1id[i], b = m->eq_obj2id[i];
            moved = is_mocap(m, sites ? m->site_bodyid[a] : a) || is_mocap(m, sites ? m->site_bodyid[b] : b)
                        ? everywhere()
                        : nowhere();
        }
        for (int e = 0; e < chain.count && any(active); e++) {
            int a = m->dof_treeid[dof[e]], b = m->dof_treeid[dof[e > 0 ? e - 1 : e]];
            if (e > 0 && a == b) {
                continue;
            }
            mask waking = and_(active, and_(tree_sleeps(d, a), moved));
            mask apart = not_(d->tree_asleep[a] == d->tree_asleep[b]);
            waking = or_(waking, and_(active, and_(apart, or_(tree_sleeps(d, a), tree_sleeps(d, b)))));
            if (any(waking)) {
                wake_island(m, d, a, waking, R((double)ORR_AWAKE));
                wake_island(m, d, b, waking, R((double)ORR_AWAKE));
                any_woken = 1;
            }
        }
    }
    team_wait(d);
    return woken(m, d, any_woken);
}

// Rows of trees that sleep do not exist. Those that also join a tree that is left out, whose numbers mean
// nothing, lose their dofs: they exist in no lane.
LANE_FN void drop_sleeping_rows(const lane_model *m, const lane_data *d)
{
    for (int i = 0; i < d->row_count && has_lists(d); i += d->row[i].dim) {
        for (int e = 0; e < d->row[i].count; e++) {
            if (tree_left_out(m, d, m->dof_treeid[d->row[i].dof[e]])) {
                for (int k = i; k < i + d->row[i].dim; k++) {
                    d->efc_D[k] = R(0.0);
                }
                d->row[i].count = 0;
            }
        }
    }
    for (int i = team_first(d); i < d->row_count; i += team_size(d)) {
        const lane_row *row = &d->row[i - d->row[i].index];
        if (row->count > 0) {
            d->efc_D[i] = sel(tree_sleeps(d, m->dof_treeid[row->dof[0]]), R(0.0), d->efc_D[i]);
        }
    }
    team_wait(d);
}

// x = 0 for the dofs of trees that sleep, of those that are computed
LANE_FN void clear_sleeping(const lane_model *m, const lane_data *d, reals x)
{
    for (int n = team_first(d); n < dof_count(m, d); n += team_size(d)) {
        int i = nth_dof(d, n);
        x[i] = sel(tree_sleeps(d, m->dof_treeid[i]), R(0.0), x[i]);
    }
    team_wait(d);
}

// x = 0 for the dofs of trees that are left out
LANE_FN void clear_left_out(const lane_model *m, const lane_data *d, reals x)
{
    for (int i = 0; i < m->ntree; i++) {
        if (tree_left_out(m, d, i)) {
            for (int k = m->plan->tree_range[i].dof; k < m->plan->tree_range[i].dof_end; k++) {
                x[k] = R(0.0);
            }
        }
    }
}

// ---- falling asleep

// Counts the steps at rest of the trees that are awake. Returns the lanes in which any is ready to sleep.
LANE_FN mask count_rest(const lane_model *m, const lane_data *d)
{
    uniform_real slow = (uniform_real)m->opt.sleep_tolerance;
    for (int n = 0; n < tree_count(m, d); n++) {
        int i = nth_tree(d, n);
        d->tree_mark[i] = sel(trees_forced(m, d, i, i), R(1.0), R(0.0));
    }
    for (int n = 0; n < dof_count(m, d); n++) {
        int i = nth_dof(d, n);
        reals moves = d->tree_mark + m->dof_treeid[i];
        real speed = abs_(d->qvel[i]) * R(m->dof_length[i]);
        mask rests = (double)slow > 0.0 ? speed < R(slow) : d->qvel[i] == R(0.0);
        moves[0] = sel(rests, moves[0], R(1.0));
    }
    mask joined = nowhere(); // without islands: lanes with any row
    for (int i = 0; i < d->row_count && m->opt.disableflags & ORR_DISABLE_ISLAND; i++) {
        joined = or_(joined, d->efc_D[i] > R(0.0));
    }
    mask ready = nowhere();
    for (int n = 0; n < tree_count(m, d); n++) {
        int i = nth_tree(d, n);
        int policy = m->tree_sleep_policy[i];
        int never = policy == ORR_SLEEP_NEVER || policy == ORR_SLEEP_AUTO_NEVER;
        real before = d->tree_asleep[i];
        real counter = sel(joined, R((double)ORR_AWAKE), before);
        counter = min_(counter + R(1.0), R(-1.0));
        counter = never ? R((double)ORR_AWAKE) : sel(d->tree_mark[i] > R(0.5), R((double)ORR_AWAKE), counter);
        d->tree_asleep[i] = sel(tree_sleeps(d, i), before, counter);
        mask now = d->tree_asleep[i] == R(-1.0);
        d->tree_mark[i] = sel(now, R(0.0), R(1.0));
        d->tree_island[i] = R((double)i);
        ready = or_(ready, now);
    }
    return ready;
}

// tree_island: the lowest tree that rows join a tree with, directly or through others. tree_mark: 1 if any of
// them is not ready.
LANE_FN void join_islands(const lane_model *m, const lane_data *d)
{
    for (int backward = 0, changed = 1; changed; backward = !backward) {
        changed = 0;
        for (int n = 0; n < d->group_count; n++) {
            int i = d->group[backward ? d->group_count - 1 - n : n];
            const lane_row *row = &d->row[i];
            mask exists = d->efc_D[i] > R(0.0);
            for (int e = 1; e < row->count; e++) {
                int a = m->dof_treeid[row->dof[e - 1]], b = m->dof_treeid[row->dof[e]];
                if (a == b) {
                    continue;
                }
                real island = min_(d->tree_island[a], d->tree_island[b]);
                real moves = max_(d->tree_mark[a], d->tree_mark[b]);
                mask differ = or_(not_(d->tree_island[a] == d->tree_island[b]),
                                  not_(d->tree_mark[a] == d->tree_mark[b]));
                differ = and_(exists, differ);
                if (!any(differ)) {
                    continue;
                }
                changed = 1;
                d->tree_island[a] = sel(differ, island, d->tree_island[a]);
                d->tree_island[b] = sel(differ, island, d->tree_island[b]);
                d->tree_mark[a] = sel(differ, moves, d->tree_mark[a]);
                d->tree_mark[b] = sel(differ, moves, d->tree_mark[b]);
            }
        }
    }
}

// Puts islands to sleep whose trees are all ready: their velocity and acceleration become 0. Before the state
// advances: qvel and the rows are of the start of the step.
LANE_FN void fall_asleep(const lane_model *m, lane_data *d)
{
    int asleep = 0;
    team_wait(d);
    if (team_leads(d) && any(count_rest(m, d))) {
        join_islands(m, d);
        for (int n = 0; n < tree_count(m, d); n++) {
            int i = nth_tree(d, n);
            mask now = and_(d->tree_asleep[i] == R(-1.0), d->tree_mark[i] < R(0.5));
            d->tree_asleep[i] = sel(now, d->tree_island[i], d->tree_asleep[i]);
            asleep |= any(now);
        }
    }
    team_wait(d);
    asleep = team_share(d, asleep);
    count_sleepers(m, d);
    if (!asleep) {
        return;
    }
    reals cleared[] = {d->qvel, d->qacc, d->qacc_warmstart};
    for (int k = 0; k < 3; k++) {
        clear_sleeping(m, d, cleared[k]);
        clear_left_out(m, d, cleared[k]);
    }
    for (int joint = team_first(d); joint < m->njnt; joint += team_size(d)) {
        mask sleeps = tree_sleeps(d, m->body_treeid[m->jnt_bodyid[joint]]);
        int adr = m->jnt_qposadr[joint];
        for (int k = adr; k < adr + coordinates_of(m, joint); k++) {
            d->asleep_qpos[k] = sel(sleeps, d->qpos[k], d->asleep_qpos[k]);
        }
    }
    team_wait(d);
}
