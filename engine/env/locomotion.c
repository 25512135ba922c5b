// Walking, hopping, swimming and standing up: Gymnasium's MuJoCo environments of version 5 that reward speed
// (gymnasium/envs/mujoco/*_v5.py, with their default parameters).
#include "engine/env/task.h"

#include <math.h>
#include <string.h>

typedef enum progress_of { OF_QPOS, OF_TORSO, OF_MASS_CENTRE } progress_of;

typedef struct locomotion {
    int hidden;           // coordinates at the start of qpos that are not observed
    double velocity_clip; // of the observed qvel; 0: none
    double force_clip;    // of cfrc_ext, in the observation and the cost; 0: none
    bool spatial;         // cinert, cvel and qfrc_actuator are observed
    progress_of progress;
    double speed_weight, healthy, control_cost;
    double contact_cost, contact_cost_limit; // limit 0: none
    double low, high;                        // of the height, for a robot that is healthy; high 0: always is
    int height;                              // index in qpos
    double angle;                            // largest qpos[2]; 0: any
    double state_limit;                      // of all qpos, qvel from the third on; 0: any
    double noise;
    bool normal_velocity; // of the start: normal noise; otherwise uniform
    bool stands_up;       // rewards the height instead of the speed
} locomotion;

static const locomotion *settings_of(const env_task *task)
{
    return task->settings;
}

static int copy_rows(const double *from, int first, int end, int width, double clip, double *to)
{
    for (int i = first * width; i < end * width; i++) {
        *to++ = clip > 0.0 ? env_clip(from[i], clip) : from[i];
    }
    return (end - first) * width;
}

static int count_observation(const env_task *task, const env_robot *robot)
{
    const locomotion *s = settings_of(task);
    const orr_model *m = robot->model;
    int count = m->nq - s->hidden + m->nv;
    count += s->spatial ? 16 * (m->nbody - 1) + m->nv - 6 : 0;
    return count + (s->spatial || s->force_clip > 0.0 ? 6 * (m->nbody - 1) : 0);
}

static void observe(const env_task *task, const env_robot *robot, double *o)
{
    const locomotion *s = settings_of(task);
    const orr_model *m = robot->model;
    o += copy_rows(robot->part[ENV_QPOS], s->hidden, m->nq, 1, 0.0, o);
    o += copy_rows(robot->part[ENV_QVEL], 0, m->nv, 1, s->velocity_clip, o);
    if (s->spatial) {
        o += copy_rows(robot->part[ENV_CINERT], 1, m->nbody, 10, 0.0, o);
        o += copy_rows(robot->part[ENV_CVEL], 1, m->nbody, 6, 0.0, o);
        o += copy_rows(robot->part[ENV_QFRC_ACTUATOR], 6, m->nv, 1, 0.0, o);
    }
    if (s->spatial || s->force_clip > 0.0) {
        copy_rows(robot->part[ENV_CFRC_EXT], 1, m->nbody, 6, s->force_clip, o);
    }
}

static double progress(const env_task *task, const env_robot *robot)
{
    const locomotion *s = settings_of(task);
    const orr_model *m = robot->model;
    if (s->progress == OF_QPOS) {
        return robot->part[ENV_QPOS][0];
    }
    if (s->progress == OF_TORSO) {
        return robot->part[ENV_XPOS][3];
    }
    double sum = 0.0, mass = 0.0;
    for (int i = 0; i < m->nbody; i++) {
        sum += m->body_mass[i] * robot->part[ENV_XIPOS][3 * i];
        mass += m->body_mass[i];
    }
    return sum / mass;
}

static bool healthy(const locomotion *s, const env_robot *robot)
{
    const orr_model *m = robot->model;
    const double *q = robot->part[ENV_QPOS], *v = robot->part[ENV_QVEL];
    bool state = true;
    for (int i = 2; i < m->nq + m->nv; i++) {
        double x = i < m->nq ? q[i] : v[i - m->nq];
        state &= s->state_limit > 0.0 ? fabs(x) < s->state_limit : isfinite(x) != 0;
    }
    if (s->high == 0.0) {
        return true;
    }
    // the range includes its ends for Ant, whose height is the third coordinate, as Gymnasium has it
    double z = q[s->height];
    bool high_enough = s->progress == OF_TORSO ? z >= s->low && z <= s->high : z > s->low && z < s->high;
    return state && high_enough && (s->angle == 0.0 || fabs(q[2]) < s->angle);
}

static bool terminated(const env_task *task, const env_robot *robot)
{
    return !healthy(settings_of(task), robot);
}

static double reward(const env_task *task, const env_robot *robot, const float *action, double gained,
                     bool ended)
{
    const locomotion *s = settings_of(task);
    const orr_model *m = robot->model;
    double contact = 0.0;
    for (int i = 0; i < 6 * m->nbody && s->contact_cost > 0.0; i++) {
        double force = robot->part[ENV_CFRC_EXT][i];
        force = s->force_clip > 0.0 ? env_clip(force, s->force_clip) : force;
        contact += s->contact_cost * force * force;
    }
    contact = s->contact_cost_limit > 0.0 ? fmin(contact, s->contact_cost_limit) : contact;
    double costs = s->control_cost * env_squares(action, m->nu) + contact;
    if (s->stands_up) {
        return robot->part[ENV_QPOS][2] / m->opt.timestep - costs + 1.0;
    }
    return s->speed_weight * gained / robot->seconds + (ended ? 0.0 : s->healthy) - costs;
}

static void start(const env_task *task, const env_robot *robot, env_noise *noise, double *qpos, double *qvel)
{
    const locomotion *s = settings_of(task);
    env_shake(noise, robot->model, s->noise, s->noise, s->normal_velocity, qpos, qvel);
}

static const locomotion ant = {.hidden = 2,
                               .force_clip = 1.0,
                               .progress = OF_TORSO,
                               .speed_weight = 1.0,
                               .healthy = 1.0,
                               .control_cost = 0.5,
                               .contact_cost = 5e-4,
                               .low = 0.2,
                               .high = 1.0,
                               .height = 2,
                               .noise = 0.1,
                               .normal_velocity = true};
static const locomotion half_cheetah = {
    .hidden = 1, .speed_weight = 1.0, .control_cost = 0.1, .noise = 0.1, .normal_velocity = true};
static const locomotion hopper = {.hidden = 1,
                                  .velocity_clip = 10.0,
                                  .speed_weight = 1.0,
                                  .healthy = 1.0,
                                  .control_cost = 1e-3,
                                  .low = 0.7,
                                  .high = INFINITY,
                                  .height = 1,
                                  .angle = 0.2,
                                  .state_limit = 100.0,
                                  .noise = 5e-3};
static const locomotion walker = {.hidden = 1,
                                  .velocity_clip = 10.0,
                                  .speed_weight = 1.0,
                                  .healthy = 1.0,
                                  .control_cost = 1e-3,
                                  .low = 0.8,
                                  .high = 2.0,
                                  .height = 1,
                                  .angle = 1.0,
                                  .noise = 5e-3};
static const locomotion swimmer = {.hidden = 2, .speed_weight = 1.0, .control_cost = 1e-4, .noise = 0.1};
static const locomotion humanoid = {.hidden = 2,
                                    .spatial = true,
                                    .progress = OF_MASS_CENTRE,
                                    .speed_weight = 1.25,
                                    .healthy = 5.0,
                                    .control_cost = 0.1,
                                    .contact_cost = 5e-7,
                                    .contact_cost_limit = 10.0,
                                    .low = 1.0,
                                    .high = 2.0,
                                    .height = 2,
                                    .noise = 1e-2};
static const locomotion standup = {.hidden = 2,
                                   .spatial = true,
                                   .progress = OF_MASS_CENTRE,
                                   .control_cost = 0.1,
                                   .contact_cost = 5e-7,
                                   .contact_cost_limit = 10.0,
                                   .noise = 1e-2,
                                   .stands_up = true};

#define FUNCTIONS                                                                                            \
    .observation_count = count_observation, .start = start, .observe = observe, .progress = progress,        \
    .reward = reward, .terminated = terminated
#define STATE .least_qpos = 3, .least_qvel = 3, .parts = {ENV_QPOS, ENV_QVEL}, .part_count = 2
#define SPATIAL                                                                                              \
    .least_qpos = 8, .least_qvel = 7,                                                                        \
    .parts = {ENV_QPOS, ENV_QVEL, ENV_XIPOS, ENV_CINERT, ENV_CVEL, ENV_CFRC_EXT, ENV_QFRC_ACTUATOR},         \
    .part_count = 7

const env_task env_locomotion_tasks[] = {
    {.name = "Ant-v5",
     .frame_skip = 5,
     .max_steps = 1000,
     .least_qpos = 3,
     .least_qvel = 3,
     .parts = {ENV_QPOS, ENV_QVEL, ENV_XPOS, ENV_CFRC_EXT},
     .part_count = 4,
     .settings = &ant,
     FUNCTIONS},
    {.name = "HalfCheetah-v5",
     .frame_skip = 5,
     .max_steps = 1000,
     STATE,
     .settings = &half_cheetah,
     FUNCTIONS},
    {.name = "Hopper-v5", .frame_skip = 4, .max_steps = 1000, STATE, .settings = &hopper, FUNCTIONS},
    {.name = "Walker2d-v5", .frame_skip = 4, .max_steps = 1000, STATE, .settings = &walker, FUNCTIONS},
    {.name = "Swimmer-v5", .frame_skip = 4, .max_steps = 1000, STATE, .settings = &swimmer, FUNCTIONS},
    {.name = "Humanoid-v5", .frame_skip = 5, .max_steps = 1000, SPATIAL, .settings = &humanoid, FUNCTIONS},
    {.name = "HumanoidStandup-v5",
     .frame_skip = 5,
     .max_steps = 1000,
     SPATIAL,
     .settings = &standup,
     FUNCTIONS},
};
const int env_locomotion_count = sizeof env_locomotion_tasks / sizeof env_locomotion_tasks[0];
