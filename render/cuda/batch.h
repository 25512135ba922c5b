// Pictures of one size in one piece of the device's memory, each put to its place after it was drawn, as
// learners take them.
#pragma once

#include "engine/device/cuda.h"
#include "render/seen/draw_seen.h"

typedef struct orr_cuda_batch orr_cuda_batch;

// Takes no memory of the device yet. `cuda` is borrowed. FEATURE_ABSENT in a build without CUDA.
orr_result orr_cuda_batch_create(orr_cuda *cuda, size_t pictures, int width, int height,
                                 orr_cuda_batch **batch, orr_error *error);
void orr_cuda_batch_destroy(orr_cuda_batch *batch); // NULL is allowed; waits for what is under way

// Pictures are put from now on into these planes (ORR_EYES_...), whose memory is taken, full of zeros, where
// it is missing; not before what is in the stream `after` now (a cudaStream_t, NULL: the default one) is
// done.
orr_result orr_cuda_batch_begin(orr_cuda_batch *batch, unsigned planes, void *after, orr_error *error);
// Where the begun planes of a picture are that frames write themselves: those of orr_draw_seen. False: none
// of them was begun.
bool orr_cuda_batch_places(const orr_cuda_batch *batch, size_t number, orr_draw_seen *seen);
// Puts a picture's other planes behind the work in the device's stream, which is where it was drawn. Does not
// wait.
orr_result orr_cuda_batch_put(orr_cuda_batch *batch, size_t number, const orr_cuda_picture *picture,
                              orr_error *error);
// Waits until all that were put are there.
orr_result orr_cuda_batch_end(orr_cuda_batch *batch, orr_error *error);
// Copies `count` pictures from `first` to the same place in planes on the host, those that are not NULL and
// were begun.
orr_result orr_cuda_batch_read(orr_cuda_batch *batch, size_t first, size_t count,
                               const orr_eyes_pictures *pictures, orr_error *error);
// Where the planes are; copies and cameras are left as they are.
void orr_cuda_batch_find(const orr_cuda_batch *batch, orr_eyes_cuda_pictures *pictures);
