// Parameters of the model, some of which may differ between worlds (model/vary.h), and the laws of springs
// and dampers.
#pragma once

#include "physics/lanes/access.h"

// name(m, d, i): number i of the model's array, or of the world's own where worlds differ in it.
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

// Room for the pairs in contact of a step that mixes their parameters.
FN int met_capacity(const lane_model *m)
{
    return m->plan->pairs_mixed ? m->plan->contact_capacity + 1 : 0;
}

// A pair by its number: those that the plan lists, then those that the step has mixed.
FN const orr_pair *lane_pair(const lane_model *m, const lane_data *d, int i)
{
    int listed = m->plan->pair_count;
    return i < listed ? &m->plan->pair[i] : &d->met[i - listed];
}

// The body of the second side of a pair; -1: it is a vertex of a soft body, which has several.
FN int second_body(const lane_model *m, const orr_pair *pair)
{
    return pair->geom2 >= 0 ? m->geom_bodyid[pair->geom2] : -1;
}

// The dofs that move the bodies of a pair apart.
typedef struct lane_pair_dofs {
    const int32_t *dof;  // descending
    const uint8_t *part; // ORR_CHAIN_FIRST or ORR_CHAIN_SECOND
    const double *share; // NULL, or of a vertex: plan->point_share
    const int32_t *node; // NULL, or of an element: plan->entry_node
    int count;
} lane_pair_dofs;

FN lane_pair_dofs pair_dofs(const lane_model *m, const lane_data *d, int i)
{
    const orr_plan *plan = m->plan;
    const orr_pair *pair = lane_pair(m, d, i);
    lane_pair_dofs dofs;
    dofs.share = NULL;
    dofs.node = NULL;
    if (i < plan->pair_count) {
        if (pair->point >= 0) {
            dofs.share = plan->point_share + (plan->chain[pair->chain].first - plan->point_entry);
        }
        if (pair->element >= 0) {
            dofs.node = plan->entry_node + (plan->chain[pair->chain].first - plan->element_entry);
        }
        dofs.dof = plan->chain_dof + plan->chain[pair->chain].first;
        dofs.part = plan->chain_part + plan->chain[pair->chain].first;
        dofs.count = plan->chain[pair->chain].count;
    } else {
        int64_t first = (int64_t)(i - plan->pair_count) * plan->pair_dofs;
        dofs.dof = d->met_dof + first;
        dofs.part = d->met_part + first;
        dofs.count = pair->chain;
    }
    return dofs;
}

FN real pair_number(const lane_model *m, const lane_data *d, int pair, int i)
{
    int at = m->plan->varied_at[ORR_VARY_PAIR];
    return at >= 0 ? d->varied[at + ORR_PAIR_NUMBERS * pair + i] : R(lane_pair(m, d, pair)->numbers[i]);
}

// A polynomial law: the force of a damper is -(c0 + c1 |x| + c2 x^2) x, of a spring -(c0 + c1 x + c2 x^2) x.
typedef struct lane_drag {
    real c0;
    uniform_real c1, c2;
} lane_drag;

FN int drags(const lane_drag *drag) // false where all coefficients are 0 in all lanes
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

enum { LANE_DRIVE = 2 + ORR_NPOLY }; // columns of dof_drive and tendon_drive

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
