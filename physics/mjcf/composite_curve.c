// The points of a cable, and the frames of the segments between them: the normal is carried from one segment
// to the next by the rotation that takes their directions to each other, so that the cable is not twisted.
// MuJoCo's numbers: points are floats.
#include "engine/maths/rotation.h"
#include "physics/mjcf/mjcf.h"

#include <string.h>

enum { POINTS_MAX = 256 }; // bodies are read recursively, and M has an entry for each pair of joints

static const double pi = 3.14159265358979323846;
static const double no_length = 1e-14; // a vector that is shorter has no direction, as in MuJoCo

typedef enum curve_shape { ZERO, LINE, COSINE, SINE } curve_shape;

static orr_result read_shapes(const mjcf_node *node, const char *text, curve_shape shapes[3],
                              orr_error *error)
{
    static const char space[] = " \t\r\n";
    static const char *const names[] = {"0", "s", "cos(s)", "sin(s)"};
    int count = 0;
    for (const char *p = text + strspn(text, space); *p; p += strspn(p, space), count++) {
        size_t length = strcspn(p, space);
        int shape = 0;
        while (shape < 4 && (strlen(names[shape]) != length || memcmp(p, names[shape], length) != 0)) {
            shape++;
        }
        if (shape == 4 || count == 3) {
            return mjcf_fail(node, error, "curve: expected up to three of 0, s, cos(s) and sin(s)");
        }
        shapes[count] = (curve_shape)shape;
        p += length;
    }
    return ORR_OK;
}

static double coordinate(const mjcf_composite *c, curve_shape shape, int i)
{
    int segments = c->count[0] - 1;
    double angle = pi * i * c->size[2] / segments;
    switch (shape) {
    case LINE:
        return i * c->size[0] / segments;
    case COSINE:
        return c->size[1] * cos(angle);
    case SINE:
        return c->size[1] * sin(angle);
    case ZERO:
        break;
    }
    return 0.0;
}

static orr_result curve_points(const mjcf_node *node, mjcf_composite *c, orr_error *error)
{
    curve_shape shapes[3] = {ZERO, ZERO, ZERO};
    ORR_TRY(read_shapes(node, c->curve ? c->curve : "", shapes, error));
    if (quat_normalise(c->quat) < no_length) {
        return mjcf_fail(node, error, "quat: expected a quaternion that is not 0");
    }
    for (int i = 0; i < c->points; i++) {
        double at[3];
        for (int k = 0; k < 3; k++) {
            at[k] = coordinate(c, shapes[k], i);
        }
        quat_apply(c->quat, at, at);
        for (int k = 0; k < 3; k++) {
            c->point[3 * i + k] = (float)at[k];
        }
    }
    return ORR_OK;
}

// From one point to the next, to length 1. Returns the length; 0: there is no next point.
static double direction_of(const mjcf_composite *c, int i, double direction[3])
{
    memset(direction, 0, 3 * sizeof *direction);
    for (int k = 0; k < 3 && i + 1 < c->points; k++) {
        float apart = c->point[3 * (i + 1) + k] - c->point[3 * i + k];
        direction[k] = (double)apart;
    }
    return vec3_normalise(direction);
}

orr_result mjcf_cable_points(const mjcf_node *node, mjcf_composite *c, orr_spec *spec, orr_error *error)
{
    bool given = c->vertex.count > 0;
    if (given && (c->count[0] != 1 || c->vertex.count % 3 != 0)) {
        return mjcf_fail(node, error, "vertex: expected three numbers for each vertex, and no count");
    }
    c->points = given ? c->vertex.count / 3 : c->count[0];
    if (c->points < 2 || c->points > POINTS_MAX || c->count[1] != 1 || c->count[2] != 1) {
        return mjcf_fail(node, error, "expected 2 to %d vertices, or a count of as many and 1 1", POINTS_MAX);
    }
    c->point = orr_arena_take(&spec->arena, 3 * (size_t)c->points, sizeof *c->point);
    if (!c->point) {
        return spec_memory_fail(error);
    }
    for (int i = 0; i < c->vertex.count; i++) {
        c->point[i] = (float)c->vertex.values[i];
    }
    ORR_TRY(given ? ORR_OK : curve_points(node, c, error));
    for (int i = 0; i + 1 < c->points; i++) {
        double direction[3], length = direction_of(c, i, direction);
        if (!(length > no_length && isfinite(length))) {
            return mjcf_fail(node, error, "points %d and %d of the cable: expected a distance between them",
                             i, i + 1);
        }
    }
    return ORR_OK;
}

// a x b to length 1. Returns its length; where that is 0, a x b is left 0.
static double normal_of(const double a[3], const double b[3], double out[3])
{
    vec3_cross(a, b, out);
    double length = vec3_length(out);
    if (length < no_length) {
        memset(out, 0, 3 * sizeof *out);
        return 0.0;
    }
    return vec3_normalise(out);
}

// The frame of a cable that has been straight from its first point on, which has no normal: MuJoCo turns the
// x axis the shortest way to the direction, or, where that is more than a quarter turn, the -x axis after
// half a turn about z.
static void straight_frame(const double direction[3], double quat[4])
{
    const double x = direction[0], y = direction[1], z = direction[2];
    const double forwards[4] = {1.0 + x, 0.0, -z, y}, backwards[4] = {y, z, 0.0, 1.0 - x};
    memcpy(quat, x > 0.0 ? forwards : backwards, sizeof forwards);
    quat_normalise(quat);
}

// Which component of the quaternion of a matrix MuJoCo makes positive; a quaternion of the other sign is the
// same rotation.
static int positive_component(const double diagonal[3])
{
    const double x = diagonal[0], y = diagonal[1], z = diagonal[2];
    if (x + y + z > 0.0) {
        return 0;
    }
    return x > y && x > z ? 1 : y > z ? 2 : 3;
}

mjcf_segment mjcf_cable_segment(const mjcf_composite *c, int i, const mjcf_segment *before)
{
    mjcf_segment segment = {0};
    double along[3], other[3], binormal[3], turn[4];
    segment.length = direction_of(c, i, along);
    if (!before) { // the first bend is about the binormal
        direction_of(c, i + 1, other);
        normal_of(along, other, binormal);
        normal_of(binormal, along, segment.normal);
    } else {
        direction_of(c, i - 1, other);
        double sine = normal_of(other, along, binormal);
        quat_axis_angle(binormal, atan2(sine, vec3_dot(other, along)), turn);
        memcpy(segment.normal, before->normal, sizeof segment.normal);
        if (sine > 0.0) {
            quat_apply(turn, segment.normal, segment.normal);
            vec3_normalise(segment.normal);
        }
    }
    if (normal_of(along, segment.normal, binormal) == 0.0) {
        straight_frame(along, segment.quat);
        return segment;
    }
    quat_from_axes(along, segment.normal, binormal, segment.quat);
    const double diagonal[3] = {along[0], segment.normal[1], binormal[2]};
    int positive = positive_component(diagonal);
    double sign = segment.quat[positive] < 0.0 ? -1.0 : 1.0;
    for (int k = 0; k < 4; k++) {
        segment.quat[k] *= sign;
    }
    return segment;
}
