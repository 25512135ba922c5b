#include "engine/loop/frame_self_shadow.h"

#include "engine/core/hash.h"
#include "engine/core/memory.h"

// Has anything a shadow to cast, in a sun from which clouds may have one already?
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

// The clouds that were where they are when they were captured. Returns how many.
static int find_captured(const orr_frame_slot *slot, const orr_scene *scene, orr_draw_splats *clouds)
{
    int count = 0;
    for (int i = 0; i < slot->list.splat_count; i++) {
        const orr_draw_splats *cloud = &slot->splats[i];
        const orr_layer_data *layer = &scene->layers[slot->splat_layers[i]];
        if (cloud->pack->count > 0 && !cloud->casts_shadow && !orr_layer_moves(layer)) {
            clouds[count++] = *cloud;
        }
    }
    return count;
}

static uint64_t hash_of(const orr_draw_splats *clouds, int count, const float direction[3])
{
    uint64_t hash = orr_hash_bytes(ORR_HASH_BEGIN, direction, 3 * sizeof *direction);
    for (int i = 0; i < count; i++) {
        hash = orr_hash_bytes(hash, &clouds[i].key, sizeof clouds[i].key);
        hash = orr_hash_bytes(hash, clouds[i].model, sizeof clouds[i].model);
    }
    return hash;
}

static orr_result find(orr_frame_self_shadow *self, const orr_draw_splats *clouds, int count,
                       const orr_scene *scene, const float direction[3], orr_error *error)
{
    bool explains;
    ORR_TRY(orr_scene_sun_explains(scene, direction, &explains, error));
    if (!explains) {
        orr_self_shadow_free(&self->map);
        return ORR_OK;
    }
    ORR_TRY(orr_self_shadow_build(scene->context.jobs, scene->context.isa, clouds, count, direction,
                                  &self->map, error));
    self->map.key = (*scene->context.next_key)++;
    return ORR_OK;
}

// Does what is shown change in one frame after another, so that a map of this one would be of no other?
static bool waits(orr_frame_self_shadow *self, const orr_draw_list *list, uint64_t asked)
{
    const bool changed = self->asked != 0 && self->asked != asked;
    self->changes = changed ? self->changes + 1 : 0;
    self->asked = asked;
    return self->shown != 0 && self->changes > 1 && self->changes % ORR_SELF_SHADOW_WAITS != 0 &&
           !list->no_reuse;
}

static orr_result update(orr_frame_self_shadow *self, orr_frame_slot *slot, const orr_scene *scene,
                         orr_draw_splats *clouds, orr_error *error)
{
    const float *direction = slot->list.sun.direction;
    const int count = find_captured(slot, scene, clouds);
    if (count == 0) {
        return ORR_OK;
    }
    const uint64_t shown = hash_of(clouds, count, direction);
    if (!waits(self, &slot->list, shown) && self->shown != shown) {
        self->shown = 0;
        ORR_TRY(find(self, clouds, count, scene, direction, error));
        self->shown = shown;
    }
    if (!self->map.depths) {
        return ORR_OK;
    }
    if (slot->self_shadow.key != self->map.key) {
        ORR_TRY(orr_self_shadow_copy(&self->map, &slot->self_shadow, error));
    }
    slot->list.self_shadow = &slot->self_shadow;
    return ORR_OK;
}

orr_result orr_frame_self_shadow_update(orr_frame_self_shadow *self, orr_frame_slot *slot,
                                        const orr_scene *scene, orr_error *error)
{
    slot->list.self_shadow = NULL;
    if (slot->list.splat_count == 0 || !matters(&slot->list, scene)) {
        return ORR_OK;
    }
    orr_draw_splats *clouds;
    ORR_ALLOC(clouds, slot->list.splat_count, "clouds at rest", error);
    const orr_result result = update(self, slot, scene, clouds, error);
    orr_free(clouds);
    return result;
}

void orr_frame_self_shadow_close(orr_frame_self_shadow *self)
{
    orr_self_shadow_free(&self->map);
    self->shown = 0;
}
