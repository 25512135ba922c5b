#include "engine/loop/light/frame_self_shadow.h"

#include "engine/core/hash.h"
#include "engine/core/memory.h"

#include <string.h>

// Does what is captured decide about any shadow: on itself, in a sun or in new lamps, or on meshes?
static bool matters(const orr_draw_list *list)
{
    bool casts = list->mesh_count > 0;
    for (int i = 0; i < list->light_count && list->field_count > 0; i++) {
        casts = casts || (list->lights[i].lights_captured && list->lights[i].casts_shadows);
    }
    for (int i = 0; i < list->splat_count; i++) {
        casts = casts || list->splats[i].casts_shadow;
    }
    return casts && list->shadows && list->splat_count + list->field_count > 0;
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

// ---- its lights ----

static bool is_dark(const float rgb[3])
{
    return !(rgb[0] + rgb[1] + rgb[2] > 0.0f);
}

static void add_light(orr_self_shadow_of *of, const orr_self_light *light)
{
    if (of->light_count < ORR_SHADOW_LIGHTS) {
        of->lights[of->light_count++] = *light;
    }
}

// The scene's own sun, points and spots, which stand still; they are the first of the list.
static void find_lights(const orr_draw_list *list, const orr_scene *scene, orr_self_shadow_of *of)
{
    const float *direction = list->sun.direction;
    const int sun = is_dark(list->sun.colour) ? 0 : 1;
    bool first = true;
    if (sun) {
        const orr_self_light light = {
            .sun = true, .captured = true, .direction = {-direction[0], -direction[1], -direction[2]}};
        if (scene->has_sun) {
            add_light(of, &light);
        }
        first = false;
    }
    for (int i = 0; i < scene->light_count && i < list->light_count; i++) {
        const orr_draw_light *lamp = &list->lights[i];
        if (!lamp->casts_shadows || is_dark(lamp->diffuse)) {
            continue;
        }
        orr_self_light light = {.number = sun + i, .captured = first, .cutoff = lamp->cutoff};
        memcpy(light.position, lamp->position, sizeof light.position);
        memcpy(light.direction, lamp->direction, sizeof light.direction);
        if (!lamp->directional && !lamp->area) {
            add_light(of, &light);
        }
        first = false;
    }
}

static uint64_t hash_of(const orr_self_shadow_of *of)
{
    uint64_t hash = orr_hash_bytes(ORR_HASH_BEGIN, &of->light_count, sizeof of->light_count);
    for (int i = 0; i < of->light_count; i++) {
        const orr_self_light *light = &of->lights[i];
        hash = orr_hash_bytes(hash, &light->number, sizeof light->number);
        hash = orr_hash_bytes(hash, &light->sun, sizeof light->sun);
        hash = orr_hash_bytes(hash, light->position, sizeof light->position);
        hash = orr_hash_bytes(hash, light->direction, sizeof light->direction);
        hash = orr_hash_bytes(hash, &light->cutoff, sizeof light->cutoff);
    }
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

// ---- its maps ----

// A sun that explains nothing is another than that of the capture, or what is captured hides all of it, as a
// captured sky does.
static orr_result make(const captured *c, const orr_scene *scene, orr_self_shadow **map, orr_error *error)
{
    orr_self_shadow_of of = c->of;
    *map = NULL;
    if (of.lights[0].sun && !c->drawn_lit) {
        const float *into = of.lights[0].direction, direction[3] = {-into[0], -into[1], -into[2]};
        bool explains;
        ORR_TRY(orr_scene_sun_explains(scene, direction, &explains, error));
        if (!explains) {
            of.light_count--;
            memmove(of.lights, of.lights + 1, (size_t)of.light_count * sizeof *of.lights);
        }
    }
    ORR_TRY(orr_self_shadow_build(scene->context.jobs, scene->context.isa, &of, map, error));
    if (*map) {
        (*map)->key = (*scene->context.next_key)++;
    }
    return ORR_OK;
}

// Does every frame ask for others, so that those of this one would be of no other?
static bool is_dragged(orr_frame_self_shadow *self, uint64_t asked)
{
    self->changes = self->asked != 0 && self->asked != asked ? self->changes + 1 : 0;
    self->asked = asked;
    return self->changes > 1 && self->changes % ORR_SELF_SHADOW_WAITS != 0;
}

static orr_self_shadow *used_last(const orr_frame_self_shadow *self)
{
    int at = 0;
    for (int i = 1; i < ORR_SELF_SHADOWS; i++) {
        at = self->maps[i].used > self->maps[at].used ? i : at;
    }
    return self->maps[at].map;
}

// Those of what is shown, made in the place of those that were not used for longest if there are none.
static orr_result find_maps(orr_frame_self_shadow *self, const captured *c, const orr_scene *scene,
                            bool may_wait, orr_self_shadow **map, orr_error *error)
{
    const uint64_t shown = hash_of(&c->of);
    int at = 0;
    if (is_dragged(self, shown) && may_wait) {
        *map = used_last(self);
        return ORR_OK;
    }
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
        ORR_TRY(make(c, scene, &self->maps[at].map, error));
        self->maps[at].shown = shown;
    }
    self->maps[at].used = ++self->uses;
    *map = self->maps[at].map;
    return ORR_OK;
}

static orr_result update(orr_frame_self_shadow *self, orr_frame_slot *slot, const orr_scene *scene,
                         bool may_wait, captured *c, orr_error *error)
{
    ORR_TRY(find_captured(c, slot, scene, error));
    find_lights(&slot->list, scene, &c->of);
    if (c->of.cloud_count + c->of.field_count == 0 || c->of.light_count == 0) {
        return ORR_OK;
    }
    orr_self_shadow *maps;
    ORR_TRY(find_maps(self, c, scene, may_wait, &maps, error));
    slot->self_shadow = orr_self_shadow_hold(maps);
    slot->list.self_shadow = maps;
    return ORR_OK;
}

orr_result orr_frame_self_shadow_update(orr_frame_self_shadow *self, orr_frame_slot *slot,
                                        const orr_scene *scene, bool may_wait, orr_error *error)
{
    if (!matters(&slot->list)) {
        return ORR_OK;
    }
    captured c = {.clouds = NULL};
    const orr_result result = update(self, slot, scene, may_wait, &c, error);
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
