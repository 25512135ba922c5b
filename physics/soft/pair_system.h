// Forces of a pair and of a tie from how far their vertices have moved, and what a vertex gets of them: the
// text that the host and CUDA share, in double. Private to this folder.
#pragma once

#include "physics/soft/element_formula.h"
#include "physics/soft/pairs.h"

// How far the first side has moved against the second. moved: position - start of each corner, m; shift: how
// far a rigid body has moved the second side.
FN void pair_way(const orr_soft_pair *pair, const double shift[3], const double moved[12], double way[3])
{
    for (int c = 0; c < 3; c++) {
        way[c] = pair->rigid ? -shift[c] : 0.0;
        for (int k = 0; k < 4; k++) {
            way[c] += pair->weight[k] * moved[3 * k + c];
        }
    }
}

// How deep the sides are in each other, m; negative: how far apart.
FN double pair_depth(const orr_soft_pair *pair, const double way[3])
{
    const double *n = pair->normal;
    return -(pair->distance + (n[0] * way[0] + n[1] * way[1] + n[2] * way[2]));
}

// On the first side, of a contact of so many rows, which follow each other and differ in their planes alone;
// zeros where the sides do not touch. stiffness: of each row; slip: plane_contact's.
FN soft_system pair_system(const orr_soft_pair *pair, int rows, const double way[3], const double *stiffness,
                           double slip)
{
    soft_system s = {{0.0, 0.0, 0.0}, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    for (int i = 0; i < rows; i++) {
        const double *n = pair[i].normal, depth = pair_depth(&pair[i], way);
        const real3 normal = make_real3(n[0], n[1], n[2]);
        if (depth > 0.0 && pair[i].friction == 0.0) { // most: rows of contacts of flexes
            s.force = add_scaled3(s.force, normal, stiffness[i] * depth);
            s = soft_add_outer(s, stiffness[i], normal);
        } else if (depth > 0.0) {
            s = plane_contact(s, depth, make_real3(way[0], way[1], way[2]), normal, stiffness[i],
                              pair[i].friction, slip);
        }
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
                     const double way[3], const double *stiffness)
{
    const double w = corner->weight, share = w < 0.0 ? -w : w;
    for (int i = 0; i < corner->rows; i++) {
        const double gap = -pair_depth(&pair[i], way);
        if (gap >= 0.0 && share > 0.0 && (sum[13] == 0.0 || gap * sum[14] < sum[12] * share)) {
            for (int k = 0; k < 3; k++) {
                sum[9 + k] = w * pair[i].normal[k];
            }
            sum[12] = gap, sum[13] = stiffness[i], sum[14] = share;
        }
    }
}
