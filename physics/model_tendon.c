// Tendons at one pose: lengths, moment arms, and the way around spheres and cylinders.
#include "physics/model_pose.h"
#include "physics/rotation.h"

static const double pi = 3.14159265358979323846, small = 1e-15;

static double dot2(const double a[2], const double b[2])
{
    return a[0] * b[0] + a[1] * b[1];
}

static double cross2(const double a[2], const double b[2])
{
    return a[0] * b[1] - a[1] * b[0];
}

static bool segments_meet(const double a0[2], const double a1[2], const double b0[2], const double b1[2])
{
    const double a[2] = {a1[0] - a0[0], a1[1] - a0[1]}, b[2] = {b1[0] - b0[0], b1[1] - b0[1]};
    const double apart[2] = {b0[0] - a0[0], b0[1] - a0[1]};
    double det = cross2(a, b);
    if (fabs(det) < small) {
        return false;
    }
    double s = cross2(apart, b) / det, t = cross2(apart, a) / det;
    return s >= 0.0 && s <= 1.0 && t >= 0.0 && t <= 1.0;
}

// Where the line from p to the circle touches it: one of two points, by the sign.
static void tangent_point(const double p[2], double radius, double sign, double out[2])
{
    double square = dot2(p, p), root = sqrt(fmax(0.0, square - radius * radius));
    out[0] = radius * (p[0] * radius + sign * p[1] * root) / square;
    out[1] = radius * (p[1] * radius - sign * p[0] * root) / square;
}

// The arc of a tendon that is pulled around a circle; -1: it does not touch. `side` (Nullable): the side it passes.
static double wrap_outside(const double p0[2], const double p1[2], const double *side, double radius,
                           double touch0[2], double touch1[2])
{
    double square = radius * radius;
    if (dot2(p0, p0) < square || dot2(p1, p1) < square) {
        return -1.0;
    }
    const double along[2] = {p1[0] - p0[0], p1[1] - p0[1]};
    double length = dot2(along, along), where = length > small ? -dot2(along, p0) / length : 0.0;
    where = fmin(1.0, fmax(0.0, where));
    const double nearest[2] = {p0[0] + where * along[0], p0[1] + where * along[1]};
    if (dot2(nearest, nearest) > square && (!side || dot2(nearest, side) >= 0.0)) {
        return -1.0;
    }
    double touch[2][2][2], best = 0.0;
    int chosen = -1;
    for (int i = 0; i < 2; i++) {
        double sign = i ? -1.0 : 1.0;
        tangent_point(p0, radius, sign, touch[i][0]);
        tangent_point(p1, radius, -sign, touch[i][1]);
        const double *a = touch[i][0], *b = touch[i][1];
        double quality;
        if (side) {
            double middle[2] = {a[0] + b[0], a[1] + b[1]};
            vec_normalise(middle, 2);
            quality = dot2(middle, side);
        } else {
            quality = -((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]));
        }
        quality = segments_meet(p0, a, p1, b) ? -10000.0 : quality;
        if (chosen < 0 || quality > best) {
            chosen = i;
            best = quality;
        }
    }
    memcpy(touch0, touch[chosen][0], 2 * sizeof *touch0);
    memcpy(touch1, touch[chosen][1], 2 * sizeof *touch1);
    if (segments_meet(p0, touch0, p1, touch1)) {
        return -1.0;
    }
    double cosine = dot2(touch0, touch1) / square, cross = cross2(touch0, touch1);
    double angle = acos(fmin(1.0, fmax(-1.0, cosine)));
    if ((cross > 0.0 && chosen == 1) || (cross < 0.0 && chosen == 0)) {
        angle = 2.0 * pi - angle;
    }
    return radius * angle;
}

// A tendon that passes inside touches in one point, where it makes equal angles with the circle. 0, or -1: it does not
// touch.
static double wrap_inside(const double p0[2], const double p1[2], double radius, double touch0[2],
                          double touch1[2])
{
    double r0 = sqrt(dot2(p0, p0)), r1 = sqrt(dot2(p1, p1));
    const double along[2] = {p1[0] - p0[0], p1[1] - p0[1]};
    double length = dot2(along, along);
    if (r0 <= radius || r1 <= radius) {
        return -1.0;
    }
    if (length > small) {
        double where = -dot2(along, p0) / length;
        const double nearest[2] = {p0[0] + where * along[0], p0[1] + where * along[1]};
        if (where > 0.0 && where < 1.0 && sqrt(dot2(nearest, nearest)) <= radius) {
            return -1.0;
        }
    }
    double middle[2] = {p0[0] / r0 + p1[0] / r1, p0[1] / r0 + p1[1] / r1};
    vec_normalise(middle, 2);
    for (int i = 0; i < 2; i++) {
        touch0[i] = touch1[i] = radius * middle[i]; // should the search fail
    }
    double a = radius / r0, b = radius / r1, cosine = (r0 * r0 + r1 * r1 - length) / (2.0 * r0 * r1);
    if (cosine < -1.0 + small) {
        return -1.0;
    }
    if (cosine > 1.0 - small) {
        return 0.0;
    }
    double gap = acos(cosine), z = 1.0 - 1e-7, f = asin(a * z) + asin(b * z) - 2.0 * asin(z) + gap;
    if (f > 0.0) {
        return 0.0;
    }
    int step = 0;
    for (; step < 20 && fabs(f) > 1e-6; step++) {
        double slope = a / fmax(small, sqrt(1.0 - z * z * a * a)) +
                       b / fmax(small, sqrt(1.0 - z * z * b * b)) - 2.0 / fmax(small, sqrt(1.0 - z * z));
        double next = z - f / slope;
        if (slope > -small || next > z) {
            return 0.0;
        }
        z = next;
        f = asin(a * z) + asin(b * z) - 2.0 * asin(z) + gap;
        if (f > 1e-6) {
            return 0.0;
        }
    }
    if (step == 20) {
        return 0.0;
    }
    bool first = cross2(p0, p1) > 0.0;
    double from[2] = {first ? p0[0] : p1[0], first ? p0[1] : p1[1]};
    double angle = asin(z) - asin((first ? a : b) * z);
    vec_normalise(from, 2);
    touch0[0] = touch1[0] = radius * (cos(angle) * from[0] - sin(angle) * from[1]);
    touch0[1] = touch1[1] = radius * (sin(angle) * from[0] + cos(angle) * from[1]);
    return 0.0;
}

static void to_local(const double mat[9], const double pos[3], const double point[3], double out[3])
{
    const double apart[3] = {point[0] - pos[0], point[1] - pos[1], point[2] - pos[2]};
    mat_apply_transposed(mat, apart, out);
}

double tendon_wrap(const double p0[3], const double p1[3], const double pos[3], const double mat[9],
                   double radius, bool cylinder, const double *side, double touch0[3], double touch1[3])
{
    double a[3], b[3], s[3] = {0.0}, x[3] = {1.0, 0.0, 0.0}, y[3] = {0.0, 1.0, 0.0};
    to_local(mat, pos, p0, a);
    to_local(mat, pos, p1, b);
    if (radius < small || vec_length(a) < small || vec_length(b) < small) {
        return -1.0;
    }
    if (!cylinder) { // the plane through both points and the centre
        double normal[3];
        memcpy(x, a, sizeof x);
        vec_normalise(x, 3);
        vec_cross(a, b, normal);
        if (vec_normalise(normal, 3) < small) {
            int k = fabs(a[0]) > fabs(a[1]) && fabs(a[0]) > fabs(a[2]) ? 0 : fabs(a[1]) > fabs(a[2]) ? 1 : 2;
            double other[3] = {1.0, 1.0, 1.0};
            other[k] = 0.0;
            vec_cross(a, other, normal);
            vec_normalise(normal, 3);
        }
        vec_cross(normal, x, y);
        vec_normalise(y, 3);
    }
    const double a2[2] = {vec_dot(a, x), vec_dot(a, y)}, b2[2] = {vec_dot(b, x), vec_dot(b, y)};
    double side2[2] = {0.0}, t0[2], t1[2], arc;
    if (side) {
        to_local(mat, pos, side, s);
        side2[0] = vec_dot(s, x), side2[1] = vec_dot(s, y);
        vec_normalise(side2, 2);
    }
    if (side && vec_length(s) < radius) {
        arc = wrap_inside(a2, b2, radius, t0, t1);
    } else {
        arc = wrap_outside(a2, b2, side ? side2 : NULL, radius, t0, t1);
    }
    if (arc < 0.0) {
        return -1.0;
    }
    double local0[3], local1[3];
    for (int i = 0; i < 3; i++) {
        local0[i] = x[i] * t0[0] + y[i] * t0[1];
        local1[i] = x[i] * t1[0] + y[i] * t1[1];
    }
    if (cylinder) { // it climbs evenly along its way
        double way0 = hypot(a[0] - local0[0], a[1] - local0[1]),
               way1 = hypot(b[0] - local1[0], b[1] - local1[1]);
        double climb = b[2] - a[2], way = way0 + arc + way1;
        local0[2] = a[2] + climb * way0 / way;
        local1[2] = a[2] + climb * (way0 + arc) / way;
        arc = hypot(arc, local1[2] - local0[2]);
    }
    mat_apply(mat, local0, touch0);
    mat_apply(mat, local1, touch1);
    for (int i = 0; i < 3; i++) {
        touch0[i] += pos[i];
        touch1[i] += pos[i];
    }
    return arc;
}

typedef struct path_point {
    double pos[3];
    int body;
} path_point;

static path_point site_point(const model_pose *pose, int site)
{
    path_point p = {.body = pose->m->site_bodyid[site]};
    mat_apply(pose->xmat + 9 * p.body, pose->m->site_pos + 3 * site, p.pos);
    for (int i = 0; i < 3; i++) {
        p.pos[i] += pose->xpos[3 * p.body + i];
    }
    return p;
}

// Adds a straight piece to length and moment arms.
static double add_piece(model_pose *pose, const path_point *from, const path_point *to, double divisor,
                        double *row)
{
    int nv = pose->m->nv;
    double along[3] = {to->pos[0] - from->pos[0], to->pos[1] - from->pos[1], to->pos[2] - from->pos[2]};
    double length = vec_normalise(along, 3);
    if (from->body != to->body) {
        pose_jacobian(pose, from->body, from->pos, pose->jacobian[0]);
        pose_jacobian(pose, to->body, to->pos, pose->jacobian[1]);
        for (int d = 0; d < nv; d++) {
            for (int i = 0; i < 3; i++) {
                row[d] +=
                    along[i] * (pose->jacobian[1][i * nv + d] - pose->jacobian[0][i * nv + d]) / divisor;
            }
        }
    }
    return length / divisor;
}

static double add_wrap(model_pose *pose, int wrap, const path_point *from, const path_point *to,
                       double divisor, double *row)
{
    const orr_model *m = pose->m;
    int geom = m->wrap_objid[wrap], side = (int)m->wrap_prm[wrap], body = m->geom_bodyid[geom];
    double pos[3], quat[4], mat[9];
    path_point touch0 = {.body = body}, touch1 = {.body = body}, side_point = {.body = 0};
    memcpy(pos, m->geom_pos + 3 * geom, sizeof pos);
    memcpy(quat, m->geom_quat + 4 * geom, sizeof quat);
    frame_compose(pose->xpos + 3 * body, pose->xquat + 4 * body, pos, quat);
    quat_matrix(quat, mat);
    if (side >= 0) {
        side_point = site_point(pose, side);
    }
    double arc = tendon_wrap(from->pos, to->pos, pos, mat, m->geom_size[3 * geom],
                             m->wrap_type[wrap] == ORR_WRAP_CYLINDER, side >= 0 ? side_point.pos : NULL,
                             touch0.pos, touch1.pos);
    if (arc < 0.0) {
        return add_piece(pose, from, to, divisor, row);
    }
    return add_piece(pose, from, &touch0, divisor, row) + arc / divisor +
           add_piece(pose, &touch1, to, divisor, row);
}

static double path_length(model_pose *pose, int tendon, double *row)
{
    const orr_model *m = pose->m;
    int first = m->tendon_adr[tendon], end = first + m->tendon_num[tendon];
    double length = 0.0, divisor = 1.0;
    for (int i = first; i < end; i++) {
        if (m->wrap_type[i] == ORR_WRAP_PULLEY) {
            divisor = m->wrap_prm[i];
        } else if (m->wrap_type[i] == ORR_WRAP_SITE && i + 1 < end &&
                   m->wrap_type[i + 1] != ORR_WRAP_PULLEY) {
            bool around = m->wrap_type[i + 1] != ORR_WRAP_SITE;
            path_point from = site_point(pose, m->wrap_objid[i]);
            path_point to = site_point(pose, m->wrap_objid[around ? i + 2 : i + 1]);
            length += around ? add_wrap(pose, i + 1, &from, &to, divisor, row)
                             : add_piece(pose, &from, &to, divisor, row);
        }
    }
    return length;
}

void pose_tendons(model_pose *pose, const double *qpos)
{
    const orr_model *m = pose->m;
    for (int t = 0; t < m->ntendon; t++) {
        double *row = pose->ten_J + (size_t)t * (size_t)m->nv;
        memset(row, 0, (size_t)m->nv * sizeof *row);
        if (m->wrap_type[m->tendon_adr[t]] != ORR_WRAP_JOINT) {
            pose->ten_length[t] = path_length(pose, t, row);
            continue;
        }
        pose->ten_length[t] = 0.0;
        for (int i = m->tendon_adr[t]; i < m->tendon_adr[t] + m->tendon_num[t]; i++) {
            int joint = m->wrap_objid[i];
            pose->ten_length[t] += m->wrap_prm[i] * qpos[m->jnt_qposadr[joint]];
            row[m->jnt_dofadr[joint]] += m->wrap_prm[i];
        }
    }
}
