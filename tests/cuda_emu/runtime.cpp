// The runtime's calls on the emulated device.
#include "block.h"
#include "emu.h"
#include "launch.h"
#include "memory.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

typedef std::function<void()> operation;

struct graph_node {
    operation run;
    CUevent_st *event; // that it records; nullptr: it does something else
};

struct CUstream_st {
    int device;
    std::deque<operation> waiting;
    bool capturing, captured_badly, running;
    enum cudaStreamCaptureMode mode;
    std::vector<graph_node> captured;
};

struct CUevent_st {
    int device;
    CUstream_st *stream; // where it was last recorded
    std::chrono::steady_clock::time_point time;
    unsigned int recorded, reached; // how often
};

struct CUgraph_st {
    std::vector<graph_node> nodes;
};

struct CUgraphExec_st {
    std::vector<graph_node> nodes;
};

struct CUexternalMemory_st {
    int file; // open until it is destroyed, as a driver's
    size_t offset, bytes;
};

struct CUexternalSemaphore_st {
    int file;
    emu::external_timeline timeline;
};

namespace
{

CUstream_st default_stream; // where cudaStream_t 0 leads
std::set<CUstream_st *> streams = {&default_stream};
std::map<const void *, int> shared_limit; // of kernels
std::map<const char *, size_t> pinned;    // bytes by where they begin
size_t handles, made;                     // made: allocations
size_t to_host, pageable;                 // copies
size_t submitted, launched, idle;         // submissions, launches and idle waits
cudaError_t last_error = cudaSuccess;
thread_local int current_device; // every thread begins with the first one

cudaError_t say(cudaError_t error)
{
    if (error != cudaSuccess) {
        last_error = error;
    }
    return error;
}

// Is this the call that a test wants to fail?
bool told_to_fail(cudaError_t *error)
{
    emu::settings *how = emu::current_settings();
    if (how->fail_call > 0 && --how->fail_call == 0) {
        *error = say((cudaError_t)how->fail_with);
        return true;
    }
    return false;
}

cudaError_t no_device()
{
    const emu::settings *how = emu::current_settings();
    return how->driver_version == 0               ? cudaErrorNoDevice
           : how->driver_version < CUDART_VERSION ? cudaErrorInsufficientDriver
           : how->devices <= 0                    ? cudaErrorNoDevice
                                                  : cudaSuccess;
}

#define EMU_BEGIN                                                                                            \
    do {                                                                                                     \
        cudaError_t told;                                                                                    \
        if (told_to_fail(&told)) {                                                                           \
            return told;                                                                                     \
        }                                                                                                    \
        if (no_device() != cudaSuccess) {                                                                    \
            return say(no_device());                                                                         \
        }                                                                                                    \
    } while (0)

CUstream_st *stream_of(cudaStream_t stream)
{
    if (!stream) {
        return &default_stream;
    }
    return streams.count(stream) ? stream : nullptr;
}

// Runs what waits in the stream, with an event until that has been reached so often. Streams go on one at a
// time, as far as someone asks them to.
void drain_until(CUstream_st *stream, const CUevent_st *event, unsigned int count)
{
    auto done = [=] { return stream->waiting.empty() || (event && event->reached >= count); };
    if (stream->running || done()) {
        return; // running: it waits for an event of a stream that waits for it
    }
    stream->running = true;
    emu::memory_open(); // once: that and closing take longer than many an operation
    while (!done()) {
        operation next = stream->waiting.front();
        stream->waiting.pop_front();
        next();
    }
    emu::memory_close();
    stream->running = false;
}

void drain(CUstream_st *stream)
{
    drain_until(stream, nullptr, 0);
}

void drain_all()
{
    for (CUstream_st *stream : streams) {
        drain(stream);
    }
}

bool all_empty()
{
    for (const CUstream_st *stream : streams) {
        if (!stream->waiting.empty()) {
            return false;
        }
    }
    return true;
}

// A wait of the host. event: until that is reached; nullptr: until the stream is empty
void wait_for(CUstream_st *stream, const CUevent_st *event, unsigned int count)
{
    const bool waits = event ? event->reached < count : !stream->waiting.empty();
    drain_until(stream, event, count);
    idle += waits && all_empty();
}

cudaError_t enqueue(cudaStream_t handle, operation what)
{
    CUstream_st *stream = stream_of(handle);
    if (!stream) {
        return say(cudaErrorInvalidResourceHandle);
    }
    if (stream->capturing) {
        stream->captured.push_back({what, nullptr});
    } else {
        stream->waiting.push_back(what);
        submitted++;
    }
    return cudaSuccess;
}

// As the event is recorded once more in the stream.
operation expect(CUevent_st *event, CUstream_st *stream)
{
    event->stream = stream;
    event->recorded++;
    return [=] {
        event->time = std::chrono::steady_clock::now();
        event->reached++;
    };
}

// Calls that wait may not stand in a capture.
bool any_capture()
{
    bool found = false;
    for (CUstream_st *stream : streams) {
        if (stream->capturing) {
            stream->captured_badly = found = true;
        }
    }
    return found;
}

// Nor may calls that give out memory or take it back, unless the capture is relaxed: they may wait.
bool memory_is_fixed()
{
    bool found = false;
    for (CUstream_st *stream : streams) {
        if (stream->capturing && stream->mode != cudaStreamCaptureModeRelaxed) {
            stream->captured_badly = found = true;
        }
    }
    return found;
}

#define EMU_OUTSIDE_CAPTURES                                                                                 \
    do {                                                                                                     \
        if (memory_is_fixed()) {                                                                             \
            return say(cudaErrorStreamCaptureUnsupported);                                                   \
        }                                                                                                    \
    } while (0)

// As the stream comes to each of the fences: what(timeline, value).
template <class parameters, class operation_on_fence>
cudaError_t for_each_fence(const cudaExternalSemaphore_t *semaphores, const parameters *params,
                           unsigned int count, cudaStream_t stream, operation_on_fence what)
{
    cudaError_t error = cudaSuccess;
    for (unsigned int i = 0; i < count && error == cudaSuccess; i++) {
        const emu::external_timeline timeline = semaphores[i]->timeline;
        uint64_t value = params[i].params.fence.value;
        error = enqueue(stream, [=] { what(timeline, value); });
    }
    return error;
}

bool is_pinned(const void *at, size_t bytes)
{
    auto after = pinned.upper_bound((const char *)at);
    if (after == pinned.begin()) {
        return false;
    }
    const auto &entry = *--after;
    size_t offset = (size_t)((const char *)at - entry.first);
    return offset <= entry.second && bytes <= entry.second - offset;
}

bool copy_is_sound(const void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (kind == cudaMemcpyDefault) {
        return true;
    }
    return bytes == 0 ||
           (emu::memory_holds(to, bytes) == to_device && emu::memory_holds(from, bytes) == from_device);
}

} // namespace

namespace emu
{

extern "C" settings *current_settings(void)
{
    static settings how = [] {
        settings s = {};
        const char *order = getenv("ORR_EMU_ORDER"), *races = getenv("ORR_EMU_RACES");
        const char *devices = getenv("ORR_EMU_DEVICES"), *memory = getenv("ORR_EMU_MEMORY");
        const char *fault = getenv("ORR_EMU_FAULT");
        s.order = order ? (uint32_t)strtoul(order, nullptr, 10) : 0;
        s.find_races = races && *races == '1';
        s.devices = devices ? atoi(devices) : 1;
        s.memory = memory ? (size_t)strtoull(memory, nullptr, 10) << 20 : 0;
        if (fault && sscanf(fault, "%d %d", &s.fail_call, &s.fail_with) != 2) {
            s.fail_call = 0;
        }
        s.compute_major = 9;
        s.driver_version = CUDART_VERSION;
        const char *uuid = getenv("ORR_EMU_UUID");
        for (int i = 0; uuid && i < 16 && sscanf(uuid + 2 * i, "%2hhx", &s.uuid[i]) == 1; i++) {
        }
        return s;
    }();
    return &how;
}

extern "C" size_t live_allocations(void)
{
    return memory_count() + pinned.size();
}

extern "C" size_t made_allocations(void)
{
    return made;
}

extern "C" size_t pageable_copies(void)
{
    return pageable;
}

extern "C" size_t live_handles(void)
{
    return handles;
}

extern "C" size_t copies_to_host(void)
{
    return to_host;
}

extern "C" size_t submissions(void)
{
    return submitted;
}

extern "C" size_t launches(void)
{
    return launched;
}

extern "C" size_t idle_waits(void)
{
    return idle;
}

extern "C" int export_timeline(const external_timeline *timeline)
{
    int file = memfd_create("timeline", MFD_CLOEXEC);
    if (file >= 0 && pwrite(file, timeline, sizeof *timeline, 0) != sizeof *timeline) {
        close(file);
        file = -1;
    }
    return file;
}

void launch_closure(const char *kernel, const void *function, dim3 grid, dim3 block, size_t shared,
                    cudaStream_t stream, std::function<void()> run)
{
    cudaError_t told;
    if (told_to_fail(&told)) {
        return;
    }
    unsigned long threads = (unsigned long)block.x * block.y * block.z;
    auto limit = shared_limit.find(function);
    size_t most = limit == shared_limit.end() ? 48 << 10 : (size_t)limit->second;
    if (threads == 0 || threads > MAX_THREADS || block.z > 64 || grid.x == 0 || grid.y == 0 || grid.z == 0 ||
        grid.y > 65535 || grid.z > 65535 || grid.x > 0x7fffffffu) {
        say(cudaErrorInvalidConfiguration);
        return;
    }
    if (shared > most) {
        say(cudaErrorInvalidValue);
        return;
    }
    if (stream && streams.count(stream) && stream->device != current_device) {
        say(cudaErrorInvalidResourceHandle); // copies alone may go to streams of other devices
        return;
    }
    enqueue(stream, [=] {
        launched++;
        run_grid(
            kernel, grid, block, shared, [](const void *c) { (*(const std::function<void()> *)c)(); }, &run);
    });
}

} // namespace emu

extern "C" {

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = emu::current_settings()->driver_version;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 0;
    EMU_BEGIN;
    *count = emu::current_settings()->devices;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    EMU_BEGIN;
    if (device < 0 || device >= emu::current_settings()->devices) {
        return say(cudaErrorInvalidDevice);
    }
    current_device = device;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    EMU_BEGIN;
    *device = current_device;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    EMU_BEGIN;
    const emu::settings *how = emu::current_settings();
    if (device < 0 || device >= how->devices) {
        return say(cudaErrorInvalidDevice);
    }
    memset(properties, 0, sizeof *properties);
    strcpy(properties->name, "emulated device");
    static const uint8_t none[16] = {};
    bool given = memcmp(how->uuid, none, 16) != 0;
    memcpy(properties->uuid.bytes, given ? (const char *)how->uuid : "orrery emulated", 16);
    properties->uuid.bytes[15] = (char)(properties->uuid.bytes[15] + device);
    properties->totalGlobalMem = how->memory ? how->memory : (size_t)16 << 30;
    properties->sharedMemPerBlock = 48 << 10;
    properties->sharedMemPerBlockOptin = emu::MAX_SHARED;
    properties->major = how->compute_major;
    properties->minor = how->compute_minor;
    properties->multiProcessorCount = 4;
    properties->l2CacheSize = 1 << 20;
    properties->warpSize = 32;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    struct cudaDeviceProp properties;
    cudaError_t error = cudaGetDeviceProperties(&properties, device);
    if (error != cudaSuccess) {
        return error;
    }
    switch (attribute) {
    case cudaDevAttrMaxSharedMemoryPerBlock:
        *value = (int)properties.sharedMemPerBlock;
        break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = (int)properties.sharedMemPerBlockOptin;
        break;
    case cudaDevAttrMultiProcessorCount:
        *value = properties.multiProcessorCount;
        break;
    case cudaDevAttrL2CacheSize:
        *value = properties.l2CacheSize;
        break;
    case cudaDevAttrComputeCapabilityMajor:
        *value = properties.major;
        break;
    case cudaDevAttrComputeCapabilityMinor:
        *value = properties.minor;
        break;
    case cudaDevAttrClockRate:
        *value = 1000000;
        break; // kHz
    case cudaDevAttrMemoryClockRate:
        *value = 1000000;
        break;
    case cudaDevAttrGlobalMemoryBusWidth:
        *value = 64;
        break;
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
    EMU_BEGIN;
    if (any_capture()) {
        return say(cudaErrorStreamCaptureUnsupported);
    }
    const bool waits = !all_empty();
    drain_all();
    idle += waits;
    return cudaSuccess;
}

cudaError_t cudaDeviceReset(void)
{
    drain_all();
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    EMU_BEGIN;
    const emu::settings *how = emu::current_settings();
    *total = how->memory ? how->memory : (size_t)16 << 30;
    *free = *total - emu::memory_used();
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    return last_error;
}

const char *cudaGetErrorName(cudaError_t error)
{
    switch (error) {
#define EMU_NAME(name)                                                                                       \
    case name:                                                                                               \
        return #name;
        EMU_NAME(cudaSuccess)
        EMU_NAME(cudaErrorInvalidValue)
        EMU_NAME(cudaErrorMemoryAllocation)
        EMU_NAME(cudaErrorInitializationError)
        EMU_NAME(cudaErrorInvalidConfiguration)
        EMU_NAME(cudaErrorInsufficientDriver)
        EMU_NAME(cudaErrorNoDevice)
        EMU_NAME(cudaErrorInvalidDevice)
        EMU_NAME(cudaErrorNoKernelImageForDevice)
        EMU_NAME(cudaErrorInvalidResourceHandle)
        EMU_NAME(cudaErrorNotReady)
        EMU_NAME(cudaErrorECCUncorrectable)
        EMU_NAME(cudaErrorIllegalAddress)
        EMU_NAME(cudaErrorLaunchTimeout)
        EMU_NAME(cudaErrorAssert)
        EMU_NAME(cudaErrorHardwareStackError)
        EMU_NAME(cudaErrorIllegalInstruction)
        EMU_NAME(cudaErrorMisalignedAddress)
        EMU_NAME(cudaErrorInvalidAddressSpace)
        EMU_NAME(cudaErrorInvalidPc)
        EMU_NAME(cudaErrorLaunchFailure)
        EMU_NAME(cudaErrorNotSupported)
        EMU_NAME(cudaErrorStreamCaptureUnsupported)
        EMU_NAME(cudaErrorStreamCaptureInvalidated)
        EMU_NAME(cudaErrorUnknown)
#undef EMU_NAME
    }
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorInsufficientDriver:
        return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice:
        return "no CUDA-capable device is detected";
    default:
        return cudaGetErrorName(error);
    }
}

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    EMU_BEGIN;
    *memory = nullptr;
    EMU_OUTSIDE_CAPTURES;
    if (bytes == 0) {
        return cudaSuccess;
    }
    *memory = emu::memory_allocate(bytes);
    made++;
    return *memory ? cudaSuccess : say(cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void *memory)
{
    if (!memory) {
        return cudaSuccess;
    }
    EMU_OUTSIDE_CAPTURES;
    drain_all(); // as the device does
    return emu::memory_free(memory) ? cudaSuccess : say(cudaErrorInvalidValue);
}

cudaError_t cudaMallocHost(void **memory, size_t bytes)
{
    EMU_BEGIN;
    EMU_OUTSIDE_CAPTURES;
    *memory = malloc(bytes);
    if (!*memory) {
        return say(cudaErrorMemoryAllocation);
    }
    memset(*memory, 0xff, bytes);
    pinned[(const char *)*memory] = bytes;
    made++;
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *memory)
{
    if (!memory) {
        return cudaSuccess;
    }
    EMU_OUTSIDE_CAPTURES;
    drain_all();
    if (!pinned.erase((const char *)memory)) {
        return say(cudaErrorInvalidValue);
    }
    free(memory);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    EMU_BEGIN;
    if (!copy_is_sound(to, from, bytes, kind)) {
        return say(cudaErrorInvalidValue);
    }
    to_host += kind == cudaMemcpyDeviceToHost;
    const void *of_host = kind == cudaMemcpyHostToDevice ? from : to;
    pageable += kind != cudaMemcpyDeviceToDevice && bytes > 0 && !is_pinned(of_host, bytes);
    return enqueue(stream, [=] {
        if (bytes > 0) { // of an array without elements there may be no address
            memmove(to, from, bytes);
        }
    });
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    EMU_BEGIN;
    size_t to_bytes = height ? (height - 1) * to_pitch + width : 0,
           from_bytes = height ? (height - 1) * from_pitch + width : 0;
    bool one_way = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToHost;
    if (width > to_pitch || width > from_pitch || !one_way ||
        !copy_is_sound(kind == cudaMemcpyDeviceToHost ? nullptr : to, from, from_bytes, kind) ||
        !copy_is_sound(to, kind == cudaMemcpyHostToDevice ? nullptr : from, to_bytes, kind)) {
        return say(cudaErrorInvalidValue);
    }
    to_host += kind == cudaMemcpyDeviceToHost;
    return enqueue(stream, [=] {
        for (size_t row = 0; row < height; row++) {
            memmove((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width);
        }
    });
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, nullptr);
    return error == cudaSuccess ? cudaStreamSynchronize(nullptr) : error;
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream)
{
    EMU_BEGIN;
    if (bytes && !emu::memory_holds(memory, bytes)) {
        return say(cudaErrorInvalidValue);
    }
    return enqueue(stream, [=] { memset(memory, value, bytes); });
}

cudaError_t cudaMemset(void *memory, int value, size_t bytes)
{
    cudaError_t error = cudaMemsetAsync(memory, value, bytes, nullptr);
    return error == cudaSuccess ? cudaStreamSynchronize(nullptr) : error;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int)
{
    EMU_BEGIN;
    *stream = new CUstream_st();
    (*stream)->device = current_device;
    streams.insert(*stream);
    handles++;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int)
{
    return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    if (!streams.count(stream)) {
        return say(cudaErrorInvalidResourceHandle);
    }
    drain(stream);
    streams.erase(stream);
    handles--;
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    EMU_BEGIN;
    CUstream_st *s = stream_of(stream);
    if (!s) {
        return say(cudaErrorInvalidResourceHandle);
    }
    if (any_capture()) {
        return say(cudaErrorStreamCaptureUnsupported);
    }
    wait_for(s, nullptr, 0);
    return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    EMU_BEGIN;
    CUstream_st *s = stream_of(stream);
    if (s && s->capturing) {
        s->captured_badly = true; // what has not run has no state
        return say(cudaErrorStreamCaptureUnsupported);
    }
    return !s ? say(cudaErrorInvalidResourceHandle) : s->waiting.empty() ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int)
{
    EMU_BEGIN;
    CUstream_st *other = event->stream, *s = stream_of(stream);
    unsigned int count = event->recorded;
    if (event->reached == count) {
        return cudaSuccess;
    }
    if (s && s->capturing) {
        s->captured_badly = true; // graphs of one stream are all that is emulated
        return say(cudaErrorStreamCaptureUnsupported);
    }
    return enqueue(stream, [=] { drain_until(other, event, count); });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    EMU_BEGIN;
    if (!stream || !streams.count(stream) || stream->capturing) {
        return say(cudaErrorStreamCaptureUnsupported); // the default stream cannot be captured
    }
    stream->capturing = true;
    stream->mode = mode;
    stream->captured_badly = false;
    stream->captured.clear();
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    *graph = nullptr;
    if (!stream || !streams.count(stream) || !stream->capturing) {
        return say(cudaErrorInvalidValue);
    }
    stream->capturing = false;
    if (stream->captured_badly) {
        return say(cudaErrorStreamCaptureInvalidated);
    }
    *graph = new CUgraph_st{stream->captured};
    handles++;
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void *user), void *user)
{
    EMU_BEGIN;
    return enqueue(stream, [=] { function(user); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int)
{
    EMU_BEGIN;
    *event = new CUevent_st();
    (*event)->device = current_device;
    handles++;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    if (event->reached < event->recorded) {
        drain(event->stream);
    }
    handles--;
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
    EMU_BEGIN;
    CUstream_st *s = stream_of(stream);
    if (!s) {
        return say(cudaErrorInvalidResourceHandle);
    }
    if (stream && event->device != s->device) {
        return say(cudaErrorInvalidResourceHandle);
    }
    const bool node = flags == cudaEventRecordExternal;
    if (flags > cudaEventRecordExternal || (node && !s->capturing)) {
        return say(cudaErrorInvalidValue);
    }
    if (s->capturing && !node) { // a fork to another stream, and those are not emulated
        s->captured_badly = true;
        return say(cudaErrorStreamCaptureUnsupported);
    }
    if (node) {
        s->captured.push_back({nullptr, event});
        return cudaSuccess;
    }
    return enqueue(stream, expect(event, s));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    EMU_BEGIN;
    if (event->reached < event->recorded) {
        wait_for(event->stream, event, event->recorded);
    }
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    EMU_BEGIN;
    return event->reached < event->recorded ? cudaErrorNotReady : cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end)
{
    EMU_BEGIN;
    if (begin->reached < begin->recorded || end->reached < end->recorded) {
        return cudaErrorNotReady;
    }
    *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long)
{
    EMU_BEGIN;
    *executable = new CUgraphExec_st{graph->nodes};
    handles++;
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream)
{
    EMU_BEGIN;
    CUstream_st *s = stream_of(stream);
    if (!s || !executable) {
        return say(s ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    }
    if (s->capturing) {
        s->captured_badly = true; // a graph inside of one is not emulated
        return say(cudaErrorStreamCaptureUnsupported);
    }
    for (const graph_node &node : executable->nodes) {
        s->waiting.push_back(node.event ? expect(node.event, s) : node.run);
    }
    submitted++;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    handles -= graph != nullptr;
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable)
{
    handles -= executable != nullptr;
    delete executable;
    return cudaSuccess;
}

cudaError_t cudaImportExternalMemory(cudaExternalMemory_t *memory,
                                     const struct cudaExternalMemoryHandleDesc *desc)
{
    EMU_BEGIN;
    struct stat status;
    if (desc->type != cudaExternalMemoryHandleTypeOpaqueFd || fstat(desc->handle.fd, &status) != 0) {
        return say(cudaErrorInvalidValue);
    }
    // Mesa's files say first how long they are and where the memory begins
    size_t head[2] = {}, length = (size_t)status.st_size, offset = 0;
    if (pread(desc->handle.fd, head, sizeof head, 0) == sizeof head && head[0] == length &&
        head[1] < length) {
        offset = head[1];
    }
    if (desc->size == 0 || desc->size > length - offset) {
        return say(cudaErrorInvalidValue);
    }
    *memory = new CUexternalMemory_st{desc->handle.fd, offset, (size_t)desc->size};
    handles++;
    return cudaSuccess;
}

cudaError_t cudaExternalMemoryGetMappedBuffer(void **at, cudaExternalMemory_t memory,
                                              const struct cudaExternalMemoryBufferDesc *desc)
{
    EMU_BEGIN;
    *at = nullptr;
    if (desc->flags != 0 || desc->offset > memory->bytes || desc->size > memory->bytes - desc->offset) {
        return say(cudaErrorInvalidValue);
    }
    *at = emu::memory_map(memory->file, memory->offset + desc->offset, desc->size);
    return *at ? cudaSuccess : say(cudaErrorMemoryAllocation);
}

cudaError_t cudaDestroyExternalMemory(cudaExternalMemory_t memory)
{
    drain_all();
    handles--;
    close(memory->file);
    delete memory;
    return cudaSuccess;
}

cudaError_t cudaImportExternalSemaphore(cudaExternalSemaphore_t *semaphore,
                                        const struct cudaExternalSemaphoreHandleDesc *desc)
{
    EMU_BEGIN;
    emu::external_timeline timeline;
    if (desc->type != cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd ||
        pread(desc->handle.fd, &timeline, sizeof timeline, 0) != sizeof timeline) {
        return say(cudaErrorInvalidValue);
    }
    *semaphore = new CUexternalSemaphore_st{desc->handle.fd, timeline};
    handles++;
    return cudaSuccess;
}

cudaError_t cudaSignalExternalSemaphoresAsync(const cudaExternalSemaphore_t *semaphores,
                                              const struct cudaExternalSemaphoreSignalParams *params,
                                              unsigned int count, cudaStream_t stream)
{
    EMU_BEGIN;
    return for_each_fence(semaphores, params, count, stream,
                          [](const emu::external_timeline &timeline, uint64_t value) {
                              timeline.signal(timeline.user, value);
                          });
}

cudaError_t cudaWaitExternalSemaphoresAsync(const cudaExternalSemaphore_t *semaphores,
                                            const struct cudaExternalSemaphoreWaitParams *params,
                                            unsigned int count, cudaStream_t stream)
{
    EMU_BEGIN;
    return for_each_fence(semaphores, params, count, stream,
                          [](const emu::external_timeline &timeline, uint64_t value) {
                              if (!timeline.wait(timeline.user, value)) {
                                  emu::fail("a stream waits for %llu of a timeline, and nobody signals it",
                                            (unsigned long long)value);
                              }
                          });
}

cudaError_t cudaDestroyExternalSemaphore(cudaExternalSemaphore_t semaphore)
{
    drain_all();
    handles--;
    close(semaphore->file);
    delete semaphore;
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute, int value)
{
    EMU_BEGIN;
    if (value < 0 || (size_t)value > emu::MAX_SHARED) {
        return say(cudaErrorInvalidValue);
    }
    shared_limit[kernel] = value;
    return cudaSuccess;
}

} // extern "C"
