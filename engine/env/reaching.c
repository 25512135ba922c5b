// An arm that reaches, and one that pushes: Gymnasium's Reacher-v5 and Pusher-v5.
#include "engine/env/task.h"

#include <math.h>
#include <string.h>

// The difference of the positions of two of the task's bodies.
static void between(const env_robot *robot, int from, int to, double apart[3])
{
    const double *x = robot->part[ENV_XPOS];
    for (int k = 0; k < 3; k++) {
        apart[k] = x[3 * robot->body[to] + k] - x[3 * robot->body[from] + k];
    }
}

static double distance(const env_robot *robot, int from, int to)
{
    double apart[3];
    between(robot, from, to, apart);
    return sqrt(apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2]);
}

static bool never(const env_task *task, const env_robot *robot)
{
    (void)task, (void)robot;
    return false;
}

// ---- Reacher: bodies are the fingertip and the target ----

static int count_reacher(const env_task *task, const env_robot *robot)
{
    (void)task, (void)robot;
    return 10;
}

static void start_reacher(const env_task *task, const env_robot *robot, env_noise *noise, double *qpos,
                          double *qvel)
{
    (void)task;
    int nq = robot->model->nq, nv = robot->model->nv;
    env_shake(noise, robot->model, 0.1, 5e-3, false, qpos, qvel);
    do {
        for (int k = 0; k < 2; k++) {
            qpos[nq - 2 + k] = env_uniform(noise, -0.2, 0.2);
        }
    } while (!(hypot(qpos[nq - 2], qpos[nq - 1]) < 0.2));
    qvel[nv - 2] = qvel[nv - 1] = 0.0;
}

static void observe_reacher(const env_task *task, const env_robot *robot, double *o)
{
    (void)task;
    const double *q = robot->part[ENV_QPOS], *v = robot->part[ENV_QVEL];
    double apart[3];
    between(robot, 1, 0, apart);
    for (int k = 0; k < 2; k++) {
        o[k] = cos(q[k]);
        o[2 + k] = sin(q[k]);
        o[4 + k] = q[2 + k];
        o[6 + k] = v[k];
        o[8 + k] = apart[k];
    }
}

static double reward_reacher(const env_task *task, const env_robot *robot, const float *action, double gained,
                             bool terminated)
{
    (void)task, (void)gained, (void)terminated;
    return -distance(robot, 0, 1) - env_squares(action, robot->model->nu);
}

// ---- Pusher: bodies are the tip of the arm, the object and the goal ----

static int count_pusher(const env_task *task, const env_robot *robot)
{
    (void)task, (void)robot;
    return 23;
}

static void start_pusher(const env_task *task, const env_robot *robot, env_noise *noise, double *qpos,
                         double *qvel)
{
    (void)task;
    int nq = robot->model->nq, nv = robot->model->nv;
    double x, y;
    env_shake(noise, robot->model, 0.0, 5e-3, false, qpos, qvel);
    do {
        x = env_uniform(noise, -0.3, 0.0);
        y = env_uniform(noise, -0.2, 0.2);
    } while (!(hypot(x, y) > 0.17));
    qpos[nq - 4] = x;
    qpos[nq - 3] = y;
    qpos[nq - 2] = qpos[nq - 1] = 0.0;
    memset(qvel + nv - 4, 0, 4 * sizeof *qvel);
}

static void observe_pusher(const env_task *task, const env_robot *robot, double *o)
{
    (void)task;
    memcpy(o, robot->part[ENV_QPOS], 7 * sizeof *o);
    memcpy(o + 7, robot->part[ENV_QVEL], 7 * sizeof *o);
    for (int i = 0; i < 3; i++) {
        memcpy(o + 14 + (ptrdiff_t)3 * i, robot->part[ENV_XPOS] + (ptrdiff_t)3 * robot->body[i],
               3 * sizeof *o);
    }
}

static double reward_pusher(const env_task *task, const env_robot *robot, const float *action, double gained,
                            bool terminated)
{
    (void)task, (void)gained, (void)terminated;
    return -0.5 * distance(robot, 0, 1) - distance(robot, 1, 2) - 0.1 * env_squares(action, robot->model->nu);
}

const env_task env_reaching_tasks[] = {
    {.name = "Reacher-v5",
     .frame_skip = 2,
     .max_steps = 50,
     .least_qpos = 4,
     .least_qvel = 4,
     .bodies = {"fingertip", "target"},
     .parts = {ENV_QPOS, ENV_QVEL, ENV_XPOS},
     .part_count = 3,
     .observation_count = count_reacher,
     .start = start_reacher,
     .observe = observe_reacher,
     .reward = reward_reacher,
     .terminated = never},
    {.name = "Pusher-v5",
     .frame_skip = 5,
     .max_steps = 100,
     .least_qpos = 11,
     .least_qvel = 11,
     .bodies = {"tips_arm", "object", "goal"},
     .parts = {ENV_QPOS, ENV_QVEL, ENV_XPOS},
     .part_count = 3,
     .observation_count = count_pusher,
     .start = start_pusher,
     .observe = observe_pusher,
     .reward = reward_pusher,
     .terminated = never},
};
const int env_reaching_count = sizeof env_reaching_tasks / sizeof env_reaching_tasks[0];
