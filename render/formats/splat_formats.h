// Splat file formats: one reader and one writer per format, each on memory, so that fuzz targets need no
// files. Layouts: docs/splat-formats.md.
#pragma once

#include "engine/core/file.h"
#include "render/splat/splat_cloud.h"

// Input of a reader. A reader checks every size before it multiplies or allocates; its errors give `name`,
// the byte or line, and what was expected.
typedef struct orr_splat_source {
    const char *name; // for messages; other files of a folder are beside it
    const uint8_t *data;
    size_t size;
} orr_splat_source;

typedef orr_result (*orr_splat_reader)(orr_splat_source source, orr_splats **splats, orr_error *error);
typedef orr_result (*orr_splat_writer)(const orr_splats *splats, orr_file_writer *out, orr_error *error);

// What a format can represent. A limit of 0: as large as a float.
typedef struct orr_splat_limits {
    const char *rounded; // which values are rounded, and how finely; NULL: none, and nothing else is lost
    int sh_degree;
    bool antialiased; // the format has the flag
    float log_scale_low, log_scale_high;
    float colour, harmonics; // coefficients between minus and plus this
    // Nullable. The number of fractional bits of positions, which are 24-bit fixed point.
    int (*position_bits)(const orr_splats_view *splats);
} orr_splat_limits;

typedef struct orr_splat_format {
    const char *name;   // "spz"
    const char *ending; // ".spz"
    orr_splat_reader read;
    orr_splat_writer write;  // Nullable: read only
    orr_splat_limits limits; // of what is written
} orr_splat_format;

// By content where that identifies the format, otherwise by the ending; NULL: not a splat file.
const orr_splat_format *orr_splat_format_of(orr_splat_source source);
// A folder that holds the meta.json of a SOG.
bool orr_splat_folder(const char *path);
// The format of a path to be written, by its ending; NULL: none.
const orr_splat_format *orr_splat_format_to_write(const char *path);

// One line about what a file of this format does not keep of the cloud: "rounded: ...; out of range and
// clamped: ...; dropped: ..."; false when it keeps everything.
bool orr_splats_losses(const orr_splats_view *splats, const orr_splat_format *format, char *line,
                       size_t size);

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
orr_result orr_write_sog(const orr_splats *splats, orr_file_writer *out, orr_error *error);
orr_result orr_write_spz4(const orr_splats *splats, orr_file_writer *out, orr_error *error);
// The fractional bits with which .spz stores these positions: 12, unless they do not reach that far or a
// cloud is so small that it needs more.
int orr_spz_position_bits(const orr_splats_view *splats);
