// Display bytes of pictures. Compiled once per instruction set: the compiler vectorises the loops for it.
#include "engine/core/isa.h"
#include "engine/image/quantise.h"
#include "engine/maths/lanes.h"
#include "render/cpu/splats_cpu.h"

#include <string.h>

void ORR_ISA_NAME(orr_picture_rgb)(const float *restrict rgba, int64_t pixels, uint8_t *restrict rgb)
{
    enum { BLOCK = 64 }; // pixels; a constant length, so that the compiler vectorises it
    for (int64_t first = 0; first < pixels; first += BLOCK) {
        const int64_t count = pixels - first < BLOCK ? pixels - first : BLOCK;
        float values[4 * BLOCK] = {0};
        uint8_t bytes[4 * BLOCK];
        const float *from = rgba + 4 * first;
        uint8_t *to = rgb + 3 * first;
        if (count < BLOCK) {
            memcpy(values, from, (size_t)count * 4 * sizeof *values);
            from = values;
        }
        for (int i = 0; i < 4 * BLOCK; i++) {
            bytes[i] = orr_quantise(from[i]);
        }
        for (int64_t i = 0; i + 1 < count; i++) { // the fourth byte of each is written over by the next
            memcpy(to + 3 * i, bytes + 4 * i, 4);
        }
        memcpy(to + 3 * (count - 1), bytes + 4 * (count - 1), 3);
    }
}
