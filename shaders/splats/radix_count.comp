// Stable radix sort by 8-bit digits, first of three steps of a pass: how often each digit occurs in each
// block. Reduce, scan, scatter (Merrill and Grimshaw 2011), which needs no progress guarantee between
// workgroups.
#version 460
#include "shaders/control.glsl"

layout(local_size_x = 256) in;
layout(push_constant, scalar) uniform Push
{
    uint counter; // index of the number of keys in control.counts
    uint shift;
}
push;
layout(binding = 0, scalar) readonly buffer Control { control_block control; };
layout(binding = 1, scalar) readonly buffer Keys { uint keys[]; };
layout(binding = 2, scalar) writeonly buffer Digits { uint digits[]; }; // 256 x blocks

shared uint counts[256];

void main()
{
    uint i = gl_LocalInvocationIndex;
    counts[i] = 0u;
    barrier();
    uint count = control.counts[push.counter];
    uint first = gl_WorkGroupID.x * SORT_BLOCK;
    for (uint k = first + i; k < min(first + SORT_BLOCK, count); k += GROUP) {
        uint key = keys[k];
        if (key != NONE) {
            atomicAdd(counts[key >> push.shift & 255u], 1u);
        }
    }
    barrier();
    digits[i * gl_NumWorkGroups.x + gl_WorkGroupID.x] = counts[i];
}
