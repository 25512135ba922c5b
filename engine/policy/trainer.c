// Trainers of policies: making them, what they are, and files from which they go on.
#include "engine/policy/trainer.h"

#include "engine/core/entry.h"
#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"

#include <string.h>

enum { COUNT = 128, HORIZON = 64, WIDTH = 64, LAYERS = 2 };

static orr_result make_networks(orr_policy_trainer *t, const orr_policy_train_desc *desc, orr_error *error)
{
    const int width = desc->width ? desc->width : WIDTH;
    ORR_TRY(orr_policy_create(&t->info, width, LAYERS, desc->seed, &t->policy, error));
    ORR_TRY(orr_mlp_create(&t->policy->mlp.config, t->info.observation_count + 1, 1, &t->critic, error));
    t->actor_count = orr_policy_parameters(t->policy);
    t->parameter_count = t->actor_count + t->critic.parameter_count;
    ORR_ALLOC(t->parameters, t->parameter_count, "a policy's training", error);
    ORR_ALLOC(t->gradient, t->parameter_count, "a policy's training", error);
    memcpy(t->parameters, t->policy->parameters, (size_t)t->actor_count * sizeof *t->parameters);
    orr_mlp_initialise(&t->critic, desc->seed + 1, t->parameters + t->actor_count);
    orr_isa isa;
    ORR_TRY(orr_isa_choose(&isa, error));
    ORR_TRY(orr_mlp_weights_create(&t->critic, isa, ORR_MLP_FP32, &t->critic_weights, error));
    const orr_optimizer_config adam = {
        .learning_rate = policy_rate, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .decay_base = 1.0};
    t->rate = policy_rate;
    return orr_optimizer_create(&adam, t->parameter_count, false, &t->optimizer, error);
}

static orr_result make_memory(orr_policy_trainer *t, int horizon, orr_error *error)
{
    const int workers = orr_jobs_workers(t->engine->jobs);
    t->step_blocks = t->info.count / ORR_SAMPLES;
    t->blocks = t->step_blocks * horizon;
    const int64_t samples = (int64_t)t->blocks * ORR_SAMPLES;
    ORR_ALLOC(t->inputs, (int64_t)(t->blocks + t->step_blocks) * (int64_t)policy_input_floats(t), "a rollout",
              error);
    ORR_ALLOC(t->actions, samples * t->info.action_count, "a rollout", error);
    ORR_ALLOC(t->log_probability, samples, "a rollout", error);
    ORR_ALLOC(t->values, samples + t->info.count, "a rollout", error);
    ORR_ALLOC(t->rewards, samples, "a rollout", error);
    ORR_ALLOC(t->advantages, samples, "a rollout", error);
    ORR_ALLOC(t->returns, samples, "a rollout", error);
    ORR_ALLOC(t->ended, samples, "a rollout", error);
    ORR_ALLOC(t->env_actions, (int64_t)t->info.count * t->info.action_count, "a rollout", error);
    ORR_ALLOC(t->order, t->blocks, "a rollout", error);
    t->reward_sums = orr_alloc_zero((size_t)t->info.count, sizeof *t->reward_sums);
    t->scratches = orr_alloc_zero((size_t)workers, sizeof *t->scratches);
    if (!t->reward_sums || !t->scratches) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a policy's training");
    }
    size_t floats = orr_mlp_activation_floats(&t->policy->mlp), other = orr_mlp_activation_floats(&t->critic);
    floats = floats > other ? floats : other;
    for (int i = 0; i < workers; i++) {
        ORR_ALLOC(t->scratches[i].activations, (int64_t)floats, "a policy's training", error);
        ORR_ALLOC(t->scratches[i].output, t->info.action_count * ORR_SAMPLES, "a policy's training", error);
        ORR_ALLOC(t->scratches[i].output_gradient, t->info.action_count * ORR_SAMPLES, "a policy's training",
                  error);
    }
    for (int i = 0; i < BATCH_BLOCKS; i++) {
        ORR_ALLOC(t->sums[i].gradient, t->parameter_count, "a policy's training", error);
    }
    return ORR_OK;
}

static orr_result make(orr_policy_trainer *t, const orr_policy_train_desc *desc, orr_error *error)
{
    const orr_env_desc env = {.task = desc->task,
                              .model = desc->model,
                              .count = desc->count ? desc->count : COUNT,
                              .seed = desc->seed,
                              .autoreset = ORR_AUTORESET_SAME_STEP};
    if (env.count < ORR_SAMPLES || env.count % ORR_SAMPLES != 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%d environments: expected a multiple of %d", env.count,
                        ORR_SAMPLES);
    }
    if (desc->horizon < 0 || desc->horizon > 65536) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "horizon %d: expected 1 to 65536, or 0", desc->horizon);
    }
    ORR_TRY(orr_env_create(t->engine, &env, &t->env, error));
    ORR_TRY(orr_env_describe(t->env, &t->info, error));
    ORR_TRY(orr_env_get_results(t->env, &t->results, error));
    t->seed = desc->seed;
    ORR_TRY(make_networks(t, desc, error));
    return make_memory(t, desc->horizon ? desc->horizon : HORIZON, error);
}

static orr_result create(orr_engine *engine, const orr_policy_train_desc *desc, orr_policy_trainer **out,
                         orr_error *error)
{
    orr_policy_trainer *t = orr_alloc_zero(1, sizeof *t);
    if (!t) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a policy's training");
    }
    t->engine = engine;
    orr_result result = make(t, desc, error);
    if (result != ORR_OK) {
        orr_policy_trainer_destroy(t);
        return result;
    }
    *out = t;
    return ORR_OK;
}

// With the file's numbers, which a desc may repeat.
static orr_result resume(orr_engine *engine, const orr_policy_train_desc *desc, policy_training_file *file,
                         orr_policy_trainer **out, orr_error *error)
{
    orr_policy_train_desc own = *desc;
    own.count = file->count, own.horizon = file->horizon, own.width = file->width, own.seed = file->seed;
    if ((desc->count && desc->count != own.count) || (desc->horizon && desc->horizon != own.horizon) ||
        (desc->width && desc->width != own.width)) {
        return orr_fail(
            error, ORR_CODE_ARGUMENT,
            "%s: training with %d environments, horizon %d, width %d: expected these or 0, not %d, "
            "%d and %d",
            desc->resume, own.count, own.horizon, own.width, desc->count, desc->horizon, desc->width);
    }
    orr_policy_trainer *t;
    ORR_TRY(create(engine, &own, &t, error));
    orr_result result = policy_training_restore(file, desc->resume, t, error);
    if (result != ORR_OK) {
        orr_policy_trainer_destroy(t);
        return result;
    }
    *out = t;
    return ORR_OK;
}

orr_result orr_policy_trainer_create_sized(orr_engine *engine, const orr_policy_train_desc *given,
                                           size_t size, orr_policy_trainer **out, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(out, error);
    *out = NULL;
    ORR_TRY(orr_engine_check(engine, error));
    ORR_REQUIRE(given, error);
    orr_policy_train_desc desc;
    ORR_TRY(orr_sized_read(&desc, sizeof desc, given, size, "orr_policy_train_desc", error));
    ORR_REQUIRE(desc.task, error);
    if (!desc.resume) {
        return create(engine, &desc, out, error);
    }
    policy_training_file file;
    ORR_TRY(policy_training_open(desc.resume, &file, error));
    orr_result result = resume(engine, &desc, &file, out, error);
    policy_training_close(&file);
    return result;
}

void orr_policy_trainer_destroy(orr_policy_trainer *t)
{
    if (!t || !orr_jobs_here(t->engine->jobs)) {
        return;
    }
    for (int i = 0; t->scratches && i < orr_jobs_workers(t->engine->jobs); i++) {
        orr_free(t->scratches[i].activations);
        orr_free(t->scratches[i].output);
        orr_free(t->scratches[i].output_gradient);
    }
    for (int i = 0; i < BATCH_BLOCKS; i++) {
        orr_free(t->sums[i].gradient);
    }
    void *const arrays[] = {t->parameters,      t->gradient,      t->inputs,      t->actions,
                            t->log_probability, t->values,        t->rewards,     t->advantages,
                            t->returns,         t->ended,         t->env_actions, t->order,
                            t->final_inputs,    t->final_samples, t->reward_sums, t->scratches};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        orr_free(arrays[i]);
    }
    orr_optimizer_destroy(t->optimizer);
    orr_mlp_weights_destroy(t->critic_weights);
    orr_policy_destroy(t->policy);
    orr_env_destroy(t->env);
    orr_free(t);
}

orr_result orr_policy_trainer_describe_sized(const orr_policy_trainer *t, orr_policy_progress *progress,
                                             size_t size, orr_error *error)
{
    ORR_REQUIRE(t, error);
    ORR_REQUIRE(progress, error);
    orr_policy_progress own = {.steps = t->env_steps,
                               .episodes = t->episodes,
                               .learning_rate = t->rate,
                               .simulation_seconds = t->seconds[0],
                               .inference_seconds = t->seconds[1],
                               .update_seconds = t->seconds[2]};
    const int known = t->episodes < RECENT ? (int)t->episodes : RECENT;
    for (int i = 0; i < known; i++) {
        own.mean_return += t->recent[i] / known;
    }
    orr_sized_write(&own, sizeof own, progress, size);
    return ORR_OK;
}

orr_policy *orr_policy_trainer_policy(orr_policy_trainer *t)
{
    return t ? t->policy : NULL;
}
