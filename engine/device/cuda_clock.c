// The device's clock against the host's, which is read before and after an event that the host waits for.
#include "engine/core/clock.h"
#include "engine/device/cuda_gpu.h"

enum { ATTEMPTS = 16 }; // the narrowest counts: whatever interrupts only widens

void orr_cuda_clock_destroy(orr_cuda_clock *clock)
{
    if (clock->origin) {
        cudaEventDestroy(clock->origin);
    }
    *clock = (orr_cuda_clock){0};
}

orr_result orr_cuda_clock_calibrate(orr_cuda *cuda, orr_cuda_clock *clock, orr_error *error)
{
    ORR_TRY(orr_cuda_use(cuda, error));
    clock->uncertainty = UINT64_MAX;
    for (int i = 0; i < ATTEMPTS; i++) {
        cudaEvent_t origin;
        ORR_CUDA_TRY(cudaEventCreateWithFlags(&origin, cudaEventDefault));
        uint64_t before = orr_clock_nanoseconds();
        cudaError_t code = cudaEventRecord(origin, cuda->stream);
        code = code == cudaSuccess ? cudaEventSynchronize(origin) : code;
        uint64_t after = orr_clock_nanoseconds(), uncertainty = (after - before + 1) / 2;
        bool better = code == cudaSuccess && uncertainty < clock->uncertainty;
        cudaEvent_t worse = better ? clock->origin : origin;
        if (better) {
            *clock = (orr_cuda_clock){origin, before + (after - before) / 2, uncertainty};
        }
        if (worse) {
            cudaEventDestroy(worse);
        }
        ORR_CUDA_TRY(code);
    }
    return ORR_OK;
}

orr_result orr_cuda_clock_read(const orr_cuda_clock *clock, cudaEvent_t event, uint64_t *nanoseconds,
                               orr_error *error)
{
    float milliseconds;
    ORR_CUDA_TRY(cudaEventElapsedTime(&milliseconds, clock->origin, event));
    *nanoseconds = clock->nanoseconds + (uint64_t)(int64_t)((double)milliseconds * 1e6);
    return ORR_OK;
}
