// Marching bundles of rays through a radiance field: densities come first, in blocks of 64, a few samples of
// each ray at a time; opaque rays stop, and colour is evaluated only where it shows.
#pragma once

#include "neural/capture/ray_camera.h"
#include "neural/fields/field.h"
#include "neural/fields/occupancy.h"
#include "neural/nerf/proposal_sampler.h"

// What marching reads of a field: its parameters for inference, or those being trained.
typedef struct orr_nerf_model {
    const orr_field_parts *parts;
    const float *table;
    const orr_mlp_weights *network, *rgb_network;
    const orr_nerf_kernels *kernels;
    int aabb_scale;
    orr_nerf_space space;
    orr_proposal_model proposal; // a field with one is marched by it instead of `space`
} orr_nerf_model;

// Steps of sqrt(3) / 1024 times the coarseness that grow with distance when aabb_scale > 1.
march_stepping orr_nerf_stepping(int aabb_scale, double coarseness);
// Distances between which a ray is inside the cube of side aabb_scale; false: it misses the cube.
bool orr_nerf_ray_range(const orr_camera_ray *ray, int aabb_scale, float *start, float *end);
// Puts a ray into a bundle. Its first sample is `jitter` (0 .. 1) steps behind `start`.
void orr_nerf_ray_begin(orr_nerf_rays *rays, const march_stepping *stepping, const orr_camera_ray *ray,
                        float start, float end, float jitter);

// For inference; field: a NeRF. Valid until the field is refreshed. Of a field with proposals the grid is not
// read.
orr_nerf_model orr_nerf_model_of(const orr_field *field, const orr_occupancy *grid);

typedef enum orr_nerf_stage {
    ORR_NERF_MARCH,
    ORR_NERF_ENCODE,
    ORR_NERF_MLP,
    ORR_NERF_STAGE_COUNT
} orr_nerf_stage;

// The samples of a bundle that matter, in the order of their rays' steps: of each ray from front to back.
typedef struct orr_nerf_samples {
    int count, capacity;
    float *positions; // blocks of 3 x ORR_SAMPLES, as the encoding reads them
    float *features;  // blocks of encoding.output_dims x ORR_SAMPLES; NULL: not kept
    float *outputs;   // blocks of network.output_dims x ORR_SAMPLES
    float *colours;   // blocks of 3 x ORR_SAMPLES
    float *distance, *step;
    float *weight;        // what the sample adds to its ray
    float *transmittance; // behind it
    int32_t *ray;         // in the bundle
} orr_nerf_samples;

// Scratch of one worker.
typedef struct orr_nerf_bundle {
    orr_nerf_rays rays;
    orr_nerf_wave wave;
    orr_nerf_samples samples;
    float *features, *outputs;     // of one block of the wave
    orr_proposal_edges *proposal;  // NULL: the field has none
    float *directions;             // encoded, in blocks of dir_encoding.output_dims x ORR_SAMPLES rays
    float *rgb_input, *rgb_output; // one block
    int32_t live[ORR_NERF_RAYS + 16];
    int64_t evaluated;                          // densities evaluated since the bundle was created
    uint64_t nanoseconds[ORR_NERF_STAGE_COUNT]; // likewise; for measuring only
} orr_nerf_bundle;

// keep_features: for the backward pass.
orr_result orr_nerf_bundle_create(const orr_field *field, bool keep_features, orr_nerf_bundle **bundle,
                                  orr_error *error);
void orr_nerf_bundle_destroy(orr_nerf_bundle *bundle); // NULL is allowed

// The distances between which a ray samples the model; false: none. And putting the ray into a bundle: it is
// sampled from `start` on, `jitter` (0 .. 1) steps late.
bool orr_nerf_model_range(const orr_nerf_model *model, const orr_camera_ray *ray, float *start, float *end);
void orr_nerf_model_begin(const orr_nerf_model *model, orr_nerf_rays *rays, const orr_camera_ray *ray,
                          float start, float end, float jitter);
// Takes bundle->rays to their ends, or until their transmittance is below transmittance_min. Keeps samples of
// weight_min or more, encodes directions; the last block is filled up with samples of no weight.
void orr_nerf_march(const orr_nerf_model *model, orr_nerf_bundle *bundle, float transmittance_min,
                    float weight_min);
// The inputs of the second network for one block of samples.
void orr_nerf_rgb_input(const orr_nerf_model *model, const orr_nerf_bundle *bundle, int block,
                        const float *outputs, float *rgb_input);
// The display colours of all samples.
void orr_nerf_colour(const orr_nerf_model *model, orr_nerf_bundle *bundle);
