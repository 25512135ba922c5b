#include "engine/device/cuda.h"

#include "engine/device/cuda_gpu.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_include) && __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define HAVE_NVTX 1
#else
#define HAVE_NVTX 0
#endif

enum { OLDEST = 75 }; // compute capability, major * 10 + minor

// Does every later call of this process fail, too? Those of a kernel that went wrong do.
static bool is_lost(cudaError_t code)
{
    switch (code) {
    case cudaErrorECCUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorUnknown:
        return true;
    default:
        return false;
    }
}

orr_result orr_cuda_fail(orr_error *error, cudaError_t code, const char *call)
{
    cudaGetLastError(); // so that the next call does not report it again
    int length = (int)strcspn(call, "(");
    if (code == cudaErrorMemoryAllocation) {
        return orr_fail(error, ORR_CODE_DEVICE_MEMORY, "CUDA: %.*s: out of memory", length, call);
    }
    return orr_fail(error, is_lost(code) ? ORR_CODE_DEVICE_LOST : ORR_CODE_DEVICE_CALL, "CUDA: %.*s: %s (%s)",
                    length, call, cudaGetErrorString(code), cudaGetErrorName(code));
}

static orr_result describe(int device, orr_cuda_info *info, orr_error *error)
{
    struct cudaDeviceProp properties;
    ORR_CUDA_TRY(cudaGetDeviceProperties(&properties, device));
    *info = (orr_cuda_info){.compute = {properties.major, properties.minor},
                            .processors = properties.multiProcessorCount,
                            .memory = properties.totalGlobalMem,
                            .l2_cache = (uint64_t)properties.l2CacheSize};
    snprintf(info->name, sizeof info->name, "%s", properties.name);
    memcpy(info->uuid, properties.uuid.bytes, sizeof info->uuid);
    if (properties.major * 10 + properties.minor < OLDEST) {
        info->lacks = "compute capability 7.5";
    }
    return ORR_OK;
}

static orr_result count_devices(int *count, orr_error *error)
{
    *count = 0;
    cudaError_t code = cudaGetDeviceCount(count);
    if (code == cudaSuccess && *count > 0) {
        return ORR_OK;
    }
    cudaGetLastError();
    int driver = 0;
    if (code == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0) {
        return orr_fail(error, ORR_CODE_DEVICE_ABSENT,
                        "CUDA: the driver is for CUDA %d.%d; expected one for CUDA %d.%d or later",
                        driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    }
    if (code == cudaSuccess || code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver) {
        return orr_fail(error, ORR_CODE_DEVICE_ABSENT, "CUDA: no NVIDIA driver or no device");
    }
    return orr_cuda_fail(error, code, "cudaGetDeviceCount");
}

orr_result orr_cuda_list(orr_cuda_info *infos, int capacity, int *count, orr_error *error)
{
    ORR_TRY(count_devices(count, error));
    for (int i = 0; i < *count && i < capacity; i++) {
        ORR_TRY(describe(i, &infos[i], error));
    }
    return ORR_OK;
}

static bool contains(const char *name, const char *part)
{
    for (; *name; name++) {
        size_t i = 0;
        while (part[i] && tolower((unsigned char)name[i]) == tolower((unsigned char)part[i])) {
            i++;
        }
        if (!part[i]) {
            return true;
        }
    }
    return false;
}

// The wanted device, or of those that can the one with the most multiprocessors.
static orr_result choose(const char *wanted, int count, int *chosen, orr_cuda_info *info, orr_error *error)
{
    char *end = NULL;
    long index = wanted ? strtol(wanted, &end, 10) : 0;
    bool by_index = wanted && end != wanted && *end == 0;
    char lacking[320] = "";
    *chosen = -1;
    for (int i = 0; i < count; i++) {
        orr_cuda_info candidate;
        ORR_TRY(describe(i, &candidate, error));
        if (wanted && (by_index ? index != i : !contains(candidate.name, wanted))) {
            continue;
        }
        if (candidate.lacks) {
            snprintf(lacking, sizeof lacking, "%s lacks %s", candidate.name, candidate.lacks);
        } else if (*chosen < 0 || candidate.processors > info->processors) {
            *chosen = i;
            *info = candidate;
        }
    }
    if (*chosen >= 0) {
        return ORR_OK;
    }
    if (*lacking) {
        return orr_fail(error, ORR_CODE_DEVICE_ABSENT, "CUDA: %s", lacking);
    }
    return orr_fail(error, ORR_CODE_DEVICE_ABSENT, "CUDA: no device '%s' among %d", wanted, count);
}

orr_result orr_cuda_create(const orr_cuda_desc *desc, orr_cuda **cuda, orr_error *error)
{
    *cuda = NULL;
    int count, device;
    orr_cuda_info info;
    const char *wanted = desc && desc->device ? desc->device : getenv("ORR_CUDA_DEVICE");
    ORR_TRY(count_devices(&count, error));
    ORR_TRY(choose(wanted && *wanted ? wanted : NULL, count, &device, &info, error));
    ORR_CUDA_TRY(cudaSetDevice(device));
    cudaStream_t stream;
    ORR_CUDA_TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    orr_cuda *made = orr_alloc_zero(1, sizeof *made);
    if (!made) {
        cudaStreamDestroy(stream);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: the CUDA device");
    }
    *made = (orr_cuda){.device = device, .info = info, .stream = stream};
    *cuda = made;
    return ORR_OK;
}

void orr_cuda_destroy(orr_cuda *cuda)
{
    if (cuda) {
        orr_cuda_use(cuda, NULL);
        cudaStreamDestroy(cuda->stream);
        orr_free(cuda);
    }
}

orr_result orr_cuda_open_beside(const orr_cuda *cuda, orr_cuda *beside, orr_error *error)
{
    ORR_TRY(orr_cuda_use(cuda, error));
    cudaStream_t stream;
    const int highest = INT_MIN; // the runtime makes of it the highest that there is
    ORR_CUDA_TRY(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, highest));
    *beside = *cuda;
    beside->stream = stream;
    return ORR_OK;
}

void orr_cuda_close_beside(orr_cuda *beside)
{
    if (beside->stream) {
        orr_cuda_use(beside, NULL);
        orr_cuda_wait(beside, NULL);
        cudaStreamDestroy(beside->stream);
        beside->stream = NULL;
    }
}

const orr_cuda_info *orr_cuda_describe(const orr_cuda *cuda)
{
    return &cuda->info;
}

orr_result orr_cuda_use(const orr_cuda *cuda, orr_error *error)
{
    ORR_CUDA_TRY(cudaSetDevice(cuda->device));
    return ORR_OK;
}

orr_result orr_cuda_wait(orr_cuda *cuda, orr_error *error)
{
    ORR_CUDA_TRY(cudaStreamSynchronize(cuda->stream));
    return ORR_OK;
}

orr_result orr_cuda_alloc(orr_cuda *cuda, size_t count, size_t size, void **memory, orr_error *error)
{
    *memory = NULL;
    ORR_TRY(orr_cuda_use(cuda, error));
    if (size && count > SIZE_MAX / size) {
        return orr_fail(error, ORR_CODE_DEVICE_MEMORY, "CUDA: %zu elements of %zu bytes do not fit", count,
                        size);
    }
    if (count * size == 0) {
        return ORR_OK;
    }
    cudaError_t code = cudaMalloc(memory, count * size);
    if (code == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        size_t available = 0, total = 0;
        cudaMemGetInfo(&available, &total);
        return orr_fail(
            error, ORR_CODE_DEVICE_MEMORY, "CUDA: out of memory: %.1f MiB wanted, %.1f of %.1f MiB free",
            (double)(count * size) / (1 << 20), (double)available / (1 << 20), (double)total / (1 << 20));
    }
    ORR_CUDA_TRY(code);
    return ORR_OK;
}

void orr_cuda_free(void *memory)
{
    cudaFree(memory);
}

orr_result orr_cuda_reserve(orr_cuda *cuda, orr_cuda_buffer *buffer, size_t count, size_t size,
                            orr_error *error)
{
    if (size && count > SIZE_MAX / size / 2) {
        return orr_fail(error, ORR_CODE_DEVICE_MEMORY, "CUDA: %zu elements of %zu bytes do not fit", count,
                        size);
    }
    if (buffer->bytes >= count * size) {
        return ORR_OK;
    }
    size_t bytes = count * size + count * size / 4; // so that a slow growth does not allocate each frame
    orr_cuda_release(buffer);
    ORR_TRY(orr_cuda_alloc(cuda, bytes, 1, &buffer->memory, error));
    buffer->bytes = bytes;
    return ORR_OK;
}

void orr_cuda_release(orr_cuda_buffer *buffer)
{
    cudaFree(buffer->memory);
    *buffer = (orr_cuda_buffer){0};
}

// A copy whose wait fails is waited for once more: the caller's memory is its own again when this returns.
static orr_result wait_for_copy(orr_cuda *cuda, orr_error *error)
{
    orr_result result = orr_cuda_wait(cuda, error);
    if (result != ORR_OK) {
        orr_cuda_wait(cuda, NULL);
    }
    return result;
}

orr_result orr_cuda_upload(orr_cuda *cuda, void *to_device, const void *from, size_t bytes, orr_error *error)
{
    ORR_CUDA_TRY(cudaMemcpyAsync(to_device, from, bytes, cudaMemcpyHostToDevice, cuda->stream));
    return wait_for_copy(cuda, error);
}

orr_result orr_cuda_download(orr_cuda *cuda, void *to, const void *from_device, size_t bytes,
                             orr_error *error)
{
    ORR_CUDA_TRY(cudaMemcpyAsync(to, from_device, bytes, cudaMemcpyDeviceToHost, cuda->stream));
    return wait_for_copy(cuda, error);
}

void orr_cuda_range_begin(const char *name)
{
#if HAVE_NVTX
    nvtxRangePushA(name);
#else
    (void)name;
#endif
}

void orr_cuda_range_end(void)
{
#if HAVE_NVTX
    nvtxRangePop();
#endif
}
