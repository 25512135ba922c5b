// The files of a SOG cloud: beside its meta.json, or in a zip archive; and its lossless WebP pictures.
#pragma once

#include "render/formats/splat_bytes.h"

typedef struct orr_sog_files orr_sog_files;

// From a bundle's bytes (they start with "PK") or from those of a meta.json beside which the others are.
orr_result orr_sog_open(orr_splat_source source, orr_sog_files **files, orr_error *error);
void orr_sog_close(orr_sog_files *files); // NULL is allowed

// Fails and says that a cloud in levels of detail (lod-meta.json) is not supported.
orr_result orr_sog_streamed(const char *name, orr_error *error);

// Compressed bytes that were read so far.
size_t orr_sog_bytes(const orr_sog_files *files);

// The text of meta.json, at most 1 MiB; free with orr_free(text.data).
orr_result orr_sog_read_meta(orr_sog_files *files, orr_bytes *text, orr_error *error);

// Red, green, blue and alpha of each texel, rows from the top.
typedef struct orr_sog_picture {
    int width, height;
    uint8_t *rgba; // free with orr_sog_free_picture
} orr_sog_picture;

// `file`: a name from meta.json; one that would leave the folder is refused. From `least` to `most` texels.
orr_result orr_sog_read_picture(orr_sog_files *files, const char *file, int64_t least, int64_t most,
                                orr_sog_picture *picture, orr_error *error);
void orr_sog_free_picture(orr_sog_picture *picture);
