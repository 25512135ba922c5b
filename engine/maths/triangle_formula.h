// A ray against a triangle (Moeller and Trumbore, "Fast, minimum storage ray/triangle intersection", 1997).
#ifndef ORR_TRIANGLE_FORMULA_H
#define ORR_TRIANGLE_FORMULA_H

#include "engine/maths/vector_formula.h"

// Where the line of a ray meets the plane of a triangle.
STRUCT(triangle_hit)
{
    real distance; // along the ray, in units of the length of its direction; negative: behind its origin
    real u, v;     // barycentric coordinates: weights of the second and the third corner
    mask inside;   // the point is in the triangle or on its rim; false where the ray is parallel to the plane
}
END_STRUCT(triangle_hit)

// origin: of the ray, minus the triangle's first corner; edge1, edge2: second and third corner minus the
// first. Hits from either side. If the determinant is at most `parallel`, the ray is parallel to the plane.
FN triangle_hit intersect_triangle(real3 origin, real3 direction, real3 edge1, real3 edge2, real parallel)
{
    triangle_hit hit;
    real3 p = cross3(direction, edge2), q = cross3(origin, edge1);
    real determinant = dot3(edge1, p);
    mask crosses = abs_(determinant) > parallel;
    real inverse = R(1.0) / sel(crosses, determinant, R(1.0));
    hit.distance = dot3(edge2, q) * inverse;
    hit.u = dot3(origin, p) * inverse;
    hit.v = dot3(direction, q) * inverse;
    hit.inside = and_(crosses, and_(and_(hit.u >= R(0.0), hit.v >= R(0.0)), hit.u + hit.v <= R(1.0)));
    return hit;
}

#endif
