// Convex shapes of ONE world, in double, for the routines that branch (convex*.h, box.h, hfield.h) and run
// lane after lane. `point` is their vector of doubles: a real3 has the numbers of all lanes.
#pragma once

#include "physics/lanes/state.h"

// Functions of a search for a support, which are inlined: on the stack their vectors of three cost more than
// what is done with them.
#if defined(__CUDACC__)
#define SUPPORT_FN FN
#define CORE_FN LANE_FN
#else
#define SUPPORT_FN static inline __attribute__((always_inline, unused))
#define CORE_FN SUPPORT_FN
#endif

typedef struct point {
    double x, y, z;
} point;

FN point make_point(double x, double y, double z)
{
    point p = {x, y, z};
    return p;
}

FN point point_sum(point a, point b)
{
    return make_point(a.x + b.x, a.y + b.y, a.z + b.z);
}

FN point point_difference(point a, point b)
{
    return make_point(a.x - b.x, a.y - b.y, a.z - b.z);
}

FN point point_scaled(point a, double s)
{
    return make_point(a.x * s, a.y * s, a.z * s);
}

// a + s b
FN point point_along(point a, double s, point b)
{
    return make_point(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

FN double point_dot(point a, point b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

FN point point_cross(point a, point b)
{
    return make_point(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

FN double point_length(point a)
{
    return sqrt(point_dot(a, a));
}

// a / |a|, or the x axis where |a| is below 1e-15
FN point point_direction(point a)
{
    double length = point_length(a);
    return length < 1e-15 ? make_point(1.0, 0.0, 0.0) : point_scaled(a, 1.0 / length);
}

// The two tangents that MuJoCo chooses for a contact with this normal.
FN void point_tangents(point normal, point tangent[2])
{
    point start = fabs(normal.y) >= 0.5 ? make_point(0.0, 0.0, 1.0) : make_point(0.0, 1.0, 0.0);
    tangent[0] = point_direction(point_along(start, -point_dot(start, normal), normal));
    tangent[1] = point_cross(normal, tangent[0]);
}

typedef struct convex_frame {
    point pos, axis[3]; // axes in world coordinates
} convex_frame;

SUPPORT_FN point to_world(const convex_frame *f, point local)
{
    point p = point_along(f->pos, local.x, f->axis[0]);
    return point_along(point_along(p, local.y, f->axis[1]), local.z, f->axis[2]);
}

FN point to_world_direction(const convex_frame *f, point local)
{
    point v = point_along(point_scaled(f->axis[0], local.x), local.y, f->axis[1]);
    return point_along(v, local.z, f->axis[2]);
}

SUPPORT_FN point to_local_direction(const convex_frame *f, point v)
{
    return make_point(point_dot(v, f->axis[0]), point_dot(v, f->axis[1]), point_dot(v, f->axis[2]));
}

FN point to_local(const convex_frame *f, point world)
{
    return to_local_direction(f, point_difference(world, f->pos));
}

enum { CONVEX_TETRAHEDRON = ORR_GEOM_SDF + 1 }; // an element of a soft body

// A shape is a core plus a ball swept over it: the core of a sphere is a point, of a capsule a segment.
typedef struct convex_shape {
    int type; // orr_geom_type; ORR_GEOM_HFIELD: the prism below; CONVEX_TETRAHEDRON: its first four points
    convex_frame frame;
    double size[3];
    double radius;              // of the ball
    double bound;               // radius of the sphere around the geom
    const uniform_real *vertex; // mesh: of its convex hull
    const orr_hull *hull;       // its flat faces
    point prism[6];             // three corners of the base, three above them
} convex_shape;

FN int has_flat_faces(const convex_shape *s)
{
    return s->type == ORR_GEOM_BOX || s->type == ORR_GEOM_MESH || s->type == ORR_GEOM_HFIELD ||
           s->type == CONVEX_TETRAHEDRON;
}

FN point hull_vertex(const convex_shape *s, int i)
{
    return make_point((double)s->vertex[3 * i], (double)s->vertex[3 * i + 1], (double)s->vertex[3 * i + 2]);
}

FN int extreme_cell(double along, double scale, int cells)
{
    double cell = along * scale + 0.5 * cells;
    return cell > 0.0 ? cell < cells ? (int)cell : cells - 1 : 0;
}

// The square that a direction leaves the cube through.
FN int extreme_square(const orr_extremes *e, point n)
{
    // no branches: directions of a search follow no pattern that a processor could learn
    double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z), turned[5] = {n.x, n.y, n.z, n.x, n.y};
    double across = x > y ? x : y, most = across > z ? across : z;
    int axis = across >= z ? x < y : 2;
    double scale = 0.5 * e->cells / most;
    int side = 2 * axis + (turned[axis] < 0.0), cells = e->cells;
    int row = extreme_cell(turned[axis + 1], scale, cells),
        column = extreme_cell(turned[axis + 2], scale, cells);
    return (side * cells + row) * cells + column;
}

// The support vertex of a hull along a direction; the first one of equals.
SUPPORT_FN int farthest_vertex(const convex_shape *s, point direction)
{
    const orr_extremes *e = &s->hull->vertices;
    const int32_t *range = e->range + 2 * extreme_square(e, direction);
    int best = 0;
    double most = -1e300;
    for (int k = range[0]; k < range[1]; k++) {
        double along = point_dot(hull_vertex(s, e->candidate[k]), direction);
        best = along > most ? e->candidate[k] : best;
        most = along > most ? along : most;
    }
    return best;
}

// A support point, and which corner of the shape it is: of a box bits of its positive axes, of a hull a
// vertex, of a cylinder 0 on the upper and 1 on the lower rim, of a capsule's core 0 or 1 by its end; 0 of
// others.
typedef struct convex_support {
    point at;
    int corner;
} convex_support;

FN convex_support make_support(double x, double y, double z, int corner)
{
    convex_support s = {{x, y, z}, corner};
    return s;
}

// The support point of the core along a direction of length 1, in the shape's frame.
CORE_FN convex_support local_support(const convex_shape *s, point n)
{
    const double *size = s->size;
    switch (s->type) {
    case ORR_GEOM_SPHERE:
        return make_support(0.0, 0.0, 0.0, 0);
    case ORR_GEOM_CAPSULE:
        return make_support(0.0, 0.0, n.z >= 0.0 ? size[1] : -size[1], !(n.z >= 0.0));
    case ORR_GEOM_ELLIPSOID: {
        point scaled = make_point(n.x * size[0], n.y * size[1], n.z * size[2]);
        double inverse = 1.0 / point_length(scaled);
        return make_support(scaled.x * size[0] * inverse, scaled.y * size[1] * inverse,
                            scaled.z * size[2] * inverse, 0);
    }
    case ORR_GEOM_CYLINDER: {
        double across = sqrt(n.x * n.x + n.y * n.y);
        double scale = across > 1e-15 ? size[0] / across : 0.0;
        return make_support(n.x * scale, n.y * scale, n.z >= 0.0 ? size[1] : -size[1], !(n.z >= 0.0));
    }
    case ORR_GEOM_BOX:
        return make_support(n.x >= 0.0 ? size[0] : -size[0], n.y >= 0.0 ? size[1] : -size[1],
                            n.z >= 0.0 ? size[2] : -size[2],
                            (n.x >= 0.0) + 2 * (n.y >= 0.0) + 4 * (n.z >= 0.0));
    case ORR_GEOM_MESH: {
        convex_support support;
        support.corner = farthest_vertex(s, n);
        support.at = hull_vertex(s, support.corner);
        return support;
    }
    default: {
        int solid = s->type == CONVEX_TETRAHEDRON, best = n.z < 0.0 || solid ? 0 : 3;
        for (int k = best + 1, last = best + 2 + solid; k <= last; k++) {
            if (point_dot(s->prism[k], n) > point_dot(s->prism[best], n)) {
                best = k;
            }
        }
        return make_support(s->prism[best].x, s->prism[best].y, s->prism[best].z, 0);
    }
    }
}

// The support point that is a given corner of the shape: of what is curved, the farthest with that number.
FN convex_support corner_support(const convex_shape *s, point n, int corner)
{
    const double *size = s->size;
    if (s->type == ORR_GEOM_BOX) {
        return make_support(corner & 1 ? size[0] : -size[0], corner & 2 ? size[1] : -size[1],
                            corner & 4 ? size[2] : -size[2], corner);
    }
    if (s->type == ORR_GEOM_MESH) {
        return (convex_support){hull_vertex(s, corner), corner};
    }
    convex_support support = local_support(s, n);
    if (s->type == ORR_GEOM_CYLINDER || s->type == ORR_GEOM_CAPSULE) {
        support.at.z = corner ? -size[1] : size[1];
        support.corner = corner;
    }
    return support;
}

LANE_FN point core_support(convex_shape *s, point direction)
{
    return to_world(&s->frame, local_support(s, to_local_direction(&s->frame, direction)).at);
}

// A vertex of the Minkowski difference of two cores (all a - b), and the points and corners of the two.
typedef struct convex_vertex {
    point p, on1, on2;
    int corner1, corner2;
} convex_vertex;

// one, two: in the shapes' frames.
SUPPORT_FN convex_vertex make_vertex(const convex_shape *a, const convex_shape *b, convex_support one,
                                     convex_support two)
{
    convex_vertex v;
    v.on1 = to_world(&a->frame, one.at);
    v.on2 = to_world(&b->frame, two.at);
    v.corner1 = one.corner;
    v.corner2 = two.corner;
    v.p = point_difference(v.on1, v.on2);
    return v;
}

LANE_FN convex_vertex difference_support(convex_shape *a, convex_shape *b, point direction)
{
    return make_vertex(a, b, local_support(a, to_local_direction(&a->frame, direction)),
                       local_support(b, to_local_direction(&b->frame, point_scaled(direction, -1.0))));
}

// Where two shapes are closest, or penetrate most.
typedef struct convex_hit {
    double distance;   // negative: they overlap
    point pos, normal; // normal: from the first to the second
} convex_hit;
