// The density of a cloud says where its surfaces are solid, and with that which space is free. The surface
// itself is then a weighted mean of the splats' planes, turned towards free space (implicit moving least
// squares, Kolluri 2005), which is more accurate than where the density falls.
#include "engine/collider/splats.h"

#include "engine/collider/free_space.h"
#include "engine/collider/splat_sides.h"
#include "engine/core/memory.h"
#include "engine/maths/vector.h"

#include <math.h>

enum { MARGIN = 4 }; // cells around the surfaces and the balls that close gaps

static const double BEYOND = 0.25;          // of the size: how far single splats widen the trimmed bounds
static const double FAINT = 1.0 / 255.0;    // opacity of splats that are not drawn
static const double HALVED_MAX = 6e7;       // points of a lattice with half cells
static const double POINTS_MAX = 4e9;       // that all splats cover together, about 20 s on one thread
static const double SPLAT_POINTS_MAX = 6e7; // that one splat may cover

typedef struct splat_work {
    const orr_splat_pack *pack;
    const orr_collider_desc *desc;
    orr_lattice *lattice;
    lattice_splat *splats;
    int64_t count;
    splat_tiles tiles;
    float *sums;     // per worker: weights and distances of a tile
    float threshold; // weight where the opacity is that of a surface: 1 - exp(-weight)
    bool sides;      // the second pass
} splat_work;

static void read_splat(const orr_splat_pack *pack, int64_t i, float out[ORR_PACK_GEOMETRY])
{
    const float *block = pack->geometry + i / ORR_PACK_BLOCK * ORR_PACK_GEOMETRY * ORR_PACK_BLOCK;
    for (int k = 0; k < ORR_PACK_GEOMETRY; k++) {
        out[k] = block[k * ORR_PACK_BLOCK + i % ORR_PACK_BLOCK];
    }
}

// The bounds of all splats that are drawn, as far as they are near the trimmed bounds.
static orr_result find_bounds(const splat_work *w, const char *name, double low[3], double high[3],
                              orr_error *error)
{
    const orr_splat_pack *pack = w->pack;
    for (int k = 0; k < 3; k++) {
        low[k] = INFINITY;
        high[k] = -INFINITY;
    }
    for (int64_t i = 0; i < pack->count; i++) {
        float g[ORR_PACK_GEOMETRY];
        read_splat(pack, i, g);
        for (int k = 0; k < 3 && (double)g[12] >= FAINT; k++) {
            double size = (double)pack->high[k] - (double)pack->low[k], past = BEYOND * size;
            double spread =
                2.0 * sqrt((double)(g[3 + k] * g[3 + k] + g[6 + k] * g[6 + k] + g[9 + k] * g[9 + k]));
            low[k] = fmin(low[k], fmax((double)(g[k]) - spread, (double)pack->low[k] - past));
            high[k] = fmax(high[k], fmin((double)(g[k]) + spread, (double)pack->high[k] + past));
        }
    }
    bool found = high[0] >= low[0] && high[1] >= low[1] && high[2] >= low[2];
    return found ? ORR_OK
                 : orr_fail(error, ORR_CODE_ARGUMENT, "%s: expected splats that are not transparent", name);
}

// Half cells where there are few enough of them: the density of thin parts spreads by about a cell, and would
// hide them and the gaps between them.
static int points_per_cell(const orr_collider_desc *desc, const double low[3], const double high[3])
{
    double half = 0.5 * desc->cell, radius = ceil(0.5 * desc->gap / half), points[3];
    double count = orr_lattice_count(low, high, half, 2 * MARGIN + (int)fmin(radius, 100.0), points);
    double longest = fmax(fmax(points[0], points[1]), points[2]);
    bool few = count <= HALVED_MAX && longest <= ORR_MARCHING_RESOLUTION_MAX;
    return few && radius <= ORR_GAP_RADIUS_MAX ? 2 : 1;
}

static void scaled_axes(const splat_work *w, int64_t i, double axes[3][3], double lengths[3])
{
    float g[ORR_PACK_GEOMETRY];
    read_splat(w->pack, i, g);
    for (int a = 0; a < 3; a++) {
        for (int k = 0; k < 3; k++) {
            axes[a][k] = (double)g[3 + 3 * a + k] / w->lattice->cell;
        }
        lengths[a] = vec3_length(axes[a]);
    }
}

static void place_splat(const splat_work *w, int64_t i)
{
    lattice_splat *s = &w->splats[i];
    float g[ORR_PACK_GEOMETRY];
    double axes[3][3], lengths[3], normal[3];
    read_splat(w->pack, i, g);
    scaled_axes(w, i, axes, lengths);
    *s = (lattice_splat){.opacity = (double)g[12] >= FAINT ? g[12] : 0.0f};
    for (int k = 0; k < 3; k++) {
        s->position[k] = (float)(((double)g[k] - w->lattice->origin[k]) / w->lattice->cell);
    }
    lattice_splat_widen(s, axes);
    int thin = lengths[0] <= lengths[1] ? 0 : 1;
    thin = lengths[2] < lengths[thin] ? 2 : thin;
    vec3_cross(axes[(thin + 1) % 3], axes[(thin + 2) % 3], normal); // the thinnest may have no length
    vec3_normalise(normal);
    for (int k = 0; k < 3; k++) {
        s->normal[k] = (float)normal[k];
    }
    s->deviation[0] = (float)lengths[thin];
    s->deviation[1] = (float)fmin(lengths[(thin + 1) % 3], lengths[(thin + 2) % 3]);
}

static double points_of(const lattice_splat *s)
{
    double points = 1.0;
    for (int k = 0; k < 3; k++) {
        points *= 2.0 * (double)s->reach[k];
    }
    // a disc that is askew fills little of its box
    double third = 1e30, longest = (double)fmaxf(fmaxf(s->reach[0], s->reach[1]), s->reach[2]);
    third = 6.0 * ((double)s->deviation[0] + 1.0) * 4.0 * longest * longest;
    return fmin(points, third);
}

// Work is bounded: the splats that cover most points are left out until the rest are cheap enough.
static int64_t leave_out_haze(const splat_work *w)
{
    double most = SPLAT_POINTS_MAX, sum = INFINITY;
    int64_t left_out = 0;
    for (; sum > POINTS_MAX; most *= 0.5) {
        sum = 0.0;
        for (int64_t i = 0; i < w->count; i++) {
            double points = points_of(&w->splats[i]);
            sum += points <= most ? points : 0.0;
        }
    }
    for (int64_t i = 0; i < w->count; i++) {
        if (points_of(&w->splats[i]) > 2.0 * most) { // `most` was halved once more
            w->splats[i].opacity = 0.0f;
            left_out++;
        }
    }
    return left_out;
}

// A sheet covers its thickness, which is behind its surface or around it.
static void thicken_sheet(const splat_work *w, int64_t i)
{
    lattice_splat *s = &w->splats[i];
    double axes[3][3], lengths[3];
    scaled_axes(w, i, axes, lengths);
    int thin = lengths[0] <= lengths[1] ? 0 : 1;
    thin = lengths[2] < lengths[thin] ? 2 : thin;
    s->surface = 0.5f * SPLAT_SHEET_CELLS * (float)w->lattice->per_cell;
    for (int k = 0; k < 3; k++) {
        s->position[k] -= s->side == SPLAT_SHEET ? s->surface * s->normal[k] : 0.0f;
        axes[thin][k] = 0.9 * (double)(s->surface * s->normal[k]);
    }
    lattice_splat_widen(s, axes);
}

// Points that a tile has within the lattice.
static void mark_tile(void *context, int tile, int worker)
{
    splat_work *w = context;
    orr_lattice *l = w->lattice;
    float *weight = w->sums + (size_t)worker * 2 * SPLAT_TILE_POINTS, *distance = weight + SPLAT_TILE_POINTS;
    if (w->tiles.first[tile] == w->tiles.first[tile + 1]) {
        return;
    }
    splat_tile_sum(&w->tiles, w->splats, tile, weight, w->sides ? distance : NULL);
    int x0 = tile % w->tiles.count[0] * SPLAT_TILE,
        y0 = tile / w->tiles.count[0] % w->tiles.count[1] * SPLAT_TILE,
        z0 = tile / w->tiles.count[0] / w->tiles.count[1] * SPLAT_TILE;
    for (int i = 0; i < SPLAT_TILE_POINTS; i++) {
        int x = x0 + i % SPLAT_TILE, y = y0 + i / SPLAT_TILE % SPLAT_TILE,
            z = z0 + i / SPLAT_TILE / SPLAT_TILE;
        if (x >= l->points[0] || y >= l->points[1] || z >= l->points[2]) {
            continue;
        }
        size_t at = orr_lattice_index(l, x, y, z);
        if (!w->sides) {
            l->label[at] = weight[i] >= w->threshold ? ORR_POINT_SURFACE : ORR_POINT_OPEN;
        } else if (weight[i] >= w->threshold || (l->label[at] == ORR_POINT_SURFACE && weight[i] > 1e-3f)) {
            l->value[at] = orr_lattice_value(distance[i] / weight[i]);
        }
    }
}

static orr_result mark(splat_work *w, bool sides, orr_jobs *jobs, orr_error *error)
{
    ORR_TRY(splat_tiles_create(w->lattice, w->splats, w->count, &w->tiles, error));
    w->sides = sides;
    orr_jobs_for(jobs, w->tiles.count[0] * w->tiles.count[1] * w->tiles.count[2], mark_tile, w);
    splat_tiles_free(&w->tiles);
    return ORR_OK;
}

static orr_result fill(splat_work *w, const char *name, int radius, orr_jobs *jobs,
                       const orr_progress *progress, orr_collider_report *report, orr_error *error)
{
    ORR_ALLOC(w->splats, w->count, name, error);
    ORR_ALLOC(w->sums, (size_t)orr_jobs_workers(jobs) * 2 * SPLAT_TILE_POINTS, name, error);
    for (int64_t i = 0; i < w->count; i++) {
        place_splat(w, i);
    }
    report->haze = leave_out_haze(w);
    ORR_TRY(orr_progress_at(progress, "density", 0.0, error));
    ORR_TRY(mark(w, false, jobs, error));
    ORR_TRY(orr_progress_at(progress, "free space", 0.2, error));
    ORR_TRY(orr_free_space_find(w->lattice, w->desc, radius, name, jobs, report, error));
    ORR_TRY(orr_progress_at(progress, "surface", 0.35, error));
    double length = sqrt((double)vec3f_dot(w->desc->up, w->desc->up));
    float up[3];
    for (int k = 0; k < 3; k++) {
        up[k] = (float)((double)w->desc->up[k] / length);
    }
    splat_sides_find(w->lattice, w->desc, up, w->splats, w->count, jobs);
    for (int64_t i = 0; i < w->count; i++) {
        if (w->splats[i].side >= SPLAT_SHEET) {
            thicken_sheet(w, i);
        }
    }
    size_t size = orr_lattice_size(w->lattice);
    for (size_t i = 0; i < size; i++) {
        w->lattice->value[i] = orr_lattice_value(w->lattice->label[i] == ORR_POINT_FREE ? 1.0f : -1.0f);
    }
    return mark(w, true, jobs, error);
}

orr_result orr_collider_of_splats(const orr_splat_pack *pack, const orr_collider_desc *desc, const char *name,
                                  orr_jobs *jobs, const orr_progress *progress, orr_lattice *lattice,
                                  orr_collider_report *report, orr_error *error)
{
    *lattice = (orr_lattice){0};
    splat_work w = {.pack = pack,
                    .desc = desc,
                    .lattice = lattice,
                    .count = pack->count,
                    .threshold = (float)-log1p(-desc->opacity)};
    double low[3], high[3];
    ORR_TRY(find_bounds(&w, name, low, high, error));
    int per_cell = points_per_cell(desc, low, high);
    double cell = desc->cell / per_cell;
    int radius = (int)fmin(ceil(0.5 * desc->gap / cell), ORR_GAP_RADIUS_MAX);
    orr_result result = orr_lattice_create(lattice, low, high, cell, MARGIN * per_cell + radius, name, error);
    if (result == ORR_OK) {
        lattice->per_cell = per_cell;
        result = fill(&w, name, radius, jobs, progress, report, error);
    }
    orr_free(w.splats);
    orr_free(w.sums);
    if (result != ORR_OK) {
        orr_lattice_destroy(lattice);
    }
    return result;
}
