// The fused networks against a reference in double, for every width, activation and machine. Run once per
// instruction set; the AMX schedule runs on emulated tiles.
#include "engine/core/memory.h"
#include "engine/maths/rng.h"
#include "neural/network/mlp_kernels.h"
#include "tests/neural/mlp_reference.h"
#include "tests/support/support.h"

#include <math.h>
#include <string.h>

static const orr_activation activations[] = {
    ORR_ACTIVATION_NONE,        ORR_ACTIVATION_RELU, ORR_ACTIVATION_LEAKY_RELU, ORR_ACTIVATION_SILU,
    ORR_ACTIVATION_EXPONENTIAL, ORR_ACTIVATION_SINE, ORR_ACTIVATION_SIGMOID,    ORR_ACTIVATION_SQUAREPLUS,
    ORR_ACTIVATION_SOFTPLUS,    ORR_ACTIVATION_TANH};
enum { ACTIVATION_COUNT = sizeof activations / sizeof activations[0] };

typedef struct shape {
    orr_mlp_config config;
    int inputs, outputs;
    float padding;
} shape;

// One network with everything it reads and writes, in float and in double.
typedef struct network {
    orr_mlp mlp;
    float *weights, *input, *output_gradient;
    float *output, *activations, *weight_gradient, *input_gradient;
    double *weights64, *input64, *output_gradient64;
    double *output64, *weight_gradient64, *input_gradient64;
    size_t weight_count, input_count, output_count;
} network;

static float *random_floats(orr_rng *rng, size_t count, float bound)
{
    float *values = orr_alloc(count, sizeof *values);
    for (size_t i = 0; i < count; i++) {
        values[i] = orr_rng_range(rng, -bound, bound);
    }
    return values;
}

static double *doubles_of(const float *values, size_t count)
{
    double *copy = orr_alloc(count, sizeof *copy);
    for (size_t i = 0; i < count; i++) {
        copy[i] = (double)values[i];
    }
    return copy;
}

static network network_make(const shape *s, bool bf16)
{
    network n = {0};
    assert_ok(orr_mlp_create(&s->config, s->inputs, s->outputs, &n.mlp, &error));
    n.mlp.input_padding = s->padding;
    n.weight_count = (size_t)n.mlp.parameter_count;
    n.input_count = (size_t)s->inputs * ORR_SAMPLES;
    n.output_count = (size_t)s->outputs * ORR_SAMPLES;
    orr_rng rng = {.seed = 7};
    n.weights = orr_alloc(n.weight_count, sizeof(float));
    orr_mlp_initialise(&n.mlp, 3, n.weights);
    // e^x of e^x of ... stays in range with small weights only; the others shall see both of their ends
    float scale = s->config.activation == ORR_ACTIVATION_EXPONENTIAL ? 0.5f : 1.5f;
    for (size_t i = 0; i < n.weight_count; i++) {
        n.weights[i] *= scale;
    }
    n.input = random_floats(&rng, n.input_count, 1.0f);
    n.output_gradient = random_floats(&rng, n.output_count, 1.0f);
    n.output = orr_alloc_zero(n.output_count, sizeof(float));
    n.activations = orr_alloc_zero(orr_mlp_activation_floats(&n.mlp), sizeof(float));
    n.weight_gradient = orr_alloc_zero(n.weight_count, sizeof(float));
    n.input_gradient = orr_alloc_zero(n.input_count, sizeof(float));
    n.weights64 = doubles_of(n.weights, n.weight_count);
    n.input64 = doubles_of(n.input, n.input_count);
    n.output_gradient64 = doubles_of(n.output_gradient, n.output_count);
    n.output64 = orr_alloc_zero(n.output_count, sizeof(double));
    n.weight_gradient64 = orr_alloc_zero(n.weight_count, sizeof(double));
    n.input_gradient64 = orr_alloc_zero(n.input_count, sizeof(double));
    mlp_reference_forward(&n.mlp, bf16, n.weights64, n.input64, n.output64);
    mlp_reference_backward(&n.mlp, bf16, n.weights64, n.input64, n.output_gradient64, n.weight_gradient64,
                           n.input_gradient64);
    return n;
}

static void network_free(network *n)
{
    void *memory[] = {n->weights,         n->input,
                      n->output_gradient, n->output,
                      n->activations,     n->weight_gradient,
                      n->input_gradient,  n->weights64,
                      n->input64,         n->output_gradient64,
                      n->output64,        n->weight_gradient64,
                      n->input_gradient64};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++) {
        orr_free(memory[i]);
    }
}

// Forward and backward once, into fresh gradients.
static void network_run(network *n, const orr_mlp_weights *weights)
{
    memset(n->weight_gradient, 0, n->weight_count * sizeof(float));
    orr_mlp_forward(weights, n->input, n->output, n->activations);
    orr_mlp_backward(weights, n->input, n->output, n->activations, n->output_gradient, n->weight_gradient,
                     n->input_gradient);
}

// mean square error over mean square
static double nmse(const float *got, const double *expected, size_t count)
{
    double error = 0.0, square = 0.0;
    for (size_t i = 0; i < count; i++) {
        double d = (double)got[i] - expected[i];
        error += d * d;
        square += expected[i] * expected[i];
    }
    return error / square;
}

static orr_isa isa;

// A machine for products that runs here.
typedef struct machine {
    const char *name;
    const orr_mlp_kernels *kernels;
} machine;

#if defined(ORR_HAVE_MLP_BF16)
extern const orr_mlp_kernels
    orr_mlp_kernels_amx_emulated; // neural/network/mlp_amx.c on tests/neural/amx_emu.h
#endif

static int machines_here(machine machines[ORR_MLP_MACHINE_COUNT + 1])
{
    int count = 0;
    for (int m = 0; m < ORR_MLP_MACHINE_COUNT; m++) {
        orr_mlp_machine choice = (orr_mlp_machine)m;
        if (orr_mlp_machine_available(isa, choice)) {
            machines[count++] = (machine){orr_mlp_machine_name(choice), orr_mlp_kernels_of(isa, choice)};
        }
    }
#if defined(ORR_HAVE_MLP_BF16)
    if (orr_mlp_machine_available(isa, ORR_MLP_BF16)) {
        machines[count++] = (machine){"amx emulated", &orr_mlp_kernels_amx_emulated};
    }
#endif
    return count;
}

static void for_each_machine(void (*test)(const machine *m))
{
    machine machines[ORR_MLP_MACHINE_COUNT + 1];
    int count = machines_here(machines);
    for (int i = 0; i < count; i++) {
        test(&machines[i]);
    }
}

static orr_mlp_weights *weights_make(const network *n, const orr_mlp_kernels *kernels)
{
    orr_mlp_weights *weights;
    assert_ok(orr_mlp_weights_create_for(&n->mlp, kernels, &weights, &error));
    orr_mlp_weights_set(weights, n->weights);
    return weights;
}

typedef struct worst_errors {
    double output, weights, input;
} worst_errors;

// float sums of up to 128 products are off by about 1e-7 of their size, hence 1e-14 squared, and some layers
// add up
static const double fp32_tolerance = 1e-12;
// compared with a reference that rounds the same factors: what differs is floats that fall on the other side
// of a bf16 rounding and are then off by 2^-8, 1.5e-5 squared. A saturated tanh, whose slope 1 - y^2 is good
// to some digits only, sends one in a hundred there.
static const double bf16_tolerance = 1e-6;

// Compares one network with the reference; the largest errors go to *worst. The output of inference must be
// the very output of training.
static void check(const shape *s, const machine *m, worst_errors *worst)
{
    network n = network_make(s, m->kernels->bf16);
    orr_mlp_weights *weights = weights_make(&n, m->kernels);
    double tolerance = m->kernels->bf16 ? bf16_tolerance : fp32_tolerance;
    network_run(&n, weights);
    double output = nmse(n.output, n.output64, n.output_count);
    double weight = nmse(n.weight_gradient, n.weight_gradient64, n.weight_count);
    double input = nmse(n.input_gradient, n.input_gradient64, n.input_count);
    if (!(output < tolerance) || !(weight < tolerance) || !(input < tolerance)) {
        fail_msg("%s, width %d, %d hidden, activations %d %d, %d -> %d: NMSE of output %.2g, weight gradient "
                 "%.2g, "
                 "input gradient %.2g; expected under %.2g",
                 m->name, s->config.width, s->config.hidden_layers, s->config.activation,
                 s->config.output_activation, s->inputs, s->outputs, output, weight, input, tolerance);
    }
    worst->output = fmax(worst->output, output);
    worst->weights = fmax(worst->weights, weight);
    worst->input = fmax(worst->input, input);
    float *inferred = orr_alloc(n.output_count, sizeof(float));
    orr_mlp_forward(weights, n.input, inferred, NULL);
    assert_memory_equal(inferred, n.output, n.output_count * sizeof(float));
    orr_free(inferred);
    orr_mlp_weights_destroy(weights);
    network_free(&n);
}

static void print_worst(const machine *m, const worst_errors *worst)
{
    print_message("%s: worst NMSE of output %.1e, weight gradient %.1e, input gradient %.1e\n", m->name,
                  worst->output, worst->weights, worst->input);
}

static void check_widths(const machine *m)
{
    worst_errors worst = {0};
    for (int width = 16; width <= 128; width *= 2) {
        for (int hidden = 0; hidden <= 4; hidden++) {
            shape s = {{width, hidden, ORR_ACTIVATION_RELU, ORR_ACTIVATION_NONE}, 32, 16, 0.0f};
            check(&s, m, &worst);
        }
    }
    print_worst(m, &worst);
}

static void every_width_and_depth_agrees_with_the_reference(void **state)
{
    (void)state;
    for_each_machine(check_widths);
}

static void check_activations(const machine *m)
{
    worst_errors worst = {0};
    for (int i = 0; i < ACTIVATION_COUNT; i++) {
        shape inside = {{64, 2, activations[i], ORR_ACTIVATION_NONE}, 32, 16, 0.0f};
        shape outside = {{32, 1, ORR_ACTIVATION_RELU, activations[i]}, 16, 16, 0.0f};
        check(&inside, m, &worst);
        check(&outside, m, &worst);
    }
    print_worst(m, &worst);
}

static void every_activation_agrees_with_the_reference(void **state)
{
    (void)state;
    for_each_machine(check_activations);
}

static void check_sizes(const machine *m)
{
    const int sizes[] = {1, 3, 15, 17, 33, 48, 80};
    const shape wide = {{16, 1, ORR_ACTIVATION_TANH, ORR_ACTIVATION_SINE}, ORR_MLP_DIMS_MAX, 349, 0.0f};
    worst_errors worst = {0};
    check(&wide, m, &worst);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            shape s = {{16, (int)(i + k) % 3, ORR_ACTIVATION_TANH, ORR_ACTIVATION_SINE},
                       sizes[i],
                       sizes[k],
                       (float)(k & 1)};
            check(&s, m, &worst);
        }
    }
    print_worst(m, &worst);
}

static void odd_numbers_of_inputs_and_outputs_agree_with_the_reference(void **state)
{
    (void)state;
    for_each_machine(check_sizes);
}

static double loss(network *n)
{
    mlp_reference_forward(&n->mlp, false, n->weights64, n->input64, n->output64);
    double sum = 0.0;
    for (size_t i = 0; i < n->output_count; i++) {
        sum += n->output64[i] * n->output_gradient64[i];
    }
    return sum;
}

// The derivative of the loss by one number of the network.
static double central_difference(network *n, double *value)
{
    const double step = 1e-5, at = *value; // second-order: the error is 1e-10 of the third derivative
    *value = at + step;
    double above = loss(n);
    *value = at - step;
    double below = loss(n);
    *value = at;
    return (above - below) / (2.0 * step);
}

static void gradients_are_central_differences(void **state)
{
    (void)state;
    enum { PROBES = 60 };
    for (int i = 0; i < ACTIVATION_COUNT; i++) {
        shape s = {{16, 2, activations[i], activations[(i + 3) % ACTIVATION_COUNT]}, 5, 3, 1.0f};
        network n = network_make(&s, false);
        orr_mlp_weights *weights = weights_make(&n, orr_mlp_kernels_of(isa, ORR_MLP_FP32));
        network_run(&n, weights);
        float got[2 * PROBES];
        double expected[2 * PROBES];
        orr_rng rng = {.seed = 11};
        for (int k = 0; k < PROBES; k++) {
            size_t w = orr_rng_next(&rng) % n.weight_count, x = orr_rng_next(&rng) % n.input_count;
            got[k] = n.weight_gradient[w];
            expected[k] = central_difference(&n, &n.weights64[w]);
            got[PROBES + k] = n.input_gradient[x];
            expected[PROBES + k] = central_difference(&n, &n.input64[x]);
        }
        // as fp32_tolerance, but two numbers on either side of a ReLU's kink weigh more among few
        assert_true(nmse(got, expected, PROBES) < 1e-9);
        assert_true(nmse(got + PROBES, expected + PROBES, PROBES) < 1e-9);
        orr_mlp_weights_destroy(weights);
        network_free(&n);
    }
}

static const shape radiance = {{64, 2, ORR_ACTIVATION_RELU, ORR_ACTIVATION_SIGMOID}, 31, 3, 1.0f};

static void check_repeats(const machine *m)
{
    network n = network_make(&radiance, m->kernels->bf16);
    orr_mlp_weights *weights = weights_make(&n, m->kernels);
    network_run(&n, weights);
    float *weight_gradient = orr_alloc(n.weight_count, sizeof(float));
    float *input_gradient = orr_alloc(n.input_count, sizeof(float));
    memcpy(weight_gradient, n.weight_gradient, n.weight_count * sizeof(float));
    memcpy(input_gradient, n.input_gradient, n.input_count * sizeof(float));
    network_run(&n, weights);
    assert_memory_equal(weight_gradient, n.weight_gradient, n.weight_count * sizeof(float));
    assert_memory_equal(input_gradient, n.input_gradient, n.input_count * sizeof(float));
    // gradients are added: a second block doubles them, exactly
    orr_mlp_backward(weights, n.input, n.output, n.activations, n.output_gradient, n.weight_gradient, NULL);
    for (size_t i = 0; i < n.weight_count; i++) {
        assert_true(n.weight_gradient[i] == 2.0f * weight_gradient[i]);
    }
    // and the gradient of the inputs does not need those of the weights
    memset(n.input_gradient, 0, n.input_count * sizeof(float));
    orr_mlp_backward(weights, n.input, n.output, n.activations, n.output_gradient, NULL, n.input_gradient);
    assert_memory_equal(input_gradient, n.input_gradient, n.input_count * sizeof(float));
    orr_free(weight_gradient);
    orr_free(input_gradient);
    orr_mlp_weights_destroy(weights);
    network_free(&n);
}

static void a_repeated_block_gives_the_same_bits_and_adds_its_gradient(void **state)
{
    (void)state;
    for_each_machine(check_repeats);
}

static void check_zero(const machine *m)
{
    network n = network_make(&radiance, m->kernels->bf16);
    orr_mlp_weights *weights = weights_make(&n, m->kernels);
    memset(n.output_gradient, 0, n.output_count * sizeof(float));
    network_run(&n, weights);
    for (size_t i = 0; i < n.weight_count; i++) {
        assert_true(n.weight_gradient[i] == 0.0f);
    }
    for (size_t i = 0; i < n.input_count; i++) {
        assert_true(n.input_gradient[i] == 0.0f);
    }
    orr_mlp_weights_destroy(weights);
    network_free(&n);
}

static void no_output_gradient_gives_no_gradient(void **state)
{
    (void)state;
    for_each_machine(check_zero);
}

// What rounding to bf16 costs, against the exact reference: each factor is off by up to 2^-9, which makes two
// times (2^-9)^2 / 3 = 2.5e-6 per layer.
static void check_rounding(const machine *m)
{
    shape s = {{64, 2, ORR_ACTIVATION_SOFTPLUS, ORR_ACTIVATION_NONE}, 32, 16, 0.0f};
    network n = network_make(&s, false);
    orr_mlp_weights *weights = weights_make(&n, m->kernels);
    network_run(&n, weights);
    const double bound = m->kernels->bf16 ? 4e-5 : fp32_tolerance;
    double output = nmse(n.output, n.output64, n.output_count);
    double weight = nmse(n.weight_gradient, n.weight_gradient64, n.weight_count);
    double input = nmse(n.input_gradient, n.input_gradient64, n.input_count);
    print_worst(m, &(worst_errors){output, weight, input});
    assert_true(output < bound && weight < bound && input < bound);
    orr_mlp_weights_destroy(weights);
    network_free(&n);
}

static void machines_agree_up_to_their_rounding(void **state)
{
    (void)state;
    for_each_machine(check_rounding);
}

// The values are those of tiny-cuda-nn's parameter counts: 32 x 64 + 64 x 16, and 32 x 64 + 64 x 64 + 64 x
// 16.
static void parameters_are_counted_padded_and_drawn_between_the_bounds_of_xavier(void **state)
{
    (void)state;
    orr_mlp_config density = {64, 1, ORR_ACTIVATION_RELU, ORR_ACTIVATION_NONE};
    orr_mlp_config colour = {64, 2, ORR_ACTIVATION_RELU, ORR_ACTIVATION_SIGMOID};
    orr_mlp mlp;
    assert_ok(orr_mlp_create(&density, 32, 16, &mlp, &error));
    assert_int_equal(mlp.parameter_count, 3072);
    assert_ok(orr_mlp_create(&colour, 31, 3, &mlp, &error));
    assert_int_equal(mlp.parameter_count, 7168);
    float *weights = orr_alloc(7168, sizeof(float)), *again = orr_alloc(7168, sizeof(float));
    orr_mlp_initialise(&mlp, 1, weights);
    orr_mlp_initialise(&mlp, 1, again);
    assert_memory_equal(weights, again, 7168 * sizeof(float));
    const double bounds[3] = {sqrt(6.0 / 96.0), sqrt(6.0 / 128.0), sqrt(6.0 / 80.0)};
    const int ends[4] = {0, 2048, 6144, 7168};
    for (int i = 0; i < 3; i++) {
        double largest = 0.0, sum = 0.0;
        for (int k = ends[i]; k < ends[i + 1]; k++) {
            largest = fmax(largest, fabs((double)weights[k]));
            sum += (double)weights[k];
        }
        assert_true(largest <= bounds[i] * 1.000001 && largest > 0.99 * bounds[i]);
        // the mean of n uniform numbers: five standard deviations
        assert_true(fabs(sum) < 5.0 * bounds[i] * sqrt((ends[i + 1] - ends[i]) / 3.0));
    }
    orr_free(weights);
    orr_free(again);
}

static void what_cannot_be_fused_is_named(void **state)
{
    (void)state;
    orr_mlp mlp;
    orr_error error;
    assert_int_equal(orr_mlp_create(&(orr_mlp_config){.width = 48}, 1, 1, &mlp, &error), ORR_ERROR_ARGUMENT);
    assert_string_equal(error.message, "network: n_neurons 48: expected 16, 32, 64 or 128");
    assert_int_equal(orr_mlp_create(&(orr_mlp_config){64, 17, 0, 0}, 1, 1, &mlp, &error), ORR_ERROR_ARGUMENT);
    assert_string_equal(error.message, "network: n_hidden_layers 17: expected 0 .. 16");
    assert_int_equal(orr_mlp_create(&(orr_mlp_config){64, 1, 0, 0}, 0, 1, &mlp, &error), ORR_ERROR_ARGUMENT);
    assert_int_equal(orr_mlp_create(&(orr_mlp_config){64, 1, 0, 0}, 1, 513, &mlp, &error),
                     ORR_ERROR_ARGUMENT);
}

int main(void)
{
    orr_error error;
    if (orr_isa_choose(&isa, &error) != ORR_OK) {
        print_message("%s\n", error.message);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_width_and_depth_agrees_with_the_reference),
        cmocka_unit_test(every_activation_agrees_with_the_reference),
        cmocka_unit_test(odd_numbers_of_inputs_and_outputs_agree_with_the_reference),
        cmocka_unit_test(machines_agree_up_to_their_rounding),
        cmocka_unit_test(gradients_are_central_differences),
        cmocka_unit_test(a_repeated_block_gives_the_same_bits_and_adds_its_gradient),
        cmocka_unit_test(no_output_gradient_gives_no_gradient),
        cmocka_unit_test(parameters_are_counted_padded_and_drawn_between_the_bounds_of_xavier),
        cmocka_unit_test(what_cannot_be_fused_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
