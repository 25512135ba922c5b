// Advantages and returns of a rollout.
#pragma once

#include <stdint.h>

// Generalised advantage estimation (Schulman et al. 2016, arXiv 1506.02438). All arrays are horizon x count;
// values have one row more, of the states behind the rollout. ended: 1 where an episode ended with that step,
// whose reward then holds all that follows. returns: advantages + values.
void orr_advantages(const float *rewards, const float *values, const uint8_t *ended, int horizon, int count,
                    double discount, double trace, float *advantages, float *returns);
