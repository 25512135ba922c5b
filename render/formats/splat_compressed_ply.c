// .compressed.ply (PlayCanvas): 16 bytes per splat, quantised between the bounds of its chunk of 256 splats,
// and one byte per SH coefficient.
#include "engine/core/memory.h"
#include "engine/mesh/ply_header.h"
#include "render/formats/splat_bytes.h"

#include <stdio.h>

enum { CHUNK = 256, BOUNDS = 18 };

// in the order of a chunk's properties: low and high corners of position, log scale and display colour
static const char *const bound_names[BOUNDS] = {
    "min_x",       "min_y",       "min_z",       "max_x",       "max_y",       "max_z",
    "min_scale_x", "min_scale_y", "min_scale_z", "max_scale_x", "max_scale_y", "max_scale_z",
    "min_r",       "min_g",       "min_b",       "max_r",       "max_g",       "max_b",
};
static const char *const word_names[4] = {"packed_position", "packed_rotation", "packed_scale",
                                          "packed_color"};

typedef struct layout {
    const orr_ply_element *chunk, *vertex, *sh; // sh Nullable
    int bound[BOUNDS];                          // offset of each in a chunk's row; -1: absent
    int word[4];
    int coefficient[45]; // offset in a row of sh, channel-major as in the file's names
    int per_channel;
} layout;

// ---- reading ----

static orr_result find_offset(const char *file, const orr_ply_header *header, const orr_ply_element *element,
                              const char *name, orr_ply_type type, int *offset, orr_error *error)
{
    const orr_ply_property *property = orr_ply_find_property(header, element, name);
    if (!property || property->type != type) {
        return orr_fail(error, ORR_CODE_FILE_HEADER, "%s: header: element %s has no property %s of type %s",
                        file, element->name, name,
                        type == ORR_PLY_FLOAT  ? "float"
                        : type == ORR_PLY_UINT ? "uint"
                                               : "uchar");
    }
    *offset = property->offset;
    return ORR_OK;
}

static orr_result find_harmonics(orr_splat_source source, const orr_ply_header *header, layout *l,
                                 orr_error *error)
{
    int count = l->sh ? l->sh->properties : 0;
    if (count != 0 && count != 9 && count != 24 && count != 45) {
        return orr_fail(error, ORR_CODE_FILE_HEADER,
                        "%s: header: element sh has %d properties, expected 9, 24 or 45", source.name, count);
    }
    if (l->sh && l->sh->count != l->vertex->count) {
        return orr_fail(error, ORR_CODE_FILE_HEADER, "%s: header: %lld rows of sh, expected %lld",
                        source.name, (long long)l->sh->count, (long long)l->vertex->count);
    }
    for (int k = 0; k < count; k++) {
        char name[ORR_PLY_NAME];
        snprintf(name, sizeof name, "f_rest_%d", k);
        ORR_TRY(find_offset(source.name, header, l->sh, name, ORR_PLY_UCHAR, &l->coefficient[k], error));
    }
    l->per_channel = count / 3;
    return ORR_OK;
}

static orr_result find_layout(orr_splat_source source, const orr_ply_header *header, layout *l,
                              orr_error *error)
{
    *l = (layout){0};
    if (header->encoding != ORR_PLY_LITTLE_ENDIAN) {
        return orr_fail(error, ORR_CODE_FILE_HEADER, "%s: header: expected format binary_little_endian",
                        source.name);
    }
    ORR_TRY(orr_ply_find_element(source.name, source.size, header, "chunk", &l->chunk, error));
    ORR_TRY(orr_ply_find_element(source.name, source.size, header, "vertex", &l->vertex, error));
    for (int i = 0; i < header->elements; i++) {
        if (strcmp(header->element[i].name, "sh") == 0) {
            ORR_TRY(orr_ply_find_element(source.name, source.size, header, "sh", &l->sh, error));
        }
    }
    bool has_colour = orr_ply_find_property(header, l->chunk, "min_r") != NULL;
    for (int k = 0; k < BOUNDS; k++) {
        l->bound[k] = -1;
        if (k < 12 || has_colour) {
            ORR_TRY(find_offset(source.name, header, l->chunk, bound_names[k], ORR_PLY_FLOAT, &l->bound[k],
                                error));
        }
    }
    for (int k = 0; k < 4; k++) {
        ORR_TRY(find_offset(source.name, header, l->vertex, word_names[k], ORR_PLY_UINT, &l->word[k], error));
    }
    if (l->chunk->count < (l->vertex->count + CHUNK - 1) / CHUNK) {
        return orr_fail(error, ORR_CODE_FILE_HEADER, "%s: header: %lld chunks are too few for %lld splats",
                        source.name, (long long)l->chunk->count, (long long)l->vertex->count);
    }
    return find_harmonics(source, header, l, error);
}

static float mix(float low, float high, uint32_t value, uint32_t limit)
{
    float t = (float)(value & limit) / (float)limit;
    return low * (1.0f - t) + high * t;
}

// three values of 11, 10 and 11 bits between the corners
static void unpack_11_10_11(float out[3], uint32_t word, const float low[3], const float high[3])
{
    out[0] = mix(low[0], high[0], word >> 21, 2047);
    out[1] = mix(low[1], high[1], word >> 11, 1023);
    out[2] = mix(low[2], high[2], word, 2047);
}

static float unpack_component(uint32_t bits)
{
    return ((float)(bits & 1023) / 1023.0f - 0.5f) * sqrtf(2.0f);
}

static void read_rows(orr_splat_source source, const layout *l, const orr_splats_view *d)
{
    float logit[256], bound[BOUNDS] = {[15] = 1.0f, [16] = 1.0f, [17] = 1.0f};
    orr_logit_table(logit);
    for (int64_t i = 0; i < d->count; i++) {
        if (i % CHUNK == 0) {
            const uint8_t *row =
                source.data + l->chunk->offset + (size_t)(i / CHUNK) * (size_t)l->chunk->stride;
            for (int k = 0; k < BOUNDS && l->bound[k] >= 0; k++) {
                bound[k] = orr_get_f32(row + l->bound[k]);
            }
        }
        const uint8_t *row = source.data + l->vertex->offset + (size_t)i * (size_t)l->vertex->stride;
        uint32_t rotation = orr_get_u32(row + l->word[1]), colour = orr_get_u32(row + l->word[3]);
        unpack_11_10_11(d->position + 3 * i, orr_get_u32(row + l->word[0]), bound, bound + 3);
        unpack_11_10_11(d->log_scale + 3 * i, orr_get_u32(row + l->word[2]), bound + 6, bound + 9);
        orr_smallest_three(d->rotation + 4 * i, (int)(rotation >> 30), unpack_component(rotation >> 20),
                           unpack_component(rotation >> 10), unpack_component(rotation));
        for (int k = 0; k < 3; k++) {
            float display = mix(bound[12 + k], bound[15 + k], colour >> (24 - 8 * k), 255);
            d->colour[3 * i + k] = (display - 0.5f) / ORR_SH_C0;
        }
        d->opacity[i] = logit[colour & 255];
    }
}

static void read_harmonics(orr_splat_source source, const layout *l, const orr_splats_view *d)
{
    float value[256];
    for (int b = 0; b < 256; b++) {
        // the middle of the byte's interval, but both ends exactly
        float t = b == 0 ? 0.0f : b == 255 ? 1.0f : ((float)b + 0.5f) / 256.0f;
        value[b] = 8.0f * t - 4.0f;
    }
    float *out = d->harmonics;
    for (int64_t i = 0; i < d->count; i++) {
        const uint8_t *row = source.data + l->sh->offset + (size_t)i * (size_t)l->sh->stride;
        for (int k = 0; k < l->per_channel; k++) {
            for (int channel = 0; channel < 3; channel++) {
                *out++ = value[row[l->coefficient[channel * l->per_channel + k]]];
            }
        }
    }
}

orr_result orr_read_compressed_ply(orr_splat_source source, orr_splats **splats, orr_error *error)
{
    *splats = NULL;
    orr_ply_header header;
    layout l;
    ORR_TRY(orr_ply_read_header(source.name, source.data, source.size, &header, error));
    ORR_TRY(find_layout(source, &header, &l, error));
    int degree = l.per_channel == 0 ? 0 : l.per_channel == 3 ? 1 : l.per_channel == 8 ? 2 : 3;
    orr_splats *cloud;
    ORR_TRY(orr_splats_create(l.vertex->count, degree, &cloud, error));
    cloud->data.antialiased = header.antialiased;
    read_rows(source, &l, &cloud->data);
    if (degree > 0) {
        read_harmonics(source, &l, &cloud->data);
    }
    return orr_splats_finish(cloud, ORR_OK, source.name, splats, error);
}

// ---- writing ----

// what a chunk bounds, of one splat: position, log scale, display colour
static void bounded_values(const orr_splats_view *d, int64_t i, float value[9])
{
    for (int k = 0; k < 3; k++) {
        value[k] = d->position[3 * i + k];
        value[3 + k] = orr_clamp(d->log_scale[3 * i + k], -20.0f, 20.0f);
        value[6 + k] = 0.5f + ORR_SH_C0 * d->colour[3 * i + k];
    }
}

static void chunk_bounds(const orr_splats_view *d, const int64_t *order, int64_t count, float low[9],
                         float high[9])
{
    for (int64_t i = 0; i < count; i++) {
        float value[9];
        bounded_values(d, order[i], value);
        for (int k = 0; k < 9; k++) {
            low[k] = i == 0 || value[k] < low[k] ? value[k] : low[k];
            high[k] = i == 0 || value[k] > high[k] ? value[k] : high[k];
        }
    }
}

static uint32_t pack_11_10_11(const float value[3], const float low[3], const float high[3])
{
    return orr_quantise_between(value[0], low[0], high[0], 2047) << 21 |
           orr_quantise_between(value[1], low[1], high[1], 1023) << 11 |
           orr_quantise_between(value[2], low[2], high[2], 2047);
}

static uint32_t pack_rotation(const float q[4])
{
    float rest[3];
    uint32_t word = (uint32_t)orr_largest_and_rest(q, rest);
    for (int k = 0; k < 3; k++) {
        word = word << 10 | orr_quantise((rest[k] * sqrtf(0.5f) + 0.5f) * 1023.0f, 1023);
    }
    return word;
}

static void put_chunk_bounds(const orr_splats_view *d, const int64_t *order, int64_t count,
                             orr_file_writer *out)
{
    float low[9], high[9];
    uint8_t row[BOUNDS * 4];
    chunk_bounds(d, order, count, low, high);
    for (int group = 0; group < 3; group++) {
        for (int k = 0; k < 3; k++) {
            orr_put_f32(row + 24 * group + 4 * k, low[3 * group + k]);
            orr_put_f32(row + 24 * group + 12 + 4 * k, high[3 * group + k]);
        }
    }
    orr_file_put(out, row, sizeof row);
}

static void put_chunk_splats(const orr_splats_view *d, const int64_t *order, int64_t count,
                             orr_file_writer *out)
{
    float low[9], high[9], value[9];
    chunk_bounds(d, order, count, low, high);
    for (int64_t i = 0; i < count; i++) {
        uint8_t row[16];
        uint32_t colour = 0;
        bounded_values(d, order[i], value);
        for (int k = 6; k < 9; k++) {
            colour = colour << 8 | orr_quantise_between(value[k], low[k], high[k], 255);
        }
        orr_put_u32(row, pack_11_10_11(value, low, high));
        orr_put_u32(row + 4, pack_rotation(d->rotation + 4 * order[i]));
        orr_put_u32(row + 8, pack_11_10_11(value + 3, low + 3, high + 3));
        orr_put_u32(row + 12, colour << 8 | orr_opacity_byte(d->opacity[order[i]]));
        orr_file_put(out, row, sizeof row);
    }
}

static void put_chunk_harmonics(const orr_splats_view *d, const int64_t *order, int64_t count,
                                orr_file_writer *out)
{
    const int rest = orr_sh_rest(d->sh_degree);
    for (int64_t i = 0; i < count; i++) {
        uint8_t row[45];
        for (int k = 0; k < 3 * rest; k++) {
            int channel = k / rest, coefficient = k % rest;
            float x = d->harmonics[3 * (order[i] * rest + coefficient) + channel];
            row[k] = (uint8_t)orr_clamp((x / 8.0f + 0.5f) * 256.0f, 0.0f, 255.0f);
        }
        orr_file_put(out, row, 3 * (size_t)rest);
    }
}

static void put_header(const orr_splats_view *d, orr_file_writer *out)
{
    FILE *text = out->stream;
    fprintf(text, "ply\nformat binary_little_endian 1.0\n");
    if (d->antialiased) {
        fprintf(text, "comment SplatRenderMode: mip\n");
    }
    fprintf(text, "element chunk %lld\n", (long long)((d->count + CHUNK - 1) / CHUNK));
    for (int k = 0; k < BOUNDS; k++) {
        fprintf(text, "property float %s\n", bound_names[k]);
    }
    fprintf(text, "element vertex %lld\n", (long long)d->count);
    for (int k = 0; k < 4; k++) {
        fprintf(text, "property uint %s\n", word_names[k]);
    }
    if (d->sh_degree > 0) {
        fprintf(text, "element sh %lld\n", (long long)d->count);
    }
    for (int k = 0; k < 3 * orr_sh_rest(d->sh_degree); k++) {
        fprintf(text, "property uchar f_rest_%d\n", k);
    }
    fprintf(text, "end_header\n");
}

orr_result orr_write_compressed_ply(const orr_splats *splats, orr_file_writer *out, orr_error *error)
{
    static void (*const parts[])(const orr_splats_view *, const int64_t *, int64_t, orr_file_writer *) = {
        put_chunk_bounds, put_chunk_splats, put_chunk_harmonics};
    const orr_splats_view *d = &splats->data;
    int64_t *order;
    // so that the splats of a chunk are neighbours
    ORR_TRY(orr_splats_morton_order(d, &order, error));
    put_header(d, out);
    for (int part = 0; part < 3; part++) {
        for (int64_t first = 0; first < d->count; first += CHUNK) {
            int64_t count = d->count - first < CHUNK ? d->count - first : CHUNK;
            parts[part](d, order + first, count, out);
        }
    }
    orr_free(order);
    return ORR_OK;
}
