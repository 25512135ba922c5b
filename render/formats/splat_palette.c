#include "render/formats/splat_palette.h"

#include "engine/core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BINS = 1024,
    CODEBOOK_ROUNDS = 20,
    CLUSTERS = 256,
    ROUNDS = 5,     // of each level
    SAMPLE = 32768, // vectors from which the clusters are found
};

// ---- numbers ----

static int by_value(const void *a, const void *b)
{
    float l = *(const float *)a, r = *(const float *)b;
    return (l > r) - (l < r);
}

// sum[i] of the first i sorted values; a round moves each entry to the mean of what is nearest to it.
static void move_codebook(const float *sorted, const double *sum, int64_t count, float codebook[ORR_CODEBOOK])
{
    int64_t first = 0;
    for (int k = 0; k < ORR_CODEBOOK; k++) {
        float middle = k + 1 < ORR_CODEBOOK ? 0.5f * (codebook[k] + codebook[k + 1]) : INFINITY;
        int64_t low = first, high = count; // the first value beyond the middle
        while (low < high) {
            int64_t at = low + (high - low) / 2;
            if (sorted[at] <= middle) {
                low = at + 1;
            } else {
                high = at;
            }
        }
        if (low > first) {
            codebook[k] = (float)((sum[low] - sum[first]) / (double)(low - first));
        }
        first = low;
    }
}

// Are there no more values than entries, as in clouds that were quantised before? Then they are the entries.
static bool few_values(const float *sorted, int64_t count, float codebook[ORR_CODEBOOK])
{
    int found = 0;
    for (int64_t i = 0; i < count; i++) {
        if (found == 0 || sorted[i] > codebook[found - 1]) {
            if (found == ORR_CODEBOOK) {
                return false;
            }
            codebook[found++] = sorted[i];
        }
    }
    for (int k = found; k < ORR_CODEBOOK; k++) {
        codebook[k] = found > 0 ? codebook[found - 1] : 0.0f;
    }
    return true;
}

// The start: as dense as the cube root of the values' density, which is best for many entries (Panter and
// Dite 1951). Rising from the lowest value.
static void spread_codebook(const float *sorted, int64_t count, float codebook[ORR_CODEBOOK])
{
    double sum[BINS + 1] = {0.0};
    const double low = count > 0 ? (double)sorted[0] : 0.0,
                 high = count > 0 ? (double)sorted[count - 1] : 0.0;
    int64_t at = 0;
    for (int bin = 0; bin < BINS; bin++) {
        const int64_t first = at;
        const double end = low + (high - low) * (bin + 1) / BINS;
        while (at < count && ((double)sorted[at] <= end || bin == BINS - 1)) {
            at++;
        }
        sum[bin + 1] = sum[bin] + cbrt((double)(at - first));
    }
    int bin = 0;
    for (int k = 0; k < ORR_CODEBOOK; k++) {
        const double wanted = sum[BINS] * (k + 0.5) / ORR_CODEBOOK;
        while (bin < BINS - 1 && sum[bin + 1] < wanted) {
            bin++;
        }
        const double width = sum[bin + 1] - sum[bin], part = width > 0.0 ? (wanted - sum[bin]) / width : 0.0;
        codebook[k] = (float)(low + (high - low) * (bin + part) / BINS);
    }
}

orr_result orr_codebook_of(const float *values, int64_t count, float codebook[ORR_CODEBOOK], orr_error *error)
{
    float *sorted;
    ORR_ALLOC(sorted, count + 1, "a codebook", error);
    double *sum = orr_alloc((size_t)count + 1, sizeof *sum);
    if (!sum) {
        orr_free(sorted);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a codebook");
    }
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, by_value);
    sum[0] = 0.0;
    for (int64_t i = 0; i < count; i++) {
        sum[i + 1] = sum[i] + (double)sorted[i];
    }
    bool exact = few_values(sorted, count, codebook);
    if (!exact) {
        spread_codebook(sorted, count, codebook);
    }
    for (int round = 0; round < CODEBOOK_ROUNDS && !exact; round++) {
        move_codebook(sorted, sum, count, codebook);
    }
    orr_free(sum);
    orr_free(sorted);
    return ORR_OK;
}

int orr_codebook_index(const float codebook[ORR_CODEBOOK], float value)
{
    int low = 0, high = ORR_CODEBOOK - 1; // the last entry that is no larger
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (codebook[middle] <= value) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    bool next = low + 1 < ORR_CODEBOOK && codebook[low + 1] - value < value - codebook[low];
    return next ? low + 1 : low;
}

// ---- vectors ----

typedef struct clustering {
    const float *vectors;
    int dims;
    const int32_t *member; // count: which vectors
    int64_t count;
    int entries;
    float *centre;  // entries x dims
    uint16_t *near; // count: of each member
    double *sum;    // entries x dims, scratch
    int64_t *used;  // entries, scratch
} clustering;

static int nearest(const clustering *c, const float *v)
{
    int best = 0;
    float least = INFINITY;
    for (int k = 0; k < c->entries; k++) {
        const float *centre = c->centre + (size_t)k * (size_t)c->dims;
        float distance = 0.0f;
        for (int d = 0; d < c->dims; d++) {
            distance += (v[d] - centre[d]) * (v[d] - centre[d]);
        }
        if (distance < least) {
            least = distance;
            best = k;
        }
    }
    return best;
}

static void assign(const clustering *c)
{
    for (int64_t i = 0; i < c->count; i++) {
        c->near[i] = (uint16_t)nearest(c, c->vectors + (size_t)c->member[i] * (size_t)c->dims);
    }
}

// Centres go to the means of what is nearest to them; those of nothing stay.
static void move_centres(const clustering *c)
{
    const size_t dims = (size_t)c->dims;
    memset(c->sum, 0, (size_t)c->entries * dims * sizeof *c->sum);
    memset(c->used, 0, (size_t)c->entries * sizeof *c->used);
    for (int64_t i = 0; i < c->count; i++) {
        const float *v = c->vectors + (size_t)c->member[i] * dims;
        double *sum = c->sum + c->near[i] * dims;
        c->used[c->near[i]]++;
        for (size_t d = 0; d < dims; d++) {
            sum[d] += (double)v[d];
        }
    }
    for (int k = 0; k < c->entries; k++) {
        for (size_t d = 0; d < dims && c->used[k] > 0; d++) {
            c->centre[(size_t)k * dims + d] = (float)(c->sum[(size_t)k * dims + d] / (double)c->used[k]);
        }
    }
}

// From members evenly spaced in their order, which are neighbours in space.
static void cluster(const clustering *c)
{
    for (int k = 0; k < c->entries; k++) {
        int64_t at = k * c->count / c->entries;
        memcpy(c->centre + (size_t)k * (size_t)c->dims, c->vectors + (size_t)c->member[at] * (size_t)c->dims,
               (size_t)c->dims * sizeof *c->centre);
    }
    for (int round = 0; round < ROUNDS; round++) {
        assign(c);
        move_centres(c);
    }
    assign(c);
}

typedef struct palette_memory {
    float *centre;
    double *sum;
    int64_t *used;
    int32_t *member, *grouped; // count each
    uint16_t *near;            // count
    int64_t first[CLUSTERS + 1];
} palette_memory;

static void free_memory(palette_memory *m)
{
    orr_free(m->centre);
    orr_free(m->sum);
    orr_free(m->used);
    orr_free(m->member);
    orr_free(m->grouped);
    orr_free(m->near);
}

static orr_result take_memory(int64_t count, int dims, int entries, palette_memory *m, orr_error *error)
{
    const int64_t most = entries > CLUSTERS ? entries : CLUSTERS;
    ORR_ALLOC(m->centre, (int64_t)CLUSTERS * dims, "a palette", error);
    ORR_ALLOC(m->sum, most * dims, "a palette", error);
    ORR_ALLOC(m->used, most, "a palette", error);
    ORR_ALLOC(m->member, count, "a palette", error);
    ORR_ALLOC(m->grouped, count, "a palette", error);
    ORR_ALLOC(m->near, count, "a palette", error);
    return ORR_OK;
}

// Which cluster each vector is of, found from a sample; then the vectors cluster by cluster.
static int group(const float *vectors, int64_t count, int dims, int entries, palette_memory *m)
{
    const int clusters = entries < CLUSTERS ? entries : CLUSTERS;
    const int64_t sampled = count < SAMPLE ? count : SAMPLE;
    clustering c = {.vectors = vectors,
                    .dims = dims,
                    .member = m->member,
                    .count = sampled,
                    .entries = clusters,
                    .centre = m->centre,
                    .near = m->near,
                    .sum = m->sum,
                    .used = m->used};
    for (int64_t i = 0; i < sampled; i++) {
        m->member[i] = (int32_t)(i * count / sampled);
    }
    cluster(&c);
    for (int64_t i = 0; i < count; i++) {
        m->member[i] = (int32_t)i;
    }
    c.count = count;
    assign(&c);
    int64_t next[CLUSTERS] = {0};
    for (int64_t i = 0; i < count; i++) {
        next[m->near[i]]++;
    }
    m->first[0] = 0;
    for (int k = 0; k < clusters; k++) {
        m->first[k + 1] = m->first[k] + next[k];
        next[k] = m->first[k];
    }
    for (int64_t i = 0; i < count; i++) {
        m->grouped[next[m->near[i]]++] = (int32_t)i;
    }
    return clusters;
}

orr_result orr_palette_of(const float *vectors, int64_t count, int dims, int entries, float *palette,
                          uint16_t *label, orr_error *error)
{
    palette_memory m = {0};
    orr_result result = take_memory(count, dims, entries, &m, error);
    if (result != ORR_OK) {
        free_memory(&m);
        return result;
    }
    const int clusters = group(vectors, count, dims, entries, &m);
    int taken = 0, waiting = 0; // entries; clusters that need one yet
    for (int k = 0; k < clusters; k++) {
        waiting += m.first[k + 1] > m.first[k];
    }
    memset(palette, 0, (size_t)entries * (size_t)dims * sizeof *palette);
    for (int k = 0; k < clusters; k++) {
        const int64_t own = m.first[k + 1] - m.first[k], left = count - m.first[k];
        if (own == 0) {
            continue;
        }
        // its share of the entries that are left, of which each cluster to come gets one
        waiting--;
        const int64_t most = own < entries - taken - waiting ? own : entries - taken - waiting;
        int64_t share = own * (entries - taken) / left;
        share = share < 1 ? 1 : share > most ? most : share;
        const clustering c = {.vectors = vectors,
                              .dims = dims,
                              .member = m.grouped + m.first[k],
                              .count = own,
                              .entries = (int)share,
                              .centre = palette + (size_t)taken * (size_t)dims,
                              .near = m.near,
                              .sum = m.sum,
                              .used = m.used};
        cluster(&c);
        for (int64_t i = 0; i < own; i++) {
            label[m.grouped[m.first[k] + i]] = (uint16_t)(taken + m.near[i]);
        }
        taken += (int)share;
    }
    free_memory(&m);
    return ORR_OK;
}
