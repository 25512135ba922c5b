// orrery bench neural: encodings and networks beside the limits of one core.
#include "bench_neural.h"

#include "engine/core/profile.h"

double bench_fastest(int rounds, void (*body)(void *context, int round), void *context)
{
    uint64_t best = UINT64_MAX;
    for (int round = 0; round < rounds; round++) {
        uint64_t start = orr_clock_nanoseconds();
        body(context, round);
        uint64_t time = orr_clock_nanoseconds() - start;
        best = time < best ? time : best;
    }
    return (double)best * 1e-9;
}

orr_result bench_neural(const bench_run *run, orr_error *error)
{
    orr_isa isa;
    ORR_TRY(orr_isa_choose(&isa, error));
    fprintf(run->out, "\nneural, one core, %s\n", orr_isa_name(isa));
    cJSON *results = run->json ? cJSON_AddObjectToObject(run->json, "neural") : NULL;
    ORR_TRY(bench_neural_encoding(run, isa, results, error));
    return bench_mlp(run, error);
}
