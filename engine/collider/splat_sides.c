#include "engine/collider/splat_sides.h"

#include "engine/maths/vector.h"

#include <math.h>

enum { BLOCK = 1024, AROUND = 4, DIRECTIONS = 8 };

static const float STEP = 0.25f; // cells
static const float REACH = 4.0f; // cells beyond a splat's own thickness in which free space is searched
static const float EVEN = 1.0f;  // cells: sides that differ by less are both open
static const float ROUND_SHARE =
    0.6f;                             // of the next axis: a splat whose thinnest axis is longer has no normal
static const float NARROW = 6.0f;     // cells from a splat: free space there says that it is on a rod
static const float HAZE_CELLS = 6.0f; // a splat that is thicker says nothing about a surface

typedef struct side_search {
    const orr_lattice *lattice;
    const orr_collider_desc *desc;
    lattice_splat *splats;
    int64_t count;
    float up[3];
} side_search;

static orr_lattice_label label_at(const orr_lattice *l, const float point[3])
{
    int at[3];
    for (int k = 0; k < 3; k++) {
        at[k] = (int)lrintf(fminf(fmaxf(point[k], 0.0f), (float)(l->points[k] - 1)));
    }
    return (orr_lattice_label)l->label[orr_lattice_index(l, at[0], at[1], at[2])];
}

// How far free space is along a direction [cells]; INFINITY: not within the reach.
static float distance_to_free(const orr_lattice *l, const lattice_splat *s, float sign)
{
    float reach = REACH + 2.0f * s->deviation[0];
    for (float far = 0.0f; far <= reach; far += STEP) {
        float point[3];
        for (int k = 0; k < 3; k++) {
            point[k] = s->position[k] + sign * far * s->normal[k];
        }
        if (label_at(l, point) == ORR_POINT_FREE) {
            return far;
        }
    }
    return INFINITY;
}

// For splats without a normal of their own: where most of the free points around are. False: nowhere.
static bool find_normal(const orr_lattice *l, lattice_splat *s)
{
    double sum[3] = {0};
    for (int z = -AROUND; z <= AROUND; z++) {
        for (int y = -AROUND; y <= AROUND; y++) {
            for (int x = -AROUND; x <= AROUND; x++) {
                const int away[3] = {x, y, z};
                const float point[3] = {s->position[0] + (float)x, s->position[1] + (float)y,
                                        s->position[2] + (float)z};
                bool near = x * x + y * y + z * z <= AROUND * AROUND;
                for (int k = 0; k < 3 && near && label_at(l, point) == ORR_POINT_FREE; k++) {
                    sum[k] += away[k];
                }
            }
        }
    }
    double length = vec3_normalise(sum);
    for (int k = 0; k < 3; k++) {
        s->normal[k] = (float)sum[k];
    }
    return length > 1.0;
}

// Is there free space around a splat, in most directions along its disc? Then it is on a wire or a rod.
static bool is_narrow(const orr_lattice *l, const lattice_splat *s)
{
    double along[2][3] = {{0}},
           normal[3] = {(double)s->normal[0], (double)s->normal[1], (double)s->normal[2]};
    const double other[3] = {fabs(normal[0]) < 0.5, fabs(normal[0]) >= 0.5, 0.0};
    vec3_cross(normal, other, along[0]);
    vec3_normalise(along[0]);
    vec3_cross(normal, along[0], along[1]);
    int open = 0;
    for (int i = 0; i < DIRECTIONS; i++) {
        double angle = 6.283185307179586 * i / DIRECTIONS;
        float point[3];
        for (int k = 0; k < 3; k++) {
            point[k] = s->position[k] + NARROW * (float)(cos(angle) * along[0][k] + sin(angle) * along[1][k]);
        }
        open += label_at(l, point) == ORR_POINT_FREE;
    }
    return open > DIRECTIONS / 2;
}

// Which side of a sheet is seen: 1 that of the normal, -1 the other, 0 unknown.
static float side_seen(const side_search *search, const lattice_splat *s)
{
    float upright = vec3f_dot(s->normal, search->up), nearest = INFINITY, side = 0.0f;
    if (is_narrow(search->lattice, s)) {
        return 0.0f;
    }
    if (fabsf(upright) > 0.5f) {
        return upright > 0.0f ? 1.0f : -1.0f;
    }
    for (int i = 0; i < search->desc->eye_count; i++) {
        float away[3];
        for (int k = 0; k < 3; k++) {
            away[k] = (float)(((double)search->desc->eyes[3 * i + k] - search->lattice->origin[k]) /
                              search->lattice->cell) -
                      s->position[k];
        }
        float square = vec3f_dot(away, away);
        if (square < nearest) {
            nearest = square;
            side = vec3f_dot(away, s->normal) >= 0.0f ? 1.0f : -1.0f;
        }
    }
    return side;
}

static void find_side(const side_search *search, lattice_splat *s)
{
    s->side = SPLAT_UNUSED;
    if (s->opacity <= 0.0f || s->deviation[0] > HAZE_CELLS ||
        label_at(search->lattice, s->position) == ORR_POINT_FREE) {
        return; // the last: too faint, or an island
    }
    // below a cell, which axis is the thinnest is noise
    if (s->deviation[0] > ROUND_SHARE * s->deviation[1] && !find_normal(search->lattice, s)) {
        return;
    }
    float ahead = distance_to_free(search->lattice, s, 1.0f),
          behind = distance_to_free(search->lattice, s, -1.0f);
    if (!isfinite(ahead) && !isfinite(behind)) {
        return;
    }
    bool sheet = isfinite(ahead) && isfinite(behind) && fabsf(ahead - behind) < EVEN;
    float side = sheet ? side_seen(search, s) : ahead <= behind ? 1.0f : -1.0f;
    for (int k = 0; k < 3; k++) {
        s->normal[k] *= side < 0.0f ? -1.0f : 1.0f;
    }
    s->side = !sheet ? SPLAT_SURFACE : side == 0.0f ? SPLAT_ROD : SPLAT_SHEET;
}

static void find_block(void *context, int block, int worker)
{
    (void)worker;
    const side_search *search = context;
    for (int64_t i = (int64_t)block * BLOCK; i < search->count && i < ((int64_t)block + 1) * BLOCK; i++) {
        find_side(search, &search->splats[i]);
    }
}

void splat_sides_find(const orr_lattice *lattice, const orr_collider_desc *desc, const float up[3],
                      lattice_splat *splats, int64_t count, orr_jobs *jobs)
{
    side_search search = {
        .lattice = lattice, .desc = desc, .splats = splats, .count = count, .up = {up[0], up[1], up[2]}};
    orr_jobs_for(jobs, orr_blocks(count, BLOCK), find_block, &search);
}
