#include "tests/splats/splat_samples.h"

#include "engine/core/memory.h"
#include "engine/maths/rng.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

orr_splats *sample_cloud(int64_t count, int sh_degree, uint32_t seed)
{
    orr_splats *cloud;
    if (orr_splats_create(count, sh_degree, &cloud, NULL) != ORR_OK) {
        return NULL;
    }
    orr_splats_view d = orr_splats_data(cloud);
    orr_rng rng = {.seed = seed, .stream = (uint32_t)sh_degree};
    int64_t coefficients = ((int64_t)sh_degree + 1) * (sh_degree + 1) - 1;
    for (int64_t i = 0; i < 3 * count; i++) {
        d.position[i] = orr_rng_range(&rng, -2.0f, 2.0f);
        d.log_scale[i] = orr_rng_range(&rng, -8.0f, 0.0f);
        d.colour[i] = orr_rng_range(&rng, -1.5f, 1.5f);
    }
    for (int64_t i = 0; i < count; i++) {
        float length = 0.0f, *q = d.rotation + 4 * i;
        for (int k = 0; k < 4; k++) {
            q[k] = orr_rng_range(&rng, -1.0f, 1.0f);
            length += q[k] * q[k];
        }
        for (int k = 0; k < 4; k++) {
            q[k] /= sqrtf(length);
        }
        d.opacity[i] = orr_rng_range(&rng, -4.6f, 4.6f);
    }
    for (int64_t i = 0; i < 3 * coefficients * count; i++) {
        d.harmonics[i] = orr_rng_range(&rng, -0.9f, 0.9f);
    }
    return cloud;
}

// ---- little-endian bytes, one after another ----

typedef struct writer {
    uint8_t *at;
} writer;

static void put(writer *w, uint64_t value, int bytes)
{
    for (int k = 0; k < bytes; k++) {
        *w->at++ = (uint8_t)(value >> (8 * k));
    }
}

static void put_float(writer *w, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put(w, bits, 4);
}

// rounds to the nearest; what is under the smallest normal half becomes 0
static uint32_t half_of(float value)
{
    uint32_t sign = value < 0.0f ? 0x8000u : 0u, bits;
    float size = fabsf(value);
    memcpy(&bits, &size, sizeof bits);
    return size < 0x1p-14f ? sign : sign | ((bits + 0x1000u - (112u << 23)) >> 13);
}

// ---- ksplat ----

enum { BUCKET = 8, PARTIAL = 5 };
static const float BLOCK = 5.0f;

static void put_real(writer *w, float value, int mode)
{
    if (mode == 0) {
        put_float(w, value);
    } else {
        put(w, half_of(value), 2);
    }
}

// splats of the bucket, and where it starts
static int bucket_of(int64_t count, int64_t bucket, int64_t *first)
{
    int64_t full = count / BUCKET;
    *first = bucket < full ? bucket * BUCKET : full * BUCKET + (bucket - full) * PARTIAL;
    int64_t size = bucket < full ? BUCKET : PARTIAL, left = count - *first;
    return (int)(size < left ? size : left);
}

static void bucket_centre(const orr_splats_view *d, int64_t first, int size, float centre[3])
{
    for (int k = 0; k < 3; k++) {
        centre[k] = 0.0f;
        for (int64_t i = first; i < first + size; i++) {
            centre[k] += d->position[3 * i + k] / (float)size;
        }
        // the mean of points within +-2 may be more than half a block from one of them
        centre[k] = fmaxf(fminf(centre[k], 0.5f), -0.5f);
    }
}

static void put_ksplat_harmonics(writer *w, const orr_splats_view *d, int64_t i, int mode)
{
    int coefficients = (d->sh_degree + 1) * (d->sh_degree + 1) - 1;
    for (int band = 1; band <= d->sh_degree; band++) {
        for (int channel = 0; channel < 3; channel++) {
            for (int k = band * band - 1; k < (band + 1) * (band + 1) - 1; k++) {
                float value = d->harmonics[3 * (i * coefficients + k) + channel];
                if (mode == 2) {
                    put(w, (uint64_t)floorf((value + 1.5f) / 3.0f * 255.0f), 1);
                } else {
                    put_real(w, value, mode);
                }
            }
        }
    }
}

static void put_ksplat_splat(writer *w, const orr_splats_view *d, int64_t i, const float centre[3], int mode)
{
    for (int k = 0; k < 3; k++) {
        float x = d->position[3 * i + k];
        if (mode == 0) {
            put_float(w, x);
        } else {
            put(w, (uint64_t)(roundf((x - centre[k]) / (BLOCK / 2.0f / 32767.0f)) + 32767.0f), 2);
        }
    }
    for (int k = 0; k < 3; k++) {
        put_real(w, expf(d->log_scale[3 * i + k]), mode);
    }
    for (int k = 0; k < 4; k++) {
        put_real(w, d->rotation[4 * i + k], mode);
    }
    for (int k = 0; k < 3; k++) {
        put(w, (uint64_t)roundf(255.0f * (0.5f + 0.28209479f * d->colour[3 * i + k])), 1);
    }
    put(w, (uint64_t)roundf(255.0f / (1.0f + expf(-d->opacity[i]))), 1);
    put_ksplat_harmonics(w, d, i, mode);
}

orr_bytes sample_ksplat(const orr_splats_view *d, int mode)
{
    const int64_t full = d->count / BUCKET, partial = (d->count % BUCKET + PARTIAL - 1) / PARTIAL;
    const int coefficients = (d->sh_degree + 1) * (d->sh_degree + 1) - 1;
    const int bytes = (mode ? 24 : 44) + 3 * coefficients * (mode == 0 ? 4 : mode == 1 ? 2 : 1);
    size_t size = (size_t)(4096 + 1024 + 4 * partial + 12 * (full + partial) + bytes * d->count);
    uint8_t *data = orr_alloc_zero(size, 1);
    if (!data) {
        return (orr_bytes){0};
    }
    writer w = {data};
    put(&w, 0x0100, 4);             // version 0.1
    put(&w, 1, 4);                  // capacity for sections
    put(&w, 1, 4);                  // sections
    put(&w, (uint64_t)d->count, 4); // capacity for splats
    put(&w, (uint64_t)d->count, 4); // splats
    put(&w, (uint64_t)mode, 2);
    w.at = data + 4096;
    put(&w, (uint64_t)d->count, 4);
    put(&w, (uint64_t)d->count, 4);
    put(&w, BUCKET, 4);
    put(&w, (uint64_t)(full + partial), 4);
    put_float(&w, BLOCK);
    put(&w, 12, 2);
    put(&w, 0, 2);
    put(&w, 32767, 4);
    put(&w, 0, 4);
    put(&w, (uint64_t)full, 4);
    put(&w, (uint64_t)partial, 4);
    put(&w, (uint64_t)d->sh_degree, 2);
    w.at = data + 4096 + 1024;
    int64_t first;
    for (int64_t b = full; b < full + partial; b++) {
        put(&w, (uint64_t)bucket_of(d->count, b, &first), 4);
    }
    float centre[3];
    for (int64_t b = 0; b < full + partial; b++) {
        int count = bucket_of(d->count, b, &first);
        bucket_centre(d, first, count, centre);
        for (int k = 0; k < 3; k++) {
            put_float(&w, centre[k]);
        }
    }
    for (int64_t b = 0; b < full + partial; b++) {
        int count = bucket_of(d->count, b, &first);
        bucket_centre(d, first, count, centre);
        for (int64_t i = first; i < first + count; i++) {
            put_ksplat_splat(&w, d, i, centre, mode);
        }
    }
    return (orr_bytes){data, size};
}

// ---- spz ----

static orr_bytes gzip(const uint8_t *data, size_t size)
{
    uLong bound = compressBound((uLong)size) + 32;
    uint8_t *out = orr_alloc(bound, 1);
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size, .next_out = out};
    stream.avail_out = (uInt)bound;
    if (!out || deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        orr_free(out);
        return (orr_bytes){0};
    }
    deflate(&stream, Z_FINISH);
    size_t packed = bound - stream.avail_out;
    deflateEnd(&stream);
    return (orr_bytes){out, packed};
}

orr_bytes sample_spz(int version, int count, int degree)
{
    const int coefficients = (degree + 1) * (degree + 1) - 1;
    uint8_t *data = orr_alloc_zero(16 + (size_t)count * (size_t)(20 + 3 * coefficients), 1);
    if (!data) {
        return (orr_bytes){0};
    }
    writer w = {data};
    put(&w, 0x5053474e, 4);
    put(&w, (uint64_t)version, 4);
    put(&w, (uint64_t)count, 4);
    put(&w, (uint64_t)degree, 1);
    int fraction = version == 3 ? 10 : 12; // bits
    put(&w, (uint64_t)fraction, 1);
    put(&w, 1, 2); // antialiased
    for (int i = 0; i < count; i++) {
        const float position[3] = {(float)i, 2.0f, -(float)i / 2.0f};
        for (int k = 0; k < 3; k++) {
            if (version == 1) {
                put(&w, half_of(position[k]), 2);
            } else {
                put(&w, (uint64_t)(int64_t)(position[k] * (float)(1 << fraction)), 3);
            }
        }
    }
    for (int i = 0; i < count; i++) {
        put(&w, 64, 1); // opacity 64 / 255
    }
    for (int i = 0; i < count; i++) {
        put(&w, 0xff7f00, 3); // red 0, green 127, blue 255
    }
    for (int i = 0; i < count; i++) {
        put(&w, 0x50a0ff, 3); // log scales 5.9375, 0, -5
    }
    for (int i = 0; i < count; i++) {
        // a quarter turn about x
        if (version < 3) {
            put(&w, 0x8080da, 3); // x = 218 / 127.5 - 1 = 0.7098, y = z = 0.0039
        } else {
            // the largest is w (3); x = 511 / 511 / sqrt 2, y = -0.25 of that at bits 19 .. 10, z = 0
            put(&w, 3u << 30 | 511u << 20 | (512u | 128u) << 10, 4);
        }
    }
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 3 * coefficients; k++) {
            put(&w, 128 + (uint64_t)k / 3, 1);
        }
    }
    orr_bytes file = gzip(data, (size_t)(w.at - data));
    orr_free(data);
    return file;
}
