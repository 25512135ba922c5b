#include "engine/policy/gae.h"

#include <stddef.h>

void orr_advantages(const float *rewards, const float *values, const uint8_t *ended, int horizon, int count,
                    double discount, double trace, float *advantages, float *returns)
{
    for (int i = 0; i < count; i++) {
        double advantage = 0.0;
        for (int step = horizon - 1; step >= 0; step--) {
            const ptrdiff_t at = (ptrdiff_t)step * count + i;
            const double goes_on = ended[at] ? 0.0 : 1.0, value = (double)values[at],
                         error =
                             (double)rewards[at] + discount * goes_on * (double)values[at + count] - value;
            advantage = error + discount * trace * goes_on * advantage;
            advantages[at] = (float)advantage;
            returns[at] = (float)(advantage + value);
        }
    }
}
