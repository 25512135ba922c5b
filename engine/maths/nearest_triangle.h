// The nearest point of a triangle in double, for the host and for lane programs (Ericson, Real-Time Collision
// Detection, section 5.1.5).
#pragma once

#include "engine/maths/formula.h"

// Weights of the corners, x, y and z of each, in the point that is nearest to the origin.
FN void nearest_in_triangle(const double corner[9], double weight[3])
{
    double d[6] = {0.0}; // along b - a and c - a: from a, b and c to the origin
    for (int k = 0; k < 3; k++) {
        const double ab = corner[3 + k] - corner[k], ac = corner[6 + k] - corner[k];
        for (int i = 0; i < 3; i++) {
            d[2 * i] -= ab * corner[3 * i + k];
            d[2 * i + 1] -= ac * corner[3 * i + k];
        }
    }
    const double va = d[2] * d[5] - d[4] * d[3], vb = d[4] * d[1] - d[0] * d[5],
                 vc = d[0] * d[3] - d[2] * d[1];
    weight[0] = weight[1] = weight[2] = 0.0;
    if (d[0] <= 0.0 && d[1] <= 0.0) {
        weight[0] = 1.0;
    } else if (d[2] >= 0.0 && d[3] <= d[2]) {
        weight[1] = 1.0;
    } else if (d[5] >= 0.0 && d[4] <= d[5]) {
        weight[2] = 1.0;
    } else if (vc <= 0.0 && d[0] >= 0.0 && d[2] <= 0.0) {
        weight[1] = d[0] / (d[0] - d[2]);
        weight[0] = 1.0 - weight[1];
    } else if (vb <= 0.0 && d[1] >= 0.0 && d[5] <= 0.0) {
        weight[2] = d[1] / (d[1] - d[5]);
        weight[0] = 1.0 - weight[2];
    } else if (va <= 0.0 && d[3] >= d[2] && d[4] >= d[5]) {
        weight[2] = (d[3] - d[2]) / ((d[3] - d[2]) + (d[4] - d[5]));
        weight[1] = 1.0 - weight[2];
    } else {
        weight[1] = vb / (va + vb + vc);
        weight[2] = vc / (va + vb + vc);
        weight[0] = 1.0 - weight[1] - weight[2];
    }
}
