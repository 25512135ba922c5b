// Rigid bodies between the vertices of a soft one: the point of each triangle that is nearest to a geom.
#include "engine/core/memory.h"
#include "engine/loop/world/geom_distance.h"
#include "engine/loop/world/soft/soft_nearest.h"
#include "engine/loop/world/soft/soft_plane.h"
#include "engine/maths/nearest.h"
#include "engine/maths/rotation.h"
#include "engine/maths/vector.h"

#include <math.h>
#include <string.h>

static const double most_reach = 0.05;  // m: points farther away touch nothing in a step
static const double least_reach = 2e-3; // m: nor farther than this, where nothing moves
static const double ahead_of = 1.5;     // steps of motion that are looked at
static const double gain = 1e-3;        // of its longest side: what a point must be nearer than the corners
static const double coarse = 1e-2;      // the same of what is fixed, which so little depth does not shake
static const double full = 0.03;   // of its longest side: from where on its contact has all of its stiffness;
                                   // contacts that come and go at once shake what rests there
static const double corner = 0.98; // weights above are those of a corner, which touches by itself

enum { FEATURES = 8, SIDES_OF_BLOCK = 512 };
static const char what[] = "contacts of soft bodies";
static const double level = 5e-3; // m: that other points may be farther than the nearest one
static const double apart = 5e-3; // m: that points of one triangle are from each other at least
static const double undone = 0.5; // m/s

// The side's corners in the geom's frame as both move in the step, but for the approach at the point that is
// nearest at its start. Where a ball rolls, the point that is nearest at the end of the step is ahead of that
// one, and forces behind the ball's middle would push it on. now: the corners at the start.
static void bring_ahead(const orr_soft_near *g, const orr_soft_body *body, const orr_soft_side *side,
                        const double (*now)[3], const orr_soft_nearest *at, double corners[3][3])
{
    double approach = 0.0;
    for (int i = 0; i < 3; i++) {
        const ptrdiff_t from = (ptrdiff_t)side->vertex[i] * 3;
        double d[3];
        for (int k = 0; k < 3; k++) {
            const double there = body ? body->centre[k] + side->time_step * body->velocity[k] : 0.0;
            d[k] = side->position[from + k] + side->time_step * side->velocity[from + k] - there;
        }
        if (body) {
            mat_apply_transposed(g->turn, d, d);
        }
        for (int k = 0; k < 3; k++) {
            d[k] += (body ? body->centre[k] : 0.0) - g->position[k];
        }
        mat_apply_transposed(g->rotation, d, corners[i]);
        for (int k = 0; k < 3; k++) {
            approach += at->weight[i] * at->normal[k] * (corners[i][k] - now[i][k]);
        }
    }
    for (int i = 0; i < 9; i++) {
        corners[i / 3][i % 3] -= approach * at->normal[i % 3];
    }
}

// Has the geom one nearest point, which moves as it rolls? On a flat face many points are about as near, and
// rounding decides which of them is the nearest at the end of a step.
static bool rolls(int type)
{
    return type == ORR_GEOM_SPHERE || type == ORR_GEOM_CAPSULE || type == ORR_GEOM_ELLIPSOID ||
           type == ORR_GEOM_CYLINDER;
}

// m: how far all corners of the side are from what orr_soft_contact_find has seen, at least.
static double clear_of(const orr_soft_side *side, const orr_soft_found *f)
{
    const double *clear = f->clear;
    const double a = clear[side->vertex[0]], b = clear[side->vertex[1]], c = clear[side->vertex[2]];
    const double least = a < b ? a : b;
    return least < c ? least : c;
}

// m: how near the side must be to touch the geom in the step, by how fast its corners are as the body sees
// them.
static double reach_of(const orr_soft_side *side, const orr_soft_body *body)
{
    double square = 0.0;
    for (int i = 0; i < 3; i++) {
        const ptrdiff_t from = (ptrdiff_t)side->vertex[i] * 3;
        double arm[3], d[3] = {0.0, 0.0, 0.0};
        for (int k = 0; k < 3 && body; k++) {
            arm[k] = side->position[from + k] - body->centre[k];
        }
        if (body) {
            vec3_cross(body->spin, arm, d);
        }
        for (int k = 0; k < 3; k++) {
            d[k] = side->velocity[from + k] - d[k] - (body ? body->velocity[k] : 0.0);
        }
        const double own = vec3_dot(d, d);
        square = own > square ? own : square;
    }
    return fmin(least_reach + fabs(side->margin) + ahead_of * side->time_step * sqrt(square), most_reach);
}

// How far the corners are, from near geom number n: as orr_soft_contact_find has seen them, if it has.
static void find_corners(const orr_model *m, const orr_soft_found *f, int n, const orr_soft_side *side,
                         const double (*corners)[3], orr_geom_distance at[3])
{
    for (int i = 0; i < 3; i++) {
        at[i].distance = NAN;
        if (n < f->seen_geoms) {
            at[i] = f->seen[(ptrdiff_t)n * f->vertices + side->vertex[i]];
        }
        if (isnan(at[i].distance)) {
            at[i] = orr_geom_distance_at(m, f->near[n].geom, corners[i]);
        }
    }
}

// Can a point of the triangle be nearer to the geom than its corners are? Of a convex geom not where the
// distance does not fall from the nearest corner on.
static bool may_be_nearer(const orr_model *m, int geom, const double (*corners)[3],
                          const orr_geom_distance at[3], double longest, double reach, double enough,
                          double *least)
{
    int first = 0;
    for (int i = 1; i < 3; i++) {
        first = at[i].distance < at[first].distance ? i : first;
    }
    *least = at[first].distance;
    bool falls = false;
    for (int i = 0; i < 3; i++) {
        double along[3];
        for (int k = 0; k < 3; k++) {
            along[k] = corners[i][k] - corners[first][k];
        }
        falls |= vec3_dot(at[first].normal, along) < -enough * longest;
    }
    const bool convex = m->geom_type[geom] != ORR_GEOM_HFIELD && m->geom_type[geom] != ORR_GEOM_SDF;
    return *least < reach + longest && (falls || !convex);
}

// Vertices of a hull that are about as far along the normal as the farthest; some, where they are many.
static int list_hull(const orr_model *m, int mesh, const double normal[3], double out[FEATURES][3])
{
    const double *vertex = m->hull_vert + (ptrdiff_t)m->mesh_hullvertadr[mesh] * 3;
    const int vertices = m->mesh_hullvertnum[mesh];
    double farthest = -INFINITY;
    int total = 0, seen = 0, count = 0;
    for (int i = 0; i < vertices; i++) {
        farthest = fmax(farthest, vec3_dot(normal, vertex + (ptrdiff_t)i * 3));
    }
    for (int i = 0; i < vertices; i++) {
        total += vec3_dot(normal, vertex + (ptrdiff_t)i * 3) > farthest - level;
    }
    for (int i = 0; i < vertices && count < FEATURES; i++) {
        const double *v = vertex + (ptrdiff_t)i * 3;
        if (vec3_dot(normal, v) > farthest - level && seen++ * FEATURES >= count * total) {
            memcpy(out[count++], v, sizeof out[0]);
        }
    }
    return count;
}

// Points of a geom that a flat face of it rests on, of which this is the normal; returns how many.
static int list_features(const orr_model *m, int geom, const double normal[3], double out[FEATURES][3])
{
    const double *size = m->geom_size + (ptrdiff_t)geom * 3;
    int count = 0;
    switch (m->geom_type[geom]) {
    case ORR_GEOM_BOX:
        for (; count < 8; count++) {
            for (int k = 0; k < 3; k++) {
                out[count][k] = count >> k & 1 ? size[k] : -size[k];
            }
        }
        break;
    case ORR_GEOM_CYLINDER:
        for (; count < 8; count++) {
            out[count][0] = count % 2 ? 0.0 : count & 2 ? size[0] : -size[0];
            out[count][1] = count % 2 == 0 ? 0.0 : count & 2 ? size[0] : -size[0];
            out[count][2] = count & 4 ? size[1] : -size[1];
        }
        break;
    case ORR_GEOM_CAPSULE:
        for (; count < 2; count++) {
            out[count][0] = out[count][1] = 0.0;
            out[count][2] = count ? size[1] : -size[1];
        }
        break;
    case ORR_GEOM_MESH:
        return list_hull(m, m->geom_dataid[geom], normal, out);
    default:
        break;
    }
    return count;
}

static orr_result add(const orr_model *m, const orr_soft_near *g, const orr_soft_side *side,
                      const orr_soft_nearest *at, double share, const orr_soft_found *f, orr_soft_block *out)
{
    double point[3], velocity[3];
    const orr_geom_distance now = orr_soft_side_at(side, at, point, velocity);
    // overlap is undone slowly
    const double more = fmax(side->margin, -undone * side->time_step - at->distance);
    const orr_soft_plane plane = orr_soft_plane_ahead(m, f, g, point, velocity, &now, side->time_step);
    ORR_GROW(out->pair, out->pair_capacity, out->pair_count + 1, what, &out->error);
    orr_soft_pair *pair = &out->pair[out->pair_count++];
    *pair = (orr_soft_pair){.rigid = true,
                            .body = g->body,
                            .distance = plane.distance + more,
                            .share = share,
                            .friction = fmax(side->friction, m->geom_friction[(ptrdiff_t)g->geom * 3])};
    for (int k = 0; k < 4; k++) {
        pair->soft[k] = side->soft;
        pair->vertex[k] = side->vertex[k % 3];
        pair->weight[k] = k < 3 ? at->weight[k] : 0.0;
    }
    memcpy(pair->normal, plane.normal, sizeof pair->normal);
    orr_soft_plane_reach(&plane, more, pair->reach);
    return ORR_OK;
}

static bool is_apart(const orr_soft_nearest *a, const orr_soft_nearest *b)
{
    double d[3];
    for (int k = 0; k < 3; k++) {
        d[k] = a->point[k] - b->point[k];
    }
    return vec3_dot(d, d) > apart * apart;
}

// The nearest point of the triangle, and where the geom's corners stand over it, as far as they are about as
// near.
static orr_result press(const orr_model *m, int n, const orr_soft_side *side, double reach,
                        const orr_soft_found *f, orr_soft_block *out)
{
    const orr_soft_near *g = &f->near[n];
    double corners[3][3], ahead[3][3], features[FEATURES][3], least;
    orr_geom_distance seen[3];
    orr_soft_nearest at[FEATURES + 1];
    const double enough = g->body < 0 ? coarse : gain;
    orr_soft_side_bring(g, side, corners);
    find_corners(m, f, n, side, (const double(*)[3])corners, seen);
    if (!may_be_nearer(m, g->geom, (const double(*)[3])corners, seen, side->longest, reach, enough, &least)) {
        return ORR_OK;
    }
    at[0] = orr_soft_nearest_find(m, g->geom, (const double(*)[3])corners, side->longest);
    if (!(at[0].distance < reach && at[0].distance < least - enough * side->longest)) {
        return ORR_OK;
    }
    const double share =
        fmin((least - at[0].distance) / side->longest - enough, full - enough) / (full - enough);
    if (rolls(m->geom_type[g->geom])) {
        const orr_soft_body *body = g->body >= 0 ? &f->body[g->body] : NULL;
        bring_ahead(g, body, side, (const double(*)[3])corners, &at[0], ahead);
        at[0] = orr_soft_nearest_find(m, g->geom, (const double(*)[3])ahead, side->longest);
        orr_soft_nearest_evaluate(m, g->geom, (const double(*)[3])corners, &at[0]);
    }
    int count = 1;
    const int candidates = list_features(m, g->geom, at[0].normal, features);
    for (int i = 0; i < candidates; i++) {
        orr_soft_nearest *next = &at[count];
        orr_nearest_in_triangle(features[i], corners[0], corners[1], corners[2], next->weight);
        orr_soft_nearest_evaluate(m, g->geom, (const double(*)[3])corners, next);
        bool other = next->distance < at[0].distance + level;
        for (int k = 0; k < count && other; k++) {
            other = is_apart(next, &at[k]);
        }
        count += other;
    }
    for (int i = 0; i < count; i++) {
        if (fmax(fmax(at[i].weight[0], at[i].weight[1]), at[i].weight[2]) < corner) {
            ORR_TRY(add(m, g, side, &at[i], share, f, out));
        }
    }
    return ORR_OK;
}

// A search for points of the triangles of a soft body.
typedef struct side_search {
    const orr_model *model;
    const orr_soft_collider *collider;
    orr_soft_found *found;
    const int32_t *surface; // count x 3
    int count, soft;
    double time_step;
} side_search;

static orr_result press_side(const side_search *s, int i, orr_soft_block *out)
{
    const orr_model *m = s->model;
    const orr_soft_found *f = s->found;
    orr_soft_side side = {.vertex = s->surface + (ptrdiff_t)i * 3,
                          .position = s->collider->position,
                          .velocity = s->collider->velocity,
                          .soft = s->soft,
                          .margin = s->collider->margin,
                          .friction = s->collider->friction,
                          .time_step = s->time_step};
    const double clear = clear_of(&side, f);
    if (clear == INFINITY) {
        return ORR_OK;
    }
    orr_soft_side_measure_edges(&side);
    if (!(clear < most_reach + side.longest)) { // many of them, at less cost
        return ORR_OK;
    }
    const double still = reach_of(&side, NULL);
    bool measured = false;
    for (int n = 0; n < f->near_count; n++) {
        const orr_soft_near *g = &f->near[n];
        const double reach = g->body >= 0 ? reach_of(&side, &f->body[g->body]) : still;
        if (m->geom_type[g->geom] == ORR_GEOM_PLANE || !(clear < reach + side.longest)) {
            continue;
        }
        if (!measured) {
            orr_soft_side_measure_middle(&side);
            measured = true;
        }
        double far = m->geom_rbound[g->geom] + side.radius + most_reach, d[3];
        for (int k = 0; k < 3; k++) {
            d[k] = side.middle[k] - g->position[k];
        }
        if (vec3_dot(d, d) < far * far) {
            ORR_TRY(press(m, n, &side, reach, f, out));
        }
    }
    return ORR_OK;
}

static void press_block(void *context, int block, int worker)
{
    (void)worker;
    const side_search *s = context;
    orr_soft_block *out = &s->found->block[block];
    const int first = block * SIDES_OF_BLOCK, last = first + SIDES_OF_BLOCK;
    out->pair_count = 0, out->result = ORR_OK;
    for (int i = first; i < last && i < s->count && out->result == ORR_OK; i++) {
        out->result = press_side(s, i, out);
    }
}

orr_result orr_soft_contact_press(const orr_model *m, const orr_soft_collider *collider, int soft,
                                  double time_step, orr_jobs *jobs, orr_soft_found *f, orr_error *error)
{
    side_search search = {.model = m, .collider = collider, .found = f, .soft = soft, .time_step = time_step};
    search.surface = orr_soft_surface(collider->model, &search.count);
    const int blocks = f->near_count > 0 ? orr_blocks(search.count, SIDES_OF_BLOCK) : 0;
    ORR_TRY(orr_soft_found_share(f, blocks, jobs, press_block, &search, error));
    for (int i = 0; i < blocks; i++) {
        const orr_soft_block *b = &f->block[i];
        if (b->result != ORR_OK && error) {
            *error = b->error;
        }
        ORR_TRY(b->result);
        ORR_GROW(f->pair, f->pair_capacity, f->pair_count + b->pair_count, what, error);
        if (b->pair_count > 0) {
            memcpy(f->pair + f->pair_count, b->pair, (size_t)b->pair_count * sizeof *b->pair);
        }
        f->pair_count += b->pair_count;
    }
    return ORR_OK;
}
