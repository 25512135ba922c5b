// Contacts of soft bodies that nodes move: of spheres at their vertices with planes, of elements with other
// geoms. A vertex is where its nodes are, by their weights; a dof moves it by its share of them
// (plan->point_share), and a point of an element by flex_element.h.
#pragma once

#include "physics/lanes/collision/per_lane.h"

LANE_FN real3 point_of_nodes(const lane_model *m, const lane_data *d, int vertex)
{
    int first = m->flexpoint_weightadr[vertex];
    real3 at = zero3();
    for (int i = first; i < first + m->flexpoint_weightnum[vertex]; i++) {
        int body = m->flexweight_bodyid[i];
        real3 node =
            add3(load3(d->xpos, body), rotate(load_matrix(d->xmat, body), uniform3(m->flexweight_node, i)));
        at = add_scaled3(at, node, R(m->flexweight[i]));
    }
    return at;
}

LANE_FN void collide_points(const lane_model *m, lane_data *d)
{
    const orr_plan *plan = m->plan;
    int vertex = -1;
    real3 at = zero3();
    for (int i = plan->geom_pairs; i < plan->point_pairs; i++) {
        const orr_pair *pair = &plan->pair[i];
        if (pair->point != vertex) { // pairs are sorted by it
            vertex = pair->point;
            at = point_of_nodes(m, d, vertex);
        }
        lane_geom plane = load_geom(m, d, pair->geom1);
        plane_sphere(m, d, i, &plane, at, R(m->flextouch_radius[m->flexpoint_touchid[vertex]]), no_tangent());
    }
}

// An element: its vertices about their middle, and the radius of a sphere around them.
typedef struct lane_element {
    real3 middle, corner[4];
    real bound;
} lane_element;

LANE_FN lane_element load_element(const lane_model *m, const lane_data *d, int element)
{
    const int32_t *vertex = m->flexelement_point + 4 * element;
    lane_element e;
    e.middle = zero3();
    e.bound = R(0.0);
    for (int k = 0; k < 4; k++) {
        e.middle = add_scaled3(e.middle, load3(d->flexpoint_xpos, vertex[k]), R(0.25));
    }
    for (int k = 0; k < 4; k++) {
        e.corner[k] = sub3(load3(d->flexpoint_xpos, vertex[k]), e.middle);
        e.bound = max_(e.bound, dot3(e.corner[k], e.corner[k]));
    }
    e.bound = sqrt_(e.bound);
    return e;
}

LANE_FN convex_shape element_in(const lane_element *e, double radius, int lane)
{
    convex_shape s;
    s.vertex = NULL;
    s.hull = NULL;
    s.type = CONVEX_TETRAHEDRON;
    s.frame.pos = point_in(&e->middle, lane);
    for (int k = 0; k < 3; k++) {
        s.frame.axis[k] = make_point(k == 0, k == 1, k == 2);
        s.size[k] = 0.0;
    }
    for (int k = 0; k < 4; k++) {
        s.prism[k] = point_in(&e->corner[k], lane);
    }
    s.prism[4] = s.prism[5] = s.frame.pos;
    s.radius = radius;
    s.bound = value_in(&e->bound, lane);
    return s;
}

// A geom and an element have one contact, where they overlap most or are closest.
LANE_FN void collide_element(const lane_model *m, lane_data *d, int index, const lane_element *e)
{
    const orr_pair *pair = &m->plan->pair[index];
    double radius = (double)m->flextouch_radius[m->flexelement_touchid[pair->element]];
    lane_geom geom = load_geom(m, d, pair->geom1);
    real3 apart = sub3(e->middle, geom.pos), pos = geom.pos, normal = axis3(2);
    real reach = R(pair->margin + radius) + geom_rbound(m, d, pair->geom1) + e->bound;
    real distance = R(0.0), found = R(0.0);
    uint32_t lanes = lanes_of(dot3(apart, apart) < reach * reach);
    convex_search search = search_of(m, pair);
    for (int lane = 0; lane < ORR_LANES && lanes >> lane; lane++) {
        if (!(lanes >> lane & 1)) {
            continue;
        }
        convex_shape one = shape_in(m, d, &geom, pair->geom1, lane), two = element_in(e, radius, lane);
        convex_hit hit;
        if (convex_closest(&one, &two, &search, &hit)) {
            put_in(&distance, lane, hit.distance);
            put_in(&found, lane, 1.0);
            put_point(&pos, lane, hit.pos);
            put_point(&normal, lane, hit.normal);
        }
    }
    mask touches = found > R(0.5);
    if (any(touches)) {
        add_contact(m, d, index, distance, pos, normal, no_tangent(), touches);
    }
}

LANE_FN void collide_elements(const lane_model *m, lane_data *d)
{
    const orr_plan *plan = m->plan;
    int element = -1;
    lane_element e = {zero3(), {zero3(), zero3(), zero3(), zero3()}, R(0.0)};
    if (plan->point_pairs == plan->pair_count) {
        return;
    }
    for (int i = team_first(d); i < m->nflexpoint; i += team_size(d)) {
        store3(d->flexpoint_xpos, i, point_of_nodes(m, d, i));
    }
    team_wait(d);
    for (int i = plan->point_pairs; i < plan->pair_count; i++) {
        if (plan->pair[i].element != element) { // pairs are sorted by it
            element = plan->pair[i].element;
            e = load_element(m, d, element);
        }
        collide_element(m, d, i, &e);
    }
}
