// Contacts of all pairs that are near, and their rows.
#pragma once

#include "physics/lanes/collision/mixed.h"
#include "physics/lanes/collision/near.h"
#include "physics/lanes/collision/pair.h"

// Sets the bits of the pairs that may touch, as find_near does, by testing all pairs.
LANE_FN void test_pairs(const lane_model *m, lane_data *d)
{
    const orr_plan *plan = m->plan;
    for (int first = 0; first < plan->geom_pairs; first += 32) {
        uint32_t near = 0;
        for (int i = team_first(d); i < 32 && first + i < plan->geom_pairs; i += team_size(d)) {
            const orr_pair *pair = &plan->pair[first + i];
            near |= speculates(m) || any(may_touch(m, d, pair)) ? 1u << i : 0u;
        }
        d->near_pair[first / 32] = team_bits(d, near);
    }
}

#if !defined(__CUDACC__)
enum { CONTACTS_OF_PART = 64, CONTACT_PARTS_LEAST = 4 };

LANE_FN void set_part_of_rows(const lane_model *m, lane_data *d, const void *context, int part, int worker)
{
    (void)context;
    (void)worker;
    for (int i = part * CONTACTS_OF_PART; i < part_end(d->contact_count, CONTACTS_OF_PART, part); i++) {
        if (d->contact[i].row >= 0) {
            set_contact_rows(m, d, i);
        }
    }
}
#endif

// The rows of all contacts.
LANE_FN void set_rows_of_contacts(const lane_model *m, lane_data *d)
{
#if !defined(__CUDACC__)
    share_parts(m, d, parts_of(d->contact_count, CONTACTS_OF_PART), CONTACT_PARTS_LEAST, set_part_of_rows,
                NULL);
#else
    for (int i = team_first(d); i < d->contact_count; i += team_size(d)) {
        if (d->contact[i].row >= 0) {
            set_contact_rows(m, d, i);
        }
    }
#endif
}

// What a step lacks room for it notes, and goes on without contacts: it will be repeated (program_inline.h).
LANE_FN void note_room(const lane_model *m, lane_data *d, int rows, int groups, int entries)
{
    const orr_plan *plan = m->plan;
    int needed = d->contact_count + d->contacts_missed;
    if (room_grows(m) && d->contacts_missed > 0 && plan->contact_capacity < plan->contact_limit) {
        want_contacts(d);
    }
    if (d->near_missed > 0) {
        d->wanted->near = d->near_count + d->near_missed;
    }
    if (lacks_room(m, d)) {
        d->row_count = rows;
        d->group_count = groups;
        d->J_count = entries;
        d->contact_count = 0;
    } else {
        d->contacts_needed = needed > d->contacts_needed ? needed : d->contacts_needed;
    }
}

LANE_FN void collide(const lane_model *m, lane_data *d)
{
    const orr_plan *plan = m->plan;
    int rows = d->row_count, groups = d->group_count, entries = d->J_count;
    if (m->opt.disableflags & ORR_DISABLE_CONTACT) {
        return;
    }
    depth_queue queue;
    begin_queue(&queue);
    if (!boxes_searched(m) && team_size(d) == 1) {
        int watched = d->asleep != LANE_NONE_ASLEEP || speculates(m); // also what is far apart
        for (int i = 0; i < plan->geom_pairs; i++) {
            if (watched || any(may_touch(m, d, &plan->pair[i]))) {
                collide_pair(m, d, &queue, i);
            }
        }
        finish_queue(m, d, &queue);
    } else {
        if (boxes_searched(m)) {
            if (team_single_begin(d)) {
                find_near(m, d);
            }
            team_single_end(d);
        } else {
            test_pairs(m, d);
        }
        for (int first = 0; first < plan->geom_pairs; first += 32) {
            for (uint32_t left = d->near_pair[first / 32]; left != 0; left &= left - 1) {
                collide_pair(m, d, &queue, first + lowest_bit(left));
            }
        }
        finish_queue(m, d, &queue);
#if !defined(__CUDACC__)
        collide_mixed(m, d);
#endif
    }
    collide_points(m, d);
    collide_elements(m, d);
    note_room(m, d, rows, groups, entries);
    set_rows_of_contacts(m, d);
}
