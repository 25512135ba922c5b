#define ORR_SCALAR
#include "render/training/splat_depth.h"

#include "engine/maths/radix_sort.h"
#include "render/training/splat_depth_formula.h"

bool orr_splat_depth_known(const orr_splat_points *points, int image)
{
    return points && points->first && points->first[image + 1] > points->first[image];
}

// The pixel of the picture where the lens sees the point, and the point's depth; -1: outside.
static int64_t pixel_seen(const orr_splat_points *points, uint32_t point, const orr_lens *lens,
                          const splat_photo_values *distortion, float *depth)
{
    float pixel[2];
    if (!orr_splat_lens_sees(lens, distortion, points->position + 3 * (size_t)point, pixel, depth)) {
        return -1;
    }
    return (int64_t)(int)pixel[1] * lens->width + (int)pixel[0];
}

// The pixel that shows the point, and the point's depth; -1: there is nothing to compare.
static int64_t pixel_of(const orr_depth_job *job, uint32_t point, float *depth)
{
    const int64_t at = pixel_seen(job->points, point, job->lens, job->distortion, depth);
    const bool shown = at >= 0 && depth_is_drawn(job->rgba[4 * at + 3], job->depth[at]);
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
        const depth_difference d =
            depth_compare(job->depth[at], job->rgba[4 * at + 3], expected, job->weight, (float)count);
        job->by_depth[at] += d.by_depth;
        job->by_alpha[at] += d.by_alpha;
        sum += (double)d.value;
    }
    return count > 0 ? (double)job->weight * sum / (double)count : 0.0;
}

orr_result orr_splat_depth_find(const orr_depth_job *job, orr_jobs *jobs, orr_arena *arena,
                                orr_depth_seen *seen, orr_error *error)
{
    const int64_t first = job->points->first[job->image], most = job->points->first[job->image + 1] - first;
    uint32_t *point = orr_arena_take(arena, (size_t)most, sizeof *point);
    float *depth = orr_arena_take(arena, (size_t)most, sizeof *depth);
    *seen = (orr_depth_seen){.pixel = orr_arena_take(arena, (size_t)most, sizeof *seen->pixel),
                             .depth = orr_arena_take(arena, (size_t)most, sizeof *seen->depth)};
    if (!point || !depth || !seen->pixel || !seen->depth) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: depths of %lld points",
                        (long long)most);
    }
    for (int64_t i = 0; i < most; i++) {
        const int64_t at = pixel_seen(job->points, job->points->seen[first + i], job->lens, job->distortion,
                                      &depth[seen->count]);
        if (at >= 0) {
            seen->pixel[seen->count] = (uint32_t)at;
            point[seen->count] = (uint32_t)seen->count;
            seen->count++;
        }
    }
    ORR_TRY(orr_radix_sort(jobs, arena, seen->pixel, point, seen->count, error));
    for (int64_t i = 0; i < seen->count; i++) {
        seen->depth[i] = depth[point[i]];
    }
    return ORR_OK;
}
