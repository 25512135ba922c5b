// Blends a tile's splats from front to back, one invocation per pixel, then what the mesh shows and the background.
#version 460
#include "shaders/control.glsl"
#include "render/splat_formula.h"

layout(local_size_x = 16, local_size_y = 16) in;
layout(push_constant, scalar) uniform Push
{
    ivec2 size;
    uint tiles_x;
    uint meshes; // 1: the mesh images hold something
    uint opaque; // 1: the background is behind everything
    vec3 background;
}
push;
layout(binding = 0, scalar) readonly buffer Ranges { uvec2 ranges[]; };
layout(binding = 1, scalar) readonly buffer PairSplats { uint pair_splats[]; };
layout(binding = 2, scalar) readonly buffer Places { vec4 places[]; };
layout(binding = 3, scalar) readonly buffer Shapes { vec4 shapes[]; };
layout(binding = 4, scalar) readonly buffer Colours { vec4 colours[]; };
layout(binding = 5) uniform sampler2D mesh_colour; // display colour; alpha: distance along the axis, 0: no mesh
layout(binding = 6, scalar) writeonly buffer Picture { vec4 picture[]; };
layout(binding = 7, scalar) writeonly buffer Depth { float depth_out[]; };

shared vec4 batch_places[GROUP];
shared vec4 batch_shapes[GROUP];
shared vec4 batch_colours[GROUP];
shared uint taking; // pixels of the tile that still take splats

void main()
{
    ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    bool inside = all(lessThan(pixel, push.size));
    vec2 centre = vec2(pixel) + 0.5;
    vec4 mesh = push.meshes == 1u && inside ? texelFetch(mesh_colour, pixel, 0) : vec4(0.0);
    float mesh_depth = mesh.a > 0.0 ? mesh.a : 1e38;

    float transmittance = 1.0;
    vec3 colour = vec3(0.0);
    float depth = 0.0;
    bool stopped = !inside;
    uvec2 range = ranges[gl_WorkGroupID.y * push.tiles_x + gl_WorkGroupID.x];
    for (uint first = range.x; first < range.y; first += GROUP) {
        barrier();
        if (gl_LocalInvocationIndex == 0u) {
            taking = 0u;
        }
        uint mine = first + gl_LocalInvocationIndex;
        if (mine < range.y) {
            uint splat = pair_splats[mine];
            batch_places[gl_LocalInvocationIndex] = places[splat];
            batch_shapes[gl_LocalInvocationIndex] = shapes[splat];
            batch_colours[gl_LocalInvocationIndex] = colours[splat];
        }
        barrier();
        if (!stopped) {
            atomicOr(taking, 1u);
        }
        barrier();
        if (taking == 0u) {
            break;
        }
        uint count = min(GROUP, range.y - first);
        for (uint k = 0u; k < count && !stopped; k++) {
            vec4 place = batch_places[k];
            vec4 shape = batch_shapes[k];
            real2 d;
            d.x = centre.x - place.x;
            d.y = centre.y - place.y;
            ellipse e;
            e.sharp_x = place.z;
            e.lean = place.w;
            e.sharp_y = shape.x;
            float alpha = splat_alpha(shape.y, d, e);
            if (alpha == 0.0) {
                continue;
            }
            vec4 seen = batch_colours[k];
            if (seen.w < mesh_depth) {
                float weight = alpha * transmittance;
                float rest = transmittance - weight;
                // a pixel stops before the splat that would close it
                stopped = rest <= SPLAT_T_MIN;
                if (!stopped) {
                    transmittance = rest;
                    colour = fma(vec3(weight), seen.rgb, colour);
                    depth = fma(weight, seen.w, depth);
                }
            }
        }
    }
    if (!inside) {
        return;
    }
    if (mesh.a > 0.0) {
        colour += transmittance * mesh.rgb;
        depth += transmittance * mesh.a;
        transmittance = 0.0;
    }
    int to = pixel.y * push.size.x + pixel.x;
    depth_out[to] = transmittance < 1.0 ? depth / (1.0 - transmittance) : 0.0;
    if (push.opaque == 1u) {
        colour += transmittance * push.background;
        transmittance = 0.0;
    }
    picture[to] = vec4(colour, 1.0 - transmittance);
}
