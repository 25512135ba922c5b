// .ply as the 3D Gaussian splatting trainers write it: one row of numbers per splat; and points.
#include "engine/core/memory.h"
#include "engine/mesh/ply_header.h"
#include "render/formats/splat_bytes.h"

#include <stdio.h>
#include <strings.h>

enum { COLUMNS = 14 + 45, BLOCK = 64 };

// where the values of one property go
typedef struct column {
    const orr_ply_property *property;
    int index;    // of the property in its row
    float *value; // of the first splat
    int step;     // floats from one splat to the next
} column;

typedef struct ply_columns {
    int count;
    column column[COLUMNS];
} ply_columns;

// ---- numbers in any type and byte order ----

static double load_number(const uint8_t *p, orr_ply_type type, bool big_endian)
{
    uint8_t bytes[8];
    int size = orr_ply_type_size(type);
    for (int k = 0; k < size; k++) {
        bytes[k] = p[big_endian ? size - 1 - k : k];
    }
    switch (type) {
    case ORR_PLY_CHAR:
        return (int8_t)bytes[0];
    case ORR_PLY_UCHAR:
        return bytes[0];
    case ORR_PLY_SHORT:
        return (int16_t)orr_get_u16(bytes);
    case ORR_PLY_USHORT:
        return orr_get_u16(bytes);
    case ORR_PLY_INT:
        return (int32_t)orr_get_u32(bytes);
    case ORR_PLY_UINT:
        return orr_get_u32(bytes);
    case ORR_PLY_FLOAT:
        return (double)orr_get_f32(bytes);
    case ORR_PLY_DOUBLE: {
        uint64_t bits = orr_get_u64(bytes);
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    case ORR_PLY_LIST:
        break;
    }
    return (double)NAN;
}

static void read_binary(orr_splat_source source, const orr_ply_header *header, const orr_ply_element *vertex,
                        const ply_columns *columns)
{
    const size_t stride = (size_t)vertex->stride;
    const bool big = header->encoding == ORR_PLY_BIG_ENDIAN;
    // a block of rows stays in the first-level cache while its columns are read one after another
    for (int64_t first = 0; first < vertex->count; first += BLOCK) {
        int64_t rest = vertex->count - first;
        int rows = rest < BLOCK ? (int)rest : BLOCK;
        const uint8_t *block = source.data + vertex->offset + (size_t)first * stride;
        for (int c = 0; c < columns->count; c++) {
            const column *to = &columns->column[c];
            const uint8_t *from = block + to->property->offset;
            float *value = to->value + first * to->step;
            if (to->property->type == ORR_PLY_FLOAT && !big) {
                for (int i = 0; i < rows; i++) {
                    value[i * to->step] = orr_get_f32(from + (size_t)i * stride);
                }
            } else {
                for (int i = 0; i < rows; i++) {
                    value[i * to->step] =
                        (float)load_number(from + (size_t)i * stride, to->property->type, big);
                }
            }
        }
    }
}

// ---- numbers as text ----

// Takes "nan", "inf" or "infinity" in any case, which printf writes for values that are not finite.
static bool take_name(const uint8_t **at, const uint8_t *end, bool negative, double *value)
{
    static const char *const names[] = {"infinity", "inf", "nan"};
    for (int n = 0; n < 3; n++) {
        const size_t length = strlen(names[n]);
        if ((size_t)(end - *at) < length || strncasecmp((const char *)*at, names[n], length) != 0) {
            continue;
        }
        const uint8_t *p = *at + length;
        if (p == end || *p <= ' ') {
            *at = p;
            *value = n == 2 ? (double)NAN : negative ? -(double)INFINITY : (double)INFINITY;
            return true;
        }
    }
    return false;
}

// Takes one decimal number; false when the word there is none. Our own, because strtod depends on the
// host's locale.
static bool take_number(const uint8_t **at, const uint8_t *end, double *value)
{
    const uint8_t *p = *at;
    while (p < end && *p <= ' ') {
        p++;
    }
    bool negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    if (p < end && (*p | 0x20) >= 'i' && take_name(&p, end, negative, value)) {
        *at = p;
        return true;
    }
    double digits = 0.0;
    int exponent = 0, seen = 0;
    bool point = false;
    for (; p < end && ((*p >= '0' && *p <= '9') || (*p == '.' && !point)); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        seen = 1;
        if (digits < 1e17) { // digits beyond the precision of double change only the exponent
            digits = 10.0 * digits + (*p - '0');
            exponent -= point && exponent > -9999;
        } else {
            exponent += !point && exponent < 9999;
        }
    }
    if (seen && p < end && (*p == 'e' || *p == 'E')) {
        p++;
        bool minus = p < end && *p == '-';
        p += p < end && (*p == '-' || *p == '+');
        int power = 0;
        for (seen = 0; p < end && *p >= '0' && *p <= '9'; p++) {
            seen = 1;
            power = power < 9999 ? 10 * power + (*p - '0') : power;
        }
        exponent += minus ? -power : power;
    }
    *at = p;
    if (!seen || (p<end && * p> ' ')) {
        return false;
    }
    // in two steps, so that 123456e-320 does not meet a power that is zero
    double scaled =
        exponent < -300 ? digits * 1e-300 * pow(10.0, exponent + 300) : digits * pow(10.0, exponent);
    *value = digits == 0.0 ? 0.0 : negative ? -scaled : scaled;
    return true;
}

static orr_result read_ascii(orr_splat_source source, const orr_ply_header *header,
                             const orr_ply_element *vertex, const ply_columns *columns, orr_error *error)
{
    const uint8_t *at = source.data + header->size, *end = source.data + source.size;
    double row[ORR_PLY_PROPERTIES] = {0};
    for (const orr_ply_element *element = header->element; element <= vertex; element++) {
        for (int64_t i = 0; i < element->count && element->properties > 0; i++) {
            for (int k = 0; k < element->properties; k++) {
                const orr_ply_property *property = &header->property[element->first + k];
                if (property->type == ORR_PLY_LIST || !take_number(&at, end, &row[k])) {
                    return orr_fail(error, ORR_CODE_FILE_VALUE, "%s: byte %zu: element %s, row %lld, %s: %s",
                                    source.name, (size_t)(at - source.data), element->name, (long long)i,
                                    property->name,
                                    at == end ? "the file ends, expected a number" : "expected a number");
                }
            }
            for (int c = 0; element == vertex && c < columns->count; c++) {
                const column *to = &columns->column[c];
                to->value[i * to->step] = (float)row[to->index];
            }
        }
    }
    return ORR_OK;
}

// ---- which property goes where ----

static orr_result add_column(const char *file, const orr_ply_header *header, const orr_ply_element *vertex,
                             ply_columns *columns, const char *name, float *value, int step, orr_error *error)
{
    const orr_ply_property *property = orr_ply_find_property(header, vertex, name);
    if (!property || property->type == ORR_PLY_LIST) {
        return orr_fail(error, ORR_CODE_FILE_HEADER, "%s: header: element vertex has no number called %s",
                        file, name);
    }
    columns->column[columns->count++] =
        (column){property, (int)(property - header->property) - vertex->first, value, step};
    return ORR_OK;
}

// How many f_rest properties of one channel there are: 0, 3, 8, 15, or 24, of which degree 4 is dropped.
static orr_result count_harmonics(const char *file, const orr_ply_header *header,
                                  const orr_ply_element *vertex, int *per_channel, orr_error *error)
{
    int count = 0;
    for (char name[ORR_PLY_NAME];; count++) {
        snprintf(name, sizeof name, "f_rest_%d", count);
        if (!orr_ply_find_property(header, vertex, name)) {
            break;
        }
    }
    if (count != 0 && count != 9 && count != 24 && count != 45 && count != 72) {
        return orr_fail(error, ORR_CODE_FILE_HEADER,
                        "%s: header: %d properties f_rest, expected 0, 9, 24 or 45 (or 72)", file, count);
    }
    *per_channel = count / 3;
    return ORR_OK;
}

static orr_result find_columns(const char *file, const orr_ply_header *header, const orr_ply_element *vertex,
                               const orr_splats_view *d, int per_channel, ply_columns *columns,
                               orr_error *error)
{
    const struct {
        const char *name;
        float *value;
        int step;
    } plan[] = {
        {"x", d->position, 3},         {"y", d->position + 1, 3},     {"z", d->position + 2, 3},
        {"f_dc_0", d->colour, 3},      {"f_dc_1", d->colour + 1, 3},  {"f_dc_2", d->colour + 2, 3},
        {"opacity", d->opacity, 1},    {"scale_0", d->log_scale, 3},  {"scale_1", d->log_scale + 1, 3},
        {"rot_0", d->rotation, 4},     {"rot_1", d->rotation + 1, 4}, {"rot_2", d->rotation + 2, 4},
        {"rot_3", d->rotation + 3, 4},
    };
    for (size_t i = 0; i < sizeof plan / sizeof plan[0]; i++) {
        ORR_TRY(add_column(file, header, vertex, columns, plan[i].name, plan[i].value, plan[i].step, error));
    }
    if (orr_ply_find_property(header, vertex, "scale_2")) {
        ORR_TRY(add_column(file, header, vertex, columns, "scale_2", d->log_scale + 2, 3, error));
    } else {
        // a file of 2D splats: discs, a millionth of a unit thick
        for (int64_t i = 0; i < d->count; i++) {
            d->log_scale[3 * i + 2] = logf(1e-6f);
        }
    }
    int rest = orr_sh_rest(d->sh_degree);
    for (int k = 0; k < 3 * rest; k++) {
        char name[ORR_PLY_NAME];
        int channel = k / rest, coefficient = k % rest;
        snprintf(name, sizeof name, "f_rest_%d", channel * per_channel + coefficient);
        ORR_TRY(add_column(file, header, vertex, columns, name, d->harmonics + 3 * coefficient + channel,
                           3 * rest, error));
    }
    return ORR_OK;
}

// ---- points: positions, and colours where there are some ----

static bool has_splats(const orr_ply_header *header)
{
    for (int i = 0; i < header->properties; i++) {
        const char *name = header->property[i].name;
        if (strcmp(name, "f_dc_0") == 0 || strcmp(name, "scale_0") == 0 || strcmp(name, "rot_0") == 0) {
            return true;
        }
    }
    return false;
}

static bool has_triangles(const orr_ply_header *header)
{
    for (int i = 0; i < header->elements; i++) {
        const orr_ply_element *element = &header->element[i];
        if (element->count > 0 &&
            (strcmp(element->name, "face") == 0 || strcmp(element->name, "tristrips") == 0)) {
            return true;
        }
    }
    return false;
}

static const char *const point_colours[4] = {"red", "green", "blue", "alpha"};

static orr_result find_point_columns(const char *file, const orr_ply_header *header,
                                     const orr_ply_element *vertex, const orr_splats_view *d,
                                     ply_columns *columns, orr_error *error)
{
    static const char *const axes[3] = {"x", "y", "z"};
    for (int k = 0; k < 3; k++) {
        ORR_TRY(add_column(file, header, vertex, columns, axes[k], d->position + k, 3, error));
    }
    for (int k = 0; k < 4; k++) {
        if (orr_ply_find_property(header, vertex, point_colours[k])) {
            float *value = k < 3 ? d->colour + k : d->opacity;
            ORR_TRY(add_column(file, header, vertex, columns, point_colours[k], value, k < 3 ? 3 : 1, error));
        }
    }
    return ORR_OK;
}

// Colours and opacities as numbers of the file's type become coefficients and logits; what the file does not
// have is grey and opaque.
static void decode_point_colours(const orr_ply_header *header, const orr_ply_element *vertex,
                                 const orr_splats_view *d)
{
    float logit[256];
    orr_logit_table(logit);
    for (int k = 0; k < 4; k++) {
        const orr_ply_property *p = orr_ply_find_property(header, vertex, point_colours[k]);
        const int step = k < 3 ? 3 : 1;
        float *value = k < 3 ? d->colour + k : d->opacity;
        const float most = !p                          ? 1.0f
                           : p->type == ORR_PLY_UCHAR  ? 255.0f
                           : p->type == ORR_PLY_USHORT ? 65535.0f
                                                       : 1.0f;
        for (int64_t i = 0; i < d->count; i++) {
            float *v = value + i * step;
            if (k < 3) {
                *v = p ? (*v / most - 0.5f) / ORR_SH_C0 : 0.0f;
            } else {
                *v = logit[p ? orr_quantise(*v / most * 255.0f, 255) : 255];
            }
        }
    }
}

// ---- all of it ----

orr_result orr_read_ply(orr_splat_source source, orr_splats **splats, orr_error *error)
{
    *splats = NULL;
    orr_ply_header header;
    const orr_ply_element *vertex = NULL;
    int per_channel = 0;
    ORR_TRY(orr_ply_read_header(source.name, source.data, source.size, &header, error));
    const bool points = !has_splats(&header);
    if (points && has_triangles(&header)) {
        return orr_fail(error, ORR_CODE_MESH_FILE, "%s: a mesh: expected a splat cloud or points",
                        source.name);
    }
    ORR_TRY(orr_ply_find_element(source.name, source.size, &header, "vertex", &vertex, error));
    ORR_TRY(count_harmonics(source.name, &header, vertex, &per_channel, error));
    // text has at least a digit and a blank for each number
    size_t rest = (source.size - header.size) / 2 + 1;
    if (header.encoding == ORR_PLY_ASCII && (size_t)(vertex->count * vertex->properties) > rest) {
        return orr_fail(error, ORR_CODE_FILE_TRUNCATED, "%s: element vertex: %zu bytes cannot hold %lld rows",
                        source.name, source.size - header.size, (long long)vertex->count);
    }
    int degree = per_channel == 0 ? 0 : per_channel == 3 ? 1 : per_channel == 8 ? 2 : 3;
    ply_columns columns = {0};
    orr_splats *cloud;
    ORR_TRY(orr_splats_create(vertex->count, degree, &cloud, error));
    cloud->data.antialiased = header.antialiased;
    if (per_channel > orr_sh_rest(degree)) {
        orr_splats_warn(cloud, "SH of degree 4 is left out");
    }
    orr_result result =
        points ? find_point_columns(source.name, &header, vertex, &cloud->data, &columns, error)
               : find_columns(source.name, &header, vertex, &cloud->data, per_channel, &columns, error);
    if (result == ORR_OK && header.encoding == ORR_PLY_ASCII) {
        result = read_ascii(source, &header, vertex, &columns, error);
    } else if (result == ORR_OK) {
        read_binary(source, &header, vertex, &columns);
    }
    if (result == ORR_OK && points) {
        decode_point_colours(&header, vertex, &cloud->data);
        result = orr_splats_of_points(&cloud->data, error);
    }
    return orr_splats_finish(cloud, result, source.name, splats, error);
}

// ---- writing ----

static void put_header(const orr_splats_view *d, orr_file_writer *out)
{
    fprintf(out->stream, "ply\nformat binary_little_endian 1.0\n");
    if (d->antialiased) {
        fprintf(out->stream, "comment SplatRenderMode: mip\n");
    }
    fprintf(out->stream, "element vertex %lld\n", (long long)d->count);
    static const char *const before[] = {"x", "y", "z", "nx", "ny", "nz", "f_dc_0", "f_dc_1", "f_dc_2"};
    static const char *const after[] = {"opacity", "scale_0", "scale_1", "scale_2",
                                        "rot_0",   "rot_1",   "rot_2",   "rot_3"};
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        fprintf(out->stream, "property float %s\n", before[i]);
    }
    for (int i = 0; i < 3 * orr_sh_rest(d->sh_degree); i++) {
        fprintf(out->stream, "property float f_rest_%d\n", i);
    }
    for (size_t i = 0; i < sizeof after / sizeof after[0]; i++) {
        fprintf(out->stream, "property float %s\n", after[i]);
    }
    fprintf(out->stream, "end_header\n");
}

static uint8_t *put_floats(uint8_t *at, const float *values, int count)
{
    for (int k = 0; k < count; k++, at += 4) {
        orr_put_f32(at, values[k]);
    }
    return at;
}

orr_result orr_write_ply(const orr_splats *splats, orr_file_writer *out, orr_error *error)
{
    (void)error; // nothing here can fail before the commit
    const orr_splats_view *d = &splats->data;
    const int rest = orr_sh_rest(d->sh_degree);
    static const float normal[3] = {0};
    put_header(d, out);
    for (int64_t i = 0; i < d->count; i++) {
        uint8_t row[62 * 4], *at = row;
        at = put_floats(at, d->position + 3 * i, 3);
        at = put_floats(at, normal, 3);
        at = put_floats(at, d->colour + 3 * i, 3);
        for (int channel = 0; channel < 3; channel++) {
            for (int k = 0; k < rest; k++) {
                at = put_floats(at, d->harmonics + 3 * (i * rest + k) + channel, 1);
            }
        }
        at = put_floats(at, d->opacity + i, 1);
        at = put_floats(at, d->log_scale + 3 * i, 3);
        at = put_floats(at, d->rotation + 4 * i, 4);
        orr_file_put(out, row, (size_t)(at - row));
    }
    return ORR_OK;
}
