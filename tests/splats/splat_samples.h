// Splat clouds and files made from first principles, for tests and for the corpora of the fuzz targets. What
// is made here shares no code with the readers and writers it tests.
#pragma once

#include "engine/core/file.h"

// Random values that every format represents without clamping: positions in +-2, log scales in -8 .. 0,
// opacities from 1 % to 99 %, colours +-1.5, harmonics +-0.9. NULL when out of memory.
orr_splats *sample_cloud(int64_t count, int sh_degree, uint32_t seed);

// Files in memory; free with orr_free(bytes.data). An empty one: out of memory.

// A .ksplat of one section: full buckets of 8 splats, then buckets of 5 and fewer. mode 0 .. 2.
orr_bytes sample_ksplat(const orr_splats_view *cloud, int mode);

// A .spz of version 1 to 3 in its gzip stream, its splats at (i, 2, -i / 2): version 1 with half floats,
// degree 0 .. 4 with all coefficients equal to the byte 128 + coefficient's index.
orr_bytes sample_spz(int version, int count, int degree);
