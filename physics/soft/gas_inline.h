// Enclosed gas, the text that the host and CUDA share, in double. Private to this folder.
#pragma once

#include "engine/maths/vector.h"
#include "physics/soft/program.h"

// Six times the volume between a triangle and a point: positions relative to it, so that rounding far from
// the origin does not count.
ORR_INLINE double gas_wedge(const double corner[9], const double origin[3])
{
    double d[9], n[3];
    for (int k = 0; k < 9; k++) {
        d[k] = corner[k] - origin[k % 3];
    }
    vec3_cross(d + 3, d + 6, n);
    return vec3_dot(d, n);
}

// Of a volume, Pa above what is around it. Far below that at rest, an amount of gas resists no more.
ORR_INLINE double gas_volume(const orr_soft_gas *gas, double volume)
{
    return fmax(volume, 1e-3 * gas->volume);
}

ORR_INLINE double gas_pressure(const orr_soft_gas *gas, double volume)
{
    return gas->ambient > 0.0
               ? (gas->pressure + gas->ambient) * gas->volume / gas_volume(gas, volume) - gas->ambient
               : gas->pressure;
}

// p = gas / V(p) - ambient by a step of Newton's method from `before`, where V grows with p as the vertices
// have answered, by `growth` m^3/Pa.
ORR_INLINE double gas_next(const orr_soft_gas *gas, double before, double volume, double growth)
{
    const double v = gas_volume(gas, volume);
    const double slope = (gas->pressure + gas->ambient) * gas->volume / (v * v);
    return before - (before - gas_pressure(gas, v)) / (1.0 + slope * growth);
}
