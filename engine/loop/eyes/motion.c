#include "engine/loop/eyes/motion.h"

#include "engine/core/memory.h"

#include <string.h>

// Something that was drawn.
typedef struct kept_item {
    uint64_t key; // of what is drawn, the same in each picture; of soft meshes that of their layer
    float model[12];
    int soft, soft_numbers; // of a soft mesh: the first of its positions, and how many; of others 0, 0
} kept_item;

typedef struct kept_list {
    kept_item *items; // capacity
    int count, capacity;
} kept_list;

// One copy as it was drawn.
typedef struct kept_state {
    kept_list meshes, clouds;
    double *positions; // position_capacity: of the vertices of soft bodies' cages
    int position_count, position_capacity;
    bool valid;
} kept_state;

struct orr_eyes_motion {
    int copies, cameras;
    kept_state *states; // copies x 2
    orr_lens *lenses;   // copies x 2 x cameras
    uint8_t *current;   // copies: which of the two is of the last pictures
};

orr_result orr_eyes_motion_create(int copies, int cameras, orr_eyes_motion **out, orr_error *error)
{
    orr_eyes_motion *m = orr_alloc_zero(1, sizeof *m);
    *out = m;
    if (m) {
        m->copies = copies;
        m->cameras = cameras;
        m->states = orr_alloc_zero(2 * (size_t)copies, sizeof *m->states);
        m->lenses = orr_alloc_zero(2 * (size_t)copies * (size_t)cameras, sizeof *m->lenses);
        m->current = orr_alloc_zero((size_t)copies, sizeof *m->current);
    }
    return m && m->states && m->lenses && m->current
               ? ORR_OK
               : orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: flow of %d copies", copies);
}

void orr_eyes_motion_destroy(orr_eyes_motion *m)
{
    if (!m) {
        return;
    }
    for (int i = 0; m->states && i < 2 * m->copies; i++) {
        orr_free(m->states[i].meshes.items);
        orr_free(m->states[i].clouds.items);
        orr_free(m->states[i].positions);
    }
    orr_free(m->states);
    orr_free(m->lenses);
    orr_free(m->current);
    orr_free(m);
}

void orr_past_close(orr_past *past)
{
    orr_free(past->meshes);
    orr_free(past->clouds);
    for (int i = 0; i < past->soft_capacity; i++) {
        orr_frame_soft_clear(&past->softs[i]);
    }
    orr_free(past->softs);
}

static kept_state *state_of(const orr_eyes_motion *m, int copy, bool before)
{
    return &m->states[2 * copy + (m->current[copy] ^ (before ? 1 : 0))];
}

static orr_lens *lens_of(const orr_eyes_motion *m, int copy, int camera, bool before)
{
    return &m->lenses[(size_t)(2 * copy + (m->current[copy] ^ (before ? 1 : 0))) * (size_t)m->cameras +
                      (size_t)camera];
}

void orr_eyes_motion_begin(orr_eyes_motion *m, int copy)
{
    m->current[copy] ^= 1;
    state_of(m, copy, false)->valid = false;
}

void orr_eyes_motion_forget(orr_eyes_motion *m, int copy)
{
    state_of(m, copy, false)->valid = false;
}

// The soft body that a mesh of the slot is, and its key.
static const orr_soft_layer *soft_of(const orr_world *world, const orr_frame_slot *slot, int mesh,
                                     uint64_t *key)
{
    const orr_layer_data *layer = &world->scene->layers[slot->mesh_layers[mesh]];
    const orr_soft_layer *soft = layer->kind == ORR_LAYER_MESH && !layer->absent ? layer->soft : NULL;
    *key = soft ? layer->key : slot->meshes[mesh].key; // drawn under one of the frame alone
    return soft;
}

static orr_result keep_softs(kept_state *state, kept_item *item, const orr_soft_layer *soft,
                             const double *position, orr_error *error)
{
    const int numbers = 3 * soft->cage->vertices;
    ORR_GROW(state->positions, state->position_capacity, state->position_count + numbers,
             "soft bodies of pictures before", error);
    memcpy(state->positions + state->position_count, position, (size_t)numbers * sizeof *state->positions);
    item->soft = state->position_count;
    item->soft_numbers = numbers;
    state->position_count += numbers;
    return ORR_OK;
}

orr_result orr_eyes_motion_keep(orr_eyes_motion *m, const orr_world *world, const orr_frame_slot *slot,
                                int copy, int camera, orr_error *error)
{
    const orr_draw_list *list = &slot->list;
    kept_state *state = state_of(m, copy, false);
    *lens_of(m, copy, camera, false) = list->lens;
    if (state->valid) { // the same for each camera
        return ORR_OK;
    }
    ORR_GROW(state->meshes.items, state->meshes.capacity, list->mesh_count, "pictures before", error);
    ORR_GROW(state->clouds.items, state->clouds.capacity, list->splat_count, "pictures before", error);
    state->meshes.count = list->mesh_count;
    state->clouds.count = list->splat_count;
    state->position_count = 0;
    for (int i = 0; i < list->mesh_count; i++) {
        kept_item *item = &state->meshes.items[i];
        *item = (kept_item){0};
        memcpy(item->model, list->meshes[i].model, sizeof item->model);
        const orr_soft_layer *soft = soft_of(world, slot, i, &item->key);
        if (soft) {
            ORR_TRY(keep_softs(state, item, soft, slot->softs[slot->mesh_layers[i]].position, error));
        }
    }
    for (int i = 0; i < list->splat_count; i++) {
        kept_item *item = &state->clouds.items[i];
        *item = (kept_item){.key = list->splats[i].key};
        memcpy(item->model, list->splats[i].model, sizeof item->model);
    }
    state->valid = true;
    return ORR_OK;
}

// The next of the list with this key from *at on, where the search goes on; those of one key stay in order.
static const kept_item *next_of(const kept_list *list, uint64_t key, int *at)
{
    for (int i = *at; i < list->count; i++) {
        if (list->items[i].key == key) {
            *at = i + 1;
            return &list->items[i];
        }
    }
    return NULL;
}

// The vertices of a soft mesh as they were.
static orr_result deform_before(const orr_world *world, const orr_frame_slot *slot, int mesh,
                                const orr_soft_layer *soft, const double *positions, orr_past *past,
                                orr_item_before *out, orr_error *error)
{
    const int layer = slot->mesh_layers[mesh];
    orr_frame_soft *to = &past->softs[layer];
    orr_jobs *jobs = world->scene->context.jobs;
    ORR_GROW(to->pieces, to->capacity, orr_soft_pieces(soft->cage), "soft bodies of pictures before", error);
    orr_soft_affines(soft->cage, positions, soft->scale, jobs, to->pieces);
    ORR_TRY(
        orr_deform_mesh(world->scene->layers[layer].mesh, soft->piece, to->pieces, jobs, &to->mesh, error));
    out->vertices = to->mesh.mesh.vertices;
    return ORR_OK;
}

orr_result orr_eyes_motion_find(const orr_eyes_motion *m, const orr_world *world, const orr_frame_slot *slot,
                                int copy, int camera, orr_past *past, bool *known, orr_error *error)
{
    const orr_draw_list *list = &slot->list;
    const kept_state *state = state_of(m, copy, true);
    int mesh = 0, cloud = 0;
    *known = state->valid;
    if (!state->valid) {
        return ORR_OK;
    }
    ORR_GROW(past->meshes, past->mesh_capacity, list->mesh_count, "pictures before", error);
    ORR_GROW(past->clouds, past->cloud_capacity, list->splat_count, "pictures before", error);
    ORR_GROW(past->softs, past->soft_capacity, world->scene->layer_count, "pictures before", error);
    past->before =
        (orr_before){.lens = *lens_of(m, copy, camera, true), .meshes = past->meshes, .clouds = past->clouds};
    for (int i = 0; i < list->mesh_count; i++) {
        uint64_t key;
        const orr_soft_layer *soft = soft_of(world, slot, i, &key);
        const kept_item *was = next_of(&state->meshes, key, &mesh);
        past->meshes[i] =
            (orr_item_before){.known = was && was->soft_numbers == (soft ? 3 * soft->cage->vertices : 0)};
        if (past->meshes[i].known) {
            memcpy(past->meshes[i].model, was->model, sizeof was->model);
            ORR_TRY(soft ? deform_before(world, slot, i, soft, state->positions + was->soft, past,
                                         &past->meshes[i], error)
                         : ORR_OK);
        }
    }
    for (int i = 0; i < list->splat_count; i++) {
        const kept_item *was = next_of(&state->clouds, list->splats[i].key, &cloud);
        past->clouds[i] = (orr_item_before){.known = was != NULL};
        if (was) {
            memcpy(past->clouds[i].model, was->model, sizeof was->model);
        }
    }
    return ORR_OK;
}
