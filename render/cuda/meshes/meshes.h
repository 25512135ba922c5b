// Meshes drawn by a CUDA device, in its memory: depth and display colour of the nearest opaque surface of
// each pixel, and lists of the transparent fragments in front of it. The counterpart of orr_mesh_raster
// (render/cpu/mesh_raster.h); the stages are those of mesh_stages.h.
//
// All work is put into the device's stream; only uploads of new meshes wait.
#pragma once

#include "engine/device/cuda_sort.h"
#include "render/cuda/meshes/mesh_stages.h"
#include "render/cuda/meshes/mesh_store.h"
#include "render/mirror/mirror.h"

// What frames share: the meshes, and scratch that every frame overwrites. Zero is empty.
typedef struct orr_cuda_meshes {
    orr_cuda_mesh_store store;
    float *linear; // see mesh_stages.h
    orr_cuda_buffer points, record_firsts, records, tile_firsts, nearest, depth, colour;
    orr_cuda_buffer shadow_maps, occlusion;
    orr_cuda_buffer fragment_counts, fragment_starts, sources, fragments;
    orr_cuda_buffer edge_of, sample_keys, edges;
    size_t record_capacity, fragment_capacity, edge_capacity; // grow with the need of frames
} orr_cuda_meshes;

// One frame in flight. Zero is empty.
typedef struct orr_cuda_mesh_frame {
    void *staged; // pinned: the tables, before they are copied to the device
    size_t staged_bytes;
    orr_cuda_buffer tables;
    // pinned, where the tables begin: what the frame counted, once it is done; then the same of its shadow
    // maps
    orr_cuda_mesh_control *counted;
    orr_shadow_plan shadows;
    float *to_lights; // device: 12 for each instance, for each map
    orr_cuda_mesh_scene scene;
    bool transparent; // has transparent surfaces
} orr_cuda_mesh_frame;

// Planes in the device's memory, valid until the next frame is drawn.
typedef struct orr_cuda_mesh_planes {
    const float *depth;              // infinity: no mesh there
    const float *colour;             // 3 planes; where there is no mesh 0, or the backdrop
    const uint32_t *fragment_starts; // as in orr_fragment_lists; NULL: there are none
    const orr_fragment *fragments;
    const uint32_t *edge_of; // see mesh_stages.h; NULL: edges are not anti-aliased
    const orr_edge_pixel *edges;
    const orr_shadow_plan *shadows; // device
    const float *shadow_maps;       // NULL: there are none
    orr_cuda_occlusion occlusion;
} orr_cuda_mesh_planes;

// Begins a frame: uploads new meshes and computes each mesh's transform, with the poses of bodies at this
// point of the stream. mirrors: nullable; in the device's memory, read when the frame is drawn. CAPACITY for
// more triangles or vertices than can be counted.
orr_result orr_cuda_meshes_begin(orr_cuda *cuda, orr_cuda_meshes *meshes, orr_cuda_mesh_frame *frame,
                                 const orr_draw_list *list, const orr_mirror_pictures *mirrors,
                                 orr_error *error);
// Draws the frame that was begun; may be repeated, with the same result. sort: scratch for prefix sums
orr_result orr_cuda_meshes_draw(orr_cuda *cuda, orr_cuda_meshes *meshes, orr_cuda_sort *sort,
                                orr_cuda_mesh_frame *frame, orr_cuda_mesh_planes *planes, orr_error *error);
// Once the frame is done: did it run out of memory? Then the buffers have grown, and it must be drawn again.
// CAPACITY when they cannot grow that far.
orr_result orr_cuda_meshes_check(orr_cuda_meshes *meshes, const orr_cuda_mesh_frame *frame, bool *again,
                                 orr_error *error);

void orr_cuda_mesh_frame_destroy(orr_cuda_mesh_frame *frame);
void orr_cuda_meshes_release(orr_cuda_meshes *meshes, uint64_t key); // frees what was uploaded under a key
void orr_cuda_meshes_destroy(orr_cuda_meshes *meshes);
