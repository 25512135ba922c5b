// Third step of a sorting pass: every element to its new index. Elements of a block are ranked 256 at a time:
// for each digit, a bit mask of the invocations whose element has it.
#version 460
#include "shaders/control.glsl"

layout(local_size_x = 256) in;
layout(push_constant, scalar) uniform Push
{
    uint counter;
    uint shift;
    uint identity; // 1: an element's value is its own index
}
push;
layout(binding = 0, scalar) readonly buffer Control { control_block control; };
layout(binding = 1, scalar) readonly buffer KeysIn { uint keys_in[]; };
layout(binding = 2, scalar) readonly buffer ValuesIn { uint values_in[]; };
layout(binding = 3, scalar) writeonly buffer KeysOut { uint keys_out[]; };
layout(binding = 4, scalar) writeonly buffer ValuesOut { uint values_out[]; };
layout(binding = 5, scalar) readonly buffer Digits { uint digits[]; };
layout(binding = 6, scalar) readonly buffer Totals { uint totals[]; };

#include "shaders/splats/scan.glsl"

#define WORDS 8u // of a mask of 256 bits

shared uint next[256]; // index of each digit's next element
shared uint holders[256 * WORDS];

void main()
{
    uint i = gl_LocalInvocationIndex;
    uint all;
    uint smaller = exclusive_sum(totals[i], all);
    next[i] = smaller + digits[i * gl_NumWorkGroups.x + gl_WorkGroupID.x];
    uint count = control.counts[push.counter];
    uint word = i / 32u;
    uint bit = 1u << (i % 32u);
    for (uint part = 0u; part < SORT_BLOCK; part += GROUP) {
        for (uint w = 0u; w < WORDS; w++) {
            holders[i * WORDS + w] = 0u;
        }
        barrier();
        uint k = gl_WorkGroupID.x * SORT_BLOCK + part + i;
        uint key = k < count ? keys_in[k] : NONE;
        uint digit = key >> push.shift & 255u;
        if (key != NONE) {
            atomicOr(holders[digit * WORDS + word], bit);
        }
        barrier();
        if (key != NONE) {
            uint rank = uint(bitCount(holders[digit * WORDS + word] & (bit - 1u)));
            for (uint w = 0u; w < word; w++) {
                rank += uint(bitCount(holders[digit * WORDS + w]));
            }
            uint to = next[digit] + rank;
            keys_out[to] = key;
            values_out[to] = push.identity == 1u ? k : values_in[k];
        }
        uint taken = 0u;
        for (uint w = 0u; w < WORDS; w++) {
            taken += uint(bitCount(holders[i * WORDS + w]));
        }
        barrier();
        next[i] += taken;
    }
}
