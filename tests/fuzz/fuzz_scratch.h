// For readers of files that another file names: the input under a name in a folder of this process.
#pragma once

#include "tests/fuzz/fuzz_target.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char fuzz_scratch_path[256]; // of the folder

static inline void fuzz_scratch_remove(void)
{
    rmdir(fuzz_scratch_path);
}

// Writes the input; returns its path, which the caller removes.
static inline const char *fuzz_scratch_write(const char *name, const uint8_t *data, size_t size)
{
    static char path[512];
    if (!fuzz_scratch_path[0]) {
        const char *folder = getenv("TMPDIR");
        snprintf(fuzz_scratch_path, sizeof fuzz_scratch_path, "%s/orr_fuzz_%d", folder ? folder : "/tmp",
                 (int)getpid());
        if (mkdir(fuzz_scratch_path, 0700) != 0 || atexit(fuzz_scratch_remove) != 0) {
            abort();
        }
    }
    snprintf(path, sizeof path, "%s/%s", fuzz_scratch_path, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        abort();
    }
    return path;
}
