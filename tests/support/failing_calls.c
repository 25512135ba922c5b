#define _GNU_SOURCE
#include "tests/support/failing_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// calls may come from several threads
static atomic_int kind_that_fails = FAILING_KINDS;
static atomic_llong calls_left; // until the one that fails
static atomic_bool all_later, one_failed;

void failing_begin(failing_kind kind, int64_t n, bool later)
{
    calls_left = n;
    all_later = later;
    one_failed = false;
    kind_that_fails = (int)kind;
}

bool failing_end(void)
{
    kind_that_fails = FAILING_KINDS;
    return one_failed;
}

static bool fails(failing_kind kind, int why)
{
    if (atomic_load(&kind_that_fails) != (int)kind) {
        return false;
    }
    long long left = atomic_fetch_sub(&calls_left, 1);
    if (left > 1 || (left < 1 && !all_later)) {
        return false;
    }
    one_failed = true;
    errno = why;
    return true;
}

// the linker's --wrap=NAME: calls of NAME reach __wrap_NAME, and __real_NAME is NAME
#define WRAP(type, name, parameters, arguments, kind, why, failed)                                           \
    type __real_##name parameters;                                                                           \
    type __wrap_##name parameters;                                                                           \
    type __wrap_##name parameters                                                                            \
    {                                                                                                        \
        return fails(kind, why) ? (failed) : __real_##name arguments;                                        \
    }

WRAP(void *, malloc, (size_t size), (size), FAILING_ALLOCATIONS, ENOMEM, NULL)
WRAP(void *, calloc, (size_t count, size_t size), (count, size), FAILING_ALLOCATIONS, ENOMEM, NULL)
WRAP(void *, realloc, (void *old, size_t size), (old, size), FAILING_ALLOCATIONS, ENOMEM, NULL)
WRAP(void *, aligned_alloc, (size_t to, size_t size), (to, size), FAILING_ALLOCATIONS, ENOMEM, NULL)
WRAP(int, posix_memalign, (void **memory, size_t to, size_t size), (memory, to, size), FAILING_ALLOCATIONS, 0,
     ENOMEM)
WRAP(char *, strdup, (const char *text), (text), FAILING_ALLOCATIONS, ENOMEM, NULL)
WRAP(void *, mmap, (void *at, size_t size, int access, int flags, int file, off_t offset),
     (at, size, access, flags, file, offset), FAILING_ALLOCATIONS, ENOMEM, (void *)-1)

WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode), FAILING_FILES, EMFILE, NULL)
WRAP(FILE *, fdopen, (int file, const char *mode), (file, mode), FAILING_FILES, ENOMEM, NULL)
WRAP(size_t, fread, (void *to, size_t size, size_t count, FILE *file), (to, size, count, file), FAILING_FILES,
     EIO, 0)
WRAP(int, fflush, (FILE * file), (file), FAILING_FILES, ENOSPC, EOF)
WRAP(ssize_t, read, (int file, void *to, size_t size), (file, to, size), FAILING_FILES, EIO, -1)
WRAP(ssize_t, write, (int file, const void *from, size_t size), (file, from, size), FAILING_FILES, ENOSPC, -1)
WRAP(int, fsync, (int file), (file), FAILING_FILES, EIO, -1)
WRAP(int, fdatasync, (int file), (file), FAILING_FILES, EIO, -1)
WRAP(int, rename, (const char *from, const char *to), (from, to), FAILING_FILES, EACCES, -1)
WRAP(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to), FAILING_FILES, EACCES,
     -1)
WRAP(int, mkstemp, (char *pattern), (pattern), FAILING_FILES, EMFILE, -1)
WRAP(int, stat, (const char *path, struct stat *status), (path, status), FAILING_FILES, EACCES, -1)
WRAP(int, fstat, (int file, struct stat *status), (file, status), FAILING_FILES, EIO, -1)
WRAP(int, flock, (int file, int how), (file, how), FAILING_FILES, ENOLCK, -1)
WRAP(int, fchmod, (int file, mode_t mode), (file, mode), FAILING_FILES, EPERM, -1)

WRAP(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument),
     (thread, attributes, run, argument), FAILING_THREADS, 0, EAGAIN)

// One that fails marks its stream, as the C library does: reading from a stream that is only written is an
// error.
size_t __real_fwrite(const void *from, size_t size, size_t count, FILE *file);
size_t __wrap_fwrite(const void *from, size_t size, size_t count, FILE *file);
size_t __wrap_fwrite(const void *from, size_t size, size_t count, FILE *file)
{
    if (!fails(FAILING_FILES, ENOSPC)) {
        return __real_fwrite(from, size, count, file);
    }
    (void)fgetc(file);
    errno = ENOSPC;
    return 0;
}

// These close their file, whether they fail or not.

int __real_fclose(FILE *file);
int __wrap_fclose(FILE *file);
int __wrap_fclose(FILE *file)
{
    int result = __real_fclose(file);
    return fails(FAILING_FILES, ENOSPC) ? EOF : result;
}

int __real_close(int file);
int __wrap_close(int file);
int __wrap_close(int file)
{
    int result = __real_close(file);
    return fails(FAILING_FILES, EIO) ? -1 : result;
}

// with a mode where a file is created
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return fails(FAILING_FILES, EMFILE) ? -1 : __real_open(path, flags, mode);
}

int __real_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return fails(FAILING_FILES, EMFILE) ? -1 : __real_openat(folder, path, flags, mode);
}
