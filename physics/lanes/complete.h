// What can be read of a state besides what a step needs.
#pragma once

#include "physics/lanes/reaction.h"
#include "physics/lanes/sensors/sensors.h"

LANE_FN void energies(const lane_model *m, lane_data *d)
{
    real potential = R(0.0), kinetic = R(0.0);
    if (!(m->opt.disableflags & ORR_DISABLE_GRAVITY)) {
        real3 g = gravity(m, d);
        for (int i = 1; i < m->nbody; i++) {
            potential = potential - body_mass(m, d, i) * dot3(g, load3(d->xipos, i));
        }
    }
    int springs = !(m->opt.disableflags & ORR_DISABLE_SPRING);
    for (int joint = 0; joint < m->njnt && springs; joint++) {
        int adr = m->jnt_qposadr[joint], type = m->jnt_type[joint];
        lane_drag spring = joint_spring(m, joint);
        real stored = R(0.0);
        if (type == ORR_JOINT_FREE) {
            real3 apart = sub3(load3(d->qpos + adr, 0), uniform3(m->qpos_spring + adr, 0));
            stored = spring_energy(&spring, length3(apart));
            adr += 3;
        }
        if (type == ORR_JOINT_FREE || type == ORR_JOINT_BALL) {
            quaternion at = normalise_quaternion(load_quaternion(d->qpos + adr, 0));
            real3 turned =
                quaternion_velocity(multiply_quaternions(conjugate(spring_rest_quaternion(m, d, joint)), at));
            stored = stored + spring_energy(&spring, length3(turned));
        } else {
            real apart = d->qpos[adr] - spring_rest(m, d, joint);
            stored = spring_energy(&spring, apart);
        }
        potential = potential + stored;
    }
    for (int i = 0; i < m->ntendon && springs; i++) {
        lane_drag spring = tendon_spring(m, i);
        potential = potential + spring_energy(&spring, tendon_extension(m, d, i, d->ten_length[i]));
    }
    inertia_matrix_times(m, d, d->qvel, d->work);
    for (int i = 0; i < m->nv; i++) {
        kinetic = fma_(R(0.5) * d->qvel[i], d->work[i], kinetic);
    }
    d->energy[0] = potential;
    d->energy[1] = kinetic;
}

// How much is computed: each stage includes those before it.
typedef enum lane_depth {
    LANE_DEPTH_POSITIONS,
    LANE_DEPTH_VELOCITIES,
    LANE_DEPTH_ACCELERATIONS,
    LANE_DEPTH_SENSORS
} lane_depth;

// What can be read after forward() but is no part of a step.
LANE_FN void complete(const lane_model *m, lane_data *d, int depth)
{
    cameras(m, d);
    if (depth >= LANE_DEPTH_VELOCITIES) {
        subtree_velocities(m, d);
        energies(m, d);
    }
    if (depth >= LANE_DEPTH_ACCELERATIONS) {
        reactions(m, d);
    }
    if (depth >= LANE_DEPTH_SENSORS) {
        sensors(m, d, 0);
    }
}
