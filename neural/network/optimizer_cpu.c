// One block of parameters in lanes; compiled once per instruction set.
#include "neural/network/optimizer_cpu.h"

#include "neural/network/optimizer_formula.h"

typedef uint16_t step_lanes __attribute__((vector_size(2 * ORR_LANES), aligned(2)));

// What Adam subtracts; moments and counts of the lanes that do not move stay as they are.
FN real adam(const orr_optimizer_pass *pass, const orr_parameter_block *b, int i, real gradient, mask moves)
{
    const orr_optimizer_rule *rule = &pass->rule;
    adam_moments old = {real_load(b->first + i), real_load(b->second + i)};
    adam_moments moments = adam_advance(old, gradient, rule->beta1, rule->beta2);
    suint old_steps = __builtin_convertvector(*(const step_lanes *)(b->steps + i), suint);
    suint steps = adam_count(old_steps, (uint32_t)pass->correction_last);
    real_store(b->first + i, sel(moves, moments.first, old.first));
    real_store(b->second + i, sel(moves, moments.second, old.second));
    *(step_lanes *)(b->steps + i) =
        __builtin_convertvector(sel_int(moves, (sint)steps, (sint)old_steps), step_lanes);
    return adam_step(moments, real_gather(pass->correction, (sint)steps), rule->learning_rate, rule->epsilon);
}

void ORR_ISA_NAME(orr_optimizer_block)(const orr_optimizer_pass *pass, const orr_parameter_block *b)
{
    const orr_optimizer_rule *rule = &pass->rule;
    for (int i = 0; i < ORR_PARAMETER_BLOCK; i += ORR_LANES) {
        real gradient = real_load(b->gradient + i), weight = real_load(b->weight + i);
        mask moves = rule->lazy ? gradient != R(0.0) : I(-1);
        gradient = l2_gradient(gradient, weight, rule->l2_reg);
        real step = rule->sgd ? sgd_step(gradient, rule->learning_rate) : adam(pass, b, i, gradient, moves);
        real moved = sel(moves, weight - step, weight);
        if (rule->average_fresh > 0.0f) {
            real sum = average_advance(real_load(b->sum + i), weight, moved, b->average.keep, b->average.rest,
                                       rule->average_fresh);
            real_store(b->sum + i, sum);
        }
        real_store(b->weight + i, moved);
        real_store(b->gradient + i, R(0.0));
    }
}
