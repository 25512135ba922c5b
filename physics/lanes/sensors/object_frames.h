// Frames of the objects that sensors are attached to and measure in: pose, velocity and acceleration.
#pragma once

#include "physics/lanes/kinematics.h"

// z away from the target, x horizontal
FN matrix3 look_at_frame(real3 at, real3 target)
{
    matrix3 frame;
    frame.z = normalise3(sub3(at, target));
    frame.x = normalise3(cross3(axis3(2), frame.z));
    frame.y = normalise3(cross3(frame.z, frame.x));
    return frame;
}

LANE_FN void cameras(const lane_model *m, lane_data *d)
{
    for (int i = 0; i < m->ncam; i++) {
        int body = m->cam_bodyid[i], target = m->cam_targetbodyid[i];
        real3 at = add3(load3(d->xpos, body), rotate(load_matrix(d->xmat, body), uniform3(m->cam_pos, i)));
        matrix3 frame = quaternion_matrix(
            multiply_quaternions(load_quaternion(d->xquat, body), uniform4(m->cam_quat, i)));
        const uniform_real *rest = m->cam_mat0 + 9 * i;
        switch (m->cam_mode[i]) {
        case ORR_CAMERA_TRACK:
        case ORR_CAMERA_TRACKCOM:
            at = m->cam_mode[i] == ORR_CAMERA_TRACK
                     ? add3(load3(d->xpos, body), uniform3(m->cam_pos0, i))
                     : add3(load3(d->subtree_com, body), uniform3(m->cam_poscom0, i));
            frame.x = make_real3(R(rest[0]), R(rest[3]), R(rest[6]));
            frame.y = make_real3(R(rest[1]), R(rest[4]), R(rest[7]));
            frame.z = make_real3(R(rest[2]), R(rest[5]), R(rest[8]));
            break;
        case ORR_CAMERA_TARGETBODY:
        case ORR_CAMERA_TARGETBODYCOM:
            if (target >= 0) {
                reals targets = m->cam_mode[i] == ORR_CAMERA_TARGETBODY ? d->xpos : d->subtree_com;
                frame = look_at_frame(at, load3(targets, target));
            }
            break;
        default: // fixed
            break;
        }
        store3(d->cam_xpos, i, at);
        store_matrix(d->cam_xmat, i, frame);
    }
}

typedef struct lane_object {
    int body;
    real3 pos;
    matrix3 frame;
} lane_object;

// kind: orr_object. A body's frame is that of its inertia, an xbody's its own.
LANE_FN lane_object find_object(const lane_model *m, const lane_data *d, int kind, int id)
{
    lane_object o;
    reals pos = d->xpos, frame = d->xmat;
    o.body = id;
    switch (kind) {
    case ORR_OBJECT_BODY:
        pos = d->xipos, frame = d->ximat;
        break;
    case ORR_OBJECT_GEOM:
        pos = d->geom_xpos, frame = d->geom_xmat;
        o.body = m->geom_bodyid[id];
        break;
    case ORR_OBJECT_SITE:
        pos = d->site_xpos, frame = d->site_xmat;
        o.body = m->site_bodyid[id];
        break;
    case ORR_OBJECT_CAMERA:
        pos = d->cam_xpos, frame = d->cam_xmat;
        o.body = m->cam_bodyid[id];
        break;
    default: // xbody
        break;
    }
    o.pos = load3(pos, id);
    o.frame = load_matrix(frame, id);
    return o;
}

LANE_FN quaternion object_quaternion(const lane_model *m, const lane_data *d, int kind, int id)
{
    switch (kind) {
    case ORR_OBJECT_BODY:
        return multiply_quaternions(load_quaternion(d->xquat, id), uniform4(m->body_iquat, id));
    case ORR_OBJECT_GEOM:
        return multiply_quaternions(load_quaternion(d->xquat, m->geom_bodyid[id]),
                                    uniform4(m->geom_quat, id));
    case ORR_OBJECT_SITE:
        return multiply_quaternions(load_quaternion(d->xquat, m->site_bodyid[id]),
                                    uniform4(m->site_quat, id));
    case ORR_OBJECT_CAMERA: // whatever its mode, as in MuJoCo
        return multiply_quaternions(load_quaternion(d->xquat, m->cam_bodyid[id]), uniform4(m->cam_quat, id));
    default:
        return load_quaternion(d->xquat, id);
    }
}

// A spatial velocity or acceleration of the object's body, at the object's position; world axes.
LANE_FN spatial motion_at(const lane_model *m, const lane_data *d, const lane_object *o, reals motions)
{
    spatial v = load_spatial(motions, o->body);
    return make_spatial(v.r, velocity_at(v, arm_to(m, d, o->body, o->pos)));
}

LANE_FN spatial object_velocity(const lane_model *m, const lane_data *d, const lane_object *o)
{
    return motion_at(m, d, o, d->cvel);
}

// What an accelerometer at the object measures, gravity included.
LANE_FN spatial object_acceleration(const lane_model *m, const lane_data *d, const lane_object *o)
{
    spatial a = motion_at(m, d, o, d->cacc), v = object_velocity(m, d, o);
    return make_spatial(a.r, add3(a.t, cross3(v.r, v.t)));
}
