#include "samples/orrery/view/training_figures.h"

#include <math.h>

static const double RATE_WEIGHT = 0.1; // of a new step
static const double LOSS_MIN = 1e-12;  // a loss of nothing has a logarithm too

static void halve_curve(training_figures *f)
{
    for (int i = 0; i < LOSS_CURVE_POINTS / 2; i++) {
        double a = pow(10.0, (double)f->curve[2 * i]), b = pow(10.0, (double)f->curve[2 * i + 1]);
        f->curve[i] = (float)log10(0.5 * (a + b));
    }
    f->curve_count = LOSS_CURVE_POINTS / 2;
    f->steps_per_point *= 2;
}

static void add_to_curve(training_figures *f, double loss)
{
    if (f->steps_per_point == 0) {
        f->steps_per_point = 1;
    }
    f->pending_loss += loss;
    f->pending++;
    if (f->pending == f->steps_per_point && f->curve_count == LOSS_CURVE_POINTS) {
        halve_curve(f); // and the point in the making is half of one
    }
    if (f->pending == f->steps_per_point) {
        f->curve[f->curve_count++] = (float)log10(fmax(f->pending_loss / f->pending, LOSS_MIN));
        f->pending_loss = 0.0;
        f->pending = 0;
    }
}

void training_figures_add(training_figures *f, double loss, int64_t samples, double seconds)
{
    double rate = (double)samples / fmax(seconds, 1e-9);
    bool first = f->steps == 0;
    f->loss = loss;
    f->samples_per_second += (first ? 1.0 : RATE_WEIGHT) * (rate - f->samples_per_second);
    f->seconds += seconds;
    f->steps++;
    add_to_curve(f, loss);
}
