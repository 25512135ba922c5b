// Contacts of single pairs, by the routines of the double program, against closed forms and MuJoCo.
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/lanes/collision/per_lane.h"
#include "tests/physics/golden_numbers.h"
#include "tests/support/support.h"

static convex_shape make_shape(int type, double x, double y, double z)
{
    convex_shape s = {0};
    s.type = type;
    s.size[0] = x, s.size[1] = y, s.size[2] = z;
    s.radius = type == ORR_GEOM_SPHERE || type == ORR_GEOM_CAPSULE ? x : 0.0;
    s.bound = x + y + z;
    for (int k = 0; k < 3; k++) {
        s.frame.axis[k] = make_point(k == 0, k == 1, k == 2);
    }
    return s;
}

// A frame rotated about a point by a small angle: Rodrigues' formula.
static convex_frame turned_frame(const convex_frame *f, point about, point axis, double angle)
{
    double sine = sin(angle), cosine = cos(angle);
    point from[4] = {f->axis[0], f->axis[1], f->axis[2], point_difference(f->pos, about)}, to[4];
    for (int k = 0; k < 4; k++) {
        point along = point_scaled(axis, point_dot(axis, from[k]) * (1.0 - cosine));
        to[k] = point_along(point_along(along, cosine, from[k]), sine, point_cross(axis, from[k]));
    }
    convex_frame result = {point_sum(about, to[3]), {to[0], to[1], to[2]}};
    return result;
}

// Rotates about x, then y, then translates.
static void set_pose(convex_shape *s, double about_x, double about_y, double x, double y, double z)
{
    point origin = make_point(0.0, 0.0, 0.0);
    s->frame = turned_frame(&s->frame, origin, make_point(1.0, 0.0, 0.0), about_x);
    s->frame = turned_frame(&s->frame, origin, make_point(0.0, 1.0, 0.0), about_y);
    s->frame.pos = make_point(x, y, z);
}

static void assert_close(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) {
        fail_msg("%.17g: expected %.17g within %g", a, b, tolerance);
    }
}

static const convex_search fine = {.margin = 1.0, .tolerance = 1e-12, .iterations = 100};
static const convex_search usual = {.margin = 1.0, .tolerance = 1e-6, .iterations = 35};

// Two ellipsoids that touch: from a point and normal of the first, the second is moved so that its point with
// the opposite normal is `distance` further along the normal.
static void ellipsoids_are_as_far_or_deep_as_they_were_put(void **state)
{
    (void)state;
    const double distances[] = {0.3, 0.01, 1e-6, -1e-6, -0.01, -0.05};
    for (size_t i = 0; i < sizeof distances / sizeof distances[0]; i++) {
        for (int k = 0; k < 20; k++) {
            convex_shape a = make_shape(ORR_GEOM_ELLIPSOID, 0.3, 0.2, 0.4),
                         b = make_shape(ORR_GEOM_ELLIPSOID, 0.25, 0.35, 0.15);
            set_pose(&a, 0.3 * k, 0.7 * k, 0.1, 0.2, -0.1);
            set_pose(&b, 1.1 * k, 0.5 * k, 0.0, 0.0, 0.0);
            point n = point_direction(make_point(sin(1.0 + k), cos(2.3 * k), sin(0.3 * k)));
            point on_a = core_support(&a, n), on_b = core_support(&b, point_scaled(n, -1.0));
            b.frame.pos = point_difference(point_along(on_a, distances[i], n), on_b);
            convex_hit hit;
            assert_true(convex_closest(&a, &b, k % 2 ? &fine : &usual, &hit));
            // rounding of sizes of 1, and of the direction between points 1e-6 apart
            assert_close(hit.distance, distances[i], 1e-13);
            assert_close(point_length(point_difference(hit.normal, n)), 0.0, 1e-9);
            point middle = point_along(on_a, 0.5 * distances[i], n);
            assert_close(point_length(point_difference(hit.pos, middle)), 0.0, 1e-9);
        }
    }
}

// A sphere near a corner, an edge or a face of a box has the contact of elementary geometry, by GJK as in
// closed form.
static void a_sphere_and_a_box_agree_with_gjk_and_epa(void **state)
{
    (void)state;
    for (int k = 0; k < 200; k++) {
        convex_shape ball = make_shape(ORR_GEOM_SPHERE, 0.1, 0.0, 0.0),
                     box = make_shape(ORR_GEOM_BOX, 0.3, 0.2, 0.15);
        set_pose(&box, 0.4 * k, 0.9 * k, 0.05, 0.02, 0.01);
        set_pose(&ball, 0.0, 0.0, 0.35 * sin(3.1 * k), 0.35 * cos(1.7 * k), 0.3 * sin(0.7 * k + 1.0));
        convex_hit closed, searched;
        assert_true(sphere_box(ball.frame.pos, 0.1, &box, 1.0, &closed));
        assert_true(convex_closest(&ball, &box, &fine, &searched));
        assert_close(closed.distance, searched.distance, 1e-12);
        assert_close(point_length(point_difference(closed.normal, searched.normal)), 0.0, 1e-7);
        assert_close(point_length(point_difference(closed.pos, searched.pos)), 0.0, 1e-7);
    }
}

// Of a world in float: axes are not quite of length 1. A ball whose centre is on a face, as where a capsule
// enters a box, leaves through that face.
static void a_ball_on_a_face_leaves_through_it_in_float(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        convex_shape box = make_shape(ORR_GEOM_BOX, 0.3, 0.2, 0.1);
        set_pose(&box, 0.4 * i, 0.9 * i, sin(1.7 * i), cos(2.9 * i), 0.3);
        for (int k = 0; k < 3; k++) {
            box.frame.axis[k] = point_scaled(box.frame.axis[k], 1.0 + 1e-7 * sin(3.0 * i + k));
        }
        double scale = 1.0 / point_dot(box.frame.axis[2], box.frame.axis[2]);
        point on = point_along(box.frame.pos, 0.1 * scale, box.frame.axis[2]);
        convex_hit hit;
        assert_true(sphere_box(on, 0.05, &box, 0.0, &hit));
        assert_true(point_dot(hit.normal, box.frame.axis[2]) < -0.999);
        assert_true(fabs(hit.distance + 0.05) < 1e-6);
    }
}

// Of all spheres along a capsule none is nearer to the box than the first contact, nor than a second one
// where it is.
static void a_capsule_touches_a_box_with_its_nearest_ball(void **state)
{
    (void)state;
    int seconds = 0;
    for (int k = 0; k < 1000; k++) {
        convex_shape capsule = make_shape(ORR_GEOM_CAPSULE, 0.08, 0.15, 0.0),
                     box = make_shape(ORR_GEOM_BOX, 0.3, 0.2, 0.15);
        set_pose(&capsule, 0.31 * k, 0.17 * k, 0.5 * sin(3.1 * k), 0.45 * cos(1.7 * k),
                 0.4 * sin(0.7 * k + 1.0));
        double nearest = 1e300;
        convex_hit hits[2], ball;
        for (int i = 0; i <= 2000; i++) {
            point at = point_along(capsule.frame.pos, 0.15 * (0.001 * i - 1.0), capsule.frame.axis[2]);
            assert_true(sphere_box(at, 0.08, &box, 10.0, &ball));
            nearest = fmin(nearest, ball.distance);
        }
        if (nearest < -0.08) {
            continue; // the segment itself passes through the box
        }
        int count = capsule_box(&capsule, &box, 10.0, hits);
        assert_in_range(count, 1, 2);
        assert_true(hits[0].distance < nearest + 1e-12);
        assert_close(hits[0].distance, nearest, 1e-4); // the spheres are 0.15 mm apart
        seconds += count == 2 && hits[1].distance > hits[0].distance + 1e-6;
        assert_true(count == 1 || hits[1].distance >= hits[0].distance - 1e-12);
    }
    assert_true(seconds > 100);
}

static void two_boxes_are_as_deep_by_axes_as_by_epa(void **state)
{
    (void)state;
    int overlapping = 0, crossings = 0;
    for (int k = 1; k < 500; k++) { // at 0 they touch exactly
        convex_shape a = make_shape(ORR_GEOM_BOX, 0.3, 0.2, 0.15),
                     b = make_shape(ORR_GEOM_BOX, 0.1, 0.25, 0.2);
        set_pose(&a, 0.2 * k, 0.3 * k, 0.0, 0.0, 0.0);
        set_pose(&b, 1.3 * k, 0.7 * k, 0.45 * sin(2.0 * k), 0.45 * cos(3.0 * k), 0.3 * sin(5.0 * k));
        box_separation s;
        convex_hit hit;
        int overlap = separate_boxes(&a, &b, 0.0, &s);
        assert_true(convex_closest(&a, &b, &usual, &hit));
        assert_int_equal(overlap, hit.distance < 0.0);
        overlapping += overlap;
        if (overlap) {
            assert_close(-hit.distance, fmin(s.face_overlap, s.edge_overlap), 1e-9);
        }
        if (overlap && s.edge_overlap < 0.95 * s.face_overlap) { // an edge across an edge, one contact
            convex_hit crossing[8];
            assert_int_equal(box_box(&a, &b, 0.0, crossing), 1);
            assert_close(crossing[0].distance, hit.distance, 1e-9);
            assert_close(point_length(point_difference(crossing[0].normal, hit.normal)), 0.0, 1e-6);
            assert_close(point_length(point_difference(crossing[0].pos, hit.pos)), 0.0, 1e-6);
            crossings++;
        }
    }
    assert_in_range(overlapping, 100, 450);
    assert_true(crossings > 20);
}

// The distance of a cylinder's rim from an ellipsoid has no closed form, but a depth must be the least extent
// of the Minkowski difference: that along the normal is the depth, and no direction has less.
static void no_direction_parts_curved_shapes_sooner_than_the_normal(void **state)
{
    (void)state;
    static const int types[] = {ORR_GEOM_CAPSULE, ORR_GEOM_ELLIPSOID, ORR_GEOM_CYLINDER, ORR_GEOM_BOX};
    for (int k = 0; k < 400; k++) {
        convex_shape a = make_shape(types[k % 4], 0.25, 0.2, 0.15),
                     b = make_shape(types[k / 4 % 4], 0.2, 0.3, 0.1);
        set_pose(&a, 0.21 * k, 0.37 * k, 0.0, 0.0, 0.0);
        set_pose(&b, 1.31 * k, 0.73 * k, 0.2 * sin(2.0 * k), 0.2 * cos(3.0 * k), 0.2 * sin(5.0 * k));
        convex_hit hit;
        assert_true(convex_closest(&a, &b, &usual, &hit));
        if (hit.distance > 0.0) {
            continue;
        }
        double along = point_dot(difference_support(&a, &b, hit.normal).p, hit.normal) + a.radius + b.radius;
        assert_close(along, -hit.distance, 1e-7); // the usual search ends 1e-6 short
        for (int i = 0; i < 500; i++) {           // directions closer and closer to the normal
            double spread = pow(0.98, i);
            point n =
                point_along(hit.normal, spread, make_point(sin(7.1 * i), sin(3.3 * i + 1.0), cos(5.7 * i)));
            n = point_direction(n);
            double extent = point_dot(difference_support(&a, &b, n).p, n) + a.radius + b.radius;
            assert_true(extent > -hit.distance - 1e-9);
        }
    }
}

// Two cans 4 mm in each other, one on the other or side by side, turned alike: many points of the difference
// are in one plane but for rounding.
static void cans_that_stand_together_are_as_deep_as_they_were_put(void **state)
{
    (void)state;
    const convex_search search = {.margin = 0.0, .tolerance = 1e-6, .iterations = 35, .several = 1};
    for (int k = 0; k < 400; k++) {
        double radius = 0.05 + 0.07 * fabs(sin(3.1 * k)), half = 0.05 + 0.07 * fabs(cos(1.7 * k));
        bool stacked = k % 2;
        convex_shape a = make_shape(ORR_GEOM_CYLINDER, radius, half, 0.0), b = a;
        set_pose(&a, 0.13 * k, k % 3 ? 0.0 : 0.41 * k, 0.1 * k, 0.03, -0.2);
        b.frame = a.frame;
        point apart = a.frame.axis[stacked ? 2 : 0];
        double depth = 0.004, away = 2.0 * (stacked ? half : radius) - depth;
        b.frame.pos = point_along(a.frame.pos, away, apart);
        convex_hit hits[4];
        int count = convex_contacts(&a, &b, &search, hits);
        assert_int_equal(count, stacked ? 4 : 1);
        assert_close(hits[0].distance, -depth, 1e-9);
        for (int i = 0; i < count; i++) {
            assert_close(point_dot(hits[i].normal, apart), 1.0, 1e-9);
            double along = point_dot(point_difference(hits[i].pos, a.frame.pos), apart);
            assert_close(along, 0.5 * away, 1e-9);
        }
    }
}

// By the tests of hull.h, which try a direction from the second to the first. meet: by boxes alone.
static bool seems_to_touch(const convex_shape *a, const convex_shape *b, point direction, bool *meet)
{
    const int32_t types[2] = {a->type, b->type};
    const convex_shape *shape[2] = {a, b};
    static const double no_hull[6];
    lane_model m = {.geom_type = types, .geom_aabb = no_hull, .hull_vert = no_hull};
    lane_geom geom[2];
    for (int i = 0; i < 2; i++) {
        const convex_frame *f = &shape[i]->frame;
        geom[i].pos = make_real3(f->pos.x, f->pos.y, f->pos.z);
        geom[i].frame.x = make_real3(f->axis[0].x, f->axis[0].y, f->axis[0].z);
        geom[i].frame.y = make_real3(f->axis[1].x, f->axis[1].y, f->axis[1].z);
        geom[i].frame.z = make_real3(f->axis[2].x, f->axis[2].y, f->axis[2].z);
        geom[i].size = make_real3(shape[i]->size[0], shape[i]->size[1], shape[i]->size[2]);
    }
    const lane_pair_shapes s = {&geom[0], &geom[1], 0, 1, sub3(geom[1].pos, geom[0].pos), 1e-5};
    *meet = boxes_meet(&m, &s);
    real3 last = make_real3(direction.x, direction.y, direction.z);
    return *meet && not_apart(&m, &s, everywhere(), &last);
}

// The corner of a tilted box, one of whose sides is 2 to 4 degrees from upright, is a centimetre deep in the
// cap of an upright cylinder. Its contact is there and upright, wherever on the rim the search has passed.
static void a_corner_on_a_cap_touches_it_alone(void **state)
{
    (void)state;
    const convex_search search = {.tolerance = 1e-6, .iterations = 35, .several = 1};
    const double depth = 0.01;
    const point up = make_point(0.0, 0.0, 1.0), origin = make_point(0.0, 0.0, 0.0);
    for (int i = 0; i < 96; i++) {
        convex_shape cylinder = make_shape(ORR_GEOM_CYLINDER, 0.1, 0.05, 0.0);
        convex_shape box = make_shape(ORR_GEOM_BOX, 0.05, 0.06, 0.07);
        set_pose(&box, 0.35 + 0.1 * (i % 3), (i & 1 ? 1.0 : -1.0) * (0.035 + 0.01 * (i % 4)), 0.0, 0.0, 0.0);
        box.frame = turned_frame(&box.frame, origin, up, 0.7 * i);
        cylinder.frame = turned_frame(&cylinder.frame, origin, up, 1.1 * i);
        point lowest = corner_of_box(&box, 0);
        for (int k = 1; k < 8; k++) {
            const point corner = corner_of_box(&box, k);
            lowest = corner.z < lowest.z ? corner : lowest;
        }
        box.frame.pos =
            point_difference(make_point(0.08 * cos(2.4 * i), 0.08 * sin(2.4 * i), 0.05 - depth), lowest);
        convex_hit hits[8];
        assert_int_equal(convex_contacts(&cylinder, &box, &search, hits), 1);
        assert_close(hits[0].distance, -depth, 1e-12);
        assert_close(hits[0].normal.z, 1.0, 1e-12);
    }
}

// A capsule with a point of its core just outside of a cylinder or an ellipsoid, nearer than its radius:
// sometimes the simplex of GJK is so flat there that it seems to contain the origin.
static void a_capsule_that_was_put_onto_something_touches_it(void **state)
{
    (void)state;
    const convex_search touching = {.margin = 0.0, .tolerance = 1e-6, .iterations = 35};
    int parted = 0, parted_by_boxes = 0, separate = 0;
    for (int k = 0; k < 6000; k++) {
        convex_shape a = make_shape(ORR_GEOM_CAPSULE, 0.01, 0.0225, 0.0),
                     b = make_shape(k % 2 ? ORR_GEOM_CYLINDER : ORR_GEOM_ELLIPSOID, 0.03,
                                    k % 2 ? 0.065 : 0.03, 0.04);
        set_pose(&a, 0.21 * k, 0.37 * k, 0.0, 0.0, 0.0);
        set_pose(&b, 1.31 * k, 0.73 * k, 0.5 * sin(k), 0.5 * cos(3.0 * k), 0.2);
        point normal = point_direction(make_point(sin(7.1 * k), sin(3.3 * k + 1.0), cos(5.7 * k)));
        point end = point_along(core_support(&b, normal), 0.01 * (0.5 + 0.5 * sin(11.3 * k)), normal);
        a.frame.pos = point_along(end, 0.0225 * sin(1.7 * k), a.frame.axis[2]);
        convex_hit hit;
        assert_true(convex_closest(&a, &b, &touching, &hit));
        bool meet[2];
        point any = point_direction(make_point(cos(2.1 * k), sin(4.3 * k), cos(1.7 * k)));
        assert_true(seems_to_touch(&a, &b, any, &meet[0]) && meet[0]);
        a.frame.pos = point_along(a.frame.pos, 0.06, normal); // three radii further out
        bool touch = convex_closest(&a, &b, &touching, &hit);
        a.frame.pos = point_along(a.frame.pos, 0.001, any); // as in a step, after which the plane still parts
        touch = touch || convex_closest(&a, &b, &touching, &(convex_hit){0});
        bool seems = seems_to_touch(&a, &b, point_scaled(hit.normal, -1.0), &meet[1]);
        assert_true(seems >= touch && meet[1] >= seems);
        parted_by_boxes += !meet[1];
        parted += !seems;
        separate += !touch;
    }
    assert_true(parted_by_boxes > 1000);
    assert_in_range(parted, separate * 9 / 10, separate); // few are left for the exact search
}

// On a level height field a box touches at its lowest corner as on a plane.
static void a_level_height_field_is_a_plane(void **state)
{
    (void)state;
    float level[25];
    for (int i = 0; i < 25; i++) {
        level[i] = 0.5f;
    }
    const double size[4] = {1.0, 1.0, 0.4, 0.3}; // the surface is at 0.2
    convex_frame hfield = make_shape(ORR_GEOM_HFIELD, 0.0, 0.0, 0.0).frame;
    static const int types[] = {ORR_GEOM_SPHERE, ORR_GEOM_CAPSULE, ORR_GEOM_ELLIPSOID, ORR_GEOM_CYLINDER,
                                ORR_GEOM_BOX};
    for (int k = 0; k < 100; k++) {
        convex_shape s = make_shape(types[k % 5], 0.12, 0.15, 0.1);
        set_pose(&s, 0.4 * k + 0.2, 0.9 * k + 0.1, 0.0, 0.0, 0.0);
        // the lowest point in the middle of a triangle, so that no other wall of its prism is nearer
        point lowest = core_support(&s, make_point(0.0, 0.0, -1.0));
        s.frame.pos = make_point(0.333 - lowest.x, 0.167 - lowest.y, 0.18 - lowest.z + s.radius);
        convex_hit hits[ORR_PAIR_CONTACTS];
        int count = hfield_contacts(&hfield, size, level, 5, 5, &s, &fine, hits), found = 0;
        for (int i = 0; i < count; i++) {
            assert_true(hits[i].distance > -0.02 - 1e-9);
            found += fabs(hits[i].distance + 0.02) < 1e-9 && hits[i].normal.z > 1.0 - 1e-9 &&
                     fabs(hits[i].pos.z - 0.19) < 1e-9;
        }
        assert_int_equal(found, 1);
    }
}

// A sphere on rough ground, above it and in it, touches where an ellipsoid of equal radii does, of which the
// search for any shape finds it.
static void spheres_touch_height_fields_as_ellipsoids_do(void **state)
{
    (void)state;
    enum { SIDE = 9 };
    float samples[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) {
        samples[i] = (float)(0.5 + 0.5 * sin(12.9 * i));
    }
    const double size[4] = {1.0, 1.0, 0.3, 0.2};
    convex_frame hfield = make_shape(ORR_GEOM_HFIELD, 0.0, 0.0, 0.0).frame;
    convex_search near = fine;
    near.margin = 0.01; // fewer contacts than are kept
    int touching = 0, deep = 0;
    for (int k = 0; k < 400; k++) {
        convex_shape sphere = make_shape(ORR_GEOM_SPHERE, 0.12, 0.0, 0.0);
        convex_shape round = make_shape(ORR_GEOM_ELLIPSOID, 0.12, 0.12, 0.12);
        set_pose(&sphere, 0.0, 0.0, sin(1.3 * k), sin(2.9 * k + 1.0), 0.15 + 0.3 * sin(0.7 * k));
        set_pose(&round, 0.4 * k, 0.9 * k, sin(1.3 * k), sin(2.9 * k + 1.0), 0.15 + 0.3 * sin(0.7 * k));
        convex_hit hits[ORR_PAIR_CONTACTS], same[ORR_PAIR_CONTACTS];
        int count = hfield_contacts(&hfield, size, samples, SIDE, SIDE, &sphere, &near, hits);
        assert_int_equal(hfield_contacts(&hfield, size, samples, SIDE, SIDE, &round, &near, same), count);
        for (int i = 0; i < count; i++) {
            point apart = point_difference(hits[i].pos, same[i].pos);
            assert_true(fabs(hits[i].distance - same[i].distance) < 1e-7);
            assert_true(point_length(apart) < 1e-5 && point_dot(hits[i].normal, same[i].normal) > 1.0 - 1e-8);
            deep += hits[i].distance < -0.12;
        }
        touching += count;
    }
    assert_true(touching > 1000 && deep > 100);
}

// A wide box covers more triangles than a pair can have contacts: the peak under its last corner is one.
static void of_many_contacts_with_a_height_field_the_deepest_are_kept(void **state)
{
    (void)state;
    enum { SIDE = 41 };
    float samples[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) {
        samples[i] = 0.5f;
    }
    samples[35 * SIDE + 35] = 0.6f;
    const double size[4] = {1.0, 1.0, 0.4, 0.3}; // the surface is at 0.2, the peak at 0.24
    convex_frame hfield = make_shape(ORR_GEOM_HFIELD, 0.0, 0.0, 0.0).frame;
    convex_shape box = make_shape(ORR_GEOM_BOX, 0.81, 0.81, 0.5);
    set_pose(&box, 0.0, 0.0, 0.0, 0.0, 0.69);
    convex_hit hits[ORR_PAIR_CONTACTS];
    assert_int_equal(hfield_contacts(&hfield, size, samples, SIDE, SIDE, &box, &fine, hits),
                     ORR_PAIR_CONTACTS);
    int peak = 0;
    for (int i = 0; i < ORR_PAIR_CONTACTS; i++) {
        assert_true(hits[i].distance < -0.01 + 1e-9);
        peak += fabs(hits[i].distance + 0.05) < 1e-6;
    }
    assert_int_equal(peak, 6); // the triangles that meet there
}

// ---- against MuJoCo ----

static convex_shape take_shape(golden_numbers *file, int type)
{
    const double *n = golden_numbers_take(file, 15);
    convex_shape s = make_shape(type, n[0], n[1], n[2]);
    s.frame.pos = make_point(n[3], n[4], n[5]);
    for (int k = 0; k < 3; k++) {
        s.frame.axis[k] = make_point(n[6 + k], n[9 + k], n[12 + k]);
    }
    return s;
}

// Each recorded contact (distance, position, normal) is one of ours, and no other. The distance of an
// ellipsoid changes with the square of an error of the normal: MuJoCo's search leaves up to 6e-4 of the
// normal, and 3e-5 m of the position; cylinders in height fields have up to 1e-5 of both.
static void assert_contacts(const golden_numbers *recorded, int count, const convex_hit *hits, bool ellipsoid)
{
    double far = ellipsoid ? 4e-5 : 1e-5, turned = ellipsoid ? 1e-3 : 1e-5;
    uint64_t matched = 0;
    for (int i = 0; i < count; i++) {
        const double *n = recorded->next - 7 * (count - i);
        int found = -1;
        for (int k = 0; k < count && found < 0; k++) {
            point pos = point_difference(hits[k].pos, make_point(n[1], n[2], n[3]));
            point normal = point_difference(hits[k].normal, make_point(n[4], n[5], n[6]));
            found = !(matched >> k & 1) && fabs(hits[k].distance - n[0]) < 1e-7 && point_length(pos) < far &&
                            point_length(normal) < turned
                        ? k
                        : -1;
        }
        if (found < 0) {
            fail_msg("no contact at %g %g %g, distance %.9g, normal %g %g %g", n[1], n[2], n[3], n[0], n[4],
                     n[5], n[6]);
        }
        matched |= 1ull << found;
    }
}

static void pairs_have_the_contacts_of_mujoco(void **state)
{
    (void)state;
    golden_numbers file = golden_numbers_load("pairs");
    const double *field = golden_numbers_take(&file, 6);
    int32_t rows = (int32_t)field[0], columns = (int32_t)field[1], none[2] = {0, 0};
    float samples[200];
    assert_in_range(rows * columns, 1, 200);
    for (int i = 0; i < rows * columns; i++) {
        samples[i] = (float)*golden_numbers_take(&file, 1);
    }
    lane_model m = {.geom_dataid = none, .hfield_size = field + 2, .hfield_data = samples};
    m.hfield_adr = none, m.hfield_nrow = &rows, m.hfield_ncol = &columns;
    m.opt.ccd_tolerance = 1e-14;
    m.opt.ccd_iterations = 120;
    int poses = 0;
    for (; file.next < file.behind; poses++) {
        const double *types = golden_numbers_take(&file, 3);
        orr_pair pair = {.geom2 = 1, .margin = types[2]};
        convex_shape a = take_shape(&file, (int)types[0]), b = take_shape(&file, (int)types[1]);
        convex_hit hits[ORR_PAIR_CONTACTS];
        int count = (int)*golden_numbers_take(&file, 1);
        golden_numbers_take(&file, 7 * count);
        int ours = scalar_contacts(&m, &pair, &a, &b, hits);
        if (ours != count) {
            fail_msg("pose %d, types %g %g: %d contacts, expected %d", poses, types[0], types[1], ours,
                     count);
        }
        assert_contacts(&file, count, hits, a.type == ORR_GEOM_ELLIPSOID || b.type == ORR_GEOM_ELLIPSOID);
    }
    assert_int_equal(poses, 396);
    orr_free(file.numbers);
}

// Two hulls in the shape of boxes have the contacts of the boxes.
static void faces_share_what_boxes_share(void **state)
{
    (void)state;
    for (int k = 0; k < 100; k++) {
        convex_shape a = make_shape(ORR_GEOM_BOX, 0.4, 0.4, 0.1),
                     b = make_shape(ORR_GEOM_BOX, 0.2, 0.15, 0.1);
        set_pose(&b, 0.0, 0.0, 0.1 * sin(k), 0.1 * cos(2.0 * k), 0.19);
        point z = make_point(0.0, 0.0, 1.0), x = make_point(1.0, 0.0, 0.0);
        b.frame = turned_frame(&b.frame, b.frame.pos, z, 0.7 * k);
        b.frame = turned_frame(&b.frame, b.frame.pos, x, 0.03 * sin(k));
        convex_search search = {0.0, 1e-12, 100, 1};
        convex_hit boxes[8], hulls[8];
        int count = box_box(&a, &b, 0.0, boxes);
        assert_true(count >= 1 && count <= 4);
        assert_int_equal(convex_contacts(&a, &b, &search, hulls), count);
        for (int i = 0; i < count; i++) { // in some order; along the normal of a or of b, 0.03 rad apart
            double nearest = 1.0;
            for (int j = 0; j < count; j++) {
                nearest = fmin(nearest, point_length(point_difference(boxes[i].pos, hulls[j].pos)));
            }
            assert_true(nearest < 0.002);
        }
    }
}

// Along every direction, those through edges and corners of squares included, the farthest point is among the
// few candidates of its square, which is the same in all lanes.
static void the_farthest_point_is_among_the_candidates_of_its_direction(void **state)
{
    (void)state;
    enum { POINTS = 500, GRID = 65 };
    double points[3 * POINTS];
    for (int i = 0; i < POINTS; i++) { // an ellipsoid, by the golden angle
        double z = 1.0 - (2.0 * i + 1.0) / POINTS, across = sqrt(1.0 - z * z);
        points[3 * i] = 0.3 * across * cos(2.399963229728653 * i);
        points[3 * i + 1] = 0.2 * across * sin(2.399963229728653 * i);
        points[3 * i + 2] = 0.05 * z + 0.02;
    }
    orr_extremes e;
    orr_error error;
    assert_int_equal(orr_extremes_find(points, POINTS, &e, &error), ORR_OK);
    const orr_hull hull = {.vertices = e};
    convex_shape s = {.type = ORR_GEOM_MESH, .vertex = points, .hull = &hull};
    for (int i = 0; i < 6 * GRID * GRID; i++) {
        int axis = i / (GRID * GRID) / 2;
        double n[3], most = -1.0;
        n[axis] = i / (GRID * GRID) % 2 ? -1.0 : 1.0;
        n[(axis + 1) % 3] = 2.0 * (i / GRID % GRID) / (GRID - 1) - 1.0;
        n[(axis + 2) % 3] = 2.0 * (i % GRID) / (GRID - 1) - 1.0;
        point direction = make_point(n[0], n[1], n[2]);
        for (int k = 0; k < POINTS; k++) {
            most = fmax(most, point_dot(hull_vertex(&s, k), direction));
        }
        double found = point_dot(hull_vertex(&s, farthest_vertex(&s, direction)), direction);
        assert_close(found, most, 1e-15); // equal, but for ties that differ in rounding
        assert_close(lane_square(R(e.cells), make_real3(n[0], n[1], n[2])), extreme_square(&e, direction),
                     0.0);
    }
    int squares = 6 * e.cells * e.cells;
    assert_true(e.range[2 * squares - 1] < 6 * squares); // few: on average; all would be 500
    orr_extremes_destroy(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ellipsoids_are_as_far_or_deep_as_they_were_put),
        cmocka_unit_test(a_sphere_and_a_box_agree_with_gjk_and_epa),
        cmocka_unit_test(a_ball_on_a_face_leaves_through_it_in_float),
        cmocka_unit_test(a_capsule_touches_a_box_with_its_nearest_ball),
        cmocka_unit_test(two_boxes_are_as_deep_by_axes_as_by_epa),
        cmocka_unit_test(no_direction_parts_curved_shapes_sooner_than_the_normal),
        cmocka_unit_test(cans_that_stand_together_are_as_deep_as_they_were_put),
        cmocka_unit_test(a_capsule_that_was_put_onto_something_touches_it),
        cmocka_unit_test(a_level_height_field_is_a_plane),
        cmocka_unit_test(spheres_touch_height_fields_as_ellipsoids_do),
        cmocka_unit_test(of_many_contacts_with_a_height_field_the_deepest_are_kept),
        cmocka_unit_test(a_corner_on_a_cap_touches_it_alone),
        cmocka_unit_test(pairs_have_the_contacts_of_mujoco),
        cmocka_unit_test(faces_share_what_boxes_share),
        cmocka_unit_test(the_farthest_point_is_among_the_candidates_of_its_direction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
