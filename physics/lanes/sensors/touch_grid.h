// Touch grids, MuJoCo's plugin mujoco.sensor.touch_grid: forces and torques of the contacts of a site's body,
// summed by the direction in which they are from the site, which looks along its -z.
#pragma once

#include "physics/lanes/sensors/contact_force.h"
#include "physics/lanes/sensors/object_frames.h"

// A contact as the site sees it.
typedef struct grid_touch {
    real angle[2];   // rad: around -y, from -z to +x; up, to +y
    real channel[6]; // force along z, x and y of the site, then the torque
} grid_touch;

FN real signed_angle(real y, real x)
{
    real angle = atan2_(abs_(y), x);
    return sel(y < R(0.0), -angle, angle);
}

// Returns 0 when the contact is none of the site's body, or of one that it is fixed to.
LANE_FN int see_touch(const lane_model *m, const lane_data *d, int site, int i, grid_touch *seen)
{
    const orr_pair *pair = lane_pair(m, d, d->contact[i].pair);
    int own = m->body_weldid[m->site_bodyid[site]];
    int body1 = m->geom_bodyid[pair->geom1], body2 = second_body(m, pair);
    if (m->body_weldid[body1] != own && (body2 < 0 || m->body_weldid[body2] != own)) {
        return 0;
    }
    real sign = R(m->body_weldid[body1] == own ? -1.0 : 1.0); // forces push the second geom
    sign = sel(d->contact_dist[i] < R(0.5 * LANE_HUGE), sign, R(0.0));
    matrix3 frame = load_matrix(d->site_xmat, site);
    real3 normal = load3(d->contact_frame, 3 * i), tangent = load3(d->contact_frame, 3 * i + 1);
    matrix3 axes = {normal, tangent, cross3(normal, tangent)};
    real force[6];
    contact_force(m, d, i, force);
    for (int half = 0; half < 2; half++) {
        real3 f = make_real3(force[3 * half], force[3 * half + 1], force[3 * half + 2]);
        f = scale3(rotate_inverse(frame, rotate(axes, f)), sign);
        seen->channel[3 * half] = f.z;
        seen->channel[3 * half + 1] = f.x;
        seen->channel[3 * half + 2] = f.y;
    }
    real3 p = rotate_inverse(frame, sub3(load3(d->contact_pos, i), load3(d->site_xpos, site)));
    seen->angle[0] = signed_angle(p.x, -p.z);
    seen->angle[1] = signed_angle(p.y, sqrt_(p.x * p.x + p.z * p.z));
    return 1;
}

// Where an edge of evenly spaced ones, -1 .. 1, is: with gamma the bins in the middle are narrower.
FN real grid_edge(const uniform_real *fov, int axis, double even)
{
    double gamma = (double)fov[2];
    double bent = gamma == 0.0 ? even : gamma * (even * even * even * even * even) + (1.0 - gamma) * even;
    return R(bent * (double)fov[axis]);
}

// A bin has its upper edge, not its lower one. Edges are sums of steps, as in MuJoCo, so that the same ones
// are exact.
LANE_FN void add_touch(const lane_model *m, int sensor, const grid_touch *seen, reals out)
{
    const int32_t *shape = m->sensor_intprm + 3 * sensor; // channels, columns, rows
    const uniform_real *fov = m->sensor_fov + 3 * sensor;
    double high = -1.0;
    for (int row = 0; row < shape[2]; row++) {
        double low = high, right = -1.0;
        high = low + 2.0 / shape[2];
        mask inside =
            and_(seen->angle[1] > grid_edge(fov, 1, low), seen->angle[1] <= grid_edge(fov, 1, high));
        for (int column = 0; column < shape[1] && any(inside); column++) {
            double left = right;
            right = left + 2.0 / shape[1];
            mask here = and_(inside, and_(seen->angle[0] > grid_edge(fov, 0, left),
                                          seen->angle[0] <= grid_edge(fov, 0, right)));
            for (int k = 0; k < shape[0] && any(here); k++) {
                int at = (k * shape[2] + row) * shape[1] + column;
                out[at] = out[at] + sel(here, seen->channel[k], R(0.0));
            }
        }
    }
}

// One member of a team adds: the sums are shared.
LANE_FN void sense_touch_grid(const lane_model *m, const lane_data *d, int sensor, reals out)
{
    for (int k = 0; k < m->sensor_dim[sensor] && team_leads(d); k++) {
        out[k] = R(0.0);
    }
    for (int i = 0; i < d->contact_count && team_leads(d); i++) {
        grid_touch seen;
        if (see_touch(m, d, m->sensor_objid[sensor], i, &seen)) {
            add_touch(m, sensor, &seen, out);
        }
    }
    team_wait(d);
}
