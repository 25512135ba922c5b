// Contacts with a geom whose distance is a function (model/distance_function.h), in one lane, in double, as
// MuJoCo finds them: from starts spread over the common part of two boxes the points are sought where both
// shapes overlap most; of a mesh, in each triangle points that are deepest.
//
// Points are in the frame of the geom with the function, which is the second of its pair.
#pragma once

#include "physics/lanes/collision/convex.h"
#include "physics/model/octree_distance.h"

// What a distance is needed of.
typedef struct function_shape {
    int type, function;
    double prm[ORR_NFUNCTION], size[3];
    convex_frame frame;
    octree_view octree;
} function_shape;

typedef struct function_pair {
    function_shape one, two; // two: the function
} function_pair;

LANE_FN function_shape function_shape_of(const lane_model *m, const convex_shape *s, int geom)
{
    function_shape f;
    f.type = s->type;
    f.function = m->geom_function[geom];
    for (int k = 0; k < ORR_NFUNCTION; k++) {
        f.prm[k] = (double)m->geom_functionprm[ORR_NFUNCTION * geom + k];
    }
    for (int k = 0; k < 3; k++) {
        f.size[k] = s->size[k];
    }
    f.frame = s->frame;
    if (f.function == ORR_FUNCTION_OCTREE) {
        const int mesh = m->geom_dataid[geom];
        const uniform_real *box = m->mesh_octreebox + 6 * mesh;
        f.octree.child = m->octree_child + m->mesh_octreeadr[mesh];
        f.octree.coeff = m->octree_coeff + 8 * (int64_t)m->mesh_octreeadr[mesh];
        for (int k = 0; k < 3; k++) {
            f.octree.centre[k] = (double)box[k];
            f.octree.half[k] = (double)box[3 + k];
        }
    }
    return f;
}

// Outside the distance; inside, as in MuJoCo, along a direction that turns from that of the half sizes to the
// normal of the nearest side (as depth_in_box of point_depth.h).
FN distance_at box_distance_at(const double size[3], const double p[3])
{
    double over[3], share[3], squares = 0.0, way = -1e300, out[3];
    int inside = 1;
    for (int k = 0; k < 3; k++) {
        over[k] = fabs(p[k]) - size[k];
        inside = inside && over[k] < 0.0;
    }
    for (int k = 0; k < 3; k++) {
        share[k] = inside ? -size[k] / over[k] : fmax(over[k], 0.0);
        squares += share[k] * share[k];
        way = fmax(way, over[k] / share[k]);
    }
    double length = sqrt(squares);
    for (int k = 0; k < 3; k++) {
        out[k] = share[k] / length * (p[k] < 0.0 ? -1.0 : 1.0);
    }
    return make_distance(inside ? way * length : length, out[0], out[1], out[2]);
}

FN distance_at cylinder_distance_at(const double size[3], const double p[3])
{
    distance_at side = distance_scaled(distance_from_axis(p), 1.0, -size[0]);
    distance_at cap = distance_scaled(distance_magnitude(make_distance(p[2], 0.0, 0.0, 1.0)), 1.0, -size[1]);
    return side.d > 0.0 && cap.d > 0.0 ? distance_hypot(side, cap) : distance_both(side, cap);
}

// By its value and gradient along lines through the centre; not the distance, as in MuJoCo.
FN distance_at ellipsoid_distance_at(const double size[3], const double p[3])
{
    double a[3], b[3], once = 0.0, twice = 0.0, out[3];
    for (int k = 0; k < 3; k++) {
        a[k] = p[k] / size[k];
        b[k] = a[k] / size[k];
        once += a[k] * a[k];
        twice += b[k] * b[k];
    }
    once = sqrt(once), twice = sqrt(twice);
    double by_once = (2.0 * once - 1.0) / twice, by_twice = once * (once - 1.0) / (twice * twice);
    double squares = 0.0;
    for (int k = 0; k < 3; k++) {
        out[k] = b[k] / once * by_once - b[k] / twice / (size[k] * size[k]) * by_twice;
        squares += out[k] * out[k];
    }
    double per = 1.0 / sqrt(squares);
    return make_distance(once * (once - 1.0) / twice, per * out[0], per * out[1], per * out[2]);
}

// Where a shape has no direction, as a ball in its centre, the gradient is not a number, which ends a search.
LANE_FN distance_at shape_distance_at(const function_shape *s, point at)
{
    double p[3] = {at.x, at.y, at.z}, along = 0.0;
    switch (s->type) {
    case ORR_GEOM_CAPSULE:
        along = fmin(fmax(p[2], -s->size[1]), s->size[1]);
        break;
    case ORR_GEOM_ELLIPSOID:
        return ellipsoid_distance_at(s->size, p);
    case ORR_GEOM_CYLINDER:
        return cylinder_distance_at(s->size, p);
    case ORR_GEOM_BOX:
        return box_distance_at(s->size, p);
    case ORR_GEOM_SDF:
        return s->function == ORR_FUNCTION_OCTREE ? octree_distance(&s->octree, p)
                                                  : function_distance(s->function, s->prm, p);
    default:
        break;
    }
    p[2] -= along; // from the segment of a capsule, or from the centre of a sphere
    double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    return make_distance(length - s->size[0], p[0] / length, p[1] / length, p[2] / length);
}

// Both distances of a point of the second shape's frame, in that frame.
LANE_FN void both_distances(const function_pair *pair, point at, distance_at *one, distance_at *two)
{
    *two = shape_distance_at(&pair->two, at);
    *one = shape_distance_at(&pair->one, to_local(&pair->one.frame, to_world(&pair->two.frame, at)));
    const convex_frame *f = &pair->one.frame;
    point gradient = point_scaled(f->axis[0], one->x);
    gradient = point_along(point_along(gradient, one->y, f->axis[1]), one->z, f->axis[2]);
    gradient = to_local_direction(&pair->two.frame, gradient);
    one->x = gradient.x, one->y = gradient.y, one->z = gradient.z;
}

// What is made small: with `overlap` A + B + |max(A, B)|, which is least where two shapes are closest or
// overlap most; without it max(A, B), the distance from what both have in common.
LANE_FN distance_at overlap_at(const function_pair *pair, point at, int overlap)
{
    distance_at one, two;
    both_distances(pair, at, &one, &two);
    distance_at more = two.d > one.d ? two : one;
    return overlap ? distance_sum(distance_sum(two, 1.0, one), more.d > 0.0 ? 1.0 : -1.0, more) : more;
}

#define FUNCTION_NOWHERE 1e10 // m, the distance where a search fails

// Descends along the gradient; each step is halved until it gains enough (Armijo 1966). Returns the distance
// of the last point.
LANE_FN double descend(const function_pair *pair, point *at, int overlap, int steps)
{
    double distance = FUNCTION_NOWHERE;
    for (int step = 0; step < steps; step++) {
        distance_at from = overlap_at(pair, *at, overlap);
        point start = *at, gradient = make_point(from.x, from.y, from.z);
        double squares = point_dot(gradient, gradient);
        if (!(squares < FUNCTION_NOWHERE * FUNCTION_NOWHERE)) {
            return FUNCTION_NOWHERE;
        }
        double length = 2.0;
        do {
            length *= 0.5;
            *at = point_along(start, -length, gradient);
            distance = overlap_at(pair, *at, overlap).d;
        } while (length > 1e-4 && distance - from.d > -0.1 * length * squares);
        if (from.d < distance) { // none does
            *at = start;
            return from.d;
        }
    }
    return distance;
}

// The number of Halton's sequence with this base.
FN double halton(int index, int base)
{
    double share = 1.0 / base, part = share, sum = 0.0;
    for (int n = index; n > 0; n /= base) {
        sum += part * (n % base);
        part *= share;
    }
    return sum;
}

// Half sizes and centre of the box around a geom in its frame.
LANE_FN point function_box(const lane_model *m, const convex_shape *s, int geom, point *centre)
{
    double r = s->size[0];
    *centre = make_point(0.0, 0.0, 0.0);
    switch (s->type) {
    case ORR_GEOM_SPHERE:
        return make_point(r, r, r);
    case ORR_GEOM_CAPSULE:
        return make_point(r, r, r + s->size[1]);
    case ORR_GEOM_CYLINDER:
        return make_point(r, r, s->size[1]);
    case ORR_GEOM_SDF: {
        const uniform_real *box = m->geom_aabb + 6 * geom;
        *centre = make_point((double)box[0], (double)box[1], (double)box[2]);
        return make_point((double)box[3], (double)box[4], (double)box[5]);
    }
    default:
        return make_point(s->size[0], s->size[1], s->size[2]);
    }
}

// The common part of the boxes of both geoms, along the axes of the first and in its frame; 0: there is none.
LANE_FN int common_box(const lane_model *m, int geom1, const convex_shape *a, int geom2,
                       const convex_shape *b, point *low, point *high)
{
    point middle, half = function_box(m, a, geom1, &middle), centre;
    point other = function_box(m, b, geom2, &centre), reach = make_point(0.0, 0.0, 0.0);
    centre = to_local(&a->frame, to_world(&b->frame, centre));
    for (int k = 0; k < 3; k++) {
        point axis = to_local_direction(&a->frame, b->frame.axis[k]);
        double size = k == 0 ? other.x : k == 1 ? other.y : other.z;
        reach.x += size * fabs(axis.x), reach.y += size * fabs(axis.y), reach.z += size * fabs(axis.z);
    }
    *low =
        make_point(fmax(middle.x - half.x, centre.x - reach.x), fmax(middle.y - half.y, centre.y - reach.y),
                   fmax(middle.z - half.z, centre.z - reach.z));
    *high =
        make_point(fmin(middle.x + half.x, centre.x + reach.x), fmin(middle.y + half.y, centre.y + reach.y),
                   fmin(middle.z + half.z, centre.z + reach.z));
    return low->x <= high->x && low->y <= high->y && low->z <= high->z;
}

// Adds a contact at a point of the second geom's frame; outward: from the second geom. Not where one is.
LANE_FN int add_function_hit(const convex_frame *frame, point at, point outward, double distance,
                             point *known, convex_hit *hits, int count)
{
    for (int k = 0; k < count; k++) {
        if (point_length(point_difference(at, known[k])) < 1e-15) {
            return count;
        }
    }
    known[count] = at;
    point normal =
        point_difference(to_world(frame, point_scaled(point_direction(outward), -1.0)), frame->pos);
    hits[count].distance = distance;
    hits[count].normal = normal;
    hits[count].pos = point_along(to_world(frame, at), 0.5 * distance, normal);
    return count + 1;
}

// Contacts of a sphere, capsule, ellipsoid, cylinder, box or function with a function.
LANE_FN int function_contacts(const lane_model *m, int geom1, const convex_shape *a, int geom2,
                              const convex_shape *b, convex_hit *hits)
{
    function_pair both;
    both.one = function_shape_of(m, a, geom1);
    both.two = function_shape_of(m, b, geom2);
    point low, high, known[ORR_PAIR_CONTACTS];
    int count = 0;
    if (!common_box(m, geom1, a, geom2, b, &low, &high)) {
        return 0;
    }
    for (int i = 0; i < m->opt.sdf_initpoints && count < ORR_PAIR_CONTACTS; i++) {
        point start =
            make_point(low.x + (high.x - low.x) * halton(i, 2), low.y + (high.y - low.y) * halton(i, 3),
                       low.z + (high.z - low.z) * halton(i, 5));
        point at = to_local(&b->frame, to_world(&a->frame, start));
        descend(&both, &at, 1, m->opt.sdf_iterations);
        double distance = descend(&both, &at, 0, 1); // to what both have in common
        if (!(distance <= 0.0)) {
            continue;
        }
        distance_at one, two;
        both_distances(&both, at, &one, &two);
        point outward = point_direction(make_point(two.x, two.y, two.z));
        outward = point_difference(outward, point_direction(make_point(one.x, one.y, one.z)));
        count = add_function_hit(&b->frame, at, outward, distance, known, hits, count);
    }
    return count;
}

// ---- meshes

// May a triangle touch the function? By the sphere through its corners and a point beside its middle.
LANE_FN int triangle_may_touch(const function_shape *f, const point corner[3])
{
    point middle = point_scaled(point_sum(point_sum(corner[0], corner[1]), corner[2]), 1.0 / 3.0);
    point normal = point_direction(
        point_cross(point_difference(corner[1], corner[0]), point_difference(corner[2], corner[1])));
    middle = point_along(middle, 0.1 * shape_distance_at(f, middle).d, normal);
    point v[3], sum = make_point(0.0, 0.0, 0.0);
    for (int k = 0; k < 3; k++) {
        v[k] = point_difference(corner[k], middle);
    }
    for (int k = 0; k < 3; k++) {
        sum = point_along(sum, point_dot(v[k], v[k]), point_cross(v[(k + 1) % 3], v[(k + 2) % 3]));
    }
    point away = point_scaled(sum, 0.5 / point_dot(v[0], point_cross(v[1], v[2])));
    return shape_distance_at(f, point_sum(middle, away)).d < point_length(away);
}

// Goes from a point of a triangle to its deepest (Frank and Wolfe 1956). Returns the distance there.
LANE_FN double deepest_of_triangle(const function_shape *f, const point corner[3], int steps, point *at)
{
    for (int step = 0; step < steps; step++) {
        distance_at here = shape_distance_at(f, *at);
        point gradient = make_point(here.x, here.y, here.z);
        int lowest = 0;
        for (int k = 1; k < 3; k++) {
            lowest = point_dot(corner[k], gradient) < point_dot(corner[lowest], gradient) ? k : lowest;
        }
        *at = point_along(*at, 2.0 / (step + 2.0), point_difference(corner[lowest], *at));
    }
    return shape_distance_at(f, *at).d;
}

// The part of a triangle's second and third corner in the start of a search.
FN point start_in_triangle(const point corner[3], int start)
{
    double second = halton(start + 1, 2), third = halton(start + 1, 3);
    if (second + third > 1.0) {
        second = 1.0 - second, third = 1.0 - third;
    }
    point at = point_scaled(corner[0], 1.0 - second - third);
    return point_along(point_along(at, second, corner[1]), third, corner[2]);
}

// Searches a triangle from each start: adds the points in the function, as long as there is room.
LANE_FN int search_triangle(const lane_model *m, const function_shape *f, const point corner[3], point *at,
                            double *depth, int found)
{
    int starts = m->opt.sdf_initpoints > 1 ? m->opt.sdf_initpoints : 1;
    for (int i = 0; i < starts && found < ORR_PAIR_CONTACTS; i++) {
        at[found] = start_in_triangle(corner, i);
        depth[found] = deepest_of_triangle(f, corner, m->opt.sdf_iterations, &at[found]);
        found += depth[found] < 0.0;
    }
    return found;
}

// Contacts of the triangles of a mesh with a function: the first that are found, as in MuJoCo.
LANE_FN int mesh_function_contacts(const lane_model *m, int geom1, const convex_shape *a, int geom2,
                                   const convex_shape *b, convex_hit *hits)
{
    function_shape f = function_shape_of(m, b, geom2);
    int mesh = m->geom_dataid[geom1], found = 0, count = 0;
    const float *vertices = m->mesh_vert + 3 * (int64_t)m->mesh_vertadr[mesh];
    const int32_t *faces = m->mesh_face + 3 * (int64_t)m->mesh_faceadr[mesh];
    const orr_triangle_node *node = m->plan->triangle_node + m->plan->triangle_first[mesh];
    int nodes = m->plan->triangle_first[mesh + 1] - m->plan->triangle_first[mesh];
    point at[ORR_PAIR_CONTACTS], known[ORR_PAIR_CONTACTS], corner[3];
    double depth[ORR_PAIR_CONTACTS];
    for (int i = 0; i < nodes && found < ORR_PAIR_CONTACTS;) {
        point middle = make_point(node[i].middle[0], node[i].middle[1], node[i].middle[2]);
        middle = to_local(&b->frame, to_world(&a->frame, middle));
        if (!(shape_distance_at(&f, middle).d < node[i].radius)) {
            i = node[i].end;
            continue;
        }
        int64_t face = node[i++].face;
        for (int k = 0; k < 3 && face >= 0; k++) {
            const float *v = vertices + 3 * (int64_t)faces[3 * face + k];
            corner[k] = make_point((double)v[0], (double)v[1], (double)v[2]);
            corner[k] = to_local(&b->frame, to_world(&a->frame, corner[k]));
        }
        if (face >= 0 && triangle_may_touch(&f, corner)) {
            found = search_triangle(m, &f, corner, at, depth, found);
        }
    }
    for (int k = 0; k < found; k++) {
        distance_at here = shape_distance_at(&f, at[k]);
        count = add_function_hit(&b->frame, at[k], make_point(here.x, here.y, here.z), depth[k], known, hits,
                                 count);
    }
    return count;
}
