// The threads of a block as fibers: what a kernel is run by.
//
// Blocks run one after the other; the threads of a block take turns, and give way only where they wait for
// each other. So a run is repeatable, and a shared variable can be a static one. Whatever a kernel does that
// a device would not forgive ends the process with one line that names kernel, block and thread (fail()).
#pragma once

#include <cstddef>
#include <cstdint>

struct uint3 {
    unsigned int x, y, z;
};
struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z)
    {
    }
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z)
    {
    }
};

extern uint3 threadIdx, blockIdx; // of the thread whose turn it is
extern dim3 blockDim, gridDim;
constexpr int warpSize = 32;

namespace emu
{

constexpr unsigned int MAX_THREADS = 1024;
constexpr size_t MAX_SHARED =
    227 << 10; // dynamic, per block: what the largest GPU of the range allows (sm_90)

struct site { // where in the source a thread waits
    const char *file;
    int line;
};

// Prints "FAILED on the emulated device: kernel, block, thread: message" and ends the process with exit code
// 70.
[[noreturn]] void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
// The same place as text, for reports of others; "" outside of kernels.
const char *where();
bool in_kernel();

// --- waiting for each other: every barrier, vote, shuffle and matrix product is one of these
// -------------------------

// What each thread of a group brings and takes away. All waits of a group must be at the same place in the
// source.
struct party {
    unsigned int lane; // within the warp, or the thread's number within the block
    const void *in;
    void *out;
};
// Called once, when all have come, for the threads of the group in ascending order.
typedef void (*meeting)(const party *parties, unsigned int count);

void meet_block(meeting hold, const void *in, void *out, site at);
// mask: which lanes of the warp meet; the caller must be one of them.
void meet_warp(unsigned int mask, meeting hold, const void *in, void *out, site at);
void give_way(); // lets the other threads of the block go on, for loops that wait for a value

unsigned int lane();
void *dynamic_shared(); // of the running block

// --- launching
// ---------------------------------------------------------------------------------------------------

// A kernel with its arguments, as something that one thread can run.
typedef void (*body)(const void *closure);
void run_grid(const char *kernel, dim3 grid, dim3 block, size_t shared, body run, const void *closure);

} // namespace emu
