// A position in a file of a COLMAP model, binary or text, for the readers of such files.
#pragma once

#include "engine/core/result.h"

enum { ORR_COLMAP_COUNT_MAX = 1 << 20 }; // of cameras or images

// A position in one file. Text is read line by line, and numbers of a line one by one.
typedef struct orr_cursor {
    const char *name;
    const uint8_t *at, *end;
    bool text;
    int line; // text: for messages
} orr_cursor;

// ORR_CODE_CAMERA_FILE: the file, in text the line, and what was expected.
orr_result orr_cursor_fail(const orr_cursor *in, orr_error *error, const char *expected);

// Binary: `size` bytes. False: the file is cut short.
bool orr_cursor_take(orr_cursor *in, void *value, size_t size);
// A count of entries of at least `smallest` bytes each, at most `limit`.
orr_result orr_cursor_count(orr_cursor *in, size_t smallest, int limit, int *count, orr_error *error);

// Text: the next line that is neither a comment nor, unless requested, empty. False: the file ends.
bool orr_cursor_line(orr_cursor *in, bool empty_too, orr_cursor *line);
// The next word of a line; false: there is none of fewer than `size` bytes.
bool orr_cursor_word(orr_cursor *line, char *word, size_t size);
// A finite number.
bool orr_cursor_number(orr_cursor *line, double *value);
// A whole number in 0 .. limit.
bool orr_cursor_whole(orr_cursor *line, uint64_t limit, uint64_t *value);
