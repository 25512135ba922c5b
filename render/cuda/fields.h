// Fields in the device's memory, under the keys of their layers.
#pragma once

#include "neural/cuda/draw.h"
#include "render/draw.h"

typedef struct orr_cuda_fields {
    struct orr_cuda_fields_entry *entries;
    int count, capacity;
} orr_cuda_fields;

// The field of a layer, as it is now: uploaded when its key is new, or what has changed since. Not OK: it was refused, now or
// when it came first (`first`). The pointer lives until the next call.
orr_result orr_cuda_fields_take(orr_cuda *cuda, orr_cuda_fields *fields, const orr_draw_field *drawn,
                                orr_cuda_field **field, bool *first, orr_error *error);
// Would taking it upload something?
bool orr_cuda_fields_lag(const orr_cuda_fields *fields, const orr_draw_field *drawn);
void orr_cuda_fields_release(orr_cuda_fields *fields, uint64_t key);
void orr_cuda_fields_destroy(orr_cuda_fields *fields);
