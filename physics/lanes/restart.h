// The start of worlds: qpos0 at rest, or the start that varies between worlds.
#pragma once

#include "physics/lanes/team.h"

FN void restart_number(reals at, int i, mask lanes, real start)
{
    at[i] = sel(lanes, start, at[i]);
}

LANE_FN void clear_numbers(const lane_data *d, reals at, int count, mask lanes)
{
    for (int i = team_first(d); i < count; i += team_size(d)) {
        restart_number(at, i, lanes, R(0.0));
    }
}

// Returns worlds to their start (mj_resetData); what varies between worlds stays.
LANE_FN void restart(const lane_model *m, lane_data *d, mask lanes)
{
    clear_numbers(d, d->time, 1, lanes);
    clear_numbers(d, d->time_rest, 1, lanes);
    clear_numbers(d, d->act, m->na, lanes);
    clear_numbers(d, d->ctrl, m->nu, lanes);
    clear_numbers(d, d->delayed, m->ndelayed, lanes);
    clear_numbers(d, d->qfrc_applied, m->nv, lanes);
    clear_numbers(d, d->xfrc_applied, 6 * m->nbody, lanes);
    clear_numbers(d, d->qacc, m->nv, lanes);
    clear_numbers(d, d->qacc_warmstart, m->nv, lanes);
    int first = team_first(d), by = team_size(d);
    int qpos_at = m->plan->varied_at[ORR_VARY_START_QPOS], qvel_at = m->plan->varied_at[ORR_VARY_START_QVEL];
    for (int i = first; i < m->nq; i += by) {
        restart_number(d->qpos, i, lanes, qpos_at < 0 ? R(m->qpos0[i]) : d->varied[qpos_at + i]);
    }
    for (int i = first; i < m->nv; i += by) {
        restart_number(d->qvel, i, lanes, qvel_at < 0 ? R(0.0) : d->varied[qvel_at + i]);
    }
    for (int i = first; i < m->neq; i += by) {
        restart_number(d->eq_active, i, lanes, R((double)(m->eq_active0[i] != 0)));
    }
    for (int i = first; i < m->nplastic; i += by) {
        restart_number(d->plastic, i, lanes, R(m->plastic0[i]));
    }
    for (int i = first; i < sleep_trees(m); i += by) {
        restart_number(d->tree_asleep, i, lanes, R((double)m->plan->tree_start[i]));
    }
    for (int i = first; i < sleep_coordinates(m); i += by) {
        restart_number(d->asleep_qpos, i, lanes, qpos_at < 0 ? R(m->qpos0[i]) : d->varied[qpos_at + i]);
    }
    for (int body = first; body < m->nbody; body += by) {
        int id = m->body_mocapid[body];
        for (int k = 0; k < 3 && id >= 0; k++) {
            restart_number(d->mocap_pos, 3 * id + k, lanes, R(m->body_pos[3 * body + k]));
        }
        for (int k = 0; k < 4 && id >= 0; k++) {
            restart_number(d->mocap_quat, 4 * id + k, lanes, R(m->body_quat[4 * body + k]));
        }
    }
    team_wait(d);
}

// The lanes of which a number is infinite, not a number, or larger than 1e10.
LANE_FN mask diverged(reals numbers, int count)
{
    collected_mask lost = nowhere();
    for (int i = 0; i < count; i++) {
        lost |= not_(abs_(numbers[i]) < R(1e10));
    }
    return mask_of(lost);
}

// Autoreset: returns the lanes of `lost` to their start, and counts them. Returns whether there are any.
LANE_FN int restart_lost(const lane_model *m, lane_data *d, mask lost)
{
    team_wait(d); // until all members have read what it overwrites
    if (!any(lost)) {
        return 0;
    }
    restart(m, d, lost);
    d->placed = 0;
    d->restarts = d->restarts + sel(lost, R(1.0), R(0.0));
    return 1;
}
