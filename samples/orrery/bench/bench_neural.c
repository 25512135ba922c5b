// orrery bench neural: encodings and networks beside the limits of one core.
#include "samples/orrery/bench/bench_neural.h"

#include "engine/core/profile.h"
#include "engine/loop/devices.h"
#include "neural/cuda/nerf_rates.h"

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

static void print_rate(const bench_run *run, const char *name, double rate, double operations, double bytes)
{
    fprintf(run->out,
            "  %-10s %10.1f M samples/s; %5.1f %% of the tensor peak, rows of the table %.0f GB/s\n", name,
            rate * 1e-6, 100.0 * rate * operations / run->limits.tensor_operations_per_second,
            rate * bytes * 1e-9);
}

orr_result bench_neural_cuda(const bench_run *run, orr_error *error)
{
    orr_cuda *cuda;
    orr_cuda_nerf_rates rates;
    ORR_TRY(orr_engine_take_cuda(run->engine, &cuda, error));
    ORR_TRY(orr_cuda_measure_nerf(cuda, run->tiny, &rates, error));
    fprintf(run->out, "\nneural, %s: a radiance field's hash grid and networks, samples along rays\n",
            orr_cuda_describe(cuda)->name);
    print_rate(run, "inference", rates.inference, rates.inference_operations, rates.inference_bytes);
    print_rate(run, "training", rates.training, rates.training_operations, rates.training_bytes);
    if (run->json) {
        cJSON *json = cJSON_AddObjectToObject(run->json, "neural");
        const double peak = run->limits.tensor_operations_per_second;
        cJSON_AddNumberToObject(json, "inference_samples_per_second", rates.inference);
        cJSON_AddNumberToObject(json, "training_samples_per_second", rates.training);
        cJSON_AddNumberToObject(json, "inference_tensor_share",
                                rates.inference * rates.inference_operations / peak);
        cJSON_AddNumberToObject(json, "training_tensor_share",
                                rates.training * rates.training_operations / peak);
        cJSON_AddNumberToObject(json, "inference_table_bytes_per_second",
                                rates.inference * rates.inference_bytes);
        cJSON_AddNumberToObject(json, "training_table_bytes_per_second",
                                rates.training * rates.training_bytes);
    }
    return ORR_OK;
}

orr_result bench_neural(const bench_run *run, orr_error *error)
{
    orr_isa isa;
    if (orr_engine_device(run->engine) == ORR_DEVICE_CUDA) {
        return bench_neural_cuda(run, error);
    }
    ORR_TRY(orr_isa_choose(&isa, error));
    fprintf(run->out, "\nneural, one core, %s\n", orr_isa_name(isa));
    cJSON *results = run->json ? cJSON_AddObjectToObject(run->json, "neural") : NULL;
    ORR_TRY(bench_neural_encoding(run, isa, results, error));
    return bench_mlp(run, error);
}
