#include "assets/sampling.h"

#include "engine/core/memory.h"
#include "engine/maths/rng.h"

#include <stdlib.h>
#include <string.h>

// Darts are thrown at the surface, more than will fit; one that lands within the gap of an earlier one is
// lost. What remains is a Poisson disc set (Cook, "Stochastic sampling in computer graphics", 1986).
enum { DARTS = 20, CELLS = 1 << 18 };
static const float closed = 0.62f; // disc size over the mean distance of the neighbours

typedef struct dart {
    surface_sample sample;
    float gap;
    int triangle;
    int next; // in the same cell
} dart;

typedef struct board {
    dart *darts;
    int count, capacity;
    int *heads; // CELLS: newest dart of each cell
    float cell;
} board;

static float triangle_area(const shape_triangle *t)
{
    return 0.5f * length3(cross3(sub3(t->position[1], t->position[0]), sub3(t->position[2], t->position[0])));
}

static uint32_t cell_of(int x, int y, int z)
{
    return ((uint32_t)x * 73856093u ^ (uint32_t)y * 19349663u ^ (uint32_t)z * 83492791u) % CELLS;
}

static int cell_index(float x, float cell)
{
    return (int)floorf(x / cell);
}

// Calls `visit` for each dart within `reach`, on a surface that faces the same side, until it returns false.
static bool each_near(const board *b, const surface_sample *s, float reach,
                      bool (*visit)(void *context, const dart *other, float distance), void *context)
{
    const real3 p = s->position;
    for (int x = cell_index(p.x - reach, b->cell); x <= cell_index(p.x + reach, b->cell); x++) {
        for (int y = cell_index(p.y - reach, b->cell); y <= cell_index(p.y + reach, b->cell); y++) {
            for (int z = cell_index(p.z - reach, b->cell); z <= cell_index(p.z + reach, b->cell); z++) {
                for (int i = b->heads[cell_of(x, y, z)]; i >= 0; i = b->darts[i].next) {
                    const dart *other = &b->darts[i];
                    float distance = length3(sub3(p, other->sample.position));
                    if (distance < reach && dot3(s->normal, other->sample.normal) > 0.7f &&
                        !visit(context, other, distance)) {
                        return false;
                    }
                }
            }
        }
    }
    return true;
}

static bool leaves_gap(void *context, const dart *other, float distance)
{
    const dart *own = context;
    // between different materials: half of the distance each
    float gap = own->sample.material == other->sample.material ? fminf(own->gap, other->gap)
                                                               : 0.5f * (own->gap + other->gap);
    return distance >= gap;
}

static void throw_darts(board *b, const shape_mesh *s, int triangle, float scale, double *pending)
{
    const shape_triangle *t = &s->triangles[triangle];
    float gap = t->spacing * scale;
    *pending += (double)(DARTS * triangle_area(t) / (gap * gap));
    orr_rng rng = {.seed = 2, .stream = (uint32_t)triangle};
    for (; *pending >= 1.0; *pending -= 1.0) {
        float u = orr_rng_uniform(&rng), v = orr_rng_uniform(&rng);
        if (u + v > 1.0f) {
            u = 1.0f - u;
            v = 1.0f - v;
        }
        dart d = {.gap = gap, .triangle = triangle};
        d.sample.material = t->material;
        d.sample.position = add3(scale3(t->position[0], 1.0f - u - v),
                                 add3(scale3(t->position[1], u), scale3(t->position[2], v)));
        d.sample.normal = unit3(
            add3(scale3(t->normal[0], 1.0f - u - v), add3(scale3(t->normal[1], u), scale3(t->normal[2], v))));
        if (b->count == b->capacity || !each_near(b, &d.sample, gap, leaves_gap, &d)) {
            continue;
        }
        real3 p = d.sample.position;
        int *head =
            &b->heads[cell_of(cell_index(p.x, b->cell), cell_index(p.y, b->cell), cell_index(p.z, b->cell))];
        d.next = *head;
        *head = b->count;
        b->darts[b->count++] = d;
    }
}

typedef struct nearest {
    float distance[6]; // rising; the first is the sample itself
} nearest;

static bool note_distance(void *context, const dart *other, float distance)
{
    (void)other;
    nearest *n = context;
    for (int i = 0; i < 6; i++) {
        if (distance < n->distance[i]) {
            float swap = n->distance[i];
            n->distance[i] = distance;
            distance = swap;
        }
    }
    return true;
}

// The size that closes the surface between a sample and its neighbours.
static float disc_size(const board *b, const dart *d)
{
    nearest n;
    float reach = 2.0f * d->gap, sum = 0.0f;
    for (int i = 0; i < 6; i++) {
        n.distance[i] = 1.25f * d->gap; // where there are fewer
    }
    each_near(b, &d->sample, reach, note_distance, &n);
    for (int i = 1; i < 6; i++) {
        sum += n.distance[i];
    }
    return closed * sum / 5.0f;
}

// Vector from a sample to the nearest point of an edge, in the sample's plane.
static real3 to_edge(const surface_sample *s, real3 a, real3 b)
{
    real3 along = sub3(b, a), from = sub3(s->position, a);
    float t = fminf(fmaxf(dot3(from, along) / dot3(along, along), 0.0f), 1.0f);
    real3 v = sub3(scale3(along, t), from);
    return sub3(v, scale3(s->normal, dot3(v, s->normal)));
}

typedef struct edge_offsets {
    real3 offset[64]; // from the sample to the nearest point of each
    int count;
} edge_offsets;

// Offsets from the sample to the sharp edges of a triangle and of those up to `depth` smooth edges away.
static void find_edges(const shape_mesh *s, int triangle, int from, int depth, const surface_sample *sample,
                       edge_offsets *found)
{
    const shape_triangle *t = &s->triangles[triangle];
    for (int i = 0; i < 3; i++) {
        int beyond = t->neighbour[i];
        if (beyond < 0) {
            found->offset[found->count++] = to_edge(sample, t->position[i], t->position[(i + 1) % 3]);
        } else if (depth > 0 && beyond != from) {
            find_edges(s, beyond, triangle, depth - 1, sample, found);
        }
    }
}

// On a rod a disc is narrow around it and long along it.
static void bend_disc(const shape_triangle *t, surface_sample *sample)
{
    real3 turned = make_real3(0, 0, 0);
    float most = 0.0f; // curvature: turn of the normal per length
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        real3 turn = sub3(t->normal[j], t->normal[i]);
        float bend = length3(turn) / fmaxf(length3(sub3(t->position[j], t->position[i])), 1e-9f);
        if (bend > most) {
            most = bend;
            turned = turn;
        }
    }
    turned = sub3(turned, scale3(sample->normal, dot3(turned, sample->normal)));
    if (most * sample->size[0] > 0.12f && length3(turned) > 1e-6f) {
        sample->tangent = cross3(unit3(turned), sample->normal);
        sample->size[1] = fminf(sample->size[1], 0.34f / most);
        sample->size[0] *= 1.2f;
    }
}

// A disc must not stick out across a sharp edge. It is turned to lie along the nearest one, narrowed, and
// drawn in so far that it is half transparent there.
static void fit_disc(const shape_mesh *s, int triangle, float size, surface_sample *sample)
{
    const float half = 1.0f; // standard deviations from the middle to the edge
    edge_offsets edges = {.count = 0};
    find_edges(s, triangle, -1, 3, sample, &edges);
    real3 other;
    int nearest_offset = -1;
    float nearest_distance = half * size;
    for (int i = 0; i < edges.count; i++) {
        float distance = length3(edges.offset[i]);
        if (distance > 1e-6f && distance < nearest_distance) {
            nearest_distance = distance;
            nearest_offset = i;
        }
    }
    tangents3(sample->normal, &sample->tangent, &other);
    sample->size[0] = sample->size[1] = size;
    if (nearest_offset < 0) {
        bend_disc(&s->triangles[triangle], sample);
        return;
    }
    real3 out = unit3(edges.offset[nearest_offset]);
    sample->tangent = cross3(out, sample->normal);
    sample->size[1] = fmaxf(nearest_distance / half, 0.5f * size);
    sample->position = add3(sample->position, scale3(out, nearest_distance - half * sample->size[1]));
    edges.count = 0; // the offsets have changed
    find_edges(s, triangle, -1, 3, sample, &edges);
    const real3 axes[2] = {sample->tangent, out};
    for (int i = 0; i < edges.count; i++) {
        float distance = fmaxf(length3(edges.offset[i]), 1e-6f);
        for (int k = 0; k < 2; k++) {
            float facing = fabsf(dot3(edges.offset[i], axes[k])) / distance;
            if (facing > 0.6f) {
                sample->size[k] = fminf(sample->size[k], fmaxf(distance / half, 0.3f * size));
            }
        }
    }
}

static uint64_t spread_bits(float x)
{
    uint64_t bits = (uint64_t)((x + 2.0f) * 512.0f) & 0xFFF, spread = 0;
    for (int i = 0; i < 12; i++) {
        spread |= (bits >> i & 1) << (3 * i);
    }
    return spread;
}

static uint64_t morton(const surface_sample *s)
{
    return spread_bits(s->position.x) | spread_bits(s->position.y) << 1 | spread_bits(s->position.z) << 2;
}

static int compare_codes(const void *a, const void *b)
{
    const dart *x = a, *y = b;
    uint64_t p = morton(&x->sample), q = morton(&y->sample);
    return p != q ? (p > q) - (p < q) : (x->next > y->next) - (x->next < y->next);
}

static orr_result fill_board(board *b, const shape_mesh *s, int target, orr_error *error)
{
    double need = 0.0; // samples at a common gap of 1
    float least = 1e30f;
    for (int i = 0; i < s->count; i++) {
        const shape_triangle *t = &s->triangles[i];
        need += (double)(triangle_area(t) / (t->spacing * t->spacing));
        least = fminf(least, t->spacing);
    }
    // a full Poisson disc set has about 0.8 points per squared gap
    float scale = (float)sqrt(0.83 * need / target);
    b->capacity = 2 * target;
    b->cell = least * scale * 2.0f;
    ORR_ALLOC(b->darts, b->capacity, "samples", error);
    ORR_ALLOC(b->heads, CELLS, "samples", error);
    memset(b->heads, 0xFF, CELLS * sizeof *b->heads);
    double pending = 0.0;
    for (int i = 0; i < s->count; i++) {
        throw_darts(b, s, i, scale, &pending);
    }
    for (int i = 0; i < b->count; i++) {
        b->darts[i].sample.size[0] = disc_size(b, &b->darts[i]);
    }
    for (int i = 0; i < b->count; i++) {
        dart *d = &b->darts[i];
        fit_disc(s, d->triangle, d->sample.size[0], &d->sample);
        d->next = i; // makes the order complete
    }
    qsort(b->darts, (size_t)b->count, sizeof *b->darts, compare_codes);
    return ORR_OK;
}

orr_result sample_surface(const shape_mesh *s, int target, surface_sample **samples, int *count,
                          orr_error *error)
{
    board b = {0};
    orr_result result = fill_board(&b, s, target, error);
    *samples = result == ORR_OK ? orr_alloc((size_t)b.count, sizeof **samples) : NULL;
    if (result == ORR_OK && !*samples) {
        result = orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %d samples", b.count);
    }
    for (int i = 0; result == ORR_OK && i < b.count; i++) {
        (*samples)[i] = b.darts[i].sample;
    }
    *count = b.count;
    orr_free(b.darts);
    orr_free(b.heads);
    return result;
}
