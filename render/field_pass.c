#define ORR_SCALAR
#include "render/field_pass.h"

#include "engine/core/profile.h"
#include "engine/maths/clip_plane.h"
#include "neural/fields/field_formula.h"

#include <math.h>

enum { TILES_PER_WORKER = 4 }; // between two readings of the clock: a few milliseconds

// Merges the layer just drawn with those before it, pixel by pixel, by depth.
static void merge_layer(orr_field_pass *pass)
{
    int64_t pixels = (int64_t)pass->list->lens.width * pass->list->lens.height;
    float *colour = pass->colour;
    for (int64_t i = 0; i < pixels; i++) {
        const float *rgba = pass->planes.rgba + 4 * i;
        float depth = rgba[3] > 0.0f ? pass->planes.depth[i] : INFINITY;
        field_pixel pixel = {rgba[0], rgba[1], rgba[2], rgba[3], depth};
        if (pass->layer > 0) {
            field_pixel before = {colour[i], colour[pixels + i], colour[2 * pixels + i],
                                  colour[3 * pixels + i], pass->depth[i]};
            pixel = field_merge(before, pixel);
        }
        colour[i] = pixel.red;
        colour[pixels + i] = pixel.green;
        colour[2 * pixels + i] = pixel.blue;
        colour[3 * pixels + i] = pixel.alpha;
        pass->depth[i] = pixel.depth;
    }
}

static orr_result begin_layer(orr_field_pass *pass, orr_error *error)
{
    const orr_draw_field *field = &pass->list->fields[pass->layer];
    pass->tile = 0;
    return orr_field_layer_begin(field->layer, pass->jobs, pass->arena, &pass->list->lens, field->model,
                                 pass->list->sun.direction, &pass->planes, &pass->drawing, error);
}

// Depth of the lens's clip plane; NULL where it has none.
static orr_result find_near_depth(const orr_lens *lens, orr_arena *arena, const float **near_depth,
                                  orr_error *error)
{
    const clip_plane clip = clip_plane_of(lens->clip);
    const float *centre = lens->centre, *focal = lens->focal, orthographic = lens->orthographic ? 1.0f : 0.0f;
    *near_depth = NULL;
    if (clip.x == 0.0f && clip.y == 0.0f && clip.z == 0.0f) {
        return ORR_OK;
    }
    const size_t pixels = (size_t)lens->width * (size_t)lens->height;
    float *depth = orr_arena_take(arena, pixels, sizeof *depth);
    if (!depth) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a mirror on %zu pixels", pixels);
    }
    *near_depth = depth;
    for (int row = 0; row < lens->height; row++) {
        for (int column = 0; column < lens->width; column++) {
            *depth++ = clip_depth(clip, orthographic, ((float)column + 0.5f - centre[0]) / focal[0],
                                  ((float)row + 0.5f - centre[1]) / focal[1]);
        }
    }
    return ORR_OK;
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
    ORR_TRY(find_near_depth(&list->lens, arena, &pass->planes.near_depth, error));
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
