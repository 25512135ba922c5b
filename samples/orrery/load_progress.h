// How far the making of a collider has come, on stderr, where it takes longer than a second or two.
#pragma once

#include <stdbool.h>

// An orr_progress_fn. False after interrupt_begin and Ctrl-C.
bool load_progress(void *user, const char *path, const char *stage, double share);
