// Points of a tile that are shaded together once all are known: lanes then are of one surface where those of
// neighbouring pixels are of several. Part of the files mesh_*_cpu.c.
#pragma once

#include "render/cpu/mesh_surface_cpu.h"

// Are all lanes of one surface, so that nothing is gained by listing them?
FN bool is_one_surface(const mesh_raster *raster, sint id)
{
    if (!all(id >= I(0))) {
        return false;
    }
    const mesh_surface *surface;
    return all(id == I(id[0])) || all(same_surface(raster, I(-1), id, &surface));
}

// Lists a point x, y [px] that shows a record; part: as in shade_points. Its colour goes to number `to` of
// the planes of shade_listed.
FN void list_point(const mesh_raster *raster, mesh_shade_list *list, int32_t record, float x, float y,
                   float part, int32_t to)
{
    const int32_t surface = raster->records[record].surface, i = list->count++;
    if (list->last[surface] < 0) {
        list->surfaces[list->surface_count++] = surface;
    }
    list->points[i] = (mesh_listed_point){record, x, y, part, to, list->last[surface]};
    list->last[surface] = i;
}

FN void shade_some_listed(const mesh_raster *raster, shade_last *last, const mesh_listed_point *const *points,
                          int count, float *const planes[3], int32_t *met)
{
    int32_t id[ORR_LANES];
    float x[ORR_LANES], y[ORR_LANES], part[ORR_LANES], member[3][ORR_LANES];
    sint key;
    for (int i = 0; i < ORR_LANES; i++) {
        const mesh_listed_point *p = points[i < count ? i : 0];
        id[i] = p->record;
        x[i] = p->x;
        y[i] = p->y;
        part[i] = p->part;
    }
    const real4 colour =
        shade_records(raster, last, sint_load(id), real_load(x), real_load(y), real_load(part), &key);
    real_store(member[0], colour.x);
    real_store(member[1], colour.y);
    real_store(member[2], colour.z);
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) {
            planes[k][points[i]->to] = member[k][i];
        }
        if (met) {
            met[points[i]->to] = key[i];
        }
    }
}

// Shades what is listed, and empties the list. met: what rays from there meet goes there likewise; nullable
static void shade_listed(const mesh_raster *raster, mesh_shade_list *list, float *const planes[3],
                         int32_t *met)
{
    shade_last last = {.id = -1};
    for (int s = 0; s < list->surface_count; s++) {
        int32_t *newest = &list->last[list->surfaces[s]];
        for (int32_t i = *newest; i >= 0;) {
            const mesh_listed_point *points[ORR_LANES];
            int count = 0;
            for (; i >= 0 && count < ORR_LANES; i = points[count++]->before) {
                points[count] = &list->points[i];
            }
            shade_some_listed(raster, &last, points, count, planes, met);
        }
        *newest = -1;
    }
    list->count = list->surface_count = 0;
}
