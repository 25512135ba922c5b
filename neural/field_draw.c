#define ORR_SCALAR
#include "neural/field_draw.h"

#include <math.h>
#include <string.h>

enum {
    TILE = ORR_FIELD_TILE,
    TILE_RAYS = TILE * TILE,
    TRACE_STEPS = 128,
    MARCH_STEPS = 256 // through the unit cube along an axis
};

static const float HIT = 2e-4f;       // of the cube's side: nearer than this is on the surface
static const float STEP_SHARE = 0.9f; // of the distance: a learnt one may be too long
static const float OPEN_MIN = 1e-3f;  // a ray with less light left is full
static const float SKY = 0.35f, SUN = 0.65f, ALBEDO = 0.85f;

typedef struct ray {
    float origin[3], direction[3]; // in the unit cube's space; t is the depth along the camera's axis
    float t, end;
    float length; // of the direction
    float colour[3], alpha, depth;
} ray;

typedef struct tile {
    const orr_field_drawing *drawing;
    float *scratch; // of the field's functions
    ray rays[TILE_RAYS];
    int live[TILE_RAYS], live_count;
} tile;

static void turn(const float m[12], const float v[3], float out[3])
{
    for (int row = 0; row < 3; row++) {
        out[row] = m[4 * row] * v[0] + m[4 * row + 1] * v[1] + m[4 * row + 2] * v[2];
    }
}

static float length3(const float v[3])
{
    return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

// The rays of pixel (x, y): depth along the camera's axis grows by 1 with t.
static ray make_ray(const orr_field_drawing *d, int x, int y)
{
    const orr_lens *lens = d->desc.lens;
    float across = ((float)x + 0.5f - lens->centre[0]) / lens->focal[0];
    float down = ((float)y + 0.5f - lens->centre[1]) / lens->focal[1];
    if (lens->distorted) {
        real2 p = lens_undistort(d->distortion, make_real2(across, down));
        across = p.x;
        down = p.y;
    }
    float forward[3], place[3], direction[3];
    for (int k = 0; k < 3; k++) { // the rows of the view are the camera's axes in the world
        float axes = across * lens->view[k] + down * lens->view[4 + k];
        forward[k] = lens->view[8 + k] + (lens->orthographic ? 0.0f : axes);
        place[k] = lens->place[k] + (lens->orthographic ? axes : 0.0f);
    }
    ray r = {.t = lens->near_plane, .end = lens->far_plane};
    turn(d->to_unit, place, r.origin);
    turn(d->to_unit, forward, direction);
    for (int k = 0; k < 3; k++) {
        r.origin[k] += d->to_unit[4 * k + 3];
        r.direction[k] = direction[k];
    }
    r.length = length3(r.direction);
    if (d->desc.far_depth) {
        r.end = fminf(r.end, d->desc.far_depth[(size_t)y * (size_t)lens->width + (size_t)x]);
    }
    return r;
}

// Cuts the ray to the unit cube.
static void clip(ray *r)
{
    for (int k = 0; k < 3; k++) {
        if (fabsf(r->direction[k]) < 1e-12f) {
            r->end = r->origin[k] >= 0.0f && r->origin[k] <= 1.0f ? r->end : -INFINITY;
            continue;
        }
        float a = -r->origin[k] / r->direction[k], b = (1.0f - r->origin[k]) / r->direction[k];
        r->t = fmaxf(r->t, fminf(a, b));
        r->end = fminf(r->end, fmaxf(a, b));
    }
}

static float held(float v)
{
    return fminf(fmaxf(v, 0.0f), 1.0f);
}

// The places of up to a block of live rays, from number `first` on; how many.
static int gather(const tile *t, int first, float *places)
{
    int count = t->live_count - first < ORR_SAMPLES ? t->live_count - first : ORR_SAMPLES;
    for (int i = 0; i < ORR_SAMPLES; i++) {
        const ray *r = &t->rays[t->live[first + (i < count ? i : 0)]];
        for (int k = 0; k < 3; k++) {
            places[k * ORR_SAMPLES + i] = held(r->origin[k] + r->t * r->direction[k]);
        }
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
    _Alignas(ORR_ALIGNMENT) float places[3 * ORR_SAMPLES], values[ORR_SAMPLES], gradients[3 * ORR_SAMPLES];
    memcpy(t->live, hits, (size_t)count * sizeof *hits);
    t->live_count = count;
    for (int first = 0; first < t->live_count; first += ORR_SAMPLES) {
        int block = gather(t, first, places);
        orr_field_gradients(d->field, places, t->scratch, values, gradients);
        for (int i = 0; i < block; i++) {
            ray *r = &t->rays[t->live[first + i]];
            float normal[3] = {0.0f, 0.0f,
                               0.0f}; // a gradient goes to the world by the transpose of the way back
            for (int k = 0; k < 3; k++) {
                for (int row = 0; row < 3; row++) {
                    normal[k] += d->to_unit[4 * row + k] * gradients[row * ORR_SAMPLES + i];
                }
            }
            float length = length3(normal), facing = 0.0f;
            for (int k = 0; k < 3; k++) {
                facing += length > 0.0f ? normal[k] / length * d->desc.to_sun[k] : 0.0f;
            }
            float light = ALBEDO * (SKY * (0.75f + 0.25f * facing) + SUN * fmaxf(facing, 0.0f));
            for (int k = 0; k < 3; k++) {
                r->colour[k] = light;
            }
            r->alpha = 1.0f;
            r->depth = r->t;
        }
    }
}

static void trace_tile(tile *t)
{
    _Alignas(ORR_ALIGNMENT) float places[3 * ORR_SAMPLES], values[ORR_SAMPLES];
    int hits[TILE_RAYS], hit_count = 0;
    for (int step = 0; step < TRACE_STEPS && t->live_count > 0; step++) {
        for (int first = 0; first < t->live_count; first += ORR_SAMPLES) {
            int block = gather(t, first, places);
            orr_field_values(t->drawing->field, places, t->scratch, values);
            for (int i = 0; i < block; i++) {
                ray *r = &t->rays[t->live[first + i]];
                if (values[i] < HIT) {
                    hits[hit_count++] = t->live[first + i];
                    r->end = -INFINITY; // leaves the live ones
                } else {
                    r->t += STEP_SHARE * values[i] / r->length;
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
    _Alignas(ORR_ALIGNMENT) float places[3 * ORR_SAMPLES], values[4 * ORR_SAMPLES];
    const float step = 1.0f / MARCH_STEPS;
    for (int i = 0; i < t->live_count; i++) {
        t->rays[t->live[i]].t += 0.5f * step / t->rays[t->live[i]].length;
    }
    drop_ended(t);
    while (t->live_count > 0) {
        for (int first = 0; first < t->live_count; first += ORR_SAMPLES) {
            int block = gather(t, first, places);
            orr_field_values(t->drawing->field, places, t->scratch, values);
            for (int i = 0; i < block; i++) {
                ray *r = &t->rays[t->live[first + i]];
                float share = (1.0f - r->alpha) * (1.0f - expf(-fmaxf(values[i], 0.0f) * step));
                for (int k = 0; k < 3; k++) {
                    r->colour[k] += share * held(values[(k + 1) * ORR_SAMPLES + i]);
                }
                r->depth += share * r->t;
                r->alpha += share;
                r->t = 1.0f - r->alpha < OPEN_MIN ? INFINITY : r->t + step / r->length;
            }
        }
        drop_ended(t);
    }
    for (int i = 0; i < TILE_RAYS; i++) {
        t->rays[i].depth /= fmaxf(t->rays[i].alpha, 1e-20f);
    }
}

// ---- images ----

static void map_tile(tile *t)
{
    _Alignas(ORR_ALIGNMENT) float places[3 * ORR_SAMPLES], values[3 * ORR_SAMPLES];
    for (int first = 0; first < t->live_count; first += ORR_SAMPLES) {
        int block = gather(t, first, places);
        orr_field_values(t->drawing->field, places, t->scratch, values);
        for (int i = 0; i < block; i++) {
            ray *r = &t->rays[t->live[first + i]];
            for (int k = 0; k < 3; k++) {
                r->colour[k] = held(values[k * ORR_SAMPLES + i]);
            }
            r->alpha = 1.0f;
            r->depth = r->t;
        }
    }
}

// Moves the ray to where it meets the quad, or ends it.
static void meet_quad(ray *r)
{
    float t = fabsf(r->direction[2]) < 1e-12f ? -INFINITY : -r->origin[2] / r->direction[2];
    bool inside = t >= r->t && t < r->end;
    for (int k = 0; k < 2; k++) {
        float at = r->origin[k] + t * r->direction[k];
        inside = inside && at >= 0.0f && at <= 1.0f;
    }
    r->t = inside ? t : INFINITY;
}

// ---- tiles ----

typedef struct tile_range {
    const orr_field_drawing *drawing;
    int first;
} tile_range;

static void draw_tile(void *context, int job, int worker)
{
    const tile_range *range = context;
    const orr_field_drawing *d = range->drawing;
    const orr_lens *lens = d->desc.lens;
    int index = range->first + job, tiles_across = orr_blocks(lens->width, TILE);
    orr_field_kind kind = orr_field_kind_of(d->field);
    tile t = {.drawing = d, .scratch = d->scratch + (size_t)worker * d->scratch_floats};
    int left = index % tiles_across * TILE, top = index / tiles_across * TILE;
    int width = lens->width - left < TILE ? lens->width - left : TILE;
    int height = lens->height - top < TILE ? lens->height - top : TILE;
    for (int i = 0; i < width * height; i++) {
        t.rays[i] = make_ray(d, left + i % width, top + i / width);
        if (kind == ORR_FIELD_IMAGE) {
            meet_quad(&t.rays[i]);
        } else {
            clip(&t.rays[i]);
        }
        t.live[t.live_count++] = i;
    }
    drop_ended(&t);
    if (kind == ORR_FIELD_IMAGE) {
        map_tile(&t);
    } else if (kind == ORR_FIELD_SDF) {
        trace_tile(&t);
    } else {
        march_tile(&t);
    }
    for (int i = 0; i < width * height; i++) {
        const ray *r = &t.rays[i];
        size_t pixel = (size_t)(top + i / width) * (size_t)lens->width + (size_t)(left + i % width);
        const float rgba[4] = {r->colour[0], r->colour[1], r->colour[2], r->alpha};
        memcpy(d->desc.rgba + 4 * pixel, rgba, sizeof rgba);
        if (d->desc.depth) {
            d->desc.depth[pixel] = r->alpha > 0.0f ? r->depth : 0.0f;
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
    *drawing =
        (orr_field_drawing){.field = field, .desc = *desc, .distortion = orr_photo_lens_of(desc->lens)};
    ORR_TRY(orr_affine_invert(desc->to_world, drawing->to_unit, error));
    return take_scratch(drawing, jobs, arena, error);
}

void orr_field_draw_tiles(const orr_field_drawing *drawing, orr_jobs *jobs, int first, int count)
{
    tile_range range = {.drawing = drawing, .first = first};
    orr_jobs_for(jobs, count, draw_tile, &range);
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

static void fill_pixels(void *context, int block, int worker)
{
    const picture *p = context;
    _Alignas(ORR_ALIGNMENT) float places[2 * ORR_SAMPLES], values[3 * ORR_SAMPLES];
    int64_t count = (int64_t)p->width * p->height, first = (int64_t)block * ORR_SAMPLES;
    for (int i = 0; i < ORR_SAMPLES; i++) {
        int64_t at = first + i < count ? first + i : count - 1;
        places[i] = ((float)(at % p->width) + 0.5f) / (float)p->width;
        places[ORR_SAMPLES + i] = ((float)(at / p->width) + 0.5f) / (float)p->height;
    }
    orr_field_values(p->drawing.field, places,
                     p->drawing.scratch + (size_t)worker * p->drawing.scratch_floats, values);
    for (int i = 0; i < ORR_SAMPLES && first + i < count; i++) {
        float *pixel = p->rgba + 4 * (first + i);
        for (int k = 0; k < 3; k++) {
            pixel[k] = held(values[k * ORR_SAMPLES + i]);
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
