// A loss by its kind, for C and for kernels: x is the value, y the derivative by the prediction.
#pragma once

#include "neural/network/loss_formula.h"
#include "neural/network/optimizer.h"

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
