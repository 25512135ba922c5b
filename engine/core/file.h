// Files: read whole, written whole or not at all.
#pragma once

#include "engine/core/result.h"

#include <stdio.h>

typedef struct orr_bytes {
    uint8_t *data;
    size_t size;
} orr_bytes;

// The whole file in memory; free with orr_free(bytes.data). One zero byte follows the last, so that
// text can be parsed in place. Anything but a regular file (a folder, a pipe, a device) is refused at once.
orr_result orr_file_read(const char *path, orr_bytes *bytes, orr_error *error);
// The same file as a stream, for readers that need only its beginning; close with fclose.
orr_result orr_file_open(const char *path, FILE **stream, orr_error *error);

// A file being written. Its bytes go to a hidden temporary file in the folder of `path`; commit syncs that
// file and renames it to `path`, abort removes it. `path` therefore never holds half a file, even when
// several threads or processes write it at once; the last commit stays.
// - A symbolic link is followed: its target is replaced, or created where it does not exist.
// - A file that exists keeps its mode and, where permitted, its owner; it must be regular and writable.
// - A process that is killed leaves its temporary file; the next save into that folder removes it.
// A library that opens files by name writes to `temporary`, which exists and is empty, in place of `stream`.
typedef struct orr_file_writer {
    FILE *stream;     // its descriptor holds a lock, by which others see that the writer is alive
    const char *path; // as given, for messages; borrowed: outlives the writer
    char *target;     // where the file goes: behind symbolic links
    char *temporary;
    int failure; // errno of the first write that failed
} orr_file_writer;

orr_result orr_file_begin(orr_file_writer *writer, const char *path, orr_error *error);
void orr_file_put(orr_file_writer *writer, const void *data, size_t size); // errors show at commit
orr_result orr_file_commit(orr_file_writer *writer, orr_error *error);     // closes; on failure removes
void orr_file_abort(orr_file_writer *writer);                              // harmless after commit

orr_result orr_file_write(const char *path, const void *data, size_t size, orr_error *error);
// Could a file be written there now? To be asked before long work; nothing changes on the disk.
orr_result orr_file_try(const char *path, orr_error *error);

// Does the name end in `ending` (".compressed.ply"), upper or lower case?
bool orr_path_has_ending(const char *path, const char *ending);
// `name` beside the file `path`, or `name` itself when it is absolute; free with orr_free; NULL when out of
// memory.
char *orr_path_beside(const char *path, const char *name);
const char *orr_path_name(const char *path); // behind the last slash
