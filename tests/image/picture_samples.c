#include "tests/image/picture_samples.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/image/image.h"
#include "orr_features.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#if ORR_HAVE_WEBP
#include <webp/encode.h>
#endif
#if ORR_HAVE_JPEG
#include <jpeglib.h> // behind stdio.h, which it needs
#endif

enum { WIDTH = 13, HEIGHT = 11, BYTES_MAX = 1 << 16 };

typedef struct sample_list {
    picture_sample *samples;
    int count;
} sample_list;

static void *must(void *memory)
{
    if (!memory) {
        abort();
    }
    return memory;
}

static picture_sample *begin(sample_list *list, const char *format, const char *name, int width, int height)
{
    if (list->count == PICTURE_SAMPLES_MAX) {
        abort();
    }
    picture_sample *s = &list->samples[list->count++];
    *s = (picture_sample){.format = format, .width = width, .height = height};
    snprintf(s->name, sizeof s->name, "%s", name);
    s->data = must(orr_alloc_zero(BYTES_MAX, 1));
    s->rgba = must(orr_alloc_zero((size_t)width * (size_t)height, 4 * sizeof(float)));
    return s;
}

static void put(picture_sample *s, const void *bytes, size_t size)
{
    if (s->size + size > BYTES_MAX) {
        abort();
    }
    memcpy(s->data + s->size, bytes, size);
    s->size += size;
    s->needed = s->size;
}

static void put_byte(picture_sample *s, unsigned value)
{
    const uint8_t byte = (uint8_t)value;
    put(s, &byte, 1);
}

static void put_little(picture_sample *s, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        put_byte(s, value >> (8 * i) & 255);
    }
}

static float *pixel(const picture_sample *s, int x, int y)
{
    return s->rgba + 4 * (y * s->width + x);
}

// what a channel of a pixel holds: any bits
static uint32_t bits_at(int x, int y, int channel)
{
    uint32_t h = (uint32_t)(x * 73 + y * 1009 + channel * 31 + 7) * 2654435761u;
    return (h ^ h >> 15) * 2246822519u >> 8;
}

// Bytes of all channels, which are what the formats of 8 bits hold.
static void set_colours(picture_sample *s, int channels)
{
    for (int y = 0; y < s->height; y++) {
        for (int x = 0; x < s->width; x++) {
            for (int k = 0; k < 4; k++) {
                int from = channels == 1 && k < 3 ? 0 : k;
                pixel(s, x, y)[k] =
                    k == 3 && channels < 4 ? 1.0f : (float)(bits_at(x, y, from) & 255) / 255.0f;
            }
        }
    }
}

static unsigned byte_at(const picture_sample *s, int x, int y, int k)
{
    return (unsigned)lrintf(255.0f * pixel(s, x, y)[k]);
}

// ---- PNG ----

enum { GREY = 0, RGB = 2, PALETTE = 3, GREY_ALPHA = 4, RGB_ALPHA = 6 };

typedef struct png_kind {
    const char *name;
    int type, depth;
    bool interlaced, key; // a colour key (tRNS)
} png_kind;

static void put_big(uint8_t bytes[4], uint32_t value)
{
    for (int i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(value >> (24 - 8 * i));
    }
}

static void put_chunk(picture_sample *s, const char *type, const uint8_t *data, size_t size)
{
    uint8_t word[4];
    put_big(word, (uint32_t)size);
    put(s, word, 4);
    size_t start = s->size;
    put(s, type, 4);
    put(s, data, size);
    put_big(word, (uint32_t)crc32(0, s->data + start, (uInt)(size + 4)));
    put(s, word, 4);
}

static int channels_of(int type)
{
    return type == RGB ? 3 : type == RGB_ALPHA ? 4 : type == GREY_ALPHA ? 2 : 1;
}

static uint32_t value_at(const png_kind *kind, int x, int y, int channel)
{
    return bits_at(x, y, channel) & ((1u << kind->depth) - 1);
}

static int paeth(int a, int b, int c)
{
    int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

// One row of samples, packed and filtered; `before` is the row above, unfiltered, and becomes this one.
static size_t put_row(const png_kind *kind, int y, int x_first, int x_step, int count, uint8_t *before,
                      uint8_t *out)
{
    int channels = channels_of(kind->type), bits = channels * kind->depth, pixel_bytes = (bits + 7) / 8;
    size_t bytes = ((size_t)count * (size_t)bits + 7) / 8;
    uint8_t row[8 * WIDTH + 8] = {0};
    for (int i = 0; i < count * channels; i++) {
        uint32_t value = value_at(kind, x_first + i / channels * x_step, y, i % channels);
        int at = i * kind->depth;
        if (kind->depth == 16) {
            row[2 * i] = (uint8_t)(value >> 8);
            row[2 * i + 1] = (uint8_t)value;
        } else {
            row[at / 8] |= (uint8_t)(value << (8 - kind->depth - at % 8));
        }
    }
    out[0] = (uint8_t)(y % 5); // each filter in turn
    for (size_t i = 0; i < bytes; i++) {
        int left = i >= (size_t)pixel_bytes ? row[i - (size_t)pixel_bytes] : 0, up = before[i],
            corner = i >= (size_t)pixel_bytes ? before[i - (size_t)pixel_bytes] : 0;
        const int guess[5] = {0, left, up, (left + up) / 2, paeth(left, up, corner)};
        out[1 + i] = (uint8_t)(row[i] - guess[out[0]]);
    }
    memcpy(before, row, bytes);
    return 1 + bytes;
}

static size_t put_rows(const png_kind *kind, uint8_t *out)
{
    static const int passes[7][4] = {{0, 8, 0, 8}, {4, 8, 0, 8}, {0, 4, 4, 8}, {2, 4, 0, 4},
                                     {0, 2, 2, 4}, {1, 2, 0, 2}, {0, 1, 1, 2}},
                     whole[4] = {0, 1, 0, 1};
    size_t size = 0;
    for (int pass = 0; pass < (kind->interlaced ? 7 : 1); pass++) {
        const int *p = kind->interlaced ? passes[pass] : whole;
        uint8_t before[8 * WIDTH + 8] = {0};
        for (int y = p[2]; y < HEIGHT; y += p[3]) {
            size += put_row(kind, y, p[0], p[1], (WIDTH - p[0] + p[1] - 1) / p[1], before, out + size);
        }
    }
    return size;
}

static unsigned palette_at(uint32_t entry, int k)
{
    return k < 3 ? (entry * 37 + (unsigned)k * 91 + 5) & 255 : entry % 2 ? 255 : (entry * 16 + 40) & 255;
}

static void expect_png(picture_sample *s, const png_kind *kind)
{
    bool grey = kind->type == GREY || kind->type == GREY_ALPHA, alpha = kind->type >= GREY_ALPHA;
    float most = (float)((1u << kind->depth) - 1);
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            bool is_key = kind->key;
            for (int k = 0; k < 3; k++) {
                uint32_t value = value_at(kind, x, y, grey ? 0 : k);
                pixel(s, x, y)[k] = (float)value / most;
                is_key = is_key && value == value_at(kind, 0, 0, grey ? 0 : k);
            }
            pixel(s, x, y)[3] = is_key  ? 0.0f
                                : alpha ? (float)value_at(kind, x, y, grey ? 1 : 3) / most
                                        : 1.0f;
            for (int k = 0; k < 4 && kind->type == PALETTE; k++) {
                pixel(s, x, y)[k] = (float)palette_at(value_at(kind, x, y, 0), k) / 255.0f;
            }
        }
    }
}

static void add_png(sample_list *list, const png_kind *kind)
{
    picture_sample *s = begin(list, "png", kind->name, WIDTH, HEIGHT);
    snprintf(s->name, sizeof s->name, "%s %d%s%s", kind->name, kind->depth,
             kind->interlaced ? " interlaced" : "", kind->key ? " key" : "");
    s->deep = kind->depth == 16;
    expect_png(s, kind);
    put(s, "\x89PNG\r\n\x1a\n", 8);
    uint8_t header[13] = {[8] = (uint8_t)kind->depth, (uint8_t)kind->type, 0, 0, kind->interlaced};
    put_big(header, WIDTH);
    put_big(header + 4, HEIGHT);
    put_chunk(s, "IHDR", header, sizeof header);
    if (kind->type == PALETTE) {
        uint8_t colours[256 * 3], alphas[256];
        size_t entries = (size_t)1 << kind->depth;
        for (uint32_t i = 0; i < entries; i++) {
            for (int k = 0; k < 3; k++) {
                colours[3 * i + (uint32_t)k] = (uint8_t)palette_at(i, k);
            }
            alphas[i] = (uint8_t)palette_at(i, 3);
        }
        put_chunk(s, "PLTE", colours, 3 * entries);
        put_chunk(s, "tRNS", alphas, entries);
    } else if (kind->key) {
        uint8_t key[6];
        for (int k = 0; k < channels_of(kind->type); k++) {
            uint32_t value = value_at(kind, 0, 0, k);
            key[2 * k] = (uint8_t)(value >> 8);
            key[2 * k + 1] = (uint8_t)value;
        }
        put_chunk(s, "tRNS", key, 2 * (size_t)channels_of(kind->type));
    }
    uint8_t raw[4096], packed[8192];
    uLongf packed_size = sizeof packed;
    if (compress(packed, &packed_size, raw, (uLong)put_rows(kind, raw)) != Z_OK) {
        abort();
    }
    put_chunk(s, "IDAT", packed, packed_size / 2); // in two chunks
    put_chunk(s, "IDAT", packed + packed_size / 2, packed_size - packed_size / 2);
    put_chunk(s, "IEND", (const uint8_t *)"", 0);
    s->needed -= 4; // the last checksum, which is of no data
}

static void add_pngs(sample_list *list)
{
    static const struct {
        const char *name;
        int type, depths[6];
    } types[] = {{"grey", GREY, {1, 2, 4, 8, 16}},
                 {"rgb", RGB, {8, 16}},
                 {"palette", PALETTE, {1, 2, 4, 8}},
                 {"grey alpha", GREY_ALPHA, {8, 16}},
                 {"rgb alpha", RGB_ALPHA, {8, 16}}};
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        for (const int *depth = types[t].depths; *depth; depth++) {
            for (int variant = 0; variant < 3; variant++) {
                png_kind kind = {types[t].name, types[t].type, *depth, variant == 1, variant == 2};
                if (!kind.key || kind.type == GREY || kind.type == RGB) {
                    add_png(list, &kind);
                }
            }
        }
    }
}

void picture_sample_resize_png(uint8_t *png, uint32_t width, uint32_t height)
{
    put_big(png + 16, width);
    put_big(png + 20, height);
    put_big(png + 29, (uint32_t)crc32(0, png + 12, 17));
}

// ---- BMP ----

static void put_bmp_header(picture_sample *s, int bits, int height, unsigned palette)
{
    uint32_t start = 54 + 4 * palette;
    put(s, "BM", 2);
    put_little(s, start + (uint32_t)(s->height * (bits * s->width + 31) / 32 * 4), 4);
    put_little(s, 0, 4);
    put_little(s, start, 4);
    put_little(s, 40, 4);
    put_little(s, (uint32_t)s->width, 4);
    put_little(s, (uint32_t)height, 4);
    put_little(s, 1, 2);
    put_little(s, (uint32_t)bits, 2);
    for (int i = 0; i < 4; i++) {
        put_little(s, 0, 4);
    }
    put_little(s, palette, 4);
    put_little(s, 0, 4);
}

static void add_bmps(sample_list *list)
{
    picture_sample *s = begin(list, "bmp", "24", WIDTH, HEIGHT);
    set_colours(s, 3);
    put_bmp_header(s, 24, HEIGHT, 0);
    for (int y = HEIGHT - 1; y >= 0; y--) {
        for (int x = 0; x < WIDTH; x++) {
            for (int k = 2; k >= 0; k--) {
                put_byte(s, byte_at(s, x, y, k));
            }
        }
        put(s, "\0\0\0", (4 - 3 * WIDTH % 4) % 4);
        s->needed = s->size - (y == 0); // stb does not need the padding of the last row
    }
    s = begin(list, "bmp", "palette 8 from the top", 16, 4);
    put_bmp_header(s, 8, -4, 64);
    for (uint32_t i = 0; i < 64; i++) {
        for (int k = 2; k >= 0; k--) {
            put_byte(s, palette_at(i, k));
            pixel(s, (int)i % 16, (int)i / 16)[k] = (float)palette_at(i, k) / 255.0f;
        }
        pixel(s, (int)i % 16, (int)i / 16)[3] = 1.0f;
        put_byte(s, 0);
    }
    for (unsigned i = 0; i < 64; i++) {
        put_byte(s, i);
    }
}

// ---- TGA ----

static void put_tga_header(picture_sample *s, int type, int bits, bool from_top)
{
    put_byte(s, 0);
    put_byte(s, 0);
    put_byte(s, (unsigned)type);
    put_little(s, 0, 4);
    put_little(s, 0, 4);
    put_byte(s, 0);
    put_little(s, (uint32_t)s->width, 2);
    put_little(s, (uint32_t)s->height, 2);
    put_byte(s, (unsigned)bits);
    put_byte(s, (from_top ? 0x20u : 0u) | (bits == 32 ? 8u : 0u));
}

static void put_bgra(picture_sample *s, int x, int y, int channels)
{
    for (int k = 2; k >= 0; k--) {
        put_byte(s, byte_at(s, x, y, k));
    }
    if (channels == 4) {
        put_byte(s, byte_at(s, x, y, 3));
    }
}

static void add_tgas(sample_list *list)
{
    picture_sample *s = begin(list, "tga", "24", WIDTH, HEIGHT);
    set_colours(s, 3);
    put_tga_header(s, 2, 24, false);
    for (int y = HEIGHT - 1; y >= 0; y--) {
        for (int x = 0; x < WIDTH; x++) {
            put_bgra(s, x, y, 3);
        }
    }
    s = begin(list, "tga", "32 packed", WIDTH, HEIGHT); // runs of 4, then single pixels
    set_colours(s, 4);
    put_tga_header(s, 10, 32, true);
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 1; x < 4; x++) {
            memcpy(pixel(s, x, y), pixel(s, 0, y), 4 * sizeof(float));
        }
        put_byte(s, 0x83);
        put_bgra(s, 0, y, 4);
        put_byte(s, WIDTH - 4 - 1);
        for (int x = 4; x < WIDTH; x++) {
            put_bgra(s, x, y, 4);
        }
    }
    s = begin(list, "tga", "grey 8", WIDTH, HEIGHT);
    set_colours(s, 1);
    put_tga_header(s, 3, 8, true);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        put_byte(s, byte_at(s, i % WIDTH, i / WIDTH, 0));
    }
}

// ---- GIF ----

static void add_gif(sample_list *list)
{
    enum { SIDE = 8, CODE_BITS = 7 }; // 64 colours, code 64 clears, 65 ends
    picture_sample *s = begin(list, "gif", "64 colours", SIDE, SIDE);
    put(s, "GIF89a", 6);
    put_little(s, SIDE, 2);
    put_little(s, SIDE, 2);
    put(s, "\xf5\0\0", 3); // a palette of 64
    for (uint32_t i = 0; i < 64; i++) {
        for (int k = 0; k < 3; k++) {
            put_byte(s, palette_at(i, k));
        }
    }
    put(s, ",\0\0\0\0", 5);
    put_little(s, SIDE, 2);
    put_little(s, SIDE, 2);
    put(s, "\0\6", 2);
    uint8_t codes[256] = {0};
    int bits = 0;
    for (int i = 0; i <= SIDE * SIDE + SIDE; i++) { // cleared before each row, so that codes stay of 7 bits
        int column = i % (SIDE + 1), row = i / (SIDE + 1);
        unsigned entry = (bits_at(column, row, 0) & 63), code = column == 0 ? 64 : entry;
        if (column > 0) {
            float *at = pixel(s, column - 1, row);
            for (int k = 0; k < 3; k++) {
                at[k] = (float)palette_at(entry, k) / 255.0f;
            }
            at[3] = 1.0f;
        } else if (row == SIDE) {
            code = 65;
        }
        for (int b = 0; b < CODE_BITS; b++, bits++) {
            codes[bits / 8] |= (uint8_t)((code >> b & 1) << bits % 8);
        }
    }
    put_byte(s, (unsigned)(bits + 7) / 8);
    put(s, codes, ((size_t)bits + 7) / 8);
    put_byte(s, 0);
    put(s, ";", 1);
    s->needed = s->size - 8; // the code that ends it and what follows may be missing
}

// ---- HDR ----

static void add_hdr(sample_list *list, bool packed)
{
    picture_sample *s = begin(list, "hdr", packed ? "packed" : "flat", packed ? 16 : 5, 6);
    s->linear = true;
    char header[80];
    int length = snprintf(header, sizeof header, "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y %d +X %d\n",
                          s->height, s->width);
    put(s, header, (size_t)length);
    for (int y = 0; y < s->height; y++) {
        uint8_t rows[4][16];
        for (int x = 0; x < s->width; x++) {
            for (int k = 0; k < 4; k++) {
                rows[k][x] = (uint8_t)(k < 3 ? 128 | (bits_at(x, y, k) & 127) : 127u + (unsigned)(x + y) % 4);
            }
            for (int k = 0; k < 3; k++) {
                pixel(s, x, y)[k] = ldexpf(rows[k][x], rows[3][x] - 136);
            }
            pixel(s, x, y)[3] = 1.0f;
        }
        if (packed) {
            put(s, "\2\2\0\x10", 4);
            for (int k = 0; k < 4; k++) {
                put_byte(s, 16);
                put(s, rows[k], 16);
            }
        }
        for (int x = 0; !packed && x < s->width; x++) {
            for (int k = 0; k < 4; k++) {
                put_byte(s, rows[k][x]);
            }
        }
    }
}

// ---- by libraries ----

#if ORR_HAVE_WEBP
static void add_webp(sample_list *list)
{
    picture_sample *s = begin(list, "webp", "lossless", WIDTH, HEIGHT);
    set_colours(s, 4);
    uint8_t rgba[WIDTH * HEIGHT * 4], *out;
    for (int i = 0; i < WIDTH * HEIGHT * 4; i++) {
        if (i % 4 == 3 && s->rgba[i] == 0.0f) { // libwebp drops the colour of what is transparent
            s->rgba[i] = 1.0f;
        }
        rgba[i] = (uint8_t)lrintf(255.0f * s->rgba[i]);
    }
    size_t size = WebPEncodeLosslessRGBA(rgba, WIDTH, HEIGHT, 4 * WIDTH, &out);
    put(s, out, size);
    WebPFree(out);
    s = begin(list, "webp", "lossy", 32, 16);
    uint8_t flat[32 * 16 * 4];
    for (int i = 0; i < 32 * 16; i++) {
        for (int k = 0; k < 4; k++) {
            flat[4 * i + k] = (uint8_t)(k < 3 ? 40 + 70 * k : 255);
            s->rgba[4 * i + k] = (float)flat[4 * i + k] / 255.0f;
        }
    }
    size = WebPEncodeRGBA(flat, 32, 16, 4 * 32, 95.0f, &out);
    put(s, out, size);
    WebPFree(out);
    s->tolerance = 3;
}
#endif

#if ORR_HAVE_JPEG
typedef struct jpeg_kind {
    const char *name;
    J_COLOR_SPACE space, stored;
    int channels;
    bool progressive, subsampled;
} jpeg_kind;

// Blocks of 16 x 16 of one colour each, the whole picture where chroma is subsampled.
static void add_jpeg(sample_list *list, const jpeg_kind *kind)
{
    enum { BLOCK = 16, COLUMNS = 3, SIDE = BLOCK * COLUMNS };
    picture_sample *s = begin(list, "jpeg", kind->name, SIDE, BLOCK);
    s->tolerance = 2;
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr errors;
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    unsigned char *out = NULL;
    unsigned long size = 0;
    jpeg_mem_dest(&info, &out, &size);
    info.image_width = SIDE;
    info.image_height = BLOCK;
    info.input_components = kind->channels;
    info.in_color_space = kind->space;
    jpeg_set_defaults(&info);
    jpeg_set_colorspace(&info, kind->stored);
    jpeg_set_quality(&info, 100, TRUE);
    for (int c = 0; c < info.num_components; c++) {
        info.comp_info[c].h_samp_factor = info.comp_info[c].v_samp_factor =
            kind->subsampled && c == 0 ? 2 : 1;
    }
    if (kind->progressive) {
        jpeg_simple_progression(&info);
    }
    jpeg_start_compress(&info, TRUE);
    for (int y = 0; y < BLOCK; y++) {
        uint8_t row[SIDE * 4];
        for (int x = 0; x < SIDE; x++) {
            int block = kind->subsampled ? 1 : x / BLOCK;
            float *at = pixel(s, x, y);
            for (int k = 0; k < kind->channels; k++) {
                row[kind->channels * x + k] = (uint8_t)(30 + (block * 97 + k * 61) % 200);
            }
            const uint8_t *v = row + kind->channels * x;
            for (int k = 0; k < 3; k++) { // Adobe's inks are stored inverted
                at[k] = (float)v[kind->channels == 1 ? 0 : k] / 255.0f;
                at[k] *= kind->channels == 4 ? (float)v[3] / 255.0f : 1.0f;
            }
            at[3] = 1.0f;
        }
        JSAMPROW rows = row;
        (void)jpeg_write_scanlines(&info, &rows, 1);
    }
    jpeg_finish_compress(&info);
    put(s, out, size);
    jpeg_destroy_compress(&info);
    free(out);
}

static void add_jpegs(sample_list *list)
{
    static const jpeg_kind kinds[] = {{"grey", JCS_GRAYSCALE, JCS_GRAYSCALE, 1, false, false},
                                      {"colour", JCS_RGB, JCS_YCbCr, 3, false, false},
                                      {"rgb", JCS_RGB, JCS_RGB, 3, false, false},
                                      {"subsampled", JCS_RGB, JCS_YCbCr, 3, false, true},
                                      {"progressive", JCS_RGB, JCS_YCbCr, 3, true, false},
                                      {"cmyk", JCS_CMYK, JCS_CMYK, 4, false, false},
                                      {"ycck", JCS_CMYK, JCS_YCCK, 4, true, false}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        add_jpeg(list, &kinds[i]);
    }
}
#endif

#if ORR_HAVE_EXR
static void add_exr(sample_list *list, const char *path)
{
    picture_sample *s = begin(list, "exr", "float", WIDTH, HEIGHT);
    s->linear = true;
    float premultiplied[WIDTH * HEIGHT * 4];
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        float alpha = (float)(1 + i % 4) / 4.0f;
        for (int k = 0; k < 3; k++) {
            float value = (float)(bits_at(i, 0, k) & 255) / 128.0f;
            s->rgba[4 * i + k] = value;
            premultiplied[4 * i + k] = value * alpha;
        }
        s->rgba[4 * i + 3] = premultiplied[4 * i + 3] = alpha;
    }
    orr_bytes bytes;
    if (orr_exr_save(path, premultiplied, WIDTH, HEIGHT, 4, NULL) != ORR_OK ||
        orr_file_read(path, &bytes, NULL) != ORR_OK) {
        abort();
    }
    remove(path);
    put(s, bytes.data, bytes.size);
    orr_free(bytes.data);
}
#endif

int picture_samples_make(picture_sample samples[PICTURE_SAMPLES_MAX], const char *path)
{
    (void)path;
    sample_list list = {samples, 0};
    add_pngs(&list);
    add_bmps(&list);
    add_tgas(&list);
    add_gif(&list);
    add_hdr(&list, false);
    add_hdr(&list, true);
#if ORR_HAVE_WEBP
    add_webp(&list);
#endif
#if ORR_HAVE_JPEG
    add_jpegs(&list);
#endif
#if ORR_HAVE_EXR
    add_exr(&list, path);
#endif
    return list.count;
}

void picture_samples_free(picture_sample *samples, int count)
{
    for (int i = 0; i < count; i++) {
        orr_free(samples[i].data);
        orr_free(samples[i].rgba);
    }
}
