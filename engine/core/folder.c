#define _GNU_SOURCE
#include "engine/core/folder.h"

#include "engine/core/file.h"
#include "engine/core/memory.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool orr_path_is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

bool orr_path_is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

char *orr_path_join(const char *folder, const char *name)
{
    size_t length = strlen(folder), size = length + strlen(name) + 2;
    const char *slash = length == 0 || folder[length - 1] == '/' ? "" : "/";
    char *path = orr_alloc(size, 1);
    if (path) {
        snprintf(path, size, "%s%s%s", folder, slash, name);
    }
    return path;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static orr_result add_name(const char *folder, const char *name, orr_names *names, int *capacity,
                           orr_error *error)
{
    char *path = orr_path_join(folder, name);
    bool wanted = path && name[0] != '.' && orr_path_is_file(path);
    bool failed = !path;
    orr_free(path);
    if (failed) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", folder);
    }
    if (wanted) {
        ORR_GROW(names->items, *capacity, names->count + 1, "names of files", error);
        char *copy = orr_path_join("", name);
        if (!copy) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", folder);
        }
        names->items[names->count++] = copy;
    }
    return ORR_OK;
}

orr_result orr_folder_list(const char *path, orr_names *names, orr_error *error)
{
    *names = (orr_names){0};
    DIR *folder = opendir(path);
    if (!folder) {
        return orr_fail(error, ORR_CODE_FILE_OPEN, "%s: cannot open: %s", path, strerror(errno));
    }
    orr_result result = ORR_OK;
    int capacity = 0;
    for (struct dirent *entry = readdir(folder); entry && result == ORR_OK; entry = readdir(folder)) {
        result = add_name(path, entry->d_name, names, &capacity, error);
    }
    closedir(folder);
    if (result != ORR_OK) {
        orr_names_free(names);
    } else if (names->count > 0) {
        qsort(names->items, (size_t)names->count, sizeof *names->items, by_name);
    }
    return result;
}

void orr_names_free(orr_names *names)
{
    for (int i = 0; i < names->count; i++) {
        orr_free(names->items[i]);
    }
    orr_free(names->items);
    *names = (orr_names){0};
}

orr_result orr_folder_make(const char *path, orr_error *error)
{
    if (mkdir(path, 0777) != 0 && !(errno == EEXIST && orr_path_is_folder(path))) {
        return orr_fail(error, ORR_CODE_FILE_WRITE, "%s: cannot make this folder: %s", path, strerror(errno));
    }
    return ORR_OK;
}

void orr_folder_remove(const char *path)
{
    struct stat status;
    if (lstat(path, &status) != 0) {
        return;
    }
    DIR *folder = S_ISDIR(status.st_mode) ? opendir(path) : NULL;
    if (!folder) {
        unlink(path);
        return;
    }
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        bool own = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        char *inside = own ? NULL : orr_path_join(path, entry->d_name);
        if (inside) {
            orr_folder_remove(inside);
        }
        orr_free(inside);
    }
    closedir(folder);
    rmdir(path);
}

bool orr_folder_free(const char *path)
{
    struct stat status;
    if (lstat(path, &status) != 0) {
        return errno == ENOENT;
    }
    DIR *folder = S_ISDIR(status.st_mode) ? opendir(path) : NULL;
    int entries = 0;
    while (folder && readdir(folder)) {
        entries++; // "." and ".." are two
    }
    if (folder) {
        closedir(folder);
    }
    return folder && entries <= 2;
}

orr_result orr_file_copy(const char *from, const char *to, orr_error *error)
{
    FILE *stream;
    orr_file_writer writer;
    uint8_t block[1 << 14];
    size_t size;
    ORR_TRY(orr_file_open(from, &stream, error));
    orr_result result = orr_file_begin(&writer, to, error);
    if (result == ORR_OK) {
        while ((size = fread(block, 1, sizeof block, stream)) > 0) {
            orr_file_put(&writer, block, size);
        }
        if (ferror(stream)) {
            orr_file_abort(&writer);
            result = orr_fail(error, ORR_CODE_FILE_READ, "%s: cannot read", from);
        } else {
            result = orr_file_commit(&writer, error);
        }
    }
    fclose(stream);
    return result;
}
