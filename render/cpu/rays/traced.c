#include "render/cpu/rays/traced.h"

#include "render/cpu/mesh_raster.h"
#include "render/cpu/splats_cpu.h"

#include <math.h>
#include <string.h>

typedef struct layer {
    int width, height;
    const float *rgb; // 3 planes
    orr_edge_list edges;
    float *found; // rgba: what is in the pixels themselves
    float *rgba;  // with what is beside the rims
} layer;

// NULL: the pixel has no edge
static const orr_edge_pixel *edge_at(const orr_edge_list *edges, int x, int y)
{
    if (!edges->bits) {
        return NULL;
    }
    const int word = y * edges->words + x / 64;
    const uint64_t bits = edges->bits[word], bit = (uint64_t)1 << x % 64;
    return bits & bit ? &edges->pixels[edges->firsts[word] + (uint32_t)__builtin_popcountll(bits & (bit - 1))]
                      : NULL;
}

static void add(const float rgb[3], float sum[4])
{
    if (rgb[0] >= 0.0f) { // not ORR_NOT_TRACED
        for (int k = 0; k < 3; k++) {
            sum[k] += rgb[k];
        }
        sum[3] += 1.0f;
    }
}

static void set_mean(const float sum[4], float rgba[4])
{
    for (int k = 0; k < 4; k++) {
        rgba[k] = sum[3] > 0.0f ? sum[k] / sum[3] : 0.0f;
    }
}

static void find_row(void *context, int y, int worker)
{
    (void)worker;
    const layer *l = context;
    const size_t plane = (size_t)l->width * (size_t)l->height, row = (size_t)y * (size_t)l->width;
    for (int x = 0; x < l->width; x++) {
        const orr_edge_pixel *edge = edge_at(&l->edges, x, y);
        const size_t at = row + (size_t)x;
        float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        for (int s = 0; edge && s < 4; s++) {
            if (edge->samples[s].depth < INFINITY) {
                add(edge->samples[s].rgb, sum);
            }
        }
        if (!edge) {
            add((const float[3]){l->rgb[at], l->rgb[plane + at], l->rgb[2 * plane + at]}, sum);
        }
        set_mean(sum, l->found + 4 * at);
    }
}

// A device may find a surface in a pixel that it misses here by a rounding.
static void widen_row(void *context, int y, int worker)
{
    (void)worker;
    const layer *l = context;
    for (int x = 0; x < l->width; x++) {
        const size_t at = 4 * ((size_t)y * (size_t)l->width + (size_t)x);
        float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        if (l->found[at + 3] > 0.0f) {
            memcpy(l->rgba + at, l->found + at, 4 * sizeof(float));
            continue;
        }
        for (int down = y > 0 ? y - 1 : 0; down <= y + 1 && down < l->height; down++) {
            for (int across = x > 0 ? x - 1 : 0; across <= x + 1 && across < l->width; across++) {
                const float *beside = l->found + 4 * ((size_t)down * (size_t)l->width + (size_t)across);
                for (int k = 0; k < 4; k++) { // all are 0 where there is no such surface
                    sum[k] += beside[k];
                }
            }
        }
        set_mean(sum, l->rgba + at);
    }
}

static orr_result find_colours(orr_jobs *jobs, orr_arena *arena, layer *l, orr_error *error)
{
    const size_t pixels = (size_t)l->width * (size_t)l->height;
    l->found = orr_arena_take(arena, pixels, 4 * sizeof *l->found);
    l->rgba = orr_arena_take(arena, pixels, 4 * sizeof *l->rgba);
    if (!l->found || !l->rgba) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: rays on %zu pixels", pixels);
    }
    orr_jobs_for(jobs, l->height, find_row, l);
    orr_jobs_for(jobs, l->height, widen_row, l);
    return ORR_OK;
}

orr_result orr_traced_draw(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                           orr_traced *traced, orr_error *error)
{
    orr_draw_list drawn = *list;
    orr_cpu_frame *frame;
    orr_profile profile; // the caller's stages are coarser
    layer l = {.width = list->lens.width, .height = list->lens.height};
    drawn.only_traced = true;
    drawn.mirrors = false; // mirrors are of robots, whose materials start no rays
    if (!list->rays) {     // nothing is shaded
        drawn.shadows = false;
        drawn.occlusion.radius = 0.0f;
    }
    orr_profile_reset(&profile);
    ORR_TRY(orr_draw_cpu_begin(jobs, isa, arena, &drawn, NULL, NULL, &profile, &frame, error));
    *traced = (orr_traced){.mesh_depth = orr_draw_cpu_mesh_depth(frame)};
    orr_draw_cpu_meshes(frame, &l.rgb, &l.edges);
    if (list->rays && l.rgb) {
        ORR_TRY(find_colours(jobs, arena, &l, error));
        traced->rgba = l.rgba;
    }
    return ORR_OK;
}
