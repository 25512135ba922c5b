#define ORR_SCALAR
#include "engine/scene/light/sun_points.h"

#include "engine/core/memory.h"
#include "engine/maths/camera.h"
#include "engine/maths/colour_formula.h"
#include "engine/maths/rotation.h"
#include "render/formats/splat_bytes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    POINTS_MAX = 200000, // splats that are looked at
    CELLS = 4,           // along the longest side: what is in one is near each other
    HUES = 6             // along each of two shares of colour
};
static const double OPAQUE = 0.3;   // splats of less opacity neither cast nor show shadows
static const double FLAT = 0.6;     // least axis of a splat with a normal, of its middle one
static const double DARKEST = 1e-3; // linear; darker splats say nothing

// ---- points ----

static bool is_captured(const orr_layer_data *layer)
{
    const bool field = layer->kind == ORR_LAYER_FIELD && !layer->trainer &&
                       orr_field_layer_kind(layer->field) == ORR_FIELD_NERF;
    return (layer->kind == ORR_LAYER_SPLATS || field) && layer->bound_to.slot == 0 && !layer->absent;
}

// Which axis is the thin one, in `thin`; false: it has no normal.
static bool find_normal(const float g[ORR_PACK_GEOMETRY], double normal[3], double *radius)
{
    double axes[3][3], lengths[3];
    for (int a = 0; a < 3; a++) {
        for (int k = 0; k < 3; k++) {
            axes[a][k] = (double)g[3 + 3 * a + k];
        }
        lengths[a] = vec3_length(axes[a]);
    }
    int thin = lengths[0] <= lengths[1] ? 0 : 1;
    thin = lengths[2] < lengths[thin] ? 2 : thin;
    const double middle = fmin(lengths[(thin + 1) % 3], lengths[(thin + 2) % 3]);
    vec3_cross(axes[(thin + 1) % 3], axes[(thin + 2) % 3], normal); // the thin axis may have no length
    *radius = middle;
    return vec3_normalise(normal) > 0.0 && lengths[thin] <= FLAT * middle;
}

static void take_point(orr_sun_points *e, const orr_layer_data *layer, const float model[12], int64_t i)
{
    const orr_splat_pack *pack = layer->splats;
    // without the light of lamps
    const float *harmonics = layer->captured ? layer->captured : pack->harmonics;
    const int64_t block = i / ORR_PACK_BLOCK, lane = i % ORR_PACK_BLOCK;
    const int terms = 3 * (orr_sh_rest(pack->sh_degree) + 1);
    float g[ORR_PACK_GEOMETRY], normal[3], scale;
    double own[3], radius;
    for (int k = 0; k < ORR_PACK_GEOMETRY; k++) {
        g[k] = pack->geometry[(block * ORR_PACK_GEOMETRY + k) * ORR_PACK_BLOCK + lane];
    }
    if ((double)g[12] < OPAQUE) {
        return;
    }
    orr_sun_point *p = &e->points[e->count++];
    *p = (orr_sun_point){.cluster = -1};
    p->flat = find_normal(g, own, &radius);
    for (int k = 0; k < 3; k++) {
        normal[k] = (float)own[k];
    }
    affine_apply_to_point(model, g, p->position);
    affine_apply_to_direction(model, normal, p->normal);
    scale = sqrtf(vec3f_dot(p->normal, p->normal));
    p->radius = (float)radius * scale;
    float display[3];
    for (int k = 0; k < 3; k++) {
        p->normal[k] = scale > 0.0f ? p->normal[k] / scale : 0.0f;
        display[k] = 0.5f + ORR_SH_C0 * harmonics[(block * terms + k) * ORR_PACK_BLOCK + lane];
    }
    orr_sun_point_colour(p, display);
}

void orr_sun_point_colour(orr_sun_point *p, const float display[3])
{
    for (int k = 0; k < 3; k++) {
        p->colour[k] = srgb_to_linear(fmaxf(display[k], 0.0f));
    }
    const float sum = p->colour[0] + p->colour[1] + p->colour[2];
    p->flat = p->flat && (double)sum > 3.0 * DARKEST;
    p->brightness = logf(fmaxf(sum / 3.0f, (float)DARKEST));
}

// Of a cloud every splat, or every so many.
static orr_result add_cloud(orr_sun_points *e, const orr_layer_data *layer, int64_t stride, orr_error *error)
{
    const int64_t first = e->count, most = first + (layer->splats->count + stride - 1) / stride;
    float model[12];
    ORR_TRY(orr_affine_from_transform(&layer->transform, model, error));
    ORR_GROW(e->points, e->capacity, (int)most, "points of a capture", error);
    for (int64_t k = 0; k < layer->splats->count; k += stride) {
        take_point(e, layer, model, k);
    }
    for (int64_t i = first; i < e->count; i++) {
        e->points[i].radius *= sqrtf((float)stride);
    }
    return ORR_OK;
}

static void find_extent(orr_sun_points *e)
{
    for (int k = 0; k < 3; k++) {
        e->low[k] = INFINITY;
        e->high[k] = -INFINITY;
    }
    for (int64_t i = 0; i < e->count; i++) {
        for (int k = 0; k < 3; k++) {
            e->low[k] = fminf(e->low[k], e->points[i].position[k]);
            e->high[k] = fmaxf(e->high[k], e->points[i].position[k]);
        }
    }
    for (int k = 0; k < 3 && e->count > 0; k++) {
        e->centre[k] = 0.5 * (double)(e->low[k] + e->high[k]);
        e->reach = hypot(e->reach, 0.5 * (double)(e->high[k] - e->low[k]));
    }
}

static orr_result gather(orr_sun_points *e, orr_error *error)
{
    int64_t splats = 0, fields = 0;
    for (int i = 0; i < e->scene->layer_count; i++) {
        const orr_layer_data *layer = &e->scene->layers[i];
        const bool captured = is_captured(layer);
        splats += captured && layer->splats ? layer->splats->count : 0;
        fields += captured && layer->field;
    }
    if (splats + fields == 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT,
                        "sun: expected a scene with a splat cloud or a radiance field");
    }
    const int64_t stride = splats > 0 ? (splats + POINTS_MAX - 1) / POINTS_MAX : 1;
    for (int i = 0; i < e->scene->layer_count; i++) {
        const orr_layer_data *layer = &e->scene->layers[i];
        if (is_captured(layer)) {
            ORR_TRY(layer->field ? orr_sun_points_add_field(e, layer, error)
                                 : add_cloud(e, layer, stride, error));
        }
    }
    find_extent(e);
    return ORR_OK;
}

// ---- clusters ----

// Of the cell, the direction (of a line: the normal's sign is not known) and the hue.
static uint64_t key_of(const orr_sun_points *e, const orr_sun_point *p)
{
    const float sum = p->colour[0] + p->colour[1] + p->colour[2];
    float longest = 0.0f;
    uint64_t key = 0;
    int facing = 0;
    for (int k = 0; k < 3; k++) {
        longest = fmaxf(longest, e->high[k] - e->low[k]);
        facing = 3 * facing + (p->normal[k] > 0.4f ? 1 : p->normal[k] < -0.4f ? -1 : 0);
    }
    for (int k = 0; k < 3; k++) {
        key =
            key * CELLS + (uint64_t)fminf((p->position[k] - e->low[k]) / longest * CELLS, (float)(CELLS - 1));
    }
    for (int k = 0; k < 2; k++) {
        key = key * HUES + (uint64_t)fminf(p->colour[k] / sum * HUES, (float)(HUES - 1));
    }
    return key * 32 + (uint64_t)abs(facing);
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

double orr_sun_points_squares(const orr_sun_points *e, const float *values, double *means)
{
    double sum = 0.0;
    memset(means, 0, 2 * (size_t)e->clusters * sizeof *means);
    for (int64_t i = 0; i < e->count; i++) {
        if (e->points[i].flat) {
            means[2 * e->points[i].cluster] += (double)values[i];
            means[2 * e->points[i].cluster + 1] += 1.0;
        }
    }
    for (int64_t i = 0; i < e->count; i++) {
        if (e->points[i].flat) {
            const double *m = &means[2 * e->points[i].cluster];
            const double d = (double)values[i] - m[0] / m[1];
            sum += d * d;
        }
    }
    return sum;
}

static orr_result make_clusters(orr_sun_points *e, orr_error *error)
{
    uint64_t *keys;
    ORR_ALLOC(keys, e->count + 1, "clusters of points", error);
    int64_t used = 0, kept = 0;
    for (int64_t i = 0; i < e->count; i++) {
        if (e->points[i].flat) {
            e->points[i].key = key_of(e, &e->points[i]);
            keys[used++] = e->points[i].key;
        }
    }
    qsort(keys, (size_t)used, sizeof *keys, compare_keys);
    for (int64_t i = 0; i < used; i++) {
        if (i == 0 || keys[i] != keys[i - 1]) {
            keys[kept++] = keys[i];
        }
    }
    for (int64_t i = 0; i < e->count; i++) {
        if (e->points[i].flat) {
            const uint64_t *found =
                bsearch(&e->points[i].key, keys, (size_t)kept, sizeof *keys, compare_keys);
            e->points[i].cluster = (int)(found - keys);
        }
    }
    e->clusters = kept;
    orr_free(keys);
    return ORR_OK;
}

orr_result orr_sun_points_gather(const orr_scene *scene, orr_sun_points *points, orr_error *error)
{
    *points = (orr_sun_points){.scene = scene};
    ORR_TRY(gather(points, error));
    return make_clusters(points, error);
}

void orr_sun_points_free(orr_sun_points *points)
{
    orr_free(points->points);
}
