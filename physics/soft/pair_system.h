// Forces of a pair and of a tie from how far their vertices have moved, and what a vertex gets of them: the
// text that the host and CUDA share, in double. Private to this folder.
#pragma once

#include "physics/soft/element_formula.h"
#include "physics/soft/pairs.h"

// On the first side, of a contact of so many rows, which follow each other and differ in their planes alone.
// moved: position - start of each corner, m; shift: how far a rigid body has moved the second side; zeros
// where the sides do not touch. stiffness: of each row; slip: plane_contact's.
FN soft_system pair_system(const orr_soft_pair *pair, int rows, const double shift[3], const double moved[12],
                           const double *stiffness, double slip)
{
    soft_system s = {{0.0, 0.0, 0.0}, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    double way[3]; // of the first side against the second
    for (int c = 0; c < 3; c++) {
        way[c] = pair->rigid ? -shift[c] : 0.0;
        for (int k = 0; k < 4; k++) {
            way[c] += pair->weight[k] * moved[3 * k + c];
        }
    }
    for (int i = 0; i < rows; i++) {
        const double *n = pair[i].normal;
        const double depth = -(pair[i].distance + (n[0] * way[0] + n[1] * way[1] + n[2] * way[2]));
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
FN void add_corner(double sum[9], const orr_soft_corner *corner, soft_system s)
{
    const double w = corner->weight, q = corner->square;
    const double more[9] = {w * s.force.x, w * s.force.y, w * s.force.z, q * s.xx, q * s.xy,
                            q * s.xz,      q * s.yy,      q * s.yz,      q * s.zz};
    for (int k = 0; k < 9; k++) {
        sum[k] += more[k];
    }
}
