// A neural field as a layer of the scene: its parts, its transform, and its drawing on the CPU.
#pragma once

#include "engine/core/memory.h"
#include "engine/maths/camera.h"
#include "neural/fields/draw.h"
#include "neural/ingp/ingp.h"
#include "neural/nerf/draw.h"

typedef struct orr_field_layer orr_field_layer;

// Loads a model file (.ingp, .msgpack), which the layer then owns.
orr_result orr_field_layer_load(const char *path, orr_jobs *jobs, orr_isa isa, orr_field_layer **layer,
                                orr_error *error);
// A field that the caller owns and may be training: drawn as of its last refresh. to_unit: from the
// layer's space to the field's, 3x4. Field and grid (NULL unless it is a radiance
// field) must outlive the layer.
orr_result orr_field_layer_borrow(const orr_field *field, const orr_occupancy *grid, const float to_unit[12],
                                  orr_jobs *jobs, orr_field_layer **layer, orr_error *error);
// The same with transform and picture size of a model.
orr_result orr_field_layer_borrow_model(const orr_field_model *model, const orr_occupancy *grid,
                                        orr_jobs *jobs, orr_field_layer **layer, orr_error *error);
void orr_field_layer_destroy(orr_field_layer *layer); // NULL is allowed

orr_field_kind orr_field_layer_kind(const orr_field_layer *layer);
// The size of the picture that an image was trained on [px]; 0, 0: the file does not say.
void orr_field_layer_picture_size(const orr_field_layer *layer, int size[2]);
// For machines that march it themselves: field and grid (NULL unless it is a radiance field), and the map
// from the world to the field's space when `model` maps the layer to the world.
const orr_field *orr_field_layer_field(const orr_field_layer *layer);
const orr_occupancy *orr_field_layer_grid(const orr_field_layer *layer);
orr_result orr_field_layer_to_unit(const orr_field_layer *layer, const float model[12],
                                   float world_to_unit[12], orr_error *error);
int64_t orr_field_layer_parameters(const orr_field_layer *layer);
size_t orr_field_layer_bytes(const orr_field_layer *layer);
// Bounds of what is visible, in the layer's space.
void orr_field_layer_bounds(const orr_field_layer *layer, float low[3], float high[3]);

// The picture of a layer: planes of the lens's size.
typedef struct orr_field_planes {
    // height x width: nothing at or beyond this depth is drawn (an opaque mesh); NULL: no bound
    const float *far_depth;
    const float *near_depth; // likewise: nothing before this depth; NULL: no bound
    float *rgba;             // height x width x 4, premultiplied
    float *depth;            // height x width, alpha-weighted mean along the camera's axis; 0: nothing
} orr_field_planes;

// Drawing of one layer in progress.
typedef struct orr_field_layer_drawing {
    const orr_field_layer *layer;
    orr_nerf_draw_desc nerf;
    orr_field_drawing other; // of the other kinds
} orr_field_layer_drawing;

// model: layer to world, a similarity. to_sun: unit, world; it lights signed distances. Lens and planes are
// borrowed, scratch comes from the arena.
orr_result orr_field_layer_begin(const orr_field_layer *layer, orr_jobs *jobs, orr_arena *arena,
                                 const orr_lens *lens, const float model[12], const float to_sun[3],
                                 const orr_field_planes *picture, orr_field_layer_drawing *drawing,
                                 orr_error *error);
// `count` of the picture's orr_field_tile_count tiles, from `first` on.
void orr_field_layer_draw_tiles(orr_field_layer_drawing *drawing, orr_jobs *jobs, int first, int count);

// Rays through a layer that are no picture's.
typedef struct orr_field_layer_rays {
    const orr_field_layer *layer;
    float world_to_unit[12];
    orr_field_drawing other; // of all kinds but radiance fields
} orr_field_layer_rays;

// As orr_field_layer_begin.
orr_result orr_field_layer_rays_begin(const orr_field_layer *layer, orr_jobs *jobs, orr_arena *arena,
                                      const float model[12], const float to_sun[3],
                                      orr_field_layer_rays *rays, orr_error *error);
// What `count` (up to ORR_FIELD_TILE^2) rays of the world show of it: unit directions, and a depth of 1 per
// distance. By the calling thread alone; worker: of the jobs, while no one else draws the layer as it.
void orr_field_layer_follow(const orr_field_layer_rays *through, int worker, const orr_field_ray *rays,
                            int count, orr_field_seen *seen);
