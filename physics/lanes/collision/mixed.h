// Pairs that the plan does not list: of those that are near the parameters are mixed, in the order in which
// it would list them. Threads divide them; those in contact are then put in that order. On the CPU.
#pragma once

#include "physics/lanes/collision/near.h"
#include "physics/lanes/collision/pair.h"
#include "physics/lanes/share.h"

#if !defined(__CUDACC__) // where the plan lists all

enum { PAIR_PARTS_LEAST = 4 };

// Orders the near pairs by their second geom, then their first: `by` is 1, then 0.
LANE_FN void sort_near(const lane_model *m, lane_data *d, int by, const int32_t *from, int32_t *to)
{
    int32_t *first = d->near_first;
    memset(first, 0, ((size_t)m->ngeom + 1) * sizeof *first);
    for (int i = 0; i < d->near_count; i++) {
        first[from[2 * i + by] + 1]++;
    }
    for (int geom = 1; geom < m->ngeom; geom++) {
        first[geom] += first[geom - 1];
    }
    for (int i = 0; i < d->near_count; i++) {
        int at = first[from[2 * i + by]]++;
        to[2 * at] = from[2 * i];
        to[2 * at + 1] = from[2 * i + 1];
    }
}

// Contacts of the near pairs first ... end - 1. Those in contact are kept behind `met` others; returns how
// many there are then.
LANE_FN int collide_range(const lane_model *m, lane_data *d, int first, int end, int met)
{
    const orr_plan *plan = m->plan;
    depth_queue queue;
    begin_queue(&queue);
    for (int i = first; i < end; i++) {
        orr_pair *pair = &d->met[met];
        if (!orr_plan_mix_pair(plan, d->near_geoms[2 * i], d->near_geoms[2 * i + 1], pair)) {
            continue;
        }
        int64_t at = (int64_t)met * plan->pair_dofs;
        pair->chain = orr_plan_pair_dofs(plan, m->geom_bodyid[pair->geom1], m->geom_bodyid[pair->geom2],
                                         d->met_dof + at, d->met_part + at);
        int before = d->contact_count;
        collide_pair(m, d, &queue, plan->pair_count + met);
        finish_queue(m, d, &queue);
        met += d->contact_count > before;
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
    pairs.rows_later = 1;
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

// Moves what a part has found to where it is in the order of pairs.
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

// Collides the near pairs over threads. Returns 0, and has done nothing, where there are more contacts than
// there is room for: then which of them are left out depends on the order in which they are found.
LANE_FN int collide_parts(const lane_model *m, lane_data *d)
{
    int parts = parts_of(d->near_count, LANE_PAIRS_OF_PART);
    begin_workers(m, d);
    share_parts(m, d, parts, 1, collide_part, NULL);
    if (workers_missed(m, d)) {
        return 0;
    }
    int first = d->contact_count, end = first, met = 0;
    for (int part = 0; part < parts; part++) {
        d->part[part].to_contact = end;
        d->part[part].to_met = met;
        end += d->part[part].contacts;
        met += d->part[part].met;
    }
    if (end > m->plan->contact_capacity) {
        return 0;
    }
    share_parts(m, d, parts, 1, place_part, NULL);
    d->contact_count = end;
    for (int contact = first; contact < end; contact++) {
        if (d->contact[contact].row >= 0) {
            d->contact[contact].row = add_contact_rows(m, d, d->contact[contact].pair);
        }
    }
    return 1;
}

LANE_FN void collide_mixed(const lane_model *m, lane_data *d)
{
    if (!m->plan->pairs_mixed) {
        return;
    }
    sort_near(m, d, 1, d->near_geoms, d->near_sorted);
    sort_near(m, d, 0, d->near_sorted, d->near_geoms);
    int shared = !speculates(m) && // whose contacts have a number more
                 parts_are_shared(d, parts_of(d->near_count, LANE_PAIRS_OF_PART), PAIR_PARTS_LEAST);
    if (!shared || !collide_parts(m, d)) {
        (void)collide_range(m, d, 0, d->near_count, 0);
    }
}
#endif
