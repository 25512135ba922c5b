// Fields in the device's memory, under the keys of their layers.
#pragma once

#include "neural/cuda/draw.h"
#include "render/draw.h"

typedef struct orr_cuda_fields {
    struct orr_cuda_fields_entry *entries;
    int count, capacity;
} orr_cuda_fields;

// The field of a layer in its present state: uploaded when its key is new, updated when it has changed. Fails
// when the device cannot draw it; *first: this is the first call for its key. The pointer is valid until the
// next call.
orr_result orr_cuda_fields_take(orr_cuda *cuda, orr_cuda_fields *fields, const orr_draw_field *drawn,
                                orr_cuda_field **field, bool *first, orr_error *error);
// Would orr_cuda_fields_take upload or update something?
bool orr_cuda_fields_lag(const orr_cuda_fields *fields, const orr_draw_field *drawn);
void orr_cuda_fields_release(orr_cuda_fields *fields, uint64_t key);
void orr_cuda_fields_destroy(orr_cuda_fields *fields);
