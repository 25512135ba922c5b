#define ORR_SCALAR
#include "render/bounce/grid.h"

#include "engine/core/memory.h"
#include "render/environment/environment_formula.h"
#include "render/environment/maps.h"

#include <math.h>
#include <string.h>

enum {
    // an eighth of a point's rays, or three quarters where both sides are shown: from here on it is in a
    // body, or behind a wall
    DARK_BACKS = ORR_BOUNCE_RAYS * ORR_BACK_OF_BODY / 8,
    MOST = 8 // points along an axis
};

// ---- where it is ----

static int points_of(const float size[3], float step, int points[3])
{
    for (int k = 0; k < 3; k++) {
        const float steps = ceilf(size[k] / step - 1e-3f);
        points[k] = 1 + (int)fminf(fmaxf(steps, 1.0f), (float)(MOST - 1));
    }
    return points[0] * points[1] * points[2];
}

orr_result orr_bounce_grid_place(orr_bounce_grid *g, const float low[3], const float high[3],
                                 orr_error *error)
{
    if (!g->hits) {
        ORR_ALLOC(g->hits, ORR_ENVIRONMENT_POINTS * ORR_BOUNCE_RAYS, "light between meshes", error);
        ORR_ALLOC(g->light, ORR_ENVIRONMENT_POINTS, "light between meshes", error);
        ORR_ALLOC(g->scratch, ORR_ENVIRONMENT_POINTS, "light between meshes", error);
    }
    float size[3], longest = 0.0f;
    for (int k = 0; k < 3; k++) {
        longest = fmaxf(longest, high[k] - low[k]);
    }
    const float margin = fmaxf(0.1f * longest, 1e-5f); // so that surfaces on the box have points before them
    for (int k = 0; k < 3; k++) {
        size[k] = high[k] - low[k] + 2.0f * margin;
    }
    float step = (longest + 2.0f * margin) / (float)(MOST - 1);
    while (points_of(size, step, g->place.points) > ORR_ENVIRONMENT_POINTS) {
        step *= 1.05f;
    }
    g->count = points_of(size, step, g->place.points);
    for (int k = 0; k < 3; k++) {
        g->place.low[k] = low[k] - margin;
        g->place.step[k] = size[k] / (float)(g->place.points[k] - 1);
    }
    memset(g->light, 0, (size_t)g->count * sizeof *g->light);
    g->any = false;
    return ORR_OK;
}

void orr_bounce_grid_free(orr_bounce_grid *g)
{
    orr_free(g->hits);
    orr_free(g->light);
    orr_free(g->scratch);
    *g = (orr_bounce_grid){0};
}

void orr_bounce_point(const orr_bounce_grid *g, int i, float position[3])
{
    const int *n = g->place.points, at[3] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
    for (int k = 0; k < 3; k++) {
        position[k] = g->place.low[k] + (float)at[k] * g->place.step[k];
    }
}

// ---- rays ----

void orr_bounce_direction(int i, float d[3]) // Fibonacci's spiral
{
    const float z = 1.0f - 2.0f * ((float)i + 0.5f) / ORR_BOUNCE_RAYS, around = 2.3999632f * (float)i;
    const float ring = sqrtf(1.0f - z * z);
    d[0] = ring * cosf(around), d[1] = ring * sinf(around), d[2] = z;
}

typedef struct looking {
    orr_bounce_grid *grid;
    const orr_lit_rays *rays;
    int first;
} looking;

static void look_from(void *context, int block, int worker)
{
    const looking *l = context;
    const int point = l->first + block;
    orr_ray ray = {.far_end = INFINITY};
    (void)worker;
    orr_bounce_point(l->grid, point, ray.origin);
    for (int i = 0; i < ORR_BOUNCE_RAYS; i++) {
        // the sequence of Roberts (2018), another part of it for each point
        const float n = (float)(i + 5 * point), a = n * 0.7548777f, b = n * 0.5698403f;
        orr_bounce_direction(i, ray.direction);
        orr_lit_rays_meet(l->rays, &ray, NULL, (const float[2]){a - floorf(a), b - floorf(b)},
                          &l->grid->hits[point * ORR_BOUNCE_RAYS + i]);
    }
}

void orr_bounce_grid_look(orr_bounce_grid *g, orr_jobs *jobs, const orr_lit_rays *rays, int first, int end)
{
    looking l = {g, rays, first};
    orr_jobs_for(jobs, end - first, look_from, &l);
    for (int i = first * ORR_BOUNCE_RAYS; i < end * ORR_BOUNCE_RAYS && !g->any; i++) {
        g->any = g->hits[i].mesh >= 0;
    }
}

// ---- light ----

// A grid as environment_formula.h sees it, in the world's space.
static environment_view view_of(const orr_bounce_grid *g)
{
    const orr_environment_grid *p = &g->place;
    environment_view v = {.points_x = (float)p->points[0],
                          .points_y = (float)p->points[1],
                          .points_z = (float)p->points[2],
                          .grid_x = p->low[0],
                          .grid_y = p->low[1],
                          .grid_z = p->low[2],
                          .step_x = p->step[0],
                          .step_y = p->step[1],
                          .step_z = p->step[2]};
    v.to_map.xx = v.to_map.yy = v.to_map.zz = 1.0f;
    // what is before its texels
    v.first = -environment_texels(0.0f) * (1.0f + ENVIRONMENT_LEVELS);
    return v;
}

static real3 of_texel(const orr_bounce_grid *g, real index)
{
    const int texel = (int)index;
    const float *c = g->light[texel / 6][texel % 6];
    return make_real3(c[0], c[1], c[2]);
}

static real3 look_up(const orr_bounce_grid *g, real3 position, real3 normal)
{
    const environment_view v = view_of(g);
    const environment_cell c = environment_find_cell(v, position, normal);
    real3 sum = make_real3(0.0f, 0.0f, 0.0f);
    real weights = 0.0f;
    for (int i = 0; i < 8; i++) {
        const environment_corner k =
            environment_corner_of(v, c, (float)(i & 1), (float)(i >> 1 & 1), (float)(i >> 2));
        if (k.weight > 0.0f) {
            sum = environment_add_corner(sum, c, k, of_texel(g, k.x), of_texel(g, k.y), of_texel(g, k.z));
            weights += k.weight;
        }
    }
    return scale3(sum, 1.0f / fmaxf(weights, 1e-6f));
}

static real look_around(const float h[9], real3 n)
{
    return environment_sum(n, h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7], h[8]);
}

void orr_bounce_light_at(const orr_bounce_lit *lit, const orr_lit_hit *hit, float light[3])
{
    const int i = hit->lit_by - lit->first;
    const real3 normal = make_real3(hit->normal[0], hit->normal[1], hit->normal[2]);
    real3 sum = make_real3(0.0f, 0.0f, 0.0f);
    if (i >= 0 && i < lit->count) {
        const float(*h)[9] = *lit->harmonics[i];
        sum = make_real3(look_around(h[0], normal), look_around(h[1], normal), look_around(h[2], normal));
        if (lit->grids[i] && lit->grids[i]->count > 0) {
            const real3 position = make_real3(hit->position[0], hit->position[1], hit->position[2]);
            sum = add3(sum, look_up(lit->grids[i], position, normal));
        }
    }
    light[0] = fmaxf(sum.x, 0.0f), light[1] = fmaxf(sum.y, 0.0f), light[2] = fmaxf(sum.z, 0.0f);
}

typedef struct reflecting {
    orr_bounce_grid *grid;
    const orr_bounce_lit *lit;
    float (*behind)[3];
} reflecting;

// What white surfaces at a point that face along the half axes reflect of the meshes, less what these keep
// off.
static void reflect_at(void *context, int point, int worker)
{
    const reflecting *r = context;
    float(*out)[3] = r->grid->scratch[point], weights[6] = {0};
    (void)worker;
    memset(out, 0, sizeof *r->grid->scratch);
    for (int i = 0; i < ORR_BOUNCE_RAYS; i++) {
        const orr_lit_hit *hit = &r->grid->hits[point * ORR_BOUNCE_RAYS + i];
        float d[3], around[3] = {0}, light[3];
        orr_bounce_direction(i, d);
        if (hit->base[0] + hit->base[1] + hit->base[2] > 0.0f) {
            orr_bounce_light_at(r->lit, hit, around);
        }
        for (int k = 0; k < 3; k++) {
            light[k] = hit->light[k] + hit->base[k] * around[k] - r->behind[i][k];
        }
        for (int axis = 0; axis < 3; axis++) {
            const int face = 2 * axis + (d[axis] < 0.0f);
            const float cosine = fabsf(d[axis]);
            weights[face] += cosine;
            for (int k = 0; k < 3; k++) {
                out[face][k] += cosine * light[k];
            }
        }
    }
    for (int face = 0; face < 6; face++) {
        for (int k = 0; k < 3; k++) {
            out[face][k] /= weights[face];
        }
    }
}

static bool is_in_body(const orr_bounce_grid *g, int point)
{
    int dark = 0;
    for (int i = 0; i < ORR_BOUNCE_RAYS; i++) {
        dark += g->hits[point * ORR_BOUNCE_RAYS + i].dark_back;
    }
    return dark > DARK_BACKS;
}

// A point that is in a body has the mean of its neighbours that are not; true: it has some.
static bool fill_from_neighbours(orr_bounce_grid *g, int point, const uint8_t *known)
{
    const int *n = g->place.points, at[3] = {point % n[0], point / n[0] % n[1], point / n[0] / n[1]};
    const int stride[3] = {1, n[0], n[0] * n[1]};
    float sum[6][3] = {{0}};
    int count = 0;
    for (int side = 0; side < 6; side++) {
        const int axis = side / 2, step = side % 2 ? -1 : 1, other = point + step * stride[axis];
        if (at[axis] + step >= 0 && at[axis] + step < n[axis] && known[other]) {
            count++;
            for (int k = 0; k < 18; k++) {
                (&sum[0][0])[k] += (&g->light[other][0][0])[k];
            }
        }
    }
    for (int k = 0; k < 18 && count > 0; k++) {
        (&g->light[point][0][0])[k] = (&sum[0][0])[k] / (float)count;
    }
    return count > 0;
}

static void fill_bodies(orr_bounce_grid *g)
{
    uint8_t known[ORR_ENVIRONMENT_POINTS], next[ORR_ENVIRONMENT_POINTS];
    bool more = true;
    for (int i = 0; i < g->count; i++) {
        known[i] = next[i] = !is_in_body(g, i);
    }
    while (more) {
        more = false;
        for (int i = 0; i < g->count; i++) {
            if (!known[i] && fill_from_neighbours(g, i, known)) {
                next[i] = 1;
                more = true;
            }
        }
        memcpy(known, next, (size_t)g->count);
    }
}

void orr_bounce_grid_reflect(orr_bounce_grid *g, orr_jobs *jobs, const orr_bounce_lit *lit,
                             float (*behind)[3])
{
    reflecting r = {g, lit, behind};
    memset(g->light, 0, (size_t)g->count * sizeof *g->light);
    for (int i = 0; i < ORR_BOUNCES && g->any; i++) {
        orr_jobs_for(jobs, g->count, reflect_at, &r);
        memcpy(g->light, g->scratch, (size_t)g->count * sizeof *g->light);
        fill_bodies(g);
    }
}

void orr_bounce_grid_fill(const orr_bounce_grid *g, const float centre[3], orr_environment *environment)
{
    environment->grid = (orr_environment_grid){.points = {0}};
    if (!g->any) {
        return;
    }
    environment->grid = g->place;
    float least = 0.0f;
    const float *light = &g->light[0][0][0];
    for (int i = 0; i < 18 * g->count; i++) {
        least = fminf(least, light[i]);
    }
    environment->grid.offset = -least;
    for (int k = 0; k < 3; k++) {
        environment->grid.low[k] -= centre[k];
    }
    uint32_t *texels = orr_environment_grid_texels(environment);
    for (int i = 0; i < 6 * g->count; i++) {
        float rgb[3];
        for (int k = 0; k < 3; k++) {
            rgb[k] = fminf(light[3 * i + k] - least, 65408.0f);
        }
        texels[i] = orr_environment_encode(rgb);
    }
}
