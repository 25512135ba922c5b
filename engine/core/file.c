#define _GNU_SOURCE
#include "engine/core/file.h"

#include "engine/core/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

orr_result orr_file_read(const char *path, orr_bytes *bytes, orr_error *error)
{
    *bytes = (orr_bytes){0};
    struct stat status;
    if (stat(path, &status) != 0) {
        return orr_fail(error, ORR_CODE_FILE_OPEN, "%s: cannot open: %s", path, strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) { // checked before it is opened: opening a pipe would wait for its writer
        return orr_fail(error, ORR_CODE_FILE_OPEN, "%s: not a regular file", path);
    }
    FILE *stream = fopen(path, "rb");
    if (!stream) {
        return orr_fail(error, ORR_CODE_FILE_OPEN, "%s: cannot open: %s", path, strerror(errno));
    }
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

char *orr_file_temporary(const char *path)
{
    // the ending stays last, because libraries choose a format by it
    const char *name = orr_path_name(path);
    size_t folder = (size_t)(name - path);
    size_t size = strlen(path) + 32;
    char *temporary = orr_alloc(size, 1);
    if (temporary) {
        snprintf(temporary, size, "%.*s.tmp%ld-%s", (int)folder, path, (long)getpid(), name);
    }
    return temporary;
}

// a rename over /dev/null would succeed for root, and take the device away
static orr_result check_replaceable(const char *path, orr_error *error)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        return orr_fail(error, ORR_CODE_FILE_WRITE, "%s: cannot write: not a regular file", path);
    }
    return ORR_OK;
}

orr_result orr_file_rename(const char *temporary, const char *path, orr_error *error)
{
    orr_result result = check_replaceable(path, error);
    if (result != ORR_OK) {
        remove(temporary);
        return result;
    }
    if (rename(temporary, path) != 0) {
        int why = errno;
        remove(temporary);
        return orr_fail(error, ORR_CODE_FILE_WRITE, "%s: cannot put the finished file in place: %s", path,
                        strerror(why));
    }
    return ORR_OK;
}

orr_result orr_file_begin(orr_file_writer *writer, const char *path, orr_error *error)
{
    *writer = (orr_file_writer){0};
    ORR_TRY(check_replaceable(path, error));
    *writer = (orr_file_writer){.path = path, .temporary = orr_file_temporary(path)};
    if (!writer->temporary) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
    }
    writer->stream = fopen(writer->temporary, "wb");
    if (!writer->stream) {
        int why = errno;
        orr_file_abort(writer);
        return orr_fail(error, ORR_CODE_FILE_WRITE, "%s: cannot write: %s", path, strerror(why));
    }
    return ORR_OK;
}

void orr_file_put(orr_file_writer *writer, const void *data, size_t size)
{
    if (size > 0 && fwrite(data, 1, size, writer->stream) != size && !writer->failure) {
        writer->failure = errno ? errno : EIO;
    }
}

orr_result orr_file_commit(orr_file_writer *writer, orr_error *error)
{
    int why = writer->failure;
    if (fclose(writer->stream) != 0 && !why) {
        why = errno;
    }
    writer->stream = NULL;
    if (why) {
        const char *path = writer->path;
        orr_file_abort(writer);
        return orr_fail(error, ORR_CODE_FILE_WRITE, "%s: cannot write: %s", path, strerror(why));
    }
    orr_result result = orr_file_rename(writer->temporary, writer->path, error);
    orr_free(writer->temporary);
    writer->temporary = NULL;
    return result;
}

void orr_file_abort(orr_file_writer *writer)
{
    if (writer->stream) {
        fclose(writer->stream);
    }
    if (writer->temporary) {
        remove(writer->temporary);
        orr_free(writer->temporary);
    }
    *writer = (orr_file_writer){0};
}

orr_result orr_file_write(const char *path, const void *data, size_t size, orr_error *error)
{
    orr_file_writer writer;
    ORR_TRY(orr_file_begin(&writer, path, error));
    orr_file_put(&writer, data, size);
    return orr_file_commit(&writer, error);
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
