#include "neural/metrics.h"

#include "engine/core/memory.h"

#include <math.h>

enum { WINDOW = 11, MOMENTS = 5 };

double orr_psnr(const float *a, const float *b, int64_t count)
{
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++) {
        double difference = (double)a[i] - (double)b[i];
        sum += difference * difference;
    }
    return sum > 0.0 ? 10.0 * log10((double)count / sum) : 200.0;
}

static void make_window(double weights[WINDOW])
{
    double sum = 0.0;
    for (int i = 0; i < WINDOW; i++) {
        double offset = i - WINDOW / 2;
        weights[i] = exp(-offset * offset / (2.0 * 1.5 * 1.5));
        sum += weights[i];
    }
    for (int i = 0; i < WINDOW; i++) {
        weights[i] /= sum;
    }
}

// Weighted means along a row of a, b, a^2, b^2, ab.
static void blur_row(const float *a, const float *b, int columns, int channels, const double weights[WINDOW],
                     double (*moments)[MOMENTS])
{
    for (int x = 0; x < columns; x++) {
        double m[MOMENTS] = {0};
        for (int i = 0; i < WINDOW; i++) {
            double u = (double)a[(x + i) * channels], v = (double)b[(x + i) * channels];
            const double values[MOMENTS] = {u, v, u * u, v * v, u * v};
            for (int k = 0; k < MOMENTS; k++) {
                m[k] += weights[i] * values[k];
            }
        }
        for (int k = 0; k < MOMENTS; k++) {
            moments[x][k] = m[k];
        }
    }
}

static double similarity(const double m[MOMENTS])
{
    const double c1 = 0.01 * 0.01, c2 = 0.03 * 0.03;
    double a = m[0], b = m[1], va = m[2] - a * a, vb = m[3] - b * b, vab = m[4] - a * b;
    return (2.0 * a * b + c1) * (2.0 * vab + c2) / ((a * a + b * b + c1) * (va + vb + c2));
}

orr_result orr_ssim(const float *a, const float *b, int width, int height, int channels, double *ssim,
                    orr_error *error)
{
    int columns = width - WINDOW + 1, rows = height - WINDOW + 1;
    if (columns < 1 || rows < 1) {
        *ssim = orr_psnr(a, b, (int64_t)width * height * channels) >= 200.0 ? 1.0 : 0.0;
        return ORR_OK;
    }
    double(*moments)[MOMENTS], weights[WINDOW], sum = 0.0; // rows that one window covers, in a ring
    ORR_ALLOC(moments, (size_t)WINDOW * (size_t)columns, "comparing pictures", error);
    make_window(weights);
    for (int channel = 0; channel < channels; channel++) {
        for (int y = 0; y < height; y++) {
            size_t row = (size_t)y * (size_t)width * (size_t)channels + (size_t)channel;
            blur_row(a + row, b + row, columns, channels, weights,
                     moments + (size_t)(y % WINDOW) * (size_t)columns);
            for (int x = 0; x < columns && y >= WINDOW - 1; x++) {
                double m[MOMENTS] = {0};
                for (int i = 0; i < WINDOW; i++) {
                    const double *above =
                        moments[(size_t)((y + 1 + i) % WINDOW) * (size_t)columns + (size_t)x];
                    for (int k = 0; k < MOMENTS; k++) {
                        m[k] += weights[i] * above[k];
                    }
                }
                sum += similarity(m);
            }
        }
    }
    orr_free(moments);
    *ssim = sum / ((double)columns * rows * channels);
    return ORR_OK;
}
