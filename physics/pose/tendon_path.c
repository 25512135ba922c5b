#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/pose/tendon_path.h"

#include "engine/maths/rotation.h"
#include "physics/lanes/tendon_wrap.h"

#include <math.h>
#include <string.h>

enum { ARC_PIECES = 8 }; // straight pieces of a path along a geom

static real3 point(const double p[3])
{
    return make_real3(p[0], p[1], p[2]);
}

static void site_position(const orr_model *m, int site, const double *xpos, const double *xquat,
                          double pos[3])
{
    int body = m->site_bodyid[site];
    quat_apply(xquat + 4 * body, m->site_pos + 3 * site, pos);
    for (int k = 0; k < 3; k++) {
        pos[k] += xpos[3 * body + k];
    }
}

static int put(orr_tendon_point *points, int count, const double at[3], bool on_geom)
{
    points[count] = (orr_tendon_point){.goes_on = true, .on_geom = on_geom};
    memcpy(points[count].at, at, sizeof points[count].at);
    return count + 1;
}

// The path on a sphere or cylinder between the touching points: evenly around its centre, or its axis, and
// evenly along that.
static int put_arc(orr_tendon_point *points, int count, const tendon_wrap *wrap, real3 pos, matrix3 frame,
                   bool cylinder)
{
    real3 from = rotate_inverse(frame, sub3(wrap->touch[0], pos)),
          to = rotate_inverse(frame, sub3(wrap->touch[1], pos));
    double rise = cylinder ? to.z - from.z : 0.0, start = cylinder ? from.z : 0.0;
    from.z = cylinder ? 0.0 : from.z;
    to.z = cylinder ? 0.0 : to.z;
    double cosine = dot3(from, to) / fmax(sqrt(dot3(from, from) * dot3(to, to)), 1e-30);
    double angle = acos(fmin(1.0, fmax(-1.0, cosine))), sine = sin(angle);
    for (int i = 0; i <= ARC_PIECES; i++) {
        double share = (double)i / ARC_PIECES;
        double a = sine > 1e-6 ? sin((1.0 - share) * angle) / sine : 1.0 - share;
        double b = sine > 1e-6 ? sin(share * angle) / sine : share;
        real3 local = make_real3(a * from.x + b * to.x, a * from.y + b * to.y,
                                 a * from.z + b * to.z + start + share * rise);
        real3 at = add3(rotate(frame, local), pos);
        count = put(points, count, (double[]){at.x, at.y, at.z}, i < ARC_PIECES);
    }
    return count;
}

static int put_wrap(const orr_model *m, int entry, const double *xpos, const double *xquat,
                    const double p0[3], const double p1[3], orr_tendon_point *points, int count)
{
    int geom = m->wrap_objid[entry], side = (int)m->wrap_prm[entry], body = m->geom_bodyid[geom];
    bool cylinder = m->wrap_type[entry] == ORR_WRAP_CYLINDER;
    double pos[3], quat[4], side_pos[3] = {0.0};
    memcpy(pos, m->geom_pos + 3 * geom, sizeof pos);
    memcpy(quat, m->geom_quat + 4 * geom, sizeof quat);
    frame_compose(xpos + 3 * body, xquat + 4 * body, pos, quat);
    if (side >= 0) {
        site_position(m, side, xpos, xquat, side_pos);
    }
    matrix3 frame = quaternion_matrix(make_quaternion(quat[0], quat[1], quat[2], quat[3]));
    tendon_wrap wrap = wrap_tendon(point(p0), point(p1), point(pos), frame, m->geom_size[3 * geom], cylinder,
                                   side >= 0, point(side_pos));
    return wrap.touches ? put_arc(points, count, &wrap, point(pos), frame, cylinder) : count;
}

int orr_tendon_points(const orr_model *m, int tendon)
{
    int count = 0;
    for (int i = 0; i < m->tendon_num[tendon]; i++) {
        int type = m->wrap_type[m->tendon_adr[tendon] + i];
        count += type == ORR_WRAP_SITE                                  ? 1
                 : type == ORR_WRAP_SPHERE || type == ORR_WRAP_CYLINDER ? ARC_PIECES + 1
                                                                        : 0;
    }
    return count;
}

int orr_tendon_path(const orr_model *m, int tendon, const double *xpos, const double *xquat,
                    orr_tendon_point *points)
{
    int first = m->tendon_adr[tendon], end = first + m->tendon_num[tendon], count = 0;
    double from[3], to[3];
    for (int i = first; i < end; i++) {
        switch ((orr_wrap_type)m->wrap_type[i]) {
        case ORR_WRAP_SITE:
            site_position(m, m->wrap_objid[i], xpos, xquat, from);
            count = put(points, count, from, false);
            points[count - 1].goes_on = i + 1 < end && m->wrap_type[i + 1] != ORR_WRAP_PULLEY;
            break;
        case ORR_WRAP_SPHERE:
        case ORR_WRAP_CYLINDER: // between two sites
            site_position(m, m->wrap_objid[i + 1], xpos, xquat, to);
            count = put_wrap(m, i, xpos, xquat, from, to, points, count);
            break;
        default:
            break;
        }
    }
    return count;
}
