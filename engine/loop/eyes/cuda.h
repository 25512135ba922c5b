// Pictures of eyes that CUDA draws: each is a frame, several of which are in flight, and is put to its place
// in one piece of the device's memory (render/cuda/batch.h), or written there.
#pragma once

#include "engine/loop/frame_state.h"

typedef struct orr_eyes_cuda orr_eyes_cuda;

// `eyes` is borrowed, `desc` is not.
orr_result orr_eyes_cuda_create(const orr_eyes *eyes, const orr_eyes_desc *desc, orr_eyes_cuda **cuda,
                                orr_error *error);
void orr_eyes_cuda_destroy(orr_eyes_cuda *cuda); // NULL is allowed

// Draws the chosen copies. planes, after: as of orr_eyes_draw_cuda.
orr_result orr_eyes_cuda_draw(orr_eyes_cuda *cuda, const uint8_t *chosen, unsigned planes, void *after,
                              orr_error *error);
// Copies what was drawn to the host.
orr_result orr_eyes_cuda_read(orr_eyes_cuda *cuda, const uint8_t *chosen, const orr_eyes_pictures *pictures,
                              orr_error *error);
void orr_eyes_cuda_find(const orr_eyes_cuda *cuda, orr_eyes_cuda_pictures *pictures);
