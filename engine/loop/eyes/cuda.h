// Pictures of eyes that CUDA draws: each is a frame, several of which are in flight, and is put to its place
// in one piece of the device's memory (render/cuda/batch.h).
#pragma once

#include "engine/loop/frame_state.h"

typedef struct orr_eyes_cuda orr_eyes_cuda;

// pictures: how many there are in all.
orr_result orr_eyes_cuda_create(orr_engine *engine, size_t pictures, int width, int height,
                                orr_eyes_cuda **cuda, orr_error *error);
void orr_eyes_cuda_destroy(orr_eyes_cuda *cuda); // NULL is allowed

// planes, after: as of orr_eyes_draw_cuda.
orr_result orr_eyes_cuda_begin(orr_eyes_cuda *cuda, unsigned planes, void *after, orr_error *error);
// Draws picture `number`, which waits for those before it where too many are in flight. look: nullable.
orr_result orr_eyes_cuda_add(orr_eyes_cuda *cuda, const orr_world *world, const orr_view *view,
                             const orr_eyes_look *look, size_t number, orr_error *error);
// Waits for all pictures. After a failure of `add`: drops those in flight, and returns ORR_OK.
orr_result orr_eyes_cuda_end(orr_eyes_cuda *cuda, bool failed, orr_error *error);
// Copies `count` pictures from `first` to the host.
orr_result orr_eyes_cuda_read(orr_eyes_cuda *cuda, size_t first, size_t count,
                              const orr_eyes_pictures *pictures, orr_error *error);
void orr_eyes_cuda_find(const orr_eyes_cuda *cuda, orr_eyes_cuda_pictures *pictures);
