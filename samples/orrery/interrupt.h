// Ctrl-C as a question: after interrupt_begin, SIGINT and SIGTERM do not end the process but answer `true` to
// interrupt_asked, so that a command can put its files in order and leave. A second Ctrl-C ends it at once.
#pragma once

#include <stdbool.h>

void interrupt_begin(void);
bool interrupt_asked(void);
