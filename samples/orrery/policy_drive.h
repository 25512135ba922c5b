// A policy that drives the first robot of a scene: an environment of its task turns what the world is in into
// what the policy observes. Where the task is of a scene, the environment is in a scene of its own, from the
// same file, into which robots and soft bodies are copied before each observation.
#pragma once

#include "engine/orrery.h"

typedef struct policy_pair { // a layer of the world, and the environment's of the same name
    orr_layer shown, observed;
    int vertices; // of a soft body; 0: it is a robot, or has physics
} policy_pair;

typedef struct policy_drive {
    orr_policy *policy;
    orr_env *env;
    orr_env_info info;
    const orr_scene *scene; // that is shown
    orr_layer robot;        // its first
    orr_world *own;         // the environment's; NULL: it has the robot alone
    policy_pair *pairs;     // pair_count
    int pair_count;
    double *numbers; // scratch: a quantity of a layer, or positions and velocities of a soft body
    float *actions;  // info.action_count
} policy_drive;

// scene_path: of the file that `scene`, which has a robot, was loaded from. count: controls of its first
// robot, as many as the policy's actions have to be.
orr_result policy_drive_open(const char *path, const orr_scene *scene, const char *scene_path, int count,
                             policy_drive *drive, orr_error *error);
// What the policy does in copy 0 of the world: `actions`.
orr_result policy_drive_ask(policy_drive *drive, orr_world *world, orr_error *error);
void policy_drive_close(policy_drive *drive);
