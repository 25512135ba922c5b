#include "engine/loop/world/soft/soft_pull.h"

#include "engine/core/memory.h"
#include "engine/loop/world/soft/soft_sleep.h"
#include "engine/maths/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char what[] = "a soft body that is pulled";

static const double stiffness = 100.0; // 1/s^2, for the mass of the body: MuJoCo's default for its mouse
static const double part = 0.1; // of the mass: what the hand holds, so that it does not tear at a vertex

typedef struct near_vertex {
    double square;
    int32_t vertex;
} near_vertex;

static int by_distance(const void *a, const void *b)
{
    const near_vertex *x = a, *y = b;
    return x->square != y->square ? (x->square > y->square) - (x->square < y->square) : x->vertex - y->vertex;
}

static void between(const double from[3], const double to[3], double out[3])
{
    for (int k = 0; k < 3; k++) {
        out[k] = to[k] - from[k];
    }
}

static orr_world_soft *find_body(const orr_world *world, const orr_layer_data *layer)
{
    const orr_world_soft *found = orr_world_soft_find(world, layer);
    return found ? &world->softs->bodies[found - world->softs->bodies] : NULL;
}

static double total_mass(const orr_world_soft *s)
{
    const double *mass = orr_soft_masses(s->layer->model);
    double total = 0.0;
    for (int i = 0; i < s->layer->cage->vertices; i++) {
        total += mass[i];
    }
    return total;
}

static orr_result hold(orr_world_soft *s, const double point[3], near_vertex *near, orr_error *error)
{
    const double *mass = orr_soft_masses(s->layer->model), *position = orr_world_soft_positions(s, 0);
    const int vertices = s->layer->cage->vertices;
    orr_soft_hand *hand = &s->hand;
    for (int i = 0; i < vertices; i++) {
        double away[3];
        between(point, position + (ptrdiff_t)i * 3, away);
        near[i] = (near_vertex){vec3_dot(away, away), i};
    }
    qsort(near, (size_t)vertices, sizeof *near, by_distance);
    const double enough = part * total_mass(s);
    hand->count = 0;
    hand->mass = 0.0;
    memcpy(hand->to, point, sizeof hand->to);
    for (int i = 0; i < vertices && hand->mass < enough; i++) {
        ORR_GROW(hand->held, hand->capacity, hand->count + 1, what, error);
        orr_soft_held *held = &hand->held[hand->count++];
        held->vertex = near[i].vertex;
        between(point, position + (ptrdiff_t)held->vertex * 3, held->offset);
        hand->mass += mass[held->vertex];
    }
    return ORR_OK;
}

orr_result orr_world_soft_grab(const orr_world *world, const orr_layer_data *layer, const double point[3],
                               orr_error *error)
{
    orr_world_soft *s = find_body(world, layer);
    if (!s) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: expected a soft body", layer->name);
    }
    near_vertex *near;
    ORR_ALLOC(near, s->layer->cage->vertices, what, error);
    const orr_result result = hold(s, point, near, error);
    orr_free(near);
    return result;
}

void orr_world_soft_pull(const orr_world *world, const orr_layer_data *layer, const double to[3])
{
    orr_world_soft *s = find_body(world, layer);
    if (s && memcmp(s->hand.to, to, sizeof s->hand.to) != 0) {
        memcpy(s->hand.to, to, sizeof s->hand.to);
        orr_soft_wake(world, 0);
    }
}

void orr_world_soft_release(const orr_world *world, const orr_layer_data *layer)
{
    orr_world_soft *s = find_body(world, layer);
    if (s) {
        s->hand.count = 0;
        orr_soft_wake(world, 0);
    }
}

// f = k (to - x) - c (x - x0) / step for x at the end of the step and x0 at its start, is a spring of
// k + c / step from where x0 would be with a part of its gap.
orr_result orr_soft_pull_tie(const orr_world_soft *s, int soft, const double *position, double step,
                             orr_soft_found *f, orr_error *error)
{
    const orr_soft_hand *hand = &s->hand;
    if (hand->count == 0) {
        return ORR_OK;
    }
    const double *mass = orr_soft_masses(s->layer->model);
    const double scale = total_mass(s) / hand->mass, damping = 2.0 * sqrt(stiffness);
    ORR_GROW(f->tie, f->tie_capacity, f->tie_count + hand->count, what, error);
    for (int i = 0; i < hand->count; i++) {
        const orr_soft_held *held = &hand->held[i];
        orr_soft_tie *tie = &f->tie[f->tie_count++];
        const double whole = stiffness + damping / step;
        *tie = (orr_soft_tie){.soft = soft,
                              .vertex = held->vertex,
                              .body = -1,
                              .stiffness = scale * mass[held->vertex] * whole};
        for (int k = 0; k < 3; k++) {
            const double gap = position[(ptrdiff_t)held->vertex * 3 + k] - hand->to[k] - held->offset[k];
            tie->gap[k] = gap * stiffness / whole;
        }
    }
    return ORR_OK;
}

void orr_soft_pull_clear(orr_soft_hand *hand)
{
    orr_free(hand->held);
    *hand = (orr_soft_hand){0};
}
