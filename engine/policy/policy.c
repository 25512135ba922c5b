// Policies: made, asked, destroyed.
#include "engine/policy/policy.h"

#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"

#include <math.h>
#include <string.h>

static const double LIMIT = 10.0; // of normalised observations
static const float FIRST_DEVIATION = -0.5f, LAST_LAYER = 0.01f;

int64_t orr_policy_parameters(const orr_policy *p)
{
    return p->mlp.parameter_count + p->action_count;
}

static orr_result allocate(orr_policy *p, orr_error *error)
{
    const int n = p->observation_count, actions = p->action_count;
    ORR_ALLOC(p->parameters, orr_policy_parameters(p), "a policy", error);
    ORR_ALLOC(p->mean, n, "a policy", error);
    ORR_ALLOC(p->variance, n, "a policy", error);
    ORR_ALLOC(p->action_low, actions, "a policy", error);
    ORR_ALLOC(p->action_high, actions, "a policy", error);
    ORR_ALLOC(p->scratch, (n + 1 + actions) * ORR_SAMPLES, "a policy", error);
    memset(p->scratch, 0, (size_t)((n + 1 + actions) * ORR_SAMPLES) * sizeof *p->scratch);
    orr_isa isa;
    ORR_TRY(orr_isa_choose(&isa, error));
    return orr_mlp_weights_create(&p->mlp, isa, ORR_MLP_FP32, &p->weights, error);
}

static orr_result make(orr_policy *p, const orr_env_info *env, int width, int layers, uint32_t seed,
                       orr_error *error)
{
    const char *task = env->task;
    if (env->observation_count > ORR_POLICY_OBSERVATIONS || env->action_count > ORR_POLICY_ACTIONS) {
        return orr_fail(
            error, ORR_CODE_CAPACITY, "task %s: %d observations, %d actions: expected at most %d and %d",
            task, env->observation_count, env->action_count, ORR_POLICY_OBSERVATIONS, ORR_POLICY_ACTIONS);
    }
    if (layers < 1) { // the last matrix must have a width
        return orr_fail(error, ORR_CODE_ARGUMENT, "task %s: %d hidden layers: expected 1 or more", task,
                        layers);
    }
    strncpy(p->task, task, sizeof p->task - 1);
    if (env->task_text && strlen(env->task_text) > ORR_POLICY_TEXT) {
        return orr_fail(error, ORR_CODE_CAPACITY, "task %s: a file of %zu letters: expected at most %d", task,
                        strlen(env->task_text), ORR_POLICY_TEXT);
    }
    if (env->task_text) {
        ORR_ALLOC(p->task_text, (int64_t)strlen(env->task_text) + 1, "a policy", error);
        strcpy(p->task_text, env->task_text);
    }
    p->observation_count = env->observation_count;
    p->action_count = env->action_count;
    const orr_mlp_config config = {
        .width = width, .hidden_layers = layers, .activation = ORR_ACTIVATION_TANH};
    ORR_TRY(orr_mlp_create(&config, p->observation_count + 1, p->action_count, &p->mlp, error));
    ORR_TRY(allocate(p, error));
    for (int i = 0; i < p->observation_count; i++) {
        p->mean[i] = 0.0;
        p->variance[i] = 1.0;
    }
    for (int i = 0; i < p->action_count; i++) {
        p->action_low[i] = env->action_low[i];
        p->action_high[i] = env->action_high[i];
        p->parameters[p->mlp.parameter_count + i] = FIRST_DEVIATION;
    }
    orr_mlp_initialise(&p->mlp, seed, p->parameters);
    const int64_t last = (int64_t)p->mlp.output_padded * width;
    for (int64_t i = p->mlp.parameter_count - last; i < p->mlp.parameter_count; i++) {
        p->parameters[i] *= LAST_LAYER; // so that the first actions are noise alone
    }
    orr_policy_renew(p);
    return ORR_OK;
}

orr_result orr_policy_create(const orr_env_info *env, int width, int layers, uint32_t seed, orr_policy **out,
                             orr_error *error)
{
    *out = NULL;
    orr_policy *p = orr_alloc_zero(1, sizeof *p);
    if (!p) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a policy");
    }
    orr_result result = make(p, env, width, layers, seed, error);
    if (result != ORR_OK) {
        orr_policy_destroy(p);
        return result;
    }
    *out = p;
    return ORR_OK;
}

void orr_policy_destroy(orr_policy *p)
{
    if (!p) {
        return;
    }
    orr_mlp_weights_destroy(p->weights);
    orr_free(p->task_text);
    orr_free(p->parameters);
    orr_free(p->mean);
    orr_free(p->variance);
    orr_free(p->action_low);
    orr_free(p->action_high);
    orr_free(p->scratch);
    orr_free(p);
}

void orr_policy_renew(orr_policy *p)
{
    orr_mlp_weights_set(p->weights, p->parameters);
}

void orr_policy_normalise(const orr_policy *p, const double *observation, float *block, int sample)
{
    for (int i = 0; i < p->observation_count; i++) {
        double value = (observation[i] - p->mean[i]) / sqrt(p->variance[i] + 1e-8);
        block[i * ORR_SAMPLES + sample] = (float)fmin(fmax(value, -LIMIT), LIMIT);
    }
    block[p->observation_count * ORR_SAMPLES + sample] = 1.0f;
}

orr_result orr_policy_describe_sized(const orr_policy *p, orr_policy_info *info, size_t size,
                                     orr_error *error)
{
    ORR_REQUIRE(p, error);
    ORR_REQUIRE(info, error);
    const orr_policy_info own = {.task = p->task,
                                 .observation_count = p->observation_count,
                                 .action_count = p->action_count,
                                 .parameter_count = orr_policy_parameters(p),
                                 .steps = p->steps,
                                 .task_text = p->task_text};
    orr_sized_write(&own, sizeof own, info, size);
    return ORR_OK;
}

orr_result orr_policy_act(orr_policy *p, const double *observations, int count, float *actions,
                          orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(p, error);
    ORR_REQUIRE(observations, error);
    ORR_REQUIRE(actions, error);
    if (count < 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%d observations: expected 0 or more", count);
    }
    float *input = p->scratch, *output = input + (p->observation_count + 1) * ORR_SAMPLES;
    for (int first = 0; first < count; first += ORR_SAMPLES) {
        const int some = count - first < ORR_SAMPLES ? count - first : ORR_SAMPLES;
        for (int i = 0; i < some; i++) {
            orr_policy_normalise(p, observations + (ptrdiff_t)(first + i) * p->observation_count, input, i);
        }
        orr_mlp_forward(p->weights, input, output, NULL);
        for (int i = 0; i < some; i++) {
            for (int k = 0; k < p->action_count; k++) {
                float action = orr_policy_action(p, k, output[k * ORR_SAMPLES + i]);
                actions[(ptrdiff_t)(first + i) * p->action_count + k] = action;
            }
        }
    }
    return ORR_OK;
}
