// A pole, and two poles, on a cart: Gymnasium's InvertedPendulum-v5 and InvertedDoublePendulum-v5.
#include "engine/env/task.h"

#include <math.h>

static int count_single(const env_task *task, const env_robot *robot)
{
    (void)task;
    return robot->model->nq + robot->model->nv;
}

static void start_single(const env_task *task, const env_robot *robot, env_noise *noise, double *qpos,
                         double *qvel)
{
    (void)task;
    env_shake(noise, robot->model, 0.01, 0.01, false, qpos, qvel);
}

static void observe_single(const env_task *task, const env_robot *robot, double *o)
{
    (void)task;
    const orr_model *m = robot->model;
    for (int i = 0; i < m->nq + m->nv; i++) {
        o[i] = i < m->nq ? robot->part[ENV_QPOS][i] : robot->part[ENV_QVEL][i - m->nq];
    }
}

static bool single_fell(const env_task *task, const env_robot *robot)
{
    (void)task;
    const orr_model *m = robot->model;
    bool finite = true;
    for (int i = 0; i < m->nq; i++) {
        finite &= isfinite(robot->part[ENV_QPOS][i]) && isfinite(robot->part[ENV_QVEL][i]);
    }
    return !finite || fabs(robot->part[ENV_QPOS][1]) > 0.2;
}

static double reward_single(const env_task *task, const env_robot *robot, const float *action, double gained,
                            bool terminated)
{
    (void)task, (void)robot, (void)action, (void)gained;
    return terminated ? 0.0 : 1.0;
}

static int count_double(const env_task *task, const env_robot *robot)
{
    (void)task, (void)robot;
    return 9;
}

static void start_double(const env_task *task, const env_robot *robot, env_noise *noise, double *qpos,
                         double *qvel)
{
    (void)task;
    env_shake(noise, robot->model, 0.1, 0.1, true, qpos, qvel);
}

static void observe_double(const env_task *task, const env_robot *robot, double *o)
{
    (void)task;
    const double *q = robot->part[ENV_QPOS], *v = robot->part[ENV_QVEL];
    o[0] = q[0];
    o[1] = sin(q[1]), o[2] = sin(q[2]);
    o[3] = cos(q[1]), o[4] = cos(q[2]);
    for (int i = 0; i < 3; i++) {
        o[5 + i] = env_clip(v[i], 10.0);
    }
    o[8] = env_clip(robot->part[ENV_QFRC_CONSTRAINT][0], 10.0);
}

static bool double_fell(const env_task *task, const env_robot *robot)
{
    (void)task;
    return !(robot->part[ENV_SITE_XPOS][2] > 1.0);
}

static double reward_double(const env_task *task, const env_robot *robot, const float *action, double gained,
                            bool terminated)
{
    (void)task, (void)action, (void)gained;
    const double *tip = robot->part[ENV_SITE_XPOS], *v = robot->part[ENV_QVEL];
    double distance = 0.01 * tip[0] * tip[0] + (tip[2] - 2.0) * (tip[2] - 2.0);
    return (terminated ? 0.0 : 10.0) - distance - (1e-3 * v[1] * v[1] + 5e-3 * v[2] * v[2]);
}

const env_task env_pendulum_tasks[] = {
    {.name = "InvertedPendulum-v5",
     .frame_skip = 2,
     .max_steps = 1000,
     .least_qpos = 2,
     .least_qvel = 2,
     .parts = {ENV_QPOS, ENV_QVEL},
     .part_count = 2,
     .observation_count = count_single,
     .start = start_single,
     .observe = observe_single,
     .reward = reward_single,
     .terminated = single_fell},
    {.name = "InvertedDoublePendulum-v5",
     .frame_skip = 5,
     .max_steps = 1000,
     .least_qpos = 3,
     .least_qvel = 3,
     .parts = {ENV_QPOS, ENV_QVEL, ENV_SITE_XPOS, ENV_QFRC_CONSTRAINT},
     .part_count = 4,
     .observation_count = count_double,
     .start = start_double,
     .observe = observe_double,
     .reward = reward_double,
     .terminated = double_fell},
};
const int env_pendulum_count = sizeof env_pendulum_tasks / sizeof env_pendulum_tasks[0];
