// What a camera sees through bodies of glass, in closed form and in doubles.
#pragma once

#include "engine/orrery.h"

#include <math.h>

typedef struct glass_seen_place {
    double x, y;     // where the ray meets the panel
    double first;    // what the surface that it meets first reflects
    double second;   // what the one reflects through which it leaves
    double distance; // in the body
} glass_seen_place;

static inline double closed_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// The ray of a pixel's centre.
static inline void closed_ray(const orr_camera *c, int x, int y, double o[3], double d[3])
{
    const double local[3] = {((double)x + 0.5 - 0.5 * c->width) / (double)c->focal[0],
                             ((double)y + 0.5 - 0.5 * c->height) / (double)c->focal[1], 1.0};
    for (int i = 0; i < 3; i++) {
        o[i] = (double)c->pose[4 * i + 3];
        d[i] = 0.0;
        for (int k = 0; k < 3; k++) {
            d[i] += (double)c->pose[4 * i + k] * local[k];
        }
    }
    const double length = sqrt(closed_dot(d, d));
    for (int i = 0; i < 3; i++) {
        d[i] /= length;
    }
}

// Refracts d, which goes against the unit normal n; returns what is reflected, by the angles on both sides.
static inline double closed_refract(double d[3], const double n[3], double eta)
{
    const double angle = acos(fmin(-closed_dot(d, n), 1.0)), beyond = asin(sin(angle) / eta);
    for (int i = 0; i < 3; i++) {
        d[i] = d[i] / eta + n[i] * (cos(angle) / eta - cos(beyond));
    }
    if (angle < 1e-6) {
        return (eta - 1.0) * (eta - 1.0) / ((eta + 1.0) * (eta + 1.0));
    }
    const double across = sin(angle - beyond) / sin(angle + beyond),
                 along = tan(angle - beyond) / tan(angle + beyond);
    return 0.5 * (across * across + along * along);
}

// Through the sphere of radius 1 at the origin, to the plane z; false: not, or near its outline, where
// radius: of the ray's distance to the origin that is well inside.
static inline bool closed_sphere(const orr_camera *c, int x, int y, double ior, double z, double radius,
                                 glass_seen_place *seen)
{
    double o[3], d[3], p[3], n[3];
    closed_ray(c, x, y, o, d);
    const double od = closed_dot(o, d), root = od * od - closed_dot(o, o) + 1.0;
    if (1.0 - root > radius * radius) {
        return false;
    }
    for (int i = 0; i < 3; i++) {
        p[i] = n[i] = o[i] + (-od - sqrt(root)) * d[i];
    }
    seen->first = closed_refract(d, n, ior);
    seen->distance = -2.0 * closed_dot(p, d);
    for (int i = 0; i < 3; i++) {
        p[i] += seen->distance * d[i];
        n[i] = -p[i];
    }
    seen->second = closed_refract(d, n, 1.0 / ior);
    const double t = (z - p[2]) / d[2];
    seen->x = p[0] + t * d[0];
    seen->y = p[1] + t * d[1];
    return t > 0.0;
}

// Through a slab of thickness 1 whose normal is the unit vector n, on the side of the eye: the known distance
// by which it moves the ray aside.
static inline void closed_slab(const orr_camera *c, int x, int y, double ior, double z, const double n[3],
                               glass_seen_place *seen)
{
    double o[3], d[3], inside[3];
    closed_ray(c, x, y, o, d);
    for (int i = 0; i < 3; i++) {
        inside[i] = d[i];
    }
    seen->first = seen->second = closed_refract(inside, n, ior);
    seen->distance = -1.0 / closed_dot(inside, n);
    for (int i = 0; i < 3; i++) {
        o[i] += seen->distance * inside[i] + d[i] / closed_dot(d, n);
    }
    const double t = (z - o[2]) / d[2];
    seen->x = o[0] + t * d[0];
    seen->y = o[1] + t * d[1];
}
