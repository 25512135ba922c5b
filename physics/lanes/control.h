// Controls of actuators with their delays and limits, and activations.
#pragma once

#include "physics/lanes/delay.h"

FN int actuator_disabled(const lane_model *m, int i)
{
    int group = m->actuator_group[i];
    return group >= 0 && group <= 30 && (m->opt.disableactuator & (1 << group)) != 0;
}

// The activation `k` of an actuator after one time step.
LANE_FN real next_activation(const lane_model *m, const lane_data *d, int i, int k)
{
    int adr = m->actuator_actadr[i] + k;
    real rate = d->act_dot[adr];
    uniform_real step = (uniform_real)m->opt.timestep;
    if (m->actuator_dyntype[i] == ORR_DYNAMICS_FILTEREXACT ||
        m->actuator_dyntype[i] == ORR_DYNAMICS_DCMOTOR) {
        double tau = (double)m->actuator_dynprm[ORR_NDYN * i];
        tau = tau > 1e-15 ? tau : 1e-15;
        step = (uniform_real)(tau * (1.0 - exp(-m->opt.timestep / tau)));
    }
    real next = d->act[adr] + step * rate;
    if (m->actuator_actlimited[i] && m->actuator_dyntype[i] != ORR_DYNAMICS_DCMOTOR) { // no current is
        next = clamp_(next, R(m->actuator_actrange[2 * i]), R(m->actuator_actrange[2 * i + 1]));
    }
    return next;
}

// The control `at` of actuator i, with its delay and its limits.
FN real control_input(const lane_model *m, const lane_data *d, int i, int at)
{
    real control = m->actuator_delayadr[i] >= 0 ? delayed_control(m, d, i, at) : d->ctrl[at];
    if (m->actuator_ctrllimited[at] && !(m->opt.disableflags & ORR_DISABLE_CLAMPCTRL)) {
        control = clamp_(control, R(m->actuator_ctrlrange[2 * at]), R(m->actuator_ctrlrange[2 * at + 1]));
    }
    return control;
}
