#define ORR_SCALAR
#include "render/mesh.h"

#include "engine/core/memory.h"
#include "engine/maths/colour_formula.h"
#include "engine/maths/vector.h"
#include "render/appearance/neural_material.h"

#include <math.h>
#include <string.h>

enum { SIDE_MAX = 32768 }; // a chain's texels are counted in 32 bits

int orr_mip_levels(int width, int height)
{
    int levels = 1;
    for (int side = width > height ? width : height; side > 1; side >>= 1) {
        levels++;
    }
    return levels;
}

int orr_mip_chain(const orr_image8 *picture, int32_t first[ORR_MIP_LEVELS])
{
    const int levels = orr_mip_levels(picture->width, picture->height);
    first[0] = 0;
    for (int i = 1; i < levels; i++) {
        first[i] = first[i - 1] + orr_mip_side(picture->width, i - 1) * orr_mip_side(picture->height, i - 1);
    }
    return levels;
}

int orr_mesh_texture_levels(const orr_mesh *mesh, const orr_image8 *texture, int32_t first[ORR_MIP_LEVELS])
{
    const int levels = orr_mip_chain(texture, first);
    return mesh->has_mips ? levels : 1;
}

static size_t mip_texels(int width, int height)
{
    size_t texels = 0;
    for (int level = 1; level < orr_mip_levels(width, height); level++) {
        texels += (size_t)orr_mip_side(width, level) * (size_t)orr_mip_side(height, level);
    }
    return texels;
}

void orr_mesh_destroy(orr_mesh *mesh)
{
    if (!mesh) {
        return;
    }
    for (int i = 0; i < mesh->texture_count && !mesh->borrows_textures; i++) {
        orr_image8_free(&mesh->textures[i]);
    }
    for (int i = 0; i < mesh->material_count; i++) {
        orr_neural_material_destroy(mesh->materials[i].neural);
    }
    orr_free(mesh->vertices);
    orr_free(mesh->second_uv);
    orr_free(mesh->indices);
    orr_free(mesh->parts);
    orr_free(mesh->materials);
    orr_free(mesh->lights);
    if (!mesh->borrows_textures) {
        orr_free(mesh->textures);
    }
    orr_free(mesh);
}

size_t orr_mesh_bytes(const orr_mesh *mesh)
{
    size_t bytes = sizeof *mesh + (size_t)mesh->vertex_count * sizeof *mesh->vertices +
                   (size_t)mesh->index_count * sizeof *mesh->indices +
                   (size_t)mesh->part_count * sizeof *mesh->parts +
                   (size_t)mesh->material_count * sizeof *mesh->materials;
    bytes += mesh->second_uv ? 2 * (size_t)mesh->vertex_count * sizeof *mesh->second_uv : 0;
    for (int i = 0; i < mesh->texture_count; i++) {
        const orr_image8 *texture = &mesh->textures[i];
        size_t mips = mesh->has_mips ? mip_texels(texture->width, texture->height) : 0;
        bytes += 4 * ((size_t)texture->width * (size_t)texture->height + mips);
    }
    for (int i = 0; i < mesh->material_count; i++) {
        const orr_neural_material *neural = mesh->materials[i].neural;
        if (neural) {
            bytes +=
                sizeof *neural + 8 * orr_neural_texels(neural->latents[0].width, neural->latents[0].height);
        }
    }
    return bytes;
}

static uint8_t encode(float linear)
{
    return (uint8_t)(255.0f * linear_to_srgb(linear) + 0.5f);
}

enum { CELLS = 4096 };

// encode as a table, since powers are most of a chain's time: the least values of the bytes, and the byte of
// the least value of each of equal parts of 0 .. 1. All of a part has this byte or the next: where bytes are
// closest, 0.8 of them are in a part.
typedef struct byte_table {
    float least[257];
    uint8_t first[CELLS + 1];
} byte_table;

static void fill_byte_table(byte_table *t)
{
    t->least[0] = 0.0f;
    t->least[256] = INFINITY;
    for (int i = 1; i < 256; i++) {
        float least = srgb_to_linear(((float)i - 0.5f) / 255.0f); // up to rounding
        while (encode(least) >= i) {
            least = nextafterf(least, 0.0f);
        }
        while (encode(least) < i) {
            least = nextafterf(least, 1.0f);
        }
        t->least[i] = least;
    }
    int byte = 0;
    for (int i = 0; i <= CELLS; i++) {
        while (t->least[byte + 1] <= (float)i / CELLS) {
            byte++;
        }
        t->first[i] = (uint8_t)byte;
    }
}

static uint8_t encoded(const byte_table *t, float linear)
{
    const int byte = t->first[linear < 1.0f ? (int)(linear * CELLS) : CELLS];
    return (uint8_t)(byte + (linear >= t->least[byte + 1]));
}

typedef struct mip_tables {
    float linear[256], opaque[256]; // the light of a byte; times 255
    byte_table bytes;
} mip_tables;

static void fill_mip_tables(mip_tables *t)
{
    for (int i = 0; i < 256; i++) {
        t->linear[i] = srgb_to_linear((float)i / 255.0f);
        t->opaque[i] = 255.0f * t->linear[i];
    }
    fill_byte_table(&t->bytes);
}

static bool are_alike(const uint8_t *const texels[4])
{
    uint32_t values[4];
    for (int i = 0; i < 4; i++) {
        memcpy(values + i, texels[i], sizeof *values);
    }
    return values[0] == values[1] && values[0] == values[2] && values[0] == values[3];
}

static void average(const mip_tables *t, const uint8_t *const from[4], uint8_t to[4])
{
    if (are_alike(from)) { // their light is that of the same byte
        memcpy(to, from[0], 4);
        return;
    }
    const int sum = from[0][3] + from[1][3] + from[2][3] + from[3][3];
    const float alpha = (float)sum;
    for (int c = 0; c < 3; c++) {
        float colour = 0.0f; // the colour behind a hole does not bleed into its rim
        for (int i = 0; i < 4; i++) {
            const uint8_t byte = from[i][c];
            colour += sum == 4 * 255 ? t->opaque[byte]
                      : sum > 0      ? from[i][3] * t->linear[byte]
                                     : 0.25f * t->linear[byte];
        }
        to[c] = encoded(&t->bytes, sum > 0 ? colour / alpha : colour);
    }
    to[3] = (uint8_t)(0.25f * alpha + 0.5f);
}

// One level from the one above it; odd sides drop their last row or column.
static void halve(const mip_tables *t, const uint8_t *from, int width, int height, uint8_t *to)
{
    const int half_width = orr_mip_side(width, 1), half_height = orr_mip_side(height, 1);
    const size_t row = 4 * (size_t)width, right = width > 1 ? 4 : 0, below = height > 1 ? row : 0;
    for (int y = 0; y < half_height; y++) {
        for (int x = 0; x < half_width; x++) {
            const uint8_t *p = from + 2 * ((size_t)y * row + 4 * (size_t)x);
            average(t, (const uint8_t *const[]){p, p + right, p + below, p + below + right}, to);
            to += 4;
        }
    }
}

size_t orr_mip_texels(int width, int height)
{
    return (size_t)width * (size_t)height + mip_texels(width, height);
}

void orr_mips_fill(const orr_image8 *picture)
{
    mip_tables tables;
    fill_mip_tables(&tables);
    uint8_t *chain = picture->rgba;
    for (int level = 1; level < orr_mip_levels(picture->width, picture->height); level++) {
        const int width = orr_mip_side(picture->width, level - 1);
        const int height = orr_mip_side(picture->height, level - 1);
        uint8_t *next = chain + 4 * (size_t)width * (size_t)height;
        halve(&tables, chain, width, height, next);
        chain = next;
    }
}

orr_result orr_mesh_build_mips(orr_mesh *mesh, orr_error *error)
{
    for (int i = 0; i < mesh->texture_count; i++) {
        orr_image8 *texture = &mesh->textures[i];
        int width = texture->width, height = texture->height;
        if (width > SIDE_MAX || height > SIDE_MAX) {
            return orr_fail(error, ORR_CODE_MESH_FILE,
                            "a texture of %d x %d pixels: expected sides of at most %d", width, height,
                            SIDE_MAX);
        }
        uint8_t *chain;
        ORR_ALLOC(chain, 4 * orr_mip_texels(width, height), "a mip chain", error);
        memcpy(chain, texture->rgba, 4 * (size_t)width * (size_t)height);
        orr_image8_free(texture);
        *texture = (orr_image8){width, height, chain};
        orr_mips_fill(texture);
    }
    mesh->has_mips = true;
    return ORR_OK;
}

orr_triangle_view orr_mesh_for_sdf(const orr_mesh *mesh)
{
    orr_triangle_view m = {.positions = mesh->vertices[0].position,
                           .normals = mesh->vertices[0].normal,
                           .stride = sizeof *mesh->vertices / sizeof(float),
                           .vertex_count = mesh->vertex_count,
                           .indices = mesh->indices,
                           .index_count = mesh->index_count};
    memcpy(m.low, mesh->low, sizeof m.low);
    memcpy(m.high, mesh->high, sizeof m.high);
    return m;
}

void orr_box_corner(const float low[3], const float high[3], const float map[12], int corner, float moved[3])
{
    float p[3];
    for (int k = 0; k < 3; k++) {
        p[k] = corner >> k & 1 ? high[k] : low[k];
    }
    affine_apply_to_point(map, p, moved);
}
