#include "engine/image/metrics.h"

#include "engine/core/memory.h"

#include <math.h>

enum { RADIUS = 5, WINDOW = 2 * RADIUS + 1, BLOCK_ROWS = 16, MOMENTS = 5 };

double orr_psnr(const float *a, const float *b, int64_t count)
{
    double sum = 0.0;
    for (int64_t i = 0; i < count; i++) {
        double d = (double)a[i] - (double)b[i];
        sum += d * d;
    }
    return -10.0 * log10(sum / (double)count);
}

typedef struct ssim_job {
    const float *a, *b;
    const uint8_t *mask;       // nullable
    int width, channels, rows; // rows and columns of whole windows; a row has all channels
    int columns;
    float window[WINDOW];
    float *scratch; // per worker: moments x (BLOCK_ROWS + 2 RADIUS) x columns
    double *sums;   // per block
    int64_t *counts;
} ssim_job;

// The five moments of one row, filtered along it: a, b, aa, bb, ab.
static void filter_row(const ssim_job *job, int64_t row, float *out, int64_t stride)
{
    const float *a = job->a + row * job->width * job->channels;
    const float *b = job->b + row * job->width * job->channels;
    for (int i = 0; i < job->columns; i++) {
        float m[MOMENTS] = {0};
        for (int k = 0; k < WINDOW; k++) {
            float w = job->window[k], x = a[i + k * job->channels], y = b[i + k * job->channels];
            m[0] += w * x;
            m[1] += w * y;
            m[2] += w * x * x;
            m[3] += w * y * y;
            m[4] += w * x * y;
        }
        for (int k = 0; k < MOMENTS; k++) {
            out[k * stride + i] = m[k];
        }
    }
}

static double similarity(const float m[MOMENTS])
{
    const double c1 = 0.01 * 0.01, c2 = 0.03 * 0.03;
    double a = (double)m[0], b = (double)m[1];
    double aa = (double)m[2] - a * a, bb = (double)m[3] - b * b, ab = (double)m[4] - a * b;
    return (2.0 * a * b + c1) * (2.0 * ab + c2) / ((a * a + b * b + c1) * (aa + bb + c2));
}

static void ssim_body(void *context, int block, int worker)
{
    ssim_job *job = context;
    int first = block * BLOCK_ROWS;
    int rows = job->rows - first < BLOCK_ROWS ? job->rows - first : BLOCK_ROWS;
    int64_t stride = (int64_t)(BLOCK_ROWS + 2 * RADIUS) * job->columns;
    float *scratch = job->scratch + worker * MOMENTS * stride;
    for (int r = 0; r < rows + 2 * RADIUS; r++) {
        filter_row(job, first + r, scratch + (int64_t)r * job->columns, stride);
    }
    double sum = 0.0;
    int64_t count = 0;
    for (int r = 0; r < rows; r++) {
        for (int i = 0; i < job->columns; i++) {
            if (job->mask &&
                !job->mask[(int64_t)(first + r + RADIUS) * job->width + i / job->channels + RADIUS]) {
                continue;
            }
            count++;
            float m[MOMENTS] = {0};
            for (int k = 0; k < WINDOW; k++) {
                const float *from = scratch + (int64_t)(r + k) * job->columns + i;
                for (int n = 0; n < MOMENTS; n++) {
                    m[n] += job->window[k] * from[n * stride];
                }
            }
            sum += similarity(m);
        }
    }
    job->sums[block] = sum;
    job->counts[block] = count;
}

orr_result orr_ssim(const float *a, const float *b, const uint8_t *mask, int width, int height, int channels,
                    orr_jobs *jobs, double *ssim, orr_error *error)
{
    if (width < WINDOW || height < WINDOW || channels < 1) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "SSIM of %d x %d pixels: expected %d x %d or more", width,
                        height, WINDOW, WINDOW);
    }
    ssim_job job = {.a = a, .b = b, .mask = mask, .width = width, .channels = channels};
    job.rows = height - 2 * RADIUS;
    job.columns = (width - 2 * RADIUS) * channels;
    double total = 0.0;
    for (int k = 0; k < WINDOW; k++) {
        total += exp(-0.5 * (k - RADIUS) * (k - RADIUS) / (1.5 * 1.5));
    }
    for (int k = 0; k < WINDOW; k++) {
        job.window[k] = (float)(exp(-0.5 * (k - RADIUS) * (k - RADIUS) / (1.5 * 1.5)) / total);
    }
    int blocks = orr_blocks(job.rows, BLOCK_ROWS);
    size_t scratch = (size_t)orr_jobs_workers(jobs) * MOMENTS * (BLOCK_ROWS + 2 * RADIUS);
    job.scratch = orr_alloc(scratch * (size_t)job.columns, sizeof *job.scratch);
    job.sums = orr_alloc((size_t)blocks, sizeof *job.sums);
    job.counts = orr_alloc((size_t)blocks, sizeof *job.counts);
    orr_result result = ORR_OK;
    if (job.scratch && job.sums && job.counts) {
        orr_jobs_for(jobs, blocks, ssim_body, &job);
        double sum = 0.0;
        int64_t count = 0;
        for (int i = 0; i < blocks; i++) {
            sum += job.sums[i];
            count += job.counts[i];
        }
        *ssim = count > 0 ? sum / (double)count : 1.0;
    } else {
        result =
            orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "SSIM: out of memory for %d x %d pixels", width, height);
    }
    orr_free(job.scratch);
    orr_free(job.sums);
    orr_free(job.counts);
    return result;
}
