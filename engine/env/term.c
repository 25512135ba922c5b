#include "engine/env/term.h"

#include "engine/core/memory.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

// d >= 0: the distance from the bounds in margins.
static double sigmoid(env_sigmoid kind, double d, double value)
{
    double x;
    switch (kind) {
    case ENV_GAUSSIAN:
        return exp(d * d * log(value));
    case ENV_HYPERBOLIC:
        return 1.0 / cosh(d * acosh(1.0 / value));
    case ENV_LONG_TAIL:
        return 1.0 / (d * d * (1.0 / value - 1.0) + 1.0);
    case ENV_RECIPROCAL:
        return 1.0 / (d * (1.0 / value - 1.0) + 1.0);
    case ENV_COSINE:
        x = d * acos(2.0 * value - 1.0) / pi;
        return x < 1.0 ? 0.5 * (1.0 + cos(pi * x)) : 0.0;
    case ENV_LINEAR:
        return fmax(1.0 - d * (1.0 - value), 0.0);
    case ENV_QUADRATIC:
        return fmax(1.0 - d * d * (1.0 - value), 0.0);
    default:
        x = tanh(d * atanh(sqrt(1.0 - value)));
        return 1.0 - x * x;
    }
}

double env_tolerance_of(const env_tolerance *t, double x)
{
    if (x >= t->low && x <= t->high) {
        return 1.0;
    }
    double off = x < t->low ? t->low - x : x - t->high;
    return t->margin > 0.0 ? sigmoid(t->sigmoid, off / t->margin, t->value) : 0.0;
}

static double number_of(const env_pick *pick, const env_robot *robot, const float *action, int k)
{
    switch (pick->source) {
    case ENV_FROM_CONSTANT:
        return 1.0;
    case ENV_FROM_ACTION:
        return (double)action[pick->index[k]];
    default:
        return robot->part[pick->source][pick->index[k]];
    }
}

static double difference(const env_term *t, const env_robot *robot, const float *action, int k)
{
    double x = number_of(&t->value, robot, action, k);
    return t->minus.count > 0 ? x - number_of(&t->minus, robot, action, k % t->minus.count) : x;
}

// The same in the term's frame, whose axes are the columns of its matrix.
static double turned(const env_term *t, const env_robot *robot, const float *action, int k)
{
    double sum = 0.0;
    if (t->frame.count == 0) {
        return difference(t, robot, action, k);
    }
    for (int row = 0; row < 3; row++) {
        sum += number_of(&t->frame, robot, action, 3 * row + k % 3) *
               difference(t, robot, action, k - k % 3 + row);
    }
    return sum;
}

static int numbers_of(const env_term *t)
{
    return t->only_count > 0 ? t->only_count : t->value.count;
}

// One number, before they are reduced.
static double changed(const env_term *t, const env_robot *robot, const float *action, int k)
{
    double x = env_clip(turned(t, robot, action, t->only_count > 0 ? t->only[k] : k), t->clip);
    switch (t->function) {
    case ENV_SIN:
        return sin(x);
    case ENV_COS:
        return cos(x);
    case ENV_ABS:
        return fabs(x);
    case ENV_LOG1P:
        return log1p(x);
    case ENV_ASINH:
        return asinh(x);
    case ENV_TANH:
        return tanh(x);
    case ENV_SQUARES:
    case ENV_NORM:
        return x * x;
    default:
        return x;
    }
}

static bool reduces(const env_term *t)
{
    return t->function >= ENV_SUM;
}

static double reduced(const env_term *t, const env_robot *robot, const float *action)
{
    double sum = 0.0;
    for (int k = 0; k < numbers_of(t); k++) {
        sum += changed(t, robot, action, k);
    }
    return t->function == ENV_NORM ? sqrt(sum) : sum;
}

int env_term_count(const env_term *t)
{
    return reduces(t) ? 1 : numbers_of(t);
}

void env_term_numbers(const env_term *t, const env_robot *robot, double *numbers)
{
    for (int k = 0; k < env_term_count(t); k++) {
        double x = reduces(t) ? reduced(t, robot, NULL) : changed(t, robot, NULL, k);
        numbers[k] = t->weight * x + t->offset;
    }
}

static double tolerated(const env_term *t, double x)
{
    return t->tolerates ? env_tolerance_of(&t->tolerance, x) : x;
}

static double combined(const env_term *t, const env_robot *robot, const float *action)
{
    if (t->combination == ENV_TOLERANCE_OF_SUM || reduces(t)) {
        return tolerated(t, reduced(t, robot, action));
    }
    double sum = 0.0, product = 1.0, least = INFINITY, most = -INFINITY;
    const int count = numbers_of(t);
    for (int k = 0; k < count; k++) {
        double x = tolerated(t, changed(t, robot, action, k));
        sum += x, product *= x, least = fmin(least, x), most = fmax(most, x);
    }
    return t->combination == ENV_MEAN    ? sum / count
           : t->combination == ENV_LEAST ? least
           : t->combination == ENV_MOST  ? most
                                         : product;
}

double env_term_value(const env_term *t, const env_robot *robot, const float *action)
{
    double x = combined(t, robot, action);
    x = t->weight * fmin(x, t->at_most) + t->offset;
    for (int i = 0; i < t->factors; i++) {
        x *= env_term_value(&t->factor[i], robot, action);
    }
    return x;
}

bool env_term_ends(const env_term *t, const env_robot *robot)
{
    bool ends = false;
    for (int k = 0; k < env_term_count(t); k++) {
        double x = reduces(t) ? reduced(t, robot, NULL) : changed(t, robot, NULL, k);
        ends |= !(x >= t->below && x <= t->above);
    }
    return ends;
}

void env_term_clear(env_term *t)
{
    for (int i = 0; i < t->factors; i++) {
        env_term_clear(&t->factor[i]);
    }
    orr_free(t->factor);
    orr_free(t->value.index);
    orr_free(t->minus.index);
    orr_free(t->frame.index);
    orr_free(t->only);
}
