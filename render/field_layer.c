#include "render/field_layer.h"

#include "engine/maths/vector.h"

#include <math.h>
#include <string.h>

struct orr_field_layer {
    const orr_field *field;
    const orr_occupancy *grid; // NeRF
    float to_unit[12];         // layer's own space to the field's
    orr_nerf_drawer *drawer;   // NeRF
    float low[3], high[3];

    // what the layer owns; empty when it borrows
    orr_field_model model;
    orr_occupancy own_grid;
};

// The transform that a model file gives: a radiance field by to_unit, the others by origin and size, an image
// by its aspect. Without these the field fills the unit cube.
static void transform_of_model(const orr_field_model *model, float to_unit[12])
{
    double largest = 0.0;
    for (int i = 0; i < 12; i++) {
        largest = fmax(largest, fabs(model->to_unit[i]));
    }
    double per_unit = model->size > 0.0 ? 1.0 / model->size : 1.0;
    double aspect = model->width > 0 && model->height > 0 ? (double)model->width / model->height : 1.0;
    bool image = orr_field_kind_of(model->field) == ORR_FIELD_IMAGE;
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 4; column++) {
            double value = row == column ? (image && row == 0 ? 1.0 / aspect : per_unit)
                           : column == 3 ? -per_unit * model->origin[row]
                                         : 0.0;
            to_unit[4 * row + column] = (float)(largest > 0.0 ? model->to_unit[4 * row + column] : value);
        }
    }
}

// The box around the cells that are marched, from the field's space to the layer's.
static orr_result find_bounds(orr_field_layer *layer, orr_error *error)
{
    float from_unit[12];
    ORR_TRY(orr_affine_invert(layer->to_unit, from_unit, error));
    float low[3] = {0.0f, 0.0f, 0.0f}, high[3] = {1.0f, 1.0f, 1.0f};
    if (layer->grid && layer->grid->mean > 0.0f) {
        // the first cascade is what a capture is about; the others are its surroundings
        orr_occupancy_bounds(layer->grid, low, high);
    }
    for (int k = 0; k < 3; k++) {
        layer->low[k] = INFINITY;
        layer->high[k] = -INFINITY;
    }
    for (int corner = 0; corner < 8; corner++) {
        for (int k = 0; k < 3; k++) {
            const float *row = from_unit + 4 * k;
            float at = row[3];
            for (int j = 0; j < 3; j++) {
                at += row[j] * (corner >> j & 1 ? high[j] : low[j]);
            }
            layer->low[k] = fminf(layer->low[k], at);
            layer->high[k] = fmaxf(layer->high[k], at);
        }
    }
    return ORR_OK;
}

static orr_result finish(orr_field_layer *layer, orr_jobs *jobs, orr_error *error)
{
    if (orr_field_kind_of(layer->field) == ORR_FIELD_NERF) {
        ORR_TRY(orr_nerf_drawer_create(layer->field, jobs, &layer->drawer, error));
    }
    return find_bounds(layer, error);
}

// the grid of a file, or one in which every cell is marched
static orr_result take_grid(orr_field_layer *layer, orr_jobs *jobs, orr_error *error)
{
    layer->grid = &layer->own_grid;
    if (orr_field_describe(layer->field)->unbounded) {
        return ORR_OK; // marched by its proposal networks instead
    }
    ORR_TRY(orr_occupancy_create(orr_field_describe(layer->field)->aabb_scale, &layer->own_grid, error));
    if (layer->model.density_grid && layer->model.density_cells == layer->own_grid.cells) {
        memcpy(layer->own_grid.thickness, layer->model.density_grid,
               (size_t)layer->own_grid.cells * sizeof(float));
    }
    orr_occupancy_refresh(&layer->own_grid, jobs);
    return ORR_OK;
}

static orr_result load(orr_field_layer *layer, const char *path, orr_jobs *jobs, orr_isa isa,
                       orr_error *error)
{
    orr_mlp_machine machine;
    ORR_TRY(orr_mlp_machine_choose(isa, &machine, error));
    ORR_TRY(orr_field_model_load(path, isa, machine, &layer->model, error));
    layer->field = layer->model.field;
    transform_of_model(&layer->model, layer->to_unit);
    if (orr_field_kind_of(layer->field) == ORR_FIELD_NERF) {
        ORR_TRY(take_grid(layer, jobs, error));
    }
    return finish(layer, jobs, error);
}

orr_result orr_field_layer_load(const char *path, orr_jobs *jobs, orr_isa isa, orr_field_layer **out,
                                orr_error *error)
{
    *out = NULL;
    orr_field_layer *layer = orr_alloc_zero(1, sizeof *layer);
    if (!layer) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "%s: out of memory", path);
    }
    orr_result result = load(layer, path, jobs, isa, error);
    if (result != ORR_OK) {
        orr_field_layer_destroy(layer);
        return result;
    }
    *out = layer;
    return ORR_OK;
}

orr_result orr_field_layer_borrow(const orr_field *field, const orr_occupancy *grid, const float to_unit[12],
                                  orr_jobs *jobs, orr_field_layer **out, orr_error *error)
{
    *out = NULL;
    orr_field_layer *layer = orr_alloc_zero(1, sizeof *layer);
    if (!layer) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a field");
    }
    layer->field = field;
    layer->grid = grid;
    memcpy(layer->to_unit, to_unit, sizeof layer->to_unit);
    orr_result result = finish(layer, jobs, error);
    if (result != ORR_OK) {
        orr_field_layer_destroy(layer);
        return result;
    }
    *out = layer;
    return ORR_OK;
}

orr_result orr_field_layer_borrow_model(const orr_field_model *model, const orr_occupancy *grid,
                                        orr_jobs *jobs, orr_field_layer **out, orr_error *error)
{
    float to_unit[12];
    transform_of_model(model, to_unit);
    ORR_TRY(orr_field_layer_borrow(model->field, grid, to_unit, jobs, out, error));
    (*out)->model.width = model->width;
    (*out)->model.height = model->height;
    return ORR_OK;
}

void orr_field_layer_destroy(orr_field_layer *layer)
{
    if (layer) {
        orr_nerf_drawer_destroy(layer->drawer);
        orr_occupancy_destroy(&layer->own_grid);
        orr_field_model_free(&layer->model);
        orr_free(layer);
    }
}

void orr_field_layer_picture_size(const orr_field_layer *layer, int size[2])
{
    size[0] = layer->model.width;
    size[1] = layer->model.height;
}

orr_field_kind orr_field_layer_kind(const orr_field_layer *layer)
{
    return orr_field_kind_of(layer->field);
}

const orr_field *orr_field_layer_field(const orr_field_layer *layer)
{
    return layer->field;
}

const orr_occupancy *orr_field_layer_grid(const orr_field_layer *layer)
{
    return layer->grid;
}

int64_t orr_field_layer_parameters(const orr_field_layer *layer)
{
    return orr_field_parameter_count(layer->field);
}

size_t orr_field_layer_bytes(const orr_field_layer *layer)
{
    size_t bytes = (size_t)orr_field_layer_parameters(layer) * sizeof(float);
    return bytes + (layer->grid ? (size_t)layer->grid->cells * sizeof(float) : 0);
}

void orr_field_layer_bounds(const orr_field_layer *layer, float low[3], float high[3])
{
    memcpy(low, layer->low, sizeof layer->low);
    memcpy(high, layer->high, sizeof layer->high);
}

orr_result orr_field_layer_to_unit(const orr_field_layer *layer, const float model[12],
                                   float world_to_unit[12], orr_error *error)
{
    float to_layer[12];
    ORR_TRY(orr_affine_invert(model, to_layer, error));
    orr_affine_multiply(layer->to_unit, to_layer, world_to_unit);
    return ORR_OK;
}

orr_result orr_field_layer_begin(const orr_field_layer *layer, orr_jobs *jobs, orr_arena *arena,
                                 const orr_lens *lens, const float model[12], const float to_sun[3],
                                 const orr_field_planes *picture, orr_field_layer_drawing *drawing,
                                 orr_error *error)
{
    float world_to_unit[12];
    ORR_TRY(orr_field_layer_to_unit(layer, model, world_to_unit, error));
    *drawing = (orr_field_layer_drawing){.layer = layer};
    if (layer->drawer) {
        drawing->nerf = (orr_nerf_draw_desc){.far_depth = picture->far_depth,
                                             .near_depth = picture->near_depth,
                                             .rgba = picture->rgba,
                                             .depth = picture->depth};
        return orr_ray_camera_of_lens(lens, world_to_unit, &drawing->nerf.camera, error);
    }
    orr_field_draw_desc desc = {.lens = lens,
                                .to_sun = {to_sun[0], to_sun[1], to_sun[2]},
                                .far_depth = picture->far_depth,
                                .near_depth = picture->near_depth,
                                .rgba = picture->rgba,
                                .depth = picture->depth};
    ORR_TRY(orr_affine_invert(world_to_unit, desc.to_world, error));
    return orr_field_draw_begin(layer->field, jobs, arena, &desc, &drawing->other, error);
}

void orr_field_layer_draw_tiles(orr_field_layer_drawing *drawing, orr_jobs *jobs, int first, int count)
{
    const orr_field_layer *layer = drawing->layer;
    if (layer->drawer) {
        drawing->nerf.first_tile = first;
        drawing->nerf.tile_count = count;
        orr_nerf_draw(layer->drawer, layer->grid, &drawing->nerf);
    } else {
        orr_field_draw_tiles(&drawing->other, jobs, first, count);
    }
}

// ---- rays ----

enum { RAYS = ORR_FIELD_TILE * ORR_FIELD_TILE };
_Static_assert((int)RAYS <= (int)ORR_NERF_RAYS, "a bundle holds them");

orr_result orr_field_layer_rays_begin(const orr_field_layer *layer, orr_jobs *jobs, orr_arena *arena,
                                      const float model[12], const float to_sun[3],
                                      orr_field_layer_rays *rays, orr_error *error)
{
    float to_world[12];
    *rays = (orr_field_layer_rays){.layer = layer};
    ORR_TRY(orr_field_layer_to_unit(layer, model, rays->world_to_unit, error));
    if (layer->drawer) {
        return ORR_OK;
    }
    ORR_TRY(orr_affine_invert(rays->world_to_unit, to_world, error));
    return orr_field_follow_begin(layer->field, jobs, arena, to_world, to_sun, &rays->other, error);
}

void orr_field_layer_follow(const orr_field_layer_rays *through, int worker, const orr_field_ray *rays,
                            int count, orr_field_seen *seen)
{
    assert(count <= RAYS);
    const orr_field_layer *layer = through->layer;
    orr_field_ray moved[RAYS];
    for (int i = 0; i < count; i++) {
        orr_camera_ray *to = &moved[i].ray;
        moved[i] = rays[i];
        affine_apply_to_point(through->world_to_unit, rays[i].ray.origin, to->origin);
        affine_apply_to_direction(through->world_to_unit, rays[i].ray.direction, to->direction);
        const float stretch = sqrtf(vec3f_dot(to->direction, to->direction));
        for (int k = 0; k < 3; k++) {
            to->direction[k] /= stretch;
        }
        to->depth = rays[i].ray.depth / stretch;
    }
    if (layer->drawer) {
        orr_nerf_follow(layer->drawer, layer->grid, worker, moved, count, seen);
    } else {
        orr_field_follow(&through->other, worker, moved, count, seen);
    }
}
