// Kinds of geoms, for models whose pairs a step mixes: the geoms of a heap often differ in nothing that the
// parameters of their contacts depend on, which are then mixed once, not in each step.
#include "physics/plan/contact_mix.h"

#include "engine/core/memory.h"

#include <string.h>

enum {
    MOST_KINDS = 32, // a table of a third of a megabyte
    KEY = 13 + ORR_NREF + ORR_NIMP
};

// All that a geom's pairs take from it.
static void find_key(const orr_model *m, int geom, double key[KEY])
{
    const orr_contact_side side = orr_contact_side_of(m, geom);
    const double numbers[KEY - ORR_NREF - ORR_NIMP] = {m->geom_type[geom],
                                                       m->geom_function[geom] != 0,
                                                       side.condim,
                                                       side.priority,
                                                       side.margin,
                                                       side.gap,
                                                       side.adhesion,
                                                       side.solmix,
                                                       side.friction[0],
                                                       side.friction[1],
                                                       side.friction[2],
                                                       side.invweight,
                                                       orr_geom_surface_weight(m, geom)};
    memcpy(key, numbers, sizeof numbers);
    memcpy(key + KEY - ORR_NREF - ORR_NIMP, side.solref, ORR_NREF * sizeof *key);
    memcpy(key + KEY - ORR_NIMP, side.solimp, ORR_NIMP * sizeof *key);
}

// first: of each kind its first geom. Returns how many there are; 0: too many.
static int number_kinds(orr_plan *plan, int first[MOST_KINDS])
{
    double known[MOST_KINDS][KEY], key[KEY];
    int count = 0;
    for (int i = 0; i < plan->model->ngeom; i++) {
        int kind = 0;
        find_key(plan->model, i, key);
        while (kind < count && memcmp(known[kind], key, sizeof key) != 0) {
            kind++;
        }
        if (kind == MOST_KINDS) {
            return 0;
        }
        if (kind == count) {
            memcpy(known[count], key, sizeof key);
            first[count++] = i;
        }
        plan->geom_kind[i] = (uint8_t)kind;
    }
    return count;
}

orr_result orr_plan_kinds(orr_plan *plan, orr_error *error)
{
    int first[MOST_KINDS];
    ORR_ALLOC(plan->geom_kind, plan->model->ngeom, "kinds of geoms", error);
    int count = number_kinds(plan, first);
    ORR_ALLOC(plan->kind_pair, count * count, "pairs of kinds of geoms", error);
    for (int a = 0; a < count; a++) {
        for (int b = 0; b < count; b++) {
            (void)orr_pair_fill(plan->model, first[a], first[b], -1, &plan->kind_pair[a * count + b]);
        }
    }
    plan->kind_count = count;
    return ORR_OK;
}
