// orrery train policy: a policy learns a task of orr_env; through the public interface alone.
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/image/plot.h"
#include "samples/orrery/commands.h"
#include "samples/orrery/interrupt.h"
#include "samples/orrery/progress.h"
#include "samples/orrery/shipped_file.h"
#include "samples/orrery/train/train.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CURVE_MAX = 4096, EPISODES = 20, CHECKPOINT_MINUTES = 10 };

typedef struct policy_training {
    orr_engine *engine;
    orr_policy_trainer *trainer;
    const char *task, *model, *path, *resume;
    bool small; // saved without the state to go on from
    int steps, worlds, horizon, width, episodes;
    double seconds, success; // NAN: it is not asked for
    double checkpoint_minutes;
    uint32_t seed;
    double at[CURVE_MAX], returns[CURVE_MAX]; // steps; mean return of the last episodes
    int points, stride;                       // of the curve; iterations between two
    double spent;                             // [s]
} policy_training;

// Half of the points make room for as many later ones.
static void put_point(policy_training *t, int64_t iteration, const orr_policy_progress *p)
{
    if (t->points == CURVE_MAX) {
        for (int i = 0; i < CURVE_MAX / 2; i++) {
            t->at[i] = t->at[2 * i];
            t->returns[i] = t->returns[2 * i];
        }
        t->points = CURVE_MAX / 2;
        t->stride *= 2;
    }
    if (p->episodes > 0 && iteration % t->stride == 0) {
        t->at[t->points] = (double)p->steps;
        t->returns[t->points++] = p->mean_return;
    }
}

static void show(const policy_training *t, progress *line, const orr_policy_progress *p)
{
    const double seconds = progress_seconds(line), rate = (double)p->steps / (seconds > 0.0 ? seconds : 1.0);
    double left = t->seconds > 0.0 ? t->seconds - seconds : 1e9;
    if (t->steps > 0) {
        const double by_steps = (double)(t->steps - p->steps) / rate;
        left = by_steps < left ? by_steps : left;
    }
    progress_line(line, "return %.1f, %lld episodes, %lld steps, %.0f steps/s, %.0f s left", p->mean_return,
                  (long long)p->episodes, (long long)p->steps, rate, left > 0.0 ? left : 0.0);
}

static orr_result save(const policy_training *t, orr_error *error)
{
    return t->small ? orr_policy_save(orr_policy_trainer_policy(t->trainer), t->path, error)
                    : orr_policy_trainer_save(t->trainer, t->path, error);
}

// What was learned so far, so that a crash costs minutes alone. A disk that is full does not end a training.
static void save_checkpoint(const policy_training *t)
{
    orr_error why;
    if (save(t, &why) != ORR_OK) {
        fprintf(stderr, "orrery: warning: %s: no checkpoint, the training goes on\n", why.message);
    }
}

static orr_result learn(policy_training *t, orr_policy_progress *p, orr_error *error)
{
    progress line;
    progress_begin(&line, "steps", t->steps);
    t->stride = 1;
    const double between = t->checkpoint_minutes > 0.0 ? 60.0 * t->checkpoint_minutes : INFINITY;
    double next = between;
    for (int64_t iteration = 0; !interrupt_requested(); iteration++) {
        ORR_TRY(orr_policy_trainer_step(t->trainer, error));
        ORR_TRY(orr_policy_trainer_describe(t->trainer, p, error));
        put_point(t, iteration, p);
        t->spent = progress_seconds(&line);
        if (progress_due(&line)) {
            show(t, &line, p);
        }
        if ((t->steps > 0 && p->steps >= t->steps) || (t->seconds > 0.0 && t->spent >= t->seconds)) {
            break;
        }
        if (t->spent >= next) {
            save_checkpoint(t);
            next = progress_seconds(&line) + between;
        }
    }
    progress_end(&line);
    return ORR_OK;
}

// The mean return of episodes in which the policy does what it thinks best, and how many of them succeed.
// Ctrl-C ends it: ORR_ERROR_INTERRUPTED.
static orr_result evaluate(const policy_training *t, double *mean, double *succeeded, orr_error *error)
{
    const orr_env_desc desc = {.task = t->task,
                               .model = t->model,
                               .count = t->episodes,
                               .seed = t->seed + 1000003u,
                               .autoreset = ORR_AUTORESET_SAME_STEP};
    orr_env *env;
    orr_env_info info;
    orr_env_results results;
    ORR_TRY(orr_env_create(t->engine, &desc, &env, error));
    orr_result result = orr_env_describe(env, &info, error);
    float *actions = orr_alloc((size_t)desc.count * (size_t)info.action_count, sizeof *actions);
    bool *ended = orr_alloc_zero((size_t)desc.count, sizeof *ended);
    int left = desc.count;
    *mean = *succeeded = 0.0;
    if (result == ORR_OK && (!actions || !ended)) {
        result = orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %d episodes", desc.count);
    }
    if (result == ORR_OK) {
        result = orr_env_get_results(env, &results, error);
    }
    while (result == ORR_OK && left > 0) {
        if (interrupt_requested()) {
            result = orr_fail(error, ORR_CODE_INTERRUPTED, "stopped");
            break;
        }
        result = orr_policy_act(orr_policy_trainer_policy(t->trainer), results.observation, desc.count,
                                actions, error);
        if (result == ORR_OK) {
            result = orr_env_step(env, actions, error);
        }
        for (int i = 0; result == ORR_OK && i < desc.count; i++) {
            if (!ended[i] && (results.terminated[i] || results.truncated[i])) {
                ended[i] = true;
                left--;
                *mean += results.episode_return[i] / desc.count;
                *succeeded += results.reward[i] >= t->success;
            }
        }
    }
    orr_free(actions);
    orr_free(ended);
    orr_env_destroy(env);
    return result;
}

static orr_result save_plot(const policy_training *t, orr_error *error)
{
    char path[4096];
    const orr_plot_line line = {
        .name = "mean return of the last 100 episodes", .x = t->at, .y = t->returns, .count = t->points};
    if (snprintf(path, sizeof path, "%s.png", t->path) >= (int)sizeof path) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: expected a shorter path", t->path);
    }
    return orr_plot_save(path, t->task, "steps of environments", &line, 1, error);
}

static orr_result report(const policy_training *t, const orr_policy_progress *p, cJSON *json,
                         orr_error *error)
{
    double best = 0.0, succeeded = 0.0;
    const orr_result evaluated = evaluate(t, &best, &succeeded, error);
    if (evaluated != ORR_OK && evaluated != ORR_ERROR_INTERRUPTED) { // the policy is saved by then
        return evaluated;
    }
    train_figure(json, "steps", (double)p->steps, "");
    train_figure(json, "episodes", (double)p->episodes, "");
    train_figure(json, "mean return", p->mean_return, "of the last 100 episodes");
    if (evaluated == ORR_OK) {
        train_figure(json, "evaluated return", best, "mean of episodes without noise");
    }
    if (evaluated == ORR_OK && !isnan(t->success)) {
        train_figure(json, "success rate", succeeded / t->episodes, "of them");
    }
    train_figure(json, "seconds", t->spent, "s");
    train_figure(json, "steps per second", (double)p->steps / t->spent, "");
    train_figure(json, "simulation seconds", p->simulation_seconds, "s");
    train_figure(json, "inference seconds", p->inference_seconds, "s");
    train_figure(json, "update seconds", p->update_seconds, "s");
    return ORR_OK;
}

static orr_result run(policy_training *t, const common_options *common, cJSON *json, orr_error *error)
{
    orr_policy_progress p = {0};
    if (!orr_path_has_ending(t->path, ".policy")) {
        return orr_fail(error, ORR_CODE_FILE_TYPE, "%s: expected a name that ends in .policy", t->path);
    }
    ORR_TRY(orr_file_try(t->path, error));
    ORR_TRY(command_engine(common, &t->engine, error));
    const orr_policy_train_desc desc = {.task = t->task,
                                        .model = t->model,
                                        .count = t->worlds,
                                        .horizon = t->horizon,
                                        .width = t->width,
                                        .seed = t->seed,
                                        .resume = t->resume};
    ORR_TRY(orr_policy_trainer_create(t->engine, &desc, &t->trainer, error));
    interrupt_begin(); // from here on Ctrl-C saves
    ORR_TRY(learn(t, &p, error));
    ORR_TRY(save(t, error));
    ORR_TRY(save_plot(t, error));
    return report(t, &p, json, error);
}

int train_policy(int argc, char **argv)
{
    common_options common = {.seed = UINT64_MAX};
    policy_training *t = orr_alloc_zero(1, sizeof *t);
    orr_error error = {0};
    int count = 0, exit_code = 0;
    if (!t) {
        return command_fail(orr_fail(&error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a training"), &error);
    }
    t->episodes = EPISODES;
    t->success = NAN;
    t->checkpoint_minutes = CHECKPOINT_MINUTES;
    const option list[] = {
        {"--output", 'o', OPTION_TEXT, &t->path, "FILE.policy",
         "policy; a plot of the returns is written beside it", 0, 0},
        {"--steps", 0, OPTION_INT, &t->steps, "N", "stop after N steps, summed over all environments", 1,
         1e9},
        {"--seconds", 0, OPTION_REAL, &t->seconds, "S",
         "stop S seconds after the start (default 60; no limit with --steps)", 1e-3, 1e7},
        {"--worlds", 0, OPTION_INT, &t->worlds, "N", "number of environments, a multiple of 64 (default 128)",
         64, ORR_ENV_MAX},
        {"--horizon", 0, OPTION_INT, &t->horizon, "N",
         "steps of each environment between two updates (default 64)", 1, 65536},
        {"--width", 0, OPTION_INT, &t->width, "N",
         "neurons in each of the two hidden layers: 16, 32, 64 or 128 (default 64)", 16, 128},
        {"--resume", 0, OPTION_TEXT, &t->resume, "FILE.policy",
         "continue from this policy, bit for bit, with its --worlds, --horizon, --width and --seed", 0, 0},
        {"--checkpoint", 0, OPTION_REAL, &t->checkpoint_minutes, "MINUTES",
         "interval at which the policy is saved while it learns (default 10; 0: only at the end)", 0.0, 1e6},
        {"--small", 0, OPTION_FLAG, &t->small, NULL,
         "save only the policy, without the state that --resume needs", 0, 0},
        {"--episodes", 0, OPTION_INT, &t->episodes, "N",
         "number of episodes without exploration noise that are evaluated at the end (default 20)", 1, 1e6},
        {"--success", 0, OPTION_REAL, &t->success, "REWARD",
         "also report the fraction of those episodes whose last reward is at least REWARD", -1e30, 1e30},
    };
    const command_usage usage = {
        .name = "train policy",
        .operands = "TASK [ROBOT] -o FILE.policy",
        .purpose = "Learns a task by proximal policy optimisation (PPO) until --steps, --seconds or Ctrl-C.",
        .notes = "TASK is a task of Gymnasium (Ant-v5, HalfCheetah-v5, Hopper-v5, Walker2d-v5, Swimmer-v5,\n"
                 "InvertedPendulum-v5 and others), a task that comes with the program (QuadrupedTerrain, "
                 "SoftLift\n"
                 "...), or a task file (.json, docs/task-file.md). ROBOT is its model, for example "
                 "Gymnasium's ant.xml\n"
                 "(default: the one that the task file names).",
        .operand_min = 1,
        .operand_max = 2,
        .options = list,
        .option_count = sizeof list / sizeof list[0],
        .common = &common,
        .common_used = COMMON_THREADS | COMMON_SEED | COMMON_JSON};
    if (!options_read(&usage, argc, argv, &count, &exit_code)) {
        orr_free(t);
        return exit_code;
    }
    char *shipped = shipped_task(argv[0]);
    t->task = shipped ? shipped : argv[0];
    t->model = count > 1 ? argv[1] : NULL;
    t->seed = common.seed == UINT64_MAX ? 0 : (uint32_t)common.seed;
    t->seconds = t->seconds == 0.0 && t->steps == 0 ? 60.0 : t->seconds;
    cJSON *json = common.json ? cJSON_CreateObject() : NULL;
    orr_result result = t->path
                            ? run(t, &common, json, &error)
                            : orr_fail(&error, ORR_CODE_ARGUMENT, "train policy: expected -o FILE.policy");
    orr_policy_trainer_destroy(t->trainer);
    orr_engine_destroy(t->engine);
    orr_free(t);
    orr_free(shipped);
    if (result != ORR_OK) {
        cJSON_Delete(json);
        return command_fail(result, &error);
    }
    exit_code = json ? command_print_json(json) : 0;
    return interrupt_requested() ? 130 : exit_code;
}
