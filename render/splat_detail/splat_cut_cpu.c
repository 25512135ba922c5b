// The cut on the CPU: lanes over the nodes of a block, from the coarsest level down.
#include "engine/core/isa.h"
#include "render/formula_inputs.h"
#include "render/splat_detail/splat_cut_formula.h"
#include "render/splat_detail/splat_detail.h"

#include <math.h>

// A splat's blur of 0.3 px^2 reaches 3.4 standard deviations, and more where merged splats cover more than
// their area; a pixel's centre is half a pixel inside the picture.
static const float MARGIN = 3.0f; // [px]

// The derivative of x/z is that of the slope within these bounds: its length.
static float bend_of(const float slopes[2], bool orthographic)
{
    const float slope = orthographic ? 0.0f : fmaxf(fabsf(slopes[0]), fabsf(slopes[1]));
    return sqrtf(1.0f + slope * slope);
}

static splat_cut_lens cut_lens_of(const splat_lens_values *lens)
{
    const bool orthographic = lens->orthographic > 0.5f;
    const float *m = lens->view;
    splat_cut_lens cut;
    cut.view = affine_of(m);
    cut.scale = sqrtf(m[0] * m[0] + m[4] * m[4] + m[8] * m[8]);
    cut.focal = fmaxf(lens->focal[0], lens->focal[1]);
    cut.near_plane = lens->near_plane;
    cut.far_plane = lens->far_plane;
    cut.low_x = (-MARGIN - lens->centre[0]) / lens->focal[0];
    cut.high_x = (lens->width + MARGIN - lens->centre[0]) / lens->focal[0];
    cut.low_y = (-MARGIN - lens->centre[1]) / lens->focal[1];
    cut.high_y = (lens->height + MARGIN - lens->centre[1]) / lens->focal[1];
    cut.bend_x = bend_of(lens->slope_x, orthographic);
    cut.bend_y = bend_of(lens->slope_y, orthographic);
    cut.orthographic = lens->orthographic;
    return cut;
}

// Of the nodes of a block, those that are drawn and those that those below stand in for.
static void choose(const orr_splat_level *level, uint32_t block, const splat_cut_lens *lens, float largest,
                   uint32_t *drawn, uint32_t *divided)
{
    const float *geometry = level->geometry + (size_t)block * ORR_PACK_GEOMETRY * ORR_PACK_BLOCK;
    const float *cut = level->cut + (size_t)block * ORR_DETAIL_CUT * ORR_PACK_BLOCK;
    uint32_t outside = 0, small = 0;
    for (int part = 0; part < ORR_PACK_BLOCK; part += ORR_LANES) {
        const float *g = geometry + part;
        const real3 mean = {real_load(g), real_load(g + ORR_PACK_BLOCK), real_load(g + 2 * ORR_PACK_BLOCK)};
        const splat_cut_choice c =
            splat_cut(*lens, mean, real_load(cut + part), real_load(cut + ORR_PACK_BLOCK + part), largest);
        outside |= mask_bits(c.outside) << part;
        small |= mask_bits(c.small) << part;
    }
    *drawn = ~outside & small;
    *divided = ~outside & ~small;
}

// Four bits for each of four.
static uint32_t children_of(uint32_t four)
{
    return 0xFu * ((four & 1u) | (four & 2u) << 3 | (four & 4u) << 6 | (four & 8u) << 9);
}

// Those of a block that are there.
static uint16_t nodes_of(const orr_splat_level *level, uint32_t block)
{
    const int64_t left = level->count - (int64_t)block * ORR_PACK_BLOCK;
    return (uint16_t)(left < ORR_PACK_BLOCK ? (1u << left) - 1u : UINT16_MAX);
}

static void take(orr_splat_cut_job *job, int level, uint32_t block, uint32_t nodes)
{
    if (nodes) {
        job->runs[job->run_count++] = (orr_splat_run){block, (uint16_t)level, (uint16_t)nodes};
        job->node_count += __builtin_popcount(nodes);
    }
}

void ORR_ISA_NAME(orr_splat_cut)(orr_splat_cut_job *job)
{
    const splat_cut_lens lens = cut_lens_of(job->lens);
    const orr_splat_detail *detail = job->detail;
    // of each level, the blocks below one of the level above: four at most
    orr_splat_run waiting[ORR_DETAIL_LEVELS * ORR_DETAIL_GROUP];
    int count = 0;
    job->run_count = job->node_count = 0;
    waiting[count++] = (orr_splat_run){0, (uint16_t)(detail->level_count - 1), UINT16_MAX};
    while (count > 0) {
        orr_splat_run run = waiting[--count];
        run.nodes &= nodes_of(&detail->levels[run.level], run.block);
        if (run.level == 0) {
            take(job, 0, run.block, run.nodes);
            continue;
        }
        uint32_t drawn, divided;
        choose(&detail->levels[run.level], run.block, &lens, job->merged_size, &drawn, &divided);
        take(job, run.level, run.block, drawn & run.nodes);
        divided &= run.nodes;
        for (uint32_t k = 0; k < ORR_DETAIL_GROUP; k++) {
            const uint32_t four = divided >> (ORR_DETAIL_GROUP * k) & 0xFu;
            if (four) {
                waiting[count++] = (orr_splat_run){ORR_DETAIL_GROUP * run.block + k,
                                                   (uint16_t)(run.level - 1), (uint16_t)children_of(four)};
            }
        }
    }
}
