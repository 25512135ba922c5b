#include "engine/loop/frame_self_shadow.h"

#include "engine/core/hash.h"
#include "engine/core/memory.h"

#include <string.h>

// Has anything a shadow to cast, in a sun from which what is captured may have one already?
static bool matters(const orr_draw_list *list, const orr_scene *scene)
{
    const float *colour = list->sun.colour;
    bool casts = list->mesh_count > 0;
    for (int i = 0; i < list->splat_count; i++) {
        casts = casts || list->splats[i].casts_shadow;
    }
    return casts && scene->has_sun && list->shadows && list->umbra < 1.0f &&
           colour[0] + colour[1] + colour[2] > 0.0f;
}

// ---- what was captured ----

// What is drawn in one sun, and whether its colours have to show it.
typedef struct captured {
    orr_draw_splats *clouds;
    orr_draw_field *fields;
    orr_self_shadow_of of;
    bool drawn_lit; // signed distances
} captured;

// Is a layer where it was captured, as far as the scene knows?
static bool is_at_rest(const orr_layer_data *layer, const float model[12])
{
    float own[12];
    return !orr_layer_moves(layer) && !layer->trainer &&
           orr_affine_from_transform(&layer->transform, own, NULL) == ORR_OK &&
           memcmp(own, model, sizeof own) == 0;
}

static void add_fields(captured *c, const orr_frame_slot *slot, const orr_scene *scene, orr_field_kind kind)
{
    for (int i = 0; i < slot->list.field_count; i++) {
        const orr_draw_field *field = &slot->fields[i];
        if (orr_field_layer_kind(field->layer) == kind &&
            is_at_rest(&scene->layers[slot->field_layers[i]], field->model)) {
            c->fields[c->of.field_count++] = *field;
        }
    }
}

static orr_result find_captured(captured *c, const orr_frame_slot *slot, const orr_scene *scene,
                                orr_error *error)
{
    ORR_ALLOC(c->clouds, slot->list.splat_count + 1, "clouds at rest", error);
    ORR_ALLOC(c->fields, slot->list.field_count + 1, "fields at rest", error);
    c->of = (orr_self_shadow_of){.clouds = c->clouds, .fields = c->fields};
    for (int i = 0; i < slot->list.splat_count; i++) {
        const orr_draw_splats *cloud = &slot->splats[i];
        if (cloud->pack->count > 0 && !cloud->casts_shadow &&
            is_at_rest(&scene->layers[slot->splat_layers[i]], cloud->model)) {
            c->clouds[c->of.cloud_count++] = *cloud;
        }
    }
    add_fields(c, slot, scene, ORR_FIELD_NERF);
    if (c->of.cloud_count + c->of.field_count == 0) {
        add_fields(c, slot, scene, ORR_FIELD_SDF);
        c->drawn_lit = true;
    }
    return ORR_OK;
}

static uint64_t hash_of(const orr_self_shadow_of *of, const float direction[3])
{
    uint64_t hash = orr_hash_bytes(ORR_HASH_BEGIN, direction, 3 * sizeof *direction);
    for (int i = 0; i < of->cloud_count; i++) {
        hash = orr_hash_bytes(hash, &of->clouds[i].key, sizeof of->clouds[i].key);
        hash = orr_hash_bytes(hash, of->clouds[i].model, sizeof of->clouds[i].model);
    }
    for (int i = 0; i < of->field_count; i++) {
        hash = orr_hash_bytes(hash, &of->fields[i].key, sizeof of->fields[i].key);
        hash = orr_hash_bytes(hash, of->fields[i].model, sizeof of->fields[i].model);
    }
    return hash;
}

// ---- its map ----

static orr_result make(const captured *c, const orr_scene *scene, const float direction[3],
                       orr_self_shadow **map, orr_error *error)
{
    bool explains = c->drawn_lit;
    *map = NULL;
    if (!explains) {
        ORR_TRY(orr_scene_sun_explains(scene, direction, &explains, error));
    }
    if (!explains) {
        return ORR_OK;
    }
    ORR_TRY(orr_self_shadow_build(scene->context.jobs, scene->context.isa, &c->of, direction, map, error));
    if (*map) {
        (*map)->key = (*scene->context.next_key)++;
    }
    return ORR_OK;
}

// The map of what is shown, made in the place of the one that was not used for longest if there is none.
static orr_result find_map(orr_frame_self_shadow *self, const captured *c, const orr_scene *scene,
                           const float direction[3], orr_self_shadow **map, orr_error *error)
{
    const uint64_t shown = hash_of(&c->of, direction);
    int at = 0;
    for (int i = 0; i < ORR_SELF_SHADOWS; i++) {
        if (self->maps[i].shown == shown) {
            at = i;
            break;
        }
        at = self->maps[i].used < self->maps[at].used ? i : at;
    }
    if (self->maps[at].shown != shown) {
        orr_self_shadow_release(self->maps[at].map);
        self->maps[at].shown = 0;
        self->maps[at].map = NULL;
        ORR_TRY(make(c, scene, direction, &self->maps[at].map, error));
        self->maps[at].shown = shown;
    }
    self->maps[at].used = ++self->uses;
    *map = self->maps[at].map;
    return ORR_OK;
}

static orr_result update(orr_frame_self_shadow *self, orr_frame_slot *slot, const orr_scene *scene,
                         captured *c, orr_error *error)
{
    ORR_TRY(find_captured(c, slot, scene, error));
    if (c->of.cloud_count + c->of.field_count == 0) {
        return ORR_OK;
    }
    orr_self_shadow *map;
    ORR_TRY(find_map(self, c, scene, slot->list.sun.direction, &map, error));
    slot->self_shadow = orr_self_shadow_hold(map);
    slot->list.self_shadow = map;
    return ORR_OK;
}

orr_result orr_frame_self_shadow_update(orr_frame_self_shadow *self, orr_frame_slot *slot,
                                        const orr_scene *scene, orr_error *error)
{
    if (slot->list.splat_count + slot->list.field_count == 0 || !matters(&slot->list, scene)) {
        return ORR_OK;
    }
    captured c = {.clouds = NULL};
    const orr_result result = update(self, slot, scene, &c, error);
    orr_free(c.clouds);
    orr_free(c.fields);
    return result;
}

void orr_frame_self_shadow_close(orr_frame_self_shadow *self)
{
    for (int i = 0; i < ORR_SELF_SHADOWS; i++) {
        orr_self_shadow_release(self->maps[i].map);
    }
    *self = (orr_frame_self_shadow){.uses = 0};
}
