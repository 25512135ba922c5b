#include "engine/collider/splat_tiles.h"

#include "engine/core/memory.h"
#include "engine/maths/vector.h"

#include <math.h>
#include <string.h>

static const uint32_t ENTRIES_MAX = 1u << 29;

// (S + w^2 I)^-1 = (I - sum of a a^T / (s^2 + w^2)) / w^2 for axes a of lengths s, which may be zero.
void lattice_splat_widen(lattice_splat *splat, double axes[3][3])
{
    static const int rows[6] = {0, 1, 2, 0, 0, 1}, columns[6] = {0, 1, 2, 1, 2, 2};
    double width = (double)SPLAT_WIDTH * (double)SPLAT_WIDTH;
    for (int i = 0; i < 6; i++) {
        double sum = rows[i] == columns[i] ? 1.0 : 0.0, spread = rows[i] == columns[i] ? width : 0.0;
        for (int k = 0; k < 3; k++) {
            double product = axes[k][rows[i]] * axes[k][columns[i]];
            sum -= product / (vec3_dot(axes[k], axes[k]) + width);
            spread += product;
        }
        splat->inverse[i] = (float)(sum / width);
        if (i < 3) {
            splat->reach[i] = (float)sqrt((double)SPLAT_SQUARE * spread);
        }
    }
}

// Tiles that the box of a splat touches; false: none.
static bool find_range(const lattice_splat *s, const int count[3], int low[3], int high[3])
{
    for (int k = 0; k < 3; k++) {
        float from = floorf((s->position[k] - s->reach[k]) / SPLAT_TILE),
              to = floorf((s->position[k] + s->reach[k]) / SPLAT_TILE);
        if (!(to >= 0.0f) || !(from < (float)count[k])) {
            return false;
        }
        low[k] = from > 0.0f ? (int)from : 0;
        high[k] = to < (float)count[k] ? (int)to : count[k] - 1;
    }
    return true;
}

// Does the slab around a flat splat meet the ball around a tile?
static bool meets_tile(const lattice_splat *s, const int tile[3])
{
    float height = 0.0f;
    for (int k = 0; k < 3; k++) {
        height += s->normal[k] * (((float)tile[k] + 0.5f) * SPLAT_TILE - s->position[k]);
    }
    float thick = sqrtf(SPLAT_SQUARE * (s->deviation[0] * s->deviation[0] + SPLAT_WIDTH * SPLAT_WIDTH));
    return fabsf(height) <= thick + 2.0f * s->surface + 0.8661f * SPLAT_TILE;
}

// Counts the tiles of every splat into first[tile + 1], or enters the splat where `entered` is given.
static bool visit_tiles(const lattice_splat *splats, int64_t count, splat_tiles *tiles, uint32_t *entered,
                        int64_t *total)
{
    for (int64_t i = 0; i < count; i++) {
        int low[3], high[3], at[3];
        if (splats[i].opacity <= 0.0f || !find_range(&splats[i], tiles->count, low, high)) {
            continue;
        }
        for (at[2] = low[2]; at[2] <= high[2]; at[2]++) {
            for (at[1] = low[1]; at[1] <= high[1]; at[1]++) {
                for (at[0] = low[0]; at[0] <= high[0]; at[0]++) {
                    if (!meets_tile(&splats[i], at)) {
                        continue;
                    }
                    size_t tile =
                        ((size_t)at[2] * (size_t)tiles->count[1] + (size_t)at[1]) * (size_t)tiles->count[0] +
                        (size_t)at[0];
                    if (entered) {
                        entered[tiles->first[tile]++] = (uint32_t)i;
                    } else {
                        tiles->first[tile + 1]++;
                        *total += 1;
                    }
                }
            }
        }
        if (*total > ENTRIES_MAX) {
            return false;
        }
    }
    return true;
}

orr_result splat_tiles_create(const orr_lattice *lattice, const lattice_splat *splats, int64_t count,
                              splat_tiles *tiles, orr_error *error)
{
    *tiles = (splat_tiles){0};
    size_t tile_count = 1;
    for (int k = 0; k < 3; k++) {
        tiles->count[k] = orr_blocks(lattice->points[k], SPLAT_TILE);
        tile_count *= (size_t)tiles->count[k];
    }
    int64_t total = 0;
    ORR_ALLOC(tiles->first, tile_count + 1, "tiles of a lattice", error);
    memset(tiles->first, 0, (tile_count + 1) * sizeof *tiles->first);
    if (!visit_tiles(splats, count, tiles, NULL, &total)) {
        splat_tiles_free(tiles);
        return orr_fail(error, ORR_CODE_CAPACITY, "a collider: too many large splats: use larger cells");
    }
    for (size_t i = 0; i < tile_count; i++) {
        tiles->first[i + 1] += tiles->first[i];
    }
    tiles->splats = orr_alloc((size_t)total, sizeof *tiles->splats);
    if (!tiles->splats) {
        splat_tiles_free(tiles);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: tiles of a lattice");
    }
    visit_tiles(splats, count, tiles, tiles->splats, &total);
    memmove(tiles->first + 1, tiles->first, tile_count * sizeof *tiles->first); // now they are the ends
    tiles->first[0] = 0;
    return ORR_OK;
}

void splat_tiles_free(splat_tiles *tiles)
{
    orr_free(tiles->first);
    orr_free(tiles->splats);
    *tiles = (splat_tiles){0};
}

// One row of points, from `first` to `last`: the weight by its ratio from point to point, whose ratio is
// constant.
static void sum_row(const lattice_splat *s, const float from[3], int first, int last, float *weight,
                    float *distance)
{
    const float *m = s->inverse;
    float dx = from[0] + (float)first, across = m[3] * from[1] + m[4] * from[2];
    float rest = m[1] * from[1] * from[1] + m[2] * from[2] * from[2] + 2.0f * m[5] * from[1] * from[2];
    float square = m[0] * dx * dx + 2.0f * across * dx + rest;
    float w = s->opacity * expf(-0.5f * square);
    float ratio = expf(-0.5f * m[0] * (2.0f * dx + 1.0f) - across), change = expf(-m[0]);
    float height = s->normal[0] * dx + s->normal[1] * from[1] + s->normal[2] * from[2] - s->surface;
    for (int x = first; x <= last; x++) {
        weight[x] += w;
        if (distance) {
            float back = s->side >= SPLAT_SHEET ? -height - 2.0f * s->surface : height;
            distance[x] += w * (back > height ? back : height);
        }
        w *= ratio;
        ratio *= change;
        height += s->normal[0];
    }
}

static void sum_splat(const lattice_splat *s, const int corner[3], float *weight, float *distance)
{
    int low[3], high[3];
    float from[3]; // from the splat to the tile's first point
    for (int k = 0; k < 3; k++) {
        from[k] = (float)corner[k] - s->position[k];
        float least = ceilf(-from[k] - s->reach[k]), most = floorf(-from[k] + s->reach[k]);
        low[k] = least > 0.0f ? (int)fminf(least, SPLAT_TILE) : 0;
        high[k] = most < SPLAT_TILE - 1 ? (int)fmaxf(most, -1.0f) : SPLAT_TILE - 1;
    }
    const float *m = s->inverse;
    for (int z = low[2]; z <= high[2]; z++) {
        for (int y = low[1]; y <= high[1]; y++) {
            float dy = from[1] + (float)y, dz = from[2] + (float)z;
            // m0 dx^2 + 2 b dx + c = SPLAT_SQUARE
            float b = m[3] * dy + m[4] * dz,
                  c = m[1] * dy * dy + m[2] * dz * dz + 2.0f * m[5] * dy * dz - SPLAT_SQUARE;
            float under = b * b - m[0] * c;
            if (!(under >= 0.0f)) {
                continue;
            }
            float half = sqrtf(under) / m[0], middle = -b / m[0] - from[0];
            int first = (int)fmaxf(ceilf(middle - half), (float)low[0]),
                last = (int)fminf(floorf(middle + half), (float)high[0]);
            if (first <= last) {
                size_t row = ((size_t)z * SPLAT_TILE + (size_t)y) * SPLAT_TILE;
                sum_row(s, (const float[3]){from[0], dy, dz}, first, last, weight + row,
                        distance ? distance + row : NULL);
            }
        }
    }
}

void splat_tile_sum(const splat_tiles *tiles, const lattice_splat *splats, int tile, float *weight,
                    float *distance)
{
    int x = tile % tiles->count[0], y = tile / tiles->count[0] % tiles->count[1],
        z = tile / tiles->count[0] / tiles->count[1];
    const int corner[3] = {x * SPLAT_TILE, y * SPLAT_TILE, z * SPLAT_TILE};
    memset(weight, 0, SPLAT_TILE_POINTS * sizeof *weight);
    if (distance) {
        memset(distance, 0, SPLAT_TILE_POINTS * sizeof *distance);
    }
    for (uint32_t i = tiles->first[tile]; i < tiles->first[tile + 1]; i++) {
        const lattice_splat *s = &splats[tiles->splats[i]];
        if (!distance || s->side != SPLAT_UNUSED) {
            sum_splat(s, corner, weight, distance);
        }
    }
}
