#define _GNU_SOURCE
#include "engine/core/file.h"

#include "engine/core/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *kind_of(mode_t mode)
{
    switch (mode & (mode_t)S_IFMT) {
    case S_IFDIR:
        return "a folder";
    case S_IFIFO:
        return "a pipe";
    case S_IFSOCK:
        return "a socket";
    default:
        return "a device";
    }
}

orr_result orr_file_open(const char *path, FILE **stream, orr_error *error)
{
    *stream = NULL;
    // O_NONBLOCK: opening a pipe does not wait for its writer, so that the kind is that of the very file that
    // is open; on regular files it has no effect
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) {
        int why = errno;
        if (file >= 0) {
            close(file);
        } else if (why == ENXIO) { // only sockets and devices without a driver are refused so
            return orr_fail(error, ORR_CODE_FILE_OPEN, "%s: not a regular file but a socket or a device",
                            path);
        }
        return orr_fail(error, ORR_CODE_FILE_OPEN, "%s: cannot open: %s", path, strerror(why));
    }
    if (!S_ISREG(status.st_mode)) {
        close(file);
        return orr_fail(error, ORR_CODE_FILE_OPEN, "%s: not a regular file but %s", path,
                        kind_of(status.st_mode));
    }
    *stream = fdopen(file, "rb");
    if (!*stream) {
        close(file);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
    }
    return ORR_OK;
}

orr_result orr_file_read(const char *path, orr_bytes *bytes, orr_error *error)
{
    *bytes = (orr_bytes){0};
    FILE *stream;
    ORR_TRY(orr_file_open(path, &stream, error));
    struct stat status = {0};
    fstat(fileno(stream), &status); // has just succeeded
    size_t size = (size_t)status.st_size;
    uint8_t *data = orr_alloc(size + 1, 1);
    if (!data) {
        fclose(stream);
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory for %zu bytes", path, size);
    }
    size_t got = fread(data, 1, size, stream);
    fclose(stream);
    if (got != size) {
        orr_free(data);
        return orr_fail(error, ORR_CODE_FILE_READ, "%s: read %zu of %zu bytes", path, got, size);
    }
    data[size] = 0;
    *bytes = (orr_bytes){data, size};
    return ORR_OK;
}

bool orr_path_has_ending(const char *path, const char *ending)
{
    size_t length = strlen(path), wanted = strlen(ending);
    return length >= wanted && strcasecmp(path + length - wanted, ending) == 0;
}

const char *orr_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *orr_path_beside(const char *path, const char *name)
{
    size_t folder = name[0] == '/' ? 0 : (size_t)(orr_path_name(path) - path);
    size_t length = strlen(name);
    char *joined = orr_alloc(folder + length + 1, 1);
    if (joined) {
        memcpy(joined, path, folder);
        memcpy(joined + folder, name, length + 1);
    }
    return joined;
}
