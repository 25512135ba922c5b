// Projects one page of a layer: a record and a sort key for each splat. Splats that draw nothing get the key NONE.
#version 460
#include "shaders/control.glsl"
#include "render/splat_formula.h"

layout(local_size_x = 256) in;
layout(push_constant, scalar) uniform Push
{
    splat_lens lens;
    uint first; // where the page's splats stand among those of the frame
    uint count;
    uint degree;
}
push;
layout(binding = 0, scalar) buffer Control { control_block control; };
layout(binding = 1, scalar) readonly buffer Geometry { float geometry[]; };   // blocks x 13 x 16
layout(binding = 2, scalar) readonly buffer Harmonics { float harmonics[]; }; // blocks x 3 (d + 1)^2 x 16
layout(binding = 3, scalar) writeonly buffer Keys { uint keys[]; };
layout(binding = 4, scalar) writeonly buffer Places { vec4 places[]; }; // x, y, sharp_x, lean
layout(binding = 5, scalar) writeonly buffer Shapes { vec4 shapes[]; }; // sharp_y, log2 opacity, half size
layout(binding = 6, scalar) writeonly buffer Colours { vec4 colours[]; }; // red, green, blue, depth

shared uint visible_here;

vec3 coefficient(uint start, uint k)
{
    uint at = start + k * 48u;
    return vec3(harmonics[at], harmonics[at + 16u], harmonics[at + 32u]);
}

vec3 splat_colour(uint splat, real3 direction)
{
    uint start = splat / 16u * 48u * (push.degree + 1u) * (push.degree + 1u) + splat % 16u;
    vec3 sum = fma(vec3(SH_0), coefficient(start, 0u), vec3(0.5));
    if (push.degree >= 1u) {
        sh_band1 b = sh_degree1(direction);
        sum = fma(vec3(b.a), coefficient(start, 1u), sum);
        sum = fma(vec3(b.b), coefficient(start, 2u), sum);
        sum = fma(vec3(b.c), coefficient(start, 3u), sum);
    }
    if (push.degree >= 2u) {
        sh_band2 b = sh_degree2(direction);
        sum = fma(vec3(b.a), coefficient(start, 4u), sum);
        sum = fma(vec3(b.b), coefficient(start, 5u), sum);
        sum = fma(vec3(b.c), coefficient(start, 6u), sum);
        sum = fma(vec3(b.d), coefficient(start, 7u), sum);
        sum = fma(vec3(b.e), coefficient(start, 8u), sum);
    }
    if (push.degree >= 3u) {
        sh_band3 b = sh_degree3(direction);
        sum = fma(vec3(b.a), coefficient(start, 9u), sum);
        sum = fma(vec3(b.b), coefficient(start, 10u), sum);
        sum = fma(vec3(b.c), coefficient(start, 11u), sum);
        sum = fma(vec3(b.d), coefficient(start, 12u), sum);
        sum = fma(vec3(b.e), coefficient(start, 13u), sum);
        sum = fma(vec3(b.f), coefficient(start, 14u), sum);
        sum = fma(vec3(b.g), coefficient(start, 15u), sum);
    }
    return max(sum, vec3(0.0));
}

void main()
{
    if (gl_LocalInvocationIndex == 0u) {
        visible_here = 0u;
    }
    barrier();
    uint splat = gl_GlobalInvocationID.x;
    if (splat < push.count) {
        uint at = splat / 16u * 208u + splat % 16u;
        real3 mean = make_real3(geometry[at], geometry[at + 16u], geometry[at + 32u]);
        splat_axes axes;
        axes.a = make_real3(geometry[at + 48u], geometry[at + 64u], geometry[at + 80u]);
        axes.b = make_real3(geometry[at + 96u], geometry[at + 112u], geometry[at + 128u]);
        axes.c = make_real3(geometry[at + 144u], geometry[at + 160u], geometry[at + 176u]);
        splat_screen s = splat_project(push.lens, mean, axes, geometry[at + 192u]);
        uint to = push.first + splat;
        // positive floats sort as their bits do
        keys[to] = s.visible ? floatBitsToUint(s.depth) : NONE;
        if (s.visible) {
            vec3 colour = splat_colour(splat, splat_direction(push.lens, mean));
            places[to] = vec4(s.centre.x, s.centre.y, s.shape.sharp_x, s.shape.lean);
            shapes[to] = vec4(s.shape.sharp_y, s.log2_opacity, s.half_size.x, s.half_size.y);
            colours[to] = vec4(colour, s.depth);
            atomicAdd(visible_here, 1u);
        }
    }
    barrier();
    if (gl_LocalInvocationIndex == 0u && visible_here > 0u) {
        atomicAdd(control.counts[COUNT_VISIBLE], visible_here);
    }
}
