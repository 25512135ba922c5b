// Writes .spz version 3 (one gzip stream) and version 4 (one zstd stream per array).
#include "engine/core/memory.h"
#include "render/formats/splat_spz.h"

#define ZLIB_CONST // zlib only reads its input
#include <zlib.h>
#include <zstd.h>

enum { ZSTD_LEVEL = 9 };

// ---- values to bytes ----

int orr_spz_position_bits(const orr_splats_view *d)
{
    enum { USUAL = 12, MOST = 23, LARGEST = 8388607, LEAST_STEPS = 4096 };
    float farthest = 0.0f;
    for (int64_t i = 0; i < 3 * d->count; i++) {
        farthest = fmaxf(farthest, fabsf(d->position[i]));
    }
    int bits = USUAL;
    while (bits > 0 && ldexpf(farthest, bits) > LARGEST) {
        bits--;
    }
    while (bits < MOST && farthest > 0.0f && ldexpf(farthest, bits) < LEAST_STEPS) {
        bits++;
    }
    return bits;
}

static void encode_positions(const orr_splats_view *d, const orr_spz_axes *axes, uint8_t *out)
{
    const float steps = (float)(1 << orr_spz_position_bits(d));
    for (int64_t i = 0; i < 3 * d->count; i++, out += 3) {
        float value = axes->position[i % 3] * d->position[i] * steps;
        uint32_t bits = (uint32_t)(int32_t)lrintf(orr_clamp(value, -8388608.0f, 8388607.0f));
        out[0] = (uint8_t)bits;
        out[1] = (uint8_t)(bits >> 8);
        out[2] = (uint8_t)(bits >> 16);
    }
}

static void encode_rotations(const orr_splats_view *d, uint8_t *out)
{
    for (int64_t i = 0; i < d->count; i++, out += 4) {
        const float *q = d->rotation + 4 * i;
        const float xyzw[4] = {q[1], -q[2], -q[3], q[0]};
        float rest[3];
        uint32_t word = (uint32_t)orr_largest_and_rest(xyzw, rest);
        for (int k = 0; k < 3; k++) {
            uint32_t size = orr_quantise(fabsf(rest[k]) * sqrtf(2.0f) * 511.0f, 511);
            word = word << 10 | (rest[k] < 0.0f ? 512u : 0u) | size;
        }
        orr_put_u32(out, word);
    }
}

static void encode_harmonics(const orr_splats_view *d, const orr_spz_axes *axes, uint8_t *out)
{
    const int rest = orr_sh_rest(d->sh_degree);
    for (int64_t i = 0; i < 3 * rest * d->count; i++) {
        int k = (int)(i / 3 % rest);
        // few different bytes compress better: 5 bits for degree 1, 4 bits above
        int bucket = k < 3 ? 8 : 16;
        int byte = (int)lrintf(orr_clamp(axes->harmonics[k] * d->harmonics[i], -2.0f, 2.0f) * 128.0f) + 128;
        byte = byte < 0 ? 0 : (byte + bucket / 2) / bucket * bucket;
        out[i] = (uint8_t)(byte > 255 ? 255 : byte);
    }
}

static void encode_arrays(const orr_splats_view *d, const int stride[ORR_SPZ_STREAMS], uint8_t *out)
{
    uint8_t *array[ORR_SPZ_STREAMS];
    for (int s = 0; s < ORR_SPZ_STREAMS; s++) {
        array[s] = out;
        out += (size_t)stride[s] * (size_t)d->count;
    }
    const orr_spz_axes axes = orr_spz_axes_of(ORR_SPZ_RIGHT_UP_BACK);
    encode_positions(d, &axes, array[ORR_SPZ_POSITION]);
    encode_rotations(d, array[ORR_SPZ_ROTATION]);
    for (int64_t i = 0; i < d->count; i++) {
        array[ORR_SPZ_ALPHA][i] = (uint8_t)orr_opacity_byte(d->opacity[i]);
    }
    for (int64_t i = 0; i < 3 * d->count; i++) {
        array[ORR_SPZ_COLOUR][i] = (uint8_t)orr_quantise(d->colour[i] * (0.15f * 255.0f) + 127.5f, 255);
        array[ORR_SPZ_SCALE][i] = (uint8_t)orr_quantise((d->log_scale[i] + 10.0f) * 16.0f, 255);
    }
    if (d->sh_degree > 0) {
        encode_harmonics(d, &axes, array[ORR_SPZ_HARMONICS]);
    }
}

static void put_header(uint8_t *p, const orr_splats_view *d, uint32_t version)
{
    orr_put_u32(p, ORR_SPZ_MAGIC);
    orr_put_u32(p + 4, version);
    orr_put_u32(p + 8, (uint32_t)d->count);
    p[12] = (uint8_t)d->sh_degree;
    p[13] = (uint8_t)orr_spz_position_bits(d);
    p[14] = d->antialiased ? ORR_SPZ_ANTIALIASED : 0;
    p[15] = 0;
}

// ---- version 3 ----

static orr_result put_gzip(const uint8_t *data, size_t size, orr_file_writer *out, orr_error *error)
{
    z_stream stream = {0};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory for zlib", out->path);
    }
    uint8_t buffer[1 << 16];
    size_t done = 0;
    int status = Z_OK;
    while (status == Z_OK) {
        // zlib counts in 32 bits
        size_t piece = size - done < (1u << 30) ? size - done : 1u << 30;
        stream.next_in = data + done;
        stream.avail_in = (uInt)piece;
        stream.next_out = buffer;
        stream.avail_out = sizeof buffer;
        status = deflate(&stream, done + piece == size ? Z_FINISH : Z_NO_FLUSH);
        done += piece - stream.avail_in;
        orr_file_put(out, buffer, sizeof buffer - stream.avail_out);
    }
    deflateEnd(&stream);
    return status == Z_STREAM_END ? ORR_OK
                                  : orr_fail(error, ORR_CODE_FILE_WRITE, "%s: zlib failed", out->path);
}

orr_result orr_write_spz3(const orr_splats *splats, orr_file_writer *out, orr_error *error)
{
    const orr_splats_view *d = &splats->data;
    int stride[ORR_SPZ_STREAMS];
    orr_spz_strides(3, d->sh_degree, stride);
    size_t size = ORR_SPZ_HEADER;
    for (int s = 0; s < ORR_SPZ_STREAMS; s++) {
        size += (size_t)stride[s] * (size_t)d->count;
    }
    uint8_t *bytes;
    ORR_ALLOC(bytes, size, out->path, error);
    put_header(bytes, d, 3);
    encode_arrays(d, stride, bytes + ORR_SPZ_HEADER);
    orr_result result = put_gzip(bytes, size, out, error);
    orr_free(bytes);
    return result;
}

// ---- version 4 ----

// Compresses the arrays one after another and writes header, table and streams.
static orr_result put_streams(const orr_splats_view *d, const int stride[ORR_SPZ_STREAMS],
                              const uint8_t *arrays, uint8_t *packed, size_t capacity, orr_file_writer *out,
                              orr_error *error)
{
    const int streams = d->sh_degree > 0 ? 6 : 5;
    uint8_t head[ORR_SPZ_HEADER_4 + 16 * ORR_SPZ_STREAMS] = {0};
    put_header(head, d, 4);
    head[15] = (uint8_t)streams;
    orr_put_u32(head + 16, ORR_SPZ_HEADER_4);
    size_t used = 0;
    for (int s = 0; s < streams; s++) {
        size_t size = (size_t)stride[s] * (size_t)d->count;
        size_t got = size ? ZSTD_compress(packed + used, capacity - used, arrays, size, ZSTD_LEVEL) : 0;
        if (ZSTD_isError(got)) {
            return orr_fail(error, ORR_CODE_FILE_WRITE, "%s: zstd: %s", out->path, ZSTD_getErrorName(got));
        }
        orr_put_u64(head + ORR_SPZ_HEADER_4 + 16 * s, got);
        orr_put_u64(head + ORR_SPZ_HEADER_4 + 16 * s + 8, size);
        arrays += size;
        used += got;
    }
    orr_file_put(out, head, ORR_SPZ_HEADER_4 + 16 * (size_t)streams);
    orr_file_put(out, packed, used);
    return ORR_OK;
}

orr_result orr_write_spz4(const orr_splats *splats, orr_file_writer *out, orr_error *error)
{
    const orr_splats_view *d = &splats->data;
    int stride[ORR_SPZ_STREAMS];
    orr_spz_strides(4, d->sh_degree, stride);
    size_t size = 0, capacity = 0;
    for (int s = 0; s < ORR_SPZ_STREAMS; s++) {
        size += (size_t)stride[s] * (size_t)d->count;
        capacity += ZSTD_compressBound((size_t)stride[s] * (size_t)d->count);
    }
    // the arrays, and behind them what they are compressed to
    uint8_t *bytes;
    ORR_ALLOC(bytes, size + capacity, out->path, error);
    encode_arrays(d, stride, bytes);
    orr_result result = put_streams(d, stride, bytes, bytes + size, capacity, out, error);
    orr_free(bytes);
    return result;
}
