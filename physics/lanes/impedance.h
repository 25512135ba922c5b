// MuJoCo's impedance of a constraint (its documentation, "Computation", section "Constraint model").
#pragma once

#include "physics/lanes/impedance_formula.h"
#include "physics/lanes/lane.h"
#include "physics/model/model.h"

// Impedance, stiffness and damping of a constraint at the position r = pos - margin.
typedef struct lane_impedance {
    real impedance;
    uniform_real stiffness, damping;
} lane_impedance;

// time_step: s, of which the time constant is at least two; 0: any is.
LANE_FN lane_impedance impedance_at(double time_step, const uniform_real solref[ORR_NREF],
                                    const uniform_real solimp[ORR_NIMP], real r)
{
    const double least = 1e-4, most = 0.9999;
    double low = lesser(greater((double)solimp[0], least), most),
           high = lesser(greater((double)solimp[1], least), most);
    double width = greater((double)solimp[2], 0.0), middle = lesser(greater((double)solimp[3], least), most);
    double power = greater((double)solimp[4], 1.0);
    lane_impedance result;
    if (low == high || width <= 1e-15) {
        result.impedance = R(0.5 * (low + high));
    } else {
        real x = min_(abs_(r) * R(1.0 / width), R(1.0));
        real y = x;
        if (power == 2.0) {
            y = impedance_curve(x, (uniform_real)middle, (uniform_real)(1.0 / middle),
                                (uniform_real)(1.0 / (1.0 - middle)));
        } else if (power != 1.0) {
            real from_end = R(1.0) - x;
            real below = power_(x, (uniform_real)power) * R(1.0 / pow(middle, power - 1.0));
            real above = power_(from_end, (uniform_real)power) * R(1.0 / pow(1.0 - middle, power - 1.0));
            y = sel(x <= R(middle), below, R(1.0) - above);
        }
        result.impedance = R(low) + y * R(high - low);
    }
    double time = (double)solref[0], ratio = (double)solref[1], stiffness, damping;
    if ((time > 0.0) != (ratio > 0.0)) { // neither of the two formats, which a class and an element can mix
        time = 0.02, ratio = 1.0;
    }
    if (time > 0.0) {
        time = greater(time, 2.0 * time_step);
        stiffness = 1.0 / greater(1e-15, high * high * time * time * ratio * ratio);
        damping = 2.0 / greater(1e-15, high * time);
    } else {
        stiffness = -time / greater(1e-15, high * high);
        damping = -ratio / greater(1e-15, high);
    }
    result.stiffness = (uniform_real)stiffness;
    result.damping = (uniform_real)damping;
    return result;
}
