// Sensors. The dynamics do not depend on them: they are computed when they are read, and in each step when
// one of them has a delay or an interval.
#pragma once

#include "physics/lanes/collision/geom_distance.h"
#include "physics/lanes/collision/ray_scene.h"
#include "physics/lanes/delay.h"
#include "physics/lanes/forces.h"
#include "physics/lanes/sensors/contact_sensor.h"
#include "physics/lanes/sensors/enclosed.h"
#include "physics/lanes/sensors/tactile.h"
#include "physics/lanes/sensors/touch_grid.h"

// The normal forces of contacts of the site's body that act inside the site, or towards it.
LANE_FN real touch_force(const lane_model *m, const lane_data *d, int site)
{
    int body = m->site_bodyid[site];
    real3 size = uniform3(m->site_size, site);
    real sum = R(0.0);
    for (int i = 0; i < d->contact_count; i++) {
        const orr_pair *pair = lane_pair(m, d, d->contact[i].pair);
        int second = second_body(m, pair) == body;
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
        mask touches = ray.nearest < R(LANE_HUGE);
        mask pushes = force[0] > R(0.0); // adhesion pulls
        sum = sum + sel(and_(touches, pushes), force[0], R(0.0));
    }
    return sum;
}

// limit: as in lane_row. The value of the first limit that is active, or 0.
LANE_FN real limit_value(lane_data *d, int limit, int type)
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
            group_times(d, i, d->qvel, d->efc_jv); // the solver no longer needs it
            x = d->efc_jv[i];
        }
        mask acts = and_(d->efc_D[i] > R(0.0), not_(found));
        value = sel(acts, x, value);
        found = or_(found, acts);
    }
    return value;
}

// Sensors of one number.
LANE_FN real sense_number(const lane_model *m, lane_data *d, int i)
{
    int type = m->sensor_type[i], id = m->sensor_objid[i];
    switch (type) {
    case ORR_SENSOR_TOUCH:
        return touch_force(m, d, id);
    case ORR_SENSOR_INSIDESITE:
        return m->sensor_intprm[3 * i] ? sense_enclosed(m, d, i) : sense_inside(m, d, i);
    case ORR_SENSOR_JOINTPOS:
        return d->qpos[m->jnt_qposadr[id]];
    case ORR_SENSOR_JOINTVEL:
        return d->qvel[m->jnt_dofadr[id]];
    case ORR_SENSOR_TENDONPOS:
        return d->ten_length[id];
    case ORR_SENSOR_TENDONVEL:
        return d->ten_velocity[id];
    case ORR_SENSOR_ACTUATORPOS:
        return output_length(m, d, id);
    case ORR_SENSOR_ACTUATORVEL:
        return output_speed(m, d, id);
    case ORR_SENSOR_ACTUATORFRC:
        return d->actuator_force[m->actuator_outadr[id]];
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

// Position, axes or velocity of a frame, relative to the reference frame if there is one.
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
        if (relative) { // the reference rotates
            seen = sub3(seen, cross3(w.r, sub3(o.pos, reference.pos)));
        }
        break;
    default: // frameangvel
        seen = sub3(v.r, w.r);
        break;
    }
    return relative ? rotate_inverse(reference.frame, seen) : seen;
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
    case ORR_SENSOR_ACTUATORPOS: // of three outputs
        return load3(d->actuator_length + m->actuator_outadr[id], 0);
    case ORR_SENSOR_ACTUATORVEL:
        return load3(d->actuator_velocity + m->actuator_outadr[id], 0);
    case ORR_SENSOR_ACTUATORFRC:
        return load3(d->actuator_force + m->actuator_outadr[id], 0);
    default:
        break;
    }
    lane_object o = find_object(m, d, m->sensor_objtype[i], id);
    switch (type) {
    case ORR_SENSOR_MAGNETOMETER:
        return rotate_inverse(
            o.frame, make_real3(R(m->opt.magnetic[0]), R(m->opt.magnetic[1]), R(m->opt.magnetic[2])));
    case ORR_SENSOR_VELOCIMETER:
        return rotate_inverse(o.frame, object_velocity(m, d, &o).t);
    case ORR_SENSOR_GYRO:
        return rotate_inverse(o.frame, object_velocity(m, d, &o).r);
    case ORR_SENSOR_ACCELEROMETER:
        return rotate_inverse(o.frame, object_acceleration(m, d, &o).t);
    case ORR_SENSOR_FRAMELINACC:
        return object_acceleration(m, d, &o).t;
    case ORR_SENSOR_FRAMEANGACC:
        return object_acceleration(m, d, &o).r;
    case ORR_SENSOR_FORCE:
        return rotate_inverse(o.frame, load_spatial(d->cfrc_int, o.body).t);
    case ORR_SENSOR_TORQUE: {
        spatial force = load_spatial(d->cfrc_int, o.body);
        real3 arm = arm_to(m, d, o.body, o.pos);
        return rotate_inverse(o.frame, sub3(force.r, cross3(arm, force.t)));
    }
    default:
        return sense_frame(m, d, i);
    }
}

// Focal length in pixels, and the pixel on the optical axis: with a sensor size the principal point, as in
// MuJoCo 3.12, whose projection takes the middle of the image.
typedef struct lane_lens {
    double focal[2], ahead[2];
} lane_lens;

LANE_FN lane_lens camera_lens(const lane_model *m, int camera)
{
    const int32_t *pixels = m->cam_resolution + 2 * camera;
    const float *size = m->cam_sensorsize + 2 * camera, *intrinsic = m->cam_intrinsic + 4 * camera;
    lane_lens lens;
    for (int k = 0; k < 2; k++) {
        int measured = size[0] > 0.0f && size[1] > 0.0f;
        double angle = (double)m->cam_fovy[camera] * (3.14159265358979323846 / 360.0);
        lens.focal[k] =
            measured ? (double)intrinsic[k] / (double)size[k] * pixels[k] : 0.5 / tan(angle) * pixels[1];
        lens.ahead[k] = measured ? (double)intrinsic[2 + k] / (double)size[k] * pixels[k] : 0.5 * pixels[k];
    }
    return lens;
}

// Writes the data (orr_ray_data) of one ray; depth: depth per m along the ray. Returns how many numbers they
// are.
LANE_FN int put_ray(int data, const lane_scene_ray *ray, real depth, reals out)
{
    mask hit = ray->distance >= R(0.0);
    real3 met = add_scaled3(ray->from, ray->along, ray->distance);
    real3 vectors[4] = {select3(hit, ray->along, zero3()), ray->from, select3(hit, met, zero3()),
                        select3(hit, ray->normal, zero3())};
    int used = 0;
    if (data & ORR_RAY_DIST) {
        out[used++] = ray->distance;
    }
    for (int v = 0; v < 4; v++) {
        if (data & ORR_RAY_DIR << v) {
            store3(out + used, 0, vectors[v]);
            used += 3;
        }
    }
    if (data & ORR_RAY_DEPTH) {
        out[used++] = sel(hit, depth * ray->distance, R(-1.0));
    }
    return used;
}

// A ray along z of a site, or through the middle of each pixel of a camera, row by row.
LANE_FN void sense_rays(const lane_model *m, const lane_data *d, int i, reals out)
{
    int id = m->sensor_objid[i], data = m->sensor_intprm[3 * i];
    lane_scene_ray ray;
    if (m->sensor_objtype[i] == ORR_OBJECT_SITE) {
        ray.from = load3(d->site_xpos, id);
        ray.along = load_matrix(d->site_xmat, id).z;
        cast_scene_ray(m, d, &ray, m->site_bodyid[id]);
        put_ray(data, &ray, R(1.0), out);
        return;
    }
    lane_lens lens = camera_lens(m, id);
    const int32_t *pixels = m->cam_resolution + 2 * id;
    matrix3 frame = load_matrix(d->cam_xmat, id);
    for (int pixel = 0; pixel < pixels[0] * pixels[1]; pixel++) {
        double x = pixel % pixels[0] + 0.5, y = pixel / pixels[0] + 0.5, depth = 1.0;
        ray.from = load3(d->cam_xpos, id);
        ray.along = scale3(frame.z, R(-1.0));
        if (m->cam_orthographic[id]) { // as wide as it is high, as in MuJoCo
            double high = (double)m->cam_fovy[id];
            real3 offset =
                make_real3(R((x / pixels[0] - 0.5) * high), R((0.5 - y / pixels[1]) * high), R(0.0));
            ray.from = add3(ray.from, rotate(frame, offset));
        } else {
            double across = (x - lens.ahead[0]) / lens.focal[0], down = (y - lens.ahead[1]) / lens.focal[1];
            depth = 1.0 / sqrt(1.0 + across * across + down * down);
            ray.along = rotate(frame, make_real3(R(across * depth), R(-down * depth), R(-depth)));
        }
        cast_scene_ray(m, d, &ray, m->cam_bodyid[id]);
        out = out + put_ray(data, &ray, R(depth), out);
    }
}

LANE_FN void sense_projection(const lane_model *m, const lane_data *d, int i, reals out)
{
    int camera = m->sensor_refid[i];
    lane_lens lens = camera_lens(m, camera);
    const int32_t *pixels = m->cam_resolution + 2 * camera;
    real3 apart = sub3(load3(d->site_xpos, m->sensor_objid[i]), load3(d->cam_xpos, camera));
    real3 p = rotate_inverse(load_matrix(d->cam_xmat, camera), apart);
    mask small = abs_(p.z) < R(LANE_TINY);
    real depth = sel(small, sel(p.z < R(0.0), R(-LANE_TINY), R(LANE_TINY)), p.z);
    out[0] = R(0.5 * pixels[0]) - R(lens.focal[0]) * p.x / depth;
    out[1] = R(0.5 * pixels[1]) + R(lens.focal[1]) * p.y / depth;
}

// Sensors whose size is in the model; returns 0 when it is none of them.
LANE_FN int sense_special(const lane_model *m, const lane_data *d, int i, reals out)
{
    switch (m->sensor_type[i]) {
    case ORR_SENSOR_RANGEFINDER:
        sense_rays(m, d, i, out);
        return 1;
    case ORR_SENSOR_CAMPROJECTION:
        sense_projection(m, d, i, out);
        return 1;
    case ORR_SENSOR_GEOMDIST:
    case ORR_SENSOR_GEOMNORMAL:
    case ORR_SENSOR_GEOMFROMTO:
        sense_gap(m, d, i, out);
        return 1;
    case ORR_SENSOR_CONTACT:
        sense_contacts(m, d, i, out);
        return 1;
    case ORR_SENSOR_TACTILE:
        sense_tactile(m, d, i, out);
        return 1;
    case ORR_SENSOR_TOUCH_GRID:
        sense_touch_grid(m, d, i, out);
        return 1;
    case ORR_SENSOR_USER: // there is no callback
        for (int k = 0; k < m->sensor_dim[i]; k++) {
            out[k] = R(0.0);
        }
        return 1;
    default:
        return 0;
    }
}

LANE_FN void sensors(const lane_model *m, lane_data *d, int in_step)
{
    for (int i = 0; i < m->nsensor; i++) {
        reals out = d->sensordata + m->sensor_adr[i];
        int dim = m->sensor_dim[i];
        if (m->opt.disableflags & ORR_DISABLE_SENSOR) {
            for (int k = 0; k < dim; k++) {
                out[k] = R(0.0);
            }
        } else if (sense_special(m, d, i, out)) {
        } else if (dim == 1) {
            out[0] = sense_number(m, d, i);
        } else if (dim == 4) {
            store_quaternion(out, 0, sense_quaternion(m, d, i));
        } else {
            store3(out, 0, sense_vector(m, d, i));
        }
        real most = R(m->sensor_cutoff[i]), least = -most;
        int data = m->sensor_datatype[i];
        int type = m->sensor_type[i];
        if (type == ORR_SENSOR_CONTACT || type == ORR_SENSOR_GEOMFROMTO) { // their cutoff has another meaning
            continue;
        }
        if ((double)m->sensor_cutoff[i] <= 0.0 || (data != ORR_DATA_REAL && data != ORR_DATA_POSITIVE)) {
            continue;
        }
        for (int k = 0; k < dim; k++) {
            out[k] = data == ORR_DATA_REAL ? clamp_(out[k], least, most) : min_(out[k], most);
        }
    }
    delay_sensors(m, d, in_step);
}
