#include "tests/splats/sog_sample.h"

#include "engine/core/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <webp/encode.h>
#include <zip.h>

// ---- meta.json, piece by piece ----

typedef struct text {
    char *at;
    size_t left;
} text;

static void add(text *t, const char *format, double value)
{
    int length = snprintf(t->at, t->left, format, value);
    t->at += length;
    t->left -= (size_t)length;
}

static void add_list(text *t, const char *key, const float *values, int count)
{
    add(t, "\"", 0);
    add(t, key, 0);
    add(t, "\":[", 0);
    for (int k = 0; k < count; k++) {
        add(t, k ? ",%.9g" : "%.9g", (double)values[k]);
    }
    add(t, "],", 0);
}

// ---- values to bytes ----

typedef struct range {
    float low[4], high[4];
} range;

static range range_of(const float *values, int64_t count, int channels)
{
    range r;
    for (int k = 0; k < channels; k++) {
        r.low[k] = 1e30f;
        r.high[k] = -1e30f;
    }
    for (int64_t i = 0; i < count * channels; i++) {
        r.low[i % channels] = fminf(r.low[i % channels], values[i]);
        r.high[i % channels] = fmaxf(r.high[i % channels], values[i]);
    }
    return r;
}

// one range for all channels, as a codebook has
static range merged(range r, int channels)
{
    for (int k = 1; k < channels; k++) {
        r.low[0] = fminf(r.low[0], r.low[k]);
        r.high[0] = fmaxf(r.high[0], r.high[k]);
    }
    for (int k = 1; k < channels; k++) {
        r.low[k] = r.low[0];
        r.high[k] = r.high[0];
    }
    return r;
}

static unsigned level(float value, float low, float high, unsigned steps)
{
    return high > low ? (unsigned)lrintf((value - low) / (high - low) * (float)steps) : 0;
}

// version 1: bounds; version 2: a codebook of evenly spaced values
static void add_table(text *t, int version, range r, int channels)
{
    if (version == 1) {
        add_list(t, "mins", r.low, channels);
        add_list(t, "maxs", r.high, channels);
        return;
    }
    float codebook[256];
    for (int b = 0; b < 256; b++) {
        codebook[b] = r.low[0] + (r.high[0] - r.low[0]) * (float)b / 255.0f;
    }
    add_list(t, "codebook", codebook, 256);
}

// ---- pictures ----

typedef struct picture {
    int width, height;
    uint8_t *rgba; // opaque: the encoder drops the colours of transparent texels
} picture;

static picture new_picture(int width, int64_t texels)
{
    picture p = {width, (int)((texels + width - 1) / width), NULL};
    p.height += p.height == 0;
    p.rgba = malloc(4 * (size_t)p.width * (size_t)p.height);
    memset(p.rgba, 255, 4 * (size_t)p.width * (size_t)p.height);
    return p;
}

static void add_file(sog_sample *s, const char *name, const void *data, size_t size)
{
    uint8_t *copy = orr_alloc(size, 1);
    memcpy(copy, data, size);
    s->name[s->count] = name;
    s->file[s->count++] = (orr_bytes){copy, size};
}

static void add_picture(sog_sample *s, const char *name, picture p)
{
    uint8_t *out = NULL;
    size_t size = WebPEncodeLosslessRGBA(p.rgba, p.width, p.height, 4 * p.width, &out);
    add_file(s, name, out, size);
    WebPFree(out);
    free(p.rgba);
}

// ---- the parts of a cloud ----

static void add_means(sog_sample *s, text *t, const orr_splats_view *d, int width)
{
    float *logs = malloc(sizeof(float) * (size_t)(3 * d->count + 1));
    for (int64_t i = 0; i < 3 * d->count; i++) {
        logs[i] = copysignf(logf(fabsf(d->position[i]) + 1.0f), d->position[i]);
    }
    range r = range_of(logs, d->count, 3);
    picture lower = new_picture(width, d->count), upper = new_picture(width, d->count);
    for (int64_t i = 0; i < 3 * d->count; i++) {
        unsigned value = level(logs[i], r.low[i % 3], r.high[i % 3], 65535);
        lower.rgba[4 * (i / 3) + i % 3] = (uint8_t)value;
        upper.rgba[4 * (i / 3) + i % 3] = (uint8_t)(value >> 8);
    }
    add(t, "\"means\":{", 0);
    add_list(t, "mins", r.low, 3);
    add_list(t, "maxs", r.high, 3);
    add(t, "\"shape\":[%.0f,3],\"files\":[\"means_l.webp\",\"means_u.webp\"]},", (double)d->count);
    add_picture(s, "means_l.webp", lower);
    add_picture(s, "means_u.webp", upper);
    free(logs);
}

static void add_rotations(sog_sample *s, text *t, const orr_splats_view *d, int width)
{
    picture p = new_picture(width, d->count);
    for (int64_t i = 0; i < d->count; i++) {
        const float *q = d->rotation + 4 * i;
        int largest = 0, channel = 0;
        for (int k = 1; k < 4; k++) {
            largest = fabsf(q[k]) > fabsf(q[largest]) ? k : largest;
        }
        for (int k = 0; k < 4; k++) {
            if (k != largest) {
                float value = q[largest] < 0.0f ? -q[k] : q[k];
                p.rgba[4 * i + channel++] = (uint8_t)lrintf(255.0f * (value * sqrtf(2.0f) * 0.5f + 0.5f));
            }
        }
        p.rgba[4 * i + 3] = (uint8_t)(252 + largest);
    }
    add(t, "\"quats\":{\"files\":[\"quats.webp\"]},", 0);
    add_picture(s, "quats.webp", p);
}

static void add_scales(sog_sample *s, text *t, const orr_splats_view *d, int width, int version)
{
    range r = range_of(d->log_scale, d->count, 3);
    r = version == 2 ? merged(r, 3) : r;
    picture p = new_picture(width, d->count);
    for (int64_t i = 0; i < 3 * d->count; i++) {
        p.rgba[4 * (i / 3) + i % 3] = (uint8_t)level(d->log_scale[i], r.low[i % 3], r.high[i % 3], 255);
    }
    add(t, "\"scales\":{", 0);
    add_table(t, version, r, 3);
    add(t, "\"files\":[\"scales.webp\"]},", 0);
    add_picture(s, "scales.webp", p);
}

static void add_colours(sog_sample *s, text *t, const orr_splats_view *d, int width, int version)
{
    range r = range_of(d->colour, d->count, 3);
    r = version == 2 ? merged(r, 3) : r;
    r.low[3] = -5.0f; // beyond the values of sample clouds, because no texel may be transparent
    r.high[3] = 5.0f;
    picture p = new_picture(width, d->count);
    for (int64_t i = 0; i < d->count; i++) {
        for (int k = 0; k < 3; k++) {
            p.rgba[4 * i + k] = (uint8_t)level(d->colour[3 * i + k], r.low[k], r.high[k], 255);
        }
        p.rgba[4 * i + 3] = (uint8_t)(version == 2 ? lrintf(255.0f / (1.0f + expf(-d->opacity[i])))
                                                   : level(d->opacity[i], r.low[3], r.high[3], 255));
    }
    add(t, "\"sh0\":{", 0);
    add_table(t, version, r, 4);
    add(t, "\"files\":[\"sh0.webp\"]}", 0);
    add_picture(s, "sh0.webp", p);
}

static void add_harmonics(sog_sample *s, text *t, const orr_splats_view *d, int width, int version)
{
    const int rest = (d->sh_degree + 1) * (d->sh_degree + 1) - 1;
    range r = range_of(d->harmonics, 3 * rest * d->count, 1);
    picture centroids = new_picture(64 * rest, ((d->count + 63) / 64) * 64 * rest);
    picture labels = new_picture(width, d->count);
    for (int64_t i = 0; i < d->count; i++) {
        int64_t entry = d->count - 1 - i; // the palette is in reverse order
        labels.rgba[4 * i] = (uint8_t)entry;
        labels.rgba[4 * i + 1] = (uint8_t)(entry >> 8);
        for (int k = 0; k < 3 * rest; k++) {
            int64_t texel = (entry / 64) * centroids.width + (entry % 64) * rest + k / 3;
            centroids.rgba[4 * texel + k % 3] =
                (uint8_t)level(d->harmonics[3 * rest * i + k], r.low[0], r.high[0], 255);
        }
    }
    add(t, ",\"shN\":{", 0);
    if (version == 1) { // one number instead of a list
        add(t, "\"mins\":%.9g,", (double)r.low[0]);
        add(t, "\"maxs\":%.9g,", (double)r.high[0]);
    } else {
        add_table(t, 2, r, 1);
        add(t, "\"count\":%.0f,", (double)d->count);
        add(t, "\"bands\":%.0f,", d->sh_degree);
    }
    add(t, "\"files\":[\"shN_centroids.webp\",\"shN_labels.webp\"]}", 0);
    add_picture(s, "shN_centroids.webp", centroids);
    add_picture(s, "shN_labels.webp", labels);
}

bool sog_sample_make(const orr_splats_view *d, int version, sog_sample *s)
{
    *s = (sog_sample){.count = 1, .name = {"meta.json"}};
    const size_t capacity = 1 << 16;
    text t = {orr_alloc(capacity, 1), capacity};
    if (!t.at) {
        return false;
    }
    s->file[0].data = (uint8_t *)t.at;
    const int width = 4 * (int)ceil(sqrt((double)(d->count + 1)) / 4);
    add(&t, version == 2 ? "{\"version\":2,\"antialias\":true,\"count\":%.0f," : "{", (double)d->count);
    add_means(s, &t, d, width);
    add_scales(s, &t, d, width, version);
    add_rotations(s, &t, d, width);
    add_colours(s, &t, d, width, version);
    if (d->sh_degree > 0) {
        add_harmonics(s, &t, d, width, version);
    }
    add(&t, "}", 0);
    s->file[0].size = capacity - t.left;
    return true;
}

void sog_sample_free(sog_sample *s)
{
    for (int i = 0; i < s->count; i++) {
        orr_free(s->file[i].data);
    }
    *s = (sog_sample){0};
}

orr_bytes sog_sample_bundle(const sog_sample *s)
{
    zip_error_t why;
    zip_source_t *bytes = zip_source_buffer_create(NULL, 0, 0, &why);
    zip_source_keep(bytes); // zip_close gives its own away
    zip_t *archive = zip_open_from_source(bytes, ZIP_TRUNCATE, &why);
    for (int i = 0; i < s->count; i++) {
        zip_source_t *file = zip_source_buffer(archive, s->file[i].data, s->file[i].size, 0);
        zip_int64_t index = zip_file_add(archive, s->name[i], file, 0);
        // pictures are packed already
        zip_set_file_compression(archive, (zip_uint64_t)index, i == 0 ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
    }
    zip_close(archive);
    zip_stat_t status;
    zip_source_stat(bytes, &status);
    orr_bytes out = {orr_alloc(status.size, 1), (size_t)status.size};
    zip_source_open(bytes);
    zip_source_read(bytes, out.data, status.size);
    zip_source_close(bytes);
    zip_source_free(bytes);
    return out;
}
