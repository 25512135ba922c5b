// Sensors: what a robot measures of itself and its world. Nothing of the dynamics depends on it, so that it is worked
// out when it is asked for.
#pragma once

#include "physics/lane_contact_force.h"
#include "physics/lane_object.h"
#include "physics/lane_ray_scene.h"

// The normal forces of contacts of the site's body that act inside the site, or towards it.
LANE_FN real touch_force(const lane_model *m, const lane_data *d, int site)
{
    int body = m->site_bodyid[site];
    real3 size = uniform3(m->site_size, site);
    real sum = R(0.0);
    for (int i = 0; i < d->contact_count; i++) {
        const orr_pair *pair = &m->plan->pair[d->contact[i].pair];
        int second = m->geom_bodyid[pair->geom2] == body;
        if (!second && m->geom_bodyid[pair->geom1] != body) {
            continue;
        }
        real force[6];
        contact_force(m, d, i, force);
        if (!any(force[0] > R(0.0))) {
            continue;
        }
        real3 along = scale3(load3(d->contact_frame, 3 * i), R(second ? -1.0 : 1.0));
        lane_ray ray = local_ray(load3(d->site_xpos, site), load_matrix(d->site_xmat, site),
                                 load3(d->contact_pos, i), along);
        ray_shape(&ray, m->site_type[site], &size);
        sum = sum + sel(ray.nearest < R(LANE_HUGE), force[0], R(0.0));
    }
    return sum;
}

// limit: as in lane_row. Of the limits that act now, the first; 0 when there is none.
LANE_FN real limit_value(const lane_data *d, int limit, int type)
{
    real value = R(0.0);
    mask found = not_(everywhere());
    for (int i = 0; i < d->row_count; i++) {
        if (d->row[i].limit != limit) {
            continue;
        }
        real x = d->efc_force[i];
        if (type == ORR_SENSOR_JOINTLIMITPOS || type == ORR_SENSOR_TENDONLIMITPOS) {
            x = d->efc_pos[i];
        } else if (type == ORR_SENSOR_JOINTLIMITVEL || type == ORR_SENSOR_TENDONLIMITVEL) {
            group_times(d, i, d->qvel, d->efc_jv); // which the solver has done with
            x = d->efc_jv[i];
        }
        mask acts = and_(d->efc_D[i] > R(0.0), not_(found));
        value = sel(acts, x, value);
        found = or_(found, acts);
    }
    return value;
}

LANE_FN real tendon_actuation(const lane_model *m, const lane_data *d, int tendon)
{
    real sum = R(0.0);
    for (int i = 0; i < m->nu; i++) {
        if (m->actuator_trntype[i] == ORR_TRANSMISSION_TENDON && m->actuator_trnid[2 * i] == tendon) {
            sum = sum + d->actuator_force[i];
        }
    }
    return sum;
}

// Sensors of one number.
LANE_FN real sense_number(const lane_model *m, const lane_data *d, int i)
{
    int type = m->sensor_type[i], id = m->sensor_objid[i];
    switch (type) {
    case ORR_SENSOR_TOUCH:
        return touch_force(m, d, id);
    case ORR_SENSOR_RANGEFINDER:
        return ray_scene(m, d, load3(d->site_xpos, id), load_matrix(d->site_xmat, id).z, m->site_bodyid[id]);
    case ORR_SENSOR_JOINTPOS:
        return d->qpos[m->jnt_qposadr[id]];
    case ORR_SENSOR_JOINTVEL:
        return d->qvel[m->jnt_dofadr[id]];
    case ORR_SENSOR_TENDONPOS:
        return d->ten_length[id];
    case ORR_SENSOR_TENDONVEL:
        return d->ten_velocity[id];
    case ORR_SENSOR_ACTUATORPOS:
        return d->actuator_length[id];
    case ORR_SENSOR_ACTUATORVEL:
        return d->actuator_velocity[id];
    case ORR_SENSOR_ACTUATORFRC:
        return d->actuator_force[id];
    case ORR_SENSOR_JOINTACTFRC:
        return d->qfrc_actuator[m->jnt_dofadr[id]];
    case ORR_SENSOR_TENDONACTFRC:
        return tendon_actuation(m, d, id);
    case ORR_SENSOR_JOINTLIMITPOS:
    case ORR_SENSOR_JOINTLIMITVEL:
    case ORR_SENSOR_JOINTLIMITFRC:
        return limit_value(d, 1 + id, type);
    case ORR_SENSOR_TENDONLIMITPOS:
    case ORR_SENSOR_TENDONLIMITVEL:
    case ORR_SENSOR_TENDONLIMITFRC:
        return limit_value(d, 1 + m->njnt + id, type);
    case ORR_SENSOR_E_POTENTIAL:
        return d->energy[0];
    case ORR_SENSOR_E_KINETIC:
        return d->energy[1];
    default: // clock
        return d->time[0];
    }
}

// Of a frame: where it is, how it is turned and how it moves, as seen from the reference frame if there is one.
LANE_FN real3 sense_frame(const lane_model *m, const lane_data *d, int i)
{
    lane_object o = find_object(m, d, m->sensor_objtype[i], m->sensor_objid[i]), reference;
    real3 seen;
    spatial v = object_velocity(m, d, &o), w = make_spatial(zero3(), zero3());
    int relative = m->sensor_refid[i] >= 0;
    if (relative) {
        reference = find_object(m, d, m->sensor_reftype[i], m->sensor_refid[i]);
        w = object_velocity(m, d, &reference);
    }
    switch (m->sensor_type[i]) {
    case ORR_SENSOR_FRAMEPOS:
        seen = relative ? sub3(o.pos, reference.pos) : o.pos;
        break;
    case ORR_SENSOR_FRAMEXAXIS:
        seen = o.frame.x;
        break;
    case ORR_SENSOR_FRAMEYAXIS:
        seen = o.frame.y;
        break;
    case ORR_SENSOR_FRAMEZAXIS:
        seen = o.frame.z;
        break;
    case ORR_SENSOR_FRAMELINVEL:
        seen = sub3(v.t, w.t);
        if (relative) { // and the reference turns
            seen = sub3(seen, cross3(w.r, sub3(o.pos, reference.pos)));
        }
        break;
    default: // frameangvel
        seen = sub3(v.r, w.r);
        break;
    }
    return relative ? rotate_back(reference.frame, seen) : seen;
}

LANE_FN quaternion sense_quaternion(const lane_model *m, const lane_data *d, int i)
{
    int id = m->sensor_objid[i];
    if (m->sensor_type[i] == ORR_SENSOR_BALLQUAT) {
        return normalise_quaternion(load_quaternion(d->qpos + m->jnt_qposadr[id], 0));
    }
    quaternion q = object_quaternion(m, d, m->sensor_objtype[i], id);
    if (m->sensor_refid[i] < 0) {
        return q;
    }
    quaternion from = object_quaternion(m, d, m->sensor_reftype[i], m->sensor_refid[i]);
    return multiply_quaternions(conjugate(from), q);
}

// Sensors of three numbers.
LANE_FN real3 sense_vector(const lane_model *m, const lane_data *d, int i)
{
    int type = m->sensor_type[i], id = m->sensor_objid[i];
    switch (type) {
    case ORR_SENSOR_BALLANGVEL:
        return load3(d->qvel + m->jnt_dofadr[id], 0);
    case ORR_SENSOR_SUBTREECOM:
        return load3(d->subtree_com, id);
    case ORR_SENSOR_SUBTREELINVEL:
        return load3(d->subtree_linvel, id);
    case ORR_SENSOR_SUBTREEANGMOM:
        return load3(d->subtree_angmom, id);
    default:
        break;
    }
    lane_object o = find_object(m, d, m->sensor_objtype[i], id);
    switch (type) {
    case ORR_SENSOR_MAGNETOMETER:
        return rotate_back(o.frame,
                           make_real3(R(m->opt.magnetic[0]), R(m->opt.magnetic[1]), R(m->opt.magnetic[2])));
    case ORR_SENSOR_VELOCIMETER:
        return rotate_back(o.frame, object_velocity(m, d, &o).t);
    case ORR_SENSOR_GYRO:
        return rotate_back(o.frame, object_velocity(m, d, &o).r);
    case ORR_SENSOR_ACCELEROMETER:
        return rotate_back(o.frame, object_acceleration(m, d, &o).t);
    case ORR_SENSOR_FRAMELINACC:
        return object_acceleration(m, d, &o).t;
    case ORR_SENSOR_FRAMEANGACC:
        return object_acceleration(m, d, &o).r;
    case ORR_SENSOR_FORCE:
        return rotate_back(o.frame, load_spatial(d->cfrc_int, o.body).t);
    case ORR_SENSOR_TORQUE: {
        spatial force = load_spatial(d->cfrc_int, o.body);
        real3 arm = sub3(o.pos, load3(d->subtree_com, m->body_rootid[o.body]));
        return rotate_back(o.frame, sub3(force.r, cross3(arm, force.t)));
    }
    default:
        return sense_frame(m, d, i);
    }
}

LANE_FN void sensors(const lane_model *m, const lane_data *d)
{
    for (int i = 0; i < m->nsensor; i++) {
        reals out = d->sensordata + m->sensor_adr[i];
        int dim = m->sensor_dim[i];
        if (m->opt.disableflags & ORR_DISABLE_SENSOR) {
            for (int k = 0; k < dim; k++) {
                out[k] = R(0.0);
            }
        } else if (dim == 1) {
            out[0] = sense_number(m, d, i);
        } else if (dim == 4) {
            store_quaternion(out, 0, sense_quaternion(m, d, i));
        } else {
            store3(out, 0, sense_vector(m, d, i));
        }
        real most = R(m->sensor_cutoff[i]), least = -most;
        int data = m->sensor_datatype[i];
        if ((double)m->sensor_cutoff[i] <= 0.0 || (data != ORR_DATA_REAL && data != ORR_DATA_POSITIVE)) {
            continue;
        }
        for (int k = 0; k < dim; k++) {
            out[k] = data == ORR_DATA_REAL ? clamp_(out[k], least, most) : min_(out[k], most);
        }
    }
}
