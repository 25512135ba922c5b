// What changes of each layer: its transform and whether it is visible, in each copy of the world.
#include "engine/loop/world/soft/world_soft.h"

#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/scene/transform.h"

#include <string.h>

orr_result orr_world_check(const orr_world *world, orr_error *error)
{
    ORR_REQUIRE(world, error);
    return orr_scene_check(world->scene, error);
}

orr_result orr_world_check_index(const orr_world *world, int index, orr_error *error)
{
    if (index < 0 || index >= world->count) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "world %d: expected 0 to %d", index, world->count - 1);
    }
    return ORR_OK;
}

orr_layer_state orr_world_state(const orr_world *world, int index, const orr_layer_data *layer)
{
    assert(index >= 0 && index < world->count);
    uint32_t slot = layer->id.slot - 1;
    if (slot < world->slots) {
        const orr_layer_state *state = &world->states[(size_t)index * world->slots + slot];
        if (state->generation == layer->id.generation) {
            return *state;
        }
    }
    return (orr_layer_state){layer->id.generation, layer->visible, layer->transform};
}

static bool shows_captures(const orr_world *world, int index)
{
    for (int i = 0; i < world->scene->layer_count; i++) {
        const orr_layer_data *layer = &world->scene->layers[i];
        const bool captured = layer->kind == ORR_LAYER_SPLATS || layer->kind == ORR_LAYER_FIELD;
        if (captured && orr_world_state(world, index, layer).visible) {
            return true;
        }
    }
    return false;
}

bool orr_world_probes_by_lamps(const orr_world *world, int index)
{
    const orr_scene *scene = world->scene;
    return scene->probes == ORR_SCENE_PROBES_BY_LAMPS && !scene->has_sun && !scene->environment &&
           orr_scene_light_total(scene) > 0 && !shows_captures(world, index);
}

// An entry for every slot that the scene can hand out; generation 0 belongs to no layer.
static orr_result grow(orr_world *world, orr_error *error)
{
    uint32_t slots = world->scene->ids.capacity;
    size_t count = (size_t)world->count;
    orr_layer_state *states = orr_alloc_zero(count, slots * sizeof *states);
    if (!states) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: %d worlds of %u layers", world->count,
                        slots);
    }
    for (size_t i = 0; i < count && world->slots; i++) {
        memcpy(states + i * slots, world->states + i * world->slots, world->slots * sizeof *states);
    }
    orr_free(world->states);
    world->states = states;
    world->slots = slots;
    return ORR_OK;
}

static orr_result find(const orr_world *world, int index, orr_layer id, const orr_layer_data **layer,
                       orr_error *error)
{
    ORR_TRY(orr_world_check_index(world, index, error));
    int found = orr_scene_find(world->scene, id);
    if (found < 0) {
        return orr_scene_stale(id, error);
    }
    *layer = &world->scene->layers[found];
    return ORR_OK;
}

// The state to be changed.
static orr_result edit(orr_world *world, int index, orr_layer id, orr_layer_state **state, orr_error *error)
{
    const orr_layer_data *layer = NULL;
    ORR_TRY(find(world, index, id, &layer, error));
    if (id.slot > world->slots) {
        ORR_TRY(grow(world, error));
    }
    *state = &world->states[(size_t)index * world->slots + id.slot - 1];
    **state = orr_world_state(world, index, layer);
    return ORR_OK;
}

orr_result orr_world_set_transform(orr_world *world, int index, orr_layer layer,
                                   const orr_transform *transform, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    orr_transform resolved;
    orr_layer_state *state;
    ORR_TRY(orr_transform_resolve(transform, &resolved, error));
    ORR_TRY(edit(world, index, layer, &state, error));
    const orr_layer_data *data = &world->scene->layers[orr_scene_find(world->scene, layer)];
    const orr_transform before = state->transform;
    state->transform = resolved;
    orr_result result =
        orr_layer_physical(data) ? orr_world_robot_placed(world, index, data, &before, error) : ORR_OK;
    if (result != ORR_OK) {
        state->transform = before;
    } else if (data->soft) {
        orr_world_soft_place(world, index, data);
    }
    return result;
}

orr_result orr_world_set_visible(orr_world *world, int index, orr_layer layer, bool visible, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    orr_layer_state *state;
    ORR_TRY(edit(world, index, layer, &state, error));
    state->visible = visible;
    return ORR_OK;
}

orr_result orr_world_get(const orr_world *world, int index, orr_layer id, orr_transform *transform,
                         bool *visible, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_world_check(world, error));
    const orr_layer_data *layer = NULL;
    ORR_TRY(find(world, index, id, &layer, error));
    orr_layer_state state = orr_world_state(world, index, layer);
    if (transform) {
        *transform = state.transform;
    }
    if (visible) {
        *visible = state.visible;
    }
    return ORR_OK;
}
