// How the clouds of a frame are deformed, in the device's memory.
#pragma once

#include "engine/device/cuda_gpu.h"
#include "render/draw.h"

// A frame's own, so that it can be drawn again. Zero is an empty one.
typedef struct orr_cuda_pieces {
    orr_affine_piece *staged; // host, pinned
    size_t capacity;
    orr_cuda_buffer memory; // those of all clouds of the list, one cloud after the other
} orr_cuda_pieces;

// No frame that uses them may be in the stream.
orr_result orr_cuda_pieces_send(orr_cuda *cuda, orr_cuda_pieces *pieces, const orr_draw_list *list,
                                orr_error *error);
void orr_cuda_pieces_close(orr_cuda_pieces *pieces);
