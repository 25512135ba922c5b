// Drops a file on a window, as a file manager does (the XDND protocol, version 5). usage: drop_file WINDOW
// FILE [X Y], on the screen. Exit code 0 when the window took it.
#define _DEFAULT_SOURCE
#include <X11/Xlib.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct drop {
    Display *display;
    Window source, target;
    Atom type; // text/uri-list
    char uri[4096];
} drop;

static Atom atom(const drop *d, const char *name)
{
    return XInternAtom(d->display, name, False);
}

static void tell(const drop *d, const char *message, long a, long b, long c, long e)
{
    XEvent event = {.xclient = {.type = ClientMessage,
                                .display = d->display,
                                .window = d->target,
                                .message_type = atom(d, message),
                                .format = 32}};
    event.xclient.data.l[0] = (long)d->source;
    event.xclient.data.l[1] = a;
    event.xclient.data.l[2] = b;
    event.xclient.data.l[3] = c;
    event.xclient.data.l[4] = e;
    XSendEvent(d->display, d->target, False, NoEventMask, &event);
    XFlush(d->display);
}

static void hand_over(const drop *d, const XSelectionRequestEvent *request)
{
    XChangeProperty(d->display, request->requestor, request->property, d->type, 8, PropModeReplace,
                    (const unsigned char *)d->uri, (int)strlen(d->uri));
    XEvent event = {.xselection = {.type = SelectionNotify,
                                   .display = d->display,
                                   .requestor = request->requestor,
                                   .selection = request->selection,
                                   .target = request->target,
                                   .property = request->property,
                                   .time = request->time}};
    XSendEvent(d->display, request->requestor, False, NoEventMask, &event);
    XFlush(d->display);
}

// Answers the window's events until it sends `message`; within ten seconds.
static bool wait_for(const drop *d, const char *message, XClientMessageEvent *answer)
{
    for (int i = 0; i < 1000; i++) {
        while (XPending(d->display)) {
            XEvent event;
            XNextEvent(d->display, &event);
            if (event.type == SelectionRequest) {
                hand_over(d, &event.xselectionrequest);
            } else if (event.type == ClientMessage && event.xclient.message_type == atom(d, message)) {
                *answer = event.xclient;
                return true;
            }
        }
        usleep(10000);
    }
    return false;
}

int main(int argc, char **argv)
{
    drop d = {.display = argc == 3 || argc == 5 ? XOpenDisplay(NULL) : NULL};
    if (!d.display) {
        return 2;
    }
    d.target = strtoul(argv[1], NULL, 0);
    d.type = atom(&d, "text/uri-list");
    snprintf(d.uri, sizeof d.uri, "file://%s\r\n", argv[2]);
    d.source = XCreateSimpleWindow(d.display, DefaultRootWindow(d.display), 0, 0, 1, 1, 0, 0, 0);
    const long x = argc == 5 ? strtol(argv[3], NULL, 10) : 100,
               y = argc == 5 ? strtol(argv[4], NULL, 10) : 100;
    XSetSelectionOwner(d.display, atom(&d, "XdndSelection"), d.source, CurrentTime);
    XClientMessageEvent answer;
    tell(&d, "XdndEnter", 5L << 24, (long)d.type, 0, 0);
    tell(&d, "XdndPosition", 0, x << 16 | y, CurrentTime, (long)atom(&d, "XdndActionCopy"));
    if (!wait_for(&d, "XdndStatus", &answer) || !(answer.data.l[1] & 1)) {
        return 1;
    }
    tell(&d, "XdndDrop", 0, CurrentTime, 0, 0);
    // GLFW answers with the number of bytes that it took where the protocol has a flag
    bool taken = wait_for(&d, "XdndFinished", &answer) && answer.data.l[1] != 0;
    XCloseDisplay(d.display);
    return taken ? 0 : 1;
}
