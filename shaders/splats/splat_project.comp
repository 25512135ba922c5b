// Projects one page of a layer: a record and a sort key for each splat. Splats that draw nothing get the key
// NONE.
#version 460
#include "shaders/control.glsl"
#include "engine/maths/clip_formula.h"
#include "render/splat/deform_formula.h"

layout(local_size_x = 256) in;
layout(push_constant, scalar) uniform Push
{
    splat_lens lens;
    uint first; // index of the page's first splat among those of the frame
    uint count;
    uint degree_and_piece; // degree + 4 (1 + the first piece of the layer's deformation), or only the degree
}
push;
layout(binding = 0, scalar) buffer Control { control_block control; };
layout(binding = 1, scalar) readonly buffer Geometry { float geometry[]; };   // blocks x 13 x 16
layout(binding = 2, scalar) readonly buffer Harmonics { float harmonics[]; }; // blocks x 3 (d + 1)^2 x 16
layout(binding = 3, scalar) writeonly buffer Keys { uint keys[]; };
layout(binding = 4, scalar) writeonly buffer Centres { vec4 centres[]; }; // x, y, sharp_x, lean
layout(binding = 5, scalar) writeonly buffer Shapes { vec4 shapes[]; }; // sharp_y, log2 opacity, half size
layout(binding = 6, scalar) writeonly buffer Colours { vec4 colours[]; }; // red, green, blue, depth
layout(binding = 7, scalar) readonly buffer PieceOf { uint piece_of[]; };     // of a layer that is deformed
layout(binding = 8, scalar) readonly buffer Pieces { splat_deformation pieces[]; }; // likewise

shared uint visible_here;

real3 coefficient(uint start, uint k)
{
    uint at = start + k * 48u;
    return make_real3(harmonics[at], harmonics[at + 16u], harmonics[at + 32u]);
}
#define C(k) coefficient(start, k)

real3 splat_colour(uint splat, real3 direction)
{
    uint degree = push.degree_and_piece % 4u;
    uint start = splat / 16u * 48u * (degree + 1u) * (degree + 1u) + splat % 16u;
    real3 sum = sh_sum0(C(0u));
    if (degree >= 1u) {
        sum = sh_sum1(sum, direction, C(1u), C(2u), C(3u));
    }
    if (degree >= 2u) {
        sum = sh_sum2(sum, direction, C(4u), C(5u), C(6u), C(7u), C(8u));
    }
    if (degree >= 3u) {
        sum = sh_sum3(sum, direction, C(9u), C(10u), C(11u), C(12u), C(13u), C(14u), C(15u));
    }
    return sh_clamped(sum);
}

bool is_in_front(real3 mean)
{
    clip_plane clip = clip_plane(control.clip[0], control.clip[1], control.clip[2], control.clip[3]);
    return clip_height(clip, affine_point(push.lens.view, mean)) >= 0.0;
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
        bool deformed = push.degree_and_piece >= 4u;
        splat_deformation deformation;
        if (deformed) {
            deformation = pieces[push.degree_and_piece / 4u - 1u + piece_of[splat]];
            mean = deform_mean(deformation, mean);
            axes = deform_axes(deformation, axes);
        }
        splat_screen s = splat_project(push.lens, mean, axes, geometry[at + 192u]);
        bool visible = s.visible && is_in_front(mean);
        uint to = push.first + splat;
        // positive floats sort as their bits do
        keys[to] = visible ? floatBitsToUint(s.depth) : NONE;
        if (visible) {
            real3 direction = deformed ? deform_direction(deformation, push.lens, mean)
                                       : splat_direction(push.lens, mean);
            real3 colour = splat_colour(splat, direction);
            centres[to] = vec4(s.centre.x, s.centre.y, s.shape.sharp_x, s.shape.lean);
            shapes[to] = vec4(s.shape.sharp_y, s.log2_opacity, s.half_size.x, s.half_size.y);
            colours[to] = vec4(colour.x, colour.y, colour.z, s.depth);
            atomicAdd(visible_here, 1u);
        }
    }
    barrier();
    if (gl_LocalInvocationIndex == 0u && visible_here > 0u) {
        atomicAdd(control.counts[COUNT_VISIBLE], visible_here);
    }
}
