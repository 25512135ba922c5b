#include "engine/loop/light/frame_relight.h"

#include "engine/core/hash.h"
#include "engine/core/memory.h"
#include "engine/scene/light/cloud_light.h"

#include <string.h>

// The clouds of a slot that lamps know.
typedef struct posed {
    orr_posed_cloud *clouds; // count
    int count;
    uint64_t hash;
} posed;

static orr_result find_posed(posed *p, const orr_frame_slot *slot, const orr_scene *scene, orr_error *error)
{
    ORR_ALLOC(p->clouds, slot->list.splat_count + 1, "clouds in the light of lamps", error);
    for (int i = 0; i < slot->list.splat_count; i++) {
        const orr_layer_data *layer = &scene->layers[slot->splat_layers[i]];
        if (layer->shape) {
            orr_posed_cloud *cloud = &p->clouds[p->count++];
            cloud->layer = layer;
            cloud->deformation = slot->splats[i].deformation;
            memcpy(cloud->model, slot->splats[i].model, sizeof cloud->model);
        }
    }
    p->hash = orr_cloud_light_hash(scene, p->clouds, p->count);
    return ORR_OK;
}

static int find(const posed *p, const orr_layer_data *layer)
{
    int which = 0;
    while (p->clouds[which].layer != layer) {
        which++;
    }
    return which;
}

// What says which colours a layer gets, and is the key of what is drawn: the same in all slots, and none that
// a scene counts up.
static uint64_t key_of(const posed *p, const orr_layer_data *layer)
{
    return orr_hash_bytes(p->hash, &layer->key, sizeof layer->key) | UINT64_C(1) << 63;
}

// Finds the colours of one of the clouds, if the slot does not have them.
static orr_result relight(orr_frame_relit *r, const orr_scene *scene, const posed *p,
                          const orr_layer_data *layer, orr_error *error)
{
    const uint64_t key = key_of(p, layer);
    if (r->key == key) {
        return ORR_OK;
    }
    orr_free(r->harmonics);
    *r = (orr_frame_relit){.pack = *layer->splats};
    ORR_ALLOC(r->harmonics, orr_cloud_harmonics(layer->splats), "colours in the light of lamps", error);
    ORR_TRY(orr_cloud_light(scene, p->clouds, p->count, find(p, layer), r->harmonics, error));
    r->pack.harmonics = r->harmonics;
    r->key = key;
    return ORR_OK;
}

// Has the layer other colours than lamps give it here?
static bool differs(const orr_layer_data *layer, const orr_draw_splats *cloud)
{
    return layer->shape && cloud->pack == layer->splats && cloud->pack->count > 0 &&
           (cloud->deformation.piece_of || !orr_cloud_is_lit_at(layer, cloud->model));
}

static orr_result relight_all(orr_frame_slot *slot, const orr_scene *scene, posed *p, orr_error *error)
{
    ORR_TRY(find_posed(p, slot, scene, error));
    for (int i = 0; i < slot->list.splat_count; i++) {
        const int number = slot->splat_layers[i];
        const orr_layer_data *layer = &scene->layers[number];
        if (differs(layer, &slot->splats[i])) {
            ORR_TRY(relight(&slot->relit[number], scene, p, layer, error));
            slot->splats[i].pack = &slot->relit[number].pack;
            slot->splats[i].key = slot->relit[number].key;
        }
    }
    return ORR_OK;
}

orr_result orr_frame_relight(orr_frame_slot *slot, const orr_scene *scene, orr_error *error)
{
    if (!orr_scene_has_cloud_lamps(scene)) {
        return ORR_OK;
    }
    posed p = {.clouds = NULL};
    ORR_GROW(slot->relit, slot->relit_capacity, scene->layer_count, "clouds of a frame", error);
    const orr_result result = relight_all(slot, scene, &p, error);
    orr_free(p.clouds);
    return result;
}
