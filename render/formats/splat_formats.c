// The list of splat formats, and loading and saving by it.
#define _GNU_SOURCE // memmem
#include "render/formats/splat_formats.h"

#include "engine/core/memory.h"
#include "render/formats/splat_bytes.h"

#include <sys/stat.h>

// a longer ending comes before one that it contains
static const orr_splat_format formats[] = {
    {"compressed ply", ".compressed.ply", orr_read_compressed_ply, orr_write_compressed_ply},
    {"ply", ".ply", orr_read_ply, orr_write_ply},
    {"splat", ".splat", orr_read_splat, orr_write_splat},
    {"spz 3", ".v3.spz", orr_read_spz, orr_write_spz3},
    {"spz", ".spz", orr_read_spz, orr_write_spz4},
    {"sog", ".sog", orr_read_sog, NULL},
    {"sog folder", "meta.json", orr_read_sog, NULL},
    {"ksplat", ".ksplat", orr_read_ksplat, NULL},
};
enum { FORMAT_COUNT = sizeof formats / sizeof formats[0] };

static const orr_splat_format *by_ending(const char *path)
{
    for (int i = 0; i < FORMAT_COUNT; i++) {
        if (orr_path_has_ending(path, formats[i].ending)) {
            return &formats[i];
        }
    }
    return NULL;
}

static bool starts_with(orr_splat_source source, const void *bytes, size_t size)
{
    return source.size >= size && memcmp(source.data, bytes, size) == 0;
}

const orr_splat_format *orr_splat_format_of(orr_splat_source source)
{
    if (starts_with(source, "ply", 3)) {
        // a header is text of a few kilobytes
        size_t head = source.size < 65536 ? source.size : 65536;
        bool compressed = memmem(source.data, head, "packed_position", 15) != NULL;
        return by_ending(compressed ? ".compressed.ply" : ".ply");
    }
    if (starts_with(source, "\x1f\x8b", 2) || starts_with(source, "NGSP", 4)) {
        return by_ending(".spz");
    }
    if (starts_with(source, "PK", 2)) {
        return by_ending(".sog");
    }
    return by_ending(source.name);
}

const orr_splat_format *orr_splat_format_to_write(const char *path)
{
    const orr_splat_format *format = by_ending(path);
    return format && format->write ? format : NULL;
}

// `path`, or the meta.json in the folder `path`; free with orr_free
static char *file_of(const char *path)
{
    struct stat status;
    bool folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    const char *rest = folder ? "/meta.json" : "";
    size_t length = strlen(path), more = strlen(rest);
    char *file = orr_alloc(length + more + 1, 1);
    if (file) {
        memcpy(file, path, length);
        memcpy(file + length, rest, more + 1);
    }
    return file;
}

static orr_result load_file(const char *path, orr_splats **splats, orr_error *error)
{
    orr_bytes bytes;
    ORR_TRY(orr_file_read(path, &bytes, error));
    orr_splat_source source = {path, bytes.data, bytes.size};
    const orr_splat_format *format = orr_splat_format_of(source);
    orr_result result =
        format ? format->read(source, splats, error)
               : orr_fail(error, ORR_CODE_FILE_TYPE,
                          "%s: not a splat cloud: expected .ply, .compressed.ply, .splat, .spz, .sog, "
                          "meta.json or .ksplat",
                          path);
    orr_free(bytes.data);
    return result;
}

orr_result orr_splats_load(const char *path, orr_splats **splats, orr_error *error)
{
    *splats = NULL;
    char *file = file_of(path);
    if (!file) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
    }
    orr_result result = load_file(file, splats, error);
    orr_free(file);
    return result;
}

orr_result orr_splats_save(const orr_splats *splats, const char *path, orr_error *error)
{
    const orr_splat_format *format = orr_splat_format_to_write(path);
    if (!format) {
        return orr_fail(error, ORR_CODE_FILE_TYPE,
                        "%s: cannot write this type: expected .ply, .compressed.ply, .splat, .spz or .v3.spz",
                        path);
    }
    orr_file_writer out;
    ORR_TRY(orr_file_begin(&out, path, error));
    orr_result result = format->write(splats, &out, error);
    if (result != ORR_OK) {
        orr_file_abort(&out);
        return result;
    }
    return orr_file_commit(&out, error);
}

orr_result orr_splats_finish(orr_splats *cloud, orr_result result, const char *name, orr_splats **splats,
                             orr_error *error)
{
    result = result == ORR_OK ? orr_splats_check(cloud, name, error) : result;
    if (result != ORR_OK) {
        orr_splats_destroy(cloud);
        cloud = NULL;
    }
    *splats = cloud;
    return result;
}
