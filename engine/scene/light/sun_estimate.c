// The sun of a captured world, from the shadows that it casts on itself (engine/orrery.h).
//
// Splats or points of one hue, that face one way and are near each other, are taken for one material: what
// differs between them beyond noise is how much sun reaches them. For each direction that the sun may have, a
// depth map of all of them says which it shines on; the direction that explains most of the variance of the
// logarithm of their brightness is the sun's. An albedo that depends on where surfaces face explains nothing
// so, and neither do crevices that are dark from all around.
#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/maths/rotation.h"
#include "engine/scene/light/sun_points.h"

#include <math.h>
#include <string.h>

enum {
    DIRECTIONS = 400, // of the first search, some 7 degrees apart
    COARSE = 64,      // texels along a side of the first search's maps
    FINE = 256,
    AROUND = 8, // directions around the best one, at each step of the second search
    STRENGTHS = 14
};
static const double LOWEST = 0.05;     // sine of the least height of the sun
static const double FIRST_STEP = 0.07; // of the second search [rad]
static const double LAST_STEP = 0.004;
static const double ELSEWHERE = 0.8;  // cosine of the angle to directions that are not the sun's
static const double EXPLAINED = 0.25; // of the variance, at least,
static const double BEST = 1.5;       // and so many times what the best direction elsewhere explains
static const double GRAZING = 0.15;   // cosine to the sun below which a splat casts no wide shadow
static const float NOTHING = -1e30f;

// ---- one direction ----

typedef struct light_map {
    double axes[3][3]; // right, down, towards the sun
    double texel;
    int side, margin; // texels
    float *height;    // side x side: the nearest to the sun
} light_map;

static void open_map(const orr_sun_points *e, light_map *m, const double direction[3])
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
static void to_map(const orr_sun_points *e, const light_map *m, const orr_sun_point *p, double out[3])
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

static void along_map(const light_map *m, const orr_sun_point *p, double out[3])
{
    const double normal[3] = {(double)p->normal[0], (double)p->normal[1], (double)p->normal[2]};
    for (int a = 0; a < 3; a++) {
        out[a] = vec3_dot(m->axes[a], normal);
    }
}

// A square as wide as the splat, in its plane, and no narrower than what `height_at` takes away.
static void cast(const orr_sun_points *e, light_map *m, const orr_sun_point *p)
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
static float reaches(const orr_sun_points *e, const light_map *m, const orr_sun_point *p)
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

static judgement judge(const orr_sun_points *e, const double direction[3], int side, const scratch *s)
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
        const double left = orr_sun_points_squares(e, s->rest, s->means);
        if (1.0 - left / e->variance > best.explained) {
            best = (judgement){1.0 - left / e->variance, (double)strength};
        }
    }
    return best;
}

// ---- the search ----

typedef struct search {
    const orr_sun_points *e;
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
static void find(const orr_sun_points *e, scratch *scratches, const float up[3], double direction[3],
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

static orr_result make_scratches(const orr_sun_points *e, int workers, scratch *scratches, orr_error *error)
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

// Calls `ask` with scratch for each worker, unless no cluster has anything to explain.
static orr_result with_scratches(orr_sun_points *e, void (*ask)(orr_sun_points *, scratch *, void *),
                                 void *context, orr_error *error)
{
    const int workers = orr_jobs_workers(e->scene->context.jobs);
    scratch *scratches;
    ORR_ALLOC(scratches, workers, "maps of shadows", error);
    memset(scratches, 0, (size_t)workers * sizeof *scratches);
    orr_result result = make_scratches(e, workers, scratches, error);
    if (result == ORR_OK) {
        for (int64_t i = 0; i < e->count; i++) {
            scratches[0].rest[i] = e->points[i].brightness;
        }
        e->variance = orr_sun_points_squares(e, scratches[0].rest, scratches[0].means);
        if (e->variance > 0.0) {
            ask(e, scratches, context);
        }
    }
    free_scratches(scratches, workers);
    return result;
}

static void look(orr_sun_points *e, scratch *scratches, void *context)
{
    orr_sun_estimate *estimate = context;
    double direction[3], elsewhere;
    float up[3];
    judgement found;
    orr_scene_level(e->scene, up);
    find(e, scratches, up, direction, &found, &elsewhere);
    if (found.explained > EXPLAINED && elsewhere * BEST < 1.0) {
        estimate->found = true;
        estimate->sun = sun_of(direction, up, found.strength);
        estimate->explained = (float)found.explained;
    }
}

typedef struct question {
    double direction[3];
    bool explains;
} question;

static void judge_given(orr_sun_points *e, scratch *scratches, void *context)
{
    question *q = context;
    q->explains = judge(e, q->direction, FINE, scratches).explained > EXPLAINED;
}

orr_result orr_scene_sun_explains(const orr_scene *scene, const float direction[3], bool *explains,
                                  orr_error *error)
{
    orr_sun_points e;
    question q = {.explains = false};
    for (int k = 0; k < 3; k++) {
        q.direction[k] = (double)direction[k];
    }
    orr_result result = orr_sun_points_gather(scene, &e, error);
    result = result == ORR_OK && e.clusters > 0 ? with_scratches(&e, judge_given, &q, error) : result;
    orr_sun_points_free(&e);
    *explains = q.explains;
    return result;
}

orr_result orr_scene_estimate_sun_sized(const orr_scene *scene, orr_sun_estimate *estimate,
                                        size_t estimate_size, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_scene_check(scene, error));
    ORR_REQUIRE(estimate, error);
    orr_sun_points e;
    orr_sun_estimate own = {0};
    orr_result result = orr_sun_points_gather(scene, &e, error);
    result = result == ORR_OK && e.clusters > 0 ? with_scratches(&e, look, &own, error) : result;
    orr_sun_points_free(&e);
    ORR_TRY(result);
    orr_sized_write(&own, sizeof own, estimate, estimate_size);
    return ORR_OK;
}
