// Controls that act later (delay, nsample and interp of MJCF's actuators), as in MuJoCo. The state `delayed`
// has, for each control of a delayed actuator, what it was in the last nsample steps, the newest first.
#pragma once

#include "physics/lanes/parameters.h"

// The samples of control `at` of actuator i.
FN reals control_samples(const lane_model *m, const lane_data *d, int i, int at)
{
    return d->delayed + m->actuator_delayadr[i] + m->actuator_history[2 * i] * (at - m->actuator_ctrladr[i]);
}

// The control `at` of actuator i as it was `actuator_delay` seconds ago: of samples that are 1 to nsample
// steps old the one that was given last before, or between two of them; the nearest one outside of these.
LANE_FN real delayed_control(const lane_model *m, const lane_data *d, int i, int at)
{
    reals sample = control_samples(m, d, i, at);
    int last = m->actuator_history[2 * i] - 1, interpolation = m->actuator_history[2 * i + 1];
    double place = ((double)m->actuator_delay[i] - d->stage_time) / m->opt.timestep - 1.0;
    if (!(place > 0.0)) {
        return sample[0];
    }
    if (place >= (double)last) {
        return sample[last];
    }
    int newer = (int)place, older = newer + 1;
    double part = place - (double)newer, rest = 1.0 - part; // of the way to the older one
    if (interpolation == ORR_DELAY_HOLD) {
        // a delay of whole steps is that many in float too, whose rounding is below this for 1000 steps
        return sample[part > 1e-4 ? older : newer];
    }
    real from = sample[newer], to = sample[older];
    if (interpolation == ORR_DELAY_LINEAR) {
        return from + R(part) * (to - from);
    }
    // Hermite's cubic; slopes are differences of the neighbours, and zero at the ends
    real leaves = newer > 0 ? R(0.5) * (to - sample[newer - 1]) : R(0.0),
         arrives = older < last ? R(0.5) * (sample[older + 1] - from) : R(0.0);
    return R(rest * rest * (1.0 + 2.0 * part)) * from + R(part * rest * rest) * leaves +
           R(part * part * (3.0 - 2.0 * part)) * to - R(part * part * rest) * arrives;
}

// At the end of a step.
LANE_FN void remember_controls(const lane_model *m, lane_data *d)
{
    if (m->ndelayed == 0) {
        return;
    }
    for (int i = team_first(d); i < m->nactuator; i += team_size(d)) {
        int first = m->actuator_ctrladr[i], count = m->actuator_delayadr[i] < 0 ? 0 : m->actuator_ctrlnum[i];
        for (int at = first; at < first + count; at++) {
            reals sample = control_samples(m, d, i, at);
            for (int k = m->actuator_history[2 * i] - 1; k > 0; k--) {
                sample[k] = sample[k - 1];
            }
            sample[0] = d->ctrl[at];
        }
    }
    team_wait(d);
}
