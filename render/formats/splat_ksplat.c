// .ksplat (mkkellogg): sections of splats, each cut into buckets around whose centres positions are
// quantised.
#include "engine/core/memory.h"
#include "render/formats/splat_bytes.h"

enum { HEADER = 4096, SECTION_HEADER = 1024 };

// how one of the three compression modes stores a splat
typedef struct mode {
    int position, scale, rotation, colour, harmonics; // offsets [byte]
    int coefficient;                                  // bytes of one SH coefficient
    uint32_t range;                                   // positions are 0 .. 2 range; when the section says 0
} mode;
static const mode modes[3] = {
    {0, 12, 24, 40, 44, 4, 1}, {0, 6, 12, 20, 24, 2, 32767}, {0, 6, 12, 20, 24, 1, 32767}};

typedef struct file_header {
    uint32_t sections;
    int64_t count;
    int mode;
    float sh_low, sh_high;
    int degree; // the highest of all sections
} file_header;

typedef struct section {
    int64_t count;
    uint32_t capacity;     // splats in a full bucket
    int64_t full, partial; // buckets
    int degree;
    float scale;            // scene units per step of a quantised position
    float middle;           // the step that is the bucket's centre
    const uint8_t *sizes;   // u32 per partial bucket
    const uint8_t *buckets; // 3 x f32 centre per bucket
    int64_t bucket_count;
    size_t bucket_stride;
    const uint8_t *splats;
    size_t stride;
} section;

// ---- headers ----

static orr_result read_header(orr_splat_source source, file_header *h, orr_error *error)
{
    const uint8_t *p = source.data;
    if (source.size < HEADER) {
        return orr_fail(error, ORR_CODE_FILE_TRUNCATED, "%s: %zu bytes, expected a header of %d", source.name,
                        source.size, HEADER);
    }
    if (p[0] != 0 || p[1] < 1) {
        return orr_fail(error, ORR_CODE_FILE_VERSION, "%s: byte 0: version %u.%u, expected 0.1 or later",
                        source.name, p[0], p[1]);
    }
    *h = (file_header){
        .sections = orr_get_u32(p + 4),
        .count = orr_get_u32(p + 16),
        .mode = (int)orr_get_u16(p + 20),
        .sh_low = orr_get_f32(p + 36),
        .sh_high = orr_get_f32(p + 40),
    };
    if (h->sh_low == 0.0f && h->sh_high == 0.0f) {
        h->sh_low = -1.5f;
        h->sh_high = 1.5f;
    }
    if (h->mode > 2) {
        return orr_fail(error, ORR_CODE_FILE_HEADER, "%s: byte 20: compression mode %d, expected 0 to 2",
                        source.name, h->mode);
    }
    if (h->sections > (source.size - HEADER) / SECTION_HEADER) {
        return orr_fail(error, ORR_CODE_FILE_TRUNCATED, "%s: byte 4: %zu bytes cannot hold %u sections",
                        source.name, source.size, h->sections);
    }
    int64_t total = 0;
    for (uint32_t s = 0; s < h->sections; s++) {
        const uint8_t *q = p + HEADER + (size_t)s * SECTION_HEADER;
        int degree = (int)orr_get_u16(q + 40);
        if (degree > 3) {
            return orr_fail(error, ORR_CODE_FILE_HEADER, "%s: section %u: SH degree %d, expected 0 to 3",
                            source.name, s, degree);
        }
        h->degree = degree > h->degree ? degree : h->degree;
        total += orr_get_u32(q);
    }
    // a splat takes 24 bytes or more, so the file's size bounds the count
    if (total != h->count || total > (int64_t)(source.size / 24)) {
        return orr_fail(error, ORR_CODE_FILE_HEADER,
                        "%s: byte 16: %lld splats, but %lld in sections of %zu bytes", source.name,
                        (long long)h->count, (long long)total, source.size);
    }
    return ORR_OK;
}

// Takes `count` records of `stride` bytes at *at; false when the file is too short.
static bool take(orr_splat_source source, size_t *at, uint64_t count, size_t stride, const uint8_t **out)
{
    *out = source.data + *at;
    if (stride > 0 && count > (source.size - *at) / stride) {
        return false;
    }
    *at += (size_t)count * stride;
    return true;
}

static orr_result read_section(orr_splat_source source, const file_header *h, uint32_t index, size_t *at,
                               section *s, orr_error *error)
{
    const uint8_t *p = source.data + HEADER + (size_t)index * SECTION_HEADER;
    const mode *m = &modes[h->mode];
    const uint32_t range = orr_get_u32(p + 24) ? orr_get_u32(p + 24) : m->range;
    *s = (section){
        .count = orr_get_u32(p),
        .capacity = orr_get_u32(p + 8),
        .bucket_count = orr_get_u32(p + 12),
        .bucket_stride = orr_get_u16(p + 20),
        .full = orr_get_u32(p + 32),
        .partial = orr_get_u32(p + 36),
        .degree = (int)orr_get_u16(p + 40),
        .scale = orr_get_f32(p + 16) / 2.0f / (float)range,
        .middle = (float)range,
    };
    s->stride = (size_t)m->harmonics + 3 * (size_t)orr_sh_rest(s->degree) * (size_t)m->coefficient;
    const uint32_t stored = orr_get_u32(p + 4); // the capacity of the section
    bool fits = s->count <= stored && take(source, at, (uint64_t)s->partial, 4, &s->sizes) &&
                take(source, at, (uint64_t)s->bucket_count, s->bucket_stride, &s->buckets) &&
                take(source, at, stored, s->stride, &s->splats);
    if (!fits) {
        return orr_fail(error, ORR_CODE_FILE_TRUNCATED,
                        "%s: section %u: %lld splats of %zu bytes do not fit into the file", source.name,
                        index, (long long)s->count, s->stride);
    }
    if (h->mode > 0 && s->count > 0 && (s->bucket_stride < 12 || s->full + s->partial > s->bucket_count)) {
        return orr_fail(error, ORR_CODE_FILE_HEADER,
                        "%s: section %u: %lld full and %lld other buckets, expected %lld of 12 bytes or more",
                        source.name, index, (long long)s->full, (long long)s->partial,
                        (long long)s->bucket_count);
    }
    return ORR_OK;
}

// ---- splats ----

// Walks through the buckets in order: full ones first, then those whose sizes are listed.
typedef struct walker {
    int64_t bucket;
    int64_t left; // splats still to come from this bucket
} walker;

// Moves to the bucket of the next splat; false when there is none.
static bool next_bucket(const section *s, walker *w)
{
    while (w->left == 0) {
        w->bucket++;
        if (w->bucket >= s->full + s->partial) {
            return false;
        }
        w->left = w->bucket < s->full ? s->capacity : orr_get_u32(s->sizes + 4 * (w->bucket - s->full));
    }
    w->left--;
    return true;
}

static float get_real(const uint8_t *p, int index, int compressed)
{
    return compressed ? orr_get_f16(p + 2 * index) : orr_get_f32(p + 4 * index);
}

static float get_coefficient(const file_header *h, const uint8_t *p, int index)
{
    if (h->mode == 2) {
        return h->sh_low + (float)p[index] / 255.0f * (h->sh_high - h->sh_low);
    }
    return get_real(p, index, h->mode);
}

// A file has band after band, and in a band channel after channel.
static void read_harmonics(const file_header *h, const uint8_t *p, int degree, float *out)
{
    for (int band = 1, index = 0, first = 0; band <= degree; first += 2 * band + 1, band++) {
        for (int channel = 0; channel < 3; channel++) {
            for (int k = 0; k < 2 * band + 1; k++) {
                out[3 * (first + k) + channel] = get_coefficient(h, p, index++);
            }
        }
    }
}

static orr_result read_splats(const char *name, const file_header *h, uint32_t index, const section *s,
                              int64_t first, const orr_splats_view *d, const float logit[256],
                              orr_error *error)
{
    const mode *m = &modes[h->mode];
    walker w = {.bucket = -1};
    for (int64_t n = 0; n < s->count; n++) {
        const uint8_t *p = s->splats + (size_t)n * s->stride;
        const int64_t i = first + n;
        if (h->mode > 0 && !next_bucket(s, &w)) {
            return orr_fail(error, ORR_CODE_FILE_HEADER, "%s: section %u: splat %lld is in no bucket", name,
                            index, (long long)n);
        }
        for (int k = 0; k < 3; k++) {
            float centre =
                h->mode > 0 ? orr_get_f32(s->buckets + (size_t)w.bucket * s->bucket_stride + 4 * k) : 0;
            d->position[3 * i + k] = h->mode > 0
                                         ? ((float)orr_get_u16(p + 2 * k) - s->middle) * s->scale + centre
                                         : orr_get_f32(p + 4 * k);
            d->log_scale[3 * i + k] = orr_log_scale(get_real(p + m->scale, k, h->mode));
            d->colour[3 * i + k] = ((float)p[m->colour + k] / 255.0f - 0.5f) / ORR_SH_C0;
        }
        for (int k = 0; k < 4; k++) {
            d->rotation[4 * i + k] = get_real(p + m->rotation, k, h->mode);
        }
        d->opacity[i] = logit[p[m->colour + 3]];
        if (s->degree > 0) {
            read_harmonics(h, p + m->harmonics, s->degree, d->harmonics + 3 * orr_sh_rest(d->sh_degree) * i);
        }
    }
    return ORR_OK;
}

orr_result orr_read_ksplat(orr_splat_source source, orr_splats **splats, orr_error *error)
{
    *splats = NULL;
    file_header h = {0};
    ORR_TRY(read_header(source, &h, error));
    orr_splats *cloud;
    ORR_TRY(orr_splats_create(h.count, h.degree, &cloud, error));
    float logit[256];
    orr_logit_table(logit);
    size_t at = HEADER + (size_t)h.sections * SECTION_HEADER;
    orr_result result = ORR_OK;
    int64_t first = 0;
    for (uint32_t index = 0; index < h.sections && result == ORR_OK; index++) {
        section s;
        result = read_section(source, &h, index, &at, &s, error);
        if (result == ORR_OK) {
            result = read_splats(source.name, &h, index, &s, first, &cloud->data, logit, error);
            first += s.count;
        }
    }
    return orr_splats_finish(cloud, result, source.name, splats, error);
}
