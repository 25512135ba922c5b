#include "neural/training/interlevel.h"

#include <assert.h>
#include <math.h>

static const double epsilon = 1e-7;

double orr_interlevel_loss(int coarse_count, const float *coarse_edges, const double *thickness,
                           int fine_count, const float *fine_edges, const double *fine_weights,
                           double *gradient)
{
    assert(coarse_count <= ORR_INTERLEVEL_MAX);
    double weights[ORR_INTERLEVEL_MAX], behind[ORR_INTERLEVEL_MAX], by_weight[ORR_INTERLEVEL_MAX] = {0};
    double transmittance = 1.0;
    for (int j = 0; j < coarse_count; j++) {
        behind[j] = transmittance * exp(-thickness[j]);
        weights[j] = transmittance - behind[j];
        transmittance = behind[j];
    }
    double loss = 0.0;
    for (int i = 0, first = 0; i < fine_count; i++) {
        while (first < coarse_count && coarse_edges[first + 1] <= fine_edges[i]) {
            first++;
        }
        int end = first;
        double bound = 0.0;
        for (; end < coarse_count && coarse_edges[end] < fine_edges[i + 1]; end++) {
            bound += weights[end];
        }
        double excess = fmax(fine_weights[i] - bound, 0.0), share = excess / (fine_weights[i] + epsilon);
        loss += excess * share;
        for (int j = first; j < end; j++) {
            by_weight[j] -= 2.0 * share;
        }
    }
    // more of an interval is less of all behind it
    double rest = 0.0;
    for (int j = coarse_count - 1; j >= 0; j--) {
        gradient[j] = by_weight[j] * behind[j] - rest;
        rest += by_weight[j] * weights[j];
    }
    return loss;
}
