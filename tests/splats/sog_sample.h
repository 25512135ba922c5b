// A SOG cloud made with libwebp and libzip from first principles.
#pragma once

#include "engine/core/file.h"

enum { SOG_FILES = 8 };

typedef struct sog_sample {
    int count;
    const char *name[SOG_FILES]; // "meta.json" first
    orr_bytes file[SOG_FILES];
} sog_sample;

// version 1 or 2. With harmonics (degree > 0) the palette has every splat's own coefficients, so that
// nothing but rounding is lost. False when memory is out.
bool sog_sample_make(const orr_splats_view *cloud, int version, sog_sample *sample);
void sog_sample_free(sog_sample *sample);

// The files as one zip archive; free with orr_free(bytes.data).
orr_bytes sog_sample_bundle(const sog_sample *sample);
