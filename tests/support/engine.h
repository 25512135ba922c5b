// The engine of a test program: the CPU, two threads.
#pragma once

#include "engine/orrery.h"

extern orr_engine *engine;

// Group set-up and tear-down.
int open_engine(void **state);
int close_engine(void **state);
