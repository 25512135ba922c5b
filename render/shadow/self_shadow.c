#define ORR_SCALAR
#include "render/shadow/self_shadow.h"

#include "engine/core/memory.h"
#include "engine/maths/camera.h"
#include "engine/maths/rotation.h"
#include "render/reference/field_rays.h"

#include <math.h>
#include <string.h>

enum { RIM = 4 };                  // [texels] around what is captured, and around a face's sixth of the sky
static const float BIAS = 4.0f;    // [texels]
static const float ENOUGH = 0.5f;  // of the light is kept off by what shadows others
static const float WIDEST = 80.0f; // [degrees] of a spot that has one map
_Static_assert((int)ORR_SELF_SHADOW_FACE % (int)ORR_FIELD_RAYS == 0 &&
                   (int)ORR_SELF_SHADOW_SIZE % (int)ORR_FIELD_RAYS == 0,
               "a row is a whole number of bundles");

typedef struct build {
    const orr_gaussians *clouds;
    const orr_gaussian_walk *walk;
    orr_field_rays *fields;  // NULL: there are none
    const orr_self_map *map; // that is made
    float from_light[12];
    float *found; // as its depths, before texels take those around them
    float *depths;
} build;

// ---- texels ----

// What fields show is among the splats, as in frames.
static float depth_on(const build *b, const orr_ray *ray, const orr_field_seen *field)
{
    orr_gaussian_met met[ORR_GAUSSIANS_MET], last;
    const float alpha = field->rgba[3];
    bool before = alpha > 0.0f; // the field is still ahead
    float passes = 1.0f;
    int count = b->clouds->bvh.block_count > 0 ? b->walk->first(b->clouds, ray, NULL, met) : 0;
    while (count > 0) {
        for (int i = 0; i < count; i++) {
            if (before && field->depth <= met[i].distance) {
                before = false;
                passes *= 1.0f - alpha;
                if (passes < ENOUGH) {
                    return field->depth;
                }
            }
            passes *= 1.0f - met[i].alpha;
            if (passes < ENOUGH) {
                return met[i].distance;
            }
        }
        last = met[count - 1];
        count = count == ORR_GAUSSIANS_MET ? b->walk->first(b->clouds, ray, &last, met) : 0;
    }
    return before && passes * (1.0f - alpha) < ENOUGH ? field->depth : INFINITY;
}

// A vector of a face's space in that of the light: shadow_turn of shadow_formula.h backwards.
static void turn_back(int face, const float v[3], float out[3])
{
    const int axis = face / 2;
    const float sign = face % 2 ? -1.0f : 1.0f;
    out[axis] = sign * v[2];
    out[(axis + 1) % 3] = sign * v[0];
    out[(axis + 2) % 3] = v[1];
}

// Through a texel. *cosine: the depth for a distance along it
static orr_ray ray_of(const build *b, int face, int column, int row, float *cosine)
{
    const orr_self_map *m = b->map;
    const float x = ((float)column + 0.5f - 0.5f * (float)m->size) / m->focal,
                y = ((float)row + 0.5f - 0.5f * (float)m->size) / m->focal;
    float at[3] = {x, y, 0.0f}, along[3] = {0.0f, 0.0f, 1.0f};
    orr_ray ray = {.near_end = 0.0f, .far_end = INFINITY};
    *cosine = 1.0f;
    if (!m->sun) {
        const float lens[3] = {x, y, 1.0f};
        *cosine = 1.0f / sqrtf(x * x + y * y + 1.0f);
        memset(at, 0, sizeof at);
        memcpy(along, lens, sizeof along);
        if (m->faces > 1) {
            turn_back(face, lens, along);
        }
        for (int k = 0; k < 3; k++) {
            along[k] *= *cosine;
        }
    }
    affine_apply_to_point(b->from_light, at, ray.origin);
    affine_apply_to_direction(b->from_light, along, ray.direction);
    return ray;
}

static void find_row(void *context, int row, int worker)
{
    (void)worker;
    const build *b = context;
    const int size = b->map->size;
    for (int first = 0; first < size; first += ORR_FIELD_RAYS) {
        orr_ray rays[ORR_FIELD_RAYS];
        float cosines[ORR_FIELD_RAYS];
        orr_field_seen seen[ORR_FIELD_RAYS] = {{.depth = INFINITY}};
        for (int i = 0; i < ORR_FIELD_RAYS; i++) {
            rays[i] = ray_of(b, row / size, first + i, row % size, &cosines[i]);
        }
        if (b->fields) {
            orr_field_rays_meet(b->fields, rays, ORR_FIELD_RAYS, seen);
        }
        for (int i = 0; i < ORR_FIELD_RAYS; i++) {
            b->found[row * size + first + i] = cosines[i] * depth_on(b, &rays[i], &seen[i]);
        }
    }
}

static void widen_row(void *context, int row, int worker)
{
    (void)worker;
    const build *b = context;
    const int size = b->map->size;
    const float texel = BIAS / b->map->focal; // of a lamp, at depth 1
    for (int column = 0; column < size; column++) {
        float farthest = 0.0f;
        for (int k = 0; k < 9; k++) {
            const int x = column + k % 3 - 1, y = row % size + k / 3 - 1;
            const bool inside = x >= 0 && x < size && y >= 0 && y < size;
            farthest = fmaxf(farthest, inside ? b->found[(row / size * size + y) * size + x] : INFINITY);
        }
        b->depths[row * size + column] = farthest + (b->map->sun ? texel : texel * farthest);
    }
}

// ---- the maps ----

typedef struct box {
    float low[3], high[3];
} box;

static void add_point(box *around, const float p[3])
{
    for (int k = 0; k < 3; k++) {
        around->low[k] = fminf(around->low[k], p[k]);
        around->high[k] = fmaxf(around->high[k], p[k]);
    }
}

static void add_field(box *around, const orr_draw_field *field)
{
    float ends[2][3];
    orr_field_layer_bounds(field->layer, ends[0], ends[1]);
    for (int corner = 0; corner < 8; corner++) {
        float at[3], p[3];
        for (int k = 0; k < 3; k++) {
            at[k] = ends[corner >> k & 1][k];
        }
        affine_apply_to_point(field->model, at, p);
        add_point(around, p);
    }
}

static box box_around(const orr_gaussians *clouds, const orr_self_shadow_of *of)
{
    box around = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    if (clouds->bvh.block_count > 0) {
        orr_bvh_node_bounds(&clouds->bvh.nodes[0], around.low, around.high);
    }
    for (int i = 0; i < of->field_count; i++) {
        add_field(&around, &of->fields[i]);
    }
    return around;
}

// From the world, around a point, to axes of which z is `along`.
static void look_along(const float along[3], const float point[3], float to_light[12])
{
    const double z[3] = {(double)along[0], (double)along[1], (double)along[2]};
    double quat[4], matrix[9];
    quat_from_z(z, quat);
    quat_matrix(quat, matrix);
    for (int r = 0; r < 3; r++) {
        float *row = &to_light[4 * r];
        for (int k = 0; k < 3; k++) {
            row[k] = (float)matrix[3 * k + r];
        }
        row[3] = -(row[0] * point[0] + row[1] * point[1] + row[2] * point[2]);
    }
}

// A square map of the ball around the box.
static void fit_sun(const box *around, const orr_self_light *light, orr_self_map *map)
{
    float centre[3], square = 0.0f;
    for (int k = 0; k < 3; k++) {
        const float length = around->high[k] - around->low[k];
        centre[k] = 0.5f * (around->low[k] + around->high[k]);
        square += 0.25f * length * length;
    }
    const float radius = fmaxf(sqrtf(square), 1e-12f);
    map->focal = 0.5f * (float)(map->size - 2 * RIM) / radius;
    look_along(light->direction, centre, map->to_light);
    map->to_light[11] += radius + (float)RIM / map->focal;
}

static void fit_lamp(const orr_self_light *light, orr_self_map *map)
{
    const float half = 0.5f * (float)(map->size - 2 * RIM);
    if (map->faces == 1) {
        map->focal = half / tanf(fmaxf(light->cutoff, 0.1f) * 0.01745329252f);
        look_along(light->direction, light->position, map->to_light);
        return;
    }
    map->focal = half;
    for (int k = 0; k < 3; k++) {
        map->to_light[5 * k] = 1.0f;
        map->to_light[4 * k + 3] = -light->position[k];
    }
}

static orr_self_map map_of(const orr_self_light *light, const box *around, int64_t first)
{
    const bool cube = !light->sun && light->cutoff > WIDEST;
    orr_self_map map = {.number = light->number,
                        .sun = light->sun,
                        .captured = light->captured,
                        .size = cube ? ORR_SELF_SHADOW_FACE : ORR_SELF_SHADOW_SIZE,
                        .faces = cube ? 6 : 1,
                        .first = (int32_t)first};
    if (light->sun) {
        fit_sun(around, light, &map);
    } else {
        fit_lamp(light, &map);
    }
    return map;
}

static orr_result find_depths(orr_jobs *jobs, build *b, orr_self_shadow *maps, orr_error *error)
{
    ORR_ALLOC(maps->depths, maps->texels, "maps of shadows", error);
    ORR_ALLOC(b->found, maps->texels, "maps of shadows", error);
    for (int i = 0; i < maps->map_count; i++) {
        b->map = &maps->maps[i];
        b->depths = maps->depths + b->map->first;
        ORR_TRY(orr_affine_invert(b->map->to_light, b->from_light, error));
        orr_jobs_for(jobs, b->map->size * b->map->faces, find_row, b);
        orr_jobs_for(jobs, b->map->size * b->map->faces, widen_row, b);
    }
    return ORR_OK;
}

static orr_result build_maps(orr_jobs *jobs, build *b, orr_arena *arena, const orr_self_shadow_of *of,
                             orr_self_shadow *maps, orr_error *error)
{
    orr_draw_list list = {.fields = of->fields, .field_count = of->field_count};
    if (of->field_count > 0) {
        ORR_TRY(orr_field_rays_create(jobs, arena, &list, &b->fields, error));
    }
    const box around = box_around(b->clouds, of);
    for (int i = 0; i < of->light_count; i++) {
        orr_self_map *map = &maps->maps[maps->map_count++];
        *map = map_of(&of->lights[i], &around, maps->texels);
        maps->texels += (int64_t)map->size * map->size * map->faces;
    }
    return find_depths(jobs, b, maps, error);
}

static orr_result make(orr_jobs *jobs, build *b, const orr_self_shadow_of *of, orr_self_shadow **maps,
                       orr_error *error)
{
    if ((b->clouds->bvh.block_count == 0 && of->field_count == 0) || of->light_count == 0) {
        return ORR_OK;
    }
    *maps = orr_alloc_zero(1, sizeof **maps);
    if (!*maps) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: maps of shadows");
    }
    (*maps)->holders = 1;
    orr_arena arena = {0};
    const orr_result result = build_maps(jobs, b, &arena, of, *maps, error);
    orr_free(b->found);
    orr_arena_destroy(&arena);
    return result;
}

orr_result orr_self_shadow_build(orr_jobs *jobs, orr_isa isa, const orr_self_shadow_of *of,
                                 orr_self_shadow **maps, orr_error *error)
{
    orr_gaussians gaussians;
    *maps = NULL;
    ORR_TRY(orr_gaussians_build(of->clouds, of->cloud_count, &gaussians, error));
    build b = {.clouds = &gaussians, .walk = orr_gaussian_walk_of(isa)};
    const orr_result result = make(jobs, &b, of, maps, error);
    orr_gaussians_free(&gaussians);
    if (result != ORR_OK) {
        orr_self_shadow_release(*maps);
        *maps = NULL;
    }
    return result;
}

orr_self_shadow *orr_self_shadow_hold(orr_self_shadow *map)
{
    if (map) {
        map->holders++;
    }
    return map;
}

void orr_self_shadow_release(orr_self_shadow *map)
{
    if (map && --map->holders == 0) {
        orr_free(map->depths);
        orr_free(map);
    }
}

const orr_self_map *orr_self_shadow_of_capture(const orr_self_shadow *maps)
{
    return maps && maps->map_count > 0 && maps->maps[0].captured ? &maps->maps[0] : NULL;
}

const orr_self_map *orr_self_shadow_of_light(const orr_self_shadow *maps, int number)
{
    for (int i = 0; maps && i < maps->map_count; i++) {
        if (maps->maps[i].number == number) {
            return &maps->maps[i];
        }
    }
    return NULL;
}

orr_shadow_values orr_self_shadow_values(const orr_self_map *map, const float view[12])
{
    orr_shadow_values values = {.size = 0.0f};
    float from_camera[12];
    if (map && orr_affine_invert(view, from_camera, NULL) == ORR_OK) {
        const float middle = 0.5f * (float)map->size;
        values = (orr_shadow_values){.focal = map->focal,
                                     .centre = {middle, middle},
                                     .size = (float)map->size,
                                     .orthographic = map->sun ? 1.0f : 0.0f,
                                     .cube = map->faces > 1 ? 1.0f : 0.0f};
        for (int k = 0; k < map->faces && map->faces > 1; k++) {
            values.slots[k] = (float)k;
        }
        orr_affine_multiply(map->to_light, from_camera, values.to_light);
    }
    return values;
}
