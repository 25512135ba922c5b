// For files that robots name: the input as a file beside a model that uses it.
#pragma once

#include "physics/load/load.h"
#include "tests/fuzz/fuzz_scratch.h"

static inline int fuzz_model_part(const char *model_text, const char *name, const uint8_t *data, size_t size)
{
    const char *path = fuzz_scratch_write(name, data, size);
    orr_model *model = NULL;
    orr_error error = {0};
    orr_result result = orr_model_parse(model_text, strlen(model_text), path, &model, &error);
    fuzz_expect(result, model != NULL, &error);
    orr_model_destroy(model);
    remove(path);
    return 0;
}
