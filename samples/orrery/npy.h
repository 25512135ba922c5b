// NumPy arrays in files: little-endian numbers in C order.
#pragma once

#include "engine/core/file.h"

enum { NPY_DIMENSIONS = 3 };

typedef struct npy_array {
    int64_t shape[NPY_DIMENSIONS];
    int dimensions; // 1 .. 3
    double *values; // free with npy_free
} npy_array;

// Reads float32 or float64; `name` is for messages.
orr_result npy_parse(const uint8_t *data, size_t size, const char *name, npy_array *array, orr_error *error);
orr_result npy_read(const char *path, npy_array *array, orr_error *error);

void npy_free(npy_array *array); // its values; zero is allowed

// The header of a float64 array; the numbers follow with orr_file_put.
void npy_put_header(orr_file_writer *writer, const int64_t *shape, int dimensions);
