// Which trees sleep (lanes/sleep.h), and what of them is left out of a step.
#pragma once

#include "physics/lanes/team.h"

// lane_data.asleep
enum {
    LANE_NONE_ASLEEP, // in any lane; also while sleep is not regarded
    LANE_SOME_ASLEEP,
    LANE_ALL_ASLEEP // every tree in every lane
};

// The lanes in which a tree sleeps.
FN mask tree_sleeps(const lane_data *d, int tree)
{
    return not_(d->tree_asleep[tree] < R(0.0));
}

// Does a tree sleep in all lanes? -1, what cannot move: 0.
FN int tree_rests(const lane_data *d, int tree)
{
    return d->asleep != LANE_NONE_ASLEEP && tree >= 0 && !any(d->tree_asleep[tree] < R(0.0));
}

// Where islands are solved by themselves nothing is computed of a tree that sleeps in all lanes but where it
// is: its other numbers in the scratch mean nothing. A step goes through lists of what is computed, which are
// made anew where a tree falls asleep or wakes, so that what is left out costs nothing:
//     for (int n = team_first(d); n < body_count(m, d); n += team_size(d)) { int i = nth_body(d, n); ... }
// are the bodies that are computed, ascending; without lists, all of them.
FN int has_lists(const lane_data *d)
{
    return LANE_THREADS == 1 && d->asleep != LANE_NONE_ASLEEP; // on CUDA nothing is left out
}

#define LANE_LIST_FUNCTIONS(name, count)                                                                     \
    FN int name##_count(const lane_model *m, const lane_data *d)                                             \
    {                                                                                                        \
        return has_lists(d) ? d->kept->name##_count : (count);                                               \
    }                                                                                                        \
    FN int nth_##name(const lane_data *d, int n)                                                             \
    {                                                                                                        \
        return has_lists(d) ? d->name##_list[n] : n;                                                         \
    }
LANE_LISTS(LANE_LIST_FUNCTIONS)
#undef LANE_LIST_FUNCTIONS

FN int tree_left_out(const lane_model *m, const lane_data *d, int tree)
{
    return has_lists(d) && m->plan->block_count > 0 && tree >= 0 && !d->tree_moves[tree];
}

// Makes the lists.
LANE_FN void list_what_moves(const lane_model *m, lane_data *d)
{
    lane_kept *kept = d->kept;
#define LANE_LIST(name, count, tree)                                                                         \
    kept->name##_count = 0;                                                                                  \
    for (int i = 0; i < (count); i++) {                                                                      \
        if (!tree_left_out(m, d, tree)) {                                                                    \
            d->name##_list[kept->name##_count++] = i;                                                        \
        }                                                                                                    \
    }
    LANE_LIST(body, m->nbody, m->body_treeid[i])
    LANE_LIST(dof, m->nv, m->dof_treeid[i])
    LANE_LIST(joint, m->njnt, m->body_treeid[m->jnt_bodyid[i]])
    LANE_LIST(geom, m->ngeom, m->body_treeid[m->geom_bodyid[i]])
    LANE_LIST(site, m->nsite, m->body_treeid[m->site_bodyid[i]])
    LANE_LIST(tree, m->ntree, i)
    LANE_LIST(block, m->plan->block_count, m->dof_treeid[m->plan->block_first[i]])
#undef LANE_LIST
    for (int i = 0; i < m->ntree && !kept->listed; i++) {
        d->tree_touches[i] = -1; // unknown
    }
    kept->listed = 1;
}

// Forgets what is known of sleepers, and that of others' blocks.
FN void forget_sleepers(const lane_data *d)
{
    memset(d->kept, 0, sizeof *d->kept);
}

// Bodies are processed level by level of the tree: those of a level need only those of levels before. For a
// team of one all bodies are one level.
FN int level_count(const lane_model *m, const lane_data *d)
{
    return team_size(d) == 1 ? 1 : m->plan->level_count;
}

FN int level_end(const lane_model *m, const lane_data *d, int level)
{
    return team_size(d) == 1 ? body_count(m, d) - 1 : m->plan->level_first[level + 1];
}

FN int level_body(const lane_model *m, const lane_data *d, int n)
{
    return has_lists(d) ? nth_body(d, n + 1) : m->plan->level_body[n]; // the world's body is none of them
}
