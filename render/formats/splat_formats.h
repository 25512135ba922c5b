// Splat file formats: one reader and one writer per format, each on memory, so that fuzz targets need no
// files. Layouts: docs/splat-formats.md.
#pragma once

#include "engine/core/file.h"
#include "render/splat_cloud.h"

// Input of a reader. A reader checks every size before it multiplies or allocates; its errors give `name`,
// the byte or line, and what was expected.
typedef struct orr_splat_source {
    const char *name; // for messages; other files of a folder are beside it
    const uint8_t *data;
    size_t size;
} orr_splat_source;

typedef orr_result (*orr_splat_reader)(orr_splat_source source, orr_splats **splats, orr_error *error);
typedef orr_result (*orr_splat_writer)(const orr_splats *splats, orr_file_writer *out, orr_error *error);

typedef struct orr_splat_format {
    const char *name;   // "spz"
    const char *ending; // ".spz"
    orr_splat_reader read;
    orr_splat_writer write; // Nullable: read only
} orr_splat_format;

// By content where that identifies the format, otherwise by the ending; NULL: not a splat file.
const orr_splat_format *orr_splat_format_of(orr_splat_source source);
// The format of a path to be written, by its ending; NULL: none.
const orr_splat_format *orr_splat_format_to_write(const char *path);

orr_result orr_read_ply(orr_splat_source source, orr_splats **splats, orr_error *error);
orr_result orr_read_compressed_ply(orr_splat_source source, orr_splats **splats, orr_error *error);
orr_result orr_read_splat(orr_splat_source source, orr_splats **splats, orr_error *error);
orr_result orr_read_spz(orr_splat_source source, orr_splats **splats, orr_error *error);
orr_result orr_read_sog(orr_splat_source source, orr_splats **splats, orr_error *error);
orr_result orr_read_ksplat(orr_splat_source source, orr_splats **splats, orr_error *error);

orr_result orr_write_ply(const orr_splats *splats, orr_file_writer *out, orr_error *error);
orr_result orr_write_compressed_ply(const orr_splats *splats, orr_file_writer *out, orr_error *error);
orr_result orr_write_splat(const orr_splats *splats, orr_file_writer *out, orr_error *error);
orr_result orr_write_spz3(const orr_splats *splats, orr_file_writer *out, orr_error *error);
orr_result orr_write_spz4(const orr_splats *splats, orr_file_writer *out, orr_error *error);
