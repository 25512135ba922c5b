// Elasticity of the cells between nodes that move a soft body, as MuJoCo's of flexes with dof trilinear and
// quadratic: linear in the frame that turns with the cell (Mueller and Gross, "Interactive Virtual
// Materials", 2004), with damping in proportion to the stiffness.
#pragma once

#include "physics/lanes/velocity.h"

enum { FLEX_NODES_MAX = 27, FLEX_ROTATION_STEPS = 16 };

// w of (t I - s) w = g where that matrix is positive definite, and else g / |t|; t: the trace of s.
FN real3 turn_towards(matrix3 s, real3 g)
{
    real trace = s.x.x + s.y.y + s.z.z;
    real a = trace - s.x.x, b = trace - s.y.y, c = trace - s.z.z;
    real half = R(-0.5);
    real d = half * (s.y.x + s.x.y), e = half * (s.z.x + s.x.z), f = half * (s.z.y + s.y.z);
    real3 row0 = make_real3(b * c - f * f, e * f - d * c, d * f - b * e);
    real3 row1 = make_real3(row0.y, a * c - e * e, d * e - a * f);
    real3 row2 = make_real3(row0.z, row1.z, a * b - d * d);
    real determinant = a * row0.x + d * row0.y + e * row0.z;
    mask positive = and_(and_(a > R(0.0), row2.z > R(0.0)), determinant > R(LANE_TINY));
    real by = R(1.0) / sel(positive, determinant, abs_(trace) + R(LANE_TINY));
    real3 newton = make_real3(dot3(row0, g), dot3(row1, g), dot3(row2, g));
    return scale3(select3(positive, newton, g), by);
}

// The rotation nearest to f, of its polar decomposition where it is not inverted: Newton's iteration for the
// largest trace of R^T f, from the axes that Gram and Schmidt make of it.
FN matrix3 nearest_rotation(matrix3 f)
{
    matrix3 r;
    r.x = normalise3(f.x);
    r.z = cross3(r.x, f.y);
    r.z = normalise3(select3(dot3(r.z, r.z) > R(LANE_TINY), r.z, across3(r.x)));
    r.y = cross3(r.z, r.x);
    for (int i = 0; i < FLEX_ROTATION_STEPS; i++) {
        matrix3 s; // R^T f
        s.x = rotate_inverse(r, f.x);
        s.y = rotate_inverse(r, f.y);
        s.z = rotate_inverse(r, f.z);
        real3 w = turn_towards(s, make_real3(s.y.z - s.z.y, s.z.x - s.x.z, s.x.y - s.y.x));
        real scale = R(1.0) / sqrt_(R(1.0) + R(0.25) * dot3(w, w));
        w = scale3(w, R(0.5) * scale);
        r = multiply_matrices(r, quaternion_matrix(make_quaternion(scale, w.x, w.y, w.z)));
    }
    return r;
}

// The slope of the interpolation at the middle of a cell along an axis, of node `at` along it and of one that
// is at `across` along the others; times the cell's length.
FN double middle_slope(int order, int at, int across1, int across2)
{
    if (order == 1) {
        return at == 0 ? -0.25 : 0.25;
    }
    return across1 == 1 && across2 == 1 ? at - 1.0 : 0.0;
}

// Where a cell is: its nodes, their middle, and the rotation nearest to its deformation there.
typedef struct lane_cell {
    int nodes;
    real3 x[FLEX_NODES_MAX], moved[FLEX_NODES_MAX]; // world; how far from rest, in the frame of the cell
    real3 middle;
    matrix3 turned;
} lane_cell;

LANE_FN void place_cell(const lane_model *m, const lane_data *d, int cell, lane_cell *at)
{
    int order = m->flexcell_interp[cell], along = order + 1, nodes = along * along * along;
    int first = m->flexcell_nodeadr[cell];
    real3 size = uniform3(m->flexcell_size, cell);
    at->nodes = nodes;
    at->middle = zero3();
    for (int i = 0; i < nodes; i++) {
        int body = m->flexcell_bodyid[first + i];
        at->x[i] = add3(load3(d->xpos, body),
                        rotate(load_matrix(d->xmat, body), uniform3(m->flexcell_node, first + i)));
        at->middle = add3(at->middle, at->x[i]);
    }
    at->middle = scale3(at->middle, R(1.0 / nodes));
    matrix3 f;
    f.x = f.y = f.z = zero3();
    for (int i = 0; i < nodes; i++) {
        int a = i / (along * along), b = i / along % along, c = i % along;
        real3 apart = sub3(at->x[i], at->middle);
        f.x = add_scaled3(f.x, apart, R(middle_slope(order, a, b, c)) / size.x);
        f.y = add_scaled3(f.y, apart, R(middle_slope(order, b, a, c)) / size.y);
        f.z = add_scaled3(f.z, apart, R(middle_slope(order, c, a, b)) / size.z);
    }
    at->turned = nearest_rotation(f);
}

// moved: from rest, if `with_spring`, and `damping` times the velocity
LANE_FN void move_cell(const lane_model *m, const lane_data *d, int cell, int with_spring, real damping,
                       lane_cell *at)
{
    int order = m->flexcell_interp[cell], along = order + 1;
    real3 size = uniform3(m->flexcell_size, cell);
    int damps = any(damping > R(0.0));
    for (int i = 0; i < at->nodes; i++) {
        at->moved[i] = zero3();
        if (with_spring) {
            int a = i / (along * along), b = i / along % along, c = i % along;
            real3 rest = make_real3(R((double)a / order - 0.5) * size.x, R((double)b / order - 0.5) * size.y,
                                    R((double)c / order - 0.5) * size.z);
            at->moved[i] = sub3(rotate_inverse(at->turned, sub3(at->x[i], at->middle)), rest);
        }
        if (damps) {
            int body = m->flexcell_bodyid[m->flexcell_nodeadr[cell] + i];
            real3 velocity = velocity_at(load_spatial(d->cvel, body), arm_to(m, d, body, at->x[i]));
            at->moved[i] = add_scaled3(at->moved[i], rotate_inverse(at->turned, velocity), damping);
        }
    }
}

LANE_FN void flex_cell_forces(const lane_model *m, lane_data *d, int cell, int with_spring, int with_damper)
{
    lane_cell at;
    place_cell(m, d, cell, &at);
    move_cell(m, d, cell, with_spring, R(with_damper ? (double)m->flexcell_damping[cell] : 0.0), &at);
    int nodes = at.nodes, first = m->flexcell_nodeadr[cell];
    const real3 *moved = at.moved;
    const uniform_real *stiffness = m->flexcell_stiffness + m->flexcell_stiffnessadr[cell];
    for (int i = 0; i < nodes; i++) {
        real3 force = zero3();
        const uniform_real *row = stiffness + 9 * nodes * i;
        for (int k = 0; k < nodes; k++) {
            force.x = fma_(R(row[3 * k]), moved[k].x,
                           fma_(R(row[3 * k + 1]), moved[k].y, fma_(R(row[3 * k + 2]), moved[k].z, force.x)));
            const uniform_real *y = row + 3 * nodes + 3 * k, *z = y + 3 * nodes;
            force.y =
                fma_(R(y[0]), moved[k].x, fma_(R(y[1]), moved[k].y, fma_(R(y[2]), moved[k].z, force.y)));
            force.z =
                fma_(R(z[0]), moved[k].x, fma_(R(z[1]), moved[k].y, fma_(R(z[2]), moved[k].z, force.z)));
        }
        apply_force(m, d, m->flexcell_bodyid[first + i], at.x[i], rotate(at.turned, force), zero3(),
                    d->qfrc_passive);
    }
}

// Of cells that are not rows of the solver (flex_rows.h). By one member of a team: cells share nodes.
LANE_FN void flex_node_forces(const lane_model *m, lane_data *d, int with_spring, int with_damper)
{
    for (int i = 0; i < m->nflexcell; i++) {
        if (m->flexcell_modenum[i] == 0) {
            flex_cell_forces(m, d, i, with_spring, with_damper);
        }
    }
}
