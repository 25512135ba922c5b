#include "samples/orrery/npy.h"

#include "engine/core/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "\x93NUMPY";
enum { MAGIC_BYTES = 6 };

// "'shape': (3, 4)" in the header's dictionary
static bool read_shape(const char *header, npy_array *array)
{
    const char *at = strstr(header, "'shape':");
    at = at ? strchr(at, '(') : NULL;
    if (!at) {
        return false;
    }
    at++;
    while (*at != ')') {
        char *behind;
        long long size = strtoll(at, &behind, 10);
        if (behind == at || size < 0 || size > INT32_MAX || array->dimensions == NPY_DIMENSIONS) {
            return false;
        }
        array->shape[array->dimensions++] = size;
        at = behind + strspn(behind, ", ");
    }
    return array->dimensions > 0;
}

orr_result npy_parse(const uint8_t *data, size_t size, const char *name, npy_array *array, orr_error *error)
{
    *array = (npy_array){0};
    if (size < 12 || memcmp(data, magic, MAGIC_BYTES) != 0 || data[6] < 1 || data[6] > 3) {
        return orr_fail(error, ORR_CODE_FILE_TYPE, "%s: beginning: expected a .npy file", name);
    }
    bool short_header = data[6] == 1;
    size_t start = short_header ? 10 : 12;
    size_t length = (size_t)data[8] | (size_t)data[9] << 8;
    length |= short_header ? 0 : (size_t)data[10] << 16 | (size_t)data[11] << 24;
    if (length > size - start || length > 65536) {
        return orr_fail(error, ORR_CODE_FILE_TRUNCATED, "%s: header: expected %zu bytes", name, length);
    }
    char *header = orr_alloc(length + 1, 1);
    if (!header) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the header of %s", name);
    }
    memcpy(header, data + start, length);
    header[length] = 0;
    bool wide = strstr(header, "'<f8'") != NULL, known = wide || strstr(header, "'<f4'") != NULL;
    bool good = known && strstr(header, "'fortran_order': False") && read_shape(header, array);
    orr_free(header);
    if (!good) {
        return orr_fail(error, ORR_CODE_FILE_HEADER,
                        "%s: header: expected float32 or float64 in C order, of 1 to 3 dimensions", name);
    }
    size_t count = 1, available = (size - start - length) / (wide ? 8 : 4);
    bool fits = true;
    for (int i = 0; i < array->dimensions; i++) {
        fits = !__builtin_mul_overflow(count, (size_t)array->shape[i], &count) && fits;
    }
    if (!fits || count > available) {
        return orr_fail(error, ORR_CODE_FILE_TRUNCATED, "%s: expected more than the %zu numbers there are",
                        name, available);
    }
    ORR_ALLOC(array->values, count, name, error);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *at = data + start + length + i * (wide ? 8 : 4);
        float narrow;
        if (wide) {
            memcpy(&array->values[i], at, sizeof(double));
        } else {
            memcpy(&narrow, at, sizeof narrow);
            array->values[i] = (double)narrow;
        }
    }
    return ORR_OK;
}

orr_result npy_read(const char *path, npy_array *array, orr_error *error)
{
    orr_bytes bytes;
    *array = (npy_array){0};
    ORR_TRY(orr_file_read(path, &bytes, error));
    orr_result result = npy_parse(bytes.data, bytes.size, path, array, error);
    orr_free(bytes.data);
    return result;
}

void npy_free(npy_array *array)
{
    orr_free(array->values);
    *array = (npy_array){0};
}

void npy_put_header(orr_file_writer *writer, const int64_t *shape, int dimensions)
{
    char text[128];
    int length = snprintf(text, sizeof text, "{'descr': '<f8', 'fortran_order': False, 'shape': (");
    for (int i = 0; i < dimensions; i++) {
        length += snprintf(text + length, sizeof text - (size_t)length, "%" PRId64 ",%s", shape[i],
                           i + 1 < dimensions ? " " : "");
    }
    length += snprintf(text + length, sizeof text - (size_t)length, "), }");
    enum { PREFIX = MAGIC_BYTES + 4 };
    int padded = (PREFIX + length + 1 + 63) / 64 * 64 - PREFIX; // the numbers begin at a multiple of 64
    const uint8_t version[4] = {1, 0, (uint8_t)padded, (uint8_t)(padded >> 8)};
    orr_file_put(writer, magic, MAGIC_BYTES);
    orr_file_put(writer, version, sizeof version);
    orr_file_put(writer, text, (size_t)length);
    for (int i = length; i < padded; i++) {
        orr_file_put(writer, i + 1 < padded ? " " : "\n", 1);
    }
}
