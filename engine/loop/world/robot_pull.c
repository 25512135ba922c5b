#include "engine/loop/world/robot_pull.h"

#include "engine/core/memory.h"
#include "engine/maths/rotation.h"

#include <string.h>

// What of the state the force depends on, of one body.
typedef struct body_state {
    double position[3], rotation[4]; // of its frame
    double mass_centre[3];
    double root_centre[3]; // of the tree's mass: where `velocity` is measured
    double velocity[6];    // angular, then linear
} body_state;

static void read_some(orr_physics *physics, int world, orr_physics_quantity quantity, int first, int count,
                      double *numbers, double *out)
{
    orr_physics_read(physics, quantity, world, numbers);
    memcpy(out, numbers + first, (size_t)count * sizeof *out);
}

static void read_body(const orr_model *m, orr_physics *physics, int world, int body, double *numbers,
                      body_state *s)
{
    read_some(physics, world, ORR_PHYSICS_XPOS, 3 * body, 3, numbers, s->position);
    read_some(physics, world, ORR_PHYSICS_XQUAT, 4 * body, 4, numbers, s->rotation);
    read_some(physics, world, ORR_PHYSICS_XIPOS, 3 * body, 3, numbers, s->mass_centre);
    read_some(physics, world, ORR_PHYSICS_SUBTREE_COM, 3 * m->body_rootid[body], 3, numbers, s->root_centre);
    read_some(physics, world, ORR_PHYSICS_CVEL, 6 * body, 6, numbers, s->velocity);
}

bool orr_robot_pull_force(const orr_model *m, orr_physics *physics, int world, const orr_robot_pull *pull,
                          double force[6])
{
    size_t count = 6 * (size_t)m->nbody;
    double *numbers = orr_alloc_zero(count, sizeof *numbers);
    double weight = m->body_invweight0[2 * pull->body];
    if (!numbers || weight <= 0.0 || orr_physics_diverged(physics, world)) {
        orr_free(numbers); // what cannot move is not pulled
        return false;
    }
    body_state s;
    read_body(m, physics, world, pull->body, numbers, &s);
    double turn[9], arm[3], from_root[3], speed[3];
    quat_matrix(s.rotation, turn);
    for (int k = 0; k < 3; k++) {
        const double *row = turn + 3 * k;
        double at = s.position[k] + vec3_dot(row, pull->point);
        arm[k] = at - s.mass_centre[k];
        from_root[k] = at - s.root_centre[k];
        force[k] = pull->to[k] - at;
    }
    vec3_cross(s.velocity, from_root, speed);
    double stiffness = (double)m->vis.stiffness, damping = 2.0 * sqrt(stiffness);
    for (int k = 0; k < 3; k++) {
        force[k] = (stiffness * force[k] - damping * (speed[k] + s.velocity[3 + k])) / weight;
    }
    vec3_cross(arm, force, force + 3);
    orr_free(numbers);
    return true;
}
