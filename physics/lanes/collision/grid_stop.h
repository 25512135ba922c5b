// How deep shapes may sink into distance grids. What is captured is a shell of little more than two cells:
// points that passed its middle would be pushed out on the other side. Where a soft contact would let a shape
// in too deep within a step, its rows are stiffer than their `solref` says, so that the shape ends the step
// there.
#pragma once

#include "physics/lanes/constraint_rows.h"

// Is it a pair with a captured surface (and not with a function)?
FN int meets_grid(const lane_model *m, const orr_pair *pair)
{
    return pair->geom2 >= 0 && m->geom_type[pair->geom2] == ORR_GEOM_SDF && !m->geom_function[pair->geom2];
}

// A contact that has to stop in some lanes.
typedef struct grid_stop {
    mask acts;
    real speed; // m/s along the normal, before
    real aref;  // m/s^2 along the normal
} grid_stop;

// A shape may be half a cell deep, a ball or capsule three quarters of its radius, as it is measured from its
// middle.
FN real depth_allowed(const lane_model *m, const lane_data *d, const orr_pair *pair)
{
    real half = R(0.5) * R(m->grid_cell[m->geom_dataid[pair->geom2]]);
    int type = m->geom_type[pair->geom1];
    int round = type == ORR_GEOM_SPHERE || type == ORR_GEOM_CAPSULE;
    return round ? max_(half, R(0.75) * geom_size(m, d, 3 * pair->geom1)) : half;
}

// The share of its speed with which a spring and a damper return what hits them: half a swing of the damped
// oscillator that `solref` describes. 0 where it is damped critically, as by default, or more.
LANE_FN double rebound(const lane_impedance *at)
{
    const double k = (double)at->stiffness, b = (double)at->damping;
    const double rest = 4.0 * k - b * b;
    return rest > 0.0 ? exp(-3.14159265358979323846 * b / sqrt(rest)) : 0.0;
}

// The lanes in which a contact, at `first` in the rows and with velocities in efc_jv, would end the step
// too deep. exists: the lanes that have it, at r below the margin; elsewhere it may be found ahead
// (grid_sweep.h).
LANE_FN grid_stop find_grid_stop(const lane_model *m, const lane_data *d, const orr_pair *pair, int first,
                                 real distance, real r, const lane_impedance *at, mask exists)
{
    grid_stop stop;
    const lane_row *row = &d->row[first];
    reals jv = d->efc_jv + first;
    real per_step = R(1.0 / m->opt.timestep);
    stop.speed = row->dim > row->basis ? R(0.5) * (jv[0] + jv[1]) : jv[0];
    real left = max_(min_(distance, R(1e6)) + depth_allowed(m, d, pair), R(0.0));
    stop.aref = -per_step * fma_(per_step, left, stop.speed);
    real soft = -at->impedance * (at->damping * stop.speed + at->stiffness * at->impedance * r);
    stop.acts = and_(stop.aref > R(0.0), or_(not_(exists), stop.aref > soft));
    const double returned = rebound(at);
    if (returned > 0.0) { // within the step: a spring that it may not sink into cannot throw it back
        real thrown = R(-1.0 - returned) * per_step * stop.speed;
        stop.aref = sel(stop.acts, max_(stop.aref, thrown), stop.aref);
    }
    return stop;
}

// Makes the rows of a contact hard in lanes where it has to stop. Edges of a pyramid keep their damping along
// the tangents.
LANE_FN void set_grid_stop(lane_data *d, int first, const grid_stop *stop, const lane_impedance *at)
{
    const double hard = 0.999; // impedance
    const lane_row *row = &d->row[first];
    int pyramid = row->dim > row->basis;
    real stiffer = max_(R(hard / (1.0 - hard)) * (R(1.0) - at->impedance) / at->impedance, R(1.0));
    for (int k = first; k < first + row->dim; k++) {
        d->efc_D[k] = sel(stop->acts, d->efc_D[k] * stiffer, d->efc_D[k]);
        real aref = stop->aref;
        if (pyramid) {
            aref = fma_(-R(at->damping), d->efc_jv[k] - stop->speed, aref);
        }
        if (pyramid || k == first) {
            d->efc_aref[k] = sel(stop->acts, aref, d->efc_aref[k]);
        }
    }
}
