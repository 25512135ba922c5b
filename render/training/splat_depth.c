#include "render/training/splat_depth.h"

#include <math.h>

static const float ALPHA_LEAST = 0.5f; // a picture has no depth where it is mostly transparent

bool orr_splat_depth_known(const orr_splat_points *points, int image)
{
    return points && points->first && points->first[image + 1] > points->first[image];
}

// The pixel that shows the point, and the point's depth; -1: there is nothing to compare.
static int64_t pixel_of(const orr_depth_job *job, uint32_t point, float *depth)
{
    float pixel[2];
    if (!orr_splat_lens_sees(job->lens, job->distortion, job->points->position + 3 * (size_t)point, pixel,
                             depth)) {
        return -1;
    }
    const int64_t at = (int64_t)(int)pixel[1] * job->lens->width + (int)pixel[0];
    const bool shown = job->rgba[4 * at + 3] >= ALPHA_LEAST && job->depth[at] > 0.0f;
    return shown && (!job->mask || job->mask[at] != 0) ? at : -1;
}

double orr_splat_depth_loss(const orr_depth_job *job)
{
    const int64_t first = job->points->first[job->image], end = job->points->first[job->image + 1];
    double sum = 0.0;
    int64_t count = 0;
    float expected;
    for (int64_t i = first; i < end; i++) {
        count += pixel_of(job, job->points->seen[i], &expected) >= 0;
    }
    for (int64_t i = first; i < end; i++) {
        const int64_t at = pixel_of(job, job->points->seen[i], &expected);
        if (at < 0) {
            continue;
        }
        const float inverse = 1.0f / job->depth[at], difference = inverse - 1.0f / expected;
        const float sign = difference > 0.0f ? 1.0f : difference < 0.0f ? -1.0f : 0.0f;
        // the mean depth is a ratio: the sum of weights times depths, by that of weights, which is alpha
        const float by_mean = -sign * job->weight / (float)count * inverse * inverse;
        job->by_depth[at] += by_mean / job->rgba[4 * at + 3];
        job->by_alpha[at] -= by_mean * job->depth[at] / job->rgba[4 * at + 3];
        sum += (double)fabsf(difference);
    }
    return count > 0 ? (double)job->weight * sum / (double)count : 0.0;
}
