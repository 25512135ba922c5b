// What every test program includes: cmocka, and small helpers that fail with a sentence.
#pragma once

// cmocka wants these before it
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/core/result.h"

// Under ThreadSanitizer programs leave out the tests whose threads others of their tests have, too: they take
// ten times as long there.
#ifdef __SANITIZE_THREAD__
enum { THREADS_ALONE = 1 };
#else
enum { THREADS_ALONE = 0 };
#endif

// Has this run another instruction set than the best of the CPU and the build? Then long tests of what
// follows from parts that are tested on all of them end at once, after a line that says so.
bool is_left_to_best_isa(void);

// A group set-up: ends the program as skipped, with a line that says why, where there is no CUDA device.
int need_cuda(void **state);

// Fails the test and prints the error's line when a call does not succeed. The call names the error `&error`,
// which is the macro's own and may hide one of the test's.
#define assert_ok(call)                                                                                      \
    do {                                                                                                     \
        _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wshadow\"") orr_error error = {0}; \
        orr_result assert_ok_result = (call);                                                                \
        _Pragma("GCC diagnostic pop") if (assert_ok_result != ORR_OK)                                        \
        {                                                                                                    \
            fail_msg("%s: %s", #call, error.message);                                                        \
        }                                                                                                    \
    } while (0)

// Files that a test reads. The environment variable named with each kind replaces the folder that is compiled
// in.

// A file of the source tree (ORR_SOURCE_DIR): goldens, models, documents. The pointer stays valid for seven
// further calls.
__attribute__((format(printf, 1, 2))) const char *source_path(const char *format, ...);

// A file of the shared test data (real inputs that are not in the repository; ORR_SHARED_DATA), or NULL where
// they are absent: a test then runs over the repository's own data alone. The pointer stays valid until the
// next call.
const char *shared_data(const char *name);
// The same for a test that is about such a file: where it is absent, the test skips.
const char *needed_shared_data(const char *name);

// A file that the build makes (assets/CMakeLists.txt), below its folder assets (ORR_ASSETS): orrery.spz,
// orrery.glb, and the captures capture and capture_lens. Fails the test where it is missing. The pointer
// stays valid until the next call.
const char *made_asset(const char *name);

// A folder for files a test writes, empty when the program starts and removed when it ends.
const char *scratch_path(const char *name);
// Writes a file there; the path as scratch_path returns it.
const char *written(const char *name, const char *text);

// Fail the test where the bytes of two files differ, or where they are the same.
void assert_same_files(const char *a, const char *b);
void assert_different_files(const char *a, const char *b);

// 10 log10(1 / mse) of two arrays of values in 0 .. 1; 200 when they are equal.
double psnr(const float *a, const float *b, int64_t count);
double largest_difference(const float *a, const float *b, int64_t count);
