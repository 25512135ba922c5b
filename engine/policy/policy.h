// A policy: a Gaussian over actions, whose mean is a network of normalised observations and whose deviations
// are parameters of their own.
#pragma once

#include "engine/core/file.h"
#include "neural/network/mlp.h"

enum {
    ORR_POLICY_NAME = 64,
    ORR_POLICY_OBSERVATIONS = ORR_MLP_DIMS_MAX - 1, // at most: one input more is the constant 1
    ORR_POLICY_ACTIONS = 64,
    ORR_POLICY_TEXT = 65536 // letters of a task from a file
};

struct orr_policy {
    char task[ORR_POLICY_NAME];
    char *task_text; // of a task from a file; NULL: one of ours
    int observation_count, action_count;
    orr_mlp mlp;             // tanh; observation_count + 1 inputs, action_count outputs
    float *parameters;       // of the network, then action_count: logarithms of the deviations
    double *mean, *variance; // observation_count: of observations so far
    double observations;     // how many
    float *action_low, *action_high;
    int64_t steps; // of environments, that it has learnt from
    orr_mlp_weights *weights;
    float *scratch; // input and output of a block
};

// A network of two hidden layers of `width` neurons, with small outputs, for the task of `env`.
orr_result orr_policy_create(const orr_env_info *env, int width, int layers, uint32_t seed,
                             orr_policy **policy, orr_error *error);
// The parameters have changed.
void orr_policy_renew(orr_policy *policy);
// A file's content; `name` is for messages. used: bytes of the policy; the state of its training may follow.
orr_result orr_policy_read(const char *name, const uint8_t *data, size_t size, orr_policy **policy,
                           size_t *used, orr_error *error);
void orr_policy_put(const orr_policy *policy, orr_file_writer *writer);
extern const char orr_policy_training_magic[8];
// How many parameters there are, deviations included.
int64_t orr_policy_parameters(const orr_policy *policy);
// Column `sample` of a block of inputs.
void orr_policy_normalise(const orr_policy *policy, const double *observation, float *block, int sample);
// The action that the network's output, of about -1 .. 1, means.
static inline float orr_policy_action(const orr_policy *policy, int action, float output)
{
    float low = policy->action_low[action], high = policy->action_high[action];
    return 0.5f * (high + low) + 0.5f * (high - low) * output;
}
