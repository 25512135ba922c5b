// Muscles: force by length and velocity, and activation that rises faster than it falls (MuJoCo's documentation,
// "Muscles"; time scales as in Millard et al., "Flexing Computational Muscle", 2013).
//
// gainprm and biasprm: range of length in units of the best length L0 (2), peak force (below 0: scale / acc0), scale,
// lmin, lmax, vmax (L0/s), fpmax, fvmax.
#pragma once

#include "physics/lane_model.h"

// A muscle's state in its own units: length in L0, velocity in L0 vmax per second.
typedef struct lane_muscle {
    real length, velocity;
    double force, speed; // peak force; L0 vmax
} lane_muscle;

FN lane_muscle load_muscle(const lane_model *m, const lane_data *d, int i, const uniform_real *prm)
{
    const uniform_real *range = m->actuator_lengthrange + 2 * i;
    lane_muscle muscle;
    double best = ((double)range[1] - (double)range[0]) / fmax(1e-15, (double)prm[1] - (double)prm[0]);
    muscle.force =
        (double)prm[2] < 0.0 ? (double)prm[3] / fmax(1e-15, (double)m->actuator_acc0[i]) : (double)prm[2];
    muscle.speed = best * (double)prm[6];
    muscle.length = R(prm[0]) + (d->actuator_length[i] - R(range[0])) * R(1.0 / fmax(1e-15, best));
    muscle.velocity = d->actuator_velocity[i] * R(1.0 / fmax(1e-15, muscle.speed));
    return muscle;
}

// Four parabolas: 0 at lmin, 1 at 1, 0 at lmax.
FN real muscle_length_curve(real length, double lmin, double lmax)
{
    double a = 0.5 * (lmin + 1.0), b = 0.5 * (1.0 + lmax);
    real rise = (length - R(lmin)) * R(1.0 / fmax(1e-15, a - lmin));
    real before = (R(1.0) - length) * R(1.0 / fmax(1e-15, 1.0 - a));
    real after = (length - R(1.0)) * R(1.0 / fmax(1e-15, b - 1.0));
    real fall = (R(lmax) - length) * R(1.0 / fmax(1e-15, lmax - b));
    real half = R(0.5), one = R(1.0);
    real curve = sel(length <= R(1.0), one - half * before * before, one - half * after * after);
    curve = sel(length <= R(a), half * rise * rise, curve);
    curve = sel(length > R(b), half * fall * fall, curve);
    return sel(and_(length >= R(lmin), length <= R(lmax)), curve, R(0.0));
}

// Force per activation; with `slope`, its rate with the velocity instead.
FN real muscle_gain(const lane_model *m, const lane_data *d, int i, int slope)
{
    const uniform_real *prm = m->actuator_gainprm + ORR_NGAIN * i;
    lane_muscle muscle = load_muscle(m, d, i, prm);
    real force = R(-muscle.force) * muscle_length_curve(muscle.length, (double)prm[4], (double)prm[5]);
    double over = (double)prm[8] - 1.0, inverse = 1.0 / fmax(1e-15, over);
    real v = muscle.velocity, shortening = v + R(1.0), lengthening = R(over) - v;
    real curve;
    if (slope) {
        curve = sel(v <= R(0.0), R(2.0) * shortening, R(2.0 * inverse) * lengthening);
        curve = sel(or_(v <= R(-1.0), v > R(fmax(over, 0.0))), R(0.0), curve);
        return force * curve * R(1.0 / fmax(1e-15, muscle.speed));
    }
    curve = sel(v <= R(over), R(1.0 + over) - lengthening * lengthening * R(inverse), R(1.0 + over));
    curve = sel(v <= R(0.0), shortening * shortening, curve);
    return force * sel(v <= R(-1.0), R(0.0), curve);
}

// What a stretched muscle pulls by itself.
FN real muscle_bias(const lane_model *m, const lane_data *d, int i)
{
    const uniform_real *prm = m->actuator_biasprm + ORR_NBIAS * i;
    lane_muscle muscle = load_muscle(m, d, i, prm);
    double b = 0.5 * (1.0 + (double)prm[5]), inverse = 1.0 / fmax(1e-15, b - 1.0);
    real stretch = (muscle.length - R(1.0)) * R(inverse), beyond = (muscle.length - R(b)) * R(inverse);
    real curve = sel(muscle.length <= R(b), R(0.5) * stretch * stretch, R(0.5) + beyond);
    return R(-muscle.force * (double)prm[7]) * sel(muscle.length <= R(1.0), R(0.0), curve);
}

// The rate of the activation.
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
