// The stages of a frame on CUDA and the memory between them, which frames share because they follow each
// other in the device's stream. A frame is stored by value: one that ran out of memory can be recorded again
// even if the scene has changed.
#pragma once

#include "engine/device/cuda_sort.h"
#include "neural/cuda/march.h"
#include "render/cuda/cloud_shadows.h"
#include "render/cuda/draw.h"
#include "render/cuda/environments.h"
#include "render/cuda/meshes/meshes.h"
#include "render/cuda/pieces.h"
#include "render/cuda/splats.h"
#include "render/field_light/cuda_field_light.h"
#include "render/seen/cuda_seen.h"
#include "render/splat_detail/cuda_levels.h"

// The ends of stages on the device's clock.
typedef enum orr_cuda_mark {
    ORR_CUDA_MARK_BEGIN,
    ORR_CUDA_MARK_MIRRORS,       // not reached where there are none
    ORR_CUDA_MARK_CLOUD_SHADOWS, // likewise
    ORR_CUDA_MARK_UPLOAD,
    ORR_CUDA_MARK_MESHES,
    ORR_CUDA_MARK_FIELDS,
    ORR_CUDA_MARK_PROJECT,
    ORR_CUDA_MARK_SORT,
    ORR_CUDA_MARK_BIN,
    ORR_CUDA_MARK_BLEND,
    ORR_CUDA_MARK_END, // everything is done, and `counted` is on the host
    ORR_CUDA_MARK_COUNT
} orr_cuda_mark;
extern const char *const orr_cuda_mark_names[ORR_CUDA_MARK_COUNT]; // NULL: not the end of a stage

typedef struct orr_cuda_seen_cloud {
    orr_cuda_cloud cloud; // without its arrays where only `levels` are drawn
    orr_cuda_levels levels;
    const uint32_t *nodes; // device: what is drawn of the levels; NULL: the cloud is drawn in full
    size_t records;        // nodes or splats that are drawn
    splat_lens_values lens;
    const orr_cuda_eye *eye; // device: what it is seen by in place of `lens`, without a clip plane; or NULL
    bool distorted;          // through the lens of the eye's photo
    float clip[4];           // as orr_splat_lens_clip gives it
    const orr_affine_piece *pieces; // device: of its deformation; NULL: there is none
} orr_cuda_seen_cloud;

// The frame of what a mirror shows has neither mirrors nor marks nor what pixels show besides, and
// uses environments, pieces and depth of the one whose mirror it is.
typedef struct orr_cuda_frame {
    struct orr_cuda_frame *mirrors; // mirror_count of ORR_MIRRORS; NULL until a list has a mirror
    int mirror_count;
    int width, height;
    bool opaque;
    orr_sky_values sky;
    orr_shadow_eye eye;
    const float *self_depths; // behind the texels of the environments; NULL: there are none
    orr_shadow_values self;
    orr_cuda_environments environments;
    orr_cuda_behind behind;
    orr_host_view host; // what it refers to is borrowed
    orr_cuda_mesh_frame meshes;
    bool has_meshes, has_backdrop;
    orr_cuda_seen_cloud *clouds;
    int cloud_count, cloud_capacity;
    size_t splats; // records of all clouds
    orr_cuda_nodes nodes;
    orr_cuda_pieces pieces; // likewise
    orr_cuda_cloud_shadows cloud_shadows;
    orr_cuda_march *fields; // without their planes
    int field_count, field_capacity;
    orr_field_lamps field_lamps; // that light what they show, and what the CPU shows of others
    orr_cuda_seen seen;

    orr_cuda_buffer rgba, depth; // the picture
    orr_cuda_control *counted;   // host, pinned: what the frame counted, and behind it how counts begin
    cudaEvent_t marks[ORR_CUDA_MARK_COUNT];
    bool captured; // it is put into a graph, where marks are nodes
} orr_cuda_frame;

orr_result orr_cuda_frame_open(orr_cuda_frame *frame, orr_error *error); // on failure: close it
// Makes room for its mirrors, where there is none.
orr_result orr_cuda_frame_open_mirrors(orr_cuda_frame *frame, orr_error *error);
void orr_cuda_frame_close(orr_cuda_frame *frame); // all zeros are allowed

typedef struct orr_cuda_stages {
    orr_cuda *cuda; // borrowed
    orr_cuda_sort sort;
    orr_cuda_meshes meshes;
    orr_cuda_control *control;                                          // device
    orr_cuda_buffer centres, shapes, colours, keys, order, tile_counts; // per splat
    orr_cuda_buffer pair_tiles, pair_splats, ranges;
    orr_cuda_buffer field_depth, field_colour; // planes
    orr_cuda_buffer traced;                    // of orr_host_view
    orr_cuda_buffer cloud_texels;              // of the opacity maps
    orr_cuda_buffer takers;                    // of orr_cuda_blend
    uint32_t pair_capacity;
} orr_cuda_stages;

orr_result orr_cuda_stages_open(orr_cuda *cuda, orr_cuda_stages *stages, orr_error *error); // likewise
void orr_cuda_stages_close(orr_cuda_stages *stages);
// Of splats that are projected: each tile's, in their order, as pair_splats and ranges. capacity: of the
// splats
orr_result orr_cuda_stages_bin(orr_cuda_stages *stages, orr_cuda_records records, orr_cuda_control *control,
                               size_t capacity, int tiles_x, int tiles_y, orr_error *error);
// Draws the opacity maps of the frame's clouds; needs room for its splats.
orr_result orr_cuda_cloud_maps_draw(orr_cuda_stages *stages, const orr_cuda_frame *frame, orr_error *error);
// Puts a frame into the stream. Buffers that have to grow are freed first, which waits for all work on the
// device.
orr_result orr_cuda_stages_record(orr_cuda_stages *stages, orr_cuda_frame *frame, orr_error *error);
// For a frame that is done: did the buffers take all its pairs and meshes? If not, they will when it is
// recorded again.
orr_result orr_cuda_stages_judge(orr_cuda_stages *stages, const orr_cuda_frame *frame, bool *complete,
                                 orr_error *error);
