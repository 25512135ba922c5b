// The stages of the mesh rasteriser and the data that they pass on.
//
//     vertices  lanes over vertices      camera space, screen position, which bounds they exceed
//     cull      lanes over triangles     drops those that cannot cover a pixel centre
//     set up    per triangle             cuts at the view's bounds, orients, plane of nearness
//     bin       per group of triangles   lists for each tile, in drawing order
//     tile      lanes over pixels        nearest opaque triangle per pixel, then shades each pixel once
//     mark      lanes over pixels        which pixels have edges
//     slivers   per triangle             sets up those that cover no centre but samples of such pixels; bins
//     samples   lanes over such pixels   nearest opaque triangle of each sample; shades them
//     count     lanes over pixels        transparent triangles in front of it
//     fill      lanes over pixels        their fragments, each pixel's from front to back, and shades them
//
// The forms of a triangle between the stages, and their mathematics, are in mesh_triangle.h.
#pragma once

#include "engine/core/isa.h"
#include "render/cpu/mesh_raster.h"
#include "render/cpu/rays/ray_trees.h"
#include "render/field_light/field_light.h"
#include "render/mesh_triangle.h"

enum {
    MESH_TILE = 64,               // [px] a multiple of the lanes
    MESH_CHUNK = 2048,            // triangles of a job at least
    MESH_CHUNKS = 512,            // jobs of a part at most
    MESH_GROUPS = 32,             // jobs that bin
    MESH_RECORDS = INT32_MAX / 16 // lanes gather with 32-bit offsets in words
};

// One mesh of the list.
typedef struct mesh_instance {
    const orr_mesh *mesh;
    float to_camera[12];
    bool backdrop;      // unlit, and behind everything
    bool ends;          // endless, where there is haze
    int environment;    // of orr_draw_mesh
    mesh_point *points; // vertex_count
    // Where rays are cast at what the mesh approximates (mesh_round.c): it has one record, whose corners span
    // the rectangle that it may cover. NULL: the mesh is drawn
    const orr_round *round;
    float from_camera[12]; // to the space of `round`
    // in the picture before; NULL: not known
    const orr_mesh_vertex *vertices_before;
    float to_camera_before[12];
} mesh_instance;

typedef struct mesh_texture {
    const orr_image8 *image; // NULL: there is none
    orr_mesh_coordinates coordinates;
    orr_texture_sampler sampler;
    int level_count;
    int32_t level_first[ORR_MIP_LEVELS]; // texel at which a level begins
} mesh_texture;

// A part of an instance: everything that is the same for its pixels.
typedef struct mesh_surface {
    const mesh_instance *instance;
    const orr_mesh_material *material;
    // what is asked for each of its triangles is in one cache line
    bool blended, two_sided; // as the list draws its material
    bool backdrop;           // of the instance
    bool holes;              // where alpha is low, or where the instance ends
    bool round;              // rays are cast at it
    mesh_texture textures[ORR_TEXTURE_USES];
    mesh_texture latents[2];          // of a material that is a network
    const orr_mirror_picture *mirror; // what it shows; NULL: it does not mirror
    bool traced;                      // rays start at its pixels
    bool film;                        // is glass that is drawn so (render/glass/glass_film.h)
    orr_glass_look look;              // of a film
} mesh_surface;

// What the rays of smooth surfaces need of a frame.
typedef struct ray_view {
    const orr_ray_trees *trees; // NULL: there are none
    orr_field_rays *fields;     // NULL: there are none
    orr_field_light_job lit;    // new lamps on them; lamps NULL: there are none
    float to_world[12];         // from the camera
    int first_surface;          // of the meshes of the list: after that of the backdrop
    int far;                    // the environment that is infinitely far away; -1: none
    bool glass;                 // light goes through a surface of the list
    bool frost;                 // through a rough one
    bool shows_sky;             // where that meets nothing
    orr_sky_values sky;
} ray_view;

// A run of triangles of one surface: the work of one cull or setup job.
typedef struct mesh_chunk {
    int surface;
    uint32_t first; // triangle of the mesh
    uint32_t count;
    uint32_t *kept; // count: triangles that cull kept, and from the end those that can only cover samples
    uint32_t kept_count;
    uint32_t cut_count; // of these must be cut
    uint32_t sliver_count;
    uint32_t record_first;
    uint32_t record_count;
    uint32_t bin_first; // of its records, the first that is binned next
} mesh_chunk;

// Lists of records for each tile, in drawing order.
typedef struct mesh_bins {
    uint32_t *group_bins; // MESH_GROUPS x tiles: how many, then where the group writes next
    uint32_t *starts;     // tiles + 1
    uint32_t *records;
} mesh_bins;

// The nearest opaque triangle of each pixel of a tile; later its depth, and the number of fragments in front
// of it.
typedef struct mesh_tile {
    union {
        float nearness[MESH_TILE * MESH_TILE];
        float depth[MESH_TILE * MESH_TILE];
    };
    union {
        int32_t record[MESH_TILE * MESH_TILE]; // -1: none
        int32_t count[MESH_TILE * MESH_TILE];
    };
} mesh_tile;

// Points of a tile that are shaded later (mesh_shade_list_cpu.h).
typedef struct mesh_listed_point {
    int32_t record;
    float x, y;     // [px]
    float part;     // of a pixel's width, that its rays are wide
    int32_t to;     // where its colour goes
    int32_t before; // the point of the same surface that was listed before; -1: none
} mesh_listed_point;

enum { MESH_LISTED = 4 * MESH_TILE * MESH_TILE };
typedef struct mesh_shade_list {
    int count, surface_count;
    mesh_listed_point points[MESH_LISTED];
    int32_t surfaces[MESH_LISTED]; // those that have points
    int32_t *last;                 // for each surface of the raster its newest point; -1: none
} mesh_shade_list;

// The samples of a tile's pixels with edges, which are numbered in the order of their bits.
enum { MESH_EDGES = MESH_TILE * MESH_TILE + 16 }; // with what vectors read and write past the last
typedef struct mesh_edges {
    uint64_t rows[MESH_TILE];                    // the bits of the tile's rows
    int32_t row_first[MESH_TILE];                // number of each row's first pixel
    int32_t column[MESH_EDGES], row[MESH_EDGES]; // within the tile
    // sample s of pixel i at 4 i + s:
    int32_t sample_column[4 * MESH_EDGES]; // of its pixel
    float nearness[4 * MESH_EDGES];
    int32_t record[4 * MESH_EDGES]; // -1: none
    float rgb[3][4 * MESH_EDGES];   // but at s * MESH_EDGES + i
} mesh_edges;

// The triangle and the column of a fragment.
typedef struct mesh_fragment_source {
    int32_t record, x;
} mesh_fragment_source;

typedef struct mesh_raster {
    orr_lens lens;
    orr_draw_lighting lighting;
    const orr_draw_environment *environments; // of the list
    const orr_shadow_maps *shadows;           // nullable
    ray_view rays;
    orr_mesh_picture picture;
    bool blended;                  // some surface is
    bool only_traced;              // of the list
    uint32_t *fragment_starts;     // height x width + 1; before they are summed up, counts
    orr_fragment *fragments;       // each pixel's from front to back
    mesh_fragment_source *sources; // of the fragments
    mesh_instance *instances;      // instance_count
    int instance_count;
    mesh_surface *surfaces;
    int surface_count;
    mesh_chunk *chunks;
    int chunk_count;
    mesh_record *records;  // with gaps between chunks
    int32_t *group_chunks; // MESH_GROUPS + 1: first chunk of each group
    int columns, rows;     // of tiles
    mesh_bins bins, sliver_bins;
    float *linear;           // 256: display byte to linear light
    mesh_tile **scratch;     // per worker
    mesh_shade_list **lists; // per worker
    // with edges alone:
    int32_t *nearest;    // height x width, with MESH_TILE more at either end: record of each pixel; -1: none
    int32_t *met;        // likewise, where rays start: a key of what each pixel's rays meet (shade_points)
    float *frosted;      // 3 planes: colours of frosted pixels (rays/frost_filter.h); NULL: there are none
    uint64_t *ray_bits;  // likewise, as edge_bits: edges in what rays meet, whose samples have a ray each
    uint64_t *edge_bits; // of orr_edge_list, whose words are the rows of tiles
    uint32_t *edge_firsts;
    orr_edge_pixel *edge_pixels;
    mesh_edges **edges; // per worker
} mesh_raster;

typedef struct mesh_lanes {
    void (*linear_table)(float linear[256]);
    void (*vertices)(const mesh_raster *raster, const mesh_instance *instance, int64_t first, int64_t count);
    void (*cull)(const mesh_raster *raster, mesh_chunk *chunk);
    void (*tile)(const mesh_raster *raster, int tile, mesh_tile *scratch, mesh_shade_list *list);
    void (*count)(const mesh_raster *raster, int tile, mesh_tile *scratch);
    void (*fill)(const mesh_raster *raster, int tile, mesh_tile *scratch);
} mesh_lanes;

extern const mesh_lanes orr_mesh_lanes_baseline, orr_mesh_lanes_avx2, orr_mesh_lanes_avx512;

typedef struct mesh_edge_lanes {
    void (*mark)(const mesh_raster *raster, int tile);
    void (*samples)(const mesh_raster *raster, int tile, mesh_edges *scratch, mesh_shade_list *list);
} mesh_edge_lanes;

extern const mesh_edge_lanes orr_mesh_edge_lanes_baseline, orr_mesh_edge_lanes_avx2,
    orr_mesh_edge_lanes_avx512;

void orr_mesh_set_up(const mesh_raster *raster, mesh_chunk *chunk);
// Are rays cast at the item's round surface, whose `instance` otherwise is complete? Then it says so.
bool orr_mesh_is_round(const mesh_raster *raster, const orr_draw_mesh *item, const mesh_surface *surface,
                       mesh_instance *instance);
// The same as orr_mesh_set_up of the chunk of such a surface.
void orr_mesh_set_up_round(const mesh_raster *raster, mesh_chunk *chunk);
// Numbers the pixels with edges; returns how many.
uint32_t orr_mesh_number_edges(const mesh_raster *raster);
void orr_mesh_set_up_slivers(const mesh_raster *raster, mesh_chunk *chunk);
void orr_mesh_bin_count(const mesh_raster *raster, const mesh_bins *bins, int group);
void orr_mesh_bin_fill(const mesh_raster *raster, const mesh_bins *bins, int group);
// Turns counts of fragments into starts, and allocates the fragments.
orr_result orr_mesh_allocate_fragments(mesh_raster *raster, orr_arena *arena, orr_error *error);
