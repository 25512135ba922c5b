// Forces of a pair and of a tie from how far their vertices have moved, and what a vertex gets of them: the
// text that the host and CUDA share, in double. Private to this folder.
#pragma once

#include "physics/soft/element_formula.h"
#include "physics/soft/pairs.h"

// How deep the sides are in each other, m; negative: how far apart. moved: position - start of each corner,
// m; shift: how far a rigid body has moved the second side; way: of the first side against the second.
FN double pair_depth(const orr_soft_pair *pair, const double shift[3], const double moved[12], double way[3])
{
    for (int c = 0; c < 3; c++) {
        way[c] = pair->rigid ? -shift[c] : 0.0;
        for (int k = 0; k < 4; k++) {
            way[c] += pair->weight[k] * moved[3 * k + c];
        }
    }
    const double *n = pair->normal;
    return -(pair->distance + (n[0] * way[0] + n[1] * way[1] + n[2] * way[2]));
}

// On the first side; zeros where the sides do not touch. slip: plane_contact's.
FN soft_system pair_system(const orr_soft_pair *pair, double depth, const double way[3], double stiffness,
                           double slip)
{
    soft_system s = {{0.0, 0.0, 0.0}, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    const double *n = pair->normal;
    if (depth > 0.0 && pair->friction == 0.0) { // most: rows of contacts of flexes
        const real3 normal = make_real3(n[0], n[1], n[2]);
        s.force = scale3(normal, stiffness * depth);
        s = soft_add_outer(s, stiffness, normal);
    } else if (depth > 0.0) {
        s = plane_contact(s, depth, make_real3(way[0], way[1], way[2]), make_real3(n[0], n[1], n[2]),
                          stiffness, pair->friction, slip);
    }
    return s;
}

// On the vertex. moved: its position - start.
FN soft_system tie_system(const orr_soft_tie *tie, const double shift[3], const double moved[3],
                          double stiffness)
{
    const double k = stiffness;
    double pull[3];
    for (int c = 0; c < 3; c++) {
        pull[c] = -k * (tie->gap[c] + moved[c] - shift[c]);
    }
    soft_system s = {{pull[0], pull[1], pull[2]}, k, 0.0, 0.0, k, 0.0, k};
    return s;
}

// Adds what a corner's vertex gets: a force, and xx, xy, xz, yy, yz, zz.
FN void add_corner(double sum[SOFT_PUSHED], const orr_soft_corner *corner, soft_system s)
{
    const double w = corner->weight, q = corner->square;
    const double more[9] = {w * s.force.x, w * s.force.y, w * s.force.z, q * s.xx, q * s.xy,
                            q * s.xz,      q * s.yy,      q * s.yz,      q * s.zz};
    for (int k = 0; k < 9; k++) {
        sum[k] += more[k];
    }
}

// Keeps, of the contacts that a vertex does not touch yet, the one that it reaches first (orr_soft_group).
FN void watch_corner(double sum[SOFT_PUSHED], const orr_soft_corner *corner, const orr_soft_pair *pair,
                     double depth, double stiffness)
{
    const double w = corner->weight, share = w < 0.0 ? -w : w;
    if (depth <= 0.0 && share > 0.0 && (sum[13] == 0.0 || -depth * sum[14] < sum[12] * share)) {
        for (int k = 0; k < 3; k++) {
            sum[9 + k] = w * pair->normal[k];
        }
        sum[12] = -depth, sum[13] = stiffness, sum[14] = share;
    }
}
