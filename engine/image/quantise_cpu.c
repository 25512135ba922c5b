// Display bytes of many values. Compiled once per instruction set: the compiler vectorises the loop for it.
#include "engine/core/isa.h"
#include "engine/image/quantise.h"
#include "engine/maths/lanes.h"

void ORR_ISA_NAME(orr_quantise_values)(const float *restrict values, int64_t count, uint8_t *restrict bytes)
{
    enum { BLOCK = 64 }; // a constant length, so that the compiler vectorises it
    const int64_t whole = count - count % BLOCK;
    for (int64_t i = 0; i < whole; i += BLOCK) {
        for (int j = 0; j < BLOCK; j++) {
            bytes[i + j] = orr_quantise(values[i + j]);
        }
    }
    for (int64_t i = whole; i < count; i++) {
        bytes[i] = orr_quantise(values[i]);
    }
}
