// Splats on the CPU: the records between the stages, and the lane kernels (one set per instruction
// set).
//
//   project   lanes over splats: cull, project, colour     -> records of the visible, and depth keys
//   sort      stable radix sort by depth                    -> drawing order
//   bin       tiles of 32 x 32 pixels, exact row intervals  -> each tile's splats from front to back
//   blend     lanes over blocks of 4 x LANES/4 pixels       -> colour, alpha, depth
//
// Every stage is cut into blocks that do not depend on the number of threads, so neither do the bits of the
// picture.
#pragma once

#include "engine/core/isa.h"
#include "engine/core/memory.h"
#include "render/cloud_shadow/cloud_shadow_maps.h"
#include "render/cpu/occlusion_map.h"
#include "render/cpu/seen.h"
#include "render/cpu/shadow_maps.h"
#include "render/field_pass.h"
#include "render/splat/splat_lens.h"
#include "render/splat_detail/splat_detail.h"

enum {
    ORR_CPU_TILE = 32,        // pixels per side
    ORR_PROJECT_BLOCKS = 256, // blocks of 16 splats per job
    ORR_PROJECT_SPLATS = ORR_PROJECT_BLOCKS * ORR_PACK_BLOCK,
    // colour, depth, transmittance, receiver, its layer, item; depth of the meshes among the splats
    ORR_KEPT_PIXELS = 9 * ORR_CPU_TILE * ORR_CPU_TILE,
    ORR_KEPT_STARTS = ORR_CPU_TILE * ORR_CPU_TILE / 4 + 1 // as many blocks as the narrowest lanes have
};

// A visible splat on the screen: one cache line.
typedef struct orr_splat_record {
    float x, y;                   // centre [px]
    float sharp_x, lean, sharp_y; // its ellipse, see splat_formula.h
    float log2_opacity;
    float red, green, blue;        // display colour, >= 0
    float depth;                   // along the camera's axis
    float reach;                   // coverage is 1/255 or more where the ellipse's exponent is at most this
    float half_width, half_height; // of that ellipse's box [px]
    // among the splats of all layers in the order of their files: decides between equal depths
    uint32_t file_index;
    uint32_t layer; // of the draw list
    uint32_t unused;
} orr_splat_record;
_Static_assert(sizeof(orr_splat_record) == 64, "a record is one cache line");

// The tiles that a splat's bounding box covers, last ones included; kept apart from the records because
// binning reads little else.
typedef struct orr_tile_box {
    uint16_t x0, y0, x1, y1;
} orr_tile_box;

// The part of a layer that one job projects.
typedef struct orr_project_job {
    const orr_splat_pack *pack;
    // NULL: all splats of the blocks; otherwise, in place of those, the nodes of `runs` from first_block to
    // end_block, which may not be deformed
    const orr_splat_detail *detail;
    const orr_splat_run *runs;
    const orr_draw_deformation *deformation;
    const splat_lens_values *lens;
    const splat_photo_values *photo; // its distortion; NULL: none
    float clip[4];     // layer's space, as of orr_lens: splats whose middle is behind it are left out
    int width, height; // of the picture [px]
    int64_t first_block, end_block;
    uint32_t first_file_index; // of the layer
    uint32_t layer;
    bool only_shape;           // colours stay 0
    orr_splat_record *records; // one for every splat of the job
    orr_tile_box *boxes;       // likewise
    uint32_t *keys;            // likewise: the bits of the depth, which sort as the depth does
} orr_project_job;

// Which splats of a tile reach each of its blocks of pixels, and what they show in front of meshes.
typedef struct orr_kept_tile {
    float *pixels; // ORR_KEPT_PIXELS
    // ORR_KEPT_STARTS: where each block's splats begin; while `splats` is NULL, the number of the splats of
    // the block before
    uint32_t *starts;
    uint32_t *splats; // record indices
} orr_kept_tile;

typedef struct orr_blend_job {
    const orr_splat_record *records;
    const uint32_t *tile_splats; // record indices of the tile, front to back
    uint32_t splat_count;
    int tile_x, tile_y;             // in tiles
    int width, height;              // of the picture [px]
    const float *mesh_depth;        // height x width, or NULL: no meshes
    const float *mesh_colour;       // height x width x 3
    orr_fragment_lists fragments;   // of transparent meshes
    orr_edge_list edges;            // of opaque ones
    bool backdrop;                  // mesh_colour shows it where there is no mesh
    const float *field_depth;       // height x width, infinity where there is none, or NULL: no fields
    const float *field_colour;      // 4 x height x width: planes of premultiplied red, green, blue, and alpha
    const orr_shadow_maps *shadows; // of their first light one falls on splats and fields
    const orr_cloud_shadows *clouds; // on the same; NULL: none
    const float *self_depths; // of the map that `self` looks up; NULL: no captured surface shadows another
    orr_shadow_values self;
    orr_shadow_eye eye;
    const orr_occlusion_map *occlusion; // of the same; NULL: nothing is occluded
    bool opaque;
    orr_sky_values sky;
    const orr_draw_environment *behind; // NULL: backdrop or sky
    const orr_draw_lighting *lighting;  // of the frame: of it, how the former is seen
    float *rgba;                        // height x width x 4
    float *depth;                       // height x width, Nullable
    // height x width, nullable: takes ORR_ITEM_OF_CLOUD where a layer takes the transmittance below a half
    int32_t *items;
    // nullable. A job with `keep` takes down what it finds and writes no picture; one with `kept` uses that;
    // one with both uses the lists and takes down the pixels
    const orr_kept_tile *kept;
    const orr_kept_tile *keep;
} orr_blend_job;

typedef struct orr_splat_kernels {
    void (*cut)(orr_splat_cut_job *job);
    int (*project)(const orr_project_job *job); // returns the number of records written
    int64_t (*blend)(const orr_blend_job *job); // returns the splat-pixels evaluated
    // Bytes of a picture's colours, rgba: pixels x 4 -> rgb: pixels x 3, as orr_image_quantise has them
    void (*rgb)(const float *rgba, int64_t pixels, uint8_t *rgb);
} orr_splat_kernels;

int orr_splat_project_baseline(const orr_project_job *job);
int orr_splat_project_avx2(const orr_project_job *job);
int orr_splat_project_avx512(const orr_project_job *job);
void orr_picture_rgb_baseline(const float *rgba, int64_t pixels, uint8_t *rgb);
void orr_picture_rgb_avx2(const float *rgba, int64_t pixels, uint8_t *rgb);
void orr_picture_rgb_avx512(const float *rgba, int64_t pixels, uint8_t *rgb);
int64_t orr_splat_blend_baseline(const orr_blend_job *job);
int64_t orr_splat_blend_avx2(const orr_blend_job *job);
int64_t orr_splat_blend_avx512(const orr_blend_job *job);

// The kernels of one instruction set, which this build and this CPU must have.
const orr_splat_kernels *orr_splat_kernels_of(orr_isa isa);

// ---- binning ----

typedef struct orr_splat_bins {
    int tiles_x, tiles_y;
    uint32_t *starts;      // tiles + 1: where each tile's splats begin
    uint32_t *tile_splats; // record indices
    int64_t pairs;         // starts[tiles]
} orr_splat_bins;

// Input of binning: `count` record indices in `order`, from front to back.
typedef struct orr_bin_input {
    const orr_splat_record *records;
    const orr_tile_box *boxes;
    const uint32_t *order;
    int64_t count;
    int width, height; // of the picture [px]
} orr_bin_input;

// Memory comes from the arena.
orr_result orr_splats_bin(orr_jobs *jobs, orr_arena *arena, const orr_bin_input *input, orr_splat_bins *bins,
                          orr_error *error);

// ---- projection, order and bins ----

// What a list's splats are on the screen. In the arena.
typedef struct orr_cpu_splats {
    const orr_splat_record *records;
    const orr_tile_box *boxes; // of each record
    const uint32_t *order;     // visible: records, from front to back
    int64_t visible;
    const orr_splat_bins *bins;
    const splat_lens_values *lens;   // of the first layer
    const splat_photo_values *photo; // the distortion of the list's lens; NULL: none
    int64_t evaluated;               // splat-pixels; 0 before they are blended
} orr_cpu_splats;

orr_result orr_splats_find(orr_jobs *jobs, const orr_splat_kernels *kernels, orr_arena *arena,
                           const orr_draw_list *list, orr_profile *profile, orr_cpu_splats *splats,
                           orr_error *error);

// The same of an opacity map: without their colours, and in the order of the pack.
orr_result orr_splats_find_shapes(orr_jobs *jobs, const orr_splat_kernels *kernels, orr_arena *arena,
                                  const orr_draw_list *list, orr_cpu_splats *splats, orr_error *error);

// ---- all of it ----

// Splats that are the same for many frames (kept_view.h).
typedef struct orr_kept_view orr_kept_view;

// Draws the list into caller-owned planes. `arena` is reset by the caller between frames. kept, nullable, is
// used where it holds the splats of the list, with the same bits. seen: nullable.
orr_result orr_draw_cpu(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                        const orr_kept_view *kept, const orr_picture *picture, const orr_seen *seen,
                        orr_profile *profile, orr_error *error);

// The same in three parts, so that no caller need wait for slow fields: between begin, which draws the
// meshes, and end, which draws the splats and composes, a pass draws the fields.
typedef struct orr_cpu_frame orr_cpu_frame; // in the arena; list, arena and pass must live until the end
orr_result orr_draw_cpu_begin(orr_jobs *jobs, orr_isa isa, orr_arena *arena, const orr_draw_list *list,
                              const orr_kept_view *kept, const orr_seen *seen, orr_profile *profile,
                              orr_cpu_frame **frame, orr_error *error);
const float *orr_draw_cpu_mesh_depth(const orr_cpu_frame *frame); // NULL: no meshes
// Their colours, 3 planes, and edges; as orr_mesh_picture says. colour NULL: no meshes
void orr_draw_cpu_meshes(const orr_cpu_frame *frame, const float **colour, orr_edge_list *edges);
orr_result orr_draw_cpu_end(orr_cpu_frame *frame, orr_field_pass *fields, const orr_picture *picture,
                            orr_profile *profile, orr_error *error);
// What a frame found on the screen, after its end: for training.
orr_cpu_splats orr_draw_cpu_splats(const orr_cpu_frame *frame);
