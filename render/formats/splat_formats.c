// The list of splat formats, and loading and saving by it.
#define _GNU_SOURCE // memmem
#include "render/formats/splat_formats.h"

#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "render/formats/splat_bytes.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPZ_LIMITS                                                                                           \
    {                                                                                                        \
        .rounded =                                                                                           \
            "scales to 1/16 of their logarithm, colours and opacities to 8 bits, rotations to 10 bits, "     \
            "SH to 4 bits (degree 1: 5)",                                                                    \
        .sh_degree = 3, .antialiased = true, .log_scale_low = -10.0f, .log_scale_high = 5.9375f,             \
        .colour = 0.5f / 0.15f, .harmonics = 1.0f, .position_bits = orr_spz_position_bits,                   \
    }

// a longer ending comes before one that it contains
static const orr_splat_format formats[] = {
    {"compressed ply",
     ".compressed.ply",
     orr_read_compressed_ply,
     orr_write_compressed_ply,
     {.rounded = "positions, scales and rotations to 10 or 11 bits in each chunk of 256 splats, colours, "
                 "opacities and SH to 8 bits",
      .sh_degree = 3,
      .antialiased = true,
      .log_scale_low = -20.0f,
      .log_scale_high = 20.0f,
      .harmonics = 4.0f}},
    {"ply", ".ply", orr_read_ply, orr_write_ply, {0}},
    {"splat",
     ".splat",
     orr_read_splat,
     orr_write_splat,
     {.rounded = "colours, opacities and rotations to 8 bits",
      .log_scale_low = -87.0f,
      .log_scale_high = 88.0f,
      .colour = 0.5f / ORR_SH_C0}},
    {"spz 3", ".v3.spz", orr_read_spz, orr_write_spz3, SPZ_LIMITS},
    {"spz", ".spz", orr_read_spz, orr_write_spz4, SPZ_LIMITS},
    {"sog",
     ".sog",
     orr_read_sog,
     orr_write_sog,
     {.rounded = "positions to 16 bits of a logarithm, scales and colours to 256 values each, opacities and "
                 "rotations to 8 bits, SH to a palette of up to 65,536 entries",
      .sh_degree = 3,
      .antialiased = true,
      .log_scale_low = -FLT_MAX,
      .log_scale_high = FLT_MAX,
      .harmonics = FLT_MAX}},
    {"sog folder", "meta.json", orr_read_sog, NULL, {0}},
    {"ksplat", ".ksplat", orr_read_ksplat, NULL, {0}},
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

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

// `name` in the folder `path` when it is there, otherwise NULL; free with orr_free
static char *file_in(const char *path, const char *name)
{
    size_t size = strlen(path) + strlen(name) + 2;
    char *file = orr_alloc(size, 1);
    if (file) {
        snprintf(file, size, "%s/%s", path, name);
    }
    if (file && access(file, F_OK) != 0) {
        orr_free(file);
        file = NULL;
    }
    return file;
}

// the meta.json of a cloud in a folder; NULL: there is none
static char *meta_in(const char *path)
{
    char *file = is_folder(path) ? file_in(path, "meta.json") : NULL;
    return file || !is_folder(path) ? file : file_in(path, "lod-meta.json");
}

bool orr_splat_folder(const char *path)
{
    char *file = meta_in(path);
    orr_free(file);
    return file != NULL;
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
    ORR_ENTER;
    ORR_REQUIRE(splats, error);
    *splats = NULL;
    ORR_REQUIRE(path, error);
    if (!is_folder(path)) {
        return load_file(path, splats, error);
    }
    char *file = meta_in(path);
    if (!file) {
        return orr_fail(error, ORR_CODE_FILE_TYPE, "%s: a folder without a meta.json: expected that of a SOG",
                        path);
    }
    orr_result result = load_file(file, splats, error);
    orr_free(file);
    return result;
}

orr_result orr_splats_save(const orr_splats *splats, const char *path, orr_error *error)
{
    ORR_ENTER;
    ORR_REQUIRE(splats, error);
    ORR_REQUIRE(path, error);
    const orr_splat_format *format = orr_splat_format_to_write(path);
    if (!format) {
        return orr_fail(
            error, ORR_CODE_FILE_TYPE,
            "%s: cannot write this type: expected .ply, .compressed.ply, .splat, .spz, .v3.spz or .sog",
            path);
    }
    ORR_TRY(orr_splats_check(splats, path, error));
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
    result = result == ORR_OK ? orr_splats_clean(cloud, name, error) : result;
    if (result != ORR_OK) {
        orr_splats_destroy(cloud);
        cloud = NULL;
    }
    *splats = cloud;
    return result;
}
