#include "render/window/present.h"

#include <unistd.h>

#ifdef ORR_HAVE_X11
#include <X11/Xlib.h>
#endif

#ifdef ORR_HAVE_X11
// Xlib's handler is one for all displays, and is told nothing else
static void (*when_lost)(void *context);
static void *when_lost_with;

// Xlib can be called no more, and would end the process.
static int on_lost(Display *display)
{
    (void)display;
    void (*lost)(void *) = when_lost;
    when_lost = NULL; // once
    if (lost) {
        lost(when_lost_with);
    }
    _exit(1); // what is called at exit may ask the display
}

void orr_present_when_lost(void (*lost)(void *context), void *context)
{
    when_lost = lost;
    when_lost_with = context;
    XSetIOErrorHandler(on_lost);
}
#else
void orr_present_when_lost(void (*lost)(void *context), void *context)
{
    (void)lost, (void)context;
}
#endif
