// Results and numbered codes: how every function of the engine says what went wrong.
//
// A function that the world can make fail (files, memory, devices, arguments from outside) returns orr_result
// and takes a nullable orr_error last. The error holds one line: the file, the position in it, and what was
// expected. What only a bug in the caller can break is an assert.
#pragma once

#include "engine/orrery.h"

#include <assert.h>

// Fills *error (which may be NULL) with the code and one formatted line, and returns the result of the code.
orr_result orr_fail(orr_error *error, orr_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Where log lines go. Zero is silent. Copied by value into whatever logs.
typedef struct orr_log {
    orr_log_fn write; // Nullable
    void *user;
} orr_log;

// Sends one line; the library itself never prints.
void orr_log_line(orr_log log, orr_log_level level, orr_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// Returns early with the result of a call that failed.
#define ORR_TRY(call)                                                                                        \
    do {                                                                                                     \
        orr_result orr_try_result = (call);                                                                  \
        if (orr_try_result != ORR_OK) {                                                                      \
            return orr_try_result;                                                                           \
        }                                                                                                    \
    } while (0)
