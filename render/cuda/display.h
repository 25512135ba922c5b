// Bytes of a picture, as a window and learners take them.
#pragma once

#include <cuda_runtime_api.h>
#include <stdint.h>

// rgba: pixels x 4, display-referred; bytes: pixels x 4, round(255 v) as orr_image_quantise has it.
void orr_cuda_to_bytes(cudaStream_t stream, const float *rgba, uint32_t *bytes, size_t pixels);
// rgb: pixels x 3, likewise.
void orr_cuda_to_rgb(cudaStream_t stream, const float *rgba, uint8_t *rgb, size_t pixels);
