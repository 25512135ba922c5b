// Tasks: what a learner observes of a world, what it is rewarded for, when an episode ends, and how one
// begins.
// A task is a table of functions over the numbers of one world, in double, whatever the physics computes in.
#pragma once

#include "physics/simulation/world.h"

typedef enum env_part { // numbers of a world that tasks use
    ENV_QPOS,
    ENV_QVEL,
    ENV_XPOS,
    ENV_XQUAT,
    ENV_XMAT,
    ENV_GEOM_XMAT,
    ENV_SITE_XMAT,
    ENV_ACT,
    ENV_XIPOS,
    ENV_SUBTREE_COM,
    ENV_GEOM_XPOS,
    ENV_SITE_XPOS,
    ENV_SENSORDATA,
    ENV_CINERT,
    ENV_CVEL,
    ENV_CFRC_EXT,
    ENV_QFRC_ACTUATOR,
    ENV_QFRC_CONSTRAINT,
    ENV_TEN_LENGTH,
    ENV_TEN_VELOCITY,
    ENV_SOFT,    // of a scene; those before are of its physics
    ENV_TACTILE, // of pads (pads.h), computed from those before
    ENV_PARTS
} env_part;

enum { ENV_BODIES = 3 };                            // that a task names
enum { ENV_PARAMETERS = ORR_PARAMETER_START_QPOS }; // that can be drawn for each episode

// What a task knows of its robot.
typedef struct env_robot {
    const orr_model *model;
    double seconds;                // of a step of the environment: frame_skip time steps
    int body[ENV_BODIES];          // numbers of the task's bodies
    const double *part[ENV_PARTS]; // of the world at hand; NULL: the task does not use it
} env_robot;

// A uniform number in [low, high), and one of the normal distribution.
typedef struct env_noise env_noise;
double env_uniform(env_noise *noise, double low, double high);
double env_normal(env_noise *noise);
// Adds uniform numbers within `position` of 0 to qpos, and to qvel those within `velocity` or, `normal`, of
// that deviation.
void env_shake(env_noise *noise, const orr_model *model, double position, double velocity, bool normal,
               double *qpos, double *qvel);

typedef struct env_task {
    const char *name;
    int frame_skip, max_steps;
    int least_qpos, least_qvel; // that its functions take for granted
    const char *bodies[ENV_BODIES];
    env_part parts[ENV_PARTS]; // that it uses; the first part_count
    int part_count;
    const void *settings; // of the functions
    int (*observation_count)(const struct env_task *task, const env_robot *robot);
    // qpos and qvel hold the start of the model.
    void (*start)(const struct env_task *task, const env_robot *robot, env_noise *noise, double *qpos,
                  double *qvel);
    void (*observe)(const struct env_task *task, const env_robot *robot, double *observation);
    // How far it has come [m]; rewards may depend on its change. NULL: 0.
    double (*progress)(const struct env_task *task, const env_robot *robot);
    // gained: change of the progress in this step.
    double (*reward)(const struct env_task *task, const env_robot *robot, const float *action, double gained,
                     bool terminated);
    bool (*terminated)(const struct env_task *task, const env_robot *robot);

    // What follows is of task files alone; zero: nothing.
    bool up_to_date; // what follows from a state is computed again after a step
    // Positions and rotations of bodies that are moved from outside: 3 and 4 numbers each, which hold the
    // model's. shift: how far soft bodies begin from where they are in the scene, 3 zeros each.
    void (*place)(const struct env_task *task, env_noise *noise, double *position, double *rotation,
                  double *shift);
    int attempts; // starts are drawn so often, until nothing touches; 0: once, whatever touches
    double lift;  // attempts move free joints up by this [m], instead of drawing again
    int settle;   // time steps without controls before an episode
    orr_robot_parameter parameters[ENV_PARAMETERS]; // that `randomise` sets; the first parameter_count
    int parameter_count;
    void (*randomise)(const struct env_task *task, env_noise *noise, double *const *values);
    void (*look)(const struct env_task *task, env_noise *noise, orr_eyes_look *look);
    const double *noise; // of each number: deviations; NULL: none
    const int *delay;    // of each number: steps that it is old
    int delay_most;
} env_task;

extern const env_task env_locomotion_tasks[], env_pendulum_tasks[], env_reaching_tasks[];
extern const int env_locomotion_count, env_pendulum_count, env_reaching_count;

// Helpers of several tasks.
static inline double env_clip(double x, double limit)
{
    return x < -limit ? -limit : x > limit ? limit : x;
}

static inline double env_squares(const float *values, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) {
        sum += (double)values[i] * (double)values[i];
    }
    return sum;
}
