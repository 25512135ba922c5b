// Muscles: force by length and velocity; the activation rises faster than it falls (MuJoCo's documentation,
// "Muscles"; time scales as in Millard et al., "Flexing Computational Muscle", 2013).
//
// gainprm and biasprm: range of length in units of the best length L0 (2), peak force (below 0: scale /
// acc0), scale, lmin, lmax, vmax (L0/s), fpmax, fvmax.
#pragma once

#include "physics/lanes/parameters.h"

// A muscle's parameters, and its state in its own units: length in L0, velocity in L0 vmax per second.
typedef struct lane_muscle {
    real lmin, lmax, fpmax, fvmax, force; // peak force
    real length, velocity, speed;         // speed: L0 vmax
} lane_muscle;

FN real muscle_quotient(real a, real b)
{
    return a / max_(b, R(LANE_TINY));
}

FN lane_muscle load_muscle(const lane_model *m, const lane_data *d, int i, const real prm[9])
{
    const uniform_real *range = m->actuator_lengthrange + 2 * m->actuator_outadr[i];
    lane_muscle muscle;
    real best = muscle_quotient(R(range[1]) - R(range[0]), prm[1] - prm[0]);
    muscle.force =
        sel(prm[2] < R(0.0), muscle_quotient(prm[3], actuator_acc0(m, d, m->actuator_outadr[i])), prm[2]);
    muscle.lmin = prm[4];
    muscle.lmax = prm[5];
    muscle.fpmax = prm[7];
    muscle.fvmax = prm[8];
    muscle.speed = best * prm[6];
    muscle.length = prm[0] + muscle_quotient(output_length(m, d, i) - R(range[0]), best);
    muscle.velocity = muscle_quotient(output_speed(m, d, i), muscle.speed);
    return muscle;
}

// Four parabolas: 0 at lmin, 1 at 1, 0 at lmax.
FN real muscle_length_curve(real length, real lmin, real lmax)
{
    real one = R(1.0), half = R(0.5), a = half * (lmin + one), b = half * (one + lmax);
    real rise = muscle_quotient(length - lmin, a - lmin), before = muscle_quotient(one - length, one - a);
    real after = muscle_quotient(length - one, b - one), fall = muscle_quotient(lmax - length, lmax - b);
    real curve = sel(length <= one, one - half * before * before, one - half * after * after);
    curve = sel(length <= a, half * rise * rise, curve);
    curve = sel(length > b, half * fall * fall, curve);
    return sel(and_(length >= lmin, length <= lmax), curve, R(0.0));
}

// Force per activation; with `slope`, its derivative by the velocity.
FN real muscle_gain(const lane_model *m, const lane_data *d, int i, int slope)
{
    real prm[9];
    for (int k = 0; k < 9; k++) {
        prm[k] = actuator_gainprm(m, d, ORR_NGAIN * i + k);
    }
    lane_muscle muscle = load_muscle(m, d, i, prm);
    real force = -(muscle.force * muscle_length_curve(muscle.length, muscle.lmin, muscle.lmax));
    real v = muscle.velocity, over = muscle.fvmax - R(1.0), none = R(0.0);
    real shortening = v + R(1.0), lengthening = over - v;
    if (slope) {
        real curve = sel(v <= none, R(2.0) * shortening, R(2.0) * muscle_quotient(lengthening, over));
        curve = sel(or_(v <= R(-1.0), v > max_(over, none)), none, curve);
        return muscle_quotient(force * curve, muscle.speed);
    }
    real curve =
        sel(v <= over, muscle.fvmax - muscle_quotient(lengthening * lengthening, over), muscle.fvmax);
    curve = sel(v <= none, shortening * shortening, curve);
    return force * sel(v <= R(-1.0), none, curve);
}

// The passive force of a stretched muscle.
FN real muscle_bias(const lane_model *m, const lane_data *d, int i)
{
    real prm[9];
    for (int k = 0; k < 9; k++) {
        prm[k] = actuator_biasprm(m, d, ORR_NBIAS * i + k);
    }
    lane_muscle muscle = load_muscle(m, d, i, prm);
    real one = R(1.0), half = R(0.5), b = half * (one + muscle.lmax);
    real stretch = muscle_quotient(muscle.length - one, b - one);
    real beyond = muscle_quotient(muscle.length - b, b - one);
    real curve = sel(muscle.length <= b, half * stretch * stretch, half + beyond);
    return -(muscle.force * muscle.fpmax) * sel(muscle.length <= one, R(0.0), curve);
}

// d activation / dt
FN real muscle_rate(const lane_model *m, int i, real control, real activation)
{
    const uniform_real *prm = m->actuator_dynprm + ORR_NDYN * i;
    real stretch = R(0.5) + R(1.5) * clamp_(activation, R(0.0), R(1.0));
    real rise = prm[0] * stretch, fall = prm[1] / stretch;
    real missing = clamp_(control, R(0.0), R(1.0)) - activation, time;
    if ((double)prm[2] < 1e-15) {
        time = sel(missing > R(0.0), rise, fall);
    } else {
        real x = clamp_(missing * R(1.0 / (double)prm[2]) + R(0.5), R(0.0), R(1.0));
        real share = x * x * x * (R(3.0) * x * (R(2.0) * x - R(5.0)) + R(10.0));
        time = fall + (rise - fall) * share;
    }
    return missing / max_(time, R(LANE_TINY));
}
