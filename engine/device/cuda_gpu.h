// For code that works on a CUDA device: checked calls, memory, and the streams that order it.
//
// Memory and launches belong to the stream they are given; a call waits only where it says so.
#pragma once

#include "engine/core/memory.h"
#include "engine/device/cuda.h"

#include <cuda_runtime_api.h>

struct orr_cuda {
    int device; // CUDA's index
    orr_cuda_info info;
    cudaStream_t stream; // what one frame, step or query runs in
};

// The same device with a stream of its own, whose work runs beside the other's and with a higher priority.
orr_result orr_cuda_open_beside(const orr_cuda *cuda, orr_cuda *beside, orr_error *error);
void orr_cuda_close_beside(orr_cuda *beside); // waits for its stream; all zeros are allowed

// The error of a call as one line: which call, what CUDA says. Out of memory becomes ORR_CODE_DEVICE_MEMORY.
orr_result orr_cuda_fail(orr_error *error, cudaError_t code, const char *call);

#define ORR_CUDA_TRY(call)                                                                                   \
    do {                                                                                                     \
        cudaError_t orr_cuda_code = (call);                                                                  \
        if (orr_cuda_code != cudaSuccess) {                                                                  \
            return orr_cuda_fail(error, orr_cuda_code, #call);                                               \
        }                                                                                                    \
    } while (0)

// After each launch: kernels that follow one which did not run would work on what it should have written.
#define ORR_CUDA_LAUNCHED() ORR_CUDA_TRY(cudaGetLastError())

// Memory of the device for count elements of that size, whose contents are undefined. Zero bytes give NULL.
// The message of DEVICE_MEMORY has the size that was requested and the size that is free.
orr_result orr_cuda_alloc(orr_cuda *cuda, size_t count, size_t size, void **memory, orr_error *error);
void orr_cuda_free(void *memory); // waits for what runs; NULL is allowed

// Memory that grows and is kept, for sizes that change from frame to frame. Growing discards the content.
typedef struct orr_cuda_buffer {
    void *memory;
    size_t bytes;
} orr_cuda_buffer;
orr_result orr_cuda_reserve(orr_cuda *cuda, orr_cuda_buffer *buffer, size_t count, size_t size,
                            orr_error *error);
void orr_cuda_release(orr_cuda_buffer *buffer);

// Copies and waits until they are done.
orr_result orr_cuda_upload(orr_cuda *cuda, void *to_device, const void *from, size_t bytes, orr_error *error);
orr_result orr_cuda_download(orr_cuda *cuda, void *to, const void *from_device, size_t bytes,
                             orr_error *error);

// Makes the device this thread's, as CUDA's calls want it.
orr_result orr_cuda_use(const orr_cuda *cuda, orr_error *error);
// Waits for the stream; errors of the kernels in it show here.
orr_result orr_cuda_wait(orr_cuda *cuda, orr_error *error);

// The stream's clock against the host's (orr_clock_nanoseconds). They drift apart by microseconds per second,
// and times are floats of milliseconds: compare them again for long measurements. Zero is an empty one.
typedef struct orr_cuda_clock {
    cudaEvent_t origin;
    uint64_t nanoseconds; // of the host when the origin was reached
    uint64_t uncertainty; // [ns] either way
} orr_cuda_clock;
// Nothing must be under way in the stream.
orr_result orr_cuda_clock_calibrate(orr_cuda *cuda, orr_cuda_clock *clock, orr_error *error);
// When an event that was recorded since, and waited for, was reached.
orr_result orr_cuda_clock_read(const orr_cuda_clock *clock, cudaEvent_t event, uint64_t *nanoseconds,
                               orr_error *error);
void orr_cuda_clock_destroy(orr_cuda_clock *clock);

// A stage's name on a profiler's time line (NVTX). Begin and end pair up.
void orr_cuda_range_begin(const char *name);
void orr_cuda_range_end(void);
