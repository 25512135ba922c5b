// Losses, one value at a time.
#define ORR_SCALAR 1
#include "neural/network/loss_kind.h"

orr_loss_value orr_loss(orr_loss_kind kind, float prediction, float target)
{
    real2 loss = loss_at(kind, prediction, target);
    return (orr_loss_value){loss.x, loss.y};
}
