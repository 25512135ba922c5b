// Controls that act later and sensors that measure late or at times (delay, nsample, interp and interval of
// MJCF's actuators and sensors), as in MuJoCo. The state `delayed` has, for each control of a delayed
// actuator and each number of a delayed sensor, its last nsample samples, the newest first. Controls are
// sampled in each step; a sensor with an interval when that has passed, and the number before its samples
// says when that was: how many steps ago the last sample was due, less that number at the start.
#pragma once

#include "physics/lanes/parameters.h"

// Steps. Times of whole steps are that in float too, whose rounding is below this for 1000 steps.
#define LANE_TIME_ROUNDING 1e-4

// In steps: how old the sample k is when the newest was due `since` steps ago, one each `period`. Samples are
// taken in the first step in which they are due.
FN real sample_age(real since, double period, int k)
{
    return floor_(since + R((double)k * period + LANE_TIME_ROUNDING));
}

// What was sampled `age` steps ago: the last one before, or between two of them; the nearest one outside.
FN real sample_before(reals sample, int count, int interpolation, double age, real since, double period)
{
    real result = sample[0], newer = sample_age(since, period, 0), newest = newer;
    for (int k = 0; k + 1 < count; k++) {
        mask before = R(age) > newer + R(LANE_TIME_ROUNDING);
        if (!any(before)) {
            break;
        }
        real older = sample_age(since, period, k + 1), from = sample[k], to = sample[k + 1], value = to;
        real span = older - newer, part = (R(age) - newer) / span, rest = R(1.0) - part;
        if (interpolation == ORR_DELAY_LINEAR) {
            value = from + part * (to - from);
        } else if (interpolation == ORR_DELAY_CUBIC) {
            // Hermite's; slopes are differences of the neighbours, and zero at the ends
            real leaves = R(0.0), arrives = R(0.0);
            if (k > 0) {
                leaves = (to - sample[k - 1]) * span / (older - newest);
            }
            if (k + 2 < count) {
                arrives = (sample[k + 2] - from) * span / (sample_age(since, period, k + 2) - newer);
            }
            value = rest * rest * (R(1.0) + R(2.0) * part) * from + part * rest * rest * leaves +
                    part * part * (R(3.0) - R(2.0) * part) * to - part * part * rest * arrives;
        }
        value = sel(R(age) > older - R(LANE_TIME_ROUNDING), to, value);
        result = sel(before, value, result);
        newest = newer;
        newer = older;
    }
    return result;
}

FN void add_sample(reals sample, int count, real value, mask lanes)
{
    for (int k = count - 1; k > 0; k--) {
        sample[k] = sel(lanes, sample[k - 1], sample[k]);
    }
    sample[0] = sel(lanes, value, sample[0]);
}

// ---- controls

// The samples of control `at` of actuator i.
FN reals control_samples(const lane_model *m, const lane_data *d, int i, int at)
{
    return d->delayed + m->actuator_delayadr[i] + m->actuator_history[2 * i] * (at - m->actuator_ctrladr[i]);
}

// The control `at` of actuator i as it was `actuator_delay` seconds ago.
LANE_FN real delayed_control(const lane_model *m, const lane_data *d, int i, int at)
{
    double age = ((double)m->actuator_delay[i] - d->stage_time) / m->opt.timestep;
    return sample_before(control_samples(m, d, i, at), m->actuator_history[2 * i],
                         m->actuator_history[2 * i + 1], age, R(1.0), 1.0);
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
            add_sample(control_samples(m, d, i, at), m->actuator_history[2 * i], d->ctrl[at], everywhere());
        }
    }
    team_wait(d);
}

// ---- sensors

// Does a step have to compute sensors?
LANE_FN int samples_sensors(const lane_model *m)
{
    int found = 0;
    for (int i = 0; i < m->nsensor && m->ndelayed > 0 && !found; i++) {
        found = m->sensor_delayadr[i] >= 0;
    }
    return found && !(m->opt.disableflags & ORR_DISABLE_SENSOR);
}

// From what a sensor measures now to what it gives; in a step it takes its sample, after that.
LANE_FN void delay_sensor(const lane_model *m, lane_data *d, int i, int in_step)
{
    reals sample = d->delayed + m->sensor_delayadr[i], out = d->sensordata + m->sensor_adr[i];
    int count = m->sensor_history[2 * i], interpolation = m->sensor_history[2 * i + 1];
    double h = m->opt.timestep, age = (double)m->sensor_delay[i] / h;
    double interval = (double)m->sensor_interval[2 * i] / h,
           phase = (double)m->sensor_interval[2 * i + 1] / h;
    double period = interval > 1.0 ? interval : 1.0;
    real since = R(1.0);
    mask due = everywhere();
    if (interval > 0.0) {
        since = sample[0] + R(phase < 0.0 ? -phase : period);
        due = since > R(period - LANE_TIME_ROUNDING);
        if (in_step) {
            sample[0] = sample[0] + R(1.0) - sel(due, R(period), R(0.0));
        }
        sample = sample + 1;
    }
    for (int k = 0; k < m->sensor_dim[i]; k++) {
        real measured = out[k];
        out[k] = age > 0.0 ? sample_before(sample, count, interpolation, age, since, period)
                           : sel(due, measured, sample[0]);
        if (in_step) {
            add_sample(sample, count, measured, due);
        }
        sample = sample + count;
    }
}

// Of the sensors that have all been computed.
LANE_FN void delay_sensors(const lane_model *m, lane_data *d, int in_step)
{
    if (!samples_sensors(m)) {
        return;
    }
    team_wait(d);
    for (int i = team_first(d); i < m->nsensor; i += team_size(d)) {
        if (m->sensor_delayadr[i] >= 0) {
            delay_sensor(m, d, i, in_step);
        }
    }
    team_wait(d);
}
