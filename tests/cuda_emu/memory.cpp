#include "memory.h"

#include "block.h"
#include "emu.h"
#include "engine/core/sanitizer.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef ORR_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace emu
{
namespace
{

constexpr unsigned char EDGE = 0xa5; // of the bytes around an allocation

struct allocation {
    unsigned char *map; // whole pages, the last one not to be touched
    size_t mapped;      // without that last one
    size_t bytes;
    bool foreign; // what lies around it is not ours
};

std::map<unsigned char *, allocation> allocations; // by where they begin
std::set<const void *> atomics;
size_t used;
int opened;
bool closed = true; // is it out of the host's reach?

size_t page_bytes()
{
    static const size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    return bytes;
}

// The processor's key to all memory of the device, which opens and closes it for a thread in one instruction;
// -1 where the processor has none: then each allocation is protected anew, by a system call that goes through
// its pages.
int key()
{
    static const int key = pkey_alloc(0, PKEY_DISABLE_ACCESS);
    return key;
}

void protect(const allocation &a, bool open)
{
    mprotect(a.map, a.mapped, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

void protect_all(bool open)
{
    if (key() >= 0) {
        pkey_set(key(), open ? 0 : PKEY_DISABLE_ACCESS);
        return;
    }
    for (const auto &entry : allocations) {
        protect(entry.second, open);
    }
}

// Puts a new allocation under that protection.
void protect_new(const allocation &a)
{
    if (key() >= 0) {
        pkey_mprotect(a.map, a.mapped, PROT_READ | PROT_WRITE, key());
    } else if (closed) {
        protect(a, false);
    }
}

// Without a key, closing at the first opportunities and at a few of the later ones finds a host that reads
// the device's memory as well as closing at all of them, which took most of the time of many tests.
bool is_to_be_closed()
{
    static unsigned int opportunities;
    opportunities++;
    return key() >= 0 || opportunities <= 256 || opportunities % 32 == 0;
}

// the allocation that `at` is in or, by a page, beside
const std::pair<unsigned char *const, allocation> *near(const void *at)
{
    for (const auto &entry : allocations) {
        if ((unsigned char *)at >= entry.second.map &&
            (unsigned char *)at < entry.second.map + entry.second.mapped + page_bytes()) {
            return &entry;
        }
    }
    return nullptr;
}

void on_fault(int, siginfo_t *info, void *)
{
    const auto *entry = near(info->si_addr);
    if (!entry) {
        if (in_kernel()) {
            fail("touches %p, which is no memory of the device", info->si_addr);
        }
        signal(SIGSEGV, SIG_DFL); // not ours
        return;
    }
    size_t bytes = entry->second.bytes;
    long offset = (long)((unsigned char *)info->si_addr - entry->first);
    if (!in_kernel()) {
        fail("the host touches byte %ld of device memory, an allocation of %zu bytes", offset, bytes);
    }
    fail("touches byte %ld of an allocation of %zu bytes", offset, bytes);
}

#ifdef ORR_ADDRESS_SANITIZER
void on_report(const char *)
{
    if (in_kernel()) {
        fprintf(stderr, "FAILED on the emulated device: %s: touches what it may not (AddressSanitizer)\n",
                where());
    }
}
#endif

void install_handler() // again and again: test frameworks have handlers of their own
{
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, nullptr);
#ifdef ORR_ADDRESS_SANITIZER
    __asan_set_error_report_callback(on_report);
#endif
}

} // namespace

void *memory_allocate(size_t bytes)
{
    install_handler();
    size_t limit = current_settings()->memory ? current_settings()->memory : (size_t)16 << 30;
    if (bytes == 0 || used > limit || bytes > limit - used) {
        return nullptr;
    }
    size_t rounded = (bytes + 15) & ~(size_t)15, page = page_bytes();
    allocation a;
    a.mapped = (rounded + page - 1) / page * page;
    a.bytes = bytes;
    a.foreign = false;
    void *map = mmap(nullptr, a.mapped + page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) {
        return nullptr;
    }
    a.map = (unsigned char *)map;
    mprotect(a.map + a.mapped, page, PROT_NONE);
    unsigned char *begin = a.map + (a.mapped - rounded);
    memset(a.map, EDGE, (size_t)(begin - a.map));
    memset(begin, 0xff, bytes);
    memset(begin + bytes, EDGE, rounded - bytes);
#ifdef ORR_ADDRESS_SANITIZER
    __asan_poison_memory_region(a.map, (size_t)(begin - a.map));
    __asan_poison_memory_region(begin + bytes, rounded - bytes);
#endif
    protect_new(a);
    allocations[begin] = a;
    used += bytes;
    return begin;
}

void *memory_map(int file, size_t offset, size_t bytes)
{
    install_handler();
    struct stat status;
    size_t page = page_bytes(), before = offset % page;
    if (bytes == 0 || fstat(file, &status) != 0 || (size_t)status.st_size < offset ||
        bytes > (size_t)status.st_size - offset) {
        return nullptr;
    }
    allocation a;
    a.mapped = (before + bytes + page - 1) / page * page;
    a.bytes = bytes;
    a.foreign = true;
    void *map = mmap(nullptr, a.mapped + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) {
        return nullptr;
    }
    a.map = (unsigned char *)map;
    if (mmap(map, a.mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, (off_t)(offset - before)) ==
        MAP_FAILED) {
        munmap(map, a.mapped + page);
        return nullptr;
    }
    protect_new(a);
    allocations[a.map + before] = a;
    return a.map + before;
}

bool memory_free(void *at)
{
    auto found = allocations.find((unsigned char *)at);
    if (found == allocations.end()) {
        return false;
    }
    const allocation &a = found->second;
#ifdef ORR_ADDRESS_SANITIZER
    __asan_unpoison_memory_region(a.map, a.mapped);
#endif
    munmap(a.map, a.mapped + page_bytes());
    used -= a.foreign ? 0 : a.bytes;
    allocations.erase(found);
    return true;
}

bool memory_holds(const void *at, size_t bytes)
{
    auto after = allocations.upper_bound((unsigned char *)at);
    if (after == allocations.begin()) {
        return false;
    }
    const auto &entry = *--after;
    size_t offset = (size_t)((unsigned char *)at - entry.first);
    return offset <= entry.second.bytes && bytes <= entry.second.bytes - offset;
}

size_t memory_used()
{
    return used;
}

size_t memory_count()
{
    return allocations.size();
}

void memory_open()
{
    if (opened++ == 0 && closed) {
        install_handler();
        protect_all(true);
        closed = false;
    }
}

void memory_close()
{
    if (--opened == 0 && is_to_be_closed()) {
        protect_all(false);
        closed = true;
    }
}

#ifdef ORR_ADDRESS_SANITIZER
void memory_check_edges() // AddressSanitizer sees who writes there, as it happens
{
}
#else
void memory_check_edges()
{
    for (const auto &entry : allocations) {
        if (entry.second.foreign) {
            continue;
        }
        const unsigned char *begin = entry.first, *end = begin + entry.second.bytes;
        const unsigned char *map_end = entry.second.map + entry.second.mapped;
        for (const unsigned char *p = begin - entry.second.map < 64 ? entry.second.map : begin - 64;
             p < begin; p++) {
            if (*p != EDGE) {
                fail("this block of threads wrote %zu bytes before an allocation of %zu bytes",
                     (size_t)(begin - p), entry.second.bytes);
            }
        }
        for (const unsigned char *p = end; p < map_end; p++) {
            if (*p != EDGE) {
                fail("this block of threads wrote to byte %zu of an allocation of %zu bytes",
                     (size_t)(p - begin), entry.second.bytes);
            }
        }
    }
}
#endif

void memory_save(memory_image *image)
{
    image->clear();
    for (const auto &entry : allocations) {
        image->insert(image->end(), entry.first, entry.first + entry.second.bytes);
    }
}

void memory_restore(const memory_image *image)
{
    const unsigned char *from = image->data();
    for (const auto &entry : allocations) {
        memcpy(entry.first, from, entry.second.bytes);
        from += entry.second.bytes;
    }
}

bool memory_differs(const memory_image *a, const memory_image *b, memory_difference *difference)
{
    const size_t part = 4096; // bytes that are compared at once
    const unsigned char *x = a->data(), *y = b->data();
    for (const auto &entry : allocations) {
        const size_t bytes = entry.second.bytes;
        for (size_t first = 0; first < bytes; first += part) {
            const size_t end = std::min(first + part, bytes);
            if (memcmp(x + first, y + first, end - first) == 0) {
                continue;
            }
            for (size_t i = first; i < end; i++) {
                const unsigned char *p = entry.first + i;
                if (x[i] != y[i] && !atomics.count((const void *)((uintptr_t)p & ~(uintptr_t)3))) {
                    *difference = {p, i, bytes};
                    return true;
                }
            }
        }
        x += bytes;
        y += bytes;
    }
    return false;
}

void note_atomic(const void *at, size_t bytes)
{
    if (current_settings()->find_races) {
        for (size_t i = 0; i < bytes; i += 4) {
            atomics.insert((const void *)(((uintptr_t)at + i) & ~(uintptr_t)3));
        }
    }
}

void forget_atomics()
{
    atomics.clear();
}

} // namespace emu
