// Contacts of soft bodies that nodes move: of spheres at their vertices with planes. A vertex is where its
// nodes are, by their weights; a dof moves it by its share of them (plan->point_share).
#pragma once

#include "physics/lanes/collision/primitive.h"

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
    for (int i = plan->geom_pairs; i < plan->pair_count; i++) {
        const orr_pair *pair = &plan->pair[i];
        if (pair->point != vertex) { // pairs are sorted by it
            vertex = pair->point;
            at = point_of_nodes(m, d, vertex);
        }
        lane_geom plane = load_geom(m, d, pair->geom1);
        plane_sphere(m, d, i, &plane, at, R(m->flextouch_radius[m->flexpoint_touchid[vertex]]), no_tangent());
    }
}
