// Distances between geoms, whether or not they can collide: lane after lane in plain double.
#pragma once

#include "physics/lanes/collision/per_lane.h"

// The closest points of two geoms: on the first at pos - distance / 2 normal, on the second at pos + distance
// / 2 normal. Returns whether they are closer than `reach`.
LANE_FN int closest_of(convex_shape *a, convex_shape *b, const convex_search *search, convex_hit *hit)
{
    if (a->type != ORR_GEOM_PLANE && b->type != ORR_GEOM_PLANE) {
        return convex_closest(a, b, search, hit);
    }
    if (a->type == b->type) {
        return 0;
    }
    int first = a->type == ORR_GEOM_PLANE;
    const convex_frame *plane = first ? &a->frame : &b->frame;
    convex_shape *other = first ? b : a;
    other->type = other->type == ORR_GEOM_SDF ? ORR_GEOM_MESH : other->type; // its hull
    point up = plane->axis[2], lowest = core_support(other, point_scaled(up, -1.0));
    lowest = point_along(lowest, -other->radius, up);
    hit->distance = point_dot(point_difference(lowest, plane->pos), up);
    hit->pos = point_along(lowest, -0.5 * hit->distance, up);
    hit->normal = first ? up : point_scaled(up, -1.0);
    return hit->distance < search->margin;
}

// The deepest contact of two geoms of which at least one has a function; none is a plane.
LANE_FN int deepest_sdf_contact(const lane_model *m, int geom1, const convex_shape *a, int geom2,
                                const convex_shape *b, convex_hit *hit)
{
    convex_hit hits[ORR_PAIR_CONTACTS];
    int swapped = b->type != ORR_GEOM_SDF, least = 0;
    int count =
        swapped ? sdf_contacts(m, geom2, b, geom1, a, hits) : sdf_contacts(m, geom1, a, geom2, b, hits);
    for (int k = 1; k < count; k++) {
        least = hits[k].distance < hits[least].distance ? k : least;
    }
    if (count > 0) {
        *hit = hits[least];
        hit->normal = point_scaled(hit->normal, swapped ? -1.0 : 1.0);
    }
    return count > 0;
}

// The geoms of a sensor's object: all of a body, or the geom itself.
LANE_FN int first_geom(const lane_model *m, int kind, int id, int *count)
{
    *count = kind == ORR_OBJECT_BODY ? m->body_geomnum[id] : 1;
    return kind == ORR_OBJECT_BODY ? m->body_geomadr[id] : id;
}

// distance: `reach` where nothing is closer; then from and to, on the first and the second geom, are 0
typedef struct lane_gap {
    real distance;
    real3 from, to;
} lane_gap;

LANE_FN void narrow_gap(const lane_model *m, const lane_data *d, int geom1, int geom2, uniform_real reach,
                        lane_gap *gap)
{
    lane_geom a = load_geom(m, d, geom1), b = load_geom(m, d, geom2);
    for (int lane = 0; lane < ORR_LANES; lane++) {
        convex_shape one = shape_in(m, d, &a, geom1, lane), two = shape_in(m, d, &b, geom2, lane);
        convex_search search = {(double)reach, m->opt.ccd_tolerance, m->opt.ccd_iterations, 0};
        convex_hit hit;
        int sdf = one.type == ORR_GEOM_SDF || two.type == ORR_GEOM_SDF;
        int plane = one.type == ORR_GEOM_PLANE || two.type == ORR_GEOM_PLANE;
        int found = sdf && !plane ? deepest_sdf_contact(m, geom1, &one, geom2, &two, &hit)
                                  : closest_of(&one, &two, &search, &hit);
        if (found && hit.distance < value_in(&gap->distance, lane)) {
            put_in(&gap->distance, lane, hit.distance);
            put_point(&gap->from, lane, point_along(hit.pos, -0.5 * hit.distance, hit.normal));
            put_point(&gap->to, lane, point_along(hit.pos, 0.5 * hit.distance, hit.normal));
        }
    }
}

LANE_FN lane_gap sensor_gap(const lane_model *m, const lane_data *d, int i)
{
    int count1, count2;
    int first1 = first_geom(m, m->sensor_objtype[i], m->sensor_objid[i], &count1);
    int first2 = first_geom(m, m->sensor_reftype[i], m->sensor_refid[i], &count2);
    lane_gap gap = {R(m->sensor_cutoff[i]), zero3(), zero3()};
    for (int a = first1; a < first1 + count1; a++) {
        for (int b = first2; b < first2 + count2; b++) {
            narrow_gap(m, d, a, b, m->sensor_cutoff[i], &gap);
        }
    }
    return gap;
}

// Sensors distance, normal and fromto.
LANE_FN void sense_gap(const lane_model *m, const lane_data *d, int i, reals out)
{
    lane_gap gap = sensor_gap(m, d, i);
    real3 apart = sub3(gap.to, gap.from);
    mask found = dot3(apart, apart) > R(0.0);
    switch (m->sensor_type[i]) {
    case ORR_SENSOR_GEOMDIST:
        out[0] = gap.distance;
        break;
    case ORR_SENSOR_GEOMNORMAL:
        store3(out, 0, select3(found, normalise3(select3(found, apart, axis3(0))), zero3()));
        break;
    default:
        store3(out, 0, gap.from);
        store3(out, 1, gap.to);
        break;
    }
}
