// Proximal policy optimisation (Schulman et al. 2017, arXiv 1707.06347) with generalised advantage estimation
// (Schulman et al. 2016, arXiv 1506.02438): environments are stepped for a while with the policy as it is,
// then policy and value learn from what was seen, several times over.
//
// Everything is in blocks of ORR_SAMPLES environments at one time: what a network reads is where the rollout
// wrote it. Blocks, not threads, decide the order of sums, so that the bits do not depend on threads.
#include "engine/core/clock.h"
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/rng.h"
#include "engine/core/sized.h"
#include "engine/loop/engine.h"
#include "engine/policy/gae.h"
#include "engine/policy/policy.h"
#include "neural/network/optimizer.h"

#include <math.h>
#include <string.h>

enum { COUNT = 128, HORIZON = 64, WIDTH = 64, LAYERS = 2, EPOCHS = 10, BATCH_BLOCKS = 8, RECENT = 100 };

static const double DISCOUNT = 0.99, TRACE = 0.95, CLIP = 0.2, VALUE_WEIGHT = 0.5, MAX_NORM = 0.5;
static const double RATE = 1e-3, RATE_LEAST = 1e-5, RATE_MOST = 1e-3, DIVERGENCE = 0.02;
static const float DEVIATION_LEAST = -4.0f, DEVIATION_MOST = 1.0f;
static const double REWARD_MOST = 10.0;

// What one thread computes a block with.
typedef struct scratch {
    float *activations, *output, *output_gradient; // of the larger network
} scratch;

// What one block of a minibatch adds.
typedef struct block_sums {
    float *gradient; // of all parameters
    double divergence;
} block_sums;

struct orr_policy_trainer {
    orr_engine *engine;
    orr_env *env;
    orr_env_info info;
    orr_env_results results;
    orr_policy *policy;
    orr_mlp critic;
    orr_mlp_weights *critic_weights;
    // of the actor, the logarithms of its deviations, the critic
    float *parameters, *gradient;
    int64_t actor_count, parameter_count;
    orr_optimizer *optimizer;
    double rate;
    uint32_t seed;
    int64_t iterations, env_steps;
    int step_blocks, blocks; // of a time step; of a rollout, and of the observations behind it
    float *inputs;           // (blocks + step_blocks) x (n + 1) x ORR_SAMPLES
    float *actions;          // blocks x m x ORR_SAMPLES: the network's output plus noise
    float *log_probability;  // blocks x ORR_SAMPLES; so are those below
    float *values;           // and of the observations behind the rollout
    float *rewards, *advantages, *returns;
    uint8_t *ended;
    float *env_actions;     // environments x m
    float *final_inputs;    // final_count rows of n + 1: last observations of truncated episodes
    int64_t *final_samples; // of which sample
    int final_count, final_capacity, sample_capacity;
    double *reward_sums; // of each environment: discounted
    double reward_mean, reward_variance, reward_count;
    int *order; // blocks: of the epoch
    int batch;  // the first of the minibatch
    double advantage_mean, advantage_scale;
    scratch *scratches;
    block_sums sums[BATCH_BLOCKS];
    double recent[RECENT];
    int64_t episodes;
    double seconds[3]; // simulation, inference, update
};

static size_t input_floats(const orr_policy_trainer *t)
{
    return (size_t)(t->info.observation_count + 1) * ORR_SAMPLES;
}

// ---- life ----

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
        .learning_rate = RATE, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .decay_base = 1.0};
    t->rate = RATE;
    return orr_optimizer_create(&adam, t->parameter_count, false, &t->optimizer, error);
}

static orr_result make_memory(orr_policy_trainer *t, int horizon, orr_error *error)
{
    const int workers = orr_jobs_workers(t->engine->jobs);
    t->step_blocks = t->info.count / ORR_SAMPLES;
    t->blocks = t->step_blocks * horizon;
    const int64_t samples = (int64_t)t->blocks * ORR_SAMPLES;
    ORR_ALLOC(t->inputs, (int64_t)(t->blocks + t->step_blocks) * (int64_t)input_floats(t), "a rollout",
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
    orr_policy_trainer *t = orr_alloc_zero(1, sizeof *t);
    if (!t) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a policy's training");
    }
    t->engine = engine;
    orr_result result = make(t, &desc, error);
    if (result != ORR_OK) {
        orr_policy_trainer_destroy(t);
        return result;
    }
    *out = t;
    return ORR_OK;
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

// ---- a rollout ----

// Mean and variance of `count` numbers more (Chan et al. 1979).
static void merge(double *mean, double *variance, double before, double count, double new_mean,
                  double new_variance)
{
    const double all = before + count, apart = new_mean - *mean;
    *variance = (*variance * before + new_variance * count + apart * apart * before * count / all) / all;
    *mean += apart * count / all;
}

static void learn_observations(orr_policy_trainer *t)
{
    orr_policy *p = t->policy;
    const int n = t->info.observation_count, count = t->info.count;
    for (int k = 0; k < n; k++) {
        double mean = 0.0, variance = 0.0;
        for (int i = 0; i < count; i++) {
            mean += t->results.observation[(ptrdiff_t)i * n + k];
        }
        mean /= count;
        for (int i = 0; i < count; i++) {
            double apart = t->results.observation[(ptrdiff_t)i * n + k] - mean;
            variance += apart * apart;
        }
        merge(&p->mean[k], &p->variance[k], p->observations, count, mean, variance / count);
    }
    p->observations += count;
}

static double normal(uint32_t seed, uint32_t stream, uint32_t counter)
{
    const uint64_t bits = orr_random_bits(seed, stream, counter);
    const double radius = sqrt(-2.0 * log(((double)(bits >> 32) + 1.0) * 0x1p-32));
    return radius * cos(2.0 * 3.14159265358979323846 * (double)(uint32_t)bits * 0x1p-32);
}

// log probability of an action under the network's output
static double log_probability(const orr_policy_trainer *t, const float *deviations, const float *output,
                              const float *action, int sample)
{
    double sum = 0.0;
    for (int k = 0; k < t->info.action_count; k++) {
        const int at = k * ORR_SAMPLES + sample;
        double z = ((double)action[at] - (double)output[at]) * exp(-(double)deviations[k]);
        sum -= 0.5 * z * z + (double)deviations[k] + 0.91893853320467274178;
    }
    return sum;
}

typedef struct act_job {
    orr_policy_trainer *t;
    int step;
} act_job;

// The observations of a block are normalised, and acted on.
static void act_block(void *context, int i, int worker)
{
    const act_job *job = context;
    orr_policy_trainer *t = job->t;
    const scratch *s = &t->scratches[worker];
    const int block = job->step * t->step_blocks + i, n = t->info.observation_count, m = t->info.action_count;
    const float *deviations = t->policy->parameters + t->policy->mlp.parameter_count;
    float *input = t->inputs + (size_t)block * input_floats(t);
    for (int k = 0; k < ORR_SAMPLES; k++) {
        orr_policy_normalise(t->policy, t->results.observation + (ptrdiff_t)(i * ORR_SAMPLES + k) * n, input,
                             k);
    }
    if (block >= t->blocks) {
        return; // behind the rollout: for its values alone
    }
    float *action = t->actions + (ptrdiff_t)block * m * ORR_SAMPLES;
    orr_mlp_forward(t->policy->weights, input, s->output, NULL);
    for (int k = 0; k < ORR_SAMPLES; k++) {
        const int env = i * ORR_SAMPLES + k;
        const uint32_t stream = (uint32_t)env,
                       counter = (uint32_t)(t->iterations * (t->blocks / t->step_blocks) + job->step);
        for (int a = 0; a < m; a++) {
            const int at = a * ORR_SAMPLES + k;
            action[at] =
                s->output[at] +
                expf(deviations[a]) * (float)normal(t->seed, stream, counter * (uint32_t)m + (uint32_t)a);
            t->env_actions[(ptrdiff_t)env * m + a] = orr_policy_action(t->policy, a, action[at]);
        }
        t->log_probability[block * ORR_SAMPLES + k] =
            (float)log_probability(t, deviations, s->output, action, k);
    }
}

// Rewards are divided by the deviation of their discounted sums.
static void learn_rewards(orr_policy_trainer *t)
{
    const int count = t->info.count;
    double mean = 0.0, variance = 0.0;
    for (int i = 0; i < count; i++) {
        t->reward_sums[i] = DISCOUNT * t->reward_sums[i] + t->results.reward[i];
        mean += t->reward_sums[i] / count;
    }
    for (int i = 0; i < count; i++) {
        double apart = t->reward_sums[i] - mean;
        variance += apart * apart / count;
    }
    merge(&t->reward_mean, &t->reward_variance, t->reward_count, count, mean, variance);
    t->reward_count += count;
}

// What a step has brought.
static orr_result take_results(orr_policy_trainer *t, int step, orr_error *error)
{
    const int count = t->info.count, n = t->info.observation_count;
    learn_rewards(t);
    const double scale = 1.0 / sqrt(t->reward_variance + 1e-8);
    for (int i = 0; i < count; i++) {
        const int64_t sample = (int64_t)step * count + i;
        const bool ended = t->results.terminated[i] || t->results.truncated[i];
        t->rewards[sample] = (float)fmin(fmax(t->results.reward[i] * scale, -REWARD_MOST), REWARD_MOST);
        t->ended[sample] = ended;
        if (!ended) {
            continue;
        }
        t->recent[t->episodes++ % RECENT] = t->results.episode_return[i];
        t->reward_sums[i] = 0.0;
        if (!t->results.terminated[i]) { // it could have gone on
            const int blocks = t->final_count / ORR_SAMPLES + 1;
            ORR_GROW(t->final_inputs, t->final_capacity, blocks * (int)input_floats(t), "ends of episodes",
                     error);
            ORR_GROW(t->final_samples, t->sample_capacity, blocks * ORR_SAMPLES, "ends of episodes", error);
            orr_policy_normalise(t->policy, t->results.final_observation + (ptrdiff_t)i * n,
                                 t->final_inputs + (size_t)(blocks - 1) * input_floats(t),
                                 t->final_count % ORR_SAMPLES);
            t->final_samples[t->final_count++] = sample;
        }
    }
    return ORR_OK;
}

static void value_block(void *context, int i, int worker)
{
    (void)worker;
    orr_policy_trainer *t = context;
    orr_mlp_forward(t->critic_weights, t->inputs + (size_t)i * input_floats(t),
                    t->values + (ptrdiff_t)i * ORR_SAMPLES, NULL);
}

// The value of what a truncated episode would have brought is part of its last reward.
static void add_final_values(orr_policy_trainer *t)
{
    float values[ORR_SAMPLES];
    for (int first = 0; first < t->final_count; first += ORR_SAMPLES) {
        orr_mlp_forward(t->critic_weights, t->final_inputs + (size_t)(first / ORR_SAMPLES) * input_floats(t),
                        values, NULL);
        for (int k = 0; k < ORR_SAMPLES && first + k < t->final_count; k++) {
            t->rewards[t->final_samples[first + k]] += (float)DISCOUNT * values[k];
        }
    }
}

static double seconds_since(uint64_t *start)
{
    const uint64_t now = orr_clock_nanoseconds();
    const double seconds = (double)(now - *start) * 1e-9;
    *start = now;
    return seconds;
}

static orr_result roll_out(orr_policy_trainer *t, orr_error *error)
{
    const int horizon = t->blocks / t->step_blocks;
    uint64_t clock = orr_clock_nanoseconds();
    t->final_count = 0;
    for (int step = 0; step <= horizon; step++) {
        learn_observations(t);
        orr_jobs_for(t->engine->jobs, t->step_blocks, act_block, &(act_job){t, step});
        t->seconds[1] += seconds_since(&clock);
        if (step < horizon) {
            ORR_TRY(orr_env_step(t->env, t->env_actions, error));
            t->seconds[0] += seconds_since(&clock);
            ORR_TRY(take_results(t, step, error));
        }
    }
    t->env_steps += (int64_t)horizon * t->info.count;
    t->policy->steps = t->env_steps;
    orr_jobs_for(t->engine->jobs, t->blocks + t->step_blocks, value_block, t);
    add_final_values(t);
    orr_advantages(t->rewards, t->values, t->ended, horizon, t->info.count, DISCOUNT, TRACE, t->advantages,
                   t->returns);
    t->seconds[1] += seconds_since(&clock);
    return ORR_OK;
}

// ---- learning ----

// d loss / d output of the actor, and what the deviations get; the sum of the divergences of the samples.
static double actor_gradients(const orr_policy_trainer *t, int block, const scratch *s, float *deviation)
{
    const int m = t->info.action_count;
    const float *deviations = t->policy->parameters + t->policy->mlp.parameter_count,
                *action = t->actions + (ptrdiff_t)block * m * ORR_SAMPLES;
    double divergence = 0.0;
    for (int i = 0; i < ORR_SAMPLES; i++) {
        const int64_t sample = (int64_t)block * ORR_SAMPLES + i;
        const double advantage = ((double)t->advantages[sample] - t->advantage_mean) * t->advantage_scale,
                     change = log_probability(t, deviations, s->output, action, i) -
                              (double)t->log_probability[sample],
                     ratio = exp(fmin(change, 20.0));
        const bool clipped = advantage > 0.0 ? ratio > 1.0 + CLIP : ratio < 1.0 - CLIP;
        const double weight = clipped ? 0.0 : -advantage * ratio / ((double)BATCH_BLOCKS * ORR_SAMPLES);
        divergence += ratio - 1.0 - change;
        for (int a = 0; a < m; a++) {
            const int at = a * ORR_SAMPLES + i;
            const double inverse = exp(-(double)deviations[a]),
                         z = ((double)action[at] - (double)s->output[at]) * inverse;
            s->output_gradient[at] = (float)(weight * z * inverse);
            deviation[a] += (float)(weight * (z * z - 1.0));
        }
    }
    return divergence;
}

static void learn_block(void *context, int i, int worker)
{
    orr_policy_trainer *t = context;
    const scratch *s = &t->scratches[worker];
    block_sums *sums = &t->sums[i];
    const int block = t->order[t->batch + i];
    const float *input = t->inputs + (size_t)block * input_floats(t);
    memset(sums->gradient, 0, (size_t)t->parameter_count * sizeof *sums->gradient);
    orr_mlp_forward(t->policy->weights, input, s->output, s->activations);
    sums->divergence = actor_gradients(t, block, s, sums->gradient + t->policy->mlp.parameter_count);
    orr_mlp_backward(t->policy->weights, input, s->output, s->activations, s->output_gradient, sums->gradient,
                     NULL);
    orr_mlp_forward(t->critic_weights, input, s->output, s->activations);
    for (int k = 0; k < ORR_SAMPLES; k++) {
        double apart = (double)s->output[k] - (double)t->returns[(int64_t)block * ORR_SAMPLES + k];
        s->output_gradient[k] = (float)(VALUE_WEIGHT * apart / ((double)BATCH_BLOCKS * ORR_SAMPLES));
    }
    orr_mlp_backward(t->critic_weights, input, s->output, s->activations, s->output_gradient,
                     sums->gradient + t->actor_count, NULL);
}

// The blocks' gradients are summed in their order, and the sum shortened to MAX_NORM.
static double sum_gradients(orr_policy_trainer *t, int count)
{
    double square = 0.0, divergence = 0.0;
    for (int i = 0; i < count; i++) {
        divergence += t->sums[i].divergence;
    }
    for (int64_t k = 0; k < t->parameter_count; k++) {
        float sum = 0.0f;
        for (int i = 0; i < count; i++) {
            sum += t->sums[i].gradient[k];
        }
        t->gradient[k] = sum;
        square += (double)sum * (double)sum;
    }
    const double norm = sqrt(square);
    for (int64_t k = 0; k < t->parameter_count && norm > MAX_NORM; k++) {
        t->gradient[k] *= (float)(MAX_NORM / norm);
    }
    return divergence;
}

static void set_parameters(orr_policy_trainer *t)
{
    float *deviations = t->parameters + t->policy->mlp.parameter_count;
    for (int a = 0; a < t->info.action_count; a++) {
        deviations[a] = fminf(fmaxf(deviations[a], DEVIATION_LEAST), DEVIATION_MOST);
    }
    memcpy(t->policy->parameters, t->parameters, (size_t)t->actor_count * sizeof *t->parameters);
    orr_policy_renew(t->policy);
    orr_mlp_weights_set(t->critic_weights, t->parameters + t->actor_count);
}

static void shuffle(orr_policy_trainer *t, int epoch)
{
    orr_rng random = {.seed = t->seed ^ 0x9e3779b9u, .stream = (uint32_t)(t->iterations * EPOCHS + epoch)};
    for (int i = 0; i < t->blocks; i++) {
        int other = (int)(orr_rng_next(&random) % (uint32_t)(i + 1));
        t->order[i] = t->order[other];
        t->order[other] = i;
    }
}

static void measure_advantages(orr_policy_trainer *t)
{
    const int64_t samples = (int64_t)t->blocks * ORR_SAMPLES;
    double sum = 0.0, squares = 0.0;
    for (int64_t i = 0; i < samples; i++) {
        sum += (double)t->advantages[i];
        squares += (double)t->advantages[i] * (double)t->advantages[i];
    }
    t->advantage_mean = sum / (double)samples;
    t->advantage_scale =
        1.0 / (sqrt(fmax(squares / (double)samples - t->advantage_mean * t->advantage_mean, 0.0)) + 1e-8);
}

// The learning rate follows how far the policy has moved.
static void learn(orr_policy_trainer *t)
{
    uint64_t clock = orr_clock_nanoseconds();
    measure_advantages(t);
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        double divergence = 0.0;
        shuffle(t, epoch);
        for (t->batch = 0; t->batch < t->blocks; t->batch += BATCH_BLOCKS) {
            const int left = t->blocks - t->batch, count = left < BATCH_BLOCKS ? left : BATCH_BLOCKS;
            orr_jobs_for(t->engine->jobs, count, learn_block, t);
            divergence += sum_gradients(t, count);
            orr_optimizer_set_learning_rate(t->optimizer, t->rate);
            orr_optimizer_step(t->optimizer, t->engine->jobs, t->parameters, t->gradient, NULL);
            set_parameters(t);
        }
        divergence /= (double)t->blocks * ORR_SAMPLES;
        if (divergence > 2.0 * DIVERGENCE) {
            t->rate = fmax(t->rate / 1.5, RATE_LEAST);
        } else if (divergence < 0.5 * DIVERGENCE) {
            t->rate = fmin(t->rate * 1.5, RATE_MOST);
        }
    }
    t->seconds[2] += seconds_since(&clock);
}

orr_result orr_policy_trainer_step(orr_policy_trainer *t, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(t, error);
    ORR_TRY(orr_engine_check(t->engine, error));
    if (t->iterations == 0) {
        set_parameters(t);
    }
    ORR_TRY(roll_out(t, error));
    learn(t);
    t->iterations++;
    return ORR_OK;
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
