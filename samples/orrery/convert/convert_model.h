// What `orrery convert` does with models.
#pragma once

#include "engine/core/result.h"

#include <cjson/cJSON.h>

typedef struct model_conversion {
    const char *from, *to;
    int resolution; // cells along a side
    double threshold;
    int threads;
} model_conversion;

// Writes the surface of a model; what it found goes to stderr and into `json` (NULL: not).
orr_result convert_model(const model_conversion *c, cJSON *json, orr_error *error);
