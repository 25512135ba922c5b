// One block of parameters in lanes; compiled once per instruction set.
#include "neural/network/optimizer_cpu.h"

#include "engine/core/lanes.h"

typedef uint16_t step_lanes __attribute__((vector_size(2 * ORR_LANES), aligned(2)));

FN real adam(const orr_optimizer_pass *pass, const orr_parameter_block *b, int i, real weight, real gradient,
             mask moves)
{
    real first = real_load(b->first + i), second = real_load(b->second + i);
    sint steps = __builtin_convertvector(*(const step_lanes *)(b->steps + i), sint);
    steps = sel_int(steps < I(pass->correction_last), steps + I(1), I(pass->correction_last));
    real new_first = fma_(first, R(pass->beta1), gradient * (1.0f - pass->beta1));
    real new_second = fma_(second, R(pass->beta2), gradient * gradient * (1.0f - pass->beta2));
    real rate = real_gather(pass->correction, steps) * pass->learning_rate;
    real step = rate * new_first / (sqrt_(new_second) + R(pass->epsilon));
    sint old_steps = __builtin_convertvector(*(const step_lanes *)(b->steps + i), sint);
    real_store(b->first + i, sel(moves, new_first, first));
    real_store(b->second + i, sel(moves, new_second, second));
    *(step_lanes *)(b->steps + i) = __builtin_convertvector(sel_int(moves, steps, old_steps), step_lanes);
    return weight - step;
}

void ORR_ISA_NAME(orr_optimizer_block)(const orr_optimizer_pass *pass, const orr_parameter_block *b)
{
    for (int i = 0; i < ORR_PARAMETER_BLOCK; i += ORR_LANES) {
        real gradient = real_load(b->gradient + i), weight = real_load(b->weight + i);
        mask moves = pass->lazy ? gradient != R(0.0) : I(-1);
        gradient = fma_(weight, R(pass->l2_reg), gradient);
        real moved =
            pass->sgd ? weight - gradient * pass->learning_rate : adam(pass, b, i, weight, gradient, moves);
        moved = sel(moves, moved, weight);
        if (pass->average_new > 0.0f) {
            real sum = real_load(b->sum + i) * b->average_keep + weight * b->average_rest;
            real_store(b->sum + i, fma_(moved, R(pass->average_new), sum));
        }
        real_store(b->weight + i, moved);
        real_store(b->gradient + i, R(0.0));
    }
}
