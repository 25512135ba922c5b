#define _GNU_SOURCE
#include "samples/orrery/interrupt.h"

#include <signal.h>
#include <stddef.h>

// a signal handler can reach nothing else
static volatile sig_atomic_t requested;

static void (*_Atomic called)(void *context);
static void *_Atomic called_with;

static void on_signal(int number)
{
    (void)number;
    requested = 1;
    void (*call)(void *) = called;
    if (call) {
        call(called_with);
    }
}

void interrupt_call(void (*call)(void *context), void *context)
{
    called = (void (*)(void *))0;
    called_with = context;
    called = call;
}

void interrupt_begin(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool interrupt_requested(void)
{
    return requested != 0;
}
