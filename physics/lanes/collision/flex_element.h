// How the dofs of nodes move a point of an element that they move: as MuJoCo, by the point of the element
// that is closest to it, where that is at rest, and the nodes' shares of what is there.
#pragma once

#include "physics/lanes/collision/one_lane.h"
#include "physics/lanes/collision/simplex_point.h"
#include "physics/lanes/constraint_rows.h"
#include "physics/model/flex/element_nodes.h"

// An element, touched at a point.
typedef struct lane_touched {
    int element;
    real3 coord; // in cells, at rest
} lane_touched;

LANE_FN lane_touched touch_element(const lane_model *m, const lane_data *d, int element, real3 pos)
{
    const int32_t *vertex = m->flexelement_point + 4 * element;
    lane_touched touched = {element, zero3()};
    real3 corner[4];
    real weight[4];
    for (int k = 0; k < 4; k++) {
        corner[k] = sub3(load3(d->flexpoint_xpos, vertex[k]), pos);
        weight[k] = R(0.0);
    }
    for (int lane = 0; lane < ORR_LANES; lane++) {
        point at[4];
        double part[4];
        for (int k = 0; k < 4; k++) {
            at[k] = point_in(&corner[k], lane);
        }
        closest_in_tetrahedron(at, part);
        for (int k = 0; k < 4; k++) {
            put_in(&weight[k], lane, part[k]);
        }
    }
    for (int k = 0; k < 4; k++) {
        touched.coord = add_scaled3(touched.coord, uniform3(m->flexpoint_coord, vertex[k]), weight[k]);
    }
    return touched;
}

// Of the node that is number i along an axis: of a trilinear cell's two, of a quadratic one's three.
FN real share_along(int order, int i, real x)
{
    if (order == 1) {
        return max_(R(0.0), R(1.0) - abs_(x - R(i)));
    }
    if (i % 2 == 1) { // in the middle of a cell
        real within = x - R(0.5 * (i - 1));
        return max_(R(0.0), R(4.0) * within * (R(1.0) - within));
    }
    real off = abs_(x - R(0.5 * i));
    return sel(off < R(1.0), (R(2.0) * off - R(1.0)) * (off - R(1.0)), R(0.0));
}

FN real node_share(const lane_model *m, const lane_touched *at, int node)
{
    int touch = m->flexelement_touchid[at->element], order = m->flextouch_interp[touch];
    const int32_t *along = m->flextouch_along + 3 * touch;
    return share_along(order, node / (along[1] * along[2]), at->coord.x) *
           share_along(order, node / along[2] % along[1], at->coord.y) *
           share_along(order, node % along[2], at->coord.z);
}

// The nodes that may move an element: the first, the one after another; -1: no more.
FN int next_node(const lane_model *m, int element, int node)
{
    return node_after(m->flextouch_along + 3 * m->flexelement_touchid[element],
                      m->flexelement_span + 6 * element, node);
}

FN int body_of_node(const lane_model *m, int element, int node)
{
    return m->flexgrid_bodyid[m->flextouch_gridadr[m->flexelement_touchid[element]] + node];
}

// How much of an element's velocity less a geom's entry i of their chain is.
LANE_FN real share_of_entry(const lane_model *m, const lane_touched *at, const lane_pair_dofs *chain, int i)
{
    int dof = chain->dof[i];
    real share = R(chain->part[i] & ORR_CHAIN_FIRST ? -1.0 : 0.0);
    if (chain->node[i] >= 0) {
        return share + node_share(m, at, chain->node[i]);
    }
    if (chain->part[i] & ORR_CHAIN_SECOND) { // of a body that holds several
        for (int node = next_node(m, at->element, -1); node >= 0; node = next_node(m, at->element, node)) {
            int last = m->plan->last_dof[body_of_node(m, at->element, node)];
            if (last >= dof && last < m->plan->dof_end[dof]) {
                share = share + node_share(m, at, node);
            }
        }
    }
    return share;
}

// MuJoCo's inverse weight of a geom's body and of an element: the mean of its nodes'.
LANE_FN real touched_invweight(const lane_model *m, const lane_data *d, const lane_touched *at, int geom)
{
    real sum = body_invweight0(m, d, 2 * m->geom_bodyid[geom]);
    for (int node = next_node(m, at->element, -1); node >= 0; node = next_node(m, at->element, node)) {
        sum = sum + node_share(m, at, node) * body_invweight0(m, d, 2 * body_of_node(m, at->element, node));
    }
    return sum;
}
