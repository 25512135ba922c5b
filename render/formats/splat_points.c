// Points without sizes as splats.
#include "engine/core/memory.h"
#include "render/formats/splat_bytes.h"

enum { NEIGHBOURS = 12, NEAREST = 3 };

static float distance_between(const float *a, const float *b)
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        double step = (double)a[k] - (double)b[k];
        sum += step * step;
    }
    return (float)sqrt(sum);
}

// The mean distance to the nearest three of the neighbours along the Morton curve on both sides; points at
// the same place do not count. 0: there are no others.
static float neighbour_distance(const orr_splats_view *d, const int64_t *order, int64_t at)
{
    float nearest[NEAREST];
    int found = 0;
    int64_t first = at < NEIGHBOURS ? 0 : at - NEIGHBOURS;
    int64_t end = d->count - at <= NEIGHBOURS ? d->count : at + NEIGHBOURS + 1;
    for (int64_t i = first; i < end; i++) {
        float distance = distance_between(d->position + 3 * order[at], d->position + 3 * order[i]);
        if (!(distance > 0.0f)) {
            continue;
        }
        int slot = found < NEAREST ? found++ : NEAREST;
        for (; slot > 0 && nearest[slot - 1] > distance; slot--) {
            if (slot < NEAREST) {
                nearest[slot] = nearest[slot - 1];
            }
        }
        if (slot < NEAREST) {
            nearest[slot] = distance;
        }
    }
    float sum = 0.0f;
    for (int k = 0; k < found; k++) {
        sum += nearest[k];
    }
    return found ? sum / (float)found : 0.0f;
}

orr_result orr_splats_of_points(const orr_splats_view *d, orr_error *error)
{
    int64_t *order;
    ORR_TRY(orr_splats_morton_order(d, &order, error));
    // standard deviations of half the distance: a surface of such splats has no holes
    double logs = 0.0;
    int64_t sized = 0;
    for (int64_t at = 0; at < d->count; at++) {
        float distance = neighbour_distance(d, order, at);
        d->log_scale[3 * order[at]] = distance > 0.0f ? logf(0.5f * distance) : NAN;
        logs += distance > 0.0f ? (double)logf(0.5f * distance) : 0.0;
        sized += distance > 0.0f;
    }
    orr_free(order);
    // an outlier is far from all others: at most ten times the usual size
    const float usual = sized ? (float)(logs / (double)sized) : logf(0.01f);
    for (int64_t i = 0; i < d->count; i++) {
        float size = d->log_scale[3 * i];
        size = isnan(size) ? usual : fminf(size, usual + logf(10.0f));
        for (int k = 0; k < 3; k++) {
            d->log_scale[3 * i + k] = size;
        }
    }
    return ORR_OK;
}
