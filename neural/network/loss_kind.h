// A loss by its kind, for C (define ORR_SCALAR) and for kernels: x is the value of one channel, y its
// derivative by the prediction, neither divided by the number of values.
#pragma once

#include "neural/network/config.h"
#include "neural/network/loss_formula.h"

FN real2 loss_at(orr_loss_kind kind, real prediction, real target)
{
    switch (kind) {
    case ORR_LOSS_RELATIVE_L2:
        return loss_relative_l2(prediction, target);
    case ORR_LOSS_L1:
        return loss_l1(prediction, target);
    case ORR_LOSS_MAPE:
        return loss_mape(prediction, target);
    case ORR_LOSS_SMAPE:
        return loss_smape(prediction, target);
    case ORR_LOSS_HUBER:
        return loss_huber(prediction, target);
    case ORR_LOSS_LOG_L1:
        return loss_log_l1(prediction, target);
    case ORR_LOSS_CROSS_ENTROPY:
        return loss_cross_entropy(prediction, target);
    case ORR_LOSS_BINARY_CROSS_ENTROPY:
        return loss_binary_cross_entropy(prediction, target);
    case ORR_LOSS_L2:
        break;
    }
    return loss_l2(prediction, target);
}

// Nothing where the target is not finite: such a sample teaches nothing.
FN real2 loss_of_target(orr_loss_kind kind, float prediction, float target)
{
    return isfinite(target) ? loss_at(kind, prediction, target) : loss_of(0.0f, 0.0f);
}
