// Proximal policy optimisation (Schulman et al. 2017, arXiv 1707.06347) with generalised advantage estimation
// (Schulman et al. 2016, arXiv 1506.02438): environments are stepped for a while with the policy as it is,
// then policy and value learn from what was seen, several times over.
//
// Everything is in blocks of ORR_SAMPLES environments at one time: what a network reads is where the rollout
// wrote it. Blocks, not threads, decide the order of sums, so that the bits do not depend on threads.
#include "engine/core/clock.h"
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/maths/rng.h"
#include "engine/policy/gae.h"
#include "engine/policy/trainer.h"

#include <math.h>
#include <string.h>

enum { EPOCHS = 10 };

static const double DISCOUNT = 0.99, TRACE = 0.95, CLIP = 0.2, VALUE_WEIGHT = 0.5, MAX_NORM = 0.5;
static const double RATE_LEAST = 1e-5, DIVERGENCE = 0.02;
static const float DEVIATION_LEAST = -4.0f, DEVIATION_MOST = 1.0f;
static const double REWARD_MOST = 10.0;

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
    const policy_scratch *s = &t->scratches[worker];
    const int block = job->step * t->step_blocks + i, n = t->info.observation_count, m = t->info.action_count;
    const float *deviations = t->policy->parameters + t->policy->mlp.parameter_count;
    float *input = t->inputs + (size_t)block * policy_input_floats(t);
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
            ORR_GROW(t->final_inputs, t->final_capacity, blocks * (int)policy_input_floats(t),
                     "ends of episodes", error);
            ORR_GROW(t->final_samples, t->sample_capacity, blocks * ORR_SAMPLES, "ends of episodes", error);
            orr_policy_normalise(t->policy, t->results.final_observation + (ptrdiff_t)i * n,
                                 t->final_inputs + (size_t)(blocks - 1) * policy_input_floats(t),
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
    orr_mlp_forward(t->critic_weights, t->inputs + (size_t)i * policy_input_floats(t),
                    t->values + (ptrdiff_t)i * ORR_SAMPLES, NULL);
}

// The value of what a truncated episode would have brought is part of its last reward.
static void add_final_values(orr_policy_trainer *t)
{
    float values[ORR_SAMPLES];
    for (int first = 0; first < t->final_count; first += ORR_SAMPLES) {
        orr_mlp_forward(t->critic_weights,
                        t->final_inputs + (size_t)(first / ORR_SAMPLES) * policy_input_floats(t), values,
                        NULL);
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
static double actor_gradients(const orr_policy_trainer *t, int block, const policy_scratch *s,
                              float *deviation)
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
    const policy_scratch *s = &t->scratches[worker];
    policy_block_sums *sums = &t->sums[i];
    const int block = t->order[t->batch + i];
    const float *input = t->inputs + (size_t)block * policy_input_floats(t);
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

void policy_trainer_set_parameters(orr_policy_trainer *t)
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
            policy_trainer_set_parameters(t);
        }
        divergence /= (double)t->blocks * ORR_SAMPLES;
        if (divergence > 2.0 * DIVERGENCE) {
            t->rate = fmax(t->rate / 1.5, RATE_LEAST);
        } else if (divergence < 0.5 * DIVERGENCE) {
            t->rate = fmin(t->rate * 1.5, policy_rate);
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
        policy_trainer_set_parameters(t);
    }
    ORR_TRY(roll_out(t, error));
    learn(t);
    t->iterations++;
    return ORR_OK;
}
