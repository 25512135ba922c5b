// The memory of the emulated device: each allocation ends at a page that no one may touch, and is out of the
// host's reach while no work of the device runs; without protection keys only some of that time.
#pragma once

#include <cstddef>
#include <vector>

namespace emu
{

void *memory_allocate(size_t bytes); // 16-byte aligned, full of 0xff; nullptr: none left
// Memory of somebody else, which both see from now on: bytes of an open file from `offset` on.
void *memory_map(int file, size_t offset, size_t bytes); // nullptr: the file has not got them
bool memory_free(void *at);                              // false: no allocation begins there
bool memory_holds(const void *at, size_t bytes);         // is it device memory, and inside one allocation?
size_t memory_used();
size_t memory_count();

// The device's work may touch its memory only between these two.
void memory_open();
void memory_close();
// Fails when something was written beside an allocation.
void memory_check_edges();

// Everything on the device, to find out what a block of threads has changed.
typedef std::vector<unsigned char> memory_image;
struct memory_difference {
    const unsigned char *at;
    size_t offset, bytes; // of `at` in its allocation, and the allocation's size
};
void memory_save(memory_image *image);
void memory_restore(const memory_image *image);
bool memory_differs(const memory_image *a, const memory_image *b, memory_difference *difference);

// Float sums depend on their order by rounding, and that is no race.
void note_atomic(const void *at, size_t bytes);
void forget_atomics();

// Called after each turn of a thread.
typedef void (*thread_watch)(void *user, unsigned int thread);

} // namespace emu
