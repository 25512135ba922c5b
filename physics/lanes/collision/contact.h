// A contact between two geoms, and the rows of the constraint Jacobian it becomes.
#pragma once

#include "physics/lanes/collision/flex_element.h"
#include "physics/lanes/collision/grid_stop.h"

// A column of a contact's Jacobian: velocity of the second body relative to the first at the contact, along
// normal and tangents, and angular velocity about them, when the dof has velocity 1.
// `sign`: 1 of dofs that move the second, -1 of the first; what share of the second where that is made of
// several bodies.
FN void contact_column(const lane_model *m, const lane_data *d, int dof, real sign, const real3 axes[3],
                       real3 pos, real column[6])
{
    real3 linear = point_velocity(m, d, dof, pos), angular = load_spatial(d->cdof, dof).r;
    for (int k = 0; k < 3; k++) {
        column[k] = sign * dot3(axes[k], linear);
        column[3 + k] = sign * dot3(axes[k], angular);
    }
}

// Adds the rows of a contact; set_contact_rows sets them.
LANE_FN int add_contact_rows(const lane_model *m, lane_data *d, int pair_index)
{
    const orr_pair *pair = lane_pair(m, d, pair_index);
    lane_pair_dofs chain = pair_dofs(m, d, pair_index);
    int elliptic = m->opt.cone == ORR_CONE_ELLIPTIC, dim = pair->condim;
    int rows = dim == 1 ? 1 : elliptic ? dim : 2 * (dim - 1);
    lane_row_type type = dim > 1 && elliptic ? LANE_ROW_CONE : LANE_ROW_UNILATERAL;
    return add_group(d, type, rows, dim, chain.dof, chain.count);
}

// Velocity of a geom's surface at pos, relative to the geom, in world axes (MJCF's surfacevel).
FN spatial surface_velocity(const lane_model *m, const lane_data *d, int geom, real3 pos)
{
    const uniform_real *of = m->geom_surfacevel + 6 * geom;
    matrix3 axes = load_matrix(d->geom_xmat, geom);
    spatial v = make_spatial(rotate(axes, uniform3(of, 1)), rotate(axes, uniform3(of, 0)));
    return make_spatial(v.r, velocity_at(v, sub3(pos, load3(d->geom_xpos, geom))));
}

// Adds to efc_jv how the surfaces slide and turn on each other: along the tangents and about the normal, as
// MuJoCo does. They neither approach nor roll. rubs: the lanes that have friction.
LANE_FN void add_surface_velocities(const lane_model *m, lane_data *d, const orr_pair *pair, int first,
                                    const real3 axes[3], real3 pos, mask rubs)
{
    const lane_row *row = &d->row[first];
    spatial of = surface_velocity(m, d, pair->geom1, pos), to = make_spatial(zero3(), zero3());
    if (pair->geom2 >= 0) {
        to = surface_velocity(m, d, pair->geom2, pos);
    }
    real3 slide = sub3(to.t, of.t);
    real along[4] = {R(0.0), dot3(axes[1], slide), dot3(axes[2], slide), dot3(axes[0], sub3(to.r, of.r))};
    reals jv = d->efc_jv + first;
    for (int k = 1; k < row->basis && k < 4; k++) {
        along[k] = sel(rubs, along[k], R(0.0));
        if (row->basis == row->dim) {
            jv[k] = jv[k] + along[k];
        } else { // two edges of the pyramid
            real part = row->friction[k - 1] * along[k];
            jv[2 * k - 2] = jv[2 * k - 2] + part;
            jv[2 * k - 1] = jv[2 * k - 1] - part;
        }
    }
}

// The inverse weight of each edge of a pyramid without friction, which together weigh as much as its normal;
// weight: that of an edge with friction (row_weights in plan/plan_pairs.c).
FN real share_of_normal(reals friction, real weight, int edges)
{
    real slip = friction[0], mu = friction[ORR_PAIR_MU];
    return R(edges) * weight / (R(2.0) * mu * mu * (R(1.0) + slip * slip));
}

// apart: the lanes in which an adhesive contact is in its gap. It has its normal alone, as in MuJoCo: its
// tangents do not move it, so that the forces of all edges of a pyramid are equal.
LANE_FN void set_contact_rows(const lane_model *m, lane_data *d, int contact)
{
    int pair_index = d->contact[contact].pair, first = d->contact[contact].row;
    const orr_pair *pair = lane_pair(m, d, pair_index);
    lane_pair_dofs chain = pair_dofs(m, d, pair_index);
    int elliptic = m->opt.cone == ORR_CONE_ELLIPTIC, dim = pair->condim, rows = d->row[first].dim;
    real3 pos = load3(d->contact_pos, contact), axes[3];
    for (int k = 0; k < 3; k++) {
        axes[k] = load3(d->contact_frame, 3 * contact + k);
    }
    real r = d->contact_dist[contact] - R(pair->includemargin);
    mask exists = r < R(0.0), apart = nowhere();
    if (pair->adhesion != 0.0) {
        exists = d->contact_dist[contact] <= R(pair->margin);
        apart = and_(exists, r >= R(0.0));
    }
    if (speculates(m)) { // at any distance
        mask speculative = d->contact_speculative[contact] > R(0.5);
        exists = or_(exists, speculative);
        apart = and_(apart, not_(speculative));
    }
    r = sel(exists, r, R(0.0));
    reals friction = d->contact_friction + ORR_PAIR_WEIGHT * contact;
    for (int k = 0; k < ORR_PAIR_WEIGHT; k++) {
        friction[k] = pair_number(m, d, pair_index, k);
    }
    d->row[first].friction = friction;
    reals J = d->efc_J + d->row[first].J;
    lane_touched touched = {-1, pos};
    real both = R(1.0); // inverse weight that the pair's does not have
    if (pair->element >= 0) {
        touched = touch_element(m, d, pair->element, pos);
        both = touched_invweight(m, d, &touched, pair->geom1);
    }
    for (int e = 0; e < chain.count; e++) {
        real column[6];
        real sign = chain.share  ? R(chain.share[e])
                    : chain.node ? share_of_entry(m, &touched, &chain, e)
                                 : R(chain.part[e] == ORR_CHAIN_SECOND ? 1.0 : -1.0);
        contact_column(m, d, chain.dof[e], sign, axes, pos, column);
        for (int k = 0; k < dim; k++) {
            J[k * chain.count + e] = column[k];
        }
    }
    if (any(apart)) {
        for (int k = chain.count; k < dim * chain.count; k++) {
            J[k] = sel(apart, R(0.0), J[k]);
        }
    }
    group_times(d, first, d->qvel, d->efc_jv);
    if (m->plan->surfaces_move) {
        add_surface_velocities(m, d, pair, first, axes, pos, not_(apart));
    }
    uniform_real solref[ORR_NREF], solimp[ORR_NIMP], solreffriction[ORR_NREF];
    for (int k = 0; k < ORR_NREF; k++) {
        solref[k] = (uniform_real)pair->solref[k];
        solreffriction[k] = (uniform_real)pair->solreffriction[k];
    }
    for (int k = 0; k < ORR_NIMP; k++) {
        solimp[k] = (uniform_real)pair->solimp[k];
    }
    lane_impedance at = impedance_of(m, solref, solimp, r);
    lane_impedance sliding = at;
    const double *own = pair->solreffriction; // of the wrong format, as in MuJoCo: none
    if (elliptic && (own[0] > 0.0) == (own[1] > 0.0) && (own[0] != 0.0 || own[1] != 0.0)) {
        sliding = impedance_of(m, solreffriction, solimp, r);
        sliding.impedance = at.impedance;
    }
    sliding.stiffness = 0;
    grid_stop stop = {nowhere(), R(0.0), R(0.0)};
    if (meets_grid(m, pair)) {
        stop = find_grid_stop(m, d, pair, first, d->contact_dist[contact], r, &at, exists);
        exists = or_(exists, stop.acts);
    }
    if (m->ngrid > 0) {
        d->contact_stops[contact] = max_(stop.aref, R(0.0));
    }
    lane_regulariser regulariser = {R(0.0), R(0.0)};
    for (int k = 0; k < rows; k++) {
        if (k == 0 || elliptic) { // all edges of a pyramid have that of the first
            real weight = pair_number(m, d, pair_index, ORR_PAIR_WEIGHT + k);
            weight = pair->element >= 0 ? weight * both : weight;
#if !defined(ORR_SCALAR_DOUBLE)
            weight = max_(weight, R(pair->least_weight[k]));
#endif
            if (rows > dim && any(apart)) {
                weight = sel(apart, share_of_normal(friction, weight, rows), weight);
            }
            regulariser = regularise(at, weight, exists);
        }
        set_row_of_group(d, first + k, elliptic && k > 0 ? sliding : at, r, regulariser);
    }
    if (any(stop.acts)) {
        set_grid_stop(d, first, &stop, &at);
    }
    if (rows > dim && any(apart)) { // as correct_group takes it from all pyramids
        real mu = friction[ORR_PAIR_MU], normal = d->efc_diagonal[first] * R(1.0 / rows);
        d->efc_diagonal[first] = sel(apart, R(2.0) * mu * mu * normal, d->efc_diagonal[first]);
    }
}

// Do the steps of the call lack room?
FN int lacks_room(const lane_model *m, const lane_data *d)
{
    return room_grows(m) && (d->wanted->contacts > 0 || d->wanted->near > 0);
}

// There must be room for all contacts that have been found and missed.
FN void want_contacts(const lane_data *d)
{
    d->wanted->contacts = d->contact_count + d->contacts_missed;
}

// How many contacts are kept when one is added. Of mixed pairs, which come in the order of space, those
// beyond the limit are left out when all have been found (mixed.h).
FN int contact_room(const lane_model *m, const lane_data *d)
{
    const orr_plan *plan = m->plan;
    int limited = plan->contact_limit < plan->contact_capacity && !d->rows_later;
    return limited ? plan->contact_limit : plan->contact_capacity;
}

// The part of a tangent's direction that is at right angles to the normal. Of a capsule on its end rounding
// alone is left: in double that is as in MuJoCo, with its paths; in float, where it is large enough to point
// along the normal, another axis is taken.
FN real3 beside_normal(real3 tangent, real3 normal)
{
#if defined(ORR_SCALAR_DOUBLE)
    return add_scaled3(tangent, normal, -dot3(normal, tangent));
#else
    const double least = 64.0 * LANE_EPSILON; // sine of the angle to the normal
    real3 across = reject3(tangent, normal);
    real3 other = reject3(select3(abs_(normal.x) < R(0.5), axis3(0), axis3(1)), normal);
    return select3(dot3(across, across) < R(least * least), other, across);
#endif
}

// Adds a contact in the lanes of `near`, with a force in those of `acts`. tangent: direction of the first
// tangent, 1 long; where it is 0 another is chosen. speculative: the lanes in which it has a force at any
// distance (speculative.h).
LANE_FN void place_contact(const lane_model *m, lane_data *d, int pair_index, real distance, real3 pos,
                           real3 normal, real3 tangent, mask near, mask acts, mask speculative)
{
    if (d->contact_count >= contact_room(m, d)) {
        d->contacts_missed++;
        return;
    }
    mask given = dot3(tangent, tangent) > R(0.25);
    mask upright = abs_(normal.y) >= R(0.5);
    tangent = select3(given, tangent, select3(upright, axis3(2), axis3(1)));
    tangent = normalise3(beside_normal(tangent, normal));
    real3 axes[3] = {normal, tangent, cross3(normal, tangent)};
    int contact = d->contact_count++;
    d->contact[contact].pair = pair_index;
    d->contact[contact].row = -1;
    d->contact_dist[contact] = sel(near, distance, R(LANE_HUGE));
    store3(d->contact_pos, contact, pos);
    for (int k = 0; k < 3; k++) {
        store3(d->contact_frame, 3 * contact + k, axes[k]);
    }
    if (speculates(m)) {
        d->contact_speculative[contact] = sel(speculative, R(1.0), R(0.0));
    }
    if (any(acts)) {
        d->contact[contact].row = d->rows_later ? 0 : add_contact_rows(m, d, pair_index);
    }
}

// Adds a contact, in the lanes of `found` whose distance is at most the margin.
FN void add_contact(const lane_model *m, lane_data *d, int pair_index, real distance, real3 pos, real3 normal,
                    real3 tangent, mask found)
{
    const orr_pair *pair = lane_pair(m, d, pair_index);
    mask near = and_(found, distance <= R(pair->margin)), acts = near;
    if (!any(near)) {
        return;
    }
    if (pair->adhesion == 0.0) {
        acts = and_(near, distance < R(pair->includemargin));
    }
    place_contact(m, d, pair_index, distance, pos, normal, tangent, near, acts, nowhere());
}
