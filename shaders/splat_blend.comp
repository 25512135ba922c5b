// Blends a tile's splats from front to back, among them what the fields and transparent meshes show, then what the opaque
// mesh shows and the background. An invocation has four pixels of a column, so that a splat is read from shared memory once
// for all of them.
#version 460
#include "shaders/control.glsl"
#include "shaders/fragments.glsl"
#include "render/sky_formula.h"
#include "render/splat_formula.h"

layout(local_size_x = 16, local_size_y = 4) in;
layout(push_constant, scalar) uniform Push
{
    ivec2 size;
    uint tiles_x;
    uint layers; // bits: the mesh image holds meshes; the fields' planes hold something; the lists do; the mesh image has
                 // a backdrop
    uint opaque; // 1: the background is behind everything
    sky_view sky;
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
layout(binding = 8, scalar) readonly buffer Fields { float fields[]; }; // distances, then premultiplied r, g, b, alpha
layout(binding = 9, scalar) readonly buffer Lists { uint fragment_count; uint starts[]; };
layout(binding = 10, scalar) readonly buffer Nodes { fragment_node nodes[]; };

#define MESHES 1u
#define FIELDS 2u
#define FRAGMENTS 4u
#define BACKDROP 8u

#define BATCH 64u // splats, one per invocation
#define ROWS 4

shared vec4 batch_places[BATCH];
shared vec4 batch_shapes[BATCH];
shared vec4 batch_colours[BATCH];
shared uint taking; // pixels of the tile that still take splats

// A pixel on its way from front to back.
struct pixel_state {
    vec3 colour;
    float depth;         // sum of weight times distance
    float transmittance; // of what is blended so far
    float mesh_depth;    // splats from here on are hidden
    float field_depth;   // the fields are blended before splats from here on; 1e38: nothing there, or done
    float fragment_depth; // of the next fragment of a transparent mesh, likewise
    uint fragment;        // 1 + its place
    bool stopped;         // takes no more splats or fields
};

void find_fragment(uint link, inout pixel_state p)
{
    p.fragment = link;
    p.fragment_depth = link == 0u ? 1e38 : nodes[link - 1u].depth;
}

pixel_state begin_pixel(ivec2 pixel)
{
    pixel_state p;
    p.colour = vec3(0.0);
    p.depth = 0.0;
    p.transmittance = 1.0;
    p.stopped = any(greaterThanEqual(pixel, push.size));
    p.mesh_depth = 1e38;
    p.field_depth = 1e38;
    if ((push.layers & MESHES) != 0u && !p.stopped) {
        float there = texelFetch(mesh_colour, pixel, 0).a;
        p.mesh_depth = there > 0.0 ? there : 1e38;
    }
    if ((push.layers & FIELDS) != 0u && !p.stopped) {
        p.field_depth = min(fields[pixel.y * push.size.x + pixel.x], 1e38);
    }
    p.fragment_depth = 1e38;
    if ((push.layers & FRAGMENTS) != 0u && !p.stopped) {
        find_fragment(starts[pixel.y * push.size.x + pixel.x], p);
    }
    return p;
}

// Blends what the fields show of a pixel. It may be opaque: then nothing is left for what stands behind.
void blend_fields(ivec2 pixel, inout pixel_state p)
{
    int plane = push.size.x * push.size.y;
    int from = plane + pixel.y * push.size.x + pixel.x;
    float alpha = fields[from + 3 * plane];
    p.colour += p.transmittance * vec3(fields[from], fields[from + plane], fields[from + 2 * plane]);
    p.depth += p.transmittance * alpha * p.field_depth;
    p.transmittance *= 1.0 - alpha;
    p.stopped = p.transmittance <= SPLAT_T_MIN;
    p.field_depth = 1e38;
}

void blend_fragment(inout pixel_state p)
{
    fragment_node seen = nodes[p.fragment - 1u];
    p.colour += p.transmittance * seen.rgba.rgb;
    p.depth += p.transmittance * seen.rgba.a * seen.depth;
    p.transmittance *= 1.0 - seen.rgba.a;
    p.stopped = p.transmittance <= SPLAT_T_MIN;
    find_fragment(seen.next, p);
}

// Does a field or a transparent mesh come before what is that far away?
bool is_layer_due(float reach, pixel_state p)
{
    return !p.stopped && min(p.field_depth, p.fragment_depth) <= reach;
}

void blend_layer(ivec2 pixel, inout pixel_state p)
{
    if (p.field_depth <= p.fragment_depth) {
        blend_fields(pixel, p);
    } else {
        blend_fragment(p);
    }
}

void end_pixel(ivec2 pixel, pixel_state p)
{
    if (any(greaterThanEqual(pixel, push.size))) {
        return;
    }
    while (is_layer_due(9.9e37, p)) {
        blend_layer(pixel, p);
    }
    if (p.mesh_depth < 1e38) {
        p.colour += p.transmittance * texelFetch(mesh_colour, pixel, 0).rgb;
        p.depth += p.transmittance * p.mesh_depth;
        p.transmittance = 0.0;
    }
    int to = pixel.y * push.size.x + pixel.x;
    depth_out[to] = p.transmittance < 1.0 ? p.depth / (1.0 - p.transmittance) : 0.0;
    if (push.opaque == 1u && (push.layers & BACKDROP) != 0u) {
        p.colour += p.transmittance * texelFetch(mesh_colour, pixel, 0).rgb;
        p.transmittance = 0.0;
    } else if (push.opaque == 1u) {
        real3 sky = sky_colour(push.sky, float(pixel.x) + 0.5, float(pixel.y) + 0.5);
        p.colour += p.transmittance * vec3(sky.x, sky.y, sky.z);
        p.transmittance = 0.0;
    }
    picture[to] = vec4(p.colour, 1.0 - p.transmittance);
}

void main()
{
    ivec2 first_pixel = ivec2(gl_WorkGroupID.xy) * 16 + ivec2(gl_LocalInvocationID.xy) * ivec2(1, ROWS);
    pixel_state pixels[ROWS];
    for (int row = 0; row < ROWS; row++) {
        pixels[row] = begin_pixel(first_pixel + ivec2(0, row));
    }
    vec2 centre = vec2(first_pixel) + 0.5;
    uvec2 range = ranges[gl_WorkGroupID.y * push.tiles_x + gl_WorkGroupID.x];
    for (uint first = range.x; first < range.y; first += BATCH) {
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
        if (!(pixels[0].stopped && pixels[1].stopped && pixels[2].stopped && pixels[3].stopped)) {
            atomicOr(taking, 1u);
        }
        barrier();
        if (taking == 0u) {
            break;
        }
        uint count = min(BATCH, range.y - first);
        for (uint k = 0u; k < count;) {
            vec4 seen = batch_colours[k];
            // one layer of each pixel at a time, not in a loop of its own: lavapipe ends a shader's loops after 65535 turns
            // of all of them together
            bool waits = false;
            for (int row = 0; row < ROWS; row++) {
                if (is_layer_due(seen.w, pixels[row])) {
                    blend_layer(first_pixel + ivec2(0, row), pixels[row]);
                    waits = waits || is_layer_due(seen.w, pixels[row]);
                }
            }
            if (waits) {
                continue;
            }
            vec4 place = batch_places[k];
            vec4 shape = batch_shapes[k];
            ellipse e;
            e.sharp_x = place.z;
            e.lean = place.w;
            e.sharp_y = shape.x;
            for (int row = 0; row < ROWS; row++) {
                real2 d;
                d.x = centre.x - place.x;
                d.y = centre.y + float(row) - place.y;
                float alpha = splat_alpha(shape.y, d, e);
                bool takes = !pixels[row].stopped && alpha > 0.0 && seen.w < pixels[row].mesh_depth;
                float weight = takes ? alpha * pixels[row].transmittance : 0.0;
                float rest = pixels[row].transmittance - weight;
                // a pixel stops before the splat that would close it
                bool stops = takes && rest <= SPLAT_T_MIN;
                weight = stops ? 0.0 : weight;
                pixels[row].stopped = pixels[row].stopped || stops;
                pixels[row].transmittance = stops ? pixels[row].transmittance : rest;
                pixels[row].colour = fma(vec3(weight), seen.rgb, pixels[row].colour);
                pixels[row].depth = fma(weight, seen.w, pixels[row].depth);
            }
            k++;
        }
    }
    for (int row = 0; row < ROWS; row++) {
        end_pixel(first_pixel + ivec2(0, row), pixels[row]);
    }
}
