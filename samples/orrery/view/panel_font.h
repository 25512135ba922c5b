// The panel's font, from the fonts of the system.
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PANEL_FONT_PATH_SIZE = 1024 };

// A scalable sans-serif font, as fontconfig finds it: its file, and which font of it. False: there is none.
bool panel_font_find(char path[PANEL_FONT_PATH_SIZE], int *index);

#ifdef __cplusplus
}
#endif
