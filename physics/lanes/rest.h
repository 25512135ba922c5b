// Which trees sleep (lanes/sleep.h), and what of them is left out of a step.
#pragma once

#include "physics/lanes/team.h"

// lane_data.asleep
enum {
    LANE_NONE_ASLEEP, // in any lane; also while sleep is not regarded
    LANE_SOME_ASLEEP,
    LANE_ALL_ASLEEP // every tree in every lane
};

FN mask nowhere(void)
{
    return not_(everywhere());
}

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
// is: its other numbers in the scratch mean nothing.
FN int tree_left_out(const lane_model *m, const lane_data *d, int tree)
{
    return d->asleep != LANE_NONE_ASLEEP && m->plan->block_count > 0 && tree_rests(d, tree);
}

FN int body_left_out(const lane_model *m, const lane_data *d, int body)
{
    return d->asleep != LANE_NONE_ASLEEP && tree_left_out(m, d, m->body_treeid[body]);
}

FN int dof_left_out(const lane_model *m, const lane_data *d, int dof)
{
    return d->asleep != LANE_NONE_ASLEEP && tree_left_out(m, d, m->dof_treeid[dof]);
}

// Is it already where it is? In the first of several steps all are placed.
FN int body_placed(const lane_model *m, const lane_data *d, int body)
{
    return d->placed && body_left_out(m, d, body);
}
