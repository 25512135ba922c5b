// A program run as a child process, found on PATH.
#pragma once

#include "engine/core/result.h"

typedef struct orr_child_desc {
    const char *const *arguments; // ends with NULL; the first is the program's name or path
    // Each line that it prints, to either of its streams, without the end of the line. Nullable.
    void (*line)(void *user, const char *text);
    // Asked at every line and ten times a second: false ends the child. Nullable.
    bool (*go_on)(void *user);
    void *user;
} orr_child_desc;

enum { ORR_CHILD_LINE_MAX = 500 }; // longer lines are cut

// Runs it to its end; its standard input is empty. ORR_CODE_FEATURE_ABSENT: there is no such program.
// ORR_CODE_INTERRUPTED: `go_on` has said so, or it was ended by SIGINT, which a terminal sends to both.
// ORR_CODE_FILE_READ: it failed; the message is the last line that it printed.
orr_result orr_child_run(const orr_child_desc *desc, orr_error *error);
