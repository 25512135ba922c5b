// Files: read whole, write whole or not at all.
#pragma once

#include "engine/core/result.h"

#include <stdio.h>

typedef struct orr_bytes {
    uint8_t *data;
    size_t size;
} orr_bytes;

// The whole file in memory; free with orr_free(bytes.data). One zero byte follows the last, so that
// text can be parsed in place.
orr_result orr_file_read(const char *path, orr_bytes *bytes, orr_error *error);

// A file being written: its bytes go to a temporary name beside `path`; commit renames it into place, abort
// removes it, so that `path` never holds half a file. What is there already is
// replaced only when it is a regular file.
typedef struct orr_file_writer {
    FILE *stream;
    const char *path; // borrowed: outlives the writer
    char *temporary;
    int failure; // errno of the first write that failed
} orr_file_writer;

orr_result orr_file_begin(orr_file_writer *writer, const char *path, orr_error *error);
void orr_file_put(orr_file_writer *writer, const void *data, size_t size); // errors show at commit
orr_result orr_file_commit(orr_file_writer *writer, orr_error *error);     // closes; on failure removes
void orr_file_abort(orr_file_writer *writer);                              // harmless after commit

// For libraries that open files themselves: a temporary name beside `path` with the same ending (free with
// orr_free), and the rename that ends the work.
char *orr_file_temporary(const char *path);
orr_result orr_file_rename(const char *temporary, const char *path, orr_error *error);

orr_result orr_file_write(const char *path, const void *data, size_t size, orr_error *error);

// Does the name end in `ending` (".compressed.ply"), upper or lower case?
bool orr_path_has_ending(const char *path, const char *ending);
// `name` beside the file `path`, or `name` itself when it is absolute; free with orr_free; NULL when out of
// memory.
char *orr_path_beside(const char *path, const char *name);
const char *orr_path_name(const char *path); // behind the last slash
