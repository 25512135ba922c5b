// Tendons at one pose: lengths, moment arms, and the way around spheres and cylinders.
#define ORR_SCALAR
#define ORR_SCALAR_DOUBLE
#include "physics/lanes/wrap.h"
#include "physics/model/pose.h"
#include "physics/model/rotation.h"

static real3 point(const double p[3])
{
    return make_real3(p[0], p[1], p[2]);
}

// Length of the way from p0 to p1 around a sphere or cylinder (its frame: pos, quat), and where it touches; -1: it does
// not touch. side is NULL, or a point it passes at.
static double around_geom(const double p0[3], const double p1[3], const double pos[3], const double quat[4],
                          double radius, bool cylinder, const double *side, double touch0[3],
                          double touch1[3])
{
    matrix3 frame = quaternion_matrix(make_quaternion(quat[0], quat[1], quat[2], quat[3]));
    tendon_wrap wrap = wrap_tendon(point(p0), point(p1), point(pos), frame, radius, cylinder, side != NULL,
                                   point(side ? side : pos));
    const double touch[2][3] = {{wrap.touch[0].x, wrap.touch[0].y, wrap.touch[0].z},
                                {wrap.touch[1].x, wrap.touch[1].y, wrap.touch[1].z}};
    memcpy(touch0, touch[0], sizeof touch[0]);
    memcpy(touch1, touch[1], sizeof touch[1]);
    return wrap.touches ? wrap.arc : -1.0;
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
    double pos[3], quat[4];
    path_point touch0 = {.body = body}, touch1 = {.body = body}, side_point = {.body = 0};
    memcpy(pos, m->geom_pos + 3 * geom, sizeof pos);
    memcpy(quat, m->geom_quat + 4 * geom, sizeof quat);
    frame_compose(pose->xpos + 3 * body, pose->xquat + 4 * body, pos, quat);
    if (side >= 0) {
        side_point = site_point(pose, side);
    }
    double arc = around_geom(from->pos, to->pos, pos, quat, m->geom_size[3 * geom],
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
