// One list of numbers, walked to write them or to read them back, so that both directions cannot differ.
#pragma once

#include "engine/core/file.h"

#include <string.h>

typedef struct orr_archive {
    orr_file_writer *writer; // NULL: it reads
    const uint8_t *at, *end; // what is left to read
    bool broken;             // there was less to read than asked for
} orr_archive;

// Writes `size` bytes, or reads them; what cannot be read keeps its value.
static inline void orr_archive_bytes(orr_archive *archive, void *data, size_t size)
{
    if (archive->writer) {
        orr_file_put(archive->writer, data, size);
    } else if (archive->broken || (size_t)(archive->end - archive->at) < size) {
        archive->broken = true;
    } else {
        memcpy(data, archive->at, size);
        archive->at += size;
    }
}
