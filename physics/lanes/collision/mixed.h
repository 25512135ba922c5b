// Pairs that the plan does not list: of those that are near the parameters are mixed, in the order of the
// tree of boxes (near.h), in which neighbours are near each other, as are then their contacts and rows in
// memory. Threads divide them; those in contact are then put in that order. On the CPU.
#pragma once

#include "physics/lanes/collision/contact_order.h"
#include "physics/lanes/collision/near.h"
#include "physics/lanes/collision/pair.h"
#include "physics/lanes/share.h"

#if !defined(__CUDACC__) // where the plan lists all

enum { PAIR_PARTS_LEAST = 4 };

// Can two geoms touch in some lane, by their bounding spheres? It is asked before their pair is mixed, which
// takes longer; collide_pair asks again, with the pair's own margin.
FN int spheres_are_near(const lane_model *m, const lane_data *d, int a, int b)
{
    int grid = m->geom_type[a] == ORR_GEOM_SDF || m->geom_type[b] == ORR_GEOM_SDF; // may be met ahead
    if (m->geom_type[a] == ORR_GEOM_PLANE || m->geom_type[b] == ORR_GEOM_PLANE || grid || speculates(m)) {
        return 1;
    }
    real3 apart = sub3(load3(d->geom_xpos, b), load3(d->geom_xpos, a));
    real reach = R(geom_reach(m, a) + geom_reach(m, b)) + geom_rbound(m, d, a) + geom_rbound(m, d, b);
    return any(dot3(apart, apart) <= R(1.0 + 1e-5) * reach * reach); // more than rounding
}

// Contacts of the near pairs first ... end - 1. Those in contact are kept behind `met` others; returns how
// many there are then.
LANE_FN int collide_range(const lane_model *m, lane_data *d, int first, int end, int met)
{
    const orr_plan *plan = m->plan;
    depth_queue queue;
    begin_queue(&queue);
    for (int i = first; i < end; i++) {
        int a = d->near_geoms[2 * i], b = d->near_geoms[2 * i + 1];
        orr_pair *pair = &d->met[met];
        if (!spheres_are_near(m, d, a, b) || !orr_plan_mix_pair(plan, a, b, pair)) {
            continue;
        }
        int before = d->contact_count;
        collide_pair(m, d, &queue, plan->pair_count + met);
        finish_queue(m, d, &queue);
        if (d->contact_count > before) {
            int64_t at = (int64_t)met++ * plan->pair_dofs;
            pair->chain = orr_plan_pair_dofs(plan, m->geom_bodyid[pair->geom1], m->geom_bodyid[pair->geom2],
                                             d->met_dof + at, d->met_part + at);
        }
    }
    return met;
}

// A part of the near pairs, behind those that the worker had before. What it has so far is its own part 0.
LANE_FN void collide_part(const lane_model *m, lane_data *d, const void *context, int part, int worker)
{
    (void)context;
    lane_data own, pairs = *d;
    bind_worker(m, d, worker, &own);
    pairs.contact = own.contact;
    pairs.contact_dist = own.contact_dist;
    pairs.contact_pos = own.contact_pos;
    pairs.contact_frame = own.contact_frame;
    pairs.met = own.met;
    pairs.met_dof = own.met_dof;
    pairs.met_part = own.met_part;
    lane_part *so_far = own.part, *p = d->part + part;
    pairs.contact_count = p->first_contact = so_far->contacts;
    p->first_met = so_far->met;
    p->worker = worker;
    so_far->met = collide_range(m, &pairs, part * LANE_PAIRS_OF_PART,
                                part_end(d->near_count, LANE_PAIRS_OF_PART, part), so_far->met);
    so_far->contacts = pairs.contact_count;
    so_far->missed += pairs.contacts_missed - d->contacts_missed;
    p->contacts = so_far->contacts - p->first_contact;
    p->met = so_far->met - p->first_met;
}

// Moves what a part has found to where it is in their order.
LANE_FN void place_part(const lane_model *m, lane_data *d, const void *context, int part, int worker)
{
    (void)context;
    (void)worker;
    const lane_part *p = d->part + part;
    int from = p->first_contact, to = p->to_contact, dofs = m->plan->pair_dofs;
    size_t count = (size_t)p->contacts, met = (size_t)p->met;
    lane_data own;
    bind_worker(m, d, p->worker, &own);
    memcpy(d->contact_dist + to, own.contact_dist + from, count * sizeof(real));
    memcpy(d->contact_pos + 3 * to, own.contact_pos + 3 * from, 3 * count * sizeof(real));
    memcpy(d->contact_frame + 9 * to, own.contact_frame + 9 * from, 9 * count * sizeof(real));
    for (int i = 0; i < p->contacts; i++) {
        d->contact[to + i] = own.contact[from + i];
        d->contact[to + i].pair += p->to_met - p->first_met;
    }
    int64_t met_from = (int64_t)p->first_met * dofs, met_to = (int64_t)p->to_met * dofs;
    memcpy(d->met + p->to_met, own.met + p->first_met, met * sizeof *d->met);
    memcpy(d->met_dof + met_to, own.met_dof + met_from, met * (size_t)dofs * sizeof *d->met_dof);
    memcpy(d->met_part + met_to, own.met_part + met_from, met * (size_t)dofs * sizeof *d->met_part);
}

// Collides the near pairs over threads. Where there is no room for all contacts they are only counted.
LANE_FN void collide_parts(const lane_model *m, lane_data *d)
{
    int parts = parts_of(d->near_count, LANE_PAIRS_OF_PART);
    begin_workers(m, d);
    share_parts(m, d, parts, 1, collide_part, NULL);
    int first = d->contact_count, end = first, met = 0, missed = workers_missed(m, d);
    for (int part = 0; part < parts; part++) {
        d->part[part].to_contact = end;
        d->part[part].to_met = met;
        end += d->part[part].contacts;
        met += d->part[part].met;
    }
    if (missed > 0 || end > m->plan->contact_capacity) {
        d->contacts_missed += missed + end - first;
        return;
    }
    share_parts(m, d, parts, 1, place_part, NULL);
    d->contact_count = end;
}

LANE_FN void move_contact(const lane_model *m, lane_data *d, int from, int to)
{
    d->contact[to] = d->contact[from];
    d->contact_dist[to] = d->contact_dist[from];
    for (int k = 0; k < 3; k++) {
        d->contact_pos[3 * to + k] = d->contact_pos[3 * from + k];
    }
    for (int k = 0; k < 9; k++) {
        d->contact_frame[9 * to + k] = d->contact_frame[9 * from + k];
    }
    if (speculates(m)) {
        d->contact_speculative[to] = d->contact_speculative[from];
    }
}

// Leaves out contacts of mixed pairs, from `first` on, that are more than the limit: the last in the order of
// their geoms.
LANE_FN void leave_out(const lane_model *m, lane_data *d, int first)
{
    enum { LEFT_OUT = -2 };
    int count = d->contact_count, limit = m->plan->contact_limit, kept = first > limit ? first : limit;
    if (count <= kept) {
        return;
    }
    order_contacts(m, d);
    for (int n = kept; n < count; n++) {
        d->contact[d->contact_order[n]].row = LEFT_OUT;
    }
    d->contact_count = first;
    for (int i = first; i < count; i++) {
        if (d->contact[i].row != LEFT_OUT) {
            move_contact(m, d, i, d->contact_count++);
        }
    }
    d->contacts_missed += count - kept;
}

// Ranks kinematic trees in the order in which their geoms' boxes are in the tree of boxes.
LANE_FN void rank_trees(const lane_model *m, lane_data *d)
{
    for (int tree = 0; tree < m->ntree; tree++) {
        d->tree_rank[tree] = 0;
    }
    for (int k = 0; k < m->plan->boxed_moving; k++) {
        int tree = m->body_treeid[m->geom_bodyid[d->extent[k].geom]];
        if (tree >= 0) {
            d->tree_rank[tree] = k;
        }
    }
}

LANE_FN void collide_near_pairs(const lane_model *m, lane_data *d)
{
    int first = d->contact_count, missed = d->contacts_missed;
    int shared = !speculates(m) && // whose contacts have a number more
                 parts_are_shared(d, parts_of(d->near_count, LANE_PAIRS_OF_PART), PAIR_PARTS_LEAST);
    if (shared) {
        collide_parts(m, d);
    } else {
        (void)collide_range(m, d, 0, d->near_count, 0);
    }
    if (d->contacts_missed > missed) {
        want_contacts(d);
    } else {
        leave_out(m, d, first);
    }
}

LANE_FN void collide_mixed(const lane_model *m, lane_data *d)
{
    if (!m->plan->pairs_mixed || d->near_missed > 0) {
        return;
    }
    int first = d->contact_count;
    rank_trees(m, d);
    d->rows_later = 1;
    collide_near_pairs(m, d);
    d->rows_later = 0;
    for (int contact = first; contact < d->contact_count; contact++) {
        if (d->contact[contact].row >= 0) {
            d->contact[contact].row = add_contact_rows(m, d, d->contact[contact].pair);
        }
    }
}
#endif
