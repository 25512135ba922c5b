// The two networks of a radiance field (density 32-64-16, colour 32-64-64-16), on every machine and
// instruction set of this CPU, one core; beside the multiply-adds that the same machine does with nothing to
// load.
#include "engine/core/memory.h"
#include "engine/core/profile.h"
#include "neural/network/mlp_kernels.h"
#include "samples/orrery/bench/bench.h"

enum { NETWORKS = 2, ROUNDS = 16, BLOCKS = 500, PEAK_ROUNDS = 200000 };

// Floating-point operations per sample of both networks, forward: two per weight.
static const double operations = 2.0 * (3072.0 + 7168.0);

// One block and everything it reads and writes; all members at once in L1 and L2.
typedef struct mlp_block {
    orr_mlp mlps[NETWORKS];
    orr_mlp_weights *weights[NETWORKS];
    float master[8192], gradient[8192];
    float input[32 * ORR_SAMPLES], input_gradient[32 * ORR_SAMPLES];
    float output[16 * ORR_SAMPLES], output_gradient[16 * ORR_SAMPLES];
    float activations[2 * 64 * ORR_SAMPLES];
} mlp_block;

static double seconds(uint64_t start)
{
    return (double)(orr_clock_nanoseconds() - start) * 1e-9;
}

// Operations per second; the best of some rounds, as everywhere here.
static double measure_peak(const orr_mlp_kernels *kernels)
{
    double best = 0.0;
    float sink[2] = {0.5f, 0.25f};
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = orr_clock_nanoseconds();
        double done = kernels->peak(PEAK_ROUNDS, sink);
        double rate = done / seconds(start);
        best = rate > best ? rate : best;
    }
    return best;
}

// Samples per second through both networks.
static double measure_samples(mlp_block *b, bool train)
{
    double best = 0.0;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = orr_clock_nanoseconds();
        for (int i = 0; i < BLOCKS; i++) {
            for (int k = 0; k < NETWORKS; k++) {
                orr_mlp_forward(b->weights[k], b->input, b->output, train ? b->activations : NULL);
                if (train) {
                    orr_mlp_backward(b->weights[k], b->input, b->output, b->activations, b->output_gradient,
                                     b->gradient, b->input_gradient);
                }
            }
        }
        double rate = (double)BLOCKS * ORR_SAMPLES / seconds(start);
        best = rate > best ? rate : best;
    }
    return best;
}

static orr_result create_weights(mlp_block *b, const orr_mlp_kernels *kernels, orr_error *error)
{
    for (int k = 0; k < NETWORKS; k++) {
        ORR_TRY(orr_mlp_weights_create_for(&b->mlps[k], kernels, &b->weights[k], error));
        orr_mlp_initialise(&b->mlps[k], 1, b->master);
        orr_mlp_weights_set(b->weights[k], b->master);
    }
    return ORR_OK;
}

static void destroy_weights(mlp_block *b)
{
    for (int k = 0; k < NETWORKS; k++) {
        orr_mlp_weights_destroy(b->weights[k]);
        b->weights[k] = NULL;
    }
}

static void report(const bench_run *run, orr_isa isa, orr_mlp_machine machine, double peak, double inference,
                   double training)
{
    // the backward pass has two products for each of the forward pass
    double inference_share = inference * operations / peak,
           training_share = training * 3.0 * operations / peak;
    fprintf(run->out, "  %-8s %-5s %8.1f %10.2f %6.0f %% %12.2f %6.0f %%\n", orr_isa_name(isa),
            orr_mlp_machine_name(machine), peak * 1e-9, inference * 1e-6, 100.0 * inference_share,
            training * 1e-6, 100.0 * training_share);
    if (run->json) {
        cJSON *list = cJSON_GetObjectItem(run->json, "mlp");
        if (!list) {
            list = cJSON_AddArrayToObject(run->json, "mlp");
        }
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "isa", orr_isa_name(isa));
        cJSON_AddStringToObject(row, "machine", orr_mlp_machine_name(machine));
        cJSON_AddNumberToObject(row, "peak_flops", peak);
        cJSON_AddNumberToObject(row, "inference_samples_per_second", inference);
        cJSON_AddNumberToObject(row, "training_samples_per_second", training);
        cJSON_AddItemToArray(list, row);
    }
}

orr_result bench_mlp(const bench_run *run, orr_error *error)
{
    mlp_block *b = orr_alloc_zero(1, sizeof *b);
    if (!b) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: measuring networks");
    }
    const orr_mlp_config configs[NETWORKS] = {{64, 1, ORR_ACTIVATION_RELU, ORR_ACTIVATION_NONE},
                                              {64, 2, ORR_ACTIVATION_RELU, ORR_ACTIVATION_NONE}};
    orr_result result = ORR_OK;
    for (int k = 0; k < NETWORKS && result == ORR_OK; k++) {
        result = orr_mlp_create(&configs[k], 32, 16, &b->mlps[k], error);
    }
    for (int i = 0; i < 32 * ORR_SAMPLES; i++) {
        b->input[i] = (float)(i % 7) * 0.1f;
        b->output_gradient[i % (16 * ORR_SAMPLES)] = (float)(i % 5) * 0.1f;
    }
    fprintf(run->out, "networks: density 32-64-16 and colour 32-64-64-16, one core\n"
                      "  isa      machine GFLOP/s inference M/s  of peak  training M/s  of peak\n");
    for (int isa = (int)orr_isa_best(); isa >= 0 && result == ORR_OK; isa--) {
        for (int m = ORR_MLP_MACHINE_COUNT - 1; m >= 0 && result == ORR_OK; m--) {
            if (!orr_mlp_machine_available((orr_isa)isa, (orr_mlp_machine)m)) {
                continue;
            }
            const orr_mlp_kernels *kernels = orr_mlp_kernels_of((orr_isa)isa, (orr_mlp_machine)m);
            result = create_weights(b, kernels, error);
            if (result == ORR_OK) {
                double peak = measure_peak(kernels);
                double inference = measure_samples(b, false);
                report(run, (orr_isa)isa, (orr_mlp_machine)m, peak, inference, measure_samples(b, true));
            }
            destroy_weights(b);
        }
    }
    orr_free(b);
    return result;
}
