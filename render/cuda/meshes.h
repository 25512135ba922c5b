// Meshes drawn by a CUDA device, from its own memory: depth and display colour of the nearest opaque surface of each pixel,
// and lists of what is transparent before it. What orr_mesh_raster (render/cpu/mesh_raster.h) is on the CPU; the stages are
// those of mesh_stages.h.
//
// Everything belongs to the device's stream; nothing waits but uploads of meshes that are new.
#pragma once

#include "engine/device/cuda_sort.h"
#include "render/cuda/mesh_stages.h"
#include "render/cuda/mesh_store.h"

// What frames share: the meshes, and scratch that each frame writes anew. Zero is empty.
typedef struct orr_cuda_meshes {
    orr_cuda_mesh_store store;
    float *linear; // see mesh_stages.h
    orr_cuda_buffer points, record_firsts, records, tile_firsts, nearest, depth, colour;
    orr_cuda_buffer fragment_counts, fragment_starts, sources, fragments;
    size_t record_capacity, fragment_capacity; // they grow with what frames need
} orr_cuda_meshes;

// One frame under way. Zero is empty.
typedef struct orr_cuda_mesh_frame {
    void *staged; // pinned: the tables on their way to the device
    size_t staged_bytes;
    orr_cuda_buffer tables;
    orr_cuda_mesh_control
        *counted; // pinned, where the tables begin: what the frame counted, once it is waited for
    orr_cuda_mesh_scene scene;
    bool transparent; // there are transparent surfaces
} orr_cuda_mesh_frame;

// Planes of the device, until the next frame is drawn.
typedef struct orr_cuda_mesh_planes {
    const float *depth;              // infinity: no mesh there
    const float *colour;             // 3 planes; where there is no mesh 0, or the backdrop
    const uint32_t *fragment_starts; // as in orr_fragment_lists; NULL: there are none
    const orr_fragment *fragments;
} orr_cuda_mesh_planes;

// Begins a frame: uploads meshes under keys that are new, and says where each mesh stands, with the bodies where they are at
// this point of the stream. CAPACITY for more triangles or vertices than can be counted.
orr_result orr_cuda_meshes_begin(orr_cuda *cuda, orr_cuda_meshes *meshes, orr_cuda_mesh_frame *frame,
                                 const orr_draw_list *list, orr_error *error);
// Draws the frame that was begun; again with the same result. sort: scratch for running sums
orr_result orr_cuda_meshes_draw(orr_cuda *cuda, orr_cuda_meshes *meshes, orr_cuda_sort *sort,
                                orr_cuda_mesh_frame *frame, orr_cuda_mesh_planes *planes, orr_error *error);
// Once the frame was waited for: did it run out of room? Then there is more now, and it is to be drawn again. CAPACITY when
// there can be no such room.
orr_result orr_cuda_meshes_check(orr_cuda_meshes *meshes, const orr_cuda_mesh_frame *frame, bool *again,
                                 orr_error *error);

void orr_cuda_mesh_frame_destroy(orr_cuda_mesh_frame *frame);
void orr_cuda_meshes_release(orr_cuda_meshes *meshes, uint64_t key); // forgets what was uploaded under a key
void orr_cuda_meshes_destroy(orr_cuda_meshes *meshes);
