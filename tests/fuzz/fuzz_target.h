// What every fuzz target does: hands bytes to one reader and holds it to its promises.
#pragma once

#include "render/formats/splat_formats.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A cloud or one line of error, never both and never neither; what leaks or reads outside is the sanitizer's
// to see.
static inline int fuzz_reader(orr_splat_reader read, const char *name, const uint8_t *data, size_t size)
{
    orr_splats *cloud = NULL;
    orr_error error = {0};
    orr_result result = read((orr_splat_source){name, data, size}, &cloud, &error);
    if ((result == ORR_OK) != (cloud != NULL) || (result != ORR_OK && error.message[0] == 0)) {
        abort();
    }
    orr_splats_destroy(cloud);
    return 0;
}
