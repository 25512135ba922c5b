// Contact sensors: a fixed number of the contacts that match, or the sum of all.
#pragma once

#include "physics/lanes/collision/contact_order.h"
#include "physics/lanes/sensors/contact_force.h"
#include "physics/lanes/sensors/object_frames.h"

// Is a point inside the shape of a site?
LANE_FN mask inside_site(const lane_model *m, const lane_data *d, int site, const real3 *at)
{
    real3 p = rotate_inverse(load_matrix(d->site_xmat, site), sub3(*at, load3(d->site_xpos, site)));
    real3 size = uniform3(m->site_size, site);
    real round = p.x * p.x + p.y * p.y;
    switch (m->site_type[site]) {
    case ORR_GEOM_SPHERE:
        return dot3(p, p) <= size.x * size.x;
    case ORR_GEOM_CAPSULE: {
        real beyond = max_(abs_(p.z) - size.y, R(0.0));
        return round + beyond * beyond <= size.x * size.x;
    }
    case ORR_GEOM_ELLIPSOID:
        p = make_real3(p.x / size.x, p.y / size.y, p.z / size.z);
        return dot3(p, p) <= R(1.0);
    case ORR_GEOM_CYLINDER:
        return and_(round <= size.x * size.x, abs_(p.z) <= size.y);
    default: // box
        return and_(and_(abs_(p.x) <= size.x, abs_(p.y) <= size.y), abs_(p.z) <= size.z);
    }
}

// 1 where the origin of an object is inside the site, else 0.
LANE_FN real sense_inside(const lane_model *m, const lane_data *d, int i)
{
    lane_object o = find_object(m, d, m->sensor_objtype[i], m->sensor_objid[i]);
    return sel(inside_site(m, d, m->sensor_refid[i], &o.pos), R(1.0), R(0.0));
}

LANE_FN int is_below(const lane_model *m, int body, int top)
{
    while (body > top) {
        body = m->body_parentid[body];
    }
    return body == top;
}

// geom: -1: a soft body, which matches nothing but any
LANE_FN int geom_matches(const lane_model *m, int geom, int kind, int id)
{
    if (geom < 0) {
        return kind != ORR_OBJECT_GEOM && kind != ORR_OBJECT_BODY && kind != ORR_OBJECT_XBODY;
    }
    switch (kind) {
    case ORR_OBJECT_GEOM:
        return geom == id;
    case ORR_OBJECT_BODY:
        return m->geom_bodyid[geom] == id;
    case ORR_OBJECT_XBODY:
        return is_below(m, m->geom_bodyid[geom], id);
    default: // any, also of a site
        return 1;
    }
}

// 1: the contact is between the sensor's objects, -1: it points from the second to the first, 0: it is not
LANE_FN int contact_matches(const lane_model *m, const lane_data *d, int sensor, int contact)
{
    const orr_pair *pair = lane_pair(m, d, d->contact[contact].pair);
    int kind1 = m->sensor_objtype[sensor], id1 = m->sensor_objid[sensor];
    int kind2 = m->sensor_reftype[sensor], id2 = m->sensor_refid[sensor];
    if (geom_matches(m, pair->geom1, kind1, id1) && geom_matches(m, pair->geom2, kind2, id2)) {
        return 1;
    }
    return geom_matches(m, pair->geom2, kind1, id1) && geom_matches(m, pair->geom1, kind2, id2) ? -1 : 0;
}

// A contact as the sensor sees it: the frame points from the first object to the second.
typedef struct seen_contact {
    real force[6], dist;
    real3 pos, normal, tangent;
    mask matches; // where it exists, and is inside the site if there is one
} seen_contact;

LANE_FN void see_contact(const lane_model *m, const lane_data *d, int sensor, int i, int direction,
                         seen_contact *seen)
{
    real sign = R(direction);
    contact_force(m, d, i, seen->force);
    seen->force[2] = sign * seen->force[2];
    seen->force[5] = sign * seen->force[5];
    seen->dist = d->contact_dist[i];
    seen->pos = load3(d->contact_pos, i);
    seen->normal = scale3(load3(d->contact_frame, 3 * i), sign);
    seen->tangent = scale3(load3(d->contact_frame, 3 * i + 1), sign);
    seen->matches = seen->dist < R(0.5 * LANE_HUGE);
    if (m->sensor_objtype[sensor] == ORR_OBJECT_SITE) {
        seen->matches = and_(seen->matches, inside_site(m, d, m->sensor_objid[sensor], &seen->pos));
    }
}

FN real force_square(const seen_contact *seen)
{
    const real *f = seen->force;
    return f[0] * f[0] + f[1] * f[1] + f[2] * f[2];
}

// Writes the sensor's data (orr_contact_data) of a contact, in the lanes of `where`. Returns how many numbers
// they are.
LANE_FN int put_contact(int data, const seen_contact *seen, real count, mask where, reals out)
{
    real numbers[17];
    int used = 0;
    if (data & ORR_CONTACT_FOUND) {
        numbers[used++] = count;
    }
    for (int half = 0; half < 2; half++) {
        for (int k = 0; k < 3 && data & (half ? ORR_CONTACT_TORQUE : ORR_CONTACT_FORCE); k++) {
            numbers[used++] = seen->force[3 * half + k];
        }
    }
    if (data & ORR_CONTACT_DIST) {
        numbers[used++] = seen->dist;
    }
    real3 vectors[3] = {seen->pos, seen->normal, seen->tangent};
    for (int v = 0; v < 3; v++) {
        if (data & ORR_CONTACT_POS << v) {
            numbers[used++] = vectors[v].x;
            numbers[used++] = vectors[v].y;
            numbers[used++] = vectors[v].z;
        }
    }
    for (int k = 0; k < used; k++) {
        out[k] = sel(where, numbers[k], out[k]);
    }
    return used;
}

// Sort key, the least first.
FN real contact_rank(int reduce, const seen_contact *seen, int index)
{
    return reduce == ORR_REDUCE_MINDIST    ? seen->dist
           : reduce == ORR_REDUCE_MAXFORCE ? -force_square(seen)
                                           : R(index);
}

// Selects slot after slot the next contact in each lane.
LANE_FN void pick_contacts(const lane_model *m, const lane_data *d, int sensor, real count, int size,
                           reals out)
{
    int data = m->sensor_intprm[3 * sensor], reduce = m->sensor_intprm[3 * sensor + 1];
    real last_rank = R(-LANE_HUGE), last_index = R(-1.0);
    order_contacts(m, d);
    for (int slot = 0; slot < m->sensor_intprm[3 * sensor + 2]; slot++) {
        real rank = R(LANE_HUGE), index = R(LANE_HUGE);
        if (!any(count > R(slot))) {
            break;
        }
        for (int n = 0; n < d->contact_count; n++) {
            int i = nth_contact(m, d, n);
            int direction = contact_matches(m, d, sensor, i);
            seen_contact seen;
            if (direction == 0) {
                continue;
            }
            see_contact(m, d, sensor, i, direction, &seen);
            real own = contact_rank(reduce, &seen, n);
            mask later = or_(own > last_rank, and_(own >= last_rank, R(n) > last_index));
            mask best = and_(and_(seen.matches, later), own < rank);
            rank = sel(best, own, rank);
            index = sel(best, R(n), index);
            put_contact(data, &seen, count, best, out + size * slot);
        }
        last_rank = rank;
        last_index = index;
    }
}

// All contacts as one: at the centre of their forces, in world axes.
LANE_FN void sum_contacts(const lane_model *m, const lane_data *d, int sensor, real count, reals out)
{
    real3 force = zero3(), moment = zero3(), centre = zero3(); // moment about the world's origin
    real weight = R(0.0);
    for (int i = 0; i < d->contact_count; i++) {
        int direction = contact_matches(m, d, sensor, i);
        seen_contact seen;
        if (direction == 0) {
            continue;
        }
        see_contact(m, d, sensor, i, direction, &seen);
        matrix3 frame = {seen.normal, seen.tangent, cross3(seen.normal, seen.tangent)};
        real share = sel(seen.matches, R(1.0), R(0.0)), own = share * sqrt_(force_square(&seen));
        real3 pull = rotate(frame, scale3(make_real3(seen.force[0], seen.force[1], seen.force[2]), share));
        real3 turn = rotate(frame, scale3(make_real3(seen.force[3], seen.force[4], seen.force[5]), share));
        force = add3(force, pull);
        moment = add3(moment, add3(turn, cross3(seen.pos, pull)));
        centre = add_scaled3(centre, seen.pos, own);
        weight = weight + own;
    }
    mask pushed = weight > R(0.0);
    centre = scale3(centre, sel(pushed, R(1.0) / sel(pushed, weight, R(1.0)), R(0.0)));
    moment = sub3(moment, cross3(centre, force));
    seen_contact net = {{force.x, force.y, force.z, moment.x, moment.y, moment.z},
                        R(0.0),
                        centre,
                        axis3(0),
                        axis3(1),
                        everywhere()};
    put_contact(m->sensor_intprm[3 * sensor], &net, count, count > R(0.0), out);
}

LANE_FN void sense_contacts(const lane_model *m, const lane_data *d, int sensor, reals out)
{
    int slots = m->sensor_intprm[3 * sensor + 2], dim = m->sensor_dim[sensor];
    real count = R(0.0);
    for (int k = 0; k < dim; k++) {
        out[k] = R(0.0);
    }
    for (int i = 0; i < d->contact_count; i++) {
        seen_contact seen;
        int direction = contact_matches(m, d, sensor, i);
        if (direction != 0) {
            see_contact(m, d, sensor, i, direction, &seen);
            count = count + sel(seen.matches, R(1.0), R(0.0));
        }
    }
    if (m->sensor_intprm[3 * sensor + 1] == ORR_REDUCE_NETFORCE) {
        sum_contacts(m, d, sensor, count, out);
    } else {
        pick_contacts(m, d, sensor, count, dim / slots, out);
    }
}
