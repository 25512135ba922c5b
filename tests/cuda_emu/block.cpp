#include "block.h"

#include "emu.h"
#include "engine/core/sanitizer.h"
#include "fiber.h"
#include "memory.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#ifdef ORR_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(__x86_64__)
// Keeps what a callee keeps on the stack that is left, takes it from the one that is entered.
asm(".text\n"
    ".globl emu_switch_stack\n"
    ".hidden emu_switch_stack\n"
    ".type emu_switch_stack, @function\n"
    "emu_switch_stack:\n"
    "    pushq %rbp\n"
    "    pushq %rbx\n"
    "    pushq %r12\n"
    "    pushq %r13\n"
    "    pushq %r14\n"
    "    pushq %r15\n"
    "    movq %rsp, (%rdi)\n"
    "    movq %rsi, %rsp\n"
    "    popq %r15\n"
    "    popq %r14\n"
    "    popq %r13\n"
    "    popq %r12\n"
    "    popq %rbx\n"
    "    popq %rbp\n"
    "    ret\n"
    ".size emu_switch_stack, . - emu_switch_stack\n");
#endif

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace emu
{
namespace
{

constexpr size_t STACK_BYTES = 512 << 10; // pages that are not touched cost nothing
constexpr size_t OUTERMOST_BYTES = 4096;
constexpr int WHOLE_BLOCK = -1;

enum class turn { ready, waits, gave_way, returned };

struct fiber {
    fiber_place place;
    uint3 index; // threadIdx
    void *stack;
    void *fake_stack; // AddressSanitizer's
    turn state;
    // what it waits for
    int warp; // or WHOLE_BLOCK
    unsigned int mask;
    meeting hold;
    const void *in;
    void *out;
    site at;
};

struct block_state {
    const char *kernel;
    unsigned int threads;
    unsigned int current;
    bool running;
    body run;
    const void *closure;
    fiber_place scheduler;
    void *scheduler_fake_stack;
    const void *scheduler_stack;
    size_t scheduler_stack_bytes;
    thread_watch watch;
    void *watch_user;
};

fiber fibers[MAX_THREADS];
unsigned int waiting[MAX_THREADS / 32 + 1]; // threads that wait for others of their warp; last, of the block
block_state state;
alignas(128) unsigned char shared_memory[MAX_SHARED];

// the next random number of the schedule
uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

void to_scheduler(fiber *from, bool for_good)
{
#ifdef ORR_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(for_good ? nullptr : &from->fake_stack, state.scheduler_stack,
                                   state.scheduler_stack_bytes);
#endif
    (void)for_good;
    fiber_switch(&from->place, &state.scheduler);
#ifdef ORR_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(from->fake_stack, &state.scheduler_stack, &state.scheduler_stack_bytes);
#endif
}

void begin_fiber()
{
#ifdef ORR_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(nullptr, &state.scheduler_stack, &state.scheduler_stack_bytes);
#endif
    fiber *self = &fibers[state.current];
    state.run(state.closure);
    self->state = turn::returned;
    to_scheduler(self, true);
}

void set_thread(unsigned int thread)
{
    state.current = thread;
    threadIdx = fibers[thread].index;
}

void run_fiber(unsigned int thread)
{
    fiber *f = &fibers[thread];
    set_thread(thread);
    f->state = turn::ready;
#ifdef ORR_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(&state.scheduler_fake_stack, f->stack, STACK_BYTES);
#endif
    fiber_switch(&state.scheduler, &f->place);
#ifdef ORR_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(state.scheduler_fake_stack, nullptr, nullptr);
#endif
    if (state.watch) {
        state.watch(state.watch_user, thread);
    }
}

void prepare_fiber(unsigned int thread)
{
    fiber *f = &fibers[thread];
    if (!f->stack) {
        const size_t page = (size_t)sysconf(_SC_PAGESIZE);
        char *memory = (char *)mmap(nullptr, STACK_BYTES + page, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0) {
            fail("no memory for the stack of a thread");
        }
        f->stack = memory + page;
    }
#ifdef ORR_ADDRESS_SANITIZER
    // A kernel's functions clean their frames when they return; that of begin_fiber, the outermost, stays.
    __asan_unpoison_memory_region((char *)f->stack + STACK_BYTES - OUTERMOST_BYTES, OUTERMOST_BYTES);
#endif
    fiber_begin(&f->place, f->stack, STACK_BYTES, begin_fiber);
    f->state = turn::ready;
    f->index.x = thread % blockDim.x;
    f->index.y = thread / blockDim.x % blockDim.y;
    f->index.z = thread / (blockDim.x * blockDim.y);
}

// The threads that wait where no one else will come: says who waits for whom.
[[noreturn]] void report_deadlock()
{
    unsigned int waiting = 0;
    while (fibers[waiting].state != turn::waits) {
        waiting++;
    }
    const fiber *f = &fibers[waiting];
    set_thread(waiting);
    const char *what = f->warp == WHOLE_BLOCK ? "at a barrier of the block" : "for lanes of its warp";
    for (unsigned int i = 0; i < state.threads; i++) {
        const fiber *other = &fibers[i];
        bool expected = f->warp == WHOLE_BLOCK || (i / 32 == waiting / 32 && f->mask >> i % 32 & 1);
        if (i == waiting || !expected) {
            continue;
        }
        if (other->state == turn::returned) {
            fail("waits %s (%s:%d) to which thread %u never comes: it has returned", what, f->at.file,
                 f->at.line, i);
        }
        if (other->warp != f->warp || other->at.line != f->at.line ||
            strcmp(other->at.file, f->at.file) != 0) {
            fail("waits %s (%s:%d) to which thread %u does not come: it waits at %s:%d", what, f->at.file,
                 f->at.line, i, other->at.file, other->at.line);
        }
        if (other->mask != f->mask) {
            fail("waits %s (%s:%d) with mask %08x, but thread %u with mask %08x", what, f->at.file,
                 f->at.line, f->mask, i, other->mask);
        }
    }
    fail("waits %s (%s:%d) for ever", what, f->at.file, f->at.line);
}

bool same_place(const fiber *a, const fiber *b)
{
    return b->state == turn::waits && a->warp == b->warp && a->mask == b->mask && a->hold == b->hold &&
           a->at.line == b->at.line && (a->at.file == b->at.file || strcmp(a->at.file, b->at.file) == 0);
}

bool is_expected(const fiber *self, unsigned int lane)
{
    return self->warp == WHOLE_BLOCK || (self->mask >> lane & 1);
}

bool all_wait(unsigned int first, unsigned int count, const fiber *self)
{
    for (unsigned int lane = 0; lane < count; lane++) {
        if (is_expected(self, lane) && !same_place(self, &fibers[first + lane])) {
            return false;
        }
    }
    return true;
}

// Waits until all threads of the group do so at the same place; the last to come holds the meeting.
void wait_and_meet(unsigned int first, unsigned int count, fiber *self)
{
    static party parties[MAX_THREADS];
    const bool whole = self->warp == WHOLE_BLOCK;
    unsigned int *here = &waiting[whole ? MAX_THREADS / 32 : self->warp], present = 0;
    unsigned int expected = whole ? count : (unsigned int)__builtin_popcount(self->mask);
    self->state = turn::waits;
    if (++*here < expected || !all_wait(first, count, self)) { // most come before others, as the count says
        to_scheduler(self, false);
        return;
    }
    for (unsigned int i = 0; i < count; i++) {
        if (is_expected(self, i)) {
            parties[present++] = {i, fibers[first + i].in, fibers[first + i].out};
        }
    }
    *here -= present;
    self->hold(parties, present);
    for (unsigned int i = 0; i < present; i++) {
        fibers[first + parties[i].lane].state = turn::ready;
    }
}

void run_block(uint32_t order_seed)
{
    static unsigned int order[MAX_THREADS];
    for (unsigned int i = 0; i < state.threads; i++) {
        prepare_fiber(i);
        order[i] = order_seed == 1 ? state.threads - 1 - i : i;
    }
    memset(waiting, 0, sizeof waiting);
    state.running = true;
    for (;;) {
        unsigned int returned = 0, ran = 0;
        if (order_seed > 1) {
            for (unsigned int i = state.threads - 1; i > 0; i--) {
                unsigned int j = next_random(&order_seed) % (i + 1), swapped = order[i];
                order[i] = order[j];
                order[j] = swapped;
            }
        }
        for (unsigned int i = 0; i < state.threads; i++) {
            turn at = fibers[order[i]].state;
            if (at == turn::ready || at == turn::gave_way) {
                run_fiber(order[i]);
                ran++;
            }
            returned += fibers[order[i]].state == turn::returned;
        }
        if (returned == state.threads) {
            break;
        }
        if (!ran) {
            report_deadlock();
        }
    }
    state.running = false;
}

// Runs the block in two orders from the same memory; what comes out must be the same bytes.
void find_races()
{
    static thread_local memory_image before, first,
        second; // kept: to allocate them takes longer than to fill
    memory_save(&before);
    forget_atomics();
    run_block(0);
    memory_save(&first);
    for (uint32_t order : {1u, 7u}) {
        memory_restore(&before);
        run_block(order);
        memory_save(&second);
        memory_difference found;
        if (!memory_differs(&first, &second, &found)) {
            continue;
        }
        // once more in both orders, to see which thread leaves the last value there
        struct watcher {
            const unsigned char *at;
            unsigned char last;
            unsigned int writer;
        } seen = {found.at, 0, 0};
        state.watch_user = &seen;
        state.watch = [](void *user, unsigned int thread) {
            watcher *w = (watcher *)user;
            if (*w->at != w->last) {
                w->last = *w->at;
                w->writer = thread;
            }
        };
        unsigned int writers[2];
        uint32_t orders[2] = {0, order};
        for (int i = 0; i < 2; i++) {
            memory_restore(&before);
            seen.last = *found.at;
            run_block(orders[i]);
            writers[i] = seen.writer;
        }
        set_thread(writers[0]);
        state.running = true;
        fail("a race: byte %zu of an allocation of %zu bytes depends on the order of threads (there last: "
             "thread %u, in "
             "another order thread %u)",
             found.offset, found.bytes, writers[0], writers[1]);
    }
}

} // namespace

const char *where()
{
    static char text[256];
    text[0] = 0;
    if (state.running) {
        snprintf(text, sizeof text, "kernel %s, block (%u, %u, %u), thread (%u, %u, %u)", state.kernel,
                 blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z);
    }
    return text;
}

void fail(const char *format, ...)
{
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    const char *place = where();
    fprintf(stderr, "FAILED on the emulated device: %s%s%s\n", place, *place ? ": " : "", message);
    fflush(stderr);
    _exit(70); // from a fiber's stack there is no way back
}

bool in_kernel()
{
    return state.running;
}

unsigned int lane()
{
    return state.current % 32;
}

void *dynamic_shared()
{
    return shared_memory;
}

void meet_block(meeting hold, const void *in, void *out, site at)
{
    fiber *self = &fibers[state.current];
    self->warp = WHOLE_BLOCK;
    self->mask = 0;
    self->hold = hold;
    self->in = in;
    self->out = out;
    self->at = at;
    wait_and_meet(0, state.threads, self);
}

void meet_warp(unsigned int mask, meeting hold, const void *in, void *out, site at)
{
    fiber *self = &fibers[state.current];
    unsigned int first = state.current & ~31u,
                 count = state.threads - first < 32 ? state.threads - first : 32;
    if (!(mask >> state.current % 32 & 1)) {
        fail("%s:%d: its lane %u is not in the mask %08x", at.file, at.line, state.current % 32, mask);
    }
    if (count < 32 && mask >> count) {
        fail("%s:%d: mask %08x names lanes that the block's last warp, of %u threads, does not have", at.file,
             at.line, mask, count);
    }
    self->warp = (int)(first / 32);
    self->mask = mask;
    self->hold = hold;
    self->in = in;
    self->out = out;
    self->at = at;
    wait_and_meet(first, count, self);
}

void give_way()
{
    fiber *self = &fibers[state.current];
    self->state = turn::gave_way;
    to_scheduler(self, false);
}

void run_grid(const char *kernel, dim3 grid, dim3 block, size_t shared, body run, const void *closure)
{
    unsigned long threads = (unsigned long)block.x * block.y * block.z;
    if (state.running) {
        fail("launches %s: kernels launch no kernels here", kernel);
    }
    state.kernel = kernel;
    state.threads = (unsigned int)threads;
    state.run = run;
    state.closure = closure;
    gridDim = grid;
    blockDim = block;
    const settings *how = current_settings();
    for (unsigned int z = 0; z < grid.z; z++) {
        for (unsigned int y = 0; y < grid.y; y++) {
            for (unsigned int x = 0; x < grid.x; x++) {
                blockIdx = {x, y, z};
#ifdef ORR_ADDRESS_SANITIZER
                __asan_unpoison_memory_region(shared_memory, sizeof shared_memory);
                __asan_poison_memory_region(shared_memory + shared, sizeof shared_memory - shared);
#endif
                memset(shared_memory, 0xff, shared); // NaN: it is nothing until it is written
                if (how->find_races) {
                    find_races();
                } else {
                    run_block(how->order);
                }
                state.running = true; // for the message
                memory_check_edges();
                state.running = false;
            }
        }
    }
}

} // namespace emu
