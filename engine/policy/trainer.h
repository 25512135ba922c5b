// A trainer of policies: its memory. ppo.c steps it, trainer.c makes and saves it.
#pragma once

#include "engine/env/archive.h"
#include "engine/loop/engine.h"
#include "engine/policy/policy.h"
#include "neural/network/optimizer.h"

enum { BATCH_BLOCKS = 8, RECENT = 100 };

static const double policy_rate = 1e-3; // of learning: the first, and the most

// What one thread computes a block with.
typedef struct policy_scratch {
    float *activations, *output, *output_gradient; // of the larger network
} policy_scratch;

// What one block of a minibatch adds.
typedef struct policy_block_sums {
    float *gradient; // of all parameters
    double divergence;
} policy_block_sums;

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
    policy_scratch *scratches;
    policy_block_sums sums[BATCH_BLOCKS];
    double recent[RECENT];
    int64_t episodes;
    double seconds[3]; // simulation, inference, update
};

static inline size_t policy_input_floats(const orr_policy_trainer *t)
{
    return (size_t)(t->info.observation_count + 1) * ORR_SAMPLES;
}

// A file with a policy and the state of its training.
typedef struct policy_training_file {
    orr_bytes bytes;
    orr_policy *policy;
    orr_archive archive; // of what is left
    int count, horizon, width;
    uint32_t seed;
} policy_training_file;

orr_result policy_training_open(const char *path, policy_training_file *file, orr_error *error);
// Puts its state into a trainer that was made with the file's numbers.
orr_result policy_training_restore(policy_training_file *file, const char *path, orr_policy_trainer *t,
                                   orr_error *error);
void policy_training_close(policy_training_file *file);

// The parameters have changed: actor, deviations and critic follow them.
void policy_trainer_set_parameters(orr_policy_trainer *t);
