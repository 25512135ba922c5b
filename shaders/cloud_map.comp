// Draws a tile of an opacity map, an invocation per texel: all splats of the tile once for the depths that
// they span, and once more for what they leave of the light.
//
// lavapipe ends a shader's loops after 65535 iterations, of all loops together: STEPS splats are unrolled.
#version 460
#extension GL_EXT_control_flow_attributes : require
#include "shaders/control.glsl"
#include "shaders/splats/tiles.glsl"
#include "shaders/cloud_table.glsl"

layout(local_size_x = 16, local_size_y = 16) in;
layout(push_constant, scalar) uniform Push
{
    uint size;  // of a side of the map [texels]
    uint first; // its first texel
}
push;
layout(binding = 0, scalar) readonly buffer Ranges { uvec2 ranges[]; };
layout(binding = 1, scalar) readonly buffer PairSplats { uint pair_splats[]; };
layout(binding = 2, scalar) readonly buffer Centres { vec4 centres[]; };
layout(binding = 3, scalar) readonly buffer Shapes { vec4 shapes[]; };
layout(binding = 4, scalar) readonly buffer Colours { vec4 colours[]; }; // of which the depth
layout(binding = 5, scalar) writeonly buffer Clouds
{
    cloud_table table;
    float texels[];
}
clouds;

#define BATCH 256u // splats, one per invocation
#define STEPS 8u
#define FARTHEST 3.402823466e38 // of floats

shared vec4 batch_centres[BATCH];
shared vec4 batch_shapes[BATCH];
shared float batch_depths[BATCH];

void main()
{
    uvec2 at = gl_WorkGroupID.xy * 16u + gl_LocalInvocationID.xy;
    vec2 centre = vec2(at) + 0.5;
    uvec2 range = ranges[gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x];
    cloud_texel t = cloud_texel_begin(FARTHEST);
    for (int pass = 0; pass < 2; pass++) {
        for (uint first = range.x; first < range.y; first += BATCH) {
            uint mine = first + gl_LocalInvocationIndex;
            barrier(); // no invocation reads the last batch any more
            if (mine < range.y) {
                uint splat = pair_splats[mine];
                batch_centres[gl_LocalInvocationIndex] = centres[splat];
                batch_shapes[gl_LocalInvocationIndex] = shapes[splat];
                batch_depths[gl_LocalInvocationIndex] = colours[splat].w;
            }
            barrier();
            uint count = min(BATCH, range.y - first);
            for (uint k = 0u; k < count; k += STEPS) {
                [[unroll]] for (uint step = 0u; step < STEPS; step++) {
                    uint i = min(k + step, count - 1u);
                    splat_footprint s = footprint_of(batch_centres[i], batch_shapes[i]);
                    real2 d = make_real2(centre.x - s.centre.x, centre.y - s.centre.y);
                    float alpha = k + step < count ? splat_alpha(s.log2_opacity, d, s.shape) : 0.0;
                    if (pass == 0) {
                        t = cloud_texel_span(t, alpha, batch_depths[i]);
                    } else {
                        t = cloud_texel_add(t, cloud_texel_depths(t), alpha, batch_depths[i]);
                    }
                }
            }
        }
    }
    uint to = (push.first + at.y * push.size + at.x) * uint(CLOUD_TEXEL);
    clouds.texels[to] = t.first;
    clouds.texels[to + 1u] = t.last;
    clouds.texels[to + 2u] = t.a;
    clouds.texels[to + 3u] = t.b;
    clouds.texels[to + 4u] = t.c;
    clouds.texels[to + 5u] = t.d;
}
