#define ORR_SCALAR
#include "neural/fields/draw.h"

#include "engine/maths/vector.h"
#include "neural/fields/field_formula.h"

#include <math.h>
#include <string.h>

enum { TILE = ORR_FIELD_TILE, TILE_RAYS = TILE * TILE };

typedef struct ray {
    real3 origin, direction; // in the unit cube's space
    float t, end;            // along the direction, whose length is 1 but where the world is stretched
    float length;            // of the direction
    float per_distance;      // depth along the camera's axis per t
    field_pixel light;       // sums over samples; depth: of t
} ray;

typedef struct tile {
    const orr_field_drawing *drawing;
    float *scratch; // of the field's functions
    ray rays[TILE_RAYS];
    int live[TILE_RAYS], live_count;
} tile;

static real3 vector_of(const float v[3])
{
    return make_real3(v[0], v[1], v[2]);
}

// A ray between two depths.
static ray begin_ray(const orr_camera_ray *from, float near_depth, float far_depth)
{
    const float *v = from->direction;
    const real2 range = ray_depth_range(near_depth, far_depth, from->depth);
    return (ray){.origin = vector_of(from->origin),
                 .direction = vector_of(from->direction),
                 .t = range.x,
                 .end = range.y,
                 .length = sqrtf(vec3f_dot(v, v)),
                 .per_distance = from->depth,
                 .light = field_nothing(0.0f)};
}

// The ray of pixel (x, y), between the camera's planes, beyond near_depth, and in front of the mesh in
// far_depth.
static ray make_ray(const orr_field_drawing *d, int x, int y)
{
    const orr_ray_camera *camera = &d->camera;
    orr_camera_ray from = orr_ray_camera_ray(camera, (float)x + 0.5f, (float)y + 0.5f);
    const size_t pixel = (size_t)y * (size_t)camera->width + (size_t)x;
    float near_depth = camera->near_plane, far_depth = camera->far_plane;
    if (d->desc.near_depth) {
        near_depth = fmaxf(near_depth, d->desc.near_depth[pixel]);
    }
    if (d->desc.far_depth) {
        far_depth = fminf(far_depth, d->desc.far_depth[pixel]);
    }
    return begin_ray(&from, near_depth, far_depth);
}

// The positions of up to a block of live rays, from number `first` on; how many.
static int gather(const tile *t, int first, float *positions)
{
    int count = t->live_count - first < ORR_SAMPLES ? t->live_count - first : ORR_SAMPLES;
    for (int i = 0; i < ORR_SAMPLES; i++) {
        const ray *r = &t->rays[t->live[first + (i < count ? i : 0)]];
        real3 position = field_position(r->origin, r->direction, r->t);
        positions[i] = position.x;
        positions[ORR_SAMPLES + i] = position.y;
        positions[2 * ORR_SAMPLES + i] = position.z;
    }
    return count;
}

// Keeps the live rays for which their end is not reached.
static void drop_ended(tile *t)
{
    int kept = 0;
    for (int i = 0; i < t->live_count; i++) {
        const ray *r = &t->rays[t->live[i]];
        if (r->t < r->end) {
            t->live[kept++] = t->live[i];
        }
    }
    t->live_count = kept;
}

// ---- signed distances ----

static void shade_hits(tile *t, const int *hits, int count)
{
    const orr_field_drawing *d = t->drawing;
    const float *m = d->to_unit;
    const affine to_unit = {m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8], m[9], m[10], m[11]};
    _Alignas(ORR_ALIGNMENT) float positions[3 * ORR_SAMPLES], values[ORR_SAMPLES], gradients[3 * ORR_SAMPLES];
    memcpy(t->live, hits, (size_t)count * sizeof *hits);
    t->live_count = count;
    for (int first = 0; first < t->live_count; first += ORR_SAMPLES) {
        int block = gather(t, first, positions);
        orr_field_gradients(d->field, positions, t->scratch, values, gradients);
        for (int i = 0; i < block; i++) {
            ray *r = &t->rays[t->live[first + i]];
            real3 gradient =
                make_real3(gradients[i], gradients[ORR_SAMPLES + i], gradients[2 * ORR_SAMPLES + i]);
            float light = field_surface_light(to_unit, gradient, vector_of(d->desc.to_sun));
            r->light = field_add(r->light, 1.0f, make_real3(light, light, light), r->t, 1.0f);
        }
    }
}

static void trace_tile(tile *t)
{
    _Alignas(ORR_ALIGNMENT) float positions[3 * ORR_SAMPLES], values[ORR_SAMPLES];
    int hits[TILE_RAYS], hit_count = 0;
    for (int step = 0; step < FIELD_TRACE_STEPS && t->live_count > 0; step++) {
        for (int first = 0; first < t->live_count; first += ORR_SAMPLES) {
            int block = gather(t, first, positions);
            orr_field_values(t->drawing->field, positions, t->scratch, values);
            for (int i = 0; i < block; i++) {
                ray *r = &t->rays[t->live[first + i]];
                if (values[i] < (float)FIELD_HIT) {
                    hits[hit_count++] = t->live[first + i];
                    r->end = -INFINITY; // leaves the live ones
                } else {
                    r->t += field_trace_step(values[i], r->length);
                }
            }
        }
        drop_ended(t);
    }
    shade_hits(t, hits, hit_count);
}

// ---- volumes ----

static void march_tile(tile *t)
{
    _Alignas(ORR_ALIGNMENT) float positions[3 * ORR_SAMPLES], values[4 * ORR_SAMPLES];
    for (int i = 0; i < t->live_count; i++) {
        ray *r = &t->rays[t->live[i]];
        r->t = field_march_begin(r->t, r->length);
    }
    drop_ended(t);
    while (t->live_count > 0) {
        for (int first = 0; first < t->live_count; first += ORR_SAMPLES) {
            int block = gather(t, first, positions);
            orr_field_values(t->drawing->field, positions, t->scratch, values);
            for (int i = 0; i < block; i++) {
                ray *r = &t->rays[t->live[first + i]];
                real3 colour =
                    make_real3(field_clamp(values[ORR_SAMPLES + i]), field_clamp(values[2 * ORR_SAMPLES + i]),
                               field_clamp(values[3 * ORR_SAMPLES + i]));
                float weight = field_march_weight(r->light.alpha, values[i]);
                r->light = field_add(r->light, weight, colour, r->t, 1.0f);
                r->t = field_march_stops(r->light.alpha) ? INFINITY : r->t + field_march_step(r->length);
            }
        }
        drop_ended(t);
    }
}

// ---- images ----

static void map_tile(tile *t)
{
    _Alignas(ORR_ALIGNMENT) float positions[3 * ORR_SAMPLES], values[3 * ORR_SAMPLES];
    for (int first = 0; first < t->live_count; first += ORR_SAMPLES) {
        int block = gather(t, first, positions);
        orr_field_values(t->drawing->field, positions, t->scratch, values);
        for (int i = 0; i < block; i++) {
            ray *r = &t->rays[t->live[first + i]];
            real3 colour = make_real3(field_clamp(values[i]), field_clamp(values[ORR_SAMPLES + i]),
                                      field_clamp(values[2 * ORR_SAMPLES + i]));
            r->light = field_add(r->light, 1.0f, colour, r->t, 1.0f);
        }
    }
}

// ---- tiles ----

typedef struct tile_range {
    const orr_field_drawing *drawing;
    int first;
} tile_range;

// The tile's `count` rays, from where they begin to what they show.
static void follow_rays(tile *t, int count)
{
    const orr_field_kind kind = orr_field_kind_of(t->drawing->field);
    for (int i = 0; i < count; i++) {
        ray *r = &t->rays[i];
        real2 given = make_real2(r->t, r->end);
        real2 drawn = kind == ORR_FIELD_IMAGE ? field_meet_quad(r->origin, r->direction, given)
                                              : ray_inside(given, r->origin, r->direction, 0.5f);
        r->t = drawn.x;
        r->end = drawn.y;
        t->live[t->live_count++] = i;
    }
    drop_ended(t);
    if (kind == ORR_FIELD_IMAGE) {
        map_tile(t);
    } else if (kind == ORR_FIELD_SDF) {
        trace_tile(t);
    } else {
        march_tile(t);
    }
}

static void draw_tile(void *context, int job, int worker)
{
    const tile_range *range = context;
    const orr_field_drawing *d = range->drawing;
    const orr_lens *lens = d->desc.lens;
    int index = range->first + job, tiles_across = orr_blocks(lens->width, TILE);
    tile t = {.drawing = d, .scratch = d->scratch + (size_t)worker * d->scratch_floats};
    int left = index % tiles_across * TILE, top = index / tiles_across * TILE;
    int width = lens->width - left < TILE ? lens->width - left : TILE;
    int height = lens->height - top < TILE ? lens->height - top : TILE;
    for (int i = 0; i < width * height; i++) {
        t.rays[i] = make_ray(d, left + i % width, top + i / width);
    }
    follow_rays(&t, width * height);
    for (int i = 0; i < width * height; i++) {
        const ray *r = &t.rays[i];
        size_t pixel = (size_t)(top + i / width) * (size_t)lens->width + (size_t)(left + i % width);
        field_pixel p = field_resolve(r->light, r->per_distance);
        const float rgba[4] = {p.red, p.green, p.blue, p.alpha};
        memcpy(d->desc.rgba + 4 * pixel, rgba, sizeof rgba);
        if (d->desc.depth) {
            d->desc.depth[pixel] = p.alpha > 0.0f ? p.depth : 0.0f;
        }
    }
}

// per worker, whole cache lines
static orr_result take_scratch(orr_field_drawing *d, orr_jobs *jobs, orr_arena *arena, orr_error *error)
{
    d->scratch_floats = (orr_field_scratch_floats(d->field) + 15) / 16 * 16;
    d->scratch = orr_arena_take(arena, (size_t)orr_jobs_workers(jobs) * d->scratch_floats, sizeof(float));
    return d->scratch ? ORR_OK : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: drawing a field");
}

orr_result orr_field_draw_begin(const orr_field *field, orr_jobs *jobs, orr_arena *arena,
                                const orr_field_draw_desc *desc, orr_field_drawing *drawing, orr_error *error)
{
    assert(orr_field_kind_of(field) != ORR_FIELD_NERF);
    *drawing = (orr_field_drawing){.field = field, .desc = *desc};
    ORR_TRY(orr_affine_invert(desc->to_world, drawing->to_unit, error));
    ORR_TRY(orr_ray_camera_of_lens(desc->lens, drawing->to_unit, &drawing->camera, error));
    return take_scratch(drawing, jobs, arena, error);
}

void orr_field_draw_tiles(const orr_field_drawing *drawing, orr_jobs *jobs, int first, int count)
{
    tile_range range = {.drawing = drawing, .first = first};
    orr_jobs_for(jobs, count, draw_tile, &range);
}

orr_result orr_field_follow_begin(const orr_field *field, orr_jobs *jobs, orr_arena *arena,
                                  const float to_world[12], const float to_sun[3], orr_field_drawing *drawing,
                                  orr_error *error)
{
    *drawing = (orr_field_drawing){.field = field};
    memcpy(drawing->desc.to_world, to_world, sizeof drawing->desc.to_world);
    memcpy(drawing->desc.to_sun, to_sun, sizeof drawing->desc.to_sun);
    ORR_TRY(orr_affine_invert(to_world, drawing->to_unit, error));
    return take_scratch(drawing, jobs, arena, error);
}

void orr_field_follow(const orr_field_drawing *d, int worker, const orr_field_ray *rays, int count,
                      orr_field_seen *seen)
{
    assert(count <= TILE_RAYS);
    tile t = {.drawing = d, .scratch = d->scratch + (size_t)worker * d->scratch_floats};
    for (int i = 0; i < count; i++) {
        t.rays[i] = begin_ray(&rays[i].ray, rays[i].near_depth, rays[i].far_depth);
    }
    follow_rays(&t, count);
    for (int i = 0; i < count; i++) {
        const field_pixel p = field_resolve(t.rays[i].light, t.rays[i].per_distance);
        seen[i] = (orr_field_seen){{p.red, p.green, p.blue, p.alpha}, p.depth};
    }
}

orr_result orr_field_draw(const orr_field *field, orr_jobs *jobs, orr_arena *arena,
                          const orr_field_draw_desc *desc, orr_error *error)
{
    orr_field_drawing drawing;
    ORR_TRY(orr_field_draw_begin(field, jobs, arena, desc, &drawing, error));
    orr_field_draw_tiles(&drawing, jobs, 0, orr_field_tile_count(desc->lens->width, desc->lens->height));
    return ORR_OK;
}

// ---- the whole image ----

typedef struct picture {
    orr_field_drawing drawing;
    int width, height;
    float *rgba;
} picture;

void orr_field_pixel_centres(int width, int height, int64_t first, float *positions)
{
    int64_t count = (int64_t)width * height;
    for (int i = 0; i < ORR_SAMPLES; i++) {
        int64_t at = first + i < count ? first + i : count - 1;
        positions[i] = ((float)(at % width) + 0.5f) / (float)width;
        positions[ORR_SAMPLES + i] = ((float)(at / width) + 0.5f) / (float)height;
    }
}

static void fill_pixels(void *context, int block, int worker)
{
    const picture *p = context;
    _Alignas(ORR_ALIGNMENT) float positions[2 * ORR_SAMPLES], values[3 * ORR_SAMPLES];
    int64_t count = (int64_t)p->width * p->height, first = (int64_t)block * ORR_SAMPLES;
    orr_field_pixel_centres(p->width, p->height, first, positions);
    orr_field_values(p->drawing.field, positions,
                     p->drawing.scratch + (size_t)worker * p->drawing.scratch_floats, values);
    for (int i = 0; i < ORR_SAMPLES && first + i < count; i++) {
        float *pixel = p->rgba + 4 * (first + i);
        for (int k = 0; k < 3; k++) {
            pixel[k] = field_clamp(values[k * ORR_SAMPLES + i]);
        }
        pixel[3] = 1.0f;
    }
}

orr_result orr_field_picture(const orr_field *field, orr_jobs *jobs, orr_arena *arena, int width, int height,
                             float *rgba, orr_error *error)
{
    assert(orr_field_kind_of(field) == ORR_FIELD_IMAGE && width > 0 && height > 0);
    picture p = {.drawing = {.field = field}, .width = width, .height = height, .rgba = rgba};
    ORR_TRY(take_scratch(&p.drawing, jobs, arena, error));
    orr_jobs_for(jobs, orr_blocks((int64_t)width * height, ORR_SAMPLES), fill_pixels, &p);
    return ORR_OK;
}
