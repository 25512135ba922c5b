// What fuzz targets share: they hand bytes to one reader, and hold it to its promises. What leaks or is
// accessed outside its block is the sanitizer's to see.
#pragma once

#include "engine/core/result.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A result was made, or there is one line of error; never both and never neither.
static inline void fuzz_expect(orr_result result, bool made, const orr_error *error)
{
    bool is_line = error->message[0] && !strchr(error->message, '\n');
    if ((result == ORR_OK) != made || (result != ORR_OK && !is_line)) {
        abort();
    }
}

// The input as a text that ends with a zero byte, in a block of exactly that size; free it with free.
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text) {
        abort();
    }
    memcpy(text, data, size);
    text[size] = 0;
    return text;
}
