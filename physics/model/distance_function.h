// Distances as functions: MuJoCo's plugins mujoco.sdf.bolt, bowl, gear, nut and torus, whose shapes are
// those of the shaders XtffzX (bolt and nut), 7tVXRt (bowl) and 3lG3WR (gear) of shadertoy.com. A function
// gives the distance of a point in the shape's frame [m], negative inside, and its gradient. Of a bolt, a nut
// and a gear it is a bound of the distance only: their parts are joined by minima and maxima.
//
// In double, for one point: the compiler of models and the routines of one lane (lanes/collision) use it.
#pragma once

#include "engine/maths/formula.h"
#include "physics/model/model.h"

#include <math.h>

#define DISTANCE_PI 3.14159265358979323846

// Indices of the parameters (geom_functionprm).
enum { BOLT_RADIUS };                              // m; the nut's is the same
enum { BOWL_HEIGHT, BOWL_RADIUS, BOWL_THICKNESS }; // m
enum {
    GEAR_ALPHA,
    GEAR_DIAMETER,
    GEAR_TEETH,
    GEAR_THICKNESS,
    GEAR_INNER
};                                     // rad, m, -, m, m (< 0: none given)
enum { TORUS_RADIUS1, TORUS_RADIUS2 }; // m

// A distance and its gradient.
typedef struct distance_at {
    double d, x, y, z;
} distance_at;

FN distance_at make_distance(double d, double x, double y, double z)
{
    distance_at a = {d, x, y, z};
    return a;
}

// s a + t
FN distance_at distance_scaled(distance_at a, double s, double t)
{
    return make_distance(s * a.d + t, s * a.x, s * a.y, s * a.z);
}

// a + s b
FN distance_at distance_sum(distance_at a, double s, distance_at b)
{
    return make_distance(a.d + s * b.d, a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

FN distance_at distance_union(distance_at a, distance_at b)
{
    return a.d < b.d ? a : b;
}

FN distance_at distance_both(distance_at a, distance_at b)
{
    return a.d > b.d ? a : b;
}

FN distance_at distance_without(distance_at a, distance_at b)
{
    return distance_both(a, distance_scaled(b, -1.0, 0.0));
}

FN distance_at distance_magnitude(distance_at a)
{
    return a.d < 0.0 ? distance_scaled(a, -1.0, 0.0) : a;
}

// sqrt(a^2 + b^2); 0 has the gradient 0
FN distance_at distance_hypot(distance_at a, distance_at b)
{
    double length = sqrt(a.d * a.d + b.d * b.d), per = 1.0 / fmax(length, 1e-15);
    double s = a.d * per, t = b.d * per;
    return make_distance(length, s * a.x + t * b.x, s * a.y + t * b.y, s * a.z + t * b.z);
}

// The distance from the z axis; on it the gradient is 0.
FN distance_at distance_from_axis(const double p[3])
{
    double rho = sqrt(p[0] * p[0] + p[1] * p[1]), per = 1.0 / fmax(rho, 1e-15);
    return make_distance(rho, p[0] * per, p[1] * per, 0.0);
}

// The angle about the z axis.
FN distance_at distance_angle(const double p[3])
{
    double per = 1.0 / fmax(p[0] * p[0] + p[1] * p[1], 1e-30);
    return make_distance(atan2(p[1], p[0]), -p[1] * per, p[0] * per, 0.0);
}

// ---- bolt and nut: a thread of 12 turns per m, whose flanks are at 45 degrees

#define DISTANCE_TURNS 12.0
#define DISTANCE_HALF_ROOT 0.70710678118654752440

// The thread around a cylinder; over: the distance from that.
FN distance_at thread_distance(distance_at over, distance_at angle, double z)
{
    distance_at phase = distance_scaled(angle, -0.5 / DISTANCE_PI, z * DISTANCE_TURNS);
    phase.z = DISTANCE_TURNS;
    phase.d = phase.d - floor(phase.d) - 0.5;
    distance_at flank = distance_sum(over, -1.0 / DISTANCE_TURNS, distance_magnitude(phase));
    return distance_scaled(flank, DISTANCE_HALF_ROOT, 0.0);
}

// A hexagonal prism from z = -0.5 to 0, whose sides are 0.5 from the axis, with a conical top.
FN distance_at head_distance(const double p[3], distance_at over, distance_at angle)
{
    double sector = -floor(angle.d * 3.0 / DISTANCE_PI + 0.5) / (3.0 / DISTANCE_PI);
    double sine = sin(sector), cosine = cos(sector);
    distance_at side = make_distance(cosine * p[0] - sine * p[1] - 0.5, cosine, -sine, 0.0);
    distance_at middle = make_distance(p[2] + 0.25, 0.0, 0.0, 1.0);
    side = distance_both(side, distance_scaled(distance_magnitude(middle), 1.0, -0.25));
    distance_at cone = distance_sum(over, 1.0, make_distance(p[2] - 0.22, 0.0, 0.0, 1.0));
    return distance_both(side, distance_scaled(cone, DISTANCE_HALF_ROOT, 0.0));
}

FN distance_at bolt_or_nut_distance(const double *prm, const double p[3], int is_nut)
{
    distance_at over = distance_scaled(distance_from_axis(p), 1.0, -prm[BOLT_RADIUS]);
    distance_at angle = distance_angle(p), head = head_distance(p, over, angle);
    distance_at thread = thread_distance(over, angle, p[2]);
    distance_at cone = distance_sum(make_distance(p[2], 0.0, 0.0, 1.0), -1.0, over);
    cone = distance_scaled(cone, DISTANCE_HALF_ROOT, 0.0);
    if (is_nut) { // the hole is wider at both ends
        distance_at hole = distance_without(thread, distance_scaled(cone, 1.0, 0.5 * DISTANCE_HALF_ROOT));
        hole = distance_union(hole, distance_scaled(cone, -1.0, -0.05 * DISTANCE_HALF_ROOT));
        return distance_without(head, hole);
    }
    distance_at middle = make_distance(p[2] + 0.5, 0.0, 0.0, 1.0);
    distance_at bolt = distance_both(thread, distance_scaled(distance_magnitude(middle), 1.0, -0.5));
    bolt = distance_without(bolt, distance_scaled(cone, 1.0, DISTANCE_HALF_ROOT));
    return distance_union(bolt, head);
}

// ---- bowl: a shell of a sphere below a height

FN distance_at bowl_distance(const double *prm, const double p[3])
{
    double height = prm[BOWL_HEIGHT], radius = prm[BOWL_RADIUS];
    double width = sqrt(radius * radius - height * height);
    distance_at rho = distance_from_axis(p), z = make_distance(p[2], 0.0, 0.0, 1.0);
    distance_at shell;
    if (height * rho.d < width * p[2]) {
        shell = distance_hypot(distance_scaled(rho, 1.0, -width), distance_scaled(z, 1.0, -height));
    } else {
        shell = distance_magnitude(distance_scaled(distance_hypot(rho, z), 1.0, -radius));
    }
    return distance_scaled(shell, 1.0, -prm[BOWL_THICKNESS]);
}

// ---- gear: a ring with teeth whose flanks are involutes of a circle

// The smaller of both, rounded where they differ by less than k.
FN distance_at distance_smooth_union(distance_at a, distance_at b, double k)
{
    double h = fmin(fmax(0.5 + 0.5 * (b.d - a.d) / k, 0.0), 1.0);
    distance_at mixed = distance_sum(distance_scaled(b, 1.0 - h, 0.0), h, a);
    mixed.d -=
        k * h * (1.0 - h); // whose derivative by h is that of the mixture: the gradient has no part of it
    return mixed;
}

FN distance_at distance_smooth_both(distance_at a, distance_at b, double k)
{
    distance_at apart = distance_smooth_union(distance_without(a, b), distance_without(b, a), k);
    return distance_without(distance_both(a, b), apart);
}

FN double distance_wrapped(double angle, double stride)
{
    return angle - stride * floor(angle / stride);
}

// In the plane, outside of the hole and not far outside of the teeth. radius: of the pitch circle; outer: of
// the tips; depth: of the teeth.
FN distance_at teeth_distance(const double *prm, const double p[3], distance_at rho, double outer,
                              double depth)
{
    double diameter = prm[GEAR_DIAMETER], teeth = prm[GEAR_TEETH], radius = 0.5 * diameter;
    double pressure = 3.096e-5 * teeth * teeth - 6.557e-3 * teeth + 0.551; // angle [rad]
    double base = radius * cos(pressure), stride = 2.0 * DISTANCE_PI / teeth;
    double at_pitch = acos(base / radius), shift = 0.5 * stride - 2.0 * (tan(at_pitch) - at_pitch);
    distance_at angle = distance_scaled(distance_angle(p), 1.0, prm[GEAR_ALPHA]);
    distance_at left = angle, right = distance_scaled(angle, -1.0, 0.0);
    left.d = distance_wrapped(left.d + 0.5 * shift, stride) - 0.5 * shift;
    right.d = distance_wrapped(right.d - 0.5 * shift, stride) - 0.5 * shift;
    distance_at cogs = make_distance(-1e6, 0.0, 0.0, 0.0);
    if (rho.d > base) { // distances along the tangents of the base circle
        double tangent = sqrt(rho.d * rho.d - base * base);
        distance_at unrolled = distance_scaled(rho, tangent / rho.d, 0.0);
        unrolled.d = tangent - base * acos(base / rho.d);
        cogs = distance_both(distance_sum(unrolled, -base, left), distance_sum(unrolled, -base, right));
    }
    cogs = distance_both(distance_scaled(distance_both(left, right), 1.0, shift - stride), cogs);
    cogs = distance_smooth_both(distance_scaled(rho, 1.0, -outer), cogs, 0.0035 * diameter);
    return distance_smooth_union(distance_scaled(rho, 1.0, depth - outer), cogs, base - outer + depth);
}

FN distance_at gear_distance(const double *prm, const double p[3])
{
    double diameter = prm[GEAR_DIAMETER], module = diameter / prm[GEAR_TEETH];
    double outer = 0.5 * diameter + module, depth = 2.2 * module;
    double inner = prm[GEAR_INNER] >= 0.0 ? 0.5 * prm[GEAR_INNER] : outer - depth - 0.14 * diameter;
    distance_at rho = distance_from_axis(p), flat;
    if (inner > rho.d) {
        flat = distance_scaled(rho, -1.0, inner);
    } else if (rho.d - outer > 0.2) {
        flat = distance_scaled(rho, 1.0, -outer);
    } else {
        flat = teeth_distance(prm, p, rho, outer, depth);
        flat = distance_without(flat, distance_scaled(rho, 1.0, -inner));
    }
    distance_at over = distance_magnitude(make_distance(p[2], 0.0, 0.0, 1.0));
    over.d -= 0.5 * prm[GEAR_THICKNESS];
    if (flat.d <= 0.0 || over.d <= 0.0) {
        return distance_both(flat, over);
    }
    return distance_hypot(flat, over);
}

// ----

FN distance_at torus_distance(const double *prm, const double p[3])
{
    distance_at ring = distance_scaled(distance_from_axis(p), 1.0, -prm[TORUS_RADIUS1]);
    return distance_scaled(distance_hypot(ring, make_distance(p[2], 0.0, 0.0, 1.0)), 1.0,
                           -prm[TORUS_RADIUS2]);
}

FN distance_at function_distance(int function, const double *prm, const double p[3])
{
    switch (function) {
    case ORR_FUNCTION_BOLT:
        return bolt_or_nut_distance(prm, p, 0);
    case ORR_FUNCTION_BOWL:
        return bowl_distance(prm, p);
    case ORR_FUNCTION_GEAR:
        return gear_distance(prm, p);
    case ORR_FUNCTION_NUT:
        return bolt_or_nut_distance(prm, p, 1);
    default:
        return torus_distance(prm, p);
    }
}

// Half sizes of a box around the shape, centred on 0.
FN void function_half_box(int function, const double *prm, double half[3])
{
    double across = 0.6, along = 1.0; // bolt and nut
    if (function == ORR_FUNCTION_BOWL) {
        across = along = prm[BOWL_RADIUS] + prm[BOWL_THICKNESS];
    } else if (function == ORR_FUNCTION_GEAR) {
        across = 0.625 * prm[GEAR_DIAMETER];
        along = 0.55 * prm[GEAR_THICKNESS];
    } else if (function == ORR_FUNCTION_TORUS) {
        across = prm[TORUS_RADIUS1] + prm[TORUS_RADIUS2];
        along = prm[TORUS_RADIUS2];
    }
    half[0] = half[1] = across;
    half[2] = along;
}
