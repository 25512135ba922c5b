// Reads .spz versions 1 to 4 (github.com/nianticlabs/spz describes them).
#include "render/formats/splat_spz.h"

#include "engine/core/memory.h"

#define ZLIB_CONST // zlib only reads its input
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define COORDINATE_SYSTEM 0xadbe0003u // the type of an extension record
enum { BEHIND_ARRAYS = 1 << 20 };     // bytes that may follow the arrays in a gzip stream

typedef struct spz_header {
    int version;
    int64_t count;
    int degree; // 0 .. 4
    int fractional_bits;
    bool antialiased, extended;
    orr_spz_axes axes;
    int stride[ORR_SPZ_STREAMS];
    size_t bytes; // of all arrays
} spz_header;

static orr_result parse_header(const char *name, const uint8_t *p, spz_header *h, orr_error *error)
{
    if (orr_get_u32(p) != ORR_SPZ_MAGIC) {
        return orr_fail(error, ORR_CODE_FILE_TYPE, "%s: byte 0: expected NGSP", name);
    }
    uint32_t version = orr_get_u32(p + 4), count = orr_get_u32(p + 8);
    if (version < 1 || version > 4) {
        return orr_fail(error, ORR_CODE_FILE_VERSION, "%s: byte 4: version %u, expected 1 to 4", name,
                        version);
    }
    if (count > INT32_MAX) {
        return orr_fail(error, ORR_CODE_FILE_TOO_LARGE, "%s: byte 8: %u splats, expected at most 2^31 - 1",
                        name, count);
    }
    if (p[12] > 4 || p[13] > 23) {
        return orr_fail(error, ORR_CODE_FILE_HEADER,
                        "%s: byte 12: SH degree %u with %u fractional bits, expected at most 4 and 23", name,
                        p[12], p[13]);
    }
    *h = (spz_header){
        .version = (int)version,
        .count = count,
        .degree = p[12],
        .fractional_bits = p[13],
        .antialiased = p[14] & ORR_SPZ_ANTIALIASED,
        .extended = p[14] & ORR_SPZ_EXTENDED,
        .axes = orr_spz_axes_of(ORR_SPZ_RIGHT_UP_BACK),
    };
    orr_spz_strides(h->version, h->degree, h->stride);
    for (int s = 0; s < ORR_SPZ_STREAMS; s++) {
        h->bytes += (size_t)h->stride[s] * count; // at most 92 x 2^31
    }
    return ORR_OK;
}

// Records of u32 type, u32 size and so many bytes. Types that say nothing about the splats are skipped, as is
// what is not a record.
static orr_result read_extensions(const char *name, const uint8_t *p, size_t size, spz_header *h,
                                  orr_error *error)
{
    while (h->extended && size >= 8 && orr_get_u32(p + 4) <= size - 8) {
        const uint32_t type = orr_get_u32(p), bytes = orr_get_u32(p + 4);
        if (type == COORDINATE_SYSTEM) {
            const uint32_t system = bytes == 4 ? orr_get_u32(p + 8) : UINT32_MAX;
            if (system > ORR_SPZ_SYSTEMS) {
                return orr_fail(error, ORR_CODE_FILE_VALUE,
                                "%s: extensions: expected a coordinate system from 0 to %d", name,
                                ORR_SPZ_SYSTEMS);
            }
            h->axes = orr_spz_axes_of(system ? (int)system : ORR_SPZ_RIGHT_UP_BACK);
        }
        p += 8 + bytes;
        size -= 8 + bytes;
    }
    return ORR_OK;
}

static orr_result allocate_arrays(orr_splat_source source, const spz_header *h, uint8_t **arrays,
                                  orr_error *error)
{
    if (!orr_plausible_expansion(source.size, h->bytes)) {
        return orr_fail(error, ORR_CODE_FILE_TOO_LARGE, "%s: byte 8: %zu bytes cannot hold %lld splats",
                        source.name, source.size, (long long)h->count);
    }
    ORR_ALLOC(*arrays, h->bytes, source.name, error);
    return ORR_OK;
}

// ---- versions 1 to 3: everything in one gzip stream ----

static orr_result no_zlib_memory(orr_splat_source source, orr_error *error)
{
    return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory for zlib", source.name);
}

// Inflates `size` bytes, fewer where the stream is broken or ends; returns how many.
static size_t inflate_bytes(z_stream *stream, orr_splat_source source, uint8_t *out, size_t size, int *status)
{
    size_t done = 0;
    while (done < size && *status == Z_OK) {
        // zlib counts in 32 bits
        const size_t most = 1u << 30, left = source.size - (size_t)(stream->next_in - source.data);
        const size_t part = size - done < most ? size - done : most;
        stream->avail_in = (uInt)(left < most ? left : most);
        stream->next_out = out + done;
        stream->avail_out = (uInt)part;
        *status = inflate(stream, Z_NO_FLUSH); // without progress this is not Z_OK
        done += part - stream->avail_out;
    }
    return done;
}

static orr_result inflate_arrays(z_stream *stream, orr_splat_source source, spz_header *h, uint8_t **arrays,
                                 orr_error *error)
{
    uint8_t head[ORR_SPZ_HEADER], rest[1 << 14];
    int status = Z_OK;
    if (inflate_bytes(stream, source, head, sizeof head, &status) < sizeof head) {
        if (status == Z_MEM_ERROR) {
            return no_zlib_memory(source, error);
        }
        return orr_fail(error, ORR_CODE_FILE_COMPRESSION,
                        "%s: byte %zu: the gzip stream ends inside the header", source.name,
                        (size_t)(stream->next_in - source.data));
    }
    ORR_TRY(parse_header(source.name, head, h, error));
    if (h->version == 4) {
        return orr_fail(error, ORR_CODE_FILE_VERSION,
                        "%s: byte 4: version 4 in a gzip stream, expected 1 to 3", source.name);
    }
    ORR_TRY(allocate_arrays(source, h, arrays, error));
    bool whole = inflate_bytes(stream, source, *arrays, h->bytes, &status) == h->bytes;
    // to the end of the stream, where its checksum is
    size_t behind = 0;
    while (whole && status == Z_OK && behind <= BEHIND_ARRAYS) {
        size_t got = inflate_bytes(stream, source, rest, sizeof rest, &status);
        if (behind == 0) {
            ORR_TRY(read_extensions(source.name, rest, got, h, error));
        }
        behind += got;
    }
    if (status == Z_MEM_ERROR) {
        return no_zlib_memory(source, error);
    }
    if (behind > BEHIND_ARRAYS) {
        return orr_fail(error, ORR_CODE_FILE_TOO_LARGE,
                        "%s: more than %d bytes behind the arrays, expected extensions", source.name,
                        BEHIND_ARRAYS);
    }
    if (!whole || status != Z_STREAM_END) {
        return orr_fail(error, ORR_CODE_FILE_COMPRESSION,
                        "%s: byte %zu: the gzip stream is broken or ends early, expected %lld splats",
                        source.name, (size_t)(stream->next_in - source.data), (long long)h->count);
    }
    return ORR_OK;
}

static orr_result unpack_gzip(orr_splat_source source, spz_header *h, uint8_t **arrays, orr_error *error)
{
    z_stream stream = {.next_in = source.data};
    if (inflateInit2(&stream, 15 + 16) != Z_OK) {
        return no_zlib_memory(source, error);
    }
    orr_result result = inflate_arrays(&stream, source, h, arrays, error);
    inflateEnd(&stream);
    return result;
}

// ---- version 4: a plain header, a table, and one zstd stream per array ----

static orr_result unpack_zstd(orr_splat_source source, spz_header *h, uint8_t **arrays, orr_error *error)
{
    if (source.size < ORR_SPZ_HEADER_4) {
        return orr_fail(error, ORR_CODE_FILE_TRUNCATED, "%s: %zu bytes, expected a header of %d", source.name,
                        source.size, ORR_SPZ_HEADER_4);
    }
    ORR_TRY(parse_header(source.name, source.data, h, error));
    if (h->version != 4) {
        return orr_fail(error, ORR_CODE_FILE_VERSION, "%s: byte 4: version %d without gzip, expected 4",
                        source.name, h->version);
    }
    const int streams = source.data[15], least = h->degree > 0 ? 6 : 5;
    const size_t table = orr_get_u32(source.data + 16), table_size = 16 * (size_t)streams;
    if (streams < least || table < ORR_SPZ_HEADER_4 || table > source.size ||
        source.size - table < table_size) {
        return orr_fail(error, ORR_CODE_FILE_TRUNCATED,
                        "%s: byte 15: a table of %d streams at byte %zu of %zu, expected %d streams",
                        source.name, streams, table, source.size, least);
    }
    ORR_TRY(read_extensions(source.name, source.data + ORR_SPZ_HEADER_4, table - ORR_SPZ_HEADER_4, h, error));
    ORR_TRY(allocate_arrays(source, h, arrays, error));
    size_t at = table + table_size;
    uint8_t *out = *arrays;
    for (int s = 0; s < least; s++) {
        const uint8_t *row = source.data + table + 16 * (size_t)s;
        const uint64_t packed = orr_get_u64(row), unpacked = orr_get_u64(row + 8);
        const size_t expected = (size_t)h->stride[s] * (size_t)h->count;
        if (unpacked != expected || packed > source.size - at) {
            return orr_fail(
                error, ORR_CODE_FILE_HEADER,
                "%s: byte %zu: stream %d unpacks %llu bytes to %llu, expected %zu from the %zu left",
                source.name, table + 16 * (size_t)s, s, (unsigned long long)packed,
                (unsigned long long)unpacked, expected, source.size - at);
        }
        // a stream of nothing may have no bytes
        size_t got = packed > 0 ? ZSTD_decompress(out, expected, source.data + at, (size_t)packed) : 0;
        if (ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory for zstd", source.name);
        }
        if (ZSTD_isError(got) || got != expected) {
            return orr_fail(error, ORR_CODE_FILE_COMPRESSION, "%s: byte %zu: stream %d is not valid zstd: %s",
                            source.name, at, s, ZSTD_isError(got) ? ZSTD_getErrorName(got) : "too short");
        }
        at += (size_t)packed;
        out += expected;
    }
    return ORR_OK;
}

// ---- bytes to values ----

static void decode_positions(const spz_header *h, const uint8_t *p, float *out)
{
    const float unit = 1.0f / (float)(1 << h->fractional_bits);
    for (int64_t i = 0; i < 3 * h->count; i++) {
        float value;
        if (h->version == 1) {
            value = orr_get_f16(p + 2 * i);
        } else {
            // 24 bits with a sign
            uint32_t bits = orr_get_u16(p + 3 * i) | (uint32_t)p[3 * i + 2] << 16;
            value = (float)((int32_t)(bits << 8) / 256) * unit;
        }
        out[i] = h->axes.position[i % 3] * value;
    }
}

// version 3: the index of the largest of x, y, z, w, then a sign and nine bits for each of the others
static void decode_smallest_three(uint32_t word, float xyzw[4])
{
    float rest[3];
    for (int k = 0; k < 3; k++) {
        uint32_t bits = word >> (20 - 10 * k) & 1023;
        float size = (float)(bits & 511) / 511.0f * sqrtf(0.5f);
        rest[k] = bits & 512 ? -size : size;
    }
    orr_smallest_three(xyzw, (int)(word >> 30), rest[0], rest[1], rest[2]);
}

static void decode_rotations(const spz_header *h, const uint8_t *p, float *out)
{
    for (int64_t i = 0; i < h->count; i++, out += 4) {
        float q[4]; // x, y, z, w
        if (h->version < 3) {
            orr_smallest_three(q, 3, (float)p[3 * i] / 127.5f - 1.0f, (float)p[3 * i + 1] / 127.5f - 1.0f,
                               (float)p[3 * i + 2] / 127.5f - 1.0f);
        } else {
            decode_smallest_three(orr_get_u32(p + 4 * i), q);
        }
        out[0] = q[3];
        for (int k = 0; k < 3; k++) {
            out[1 + k] = h->axes.rotation[k] * q[k];
        }
    }
}

static void decode_harmonics(const spz_header *h, const uint8_t *p, const orr_splats_view *d)
{
    const int in = orr_sh_rest(h->degree), out = orr_sh_rest(d->sh_degree);
    for (int64_t i = 0; i < h->count; i++) {
        const uint8_t *from = p + 3 * in * i;
        float *to = d->harmonics + 3 * out * i;
        for (int k = 0; k < out; k++) {
            for (int channel = 0; channel < 3; channel++) {
                to[3 * k + channel] =
                    h->axes.harmonics[k] * (((float)from[3 * k + channel] - 128.0f) / 128.0f);
            }
        }
    }
}

static void decode_arrays(const spz_header *h, const uint8_t *p, const orr_splats_view *d)
{
    const uint8_t *array[ORR_SPZ_STREAMS];
    for (int s = 0; s < ORR_SPZ_STREAMS; s++) {
        array[s] = p;
        p += (size_t)h->stride[s] * (size_t)h->count;
    }
    float logit[256];
    orr_logit_table(logit);
    decode_positions(h, array[ORR_SPZ_POSITION], d->position);
    decode_rotations(h, array[ORR_SPZ_ROTATION], d->rotation);
    for (int64_t i = 0; i < h->count; i++) {
        d->opacity[i] = logit[array[ORR_SPZ_ALPHA][i]];
    }
    for (int64_t i = 0; i < 3 * h->count; i++) {
        d->colour[i] = ((float)array[ORR_SPZ_COLOUR][i] / 255.0f - 0.5f) / 0.15f;
        d->log_scale[i] = (float)array[ORR_SPZ_SCALE][i] / 16.0f - 10.0f;
    }
    if (h->degree > 0) {
        decode_harmonics(h, array[ORR_SPZ_HARMONICS], d);
    }
    if (h->axes.turned) {
        orr_spz_turn(d);
    }
}

orr_result orr_read_spz(orr_splat_source source, orr_splats **splats, orr_error *error)
{
    *splats = NULL;
    spz_header h;
    uint8_t *arrays = NULL;
    bool gzip = source.size >= 2 && source.data[0] == 0x1f && source.data[1] == 0x8b;
    orr_splats *cloud = NULL;
    orr_result result =
        gzip ? unpack_gzip(source, &h, &arrays, error) : unpack_zstd(source, &h, &arrays, error);
    if (result == ORR_OK) {
        // degree 4 is read up to degree 3
        result = orr_splats_create(h.count, h.degree < 3 ? h.degree : 3, &cloud, error);
    }
    if (result == ORR_OK) {
        cloud->data.antialiased = h.antialiased;
        decode_arrays(&h, arrays, &cloud->data);
        if (h.degree > 3) {
            orr_splats_warn(cloud, "SH of degree 4 is left out");
        }
    }
    orr_free(arrays);
    return orr_splats_finish(cloud, result, source.name, splats, error);
}
