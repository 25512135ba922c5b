// What pixels of a frame on CUDA show besides: stored with the frame, so that it may be drawn again.
#pragma once

#include "engine/device/cuda_gpu.h"
#include "render/seen/cuda_seen_kernel.h"

// Of one frame in flight. Zero is empty.
typedef struct orr_cuda_seen {
    orr_cuda_see see;
    bool asked;   // something is to be drawn
    void *staged; // pinned: the tables, before they are copied to the device
    size_t staged_bytes;
    orr_cuda_buffer tables;
} orr_cuda_seen;

// What a list asks for. firsts: where the records of each of its clouds begin
orr_result orr_cuda_seen_take(orr_cuda *cuda, orr_cuda_seen *seen, const orr_draw_list *list,
                              const uint32_t *firsts, orr_error *error);
// Draws it, after the picture. scene: that of its meshes, NULL: it has none; takers: nullable; depth: of the
// picture
orr_result orr_cuda_seen_draw(orr_cuda *cuda, const orr_cuda_seen *seen, const orr_cuda_mesh_scene *scene,
                              const uint32_t *takers, const float *depth, orr_error *error);
void orr_cuda_seen_close(orr_cuda_seen *seen);
