// Tactile sensors: at each vertex of a mesh, in the frame of a geom, how deep it is in what touches the body
// of the geom, and how fast it slides along two tangents (MuJoCo 4.0's <tactile>).
#pragma once

#include "physics/lanes/collision/function_point.h"
#include "physics/lanes/collision/point_depth.h"
#include "physics/lanes/sensors/object_frames.h"

// The geom that a contact has with bodies that are fixed to `weld`, themselves included; -1: none.
LANE_FN int touching_geom(const lane_model *m, const lane_data *d, int weld, int contact)
{
    const orr_pair *pair = lane_pair(m, d, d->contact[contact].pair);
    if (m->body_weldid[m->geom_bodyid[pair->geom1]] == weld) {
        return pair->geom2;
    }
    return pair->geom2 >= 0 && m->body_weldid[m->geom_bodyid[pair->geom2]] == weld ? pair->geom1 : -1;
}

// Where the geom of contact `first` touches the bodies, in it or in a later contact; nowhere if an earlier
// one has that geom, so that each counts once. Distances without a contact are LANE_HUGE.
LANE_FN mask touches_first(const lane_model *m, const lane_data *d, int weld, int first, int geom)
{
    real nearest = R(LANE_HUGE);
    for (int i = 0; i < d->contact_count; i++) {
        if (touching_geom(m, d, weld, i) == geom) {
            if (i < first) {
                nearest = R(LANE_HUGE);
                break;
            }
            nearest = min_(nearest, d->contact_dist[i]);
        }
    }
    return nearest < R(0.5 * LANE_HUGE);
}

// Adds what the points feel of one geom, where it touches: the greatest depth, and the sum of speeds.
LANE_FN void feel_geom(const lane_model *m, const lane_data *d, int sensor, int geom, mask touches, reals out)
{
    const int own = m->sensor_refid[sensor], points = m->sensor_dim[sensor] / 3;
    const lane_object skin = find_object(m, d, ORR_OBJECT_GEOM, own);
    const lane_geom other = load_geom(m, d, geom);
    for (int k = team_first(d); k < points; k += team_size(d)) {
        const int taxel = m->sensor_taxeladr[sensor] + k;
        lane_object at = skin, there = skin;
        at.pos = add3(skin.pos, rotate(skin.frame, uniform3(m->taxel_pos, taxel)));
        real3 p = rotate_inverse(other.frame, sub3(at.pos, other.pos));
        real depth = has_function(m, geom) ? function_depth(m, geom, p)
                                           : point_depth(m->geom_type[geom], other.size, p);
        depth = sel(touches, depth, R(0.0));
        mask inside = depth > R(0.0);
        if (!any(inside)) {
            continue;
        }
        there.pos = at.pos;
        there.body = m->geom_bodyid[geom];
        real3 slip = sub3(object_velocity(m, d, &at).t, object_velocity(m, d, &there).t);
        out[k] = max_(out[k], depth);
        for (int side = 0; side < 2; side++) {
            real3 tangent = rotate(skin.frame, uniform3(m->taxel_tangent, 2 * taxel + side));
            const int speed = (1 + side) * points + k;
            out[speed] = out[speed] + sel(inside, abs_(dot3(slip, tangent)), R(0.0));
        }
    }
}

LANE_FN void sense_tactile(const lane_model *m, const lane_data *d, int sensor, reals out)
{
    const int weld = m->body_weldid[m->geom_bodyid[m->sensor_refid[sensor]]];
    const int points = m->sensor_dim[sensor] / 3;
    for (int k = team_first(d); k < points; k += team_size(d)) { // as feel_geom divides them
        for (int channel = 0; channel < 3; channel++) {
            out[channel * points + k] = R(0.0);
        }
    }
    for (int i = 0; i < d->contact_count; i++) {
        const int geom = touching_geom(m, d, weld, i);
        if (geom < 0) {
            continue;
        }
        const mask touches = touches_first(m, d, weld, i, geom);
        if (any(touches)) {
            feel_geom(m, d, sensor, geom, touches, out);
        }
    }
    team_wait(d);
}
