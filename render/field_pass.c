#include "render/field_pass.h"

#include "engine/core/profile.h"

#include <math.h>

enum { TILES_PER_WORKER = 4 }; // between two looks at the clock: a few milliseconds

// A layer that is drawn, in front of or behind what the planes hold, pixel by pixel.
static void merge_layer(orr_field_pass *pass)
{
    int64_t pixels = (int64_t)pass->list->lens.width * pass->list->lens.height;
    for (int64_t i = 0; i < pixels; i++) {
        const float *rgba = pass->planes.rgba + 4 * i;
        float z = rgba[3] > 0.0f ? pass->planes.depth[i] : INFINITY;
        if (pass->layer == 0) {
            pass->depth[i] = z;
            for (int k = 0; k < 4; k++) {
                pass->colour[k * pixels + i] = rgba[k];
            }
            continue;
        }
        bool before = z < pass->depth[i];
        float held = pass->colour[3 * pixels + i];
        float front = before ? rgba[3] : held, back = before ? held : rgba[3];
        float alpha = front + (1.0f - front) * back;
        if (z < INFINITY) {
            float far = before ? pass->depth[i] : z, near = before ? z : pass->depth[i];
            pass->depth[i] =
                back > 0.0f && alpha > 0.0f ? (front * near + (1.0f - front) * back * far) / alpha : near;
        }
        for (int k = 0; k < 4; k++) {
            float *c = &pass->colour[k * pixels + i];
            *c = before ? rgba[k] + (1.0f - front) * *c : *c + (1.0f - front) * rgba[k];
        }
    }
}

static orr_result begin_layer(orr_field_pass *pass, orr_error *error)
{
    const orr_draw_field *field = &pass->list->fields[pass->layer];
    pass->tile = 0;
    return orr_field_layer_begin(field->layer, pass->jobs, pass->arena, &pass->list->lens, field->model,
                                 pass->list->sun.direction, &pass->planes, &pass->drawing, error);
}

orr_result orr_field_pass_begin(orr_field_pass *pass, orr_jobs *jobs, orr_arena *arena,
                                const orr_draw_list *list, const float *mesh_depth, orr_error *error)
{
    *pass = (orr_field_pass){.list = list, .jobs = jobs, .arena = arena};
    if (list->field_count == 0) {
        return ORR_OK;
    }
    size_t pixels = (size_t)list->lens.width * (size_t)list->lens.height;
    pass->depth = orr_arena_take(arena, pixels, sizeof(float));
    pass->colour = orr_arena_take(arena, pixels, 4 * sizeof(float));
    pass->planes = (orr_field_planes){.far_depth = mesh_depth,
                                      .rgba = orr_arena_take(arena, pixels, 4 * sizeof(float)),
                                      .depth = orr_arena_take(arena, pixels, sizeof(float))};
    if (!pass->depth || !pass->colour || !pass->planes.rgba || !pass->planes.depth) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: fields on %zu pixels", pixels);
    }
    return begin_layer(pass, error);
}

orr_result orr_field_pass_advance(orr_field_pass *pass, double milliseconds, bool *done, orr_error *error)
{
    uint64_t start = orr_clock_nanoseconds();
    double taken = 0.0;
    int tiles = orr_field_tile_count(pass->list->lens.width, pass->list->lens.height);
    while (pass->layer < pass->list->field_count && taken < milliseconds) {
        int part = isinf(milliseconds) ? tiles : TILES_PER_WORKER * orr_jobs_workers(pass->jobs);
        int count = part < tiles - pass->tile ? part : tiles - pass->tile;
        orr_field_layer_draw_tiles(&pass->drawing, pass->jobs, pass->tile, count);
        pass->tile += count;
        if (pass->tile == tiles) {
            merge_layer(pass);
            if (++pass->layer < pass->list->field_count) {
                ORR_TRY(begin_layer(pass, error));
            }
        }
        taken = (double)(orr_clock_nanoseconds() - start) * 1e-6;
    }
    pass->milliseconds += taken;
    *done = pass->layer == pass->list->field_count;
    return ORR_OK;
}
