// Springs that yield: where a spring of a joint or tendon rests follows the motion, so that it is never
// further away than springyield. The state `plastic` has these places in the order of the model: 1 number for
// a hinge or slide joint, a quaternion for a ball joint, 2 for a tendon (the ends between which it is slack).
#pragma once

#include "physics/lanes/positions.h"

// Where the spring of a hinge or slide joint rests.
FN real spring_rest(const lane_model *m, const lane_data *d, int joint)
{
    int adr = m->jnt_plasticadr[joint];
    return adr >= 0 ? d->plastic[adr] : R(m->qpos_spring[m->jnt_qposadr[joint]]);
}

// Where that of a ball joint rests, or the rotations of a free joint.
FN quaternion spring_rest_quaternion(const lane_model *m, const lane_data *d, int joint)
{
    int adr = m->jnt_plasticadr[joint], turn = m->jnt_type[joint] == ORR_JOINT_FREE ? 3 : 0;
    return adr >= 0 ? load_quaternion(d->plastic + adr, 0)
                    : uniform4(m->qpos_spring + m->jnt_qposadr[joint] + turn, 0);
}

// How far a length of a tendon is beyond the ends between which its spring is slack; negative: below them.
FN real tendon_extension(const lane_model *m, const lane_data *d, int i, real length)
{
    int adr = m->tendon_plasticadr[i];
    real low = R(m->tendon_lengthspring[2 * i]), high = R(m->tendon_lengthspring[2 * i + 1]);
    if (adr >= 0) {
        low = d->plastic[adr];
        high = d->plastic[adr + 1];
    }
    return max_(length - high, R(0.0)) - max_(low - length, R(0.0));
}

LANE_FN void yield_joint(const lane_model *m, lane_data *d, int joint)
{
    reals at = d->qpos + m->jnt_qposadr[joint], rest = d->plastic + m->jnt_plasticadr[joint];
    real yield = R(m->jnt_springyield[joint]);
    if (m->jnt_type[joint] != ORR_JOINT_BALL) {
        rest[0] = clamp_(rest[0], at[0] - yield, at[0] + yield);
        return;
    }
    quaternion from = load_quaternion(rest, 0), to = normalise_quaternion(load_quaternion(at, 0));
    real3 apart = quaternion_velocity(multiply_quaternions(conjugate(from), to));
    real angle = length3(apart), moved = max_(angle - yield, R(0.0));
    quaternion turn = axis_angle_quaternion(normalise3(apart), moved);
    store_quaternion(rest, 0, normalise_quaternion(multiply_quaternions(from, turn)));
}

// Both ends move together, but a tendon that is slack from a length of 0 stays so. Its length after the step
// is taken from its length and arms before, as in MuJoCo.
LANE_FN void yield_tendon(const lane_model *m, lane_data *d, int tendon, reals velocity)
{
    reals rest = d->plastic + m->tendon_plasticadr[tendon];
    const uniform_real *band = m->tendon_lengthspring + 2 * tendon;
    real rate = chain_rate(m, tendon_chain(m, tendon), tendon_arms(m, d, tendon), velocity);
    real length = fma_(R(m->opt.timestep), rate, d->ten_length[tendon]);
    real yield = R(m->tendon_springyield[tendon]), extension = tendon_extension(m, d, tendon, length);
    real longer = max_(extension - yield, R(0.0)), shorter = max_(-extension - yield, R(0.0));
    int slack = (double)band[0] == 0.0 && (double)band[1] > 0.0;
    rest[0] = rest[0] + (slack ? R(0.0) : longer) - shorter;
    rest[1] = rest[1] + longer - shorter;
}

FN int springs_yield(const lane_model *m)
{
    return m->nplastic > 0 && !(m->opt.disableflags & ORR_DISABLE_SPRING);
}

// After qpos has moved by a step of `velocity`; what follows from positions is that of the step's start.
LANE_FN void yield_springs(const lane_model *m, lane_data *d, reals velocity)
{
    if (!springs_yield(m)) {
        return;
    }
    for (int i = team_first(d); i < m->njnt; i += team_size(d)) {
        if (m->jnt_plasticadr[i] >= 0) {
            yield_joint(m, d, i);
        }
    }
    for (int i = team_first(d); i < m->ntendon; i += team_size(d)) {
        if (m->tendon_plasticadr[i] >= 0) {
            yield_tendon(m, d, i, velocity);
        }
    }
    team_wait(d);
}
