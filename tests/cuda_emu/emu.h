// How the emulated device behaves, for tests. A plain program gets the defaults.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
namespace emu
{
#endif

typedef struct settings {
    // Who of a block's threads goes first: 0 ascending, 1 descending, others a random order of that seed
    uint32_t order;
    // Run every block in several orders and fail when memory differs after it (but for what float atomics
    // added)
    bool find_races;
    size_t memory;     // bytes the device has; 0: 16 GiB
    int devices;       // how many devices there are; each with that memory
    int compute_major; // of the devices: 9, 0 for sm_90
    int compute_minor;
    int driver_version; // as cudaDriverGetVersion says it; 0: no driver
    int fail_call;      // this one of the calls to come (1: the next) ...
    int fail_with;      // ... ends with this cudaError_t
    uint8_t uuid[16];   // of the first device; all zero: one that nothing else has
} settings;

// Defaults: one sm_90 device. Of the environment, ORR_EMU_ORDER and ORR_EMU_RACES set the first two,
// ORR_EMU_MEMORY [MiB] and ORR_EMU_DEVICES the next, ORR_EMU_FAULT="CALL ERROR" fail_call and fail_with, and
// ORR_EMU_UUID (32 hexadecimal digits) the device's, for example that of the Vulkan driver which memory is to
// be shared with.
settings *current_settings(void);
size_t live_allocations(void); // that nobody has freed
size_t live_handles(void);     // streams, events, graphs and what was imported that nobody has destroyed
size_t made_allocations(void); // how often memory was given out so far, the device's and pinned
// So far: to or from memory that is not pinned, for which a device lets the host wait.
size_t pageable_copies(void);
size_t copies_to_host(void); // from the device, of all that were asked for so far
// So far: what the host put into streams, one by one. A graph counts once, and what is captured does not.
size_t submissions(void);
size_t launches(void); // kernels that ran so far
// So far: waits of the host behind which no stream had anything left, so that a device would have had nothing
// to do until the host put more.
size_t idle_waits(void);

// A timeline of somebody else in this process, for drivers that export none: as a file descriptor, which
// cudaImportExternalSemaphore takes. wait: 0 when the value is not reached within some seconds.
typedef struct external_timeline {
    void (*signal)(void *user, uint64_t value);
    int (*wait)(void *user, uint64_t value);
    void *user;
} external_timeline;
int export_timeline(const external_timeline *timeline); // -1: no descriptor is left

#ifdef __cplusplus
} // namespace emu
} // extern "C"
#endif
