// The optimisers' step of one parameter: Adam (Kingma and Ba 2015), gradient descent, L2 regularisation, and
// the exponential moving average of the parameters.
#ifndef ORR_OPTIMIZER_FORMULA_H
#define ORR_OPTIMIZER_FORMULA_H

#include "engine/maths/formula.h"

// The gradient of the loss with l2 / 2 times the parameter's square added to it.
FN real l2_gradient(real gradient, real parameter, uniform_real l2)
{
    return fma_(parameter, R(l2), gradient);
}

// What gradient descent subtracts from a parameter.
FN real sgd_step(real gradient, uniform_real learning_rate)
{
    return gradient * learning_rate;
}

// Averages of the gradient and of its square, not corrected for their start at 0.
STRUCT(adam_moments)
{
    real first, second;
}
END_STRUCT(adam_moments)

FN adam_moments adam_advance(adam_moments moments, real gradient, uniform_real beta1, uniform_real beta2)
{
    adam_moments next;
    next.first = fma_(moments.first, R(beta1), gradient * (1.0f - beta1));
    next.second = fma_(moments.second, R(beta2), gradient * gradient * (1.0f - beta2));
    return next;
}

// The parameter's own steps after one more; from `last` on the correction is the same.
FN suint adam_count(suint steps, uniform_uint last)
{
    return min_uint(steps + U(1u), U(last));
}

// What Adam subtracts from a parameter. correction: sqrt(1 - beta2^t) / (1 - beta1^t) after t steps.
FN real adam_step(adam_moments moments, real correction, uniform_real learning_rate, uniform_real epsilon)
{
    return correction * learning_rate * moments.first / (sqrt_(moments.second) + R(epsilon));
}

// The average after a step, not divided by the sum of its weights. keep, rest: factors of the sum and of the
// parameter before the step, which rested since the sum was last advanced (orr_average_rested); fresh: 1 -
// decay.
FN real average_advance(real sum, real before, real after, uniform_real keep, uniform_real rest,
                        uniform_real fresh)
{
    return fma_(after, R(fresh), sum * keep + before * rest);
}

// The average itself, by orr_average_now.
FN real average_value(real sum, real parameter, uniform_real keep, uniform_real rest)
{
    return keep * sum + rest * parameter;
}

#endif
