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
    chunk->record_count += mesh_set_corners(&raster->lens, raster->surfaces[chunk->surface].two_sided,
                                            raster->edge_bits != NULL, x, y, record);
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
    chunk->record_count = chunk->bin_first = 0;
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

// Has one of the pixels that a triangle may cover an edge?
static bool reaches_edge(const mesh_raster *raster, const int32_t x[3], const int32_t y[3])
{
    const mesh_box box = mesh_box_of(x, y, raster->lens.width, raster->lens.height, true);
    for (int row = box.top; row <= box.bottom; row++) {
        for (int column = box.left; column <= box.right; column++) {
            if (raster->edge_bits[row * raster->columns + column / MESH_TILE] >> column % MESH_TILE & 1) {
                return true;
            }
        }
    }
    return false;
}

void orr_mesh_set_up_slivers(const mesh_raster *raster, mesh_chunk *chunk)
{
    const mesh_surface *surface = &raster->surfaces[chunk->surface];
    chunk->bin_first = chunk->record_count;
    if (surface->blended) {
        return;
    }
    for (uint32_t i = 0; i < chunk->sliver_count; i++) {
        const uint32_t triangle = chunk->kept[chunk->count - 1 - i];
        const uint32_t *index = surface->instance->mesh->indices + 3 * (size_t)triangle;
        mesh_point points[3];
        int32_t x[3], y[3];
        for (int k = 0; k < 3; k++) {
            points[k] = surface->instance->points[index[k]];
            x[k] = points[k].screen_x;
            y[k] = points[k].screen_y;
        }
        mesh_record plane = {.triangle = triangle, .surface = chunk->surface};
        if (reaches_edge(raster, x, y) && mesh_set_plane(&raster->lens, points, &plane)) {
            add_record(raster, chunk, &plane, x, y);
        }
    }
}

// The tiles that a record may reach.
static mesh_box tiles_of(const mesh_raster *raster, const mesh_record *record)
{
    const mesh_box box =
        mesh_box_of(record->x, record->y, raster->lens.width, raster->lens.height, raster->edge_bits != NULL);
    return (mesh_box){box.left / MESH_TILE, box.top / MESH_TILE, box.right / MESH_TILE,
                      box.bottom / MESH_TILE};
}

void orr_mesh_bin_count(const mesh_raster *raster, const mesh_bins *bins, int group)
{
    size_t tiles = (size_t)raster->columns * (size_t)raster->rows;
    uint32_t *counts = bins->group_bins + (size_t)group * tiles;
    memset(counts, 0, tiles * sizeof *counts);
    for (int c = raster->group_chunks[group]; c < raster->group_chunks[group + 1]; c++) {
        const mesh_chunk *chunk = &raster->chunks[c];
        for (uint32_t i = chunk->bin_first; i < chunk->record_count; i++) {
            mesh_box range = tiles_of(raster, &raster->records[chunk->record_first + i]);
            for (int y = range.top; y <= range.bottom; y++) {
                for (int x = range.left; x <= range.right; x++) {
                    counts[y * raster->columns + x]++;
                }
            }
        }
    }
}

void orr_mesh_bin_fill(const mesh_raster *raster, const mesh_bins *bins, int group)
{
    uint32_t *next = bins->group_bins + (size_t)group * (size_t)raster->columns * (size_t)raster->rows;
    for (int c = raster->group_chunks[group]; c < raster->group_chunks[group + 1]; c++) {
        const mesh_chunk *chunk = &raster->chunks[c];
        for (uint32_t i = chunk->bin_first; i < chunk->record_count; i++) {
            mesh_box range = tiles_of(raster, &raster->records[chunk->record_first + i]);
            for (int y = range.top; y <= range.bottom; y++) {
                for (int x = range.left; x <= range.right; x++) {
                    bins->records[next[y * raster->columns + x]++] = chunk->record_first + i;
                }
            }
        }
    }
}
