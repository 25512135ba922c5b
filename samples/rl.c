/*
 * rl: a policy learns a task by PPO in one process; then it is saved, and acts.
 *
 *     rl TASK [ROBOT.xml] [STEPS] [OUT.policy]     Hopper-v5 hopper.xml 1000000 hopper.policy, or walk.json
 */
#include <orrery.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(orr_result result, const orr_error *error)
{
    if (result != ORR_OK) {
        fprintf(stderr, "rl: %s\n", error->message);
        exit(2);
    }
}

/* The return of one episode without noise. */
static double play(orr_engine *engine, const orr_policy_train_desc *learnt, orr_policy *policy)
{
    orr_error error;
    orr_env *env;
    orr_env_info info;
    orr_env_results results; /* arrays that each step overwrites */
    orr_env_desc desc = {.task = learnt->task, .model = learnt->model, .count = 1, .seed = 1};
    check(orr_env_create(engine, &desc, &env, &error), &error);
    check(orr_env_describe(env, &info, &error), &error);
    check(orr_env_get_results(env, &results, &error), &error);
    float *actions = calloc((size_t)info.action_count, sizeof *actions);
    do {
        check(orr_policy_act(policy, results.observation, 1, actions, &error), &error);
        check(orr_env_step(env, actions, &error), &error);
    } while (!results.terminated[0] && !results.truncated[0]);
    double reward = results.episode_return[0];
    free(actions);
    orr_env_destroy(env);
    return reward;
}

int main(int argc, char **argv)
{
    int named = argc > 2 && strstr(argv[2], ".xml") != NULL; /* a task file names its robot */
    orr_error error;
    orr_engine *engine;
    orr_policy_trainer *trainer;
    orr_policy_progress p;
    if (argc < 2) {
        fprintf(stderr, "rl TASK [ROBOT.xml] [STEPS] [OUT.policy]\n");
        return 2;
    }
    orr_policy_train_desc desc = {.task = argv[1], .model = named ? argv[2] : NULL};
    long steps = argc > 2 + named ? strtol(argv[2 + named], NULL, 10) : 1000000;
    check(orr_engine_create(NULL, &engine, &error), &error);
    check(orr_policy_trainer_create(engine, &desc, &trainer, &error), &error);
    for (int i = 0;; i++) {
        check(orr_policy_trainer_step(trainer, &error), &error); /* a rollout, and the update that follows */
        check(orr_policy_trainer_describe(trainer, &p, &error), &error);
        if (i % 16 == 0 || p.steps >= steps) {
            printf("%9lld steps, return %.1f\n", (long long)p.steps, p.mean_return);
        }
        if (p.steps >= steps) {
            break;
        }
    }
    printf("simulation %.1f s, inference %.1f s, update %.1f s\n", p.simulation_seconds, p.inference_seconds,
           p.update_seconds);
    if (argc > 3 + named) { /* orrery view ROBOT.xml --policy OUT.policy */
        check(orr_policy_trainer_save(trainer, argv[3 + named], &error), &error);
    }
    orr_policy *policy = orr_policy_trainer_policy(trainer); /* the trainer's own */
    printf("an episode without noise: return %.1f\n", play(engine, &desc, policy));
    orr_policy_trainer_destroy(trainer);
    orr_engine_destroy(engine);
    return 0;
}
