// Ctrl-C: after interrupt_begin, SIGINT, SIGTERM and SIGHUP (the terminal or the connection is gone; unless
// nohup has it ignored) do not end the process but make interrupt_requested return true, so that a command
// can finish its files and exit. A second one, more than 0.3 s later, ends it at once. Progress that nobody
// reads any more (SIGPIPE) ends nothing.
#pragma once

#include <stdbool.h>

void interrupt_begin(void);
bool interrupt_requested(void);
// What the signal calls too, on whichever thread it arrives: nothing that a handler may not. NULL: nothing.
void interrupt_call(void (*call)(void *context), void *context);
