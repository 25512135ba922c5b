// The scene: a list of layers, in the order added.
#include "engine/scene/soft/soft_layer.h"

#include "engine/core/entry.h"
#include "engine/core/memory.h"
#include "engine/core/sized.h"
#include "engine/scene/transform.h"
#include "render/splat/splat_cloud.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

// How many scenes this process has made. An id of one must be stale in every other, of whichever engine, so
// that the generations of each begin where no other's have come; nothing else depends on it.
static atomic_uint scenes_made;
enum { GENERATIONS = 1 << 16 }; // of a scene: each slot can be used again 2^15 times

orr_result orr_scene_open(const orr_scene_context *context, orr_scene **out, orr_error *error)
{
    *out = NULL;
    orr_scene *scene = orr_alloc_zero(1, sizeof *scene);
    if (!scene) {
        return orr_fail(error, ORR_CODE_OUT_OF_MEMORY, "out of memory: a scene");
    }
    scene->context = *context;
    scene->ids.first_generation = GENERATIONS * atomic_fetch_add(&scenes_made, 1);
    scene->sun = orr_default_sun(orr_scene_up(scene));
    scene->umbra = ORR_UMBRA;
    *out = scene;
    return ORR_OK;
}

static void free_contents(orr_layer_data *layer)
{
    orr_free(layer->name);
    orr_free(layer->path);
    orr_layer_forget_materials(layer);
    orr_splat_pack_destroy(layer->splats);
    orr_free(layer->captured);
    orr_cloud_shape_destroy(layer->shape);
    orr_mesh_destroy(layer->mesh);
    orr_field_layer_destroy(layer->field);
    orr_robot_destroy(layer->robot);
    orr_robot_destroy(layer->body);
    orr_soft_layer_destroy(layer->soft);
}

orr_result orr_scene_check(const orr_scene *scene, orr_error *error)
{
    ORR_REQUIRE(scene, error);
    return orr_jobs_check(scene->context.jobs, error);
}

void orr_scene_destroy(orr_scene *scene)
{
    if (!scene || !orr_jobs_here(scene->context.jobs)) {
        return;
    }
    orr_scene_truncate(scene, 0);
    orr_free(scene->layers);
    orr_camera_list_free(&scene->cameras);
    orr_free(scene->cameras_file);
    orr_environment_destroy(scene->environment);
    orr_free(scene->environment_path);
    orr_pool_destroy(&scene->ids);
    orr_free(scene);
}

static orr_result complete(orr_scene *scene, orr_layer_data *layer, const char *name,
                           const orr_transform *transform, orr_error *error)
{
    ORR_TRY(orr_transform_resolve(transform, &layer->transform, error));
    ORR_GROW(scene->layers, scene->layer_capacity, scene->layer_count + 1, "layers", error);
    size_t size = strlen(name) + 1;
    ORR_ALLOC(layer->name, size, "a layer's name", error);
    memcpy(layer->name, name, size);
    return orr_pool_take(&scene->ids, &layer->id, error);
}

static void refresh_sun(orr_scene *scene)
{
    if (!scene->has_sun) {
        orr_scene_light(scene);
    }
}

orr_result orr_scene_append(orr_scene *scene, orr_layer_data layer, const char *name,
                            const orr_transform *transform, orr_error *error)
{
    orr_result result = complete(scene, &layer, name, transform, error);
    if (result != ORR_OK) {
        free_contents(&layer);
        return result;
    }
    layer.key = *scene->context.next_key;
    layer.key_count = layer.robot ? orr_robot_keys(layer.robot) : 1;
    *scene->context.next_key += (uint64_t)layer.key_count;
    scene->layers[scene->layer_count++] = layer;
    refresh_sun(scene);
    return ORR_OK;
}

static void remove_at(orr_scene *scene, int index)
{
    orr_layer_data *layer = &scene->layers[index];
    orr_scene_unbind(scene, layer->id);
    orr_pool_give(&scene->ids, layer->id);
    free_contents(layer);
    scene->layer_count--;
    memmove(layer, layer + 1, (size_t)(scene->layer_count - index) * sizeof *layer);
    refresh_sun(scene);
}

void orr_scene_truncate(orr_scene *scene, int count)
{
    while (scene->layer_count > count) {
        remove_at(scene, scene->layer_count - 1);
    }
}

static orr_layer id_of(const orr_layer_data *layer)
{
    return (orr_layer){layer->id.slot, layer->id.generation};
}

orr_result orr_scene_add_splats(orr_scene *scene, const char *name, const orr_splats *splats,
                                const orr_transform *transform, orr_layer *id, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_scene_check(scene, error));
    ORR_REQUIRE(splats, error);
    ORR_TRY(orr_splats_check(splats, name ? name : "splats", error));
    orr_splats_view view = orr_splats_data(splats);
    orr_splat_pack *pack;
    ORR_TRY(orr_splat_pack_create(scene->context.jobs, &view, NULL, &pack, error));
    orr_layer_data layer = {.kind = ORR_LAYER_SPLATS, .splats = pack, .visible = true};
    ORR_TRY(orr_scene_append(scene, layer, name ? name : "splats", transform, error));
    if (id) {
        *id = id_of(&scene->layers[scene->layer_count - 1]);
    }
    return ORR_OK;
}

int orr_scene_find(const orr_scene *scene, orr_layer layer)
{
    for (int i = 0; i < scene->layer_count; i++) {
        orr_pool_id id = scene->layers[i].id;
        if (id.slot == layer.slot && id.generation == layer.generation) {
            return i;
        }
    }
    return -1;
}

orr_result orr_scene_stale(orr_layer layer, orr_error *error)
{
    return orr_fail(error, ORR_CODE_STALE_ID,
                    "layer %u.%u: expected a layer that is in the scene (removed ids stay stale)", layer.slot,
                    layer.generation);
}

orr_result orr_scene_remove(orr_scene *scene, orr_layer layer, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_scene_check(scene, error));
    int index = orr_scene_find(scene, layer);
    if (index < 0) {
        return orr_scene_stale(layer, error);
    }
    const orr_pool_id id = scene->layers[index].id;
    remove_at(scene, index);
    for (int i = scene->layer_count - 1; i >= 0; i--) {
        const orr_pool_id of = scene->layers[i].flex_of;
        if (of.slot == id.slot && of.generation == id.generation) {
            remove_at(scene, i);
        }
    }
    return ORR_OK;
}

int orr_scene_layer_count(const orr_scene *scene)
{
    return scene ? scene->layer_count : 0;
}

orr_layer orr_scene_layer(const orr_scene *scene, int index)
{
    bool inside = scene && index >= 0 && index < scene->layer_count;
    return inside ? id_of(&scene->layers[index]) : (orr_layer){0};
}

bool orr_layer_moves(const orr_layer_data *layer)
{
    return layer->bound_to.slot > 0 || layer->soft || (layer->has_body && layer->body_desc.mass > 0.0);
}

bool orr_layer_casts_shadow(const orr_layer_data *layer)
{
    return layer->shadow_casting == ORR_SHADOW_CASTING_ALWAYS ||
           (layer->shadow_casting == ORR_SHADOW_CASTING_MOVING && orr_layer_moves(layer));
}

orr_result orr_scene_set_shadow_casting(orr_scene *scene, orr_layer layer, orr_shadow_casting casting,
                                        orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_scene_check(scene, error));
    const int index = orr_scene_find(scene, layer);
    if (index < 0) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "shadows of a cloud: expected a layer of the scene");
    }
    if (scene->layers[index].kind != ORR_LAYER_SPLATS) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "%s: shadows of a cloud: expected a cloud",
                        scene->layers[index].name);
    }
    if ((int)casting < ORR_SHADOW_CASTING_MOVING || (int)casting > ORR_SHADOW_CASTING_NEVER) {
        return orr_fail(error, ORR_CODE_ARGUMENT, "shadows of a cloud: %d: expected 0 .. %d", (int)casting,
                        ORR_SHADOW_CASTING_NEVER);
    }
    scene->layers[index].shadow_casting = casting;
    return ORR_OK;
}

void orr_layer_bounds(const orr_layer_data *layer, float low[3], float high[3])
{
    if (layer->kind == ORR_LAYER_FIELD) {
        orr_field_layer_bounds(layer->field, low, high);
        return;
    }
    if (layer->kind == ORR_LAYER_ROBOT) {
        memcpy(low, layer->robot->low, 3 * sizeof *low);
        memcpy(high, layer->robot->high, 3 * sizeof *high);
        return;
    }
    bool splats = layer->kind == ORR_LAYER_SPLATS;
    memcpy(low, splats ? layer->splats->low : layer->mesh->low, 3 * sizeof *low);
    memcpy(high, splats ? layer->splats->high : layer->mesh->high, 3 * sizeof *high);
}

double orr_layer_longest_side(const orr_layer_data *layer)
{
    float low[3], high[3];
    orr_layer_bounds(layer, low, high);
    return (double)fmaxf(high[0] - low[0], fmaxf(high[1] - low[1], high[2] - low[2]));
}

orr_result orr_scene_layer_info_sized(const orr_scene *scene, orr_layer id, orr_layer_info *info,
                                      size_t info_size, orr_error *error)
{
    ORR_ENTER;
    ORR_TRY(orr_scene_check(scene, error));
    ORR_REQUIRE(info, error);
    int index = orr_scene_find(scene, id);
    if (index < 0) {
        return orr_scene_stale(id, error);
    }
    const orr_layer_data *layer = &scene->layers[index];
    orr_layer_info own = {.kind = layer->kind, .name = layer->name, .transform = layer->transform};
    switch (layer->kind) {
    case ORR_LAYER_SPLATS:
        own.count = layer->splats->count;
        own.bytes = orr_splat_pack_bytes(layer->splats);
        break;
    case ORR_LAYER_MESH:
        own.count = layer->mesh->index_count / 3;
        own.bytes = orr_mesh_bytes(layer->mesh);
        break;
    case ORR_LAYER_FIELD:
        own.count = orr_field_layer_parameters(layer->field);
        own.bytes = orr_field_layer_bytes(layer->field);
        break;
    case ORR_LAYER_ROBOT:
        own.count = orr_robot_triangles(layer->robot);
        own.bytes = orr_robot_bytes(layer->robot);
        break;
    }
    orr_layer_bounds(layer, own.low, own.high);
    orr_sized_write(&own, sizeof own, info, info_size);
    return ORR_OK;
}

int orr_scene_camera_count(const orr_scene *scene)
{
    return scene ? scene->cameras.count : 0;
}

const orr_camera *orr_scene_camera(const orr_scene *scene, int index)
{
    return scene && index >= 0 && index < scene->cameras.count ? &scene->cameras.cameras[index] : NULL;
}
