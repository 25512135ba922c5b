// Second step of a sorting pass, one workgroup per digit: for each block, how often the digit occurs in
// earlier blocks.
#version 460
#include "shaders/control.glsl"

layout(local_size_x = 256) in;
layout(push_constant, scalar) uniform Push { uint counter; }
push;
layout(binding = 0, scalar) readonly buffer Control { control_block control; };
layout(binding = 1, scalar) buffer Digits { uint digits[]; };           // 256 x blocks
layout(binding = 2, scalar) writeonly buffer Totals { uint totals[]; }; // 256

#include "shaders/splats/scan.glsl"

void main()
{
    uint blocks = divide_up(control.counts[push.counter], SORT_BLOCK);
    uint row = gl_WorkGroupID.x * blocks;
    uint before = 0u;
    for (uint first = 0u; first < blocks; first += GROUP) {
        uint k = first + gl_LocalInvocationIndex;
        uint total;
        uint sum = exclusive_sum(k < blocks ? digits[row + k] : 0u, total);
        if (k < blocks) {
            digits[row + k] = before + sum;
        }
        before += total;
    }
    if (gl_LocalInvocationIndex == 0u) {
        totals[gl_WorkGroupID.x] = before;
    }
}
