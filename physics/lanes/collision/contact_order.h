// The order in which contacts are read: that of their pairs' geoms. A step finds those of pairs that the plan
// does not list in the order of space (mixed.h).
#pragma once

#include "physics/lanes/parameters.h"

// The lower of a pair's geoms, or the higher.
FN int geom_of_pair(const orr_pair *pair, int higher)
{
    return (pair->geom1 > pair->geom2) == higher ? pair->geom1 : pair->geom2;
}

#if !defined(__CUDACC__)
// Sorts contacts by one of their geoms; the order of others stays.
LANE_FN void sort_contacts(const lane_model *m, const lane_data *d, const int32_t *from, int count,
                           int higher, int32_t *to)
{
    int32_t *first = d->near_first;
    memset(first, 0, ((size_t)m->ngeom + 1) * sizeof *first);
    for (int n = 0; n < count; n++) {
        first[geom_of_pair(lane_pair(m, d, d->contact[from[n]].pair), higher) + 1]++;
    }
    for (int geom = 1; geom < m->ngeom; geom++) {
        first[geom] += first[geom - 1];
    }
    for (int n = 0; n < count; n++) {
        to[first[geom_of_pair(lane_pair(m, d, d->contact[from[n]].pair), higher)]++] = from[n];
    }
}

LANE_FN void order_contacts(const lane_model *m, const lane_data *d)
{
    if (!m->plan->pairs_mixed) {
        return;
    }
    int32_t *order = d->contact_order, *sorted = order + m->plan->contact_capacity;
    int first = d->contact_count, end = 0; // of mixed pairs: the numbers of others are lower
    for (int i = 0; i < d->contact_count; i++) {
        int mixed = d->contact[i].pair >= m->plan->pair_count;
        first = mixed && i < first ? i : first;
        end = mixed ? i + 1 : end;
        order[i] = i;
    }
    if (first < end) {
        sort_contacts(m, d, order + first, end - first, 1, sorted);
        sort_contacts(m, d, sorted, end - first, 0, order + first);
    }
}
#else
FN void order_contacts(const lane_model *m, const lane_data *d)
{
    (void)m;
    (void)d;
}
#endif

// After order_contacts.
FN int nth_contact(const lane_model *m, const lane_data *d, int n)
{
#if !defined(__CUDACC__)
    return m->plan->pairs_mixed ? d->contact_order[n] : n;
#else
    (void)m;
    (void)d;
    return n;
#endif
}
