// The sun of a captured world, from the shadows that its clouds cast on themselves (engine/orrery.h).
//
// Splats of one hue, that face one way and are near each other, are taken for one material: what differs
// between them beyond noise is how much sun reaches them. For each direction that the sun may have, a depth
// map of all splats says which of them it shines on; the direction that explains most of the variance of the
// logarithm of their brightness is the sun's. An albedo that depends on where surfaces face explains nothing
// so, and neither do crevices that are dark from all around.
#define ORR_SCALAR
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/maths/camera.h"
#include "engine/maths/colour_formula.h"
#include "engine/maths/rotation.h"
#include "engine/scene/scene.h"
#include "engine/scene/transform.h"
#include "render/formats/splat_bytes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    POINTS_MAX = 200000, // splats that are looked at
    DIRECTIONS = 400,    // of the first search, some 7 degrees apart
    COARSE = 64,         // texels along a side of the first search's maps
    FINE = 256,
    AROUND = 8, // directions around the best one, at each step of the second search
    CELLS = 4,  // along the longest side: what is in one is near each other
    HUES = 6,   // along each of two shares of colour
    STRENGTHS = 14
};
static const double OPAQUE = 0.3;      // splats of less opacity neither cast nor show shadows
static const double FLAT = 0.6;        // least axis of a splat with a normal, of its middle one
static const double LOWEST = 0.05;     // sine of the least height of the sun
static const double FIRST_STEP = 0.07; // of the second search [rad]
static const double LAST_STEP = 0.004;
static const double ELSEWHERE = 0.8;  // cosine of the angle to directions that are not the sun's
static const double EXPLAINED = 0.25; // of the variance, at least,
static const double BEST = 1.5;       // and so many times what the best direction elsewhere explains
static const double GRAZING = 0.15;   // cosine to the sun below which a splat casts no wide shadow
static const double DARKEST = 1e-3;   // linear; darker splats say nothing
static const float NOTHING = -1e30f;

typedef struct point {
    float position[3], normal[3]; // scene
    float radius;                 // of its shadow
    float brightness;             // logarithm
    float colour[3];              // linear
    bool flat;                    // has a normal, and belongs to a cluster
    int cluster;
    uint64_t key; // of the cluster
} point;

typedef struct estimator {
    const orr_scene *scene;
    point *points; // count
    int64_t count, clusters;
    double variance; // sum of squares of brightness within clusters
    float low[3], high[3];
    double centre[3], reach; // of a ball around all points
} estimator;

// ---- points ----

static bool is_captured(const orr_layer_data *layer)
{
    return layer->kind == ORR_LAYER_SPLATS && layer->bound_to.slot == 0 && !layer->absent;
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

static void take_point(estimator *e, const orr_splat_pack *pack, const float model[12], int64_t i)
{
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
    point *p = &e->points[e->count++];
    *p = (point){.cluster = -1};
    p->flat = find_normal(g, own, &radius);
    for (int k = 0; k < 3; k++) {
        normal[k] = (float)own[k];
    }
    affine_apply_to_point(model, g, p->position);
    affine_apply_to_direction(model, normal, p->normal);
    scale = sqrtf(vec3f_dot(p->normal, p->normal));
    p->radius = (float)radius * scale;
    for (int k = 0; k < 3; k++) {
        const float shown = pack->harmonics[(block * terms + k) * ORR_PACK_BLOCK + lane];
        p->normal[k] = scale > 0.0f ? p->normal[k] / scale : 0.0f;
        p->colour[k] = srgb_to_linear(fmaxf(0.5f + ORR_SH_C0 * shown, 0.0f));
    }
    const float sum = p->colour[0] + p->colour[1] + p->colour[2];
    p->flat = p->flat && (double)sum > 3.0 * DARKEST;
    p->brightness = logf(fmaxf(sum / 3.0f, (float)DARKEST));
}

static orr_result gather(estimator *e, orr_error *error)
{
    int64_t total = 0;
    for (int i = 0; i < e->scene->layer_count; i++) {
        const orr_layer_data *layer = &e->scene->layers[i];
        total += is_captured(layer) ? layer->splats->count : 0;
    }
    if (total == 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "sun: expected a scene with a splat cloud");
    }
    const int64_t stride = (total + POINTS_MAX - 1) / POINTS_MAX;
    ORR_ALLOC(e->points, total / stride + e->scene->layer_count + 1, "points of a cloud", error);
    for (int i = 0; i < e->scene->layer_count; i++) {
        const orr_layer_data *layer = &e->scene->layers[i];
        float model[12];
        if (is_captured(layer)) {
            ORR_TRY(orr_affine_from_transform(&layer->transform, model, error));
            for (int64_t k = 0; k < layer->splats->count; k += stride) {
                take_point(e, layer->splats, model, k);
            }
        }
    }
    for (int k = 0; k < 3; k++) {
        e->low[k] = INFINITY;
        e->high[k] = -INFINITY;
    }
    for (int64_t i = 0; i < e->count; i++) {
        e->points[i].radius *= sqrtf((float)stride);
        for (int k = 0; k < 3; k++) {
            e->low[k] = fminf(e->low[k], e->points[i].position[k]);
            e->high[k] = fmaxf(e->high[k], e->points[i].position[k]);
        }
    }
    for (int k = 0; k < 3 && e->count > 0; k++) {
        e->centre[k] = 0.5 * (double)(e->low[k] + e->high[k]);
        e->reach = hypot(e->reach, 0.5 * (double)(e->high[k] - e->low[k]));
    }
    return ORR_OK;
}

// ---- clusters ----

// Of the cell, the direction (of a line: the normal's sign is not known) and the hue.
static uint64_t key_of(const estimator *e, const point *p)
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

// Of values, within clusters: their sum of squares without each cluster's mean; `means` is scratch of two
// numbers for each cluster.
static double squares_within(const estimator *e, const float *values, double *means)
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

static orr_result make_clusters(estimator *e, orr_error *error)
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

// ---- one direction ----

typedef struct light_map {
    double axes[3][3]; // right, down, towards the sun
    double texel;
    int side, margin; // texels
    float *height;    // side x side: the nearest to the sun
} light_map;

static void open_map(const estimator *e, light_map *m, const double direction[3])
{
    double quat[4], matrix[9];
    quat_from_z(direction, quat);
    quat_matrix(quat, matrix);
    for (int a = 0; a < 3; a++) {
        for (int k = 0; k < 3; k++) {
            m->axes[a][k] = matrix[3 * k + a];
        }
    }
    m->texel = 2.0 * e->reach * 1.01 / m->side;
    for (int i = 0; i < m->side * m->side; i++) {
        m->height[i] = NOTHING;
    }
}

// In texels, and along the direction.
static void to_map(const estimator *e, const light_map *m, const point *p, double out[3])
{
    double arm[3];
    for (int k = 0; k < 3; k++) {
        arm[k] = (double)p->position[k] - e->centre[k];
    }
    for (int a = 0; a < 3; a++) {
        out[a] = vec3_dot(m->axes[a], arm);
    }
    out[0] = out[0] / m->texel + 0.5 * m->side;
    out[1] = out[1] / m->texel + 0.5 * m->side;
}

static void along_map(const light_map *m, const point *p, double out[3])
{
    const double normal[3] = {(double)p->normal[0], (double)p->normal[1], (double)p->normal[2]};
    for (int a = 0; a < 3; a++) {
        out[a] = vec3_dot(m->axes[a], normal);
    }
}

// A square as wide as the splat, in its plane, and no narrower than what `height_at` takes away.
static void cast(const estimator *e, light_map *m, const point *p)
{
    enum { WIDEST = 4 };
    double at[3], normal[3];
    to_map(e, m, p, at);
    along_map(m, p, normal);
    const bool wide = fabs(normal[2]) > GRAZING;
    const int half = wide ? (int)fmin(fmax(0.5 + (double)p->radius / m->texel, m->margin), WIDEST) : 0;
    const double slope[2] = {wide ? -normal[0] / normal[2] : 0.0, wide ? -normal[1] / normal[2] : 0.0};
    const int x = (int)at[0], y = (int)at[1];
    for (int row = y - half; row <= y + half; row++) {
        for (int column = x - half; column <= x + half; column++) {
            if (row >= 0 && row < m->side && column >= 0 && column < m->side) {
                float *height = &m->height[row * m->side + column];
                const double off = slope[0] * (column - x) + slope[1] * (row - y);
                *height = fmaxf(*height, (float)(at[2] + off * m->texel));
            }
        }
    }
}

// Of what is around the texel on all sides: squares close gaps between splats and widen what is between
// gaps, and this makes that narrower again.
static float height_at(const light_map *m, int x, int y)
{
    float least = INFINITY;
    for (int row = y - m->margin; row <= y + m->margin; row++) {
        for (int column = x - m->margin; column <= x + m->margin; column++) {
            const bool inside = row >= 0 && row < m->side && column >= 0 && column < m->side;
            least = inside ? fminf(least, m->height[row * m->side + column]) : NOTHING;
        }
    }
    return least;
}

// How much of a sun in this direction reaches the point, 0 .. 1.
static float reaches(const estimator *e, const light_map *m, const point *p)
{
    double at[3], normal[3];
    to_map(e, m, p, at);
    along_map(m, p, normal);
    const double cosine = fmin(fabs(normal[2]), 1.0);
    const double steep = sqrt(1.0 - cosine * cosine) / fmax(cosine, GRAZING);
    const double bias = m->texel * (1.5 + 2.0 * steep);
    const float nearest = height_at(m, (int)at[0], (int)at[1]);
    return at[2] + bias >= (double)nearest ? (float)cosine : 0.0f;
}

static double strength_at(int i)
{
    return 0.25 * pow(2.0, 0.5 * i); // 0.25 to 22
}

typedef struct judgement {
    double explained; // of the variance
    double strength;  // of the sun, of the light from around
} judgement;

// Scratch of a direction: its map, what reaches each point, and brightness without it.
typedef struct scratch {
    float *height, *share, *rest;
    double *means;
} scratch;

static judgement judge(const estimator *e, const double direction[3], int side, const scratch *s)
{
    light_map m = {.side = side, .margin = side == FINE ? 1 : 0, .height = s->height};
    judgement best = {-INFINITY, 0.0};
    open_map(e, &m, direction);
    for (int64_t i = 0; i < e->count; i++) {
        cast(e, &m, &e->points[i]);
    }
    for (int64_t i = 0; i < e->count; i++) {
        s->share[i] = e->points[i].flat ? reaches(e, &m, &e->points[i]) : 0.0f;
    }
    for (int k = 0; k < STRENGTHS; k += side == COARSE ? 3 : 1) {
        const float strength = (float)strength_at(k);
        for (int64_t i = 0; i < e->count; i++) {
            s->rest[i] = e->points[i].brightness - log1pf(strength * s->share[i]);
        }
        const double left = squares_within(e, s->rest, s->means);
        if (1.0 - left / e->variance > best.explained) {
            best = (judgement){1.0 - left / e->variance, (double)strength};
        }
    }
    return best;
}

// ---- the search ----

typedef struct search {
    const estimator *e;
    const double (*directions)[3];
    judgement *judgements;
    scratch *scratches; // of each worker
    int side;
} search;

static void judge_one(void *context, int i, int worker)
{
    const search *s = context;
    s->judgements[i] = judge(s->e, s->directions[i], s->side, &s->scratches[worker]);
}

static int best_of(const judgement *judgements, int count)
{
    int best = 0;
    for (int i = 1; i < count; i++) {
        best = judgements[i].explained > judgements[best].explained ? i : best;
    }
    return best;
}

// Evenly spread over the sky: on a spiral from above.
static void spread(const float up[3], double directions[DIRECTIONS][3])
{
    const double golden = 2.39996322972865332; // [rad]
    const double zenith[3] = {(double)up[0], (double)up[1], (double)up[2]};
    double quat[4];
    quat_from_z(zenith, quat);
    for (int i = 0; i < DIRECTIONS; i++) {
        const double z = 1.0 - (1.0 - LOWEST) * (i + 0.5) / DIRECTIONS, level = sqrt(1.0 - z * z);
        const double local[3] = {level * cos(golden * i), level * sin(golden * i), z};
        quat_apply(quat, local, directions[i]);
    }
}

// In the end the best direction and its judgement; *elsewhere: what the best one far from it explains.
static void find(const estimator *e, scratch *scratches, const float up[3], double direction[3],
                 judgement *found, double *elsewhere)
{
    static const double turn = 0.78539816339744831;
    orr_jobs *jobs = e->scene->context.jobs;
    double directions[DIRECTIONS][3];
    judgement judgements[DIRECTIONS];
    search s = {.e = e, .scratches = scratches, .judgements = judgements, .side = COARSE};
    s.directions = (const double(*)[3])directions;
    spread(up, directions);
    orr_jobs_for(jobs, DIRECTIONS, judge_one, &s);
    const int best = best_of(judgements, DIRECTIONS);
    memcpy(direction, directions[best], 3 * sizeof *direction);
    *elsewhere = -INFINITY;
    for (int i = 0; i < DIRECTIONS; i++) {
        if (vec3_dot(directions[i], direction) < ELSEWHERE) {
            *elsewhere = fmax(*elsewhere, judgements[i].explained);
        }
    }
    *elsewhere /= judgements[best].explained; // the maps of the second search are finer
    s.side = FINE;
    *found = judge(e, direction, FINE, &scratches[0]);
    for (double step = FIRST_STEP; step > LAST_STEP;) {
        double quat[4];
        quat_from_z(direction, quat);
        for (int i = 0; i < AROUND; i++) {
            const double local[3] = {step * cos(turn * i), step * sin(turn * i), 1.0};
            quat_apply(quat, local, directions[i]);
            vec3_normalise(directions[i]);
        }
        orr_jobs_for(jobs, AROUND, judge_one, &s);
        const int next = best_of(judgements, AROUND);
        if (judgements[next].explained > found->explained) {
            *found = judgements[next];
            memcpy(direction, directions[next], 3 * sizeof *direction);
        } else {
            step *= 0.5;
        }
    }
}

static orr_result make_scratches(const estimator *e, int workers, scratch *scratches, orr_error *error)
{
    for (int i = 0; i < workers; i++) {
        ORR_ALLOC(scratches[i].height, FINE * FINE, "a map of shadows", error);
        ORR_ALLOC(scratches[i].share, e->count, "a map of shadows", error);
        ORR_ALLOC(scratches[i].rest, e->count, "a map of shadows", error);
        ORR_ALLOC(scratches[i].means, 2 * e->clusters, "a map of shadows", error);
    }
    return ORR_OK;
}

static void free_scratches(scratch *scratches, int workers)
{
    for (int i = 0; i < workers && scratches; i++) {
        orr_free(scratches[i].height);
        orr_free(scratches[i].share);
        orr_free(scratches[i].rest);
        orr_free(scratches[i].means);
    }
    orr_free(scratches);
}

// White in the sun is white, and so is what is left of it in the shadow of something on level ground.
static orr_sun_desc sun_of(const double direction[3], const float up[3], double strength)
{
    orr_sun_desc sun = {.umbra = 0.0f};
    double height = 0.0;
    for (int k = 0; k < 3; k++) {
        sun.direction[k] = (float)direction[k];
        sun.colour[k] = (float)(strength / (1.0 + strength));
        sun.ambient[k] = (float)(1.0 / (1.0 + strength));
        height += direction[k] * (double)up[k];
    }
    sun.umbra = (float)(1.0 / (1.0 + strength * fmax(height, 0.0)));
    return sun;
}

static orr_result look(estimator *e, orr_sun_estimate *estimate, orr_error *error)
{
    const int workers = orr_jobs_workers(e->scene->context.jobs);
    scratch *scratches;
    ORR_ALLOC(scratches, workers, "maps of shadows", error);
    memset(scratches, 0, (size_t)workers * sizeof *scratches);
    orr_result result = make_scratches(e, workers, scratches, error);
    if (result == ORR_OK) {
        double direction[3], elsewhere;
        float up[3];
        judgement found;
        for (int64_t i = 0; i < e->count; i++) {
            scratches[0].rest[i] = e->points[i].brightness;
        }
        e->variance = squares_within(e, scratches[0].rest, scratches[0].means);
        orr_scene_level(e->scene, up);
        if (e->variance > 0.0) {
            find(e, scratches, up, direction, &found, &elsewhere);
            if (found.explained > EXPLAINED && elsewhere * BEST < 1.0) {
                estimate->found = true;
                estimate->sun = sun_of(direction, up, found.strength);
                estimate->explained = (float)found.explained;
            }
        }
    }
    free_scratches(scratches, workers);
    return result;
}

orr_result orr_scene_estimate_sun_sized(const orr_scene *scene, orr_sun_estimate *estimate,
                                        size_t estimate_size, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_scene_check(scene, error));
    ORR_REQUIRE(estimate, error);
    estimator e = {.scene = scene};
    orr_sun_estimate own = {0};
    orr_result result = gather(&e, error);
    result = result == ORR_OK ? make_clusters(&e, error) : result;
    result = result == ORR_OK && e.clusters > 0 ? look(&e, &own, error) : result;
    orr_free(e.points);
    ORR_TRY(result);
    orr_sized_write(&own, sizeof own, estimate, estimate_size);
    return ORR_OK;
}
