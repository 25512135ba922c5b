// Blends a tile's splats from front to back, fields and transparent meshes among them by depth, then the
// opaque mesh and the background. An invocation has four pixels of a column, so that a splat is read from
// shared memory once for all of them. CLOUDED: clouds cast shadows; OCCLUDED: meshes keep light from all
// around off splats and fields.
//
// lavapipe ends a shader's loops after 65535 iterations, of all loops together. So loops over an invocation's
// pixels are unrolled, and so are STEPS splats, and layers have no loop of their own: one iteration blends a
// layer of each pixel if one is due, then up to STEPS splats before the next.
#extension GL_EXT_control_flow_attributes : require
#include "shaders/control.glsl"
#include "shaders/fragments.glsl"
#include "shaders/splats/tiles.glsl"
#include "render/splat/blend_formula.h"
#include "render/edge_formula.h"
#include "render/backdrop/sky_formula.h"
#include "shaders/light.glsl"
#ifdef CLOUDED
#include "shaders/cloud_table.glsl"
#endif

layout(local_size_x = 16, local_size_y = 4) in;
layout(push_constant, scalar) uniform Push
{
    ivec2 size;
    uint tiles_x;
    uint layers; // bits, see below
    uint opaque; // 1: the background is behind everything
    sky_view sky;
}
push;
layout(binding = 0, scalar) readonly buffer Ranges { uvec2 ranges[]; };
layout(binding = 1, scalar) readonly buffer PairSplats { uint pair_splats[]; };
layout(binding = 2, scalar) readonly buffer Centres { vec4 centres[]; };
layout(binding = 3, scalar) readonly buffer Shapes { vec4 shapes[]; };
layout(binding = 4, scalar) readonly buffer Colours { vec4 colours[]; };
// display colour; alpha: distance along the axis, 0: no mesh. SMOOTH: the distance at pixels' centres
layout(binding = 5) uniform sampler2D mesh_colour;
layout(binding = 6, scalar) writeonly buffer Picture { vec4 picture[]; };
layout(binding = 7, scalar) writeonly buffer Depth { float depth_out[]; };
// distances, then premultiplied r, g, b, alpha
layout(binding = 8, scalar) readonly buffer Fields { float fields[]; };
layout(binding = 9, scalar) readonly buffer Lists { uint fragment_count; uint starts[]; };
layout(binding = 10, scalar) readonly buffer Nodes { fragment_node nodes[]; };

layout(binding = 11, scalar) readonly buffer Lighting { frame_light lighting; };
layout(binding = 12) uniform sampler2D shadow_maps;
const bool CASCADED = true;
#include "shaders/shadows.glsl"
layout(binding = 13, scalar) readonly buffer Environments { uint environment_texels[]; };
layout(binding = 14) uniform sampler2DMS mesh_samples; // as mesh_colour, of the samples of pixels
#include "shaders/environments.glsl"
#include "shaders/captured_shadow.glsl"
#ifdef CLOUDED
layout(binding = 15, scalar) readonly buffer Clouds
{
    cloud_table table;
    float texels[];
}
clouds;
#include "shaders/cloud_lookup.glsl"
#endif
#ifdef OCCLUDED
layout(binding = 16, scalar) readonly buffer Occlusion { vec3 occlusion_map[]; };
#define OCCLUSION_DEPTH(column, row) occlusion_map[(row) * push.size.x + (column)].x
#include "shaders/occlusion.glsl"
#endif

#define MESHES 1u // bits of push.layers: the mesh image has meshes or a backdrop
#define FIELDS 2u
#define FRAGMENTS 4u
#define BACKDROP 8u
#define SHADOWS 16u     // of the first light that casts them one falls on splats and fields
#define ENVIRONMENT 32u // the first is behind everything, in place of backdrop and sky
#define SMOOTH 64u      // edges of meshes are anti-aliased

#define BATCH 64u // splats, one per invocation
#define ROWS 4   // pixels of an invocation
#define STEPS 8u // splats at most in one iteration

shared vec4 batch_centres[BATCH];
shared vec4 batch_shapes[BATCH];
shared vec4 batch_colours[BATCH];
#ifdef CLOUDED
shared float batch_owners[BATCH];
#endif
#if defined(CLOUDED) || defined(OCCLUDED)
#define IS_SHADOWED true
#else
#define IS_SHADOWED ((push.layers & SHADOWS) != 0u)
#endif
shared uint taking; // 1: some pixel of the tile has not stopped

// A pixel and its next layers; depth 1e38: none, or no more.
struct pixel_state {
    blend_pixel blended;
    float mesh_depth;     // splats from here on are hidden
    float field_depth;
    float fragment_depth; // of the next fragment of a transparent mesh
    uint fragment;        // its index + 1
    float receiver;       // depth of the captured surface; 1e38: none
#ifdef CLOUDED
    float owner; // number of the cloud that it is of, among those that cast shadows; -1: of none
#endif
    bool edge;            // its samples show several surfaces:
    int samples[EDGE_SAMPLES]; // from front to back
    float sample_depth;        // of the next one
    int sample_count;          // blended
    edge_centre centre;
};

// Display colour and distance of a sample; 1e38: no mesh.
vec4 sample_of(ivec2 pixel, int which)
{
    vec4 seen = texelFetch(mesh_samples, pixel, which);
    return vec4(seen.rgb, seen.a > 0.0 ? seen.a : 1e38);
}

void find_sample(ivec2 pixel, inout pixel_state p)
{
    p.sample_depth = 1e38;
    if (p.edge && p.sample_count < EDGE_SAMPLES) {
        p.sample_depth = sample_of(pixel, p.samples[p.sample_count]).a;
    }
}

void order_two(int a, int b, inout float depths[EDGE_SAMPLES], inout pixel_state p)
{
    if (depths[b] < depths[a]) {
        float depth = depths[a];
        int which = p.samples[a];
        depths[a] = depths[b];
        p.samples[a] = p.samples[b];
        depths[b] = depth;
        p.samples[b] = which;
    }
}

void begin_samples(ivec2 pixel, inout pixel_state p)
{
    vec4 first = sample_of(pixel, 0);
    float depths[EDGE_SAMPLES];
    for (int i = 0; i < EDGE_SAMPLES; i++) {
        vec4 seen = sample_of(pixel, i);
        depths[i] = seen.a;
        p.samples[i] = i;
        p.edge = p.edge || any(notEqual(seen, first));
    }
    order_two(0, 1, depths, p);
    order_two(2, 3, depths, p);
    order_two(0, 2, depths, p);
    order_two(1, 3, depths, p);
    order_two(1, 2, depths, p);
    p.mesh_depth = depths[EDGE_SAMPLES - 1];
    p.centre = edge_centre_begin(min(texelFetch(mesh_colour, pixel, 0).r, 1e38));
    find_sample(pixel, p);
}

void blend_sample(ivec2 pixel, inout pixel_state p)
{
    vec4 seen = sample_of(pixel, p.samples[p.sample_count]);
    float alpha = edge_alpha(float(p.sample_count));
    p.blended =
        blend_layer(p.blended, true, scale3(make_real3(seen.r, seen.g, seen.b), alpha), alpha, seen.a);
    p.sample_count++;
    find_sample(pixel, p);
}

void find_fragment(uint link, inout pixel_state p)
{
    p.fragment = link;
    p.fragment_depth = link == 0u ? 1e38 : nodes[link - 1u].depth;
}

pixel_state begin_pixel(ivec2 pixel)
{
    pixel_state p;
    bool exists = all(lessThan(pixel, push.size));
    p.blended = blend_begin(exists);
    p.mesh_depth = 1e38;
    p.field_depth = 1e38;
    p.edge = false;
    p.sample_count = 0;
    p.sample_depth = 1e38;
    p.centre = edge_centre_begin(1e38);
    if ((push.layers & SMOOTH) != 0u && exists) {
        begin_samples(pixel, p);
    } else if ((push.layers & MESHES) != 0u && exists) {
        float depth = texelFetch(mesh_colour, pixel, 0).a;
        p.mesh_depth = depth > 0.0 ? depth : 1e38;
    }
    if ((push.layers & FIELDS) != 0u && exists) {
        p.field_depth = min(fields[pixel.y * push.size.x + pixel.x], 1e38);
    }
    p.receiver = 1e38;
#ifdef CLOUDED
    p.owner = -1.0;
#endif
    p.fragment = 0u;
    p.fragment_depth = 1e38;
    if ((push.layers & FRAGMENTS) != 0u && exists) {
        find_fragment(starts[pixel.y * push.size.x + pixel.x], p);
    }
    return p;
}

void blend_fields(ivec2 pixel, inout pixel_state p)
{
    int plane = push.size.x * push.size.y;
    int from = plane + pixel.y * push.size.x + pixel.x;
    real3 colour = make_real3(fields[from], fields[from + plane], fields[from + 2 * plane]);
    float before = p.blended.transmittance;
    p.blended = blend_layer(p.blended, true, colour, fields[from + 3 * plane], p.field_depth);
    p.centre = edge_centre_blend(p.centre, true, fields[from + 3 * plane], p.field_depth);
    p.receiver = shadow_receiver(p.receiver, before, p.blended.transmittance,
                                 shadow_field_depth(lighting.eye, p.field_depth));
#ifdef CLOUDED
    p.owner = shadow_receiver(p.owner, before, p.blended.transmittance, -1.0);
#endif
    p.field_depth = 1e38;
}

void blend_fragment(inout pixel_state p)
{
    fragment_node seen = nodes[p.fragment - 1u];
    real3 colour = make_real3(seen.rgba.r, seen.rgba.g, seen.rgba.b);
    p.blended = blend_layer(p.blended, true, colour, seen.rgba.a, seen.depth);
    p.centre = edge_centre_blend(p.centre, true, seen.rgba.a, seen.depth);
    find_fragment(seen.next, p);
}

// Does a field, a transparent mesh or a sample come before what is that far away?
bool is_layer_due(float reach, pixel_state p)
{
    return blend_continues(p.blended) && min(min(p.field_depth, p.fragment_depth), p.sample_depth) <= reach;
}

void blend_next_layer(ivec2 pixel, inout pixel_state p)
{
    if (p.sample_depth <= min(p.field_depth, p.fragment_depth)) {
        blend_sample(pixel, p);
    } else if (blend_field_is_first(p.field_depth, p.fragment_depth)) {
        blend_fields(pixel, p);
    } else {
        blend_fragment(p);
    }
}

// The shadow of meshes and clouds on what is blended of splats and fields so far, and what meshes keep off it
// of light from all around.
void shade_pixel(ivec2 pixel, inout pixel_state p)
{
    real3 position = shadow_seen(lighting.eye, float(pixel.x) + 0.5, float(pixel.y) + 0.5, abs(p.receiver));
    float visible = 1.0, open = 1.0;
#ifdef CLOUDED
    visible = cloud_shadow_lookup(clouds.table.captured_light, position, int(p.owner));
#endif
    if ((push.layers & SHADOWS) != 0u) {
        visible *= shadow_lookup(0, position, make_real3(0.0, 0.0, 0.0));
    }
    visible = shadow_on_receiver(p.receiver, visible);
#ifdef OCCLUDED
    real3 level = occlusion_level(lighting.occlusion, position);
    open = occlusion_open(lighting.occlusion, occlusion_search(position, level, OCCLUSION_ALONE));
#endif
    if (min(visible, open) < 1.0) {
        float alpha = 1.0 - abs(p.blended.transmittance);
        float lit = 1.0;
        if (lighting.self_shadow.size > 0.5) { // of the light of the capture, the first
            lit = captured_shadow_lookup(lighting.self_shadow, 0, position, make_real3(0.0, 0.0, 0.0));
        }
        p.blended.colour = shadow_on_capture(lighting.eye, p.blended.colour, alpha, visible, open, lit);
    }
}

// Display colour of what is behind everything, at a point of the picture [px].
real3 environment_behind(float x, float y)
{
    environment_view v = lighting.environments[0];
    real3 d = affine_direction(v.to_map, sky_direction(push.sky, x, y));
    environment_square s = environment_find(environment_flatten(d), v.first, v.sharp);
    return light_display(tone_map(lighting.tone, scale3(environment_bilinear(s), v.strength)));
}

void end_pixel(ivec2 pixel, pixel_state p)
{
    if (any(greaterThanEqual(pixel, push.size))) {
        return;
    }
    while (is_layer_due(9.9e37, p)) {
        blend_next_layer(pixel, p);
    }
    if (IS_SHADOWED && p.receiver < 1e38) {
        shade_pixel(pixel, p);
    }
    vec4 mesh = (push.layers & MESHES) != 0u ? texelFetch(mesh_colour, pixel, 0) : vec4(0.0);
    if ((push.layers & SMOOTH) != 0u) {
        mesh = sample_of(pixel, p.samples[EDGE_SAMPLES - 1]);
    }
    real3 surface = make_real3(mesh.r, mesh.g, mesh.b);
    blend_pixel b = blend_surface(p.blended, !p.edge && p.mesh_depth < 1e38, surface, p.mesh_depth);
    int to = pixel.y * push.size.x + pixel.x;
    depth_out[to] = p.edge ? edge_centre_depth(p.centre) : blend_mean_depth(b);
    if (push.opaque == 1u && (push.layers & ENVIRONMENT) != 0u) {
        b = blend_background(b, environment_behind(float(pixel.x) + 0.5, float(pixel.y) + 0.5));
    } else if (push.opaque == 1u && (push.layers & BACKDROP) != 0u) {
        b = blend_background(b, surface);
    } else if (push.opaque == 1u) {
        b = blend_background(b, sky_colour(push.sky, float(pixel.x) + 0.5, float(pixel.y) + 0.5));
    }
    picture[to] = vec4(b.colour.x, b.colour.y, b.colour.z, 1.0 - b.transmittance);
}

void main()
{
    ivec2 first_pixel = ivec2(gl_WorkGroupID.xy) * 16 + ivec2(gl_LocalInvocationID.xy) * ivec2(1, ROWS);
    pixel_state pixels[ROWS];
    [[unroll]] for (int row = 0; row < ROWS; row++) {
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
            batch_centres[gl_LocalInvocationIndex] = centres[splat];
            batch_shapes[gl_LocalInvocationIndex] = shapes[splat];
            batch_colours[gl_LocalInvocationIndex] = colours[splat];
#ifdef CLOUDED
            batch_owners[gl_LocalInvocationIndex] = float(cloud_owner(splat));
#endif
        }
        barrier();
        bool takes = false;
        [[unroll]] for (int row = 0; row < ROWS; row++) {
            takes = takes || blend_continues(pixels[row].blended);
        }
        if (takes) {
            atomicOr(taking, 1u);
        }
        barrier();
        if (taking == 0u) {
            break;
        }
        uint count = min(BATCH, range.y - first);
        for (uint k = 0u; k < count;) {
            float reach = batch_colours[k].w;
            [[unroll]] for (int row = 0; row < ROWS; row++) {
                if (is_layer_due(reach, pixels[row])) {
                    blend_next_layer(first_pixel + ivec2(0, row), pixels[row]);
                }
            }
            bool next = true;
            [[unroll]] for (uint step = 0u; step < STEPS; step++) {
                vec4 seen = batch_colours[min(k, count - 1u)];
                next = next && k < count;
                [[unroll]] for (int row = 0; row < ROWS; row++) {
                    next = next && !is_layer_due(seen.w, pixels[row]);
                }
                if (next) {
                    splat_footprint splat = footprint_of(batch_centres[k], batch_shapes[k]);
                    real3 colour = make_real3(seen.r, seen.g, seen.b);
                    [[unroll]] for (int row = 0; row < ROWS; row++) {
                        float y = centre.y + float(row);
                        real2 d = make_real2(centre.x - splat.centre.x, y - splat.centre.y);
                        float alpha = splat_alpha(splat.log2_opacity, d, splat.shape);
                        if (pixels[row].edge) {
                            pixels[row].centre =
                                edge_centre_blend(pixels[row].centre, true, alpha, seen.w);
                        }
                        alpha = seen.w < pixels[row].mesh_depth ? alpha : 0.0;
                        float before = pixels[row].blended.transmittance;
                        pixels[row].blended = blend_splat(pixels[row].blended, alpha, colour, seen.w);
                        pixels[row].receiver = shadow_receiver(
                            pixels[row].receiver, before, pixels[row].blended.transmittance, seen.w);
#ifdef CLOUDED
                        pixels[row].owner =
                            shadow_receiver(pixels[row].owner, before, pixels[row].blended.transmittance,
                                            batch_owners[k]);
#endif
                    }
                    k++;
                }
            }
        }
    }
    // not unrolled: most of the shader's text is this call's. Pixels move up, since one picked by a variable
    // would keep all of them out of registers
    for (int row = 0; row < ROWS; row++) {
        end_pixel(first_pixel + ivec2(0, row), pixels[0]);
        [[unroll]] for (int k = 0; k + 1 < ROWS; k++) {
            pixels[k] = pixels[k + 1];
        }
    }
}
