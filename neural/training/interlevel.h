// The interlevel loss of proposal sampling (Barron et al. 2022, "Mip-NeRF 360", equations 12 and 13): a
// coarse histogram along a ray has to be an upper bound of the fine one, wherever their intervals overlap.
#pragma once

// coarse_edges: coarse_count + 1 ascending, thickness: optical thickness of each coarse interval, 0 or more;
// likewise fine_edges and fine_weights, which are taken as given. Returns the sum over fine intervals of
// max(0, weight - bound)^2 / (weight + 1e-7) and writes its derivative by each thickness. At most
// ORR_INTERLEVEL_MAX coarse intervals.
enum { ORR_INTERLEVEL_MAX = 64 };
double orr_interlevel_loss(int coarse_count, const float *coarse_edges, const double *thickness,
                           int fine_count, const float *fine_edges, const double *fine_weights,
                           double *gradient);
