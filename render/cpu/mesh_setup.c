// Triangles made ready for the tiles: cut, oriented, with their plane of nearness; and the tiles' lists.
#include "render/cpu/mesh_raster_stages.h"

#include <string.h>

// Appends a triangle of screen positions unless it faces away or touches no pixel centre. `plane` has its
// other members.
static void add_record(const mesh_raster *raster, mesh_chunk *chunk, const mesh_record *plane,
                       const int32_t x[3], const int32_t y[3])
{
    mesh_record *record = &raster->records[chunk->record_first + chunk->record_count];
    *record = *plane;
    chunk->record_count +=
        mesh_set_corners(&raster->lens, raster->surfaces[chunk->surface].material->two_sided, x, y, record);
}

static void set_up_cut(const mesh_raster *raster, mesh_chunk *chunk, const mesh_record *plane,
                       const mesh_point points[3])
{
    int32_t x[MESH_CORNERS + 1], y[MESH_CORNERS + 1];
    int count = mesh_cut(&raster->lens, points, x, y);
    for (int i = 2; i < count; i++) {
        add_record(raster, chunk, plane, (int32_t[]){x[0], x[i - 1], x[i]},
                   (int32_t[]){y[0], y[i - 1], y[i]});
    }
}

void orr_mesh_set_up(const mesh_raster *raster, mesh_chunk *chunk)
{
    const mesh_instance *instance = raster->surfaces[chunk->surface].instance;
    chunk->record_count = 0;
    for (uint32_t i = 0; i < chunk->kept_count; i++) {
        const uint32_t *index = instance->mesh->indices + 3 * (size_t)chunk->kept[i];
        mesh_point points[3];
        int32_t x[3], y[3], out = 0;
        for (int k = 0; k < 3; k++) {
            points[k] = instance->points[index[k]];
            x[k] = points[k].screen_x;
            y[k] = points[k].screen_y;
            out |= points[k].out;
        }
        mesh_record plane = {.triangle = chunk->kept[i], .surface = chunk->surface};
        if (!mesh_set_plane(&raster->lens, points, &plane)) {
            continue;
        }
        if (out & MESH_OUT_CUT) {
            set_up_cut(raster, chunk, &plane, points);
        } else {
            add_record(raster, chunk, &plane, x, y);
        }
    }
}

typedef struct tile_range {
    int left, right, top, bottom; // inclusive
} tile_range;

static tile_range tiles_of(const mesh_raster *raster, const mesh_record *record)
{
    return (tile_range){mesh_first_pixel(mesh_lowest(record->x)) / MESH_TILE,
                        mesh_last_pixel(mesh_highest(record->x), raster->lens.width) / MESH_TILE,
                        mesh_first_pixel(mesh_lowest(record->y)) / MESH_TILE,
                        mesh_last_pixel(mesh_highest(record->y), raster->lens.height) / MESH_TILE};
}

void orr_mesh_bin_count(const mesh_raster *raster, int group)
{
    size_t tiles = (size_t)raster->columns * (size_t)raster->rows;
    uint32_t *counts = raster->group_bins + (size_t)group * tiles;
    memset(counts, 0, tiles * sizeof *counts);
    for (int c = raster->group_chunks[group]; c < raster->group_chunks[group + 1]; c++) {
        const mesh_chunk *chunk = &raster->chunks[c];
        for (uint32_t i = 0; i < chunk->record_count; i++) {
            tile_range range = tiles_of(raster, &raster->records[chunk->record_first + i]);
            for (int y = range.top; y <= range.bottom; y++) {
                for (int x = range.left; x <= range.right; x++) {
                    counts[y * raster->columns + x]++;
                }
            }
        }
    }
}

void orr_mesh_bin_fill(const mesh_raster *raster, int group)
{
    uint32_t *next = raster->group_bins + (size_t)group * (size_t)raster->columns * (size_t)raster->rows;
    for (int c = raster->group_chunks[group]; c < raster->group_chunks[group + 1]; c++) {
        const mesh_chunk *chunk = &raster->chunks[c];
        for (uint32_t i = 0; i < chunk->record_count; i++) {
            tile_range range = tiles_of(raster, &raster->records[chunk->record_first + i]);
            for (int y = range.top; y <= range.bottom; y++) {
                for (int x = range.left; x <= range.right; x++) {
                    raster->binned[next[y * raster->columns + x]++] = chunk->record_first + i;
                }
            }
        }
    }
}
