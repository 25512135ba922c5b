// The model as lane programs read it: the same names, with numbers as uniform_real; and the arrays of one block
// of worlds.
#pragma once

#include "physics/lanes/lane.h"
#include "physics/lanes/plan.h"
#include "physics/lanes/spatial_formula.h"

#define LANE_TYPE_double uniform_real
#define LANE_TYPE_float float
#define LANE_TYPE_int32_t int32_t
#define LANE_TYPE_uint8_t uint8_t
#define LANE_TYPE_char char

typedef struct lane_model {
#define LANE_MODEL_SIZE(name) int32_t name;
    ORR_MODEL_SIZES(LANE_MODEL_SIZE)
#undef LANE_MODEL_SIZE
    orr_model_option opt;
    orr_model_statistic stat;
#define LANE_MODEL_ARRAY(type, name, rows, columns) const LANE_TYPE_##type *name;
    ORR_MODEL_ARRAYS(LANE_MODEL_ARRAY)
#undef LANE_MODEL_ARRAY
    const orr_plan *plan;
} lane_model;

// What a world keeps between steps. X(name, count): reals per world, with sizes of the model m
#define LANE_STATE(X)                                                                                        \
    X(time, 1)                                                                                               \
    X(qpos, m->nq)                                                                                           \
    X(qvel, m->nv)                                                                                           \
    X(act, m->na)                                                                                            \
    X(ctrl, m->nu)                                                                                           \
    X(qfrc_applied, m->nv)        /* generalised force from outside */                                       \
    X(xfrc_applied, 6 * m->nbody) /* force, torque at the centre of mass of a body */                        \
    X(mocap_pos, 3 * m->nmocap)                                                                              \
    X(mocap_quat, 4 * m->nmocap)                                                                             \
    X(qacc, m->nv)                                                                                           \
    X(qacc_warmstart, m->nv)                                                                                 \
    X(varied, m->plan->varied_count) /* what differs from world to world (vary.h); stands last */

// What a step works out; one set per thread, used for block after block so that it stays in cache.
#define LANE_SCRATCH(X)                                                                                      \
    X(xpos, 3 * m->nbody)                                                                                    \
    X(xquat, 4 * m->nbody)                                                                                   \
    X(xmat, 9 * m->nbody) /* row-major */                                                                    \
    X(xipos, 3 * m->nbody)                                                                                   \
    X(ximat, 9 * m->nbody)                                                                                   \
    X(xanchor, 3 * m->njnt)                                                                                  \
    X(xaxis, 3 * m->njnt)                                                                                    \
    X(geom_xpos, 3 * m->ngeom)                                                                               \
    X(geom_xmat, 9 * m->ngeom)                                                                               \
    X(site_xpos, 3 * m->nsite)                                                                               \
    X(site_xmat, 9 * m->nsite)                                                                               \
    X(subtree_com, 3 * m->nbody)                                                                             \
    X(cinert, 10 * m->nbody)                                                                                 \
    X(crb, 10 * m->nbody)                                                                                    \
    X(cdof, 6 * m->nv)                                                                                       \
    X(cdof_dot, 6 * m->nv)                                                                                   \
    X(cvel, 6 * m->nbody)                                                                                    \
    X(cacc, 6 * m->nbody)                                                                                    \
    X(cfrc_body, 6 * m->nbody)                                                                               \
    X(qM, m->nM)                                                                                             \
    X(qLD, m->nM)                                                                                            \
    X(qLDiagInv, m->nv)                                                                                      \
    X(qH, m->nM)                        /* M with implicit damping, factorised */                            \
    X(qU, m->plan->unsymmetric * m->nM) /* its other triangle */                                             \
    X(qHDiagInv, m->nv)                                                                                      \
    X(ten_length, m->ntendon)                                                                                \
    X(ten_J, m->plan->tendon_entries) /* on the dofs of its chain */                                         \
    X(ten_velocity, m->ntendon)                                                                              \
    X(actuator_length, m->nu)                                                                                \
    X(actuator_velocity, m->nu)                                                                              \
    X(actuator_moment, m->plan->actuator_entries) /* on the dofs of its chain */                             \
    X(actuator_force, m->nu)                                                                                 \
    X(act_dot, m->na)                                                                                        \
    X(qfrc_bias, m->nv)                                                                                      \
    X(qfrc_gravcomp, m->nv)                                                                                  \
    X(qfrc_passive, m->nv)                                                                                   \
    X(qfrc_actuator, m->nv)                                                                                  \
    X(qfrc_smooth, m->nv)                                                                                    \
    X(qfrc_constraint, m->nv)                                                                                \
    X(qfrc_inverse, m->nv)                                                                                   \
    X(qacc_smooth, m->nv)                                                                                    \
    X(cvel_slope, m->plan->unsymmetric * 6 * m->nbody) /* rates with the velocity of one dof */              \
    X(cacc_slope, m->plan->unsymmetric * 6 * m->nbody)                                                       \
    X(cfrc_slope, m->plan->unsymmetric * 6 * m->nbody)                                                       \
    X(fluid_motion, m->plan->fluid_slopes * 6 * m->nv)                                                       \
    X(fluid_slope, m->plan->fluid_slopes * 6 * m->nv)                                                        \
    X(energy, 2) /* potential, kinetic */                                                                    \
    X(contact_dist, m->plan->contact_capacity)                                                               \
    X(contact_pos, 3 * m->plan->contact_capacity)                                                            \
    X(contact_friction, ORR_PAIR_WEIGHT * m->plan->contact_capacity)                                         \
    X(contact_frame, 9 * m->plan->contact_capacity) /* rows: normal, two tangents */                         \
    X(efc_J, m->plan->jacobian_capacity)                                                                     \
    X(efc_pos, m->plan->row_capacity)                                                                        \
    X(efc_D, m->plan->row_capacity)        /* 0: the row does not exist in this world */                     \
    X(efc_diagonal, m->plan->row_capacity) /* of J M^-1 J^T, as taken for the regulariser */                 \
    X(row_response, m->plan->row_responses * m->nv)                                                          \
    X(efc_aref, m->plan->row_capacity)                                                                       \
    X(efc_jar, m->plan->row_capacity) /* J qacc - aref */                                                    \
    X(efc_jv, m->plan->row_capacity)  /* J search */                                                         \
    X(efc_force, m->plan->row_capacity)                                                                      \
    X(efc_weight, m->plan->row_capacity) /* second derivative of the row's cost */                           \
    X(H, m->nv *(m->nv + 1) / 2)         /* lower triangle by rows */                                        \
    X(Ma, m->nv)                                                                                             \
    X(Mv, m->nv)                                                                                             \
    X(gradient, m->nv)                                                                                       \
    X(search, m->nv)                                                                                         \
    X(work, 8 * m->nv)                                                                                       \
    X(cfrc_int, 6 * m->nbody)                                                                                \
    X(cfrc_ext, 6 * m->nbody)                                                                                \
    X(subtree_linvel, 3 * m->nbody)                                                                          \
    X(subtree_angmom, 3 * m->nbody)                                                                          \
    X(cam_xpos, 3 * m->ncam)                                                                                 \
    X(cam_xmat, 9 * m->ncam)                                                                                 \
    X(sensordata, m->nsensordata)                                                                            \
    X(rk4, m->plan->rk4_copies *(m->nq + 4 * m->nv + 2 * m->na))

// Which row of the constraint Jacobian is what; the same for all lanes.
typedef enum lane_row_type {
    LANE_ROW_EQUALITY,
    LANE_ROW_FRICTION,   // friction loss of a dof or tendon
    LANE_ROW_UNILATERAL, // limit, frictionless contact or edge of a pyramid: pushes only
    LANE_ROW_CONE        // of an elliptic contact
} lane_row_type;

// Rows come in groups: those of one contact, or one alone. A group's Jacobian is `basis` rows: the rows of the
// group themselves, but for a pyramid the normal n and tangents t, of which its edges are n + f t and n - f t.
// All but `type`, `place` and `frictionloss` are the group's, and said by its first row.
typedef struct lane_row {
    uint8_t type;       // lane_row_type
    uint8_t dim;        // rows of the group
    uint8_t basis;      // rows of its Jacobian
    uint8_t place;      // which row of the group this is
    int32_t count;      // entries of a row of its Jacobian
    const int32_t *dof; // their dofs, descending
    int32_t J;          // first of them in efc_J: basis x count
    int32_t limit;      // whose limit it is: 1 + joint, or 1 + njnt + tendon; 0: it is none
    double frictionloss;
    reals friction; // contacts: numbers of the pair (plan.h) up to its weights
} lane_row;

typedef struct lane_contact {
    int32_t pair, row; // first row, -1 when the contact is within the gap
} lane_contact;

// Where a geom is in all lanes, by its bounding sphere.
typedef struct lane_extent {
    float low[3], high[3];
    int32_t geom;
} lane_extent;

// Who works on a world (lanes/team.h): one of `size` threads, which are those lanes of the warp.
#if defined(__CUDACC__)
typedef struct lane_team {
    int member, size;
    uint32_t lanes;
} lane_team;
#endif

typedef struct lane_data {
#if defined(__CUDACC__)
    lane_team team;
#endif
#define LANE_ARRAY(name, count) reals name;
    LANE_STATE(LANE_ARRAY)
    LANE_SCRATCH(LANE_ARRAY)
#undef LANE_ARRAY
    lane_row *row;
    lane_contact *contact;
    ints group; // the first rows of the groups
    int32_t row_count, group_count, J_count, contact_count;
    int32_t contacts_missed, contacts_needed; // for want of room in this step; most of a step so far
    lane_extent *extent;                      // of the plan's sweep_geom
    uint32_t *near_pair;                      // one bit per pair: near in some lane
    ints fill;       // nv x nv: columns of the rows of H that are not zero, ascending
    ints fill_count; // nv
    ints below;      // nv x nv: rows below the diagonal that are not zero in a column of H, descending
    ints below_count;
    flags filled;            // nv x nv
    const int32_t **coupled; // dofs of the rows that add to M's pattern in `fill`
    ints coupled_length;     // of them
    int32_t coupled_count;   // -1: `fill` is not worked out yet
} lane_data;

FN real3 load3(reals p, int i)
{
    return make_real3(p[3 * i], p[3 * i + 1], p[3 * i + 2]);
}

FN void store3(reals p, int i, real3 a)
{
    p[3 * i] = a.x;
    p[3 * i + 1] = a.y;
    p[3 * i + 2] = a.z;
}

FN real3 uniform3(const uniform_real *p, int i)
{
    return make_real3(R(p[3 * i]), R(p[3 * i + 1]), R(p[3 * i + 2]));
}

FN quaternion uniform4(const uniform_real *p, int i)
{
    return make_quaternion(R(p[4 * i]), R(p[4 * i + 1]), R(p[4 * i + 2]), R(p[4 * i + 3]));
}

FN quaternion load_quaternion(reals p, int i)
{
    return make_quaternion(p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3]);
}

FN void store_quaternion(reals p, int i, quaternion q)
{
    p[4 * i] = q.w;
    p[4 * i + 1] = q.x;
    p[4 * i + 2] = q.y;
    p[4 * i + 3] = q.z;
}

FN matrix3 load_matrix(reals p, int i)
{
    p = p + 9 * i;
    matrix3 a;
    a.x = make_real3(p[0], p[3], p[6]);
    a.y = make_real3(p[1], p[4], p[7]);
    a.z = make_real3(p[2], p[5], p[8]);
    return a;
}

FN void store_matrix(reals p, int i, matrix3 a)
{
    p = p + 9 * i;
    store3(p, 0, make_real3(a.x.x, a.y.x, a.z.x));
    store3(p, 1, make_real3(a.x.y, a.y.y, a.z.y));
    store3(p, 2, make_real3(a.x.z, a.y.z, a.z.z));
}

FN spatial load_spatial(reals p, int i)
{
    return make_spatial(load3(p, 2 * i), load3(p, 2 * i + 1));
}

FN void store_spatial(reals p, int i, spatial a)
{
    store3(p, 2 * i, a.r);
    store3(p, 2 * i + 1, a.t);
}

FN inertia load_inertia(reals p, int i)
{
    p = p + 10 * i;
    inertia a;
    a.xx = p[0];
    a.yy = p[1];
    a.zz = p[2];
    a.xy = p[3];
    a.xz = p[4];
    a.yz = p[5];
    a.offset = make_real3(p[6], p[7], p[8]);
    a.mass = p[9];
    return a;
}

FN void store_inertia(reals p, int i, inertia a)
{
    p = p + 10 * i;
    p[0] = a.xx;
    p[1] = a.yy;
    p[2] = a.zz;
    p[3] = a.xy;
    p[4] = a.xz;
    p[5] = a.yz;
    p[6] = a.offset.x;
    p[7] = a.offset.y;
    p[8] = a.offset.z;
    p[9] = a.mass;
}

FN real3 zero3(void)
{
    return make_real3(R(0.0), R(0.0), R(0.0));
}

FN real3 axis3(int axis)
{
    return make_real3(R(axis == 0), R(axis == 1), R(axis == 2));
}

FN matrix3 identity3(void)
{
    matrix3 a = {axis3(0), axis3(1), axis3(2)};
    return a;
}

// Numbers of the model, or where worlds differ, of the world.
#define LANE_VARIED(NAME, name, count)                                                                       \
    FN real name(const lane_model *m, const lane_data *d, int i)                                             \
    {                                                                                                        \
        int at = m->plan->varied_at[ORR_VARY_##NAME];                                                        \
        return at >= 0 ? d->varied[at + i] : R(m->name[i]);                                                  \
    }
ORR_VARY_ARRAYS(LANE_VARIED)
ORR_VARY_DERIVED(LANE_VARIED)
#undef LANE_VARIED

FN real3 geom_sizes(const lane_model *m, const lane_data *d, int geom)
{
    return make_real3(geom_size(m, d, 3 * geom), geom_size(m, d, 3 * geom + 1),
                      geom_size(m, d, 3 * geom + 2));
}

FN real3 body_moments(const lane_model *m, const lane_data *d, int body) // about its principal axes
{
    return make_real3(body_inertia(m, d, 3 * body), body_inertia(m, d, 3 * body + 1),
                      body_inertia(m, d, 3 * body + 2));
}

FN real3 gravity(const lane_model *m, const lane_data *d)
{
    int at = m->plan->varied_at[ORR_VARY_GRAVITY];
    return at >= 0 ? load3(d->varied + at, 0)
                   : make_real3(R(m->opt.gravity[0]), R(m->opt.gravity[1]), R(m->opt.gravity[2]));
}

FN real pair_number(const lane_model *m, const lane_data *d, int pair, int i)
{
    int at = m->plan->varied_at[ORR_VARY_PAIR];
    return at >= 0 ? d->varied[at + ORR_PAIR_NUMBERS * pair + i] : R(m->plan->pair[pair].numbers[i]);
}

// Of a damper, a force against x of the form -(c0 + c1 |x| + c2 x^2) x; of a spring one of -(c0 + c1 x + c2 x^2) x.
typedef struct lane_drag {
    real c0;
    uniform_real c1, c2;
} lane_drag;

FN int drags(const lane_drag *drag) // uniform: false where it is nothing
{
    return any(abs_(drag->c0) > R(0.0)) || (double)drag->c1 != 0.0 || (double)drag->c2 != 0.0;
}

FN real drag_force(const lane_drag *drag, real x)
{
    if ((double)drag->c1 == 0.0 && (double)drag->c2 == 0.0) {
        return -(drag->c0 * x);
    }
    return -((drag->c0 + drag->c1 * abs_(x) + drag->c2 * x * x) * x);
}

FN real drag_slope(const lane_drag *drag, real x)
{
    if ((double)drag->c1 == 0.0 && (double)drag->c2 == 0.0) {
        return drag->c0;
    }
    return drag->c0 + R(2.0) * drag->c1 * abs_(x) + R(3.0) * drag->c2 * x * x;
}

FN real spring_force(const lane_drag *spring, real x)
{
    if ((double)spring->c1 == 0.0 && (double)spring->c2 == 0.0) {
        return -(spring->c0 * x);
    }
    return -((spring->c0 + spring->c1 * x + spring->c2 * x * x) * x);
}

FN real spring_energy(const lane_drag *spring, real x)
{
    real square = x * x;
    return (R(0.5) * spring->c0 + R(1.0 / 3.0) * spring->c1 * x + R(0.25) * spring->c2 * square) * square;
}

enum { LANE_DRIVE = 2 + ORR_NPOLY }; // numbers of dof_drive and tendon_drive

FN lane_drag dof_drag(const lane_model *m, const lane_data *d, int i)
{
    const uniform_real *poly = m->dof_dampingpoly + ORR_NPOLY * i, *drive = m->dof_drive + LANE_DRIVE * i;
    lane_drag drag = {dof_damping(m, d, i) + R(drive[1]), poly[0] + drive[2], poly[1] + drive[3]};
    return drag;
}

FN lane_drag tendon_drag(const lane_model *m, int i)
{
    const uniform_real *poly = m->tendon_dampingpoly + ORR_NPOLY * i,
                       *drive = m->tendon_drive + LANE_DRIVE * i;
    lane_drag drag = {R(m->tendon_damping[i] + drive[1]), poly[0] + drive[2], poly[1] + drive[3]};
    return drag;
}

FN lane_drag joint_spring(const lane_model *m, int i)
{
    const uniform_real *poly = m->jnt_stiffnesspoly + ORR_NPOLY * i;
    lane_drag spring = {R(m->jnt_stiffness[i]), poly[0], poly[1]};
    return spring;
}

FN lane_drag tendon_spring(const lane_model *m, int i)
{
    const uniform_real *poly = m->tendon_stiffnesspoly + ORR_NPOLY * i;
    lane_drag spring = {R(m->tendon_stiffness[i]), poly[0], poly[1]};
    return spring;
}

FN uniform_real tendon_mass(const lane_model *m, int i) // its armature
{
    return m->tendon_armature[i] + m->tendon_drive[LANE_DRIVE * i];
}

FN int joint_dofs(int type)
{
    return type == ORR_JOINT_FREE ? 6 : type == ORR_JOINT_BALL ? 3 : 1;
}
