// Terms of a task file: numbers of a world, chosen, changed and reduced. docs/task-file.md has the keys.
#pragma once

#include "engine/env/task.h"

// Where a term's numbers come from: a part of the world (env_part), or one of these.
enum { ENV_FROM_ACTION = ENV_PARTS, ENV_FROM_CONSTANT };

typedef struct env_pick {
    int source;
    int count;      // 0: none
    int32_t *index; // count: of the source's numbers
} env_pick;

typedef enum env_function {
    ENV_EACH,
    ENV_SIN,
    ENV_COS,
    ENV_ABS,
    ENV_LOG1P,
    ENV_ASINH,
    ENV_TANH,
    ENV_SUM, // this and those that follow make one number of all
    ENV_SQUARES,
    ENV_NORM
} env_function;

// How the numbers of a reward become one.
typedef enum env_combination {
    ENV_TOLERANCE_OF_SUM, // the sum, and the tolerance of it
    ENV_MEAN,             // of each number's tolerance, as those below
    ENV_LEAST,
    ENV_MOST,
    ENV_PRODUCT
} env_combination;

typedef enum env_sigmoid {
    ENV_GAUSSIAN,
    ENV_HYPERBOLIC,
    ENV_LONG_TAIL,
    ENV_RECIPROCAL,
    ENV_COSINE,
    ENV_LINEAR,
    ENV_QUADRATIC,
    ENV_TANH_SQUARED
} env_sigmoid;

// The tolerance function of dm_control (Tassa et al. 2018, arXiv:1801.00690, section 4.1): 1 from low to
// high, and falling outside to `value` at the distance `margin`; 0 outside where the margin is 0.
typedef struct env_tolerance {
    double low, high, margin, value; // 0 < value < 1, or 0 for those that reach it
    env_sigmoid sigmoid;
} env_tolerance;

typedef struct env_term {
    env_pick value, minus; // its count divides that of value: it is repeated; or no minus
    env_pick frame;        // 9: a rotation into whose frame vectors of three numbers are turned; or none
    int only_count;        // of the numbers that remain; 0: all
    int32_t *only;
    double clip; // of each number; INFINITY: none
    env_function function;
    env_combination combination;
    bool tolerates;
    env_tolerance tolerance;
    double at_most; // INFINITY: no bound
    double weight, offset;
    bool rate;              // counts by its change per second
    bool unless_terminated; // 0 in the step that ends an episode
    double noise;           // observations: deviation of what is added to each number
    int delay;              // observations: steps that numbers are old
    double below, above;    // ends the episode; -INFINITY, INFINITY: never
    int factors;
    struct env_term *factor; // factors: multiply it
} env_term;

double env_tolerance_of(const env_tolerance *tolerance, double x);
int env_term_count(const env_term *term); // of its numbers: 1 when they are reduced
// weight x each + offset.
void env_term_numbers(const env_term *term, const env_robot *robot, double *numbers);
// weight x f(its numbers) + offset, times its factors.
double env_term_value(const env_term *term, const env_robot *robot, const float *action);
// One of its numbers is below or above what ends an episode, or is no number.
bool env_term_ends(const env_term *term, const env_robot *robot);
void env_term_clear(env_term *term);
