#include "engine/loop/world/soft/node_points.h"

#include "engine/core/memory.h"
#include "engine/maths/rotation.h"
#include "engine/maths/vector.h"
#include "engine/scene/transform.h"

#include <string.h>

const orr_layer_data *orr_layer_nodes_robot(const orr_scene *scene, const orr_layer_data *layer)
{
    return &scene->layers[orr_scene_find(scene, (orr_layer){layer->flex_of.slot, layer->flex_of.generation})];
}

static void turn(const float rotation[4], const double v[3], double out[3])
{
    const double quat[4] = {(double)rotation[0], (double)rotation[1], (double)rotation[2],
                            (double)rotation[3]};
    quat_apply(quat, v, out);
}

static void place_nodes(const orr_model *m, int flex, const orr_transform *robot, const orr_transform *bodies,
                        double *node)
{
    for (int i = 0; i < m->flex_nodenum[flex]; i++) {
        const ptrdiff_t of = m->flex_nodeadr[flex] + i;
        const orr_transform body = orr_transform_multiply(robot, &bodies[m->flex_nodebodyid[of]]);
        turn(body.rotation, m->flex_node + 3 * of, node + 3 * (ptrdiff_t)i);
        for (int k = 0; k < 3; k++) {
            node[3 * i + k] = node[3 * i + k] * (double)body.scale + (double)body.position[k];
        }
    }
}

// Velocities of the nodes in the scene, of those of their bodies at the centre of mass of each one's subtree.
static void move_nodes(const orr_model *m, int flex, const orr_transform *robot, const orr_transform *bodies,
                       const double *cvel, const double *com, double *velocity)
{
    for (int i = 0; i < m->flex_nodenum[flex]; i++) {
        const ptrdiff_t of = m->flex_nodeadr[flex] + i, body = m->flex_nodebodyid[of];
        const double *spin = cvel + 6 * body, *centre = com + 3 * (ptrdiff_t)m->body_rootid[body];
        double arm[3], v[3];
        turn(bodies[body].rotation, m->flex_node + 3 * of, arm);
        for (int k = 0; k < 3; k++) {
            arm[k] += (double)bodies[body].position[k] - centre[k];
        }
        vec3_cross(spin, arm, v);
        for (int k = 0; k < 3; k++) {
            v[k] = (v[k] + spin[3 + k]) * (double)robot->scale;
        }
        turn(robot->rotation, v, velocity + 3 * (ptrdiff_t)i);
    }
}

// What is between the nodes.
static void follow(const orr_soft_layer *soft, const double *node, double *point)
{
    for (int i = 0; i < soft->cage->vertices; i++) {
        double at[3] = {0.0, 0.0, 0.0};
        for (int w = soft->node_first[i]; w < soft->node_first[i + 1]; w++) {
            const double *of = node + 3 * (ptrdiff_t)soft->node[w];
            for (int k = 0; k < 3; k++) {
                at[k] += soft->node_share[w] * of[k];
            }
        }
        memcpy(point + 3 * (ptrdiff_t)i, at, sizeof at);
    }
}

// Does the robot move? If it does, r becomes it.
static bool is_simulated(const orr_world *world, int index, const orr_layer_data *robot, orr_world_robot **r)
{
    return orr_world_robots_find(world, robot, r, NULL) == ORR_OK &&
           !orr_physics_diverged((*r)->physics->physics, index);
}

orr_result orr_world_node_points(const orr_world *world, int index, const orr_layer_data *layer,
                                 double *positions, double *velocities, orr_node_scratch *scratch,
                                 orr_error *error)
{
    const orr_layer_data *robot = orr_layer_nodes_robot(world->scene, layer);
    const orr_model *m = robot->robot->model;
    const int flex = layer->soft->flex;
    const orr_layer_state state = orr_world_state(world, index, robot);
    const orr_transform *bodies;
    orr_transform at;
    ORR_GROW(scratch->numbers, scratch->capacity, 3 * m->flex_nodenum[flex], "nodes of a soft body", error);
    ORR_TRY(orr_world_layer_transform(world, index, robot, &state.transform, &at, error));
    ORR_TRY(orr_world_robot_bodies(world, index, robot, &bodies, error));
    if (positions) {
        place_nodes(m, flex, &at, bodies, scratch->numbers);
        follow(layer->soft, scratch->numbers, positions);
    }
    orr_world_robot *r;
    if (velocities && is_simulated(world, index, robot, &r)) {
        double *cvel = r->numbers, *com = cvel + 6 * (ptrdiff_t)m->nbody; // a body's inertia is 10 numbers
        orr_world_robot_read(world, index, r, ORR_PHYSICS_CVEL, cvel);
        orr_world_robot_read(world, index, r, ORR_PHYSICS_SUBTREE_COM, com);
        ORR_TRY(orr_world_robots_check(world, r->physics, error));
        move_nodes(m, flex, &at, bodies, cvel, com, scratch->numbers);
        follow(layer->soft, scratch->numbers, velocities);
    } else if (velocities) {
        memset(velocities, 0, 3 * (size_t)m->flex_vertnum[flex] * sizeof *velocities);
    }
    return ORR_OK;
}
