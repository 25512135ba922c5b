// The scene that environments are in, where their model is a scene file or has soft bodies: a copy of its
// world for each environment. All robots, bodies and captured surfaces that move or are touched are in one
// physics.
#pragma once

#include "engine/env/archive.h"
#include "engine/loop/engine.h"
#include "physics/simulation/world.h"

enum { ENV_SOFT_NUMBERS = 6 }; // of a soft body: centre of mass [m] and its velocity [m/s]

typedef struct env_scene {
    orr_scene *scene;
    orr_world *world;
    struct orr_world_physics *joined; // the world's only physics: of
    const orr_model *model;
    orr_physics *physics;
    int soft_count;
    const char **soft_names;
    double *softs; // copies x soft_count x ENV_SOFT_NUMBERS, in the frame of the physics
    double *shift; // copies x soft_count x 3: how far from its layer a soft body begins, in the same frame
} env_scene;

static inline double *env_scene_numbers(const env_scene *scene, int index)
{
    return scene->softs + (size_t)index * (size_t)scene->soft_count * ENV_SOFT_NUMBERS;
}

static inline double *env_scene_shift(const env_scene *scene, int index)
{
    return scene->shift + (size_t)index * (size_t)scene->soft_count * 3;
}

orr_result env_scene_create(orr_engine *engine, const char *path, int count, bool double_precision,
                            env_scene **scene, orr_error *error);
void env_scene_destroy(env_scene *scene); // NULL is allowed

// All of the copies whose byte of `chosen` is not 0. Soft bodies begin at their layers, moved by `shift`.
void env_scene_restart(env_scene *scene, const uint8_t *chosen);
orr_result env_scene_step(env_scene *scene, int steps, const uint8_t *chosen, orr_error *error);
void env_scene_read(env_scene *scene, const uint8_t *chosen); // `softs`
bool env_scene_diverged(const env_scene *scene, int index);   // a soft body of the copy
void env_scene_moved(const env_scene *scene);                 // the physics was stepped or set
// Positions and velocities of soft bodies; those read are awake, and without plastic strain.
void env_scene_archive(env_scene *scene, orr_archive *archive);
