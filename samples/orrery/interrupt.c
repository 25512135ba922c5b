#define _GNU_SOURCE
#include "samples/orrery/interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

// a signal handler can reach nothing else
static volatile sig_atomic_t requested;

static void (*_Atomic called)(void *context);
static void *_Atomic called_with;

// What wants to end a program may send a signal to the process and to its group, as timeout(1) and batch
// systems do, so that it arrives twice: those within this time [ns] are one.
static const int64_t TOGETHER = 300 * 1000000;
static _Atomic int64_t began; // when the first arrived [ns]; 0: none has

static void on_signal(int number)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t time = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    int64_t first = 0;
    if (!atomic_compare_exchange_strong(&began, &first, time)) {
        if (time - first > TOGETHER) { // ends the process when this handler returns
            signal(number, SIG_DFL);
            raise(number);
        }
        return;
    }
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
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction before;
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) { // not under nohup
        sigaction(SIGHUP, &action, NULL);
    }
    signal(SIGPIPE, SIG_IGN);
}

bool interrupt_requested(void)
{
    return requested != 0;
}
