#include "samples/orrery/view/background.h"

static void *run(void *argument)
{
    background *b = argument;
    b->task(b->context);
    atomic_store(&b->done, true);
    b->ended();
    return NULL;
}

void background_start(background *b, void (*task)(void *context), void *context, void (*ended)(void))
{
    b->task = task;
    b->context = context;
    b->ended = ended;
    atomic_store(&b->done, false);
    b->started = pthread_create(&b->thread, NULL, run, b) == 0;
    if (!b->started) {
        run(b);
    }
}

bool background_is_busy(const background *b)
{
    return b->started && !atomic_load(&b->done);
}

bool background_finish(background *b)
{
    bool started = b->started;
    if (started) {
        pthread_join(b->thread, NULL);
        b->started = false;
    }
    return started;
}
