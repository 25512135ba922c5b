#include "tests/neural/mlp_reference.h"

#include <math.h>

static double value_of(orr_activation activation, double x)
{
    switch (activation) {
    case ORR_ACTIVATION_NONE:
        return x;
    case ORR_ACTIVATION_RELU:
        return fmax(x, 0.0);
    case ORR_ACTIVATION_LEAKY_RELU:
        return x > 0.0 ? x : 0.01 * x;
    case ORR_ACTIVATION_SILU:
        return x / (1.0 + exp(-x));
    case ORR_ACTIVATION_EXPONENTIAL:
        return exp(x);
    case ORR_ACTIVATION_SINE:
        return sin(x);
    case ORR_ACTIVATION_SIGMOID:
        return 1.0 / (1.0 + exp(-x));
    case ORR_ACTIVATION_SQUAREPLUS:
        return (10.0 * x + sqrt(100.0 * x * x + 4.0)) / 20.0;
    case ORR_ACTIVATION_SOFTPLUS:
        return log1p(exp(10.0 * x)) / 10.0;
    case ORR_ACTIVATION_TANH:
        return tanh(x);
    }
    return NAN;
}

static double slope_of(orr_activation activation, double x)
{
    double s = 1.0 / (1.0 + exp(-x)), t = tanh(x);
    switch (activation) {
    case ORR_ACTIVATION_NONE:
        return 1.0;
    case ORR_ACTIVATION_RELU:
        return x > 0.0 ? 1.0 : 0.0;
    case ORR_ACTIVATION_LEAKY_RELU:
        return x > 0.0 ? 1.0 : 0.01;
    case ORR_ACTIVATION_SILU:
        return s + x * s * (1.0 - s);
    case ORR_ACTIVATION_EXPONENTIAL:
        return exp(x);
    case ORR_ACTIVATION_SINE:
        return cos(x);
    case ORR_ACTIVATION_SIGMOID:
        return s * (1.0 - s);
    case ORR_ACTIVATION_SQUAREPLUS:
        return 0.5 + 5.0 * x / sqrt(100.0 * x * x + 4.0);
    case ORR_ACTIVATION_SOFTPLUS:
        return 1.0 / (1.0 + exp(-10.0 * x));
    case ORR_ACTIVATION_TANH:
        return 1.0 - t * t;
    }
    return NAN;
}

static double factor(bool bf16, double value)
{
    if (!bf16) {
        return value;
    }
    int exponent;
    double fraction = frexp(value, &exponent); // 8 bits of it stay; rint rounds ties to even
    return ldexp(rint(ldexp(fraction, 8)), exponent - 8);
}

// One sample through the network.
typedef struct sample_values {
    double values[ORR_MLP_LAYERS_MAX + 1][ORR_MLP_DIMS_MAX]; // what goes into each matrix, and the output
    double sums[ORR_MLP_LAYERS_MAX][ORR_MLP_DIMS_MAX];
} sample_values;

typedef struct matrix {
    int inputs, outputs; // outputs that are used
    int64_t first;
    orr_activation activation;
} matrix;

static int matrices_of(const orr_mlp *mlp, matrix *matrices)
{
    int count = mlp->config.hidden_layers + 1, inputs = mlp->input_padded;
    int64_t first = 0;
    for (int i = 0; i < count - 1; i++) {
        matrices[i] = (matrix){inputs, mlp->config.width, first, mlp->config.activation};
        first += (int64_t)inputs * mlp->config.width;
        inputs = mlp->config.width;
    }
    matrices[count - 1] = (matrix){inputs, mlp->output_dims, first, mlp->config.output_activation};
    return count;
}

static void sample_forward(const orr_mlp *mlp, const matrix *matrices, int count, bool bf16,
                           const double *weights, const double *input, int sample, sample_values *s)
{
    for (int k = 0; k < mlp->input_padded; k++) {
        s->values[0][k] = k < mlp->input_dims ? input[k * ORR_SAMPLES + sample] : (double)mlp->input_padding;
    }
    for (int i = 0; i < count; i++) {
        for (int o = 0; o < matrices[i].outputs; o++) {
            const double *row = weights + matrices[i].first + o * matrices[i].inputs;
            double sum = 0.0;
            for (int k = 0; k < matrices[i].inputs; k++) {
                sum += factor(bf16, row[k]) * factor(bf16, s->values[i][k]);
            }
            s->sums[i][o] = sum;
            s->values[i + 1][o] = value_of(matrices[i].activation, sum);
        }
    }
}

void mlp_reference_forward(const orr_mlp *mlp, bool bf16, const double *weights, const double *input,
                           double *output)
{
    matrix matrices[ORR_MLP_LAYERS_MAX];
    int count = matrices_of(mlp, matrices);
    for (int sample = 0; sample < ORR_SAMPLES; sample++) {
        sample_values s;
        sample_forward(mlp, matrices, count, bf16, weights, input, sample, &s);
        for (int o = 0; o < mlp->output_dims; o++) {
            output[o * ORR_SAMPLES + sample] = s.values[count][o];
        }
    }
}

void mlp_reference_backward(const orr_mlp *mlp, bool bf16, const double *weights, const double *input,
                            const double *output_gradient, double *weight_gradient, double *input_gradient)
{
    matrix matrices[ORR_MLP_LAYERS_MAX];
    int count = matrices_of(mlp, matrices);
    for (int sample = 0; sample < ORR_SAMPLES; sample++) {
        sample_values s;
        sample_forward(mlp, matrices, count, bf16, weights, input, sample, &s);
        double gradient[ORR_MLP_DIMS_MAX];
        for (int o = 0; o < mlp->output_dims; o++) {
            gradient[o] = output_gradient[o * ORR_SAMPLES + sample];
        }
        for (int i = count - 1; i >= 0; i--) {
            double before[ORR_MLP_DIMS_MAX] = {0};
            for (int o = 0; o < matrices[i].outputs; o++) {
                double g = factor(bf16, gradient[o] * slope_of(matrices[i].activation, s.sums[i][o]));
                int64_t row = matrices[i].first + o * matrices[i].inputs;
                for (int k = 0; k < matrices[i].inputs; k++) {
                    weight_gradient[row + k] += g * factor(bf16, s.values[i][k]);
                    before[k] += g * factor(bf16, weights[row + k]);
                }
            }
            for (int k = 0; k < matrices[i].inputs; k++) {
                gradient[k] = before[k];
            }
        }
        for (int k = 0; k < mlp->input_dims; k++) {
            input_gradient[k * ORR_SAMPLES + sample] = gradient[k];
        }
    }
}
