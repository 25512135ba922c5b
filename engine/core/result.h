// Results and numbered codes: how every function of the engine says what went wrong.
//
// A function that the world can make fail (files, memory, devices, arguments from outside) returns orr_result
// and takes a nullable orr_error last. The error holds one line: the file, the place in it, and what was
// expected. What only a bug in the caller can break is an assert.
#pragma once

#include "engine/orrery.h"

#include <assert.h>

// One number for each thing that can go wrong, so that tests and hosts can tell them apart without reading
// text. X(name, number, result)
#define ORR_CODES(X)                                                                                         \
    X(OUT_OF_MEMORY, 1, ORR_ERROR_MEMORY)                                                                    \
    X(INTERRUPTED, 2, ORR_ERROR_INTERRUPTED)                                                                 \
    X(ARGUMENT, 3, ORR_ERROR_ARGUMENT)                                                                       \
    X(STALE_ID, 4, ORR_ERROR_ARGUMENT)                                                                       \
    X(FEATURE_ABSENT, 5, ORR_ERROR_UNSUPPORTED)                                                              \
    X(CAPACITY, 6, ORR_ERROR_CAPACITY)                                                                       \
    X(FILE_OPEN, 100, ORR_ERROR_FILE)                                                                        \
    X(FILE_READ, 101, ORR_ERROR_FILE)                                                                        \
    X(FILE_WRITE, 102, ORR_ERROR_FILE)                                                                       \
    X(FILE_TYPE, 103, ORR_ERROR_FORMAT)                                                                      \
    X(FILE_TRUNCATED, 104, ORR_ERROR_FORMAT)                                                                 \
    X(FILE_HEADER, 105, ORR_ERROR_FORMAT)                                                                    \
    X(FILE_VALUE, 106, ORR_ERROR_FORMAT)                                                                     \
    X(FILE_TOO_LARGE, 107, ORR_ERROR_FORMAT)                                                                 \
    X(FILE_COMPRESSION, 108, ORR_ERROR_FORMAT)                                                               \
    X(FILE_VERSION, 109, ORR_ERROR_UNSUPPORTED)                                                              \
    X(SCENE_FILE, 200, ORR_ERROR_FORMAT)                                                                     \
    X(CAMERA_FILE, 201, ORR_ERROR_FORMAT)                                                                    \
    X(MESH_FILE, 202, ORR_ERROR_FORMAT)                                                                      \
    X(IMAGE_FILE, 203, ORR_ERROR_FORMAT)                                                                     \
    X(CAMERA, 204, ORR_ERROR_ARGUMENT)                                                                       \
    X(CONFIG, 205, ORR_ERROR_FORMAT)                                                                         \
    X(MODEL_FILE, 206, ORR_ERROR_FORMAT)                                                                     \
    X(DEVICE_ABSENT, 300, ORR_ERROR_DEVICE)                                                                  \
    X(DEVICE_CALL, 301, ORR_ERROR_DEVICE)                                                                    \
    X(DEVICE_LOST, 302, ORR_ERROR_DEVICE)                                                                    \
    X(DEVICE_MEMORY, 303, ORR_ERROR_MEMORY)                                                                  \
    X(DEVICE_VALIDATION, 304, ORR_ERROR_DEVICE)                                                              \
    X(DEVICE_CHOSEN, 305, ORR_OK)                                                                            \
    X(DEVICE_SHARING, 306, ORR_ERROR_UNSUPPORTED)                                                            \
    X(WINDOW, 310, ORR_ERROR_UNSUPPORTED)                                                                    \
    X(VIDEO, 320, ORR_ERROR_FILE)                                                                            \
    X(IGNORED, 400, ORR_OK)

typedef enum orr_code {
    ORR_CODE_NONE = 0,
#define ORR_CODE_ENUM(name, number, result) ORR_CODE_##name = (number),
    ORR_CODES(ORR_CODE_ENUM)
#undef ORR_CODE_ENUM
} orr_code;

// Fills *error (which may be NULL) with the code and one formatted line, and returns the result of the code.
orr_result orr_fail(orr_error *error, orr_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// A place to send log lines. Zero is silent. Copied by value into whatever logs.
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
