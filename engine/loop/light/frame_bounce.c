#include "engine/loop/light/frame_bounce.h"

#include "engine/core/hash.h"
#include "engine/core/memory.h"

#include <math.h>
#include <string.h>

bool orr_frame_is_flat(const orr_mesh *mesh)
{
    float least = INFINITY, most = 0.0f;
    for (int k = 0; k < 3; k++) {
        float side = mesh->high[k] - mesh->low[k];
        least = fminf(least, side);
        most = fmaxf(most, side);
    }
    return least < 1e-3f * most;
}

// ---- what rays meet ----

// And of what was captured in their light, whose maps may be made later.
static uint64_t hash_lights(const orr_draw_list *list)
{
    uint64_t hash = orr_hash_bytes(ORR_HASH_BEGIN, &list->sun, sizeof list->sun);
    hash = orr_hash_bytes(hash, list->lights, (size_t)list->light_count * sizeof *list->lights);
    hash = orr_hash_bytes(hash, &list->shadows, sizeof list->shadows);
    return list->self_shadow ? orr_hash_bytes(hash, &list->self_shadow->key, sizeof(uint64_t)) : hash;
}

orr_result orr_frame_bounce_hold(orr_frame_bounce *b, const orr_frame_slot *slot, bool nothing,
                                 orr_jobs *jobs, orr_isa isa, orr_error *error)
{
    const orr_draw_list *list = &slot->list;
    if (b->capacity < list->mesh_count) {
        orr_free(b->meshes);
        orr_free(b->layers);
        orr_free(b->passed);
        b->capacity = 0;
        b->meshes = orr_alloc((size_t)list->mesh_count, sizeof *b->meshes);
        b->layers = orr_alloc((size_t)list->mesh_count, sizeof *b->layers);
        b->passed = orr_alloc((size_t)list->mesh_count, sizeof *b->passed);
        if (!b->meshes || !b->layers || !b->passed) {
            return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: light of %d meshes",
                            list->mesh_count);
        }
        b->capacity = list->mesh_count;
    }
    b->count = 0;
    for (int i = 0; i < list->mesh_count && !nothing; i++) {
        if (!list->meshes[i].bodies) {
            b->meshes[b->count] = list->meshes[i];
            b->layers[b->count++] = slot->mesh_layers[i];
        }
    }
    b->lights = hash_lights(list);
    orr_draw_list known = *list;
    known.meshes = b->meshes;
    known.mesh_count = b->count;
    return orr_lit_rays_hold(&b->rays, jobs, isa, &known, error);
}

static bool is_own(const orr_frame_bounce *b, int i, int layer)
{
    return b->layers[i] == layer && !orr_frame_is_flat(b->meshes[i].mesh);
}

uint64_t orr_frame_bounce_hash(const orr_frame_bounce *b, int layer)
{
    uint64_t hash = b->lights;
    for (int i = 0; i < b->count; i++) {
        if (!is_own(b, i, layer)) {
            hash = orr_hash_bytes(hash, &b->meshes[i].key, sizeof b->meshes[i].key);
            hash = orr_hash_bytes(hash, b->meshes[i].model, sizeof b->meshes[i].model);
        }
    }
    return hash;
}

void orr_frame_bounce_close(orr_frame_bounce *b)
{
    orr_lit_rays_free(&b->rays);
    orr_free(b->meshes);
    orr_free(b->layers);
    orr_free(b->passed);
    *b = (orr_frame_bounce){0};
}

// ---- grids ----

orr_result orr_bounce_state_advance(orr_bounce_state *s, orr_jobs *jobs, const orr_frame_bounce *bounce,
                                    const float low[3], const float high[3], uint64_t captured, bool *done,
                                    orr_error *error)
{
    uint64_t now = orr_frame_bounce_hash(bounce, -1);
    now = orr_hash_bytes(now, low, 3 * sizeof *low);
    now = orr_hash_bytes(now, high, 3 * sizeof *high);
    now = orr_hash_bytes(now, &captured, sizeof captured);
    *done = false;
    if (!s->making && s->of != now) {
        ORR_TRY(orr_bounce_grid_place(&s->next, low, high, error));
        s->making = true;
        s->looked = 0;
        s->of = now;
    }
    if (!s->making) {
        return ORR_OK;
    }
    const int count = s->next.count, slice = s->shown.count == 0 ? count : (count + 5) / 6;
    const int end = s->looked + slice < count ? s->looked + slice : count;
    orr_bounce_grid_look(&s->next, jobs, &bounce->rays, s->looked, end);
    s->looked = end;
    if (end == count) {
        const orr_bounce_grid made = s->next;
        s->next = s->shown;
        s->shown = made;
        s->making = false;
        *done = true;
    }
    return ORR_OK;
}

typedef struct looking_past {
    orr_bounce_state *state;
    const orr_bounce_probe *probe;
} looking_past;

// What rays of a point see that meet no mesh.
static void look_past(void *context, int point, int worker)
{
    const looking_past *l = context;
    const orr_bounce_probe *probe = l->probe;
    orr_bounce_grid *grid = &l->state->shown;
    float from[3];
    (void)worker;
    orr_bounce_point(grid, point, from);
    for (int k = 0; k < 3; k++) {
        from[k] -= probe->position[k];
    }
    for (int i = 0; i < ORR_BOUNCE_RAYS; i++) {
        orr_lit_hit *hit = &grid->hits[point * ORR_BOUNCE_RAYS + i];
        float d[3];
        orr_bounce_direction(i, d);
        if (hit->mesh < 0 && !orr_probe_look_from(probe->blurred, probe->behind, from, d, hit->light)) {
            memcpy(hit->light, l->state->behind[i], sizeof hit->light);
        }
    }
}

void orr_bounce_state_look_past(orr_bounce_state *s, orr_jobs *jobs, const orr_bounce_probe *probe)
{
    for (int i = 0; i < ORR_BOUNCE_RAYS; i++) {
        float d[3];
        orr_bounce_direction(i, d);
        orr_probe_look(probe->blurred, d, s->behind[i]);
    }
    orr_jobs_for(jobs, s->shown.any ? s->shown.count : 0, look_past, &(looking_past){s, probe});
}

void orr_bounce_state_reflect(orr_bounce_state *s, orr_jobs *jobs, const orr_bounce_lit *lit)
{
    orr_bounce_grid_reflect(&s->shown, jobs, lit, s->behind);
}

void orr_bounce_state_close(orr_bounce_state *s)
{
    orr_bounce_grid_free(&s->shown);
    orr_bounce_grid_free(&s->next);
    *s = (orr_bounce_state){0};
}

// ---- pictures ----

typedef struct showing {
    const orr_frame_bounce *bounce;
    const orr_bounce_lit *lit;
    const float *position;
    int face;
    orr_probe_meshes *out;
} showing;

static void show_row(void *context, int row, int worker)
{
    const showing *s = context;
    (void)worker;
    for (int column = 0; column < ORR_PROBE_MESHES; column++) {
        const int pixel = row * ORR_PROBE_MESHES + column;
        const float *p = s->position, middle[2] = {0.5f, 0.5f};
        float d[3], around[3];
        orr_lit_hit hit;
        orr_probe_direction(s->face, 2.0f * (float)column + 1.0f, 2.0f * (float)row + 1.0f, d);
        const float length = sqrtf(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        const orr_ray ray = {
            {p[0], p[1], p[2]}, {d[0] / length, d[1] / length, d[2] / length}, 0.0f, INFINITY};
        orr_lit_rays_meet(&s->bounce->rays, &ray, s->bounce->passed, middle, &hit);
        s->out->depth[pixel] = hit.mesh >= 0 ? hit.distance / length : INFINITY;
        orr_bounce_light_at(s->lit, &hit, around);
        for (int k = 0; k < 3; k++) {
            s->out->rgb[pixel][k] = hit.light[k] + hit.base[k] * around[k];
        }
    }
}

void orr_frame_bounce_show(orr_frame_bounce *b, orr_jobs *jobs, const orr_bounce_lit *lit, int layer,
                           int face, const float position[3], orr_probe_meshes *out)
{
    for (int i = 0; i < b->count; i++) {
        b->passed[i] = is_own(b, i, layer);
    }
    showing s = {b, lit, position, face, out};
    orr_jobs_for(jobs, ORR_PROBE_MESHES, show_row, &s);
}
