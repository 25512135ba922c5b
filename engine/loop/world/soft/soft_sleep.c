#include "engine/loop/world/soft/soft_sleep.h"

#include "engine/core/memory.h"

#include <math.h>
#include <string.h>

enum { CALM_STEPS = 120 }; // half a second

static const double slow = 0.02;  // m/s: nothing is faster where all is calm
static const double drift = 1e-3; // m: nor farther from where it was half a second ago
static const double moved = 1e-4; // m, or of an axis: a geom that is this far from where it was

void orr_soft_wake(const orr_world *world, int index)
{
    if (world->softs->sleep) {
        world->softs->sleep[index].calm = 0;
        world->softs->sleep[index].asleep = false;
    }
}

bool orr_soft_sleeps(const orr_world *world, int index, const orr_world_physics *p,
                     const orr_soft_frame *frame, const double gravity[3])
{
    const orr_world_softs *softs = world->softs;
    orr_soft_sleep *s = &softs->sleep[index];
    bool woken = !s->asleep || memcmp(&s->frame, frame, sizeof *frame) != 0 || s->physics != p ||
                 (p && s->geom_count != p->model->ngeom) ||
                 memcmp(s->gravity, gravity, sizeof s->gravity) != 0;
    for (int i = 0; i < softs->count && p && !woken; i++) {
        const orr_world_soft *body = &softs->bodies[i];
        woken =
            !body->layer->untouchable &&
            orr_soft_contact_disturbed(softs->contact, p, index, frame, orr_world_soft_positions(body, index),
                                       body->layer->cage->vertices, s->geoms, moved);
    }
    if (woken && s->asleep) {
        orr_soft_wake(world, index);
    }
    return s->asleep;
}

// How far a vertex is at most from where it was when all became calm.
static double drifted(const orr_world *world, int index, const double *start)
{
    const orr_world_softs *softs = world->softs;
    double most = 0.0;
    for (int i = 0; i < softs->count; i++) {
        const double *now = orr_world_soft_positions(&softs->bodies[i], index);
        const size_t numbers = orr_world_soft_numbers(&softs->bodies[i]);
        for (size_t k = 0; k < numbers; k++) {
            most = fmax(most, fabs(now[k] - *start++));
        }
    }
    return most;
}

static orr_result begin(const orr_world *world, int index, orr_soft_sleep *s, orr_error *error)
{
    const orr_world_softs *softs = world->softs;
    size_t numbers = 0;
    for (int i = 0; i < softs->count; i++) {
        numbers += orr_world_soft_numbers(&softs->bodies[i]);
    }
    ORR_GROW(s->start, s->start_capacity, (int)numbers, "soft bodies at rest", error);
    double *start = s->start;
    for (int i = 0; i < softs->count; i++) {
        const size_t count = orr_world_soft_numbers(&softs->bodies[i]);
        memcpy(start, orr_world_soft_positions(&softs->bodies[i], index), count * sizeof *start);
        start += count;
    }
    s->calm = 1;
    return ORR_OK;
}

orr_result orr_soft_sleep_note(const orr_world *world, int index, const orr_world_physics *p,
                               const orr_soft_frame *frame, const double gravity[3], double fastest,
                               bool pushes, orr_error *error)
{
    const orr_world_softs *softs = world->softs;
    orr_soft_sleep *s = &softs->sleep[index];
    if (!(fastest < slow) || pushes) {
        s->calm = 0;
        return ORR_OK;
    }
    if (s->calm == 0) {
        return begin(world, index, s, error);
    }
    if (++s->calm < CALM_STEPS) {
        return ORR_OK;
    }
    if (drifted(world, index, s->start) > drift) {
        return begin(world, index, s, error);
    }
    if (p) {
        ORR_GROW(s->geoms, s->geom_capacity, 12 * p->model->ngeom, "soft bodies at rest", error);
        orr_soft_contact_geoms(softs->contact, p, index, s->geoms);
    }
    for (int i = 0; i < softs->count; i++) {
        orr_soft_set(softs->bodies[i].copies[index], 0, NULL, softs->bodies[i].still);
    }
    memcpy(s->gravity, gravity, sizeof s->gravity);
    s->frame = *frame;
    s->physics = p, s->geom_count = p ? p->model->ngeom : 0;
    s->asleep = true;
    return ORR_OK;
}
