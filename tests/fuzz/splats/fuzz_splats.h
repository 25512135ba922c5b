// For targets of splat formats.
#pragma once

#include "render/formats/splat_formats.h"
#include "tests/fuzz/fuzz_target.h"

static inline int fuzz_splats(orr_splat_reader read, const char *name, const uint8_t *data, size_t size)
{
    orr_splats *cloud = NULL;
    orr_error error = {0};
    orr_result result = read((orr_splat_source){name, data, size}, &cloud, &error);
    fuzz_expect(result, cloud != NULL, &error);
    orr_splats_destroy(cloud);
    return 0;
}
