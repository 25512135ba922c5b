#include "neural/fields/density.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE_MAX = 4096 };

static orr_result bad(const char *name, const char *expected, orr_error *error)
{
    return orr_fail(error, ORR_CODE_FILE_HEADER, "%s: header: expected %s", name, expected);
}

// the value of 'key': in the header's dict
static const char *member(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    at = at ? at + strlen(key) : NULL;
    while (at && *at == ' ') {
        at++;
    }
    return at;
}

static double value_at(const uint8_t *data, size_t i, char kind)
{
    float f;
    double d;
    uint16_t u;
    switch (kind) {
    case 'f':
        memcpy(&f, data + 4 * i, 4);
        return (double)f;
    case 'd':
        memcpy(&d, data + 8 * i, 8);
        return d;
    case 'u':
        memcpy(&u, data + 2 * i, 2);
        return u;
    default:
        return data[i];
    }
}

static orr_result read_values(const uint8_t *data, char kind, bool fortran, const char *name,
                              orr_density *density, orr_error *error)
{
    size_t x = (size_t)density->size[0], y = (size_t)density->size[1], z = (size_t)density->size[2];
    ORR_ALLOC(density->values, x * y * z, "a density grid", error);
    for (size_t i = 0; i < x * y * z; i++) {
        size_t ix = i % x, iy = i / x % y, iz = i / (x * y);
        float value = (float)value_at(data, fortran ? iz + z * (iy + y * ix) : i, kind);
        if (!isfinite(value)) {
            return orr_fail(error, ORR_CODE_FILE_VALUE, "%s: voxel [%zu, %zu, %zu]: expected a finite number",
                            name, iz, iy, ix);
        }
        density->values[i] = value;
    }
    return ORR_OK;
}

orr_result orr_density_parse(const void *bytes, size_t size, const char *name, orr_density *density,
                             orr_error *error)
{
    static const struct {
        const char *descr;
        char kind;
        size_t size;
    } kinds[] = {{"'<f4'", 'f', 4}, {"'<f8'", 'd', 8}, {"'|u1'", 'b', 1}, {"'<u2'", 'u', 2}};
    const uint8_t *data = bytes;
    char header[1024], *stop;
    *density = (orr_density){0};
    if (size < 12 || memcmp(data, "\x93NUMPY", 6) != 0 || data[6] < 1 || data[6] > 3) {
        return bad(name, "a .npy file of version 1 to 3", error);
    }
    size_t start = data[6] == 1 ? 10 : 12, length = (size_t)data[8] | (size_t)data[9] << 8;
    length |= data[6] == 1 ? 0 : (size_t)data[10] << 16 | (size_t)data[11] << 24;
    if (length >= sizeof header || length > size - start) {
        return bad(name, "a header that is whole and under 1024 bytes", error);
    }
    memcpy(header, data + start, length);
    header[length] = 0;
    const char *descr = member(header, "'descr':"), *order = member(header, "'fortran_order':");
    const char *shape = member(header, "'shape':");
    size_t k = 0, kind_count = sizeof kinds / sizeof kinds[0];
    while (descr && k < kind_count && strncmp(descr, kinds[k].descr, 5) != 0) {
        k++;
    }
    if (!descr || k == kind_count) {
        return bad(name, "descr '<f4', '<f8', '|u1' or '<u2'", error);
    }
    bool fortran = order && strncmp(order, "True", 4) == 0;
    if (!order || (!fortran && strncmp(order, "False", 5) != 0)) {
        return bad(name, "fortran_order True or False", error);
    }
    bool good = shape && *shape == '(';
    for (int i = 2; good && i >= 0; i--) {
        long side = strtol(shape + 1, &stop, 10);
        good = stop > shape + 1 && side >= 1 && side <= SIDE_MAX;
        shape = stop + strspn(stop, " ");
        good = good && (*shape == ',' || (i == 0 && *shape == ')'));
        density->size[i] = good ? (int)side : 0;
    }
    if (!good || (*shape == ',' && shape[1 + strspn(shape + 1, " ")] != ')')) {
        return bad(name, "a shape of three sides, 1 to 4096", error);
    }
    size_t count = (size_t)density->size[0] * (size_t)density->size[1] * (size_t)density->size[2];
    if (count != (size - start - length) / kinds[k].size || count * kinds[k].size != size - start - length) {
        return orr_fail(error, ORR_CODE_FILE_TRUNCATED,
                        "%s: expected %zu values of %zu bytes behind the header", name, count, kinds[k].size);
    }
    orr_result result = read_values(data + start + length, kinds[k].kind, fortran, name, density, error);
    if (result != ORR_OK) {
        orr_density_free(density);
    }
    return result;
}

orr_result orr_density_load(const char *path, orr_density *density, orr_error *error)
{
    orr_bytes bytes;
    *density = (orr_density){0};
    ORR_TRY(orr_file_read(path, &bytes, error));
    orr_result result = orr_density_parse(bytes.data, bytes.size, path, density, error);
    orr_free(bytes.data);
    return result;
}

void orr_density_free(orr_density *density)
{
    orr_free(density->values);
    *density = (orr_density){0};
}

float orr_density_at(const orr_density *density, const float position[3])
{
    int longest = 1, cell[3][2];
    float weight[3], sum = 0.0f;
    for (int k = 0; k < 3; k++) {
        longest = density->size[k] > longest ? density->size[k] : longest;
    }
    for (int k = 0; k < 3; k++) {
        float side = (float)density->size[k];
        float p = (position[k] - 0.5f) * (float)longest + 0.5f * side;
        if (!(p >= 0.0f && p <= side)) {
            return 0.0f;
        }
        p = fminf(fmaxf(p - 0.5f, 0.0f), side - 1.0f);
        cell[k][0] = (int)p;
        cell[k][1] = cell[k][0] + 1 < density->size[k] ? cell[k][0] + 1 : cell[k][0];
        weight[k] = p - (float)cell[k][0];
    }
    for (int i = 0; i < 8; i++) {
        int x = i & 1, y = i >> 1 & 1, z = i >> 2;
        float w = (x ? weight[0] : 1.0f - weight[0]) * (y ? weight[1] : 1.0f - weight[1]) *
                  (z ? weight[2] : 1.0f - weight[2]);
        int64_t row = (int64_t)cell[2][z] * density->size[1] + cell[1][y];
        sum += w * density->values[row * density->size[0] + cell[0][x]];
    }
    return sum;
}
