// Benchmarks of neural/network, a file per part.
#pragma once

#include "samples/orrery/bench/bench.h"

// Time of the fastest of several calls of body(context, round) [s]: what the machine does when nobody
// disturbs it.
double bench_fastest(int rounds, void (*body)(void *context, int round), void *context);

// Encodings on one core, beside the rate at which rows of their tables can be gathered. results: Nullable.
orr_result bench_neural_encoding(const bench_run *run, orr_isa isa, cJSON *results, orr_error *error);
