// The loss of a picture on the CPU: lanes over the pixels of a row. Windows are separable: each row is first
// filtered down the columns, then along itself.
#include "engine/maths/lanes.h"
#include "render/training/picture/picture_loss.h"
#include "render/training/picture/picture_loss_formula.h"

enum { RADIUS = LOSS_RADIUS };
static const float window[2 * RADIUS + 1] = LOSS_WINDOW;

typedef struct row_span {
    int first, end; // rows of the picture under the window
} row_span;

static row_span rows_under(int row, int height)
{
    return (row_span){row > RADIUS ? row - RADIUS : 0, row + RADIUS + 1 < height ? row + RADIUS + 1 : height};
}

// `at` of a row that is filtered along itself; what is beyond the row's ends is 0
FN real along(const float *row, int at)
{
    real sum = R(window[RADIUS]) * real_load(row + at);
    for (int k = 1; k <= RADIUS; k++) {
        sum = fma_(R(window[RADIUS + k]), real_load(row + at - k) + real_load(row + at + k), sum);
    }
    return sum;
}

// the means down the columns of a row, 5 rows of scratch
static void filter_columns(const orr_loss_job *job, int channel, int row, float *scratch)
{
    const int stride = job->picture.stride;
    const row_span under = rows_under(row, job->picture.height);
    for (int x = 0; x < job->picture.width; x += ORR_LANES) {
        window_means m = {R(0.0), R(0.0), R(0.0), R(0.0), R(0.0)};
        for (int r = under.first; r < under.end; r++) {
            real a = real_load(orr_loss_row(&job->picture, channel, r) + x);
            real b = real_load(orr_loss_row(&job->photo, channel, r) + x);
            real weight = R(window[r - row + RADIUS]), wa = weight * a, wb = weight * b;
            m.x = m.x + wa;
            m.y = m.y + wb;
            m.xx = fma_(wa, a, m.xx);
            m.yy = fma_(wb, b, m.yy);
            m.xy = fma_(wa, b, m.xy);
        }
        float *to = scratch + ORR_LOSS_MARGIN + x;
        real_store(to, m.x);
        real_store(to + stride, m.y);
        real_store(to + 2 * stride, m.xx);
        real_store(to + 3 * stride, m.yy);
        real_store(to + 4 * stride, m.xy);
    }
}

void ORR_ISA_NAME(orr_loss_compare)(const orr_loss_job *job, int i, float *scratch)
{
    const int width = job->picture.width, stride = job->picture.stride;
    const int channel = i % 3, first = i / 3 * ORR_LOSS_ROWS;
    const int end = first + ORR_LOSS_ROWS < job->picture.height ? first + ORR_LOSS_ROWS : job->picture.height;
    double difference = 0.0, similarity = 0.0;
    for (int row = first; row < end; row++) {
        real differences = R(0.0), similarities = R(0.0);
        filter_columns(job, channel, row, scratch);
        const float *a = orr_loss_row(&job->picture, channel, row);
        const float *b = orr_loss_row(&job->photo, channel, row);
        for (int x = 0; x < width; x += ORR_LANES) {
            const int at = ORR_LOSS_MARGIN + x;
            window_means m = {along(scratch, at), along(scratch + stride, at),
                              along(scratch + 2 * stride, at), along(scratch + 3 * stride, at),
                              along(scratch + 4 * stride, at)};
            window_similarity s = similarity_of(m);
            mask there = lanes_below(width - x);
            differences = differences + abs_(real_load(a + x) - real_load(b + x));
            similarities = similarities + sel(there, s.value, R(0.0));
            real_store(orr_loss_row(&job->slopes[0], channel, row) + x, sel(there, s.by_x, R(0.0)));
            real_store(orr_loss_row(&job->slopes[1], channel, row) + x, sel(there, s.by_xx, R(0.0)));
            real_store(orr_loss_row(&job->slopes[2], channel, row) + x, sel(there, s.by_xy, R(0.0)));
        }
        difference += real_sum_double(differences);
        similarity += real_sum_double(similarities);
    }
    job->sums[0][i] = difference;
    job->sums[1][i] = similarity;
}

void ORR_ISA_NAME(orr_loss_gradient)(const orr_loss_job *job, int i, float *scratch)
{
    const int width = job->picture.width, height = job->picture.height, stride = job->picture.stride;
    const int channel = i % 3, first = i / 3 * ORR_LOSS_ROWS;
    const int end = first + ORR_LOSS_ROWS < height ? first + ORR_LOSS_ROWS : height;
    const float values = 3.0f * (float)width * (float)height;
    const float plain = (1.0f - job->dissimilarity) / values, similar = -job->dissimilarity / values;
    for (int row = first; row < end; row++) {
        const row_span under = rows_under(row, height);
        for (int x = 0; x < width; x += ORR_LANES) {
            real sum[3] = {R(0.0), R(0.0), R(0.0)};
            for (int r = under.first; r < under.end; r++) {
                for (int k = 0; k < 3; k++) {
                    sum[k] = fma_(R(window[r - row + RADIUS]),
                                  real_load(orr_loss_row(&job->slopes[k], channel, r) + x), sum[k]);
                }
            }
            for (int k = 0; k < 3; k++) {
                real_store(scratch + k * stride + ORR_LOSS_MARGIN + x, sum[k]);
            }
        }
        const float *a = orr_loss_row(&job->picture, channel, row);
        const float *b = orr_loss_row(&job->photo, channel, row);
        float *to = orr_loss_row(&job->gradient, channel, row);
        for (int x = 0; x < width; x += ORR_LANES) {
            const int at = ORR_LOSS_MARGIN + x;
            real_store(to + x, loss_slope(real_load(a + x), real_load(b + x), along(scratch, at),
                                          along(scratch + stride, at), along(scratch + 2 * stride, at), plain,
                                          similar));
        }
        for (int x = 0; job->mask && x < width; x++) {
            to[x] = job->mask[(int64_t)row * width + x] ? to[x] : 0.0f;
        }
    }
}
