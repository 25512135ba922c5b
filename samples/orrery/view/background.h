// One task at a time on a thread of its own, so that the window answers meanwhile.
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct background {
    void (*task)(void *context);
    void *context;
    void (*ended)(void); // called on the thread after the task
    pthread_t thread;
    bool started; // and not finished yet
    atomic_bool done;
} background;

// No other task is started. Where there is no thread to be had, the task runs in this call.
void background_start(background *background, void (*task)(void *context), void *context,
                      void (*ended)(void));
bool background_is_busy(const background *background);
// Waits for the task; false: none was started.
bool background_finish(background *background);
