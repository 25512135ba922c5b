#define _GNU_SOURCE // readlink
#include "samples/orrery/shipped_file.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"
#include "engine/orrery.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

char *shipped_file(const char *name)
{
    static const char *const folders[] = {"../assets", "../share/orrery"};
    char program[4096], candidate[256];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
    for (int i = 0; i < 2; i++) {
        snprintf(candidate, sizeof candidate, "%s/%s", folders[i], name);
        char *path = orr_path_beside(program, candidate);
        if (path && access(path, R_OK) == 0) {
            return path;
        }
        orr_free(path);
    }
    return NULL;
}

char *shipped_task(const char *name)
{
    const char *task, *file;
    for (int i = 0; (task = orr_env_shipped_task(i, &file)) != NULL; i++) {
        if (strcmp(task, name) == 0) {
            return shipped_file(file);
        }
    }
    return NULL;
}
