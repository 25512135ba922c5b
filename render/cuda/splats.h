// The splat stages on CUDA, as calls that launch kernels; the caller checks cudaGetLastError. All arrays are
// on the device, and so are all counts of a frame.
//
//   project   a thread per splat                             -> record and sort key of each splat
//   sort      cuda_sort.h, by depth                          -> visible splats from front to back
//   count     a thread per visible splat: the tiles that its ellipse reaches, exactly
//   emit      prefix sum; a pair of tile and splat for each -> sorted by tile: each tile's splats, front to
//   back blend     a block of threads per tile                    -> picture and depth
#pragma once

#include "render/cuda/cloud_light.h"
#include "render/cuda/occlusion.h"
#include "render/shadow/shadow.h"
#include "render/splat/splat_lens.h"

#include <cuda_runtime_api.h>

enum {
    ORR_CUDA_TILE = 16 // pixels per side
};

// Counts of a frame.
typedef struct orr_cuda_control {
    uint32_t splats;  // projected: all of the frame's
    uint32_t visible; // of them
    uint32_t needed;  // pairs of a tile and a splat
    uint32_t pairs;   // of them, at most the capacity
} orr_cuda_control;

// A splat on the screen; three arrays, so that each stage reads what it needs.
typedef struct orr_cuda_records {
    float *centres; // x, y, sharp_x, lean
    float *shapes;  // sharp_y, log2 opacity, half size x, y
    float *colours; // red, green, blue, depth
} orr_cuda_records;

typedef struct orr_cuda_cloud {
    uint64_t key;
    float *geometry, *harmonics; // as in orr_splat_pack, in the order of the file
    int32_t *piece_of;           // likewise, of a cloud that is deformed; or NULL
    int64_t count;
    int sh_degree;
} orr_cuda_cloud;

// clip: as orr_splat_lens_clip gives it; pieces: of the cloud's deformation, or NULL
void orr_cuda_splats_project(cudaStream_t stream, const orr_cuda_cloud *cloud, const splat_lens_values *lens,
                             const float clip[4], const orr_affine_piece *pieces, uint32_t first,
                             orr_cuda_records records, uint32_t *keys, uint32_t *order,
                             orr_cuda_control *control);

// A cloud's splats and those that were merged of them (render/splat_detail), level after level in the layout
// of packs.
typedef struct orr_cuda_levels {
    float *geometry, *harmonics; // of all levels
    float *merged;               // of those above the first
    uint32_t whole;              // nodes of the first, with the unused ones of its last block
    int sh_degree;
} orr_cuda_levels;

// The same of some nodes, by their numbers in `levels`. count: more than 0
void orr_cuda_splats_project_nodes(cudaStream_t stream, const orr_cuda_levels *levels, const uint32_t *nodes,
                                   size_t count, const splat_lens_values *lens, const float clip[4],
                                   uint32_t first, orr_cuda_records records, uint32_t *keys, uint32_t *order,
                                   orr_cuda_control *control);

// A camera in the device's memory, for frames that a graph draws again and again.
typedef struct orr_cuda_eye {
    splat_lens_values lens;
    splat_photo_values photo; // of a lens that is distorted
} orr_cuda_eye;

// The same of a cloud that is not deformed, as such a camera sees it without a clip plane. distorted: through
// the lens of its photo (splat_unscented_formula.h)
void orr_cuda_splats_project_eye(cudaStream_t stream, const orr_cuda_cloud *cloud, const orr_cuda_eye *eye,
                                 bool distorted, uint32_t first, orr_cuda_records records, uint32_t *keys,
                                 uint32_t *order, orr_cuda_control *control);
// Through the lens of an opacity map (../cloud_shadow): shapes without colours. Every splat gets a record,
// those that are not seen one that reaches no tile; `order` is that of the file.
void orr_cuda_splats_project_shapes(cudaStream_t stream, const orr_cuda_cloud *cloud,
                                    const splat_lens_values *lens, const orr_affine_piece *pieces,
                                    orr_cuda_records records, float *depths, uint32_t *order);
// A block of threads per tile of an opacity map: its texels, size x size x ORR_CLOUD_TEXEL. Products are in
// the order of the file, so that bits do not change from run to run.
void orr_cuda_splats_draw_map(cudaStream_t stream, orr_cuda_records records, const float *depths,
                              const uint32_t *ranges, const uint32_t *pair_splats, int size, float *texels);
// capacity: of the frame's splats
void orr_cuda_splats_count(cudaStream_t stream, orr_cuda_records records, const uint32_t *order, int tiles_x,
                           int tiles_y, size_t capacity, const orr_cuda_control *control,
                           uint32_t *tile_counts);
// begins: prefix sum of tile_counts. Pairs beyond pair_capacity are left out; control->needed counts all
void orr_cuda_splats_emit(cudaStream_t stream, orr_cuda_records records, const uint32_t *order, int tiles_x,
                          int tiles_y, size_t capacity, uint32_t pair_capacity, orr_cuda_control *control,
                          const uint32_t *begins, uint32_t *pair_tiles, uint32_t *pair_splats);
// ranges: 2 per tile, first and last + 1 of its pairs; 0, 0 before the call
void orr_cuda_splats_find_tiles(cudaStream_t stream, const uint32_t *pair_tiles, size_t pair_capacity,
                                const orr_cuda_control *control, uint32_t *ranges);

// An environment behind everything, in place of backdrop and sky.
typedef struct orr_cuda_behind {
    const uint32_t *texels; // of the device; NULL: there is none
    orr_environment_values view;
    float exposure, tone; // as in orr_draw_lighting
} orr_cuda_behind;

typedef struct orr_cuda_blend {
    orr_cuda_records records;
    const uint32_t *ranges, *pair_splats;
    int width, height, tiles_x, tiles_y;
    const float *mesh_depth, *mesh_colour, *field_depth, *field_colour; // planes of the device, or NULL
    const uint32_t *fragment_starts;                                    // as in orr_fragment_lists, or NULL
    const orr_fragment *fragments;
    const uint32_t *edge_of; // of mesh_stages.h, or NULL
    const orr_edge_pixel *edges;
    const orr_shadow_plan *shadows; // of the device
    const float *shadow_maps;       // of their first light one falls on splats and fields; NULL: none
    orr_cuda_cloud_light clouds;    // likewise
    const float *self_depths;       // of the map that `self` looks up, or NULL
    orr_shadow_values self;
    orr_shadow_eye eye;
    orr_cuda_occlusion occlusion; // of the same
    int opaque, backdrop;
    orr_sky_values sky;
    orr_cuda_behind behind;
    float *rgba, *depth; // height x width x 4, height x width
    // height x width: the record of the splat that decides what is seen (seen_takes); all ones: none does.
    // NULL: nobody asks
    uint32_t *takers;
} orr_cuda_blend;
void orr_cuda_splats_blend(cudaStream_t stream, const orr_cuda_blend *blend);
