// Files of neural materials: eight letters, sizes, then numbers, all little-endian.
//
//     char[8]    "ORRMAT01"
//     int32[4]   the network's width n (16 or 32); width and height of the latents [texels]; 0
//     float32[]  6 x 8: the learnt frame; n x 24, n x n, 7 x n: the network of reflected light; 16 x 12,
//                16 x 16, 12 x 16: that of lobes. A matrix for each layer, row after row; the last column of
//                the first is a bias (neural_material.h)
//     uint8[]    the first picture of latents, then the second: levels of the mip chain from the finest on,
//                4 bytes per texel
#include "render/appearance/neural_material.h"

#include "engine/core/bytes.h"
#include "engine/core/memory.h"

#include <math.h>
#include <string.h>

static const char magic[8] = {'O', 'R', 'R', 'M', 'A', 'T', '0', '1'};

size_t orr_neural_texels(int width, int height)
{
    size_t count = 0;
    for (int level = 0; level < orr_mip_levels(width, height); level++) {
        count += (size_t)orr_mip_side(width, level) * (size_t)orr_mip_side(height, level);
    }
    return count;
}

// Part of the weights: rows of as many columns, of which so many are used.
typedef struct matrix {
    float *values;
    int rows, columns, stride;
} matrix;

enum { MATRICES = 7 };

static void matrices_of(orr_neural_weights *w, matrix m[MATRICES])
{
    const int n = w->width;
    const matrix all[MATRICES] = {{w->frame[0], 6, 8, 8},
                                  {w->first[0], n, 24, 24},
                                  {w->second[0], n, n, ORR_NEURAL_WIDTH},
                                  {w->last[0], 7, n, ORR_NEURAL_WIDTH},
                                  {w->lobes_first[0], 16, 12, 12},
                                  {w->lobes_second[0], 16, 16, 16},
                                  {w->lobes_last[0], 12, 16, 16}};
    memcpy(m, all, sizeof all);
}

orr_result orr_neural_material_save(const orr_neural_material *material, const char *path, orr_error *error)
{
    orr_file_writer writer;
    orr_neural_weights weights = material->weights;
    matrix matrices[MATRICES];
    const int32_t sizes[4] = {weights.width, material->latents[0].width, material->latents[0].height, 0};
    matrices_of(&weights, matrices);
    ORR_TRY(orr_file_begin(&writer, path, error));
    orr_file_put(&writer, magic, sizeof magic);
    orr_file_put(&writer, sizes, sizeof sizes);
    for (int i = 0; i < MATRICES; i++) {
        for (int row = 0; row < matrices[i].rows; row++) {
            orr_file_put(&writer, matrices[i].values + row * matrices[i].stride,
                         (size_t)matrices[i].columns * sizeof(float));
        }
    }
    for (int i = 0; i < 2; i++) {
        orr_file_put(&writer, material->latents[i].rgba, 4 * orr_neural_texels(sizes[1], sizes[2]));
    }
    return orr_file_commit(&writer, error);
}

// ---- reading ----

static bool take_matrices(const uint8_t **at, const uint8_t *end, orr_neural_weights *weights, bool *finite)
{
    matrix matrices[MATRICES];
    bool whole = true;
    matrices_of(weights, matrices);
    for (int i = 0; i < MATRICES; i++) {
        for (int row = 0; row < matrices[i].rows && whole; row++) {
            float *values = matrices[i].values + row * matrices[i].stride;
            whole = orr_take_bytes(at, end, values, (size_t)matrices[i].columns * sizeof *values);
            for (int k = 0; k < matrices[i].columns; k++) {
                *finite = *finite && isfinite(values[k]);
            }
        }
    }
    return whole;
}

static orr_result fill(const char *name, const uint8_t *at, const uint8_t *end, const int32_t sizes[4],
                       orr_neural_material *m, orr_error *error)
{
    const size_t size = (size_t)(end - at), bytes = 4 * orr_neural_texels(sizes[1], sizes[2]);
    bool finite = true, whole = true;
    m->weights.width = sizes[0];
    whole = take_matrices(&at, end, &m->weights, &finite) && (size_t)(end - at) == 2 * bytes;
    for (int i = 0; i < 2 && whole; i++) {
        m->latents[i] = (orr_image8){.width = sizes[1], .height = sizes[2]};
        ORR_ALLOC(m->latents[i].rgba, bytes, "latents of a material", error);
        orr_take_bytes(&at, end, m->latents[i].rgba, bytes);
    }
    if (!whole) {
        return orr_fail(error, ORR_CODE_FILE_VALUE,
                        "%s: %zu bytes of numbers: not as many as its header says", name, size);
    }
    return finite ? ORR_OK : orr_fail(error, ORR_CODE_FILE_VALUE, "%s: expected finite numbers", name);
}

orr_result orr_neural_material_read(const char *name, const uint8_t *data, size_t size,
                                    orr_neural_material **material, orr_error *error)
{
    const uint8_t *at = data, *end = data + size;
    char start[sizeof magic];
    int32_t sizes[4] = {0};
    *material = NULL;
    if (!orr_take_bytes(&at, end, start, sizeof start) || memcmp(start, magic, sizeof magic) != 0) {
        return orr_fail(error, ORR_CODE_FILE_TYPE, "%s: expected a neural material (it begins with ORRMAT01)",
                        name);
    }
    if (!orr_take_bytes(&at, end, sizes, sizeof sizes) || (sizes[0] != 16 && sizes[0] != 32)) {
        return orr_fail(error, ORR_CODE_FILE_VALUE, "%s: a network of width %d: expected 16 or 32", name,
                        sizes[0]);
    }
    if (sizes[1] < 1 || sizes[1] > ORR_NEURAL_SIDE_MAX || sizes[2] < 1 || sizes[2] > ORR_NEURAL_SIDE_MAX) {
        return orr_fail(error, ORR_CODE_FILE_VALUE,
                        "%s: latents of %d x %d texels: expected sides of 1 .. %d", name, sizes[1], sizes[2],
                        ORR_NEURAL_SIDE_MAX);
    }
    orr_neural_material *m = orr_alloc_zero(1, sizeof *m);
    if (!m) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a material");
    }
    orr_result result = fill(name, at, end, sizes, m, error);
    if (result != ORR_OK) {
        orr_neural_material_destroy(m);
        return result;
    }
    *material = m;
    return ORR_OK;
}

orr_result orr_neural_material_load(const char *path, orr_neural_material **material, orr_error *error)
{
    orr_bytes bytes;
    *material = NULL;
    ORR_TRY(orr_file_read(path, &bytes, error));
    orr_result result = orr_neural_material_read(path, bytes.data, bytes.size, material, error);
    orr_free(bytes.data);
    return result;
}

void orr_neural_material_destroy(orr_neural_material *material)
{
    if (material) {
        orr_image8_free(&material->latents[0]);
        orr_image8_free(&material->latents[1]);
        orr_free(material);
    }
}
