#include "render/splat_detail/splat_order.h"

typedef struct split_job {
    const float *positions;
    int64_t count;
    uint32_t *order;
    int64_t run; // length of what is halved, a power of two
} split_job;

static int axis_of(const split_job *s, const uint32_t *order, int64_t count)
{
    double variance[3];
    for (int axis = 0; axis < 3; axis++) {
        const double start = (double)s->positions[3 * (int64_t)order[0] + axis];
        double sum = 0.0, squares = 0.0;
        for (int64_t i = 0; i < count; i++) {
            const double x = (double)s->positions[3 * (int64_t)order[i] + axis] - start;
            sum += x;
            squares += x * x;
        }
        variance[axis] = squares - sum * sum / (double)count;
    }
    const int first = variance[1] > variance[0];
    return variance[2] > variance[first] ? 2 : first;
}

// Does splat a come before splat b? One always does.
static bool before(const split_job *s, int axis, uint32_t a, uint32_t b)
{
    const float x = s->positions[3 * (int64_t)a + axis], y = s->positions[3 * (int64_t)b + axis];
    return x < y || (x == y && a < b);
}

// Moves the first `low` splats along the axis to the front (quickselect, by the median of three).
static void select_first(const split_job *s, int axis, uint32_t *order, int64_t count, int64_t low)
{
    int64_t first = 0, last = count - 1; // where the border is
    while (first < last) {
        uint32_t a = order[first], b = order[first + (last - first) / 2], c = order[last];
        const bool ab = before(s, axis, a, b), bc = before(s, axis, b, c), ac = before(s, axis, a, c);
        const uint32_t pivot = ab == bc ? b : ab == ac ? c : a;
        int64_t i = first, k = last;
        while (i <= k) {
            while (before(s, axis, order[i], pivot)) {
                i++;
            }
            while (before(s, axis, pivot, order[k])) {
                k--;
            }
            if (i <= k) {
                const uint32_t swapped = order[i];
                order[i++] = order[k];
                order[k--] = swapped;
            }
        }
        if (low <= k) {
            last = k;
        } else if (low >= i) {
            first = i;
        } else {
            return;
        }
    }
}

static void split(void *context, int i, int worker)
{
    (void)worker;
    const split_job *s = context;
    uint32_t *order = s->order + i * s->run;
    const int64_t count = s->count - i * s->run < s->run ? s->count - i * s->run : s->run;
    if (count > s->run / 2) {
        select_first(s, axis_of(s, order, count), order, count, s->run / 2);
    }
}

void orr_splat_order(orr_jobs *jobs, const float *positions, int64_t count, uint32_t *order)
{
    split_job s = {positions, count, order, 1};
    for (int64_t i = 0; i < count; i++) {
        order[i] = (uint32_t)i;
    }
    while (s.run < count) {
        s.run *= 2;
    }
    for (; s.run > 4; s.run /= 2) {
        orr_jobs_for(jobs, orr_blocks(count, s.run), split, &s);
    }
}
