// Where a thread of a block stands: its stack, and how to go on there.
//
// On x86-64 a switch is a dozen instructions. ucontext, which serves other processors, asks the system for
// the signal mask each time, and AddressSanitizer clears the stack's whole shadow; a kernel's test is ten
// times slower with it.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)

extern "C" void emu_switch_stack(void **from, void *to);

struct fiber_place {
    void *stack_pointer;
};

// The place from which a switch enters `entry`, which must not return, on an empty stack.
inline void fiber_begin(fiber_place *place, void *stack, size_t bytes, void (*entry)())
{
    uintptr_t top = ((uintptr_t)stack + bytes) & ~(uintptr_t)15;
    void **frame = (void **)top - 8; // six registers, where to go, and no caller
    for (int i = 0; i < 8; i++) {
        frame[i] = nullptr;
    }
    frame[6] = (void *)entry;
    place->stack_pointer = frame;
}

inline void fiber_switch(fiber_place *from, const fiber_place *to)
{
    emu_switch_stack(&from->stack_pointer, to->stack_pointer);
}

#else

#include <ucontext.h>

struct fiber_place {
    ucontext_t context;
};

inline void fiber_begin(fiber_place *place, void *stack, size_t bytes, void (*entry)())
{
    getcontext(&place->context);
    place->context.uc_stack.ss_sp = stack;
    place->context.uc_stack.ss_size = bytes;
    place->context.uc_link = nullptr;
    makecontext(&place->context, entry, 0);
}

inline void fiber_switch(fiber_place *from, const fiber_place *to)
{
    swapcontext(&from->context, &to->context);
}

#endif
