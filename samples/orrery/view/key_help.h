// What keys, mouse buttons and the wheel do: for the window (?) and for --help.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

typedef struct key_help {
    const char *key; // NULL: `meaning` is a heading
    const char *meaning;
} key_help;

extern const key_help key_help_rows[];
extern const int key_help_count;

enum { KEY_HELP_TEXT_SIZE = 4096 };
void key_help_text(char text[KEY_HELP_TEXT_SIZE]); // the rows as lines, without a newline at the end

#ifdef __cplusplus
}
#endif
