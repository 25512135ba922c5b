// Nearest points of triangles and segments (Ericson, Real-Time Collision Detection, sections 5.1.5 and
// 5.1.9).
#pragma once

// The point of triangle a b c that is nearest to p, by weights of its corners; returns the squared distance.
double orr_nearest_in_triangle(const double p[3], const double a[3], const double b[3], const double c[3],
                               double weight[3]);
// Where the lines a0 a1 and b0 b1 are nearest to each other: from the first point of each to its second, 0 to
// 1 between them. Returns 0 where they are almost parallel.
int orr_nearest_of_lines(const double a0[3], const double a1[3], const double b0[3], const double b1[3],
                         double *s, double *t);
