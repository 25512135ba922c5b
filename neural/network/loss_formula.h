// Losses of one channel: x is the value, y the derivative by the prediction. A denominator that contains the
// prediction counts as a constant in the derivative, as in tiny-cuda-nn.
#ifndef LOSS_FORMULA_H
#define LOSS_FORMULA_H

#include "engine/maths/formula.h"

FN real2 loss_of(real value, real gradient)
{
    real2 r;
    r.x = value;
    r.y = gradient;
    return r;
}

FN real sign_of(real a)
{
    return sel(a > R(0.0), R(1.0), sel(a < R(0.0), R(-1.0), R(0.0)));
}

FN real natural_log(real a)
{
    return R(0.69314718056) * log2_(a);
}

FN real2 loss_l2(real prediction, real target)
{
    real d = prediction - target;
    return loss_of(d * d, R(2.0) * d);
}

FN real2 loss_relative_l2(real prediction, real target)
{
    real d = prediction - target;
    real weight = R(1.0) / (prediction * prediction + R(0.01));
    return loss_of(d * d * weight, R(2.0) * d * weight);
}

FN real2 loss_weighted_l1(real prediction, real target, real weight)
{
    real d = prediction - target;
    return loss_of(abs_(d) * weight, sign_of(d) * weight);
}

FN real2 loss_l1(real prediction, real target)
{
    return loss_weighted_l1(prediction, target, R(1.0));
}

FN real2 loss_mape(real prediction, real target)
{
    return loss_weighted_l1(prediction, target, R(1.0) / (abs_(target) + R(0.01)));
}

FN real2 loss_smape(real prediction, real target)
{
    return loss_weighted_l1(prediction, target,
                            R(1.0) / (R(0.5) * (abs_(prediction) + abs_(target)) + R(0.01)));
}

// quadratic up to a difference of 0.1, linear beyond; a fifth of it, as instant-ngp weighs it
FN real2 loss_huber(real prediction, real target)
{
    real d = prediction - target;
    real size = abs_(d);
    real value = sel(size > R(0.1), size - R(0.05), R(5.0) * d * d);
    real gradient = min_(max_(R(10.0) * d, R(-1.0)), R(1.0));
    return loss_of(R(0.2) * value, R(0.2) * gradient);
}

FN real2 loss_log_l1(real prediction, real target)
{
    real d = prediction - target;
    real grown = R(1.0) + abs_(d);
    return loss_of(natural_log(grown), sign_of(d) / grown);
}

// the prediction is a probability (density), taken to be 1e-6 at least
FN real2 loss_cross_entropy(real prediction, real target)
{
    real p = max_(prediction, R(1e-6));
    return loss_of(-target * natural_log(p), -target / p);
}

FN real2 loss_binary_cross_entropy(real prediction, real target)
{
    real p = min_(max_(prediction, R(1e-6)), R(1.0 - 1e-6));
    real q = R(1.0) - p;
    return loss_of(-target * natural_log(p) - (R(1.0) - target) * natural_log(q), (p - target) / (p * q));
}

#endif
