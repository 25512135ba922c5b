/*
 * ants: thousands of robots that a learner would see: random actions in, observations and rewards out.
 *
 *     ants TASK [ROBOT.xml] [COUNT] [STEPS]     Ant-v5 ant.xml 4096, or walk.json
 */
#include <orrery.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(orr_result result, const orr_error *error)
{
    if (result != ORR_OK) {
        fprintf(stderr, "ants: %s\n", error->message);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    int named = argc > 2 && strstr(argv[2], ".xml") != NULL; /* a task file names its robot */
    orr_error error;
    orr_engine *engine;
    orr_env *env;
    orr_env_info info;
    orr_env_results results;
    if (argc < 2) {
        fprintf(stderr, "ants TASK [ROBOT.xml] [COUNT] [STEPS]\n");
        return 2;
    }
    orr_env_desc desc = {.task = argv[1],
                         .model = named ? argv[2] : NULL,
                         .count = argc > 2 + named ? (int)strtol(argv[2 + named], NULL, 10) : 4096,
                         .autoreset = ORR_AUTORESET_SAME_STEP};
    int steps = argc > 3 + named ? (int)strtol(argv[3 + named], NULL, 10) : 100;
    check(orr_engine_create(NULL, &engine, &error), &error);
    check(orr_env_create(engine, &desc, &env, &error), &error);
    check(orr_env_describe(env, &info, &error), &error);
    check(orr_env_get_results(env, &results, &error), &error); /* arrays that each step overwrites */

    float *actions = calloc((size_t)info.count * (size_t)info.action_count, sizeof *actions);
    double reward = 0.0;
    struct timespec begin, end;
    timespec_get(&begin, TIME_UTC);
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < info.count * info.action_count; i++) {
            actions[i] = 2.0f * (float)rand() / (float)RAND_MAX - 1.0f;
        }
        check(orr_env_step(env, actions, &error), &error);
        for (int i = 0; i < info.count; i++) {
            reward += results.reward[i];
        }
    }
    timespec_get(&end, TIME_UTC);
    double all = (double)info.count * steps,
           seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    printf("%d environments of %s: %d observations, %d actions\n", info.count, info.task,
           info.observation_count, info.action_count);
    printf("%.0f steps/s, mean reward %.3f\n", all / seconds, reward / all);
    free(actions);
    orr_env_destroy(env);
    orr_engine_destroy(engine);
    return 0;
}
