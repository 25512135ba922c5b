// How far an object protrudes from a site: insidesite sensors with `enclosed` (MuJoCo 4.0). Negative: it is
// inside, at that distance from the surface. Lane after lane in plain double.
#pragma once

#include "physics/lanes/collision/per_lane.h"
#include "physics/lanes/sensors/contact_sensor.h"

// The greatest difference h_a(n) - h_b(n) of two support functions that is found uphill of `at`: the directed
// Hausdorff distance from a to b, signed, or less where another slope leads higher. MuJoCo's search, so that
// both stop at the same slope: a step is halved where it leads down, and then goes the mean way of both sides
// of the ridge that it has crossed.
LANE_FN double protrusion_from(convex_shape *a, convex_shape *b, point at, const convex_search *search)
{
    point best = at, uphill = make_point(0.0, 0.0, 0.0);
    double most = -1e300, step = 0.5;
    for (int k = 0; k < search->iterations; k++) {
        point apart = point_difference(core_support(a, at), core_support(b, at));
        double along = point_dot(apart, at), value = along + a->radius - b->radius;
        point slope = point_along(apart, -along, at);
        double steep = point_length(slope);
        if (value > most) {
            most = value;
            best = at;
            if (steep <= 1e-15 || steep <= search->tolerance * fabs(value)) {
                break;
            }
            uphill = point_scaled(slope, 1.0 / steep);
        } else {
            step *= 0.5;
            if (steep > 1e-15) {
                uphill = point_along(uphill, 1.0 / steep, slope);
            }
            uphill = point_along(uphill, -point_dot(uphill, best), best);
            double length = point_length(uphill);
            if (step < search->tolerance || length <= search->tolerance) {
                break;
            }
            uphill = point_scaled(uphill, 1.0 / length);
        }
        at = point_direction(point_along(best, step, uphill));
    }
    return most;
}

// From both directions of each axis of b.
LANE_FN double protrusion_of(convex_shape *a, convex_shape *b, const convex_search *search)
{
    double most = -1e300;
    for (int side = 0; side < 6; side++) {
        point start = point_scaled(b->frame.axis[side / 2], side % 2 ? -1.0 : 1.0);
        most = fmax(most, protrusion_from(a, b, start, search));
    }
    return most;
}

LANE_FN convex_shape site_shape(const lane_model *m, const lane_data *d, int site, int lane)
{
    lane_object o = find_object(m, d, ORR_OBJECT_SITE, site);
    real3 size = uniform3(m->site_size, site);
    return plain_shape(m->site_type[site], &o.pos, &o.frame, &size, lane);
}

// Of a site, a geom, the geoms of a body, or of all bodies from an xbody on: the one that protrudes most.
LANE_FN real sense_enclosed(const lane_model *m, const lane_data *d, int i)
{
    const convex_search search = {0.0, m->opt.ccd_tolerance, m->opt.ccd_iterations, 0};
    int kind = m->sensor_objtype[i], id = m->sensor_objid[i];
    real most = R(-LANE_HUGE);
    for (int lane = 0; lane < ORR_LANES; lane++) {
        convex_shape around = site_shape(m, d, m->sensor_refid[i], lane);
        if (kind == ORR_OBJECT_SITE) {
            convex_shape site = site_shape(m, d, id, lane);
            put_in(&most, lane, protrusion_of(&site, &around, &search));
            continue;
        }
        for (int geom = 0; geom < m->ngeom; geom++) {
            if (geom_matches(m, geom, kind, id)) {
                lane_geom g = load_geom(m, d, geom);
                convex_shape shape = shape_in(m, d, &g, geom, lane);
                put_in(&most, lane, fmax(value_in(&most, lane), protrusion_of(&shape, &around, &search)));
            }
        }
    }
    return most;
}
