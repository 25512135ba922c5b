// The mesh stages on CUDA, as calls that launch kernels; the caller checks cudaGetLastError. All arrays are
// on the device, and so are all counts of a frame.
//
//   transform  a thread per mesh            its matrix, with the pose of its body
//   points     a thread per vertex          camera space, screen position, which bounds it exceeds
//   count      a thread per triangle        how many records it becomes: none, one, or those it is cut into
//   records    a thread per triangle        prefix sum; the records, in drawing order
//   raster     a thread per small record; a warp per tile of a large one (prefix sum), so that no thread runs
//   long
//                                           the nearest opaque record of each pixel, by 64 bits of nearness
//                                           and drawing order
//   occlude    a thread per pixel           with ambient occlusion: its depth, then the sums of its search
//   shade      a thread per pixel           depth and colour; of a shadow map, which the stages above draw
//                                           first: keep_depth, depth alone
//   edges      a thread per pixel           which pixels have one (edge_formula.h); raster again, of their
//   samples; a thread per pixel             shades them
//   fragments  raster again, of transparent records: counted; running sum; filled in; put in order and
//   shaded, a thread
//              per pixel
//
// The mathematics is mesh_triangle.h and mesh_formula.h.
#pragma once

#include "render/appearance/neural_material.h"
#include "render/cuda/cloud_light.h"
#include "render/cuda/occlusion.h"
#include "render/draw.h"
#include "render/mesh_triangle.h"
#include "render/shadow/shadow.h"

#include <cuda_runtime_api.h>

enum {
    ORR_CUDA_MESH_SUM = (1 << 30) - 1, // largest prefix sum
    ORR_CUDA_MESH_TILE = 16            // [px] of a large record, per side: the work of a warp
};

// A mesh of the list.
typedef struct orr_cuda_mesh_instance {
    orr_draw_bodies bodies; // position NULL: none
    int32_t body;
    int32_t backdrop;    // 1: unlit, and behind everything
    int32_t environment; // of orr_draw_mesh
    int32_t endless;     // likewise
    float model[12], at[12];
    const orr_mesh_vertex *vertices;
} orr_cuda_mesh_instance;

typedef struct orr_cuda_mesh_texture {
    const uint32_t *texels; // NULL: there is none
    orr_mesh_coordinates coordinates;
    orr_texture_sampler sampler;
    int32_t width, height, level_count;
    int32_t level_first[ORR_MIP_LEVELS];
} orr_cuda_mesh_texture;

// A part of an instance: what is the same for its pixels.
typedef struct orr_cuda_mesh_surface {
    int32_t instance;
    const uint32_t *indices; // of the part
    orr_cuda_mesh_texture textures[ORR_TEXTURE_USES];
    orr_mesh_material material;
    const orr_neural_weights *neural; // of a material that is a network; NULL: it is none
    orr_cuda_mesh_texture latents[2];
    const float *mirror;        // as of orr_mirror_picture: what it mirrors; NULL: nothing
    int32_t blended, two_sided; // 1: as the picture draws its material; shadow maps draw those that cast
    int32_t traced;             // 1: starts rays
    int32_t film;               // 1: is glass that is drawn so (render/glass/glass_film.h)
    int32_t casts;              // 1: a shadow
    orr_glass_look look;        // of a film
} orr_cuda_mesh_surface;

// Counts of a frame.
typedef struct orr_cuda_mesh_control {
    uint64_t tiles_needed, fragments_needed; // in full, where prefix sums may have wrapped around
    uint32_t edges_needed;                   // pixels with edges; those beyond edge_capacity get none
    uint32_t triangles;                      // of the list
    uint32_t starts;                         // pixels + 1
    uint32_t records_needed;                 // by the triangles
    uint32_t records;                        // of them, at most record_capacity
    uint32_t tiles;                          // of large records
    uint32_t fragments;
} orr_cuda_mesh_control;

// One frame, for all stages.
typedef struct orr_cuda_mesh_scene {
    orr_lens lens;
    const orr_draw_lighting *lighting;
    const uint32_t *environment_texels; // of all maps, behind one another
    const orr_shadow_plan *shadows;
    const float *shadow_maps;     // of the plan, one behind the other; NULL: none
    const float *captured_depths; // texels of the list's self_shadow; NULL: there is none
    orr_cuda_cloud_light clouds;
    orr_cuda_occlusion occlusion;
    const float *traced;                     // rgba of orr_host_view; NULL: no surface starts rays
    const orr_cuda_mesh_instance *instances; // instance_count
    const orr_cuda_mesh_surface *surfaces;   // surface_count
    const uint32_t *point_firsts;            // of each instance, among the frame's points
    const uint32_t *triangle_firsts;         // of each surface, among the frame's triangles
    const float *to_camera;                  // 12 for each instance
    const float *linear;                     // 256: display byte to linear light
    uint32_t instance_count, surface_count;
    uint32_t point_count, triangle_count;
    uint32_t record_capacity, fragment_capacity, edge_capacity;
    int32_t smooth;       // 1: edges are anti-aliased
    int32_t only_casters; // 1: without what casts no shadow

    mesh_point *points;
    uint32_t *record_firsts; // per triangle: how many records, then which is the first
    mesh_record *records;
    uint32_t *tile_firsts; // the same of tiles, per record
    uint64_t *nearest;     // per pixel: complement of the nearness, and the record; all ones: none
    float *depth, *colour; // height x width; 3 planes
    uint32_t *fragment_counts, *fragment_starts; // per pixel; the latter one more
    uint64_t *sources;                           // of fragments: depth and record
    orr_fragment *fragments;
    uint32_t *edge_of;     // per pixel: 1 + the number of its entry in `edges`; 0: no edge
    uint64_t *sample_keys; // as `nearest`, of the samples of each entry
    orr_edge_pixel *edges; // in any order
    orr_cuda_mesh_control *control;
} orr_cuda_mesh_scene;

void orr_cuda_meshes_fill_linear(cudaStream_t stream, float *linear);
void orr_cuda_meshes_transform(cudaStream_t stream, const orr_cuda_mesh_scene *scene, float *to_camera);
void orr_cuda_meshes_points(cudaStream_t stream, const orr_cuda_mesh_scene *scene);
void orr_cuda_meshes_count(cudaStream_t stream, const orr_cuda_mesh_scene *scene);
// record_firsts: their prefix sum. Records beyond record_capacity are left out; control->records_needed
// counts all
void orr_cuda_meshes_records(cudaStream_t stream, const orr_cuda_mesh_scene *scene);

typedef enum orr_cuda_mesh_pass {
    ORR_CUDA_MESH_SAMPLES,         // sample_keys of opaque records; all ones before
    ORR_CUDA_MESH_NEAREST,         // nearest of opaque records; all ones before
    ORR_CUDA_MESH_COUNT_FRAGMENTS, // fragment_counts of transparent ones; 0 before
    ORR_CUDA_MESH_FILL_FRAGMENTS   // sources, at fragment_starts + the remaining fragment_counts
} orr_cuda_mesh_pass;
void orr_cuda_meshes_raster_small(cudaStream_t stream, const orr_cuda_mesh_scene *scene,
                                  orr_cuda_mesh_pass pass);
// tile_firsts: their prefix sum. warps: how many share the tiles
void orr_cuda_meshes_raster_large(cudaStream_t stream, const orr_cuda_mesh_scene *scene,
                                  orr_cuda_mesh_pass pass, unsigned int warps);
// The depth of the nearest records alone, height x width.
void orr_cuda_meshes_keep_depth(cudaStream_t stream, const orr_cuda_mesh_scene *scene, float *depth);
// The occlusion of a scene whose occlusion.depth is known.
void orr_cuda_meshes_occlude(cudaStream_t stream, const orr_cuda_mesh_scene *scene);
void orr_cuda_meshes_shade(cudaStream_t stream, const orr_cuda_mesh_scene *scene);
// Pixels with edges: edge_of.
void orr_cuda_meshes_mark_edges(cudaStream_t stream, const orr_cuda_mesh_scene *scene);
// Their samples: `edges`; then depth and colour are as orr_mesh_picture says of such pixels.
void orr_cuda_meshes_shade_samples(cudaStream_t stream, const orr_cuda_mesh_scene *scene);
// Drops all fragments when there are more than fragment_capacity; control->fragments_needed counts them.
void orr_cuda_meshes_check_fragments(cudaStream_t stream, const orr_cuda_mesh_scene *scene);
void orr_cuda_meshes_shade_fragments(cudaStream_t stream, const orr_cuda_mesh_scene *scene);
