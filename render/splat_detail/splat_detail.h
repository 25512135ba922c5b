// Level of detail of splat clouds: merged splats that stand for groups of those that are smaller than a part
// of a pixel.
//
// The splats are ordered so that each 4, 16, 64 ... of them in a row are near each other, and every four
// nodes of a level are merged into one of the next (Kerbl et al. 2024, "A hierarchical 3D Gaussian
// representation for real-time rendering of very large datasets"). A cut chooses for each splat itself or the
// largest node above it that is small enough on the screen. All levels have the layout of packs, so that
// lanes walk them.
#pragma once

#include "engine/core/memory.h"
#include "render/splat/splat_lens.h"

enum {
    ORR_DETAIL_LEVELS = 18, // 4^17 > 2^32
    ORR_DETAIL_GROUP = 4,   // nodes that are merged into one
    ORR_DETAIL_CUT = 2,     // numbers per node that the cut reads
    ORR_DETAIL_MERGED = 3   // and that the projection of merged nodes reads besides
};

// Of level 0 are the cloud's splats, of level l the nodes that each stand for four of level l - 1: node i for
// nodes 4 i .. 4 i + 3. Arrays are laid out as those of orr_splat_pack; unused lanes of the last block are 0.
typedef struct orr_splat_level {
    int64_t count;      // nodes
    int64_t blocks;     // of 16
    float *geometry;    // blocks x 13 x 16; in place of the opacity, nodes have the density of splat_merge.h
    float *harmonics;   // blocks x 3 (degree + 1)^2 x 16
    uint32_t *original; // blocks x 16: least index in the file
    float *cut;         // blocks x 2 x 16: longest standard deviation; radius of a ball around the position
                        // in which all is that its splats cover; NULL at level 0
    float *merged;      // blocks x 3 x 16: crowd, breadth, opacity (splat_merge.h); NULL at level 0
} orr_splat_level;

typedef struct orr_splat_detail {
    int level_count;
    int sh_degree;
    orr_splat_level levels[ORR_DETAIL_LEVELS];
} orr_splat_detail;

// How the nodes will be drawn, which decides what a merged splat's mean weighs.
typedef struct orr_splat_detail_desc {
    bool antialias;    // as orr_draw_splats
    float merged_size; // likewise, > 0
} orr_splat_detail_desc;

// The merged_size [px] of a picture's `detail` (orr_eyes_desc): 4 times that with antialias, 2 times without,
// where the nearest of the splats in a pixel hide all others, however small they are.
float orr_splat_merged_size(float detail, bool antialias);

// The same bits for any number of threads. ORR_ERROR_MEMORY. It borrows nothing of the pack, and takes 1.43
// times its memory without harmonics, 1.36 times with those of degree 3.
orr_result orr_splat_detail_create(orr_jobs *jobs, const orr_splat_pack *pack,
                                   const orr_splat_detail_desc *desc, orr_splat_detail **detail,
                                   orr_error *error);
void orr_splat_detail_destroy(orr_splat_detail *detail); // NULL is allowed
size_t orr_splat_detail_bytes(const orr_splat_detail *detail);

// The nodes of a block that are drawn.
typedef struct orr_splat_run {
    uint32_t block;
    uint16_t level;
    uint16_t nodes; // one bit for each, the lowest for the first
} orr_splat_run;

typedef struct orr_splat_cut_job {
    const orr_splat_detail *detail;
    const splat_lens_values *lens; // of the layer, not distorted
    float merged_size;             // [px] a node is drawn where its standard deviation is at most this
    orr_splat_run *runs;           // orr_splat_cut_capacity
    int64_t run_count;             // out
    int64_t node_count;            // out: of all runs
} orr_splat_cut_job;

int64_t orr_splat_cut_capacity(const orr_splat_detail *detail);
// Each splat is in one node of the runs or, where that is surely out of the picture, in none. What is drawn
// with a larger merged_size are the same nodes or those above them.
void orr_splat_cut_baseline(orr_splat_cut_job *job);
void orr_splat_cut_avx2(orr_splat_cut_job *job);
void orr_splat_cut_avx512(orr_splat_cut_job *job);
